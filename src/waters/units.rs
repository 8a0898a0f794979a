//! Which assessment units does a stretch of water pass? By the shapes of the units: lines that run along it, areas that hold it, points on it.

use geo::{BoundingRect, Contains, Distance, Euclidean, InteriorPoint, Intersects, MultiPolygon, Point};
use rstar::primitives::{GeomWithData, Line, Rectangle};
use rstar::{AABB, PointDistance, RTree};

use crate::inventory::Inventory;

use super::course::{Reach, off_area, place_along};

/// A unit on a stretch of a reach, metres along it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitStretch {
    /// The unit's shape, by its place in the inventory's list.
    pub unit: usize,
    /// Where it begins.
    pub from_m: f64,
    /// Where it ends.
    pub to_m: f64,
}

/// The shapes of units by place.
#[derive(Debug, Default)]
pub struct UnitShapes {
    segments: RTree<GeomWithData<Line<[f64; 2]>, usize>>,
    areas: RTree<GeomWithData<Rectangle<[f64; 2]>, usize>>,
    points: RTree<GeomWithData<[f64; 2], usize>>,
    within_m: f64,
}

/// Most places at which a reach is compared with units.
const MOST_SAMPLES: f64 = 400.0;

/// A line that runs along a water for so many times the distance is that water, and not one that merely joins it (assumed).
const RUNS_ALONG: f64 = 4.0;

impl UnitShapes {
    pub(super) fn new(inventory: &Inventory, within_m: f64) -> Self {
        let (mut segments, mut areas, mut points) = (Vec::new(), Vec::new(), Vec::new());
        for (at, unit) in inventory.units.iter().enumerate() {
            for line in unit.course.iter().flat_map(|c| &c.0) {
                segments.extend(line.0.windows(2).map(|s| GeomWithData::new(Line::new([s[0].x, s[0].y], [s[1].x, s[1].y]), at)));
            }
            if let Some(b) = unit.shore.as_ref().and_then(BoundingRect::bounding_rect) {
                areas.push(GeomWithData::new(Rectangle::from_corners([b.min().x, b.min().y], [b.max().x, b.max().y]), at));
            }
            points.extend(unit.points.iter().map(|p| GeomWithData::new([p.x(), p.y()], at)));
        }
        UnitShapes { segments: RTree::bulk_load(segments), areas: RTree::bulk_load(areas), points: RTree::bulk_load(points), within_m }
    }

    fn areas_near<'a>(&'a self, inventory: &'a Inventory, place: Point, within_m: f64) -> impl Iterator<Item = (usize, f64)> + 'a {
        let window = AABB::from_corners([place.x() - within_m, place.y() - within_m], [place.x() + within_m, place.y() + within_m]);
        let areas = self.areas.locate_in_envelope_intersecting(window);
        areas.filter_map(move |a| Some((a.data, off_area(inventory.units[a.data].shore.as_ref()?, place)))).filter(move |a| a.1 <= within_m)
    }

    /// The units whose shape lies within a distance of a place, with the distance, nearest first.
    pub fn near(&self, inventory: &Inventory, place: Point, within_m: f64) -> Vec<(usize, f64)> {
        let at = [place.x(), place.y()];
        let squared = within_m.powi(2);
        let mut found: Vec<(usize, f64)> = self.areas_near(inventory, place, within_m).collect();
        found.extend(self.segments.locate_within_distance(at, squared).map(|s| (s.data, s.geom().distance_2(&at).sqrt())));
        found.extend(self.points.locate_within_distance(at, squared).map(|p| (p.data, p.geom().distance_2(&at).sqrt())));
        found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        found.dedup_by_key(|f| f.0);
        found.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        found
    }

