//! Data issues by their effect, proposals with before and after, and corrections, as they leave.

use geo::{Geometry, LineString, MultiLineString, Point};
use serde_json::{Value as Json, json};

use crate::error::Result;
use crate::evidence::{self, Added, Change, Correction};
use crate::formats::geopackage::{Cell, ColumnType, Row, Table};
use crate::inventory::Inventory;
use crate::network::ConduitIndex;
use crate::proposals::{Assignment, Gain, Proposal, Touched};
use crate::records::Log;

use super::{Outward, geometry_to_json, issue, rounded};

/// A gain as JSON.
pub fn gain(gain: &Gain) -> Json {
    json!({ "conduits": gain.conduits, "length_m": rounded(gain.length_um as f64 / 1e6, 2), "parcels": gain.parcels })
}

fn head(outward: &Outward, what: &str, count: usize) -> Json {
    json!({
        "town": outward.basis.settings.name,
        "synthetic": outward.basis.settings.synthetic,
        "network_version": outward.version,
        what: count,
        "settings": outward.settings(),
    })
}

fn touched(outward: &Outward, touched: &Touched) -> Json {
    let mut json = issue(outward, touched.issue);
    if let Some(object) = json.as_object_mut() {
        object.insert("touches_conduits".to_owned(), touched.conduits.into());
        object.insert("hangs_on_it".to_owned(), gain(&touched.hangs));
    }
    json
}

/// Data issues, the weightiest first, as JSON.
pub fn issues(outward: &Outward, issues: &[Touched]) -> Json {
    json!({ "headwall": head(outward, "issues", issues.len()), "issues": issues.iter().map(|t| touched(outward, t)).collect::<Vec<_>>() })
}

/// Data issues as GeoJSON points; those without a place have no geometry.
pub fn issues_geojson(outward: &Outward, issues: &[Touched]) -> Json {
    let features: Vec<Json> = issues
        .iter()
        .enumerate()
        .map(|(at, t)| {
            let geometry = t.issue.at.map_or(Json::Null, |p| geometry_to_json(outward, &Geometry::Point(Point::new(p[0], p[1]))));
            json!({ "type": "Feature", "id": format!("issue/{}", at + 1), "geometry": geometry, "properties": touched(outward, t) })
        })
        .collect();
    json!({ "type": "FeatureCollection", "headwall": head(outward, "issues", issues.len()), "features": features })
}

/// Data issues as CSV.
///
/// # Errors
/// None in practice: memory is the only thing written to.
pub fn issues_csv(outward: &Outward, issues: &[Touched]) -> Result<String> {
    let columns = [
        "severity",
        "code",
        "layer",
        "ids",
        "touches_conduits",
        "hangs_conduits",
        "hangs_length_m",
        "hangs_parcels",
        "distance_m",
        "longitude",
        "latitude",
        "message",
    ];
    let rows: Vec<serde_json::Map<String, Json>> = issues
        .iter()
        .map(|t| {
            let place = t.issue.at.and_then(|p| outward.lon_lat(p)).map(|p| p.map(|v| rounded(v, 8)));
            let values: [Json; 12] = [
                t.issue.code.severity().word().into(),
                t.issue.code.as_str().into(),
                t.issue.layer.clone().into(),
                t.issue.ids.join(" ").into(),
                t.conduits.into(),
                t.hangs.conduits.into(),
                rounded(t.hangs.length_um as f64 / 1e6, 2).into(),
                t.hangs.parcels.into(),
                t.issue.distance_m.map(|m| rounded(m, 3)).into(),
                place.map(|p| p[0]).into(),
                place.map(|p| p[1]).into(),
                t.issue.message.clone().into(),
            ];
            columns.iter().map(|c| (*c).to_owned()).zip(values).collect()
        })
        .collect();
    super::csv::rows(&columns, &rows)
}

fn conduit_ids(outward: &Outward, conduits: &[ConduitIndex]) -> Vec<String> {
    conduits.iter().map(|c| outward.conduit_id(*c).to_string()).collect()
}

/// A change as JSON; coordinates as longitude and latitude.
pub fn change(outward: &Outward, change: &Change) -> Json {
    let mut change = change.clone();
    let words = change.in_words();
    for point in change.points_mut() {
        *point = outward.lon_lat(*point).map_or([0.0, 0.0], |p| p.map(|v| rounded(v, 8)));
    }
    let mut json = serde_json::to_value(&change).unwrap_or_default();
    if let Some(object) = json.as_object_mut() {
        object.insert("words".to_owned(), words.into());
    }
    json
}

