//! What does the town's own assignment of conduits to outfalls say, beside what the network says?

use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::Change;
use crate::network::{ConduitIndex, NodeIndex, StructureIndex};
use crate::trace::Ground;

use super::gaps::{conduit_end, is_named, name, unconnected_outfalls};
use super::search::{id_of, lower_end};
use super::{Evidence, Gain, Proposal, around, carries};

/// An outfall that conduits name, and how that agrees with what drains to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The outfall.
    pub outfall: StructureIndex,
    /// False where no conduit ends at it.
    pub connected: bool,
    /// Conduits that name it.
    pub assigned: Vec<ConduitIndex>,
    /// Conduits that drain to it.
    pub upstream: Vec<ConduitIndex>,
    /// Those that drain to it and name no outfall.
    pub blank: Vec<ConduitIndex>,
    /// Those that drain to it and name another.
    pub names_another: Vec<ConduitIndex>,
    /// Those that name it and do not drain to it.
    pub not_upstream: Vec<ConduitIndex>,
}

/// Every outfall that at least one conduit names, in the order of the inventory.
pub fn assignments(ground: Ground) -> Vec<Assignment> {
    let mut by_name: BTreeMap<&str, Vec<ConduitIndex>> = BTreeMap::new();
    for (at, conduit) in ground.inventory.conduits.iter().enumerate() {
        if let Some(outfall) = conduit.assigned_outfall.as_deref().map(str::trim).filter(|o| !o.is_empty()) {
            by_name.entry(outfall).or_default().push(ConduitIndex::from_at(at));
        }
    }
    if by_name.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, structure) in ground.inventory.structures.iter().enumerate() {
        let names = [Some(structure.key.plain_id()), structure.also_known_as.as_deref()];
        let mut assigned: Vec<ConduitIndex> =
            names.into_iter().flatten().collect::<BTreeSet<_>>().into_iter().filter_map(|n| by_name.get(n)).flatten().copied().collect();
        assigned.sort_unstable();
        if assigned.is_empty() {
            continue;
        }
        let outfall = StructureIndex::from_at(at);
        let node = ground.network.node_of(outfall);
        let upstream = upstream(ground, node);
        let is_blank = |c: &ConduitIndex| ground.inventory.conduits[c.at()].assigned_outfall.as_deref().is_none_or(|o| o.trim().is_empty());
        let is_own = |c: &ConduitIndex| is_named(structure, ground.inventory.conduits[c.at()].assigned_outfall.as_deref());
        found.push(Assignment {
            outfall,
            connected: !ground.network.is_bare(node),
            blank: upstream.iter().filter(|c| is_blank(c)).copied().collect(),
            names_another: upstream.iter().filter(|c| !is_blank(c) && !is_own(c)).copied().collect(),
            not_upstream: assigned.iter().filter(|c| upstream.binary_search(c).is_err()).copied().collect(),
            assigned,
            upstream,
        });
    }
    found
}

/// So many conduits are named in a sentence.
const MOST_NAMED: usize = 30;

fn upstream(ground: Ground, node: NodeIndex) -> Vec<ConduitIndex> {
    let (mut seen, mut to_do, mut conduits) = (BTreeSet::from([node]), vec![node], BTreeSet::new());
    while let Some(node) = to_do.pop() {
        for &piece in ground.network.arriving(node).iter().filter(|p| carries(ground.inventory, ground.network, **p)) {
            conduits.insert(ground.network.piece(piece).conduit);
            let above = ground.network.inlet_of(piece, node);
            if seen.insert(above) {
                to_do.push(above);
            }
        }
    }
    conduits.into_iter().collect()
}

/// Outfalls that no conduit reaches and no other proposal attaches: the nearest end, and the conduits that the town assigns to each.
pub(super) fn far_outfalls(ground: Ground, others: &[Proposal]) -> Vec<Proposal> {
    let attached: BTreeSet<String> = others
        .iter()
        .flat_map(|p| &p.changes)
        .filter_map(|change| match change {
            Change::AttachOutfall { outfall, .. } => Some(outfall.to_string()),
            Change::Bridge { structure, .. } | Change::Join { structure, .. } => structure.as_ref().map(ToString::to_string),
            _ => None,
        })
        .collect();
    let ends: Vec<(NodeIndex, [f64; 2])> = (0..ground.network.nodes.len())
        .map(NodeIndex::from_at)
        .filter(|n| !ground.network.is_bare(*n))
        .filter_map(|n| ground.network.nodes[n.at()].place.map(|p| (n, [p.x(), p.y()])))
        .collect();
    let mut found = Vec::new();
    for (_, structure) in unconnected_outfalls(ground).filter(|(_, s)| !attached.contains(&*s.key.id)) {
        let Some(place) = structure.place else { continue };
        let away = |p: &[f64; 2]| (p[0] - place.x()).hypot(p[1] - place.y());
        let Some((node, to)) = ends.iter().min_by(|a, b| away(&a.1).total_cmp(&away(&b.1)).then(a.0.cmp(&b.0))) else { continue };
        let length_m = away(to);
        let assigned: Vec<ConduitIndex> = (0..ground.inventory.conduits.len())
            .map(ConduitIndex::from_at)
            .filter(|c| is_named(structure, ground.inventory.conduits[c.at()].assigned_outfall.as_deref()))
            .collect();
        let Some((conduit, end)) = around(ground.network, *node)
            .into_iter()
            .map(|p| {
                let conduit = ground.network.piece(p).conduit;
                conduit_end(ground.network, ground, p, *node).unwrap_or((conduit, lower_end(ground.network.flow(conduit).flow)))
            })
            .next()
        else {
            continue;
        };
        let changes = vec![Change::AttachOutfall {
            outfall: name(ground, &structure.key),
            conduit: name(ground, &ground.inventory.conduits[conduit.at()].key),
            end,
            to: *to,
            length_m,
        }];
        let mut reasons = vec![format!(
            "outfall {} is not connected: the nearest conduit end, of {}, is {:.0} ft away; {}",
            structure.key,
            ground.inventory.conduits[conduit.at()].key,
            length_m / 0.3048,
            Evidence::NeedsFieldEvidence.words()
        )];
        reasons.push(match assigned.len() {
            0 => "no attribute of the town assigns a conduit to it".to_owned(),
            n => {
                let ids: Vec<&str> = assigned.iter().take(MOST_NAMED).map(|c| ground.inventory.conduits[c.at()].key.plain_id()).collect();
                let more =
                    if n > MOST_NAMED { format!(" and {} more (every one in JSON and GeoJSON)", n - MOST_NAMED) } else { String::new() };
                format!("the town's own attribute assigns {n} conduits to it: {}{more}", ids.join(", "))
            }
        });
        found.push(Proposal {
            id: id_of(&changes),
            changes,
            gain: Gain::default(),
            evidence: Evidence::NeedsFieldEvidence,
            reasons,
            cost: 0,
            at: Some([place.x(), place.y()]),
            touches: assigned,
            gains: Vec::new(),
            after: None,
            clears: 0,
        });
    }
    found
}
