//! What lies upstream or downstream of here, how far, and how sure is each step?
//!
//! Every conduit whose water can reach the place is in the answer, once: a shortest-path tree would drop parallel branches and
//! with them properties. Nothing is cut short.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::error::{Error, Result};
use crate::inventory::{Conduit, ConduitKind, Inventory, OutfallKind, Status, System};
use crate::links::{Links, ParcelIndex, outline_to_segment_m};
use crate::network::locate::Place;
use crate::network::{COINCIDENT_M, ConduitIndex, Flow, Gap, Network, NodeIndex, PieceIndex, StructureIndex};
use crate::rules::Hydraulics;

mod cautions;
mod cut_off;
mod overflow;
pub mod path;
pub mod travel;
pub use cautions::{Caution, CautionKind, Effect};
pub use overflow::{WaterState, known_overflow_m};
pub use travel::Travel;

/// Which way a trace goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Against the flow.
    Up,
    /// With the flow.
    Down,
}

impl Way {
    /// `upstream` or `downstream`.
    pub fn word(self) -> &'static str {
        match self {
            Way::Up => "upstream",
            Way::Down => "downstream",
        }
    }
}

/// How sure it is that water takes this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// Every link joined within tolerance, every direction uncontradicted.
    Certain,
    /// On a contradicted or assumed direction.
    Probable,
    /// Only by an unknown direction, an overflow, a bridged gap or a conduit that should carry nothing.
    Possible,
}

impl Certainty {
    /// The word people see.
    pub fn word(self) -> &'static str {
        match self {
            Certainty::Certain => "certain",
            Certainty::Probable => "probable",
            Certainty::Possible => "possible",
        }
    }
}

/// What a trace enters and where it stops.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceOptions {
    /// Enters combined conduits; sanitary ones are never entered.
    pub combined: bool,
    /// Enters conduits of these statuses beside the live ones; what lies beyond them is possible at best.
    pub statuses: BTreeSet<Status>,
    /// Enters conduits of these owners only, compared without regard to case; all where empty.
    pub owners: Vec<String>,
    /// Does not go beyond these structures.
    pub stop_structures: BTreeSet<StructureIndex>,
    /// Does not enter these conduits.
    pub stop_conduits: BTreeSet<ConduitIndex>,
    /// Does not go farther than this along the pipe, metres.
    pub max_distance_m: Option<f64>,
    /// Goes over gaps up to the near-miss limit; what lies beyond is possible.
    pub bridge_gaps: bool,
    /// Dry or wet: overflows known to lie above the invert carry only in wet.
    pub water: WaterState,
}

/// A stretch of a piece that was traced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracedPiece {
    /// The piece.
    pub piece: PieceIndex,
    /// Where the traced stretch begins along the part, metres.
    pub from_m: f64,
    /// Where it ends, metres.
    pub to_m: f64,
    /// How much of it was traced, micrometres: less than all where a greatest distance was met from both ends.
    pub length_um: u64,
    /// How sure it is.
    pub certainty: Certainty,
    /// How far its near end is from the place along the pipe, by the surest way, metres.
    pub distance_m: f64,
    /// The node at its near end; `None` for the stretch on which the place itself lies.
    pub near: Option<NodeIndex>,
    /// How long water takes between its near end and the place, by every traced way.
    pub travel: Travel,
}

impl TracedPiece {
    /// How far along the pipe a place on the piece is from its near end, or from the place of the trace where that lies on it, metres.
    pub fn from_near_end_m(&self, network: &Network, place: Place, along_m: f64) -> f64 {
        let piece = network.piece(self.piece);
        match (self.near, place) {
            (None, Place::OnPiece { along_m: at_m, .. }) => (along_m - at_m).abs(),
            (Some(near), _) if near == piece.end && near != piece.start => (piece.to_m - along_m).max(0.0),
            _ => (along_m - piece.from_m).max(0.0),
        }
    }
}

