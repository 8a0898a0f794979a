//! Which points lie near a place? Points sorted by row and column of a grid, so that a window is one run for each row.

/// Points of one kind, looked up by window.
pub(super) struct PointGrid {
    cell: f64,
    low: [f64; 2],
    /// For each row its first entry; one more at the end.
    rows: Vec<u32>,
    /// Column, point and its number, sorted by row, then column, then number.
    entries: Vec<(u32, [f64; 2], u32)>,
}

/// More rows than this cost more to walk than they spare.
const MOST_ROWS: f64 = 65_536.0;

impl PointGrid {
    /// A grid over numbered points; `reach` is the usual half width of a window, metres.
    pub fn new(points: impl Iterator<Item = (u32, [f64; 2])> + Clone, reach: f64) -> Self {
        let (mut low, mut high, mut count) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2], 0usize);
        for (_, p) in points.clone() {
            for axis in 0..2 {
                low[axis] = low[axis].min(p[axis]);
                high[axis] = high[axis].max(p[axis]);
            }
            count += 1;
        }
        if count == 0 {
            return PointGrid { cell: 1.0, low: [0.0; 2], rows: vec![0, 0], entries: Vec::new() };
        }
        let (width, height) = (high[0] - low[0], high[1] - low[1]);
        let by_density = (width * height / count as f64).sqrt();
        let cell = by_density.max(2.0 * reach).max(height / MOST_ROWS).max(width / f64::from(u32::MAX)).max(1e-6);
        let row_of = |p: [f64; 2]| ((p[1] - low[1]) / cell) as u32;
        let mut tagged: Vec<(u32, u32, [f64; 2], u32)> =
            points.map(|(number, p)| (row_of(p), ((p[0] - low[0]) / cell) as u32, p, number)).collect();
        tagged.sort_unstable_by_key(|&(row, column, _, number)| (row, column, number));
        let mut rows = vec![0u32; tagged.last().map_or(1, |t| t.0 as usize + 2)];
        for t in &tagged {
            rows[t.0 as usize + 1] += 1;
        }
        for row in 1..rows.len() {
            rows[row] += rows[row - 1];
        }
        PointGrid { cell, low, rows, entries: tagged.into_iter().map(|(_, column, p, number)| (column, p, number)).collect() }
    }

    /// Calls `found` with every point in the window.
    pub fn window(&self, low: [f64; 2], high: [f64; 2], mut found: impl FnMut(u32, [f64; 2])) {
        let clamp = |v: f64| v.clamp(0.0, f64::from(u32::MAX)) as u32;
        let row_low = clamp((low[1] - self.low[1]) / self.cell);
        let row_high = clamp((high[1] - self.low[1]) / self.cell).min((self.rows.len() as u32).saturating_sub(2));
        if high[0] < self.low[0] || high[1] < self.low[1] {
            return;
        }
        let column_low = clamp((low[0] - self.low[0]) / self.cell);
        let column_high = clamp((high[0] - self.low[0]) / self.cell);
        for row in row_low..=row_high {
            let Some(run) = self.entries.get(self.rows[row as usize] as usize..self.rows[row as usize + 1] as usize) else { continue };
            let begin = run.partition_point(|e| e.0 < column_low);
            for &(column, p, number) in &run[begin..] {
                if column > column_high {
                    break;
                }
                if p[0] >= low[0] && p[0] <= high[0] && p[1] >= low[1] && p[1] <= high[1] {
                    found(number, p);
                }
            }
        }
    }

    /// Calls `found` with every point within a distance, and the distance.
    pub fn within(&self, centre: [f64; 2], distance_m: f64, mut found: impl FnMut(u32, f64)) {
        self.window([centre[0] - distance_m, centre[1] - distance_m], [centre[0] + distance_m, centre[1] + distance_m], |number, p| {
            let d = distance(centre, p);
            if d <= distance_m {
                found(number, d);
            }
        });
    }
}

impl PointGrid {
    /// The nearest point, and how far it is; ties to the smaller number.
    pub fn nearest(&self, centre: [f64; 2]) -> Option<(u32, f64)> {
        if self.entries.is_empty() {
            return None;
        }
        let mut reach_m = self.cell;
        loop {
            let mut best: Option<(f64, u32)> = None;
            self.within(centre, reach_m, |number, d| {
                if best.is_none_or(|b| (d, number) < b) {
                    best = Some((d, number));
                }
            });
            if let Some((d, number)) = best {
                return Some((number, d));
            }
            if reach_m > 1e12 {
                return None;
            }
            reach_m *= 2.0;
        }
    }
}

/// Planar distance, metres.
pub(super) fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_a_plain_search_finds(points in prop::collection::vec((-50.0..50.0f64, -50.0..50.0f64), 0..60),
                                           centre in (-60.0..60.0f64, -60.0..60.0f64), reach in 0.0..30.0f64) {
            let points: Vec<[f64; 2]> = points.into_iter().map(|(x, y)| [x, y]).collect();
            let centre = [centre.0, centre.1];
            let grid = PointGrid::new(points.iter().enumerate().map(|(n, p)| (n as u32, *p)), 1.0);
            let mut found = Vec::new();
            grid.within(centre, reach, |n, _| found.push(n));
            found.sort_unstable();
            let plain: Vec<u32> = (0..points.len() as u32).filter(|n| distance(points[*n as usize], centre) <= reach).collect();
            prop_assert_eq!(found, plain);
        }
    }
}
