//! By which cheapest set of changes does each stranded run drain? One search from everything that drains, against the flow, over doubtful facts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use sha2::{Digest, Sha256};

use crate::evidence::{Added, Change, ConduitEnd, Surveyed};
use crate::inventory::{Status, System};
use crate::network::locate::SegmentIndex;
use crate::network::{ConduitIndex, Flow, NodeIndex, PieceIndex};
use crate::rules::{RepairCost, RepairCount, RepairLimit, Repairs};
use crate::trace::Ground;

use super::gaps::{Way, What, is_live_inlet, level_m, name};
use super::{Evidence, Limits, Proposal, around, assigned, carries, draining, gain_of, gaps, levels, other_end, piece_drains};

/// Finds every proposal: those that make runs drain, ranked by gain, those that need field evidence last; then outfalls that nobody can attach from the map.
pub fn find(ground: Ground, segments: &SegmentIndex, limits: Limits, repairs: &Repairs) -> Vec<Proposal> {
    let mut search = Search::new(ground, segments, limits, repairs);
    search.spread();
    let mut proposals = search.propose();
    proposals.extend(levels::shifts(ground, repairs));
    proposals.extend(assigned::far_outfalls(ground, &proposals));
    proposals.sort_by(|a, b| {
        let key = |p: &Proposal| {
            (p.evidence == Evidence::NeedsFieldEvidence, Reverse(p.gain.conduits), Reverse(p.gain.length_um), Reverse(p.gain.parcels))
        };
        key(a).cmp(&key(b)).then(a.cost.cmp(&b.cost)).then_with(|| a.id.cmp(&b.id))
    });
    proposals
}

/// The stable id of a set of changes.
pub(super) fn id_of(changes: &[Change]) -> String {
    let mut words: Vec<String> = changes
        .iter()
        .map(|change| {
            let features: Vec<String> = change.features().iter().map(|f| format!("{}/{}", f.layer, f.id)).collect();
            let more = match change {
                Change::Join { end, to, .. } | Change::Bridge { end, to, .. } => format!("{} {:.1} {:.1}", end.word(), to[0], to[1]),
                Change::SetStatus { status, .. } => status.clone(),
                Change::AddConduit(added) => added.points.iter().map(|p| format!("{:.1} {:.1}", p[0], p[1])).collect::<Vec<_>>().join(" "),
                Change::ShiftLevels { by_m, .. } => format!("{by_m:.2}"),
                _ => String::new(),
            };
            format!("{} {} {more}", change.word(), features.join(" "))
        })
        .collect();
    words.sort();
    let hash = Sha256::digest(words.join("\n").as_bytes());
    format!("p-{}", hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// One step with the water, towards what drains.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// As the maps say.
    Flow,
    /// Through a conduit that would have to be turned.
    Turned(PieceIndex),
    /// Through a conduit that would have to be in use.
    Opened(PieceIndex),
    /// Over ground.
    Over(usize),
}

struct Search<'a> {
    ground: Ground<'a>,
    repairs: &'a Repairs,
    limits: Limits,
    drains: Vec<bool>,
    down: Vec<Option<PieceIndex>>,
    ways: Vec<Way>,
    /// Ways by the node to which they lead.
    ways_to: BTreeMap<NodeIndex, Vec<usize>>,
    cost: Vec<u64>,
    next: Vec<Option<(Step, NodeIndex)>>,
}

impl<'a> Search<'a> {
    fn new(ground: Ground<'a>, segments: &SegmentIndex, limits: Limits, repairs: &'a Repairs) -> Self {
        let (drains, down) = draining(ground);
        let ways = gaps::ways(ground, segments, limits, repairs, &drains);
        let mut ways_to: BTreeMap<NodeIndex, Vec<usize>> = BTreeMap::new();
        for (at, way) in ways.iter().enumerate() {
            ways_to.entry(way.to).or_default().push(at);
        }
        let count = drains.len();
        Search { ground, repairs, limits, drains, down, ways, ways_to, cost: vec![u64::MAX; count], next: vec![None; count] }
    }

