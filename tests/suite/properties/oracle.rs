//! The rules of `tests/cases/README.md` once more, as plainly as they are written: everything compared with everything.

use geo::LineString;
use headwall::inventory::{Conduit, ConduitKind, FlowCode, Inventory, LevelField, NodeId, OutfallKind, Status, System};
use headwall::network::BuildOptions;
use headwall::settings::DirectionSource;
use headwall::trace::TraceOptions;

pub type At = [f64; 2];
const SAME_M: f64 = 0.001;

/// A stretch of a conduit between two nodes.
#[derive(Clone, Debug)]
pub struct Piece {
    pub conduit: usize,
    pub part: usize,
    pub from_m: f64,
    pub to_m: f64,
    pub start: usize,
    pub end: usize,
}

/// Which way water goes: with the drawing, against it, or nobody knows; and how sure (0 certain, 1 probable, 2 possible).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    pub with: Option<bool>,
    pub sureness: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// For each structure its node.
    pub structure_nodes: Vec<usize>,
    pub pieces: Vec<Piece>,
    pub flows: Vec<Flow>,
}

#[derive(Clone, Debug)]
struct End {
    conduit: usize,
    part: usize,
    last: bool,
    at: Option<At>,
    by_id: bool,
    node: Option<usize>,
    contested: bool,
}

pub fn away(a: At, b: At) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

pub fn length(line: &LineString) -> f64 {
    line.0.windows(2).map(|s| away([s[0].x, s[0].y], [s[1].x, s[1].y])).sum()
}

/// The nearest place on a line: how far along, how far away; the first of equals.
pub fn foot(line: &LineString, p: At) -> (f64, f64) {
    let (mut best, mut walked) = ((0.0, f64::INFINITY), 0.0);
    for s in line.0.windows(2) {
        let (a, b) = ([s[0].x, s[0].y], [s[1].x, s[1].y]);
        let long = away(a, b);
        let t = if long == 0.0 {
            0.0
        } else {
            (((p[0] - a[0]) * (b[0] - a[0]) + (p[1] - a[1]) * (b[1] - a[1])) / (long * long)).clamp(0.0, 1.0)
        };
        let d = away([a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])], p);
        if d < best.1 {
            best = (walked + t * long, d);
        }
        walked += long;
    }
    best
}

fn root(parents: &[usize], mut at: usize) -> usize {
    while parents[at] != at {
        at = parents[at];
    }
    at
}

fn unite(parents: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parents, a), root(parents, b));
    parents[a.max(b)] = a.min(b);
}

/// The structures that a node id names.
fn named(inventory: &Inventory, id: &NodeId) -> Vec<usize> {
    let Some(id) = id.named() else { return Vec::new() };
    let bears = |s: &headwall::inventory::Structure| *s.key.id == *id || s.also_known_as.as_deref() == Some(id);
    (0..inventory.structures.len()).filter(|s| bears(&inventory.structures[*s])).collect()
}

fn place(inventory: &Inventory, structure: usize) -> Option<At> {
    inventory.structures[structure].place.map(|p| [p.x(), p.y()])
}

/// Whether the from-node lies at the last vertex, and whether the ids tell at all.
fn ids_say(inventory: &Inventory, conduit: &Conduit) -> (bool, bool) {
    let (from, to) = (named(inventory, &conduit.node_from), named(inventory, &conduit.node_to));
    if from.is_empty() && to.is_empty() {
        return (false, false);
    }
    if conduit.parts.is_empty() {
        return (false, true);
    }
    let misfit = |structures: &[usize], last: bool| {
        let vertex = |line: &LineString| if last { line.0[line.0.len() - 1] } else { line.0[0] };
        let all = structures.iter().filter_map(|s| place(inventory, *s));
        all.flat_map(|p| conduit.parts.iter().map(move |l| away(p, [vertex(l).x, vertex(l).y]))).fold(f64::INFINITY, f64::min)
    };
    let sum = |reversed: bool| [misfit(&from, reversed), misfit(&to, !reversed)].into_iter().filter(|d| d.is_finite()).sum::<f64>();
    let (straight, reversed) = (sum(false), sum(true));
    let tells = (from.len() == 1 && to.len() == 1) || (straight - reversed).abs() > SAME_M;
    (reversed + SAME_M < straight, tells)
}

