//! How does an inside shape become GeoJSON? Longitude and latitude, finite numbers only, outer rings counter-clockwise (RFC 7946).

use geo::{Coord, Geometry, LineString, MultiPolygon, Orient, Polygon, orient::Direction};
use serde_json::{Value as Json, json};

use super::{Outward, rounded};

/// Eight decimals of a degree are about a millimetre.
const DECIMALS: i32 = 8;

/// The GeoJSON geometry of an inside shape; null where any of it has no place on the globe.
pub fn to_json(outward: &Outward, shape: &Geometry) -> Json {
    convert(outward, shape).unwrap_or(Json::Null)
}

fn convert(outward: &Outward, shape: &Geometry) -> Option<Json> {
    let many = |kind: &str, parts: Option<Vec<Json>>| parts.map(|parts| json!({ "type": kind, "coordinates": parts }));
    match shape {
        Geometry::Point(p) => Some(json!({ "type": "Point", "coordinates": position(outward, p.0)? })),
        Geometry::MultiPoint(m) => many("MultiPoint", m.0.iter().map(|p| position(outward, p.0)).collect()),
        Geometry::Line(l) => many("LineString", [l.start, l.end].iter().map(|c| position(outward, *c)).collect()),
        Geometry::LineString(l) => many("LineString", line(outward, l)),
        Geometry::MultiLineString(m) => many("MultiLineString", m.0.iter().map(|l| line(outward, l).map(Json::from)).collect()),
        Geometry::Polygon(p) => many("Polygon", polygon(outward, p)),
        Geometry::MultiPolygon(MultiPolygon(all)) => {
            many("MultiPolygon", all.iter().map(|p| polygon(outward, p).map(Json::from)).collect())
        }
        Geometry::Rect(r) => many("Polygon", polygon(outward, &r.to_polygon())),
        Geometry::Triangle(t) => many("Polygon", polygon(outward, &t.to_polygon())),
        Geometry::GeometryCollection(c) => {
            let parts: Option<Vec<Json>> = c.0.iter().map(|g| convert(outward, g)).collect();
            parts.map(|parts| json!({ "type": "GeometryCollection", "geometries": parts }))
        }
    }
}

fn position(outward: &Outward, c: Coord) -> Option<Json> {
    outward.lon_lat([c.x, c.y]).map(|[lon, lat]| json!([rounded(lon, DECIMALS), rounded(lat, DECIMALS)]))
}

fn line(outward: &Outward, line: &LineString) -> Option<Vec<Json>> {
    // All points at once: one call of the transform for a line.
    let mut points: Vec<[f64; 2]> = line.0.iter().map(|c| [c.x, c.y]).collect();
    outward.exit.points(&mut points);
    points
        .iter()
        .all(|p| p[0].is_finite() && p[1].is_finite())
        .then(|| points.iter().map(|p| json!([rounded(p[0], DECIMALS), rounded(p[1], DECIMALS)])).collect())
}

fn polygon(outward: &Outward, polygon: &Polygon) -> Option<Vec<Json>> {
    let wound = polygon.orient(Direction::Default);
    std::iter::once(wound.exterior()).chain(wound.interiors()).map(|ring| line(outward, ring).map(Json::from)).collect()
}
