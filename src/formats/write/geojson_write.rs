//! How is a layer written as GeoJSON (RFC 7946)?

use geo::orient::{Direction, Orient};
use geo::{Geometry, LineString, Polygon};

use super::{NOTE, position, positions, quoted, shape_of};
use crate::formats::{RawLayer, Value};

/// One feature on each line, so that differences can be read.
pub(super) fn text(layer: &RawLayer) -> String {
    let mut out =
        format!("{{\"type\":\"FeatureCollection\",\"name\":{},\"description\":{},\"features\":[", quoted(&layer.name), quoted(NOTE));
    for (at, feature) in layer.features.iter().enumerate() {
        out.push_str(if at > 0 { ",\n" } else { "\n" });
        out.push_str("{\"type\":\"Feature\",\"properties\":{");
        for (place, (field, value)) in layer.fields.iter().zip(&feature.values).enumerate() {
            if place > 0 {
                out.push(',');
            }
            out.push_str(&quoted(&field.name));
            out.push(':');
            out.push_str(&json(value));
        }
        out.push_str("},\"geometry\":");
        match shape_of(&feature.shape) {
            Some(shape) => geometry(&mut out, shape),
            None => out.push_str("null"),
        }
        out.push('}');
    }
    out.push_str("\n]}\n");
    out
}

/// A value as JSON.
pub(super) fn json(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) | Value::Date(text) => quoted(text),
    }
}

fn rings(out: &mut String, polygon: &Polygon) {
    let polygon = polygon.orient(Direction::Default);
    out.push('[');
    positions(out, &polygon.exterior().0);
    for hole in polygon.interiors() {
        out.push(',');
        positions(out, &hole.0);
    }
    out.push(']');
}

fn list<T>(out: &mut String, items: &[T], mut each: impl FnMut(&mut String, &T)) {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        each(out, item);
    }
    out.push(']');
}

fn geometry(out: &mut String, shape: &Geometry) {
    let mut begin = |name: &str| out.push_str(&format!("{{\"type\":\"{name}\",\"coordinates\":"));
    match shape {
        Geometry::Point(point) => {
            begin("Point");
            position(out, point.0);
        }
        Geometry::LineString(line) => {
            begin("LineString");
            positions(out, &line.0);
        }
        Geometry::MultiLineString(lines) => {
            begin("MultiLineString");
            list(out, &lines.0, |out, line: &LineString| positions(out, &line.0));
        }
        Geometry::Polygon(polygon) => {
            begin("Polygon");
            rings(out, polygon);
        }
        Geometry::MultiPolygon(polygons) => {
            begin("MultiPolygon");
            list(out, &polygons.0, rings);
        }
        _ => {
            out.push_str("null");
            return;
        }
    }
    out.push('}');
}
