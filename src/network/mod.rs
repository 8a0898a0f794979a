//! What flows into what? Nodes, pieces between them, and the way water takes through each.
//!
//! Built from the [`Inventory`] by [`build()`], in named steps: ends to nodes ([`join`](self)), side joins and cuts, direction, issues.
//! The rules are those of the shared cases: structures first, ids before geometry, ends on sides join, crossings do not.
//! Everything is here whatever its status or system; a trace decides what it enters.

use std::ops::Range;

use geo::{LineString, Point};

use crate::inventory::{Inventory, Structure};
use crate::settings::DirectionSource;

mod build;
mod cut;
mod direction;
mod grid;
mod issues;
mod join;
pub mod locate;
mod options;

pub use build::build;
pub use direction::{ConduitFlow, Flow};
pub use options::{BuildOptions, LayerOptions};

/// Two places closer than this are one, metres.
pub const COINCIDENT_M: f64 = 0.001;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Its place in its list.
            pub fn at(self) -> usize {
                self.0 as usize
            }

            /// The index of a place in a list.
            pub fn from_at(at: usize) -> Self {
                // A list of more than four billion features does not fit the memory that its features would need.
                $name(u32::try_from(at).unwrap_or(u32::MAX))
            }
        }
    };
}

index!(
    /// A node of the network.
    NodeIndex
);
index!(
    /// A piece of a conduit.
    PieceIndex
);
index!(
    /// A conduit of the inventory.
    ConduitIndex
);
index!(
    /// A structure of the inventory.
    StructureIndex
);

/// A place where pieces meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it is, metres of the working CRS; `None` where nothing that belongs to it was drawn.
    pub place: Option<Point>,
    /// The structures at it: one, or several where a pond holds them; none where lines merely meet.
    pub structures: Vec<StructureIndex>,
}

/// A conduit, or the part of one between two nodes after side joins are cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The conduit of which it is a part.
    pub conduit: ConduitIndex,
    /// Which part of a multi-part conduit.
    pub part: u32,
    /// Where it begins along the drawn part, metres.
    pub from_m: f64,
    /// Where it ends along the drawn part, metres.
    pub to_m: f64,
    /// The node at which it begins, as drawn.
    pub start: NodeIndex,
    /// The node at which it ends, as drawn.
    pub end: NodeIndex,
}

impl Piece {
    /// Its length as drawn, metres.
    pub fn length_m(&self) -> f64 {
        self.to_m - self.from_m
    }
}

/// The built network; lists of conduits and structures are parallel to those of the inventory it was built from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Places where pieces meet.
    pub nodes: Vec<Node>,
    /// Pieces, in the order of conduits, parts and the drawing.
    pub pieces: Vec<Piece>,
    /// For each conduit the way water takes, and what says so.
    pub flows: Vec<ConduitFlow>,
    /// For each conduit its first piece; one more entry at the end.
    first_piece: Vec<u32>,
    /// For each structure its node.
    structure_nodes: Vec<NodeIndex>,
    /// Arcs by the node at which their water arrives.
    arrivals: Adjacency,
    /// Arcs by the node from which their water leaves.
    departures: Adjacency,
    /// Gaps between ends that were not joined, for cautions and proposals.
    pub gaps: Vec<Gap>,
}

/// Two nodes that lie close together and are not joined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// The end that stops short.
    pub from: NodeIndex,
    /// What it stops short of: a node.
    pub to: NodeIndex,
    /// A piece into whose side the end points, where the nearest thing is no node.
    pub onto: Option<PieceIndex>,
    /// How far apart, metres.
    pub distance_m: f64,
}

/// Pieces by node, in one array.
#[derive(Clone, Debug, Default, PartialEq)]
struct Adjacency {
    first: Vec<u32>,
    pieces: Vec<PieceIndex>,
}

impl Adjacency {
    fn new(nodes: usize, pairs: impl Iterator<Item = (NodeIndex, PieceIndex)> + Clone) -> Self {
        let mut first = vec![0u32; nodes + 1];
        for (node, _) in pairs.clone() {
            first[node.at() + 1] += 1;
        }
        for at in 0..nodes {
            first[at + 1] += first[at];
        }
        let mut next = first.clone();
        let mut pieces = vec![PieceIndex(0); first[nodes] as usize];
        for (node, piece) in pairs {
            pieces[next[node.at()] as usize] = piece;
            next[node.at()] += 1;
        }
        Adjacency { first, pieces }
    }

    fn of(&self, node: NodeIndex) -> &[PieceIndex] {
        match (self.first.get(node.at()), self.first.get(node.at() + 1)) {
            (Some(&from), Some(&to)) => &self.pieces[from as usize..to as usize],
            _ => &[],
        }
    }
}