    /// The least cost from every node that does not drain to one that does.
    fn spread(&mut self) {
        let mut queue: BinaryHeap<Reverse<(u64, NodeIndex)>> = BinaryHeap::new();
        for at in 0..self.drains.len() {
            if self.drains[at] {
                self.cost[at] = 0;
                queue.push(Reverse((0, NodeIndex::from_at(at))));
            }
        }
        while let Some(Reverse((cost, node))) = queue.pop() {
            if cost > self.cost[node.at()] {
                continue;
            }
            for (above, step, own) in self.steps_to(node) {
                let offered = cost + own;
                if !self.drains[above.at()] && offered < self.cost[above.at()] {
                    self.cost[above.at()] = offered;
                    self.next[above.at()] = Some((step, node));
                    queue.push(Reverse((offered, above)));
                }
            }
        }
    }

    /// By which steps water could come to a node, and at what cost each.
    fn steps_to(&self, node: NodeIndex) -> Vec<(NodeIndex, Step, u64)> {
        let network = self.ground.network;
        let mut steps = Vec::new();
        for piece in around(network, node) {
            let above = other_end(network, piece, node);
            let conduit = network.piece(piece).conduit;
            if above == node || self.ground.inventory.conduits[conduit.at()].system == System::Sanitary {
                continue;
            }
            let arrives = network.arriving(node).contains(&piece);
            let shared = |points: u64| points.div_ceil(network.pieces_of(conduit).len().max(1) as u64);
            if carries(self.ground.inventory, network, piece) {
                if arrives {
                    steps.push((above, Step::Flow, 0));
                } else if self.may_turn(conduit) {
                    steps.push((above, Step::Turned(piece), shared(self.repairs.points(self.turning(conduit).0))));
                }
            } else if arrives {
                steps.push((above, Step::Opened(piece), shared(self.repairs.points(self.opening(piece, above)))));
            }
        }
        for &way in self.ways_to.get(&node).map_or(&[][..], Vec::as_slice) {
            steps.push((self.ways[way].from, Step::Over(way), self.ways[way].cost));
        }
        steps
    }

    /// Turning takes a way out from nobody only where no piece of the conduit drains now.
    fn may_turn(&self, conduit: ConduitIndex) -> bool {
        self.ground.network.pieces_of(conduit).map(PieceIndex::from_at).all(|p| !piece_drains(self.ground.network, &self.drains, p))
    }

    /// What speaks for and against turning a conduit: its own levels, else those of the structures at its ends.
    fn turning(&self, conduit: ConduitIndex) -> (RepairCost, Option<f64>) {
        let network = self.ground.network;
        let flow = network.flow(conduit);
        let pieces = network.pieces_of(conduit);
        let (first, last) = (network.pieces[pieces.start].start, network.pieces[pieces.end - 1].end);
        let (up, down) = if flow.flow == Flow::AgainstDrawing { (last, first) } else { (first, last) };
        if self.ground.inventory.conduits[conduit.at()].pressurised {
            return (RepairCost::ReverseNoInverts, None);
        }
        let levels = flow.invert_up_m.zip(flow.invert_down_m).or_else(|| self.own_level(up).zip(self.own_level(down)));
        match levels {
            Some((up, down)) if down > up => (RepairCost::ReverseInvertsAgree, Some(down - up)),
            Some((up, down)) if up > down => (RepairCost::ReverseInvertsAgainst, Some(down - up)),
            _ => (RepairCost::ReverseNoInverts, None),
        }
    }

    fn own_level(&self, node: NodeIndex) -> Option<f64> {
        use crate::inventory::{LevelField, LevelKind};
        self.ground.network.structures_at(self.ground.inventory, node).find_map(|(_, s)| match &s.invert {
            LevelField::Given(level) if level.kind == LevelKind::Elevation => Some(level.value_m),
            _ => None,
        })
    }

    fn opening(&self, piece: PieceIndex, above: NodeIndex) -> RepairCost {
        let (inventory, network) = (self.ground.inventory, self.ground.network);
        let conduit = &inventory.conduits[network.piece(piece).conduit.at()];
        let live = |p: &PieceIndex| carries(inventory, network, *p);
        let leads_in = network.arriving(above).iter().any(live) || is_live_inlet(self.ground, above);
        let in_line = leads_in && !network.leaving(above).iter().any(live);
        match conduit.status {
            Status::Unknown => RepairCost::StatusUnknown,
            _ if in_line => RepairCost::StatusInLine,
            _ => RepairCost::StatusElsewhere,
        }
    }

