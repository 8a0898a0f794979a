//! Why not this property? Where its water goes instead, what blocks the way, and what would have to be wrong on the map.
//!
//! An exclusion is worth what it rests on: the cheapest set of doubtful facts that would overturn it is found by a shortest-path search
//! over the network with every fact that may be wrong as a way at a cost. Nothing here says that a fact is wrong, and a way that the map
//! has is never called none.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use geo::BoundingRect;

use crate::inventory::{OutfallKind, Status, StructureKind, System};
use crate::links::{LateralIndex, ParcelIndex, outline_to_segment_m};
use crate::network::locate::Place;
use crate::network::{ConduitIndex, Flow, NodeIndex, PieceIndex, StructureIndex};
use crate::rules::{Doubt, DoubtCosts, Rules, Standing, Tier};
use crate::trace::path::{Path, WaysDown};
use crate::trace::{Ground, TraceOptions, WaterState, can_enter, known_overflow_m, micrometres};

/// A tie of a property with the system, and where its water goes from there.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyTie {
    /// The tier of the tie.
    pub tier: Tier,
    /// The conduit, where it is tied to one.
    pub conduit: Option<ConduitIndex>,
    /// The inlet, where it is tied to one.
    pub inlet: Option<StructureIndex>,
    /// The lateral, where it is one.
    pub lateral: Option<LateralIndex>,
    /// How far the property lies from the conduit or inlet, metres.
    pub away_m: f64,
    /// Where its water enters.
    pub place: Place,
    /// Why the conduit of the tie carries nothing, where it does not: the facts that would have to be otherwise.
    pub blocked_by: Vec<Doubt>,
    /// The way down to every outfall, pond or dead end that it reaches.
    pub ways: Vec<WayOut>,
}

/// A way down from a tie to where it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct WayOut {
    /// The node.
    pub node: NodeIndex,
    /// True for an outfall; else the way ends where nothing on the map goes on.
    pub is_outfall: bool,
    /// The surest way there, the shortest of equals.
    pub path: Path,
}

/// A fact of the map that would have to be otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// What kind of fact.
    pub doubt: Doubt,
    /// The conduit it is about, where it is about one.
    pub conduit: Option<ConduitIndex>,
    /// The two nodes between which it lies, where it is about a gap.
    pub between: Option<(NodeIndex, NodeIndex)>,
    /// The length of a gap or of a service line that no map shows, metres.
    pub length_m: Option<f64>,
    /// What it costs, thousandths.
    pub cost_milli: u64,
}

/// A step of a way that the map denies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubtedStep {
    /// The piece; `None` over a gap.
    pub piece: Option<PieceIndex>,
    /// The node it leaves; `None` where it begins at the property.
    pub from: Option<NodeIndex>,
    /// The node it reaches.
    pub to: NodeIndex,
}

/// What would have to be wrong on the map.
#[derive(Clone, Debug, PartialEq)]
pub struct Overturn {
    /// The facts, in the order of the way.
    pub facts: Vec<Fact>,
    /// Their cost, thousandths; there is no cheaper set.
    pub cost_milli: u64,
    /// The way that water would take.
    pub steps: Vec<DoubtedStep>,
}

/// What sort of thing blocks the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockKind {
    /// Ends that lie close together and are not joined.
    Gap,
    /// A conduit runs the other way.
    Direction,
    /// The property and the place lie on two sides of a point from which water runs both ways.
    Divide,
    /// A conduit that is abandoned, proposed, removed or of unknown status.
    NotLive,
    /// A combined sewer.
    Combined,
    /// A sanitary sewer.
    Sanitary,
    /// An overflow that is dry in dry weather.
    Overflow,
    /// Nothing on the map joins the two systems.
    OtherSystem,
    /// Nothing on the map ties the property to any drain.
    NoTie,
}