impl Network {
    /// The pieces of a conduit, in the order of its parts and the drawing.
    pub fn pieces_of(&self, conduit: ConduitIndex) -> Range<usize> {
        self.first_piece[conduit.at()] as usize..self.first_piece[conduit.at() + 1] as usize
    }

    /// A piece.
    pub fn piece(&self, piece: PieceIndex) -> &Piece {
        &self.pieces[piece.at()]
    }

    /// The node of a structure.
    pub fn node_of(&self, structure: StructureIndex) -> NodeIndex {
        self.structure_nodes[structure.at()]
    }

    /// The way water takes through a conduit.
    pub fn flow(&self, conduit: ConduitIndex) -> &ConduitFlow {
        &self.flows[conduit.at()]
    }

    /// Pieces whose water can arrive at a node, including one that returns to it.
    pub fn arriving(&self, node: NodeIndex) -> &[PieceIndex] {
        self.arrivals.of(node)
    }

    /// Pieces by which water can leave a node, including one that returns to it.
    pub fn leaving(&self, node: NodeIndex) -> &[PieceIndex] {
        self.departures.of(node)
    }

    /// The node from which water enters a piece that it leaves at `outlet`.
    pub fn inlet_of(&self, piece: PieceIndex, outlet: NodeIndex) -> NodeIndex {
        let piece = self.piece(piece);
        if piece.end == outlet { piece.start } else { piece.end }
    }

    /// True where no piece begins or ends at the node.
    pub fn is_bare(&self, node: NodeIndex) -> bool {
        self.arriving(node).is_empty() && self.leaving(node).is_empty()
    }

    /// The structures of the inventory at a node.
    pub fn structures_at<'a>(&'a self, inventory: &'a Inventory, node: NodeIndex) -> impl Iterator<Item = (StructureIndex, &'a Structure)> {
        self.nodes[node.at()].structures.iter().map(move |&s| (s, &inventory.structures[s.at()]))
    }

    /// The drawn line of a piece between two distances along its part, metres; `None` where it was never drawn.
    pub fn line(&self, inventory: &Inventory, piece: PieceIndex, from_m: f64, to_m: f64) -> Option<LineString> {
        let piece = self.piece(piece);
        let part = inventory.conduits[piece.conduit.at()].parts.get(piece.part as usize)?;
        Some(cut::stretch(part, from_m, to_m))
    }

    /// How far along its part the place of a piece nearest to a point lies, metres; `None` where it was never drawn.
    pub fn nearest_along_m(&self, inventory: &Inventory, piece: PieceIndex, at: Point) -> Option<f64> {
        let ends = self.piece(piece);
        let line = self.line(inventory, piece, ends.from_m, ends.to_m)?;
        let (mut best, mut walked_m) = ((f64::INFINITY, 0.0), ends.from_m);
        for pair in line.0.windows(2) {
            let (a, b) = ([pair[0].x, pair[0].y], [pair[1].x, pair[1].y]);
            let (along_m, away_m) = cut::foot_on(a, b, [at.x(), at.y()]);
            if away_m < best.0 {
                best = (away_m, walked_m + along_m);
            }
            walked_m += grid::distance(a, b);
        }
        Some(best.1)
    }

    /// What a node is called: its first structure's id, or the conduits that meet there.
    pub fn node_name(&self, inventory: &Inventory, node: NodeIndex) -> String {
        if let Some((_, structure)) = self.structures_at(inventory, node).next() {
            return structure.key.to_string();
        }
        let mut ids: Vec<String> = (self.arriving(node).iter().chain(self.leaving(node)))
            .map(|&p| inventory.conduits[self.piece(p).conduit.at()].key.to_string())
            .collect();
        ids.sort();
        ids.dedup();
        match ids.len() {
            0 => "an empty place".to_owned(),
            1 => format!("the end of {}", ids[0]),
            _ => format!("where {} meet", ids.join(", ")),
        }
    }

    fn connect(&mut self) {
        let arcs = || {
            self.pieces.iter().enumerate().flat_map(|(at, piece)| {
                let index = PieceIndex::from_at(at);
                let flow = self.flows[piece.conduit.at()].flow;
                let forward = (flow != Flow::AgainstDrawing).then_some((piece.start, piece.end, index));
                // A piece that returns to its own node is one arc, not two.
                let backward = (flow != Flow::WithDrawing && !(flow == Flow::Unknown && piece.start == piece.end)).then_some((
                    piece.end,
                    piece.start,
                    index,
                ));
                [forward, backward].into_iter().flatten()
            })
        };
        let arrivals = Adjacency::new(self.nodes.len(), arcs().map(|(_, to, piece)| (to, piece)));
        let departures = Adjacency::new(self.nodes.len(), arcs().map(|(from, _, piece)| (from, piece)));
        (self.arrivals, self.departures) = (arrivals, departures);
    }
}

/// Whether a source of direction is in a list.
fn has(list: &[DirectionSource], source: DirectionSource) -> bool {
    list.contains(&source)
}
