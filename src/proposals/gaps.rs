//! Where could water go on, if a short gap were none, or an outfall stood where a conduit ends?

use geo::Point;
use rstar::primitives::GeomWithData;
use rstar::{AABB, RTree};

use crate::evidence::{ConduitEnd, FeatureName};
use crate::inventory::{Key, LevelField, LevelKind, OutfallKind, Status, StructureKind};
use crate::network::locate::SegmentIndex;
use crate::network::{ConduitIndex, Flow, Network, NodeIndex, PieceIndex};
use crate::rules::{RepairCost, RepairLimit, Repairs};
use crate::trace::Ground;

use super::{Limits, around, carries};

/// A way over ground that no conduit is drawn on: from where water stands to where it could go on.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// Where water stands.
    pub from: NodeIndex,
    /// Where it would come to.
    pub to: NodeIndex,
    /// What would have to change.
    pub what: What,
    /// How far, metres.
    pub length_m: f64,
    /// Its points.
    pub cost: u64,
    /// True where the level beyond is higher.
    pub climbs: bool,
    /// True where it is one of several from the same place.
    pub has_rival: bool,
    /// True where the town's own attribute says so.
    pub assigned: bool,
    /// True where it ends on the side of a line.
    pub onto_side: bool,
}

/// What makes a way.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// A conduit's end goes on to a place.
    Extend { conduit: ConduitIndex, end: ConduitEnd, to: [f64; 2], structure: Option<FeatureName> },
    /// No end is free: a conduit between two places is missing.
    Missing { from: [f64; 2], to: [f64; 2] },
    /// The outfall stands at the conduit's end.
    Attach { outfall: FeatureName, conduit: ConduitIndex, end: ConduitEnd, to: [f64; 2] },
}

pub(super) fn name(ground: Ground, key: &Key) -> FeatureName {
    FeatureName::new(ground.inventory.layer_name(key.layer), &*key.id)
}

/// A node where water stands, or a free end: candidates for a way on.
fn is_open(ground: Ground, node: NodeIndex) -> bool {
    let network = ground.network;
    let moves = |p: &PieceIndex| {
        let piece = network.piece(*p);
        piece.start != piece.end && carries(ground.inventory, network, *p)
    };
    !network.leaving(node).iter().any(moves) && (network.arriving(node).iter().any(moves) || is_live_inlet(ground, node))
}

/// A live structure into which water gets from above.
pub(super) fn is_live_inlet(ground: Ground, node: NodeIndex) -> bool {
    let takes_water = |k: StructureKind| matches!(k, StructureKind::CatchBasin | StructureKind::Inlet);
    ground.network.structures_at(ground.inventory, node).any(|(_, s)| takes_water(s.kind) && s.status == Status::Live)
}

/// The one conduit that ends at a node without a structure, and which of its ends that is.
fn free_end(ground: Ground, node: NodeIndex) -> Option<(ConduitIndex, ConduitEnd)> {
    let network = ground.network;
    if !network.nodes[node.at()].structures.is_empty() {
        return None;
    }
    match around(network, node).as_slice() {
        [only] => conduit_end(network, ground, *only, node),
        _ => None,
    }
}

/// Which end of its conduit a piece has at a node; `None` in the middle of a conduit.
pub(super) fn conduit_end(network: &Network, ground: Ground, piece: PieceIndex, node: NodeIndex) -> Option<(ConduitIndex, ConduitEnd)> {
    let own = network.piece(piece);
    if !ground.inventory.conduits[own.conduit.at()].is_live() || own.start == own.end {
        return None;
    }
    let pieces = network.pieces_of(own.conduit);
    let is_first = piece.at() == pieces.start && own.start == node;
    let is_last = piece.at() + 1 == pieces.end && own.end == node;
    match (is_first, is_last) {
        (true, false) => Some((own.conduit, ConduitEnd::First)),
        (false, true) => Some((own.conduit, ConduitEnd::Last)),
        _ => None,
    }
}

/// The lowest level that is known at a node, metres: of the conduits that end there, else of its structure.
pub(super) fn level_m(ground: Ground, node: NodeIndex, leaving: bool) -> Option<f64> {
    let network = ground.network;
    let of = |p: &PieceIndex| {
        let piece = network.piece(*p);
        let flow = network.flow(piece.conduit);
        let pieces = network.pieces_of(piece.conduit);
        // In the middle of a conduit its levels say nothing.
        let (low_piece, high_piece) =
            if flow.flow == Flow::AgainstDrawing { (pieces.start, pieces.end - 1) } else { (pieces.end - 1, pieces.start) };
        if leaving { (p.at() == high_piece).then_some(flow.invert_up_m)? } else { (p.at() == low_piece).then_some(flow.invert_down_m)? }
    };
    let pieces = if leaving { network.leaving(node) } else { network.arriving(node) };
    let lowest = pieces.iter().filter_map(of).min_by(f64::total_cmp);
    lowest.or_else(|| {
        ground.network.structures_at(ground.inventory, node).find_map(|(_, s)| match &s.invert {
            LevelField::Given(level) if level.kind == LevelKind::Elevation => Some(level.value_m),
            _ => None,
        })
    })
}