impl BlockKind {
    /// The stable text form.
    pub fn word(self) -> &'static str {
        match self {
            BlockKind::Gap => "gap",
            BlockKind::Direction => "direction",
            BlockKind::Divide => "divide",
            BlockKind::NotLive => "not_live",
            BlockKind::Combined => "combined",
            BlockKind::Sanitary => "sanitary",
            BlockKind::Overflow => "overflow",
            BlockKind::OtherSystem => "other_system",
            BlockKind::NoTie => "no_tie",
        }
    }
}

/// The fact that blocks the likeliest way.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// What sort.
    pub kind: BlockKind,
    /// One sentence for people.
    pub message: String,
}

/// Whether water of the property can come to a place.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It can, by this tie (its place in the list of ties) and this way.
    Reaches {
        /// Which tie.
        tie: usize,
        /// The surest way, the shortest of equals.
        path: Path,
    },
    /// It cannot, on this map.
    CannotReach {
        /// What blocks it.
        block: Block,
        /// The cheapest set of facts that would have to be wrong; `None` where no such set is known.
        overturn: Option<Overturn>,
        /// How well the exclusion stands.
        standing: Standing,
    },
}

/// One place that was asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Against {
    /// The structure.
    pub structure: StructureIndex,
    /// Whether the property's water can come there.
    pub verdict: Verdict,
}

/// The answer: complete, in the order of the inventory.
#[derive(Clone, Debug, PartialEq)]
pub struct WhyNot {
    /// The property.
    pub parcel: ParcelIndex,
    /// Every tie of the property, and where its water goes.
    pub ties: Vec<PropertyTie>,
    /// Every place that was asked about.
    pub against: Vec<Against>,
}

impl WhyNot {
    /// The places that it reaches.
    pub fn reached(&self) -> impl Iterator<Item = &Against> {
        self.against.iter().filter(|a| matches!(a.verdict, Verdict::Reaches { .. }))
    }
}

/// Asks whether the water of a property can come to a structure; to every outfall where none is named.
///
/// Of the options, combined, statuses, owners, excluded conduits, bridged gaps and the water state count.
pub fn why_not(ground: Ground, rules: &Rules, parcel: ParcelIndex, structure: Option<StructureIndex>, options: &TraceOptions) -> WhyNot {
    let targets = structure.map_or_else(|| outfalls(ground), |one| vec![one]);
    let mut ties = ties_of(ground, options, parcel);
    let ways: Vec<Option<WaysDown>> =
        ties.iter().map(|t| t.blocked_by.is_empty().then(|| WaysDown::from(ground, t.place, options))).collect();
    for (tie, ways) in ties.iter_mut().zip(&ways) {
        tie.ways = ways.as_ref().map(|w| ways_out(ground, w)).unwrap_or_default();
    }
    let reached = |target: StructureIndex| {
        let node = ground.network.node_of(target);
        let offers = ways.iter().enumerate().filter_map(|(at, w)| Some((at, w.as_ref()?.path_to(node)?)));
        offers.min_by(|(a, x), (b, y)| {
            x.certainty.cmp(&y.certainty).then(ties[*a].tier.cmp(&ties[*b].tier)).then(x.length_m.total_cmp(&y.length_m))
        })
    };
    let found: Vec<Option<(usize, Path)>> = targets.iter().map(|t| reached(*t)).collect();
    let open: BTreeSet<NodeIndex> =
        targets.iter().zip(&found).filter(|(_, f)| f.is_none()).map(|(t, _)| ground.network.node_of(*t)).collect();
    let search = Search::run(ground, rules.doubts(), options, parcel, &ties, &open);
    let against = targets
        .iter()
        .zip(found)
        .map(|(&structure, found)| {
            let verdict = match found {
                Some((tie, path)) => Verdict::Reaches { tie, path },
                None => {
                    let overturn = search.overturn(ground.network.node_of(structure));
                    let standing = rules.doubts().standing(overturn.as_ref().map(|o| o.cost_milli)).clone();
                    Verdict::CannotReach { block: block_of(ground, &ties, overturn.as_ref()), overturn, standing }
                }
            };
            Against { structure, verdict }
        })
        .collect();
    WhyNot { parcel, ties, against }
}

