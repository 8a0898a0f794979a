//! The special conditions of outfalls as rows, GeoJSON and CSV.

use std::collections::BTreeMap;

use geo::{Geometry, MultiLineString};
use serde_json::{Map, Value as Json, json};

use crate::error::Result;
use crate::waters::{Change, Changed, Conditions, Flag, OutfallConditions, Spot, stretch_of};

use super::geojson::structure_properties;
use super::{Outward, geometry_to_json, rounded};

/// The columns of a table of flags.
pub const COLUMNS: &[&str] = &[
    "outfall",
    "outfall_kind",
    "water",
    "water_name",
    "pollutant",
    "kind",
    "special_condition",
    "reached",
    "distance_m",
    "category",
    "cycle",
    "basis",
    "certainty",
    "permit_list",
    "pollutant_of_concern",
    "follows",
    "date",
    "remarks",
];

/// A flag as properties.
pub fn flag(outward: &Outward, flag: &Flag) -> Map<String, Json> {
    let structure = &outward.basis.inventory.structures[flag.outfall.at()];
    let concern = flag.concern.as_ref().map(|(id, permit)| if *permit { id.clone() } else { format!("{id} (not one of the permit's)") });
    let all = json!({
        "outfall": structure.key.to_string(),
        "outfall_layer": outward.layer(&structure.key),
        "outfall_kind": structure.outfall_kind.map(|k| k.word()),
        "water": &*flag.water,
        "water_name": flag.water_name.as_deref(),
        "pollutant": flag.pollutant.as_deref(),
        "kind": flag.kind.word(),
        "special_condition": flag.kind.is_special_condition(),
        "reached": flag.reached.word(),
        "distance_m": rounded(flag.reached.distance_m(), 1),
        "category": flag.category,
        "cycle": flag.cycle,
        "basis": flag.basis,
        "certainty": flag.certainty.word(),
        "permit_list": flag.permit.word(),
        "pollutant_of_concern": concern,
        "follows": flag.follow.words(),
        "date": flag.follow.date().map(|d| d.to_string()),
        "remarks": flag.remarks,
    });
    all.as_object().cloned().unwrap_or_default()
}

/// What is said of an outfall beside its rows.
pub fn outfall(outward: &Outward, own: &OutfallConditions) -> Json {
    let inventory = &outward.basis.inventory;
    let receiving: Vec<Json> = own
        .way
        .entries
        .iter()
        .map(|(node, entry)| {
            let water = &inventory.waters[entry.near.water];
            json!({
                "water_id": water.key.to_string(),
                "layer": outward.layer(&water.key),
                "name": water.name.as_deref(),
                "at": outward.basis.network.node_name(inventory, *node),
                "away_m": rounded(entry.near.away_m, 2),
                "basis": entry.basis.word(),
            })
        })
        .collect();
    let units: Vec<Json> = own
        .way
        .units
        .iter()
        .map(|u| {
            let unit = &inventory.units[u.shape];
            json!({ "unit": &*unit.unit, "name": unit.name.as_deref(), "direct": u.direct, "distance_m": rounded(u.distance_m, 1), "certainty": u.certainty.word() })
        })
        .collect();
    json!({
        "receiving_waters": receiving,
        "units": units,
        "not_known": own.unknown,
        "flags": own.flags.iter().map(|f| Json::Object(flag(outward, f))).collect::<Vec<_>>(),
    })
}

/// What heads every answer about conditions.
pub fn head(outward: &Outward, conditions: &Conditions, as_of: jiff::civil::Date) -> Json {
    let settings = &outward.basis.settings;
    json!({
        "town": settings.name,
        "synthetic": settings.synthetic,
        "network_version": outward.version,
        "as_of": as_of.to_string(),
        "outfalls": conditions.outfalls.len(),
        "rows": conditions.flags().count(),
        "programme_date": settings.programme_date.as_ref().map(|p| json!({ "date": p.date.to_string(), "source": p.source })),
        "downstream_limit_m": rounded(settings.downstream_limit.metres(), 1),
        "notes": conditions.notes,
    })
}

