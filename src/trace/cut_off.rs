//! What hangs on one conduit or node of a trace alone? The pieces that would be lost if it were not what the map says.
//!
//! The dominator tree of the traced part, from the place: what a piece dominates reaches the place through it only
//! (Cooper, Harvey and Kennedy's iteration, which is quick on what is nearly a forest).

use std::collections::BTreeMap;

use crate::network::{NodeIndex, PieceIndex};

use super::{Ground, Trace, Way};

/// The traced part as a graph of nodes and pieces, with its dominator tree.
pub(super) struct CutOff<'a> {
    trace: &'a Trace,
    node_vertex: BTreeMap<NodeIndex, u32>,
    /// Where each vertex stands in a walk over the dominator tree, and one past its last descendant.
    span: Vec<(u32, u32)>,
    /// The vertices in that walk.
    walk: Vec<u32>,
}

/// The vertex of the place itself.
const ROOT: u32 = 0;

impl<'a> CutOff<'a> {
    pub fn new(ground: Ground, trace: &'a Trace) -> Self {
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
                if let Some(near_vertex) = node_vertex.get(&near).filter(|_| passes.contains(&traced.piece)) {
                    link(&mut edges, *near_vertex, ground.network.inlet_of(traced.piece, near));
                }
            }
            if traced.near.is_none() {
                link(&mut edges, ROOT, piece.start);
                link(&mut edges, ROOT, piece.end);
            }
        }
        if let crate::network::locate::Place::Node(node) = trace.place
            && let Some(vertex) = node_vertex.get(&node)
        {
            edges[ROOT as usize].push(*vertex);
        }
        let (span, walk) = dominated_spans(&edges);
        CutOff { trace, node_vertex, span, walk }
    }

    /// The traced pieces that reach the place through this piece only, without itself.
    pub fn by_piece(&self, piece: PieceIndex) -> Vec<PieceIndex> {
        match self.trace.pieces.binary_search_by_key(&piece, |p| p.piece) {
            Ok(at) => self.below(1 + at as u32),
            Err(_) => Vec::new(),
        }
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
fn dominated_spans(edges: &[Vec<u32>]) -> (Vec<(u32, u32)>, Vec<u32>) {
    const NONE: u32 = u32::MAX;
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
    (span, walk)
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