    /// The stretches of a reach on which units lie.
    pub(super) fn along(&self, inventory: &Inventory, reach: &Reach) -> Vec<UnitStretch> {
        let mut found: Vec<UnitStretch> = Vec::new();
        // The water's own record says which unit it is.
        if let Some(named) = &inventory.waters[reach.water].unit {
            let of_name = inventory.units.iter().enumerate().filter(|(_, u)| u.unit.eq_ignore_ascii_case(named));
            found.extend(of_name.map(|(unit, _)| UnitStretch { unit, from_m: 0.0, to_m: reach.length_m }));
        }
        let d = self.within_m;
        let steps = (reach.length_m / (d / 2.0).max(1.0)).ceil().clamp(4.0, MOST_SAMPLES) as usize;
        let step_m = reach.length_m / steps as f64;
        // For each unit the samples at which it lies, with the distance.
        let mut samples: std::collections::BTreeMap<usize, Vec<(usize, f64, bool)>> = std::collections::BTreeMap::new();
        for n in 0..=steps {
            let Some(place) = place_along(&reach.line, n as f64 * step_m) else { continue };
            let at = [place.x, place.y];
            let mut here: Vec<(usize, f64, bool)> =
                self.areas_near(inventory, place.into(), d).map(|(unit, away)| (unit, away, true)).collect();
            here.extend(self.segments.locate_within_distance(at, d.powi(2)).map(|s| (s.data, s.geom().distance_2(&at).sqrt(), false)));
            here.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            here.dedup_by_key(|h| h.0);
            for (unit, away_m, is_area) in here {
                samples.entry(unit).or_default().push((n, away_m, is_area));
            }
        }
        for (unit, hits) in samples {
            let whole = hits.len() == steps + 1 && hits.iter().all(|h| h.1 <= d / 4.0);
            for run in hits.chunk_by(|a, b| b.0 == a.0 + 1) {
                let (first, last) = (run[0].0, run[run.len() - 1].0);
                let length_m = (last - first) as f64 * step_m;
                let in_area = run.iter().filter(|h| h.2 && h.1 == 0.0).count();
                let area_counts = in_area > 1 && (in_area - 1) as f64 * step_m > d.min(reach.length_m / 2.0);
                // Water that ends at the shore of a unit flows into it.
                let ends_in_area = last == steps && run[run.len() - 1].2;
                if whole || length_m > RUNS_ALONG * d || area_counts || ends_in_area {
                    // The blur of the distance does not count: it begins where it runs as near as it ever does.
                    let least_m = run.iter().map(|h| h.1).fold(f64::INFINITY, f64::min);
                    let first = run.iter().find(|h| h.1 <= least_m + d / 20.0).map_or(first, |h| h.0);
                    let from = if ends_in_area && !area_counts && !whole { last } else { first };
                    found.push(UnitStretch { unit, from_m: from as f64 * step_m, to_m: last as f64 * step_m });
                }
            }
        }
        for point in self.points.iter() {
            let at = *point.geom();
            let mut gone = 0.0;
            for s in reach.line.0.windows(2) {
                let segment = Line::new([s[0].x, s[0].y], [s[1].x, s[1].y]);
                if segment.distance_2(&at).sqrt() <= d {
                    found.push(UnitStretch { unit: point.data, from_m: gone, to_m: gone });
                    break;
                }
                gone += (s[1].x - s[0].x).hypot(s[1].y - s[0].y);
            }
        }
        found
    }

    /// The units of a lake, each with its distance from a place on it, metres.
    pub(super) fn of_lake(&self, inventory: &Inventory, water: usize, place: Point) -> Vec<(usize, f64)> {
        let Some(shore) = &inventory.waters[water].shore else { return Vec::new() };
        let Some(b) = shore.bounding_rect() else { return Vec::new() };
        let named = inventory.waters[water].unit.as_deref();
        let window = AABB::from_corners([b.min().x, b.min().y], [b.max().x, b.max().y]);
        let mut found: Vec<(usize, f64)> = Vec::new();
        for area in self.areas.locate_in_envelope_intersecting(window) {
            let Some(unit) = &inventory.units[area.data].shore else { continue };
            if shares_ground(shore, unit) {
                found.push((area.data, off_area(unit, place)));
            }
        }
        for (at, unit) in inventory.units.iter().enumerate() {
            let has_line = unit.course.as_ref().is_some_and(|c| {
                c.bounding_rect().is_some_and(|r| r.intersects(&b))
                    && c.0
                        .iter()
                        .any(|l| place_along(l, super::course::length_of(l) / 2.0).is_some_and(|m| shore.contains(&Point::from(m))))
            });
            let has_point = unit.points.iter().any(|p| shore.contains(p));
            if has_line || has_point || named.is_some_and(|n| unit.unit.eq_ignore_ascii_case(n)) {
                let away =
                    unit.course.as_ref().map(|c| Euclidean.distance(&place, c)).or_else(|| unit.shore.as_ref().map(|s| off_area(s, place)));
                found.push((at, away.unwrap_or(0.0)));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        found.dedup_by_key(|f| f.0);
        found
    }
}

/// Whether two areas share ground, and not merely a line.
fn shares_ground(a: &MultiPolygon, b: &MultiPolygon) -> bool {
    if !a.intersects(b) {
        return false;
    }
    let inner = |x: &MultiPolygon, y: &MultiPolygon| x.0.iter().any(|p| p.interior_point().is_some_and(|p| y.contains(&p)));
    let vertex = |x: &MultiPolygon, y: &MultiPolygon| x.0.iter().any(|p| p.exterior().0.iter().any(|c| y.contains(&Point::from(*c))));
    inner(a, b) || inner(b, a) || vertex(a, b) || vertex(b, a)
}
