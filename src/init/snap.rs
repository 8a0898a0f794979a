//! How far apart are ends that belong together? What each tolerance would join, and the false loops it would make.

use std::collections::{BTreeMap, BTreeSet};

use geo::Coord;

use super::look::{Line, distance};

/// What one tolerance would do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SnapStep {
    /// The tolerance, feet.
    pub tolerance_ft: f64,
    /// Ends that lie with another end or a structure within it.
    pub joined: usize,
    /// Groups of conduits that hang together.
    pub groups: usize,
    /// Loops that the smallest tolerance does not make; lines shorter than the tolerance among them.
    pub false_loops: usize,
    /// Lines whose two ends would become one.
    pub collapsed: usize,
}

/// The steps that are tried, feet.
pub const STEPS_FT: [f64; 6] = [0.01, 0.1, 0.5, 1.0, 2.0, 5.0];

/// Tries each tolerance on the ends of lines and the places of structures.
pub(super) fn steps(lines: &[Line], structures: &[Coord]) -> Vec<SnapStep> {
    let mut out: Vec<SnapStep> = Vec::new();
    let mut first_loops = 0;
    for (step, tolerance_ft) in STEPS_FT.into_iter().enumerate() {
        let tolerance = tolerance_ft * 0.3048;
        let mut places: Vec<Coord> = lines.iter().flat_map(|l| [l.first, l.last]).collect();
        let ends = places.len();
        places.extend(structures);
        let mut sets = Sets::new(places.len());
        let mut cells: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
        let cell = |c: Coord| ((c.x / tolerance).floor() as i64, (c.y / tolerance).floor() as i64);
        for (at, place) in places.iter().enumerate() {
            cells.entry(cell(*place)).or_default().push(at);
        }
        let mut joined = 0;
        for (at, place) in places.iter().enumerate() {
            let (x, y) = cell(*place);
            let mut has_other = false;
            for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
                for &other in cells.get(&(x + dx, y + dy)).into_iter().flatten() {
                    // Two structures stay two.
                    if other != at && !(at >= ends && other >= ends) && distance(*place, places[other]) <= tolerance {
                        sets.join(at, other);
                        has_other |= at / 2 != other / 2 || other >= ends;
                    }
                }
            }
            joined += usize::from(at < ends && has_other);
        }
        let nodes = (0..ends).map(|at| sets.find(at)).collect::<BTreeSet<_>>().len();
        let collapsed = (0..lines.len()).filter(|l| sets.find(2 * l) == sets.find(2 * l + 1)).count();
        let mut whole = Sets::new(places.len());
        for at in 0..places.len() {
            let root = sets.find(at);
            whole.join(at, root);
        }
        for line in 0..lines.len() {
            whole.join(2 * line, 2 * line + 1);
        }
        let groups = (0..ends).map(|at| whole.find(at)).collect::<BTreeSet<_>>().len();
        let loops = (lines.len() + groups).saturating_sub(nodes);
        if step == 0 {
            first_loops = loops;
        }
        out.push(SnapStep { tolerance_ft, joined, groups, false_loops: loops.saturating_sub(first_loops), collapsed });
    }
    out
}

/// Sets that are joined.
struct Sets(Vec<usize>);

impl Sets {
    fn new(count: usize) -> Self {
        Sets((0..count).collect())
    }

    fn find(&mut self, at: usize) -> usize {
        let mut root = at;
        while self.0[root] != root {
            root = self.0[root];
        }
        let mut next = at;
        while self.0[next] != root {
            next = std::mem::replace(&mut self.0[next], root);
        }
        root
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        // The smaller one stays the root, so that the order of joins changes nothing.
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        self.0[high] = low;
    }
}
