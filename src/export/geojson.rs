//! GeoJSON of answers and layers (RFC 7946): ids as text and unique in a collection, units in names.

use geo::{Geometry, MultiLineString};
use serde_json::{Map, Value as Json, json};

use crate::candidates::{Candidate, Tie};
use crate::error::Result;
use crate::inventory::{Key, LevelField};
use crate::investigate::{Investigation, Whereabouts};
use crate::network::locate::Place;
use crate::network::{ConduitIndex, Flow, StructureIndex};
use crate::town::LayerFeature;
use crate::trace::{Trace, TracedConduit, TracedParcel, Travel};

use super::{Originals, Outward, geometry_to_json, investigation_head, put_travel, rounded, trace_head};

fn feature(id: String, geometry: Json, properties: Json) -> Json {
    json!({ "type": "Feature", "id": id, "geometry": geometry, "properties": properties })
}

fn collection(head: Json, features: Vec<Json>) -> Json {
    json!({ "type": "FeatureCollection", "headwall": head, "features": features })
}

/// The candidates, conduits and structures of an investigation, and the report itself.
///
/// # Errors
/// Original attributes that cannot be read back.
pub fn investigation(outward: &Outward, found: &Investigation, originals: &Originals) -> Result<Json> {
    let mut features = vec![report(outward, found)];
    for candidate in &found.candidates.ranked {
        features.push(candidate_feature(outward, candidate, originals)?);
    }
    features.extend(conduits(outward, &found.trace));
    features.extend(structures(outward, &found.trace));
    Ok(collection(investigation_head(outward, found), features))
}

/// The conduits, structures and parcels of a trace.
///
/// # Errors
/// Original attributes that cannot be read back.
pub fn trace(outward: &Outward, trace: &Trace, place: &str, originals: &Originals) -> Result<Json> {
    let mut features = conduits(outward, trace);
    features.extend(structures(outward, trace));
    for parcel in &trace.parcels {
        features.push(parcel_feature(outward, parcel, originals)?);
    }
    Ok(collection(trace_head(outward, trace, place), features))
}

fn report(outward: &Outward, found: &Investigation) -> Json {
    let at = match (&found.report.at, found.place) {
        (Whereabouts::Point(point), _) => Some(*point),
        (_, Place::Node(node)) => outward.basis.network.nodes[node.at()].place,
        (_, Place::OnPiece { piece, along_m }) => {
            let line = outward.basis.network.line(&outward.basis.inventory, piece, along_m, along_m);
            line.and_then(|l| l.0.first().map(|c| (*c).into()))
        }
    };
    let geometry = at.map_or(Json::Null, |point| geometry_to_json(outward, &Geometry::Point(point)));
    feature(
        "report".to_owned(),
        geometry,
        json!({ "feature": "report", "place": found.place_name, "reported": found.report.pollutants, "moved_m": rounded(found.moved_m, 2), "as_of": found.as_of.to_string() }),
    )
}

pub(super) fn conduits<'a>(outward: &'a Outward, trace: &'a Trace) -> Vec<Json> {
    trace.conduits.iter().map(|traced| conduit_feature(outward, traced)).collect()
}

/// A conduit's own properties, the same wherever it leaves.
pub fn conduit_properties(outward: &Outward, index: ConduitIndex) -> Map<String, Json> {
    let conduit = &outward.basis.inventory.conduits[index.at()];
    let flow = outward.basis.network.flow(index);
    let way = match flow.flow {
        Flow::WithDrawing => "with_drawing",
        Flow::AgainstDrawing => "against_drawing",
        Flow::Unknown => "unknown",
    };
    let mut properties = Map::new();
    let mut put = |name: &str, value: Json| {
        properties.insert(name.to_owned(), value);
    };
    put("layer", outward.layer(&conduit.key).into());
    put("conduit_id", conduit.key.to_string().into());
    put("kind", conduit.kind.word().into());
    put("system", conduit.system.word().into());
    put("status", conduit.status.word().into());
    put("owner", conduit.owner.as_deref().into());
    put("operator", conduit.operator.as_deref().into());
    put("diameter_mm", conduit.diameter_mm.map(|v| rounded(v, 1)).into());
    put("height_mm", conduit.height_mm.map(|v| rounded(v, 1)).into());
    put("shape", conduit.shape.word().into());
    put("material", conduit.material.word().into());
    put("year_installed", conduit.year_installed.into());
    put("pressurised", conduit.pressurised.into());
    put("flow", way.into());
    put("direction_by", flow.decided_by.map(|s| s.word()).into());
    put("direction_contradicted_by", flow.contradicted_by.iter().map(|s| s.word()).collect::<Vec<_>>().into());
    put("direction_assumed", flow.assumed.into());
    put("invert_up_m", flow.invert_up_m.map(|v| rounded(v, 3)).into());
    put("invert_down_m", flow.invert_down_m.map(|v| rounded(v, 3)).into());
    properties
}