/// A conduit that was traced, with all its traced pieces taken together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracedConduit {
    /// The conduit.
    pub conduit: ConduitIndex,
    /// The surest of its pieces.
    pub certainty: Certainty,
    /// The nearest of its pieces, metres along the pipe.
    pub distance_m: f64,
    /// How much of it was traced, micrometres.
    pub length_um: u64,
    /// How long water takes between anywhere on it and the place.
    pub travel: Travel,
}

/// A node that was reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracedNode {
    /// The node.
    pub node: NodeIndex,
    /// How sure it is.
    pub certainty: Certainty,
    /// How far it is along the pipe, metres.
    pub distance_m: f64,
    /// How long water takes between it and the place, by every traced way.
    pub travel: Travel,
}

/// A parcel within the parcel distance of a traced stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracedParcel {
    /// The parcel.
    pub parcel: ParcelIndex,
    /// The traced piece nearest to it.
    pub piece: PieceIndex,
    /// How far from that piece, metres.
    pub away_m: f64,
    /// The surest of the traced pieces by it.
    pub certainty: Certainty,
    /// How far along the pipe from the place to where it fronts, metres.
    pub distance_m: f64,
    /// How long water takes between where it fronts and the place.
    pub travel: Travel,
}

/// The answer of a trace: complete, each feature once, in the order of the inventory.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Where it began.
    pub place: Place,
    /// Which way it went.
    pub way: Way,
    /// For which flow in the drains.
    pub water: WaterState,
    /// Traced stretches, in the order of pieces.
    pub pieces: Vec<TracedPiece>,
    /// Traced conduits, in the order of the inventory.
    pub conduits: Vec<TracedConduit>,
    /// Nodes reached, in order.
    pub nodes: Vec<TracedNode>,
    /// Structures reached, in the order of the inventory.
    pub structures: Vec<StructureIndex>,
    /// Parcels by the traced stretches, in the order of the inventory.
    pub parcels: Vec<TracedParcel>,
    /// Length of all traced stretches, micrometres.
    pub length_um: u64,
    /// What makes the answer doubtful, and what each doubt would cut off or add.
    pub cautions: Vec<Caution>,
}

impl Trace {
    /// Length of all traced stretches, metres.
    pub fn length_m(&self) -> f64 {
        self.length_um as f64 / 1e6
    }

    /// The traced conduit, if it is one.
    pub fn conduit(&self, conduit: ConduitIndex) -> Option<&TracedConduit> {
        let at = self.conduits.binary_search_by_key(&conduit, |c| c.conduit).ok()?;
        self.conduits.get(at)
    }

    /// The traced stretch of a piece, if there is one.
    pub fn piece(&self, piece: PieceIndex) -> Option<&TracedPiece> {
        let at = self.pieces.binary_search_by_key(&piece, |p| p.piece).ok()?;
        self.pieces.get(at)
    }

    /// The node, if it was reached.
    pub fn node(&self, node: NodeIndex) -> Option<&TracedNode> {
        let at = self.nodes.binary_search_by_key(&node, |n| n.node).ok()?;
        self.nodes.get(at)
    }
}

/// Whole micrometres of a length in metres.
pub fn micrometres(length_m: f64) -> u64 {
    (length_m * 1e6).round().max(0.0) as u64
}

/// All that a trace reads.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// What the town has mapped.
    pub inventory: &'a Inventory,
    /// What flows into what.
    pub network: &'a Network,
    /// What is tied to what.
    pub links: &'a Links,
    /// How fast water may run, and what holds it back.
    pub hydraulics: &'a Hydraulics,
}