pub fn build(inventory: &Inventory, options: &BuildOptions) -> Graph {
    let tolerance = options.snap_tolerance_m;
    let structures = inventory.structures.len();
    // Every structure is a node; every end may become one.
    let mut ends: Vec<End> = Vec::new();
    for (c, conduit) in inventory.conduits.iter().enumerate() {
        for part in 0..conduit.parts.len().max(1) {
            for last in [false, true] {
                let at = conduit.parts.get(part).map(|l| if last { l.0[l.0.len() - 1] } else { l.0[0] }).map(|p| [p.x, p.y]);
                ends.push(End { conduit: c, part, last, at, by_id: false, node: None, contested: false });
            }
        }
    }
    // Ends joined by id.
    for (c, conduit) in inventory.conduits.iter().enumerate() {
        if !options.layer(conduit.key.layer).direction.contains(&DirectionSource::NodeIds) {
            continue;
        }
        let (reversed, _) = ids_say(inventory, conduit);
        for (id, last) in [(&conduit.node_from, reversed), (&conduit.node_to, !reversed)] {
            let [one] = named(inventory, id)[..] else { continue };
            let mut own: Vec<usize> = (0..ends.len()).filter(|e| ends[*e].conduit == c && ends[*e].last == last).collect();
            let far = |e: &usize| ends[*e].at.zip(place(inventory, one)).map_or(0.0, |(a, b)| away(a, b));
            own.sort_by(|a, b| far(a).total_cmp(&far(b)));
            ends[own[0]].by_id = true;
            ends[own[0]].node = Some(one);
        }
    }
    // An end goes to its nearest structure.
    for end in &mut ends {
        let (Some(at), false) = (end.at, end.by_id) else { continue };
        let mut near: Vec<(f64, usize)> = (0..structures)
            .filter_map(|s| Some((away(place(inventory, s)?, at), s)))
            .filter(|(d, s)| *d <= inventory.structures[*s].tolerance_m)
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        match near[..] {
            [] => {}
            [(d, s), ..] if near.len() == 1 || d <= SAME_M => end.node = Some(s),
            _ => end.contested = true,
        }
    }
    // What remains makes single-link clusters; contested ends are one place only where they coincide.
    let mut parents: Vec<usize> = (0..ends.len()).collect();
    for a in 0..ends.len() {
        for b in 0..a {
            let (Some(p), Some(q)) = (ends[a].at, ends[b].at) else { continue };
            let free = |e: &End| e.node.is_none();
            let reach = if ends[a].contested { SAME_M } else { tolerance };
            if free(&ends[a]) && free(&ends[b]) && ends[a].contested == ends[b].contested && away(p, q) <= reach {
                unite(&mut parents, a, b);
            }
        }
    }
    let mut node_of: Vec<usize> = vec![0; ends.len()];
    for e in 0..ends.len() {
        let own = structures + root(&parents, e);
        node_of[e] = ends[e].node.unwrap_or(own);
        if ends[e].node.is_some() || ends[e].contested {
            continue;
        }
        let mut reached: Vec<usize> = Vec::new();
        for member in (0..ends.len()).filter(|m| root(&parents, *m) == root(&parents, e)) {
            for other in ends.iter().filter(|o| !o.by_id) {
                if let (Some(p), Some(q), Some(s)) = (ends[member].at, other.at, other.node)
                    && away(p, q) <= tolerance
                {
                    reached.push(s);
                }
            }
        }
        reached.sort_unstable();
        reached.dedup();
        if let [one] = reached[..] {
            node_of[e] = one;
        }
    }
    // Side joins, all found on the lines as drawn.
    let has_end: Vec<bool> = (0..structures).map(|s| node_of.contains(&s)).collect();
    let mut who: Vec<(usize, At, f64, Option<usize>)> = Vec::new();
    for (e, end) in ends.iter().enumerate().filter(|(_, e)| !e.by_id) {
        if let Some(at) = end.at {
            who.push((node_of[e], at, tolerance, Some(e)));
        }
    }
    for s in (0..structures).filter(|s| !has_end[*s]) {
        if let Some(at) = place(inventory, s) {
            who.push((s, at, inventory.structures[s].tolerance_m, None));
        }
    }
    let mut merged: Vec<usize> = (0..structures + ends.len()).collect();
    let mut cuts: Vec<(usize, usize, f64, usize)> = Vec::new();
    let first_of = |c: usize, part: usize, last: bool| {
        let at = ends.iter().position(|e| (e.conduit, e.part, e.last) == (c, part, last));
        node_of[at.expect("every part has two ends")]
    };
    for (node, at, reach, end) in who {
        for (c, conduit) in inventory.conduits.iter().enumerate() {
            for (part, line) in conduit.parts.iter().enumerate() {
                if !options.join_sides || end.is_some_and(|e| (ends[e].conduit, ends[e].part) == (c, part)) {
                    continue;
                }
                let (along, d) = foot(line, at);
                if d > reach {
                    continue;
                }
                let rest = length(line) - along;
                if along > tolerance && rest > tolerance {
                    cuts.push((c, part, along, node));
                    continue;
                }
                let own = first_of(c, part, if along <= tolerance && rest <= tolerance { rest < along } else { rest <= tolerance });
                let (a, b) = (root(&merged, node), root(&merged, own));
                // Two structures are never one.
                if a >= structures || b >= structures {
                    unite(&mut merged, a, b);
                }
            }
        }
    }
    let mut graph = Graph { structure_nodes: (0..structures).map(|s| root(&merged, s)).collect(), ..Graph::default() };
    for (c, conduit) in inventory.conduits.iter().enumerate() {
        for part in 0..conduit.parts.len().max(1) {
            let (start, end) = (root(&merged, first_of(c, part, false)), root(&merged, first_of(c, part, true)));
            let mut own: Vec<(f64, usize)> = cuts.iter().filter(|k| (k.0, k.1) == (c, part)).map(|k| (k.2, root(&merged, k.3))).collect();
            own.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let (mut node, mut from_m) = (start, 0.0);
            for (along, joins) in own {
                if joins == node && along - from_m <= tolerance {
                    continue;
                }
                graph.pieces.push(Piece { conduit: c, part, from_m, to_m: along, start: node, end: joins });
                (node, from_m) = (joins, along);
            }
            let to_m = conduit.parts.get(part).map_or(0.0, length);
            graph.pieces.push(Piece { conduit: c, part, from_m, to_m, start: node, end });
        }
    }
    graph.flows = directions(inventory, options);
    graph
}

