//! How long does water take? A range, earliest to latest, from Manning's formula over all that the map leaves open.
//!
//! A number that the map does not give widens the range; it is never filled in.
//! Several ways from one place widen it, too: the earliest is that of the quickest way, the latest that of the slowest.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::inventory::{Conduit, ConduitKind, Inventory, LevelField, Shape, StructureKind};
use crate::network::locate::Place;
use crate::network::{ConduitFlow, ConduitIndex, Flow, NodeIndex, PieceIndex};
use crate::rules::{Hydraulics, Range, Section, StorageKind};

use super::{Ground, Metres, Trace, TraceOptions, Way, bridge_map, is_inflow, step};

/// How long water may take between a place on the way and the place of the trace, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Travel {
    /// No sooner than this.
    pub earliest_s: f64,
    /// No later than this; `None` where nothing bounds it: a storage holds it back, a length is unknown, a loop delays it.
    pub latest_s: Option<f64>,
}

impl Travel {
    /// At the place itself.
    pub const HERE: Travel = Travel { earliest_s: 0.0, latest_s: Some(0.0) };
    /// Nothing is known of how long it takes.
    pub const UNKNOWN: Travel = Travel { earliest_s: 0.0, latest_s: None };

    /// First this, then that.
    pub fn then(self, more: Travel) -> Travel {
        Travel { earliest_s: self.earliest_s + more.earliest_s, latest_s: self.latest_s.zip(more.latest_s).map(|(a, b)| a + b) }
    }

    /// Either of the two: what covers both.
    pub fn or(self, other: Travel) -> Travel {
        Travel { earliest_s: self.earliest_s.min(other.earliest_s), latest_s: self.latest_s.zip(other.latest_s).map(|(a, b)| a.max(b)) }
    }
}

/// Velocity of water in a full conduit by Manning's formula in metres: (1/n) R^(2/3) S^(1/2).
///
/// # Units
/// `radius_m` is the hydraulic radius in metres, `slope` metres for each metre; the result is metres for each second.
pub fn manning_m_per_s(n: f64, radius_m: f64, slope: f64) -> f64 {
    radius_m.powf(2.0 / 3.0) * slope.sqrt() / n
}

/// Velocity in a part-full circle over that in the full one, at the same slope and roughness.
///
/// With the angle t that the water surface spans at the centre, the wet area is D²(t − sin t)/8 and the wet perimeter D·t/2;
/// the hydraulic radius over that of the full circle, D/4, is therefore 1 − sin t / t, and velocity goes with its power 2/3.
///
/// ```
/// use headwall::trace::travel::circle_velocity_ratio;
/// assert!((circle_velocity_ratio(0.5) - 1.0).abs() < 1e-12);
/// assert!((circle_velocity_ratio(1.0) - 1.0).abs() < 1e-12);
/// ```
pub fn circle_velocity_ratio(depth_of_diameter: f64) -> f64 {
    let t = 2.0 * (1.0 - 2.0 * depth_of_diameter.clamp(0.0, 1.0)).acos();
    if t <= 0.0 { 0.0 } else { (1.0 - t.sin() / t).powf(2.0 / 3.0) }
}

/// Slowest and fastest velocity of water in a conduit, metres for each second.
pub fn velocity_m_per_s(hydraulics: &Hydraulics, conduit: &Conduit, flow: &ConduitFlow) -> Range {
    if conduit.pressurised || conduit.kind == ConduitKind::Pump {
        return hydraulics.pressurised_m_per_s;
    }
    let section = section_of(conduit);
    let n = hydraulics.roughness(conduit.material.word(), section);
    let slope = slope_of(hydraulics, conduit, flow);
    let (slow_radius_m, fast_radius_m, fast_ratio) = match section {
        Section::Open => (hydraulics.open_radius_m.low, hydraulics.open_radius_m.high, 1.0),
        Section::Closed => closed_radii_m(hydraulics, conduit),
    };
    Range { low: manning_m_per_s(n.high, slow_radius_m, slope.low), high: fast_ratio * manning_m_per_s(n.low, fast_radius_m, slope.high) }
}

fn section_of(conduit: &Conduit) -> Section {
    let open_kind = matches!(conduit.kind, ConduitKind::Ditch | ConduitKind::Channel | ConduitKind::Gutter);
    let closed_shape = matches!(conduit.shape, Shape::Circular | Shape::Elliptical | Shape::Box);
    if conduit.shape == Shape::Open || (open_kind && !closed_shape) { Section::Open } else { Section::Closed }
}

