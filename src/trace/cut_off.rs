//! What hangs on one conduit or node of a trace alone? The pieces that would be lost if it were not what the map says.
//!
//! The dominator tree of the traced part, from the place: what a piece dominates reaches the place through it only
//! (Cooper, Harvey and Kennedy's iteration, which is quick on what is nearly a forest).

use std::collections::{BTreeMap, BTreeSet};

use crate::network::locate::Place;
use crate::network::{ConduitIndex, NodeIndex, PieceIndex};

use super::{Ground, Trace, TraceOptions, Way, far_ends, side_of, stops_at};

/// The traced part as a graph of nodes and pieces, with its dominator tree.
pub(super) struct CutOff<'a> {
    trace: &'a Trace,
    node_vertex: BTreeMap<NodeIndex, u32>,
    edges: Vec<Vec<u32>>,
    dominator: Vec<u32>,
    /// Where each vertex stands in a walk over the dominator tree, and one past its last descendant.
    span: Vec<(u32, u32)>,
    /// The vertices in that walk.
    walk: Vec<u32>,
}

/// The vertex of the place itself.
const ROOT: u32 = 0;

/// No vertex: what the place does not reach has no dominator.
const NONE: u32 = u32::MAX;

impl<'a> CutOff<'a> {
    pub fn new(ground: Ground, options: &TraceOptions, trace: &'a Trace) -> Self {
        // Vertex 0 is the place, then the pieces, then the nodes.
        let pieces = trace.pieces.len() as u32;
        let node_vertex: BTreeMap<NodeIndex, u32> =
            trace.nodes.iter().enumerate().map(|(at, n)| (n.node, 1 + pieces + at as u32)).collect();
        let count = 1 + pieces as usize + trace.nodes.len();
        let mut edges: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (at, traced) in trace.pieces.iter().enumerate() {
            let vertex = 1 + at as u32;
            let piece = ground.network.piece(traced.piece);
            let link = |edges: &mut Vec<Vec<u32>>, near: u32, far: NodeIndex| {
                edges[near as usize].push(vertex);
                if let Some(far) = node_vertex.get(&far) {
                    edges[vertex as usize].push(*far);
                }
            };
            for near in [piece.start, piece.end] {
                let passes = match trace.way {
                    Way::Up => ground.network.arriving(near),
                    Way::Down => ground.network.leaving(near),
                };
                let leaves = passes.contains(&traced.piece) && !stops_at(ground, options, trace.way, near);
                if let Some(near_vertex) = node_vertex.get(&near).filter(|_| leaves) {
                    link(&mut edges, *near_vertex, ground.network.inlet_of(traced.piece, near));
                }
            }
            if matches!(trace.place, Place::OnPiece { piece, .. } if piece == traced.piece) {
                let (starts, stops) = far_ends(ground, trace.way, traced.piece);
                for far in [(starts, piece.start), (stops, piece.end)].into_iter().filter(|f| f.0) {
                    link(&mut edges, ROOT, far.1);
                }
            }
        }
        if options.bridge_gaps {
            for gap in &ground.network.gaps {
                if let Some((piece, _)) = side_of(ground, gap) {
                    let vertex = trace.pieces.binary_search_by_key(&piece, |p| p.piece).ok().map(|at| 1 + at as u32);
                    let (Some(side), Some(node)) = (vertex, node_vertex.get(&gap.from)) else { continue };
                    edges[side as usize].push(*node);
                    if !stops_at(ground, options, trace.way, gap.from) {
                        edges[*node as usize].push(side);
                        let (ends, (starts, stops)) = (ground.network.piece(piece), far_ends(ground, trace.way, piece));
                        let far = [(starts, ends.start), (stops, ends.end)].into_iter().filter(|f| f.0);
                        let far: Vec<u32> = far.filter_map(|f| node_vertex.get(&f.1).copied()).collect();
                        edges[side as usize].extend(far);
                    }
                    continue;
                }
                for (near, far) in [(gap.from, gap.to), (gap.to, gap.from)] {
                    if let (Some(a), Some(b), false) =
                        (node_vertex.get(&near), node_vertex.get(&far), stops_at(ground, options, trace.way, near))
                    {
                        edges[*a as usize].push(*b);
                    }
                }
            }
        }
        if let Place::Node(node) = trace.place
            && let Some(vertex) = node_vertex.get(&node)
        {
            edges[ROOT as usize].push(*vertex);
        }
        let (span, walk, dominator) = dominated_spans(&edges);
        CutOff { trace, node_vertex, edges, dominator, span, walk }
    }