fn conduit_feature(outward: &Outward, traced: &TracedConduit) -> Json {
    let conduit = &outward.basis.inventory.conduits[traced.conduit.at()];
    // Never drawn: null, not an invented line.
    let geometry = match conduit.parts.as_slice() {
        [] => Json::Null,
        [line] => geometry_to_json(outward, &Geometry::LineString(line.clone())),
        parts => geometry_to_json(outward, &Geometry::MultiLineString(MultiLineString(parts.to_vec()))),
    };
    let mut properties = Map::new();
    properties.insert("feature".to_owned(), "conduit".into());
    properties.extend(conduit_properties(outward, traced.conduit));
    properties.insert("certainty".to_owned(), traced.certainty.word().into());
    properties.insert("distance_m".to_owned(), rounded(traced.distance_m, 2).into());
    properties.insert("traced_length_m".to_owned(), rounded(traced.length_um as f64 / 1e6, 2).into());
    put_travel(&mut properties, traced.travel);
    feature(id("conduit", outward, &conduit.key), geometry, Json::Object(properties))
}

fn id(kind: &str, outward: &Outward, key: &Key) -> String {
    format!("{kind}/{}/{}", outward.layer(key), key)
}

fn level(field: &LevelField) -> Json {
    field.given().map_or(Json::Null, |l| rounded(l.value_m, 3).into())
}

/// A structure's own properties, the same wherever it leaves.
pub fn structure_properties(outward: &Outward, index: StructureIndex) -> Map<String, Json> {
    let structure = &outward.basis.inventory.structures[index.at()];
    let mut properties = Map::new();
    let mut put = |name: &str, value: Json| {
        properties.insert(name.to_owned(), value);
    };
    put("layer", outward.layer(&structure.key).into());
    put("structure_id", structure.key.to_string().into());
    put("kind", structure.kind.word().into());
    put("outfall_kind", structure.outfall_kind.map(|k| k.word()).into());
    put("system", structure.system.word().into());
    put("status", structure.status.word().into());
    put("owner", structure.owner.as_deref().into());
    put("operator", structure.operator.as_deref().into());
    put("other_system", structure.other_system.as_deref().into());
    put("name", structure.name.as_deref().into());
    put("rim_m", level(&structure.rim));
    put("invert_m", level(&structure.invert));
    properties
}

fn structures(outward: &Outward, trace: &Trace) -> Vec<Json> {
    let one = |index: &StructureIndex| {
        let structure = &outward.basis.inventory.structures[index.at()];
        let geometry = structure.place.map_or(Json::Null, |p| geometry_to_json(outward, &Geometry::Point(p)));
        let reached = trace.node(outward.basis.network.node_of(*index));
        let mut properties = Map::new();
        properties.insert("feature".to_owned(), "structure".into());
        properties.extend(structure_properties(outward, *index));
        properties.insert("certainty".to_owned(), reached.map(|r| r.certainty.word()).into());
        properties.insert("distance_m".to_owned(), reached.map(|r| rounded(r.distance_m, 2)).into());
        put_travel(&mut properties, reached.map_or(Travel::UNKNOWN, |r| r.travel));
        feature(id("structure", outward, &structure.key), geometry, Json::Object(properties))
    };
    trace.structures.iter().map(one).collect()
}

/// What may be said of a parcel: its key, class and address; more only where the town file allows it by name.
fn parcel_properties(outward: &Outward, key: &Key, index: usize, originals: &Originals) -> Result<Map<String, Json>> {
    let parcel = &outward.basis.inventory.parcels[index];
    let mut properties = Map::new();
    properties.insert("layer".to_owned(), outward.layer(key).into());
    properties.insert("parcel_id".to_owned(), key.to_string().into());
    properties.insert("address".to_owned(), parcel.address.as_deref().into());
    properties.insert("land_use".to_owned(), parcel.land_use.as_deref().into());
    properties.insert("used_as".to_owned(), parcel.used_as.as_deref().into());
    let allowed = &outward.basis.settings.personal_fields_allowed;
    if !allowed.is_empty() {
        let original = originals("parcels", outward.layer(key), &key.id)?;
        properties.extend(original.into_iter().filter(|(name, _)| allowed.contains(name)));
    }
    Ok(properties)
}