/// Hydraulic radius of a trickle, of a full section, and by how much the fastest depth outruns the full one.
fn closed_radii_m(hydraulics: &Hydraulics, conduit: &Conduit) -> (f64, f64, f64) {
    let metres = |mm: Option<f64>| mm.filter(|v| v.is_finite() && *v > 0.0).map(|v| v / 1000.0);
    let point = |m: f64| Range { low: m, high: m };
    let width = metres(conduit.diameter_mm).map_or(hydraulics.diameter_m, point);
    let height = match (conduit.shape, metres(conduit.height_mm)) {
        (_, Some(height_m)) => point(height_m),
        (Shape::Box | Shape::Elliptical, None) => {
            Range { low: width.low * hydraulics.height_of_width.low, high: width.high * hydraulics.height_of_width.high }
        }
        (_, None) => width,
    };
    if conduit.shape == Shape::Box {
        // A trickle over the floor; at the fastest, all but touching the roof: three sides are wet.
        let of = |w: f64, h: f64, depth: f64| w * h * depth / (w + 2.0 * h * depth);
        return (of(width.low, height.low, hydraulics.slowest_depth), of(width.high, height.high, 1.0), 1.0);
    }
    // An ellipse or arch lies between the circles of its lesser and its greater diameter.
    let (least_m, greatest_m) = (width.low.min(height.low), width.high.max(height.high));
    let slow = circle_velocity_ratio(hydraulics.slowest_depth).powf(1.5);
    (slow * least_m / 4.0, greatest_m / 4.0, hydraulics.fastest_of_full)
}

/// Slope between two known inverts of one datum, give or take their error; else the bounds.
fn slope_of(hydraulics: &Hydraulics, conduit: &Conduit, flow: &ConduitFlow) -> Range {
    let length_m: f64 = conduit.parts.iter().map(drawn_length_m).sum();
    let fall = flow.invert_up_m.zip(flow.invert_down_m).map(|(up, down)| up - down);
    let (Some(fall_m), true) = (fall, one_datum(conduit) && flow.flow != Flow::Unknown && length_m > 0.0) else {
        return hydraulics.slope;
    };
    if fall_m <= 0.0 {
        // Level or against the flow: how it runs is not known.
        return hydraulics.slope;
    }
    let high = (fall_m + hydraulics.fall_error_m) / length_m;
    let low = (fall_m - hydraulics.fall_error_m) / length_m;
    Range { low: if low > 0.0 { low } else { hydraulics.slope.low.min(high) }, high }
}

/// True where the levels at both ends of a conduit are measured from one vertical datum.
pub(crate) fn one_datum(conduit: &Conduit) -> bool {
    let datum = |field: &LevelField| field.given().map(|l| l.datum.clone());
    datum(&conduit.invert_from) == datum(&conduit.invert_to)
}

fn drawn_length_m(line: &geo::LineString) -> f64 {
    line.0.windows(2).map(|s| (s[1].x - s[0].x).hypot(s[1].y - s[0].y)).sum()
}

/// How long water takes over a stretch of a conduit.
pub fn along(hydraulics: &Hydraulics, inventory: &Inventory, flow: &ConduitFlow, conduit: ConduitIndex, length_m: f64) -> Travel {
    let conduit = &inventory.conduits[conduit.at()];
    if conduit.parts.is_empty() {
        return Travel::UNKNOWN;
    }
    let velocity = velocity_m_per_s(hydraulics, conduit, flow);
    // A main under pressure runs only while the pump does.
    let is_pumped = conduit.pressurised || conduit.kind == ConduitKind::Pump;
    let latest_s = (!is_pumped).then(|| length_m / velocity.low).filter(|s| s.is_finite());
    Travel { earliest_s: length_m / velocity.high, latest_s }
}

/// How long the structures at a node may hold water back.
pub fn hold(ground: Ground, node: NodeIndex) -> Travel {
    let mut total = Travel::HERE;
    for (_, structure) in ground.network.structures_at(ground.inventory, node) {
        let kind = match structure.kind {
            StructureKind::Pond => StorageKind::Pond,
            StructureKind::PumpStation => StorageKind::WetWell,
            _ if structure.sump_m.is_some_and(|depth_m| depth_m > 0.0) => StorageKind::Sump,
            _ => continue,
        };
        total = total.then(Travel { earliest_s: 0.0, latest_s: ground.hydraulics.longest_hold_s(kind) });
    }
    total
}

/// An arc of the traced part, from a node away from the place.
struct Arc {
    far: usize,
    takes: Travel,
}

