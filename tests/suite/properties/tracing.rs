//! The network and its traces against the plain reading, mirrored, reordered, renamed and cut up.

use std::collections::{BTreeMap, BTreeSet};

use headwall::data_issue::IssueCode;
use headwall::inventory::{Inventory, Status, Structure};
use headwall::links::Links;
use headwall::network::locate::{Place, SegmentIndex};
use headwall::network::{ConduitIndex, Flow, Gap, Network, NodeIndex, PieceIndex, StructureIndex, build};
use headwall::trace::{CautionKind, Ground, Trace, TraceOptions, WaterState, Way, trace};
use proptest::prelude::*;

use super::cases;
use super::networks::{Plan, plan};
use super::oracle::{self, Graph, Start};

/// Read once: every trace of every network asks for them.
static RULES: std::sync::LazyLock<headwall::rules::Rules> = std::sync::LazyLock::new(|| headwall::rules::Rules::embedded().unwrap());

/// A network with everything that a trace reads.
struct Built {
    inventory: Inventory,
    network: Network,
    links: Links,
}

impl Built {
    fn new(plan: &Plan, inventory: Inventory) -> Self {
        let (network, _) = build(&inventory, &plan.options());
        let segments = SegmentIndex::new(&inventory, &network);
        let (links, _) = Links::measure(&inventory, &network, &segments, 15.0, super::networks::TOLERANCE_M);
        Built { inventory, network, links }
    }

    fn ground(&self) -> Ground<'_> {
        Ground { inventory: &self.inventory, network: &self.network, links: &self.links, hydraulics: RULES.hydraulics() }
    }

    fn trace(&self, place: Place, way: Way, options: &TraceOptions) -> Option<Trace> {
        trace(self.ground(), place, way, options).ok()
    }
}

/// Which of the engine's nodes is which of the oracle's; fails where the two networks differ.
fn same_network(built: &Built, graph: &Graph) -> Result<BTreeMap<NodeIndex, usize>, TestCaseError> {
    prop_assert_eq!(built.network.pieces.len(), graph.pieces.len(), "pieces: {:?} for {:?}", &built.network.pieces, &graph.pieces);
    let mut nodes: BTreeMap<NodeIndex, usize> = BTreeMap::new();
    let mut back: BTreeMap<usize, NodeIndex> = BTreeMap::new();
    let mut pairs = Vec::new();
    for (s, node) in graph.structure_nodes.iter().enumerate() {
        pairs.push((built.network.node_of(StructureIndex(s as u32)), *node, format!("structure {s}")));
    }
    for (a, b) in built.network.pieces.iter().zip(&graph.pieces) {
        prop_assert_eq!((a.conduit.at(), a.part as usize), (b.conduit, b.part));
        prop_assert!((a.from_m - b.from_m).abs() < 1e-6 && (a.to_m - b.to_m).abs() < 1e-6, "{:?} for {:?}", a, b);
        pairs.push((a.start, b.start, format!("{b:?}")));
        pairs.push((a.end, b.end, format!("{b:?}")));
    }
    for (a, b, what) in pairs {
        let (known, other) = (*nodes.entry(a).or_insert(b), *back.entry(b).or_insert(a));
        prop_assert!(known == b && other == a, "other nodes at {}", what);
    }
    for (c, flow) in graph.flows.iter().enumerate() {
        let engine = built.network.flow(ConduitIndex(c as u32));
        let with = match engine.flow {
            Flow::WithDrawing => Some(true),
            Flow::AgainstDrawing => Some(false),
            Flow::Unknown => None,
        };
        let sureness = if with.is_none() { 2 } else { usize::from(!engine.is_certain()) };
        prop_assert_eq!((with, sureness), (flow.with, flow.sureness), "conduit {}", c);
    }
    Ok(nodes)
}

/// What a trace is asked for.
#[derive(Clone, Debug)]
struct Asked {
    at: usize,
    along: u32,
    on_piece: bool,
    up: bool,
    combined: bool,
    statuses: bool,
    bridge: bool,
    stops: Vec<usize>,
    stop_conduit: Option<usize>,
    most_m: Option<u32>,
}

fn asked() -> impl Strategy<Value = Asked> {
    let place = (0..80usize, 0..=100u32, any::<bool>(), any::<bool>());
    let filters = (any::<bool>(), any::<bool>(), any::<bool>());
    let limits = (
        prop_oneof![2 => Just(vec![]), 1 => prop::collection::vec(0..10usize, 1..3)],
        prop_oneof![2 => Just(None), 1 => (0..40usize).prop_map(Some)],
        prop_oneof![1 => Just(None), 1 => (1..90u32).prop_map(Some)],
    );
    (place, filters, limits).prop_map(|((at, along, on_piece, up), (combined, statuses, bridge), (stops, stop_conduit, most_m))| Asked {
        at,
        along,
        on_piece,
        up,
        combined,
        statuses,
        bridge,
        stops,
        stop_conduit,
        most_m,
    })
}