fn proposal(outward: &Outward, rank: usize, p: &Proposal) -> Json {
    let mut gains: Vec<ConduitIndex> = p.gains.iter().map(|piece| outward.basis.network.piece(*piece).conduit).collect();
    gains.sort_unstable();
    gains.dedup();
    json!({
        "rank": rank,
        "proposal": p.id,
        "evidence": p.evidence.words(),
        "gain": gain(&p.gain),
        "clears_level_steps": p.clears,
        "changes": p.changes.iter().map(|c| change(outward, c)).collect::<Vec<_>>(),
        "reasons": p.reasons,
        "cost_points": p.cost,
        "after": p.after,
        "touches": conduit_ids(outward, &p.touches),
        "gains_conduits": conduit_ids(outward, &gains),
    })
}

/// Proposals, ranked, and the town's own assignments beside them, as JSON.
pub fn proposals(outward: &Outward, all: &[Proposal], assigned: &[Assignment]) -> Json {
    let assignments: Vec<Json> = assigned
        .iter()
        .map(|a| {
            json!({
                "outfall": outward.structure_id(a.outfall).to_string(),
                "connected": a.connected,
                "assigned": conduit_ids(outward, &a.assigned),
                "drains_to_it": a.upstream.len(),
                "blank": conduit_ids(outward, &a.blank),
                "names_another": conduit_ids(outward, &a.names_another),
                "assigned_and_does_not_drain_to_it": conduit_ids(outward, &a.not_upstream),
            })
        })
        .collect();
    json!({
        "headwall": head(outward, "proposals", all.len()),
        "proposals": all.iter().enumerate().map(|(at, p)| proposal(outward, at + 1, p)).collect::<Vec<_>>(),
        "assignments": assignments,
    })
}

/// The conduits and structures that changes name, before and after them: a small inventory is enough.
fn shapes(inventory: &Inventory, changes: &[Change]) -> (Option<Geometry>, Option<Geometry>) {
    let named: Vec<(Option<crate::inventory::LayerIndex>, &str)> =
        changes.iter().flat_map(Change::features).map(|f| (inventory.layer_index(&f.layer), f.id.as_str())).collect();
    let is = |key: &crate::inventory::Key| named.iter().any(|(layer, id)| *layer == Some(key.layer) && **id == *key.id);
    let conduits: Vec<_> = inventory.conduits.iter().filter(|c| is(&c.key)).cloned().collect();
    let node = |id: &str| conduits.iter().any(|c| c.node_from.named() == Some(id) || c.node_to.named() == Some(id));
    let structures: Vec<_> = inventory.structures.iter().filter(|s| is(&s.key) || node(&s.key.id)).cloned().collect();
    let small = Inventory { layers: inventory.layers.clone(), conduits, structures, ..Inventory::default() };
    let correction = Correction {
        sequence: 0,
        at: String::new(),
        who: String::new(),
        why: String::new(),
        evidence: String::new(),
        proposal: None,
        changes: changes.to_vec(),
        relied_on: Vec::new(),
    };
    let (after, _) = evidence::apply(&small, &[correction]);
    let drawn = |of: &Inventory| {
        let lines: Vec<LineString> = of.conduits.iter().flat_map(|c| c.parts.iter().cloned()).collect();
        match lines.is_empty() {
            false => Some(Geometry::MultiLineString(MultiLineString(lines))),
            true => {
                of.structures.iter().filter(|s| is(&s.key) || s.key.id.starts_with("added-")).find_map(|s| s.place).map(Geometry::Point)
            }
        }
    };
    (drawn(&small), drawn(&after))
}

