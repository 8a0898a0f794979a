//! What does each data issue touch? The conduits that it names, and what hangs on them.

use std::collections::BTreeMap;

use crate::data_issue::DataIssue;
use crate::network::{ConduitIndex, Flow, NodeIndex, PieceIndex, StructureIndex};
use crate::trace::{Ground, micrometres};

use super::{Gain, carries};

/// A data issue and what it touches.
#[derive(Clone, Debug, PartialEq)]
pub struct Touched<'a> {
    /// The issue.
    pub issue: &'a DataIssue,
    /// Conduits that it names, or that end at the structure that it names.
    pub conduits: usize,
    /// What hangs on it: those conduits and all that drains through them, each once.
    pub hangs: Gain,
}

/// Every issue with what it touches, ordered by its effect on answers: severity, then parcels, length and conduits that hang on it.
pub fn touched<'a>(ground: Ground, issues: &'a [DataIssue]) -> Vec<Touched<'a>> {
    let mut counting = Counting::new(ground);
    let mut found: Vec<Touched> = issues.iter().map(|issue| counting.touched(issue)).collect();
    found.sort_by(|a, b| {
        let key = |t: &Touched| (t.issue.code.severity(), t.hangs.parcels, t.hangs.length_um, t.hangs.conduits, t.conduits);
        key(b).cmp(&key(a)).then_with(|| (a.issue.code, &a.issue.layer, &a.issue.ids).cmp(&(b.issue.code, &b.issue.layer, &b.issue.ids)))
    });
    found
}

struct Counting<'a> {
    ground: Ground<'a>,
    conduits: BTreeMap<(&'a str, &'a str), ConduitIndex>,
    structures: BTreeMap<(&'a str, &'a str), StructureIndex>,
    /// The number of the last issue that reached each node, piece, conduit and parcel.
    nodes: Vec<u32>,
    pieces: Vec<u32>,
    seen_conduits: Vec<u32>,
    parcels: Vec<u32>,
    now: u32,
}

impl<'a> Counting<'a> {
    fn new(ground: Ground<'a>) -> Self {
        let inventory = ground.inventory;
        let conduits = inventory.conduits.iter().enumerate();
        let structures = inventory.structures.iter().enumerate();
        Counting {
            ground,
            conduits: conduits.map(|(at, c)| ((inventory.layer_name(c.key.layer), &*c.key.id), ConduitIndex::from_at(at))).collect(),
            structures: structures.map(|(at, s)| ((inventory.layer_name(s.key.layer), &*s.key.id), StructureIndex::from_at(at))).collect(),
            nodes: vec![0; ground.network.nodes.len()],
            pieces: vec![0; ground.network.pieces.len()],
            seen_conduits: vec![0; inventory.conduits.len()],
            parcels: vec![0; inventory.parcels.len()],
            now: 0,
        }
    }

    fn touched<'i>(&mut self, issue: &'i DataIssue) -> Touched<'i> {
        self.now += 1;
        let network = self.ground.network;
        let mut own: Vec<ConduitIndex> = Vec::new();
        let mut starts: Vec<NodeIndex> = Vec::new();
        for id in &issue.ids {
            let key = (issue.layer.as_str(), id.as_str());
            if let Some(conduit) = self.conduits.get(&key) {
                own.push(*conduit);
            } else if let Some(structure) = self.structures.get(&key) {
                let node = network.node_of(*structure);
                own.extend(super::around(network, node).iter().map(|p| network.piece(*p).conduit));
                starts.push(node);
            }
        }
        own.sort_unstable();
        own.dedup();
        let mut hangs = Gain::default();
        for conduit in &own {
            for at in network.pieces_of(*conduit) {
                let piece = PieceIndex::from_at(at);
                self.count(piece, &mut hangs);
                let ends = network.piece(piece);
                match network.flow(*conduit).flow {
                    Flow::WithDrawing => starts.push(ends.start),
                    Flow::AgainstDrawing => starts.push(ends.end),
                    Flow::Unknown => starts.extend([ends.start, ends.end]),
                }
            }
        }
        while let Some(node) = starts.pop() {
            if std::mem::replace(&mut self.nodes[node.at()], self.now) == self.now {
                continue;
            }
            for &piece in network.arriving(node) {
                if carries(self.ground.inventory, network, piece) {
                    self.count(piece, &mut hangs);
                    starts.push(network.inlet_of(piece, node));
                }
            }
        }
        if own.is_empty() && issue.ids.iter().all(|id| !self.structures.contains_key(&(issue.layer.as_str(), id.as_str()))) {
            let layer = self.ground.inventory.layer_index(&issue.layer);
            let is_parcel = |id: &String| self.ground.inventory.parcels.iter().any(|p| Some(p.key.layer) == layer && *p.key.id == **id);
            if self.ground.inventory.layers.iter().any(|l| *l.name == *issue.layer && l.role == "parcels") {
                hangs.parcels = issue.ids.iter().filter(|id| is_parcel(id)).count();
            }
        }
        Touched { issue, conduits: own.len(), hangs }
    }

    fn count(&mut self, piece: PieceIndex, hangs: &mut Gain) {
        if std::mem::replace(&mut self.pieces[piece.at()], self.now) == self.now {
            return;
        }
        let own = self.ground.network.piece(piece);
        hangs.length_um += micrometres(own.length_m());
        if std::mem::replace(&mut self.seen_conduits[own.conduit.at()], self.now) != self.now {
            hangs.conduits += 1;
        }
        for front in self.ground.links.frontage(piece) {
            if std::mem::replace(&mut self.parcels[front.parcel.at()], self.now) != self.now {
                hangs.parcels += 1;
            }
        }
    }
}
