//! How does a proof of exclusion leave us? As JSON with the ids of each way, and as GeoJSON to draw it.

use geo::{Geometry, LineString};
use serde_json::{Map, Value as Json, json};

use crate::candidates::why_not::{DoubtedStep, Fact, Overturn, PropertyTie, Verdict, WhyNot};
use crate::network::{NodeIndex, PieceIndex};
use crate::rules::Doubt;
use crate::trace::WaterState;
use crate::trace::path::{Path, PathStep};

use super::{Outward, geometry_to_json, put_travel, rounded};

/// Said with every exclusion.
pub const ON_THIS_MAP: &str =
    "what the map shows, not what lies in the ground; costs are assumed and order the facts, they are no probabilities";

fn node(outward: &Outward, node: NodeIndex) -> String {
    outward.basis.network.node_name(&outward.basis.inventory, node)
}

fn conduit_of(outward: &Outward, piece: Option<PieceIndex>) -> Option<String> {
    piece.map(|p| outward.conduit_id(outward.basis.network.piece(p).conduit).to_string())
}

fn step(outward: &Outward, piece: Option<PieceIndex>, from: Option<NodeIndex>, to: NodeIndex) -> Json {
    json!({ "conduit_id": conduit_of(outward, piece), "from": from.map(|n| node(outward, n)), "to": node(outward, to) })
}

/// A way down as ids, without shapes.
pub fn path(outward: &Outward, path: &Path) -> Json {
    let mut properties = Map::new();
    properties.insert("certainty".to_owned(), path.certainty.word().into());
    properties.insert("length_m".to_owned(), rounded(path.length_m, 2).into());
    put_travel(&mut properties, path.travel);
    let steps: Vec<Json> = path.steps.iter().map(|s: &PathStep| step(outward, s.piece, s.from, s.to)).collect();
    properties.insert("steps".to_owned(), steps.into());
    Json::Object(properties)
}

fn tie(outward: &Outward, tie: &PropertyTie) -> Json {
    let ways: Vec<Json> = tie
        .ways
        .iter()
        .map(|w| json!({ "ends_at": node(outward, w.node), "is_outfall": w.is_outfall, "path": path(outward, &w.path) }))
        .collect();
    json!({
        "tier": tie.tier.word(),
        "conduit_id": tie.conduit.map(|c| outward.conduit_id(c).to_string()),
        "inlet_id": tie.inlet.map(|s| outward.structure_id(s).to_string()),
        "lateral_id": tie.lateral.map(|l| outward.basis.inventory.laterals[l.at()].key.to_string()),
        "away_m": rounded(tie.away_m, 2),
        "carries": tie.blocked_by.is_empty(),
        "blocked_by": tie.blocked_by.iter().map(|d| d.word()).collect::<Vec<_>>(),
        "ways": ways,
    })
}

fn fact(outward: &Outward, fact: &Fact) -> Json {
    let cost = outward.basis.rules.doubts().cost(fact.doubt);
    json!({
        "kind": fact.doubt.word(),
        "words": cost.words,
        "conduit_id": fact.conduit.map(|c| outward.conduit_id(c).to_string()),
        "between": fact.between.map(|(a, b)| [node(outward, a), node(outward, b)]),
        "length_m": fact.length_m.map(|m| rounded(m, 2)),
        "cost_milli": fact.cost_milli,
        "source": cost.source.to_string(),
    })
}

fn overturn(outward: &Outward, overturn: &Overturn) -> Json {
    json!({
        "cost_milli": overturn.cost_milli,
        "facts": overturn.facts.iter().map(|f| fact(outward, f)).collect::<Vec<_>>(),
        "steps": overturn.steps.iter().map(|s: &DoubtedStep| step(outward, s.piece, s.from, s.to)).collect::<Vec<_>>(),
    })
}