/// Every live outfall by which water leaves the system.
fn outfalls(ground: Ground) -> Vec<StructureIndex> {
    let all = ground.inventory.structures.iter().enumerate();
    all.filter(|(_, s)| s.kind == StructureKind::Outfall && s.status == Status::Live)
        .filter(|(_, s)| s.outfall_kind != Some(OutfallKind::InterconnectionIn))
        .map(|(at, _)| StructureIndex::from_at(at))
        .collect()
}

fn ways_out(ground: Ground, ways: &WaysDown) -> Vec<WayOut> {
    let is_outfall = |node: NodeIndex| ground.network.structures_at(ground.inventory, node).any(|(_, s)| s.kind == StructureKind::Outfall);
    let mut nodes: BTreeSet<NodeIndex> = ways.ends().into_iter().collect();
    nodes.extend(ways.nodes().filter(|n| is_outfall(*n)));
    let mut out: Vec<WayOut> =
        nodes.into_iter().filter_map(|node| Some(WayOut { node, is_outfall: is_outfall(node), path: ways.path_to(node)? })).collect();
    out.sort_by(|a, b| {
        (!a.is_outfall, a.path.certainty).cmp(&(!b.is_outfall, b.path.certainty)).then(a.path.length_m.total_cmp(&b.path.length_m))
    });
    out
}

/// Every tie of a property, the strongest tiers first.
fn ties_of(ground: Ground, options: &TraceOptions, parcel: ParcelIndex) -> Vec<PropertyTie> {
    let mut ties = Vec::new();
    let at_piece = |tier: Tier, piece: PieceIndex, along_m: f64, away_m: f64, lateral: Option<LateralIndex>| {
        let conduit = ground.network.piece(piece).conduit;
        let blocked_by = blocked_by(ground, options, conduit);
        PropertyTie {
            tier,
            conduit: Some(conduit),
            inlet: None,
            lateral,
            away_m,
            place: Place::OnPiece { piece, along_m },
            blocked_by,
            ways: Vec::new(),
        }
    };
    for at in 0..ground.network.pieces.len() {
        let piece = PieceIndex::from_at(at);
        let own_laterals = ground.links.laterals(piece).iter().filter(|l| l.parcel == Some(parcel));
        ties.extend(own_laterals.map(|l| at_piece(Tier::Lateral, piece, l.along_m, 0.0, Some(l.lateral))));
        let own_front = ground.links.frontage(piece).iter().filter(|f| f.parcel == parcel);
        ties.extend(own_front.map(|f| at_piece(Tier::Frontage, piece, f.along_m, f.away_m, None)));
    }
    for at in 0..ground.inventory.structures.len() {
        let structure = StructureIndex::from_at(at);
        for link in ground.links.inlets(structure).iter().filter(|l| l.parcel == parcel) {
            ties.push(PropertyTie {
                tier: if link.by_area { Tier::InletArea } else { Tier::Frontage },
                conduit: None,
                inlet: Some(structure),
                lateral: None,
                away_m: link.away_m,
                place: Place::Node(ground.network.node_of(structure)),
                blocked_by: Vec::new(),
                ways: Vec::new(),
            });
        }
    }
    ties.sort_by(|a, b| {
        (a.tier.cmp(&b.tier).then(a.away_m.total_cmp(&b.away_m)))
            .then((a.lateral, a.inlet, a.conduit).cmp(&(b.lateral, b.inlet, b.conduit)))
    });
    ties
}

/// What would have to be otherwise for a conduit to carry storm water at all.
fn blocked_by(ground: Ground, options: &TraceOptions, index: ConduitIndex) -> Vec<Doubt> {
    let conduit = &ground.inventory.conduits[index.at()];
    let mut doubts: Vec<Doubt> = revival(conduit.status, options).into_iter().collect();
    doubts.extend(Medium::of(conduit.system, options).doubt());
    if options.water == WaterState::Dry && known_overflow_m(ground, index).is_some() {
        doubts.push(Doubt::OverflowCarries);
    }
    doubts
}