/// Proposals as GeoJSON: for each the changed conduits before and after.
pub fn proposals_geojson(outward: &Outward, all: &[Proposal]) -> Json {
    let mut features = Vec::new();
    for (at, p) in all.iter().enumerate() {
        let (before, after) = shapes(&outward.basis.inventory, &p.changes);
        for (state, shape) in [("before", before), ("after", after)] {
            let mut properties = proposal(outward, at + 1, p);
            if let Some(object) = properties.as_object_mut() {
                object.insert("feature".to_owned(), "proposal".into());
                object.insert("state".to_owned(), state.into());
            }
            let geometry = shape.map_or(Json::Null, |shape| geometry_to_json(outward, &shape));
            features.push(json!({ "type": "Feature", "id": format!("{}/{state}", p.id), "geometry": geometry, "properties": properties }));
        }
    }
    json!({ "type": "FeatureCollection", "headwall": head(outward, "proposals", all.len()), "features": features })
}

/// The records of corrections as JSON.
pub fn corrections(outward: &Outward, log: &Log) -> Json {
    let records: Vec<Json> = log
        .records
        .iter()
        .map(|r| {
            json!({
                "sequence": r.correction.sequence,
                "at": r.correction.at,
                "who": r.correction.who,
                "why": r.correction.why,
                "evidence": r.correction.evidence,
                "proposal": r.correction.proposal,
                "undoes": r.undoes,
                "in_force": r.in_force,
                "changes": r.correction.changes.iter().map(|c| change(outward, c)).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({ "network_version": outward.version, "corrections": records })
}

/// The table of corrections for the GIS person: a row for each change, its shape as it should be.
///
/// `native` turns inside coordinates into those of the file's CRS.
pub fn corrections_table(imported: &Inventory, log: &Log, native: f64) -> Table {
    use ColumnType::{Boolean, Integer, Real, Text};
    let columns = vec![
        ("sequence", Integer),
        ("recorded_at", Text),
        ("who", Text),
        ("why", Text),
        ("evidence", Text),
        ("proposal", Text),
        ("undoes", Integer),
        ("in_force", Boolean),
        ("change", Text),
        ("features", Text),
        ("words", Text),
        ("surveyed", Text),
        ("accuracy_m", Real),
        ("diameter_mm", Real),
        ("material", Text),
    ];
    let text = |value: Option<&str>| value.map_or(Cell::Null, |v| Cell::Text(v.to_owned()));
    let real = |value: Option<f64>| value.map_or(Cell::Null, Cell::Real);
    let mut rows = Vec::new();
    for record in &log.records {
        let correction = &record.correction;
        let changes: Vec<Option<&Change>> =
            if correction.changes.is_empty() { vec![None] } else { correction.changes.iter().map(Some).collect() };
        for change in changes {
            let added: Option<&Added> = match change {
                Some(Change::AddConduit(added) | Change::AddStructure(added) | Change::AddLateral(added)) => Some(added),
                _ => None,
            };
            let shape = match (change, added) {
                (_, Some(added)) if added.points.len() == 1 => Some(Geometry::Point(Point::new(added.points[0][0], added.points[0][1]))),
                (_, Some(added)) => Some(Geometry::LineString(added.points.iter().map(|p| (p[0], p[1])).collect())),
                (Some(change), None) => shapes(imported, std::slice::from_ref(change)).1,
                (None, None) => None,
            };
            let features = change.map(|c| c.features().iter().map(|f| format!("{}/{}", f.layer, f.id)).collect::<Vec<_>>().join(" "));
            rows.push(Row {
                shape: shape.map(|s| geo::MapCoords::map_coords(&s, |c| geo::coord! { x: c.x * native, y: c.y * native })),
                cells: vec![
                    Cell::Int(correction.sequence as i64),
                    Cell::Text(correction.at.clone()),
                    Cell::Text(correction.who.clone()),
                    Cell::Text(correction.why.clone()),
                    Cell::Text(correction.evidence.clone()),
                    text(correction.proposal.as_deref()),
                    record.undoes.map_or(Cell::Null, |u| Cell::Int(u as i64)),
                    Cell::Int(i64::from(record.in_force)),
                    text(Some(change.map_or("undo", Change::word))),
                    text(features.as_deref()),
                    text(change.map(Change::in_words).as_deref()),
                    text(added.map(|a| a.surveyed.word())),
                    real(added.and_then(|a| a.accuracy_m)),
                    real(added.and_then(|a| a.diameter_mm)),
                    text(added.and_then(|a| a.material.as_deref())),
                ],
            });
        }
    }
    Table {
        name: "corrections".to_owned(),
        description: "what people corrected: a row for each change, with its shape as it should be".to_owned(),
        geometry: "GEOMETRY",
        columns,
        rows,
    }
}