/// The whole answer as JSON, without shapes.
pub fn json(outward: &Outward, found: &WhyNot, water: WaterState) -> Json {
    let parcel = &outward.basis.inventory.parcels[found.parcel.at()];
    let against: Vec<Json> = found
        .against
        .iter()
        .map(|a| match &a.verdict {
            Verdict::Reaches { tie, path: way } => json!({
                "structure_id": outward.structure_id(a.structure).to_string(),
                "verdict": "reaches",
                "tie": tie,
                "path": path(outward, way),
            }),
            Verdict::CannotReach { block, overturn: cheapest, standing } => json!({
                "structure_id": outward.structure_id(a.structure).to_string(),
                "verdict": "cannot_reach_on_this_map",
                "blocked_by": { "kind": block.kind.word(), "message": block.message },
                "would_have_to_be_wrong": cheapest.as_ref().map(|o| overturn(outward, o)),
                "standing": standing.id,
                "standing_words": standing.words,
            }),
        })
        .collect();
    json!({
        "town": outward.basis.settings.name,
        "synthetic": outward.basis.settings.synthetic,
        "network_version": outward.version,
        "notice": ON_THIS_MAP,
        "parcel_id": parcel.key.to_string(),
        "address": parcel.address.as_deref(),
        "water": water.word(),
        "verdict": if found.reached().next().is_some() { "reaches" } else { "cannot_reach_on_this_map" },
        "ties": found.ties.iter().map(|t| tie(outward, t)).collect::<Vec<_>>(),
        "against": against,
        "settings": outward.settings(),
    })
}

/// The property, the ways its water takes, the places asked about and the facts that would have to be wrong, to draw.
pub fn geojson(outward: &Outward, found: &WhyNot, water: WaterState) -> Json {
    let (inventory, network) = (&outward.basis.inventory, &outward.basis.network);
    let mut features = Vec::new();
    let mut put = |id: String, shape: Option<Geometry>, properties: Json| {
        let geometry = shape.map_or(Json::Null, |shape| geometry_to_json(outward, &shape));
        features.push(json!({ "type": "Feature", "id": id, "geometry": geometry, "properties": properties }));
    };
    let parcel = &inventory.parcels[found.parcel.at()];
    put(
        format!("parcel/{}", parcel.key),
        parcel.outline.clone().map(Geometry::MultiPolygon),
        json!({ "feature": "parcel", "parcel_id": parcel.key.to_string(), "address": parcel.address.as_deref() }),
    );
    let piece_shape = |piece: PieceIndex| {
        let ends = network.piece(piece);
        network.line(inventory, piece, ends.from_m, ends.to_m).map(Geometry::LineString)
    };
    let line_between = |a: NodeIndex, b: NodeIndex| {
        let (a, b) = (network.nodes[a.at()].place?, network.nodes[b.at()].place?);
        Some(Geometry::LineString(LineString::from(vec![a.0, b.0])))
    };
    let mut goes: std::collections::BTreeSet<PieceIndex> = std::collections::BTreeSet::new();
    for way in found.ties.iter().flat_map(|t| &t.ways) {
        goes.extend(way.path.steps.iter().filter_map(|s| s.piece));
    }
    for piece in goes {
        put(
            format!("goes/{}", piece.0),
            piece_shape(piece),
            json!({ "feature": "water_goes", "conduit_id": conduit_of(outward, Some(piece)) }),
        );
    }
    for against in &found.against {
        let structure = &inventory.structures[against.structure.at()];
        let (verdict, block, standing) = match &against.verdict {
            Verdict::Reaches { .. } => ("reaches", None, None),
            Verdict::CannotReach { block, standing, .. } => ("cannot_reach_on_this_map", Some(&block.message), Some(&standing.id)),
        };
        put(
            format!("against/{}", structure.key),
            structure.place.map(Geometry::Point),
            json!({ "feature": "asked_about", "structure_id": structure.key.to_string(), "verdict": verdict, "blocked_by": block, "standing": standing }),
        );
        let Verdict::CannotReach { overturn: Some(cheapest), .. } = &against.verdict else { continue };
        for (at, one) in cheapest.facts.iter().enumerate() {
            let shape = match (one.between, one.conduit) {
                (Some((a, b)), _) => line_between(a, b),
                // A line that no map shows has no course; the conduit it would join is named, not drawn as doubtful.
                (None, Some(_)) if one.doubt == Doubt::UnmappedConnection => None,
                (None, Some(conduit)) => match inventory.conduits[conduit.at()].parts.as_slice() {
                    [] => None,
                    parts => Some(Geometry::MultiLineString(geo::MultiLineString(parts.to_vec()))),
                },
                (None, None) => None,
            };
            let mut properties = fact(outward, one);
            if let Some(own) = properties.as_object_mut() {
                own.insert("feature".to_owned(), "doubtful_fact".into());
                own.insert("structure_id".to_owned(), structure.key.to_string().into());
            }
            put(format!("doubt/{}/{}", structure.key, at + 1), shape, properties);
        }
    }
    let mut head = json(outward, found, water);
    if let Some(own) = head.as_object_mut() {
        own.remove("ties");
        own.remove("against");
    }
    json!({ "type": "FeatureCollection", "headwall": head, "features": features })
}