enum Says {
    Absent,
    Nothing,
    With(bool),
}

fn directions(inventory: &Inventory, options: &BuildOptions) -> Vec<Flow> {
    use DirectionSource::{Digitised, FlowField, Inverts, NodeIds};
    let level = |field: &LevelField| field.given().map(|l| l.value_m);
    // The levels of the conduits' own layer; its middle one is the upper of the two middle ones.
    let mut all: Vec<f64> = inventory.conduits.iter().flat_map(|c| [level(&c.invert_from), level(&c.invert_to)]).flatten().collect();
    all.sort_by(f64::total_cmp);
    let middle = all.get(all.len() / 2).copied();
    inventory
        .conduits
        .iter()
        .map(|conduit| {
            let layer = options.layer(conduit.key.layer);
            let sound = |field| level(field).filter(|v| middle.is_none_or(|m| (v - m).abs() <= layer.plausible_invert_within_m));
            let (reversed, tells) = ids_say(inventory, conduit);
            let says = |source: DirectionSource| match source {
                NodeIds if [&conduit.node_from, &conduit.node_to].iter().all(|n| **n == NodeId::NotMapped) => Says::Absent,
                NodeIds if tells => Says::With(!reversed),
                NodeIds => Says::Nothing,
                Inverts => {
                    let mapped = |f: &LevelField| *f != LevelField::NotMapped;
                    if conduit.pressurised || !(mapped(&conduit.invert_from) || mapped(&conduit.invert_to)) {
                        return Says::Absent;
                    }
                    let long: f64 = conduit.parts.iter().map(length).sum();
                    match (sound(&conduit.invert_from), sound(&conduit.invert_to)) {
                        (Some(from), Some(to)) if from != to && (conduit.parts.is_empty() || (from - to).abs() <= long.max(0.3048)) => {
                            Says::With((from > to) != (tells && reversed))
                        }
                        _ => Says::Nothing,
                    }
                }
                FlowField => match conduit.flow {
                    FlowCode::NotMapped => Says::Absent,
                    FlowCode::SaysNothing => Says::Nothing,
                    FlowCode::WithDrawing => Says::With(true),
                    FlowCode::AgainstDrawing => Says::With(false),
                },
                Digitised if conduit.parts.is_empty() => Says::Absent,
                Digitised => Says::With(true),
            };
            let (mut decided, mut assumed) = (None, false);
            for source in &layer.direction {
                match says(*source) {
                    Says::With(with) => {
                        decided = Some(with);
                        break;
                    }
                    Says::Nothing => assumed = true,
                    Says::Absent => {}
                }
            }
            let against = [NodeIds, Inverts, FlowField, Digitised]
                .into_iter()
                .any(|s| matches!((says(s), decided), (Says::With(other), Some(with)) if other != with));
            let sureness = if decided.is_none() { 2 } else { usize::from(assumed || against) };
            Flow { with: decided, sureness }
        })
        .collect()
}