/// Fills in how long water takes to or from every traced stretch, conduit, node and parcel.
pub(super) fn fill(ground: Ground, options: &TraceOptions, trace: &mut Trace) {
    let times = Times::find(ground, options, trace);
    let mut of_conduits: BTreeMap<ConduitIndex, Travel> = BTreeMap::new();
    for at in 0..trace.pieces.len() {
        let traced = trace.pieces[at];
        let near = match traced.near {
            Some(node) => times.through(trace, node),
            None => Travel::HERE,
        };
        trace.pieces[at].travel = near;
        let conduit = ground.network.piece(traced.piece).conduit;
        let whole = near.then(stretch(ground, conduit, traced.to_m - traced.from_m));
        let covers = Travel { earliest_s: near.earliest_s, latest_s: whole.latest_s };
        of_conduits.entry(conduit).and_modify(|known| *known = known.or(covers)).or_insert(covers);
    }
    for traced in &mut trace.conduits {
        traced.travel = of_conduits.get(&traced.conduit).copied().unwrap_or(Travel::UNKNOWN);
    }
    for (node, time) in trace.nodes.iter_mut().zip(&times.arrivals) {
        node.travel = *time;
    }
    let mut parcels = std::mem::take(&mut trace.parcels);
    for parcel in &mut parcels {
        if let Some(traced) = trace.piece(parcel.piece) {
            let beyond_m = (parcel.distance_m - traced.distance_m).max(0.0);
            parcel.travel = traced.travel.then(stretch(ground, ground.network.piece(parcel.piece).conduit, beyond_m));
        }
    }
    trace.parcels = parcels;
}

/// How long water takes over so many metres of a conduit.
pub(crate) fn stretch(ground: Ground, conduit: ConduitIndex, length_m: f64) -> Travel {
    along(ground.hydraulics, ground.inventory, ground.network.flow(conduit), conduit, length_m)
}

/// For each traced node the time between it and the place.
struct Times {
    arrivals: Vec<Travel>,
    /// The same with what the node itself holds back, for what comes through it.
    throughs: Vec<Travel>,
}

impl Times {
    fn through(&self, trace: &Trace, node: NodeIndex) -> Travel {
        let at = trace.nodes.binary_search_by_key(&node, |n| n.node);
        at.ok().and_then(|at| self.throughs.get(at)).copied().unwrap_or(Travel::UNKNOWN)
    }

    /// Upstream, a node's own storage delays its water before it sets out; downstream, it delays what leaves it. Either way the node at
    /// the place itself delays nothing upstream, and the last node delays nothing downstream, so that both ways tell the same time.
    fn find(ground: Ground, options: &TraceOptions, trace: &Trace) -> Times {
        let holds: Vec<Travel> = trace.nodes.iter().map(|n| hold(ground, n.node)).collect();
        let seeds = seeds(ground, trace);
        let bridges = if options.bridge_gaps { bridge_map(ground) } else { BTreeMap::new() };
        let arcs: Vec<Vec<Arc>> = trace.nodes.iter().map(|n| arcs_of(ground, options, trace, &bridges, n.node)).collect();
        let index = |node: NodeIndex| trace.nodes.binary_search_by_key(&node, |n| n.node).ok();
        let is_place = |at: usize| trace.place == Place::Node(trace.nodes[at].node);
        // Upstream: what is at a far node has its hold before it; downstream: what leaves the near node has.
        let on_leaving = |at: usize| if trace.way == Way::Down { holds[at] } else { Travel::HERE };
        let on_arriving = |at: usize| if trace.way == Way::Up && !is_place(at) { holds[at] } else { Travel::HERE };

        let count = trace.nodes.len();
        let mut earliest = vec![f64::INFINITY; count];
        let mut queue: BinaryHeap<Reverse<(Metres, usize)>> = BinaryHeap::new();
        for (node, takes) in &seeds {
            if let Some(at) = index(*node) {
                queue.push(Reverse((Metres(takes.earliest_s + on_arriving(at).earliest_s), at)));
            }
        }
        while let Some(Reverse((Metres(time_s), at))) = queue.pop() {
            if time_s >= earliest[at] {
                continue;
            }
            earliest[at] = time_s;
            for arc in &arcs[at] {
                let then_s = time_s + on_leaving(at).earliest_s + arc.takes.earliest_s + on_arriving(arc.far).earliest_s;
                if then_s < earliest[arc.far] {
                    queue.push(Reverse((Metres(then_s), arc.far)));
                }
            }
        }

        // The latest needs every way into a node first; what a loop feeds never comes to its turn and stays without a bound.
        let mut waits = vec![0usize; count];
        arcs.iter().flatten().for_each(|arc| waits[arc.far] += 1);
        let mut latest: Vec<Option<Option<f64>>> = vec![None; count];
        let slower = |known: Option<Option<f64>>, offered: Option<f64>| match known {
            None => Some(offered),
            Some(known) => Some(known.zip(offered).map(|(a, b)| a.max(b))),
        };
        for (node, takes) in &seeds {
            if let Some(at) = index(*node) {
                latest[at] = slower(latest[at], takes.then(on_arriving(at)).latest_s);
            }
        }
        let mut ready: Vec<usize> = (0..count).filter(|at| waits[*at] == 0).collect();
        let mut done = vec![false; count];
        while let Some(at) = ready.pop() {
            done[at] = true;
            for arc in &arcs[at] {
                let so_far = Travel { earliest_s: 0.0, latest_s: latest[at].flatten() };
                let offered = so_far.then(on_leaving(at)).then(arc.takes).then(on_arriving(arc.far)).latest_s;
                latest[arc.far] = slower(latest[arc.far], offered);
                waits[arc.far] -= 1;
                if waits[arc.far] == 0 {
                    ready.push(arc.far);
                }
            }
        }
        let arrivals: Vec<Travel> = (0..count)
            .map(|at| Travel {
                earliest_s: if earliest[at].is_finite() { earliest[at] } else { 0.0 },
                latest_s: if done[at] { latest[at].flatten() } else { None },
            })
            .collect();
        let throughs = arrivals.iter().enumerate().map(|(at, arrival)| arrival.then(on_leaving(at))).collect();
        Times { arrivals, throughs }
    }
}