    /// Places where water stands, the cheapest to help first.
    fn standing(&self) -> Vec<NodeIndex> {
        let (inventory, network) = (self.ground.inventory, self.ground.network);
        let moves = |p: &PieceIndex| network.piece(*p).start != network.piece(*p).end && carries(inventory, network, *p);
        let mut nodes: Vec<(bool, u64, NodeIndex)> = (0..self.drains.len())
            .map(NodeIndex::from_at)
            .filter(|n| !self.drains[n.at()] && self.next[n.at()].is_some())
            .filter_map(|n| {
                let arrives = network.arriving(n).iter().any(moves);
                let leaves = network.leaving(n).iter().any(moves);
                // What has a way out and does not drain lies above a place where water stands, or in a circle: last.
                (arrives || leaves || is_live_inlet(self.ground, n)).then_some((leaves, self.cost[n.at()], n))
            })
            .collect();
        nodes.sort_unstable();
        nodes.into_iter().map(|(_, _, n)| n).collect()
    }

    fn propose(&mut self) -> Vec<Proposal> {
        let count = self.drains.len();
        let mut state = State {
            drained: self.drains.clone(),
            by: vec![None; count],
            turned: BTreeSet::new(),
            opened: BTreeSet::new(),
            over: BTreeMap::new(),
            parcels: vec![false; self.ground.inventory.parcels.len()],
            counted: vec![false; self.ground.network.pieces.len()],
        };
        let now: Vec<PieceIndex> = (0..self.ground.network.pieces.len())
            .map(PieceIndex::from_at)
            .filter(|p| carries(self.ground.inventory, self.ground.network, *p) && piece_drains(self.ground.network, &self.drains, *p))
            .collect();
        gain_of(self.ground, &now, &mut state.parcels);
        now.iter().for_each(|p| state.counted[p.at()] = true);
        let mut proposals: Vec<Proposal> = Vec::new();
        // For each set of changes that was laid over, its place among the proposals.
        let mut sets: Vec<Option<usize>> = Vec::new();
        for node in self.standing() {
            if state.drained[node.at()] {
                continue;
            }
            let mut steps = Vec::new();
            let mut path = vec![node];
            let mut here = node;
            while let Some((step, there)) = self.next[here.at()].filter(|_| !state.drained[here.at()]) {
                steps.push(step);
                path.push(there);
                here = there;
            }
            if !state.drained[here.at()] {
                continue;
            }
            let after = state.by[here.at()].and_then(|set: usize| proposals.get(sets.get(set).copied().flatten()?));
            let gains = self.flood(&mut state, &steps, &path, sets.len());
            let gain = gain_of(self.ground, &gains, &mut state.parcels);
            let proposal = self.proposal(node, &steps, here, gains, gain, after);
            sets.push(proposal.is_some().then_some(proposals.len()));
            proposals.extend(proposal);
        }
        proposals
    }

    /// Lays the steps over what is known, and marks all that drains by them.
    fn flood(&self, state: &mut State, steps: &[Step], path: &[NodeIndex], number: usize) -> Vec<PieceIndex> {
        let network = self.ground.network;
        for step in steps {
            match step {
                Step::Flow => {}
                Step::Turned(piece) => drop(state.turned.insert(network.piece(*piece).conduit)),
                Step::Opened(piece) => drop(state.opened.insert(network.piece(*piece).conduit)),
                Step::Over(way) => state.over.entry(self.ways[*way].to).or_default().push(self.ways[*way].from),
            }
        }
        let mut to_do: Vec<NodeIndex> = Vec::new();
        for &node in path {
            if !state.drained[node.at()] {
                state.drained[node.at()] = true;
                state.by[node.at()] = Some(number);
            }
            to_do.push(node);
        }
        let mut gains = Vec::new();
        while let Some(node) = to_do.pop() {
            let mut from: Vec<NodeIndex> = state.over.get(&node).cloned().unwrap_or_default();
            for piece in around(network, node) {
                let conduit = network.piece(piece).conduit;
                let inventory = self.ground.inventory;
                if !carries(inventory, network, piece) && !state.opened.contains(&conduit) {
                    continue;
                }
                let arrives = network.arriving(node).contains(&piece);
                let leaves = network.leaving(node).contains(&piece);
                let comes = if state.turned.contains(&conduit) { leaves } else { arrives };
                if comes {
                    if !std::mem::replace(&mut state.counted[piece.at()], true) {
                        gains.push(piece);
                    }
                    from.push(other_end(network, piece, node));
                }
            }
            for above in from {
                if !state.drained[above.at()] {
                    state.drained[above.at()] = true;
                    state.by[above.at()] = Some(number);
                    to_do.push(above);
                }
            }
        }
        gains.sort_unstable();
        gains
    }

