//! Where does the village stand? A street plan of straight rows and columns, bent a little corner by corner, and the ground under it.
//!
//! Everything is laid out on the *plan*: `u` to the east and `v` to the north, in feet, with an avenue every [`COLUMN`] feet and a
//! street every [`ROW`]. [`Ground::place`] turns plan into map coordinates (EPSG:2261, US survey feet, rounded to 0.01 ft), so
//! that streets, pipes and lots bend together. Only `+ - * /` are used, which give the same bits on every machine.

use super::random::Chance;

/// Feet between avenues.
pub(super) const COLUMN: f64 = 640.0;
/// Feet between streets.
pub(super) const ROW: f64 = 560.0;
/// Avenues, numbered from the lake.
pub(super) const AVENUES: i32 = 10;
/// Streets, numbered from the south.
pub(super) const STREETS: i32 = 9;

const MARGIN: i32 = 4;
const CENTRE: [f64; 2] = [912_000.0, 968_000.0];
/// The plan is turned by some eight degrees; written as numbers, since sine and cosine may differ between machines.
const TURN: [f64; 2] = [0.990_27, 0.139_17];
const BROOK_STEP: f64 = 128.0;
const BROOK_POINTS: i32 = 56;
/// Water level of the lake, feet.
pub(super) const LAKE_LEVEL: f64 = 402.0;

/// A place on the plan.
pub(super) type Plan = [f64; 2];
/// A place on the map, EPSG:2261.
pub(super) type Map = [f64; 2];

/// The bent plan and the ground.
pub(super) struct Ground {
    bends: Vec<[f64; 2]>,
    brook: Vec<f64>,
}

impl Ground {
    pub(super) fn new(seed: u64) -> Self {
        let mut chance = Chance::new(seed, 1);
        let count = (AVENUES + 2 * MARGIN) * (STREETS + 2 * MARGIN);
        let bends = (0..count).map(|_| [chance.between(-20.0, 20.0), chance.between(-16.0, 16.0)]).collect();
        let mut chance = Chance::new(seed, 2);
        let brook = (0..BROOK_POINTS).map(|_| 4.5 * ROW + chance.between(-26.0, 26.0)).collect();
        Ground { bends, brook }
    }

    fn bend(&self, column: i32, row: i32) -> [f64; 2] {
        let column = (column + MARGIN).clamp(0, AVENUES + 2 * MARGIN - 1);
        let row = (row + MARGIN).clamp(0, STREETS + 2 * MARGIN - 1);
        self.bends.get((row * (AVENUES + 2 * MARGIN) + column) as usize).copied().unwrap_or_default()
    }

    /// Map coordinates of a place on the plan, rounded to 0.01 ft.
    pub(super) fn place(&self, [u, v]: Plan) -> Map {
        let (column, row) = ((u / COLUMN).floor(), (v / ROW).floor());
        let (s, t) = (u / COLUMN - column, v / ROW - row);
        let (i, j) = (column as i32, row as i32);
        let corners = [self.bend(i, j), self.bend(i + 1, j), self.bend(i, j + 1), self.bend(i + 1, j + 1)];
        let mix = |axis: usize| {
            let low = corners[0][axis] * (1.0 - s) + corners[1][axis] * s;
            let high = corners[2][axis] * (1.0 - s) + corners[3][axis] * s;
            low * (1.0 - t) + high * t
        };
        let (u, v) = (u + mix(0) - COLUMN * 4.5, v + mix(1) - ROW * 4.0);
        [hundredths(CENTRE[0] + u * TURN[0] - v * TURN[1]), hundredths(CENTRE[1] + u * TURN[1] + v * TURN[0])]
    }

    /// Map coordinates of several places.
    pub(super) fn line(&self, plan: &[Plan]) -> Vec<Map> {
        plan.iter().map(|p| self.place(*p)).collect()
    }

    /// The brook's `v` at a `u` of the plan.
    pub(super) fn brook(&self, u: f64) -> f64 {
        let along = ((u + COLUMN) / BROOK_STEP).clamp(0.0, f64::from(BROOK_POINTS - 2));
        let before = along.floor();
        let at = |k: f64| self.brook.get(k as usize).copied().unwrap_or(4.5 * ROW);
        let share = along - before;
        at(before) * (1.0 - share) + at(before + 1.0) * share
    }

    /// The brook from one `u` down to a lower one, with all its bends between them.
    pub(super) fn brook_line(&self, from: f64, to: f64) -> Vec<Plan> {
        let mut line = vec![[from, self.brook(from)]];
        for k in (0..BROOK_POINTS).rev() {
            let u = f64::from(k) * BROOK_STEP - COLUMN;
            if u < from && u > to {
                line.push([u, self.brook(u)]);
            }
        }
        line.push([to, self.brook(to)]);
        line
    }

    /// Bed of the brook, feet.
    pub(super) fn bed(&self, u: f64) -> f64 {
        LAKE_LEVEL - 1.0 + 0.0055 * (u + 330.0)
    }

    /// Level of the ground, feet: it rises from the lake and away from the brook.
    pub(super) fn level(&self, [u, v]: Plan) -> f64 {
        let away = v - self.brook(u);
        let away = if away < 0.0 { -away } else { away };
        self.bed(u) + 6.5 + 0.0115 * away
    }
}

/// Rounds to 0.01.
pub(super) fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Distance between two places on the map, feet.
pub(super) fn distance(a: Map, b: Map) -> f64 {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    (dx * dx + dy * dy).sqrt()
}