fn parcel_geometry(outward: &Outward, index: usize) -> Json {
    outward.basis.inventory.parcels[index].outline.as_ref().map_or(Json::Null, |outline| match outline.0.as_slice() {
        [one] => geometry_to_json(outward, &Geometry::Polygon(one.clone())),
        _ => geometry_to_json(outward, &Geometry::MultiPolygon(outline.clone())),
    })
}

fn parcel_feature(outward: &Outward, traced: &TracedParcel, originals: &Originals) -> Result<Json> {
    let key = outward.parcel_id(traced.parcel);
    let mut properties = Map::new();
    properties.insert("feature".to_owned(), "parcel".into());
    properties.extend(parcel_properties(outward, key, traced.parcel.at(), originals)?);
    properties.insert("certainty".to_owned(), traced.certainty.word().into());
    properties.insert("away_m".to_owned(), rounded(traced.away_m, 2).into());
    properties.insert("distance_m".to_owned(), rounded(traced.distance_m, 2).into());
    put_travel(&mut properties, traced.travel);
    let conduit = outward.basis.network.piece(traced.piece).conduit;
    properties.insert("conduit_id".to_owned(), outward.conduit_id(conduit).to_string().into());
    Ok(feature(id("parcel", outward, key), parcel_geometry(outward, traced.parcel.at()), Json::Object(properties)))
}

/// A tie as JSON.
pub fn tie(outward: &Outward, tie: &Tie) -> Json {
    let mut properties = Map::new();
    put_travel(&mut properties, tie.travel);
    let own = json!({
        "tier": tie.tier.word(),
        "conduit_id": tie.conduit.map(|c| outward.conduit_id(c).to_string()),
        "inlet_id": tie.inlet.map(|s| outward.structure_id(s).to_string()),
        "lateral_id": tie.lateral.map(|l| outward.basis.inventory.laterals[l.at()].key.to_string()),
        "away_m": rounded(tie.away_m, 2),
        "distance_m": rounded(tie.distance_m, 2),
        "certainty": tie.certainty.word(),
    });
    match own {
        Json::Object(mut own) => {
            own.extend(properties);
            Json::Object(own)
        }
        other => other,
    }
}

/// A candidate's own properties, without its shape.
///
/// # Errors
/// Original attributes that cannot be read back.
pub fn candidate_properties(outward: &Outward, candidate: &Candidate, originals: &Originals) -> Result<Map<String, Json>> {
    let key = outward.parcel_id(candidate.parcel);
    let mut properties = Map::new();
    properties.insert("feature".to_owned(), "candidate".into());
    properties.insert("rank".to_owned(), candidate.rank.into());
    properties.insert("evidence".to_owned(), candidate.evidence.word().into());
    properties.extend(parcel_properties(outward, key, candidate.parcel.at(), originals)?);
    if let Json::Object(own) = tie(outward, &candidate.tie) {
        properties.extend(own);
    }
    properties.insert("other_ties".to_owned(), candidate.other_ties.iter().map(|t| tie(outward, t)).collect());
    let reasons: Vec<Json> = candidate
        .reasons
        .iter()
        .map(|r| {
            let leaning = match r.leaning {
                crate::rules::Leaning::For => "for",
                crate::rules::Leaning::Against => "against",
                crate::rules::Leaning::Neither => "neither",
            };
            json!({ "leaning": leaning, "text": r.text, "source": r.source.to_string(), "weight_assumed": r.assumed })
        })
        .collect();
    properties.insert("reasons".to_owned(), reasons.into());
    properties.insert("notice".to_owned(), super::LEADS.into());
    Ok(properties)
}

pub(super) fn candidate_feature(outward: &Outward, candidate: &Candidate, originals: &Originals) -> Result<Json> {
    let key = outward.parcel_id(candidate.parcel);
    let properties = candidate_properties(outward, candidate, originals)?;
    Ok(feature(id("candidate", outward, key), parcel_geometry(outward, candidate.parcel.at()), Json::Object(properties)))
}

/// A layer as imported: every feature with its original attributes.
pub fn layer(outward: &Outward, name: &str, features: Vec<LayerFeature>) -> Json {
    let features = features
        .into_iter()
        .map(|LayerFeature { id, shape, attributes }| {
            let geometry = shape.map_or(Json::Null, |shape| geometry_to_json(outward, &shape));
            feature(id, geometry, Json::Object(attributes))
        })
        .collect();
    let head = json!({ "town": outward.basis.settings.name, "synthetic": outward.basis.settings.synthetic, "network_version": outward.version, "layer": name });
    collection(head, features)
}