    /// The traced pieces that reach the place through this conduit only, without its own.
    pub fn by_conduit(&self, ground: Ground, conduit: ConduitIndex) -> Vec<PieceIndex> {
        let own: BTreeSet<u32> = ground.network.pieces_of(conduit).filter_map(|at| self.vertex(PieceIndex::from_at(at))).collect();
        let mut common: Option<u32> = None;
        for vertex in own.iter().filter(|v| self.dominator[**v as usize] != NONE) {
            common = Some(common.map_or(*vertex, |known| self.common(known, *vertex)));
        }
        let Some(top) = common else { return Vec::new() };
        if own.len() == 1 {
            return self.below(top);
        }
        // All that hangs on several pieces together hangs on their common dominator: what it still reaches without them stays.
        let (from, to) = self.span[top as usize];
        let inside = |v: u32| (from..to).contains(&self.span[v as usize].0);
        let mut stays = BTreeSet::new();
        let mut to_do = if own.contains(&top) { Vec::new() } else { vec![top] };
        while let Some(vertex) = to_do.pop() {
            if stays.insert(vertex) {
                to_do.extend(self.edges[vertex as usize].iter().copied().filter(|v| inside(*v) && !own.contains(v)));
            }
        }
        let mut lost = self.below(top);
        lost.retain(|piece| self.vertex(*piece).is_some_and(|v| !stays.contains(&v) && !own.contains(&v)));
        lost
    }

    fn vertex(&self, piece: PieceIndex) -> Option<u32> {
        let at = self.trace.pieces.binary_search_by_key(&piece, |p| p.piece).ok()?;
        Some(1 + at as u32)
    }

    /// The nearest vertex whose span holds both.
    fn common(&self, mut a: u32, b: u32) -> u32 {
        let place = self.span[b as usize].0;
        while !(self.span[a as usize].0..self.span[a as usize].1).contains(&place) {
            a = self.dominator[a as usize];
        }
        a
    }

    /// The traced pieces that reach the place through this node only.
    pub fn by_node(&self, node: NodeIndex) -> Vec<PieceIndex> {
        self.node_vertex.get(&node).map(|v| self.below(*v)).unwrap_or_default()
    }

    /// How many vertices hang on a piece: a cheap measure of its weight.
    pub fn weight_of_piece(&self, piece: PieceIndex) -> u32 {
        let at = self.trace.pieces.binary_search_by_key(&piece, |p| p.piece);
        at.map_or(0, |at| self.span[at + 1].1 - self.span[at + 1].0)
    }

    fn below(&self, vertex: u32) -> Vec<PieceIndex> {
        let (from, to) = self.span[vertex as usize];
        let pieces = self.trace.pieces.len() as u32;
        let inside = self.walk.get(from as usize..to as usize).unwrap_or_default();
        let mut found: Vec<PieceIndex> = inside
            .iter()
            .filter(|v| **v != vertex && (1..=pieces).contains(*v))
            .map(|v| self.trace.pieces[*v as usize - 1].piece)
            .collect();
        found.sort_unstable();
        found
    }
}

/// For each vertex its span in a walk over the dominator tree of what the root reaches.
fn dominated_spans(edges: &[Vec<u32>]) -> (Vec<(u32, u32)>, Vec<u32>, Vec<u32>) {
    let count = edges.len();
    let mut rank = vec![NONE; count];
    let mut finished: Vec<u32> = Vec::with_capacity(count);
    let mut seen = vec![false; count];
    let mut path: Vec<(u32, usize)> = vec![(ROOT, 0)];
    seen[ROOT as usize] = true;
    while let Some(&mut (vertex, ref mut next)) = path.last_mut() {
        match edges[vertex as usize].get(*next) {
            Some(&to) => {
                *next += 1;
                if !seen[to as usize] {
                    seen[to as usize] = true;
                    path.push((to, 0));
                }
            }
            None => {
                rank[vertex as usize] = finished.len() as u32;
                finished.push(vertex);
                path.pop();
            }
        }
    }
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (from, to) in edges.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |t| (from as u32, *t))) {
        if seen[from as usize] {
            into[to as usize].push(from);
        }
    }
    let mut dominator = vec![NONE; count];
    dominator[ROOT as usize] = ROOT;
    let mut changed = true;
    while changed {
        changed = false;
        for &vertex in finished.iter().rev().filter(|v| **v != ROOT) {
            let mut best = NONE;
            for &from in &into[vertex as usize] {
                if dominator[from as usize] == NONE {
                    continue;
                }
                best = if best == NONE { from } else { meet(&dominator, &rank, best, from) };
            }
            if dominator[vertex as usize] != best {
                dominator[vertex as usize] = best;
                changed = true;
            }
        }
    }
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); count];
    for vertex in 1..count as u32 {
        if dominator[vertex as usize] != NONE {
            children[dominator[vertex as usize] as usize].push(vertex);
        }
    }
    let mut span = vec![(0, 0); count];
    let mut walk = Vec::with_capacity(count);
    let mut path: Vec<(u32, usize)> = vec![(ROOT, 0)];
    while let Some(&mut (vertex, ref mut next)) = path.last_mut() {
        if *next == 0 {
            span[vertex as usize].0 = walk.len() as u32;
            walk.push(vertex);
        }
        match children[vertex as usize].get(*next) {
            Some(&child) => {
                *next += 1;
                path.push((child, 0));
            }
            None => {
                span[vertex as usize].1 = walk.len() as u32;
                path.pop();
            }
        }
    }
    (span, walk, dominator)
}

/// The nearest vertex that dominates both.
fn meet(dominator: &[u32], rank: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while rank[a as usize] < rank[b as usize] {
            a = dominator[a as usize];
        }
        while rank[b as usize] < rank[a as usize] {
            b = dominator[b as usize];
        }
    }
    a
}
