//! How is a layer written as KML? One folder, the attributes as extended data.

use geo::{Coord, Geometry, Polygon};

use super::{NOTE, shape_of};
use crate::formats::{RawLayer, Value};

pub(super) fn text(layer: &RawLayer) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<kml xmlns=\"http://www.opengis.net/kml/2.2\">\n<Document>\n");
    out.push_str(&format!("<description>{NOTE}</description>\n<Folder>\n<name>{}</name>\n", escaped(&layer.name)));
    for feature in &layer.features {
        out.push_str("<Placemark>\n<ExtendedData>\n");
        for (field, value) in layer.fields.iter().zip(&feature.values) {
            if let Some(text) = plain(value) {
                out.push_str(&format!("<Data name=\"{}\"><value>{}</value></Data>\n", escaped(&field.name), escaped(&text)));
            }
        }
        out.push_str("</ExtendedData>\n");
        if let Some(shape) = shape_of(&feature.shape) {
            geometry(&mut out, shape);
        }
        out.push_str("</Placemark>\n");
    }
    out.push_str("</Folder>\n</Document>\n</kml>\n");
    out
}

/// A value as text, where there is one.
pub(super) fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Int(number) => Some(number.to_string()),
        Value::Real(number) => Some(number.to_string()),
        Value::Text(text) | Value::Date(text) => Some(text.clone()),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn coordinates(out: &mut String, coords: &[Coord]) {
    out.push_str("<coordinates>");
    for (at, c) in coords.iter().enumerate() {
        out.push_str(if at > 0 { " " } else { "" });
        out.push_str(&format!("{},{}", c.x, c.y));
    }
    out.push_str("</coordinates>");
}

fn polygon(out: &mut String, polygon: &Polygon) {
    out.push_str("<Polygon><outerBoundaryIs><LinearRing>");
    coordinates(out, &polygon.exterior().0);
    out.push_str("</LinearRing></outerBoundaryIs>");
    for hole in polygon.interiors() {
        out.push_str("<innerBoundaryIs><LinearRing>");
        coordinates(out, &hole.0);
        out.push_str("</LinearRing></innerBoundaryIs>");
    }
    out.push_str("</Polygon>\n");
}

fn geometry(out: &mut String, shape: &Geometry) {
    match shape {
        Geometry::Point(point) => {
            out.push_str("<Point>");
            coordinates(out, &[point.0]);
            out.push_str("</Point>\n");
        }
        Geometry::LineString(line) => {
            out.push_str("<LineString>");
            coordinates(out, &line.0);
            out.push_str("</LineString>\n");
        }
        Geometry::Polygon(one) => polygon(out, one),
        Geometry::MultiLineString(lines) => {
            out.push_str("<MultiGeometry>");
            lines.0.iter().for_each(|line| geometry(out, &Geometry::LineString(line.clone())));
            out.push_str("</MultiGeometry>\n");
        }
        Geometry::MultiPolygon(polygons) => {
            out.push_str("<MultiGeometry>");
            polygons.0.iter().for_each(|one| polygon(out, one));
            out.push_str("</MultiGeometry>\n");
        }
        _ => {}
    }
}