/// Traces from a place.
///
/// # Errors
/// A place on a sanitary conduit: a storm trace never enters one.
pub fn trace(ground: Ground, place: Place, way: Way, options: &TraceOptions) -> Result<Trace> {
    if let Place::OnPiece { piece, .. } = place {
        let conduit = ground.inventory.conduits.get(ground.network.piece(piece).conduit.at());
        if let Some(conduit) = conduit.filter(|c| c.system == System::Sanitary) {
            return Err(Error::usage(format!("{} is a sanitary main, which a storm trace never enters", conduit.key))
                .hint("name a place on the storm system"));
        }
    }
    let mut search = Search::new(ground, way, options);
    search.run(place);
    let mut trace = search.into_trace(place);
    travel::fill(ground, options, &mut trace);
    trace.cautions = cautions::find(ground, options, &trace);
    Ok(trace)
}

/// Whether a conduit is entered, and how sure a step through it is.
pub(crate) fn step(ground: Ground, options: &TraceOptions, conduit_index: ConduitIndex) -> Option<Certainty> {
    let conduit: &Conduit = &ground.inventory.conduits[conduit_index.at()];
    let by_status = match conduit.status {
        Status::Live => Certainty::Certain,
        other if options.statuses.contains(&other) => Certainty::Possible,
        _ => return None,
    };
    match conduit.system {
        System::Sanitary => return None,
        System::Combined if !options.combined => return None,
        _ => {}
    }
    if !can_enter(ground, options, conduit_index) {
        return None;
    }
    let flow = ground.network.flow(conduit_index);
    let by_flow = match flow.flow {
        Flow::Unknown => Certainty::Possible,
        _ if flow.is_certain() => Certainty::Certain,
        _ => Certainty::Probable,
    };
    let is_overflow = known_overflow_m(ground, conduit_index).is_some();
    if is_overflow && options.water == WaterState::Dry {
        return None;
    }
    // Where nobody says how high a weir's crest lies, it counts as carrying, and no more than that.
    let by_level = if is_overflow || conduit.kind == ConduitKind::Weir { Certainty::Possible } else { Certainty::Certain };
    Some(by_status.max(by_flow).max(by_level))
}

/// False where whoever asked said not to enter a conduit: by its id, or by its owner.
pub(crate) fn can_enter(ground: Ground, options: &TraceOptions, index: ConduitIndex) -> bool {
    let conduit = &ground.inventory.conduits[index.at()];
    let owned = |owner: &String| conduit.owner.as_ref().is_some_and(|o| o.trim().eq_ignore_ascii_case(owner.trim()));
    !options.stop_conduits.contains(&index) && (options.owners.is_empty() || options.owners.iter().any(owned))
}

/// True where a trace against the flow ends because somebody else's system begins.
pub(crate) fn is_inflow(ground: Ground, node: NodeIndex) -> bool {
    ground.network.structures_at(ground.inventory, node).any(|(_, s)| s.outfall_kind == Some(OutfallKind::InterconnectionIn))
}

/// True where a trace goes no farther: it was told to stop, or another system begins.
pub(crate) fn stops_at(ground: Ground, options: &TraceOptions, way: Way, node: NodeIndex) -> bool {
    options.stop_structures.iter().any(|s| ground.network.node_of(*s) == node) || (way == Way::Up && is_inflow(ground, node))
}

/// Whether a trace leaves a piece at its start, and whether at its end, from a place on its side.
pub(crate) fn far_ends(ground: Ground, way: Way, piece: PieceIndex) -> (bool, bool) {
    match (ground.network.flow(ground.network.piece(piece).conduit).flow, way) {
        (Flow::Unknown, _) => (true, true),
        (Flow::WithDrawing, Way::Up) | (Flow::AgainstDrawing, Way::Down) => (true, false),
        (Flow::AgainstDrawing, Way::Up) | (Flow::WithDrawing, Way::Down) => (false, true),
    }
}

/// The side on which a gap opens, and where along the part of the piece; `None` where it lies between two nodes.
pub(crate) fn side_of(ground: Ground, gap: &Gap) -> Option<(PieceIndex, f64)> {
    let piece = gap.onto?;
    let along_m = ground.network.nodes[gap.from.at()].place.and_then(|at| ground.network.nearest_along_m(ground.inventory, piece, at))?;
    Some((piece, along_m))
}