/// Outfalls, given catchments and receiving reaches with their flags.
pub fn geojson(outward: &Outward, conditions: &Conditions, as_of: jiff::civil::Date) -> Json {
    let inventory = &outward.basis.inventory;
    let mut features = Vec::new();
    let mut reaches: BTreeMap<(usize, String), (Geometry, Vec<Json>)> = BTreeMap::new();
    for own in &conditions.outfalls {
        let structure = &inventory.structures[own.outfall.at()];
        let name = format!("{}/{}", outward.layer(&structure.key), structure.key);
        let said = outfall(outward, own);
        let mut properties = Map::new();
        properties.insert("feature".to_owned(), "outfall".into());
        properties.extend(structure_properties(outward, own.outfall));
        properties.extend(said.as_object().cloned().unwrap_or_default());
        let geometry = structure.place.map_or(Json::Null, |p| geometry_to_json(outward, &Geometry::Point(p)));
        features.push(json!({ "type": "Feature", "id": format!("outfall/{name}"), "geometry": geometry, "properties": properties }));
        for area in inventory.drainage_areas.iter().filter(|a| {
            a.whole_catchment
                && a.drains_to.as_deref().is_some_and(|to| to == structure.key.plain_id() || structure.also_known_as.as_deref() == Some(to))
        }) {
            let mut properties = Map::new();
            properties.insert("feature".to_owned(), "catchment".into());
            properties.insert("layer".to_owned(), outward.layer(&area.key).into());
            properties.insert("catchment_id".to_owned(), area.key.to_string().into());
            properties.insert("outfall".to_owned(), structure.key.to_string().into());
            properties.insert("method".to_owned(), "given".into());
            properties.extend(said.as_object().cloned().unwrap_or_default());
            let geometry = area.outline.as_ref().map_or(Json::Null, |o| geometry_to_json(outward, &Geometry::MultiPolygon(o.clone())));
            features.push(json!({
                "type": "Feature", "id": format!("catchment/{}/{}/{name}", outward.layer(&area.key), area.key), "geometry": geometry, "properties": properties
            }));
        }
        for (_, entry) in &own.way.entries {
            let water = entry.near.water;
            let (at, shape) = match entry.near.spot {
                Spot::OnReach { reach, .. } => {
                    let reach_of = outward.basis.waters.reach(reach);
                    (format!("reach-{reach}"), Geometry::LineString(stretch_of(&reach_of.line, 0.0, reach_of.length_m)))
                }
                Spot::InLake { .. } => {
                    let shore = inventory.waters[water].shore.clone();
                    (
                        "shore".to_owned(),
                        shore.map_or_else(|| Geometry::MultiLineString(MultiLineString(Vec::new())), Geometry::MultiPolygon),
                    )
                }
            };
            let flags = own.flags.iter().filter(|f| f.reached.word() != "downstream").map(|f| Json::Object(flag(outward, f)));
            reaches.entry((water, at)).or_insert_with(|| (shape, Vec::new())).1.extend(flags);
        }
    }
    for ((water, at), (shape, flags)) in reaches {
        let water = &inventory.waters[water];
        let mut outfalls: Vec<&str> = flags.iter().filter_map(|f| f["outfall"].as_str()).collect();
        outfalls.sort_unstable();
        outfalls.dedup();
        let properties = json!({
            "feature": "receiving_water",
            "layer": outward.layer(&water.key),
            "water_id": water.key.to_string(),
            "name": water.name.as_deref(),
            "flagged_outfalls": outfalls,
            "flags": flags,
        });
        let id = format!("receiving_water/{}/{}/{at}", outward.layer(&water.key), water.key);
        features.push(json!({ "type": "Feature", "id": id, "geometry": geometry_to_json(outward, &shape), "properties": properties }));
    }
    json!({ "type": "FeatureCollection", "headwall": head(outward, conditions, as_of), "features": features })
}

/// One line for each flag.
///
/// # Errors
/// None in practice: memory is the only thing written to.
pub fn csv(outward: &Outward, conditions: &Conditions) -> Result<String> {
    let rows: Vec<Map<String, Json>> = conditions.flags().map(|f| flag(outward, f)).collect();
    super::csv::rows(COLUMNS, &rows)
}

/// A difference as properties.
pub fn change(change: &Change) -> Map<String, Json> {
    let (word, was, is) = match &change.changed {
        Changed::Added => ("added", None, None),
        Changed::Removed => ("removed", None, None),
        Changed::Altered(was, is) => ("altered", Some(was), Some(is)),
        Changed::OutfallOnlyIn(which) => {
            (if *which == "the old" { "outfall only in the old" } else { "outfall only in the new" }, None, None)
        }
    };
    let all = json!({
        "outfall": change.outfall,
        "change": word,
        "water": change.water,
        "pollutant": change.pollutant,
        "kind": change.kind,
        "was": was,
        "is": is,
    });
    all.as_object().cloned().unwrap_or_default()
}
