//! Which repairs of the maps would gain what? Proposals, each with its evidence and its gain; nothing is repaired here.
//!
//! A run that reaches no outfall is looked at as a whole: the cheapest set of changes by which it drains is a shortest path from
//! where its water stands to anything that drains, over facts that are doubtful, each at its cost (see `data/repairs.toml`).

use crate::evidence::Change;
use crate::inventory::{Inventory, StructureKind, System};
use crate::network::{ConduitIndex, Flow, Network, NodeIndex, PieceIndex};
use crate::trace::Ground;

mod assigned;
mod effects;
mod gaps;
mod levels;
mod search;

pub use assigned::{Assignment, assignments};
pub use effects::{Touched, touched};
pub use search::find;

/// How far a proposal rests on what the maps themselves say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// The town's own assignment says the same, beside the levels or the drawing.
    Certain,
    /// An independent fact of the maps speaks for it, none against.
    Probable,
    /// Nothing but the place speaks for it.
    Possible,
    /// Somebody has to look: it is far, or something speaks against it.
    NeedsFieldEvidence,
}

impl Evidence {
    /// The words people see.
    pub fn words(self) -> &'static str {
        match self {
            Evidence::Certain => "certain",
            Evidence::Probable => "probable",
            Evidence::Possible => "possible",
            Evidence::NeedsFieldEvidence => "needs field evidence",
        }
    }
}

/// So much of the network, each conduit and parcel once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gain {
    /// Conduits.
    pub conduits: usize,
    /// Their length, micrometres.
    pub length_um: u64,
    /// Parcels within the parcel distance of them.
    pub parcels: usize,
}

/// A repair that the maps suggest: one or several changes that only together make a run drain.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Stable: it depends on the changes alone.
    pub id: String,
    /// The changes.
    pub changes: Vec<Change>,
    /// What then reaches an outfall and did not before.
    pub gain: Gain,
    /// How far the maps bear it out.
    pub evidence: Evidence,
    /// What speaks for and against, a sentence each.
    pub reasons: Vec<String>,
    /// Points of the changes, see `data/repairs.toml`.
    pub cost: u64,
    /// Where it lies, inside coordinates.
    pub at: Option<[f64; 2]>,
    /// The conduits that are changed.
    pub touches: Vec<ConduitIndex>,
    /// The pieces that then reach an outfall.
    pub gains: Vec<PieceIndex>,
    /// The proposal that has to come first.
    pub after: Option<String>,
    /// Pairs of levels that contradict each other now and then no longer would, for a shift of levels.
    pub clears: usize,
}

/// Lengths that bound what is proposed, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Ends this close are one node.
    pub snap_tolerance_m: f64,
    /// No gap longer than this is ever bridged.
    pub near_miss_m: f64,
}

/// A piece that storm water takes today.
pub(crate) fn carries(inventory: &Inventory, network: &Network, piece: PieceIndex) -> bool {
    let conduit = &inventory.conduits[network.piece(piece).conduit.at()];
    conduit.is_live() && conduit.system != System::Sanitary
}

/// Whether water is well at a node: an outfall or a pond.
fn ends_well(ground: Ground, node: NodeIndex) -> bool {
    ground.network.structures_at(ground.inventory, node).any(|(_, s)| matches!(s.kind, StructureKind::Outfall | StructureKind::Pond))
}

/// Every piece at a node, once, whatever its status and way.
fn around(network: &Network, node: NodeIndex) -> Vec<PieceIndex> {
    let mut pieces: Vec<PieceIndex> = network.arriving(node).iter().chain(network.leaving(node)).copied().collect();
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

/// The other end of a piece.
fn other_end(network: &Network, piece: PieceIndex, node: NodeIndex) -> NodeIndex {
    let piece = network.piece(piece);
    if piece.start == node { piece.end } else { piece.start }
}

/// For each node whether its water reaches an outfall or a pond, and by which piece.
fn draining(ground: Ground) -> (Vec<bool>, Vec<Option<PieceIndex>>) {
    let count = ground.network.nodes.len();
    let mut drains: Vec<bool> = (0..count).map(|at| ends_well(ground, NodeIndex::from_at(at))).collect();
    let mut by = vec![None; count];
    let mut to_do: std::collections::VecDeque<NodeIndex> = (0..count).filter(|at| drains[*at]).map(NodeIndex::from_at).collect();
    while let Some(node) = to_do.pop_front() {
        for &piece in ground.network.arriving(node).iter().filter(|p| carries(ground.inventory, ground.network, **p)) {
            let above = ground.network.inlet_of(piece, node);
            if !drains[above.at()] {
                drains[above.at()] = true;
                by[above.at()] = Some(piece);
                to_do.push_back(above);
            }
        }
    }
    (drains, by)
}

/// True where the water of a piece reaches what drains.
fn piece_drains(network: &Network, drains: &[bool], piece: PieceIndex) -> bool {
    let ends = network.piece(piece);
    match network.flow(ends.conduit).flow {
        Flow::WithDrawing => drains[ends.end.at()],
        Flow::AgainstDrawing => drains[ends.start.at()],
        Flow::Unknown => drains[ends.end.at()] || drains[ends.start.at()],
    }
}

/// How much of the network reaches an outfall or a pond; a conduit counts where any piece of it does.
pub fn reach(ground: Ground) -> Gain {
    let (drains, _) = draining(ground);
    let pieces: Vec<PieceIndex> = (0..ground.network.pieces.len())
        .map(PieceIndex::from_at)
        .filter(|p| carries(ground.inventory, ground.network, *p) && piece_drains(ground.network, &drains, *p))
        .collect();
    gain_of(ground, &pieces, &mut vec![false; ground.inventory.parcels.len()])
}

/// Adds up pieces; parcels that are marked already do not count again.
fn gain_of(ground: Ground, pieces: &[PieceIndex], parcels: &mut [bool]) -> Gain {
    let mut conduits: Vec<ConduitIndex> = pieces.iter().map(|p| ground.network.piece(*p).conduit).collect();
    conduits.sort_unstable();
    conduits.dedup();
    let mut gain = Gain { conduits: conduits.len(), ..Gain::default() };
    for piece in pieces {
        gain.length_um += crate::trace::micrometres(ground.network.piece(*piece).length_m());
        for front in ground.links.frontage(*piece) {
            if !std::mem::replace(&mut parcels[front.parcel.at()], true) {
                gain.parcels += 1;
            }
        }
    }
    gain
}