impl Asked {
    fn options(&self, built: &Built) -> TraceOptions {
        let structures = built.inventory.structures.len();
        TraceOptions {
            combined: self.combined,
            statuses: if self.statuses { [Status::Abandoned, Status::Unknown].into() } else { BTreeSet::new() },
            stop_structures: self.stops.iter().filter(|_| structures > 0).map(|s| StructureIndex((s % structures) as u32)).collect(),
            stop_conduits: self.stop_conduit.iter().map(|c| ConduitIndex((c % built.inventory.conduits.len()) as u32)).collect(),
            max_distance_m: self.most_m.map(|m| f64::from(m) + 0.123),
            bridge_gaps: self.bridge,
            // The plain reading knows no levels of weirs: in wet weather every weir carries, and is possible at best.
            water: WaterState::Wet,
            ..TraceOptions::default()
        }
    }

    fn place(&self, built: &Built, nodes: &BTreeMap<NodeIndex, usize>) -> (Place, Start) {
        if self.on_piece {
            let at = self.at % built.network.pieces.len();
            let piece = built.network.pieces[at];
            let along_m = (piece.from_m + piece.length_m() * f64::from(self.along) / 100.0).min(piece.to_m);
            return (Place::OnPiece { piece: PieceIndex(at as u32), along_m }, Start::On(at, along_m));
        }
        let known: Vec<(&NodeIndex, &usize)> = nodes.iter().collect();
        let (node, start) = known[self.at % known.len()];
        (Place::Node(*node), Start::Node(*start))
    }
}

/// The plain network with what gaps would join: pieces cut where one opens on their side, and the bridges.
fn with_bridges(built: &Built, graph: &Graph, nodes: &BTreeMap<NodeIndex, usize>, gaps: &[Gap]) -> (Graph, Vec<(usize, usize, f64)>) {
    let mut joined = graph.clone();
    let mut bridges = Vec::new();
    let mut cuts: Vec<(PieceIndex, f64, usize)> = Vec::new();
    for gap in gaps {
        let Some(onto) = gap.onto else {
            bridges.push((nodes[&gap.from], nodes[&gap.to], gap.distance_m));
            continue;
        };
        let whole = &graph.pieces[onto.at()];
        let at = built.network.nodes[gap.from.at()].place.expect("a gap has a place");
        let line = built.network.line(&built.inventory, onto, whole.from_m, whole.to_m).expect("drawn");
        let along_m = whole.from_m + oracle::foot(&line, [at.x(), at.y()]).0;
        // Two gaps that open at one place of the side open into one another.
        let known = cuts.iter().find(|(p, at_m, _)| *p == onto && (at_m - along_m).abs() <= 0.001).map(|cut: &(_, f64, _)| cut.2);
        let node = known.unwrap_or_else(|| {
            let piece = joined.piece_at(whole.conduit, whole.part, along_m).expect("a place on the piece");
            joined.cut(piece, along_m)
        });
        cuts.push((onto, along_m, node));
        bridges.push((nodes[&gap.from], node, gap.distance_m));
    }
    (joined, bridges)
}

/// The same place on a network that was cut further.
fn moved(graph: &Graph, cut: &Graph, start: Start) -> Start {
    match start {
        Start::On(at, along_m) if graph.pieces.len() != cut.pieces.len() => {
            let piece = &graph.pieces[at];
            // Of the pieces of that part, the one that holds the place; rounding may put it a hair beyond the end of each.
            let beyond_m = |p: &oracle::Piece| (p.from_m - along_m).max(along_m - p.to_m).max(0.0);
            let same = |p: &oracle::Piece| (p.conduit, p.part) == (piece.conduit, piece.part);
            let inside = |p: &oracle::Piece| p.from_m >= piece.from_m - 1e-9 && p.to_m <= piece.to_m + 1e-9;
            let own = (0..cut.pieces.len()).filter(|at| same(&cut.pieces[*at]) && inside(&cut.pieces[*at]));
            let nearest =
                own.min_by(|a, b| beyond_m(&cut.pieces[*a]).total_cmp(&beyond_m(&cut.pieces[*b])).then((*b == at).cmp(&(*a == at))));
            let at = nearest.expect("a part that was cut keeps its pieces");
            assert!(beyond_m(&cut.pieces[at]) < 1e-6, "the place is lost");
            Start::On(at, along_m)
        }
        same => same,
    }
}

