//! Which way does water take from here to there? The surest way down, the shortest of equals, step by step.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::network::locate::Place;
use crate::network::{Flow, NodeIndex, PieceIndex};

use super::travel::{hold, stretch};
use super::{Certainty, Ground, Metres, TraceOptions, Travel, bridge_map, step};

/// One step of a way down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathStep {
    /// The piece through which water passes; `None` over a bridged gap.
    pub piece: Option<PieceIndex>,
    /// The node it leaves; `None` where the way begins on the piece itself.
    pub from: Option<NodeIndex>,
    /// The node it reaches.
    pub to: NodeIndex,
    /// How far that is, metres.
    pub length_m: f64,
    /// How sure the step is.
    pub certainty: Certainty,
}

/// A way down.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Its steps, in the order of the flow; none where it ends where it begins.
    pub steps: Vec<PathStep>,
    /// The least sure of its steps.
    pub certainty: Certainty,
    /// Its length along the pipe, metres.
    pub length_m: f64,
    /// How long water takes by this way.
    pub travel: Travel,
}

type Label = (Certainty, Metres);

/// Every way down from a place: for each node that is reached the surest way, the shortest of equals.
#[derive(Debug)]
pub struct WaysDown<'a> {
    ground: Ground<'a>,
    options: &'a TraceOptions,
    place: Place,
    reached: BTreeMap<NodeIndex, (Label, Option<PathStep>)>,
}

impl<'a> WaysDown<'a> {
    /// Searches every way down from a place.
    pub fn from(ground: Ground<'a>, place: Place, options: &'a TraceOptions) -> Self {
        let mut ways = WaysDown { ground, options, place, reached: BTreeMap::new() };
        ways.search();
        ways
    }

    fn search(&mut self) {
        let bridges = if self.options.bridge_gaps { bridge_map(self.ground) } else { BTreeMap::new() };
        let mut queue: BinaryHeap<Reverse<(Label, NodeIndex)>> = BinaryHeap::new();
        let mut best: BTreeMap<NodeIndex, (Label, Option<PathStep>)> = BTreeMap::new();
        for (node, label, first) in self.beginnings() {
            if best.get(&node).is_none_or(|known| label < known.0) {
                best.insert(node, (label, first));
                queue.push(Reverse((label, node)));
            }
        }
        let stops: BTreeSet<NodeIndex> = self.options.stop_structures.iter().map(|s| self.ground.network.node_of(*s)).collect();
        while let Some(Reverse((label, node))) = queue.pop() {
            if self.reached.contains_key(&node) {
                continue;
            }
            let known = best.get(&node).copied().unwrap_or((label, None));
            self.reached.insert(node, known);
            if stops.contains(&node) {
                continue;
            }
            let mut offer = |taken: PathStep| {
                let offered = (label.0.max(taken.certainty), Metres(label.1.0 + taken.length_m));
                if self.options.max_distance_m.is_some_and(|most_m| offered.1.0 > most_m) || self.reached.contains_key(&taken.to) {
                    return;
                }
                if best.get(&taken.to).is_none_or(|known| offered < known.0) {
                    best.insert(taken.to, (offered, Some(taken)));
                    queue.push(Reverse((offered, taken.to)));
                }
            };
            for &piece in self.ground.network.leaving(node) {
                let ends = self.ground.network.piece(piece);
                let Some(certainty) = step(self.ground, self.options, ends.conduit) else { continue };
                let to = self.ground.network.inlet_of(piece, node);
                offer(PathStep { piece: Some(piece), from: Some(node), to, length_m: ends.length_m(), certainty });
            }
            for &(to, length_m) in bridges.get(&node).map_or(&[][..], Vec::as_slice) {
                offer(PathStep { piece: None, from: Some(node), to, length_m, certainty: Certainty::Possible });
            }
        }
    }