    fn proposal(
        &self,
        node: NodeIndex,
        steps: &[Step],
        end: NodeIndex,
        gains: Vec<PieceIndex>,
        gain: super::Gain,
        after: Option<&Proposal>,
    ) -> Option<Proposal> {
        let mut changes: Vec<Change> = Vec::new();
        let (mut reasons, mut touches) = (Vec::new(), Vec::new());
        let (mut evidence, mut cost, mut unsupported) = (Evidence::Probable, 0, 0);
        let inventory = self.ground.inventory;
        for step in steps {
            let (change, word, points, reason, conduit) = match step {
                Step::Flow => continue,
                Step::Turned(piece) => self.turned(*piece),
                Step::Opened(piece) => self.opened(*piece),
                Step::Over(way) => self.over(&self.ways[*way]),
            };
            if changes.contains(&change) {
                continue;
            }
            evidence = evidence.max(word);
            unsupported += usize::from(word == Evidence::Possible);
            cost += points;
            reasons.push(reason);
            touches.extend(conduit);
            changes.push(change);
        }
        if changes.is_empty() || (gain.conduits == 0 && !is_live_inlet(self.ground, node)) {
            return None;
        }
        // A long chain of changes for which nothing speaks says more about a missing outlet than about the chain.
        if unsupported > self.repairs.count(RepairCount::UnsupportedChanges) {
            evidence = Evidence::NeedsFieldEvidence;
            reasons.push(format!("nothing but the place speaks for {unsupported} of its changes: an outlet may be missing from the map"));
        }
        if let Some(first) = after.filter(|first| first.evidence > evidence) {
            evidence = first.evidence;
            reasons.push(format!("it holds only after {}, which is no surer than that", first.id));
        }
        if let Some(outfall) = self.outfall_below(end) {
            let mut named: Vec<&str> = gains
                .iter()
                .filter_map(|p| inventory.conduits[self.ground.network.piece(*p).conduit.at()].assigned_outfall.as_deref())
                .collect();
            named.sort_unstable();
            named.dedup();
            let is_it = |id: &&str| gaps::is_named(outfall, Some(id));
            if !named.is_empty() && named.iter().all(is_it) {
                reasons.push(format!("the town's own attribute assigns conduits of this run to {}", outfall.key));
                if evidence == Evidence::Probable {
                    evidence = Evidence::Certain;
                }
            } else if let Some(other) = named.iter().find(|id| !is_it(id)) {
                reasons.push(format!("the town's own attribute assigns conduits of this run to {other}, not to {}", outfall.key));
                evidence = Evidence::NeedsFieldEvidence;
            }
        }
        let at = self.ground.network.nodes[node.at()].place.map(|p| [p.x(), p.y()]);
        touches.sort_unstable();
        touches.dedup();
        Some(Proposal {
            id: id_of(&changes),
            changes,
            gain,
            evidence,
            reasons,
            cost,
            at,
            touches,
            gains,
            after: after.map(|first| first.id.clone()),
            clears: 0,
        })
    }