/// For each node the nodes beyond the gaps at it, and how far, metres.
pub(crate) fn bridge_map(ground: Ground) -> BTreeMap<NodeIndex, Vec<(NodeIndex, f64)>> {
    let mut bridges: BTreeMap<NodeIndex, Vec<(NodeIndex, f64)>> = BTreeMap::new();
    for gap in ground.network.gaps.iter().filter(|gap| side_of(ground, gap).is_none()) {
        bridges.entry(gap.from).or_default().push((gap.to, gap.distance_m));
        bridges.entry(gap.to).or_default().push((gap.from, gap.distance_m));
    }
    bridges
}

/// A distance or a time that sorts: metres or seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Metres(pub f64);

impl Eq for Metres {}
impl PartialOrd for Metres {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Metres {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A piece as the search meets it: the surest way to it, and every stretch that lies within the greatest distance.
struct Reached {
    surest: TracedPiece,
    stretches: Vec<(f64, f64)>,
}

impl Reached {
    /// Stretches that overlap become one; the piece reaches from the first to the last.
    fn settle(&mut self) {
        self.stretches.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.stretches.dedup_by(|next, known| {
            let meets = next.0 <= known.1;
            if meets {
                known.1 = known.1.max(next.1);
            }
            meets
        });
        if let (Some(first), Some(last)) = (self.stretches.first(), self.stretches.last()) {
            (self.surest.from_m, self.surest.to_m) = (first.0, last.1);
        }
        self.surest.length_um = self.stretches.iter().map(|(from_m, to_m)| micrometres(to_m - from_m)).sum();
    }
}

/// A search by surest way first, shortest second.
///
/// A less sure way to a node is kept beside the surest one where it is shorter: under a greatest distance it goes farther.
struct Search<'a> {
    ground: Ground<'a>,
    way: Way,
    options: &'a TraceOptions,
    settled: BTreeMap<NodeIndex, Vec<(Certainty, f64)>>,
    queue: BinaryHeap<Reverse<(Certainty, Metres, NodeIndex)>>,
    pieces: BTreeMap<PieceIndex, Reached>,
    bridges: BTreeMap<NodeIndex, Vec<(NodeIndex, f64)>>,
    /// Gaps from a node to the side of a piece: the piece, where along its part, how far away.
    onto_sides: BTreeMap<NodeIndex, Vec<(PieceIndex, f64, f64)>>,
    /// The same from the piece.
    from_sides: BTreeMap<PieceIndex, Vec<(NodeIndex, f64, f64)>>,
}

impl<'a> Search<'a> {
    fn new(ground: Ground<'a>, way: Way, options: &'a TraceOptions) -> Self {
        let bridges = if options.bridge_gaps { bridge_map(ground) } else { BTreeMap::new() };
        let (mut onto_sides, mut from_sides): (BTreeMap<_, Vec<_>>, BTreeMap<_, Vec<_>>) = (BTreeMap::new(), BTreeMap::new());
        for gap in ground.network.gaps.iter().filter(|_| options.bridge_gaps) {
            if let Some((piece, along_m)) = side_of(ground, gap) {
                onto_sides.entry(gap.from).or_default().push((piece, along_m, gap.distance_m));
                from_sides.entry(piece).or_default().push((gap.from, along_m, gap.distance_m));
            }
        }
        Search {
            ground,
            way,
            options,
            settled: BTreeMap::new(),
            queue: BinaryHeap::new(),
            pieces: BTreeMap::new(),
            onto_sides,
            from_sides,
            bridges,
        }
    }

    fn within(&self, distance_m: f64) -> bool {
        self.options.max_distance_m.is_none_or(|most_m| distance_m <= most_m)
    }

