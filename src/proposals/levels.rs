//! Which groups of conduits have levels that are off by a constant? A step that is the same at every place where a group meets the rest.

use std::collections::BTreeMap;

use crate::evidence::Change;
use crate::inventory::{LevelField, LevelKind};
use crate::network::{ConduitIndex, Flow, NodeIndex, PieceIndex};
use crate::rules::{RepairCount, RepairLimit, Repairs};
use crate::trace::Ground;

use super::gaps::name;
use super::search::id_of;
use super::{Evidence, Gain, Proposal, around};

/// Proposes to shift every such group.
pub(super) fn shifts(ground: Ground, repairs: &Repairs) -> Vec<Proposal> {
    let (limit_m, spread_m) = (repairs.limit_m(RepairLimit::LevelShift), repairs.limit_m(RepairLimit::LevelSpread));
    let fewest = repairs.count(RepairCount::LevelGroup);
    let ends: Vec<(NodeIndex, Vec<(ConduitIndex, f64)>)> =
        (0..ground.network.nodes.len()).map(NodeIndex::from_at).map(|n| (n, levels_at(ground, n))).collect();
    let count = ground.inventory.conduits.len();
    let mut group: Vec<usize> = (0..count).collect();
    for (_, levels) in &ends {
        for pair in pairs(levels) {
            if (pair.0.1 - pair.1.1).abs() < limit_m {
                unite(&mut group, pair.0.0.at(), pair.1.0.at());
            }
        }
    }
    let mut members: BTreeMap<usize, Vec<ConduitIndex>> = BTreeMap::new();
    for (_, levels) in &ends {
        for (conduit, _) in levels {
            let root = root(&mut group, conduit.at());
            let list = members.entry(root).or_default();
            if !list.contains(conduit) {
                list.push(*conduit);
            }
        }
    }
    // For each group, how much higher it lies than what it meets: by other groups, and by the structures at its nodes.
    let mut steps: BTreeMap<usize, Vec<(NodeIndex, f64)>> = BTreeMap::new();
    for (node, levels) in &ends {
        for (a, b) in pairs(levels) {
            let (ra, rb) = (root(&mut group, a.0.at()), root(&mut group, b.0.at()));
            if ra != rb {
                steps.entry(ra).or_default().push((*node, a.1 - b.1));
                steps.entry(rb).or_default().push((*node, b.1 - a.1));
            }
        }
        if let Some(structure_m) = structure_level(ground, *node) {
            let mut lowest: BTreeMap<usize, f64> = BTreeMap::new();
            for (conduit, level_m) in levels {
                let own = lowest.entry(root(&mut group, conduit.at())).or_insert(*level_m);
                *own = own.min(*level_m);
            }
            for (own, level_m) in lowest {
                steps.entry(own).or_default().push((*node, level_m - structure_m));
            }
        }
    }
    let largest = members.values().map(Vec::len).max().unwrap_or(0);
    let mut proposals = Vec::new();
    for (own, mut conduits) in members {
        let Some(steps) = steps.get(&own).filter(|_| conduits.len() >= fewest && conduits.len() < largest) else { continue };
        let mut by: Vec<f64> = steps.iter().map(|s| s.1).collect();
        by.sort_by(f64::total_cmp);
        let middle_m = by[by.len() / 2];
        let mut nodes: Vec<NodeIndex> = steps.iter().map(|s| s.0).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let agree = by.iter().all(|m| (m - middle_m).abs() <= spread_m);
        if !agree || nodes.len() < 2 || middle_m.abs() < limit_m {
            continue;
        }
        conduits.sort_unstable();
        let key = |c: &ConduitIndex| &ground.inventory.conduits[c.at()].key;
        let changes = vec![Change::ShiftLevels { conduits: conduits.iter().map(|c| name(ground, key(c))).collect(), by_m: -middle_m }];
        let place = ground.network.nodes[nodes[0].at()].place.map(|p| [p.x(), p.y()]);
        proposals.push(Proposal {
            id: id_of(&changes),
            reasons: vec![format!(
                "{} conduits lie {:.2} ft {} than what they join, at {} places alike",
                conduits.len(),
                middle_m.abs() / 0.3048,
                if middle_m > 0.0 { "higher" } else { "lower" },
                nodes.len()
            )],
            changes,
            gain: Gain::default(),
            evidence: Evidence::Probable,
            cost: 0,
            at: place,
            touches: conduits,
            gains: Vec::new(),
            after: None,
            clears: steps.len(),
        });
    }
    proposals
}

/// The levels of the conduits that end at a node, metres.
fn levels_at(ground: Ground, node: NodeIndex) -> Vec<(ConduitIndex, f64)> {
    let network = ground.network;
    let mut levels = Vec::new();
    for piece in around(network, node) {
        let own = network.piece(piece);
        let pieces = network.pieces_of(own.conduit);
        let flow = network.flow(own.conduit);
        if !super::carries(ground.inventory, network, piece) || ground.inventory.conduits[own.conduit.at()].pressurised {
            continue;
        }
        let (first, last) = match flow.flow {
            Flow::AgainstDrawing => (flow.invert_down_m, flow.invert_up_m),
            _ => (flow.invert_up_m, flow.invert_down_m),
        };
        let at = |is: PieceIndex, level: Option<f64>, ends: bool| level.filter(|_| is == piece && ends).map(|m| (own.conduit, m));
        levels.extend(at(PieceIndex::from_at(pieces.start), first, own.start == node));
        levels.extend(at(PieceIndex::from_at(pieces.end - 1), last, own.end == node));
    }
    levels
}

fn structure_level(ground: Ground, node: NodeIndex) -> Option<f64> {
    ground.network.structures_at(ground.inventory, node).find_map(|(_, s)| match &s.invert {
        LevelField::Given(level) if level.kind == LevelKind::Elevation => Some(level.value_m),
        _ => None,
    })
}

type At = (ConduitIndex, f64);

fn pairs(levels: &[At]) -> impl Iterator<Item = (At, At)> + '_ {
    levels.iter().enumerate().flat_map(move |(at, a)| levels[at + 1..].iter().map(move |b| (*a, *b)))
}

fn root(group: &mut [usize], mut member: usize) -> usize {
    while group[member] != member {
        group[member] = group[group[member]];
        member = group[member];
    }
    member
}

fn unite(group: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(group, a), root(group, b));
    group[a.max(b)] = a.min(b);
}