/// Where a trace begins: at a node, or so far along a piece.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    Node(usize),
    On(usize, f64),
}

/// What an oracle's trace found: for each piece how sure and which stretches; for each node how sure and how far.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub pieces: Vec<Option<(usize, f64)>>,
    pub nodes: Vec<Option<(usize, f64)>>,
}

/// How sure a step through a conduit is; none where it is not entered.
pub fn step(inventory: &Inventory, graph: &Graph, options: &TraceOptions, c: usize) -> Option<usize> {
    let conduit = &inventory.conduits[c];
    let enters = (conduit.status == Status::Live || options.statuses.contains(&conduit.status))
        && conduit.system != System::Sanitary
        && (options.combined || conduit.system != System::Combined)
        && !options.stop_conduits.iter().any(|s| s.at() == c);
    let weak = conduit.status != Status::Live || conduit.kind == ConduitKind::Weir;
    enters.then(|| graph.flows[c].sureness.max(if weak { 2 } else { 0 }))
}

/// Total length of what intervals cover together.
fn covered(mut intervals: Vec<(f64, f64)>) -> f64 {
    intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut total, mut reached) = (0.0, f64::NEG_INFINITY);
    for (from, to) in intervals {
        total += (to - from.max(reached)).max(0.0);
        reached = reached.max(to);
    }
    total
}

