//! What leaves us, in exactly which shape? Names and units of everything that goes out are decided here and nowhere else.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use crate::crs::{Crs, Exit, WorkingCrs};
use crate::data_issue::DataIssue;
use crate::error::Result;
use crate::inventory::Key;
use crate::investigate::{Basis, ConditionsBelow, Investigation};
use crate::links::ParcelIndex;
use crate::network::{ConduitIndex, StructureIndex};
use crate::trace::{Caution, Effect, Trace, Travel, Way};
use crate::waters;

pub mod conditions;
pub mod csv;
pub mod geojson;
mod geometry;
pub mod law;
pub mod profile;
pub mod repairs;
pub mod water;
pub mod why_not;

pub use geometry::to_json as geometry_to_json;

/// Said with every list of candidates.
pub const LEADS: &str = "leads to inspect, not findings";

/// Original attributes of a feature that may leave, by its role's table, layer and id.
pub type Originals<'a> = dyn Fn(&str, &str, &str) -> Result<Map<String, Json>> + 'a;

/// What every outward form needs: the town, the way to longitude and latitude, the name of the network version.
pub struct Outward<'a> {
    /// The town as built.
    pub basis: &'a Basis,
    /// `7.0-3fa9c1d2`: what the answer rests on.
    pub version: &'a str,
    exit: Exit,
}

impl<'a> Outward<'a> {
    /// Prepares the way out.
    ///
    /// # Errors
    /// A working CRS from which no way to longitude and latitude is known.
    pub fn new(basis: &'a Basis, working: &WorkingCrs, version: &'a str) -> Result<Self> {
        Ok(Outward { basis, version, exit: working.exit(&Crs::lon_lat()?)? })
    }

    /// An inside point as longitude and latitude; `None` where it has none.
    pub fn lon_lat(&self, point: [f64; 2]) -> Option<[f64; 2]> {
        let mut points = [point];
        self.exit.points(&mut points);
        points[0].iter().all(|v| v.is_finite()).then_some(points[0])
    }

    fn layer(&self, key: &Key) -> &str {
        self.basis.inventory.layer_name(key.layer)
    }

    fn conduit_id(&self, conduit: ConduitIndex) -> &Key {
        &self.basis.inventory.conduits[conduit.at()].key
    }

    fn structure_id(&self, structure: StructureIndex) -> &Key {
        &self.basis.inventory.structures[structure.at()].key
    }

    fn parcel_id(&self, parcel: ParcelIndex) -> &Key {
        &self.basis.inventory.parcels[parcel.at()].key
    }

    /// The settings that shaped the answer.
    fn settings(&self) -> Json {
        let s = &self.basis.settings;
        json!({
            "snap_tolerance_m": rounded(s.snap_tolerance.metres(), 4),
            "near_miss_m": rounded(s.near_miss.metres(), 4),
            "join_sides": s.join_sides,
            "direction": s.direction.iter().map(|d| d.word()).collect::<Vec<_>>(),
            "parcel_distance_m": rounded(s.parcel_distance.metres(), 4),
            "search_radius_m": rounded(s.search_radius.metres(), 4),
            "land_use_scheme": s.land_use_scheme,
            "law": s.law,
            "permit": s.permit,
            "rules_digest": self.basis.rules.digest_hex(),
        })
    }
}

/// A number with so many decimals, without a negative zero.
pub(crate) fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale + 0.0
}

/// Puts a time in minutes, rounded outwards to a tenth; null for a latest that nothing bounds.
pub(crate) fn put_travel(properties: &mut Map<String, Json>, travel: Travel) {
    properties.insert("travel_earliest_min".to_owned(), ((travel.earliest_s / 6.0).floor() / 10.0).into());
    properties.insert("travel_latest_min".to_owned(), travel.latest_s.map(|s| (s / 6.0).ceil() / 10.0).into());
}

fn effect(effect: Option<Effect>) -> Json {
    effect.map_or(Json::Null, |e| json!({ "conduits": e.conduits, "length_m": rounded(e.length_um as f64 / 1e6, 2), "parcels": e.parcels }))
}

fn caution(outward: &Outward, caution: &Caution) -> Json {
    json!({
        "kind": caution.kind.word(),
        "at": caution.at,
        "message": caution.message,
        "cuts_off": effect(caution.cuts_off),
        "adds": effect(caution.adds),
        "lon_lat": caution.place.and_then(|p| outward.lon_lat(p)).map(|p| p.map(|v| rounded(v, 8))),
    })
}

/// Cautions as JSON.
pub fn cautions(outward: &Outward, trace: &Trace) -> Json {
    trace.cautions.iter().map(|c| caution(outward, c)).collect()
}