/// Every way from open places that do not drain.
pub(super) fn ways(ground: Ground, segments: &SegmentIndex, limits: Limits, repairs: &Repairs, drains: &[bool]) -> Vec<Way> {
    let mut found = Vec::new();
    let network = ground.network;
    let structures: Vec<_> = (0..network.nodes.len())
        .map(NodeIndex::from_at)
        .filter(|n| !network.nodes[n.at()].structures.is_empty())
        .filter_map(|n| network.nodes[n.at()].place.map(|p| GeomWithData::new([p.x(), p.y()], n)))
        .collect();
    let structures = RTree::bulk_load(structures);
    for (at, node) in network.nodes.iter().enumerate() {
        let from = NodeIndex::from_at(at);
        if drains[at] || !is_open(ground, from) {
            continue;
        }
        let Some(place) = node.place else { continue };
        let mut own = near(ground, segments, &structures, limits, repairs, from, place);
        // A basin without any lead drawn is the rule in many towns; only a free end close by makes it a gap.
        if around(network, from).is_empty() {
            own.retain(|way| matches!(&way.what, What::Extend { structure: Some(_), .. }) && free_end(ground, way.to).is_some());
        }
        let several = own.len() > 1;
        own.iter_mut().for_each(|way| way.has_rival = several);
        found.extend(own);
    }
    attachments(ground, limits, repairs, drains, &mut found);
    found
}

fn near(
    ground: Ground,
    segments: &SegmentIndex,
    structures: &RTree<GeomWithData<[f64; 2], NodeIndex>>,
    limits: Limits,
    repairs: &Repairs,
    from: NodeIndex,
    place: Point,
) -> Vec<Way> {
    let (network, reach_m) = (ground.network, limits.near_miss_m);
    let centre = [place.x(), place.y()];
    let (low, high) = ([centre[0] - reach_m, centre[1] - reach_m], [centre[0] + reach_m, centre[1] + reach_m]);
    let own: Vec<ConduitIndex> = around(network, from).iter().map(|p| network.piece(*p).conduit).collect();
    // For each node or side the nearest place on it.
    let mut best: std::collections::BTreeMap<(NodeIndex, Option<PieceIndex>), (f64, [f64; 2])> = std::collections::BTreeMap::new();
    let mut offer = |to: NodeIndex, onto: Option<PieceIndex>, away_m: f64, foot: [f64; 2]| {
        let known = best.entry((to, onto)).or_insert((away_m, foot));
        if away_m < known.0 {
            *known = (away_m, foot);
        }
    };
    segments.window(low, high, |piece, begins_m, a, b| {
        let ends = network.piece(piece);
        if !carries(ground.inventory, network, piece) || own.contains(&ends.conduit) || ends.start == from || ends.end == from {
            return;
        }
        let (along_m, away_m) = foot_on(a, b, centre);
        if away_m > reach_m {
            return;
        }
        let along = begins_m + along_m;
        let length_m = (b[0] - a[0]).hypot(b[1] - a[1]);
        let share = if length_m > 0.0 { along_m / length_m } else { 0.0 };
        let foot = [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share];
        if along - ends.from_m <= limits.snap_tolerance_m {
            offer(ends.start, None, away_m, foot);
        } else if ends.to_m - along <= limits.snap_tolerance_m {
            offer(ends.end, None, away_m, foot);
        } else {
            let lower = if network.flow(ends.conduit).flow == Flow::AgainstDrawing { ends.start } else { ends.end };
            offer(lower, Some(piece), away_m, foot);
        }
    });
    for other in structures.locate_in_envelope_intersecting(AABB::from_corners(low, high)) {
        let p = *other.geom();
        let away_m = (p[0] - centre[0]).hypot(p[1] - centre[1]);
        if other.data != from && away_m <= reach_m {
            offer(other.data, None, away_m, p);
        }
    }
    let from_free = free_end(ground, from);
    let mut ways = Vec::new();
    for ((to, onto), (_, foot)) in best {
        let to_place = match onto {
            Some(_) => foot,
            None => network.nodes[to.at()].place.map_or(foot, |p| [p.x(), p.y()]),
        };
        let length_m = (to_place[0] - centre[0]).hypot(to_place[1] - centre[1]);
        if to == from || length_m > reach_m {
            continue;
        }
        let structure = |node: NodeIndex| network.structures_at(ground.inventory, node).next().map(|(_, s)| name(ground, &s.key));
        let to_free = if onto.is_none() { free_end(ground, to) } else { None };
        let what = match (from_free, to_free) {
            (Some((conduit, end)), _) => {
                What::Extend { conduit, end, to: to_place, structure: if onto.is_none() { structure(to) } else { None } }
            }
            (None, Some((conduit, end))) => What::Extend { conduit, end, to: centre, structure: structure(from) },
            (None, None) => What::Missing { from: centre, to: to_place },
        };
        let climbs = match (level_m(ground, from, false), onto.map_or_else(|| level_m(ground, to, true), |_| None)) {
            (Some(here), Some(there)) => there - here > repairs.limit_m(RepairLimit::Climb),
            _ => false,
        };
        let each = repairs.points(RepairCost::BridgeEachFoot);
        let mut cost = repairs.points(RepairCost::Bridge) + each * (length_m / 0.3048).ceil() as u64;
        if onto.is_some() || matches!(what, What::Missing { .. }) {
            cost += repairs.points(RepairCost::BridgeOntoSide);
        }
        if climbs {
            cost += repairs.points(RepairCost::BridgeClimbs);
        }
        ways.push(Way { from, to, what, length_m, cost, climbs, has_rival: false, assigned: false, onto_side: onto.is_some() });
    }
    ways
}