    fn run(&mut self, place: Place) {
        match place {
            Place::Node(node) => self.queue.push(Reverse((Certainty::Certain, Metres(0.0), node))),
            Place::OnPiece { piece, along_m } => self.leave_piece(piece, along_m),
        }
        while let Some(Reverse((certainty, Metres(distance_m), node))) = self.queue.pop() {
            if !self.gains(node, distance_m) {
                continue;
            }
            self.settled.entry(node).or_default().push((certainty, distance_m));
            if !stops_at(self.ground, self.options, self.way, node) {
                self.leave_node(node, certainty, distance_m);
                self.leave_to_sides(node, distance_m);
            }
        }
    }

    /// False where a way that is no less sure is no longer; surer ways are met first.
    fn gains(&self, node: NodeIndex, distance_m: f64) -> bool {
        self.settled.get(&node).is_none_or(|ways| ways.iter().all(|(_, known_m)| distance_m < *known_m))
    }

    fn note(&mut self, surest: TracedPiece) {
        let known = self.pieces.entry(surest.piece).or_insert(Reached { surest, stretches: Vec::new() });
        known.stretches.push((surest.from_m, surest.to_m));
        if (surest.certainty, surest.distance_m) < (known.surest.certainty, known.surest.distance_m) {
            known.surest = surest;
        }
    }

    /// From a place on a piece to the end or ends from which water comes or to which it goes.
    fn leave_piece(&mut self, piece: PieceIndex, along_m: f64) {
        let ends = *self.ground.network.piece(piece);
        let certainty = match step(self.ground, &TraceOptions { stop_conduits: BTreeSet::new(), ..self.options.clone() }, ends.conduit) {
            Some(certainty) => certainty,
            // Whoever names a place on it means it.
            None => Certainty::Possible,
        };
        self.enter_side(piece, along_m, certainty, 0.0, None);
    }

    /// From a place on the side of a piece, reached at this distance.
    fn enter_side(&mut self, piece: PieceIndex, along_m: f64, certainty: Certainty, distance_m: f64, near: Option<NodeIndex>) {
        let ends = *self.ground.network.piece(piece);
        for (to_start, to_end) in [(true, false), (false, true)] {
            let (starts, stops) = far_ends(self.ground, self.way, piece);
            if !((to_start && starts) || (to_end && stops)) {
                continue;
            }
            let (whole_from_m, whole_to_m, node) =
                if to_start { (ends.from_m, along_m, ends.start) } else { (along_m, ends.to_m, ends.end) };
            let (from_m, to_m) = self.shortened(whole_from_m, whole_to_m, distance_m, to_end);
            self.note(TracedPiece { piece, from_m, to_m, length_um: 0, certainty, distance_m, near, travel: Travel::UNKNOWN });
            self.leave_sides(piece, (from_m, to_m), if to_end { along_m } else { whole_to_m }, distance_m);
            let beyond_m = distance_m + (whole_to_m - whole_from_m);
            if self.within(beyond_m) && self.gains(node, beyond_m) {
                self.queue.push(Reverse((certainty, Metres(beyond_m), node)));
            }
        }
    }

    /// Over the gaps that open on the side of a traced stretch, which was entered at this place along the part.
    fn leave_sides(&mut self, piece: PieceIndex, stretch: (f64, f64), entered_m: f64, distance_m: f64) {
        for &(node, along_m, gap_m) in self.from_sides.get(&piece).map_or(&[][..], Vec::as_slice) {
            let beyond_m = distance_m + (along_m - entered_m).abs() + gap_m;
            // Two gaps that open at one place of the side open into one another.
            let inside = along_m >= stretch.0 - COINCIDENT_M && along_m <= stretch.1 + COINCIDENT_M;
            if inside && self.within(beyond_m) && self.gains(node, beyond_m) {
                self.queue.push(Reverse((Certainty::Possible, Metres(beyond_m), node)));
            }
        }
    }