fn revival(status: Status, options: &TraceOptions) -> Option<Doubt> {
    match status {
        other if options.statuses.contains(&other) => None,
        Status::Live => None,
        Status::Abandoned => Some(Doubt::ReviveAbandoned),
        Status::Proposed => Some(Doubt::ReviveProposed),
        Status::Removed => Some(Doubt::ReviveRemoved),
        Status::Unknown => Some(Doubt::ReviveUnknown),
    }
}

/// In which kind of sewer the water is; to pass on within one kind costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Medium {
    Storm,
    Combined,
    Sanitary,
}

impl Medium {
    fn of(system: System, options: &TraceOptions) -> Self {
        match system {
            System::Sanitary => Medium::Sanitary,
            System::Combined if !options.combined => Medium::Combined,
            _ => Medium::Storm,
        }
    }

    fn doubt(self) -> Option<Doubt> {
        match self {
            Medium::Storm => None,
            Medium::Combined => Some(Doubt::EnterCombined),
            Medium::Sanitary => Some(Doubt::EnterSanitary),
        }
    }
}

/// Where the search stands: at a node, having come by a conduit whose doubts are paid for, in a kind of sewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    node: NodeIndex,
    /// The conduit and whether it is passed with its drawing: its other pieces are free.
    paid: Option<(ConduitIndex, bool)>,
    medium: Medium,
}

/// Thousandths of doubt first, micrometres of way second.
type Cost = (u64, u64);

/// How a state was come to.
#[derive(Clone, Debug)]
struct Arrival {
    before: Option<State>,
    step: DoubtedStep,
    facts: Vec<Fact>,
}

/// A way between two nodes that no conduit of the map makes.
#[derive(Clone, Copy, Debug)]
struct Extra {
    to: NodeIndex,
    doubt: Doubt,
    length_m: f64,
    /// The piece into whose side the end points, passed afterwards.
    onto: Option<PieceIndex>,
}

struct Search<'a> {
    ground: Ground<'a>,
    costs: &'a DoubtCosts,
    options: &'a TraceOptions,
    extras: BTreeMap<NodeIndex, Vec<Extra>>,
    settled: BTreeMap<State, Cost>,
    arrivals: BTreeMap<State, (Cost, Arrival)>,
    queue: BinaryHeap<Reverse<(Cost, State)>>,
    /// The first and therefore cheapest state settled at each node that was asked about.
    found: BTreeMap<NodeIndex, State>,
}

impl<'a> Search<'a> {
    fn run(
        ground: Ground<'a>,
        costs: &'a DoubtCosts,
        options: &'a TraceOptions,
        parcel: ParcelIndex,
        ties: &[PropertyTie],
        targets: &BTreeSet<NodeIndex>,
    ) -> Self {
        let mut search = Search {
            ground,
            costs,
            options,
            extras: BTreeMap::new(),
            settled: BTreeMap::new(),
            arrivals: BTreeMap::new(),
            queue: BinaryHeap::new(),
            found: BTreeMap::new(),
        };
        if targets.is_empty() {
            return search;
        }
        search.extras = search.gaps_and_joins();
        search.begin(parcel, ties);
        while let Some(Reverse((cost, state))) = search.queue.pop() {
            if search.settled.contains_key(&state) {
                continue;
            }
            search.settled.insert(state, cost);
            if targets.contains(&state.node) {
                search.found.entry(state.node).or_insert(state);
                if search.found.len() == targets.len() {
                    break;
                }
            }
            search.leave(state, cost);
        }
        search
    }

    fn fact(&self, doubt: Doubt, conduit: Option<ConduitIndex>, between: Option<(NodeIndex, NodeIndex)>, length_m: Option<f64>) -> Fact {
        Fact { doubt, conduit, between, length_m, cost_milli: self.costs.cost(doubt).of_milli(length_m.unwrap_or(0.0)) }
    }