/// A data issue as JSON.
pub fn issue(outward: &Outward, issue: &DataIssue) -> Json {
    json!({
        "code": issue.code.as_str(),
        "severity": issue.code.severity().word(),
        "layer": issue.layer,
        "ids": issue.ids,
        "file": issue.file,
        "field": issue.field,
        "value": issue.value,
        "node": issue.node,
        "distance_m": issue.distance_m.map(|m| rounded(m, 3)),
        "lon_lat": issue.at.and_then(|p| outward.lon_lat(p)).map(|p| p.map(|v| rounded(v, 8))),
        "message": issue.message,
    })
}

/// What heads every answer about a report.
pub fn investigation_head(outward: &Outward, found: &Investigation) -> Json {
    let signatures: Vec<Json> =
        found.signatures.iter().map(|s| json!({ "id": s.id, "words": s.words, "pathway": s.pathway.word(), "note": s.note })).collect();
    let others: Vec<Json> = found
        .candidates
        .other_explanations
        .iter()
        .map(|o| json!({ "id": o.hypothesis.id, "words": o.hypothesis.words, "check": o.hypothesis.check }))
        .collect();
    let mut issue_counts: BTreeMap<&str, usize> = BTreeMap::new();
    found.issues.iter().for_each(|i| *issue_counts.entry(i.code.as_str()).or_default() += 1);
    json!({
        "town": outward.basis.settings.name,
        "synthetic": outward.basis.settings.synthetic,
        "network_version": outward.version,
        "as_of": found.as_of.to_string(),
        "notice": LEADS,
        "place": found.place_name,
        "moved_m": rounded(found.moved_m, 2),
        "reported": found.report.pollutants,
        "water": found.trace.water.word(),
        "signatures": signatures,
        "upstream": {
            "conduits": found.trace.conduits.len(),
            "structures": found.trace.structures.len(),
            "length_m": rounded(found.trace.length_m(), 2),
            "parcels": found.trace.parcels.len(),
        },
        "candidates": found.candidates.ranked.len(),
        "other_explanations": others,
        "possible_exemptions": law::possible_exemptions(found),
        "spill": law::spill(&found.spill),
        "left_out_parcels": found.candidates.left_out.iter().map(|p| outward.parcel_id(*p).to_string()).collect::<Vec<_>>(),
        "not_weighed": found.candidates.absent,
        "special_conditions": special_conditions(outward, found),
        "cautions": cautions(outward, &found.trace),
        "issues_on_the_way": found.issues.iter().map(|i| issue(outward, i)).collect::<Vec<_>>(),
        "issue_counts": issue_counts,
        "settings": outward.settings(),
    })
}

/// The special conditions of the outfalls below a report.
fn special_conditions(outward: &Outward, found: &Investigation) -> Json {
    let row = |below: &ConditionsBelow| {
        let flags = below.outfall.flags.iter().zip(&below.reported).map(|(flag, reported)| {
            let mut row = conditions::flag(outward, flag);
            row.insert("reported_pollutant".to_owned(), (*reported).into());
            Json::Object(row)
        });
        let flags: Vec<Json> = flags.collect();
        json!({
            "outfall": outward.structure_id(below.outfall.outfall).to_string(),
            "flags": flags,
            "not_known": below.outfall.unknown,
        })
    };
    found.conditions.iter().map(row).collect()
}

/// What heads every plain trace.
pub fn trace_head(outward: &Outward, trace: &Trace, place: &str) -> Json {
    json!({
        "town": outward.basis.settings.name,
        "synthetic": outward.basis.settings.synthetic,
        "network_version": outward.version,
        "place": place,
        "way": trace.way.word(),
        "water": trace.water.word(),
        "conduits": trace.conduits.len(),
        "structures": trace.structures.len(),
        "length_m": rounded(trace.length_m(), 2),
        "parcels": trace.parcels.len(),
        "receiving_waters": receiving_waters(outward, trace),
        "cautions": cautions(outward, trace),
        "settings": outward.settings(),
    })
}

/// The waters by which the conduits of a downstream trace end; null for an upstream one.
fn receiving_waters(outward: &Outward, trace: &Trace) -> Json {
    if trace.way == Way::Up {
        return Json::Null;
    }
    let inventory = &outward.basis.inventory;
    let found = waters::receiving(outward.basis.ground(), &outward.basis.waters, trace);
    let row = |r: &waters::Receiving| {
        let water = &inventory.waters[r.water];
        json!({
            "water_id": water.key.to_string(),
            "layer": outward.layer(&water.key),
            "name": water.name.as_deref(),
            "at": outward.basis.network.node_name(inventory, r.at),
            "away_m": rounded(r.away_m, 2),
            "basis": r.basis.word(),
        })
    };
    found.iter().map(row).collect()
}