/// All that water reaches the place from (`up`) or reaches from the place, by relaxing every arc until nothing changes.
pub fn trace(
    inventory: &Inventory,
    graph: &Graph,
    options: &TraceOptions,
    start: Start,
    up: bool,
    bridges: &[(usize, usize, f64)],
) -> Found {
    let count = graph.structure_nodes.len() + graph.pieces.iter().map(|p| p.start.max(p.end) + 1).max().unwrap_or(0);
    let most = options.max_distance_m.unwrap_or(f64::INFINITY);
    let mut stops = vec![false; count];
    for (s, node) in graph.structure_nodes.iter().enumerate() {
        let enters = inventory.structures[s].outfall_kind == Some(OutfallKind::InterconnectionIn);
        stops[*node] |= (up && enters) || options.stop_structures.iter().any(|o| o.at() == s);
    }
    // Arcs as walked: near node, far node, piece, whether it is entered at its start.
    let mut arcs: Vec<(usize, usize, usize, bool)> = Vec::new();
    for (p, piece) in graph.pieces.iter().enumerate() {
        let with = graph.flows[piece.conduit].with;
        if with != Some(up) {
            arcs.push((piece.start, piece.end, p, true));
        }
        if with != Some(!up) {
            arcs.push((piece.end, piece.start, p, false));
        }
    }
    let mut found = Found { pieces: vec![None; graph.pieces.len()], nodes: vec![None; count] };
    let mut stretches: Vec<Vec<(f64, f64)>> = vec![Vec::new(); graph.pieces.len()];
    for sureness in 0..3 {
        let mut far = vec![f64::INFINITY; count];
        match start {
            Start::Node(node) => far[node] = 0.0,
            Start::On(p, along) => {
                let piece = &graph.pieces[p];
                // Whoever names a place on a conduit means it, even one that is not to be entered.
                let free = TraceOptions { stop_conduits: Default::default(), ..options.clone() };
                let own = step(inventory, graph, &free, piece.conduit).unwrap_or(2);
                let with = graph.flows[piece.conduit].with;
                let mut leave = |node: usize, long: f64, from: f64, to: f64| {
                    stretches[p].push((from, to));
                    if own <= sureness && long <= most {
                        far[node] = far[node].min(long);
                    }
                };
                if with != Some(!up) {
                    leave(piece.start, along - piece.from_m, piece.from_m.max(along - most), along);
                }
                if with != Some(up) {
                    leave(piece.end, piece.to_m - along, along, piece.to_m.min(along + most));
                }
                let known = found.pieces[p].get_or_insert((own, 0.0));
                known.0 = known.0.min(own);
            }
        }
        loop {
            let mut changed = false;
            let mut offer = |far: &mut Vec<f64>, near: usize, beyond: usize, long: f64| {
                if far[near] + long < far[beyond] && far[near] + long <= most {
                    far[beyond] = far[near] + long;
                    changed = true;
                }
            };
            for &(near, beyond, p, _) in &arcs {
                let piece = &graph.pieces[p];
                let carries = step(inventory, graph, options, piece.conduit).is_some_and(|own| own <= sureness);
                if carries && !stops[near] && far[near].is_finite() {
                    offer(&mut far, near, beyond, piece.to_m - piece.from_m);
                }
            }
            for &(a, b, gap) in bridges.iter().filter(|_| sureness == 2) {
                for (near, beyond) in [(a, b), (b, a)] {
                    if !stops[near] && far[near].is_finite() {
                        offer(&mut far, near, beyond, gap);
                    }
                }
            }
            if !changed {
                break;
            }
        }
        for (node, d) in far.iter().enumerate().filter(|(_, d)| d.is_finite()) {
            found.nodes[node].get_or_insert((sureness, *d));
        }
        for &(near, _, p, at_start) in &arcs {
            let piece = &graph.pieces[p];
            let carries = step(inventory, graph, options, piece.conduit).is_some_and(|own| own <= sureness);
            if carries && !stops[near] && far[near].is_finite() {
                let reach = most - far[near];
                stretches[p].push(if at_start {
                    (piece.from_m, piece.to_m.min(piece.from_m + reach))
                } else {
                    (piece.from_m.max(piece.to_m - reach), piece.to_m)
                });
                found.pieces[p].get_or_insert((sureness, 0.0));
            }
        }
    }
    for (p, own) in stretches.into_iter().enumerate() {
        if let Some(known) = &mut found.pieces[p] {
            known.1 = covered(own);
        }
    }
    found
}

impl Graph {
    /// Cuts a piece at a place along its part, and gives the new node; the new piece takes the last place.
    pub fn cut(&mut self, piece: usize, along_m: f64) -> usize {
        let fresh = self.structure_nodes.len() + self.pieces.iter().map(|p| p.start.max(p.end) + 1).max().unwrap_or(0);
        let mut rest = self.pieces[piece].clone();
        (rest.from_m, rest.start) = (along_m, fresh);
        (self.pieces[piece].to_m, self.pieces[piece].end) = (along_m, fresh);
        self.pieces.push(rest);
        fresh
    }

    /// The piece of a conduit's part on which a place lies.
    pub fn piece_at(&self, conduit: usize, part: usize, along_m: f64) -> Option<usize> {
        self.pieces.iter().position(|p| (p.conduit, p.part) == (conduit, part) && along_m >= p.from_m && along_m <= p.to_m)
    }
}

/// For each traced conduit how sure it is and how much of it was traced.
pub fn by_conduit(graph: &Graph, found: &Found) -> std::collections::BTreeMap<usize, (usize, f64)> {
    let mut all = std::collections::BTreeMap::new();
    for (piece, found) in graph.pieces.iter().zip(&found.pieces) {
        let Some((sureness, length_m)) = *found else { continue };
        let own: &mut (usize, f64) = all.entry(piece.conduit).or_insert((sureness, 0.0));
        *own = (own.0.min(sureness), own.1 + length_m);
    }
    all
}