    fn offer(&mut self, before: Option<State>, so_far: Cost, to: State, step: DoubtedStep, length_m: f64, facts: Vec<Fact>) {
        let doubt: u64 = facts.iter().map(|f| f.cost_milli).sum();
        let cost = (so_far.0 + doubt, so_far.1 + micrometres(length_m));
        if self.settled.contains_key(&to) || self.arrivals.get(&to).is_some_and(|known| known.0 <= cost) {
            return;
        }
        self.arrivals.insert(to, (cost, Arrival { before, step, facts }));
        self.queue.push(Reverse((cost, to)));
    }

    fn begin(&mut self, parcel: ParcelIndex, ties: &[PropertyTie]) {
        for tie in ties {
            match tie.place {
                Place::Node(node) => {
                    let state = State { node, paid: None, medium: Medium::Storm };
                    self.offer(None, (0, 0), state, DoubtedStep { piece: None, from: None, to: node }, 0.0, Vec::new());
                }
                Place::OnPiece { piece, along_m } => self.begin_on(piece, along_m, Vec::new()),
            }
        }
        for (piece, along_m, away_m) in self.unmapped(parcel, ties) {
            let conduit = self.ground.network.piece(piece).conduit;
            let fact = self.fact(Doubt::UnmappedConnection, Some(conduit), None, Some(away_m));
            self.begin_on(piece, along_m, vec![fact]);
        }
    }

    fn begin_on(&mut self, piece: PieceIndex, along_m: f64, facts: Vec<Fact>) {
        let ends = *self.ground.network.piece(piece);
        for (to, with_drawing, length_m) in [(ends.end, true, ends.to_m - along_m), (ends.start, false, along_m - ends.from_m)] {
            let Some((state, more)) = self.pass(None, Medium::Storm, piece, with_drawing, to) else { continue };
            let all: Vec<Fact> = facts.iter().cloned().chain(more).collect();
            self.offer(None, (0, 0), state, DoubtedStep { piece: Some(piece), from: None, to }, length_m.max(0.0), all);
        }
    }

    /// Conduits beyond the parcel distance to which the property may have a line that no map shows: piece, how far along, how far away.
    fn unmapped(&self, parcel: ParcelIndex, ties: &[PropertyTie]) -> Vec<(PieceIndex, f64, f64)> {
        let reach_m = self.costs.reach_m(Doubt::UnmappedConnection);
        let Some(outline) = &self.ground.inventory.parcels[parcel.at()].outline else { return Vec::new() };
        let Some(bounds) = outline.bounding_rect() else { return Vec::new() };
        let tied: BTreeSet<ConduitIndex> = ties.iter().filter_map(|t| t.conduit).collect();
        let near = |line: &geo::LineString| {
            line.bounding_rect().is_some_and(|other| {
                other.min().x <= bounds.max().x + reach_m
                    && other.max().x >= bounds.min().x - reach_m
                    && other.min().y <= bounds.max().y + reach_m
                    && other.max().y >= bounds.min().y - reach_m
            })
        };
        let mut found = Vec::new();
        for (at, conduit) in self.ground.inventory.conduits.iter().enumerate() {
            let index = ConduitIndex::from_at(at);
            if tied.contains(&index) || !conduit.is_live() || !conduit.parts.iter().any(near) {
                continue;
            }
            for piece in self.ground.network.pieces_of(index).map(PieceIndex::from_at) {
                let ends = self.ground.network.piece(piece);
                let Some(line) = self.ground.network.line(self.ground.inventory, piece, ends.from_m, ends.to_m) else { continue };
                let mut begins_m = ends.from_m;
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
                found.extend(best.filter(|(away_m, _)| *away_m <= reach_m).map(|(away_m, along_m)| (piece, along_m, away_m)));
            }
        }
        found
    }