/// What each doubt would cut off or add, against tracing again.
fn cautions_hold(plan: &Plan, asked: &Asked) -> Result<(), TestCaseError> {
    let built = Built::new(plan, plan.inventory());
    let graph = oracle::build(&built.inventory, &plan.options());
    let nodes = same_network(&built, &graph)?;
    // Under a greatest distance a longer way round is no way, which the cautions do not follow.
    let options = TraceOptions { max_distance_m: None, bridge_gaps: false, ..asked.options(&built) };
    let (place, start) = asked.place(&built, &nodes);
    let way = if asked.up { Way::Up } else { Way::Down };
    let Some(traced) = built.trace(place, way, &options) else { return Ok(()) };
    let own = match place {
        Place::OnPiece { piece, .. } => Some(built.network.piece(piece).conduit),
        Place::Node(_) => None,
    };
    let by_id = |id: &str| built.inventory.conduits.iter().position(|c| *c.key.id == *id).map(|at| ConduitIndex(at as u32));
    for caution in &traced.cautions {
        if let (Some(effect), [id]) = (caution.cuts_off, caution.at.as_slice())
            && let Some(conduit) = by_id(id)
        {
            let mut options = options.clone();
            options.stop_conduits.insert(conduit);
            let again = built.trace(place, way, &options).expect("traced before");
            let is_lost = |p: PieceIndex| again.piece(p).is_none() || own == Some(conduit);
            let lost: Vec<_> =
                traced.pieces.iter().filter(|p| built.network.piece(p.piece).conduit != conduit && is_lost(p.piece)).collect();
            let conduits: BTreeSet<ConduitIndex> = lost.iter().map(|p| built.network.piece(p.piece).conduit).collect();
            let length_um: u64 = lost.iter().map(|p| p.length_um).sum();
            prop_assert_eq!((effect.conduits, effect.length_um), (conduits.len(), length_um), "{:?}", caution);
        }
    }
    // A place frees only its own piece from what is not entered, and the plain reading cuts that piece.
    let own_enters = |c: &ConduitIndex| oracle::step(&built.inventory, &graph, &options, c.at()).is_some();
    if !own.iter().all(own_enters) {
        return Ok(());
    }
    let gaps: Vec<_> = traced.cautions.iter().filter(|c| c.kind == CautionKind::Gap).filter_map(|c| c.adds).collect();
    let mut wanted = Vec::new();
    let mut why = Vec::new();
    let before = oracle::by_conduit(&graph, &oracle::trace(&built.inventory, &graph, &options, start, asked.up, &[]));
    let total = |all: &BTreeMap<usize, (usize, f64)>| all.values().map(|v| v.1).sum::<f64>();
    for gap in &built.network.gaps {
        let (joined, bridges) = with_bridges(&built, &graph, &nodes, std::slice::from_ref(gap));
        let joined_ends: Vec<_> = bridges.iter().map(|b| (b.0, b.1, 0.0)).collect();
        let found = oracle::trace(&built.inventory, &joined, &options, moved(&graph, &joined, start), asked.up, &joined_ends);
        let after = oracle::by_conduit(&joined, &found);
        let gained = after.keys().filter(|c| !before.contains_key(c)).count();
        wanted.push((gained, ((total(&after) - total(&before)) * 1e4).round() as i64));
        why.push(format!(
            "{gap:?} in {:?}: {:?}; from {:?} to {:?}",
            wanted.last(),
            gap.onto.map(|p| (built.network.piece(p), traced.piece(p))),
            traced.node(gap.from),
            (traced.node(gap.to), &before, &after)
        ));
    }
    let mut told: Vec<(usize, i64)> = gaps.iter().map(|e| (e.conduits, (e.length_um as f64 / 1e2).round() as i64)).collect();
    // A gap of which nothing is said adds nothing.
    told.retain(|e| *e != (0, 0));
    wanted.retain(|e| *e != (0, 0));
    told.sort_unstable();
    wanted.sort_unstable();
    prop_assert_eq!(told.len(), wanted.len(), "{:?} for {:?} at {:?}: {:#?}", &told, &wanted, place, &why);
    for (a, b) in told.iter().zip(&wanted) {
        prop_assert!(a.0 == b.0 && (a.1 - b.1).abs() <= 2, "{:?} for {:?} at {:?}: {:#?}", &told, &wanted, place, &why);
    }
    Ok(())
}

