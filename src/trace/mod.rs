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
use crate::network::{ConduitIndex, Flow, Network, NodeIndex, PieceIndex, StructureIndex};
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
    /// How sure it is.
    pub certainty: Certainty,
    /// How far its near end is from the place along the pipe, by the surest way, metres.
    pub distance_m: f64,
    /// The node at its near end; `None` for the stretch on which the place itself lies.
    pub near: Option<NodeIndex>,
    /// How long water takes between its near end and the place, by every traced way.
    pub travel: Travel,
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

/// For each node the nodes beyond the gaps at it, and how far, metres.
pub(crate) fn bridge_map(ground: Ground) -> BTreeMap<NodeIndex, Vec<(NodeIndex, f64)>> {
    let mut bridges: BTreeMap<NodeIndex, Vec<(NodeIndex, f64)>> = BTreeMap::new();
    for gap in &ground.network.gaps {
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

/// A search by surest way first, shortest second.
struct Search<'a> {
    ground: Ground<'a>,
    way: Way,
    options: &'a TraceOptions,
    settled: BTreeMap<NodeIndex, (Certainty, f64)>,
    queue: BinaryHeap<Reverse<(Certainty, Metres, NodeIndex)>>,
    pieces: BTreeMap<PieceIndex, TracedPiece>,
    /// The stretches of the piece on which the place itself lies.
    own: Vec<TracedPiece>,
    stops: BTreeSet<NodeIndex>,
    bridges: BTreeMap<NodeIndex, Vec<(NodeIndex, f64)>>,
}

impl<'a> Search<'a> {
    fn new(ground: Ground<'a>, way: Way, options: &'a TraceOptions) -> Self {
        let bridges = if options.bridge_gaps { bridge_map(ground) } else { BTreeMap::new() };
        Search {
            ground,
            way,
            options,
            settled: BTreeMap::new(),
            queue: BinaryHeap::new(),
            pieces: BTreeMap::new(),
            own: Vec::new(),
            stops: options.stop_structures.iter().map(|s| ground.network.node_of(*s)).collect(),
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
            if self.settled.contains_key(&node) {
                continue;
            }
            self.settled.insert(node, (certainty, distance_m));
            let stops = self.stops.contains(&node) || (self.way == Way::Up && is_inflow(self.ground, node));
            if !stops {
                self.leave_node(node, certainty, distance_m);
            }
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
        let flow = self.ground.network.flow(ends.conduit).flow;
        let back = (ends.from_m, along_m, ends.start);
        let ahead = (along_m, ends.to_m, ends.end);
        let stretches = match (flow, self.way) {
            (Flow::Unknown, _) => vec![back, ahead],
            (Flow::WithDrawing, Way::Up) | (Flow::AgainstDrawing, Way::Down) => vec![back],
            (Flow::AgainstDrawing, Way::Up) | (Flow::WithDrawing, Way::Down) => vec![ahead],
        };
        for (from_m, to_m, node) in stretches {
            let (from_m, to_m) = self.shortened(from_m, to_m, 0.0, node == ends.end && to_m == ends.to_m);
            self.own.push(TracedPiece { piece, from_m, to_m, certainty, distance_m: 0.0, near: None, travel: Travel::HERE });
            let length_m = (if node == ends.start { along_m - ends.from_m } else { ends.to_m - along_m }).abs();
            if self.within(length_m) {
                self.queue.push(Reverse((certainty, Metres(length_m), node)));
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
            let (from_m, to_m) = self.shortened(ends.from_m, ends.to_m, distance_m, ends.start == node);
            let traced = TracedPiece { piece, from_m, to_m, certainty, distance_m, near: Some(node), travel: Travel::UNKNOWN };
            let known = self.pieces.entry(piece).or_insert(traced);
            if (traced.certainty, traced.distance_m) < (known.certainty, known.distance_m) {
                *known = traced;
            }
            let beyond = network.inlet_of(piece, node);
            if self.within(distance_m + length_m) && !self.settled.contains_key(&beyond) {
                self.queue.push(Reverse((certainty, Metres(distance_m + length_m), beyond)));
            }
        }
        for &(beyond, gap_m) in self.bridges.get(&node).map_or(&[][..], Vec::as_slice) {
            if self.within(distance_m + gap_m) {
                self.queue.push(Reverse((Certainty::Possible, Metres(distance_m + gap_m), beyond)));
            }
        }
    }

    /// The part of a stretch that lies within the greatest distance, entered at its beginning or its end.
    fn shortened(&self, from_m: f64, to_m: f64, distance_m: f64, enters_at_from: bool) -> (f64, f64) {
        let Some(most_m) = self.options.max_distance_m else { return (from_m, to_m) };
        let reach_m = (most_m - distance_m).max(0.0);
        if enters_at_from { (from_m, to_m.min(from_m + reach_m)) } else { (from_m.max(to_m - reach_m), to_m) }
    }

    fn into_trace(self, place: Place) -> Trace {
        let mut pieces: Vec<TracedPiece> = self.pieces.into_values().collect();
        // The two stretches of a piece whose direction nobody knows are one, from end to end.
        let own = self.own.into_iter().reduce(|a, b| TracedPiece { from_m: a.from_m.min(b.from_m), to_m: a.to_m.max(b.to_m), ..a });
        if let Some(own) = own {
            match pieces.binary_search_by_key(&own.piece, |p| p.piece) {
                // Water comes round to it again: all of it is in the trace.
                Ok(at) => pieces[at].distance_m = 0.0,
                Err(at) => pieces.insert(at, own),
            }
        }
        let nodes: Vec<TracedNode> = self
            .settled
            .iter()
            .map(|(node, (certainty, distance_m))| TracedNode {
                node: *node,
                certainty: *certainty,
                distance_m: *distance_m,
                travel: Travel::UNKNOWN,
            })
            .collect();
        let mut structures: Vec<StructureIndex> =
            nodes.iter().flat_map(|n| self.ground.network.nodes[n.node.at()].structures.iter().copied()).collect();
        structures.sort_unstable();
        let mut conduits: BTreeMap<ConduitIndex, TracedConduit> = BTreeMap::new();
        for piece in &pieces {
            let conduit = self.ground.network.piece(piece.piece).conduit;
            let length_um = micrometres(piece.to_m - piece.from_m);
            let fresh =
                TracedConduit { conduit, certainty: piece.certainty, distance_m: piece.distance_m, length_um: 0, travel: Travel::UNKNOWN };
            let known = conduits.entry(conduit).or_insert(fresh);
            known.certainty = known.certainty.min(piece.certainty);
            known.distance_m = known.distance_m.min(piece.distance_m);
            known.length_um += length_um;
        }
        let conduits: Vec<TracedConduit> = conduits.into_values().collect();
        Trace {
            place,
            way: self.way,
            water: self.options.water,
            parcels: parcels_along(self.ground, &pieces),
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
fn parcels_along(ground: Ground, pieces: &[TracedPiece]) -> Vec<TracedParcel> {
    let mut best: BTreeMap<ParcelIndex, TracedParcel> = BTreeMap::new();
    for traced in pieces {
        let piece = ground.network.piece(traced.piece);
        let is_whole = traced.from_m <= piece.from_m && traced.to_m >= piece.to_m;
        for front in ground.links.frontage(traced.piece) {
            let (away_m, along_m) = if is_whole {
                (front.away_m, front.along_m)
            } else {
                // Only the traced stretch counts: measure again.
                match stretch_to_parcel(ground, traced, front.parcel) {
                    Some(found) if found.0 <= ground.links.parcel_distance_m => found,
                    _ => continue,
                }
            };
            let from_near_end_m = match traced.near {
                Some(near) if near == piece.end && near != piece.start => piece.to_m - along_m,
                _ => along_m - piece.from_m,
            };
            let offered = TracedParcel {
                parcel: front.parcel,
                piece: traced.piece,
                away_m,
                certainty: traced.certainty,
                distance_m: traced.distance_m + from_near_end_m.max(0.0),
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

/// How far a parcel is from a traced stretch, and where along the part, metres.
fn stretch_to_parcel(ground: Ground, traced: &TracedPiece, parcel: ParcelIndex) -> Option<(f64, f64)> {
    let outline = ground.inventory.parcels[parcel.at()].outline.as_ref()?;
    let line = ground.network.line(ground.inventory, traced.piece, traced.from_m, traced.to_m)?;
    let mut begins_m = traced.from_m;
    let mut best: Option<(f64, f64)> = None;
    for pair in line.0.windows(2) {
        let (a, b) = ([pair[0].x, pair[0].y], [pair[1].x, pair[1].y]);
        let (away_m, along_m) = outline_to_segment_m(outline, a, b);
        let offered = (away_m, begins_m + along_m);
        if best.is_none_or(|known| offered < known) {
            best = Some(offered);
        }
        begins_m += (b[0] - a[0]).hypot(b[1] - a[1]);
    }
    best
}