    fn leave_node(&mut self, node: NodeIndex, certainty: Certainty, distance_m: f64) {
        let network = self.ground.network;
        let pieces = match self.way {
            Way::Up => network.arriving(node),
            Way::Down => network.leaving(node),
        };
        for &piece in pieces {
            let ends = *network.piece(piece);
            let Some(own) = step(self.ground, self.options, ends.conduit) else { continue };
            let certainty = certainty.max(own);
            let length_m = ends.length_m();
            let from_start = ends.start == node;
            let round = from_start && ends.end == node;
            let flow = network.flow(ends.conduit).flow;
            // What returns to its own node is entered where the water leaves it, or at both ends where nobody knows.
            let leaves_at_end = (flow == Flow::WithDrawing) == (self.way == Way::Up);
            let entries = match (round, flow) {
                (true, Flow::Unknown) => vec![true, false],
                (true, _) => vec![!leaves_at_end],
                _ => vec![from_start],
            };
            for enters_at_from in entries {
                let (from_m, to_m) = self.shortened(ends.from_m, ends.to_m, distance_m, enters_at_from);
                self.note(TracedPiece {
                    piece,
                    from_m,
                    to_m,
                    length_um: 0,
                    certainty,
                    distance_m,
                    near: Some(node),
                    travel: Travel::UNKNOWN,
                });
                self.leave_sides(piece, (from_m, to_m), if enters_at_from { ends.from_m } else { ends.to_m }, distance_m);
            }
            let beyond = network.inlet_of(piece, node);
            if self.within(distance_m + length_m) && self.gains(beyond, distance_m + length_m) {
                self.queue.push(Reverse((certainty, Metres(distance_m + length_m), beyond)));
            }
        }
        for &(beyond, gap_m) in self.bridges.get(&node).map_or(&[][..], Vec::as_slice) {
            if self.within(distance_m + gap_m) && self.gains(beyond, distance_m + gap_m) {
                self.queue.push(Reverse((Certainty::Possible, Metres(distance_m + gap_m), beyond)));
            }
        }
    }

    fn leave_to_sides(&mut self, node: NodeIndex, distance_m: f64) {
        for (piece, along_m, gap_m) in self.onto_sides.get(&node).cloned().unwrap_or_default() {
            // What opens at the same place of the side is reached even where the piece itself is not entered.
            self.leave_sides(piece, (along_m, along_m), along_m, distance_m + gap_m);
            let enters = step(self.ground, self.options, self.ground.network.piece(piece).conduit).is_some();
            if enters && self.within(distance_m + gap_m) {
                self.enter_side(piece, along_m, Certainty::Possible, distance_m + gap_m, Some(node));
            }
        }
    }

    /// The part of a stretch that lies within the greatest distance, entered at its beginning or its end.
    fn shortened(&self, from_m: f64, to_m: f64, distance_m: f64, enters_at_from: bool) -> (f64, f64) {
        let Some(most_m) = self.options.max_distance_m else { return (from_m, to_m) };
        let reach_m = (most_m - distance_m).max(0.0);
        if enters_at_from { (from_m, to_m.min(from_m + reach_m)) } else { (from_m.max(to_m - reach_m), to_m) }
    }