    /// The state after a piece and the facts that passing it takes; `None` where it was told not to enter.
    fn pass(
        &self,
        paid: Option<(ConduitIndex, bool)>,
        medium: Medium,
        piece: PieceIndex,
        with_drawing: bool,
        to: NodeIndex,
    ) -> Option<(State, Vec<Fact>)> {
        let index = self.ground.network.piece(piece).conduit;
        let conduit = &self.ground.inventory.conduits[index.at()];
        if !can_enter(self.ground, self.options, index) {
            return None;
        }
        let now = Medium::of(conduit.system, self.options);
        let mut facts: Vec<Fact> = Vec::new();
        if now != medium {
            facts.extend(now.doubt().map(|d| self.fact(d, Some(index), None, None)));
        }
        let mut own: Vec<Doubt> = revival(conduit.status, self.options).into_iter().collect();
        let flow = self.ground.network.flow(index);
        let against = matches!((flow.flow, with_drawing), (Flow::WithDrawing, false) | (Flow::AgainstDrawing, true));
        if against {
            own.push(match (flow.contradicted_by.is_empty(), flow.assumed) {
                (false, _) => Doubt::ReverseContradicted,
                (true, true) => Doubt::ReverseAssumed,
                (true, false) => Doubt::ReverseAny,
            });
        } else if self.options.water == WaterState::Dry && known_overflow_m(self.ground, index).is_some() {
            own.push(Doubt::OverflowCarries);
        }
        let this = (index, with_drawing);
        let state = State { node: to, paid: (!own.is_empty()).then_some(this), medium: now };
        // The facts of a conduit are paid for once, however many pieces side joins cut it into.
        if paid != Some(this) {
            facts.extend(own.into_iter().map(|d| self.fact(d, Some(index), None, None)));
        }
        Some((state, facts))
    }

    fn leave(&mut self, state: State, cost: Cost) {
        let network = self.ground.network;
        let mut around: Vec<PieceIndex> = network.leaving(state.node).iter().chain(network.arriving(state.node)).copied().collect();
        around.sort_unstable();
        around.dedup();
        for piece in around {
            let ends = *network.piece(piece);
            if ends.start == ends.end {
                continue;
            }
            let with_drawing = ends.start == state.node;
            let to = if with_drawing { ends.end } else { ends.start };
            let Some((next, facts)) = self.pass(state.paid, state.medium, piece, with_drawing, to) else { continue };
            let step = DoubtedStep { piece: Some(piece), from: Some(state.node), to };
            self.offer(Some(state), cost, next, step, ends.length_m(), facts);
        }
        for extra in self.extras.get(&state.node).cloned().unwrap_or_default() {
            let free = extra.doubt == Doubt::BridgeGap && self.options.bridge_gaps;
            let fact = self.fact(extra.doubt, None, Some((state.node, extra.to)), Some(extra.length_m));
            let mut facts = if free { Vec::new() } else { vec![fact] };
            match extra.onto {
                None => {
                    let next = State { node: extra.to, paid: None, medium: Medium::Storm };
                    let step = DoubtedStep { piece: None, from: Some(state.node), to: extra.to };
                    self.offer(Some(state), cost, next, step, extra.length_m, facts);
                }
                Some(piece) => {
                    let with_drawing = network.piece(piece).end == extra.to;
                    let Some((next, more)) = self.pass(None, Medium::Storm, piece, with_drawing, extra.to) else { continue };
                    facts.extend(more);
                    let step = DoubtedStep { piece: Some(piece), from: Some(state.node), to: extra.to };
                    self.offer(Some(state), cost, next, step, extra.length_m + network.piece(piece).length_m() / 2.0, facts);
                }
            }
        }
    }

