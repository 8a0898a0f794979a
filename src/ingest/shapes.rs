//! Which shape has a feature for its role? Lines for conduits, a point for a structure, valid outlines for land.

use geo::algorithm::bool_ops::FillRule;
use geo::algorithm::kernels::{Kernel, Orientation, RobustKernel};
use geo::orient::Direction;
use geo::{Area, BooleanOps, BoundingRect, Coord, Geometry, LineString, MultiPolygon, OpType, Orient, Point, Polygon};

/// The lines of a shape, also those inside a collection. A line of two equal vertices is one, of length zero.
pub(super) fn lines(shape: &Geometry) -> Vec<LineString> {
    let mut out = Vec::new();
    walk(shape, &mut |part| match part {
        Geometry::LineString(line) if line.0.len() > 1 => out.push(line.clone()),
        Geometry::Line(line) => out.push(LineString::from(vec![line.start, line.end])),
        Geometry::MultiLineString(lines) => out.extend(lines.0.iter().filter(|l| l.0.len() > 1).cloned()),
        _ => {}
    });
    out
}

/// The one place of a shape; `None` where it has none, or several.
pub(super) fn point(shape: &Geometry) -> Option<Point> {
    let mut points = Vec::new();
    walk(shape, &mut |part| match part {
        Geometry::Point(point) => points.push(*point),
        Geometry::MultiPoint(many) => points.extend(&many.0),
        _ => {}
    });
    let first = *points.first()?;
    points.iter().all(|p| *p == first).then_some(first)
}

/// The polygons of a shape, as drawn.
pub(super) fn polygons(shape: &Geometry) -> Option<MultiPolygon> {
    let mut out: Vec<Polygon> = Vec::new();
    walk(shape, &mut |part| match part {
        Geometry::Polygon(polygon) => out.push(polygon.clone()),
        Geometry::MultiPolygon(many) => out.extend(many.0.iter().cloned()),
        Geometry::Rect(rect) => out.push(rect.to_polygon()),
        Geometry::Triangle(triangle) => out.push(triangle.to_polygon()),
        _ => {}
    });
    out.retain(|p| p.exterior().0.len() > 3);
    (!out.is_empty()).then_some(MultiPolygon(out))
}

/// Collections are bounded in depth by the readers.
fn walk(shape: &Geometry, each: &mut impl FnMut(&Geometry)) {
    match shape {
        Geometry::GeometryCollection(parts) => parts.0.iter().for_each(|part| walk(part, each)),
        other => each(other),
    }
}

/// The word for a shape's type.
pub(super) fn type_word(shape: &Geometry) -> &'static str {
    match shape {
        Geometry::Point(_) => "Point",
        Geometry::Line(_) | Geometry::LineString(_) => "LineString",
        Geometry::MultiPoint(_) => "MultiPoint",
        Geometry::MultiLineString(_) => "MultiLineString",
        Geometry::Polygon(_) | Geometry::Rect(_) | Geometry::Triangle(_) => "Polygon",
        Geometry::MultiPolygon(_) => "MultiPolygon",
        Geometry::GeometryCollection(_) => "GeometryCollection",
    }
}

/// An outline fit for measuring, and the place where the drawn one crosses itself, if it does.
///
/// Exteriors run counter-clockwise, holes clockwise. Where the drawn rings cross, all that an odd number of them enclose is kept,
/// so that a bow tie keeps both its wings.
pub(super) fn outline(drawn: MultiPolygon) -> (MultiPolygon, Option<Coord>) {
    let Some(place) = doubtful(&drawn) else { return (drawn.orient(Direction::Default), None) };
    let enclosed = drawn.boolean_op_with_fill_rule(&MultiPolygon(vec![]), OpType::Union, FillRule::EvenOdd);
    let (before, after) = (drawn.unsigned_area(), enclosed.unsigned_area());
    // Rings that only touch enclose the same as they did: drawn oddly, but not wrong.
    if !place.crosses && (before - after).abs() <= 1e-6 * before.max(after) + 1e-3 {
        return (drawn.orient(Direction::Default), None);
    }
    if enclosed.0.is_empty() {
        return (drawn.orient(Direction::Default), Some(place.at));
    }
    (enclosed.orient(Direction::Default), Some(place.at))
}

struct Doubt {
    at: Coord,
    crosses: bool,
}