    fn into_trace(mut self, place: Place) -> Trace {
        self.pieces.values_mut().for_each(Reached::settle);
        // Where water comes round to the place's own piece, the place is still on it.
        if let Place::OnPiece { piece, .. } = place
            && let Some(own) = self.pieces.get_mut(&piece)
        {
            (own.surest.distance_m, own.surest.near) = (0.0, None);
        }
        let pieces: Vec<TracedPiece> = self.pieces.values().map(|reached| reached.surest).collect();
        let nodes: Vec<TracedNode> = self
            .settled
            .iter()
            .filter_map(|(node, ways)| ways.first().map(|(certainty, distance_m)| (*node, *certainty, *distance_m)))
            .map(|(node, certainty, distance_m)| TracedNode { node, certainty, distance_m, travel: Travel::UNKNOWN })
            .collect();
        let mut structures: Vec<StructureIndex> =
            nodes.iter().flat_map(|n| self.ground.network.nodes[n.node.at()].structures.iter().copied()).collect();
        structures.sort_unstable();
        let mut conduits: BTreeMap<ConduitIndex, TracedConduit> = BTreeMap::new();
        for piece in &pieces {
            let conduit = self.ground.network.piece(piece.piece).conduit;
            let fresh =
                TracedConduit { conduit, certainty: piece.certainty, distance_m: piece.distance_m, length_um: 0, travel: Travel::UNKNOWN };
            let known = conduits.entry(conduit).or_insert(fresh);
            known.certainty = known.certainty.min(piece.certainty);
            known.distance_m = known.distance_m.min(piece.distance_m);
            known.length_um += piece.length_um;
        }
        let conduits: Vec<TracedConduit> = conduits.into_values().collect();
        Trace {
            place,
            way: self.way,
            water: self.options.water,
            parcels: parcels_along(self.ground, place, &self.pieces),
            length_um: conduits.iter().map(|c| c.length_um).sum(),
            pieces,
            conduits,
            nodes,
            structures,
            cautions: Vec::new(),
        }
    }
}

/// Parcels within the parcel distance of traced stretches.
fn parcels_along(ground: Ground, place: Place, pieces: &BTreeMap<PieceIndex, Reached>) -> Vec<TracedParcel> {
    let mut best: BTreeMap<ParcelIndex, TracedParcel> = BTreeMap::new();
    for reached in pieces.values() {
        let traced = &reached.surest;
        let piece = ground.network.piece(traced.piece);
        let is_whole = matches!(reached.stretches[..], [(from_m, to_m)] if from_m <= piece.from_m && to_m >= piece.to_m);
        for front in ground.links.frontage(traced.piece) {
            let (away_m, along_m) = if is_whole {
                (front.away_m, front.along_m)
            } else {
                // Only the traced stretch counts: measure again.
                match stretches_to_parcel(ground, reached, front.parcel) {
                    Some(found) if found.0 <= ground.links.parcel_distance_m => found,
                    _ => continue,
                }
            };
            let from_near_end_m = traced.from_near_end_m(ground.network, place, along_m);
            let offered = TracedParcel {
                parcel: front.parcel,
                piece: traced.piece,
                away_m,
                certainty: traced.certainty,
                distance_m: traced.distance_m + from_near_end_m,
                travel: Travel::UNKNOWN,
            };
            let known = best.entry(front.parcel).or_insert(offered);
            known.certainty = known.certainty.min(offered.certainty);
            if (offered.away_m, offered.distance_m) < (known.away_m, known.distance_m) {
                *known = TracedParcel { certainty: known.certainty, ..offered };
            }
        }
    }
    best.into_values().collect()
}

/// How far a parcel is from the traced stretches of a piece, and where along the part, metres.
fn stretches_to_parcel(ground: Ground, reached: &Reached, parcel: ParcelIndex) -> Option<(f64, f64)> {
    let outline = ground.inventory.parcels[parcel.at()].outline.as_ref()?;
    let mut best: Option<(f64, f64)> = None;
    for &(from_m, to_m) in &reached.stretches {
        let line = ground.network.line(ground.inventory, reached.surest.piece, from_m, to_m)?;
        let mut begins_m = from_m;
        for pair in line.0.windows(2) {
            let (a, b) = ([pair[0].x, pair[0].y], [pair[1].x, pair[1].y]);
            let (away_m, along_m) = outline_to_segment_m(outline, a, b);
            let offered = (away_m, begins_m + along_m);
            if best.is_none_or(|known| offered < known) {
                best = Some(offered);
            }
            begins_m += (b[0] - a[0]).hypot(b[1] - a[1]);
        }
    }
    best
}