fn equals_brute_force(plan: &Plan, asked: &Asked) -> Result<(), TestCaseError> {
    let built = Built::new(plan, plan.inventory());
    let graph = oracle::build(&built.inventory, &plan.options());
    let nodes = same_network(&built, &graph)?;
    let mut options = asked.options(&built);
    let (place, start) = asked.place(&built, &nodes);
    // The plain reading cuts pieces where gaps are bridged, and a place frees only its own piece from what is not entered.
    if let Start::On(at, _) = start
        && oracle::step(&built.inventory, &graph, &options, graph.pieces[at].conduit).is_none()
    {
        options.bridge_gaps = false;
    }
    let way = if asked.up { Way::Up } else { Way::Down };
    let Some(traced) = built.trace(place, way, &options) else {
        let Start::On(at, _) = start else { return Err(TestCaseError::fail("a trace from a node was refused")) };
        let system = built.inventory.conduits[graph.pieces[at].conduit].system;
        prop_assert_eq!(system, headwall::inventory::System::Sanitary);
        return Ok(());
    };
    let gaps = if options.bridge_gaps { built.network.gaps.clone() } else { Vec::new() };
    let (joined, bridges) = with_bridges(&built, &graph, &nodes, &gaps);
    let start = moved(&graph, &joined, start);
    let plain = oracle::trace(&built.inventory, &joined, &options, start, asked.up, &bridges);
    for (node, known) in &nodes {
        let engine = traced.node(*node).map(|n| (n.certainty as usize, n.distance_m));
        let agree = match (engine, plain.nodes[*known]) {
            (None, None) => true,
            // Gaps that open within a millimetre of one another on a side open at one place: each may stand for the other.
            (Some(a), Some(b)) => a.0 == b.0 && (a.1 - b.1).abs() < if gaps.is_empty() { 1e-6 } else { 0.001 * (1 + gaps.len()) as f64 },
            _ => false,
        };
        prop_assert!(agree, "node {:?}: {:?} for {:?}", node, engine, plain.nodes[*known]);
    }
    let lengths = oracle::by_conduit(&joined, &plain);
    let engine: Vec<(usize, usize)> = traced.conduits.iter().map(|c| (c.conduit.at(), c.certainty as usize)).collect();
    let wanted: Vec<(usize, usize)> = lengths.iter().map(|(c, found)| (*c, found.0)).collect();
    prop_assert_eq!(engine, wanted, "conduits and how sure they are");
    for c in &traced.conduits {
        let wanted = lengths[&c.conduit.at()].1;
        prop_assert!((c.length_um as f64 / 1e6 - wanted).abs() < 1e-4, "conduit {:?}: {} um for {} m", c.conduit, c.length_um, wanted);
    }
    prop_assert_eq!(traced.length_um, traced.conduits.iter().map(|c| c.length_um).sum::<u64>());
    Ok(())
}

/// For every node the conduits and the structures of its trace.
fn answers(built: &Built, way: Way) -> BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)> {
    let options = TraceOptions { combined: true, water: WaterState::Wet, ..TraceOptions::default() };
    let mut all = BTreeMap::new();
    for (at, structure) in built.inventory.structures.iter().enumerate() {
        let place = Place::Node(built.network.node_of(StructureIndex(at as u32)));
        let traced = built.trace(place, way, &options).expect("a structure is a place");
        let conduits = traced.conduits.iter().map(|c| built.inventory.conduits[c.conduit.at()].key.to_string()).collect();
        let structures = traced.structures.iter().map(|s| built.inventory.structures[s.at()].key.to_string()).collect();
        all.insert(structure.key.to_string(), (conduits, structures));
    }
    all
}

