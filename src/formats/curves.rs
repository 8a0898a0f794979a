//! Which straight pieces stand for an arc? Enough that none leaves the arc by more than 3 mm.

use geo::Coord;

/// Largest distance between an arc and the pieces that stand for it, metres.
const SAGITTA_M: f64 = 0.003;

/// The largest angle of one piece where the unit of the coordinates is unknown or an angle (assumed).
const WIDEST_STEP: f64 = std::f64::consts::PI / 180.0;

/// More pieces than this are never made: a circle of 40 km radius needs about 8,000.
const MOST_PIECES: f64 = 20_000.0;

/// How finely arcs are followed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fineness {
    /// Metres in one unit of the coordinates; `None` where that is unknown.
    pub metres_per_unit: Option<f64>,
}

impl Fineness {
    fn step(self, radius: f64) -> f64 {
        // A degree is at most 111.3 km, so this is on the safe side for longitude and latitude.
        let sagitta = SAGITTA_M / self.metres_per_unit.unwrap_or(111_320.0);
        let cosine = 1.0 - sagitta / radius;
        if cosine <= -1.0 { std::f64::consts::PI } else { 2.0 * cosine.acos() }.clamp(1e-4, WIDEST_STEP)
    }
}

/// Appends the arc from `start` (already there) over `middle` to `end`; a start that is also the end makes a full circle.
pub(crate) fn push_arc(line: &mut Vec<Coord>, start: Coord, middle: Coord, end: Coord, fineness: Fineness) {
    if start == end {
        let centre = Coord { x: (start.x + middle.x) / 2.0, y: (start.y + middle.y) / 2.0 };
        push_turn(line, start, end, centre, std::f64::consts::TAU, fineness);
        return;
    }
    let Some(centre) = centre_of(start, middle, end) else {
        line.push(middle);
        line.push(end);
        return;
    };
    let angle = |c: Coord| (c.y - centre.y).atan2(c.x - centre.x);
    let turn = |from: f64, to: f64| (to - from).rem_euclid(std::f64::consts::TAU);
    let (a, b, c) = (angle(start), angle(middle), angle(end));
    let left = turn(a, c);
    let sweep = if turn(a, b) <= left { left } else { left - std::f64::consts::TAU };
    push_turn(line, start, end, centre, sweep, fineness);
}

/// Appends the arc round `centre` from `start` to `end`, shorter or longer way, clockwise or not.
pub(crate) fn push_arc_round(line: &mut Vec<Coord>, start: Coord, end: Coord, centre: Coord, clockwise: bool, fineness: Fineness) {
    let angle = |c: Coord| (c.y - centre.y).atan2(c.x - centre.x);
    let mut left = (angle(end) - angle(start)).rem_euclid(std::f64::consts::TAU);
    if start == end {
        left = std::f64::consts::TAU;
        let sweep = if clockwise { -left } else { left };
        push_turn(line, start, end, centre, sweep, fineness);
        return;
    }
    let sweep = if clockwise { left - std::f64::consts::TAU } else { left };
    push_turn(line, start, end, centre, sweep, fineness);
}

fn push_turn(line: &mut Vec<Coord>, start: Coord, end: Coord, centre: Coord, sweep: f64, fineness: Fineness) {
    let radius = (start.x - centre.x).hypot(start.y - centre.y);
    if !radius.is_finite() || radius <= 0.0 || !sweep.is_finite() {
        line.push(end);
        return;
    }
    let pieces = (sweep.abs() / fineness.step(radius)).ceil().clamp(1.0, MOST_PIECES);
    let first = (start.y - centre.y).atan2(start.x - centre.x);
    for piece in 1..pieces as usize {
        let at = first + sweep * piece as f64 / pieces;
        line.push(Coord { x: centre.x + radius * at.cos(), y: centre.y + radius * at.sin() });
    }
    line.push(end);
}

fn centre_of(a: Coord, b: Coord, c: Coord) -> Option<Coord> {
    // Relative to the first point: State Plane coordinates would lose the digits that matter.
    let (bx, by, cx, cy) = (b.x - a.x, b.y - a.y, c.x - a.x, c.y - a.y);
    let d = 2.0 * (bx * cy - by * cx);
    let scale = bx.hypot(by) * cx.hypot(cy);
    if d.abs() <= scale * 1e-9 {
        return None;
    }
    let (b2, c2) = (bx * bx + by * by, cx * cx + cy * cy);
    Some(Coord { x: a.x + (cy * b2 - by * c2) / d, y: a.y + (bx * c2 - cx * b2) / d })
}

/// Appends a cubic Bézier curve; the number of pieces follows the length of its control polygon.
pub(crate) fn push_bezier(line: &mut Vec<Coord>, start: Coord, first: Coord, second: Coord, end: Coord) {
    const PIECES: usize = 64;
    for piece in 1..PIECES {
        let t = piece as f64 / PIECES as f64;
        let u = 1.0 - t;
        let mix = |a: f64, b: f64, c: f64, d: f64| u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d;
        line.push(Coord { x: mix(start.x, first.x, second.x, end.x), y: mix(start.y, first.y, second.y, end.y) });
    }
    line.push(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_circle_stays_on_its_arc() {
        let (start, middle, end) = (Coord { x: 900_000.0, y: 0.0 }, Coord { x: 900_100.0, y: 100.0 }, Coord { x: 900_200.0, y: 0.0 });
        let mut line = vec![start];
        push_arc(&mut line, start, middle, end, Fineness { metres_per_unit: Some(0.3048) });
        assert_eq!(line.last(), Some(&end));
        for pair in line.windows(2) {
            let mid = Coord { x: (pair[0].x + pair[1].x) / 2.0, y: (pair[0].y + pair[1].y) / 2.0 };
            let off = 100.0 - (mid.x - 900_100.0).hypot(mid.y);
            assert!(off.abs() * 0.3048 < 0.0031, "{off}");
        }
        // Over the top, not under.
        assert!(line.iter().all(|c| c.y >= -1e-9));
    }

    #[test]
    fn three_places_in_a_row_are_straight() {
        let (a, b, c) = (Coord { x: 0.0, y: 0.0 }, Coord { x: 1.0, y: 1.0 }, Coord { x: 2.0, y: 2.0 });
        let mut line = vec![a];
        push_arc(&mut line, a, b, c, Fineness { metres_per_unit: Some(1.0) });
        assert_eq!(line, vec![a, b, c]);
    }
}