    fn beginnings(&self) -> Vec<(NodeIndex, Label, Option<PathStep>)> {
        match self.place {
            Place::Node(node) => vec![(node, (Certainty::Certain, Metres(0.0)), None)],
            Place::OnPiece { piece, along_m } => {
                let ends = self.ground.network.piece(piece);
                let certainty = step(self.ground, self.options, ends.conduit).unwrap_or(Certainty::Possible);
                let back = (ends.start, along_m - ends.from_m);
                let ahead = (ends.end, ends.to_m - along_m);
                let to = match self.ground.network.flow(ends.conduit).flow {
                    Flow::WithDrawing => vec![ahead],
                    Flow::AgainstDrawing => vec![back],
                    Flow::Unknown => vec![back, ahead],
                };
                to.into_iter()
                    .map(|(to, length_m)| {
                        let length_m = length_m.max(0.0);
                        let first = PathStep { piece: Some(piece), from: None, to, length_m, certainty };
                        (to, (certainty, Metres(length_m)), Some(first))
                    })
                    .collect()
            }
        }
    }

    /// The nodes that are reached.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIndex> + '_ {
        self.reached.keys().copied()
    }

    /// True where the node is reached.
    pub fn reaches(&self, node: NodeIndex) -> bool {
        self.reached.contains_key(&node)
    }

    /// The way to a node, if it is reached.
    pub fn path_to(&self, node: NodeIndex) -> Option<Path> {
        let (label, _) = self.reached.get(&node)?;
        let mut steps = Vec::new();
        let mut at = node;
        while let Some((_, Some(taken))) = self.reached.get(&at) {
            steps.push(*taken);
            match taken.from {
                Some(from) => at = from,
                None => break,
            }
        }
        steps.reverse();
        let travel = travel_along(self.ground, &steps);
        Some(Path { steps, certainty: label.0, length_m: label.1.0, travel })
    }

    /// Nodes from which nothing that was reached goes on: outfalls, ponds without an outlet, dead ends.
    pub fn ends(&self) -> Vec<NodeIndex> {
        let goes_on = |node: NodeIndex| {
            self.ground.network.leaving(node).iter().any(|p| {
                let ends = self.ground.network.piece(*p);
                // Back along the conduit by which it came is no way on.
                let back = self.reached.get(&node).is_some_and(|r| r.1.is_some_and(|s| s.piece == Some(*p)));
                ends.start != ends.end && !back && step(self.ground, self.options, ends.conduit).is_some()
            })
        };
        self.nodes().filter(|n| !goes_on(*n)).collect()
    }

    /// The nodes on the ways to a node at which the flow divides and more than one branch leads there.
    pub fn partings(&self, to: NodeIndex) -> Vec<NodeIndex> {
        let mut leads: BTreeSet<NodeIndex> = BTreeSet::from([to]);
        let mut to_do = vec![to];
        while let Some(node) = to_do.pop() {
            for &piece in self.ground.network.arriving(node) {
                let ends = self.ground.network.piece(piece);
                let near = self.ground.network.inlet_of(piece, node);
                let taken = step(self.ground, self.options, ends.conduit).is_some() && self.reaches(near);
                if taken && leads.insert(near) {
                    to_do.push(near);
                }
            }
        }
        let branches = |node: NodeIndex| {
            let around = self.ground.network.leaving(node).iter().filter(|p| {
                let ends = self.ground.network.piece(**p);
                let far = self.ground.network.inlet_of(**p, node);
                let back = self.reached.get(&node).is_some_and(|r| r.1.is_some_and(|s| s.piece == Some(**p)));
                ends.start != ends.end && !back && leads.contains(&far) && step(self.ground, self.options, ends.conduit).is_some()
            });
            around.count()
        };
        leads.iter().copied().filter(|n| *n != to && branches(*n) > 1).collect()
    }
}

/// How long water takes by these steps; what the last node holds back is not in it.
pub(crate) fn travel_along(ground: Ground, steps: &[PathStep]) -> Travel {
    let mut total = Travel::HERE;
    for taken in steps {
        if let Some(from) = taken.from {
            total = total.then(hold(ground, from));
        }
        total = total.then(match taken.piece {
            Some(piece) => stretch(ground, ground.network.piece(piece).conduit, taken.length_m),
            None => Travel::UNKNOWN,
        });
    }
    total
}