fn mirror(plan: &Plan) -> Result<(), TestCaseError> {
    let mut inventory = plan.inventory();
    // Where another system enters, only the way up ends.
    inventory.structures.iter_mut().for_each(|s| s.outfall_kind = None);
    let built = Built::new(plan, inventory);
    // A place named on an overflow that is dry is meant; from elsewhere it is not entered. In wet weather there is no such difference.
    let options = TraceOptions { water: WaterState::Wet, ..TraceOptions::default() };
    let reach = |node: NodeIndex, way: Way| -> BTreeSet<NodeIndex> {
        let traced = built.trace(Place::Node(node), way, &options).expect("a node is a place");
        traced.nodes.iter().map(|n| n.node).collect()
    };
    let all: Vec<NodeIndex> = (0..built.network.nodes.len() as u32).map(NodeIndex).collect();
    let up: Vec<BTreeSet<NodeIndex>> = all.iter().map(|n| reach(*n, Way::Up)).collect();
    let down: Vec<BTreeSet<NodeIndex>> = all.iter().map(|n| reach(*n, Way::Down)).collect();
    for a in &all {
        for b in &all {
            prop_assert_eq!(up[b.at()].contains(a), down[a.at()].contains(b), "{:?} above {:?}", a, b);
        }
    }
    // Conduits: from the middle of a piece.
    let middle = |at: usize, way: Way| -> Option<BTreeSet<PieceIndex>> {
        let piece = built.network.pieces[at];
        let live = built.inventory.conduits[piece.conduit.at()].is_live();
        let place = Place::OnPiece { piece: PieceIndex(at as u32), along_m: (piece.from_m + piece.to_m) / 2.0 };
        built.trace(place, way, &options).filter(|_| live).map(|t| t.pieces.iter().map(|p| p.piece).collect())
    };
    let pieces = built.network.pieces.len();
    let up: Vec<_> = (0..pieces).map(|p| middle(p, Way::Up)).collect();
    let down: Vec<_> = (0..pieces).map(|p| middle(p, Way::Down)).collect();
    let enters = |p: usize| built.inventory.conduits[built.network.pieces[p].conduit.at()].system != headwall::inventory::System::Combined;
    for a in (0..pieces).filter(|p| enters(*p)) {
        for b in (0..pieces).filter(|p| enters(*p)) {
            let (Some(above), Some(below)) = (&up[b], &down[a]) else { continue };
            prop_assert_eq!(above.contains(&PieceIndex(a as u32)), below.contains(&PieceIndex(b as u32)), "piece {} above {}", a, b);
        }
    }
    Ok(())
}

fn order_and_names(plan: &Plan, shuffle: &[usize]) -> Result<(), TestCaseError> {
    let built = Built::new(plan, plan.inventory());
    // The order in which features stand in the file.
    let mut mixed = plan.inventory();
    for at in (1..mixed.conduits.len()).rev() {
        mixed.conduits.swap(at, shuffle[at % shuffle.len()] % (at + 1));
    }
    mixed.structures.reverse();
    mixed.sort();
    prop_assert_eq!(&built.network, &Built::new(plan, mixed).network);
    // Names that sort alike.
    let alike = plan.inventory_named(&|at| format!("main {at:03} x"), &|at| format!("t{at:03}"));
    prop_assert_eq!(&built.network.pieces, &Built::new(plan, alike).network.pieces);
    // Names that sort otherwise, where no tie is decided by them: two structures at one place, an end that either may claim.
    let (_, issues) = build(&built.inventory, &plan.options());
    let twins = built.inventory.structures.iter().enumerate().any(|(at, a)| {
        let near = |b: &Structure| a.place.zip(b.place).is_some_and(|(a, b)| (a.x() - b.x()).hypot(a.y() - b.y()) < 0.001);
        built.inventory.structures[..at].iter().any(near)
    });
    if twins || issues.iter().any(|i| i.code == IssueCode::AmbiguousSnap) {
        return Ok(());
    }
    let other = plan.inventory_named(&|at| format!("P{:02}", 99 - at), &|at| format!("S{:02}", 99 - at));
    let other = Built::new(plan, other);
    let renamed = |id: &String| format!("{}{:02}", &id[..1], 99 - id[1..].parse::<usize>().expect("a number"));
    for way in [Way::Up, Way::Down] {
        let turned: BTreeMap<_, _> = answers(&other, way)
            .into_iter()
            .map(|(id, (c, s))| (renamed(&id), (c.iter().map(renamed).collect(), s.iter().map(renamed).collect())))
            .collect();
        prop_assert_eq!(answers(&built, way), turned);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_trace_is_what_the_rules_say(plan in plan(14), asked in prop::collection::vec(asked(), 8)) {
        for asked in &asked {
            equals_brute_force(&plan, asked)?;
        }
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn a_larger_trace_is_what_the_rules_say(plan in plan(40), asked in prop::collection::vec(asked(), 8)) {
        for asked in &asked {
            equals_brute_force(&plan, asked)?;
        }
    }

    #[test]
    fn cautions_say_what_tracing_again_says(plan in plan(24), asked in prop::collection::vec(asked(), 6)) {
        for asked in &asked {
            cautions_hold(&plan, asked)?;
        }
    }

    #[test]
    fn upstream_mirrors_downstream(plan in plan(24)) {
        mirror(&plan)?;
    }

    #[test]
    fn order_and_names_change_nothing(plan in plan(24), shuffle in prop::collection::vec(0..1000usize, 24)) {
        order_and_names(&plan, &shuffle)?;
    }
}