    fn outfall_below(&self, mut node: NodeIndex) -> Option<&'a crate::inventory::Structure> {
        while let Some(piece) = self.down[node.at()] {
            node = other_end(self.ground.network, piece, node);
        }
        self.ground
            .network
            .structures_at(self.ground.inventory, node)
            .map(|(_, s)| s)
            .find(|s| s.kind == crate::inventory::StructureKind::Outfall)
    }

    fn turned(&self, piece: PieceIndex) -> (Change, Evidence, u64, String, Option<ConduitIndex>) {
        let conduit = self.ground.network.piece(piece).conduit;
        let key = &self.ground.inventory.conduits[conduit.at()].key;
        let with_drawing = self.ground.network.flow(conduit).flow == Flow::AgainstDrawing;
        let (cost, rise_m) = self.turning(conduit);
        let word = match cost {
            RepairCost::ReverseInvertsAgree => Evidence::Probable,
            RepairCost::ReverseInvertsAgainst => Evidence::NeedsFieldEvidence,
            _ => Evidence::Possible,
        };
        let levels = rise_m.map_or(String::new(), |rise_m| format!(" ({:.2} ft)", rise_m.abs() / 0.3048));
        let reason = format!("{key}: {}{levels}", self.repairs.words(cost));
        (Change::Reverse { conduit: name(self.ground, key), with_drawing }, word, self.repairs.points(cost), reason, Some(conduit))
    }

    fn opened(&self, piece: PieceIndex) -> (Change, Evidence, u64, String, Option<ConduitIndex>) {
        let ends = self.ground.network.piece(piece);
        let conduit = &self.ground.inventory.conduits[ends.conduit.at()];
        let above = match self.ground.network.flow(ends.conduit).flow {
            Flow::AgainstDrawing => ends.end,
            _ => ends.start,
        };
        let cost = self.opening(piece, above);
        let word = match cost {
            RepairCost::StatusUnknown => Evidence::Probable,
            RepairCost::StatusInLine => Evidence::Possible,
            _ => Evidence::NeedsFieldEvidence,
        };
        let change = Change::SetStatus { feature: name(self.ground, &conduit.key), status: Status::Live.word().to_owned() };
        let reason = format!("{} is {}: {}", conduit.key, conduit.status, self.repairs.words(cost));
        (change, word, self.repairs.points(cost), reason, Some(ends.conduit))
    }

    fn over(&self, way: &Way) -> (Change, Evidence, u64, String, Option<ConduitIndex>) {
        let key = |conduit: &ConduitIndex| &self.ground.inventory.conduits[conduit.at()].key;
        let length = format!("{:.1} ft", way.length_m / 0.3048);
        let (change, touched) = match &way.what {
            What::Extend { conduit, end, to, structure } if way.length_m <= self.limits.snap_tolerance_m => (
                Change::Join { conduit: name(self.ground, key(conduit)), end: *end, structure: structure.clone(), to: *to },
                Some(*conduit),
            ),
            What::Extend { conduit, end, to, structure } => (
                Change::Bridge {
                    conduit: name(self.ground, key(conduit)),
                    end: *end,
                    structure: structure.clone(),
                    to: *to,
                    length_m: way.length_m,
                },
                Some(*conduit),
            ),
            What::Missing { from, to } => (
                Change::AddConduit(Added {
                    id: None,
                    points: vec![*from, *to],
                    kind: Some("pipe".to_owned()),
                    diameter_mm: None,
                    material: None,
                    surveyed: Surveyed::Sketched,
                    accuracy_m: Some(way.length_m),
                    same_within_m: self.repairs.limit_m(RepairLimit::SameConduit),
                    conduit: None,
                    parcel: None,
                }),
                None,
            ),
            What::Attach { outfall, conduit, end, to } => (
                Change::AttachOutfall {
                    outfall: outfall.clone(),
                    conduit: name(self.ground, key(conduit)),
                    end: *end,
                    to: *to,
                    length_m: way.length_m,
                },
                Some(*conduit),
            ),
        };
        let is_attach = matches!(way.what, What::Attach { .. });
        let word = match () {
            () if way.climbs => Evidence::NeedsFieldEvidence,
            () if is_attach && way.assigned => Evidence::Probable,
            () if is_attach && way.length_m > self.repairs.limit_m(RepairLimit::Attach) / 2.0 => Evidence::NeedsFieldEvidence,
            () if is_attach || way.onto_side || way.has_rival || matches!(way.what, What::Missing { .. }) => Evidence::Possible,
            () if way.length_m <= self.limits.near_miss_m / 2.0 => Evidence::Probable,
            () => Evidence::Possible,
        };
        let mut reason = match &way.what {
            What::Attach { outfall, .. } => format!("no conduit ends at {outfall}; this end is {length} away"),
            _ => format!("water stands at a gap of {length}"),
        };
        if way.climbs {
            reason.push_str("; the level beyond is higher");
        } else if level_m(self.ground, way.from, false).is_some() && level_m(self.ground, way.to, true).is_some() {
            reason.push_str("; the level beyond is no higher");
        }
        if way.has_rival {
            reason.push_str("; other ends lie as near");
        }
        if way.assigned {
            reason.push_str("; the town's own attribute assigns it so");
        }
        (change, word, way.cost, reason, touched)
    }
}

/// What is known after the proposals so far.
struct State {
    drained: Vec<bool>,
    by: Vec<Option<usize>>,
    turned: BTreeSet<ConduitIndex>,
    opened: BTreeSet<ConduitIndex>,
    over: BTreeMap<NodeIndex, Vec<NodeIndex>>,
    parcels: Vec<bool>,
    counted: Vec<bool>,
}

/// The end of a conduit at which its water leaves it.
pub(super) fn lower_end(flow: Flow) -> ConduitEnd {
    if flow == Flow::AgainstDrawing { ConduitEnd::First } else { ConduitEnd::Last }
}
