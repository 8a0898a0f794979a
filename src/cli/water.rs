//! How is the answer to a report on a water shown? The water, every conduit end on it with how far up, the properties and through which end they came.

use serde_json::{Map, Value as Json, json};

use crate::error::Result;
use crate::export::{LEADS, Outward, csv, geojson, water as rows};
use crate::investigate::WaterInvestigation;
use crate::town::Town;

use super::trace::Format;
use super::{answer, grouped, length, outward};

/// The answer in a format; `top` candidates in the table, none where it is 0.
pub(super) fn text(town: &Town, found: &WaterInvestigation, format: Format, top: usize) -> Result<String> {
    outward(town, |out| match format {
        Format::Table => Ok(table(town, found, top)),
        Format::Json => {
            let mut head = rows::head(out, found);
            head["ranked"] = ranked(town, out, found)?.into_iter().map(Json::Object).collect();
            Ok(format!("{head:#}\n"))
        }
        Format::Csv => csv::rows(
            &["rank", "evidence", "layer", "parcel_id", "address", "tier", "distance_m", "through", "certainty"],
            &ranked(town, out, found)?,
        ),
        Format::Geojson => Ok(format!("{}\n", rows::geojson(out, found, &|t, l, id| town.originals(t, l, id))?)),
    })
}

fn ranked(town: &Town, out: &Outward, found: &WaterInvestigation) -> Result<Vec<Map<String, Json>>> {
    let originals = |table: &str, layer: &str, id: &str| town.originals(table, layer, id);
    let with = |(at, c): (usize, &crate::candidates::Candidate)| {
        let mut row = geojson::candidate_properties(out, c, &originals)?;
        row.insert("through".to_owned(), json!(rows::through(out, found, at)));
        Ok(row)
    };
    found.candidates.ranked.iter().enumerate().map(with).collect()
}

fn table(town: &Town, found: &WaterInvestigation, top: usize) -> String {
    let inventory = &town.basis.inventory;
    let mut out = answer::head(town, &found.place_name);
    if found.moved_m > 0.0 {
        out.push_str(&format!("the coordinate lies {} from the water\n", length(town, found.moved_m)));
    }
    let on_water: f64 = found.way.reaches.iter().map(|(_, from_m, to_m, _)| to_m - from_m).sum();
    out.push_str(&format!("up the water: {} of it, within {}\n", length(town, on_water), length(town, found.way.limit_m)));
    if found.way.limited {
        out.push_str("the limit was reached: what lies farther up is not in the answer\n");
    }
    out.push_str(&format!("conduit ends on it: {}\n", grouped(found.way.above.len())));
    for above in &found.way.above {
        let name = town.basis.network.node_name(inventory, above.node);
        let kind = town.basis.network.structures_at(inventory, above.node).find_map(|(_, s)| s.outfall_kind).map_or("", |k| k.word());
        let conduits = above.trace.conduits.len();
        out.push_str(&format!(
            "{:>10} up  {name} {}by {}; {conduits} conduits above\n",
            length(town, above.distance_m),
            if kind.is_empty() { String::new() } else { format!("({}) ", kind.replace('_', " ")) },
            above.entry.basis.word()
        ));
    }
    let parcels: Vec<String> = found.way.riparian.iter().take(20).map(|(p, _)| inventory.parcels[p.at()].key.to_string()).collect();
    let more = if found.way.riparian.len() > 20 { ", …" } else { "" };
    out.push_str(&format!("parcels along the water: {}  {}{more}\n", grouped(found.way.riparian.len()), parcels.join(", ")));
    out.push_str(&answer::cautions(town, &found.together));
    out.push_str(&format!("\n{} candidates; {LEADS}\n", grouped(found.candidates.ranked.len())));
    for (at, candidate) in found.candidates.ranked.iter().enumerate().take(top) {
        let parcel = &inventory.parcels[candidate.parcel.at()];
        let through: Vec<String> = found.through[at].iter().map(|n| town.basis.network.node_name(inventory, *n)).collect();
        out.push_str(&format!(
            "{:>4}  {:8}  {}  {}\n      by {}, {} along water and pipe, through {}\n",
            candidate.rank,
            candidate.evidence.word(),
            parcel.key,
            parcel.address.as_deref().unwrap_or("no address"),
            candidate.tie.tier.word().replace('_', " "),
            length(town, candidate.tie.distance_m),
            through.join(", ")
        ));
    }
    out
}