    /// The reported gaps, and loose ends with what lies within reach of them.
    fn gaps_and_joins(&self) -> BTreeMap<NodeIndex, Vec<Extra>> {
        let network = self.ground.network;
        let mut extras: BTreeMap<NodeIndex, Vec<Extra>> = BTreeMap::new();
        let mut put = |from: NodeIndex, extra: Extra| extras.entry(from).or_default().push(extra);
        for gap in &network.gaps {
            let extra = |to, onto| Extra { to, doubt: Doubt::BridgeGap, length_m: gap.distance_m, onto };
            match gap.onto.filter(|_| !self.options.bridge_gaps) {
                // Where gaps are bridged as asked, they are bridged as a trace does it: from node to node.
                None => {
                    put(gap.from, extra(gap.to, None));
                    put(gap.to, extra(gap.from, None));
                }
                Some(piece) => {
                    let ends = network.piece(piece);
                    put(gap.from, extra(ends.end, Some(piece)));
                    put(gap.from, extra(ends.start, Some(piece)));
                    // Out of the side of the piece into the end: from whichever of its ends water comes.
                    let flow = network.flow(ends.conduit).flow;
                    if flow != Flow::AgainstDrawing {
                        put(ends.start, extra(gap.from, None));
                    }
                    if flow != Flow::WithDrawing {
                        put(ends.end, extra(gap.from, None));
                    }
                }
            }
        }
        let reach_m = self.costs.reach_m(Doubt::JoinEnds);
        if reach_m <= 0.0 {
            return extras;
        }
        let place = |node: NodeIndex| network.nodes[node.at()].place;
        let cell = |v: f64| (v / reach_m).floor() as i64;
        let mut cells: BTreeMap<(i64, i64), Vec<NodeIndex>> = BTreeMap::new();
        for node in (0..network.nodes.len()).map(NodeIndex::from_at).filter(|n| !network.is_bare(*n)) {
            if let Some(p) = place(node) {
                cells.entry((cell(p.x()), cell(p.y()))).or_default().push(node);
            }
        }
        for loose in (0..network.nodes.len()).map(NodeIndex::from_at).filter(|n| self.is_loose(*n)) {
            let Some(p) = place(loose) else { continue };
            let (cx, cy) = (cell(p.x()), cell(p.y()));
            for at in (cx - 1..=cx + 1).flat_map(|x| (cy - 1..=cy + 1).map(move |y| (x, y))) {
                for &other in cells.get(&at).into_iter().flatten() {
                    let Some(q) = place(other).filter(|_| other != loose) else { continue };
                    let length_m = (p.x() - q.x()).hypot(p.y() - q.y());
                    if length_m <= reach_m {
                        put(loose, Extra { to: other, doubt: Doubt::JoinEnds, length_m, onto: None });
                        put(other, Extra { to: loose, doubt: Doubt::JoinEnds, length_m, onto: None });
                    }
                }
            }
        }
        extras
    }

    /// An end at which one conduit stops and nothing tells why: not an outfall, a pond or an inlet.
    fn is_loose(&self, node: NodeIndex) -> bool {
        let network = self.ground.network;
        let mut around: Vec<PieceIndex> = network.leaving(node).iter().chain(network.arriving(node)).copied().collect();
        around.sort_unstable();
        around.dedup();
        let ends_well = |kind: StructureKind| {
            matches!(kind, StructureKind::Outfall | StructureKind::Pond | StructureKind::CatchBasin | StructureKind::Inlet)
        };
        around.len() == 1 && !network.structures_at(self.ground.inventory, node).any(|(_, s)| ends_well(s.kind))
    }

    /// The cheapest set of facts by which water would come to a node.
    fn overturn(&self, node: NodeIndex) -> Option<Overturn> {
        let mut state = *self.found.get(&node)?;
        let cost_milli = self.settled.get(&state)?.0;
        let (mut facts, mut steps) = (Vec::new(), Vec::new());
        loop {
            let (_, arrival) = self.arrivals.get(&state)?;
            steps.push(arrival.step);
            facts.extend(arrival.facts.iter().rev().cloned());
            match arrival.before {
                Some(before) => state = before,
                None => break,
            }
        }
        facts.reverse();
        steps.reverse();
        Some(Overturn { facts, cost_milli, steps })
    }
}

