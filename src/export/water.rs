//! The answer to a report on a water, as JSON and GeoJSON.

use geo::{Geometry, MultiLineString};
use serde_json::{Value as Json, json};

use crate::error::Result;
use crate::investigate::WaterInvestigation;
use crate::waters::stretch_of;

use super::geojson::{candidate_feature, conduits};
use super::{LEADS, Originals, Outward, cautions, geometry_to_json, rounded};

/// The conduit ends through which a candidate's water would come, by name.
pub fn through(outward: &Outward, found: &WaterInvestigation, candidate: usize) -> Vec<String> {
    let names = found.through.get(candidate).into_iter().flatten();
    names.map(|n| outward.basis.network.node_name(&outward.basis.inventory, *n)).collect()
}

fn end(outward: &Outward, above: &crate::waters::Above) -> Json {
    let (inventory, network) = (&outward.basis.inventory, &outward.basis.network);
    let water = &inventory.waters[above.entry.near.water];
    json!({
        "feature": "conduit_end",
        "name": network.node_name(inventory, above.node),
        "outfall_kind": network.structures_at(inventory, above.node).find_map(|(_, s)| s.outfall_kind).map(|k| k.word()),
        "other_system": network.structures_at(inventory, above.node).find_map(|(_, s)| s.other_system.clone()).as_deref(),
        "water_id": water.key.to_string(),
        "distance_m": rounded(above.distance_m, 1),
        "basis": above.entry.basis.word(),
        "conduits_above": above.trace.conduits.len(),
    })
}

/// What heads the answer.
pub fn head(outward: &Outward, found: &WaterInvestigation) -> Json {
    let inventory = &outward.basis.inventory;
    json!({
        "town": outward.basis.settings.name,
        "synthetic": outward.basis.settings.synthetic,
        "network_version": outward.version,
        "as_of": found.as_of.to_string(),
        "notice": LEADS,
        "place": found.place_name,
        "moved_m": rounded(found.moved_m, 2),
        "reported": found.report.pollutants,
        "upstream_limit_m": rounded(found.way.limit_m, 1),
        "limit_reached": found.way.limited,
        "conduit_ends": found.way.above.iter().map(|a| end(outward, a)).collect::<Vec<_>>(),
        "riparian_parcels": found.way.riparian.iter().map(|(p, away_m)| json!({
            "parcel_id": inventory.parcels[p.at()].key.to_string(),
            "away_m": rounded(*away_m, 2),
        })).collect::<Vec<_>>(),
        "candidates": found.candidates.ranked.len(),
        "not_weighed": found.candidates.absent,
        "cautions": cautions(outward, &found.together),
        "settings": outward.settings(),
    })
}

/// Stretches of water, conduit ends, conduits and candidates.
///
/// # Errors
/// Original attributes that cannot be read back.
pub fn geojson(outward: &Outward, found: &WaterInvestigation, originals: &Originals) -> Result<Json> {
    let (inventory, network) = (&outward.basis.inventory, &outward.basis.network);
    let lines = found.way.reaches.iter().map(|(r, from_m, to_m, _)| stretch_of(&outward.basis.waters.reach(*r).line, *from_m, *to_m));
    let water = Geometry::MultiLineString(MultiLineString(lines.collect()));
    let mut features = vec![json!({
        "type": "Feature", "id": "water", "geometry": geometry_to_json(outward, &water), "properties": { "feature": "water", "place": found.place_name }
    })];
    for above in &found.way.above {
        let place = network.nodes[above.node.at()].place;
        let geometry = place.map_or(Json::Null, |p| geometry_to_json(outward, &Geometry::Point(p)));
        let id = format!("conduit_end/{}/{}", above.node.at(), network.node_name(inventory, above.node));
        features.push(json!({ "type": "Feature", "id": id, "geometry": geometry, "properties": end(outward, above) }));
    }
    for (at, candidate) in found.candidates.ranked.iter().enumerate() {
        let mut feature = candidate_feature(outward, candidate, originals)?;
        feature["properties"]["through"] = json!(through(outward, found, at));
        features.push(feature);
    }
    features.extend(conduits(outward, &found.together));
    Ok(json!({ "type": "FeatureCollection", "headwall": head(outward, found), "features": features }))
}