/// The first place where two edges that are no neighbours meet; one where they cross counts for more.
fn doubtful(shape: &MultiPolygon) -> Option<Doubt> {
    struct Edge {
        a: Coord,
        b: Coord,
        ring: usize,
        at: usize,
        of: usize,
    }
    let mut edges = Vec::new();
    let mut doubt: Option<Doubt> = None;
    let mut ring_number = 0;
    for polygon in &shape.0 {
        let outer = polygon.exterior().bounding_rect();
        for (index, ring) in std::iter::once(polygon.exterior()).chain(polygon.interiors()).enumerate() {
            let of = ring.0.len().saturating_sub(1);
            edges.extend(ring.lines().enumerate().filter(|(_, l)| l.start != l.end).map(|(at, l)| Edge {
                a: l.start,
                b: l.end,
                ring: ring_number,
                at,
                of,
            }));
            ring_number += 1;
            // A hole that reaches out of its outline.
            if index > 0
                && let (Some(outer), Some(inner)) = (outer, ring.bounding_rect())
                && (inner.min().x < outer.min().x
                    || inner.min().y < outer.min().y
                    || inner.max().x > outer.max().x
                    || inner.max().y > outer.max().y)
            {
                doubt.get_or_insert(Doubt { at: ring.0[0], crosses: true });
            }
        }
    }
    // Edges from left to right: each is compared only with those that begin before it ends.
    let low = |e: &Edge| e.a.x.min(e.b.x);
    let high = |e: &Edge| e.a.x.max(e.b.x);
    edges.sort_by(|p, q| low(p).total_cmp(&low(q)));
    for (index, edge) in edges.iter().enumerate() {
        let end = high(edge);
        for other in edges[index + 1..].iter().take_while(|o| low(o) <= end) {
            if edge.a.y.max(edge.b.y) < other.a.y.min(other.b.y) || other.a.y.max(other.b.y) < edge.a.y.min(edge.b.y) {
                continue;
            }
            // Neighbours share the vertex between them, and where equal vertices were skipped the shared one is the same still.
            let neighbours = edge.ring == other.ring
                && (edge.at.abs_diff(other.at) == 1 || edge.at.abs_diff(other.at) + 1 == edge.of)
                && (edge.a == other.b || edge.b == other.a);
            if neighbours {
                continue;
            }
            let side = turn;
            let (s1, s2) = (side(edge.a, edge.b, other.a), side(edge.a, edge.b, other.b));
            let (s3, s4) = (side(other.a, other.b, edge.a), side(other.a, other.b, edge.b));
            if s1 * s2 < 0 && s3 * s4 < 0 {
                return Some(Doubt { at: crossing(edge.a, edge.b, other.a, other.b), crosses: true });
            }
            if s1 * s2 <= 0 && s3 * s4 <= 0 {
                let at = if s1 == 0 {
                    other.a
                } else if s2 == 0 {
                    other.b
                } else if s3 == 0 {
                    edge.a
                } else {
                    edge.b
                };
                doubt.get_or_insert(Doubt { at, crosses: false });
            }
        }
    }
    doubt
}

/// Whether three places turn left (1), right (-1) or lie in a row (0); exact.
fn turn(p: Coord, q: Coord, r: Coord) -> i8 {
    match RobustKernel::orient2d(p, q, r) {
        Orientation::CounterClockwise => 1,
        Orientation::Clockwise => -1,
        Orientation::Collinear => 0,
    }
}

fn crossing(a: Coord, b: Coord, c: Coord, d: Coord) -> Coord {
    let (ab, cd) = (Coord { x: b.x - a.x, y: b.y - a.y }, Coord { x: d.x - c.x, y: d.y - c.y });
    let cross = ab.x * cd.y - ab.y * cd.x;
    let t = ((c.x - a.x) * cd.y - (c.y - a.y) * cd.x) / cross;
    if t.is_finite() { Coord { x: a.x + t * ab.x, y: a.y + t * ab.y } } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use geo::Winding;

    fn polygon(ring: &[(f64, f64)]) -> MultiPolygon {
        MultiPolygon(vec![Polygon::new(ring.to_vec().into(), vec![])])
    }

    #[test]
    fn a_bow_tie_keeps_both_wings() {
        let (outline, at) = outline(polygon(&[(0.0, 0.0), (10.0, 10.0), (10.0, 0.0), (0.0, 10.0)]));
        assert_eq!(at, Some(Coord { x: 5.0, y: 5.0 }));
        assert!((outline.unsigned_area() - 50.0).abs() < 1e-6);
        assert!(outline.0.iter().all(|p| p.exterior().is_ccw()));
        // The same with the crossing drawn as a vertex, so that no two edges cross.
        let (outline, at) = super::outline(polygon(&[(0.0, 0.0), (5.0, 5.0), (10.0, 10.0), (10.0, 0.0), (5.0, 5.0), (0.0, 10.0)]));
        assert!(at.is_some());
        assert!((outline.unsigned_area() - 50.0).abs() < 1e-6);
    }

    #[test]
    fn sound_outlines_stay_as_they_are() {
        let square = polygon(&[(0.0, 0.0), (0.0, 10.0), (10.0, 10.0), (10.0, 0.0)]);
        let (sound, at) = outline(square);
        assert!(at.is_none() && sound.0[0].exterior().is_ccw());
        // A hole that touches the outline at one place.
        let hole: LineString = vec![(0.0, 5.0), (2.0, 6.0), (2.0, 4.0), (0.0, 5.0)].into();
        let touching = MultiPolygon(vec![Polygon::new(vec![(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)].into(), vec![hole])]);
        let (touching, at) = outline(touching);
        assert!(at.is_none());
        assert!((touching.unsigned_area() - 98.0).abs() < 1e-9);
        // A vertex drawn twice.
        assert!(outline(polygon(&[(0.0, 0.0), (5.0, 0.0), (5.0, 0.0), (5.0, 5.0)])).1.is_none());
    }

    #[test]
    fn shapes_for_roles() {
        let two: Geometry = LineString::from(vec![(1.0, 1.0), (1.0, 1.0)]).into();
        assert_eq!(lines(&two).len(), 1);
        assert_eq!(point(&geo::MultiPoint::from(vec![(1.0, 2.0)]).into()), Some(Point::new(1.0, 2.0)));
        assert_eq!(point(&geo::MultiPoint::from(vec![(1.0, 2.0), (3.0, 4.0)]).into()), None);
        let mixed = Geometry::GeometryCollection(geo::GeometryCollection(vec![two, Point::new(0.0, 0.0).into()]));
        assert_eq!(lines(&mixed).len(), 1);
        assert!(polygons(&mixed).is_none());
    }
}