/// What blocks the likeliest way, in words.
fn block_of(ground: Ground, ties: &[PropertyTie], overturn: Option<&Overturn>) -> Block {
    let id = |conduit: ConduitIndex| ground.inventory.conduits[conduit.at()].key.to_string();
    let name = |node: NodeIndex| ground.network.node_name(ground.inventory, node);
    if ties.is_empty() {
        let message = "nothing on the map ties the property to any drain".to_owned();
        return Block { kind: BlockKind::NoTie, message };
    }
    let nothing_joins =
        || Block { kind: BlockKind::OtherSystem, message: "nothing on the map joins its drains to those of that place".to_owned() };
    let Some((overturn, fact)) = overturn.and_then(|o| Some((o, o.facts.first()?))) else { return nothing_joins() };
    match (fact.doubt, fact.conduit) {
        (Doubt::BridgeGap, _) => {
            let (a, b) = fact.between.map_or((String::new(), String::new()), |(a, b)| (name(a), name(b)));
            let message = format!("{a} and {b} are {:.2} m apart and not joined on the map", fact.length_m.unwrap_or(0.0));
            Block { kind: BlockKind::Gap, message }
        }
        (Doubt::ReverseAny | Doubt::ReverseAssumed | Doubt::ReverseContradicted, Some(conduit)) => {
            direction_block(ground, overturn, fact, conduit)
        }
        (Doubt::ReviveAbandoned | Doubt::ReviveProposed | Doubt::ReviveRemoved | Doubt::ReviveUnknown, Some(conduit)) => {
            let status = ground.inventory.conduits[conduit.at()].status;
            let status = if status == Status::Unknown { "of unknown status".to_owned() } else { status.to_string() };
            Block { kind: BlockKind::NotLive, message: format!("{} is {status} and carries nothing on this map", id(conduit)) }
        }
        (Doubt::EnterCombined, Some(conduit)) => {
            Block { kind: BlockKind::Combined, message: format!("{} is a combined sewer, which takes the water elsewhere", id(conduit)) }
        }
        (Doubt::EnterSanitary, Some(conduit)) => {
            Block { kind: BlockKind::Sanitary, message: format!("{} is a sanitary sewer, which no storm water may enter", id(conduit)) }
        }
        (Doubt::OverflowCarries, Some(conduit)) => {
            let above_m = known_overflow_m(ground, conduit).unwrap_or(0.0);
            let message = format!("{} begins {above_m:.2} m above the other way out and is dry in dry weather", id(conduit));
            Block { kind: BlockKind::Overflow, message }
        }
        _ => nothing_joins(),
    }
}

/// A conduit that runs the other way: a divide where the way would climb it to a point from which water runs down both sides.
fn direction_block(ground: Ground, overturn: &Overturn, fact: &Fact, conduit: ConduitIndex) -> Block {
    let id = |conduit: ConduitIndex| ground.inventory.conduits[conduit.at()].key.to_string();
    let reversed: BTreeSet<ConduitIndex> = overturn
        .facts
        .iter()
        .filter(|f| matches!(f.doubt, Doubt::ReverseAny | Doubt::ReverseAssumed | Doubt::ReverseContradicted))
        .filter_map(|f| f.conduit)
        .collect();
    let conduit_of = |step: &DoubtedStep| step.piece.map(|p| ground.network.piece(p).conduit);
    let climbs = |step: &DoubtedStep| conduit_of(step).is_some_and(|c| reversed.contains(&c));
    let first = overturn.steps.iter().position(climbs);
    let run = first.map(|first| overturn.steps[first..].iter().take_while(|s| climbs(s)).collect::<Vec<_>>()).unwrap_or_default();
    let after = first.and_then(|first| overturn.steps.get(first + run.len())).and_then(conduit_of);
    match (run.last(), after) {
        (Some(top), Some(after)) if fact.doubt == Doubt::ReverseAny => {
            let crest = ground.network.node_name(ground.inventory, top.to);
            let own = run.last().and_then(|s| conduit_of(s)).map_or_else(|| id(conduit), id);
            let message = format!(
                "they lie on two sides of a divide: at {crest} water runs into {own} towards the property and into {} towards that place",
                id(after)
            );
            Block { kind: BlockKind::Divide, message }
        }
        _ => Block { kind: BlockKind::Direction, message: format!("{} runs the other way on this map", id(conduit)) },
    }
}
