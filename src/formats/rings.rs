//! Which rings are outlines and which are holes? Decided by what lies in what, never by winding or order.
//!
//! Shapefiles and Esri JSON mark holes by winding alone, and real files wind them either way.

use geo::coordinate_position::{CoordPos, coord_pos_relative_to_ring};
use geo::{Area, BoundingRect, Coord, Intersects, LineString, MultiPolygon, Polygon, Rect};

struct Ring {
    line: LineString,
    bounds: Rect,
    area: f64,
    depth: usize,
    parent: Option<usize>,
}

/// Polygons from rings in any order and winding: a ring inside an even number of others is an outline, inside an odd number a hole.
///
/// Rings with fewer than three different places enclose nothing and are left out.
pub(crate) fn polygons_from_rings(rings: Vec<LineString>) -> MultiPolygon {
    if rings.len() == 1 {
        // Nearly every parcel: no search, no copy.
        return MultiPolygon(rings.into_iter().filter(encloses).map(|line| Polygon::new(line, vec![])).collect());
    }
    let mut rings: Vec<Ring> = rings
        .into_iter()
        .filter(encloses)
        .filter_map(|mut line| {
            line.close();
            let bounds = line.bounding_rect()?;
            let area = Polygon::new(line.clone(), vec![]).unsigned_area();
            Some(Ring { line, bounds, area, depth: 0, parent: None })
        })
        .collect();
    // Larger first, so that whatever holds a ring stands before it; the sort is stable.
    rings.sort_by(|a, b| b.area.total_cmp(&a.area));
    for at in 1..rings.len() {
        let (larger, rest) = rings.split_at_mut(at);
        let ring = &mut rest[0];
        for (index, outer) in larger.iter().enumerate() {
            if outer.area > ring.area && holds(outer, ring) {
                ring.depth += 1;
                ring.parent = Some(index);
            }
        }
    }
    let mut place = vec![usize::MAX; rings.len()];
    let mut polygons: Vec<(LineString, Vec<LineString>)> = Vec::new();
    for at in 0..rings.len() {
        let line = std::mem::replace(&mut rings[at].line, LineString::new(vec![]));
        match rings[at].parent {
            Some(parent) if rings[at].depth % 2 == 1 && place[parent] != usize::MAX => polygons[place[parent]].1.push(line),
            _ => {
                place[at] = polygons.len();
                polygons.push((line, Vec::new()));
            }
        }
    }
    MultiPolygon(polygons.into_iter().map(|(outer, holes)| Polygon::new(outer, holes)).collect())
}

fn encloses(line: &LineString) -> bool {
    let Some(first) = line.0.first() else { return false };
    let Some(second) = line.0.iter().find(|c| *c != first) else { return false };
    line.0.iter().any(|c| c != first && c != second)
}

/// Whether the inner ring lies in the outer one.
fn holds(outer: &Ring, inner: &Ring) -> bool {
    if !outer.bounds.intersects(&inner.bounds) {
        return false;
    }
    let corners = inner.line.0.iter().copied();
    // Where every vertex lies on the outer ring, the middle of an edge may still tell.
    let middles = inner.line.lines().map(|edge| Coord { x: (edge.start.x + edge.end.x) / 2.0, y: (edge.start.y + edge.end.y) / 2.0 });
    // The first place that is off the outer ring decides, since the rings of one shape do not cross.
    for place in corners.chain(middles) {
        match coord_pos_relative_to_ring(place, &outer.line) {
            CoordPos::Inside => return true,
            CoordPos::Outside => return false,
            CoordPos::OnBoundary => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f64, y: f64, side: f64, reverse: bool) -> LineString {
        let mut ring = vec![(x, y), (x + side, y), (x + side, y + side), (x, y + side), (x, y)];
        if reverse {
            ring.reverse();
        }
        ring.into()
    }

    #[test]
    fn winding_and_order_do_not_matter() {
        for reverse in [false, true] {
            // Hole first, an island in the hole, and a piece apart.
            let rings = vec![
                square(2.0, 2.0, 6.0, reverse),
                square(4.0, 4.0, 1.0, false),
                square(0.0, 0.0, 10.0, false),
                square(20.0, 0.0, 3.0, reverse),
            ];
            let shape = polygons_from_rings(rings);
            assert_eq!(shape.0.len(), 3);
            assert!((shape.unsigned_area() - (100.0 - 36.0 + 1.0 + 9.0)).abs() < 1e-9);
        }
    }

    #[test]
    fn a_ring_of_nothing_is_left_out() {
        assert!(polygons_from_rings(vec![vec![(0.0, 0.0), (1.0, 1.0), (0.0, 0.0)].into()]).0.is_empty());
        assert!(polygons_from_rings(vec![]).0.is_empty());
    }
}