/// Outfalls that no conduit reaches, each with the ends of conduits within the limit; nearer than the near-miss limit it is a gap.
fn attachments(ground: Ground, limits: Limits, repairs: &Repairs, drains: &[bool], found: &mut Vec<Way>) {
    let limit_m = repairs.limit_m(RepairLimit::Attach);
    let open: Vec<(NodeIndex, ConduitIndex, ConduitEnd, Point)> = (0..ground.network.nodes.len())
        .map(NodeIndex::from_at)
        .filter(|n| !drains[n.at()] && is_open(ground, *n))
        .filter_map(|n| {
            let (conduit, end) = free_end(ground, n)?;
            Some((n, conduit, end, ground.network.nodes[n.at()].place?))
        })
        .collect();
    for (to, structure) in unconnected_outfalls(ground) {
        let Some(place) = structure.place else { continue };
        let near: Vec<_> = open
            .iter()
            .map(|(from, conduit, end, p)| ((p.x() - place.x()).hypot(p.y() - place.y()), from, conduit, end, p))
            .filter(|near| near.0 > limits.near_miss_m && near.0 <= limit_m)
            .collect();
        let has_rival = near.len() > 1;
        for (length_m, from, conduit, end, p) in near {
            let assigned = is_named(structure, ground.inventory.conduits[conduit.at()].assigned_outfall.as_deref());
            let tens = (length_m / 3.048).ceil() as u64;
            let cost = if assigned {
                repairs.points(RepairCost::AttachByAssignment)
            } else {
                repairs.points(RepairCost::Attach) + repairs.points(RepairCost::AttachEachTenFeet) * tens
            };
            let what = What::Attach { outfall: name(ground, &structure.key), conduit: *conduit, end: *end, to: [p.x(), p.y()] };
            found.push(Way { from: *from, to, what, length_m, cost, climbs: false, has_rival, assigned, onto_side: false });
        }
    }
}

/// True where an attribute names this outfall, by its id or its other id.
pub(super) fn is_named(structure: &crate::inventory::Structure, assigned: Option<&str>) -> bool {
    assigned.is_some_and(|a| a == structure.key.plain_id() || structure.also_known_as.as_deref() == Some(a))
}

/// Live outfalls at which no conduit ends.
pub(super) fn unconnected_outfalls<'a>(ground: Ground<'a>) -> impl Iterator<Item = (NodeIndex, &'a crate::inventory::Structure)> {
    let structures = ground.inventory.structures.iter().enumerate();
    structures
        .filter(|(_, s)| s.kind == StructureKind::Outfall && s.outfall_kind != Some(OutfallKind::InterconnectionIn))
        .map(move |(at, s)| (ground.network.node_of(crate::network::StructureIndex::from_at(at)), s))
        .filter(move |(node, _)| ground.network.is_bare(*node))
}

/// How far along a segment the foot of a point lies, and how far away the point is; metres.
pub(super) fn foot_on(a: [f64; 2], b: [f64; 2], p: [f64; 2]) -> (f64, f64) {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let squared = dx * dx + dy * dy;
    let t = if squared > 0.0 { (((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / squared).clamp(0.0, 1.0) } else { 0.0 };
    (t * squared.sqrt(), (a[0] + t * dx - p[0]).hypot(a[1] + t * dy - p[1]))
}