/// Where the times begin: the place itself, or the ends of the stretch on which it lies.
fn seeds(ground: Ground, trace: &Trace) -> Vec<(NodeIndex, Travel)> {
    match trace.place {
        Place::Node(node) => vec![(node, Travel::HERE)],
        Place::OnPiece { piece, along_m } => {
            let ends = ground.network.piece(piece);
            let flow = ground.network.flow(ends.conduit).flow;
            let back = (ends.start, stretch(ground, ends.conduit, along_m - ends.from_m));
            let ahead = (ends.end, stretch(ground, ends.conduit, ends.to_m - along_m));
            match (flow, trace.way) {
                (Flow::Unknown, _) => vec![back, ahead],
                (Flow::WithDrawing, Way::Up) | (Flow::AgainstDrawing, Way::Down) => vec![back],
                (Flow::AgainstDrawing, Way::Up) | (Flow::WithDrawing, Way::Down) => vec![ahead],
            }
        }
    }
}

/// The arcs of the trace from a node away from the place, as the search itself took them.
fn arcs_of(
    ground: Ground,
    options: &TraceOptions,
    trace: &Trace,
    bridges: &BTreeMap<NodeIndex, Vec<(NodeIndex, f64)>>,
    node: NodeIndex,
) -> Vec<Arc> {
    let is_place = trace.place == Place::Node(node);
    let told_to_stop = options.stop_structures.iter().any(|s| ground.network.node_of(*s) == node);
    if told_to_stop || (trace.way == Way::Up && is_inflow(ground, node)) {
        return Vec::new();
    }
    let rank = |node: NodeIndex| trace.node(node).map(|n| (n.certainty, Metres(n.distance_m), n.node));
    let around: &[PieceIndex] = match trace.way {
        Way::Up => ground.network.arriving(node),
        Way::Down => ground.network.leaving(node),
    };
    let mut arcs = Vec::new();
    for &piece in around {
        let ends = ground.network.piece(piece);
        if ends.start == ends.end || step(ground, options, ends.conduit).is_none() || trace.piece(piece).is_none() {
            continue;
        }
        let far = ground.network.inlet_of(piece, node);
        // A conduit that may carry both ways is crossed once, away from the place: to and fro is no way.
        let both_ways = ground.network.flow(ends.conduit).flow == Flow::Unknown;
        if far_is_place(trace, far) || (both_ways && rank(far) < rank(node) && !is_place) {
            continue;
        }
        if let Ok(far) = trace.nodes.binary_search_by_key(&far, |n| n.node) {
            arcs.push(Arc { far, takes: stretch(ground, ends.conduit, ends.length_m()) });
        }
    }
    for (beyond, _) in bridges.get(&node).into_iter().flatten() {
        if let Ok(far) = trace.nodes.binary_search_by_key(beyond, |n| n.node)
            && rank(*beyond) > rank(node)
        {
            arcs.push(Arc { far, takes: Travel::UNKNOWN });
        }
    }
    arcs
}

/// What comes round to the place itself is seen there the first time.
fn far_is_place(trace: &Trace, far: NodeIndex) -> bool {
    trace.place == Place::Node(far)
}
