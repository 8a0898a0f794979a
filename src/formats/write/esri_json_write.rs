//! How is a layer written as the answer of an Esri feature service?

use geo::orient::{Direction, Orient};
use geo::{Geometry, Polygon};

use super::geojson_write::json;
use super::{NOTE, positions, quoted, shape_of};
use crate::error::{Error, Result};
use crate::formats::{RawLayer, Value};

/// The text, with dates as milliseconds since 1970.
pub(super) fn text(layer: &RawLayer) -> Result<String> {
    let code = layer.crs.as_deref().and_then(|crs| crs.strip_prefix("EPSG:")).unwrap_or("4326");
    let kind = match layer.features.iter().find_map(|f| shape_of(&f.shape)) {
        Some(Geometry::Point(_)) | None => "esriGeometryPoint",
        Some(Geometry::LineString(_) | Geometry::MultiLineString(_)) => "esriGeometryPolyline",
        Some(_) => "esriGeometryPolygon",
    };
    let mut out = format!(
        "{{\"description\":{},\"objectIdFieldName\":\"OBJECTID\",\"geometryType\":\"{kind}\",\"spatialReference\":{{\"wkid\":{code},\"latestWkid\":{code}}},\n\"fields\":[",
        quoted(NOTE)
    );
    out.push_str("{\"name\":\"OBJECTID\",\"type\":\"esriFieldTypeOID\"}");
    for (place, field) in layer.fields.iter().enumerate() {
        let sample = layer.features.iter().filter_map(|f| f.values.get(place)).find(|v| **v != Value::Null);
        let kind = match sample {
            _ if field.is_date => "esriFieldTypeDate",
            Some(Value::Int(_) | Value::Bool(_)) => "esriFieldTypeInteger",
            Some(Value::Real(_)) => "esriFieldTypeDouble",
            _ => "esriFieldTypeString",
        };
        out.push_str(&format!(",{{\"name\":{},\"type\":\"{kind}\"}}", quoted(&field.name)));
    }
    out.push_str("],\n\"features\":[");
    for (at, feature) in layer.features.iter().enumerate() {
        out.push_str(if at > 0 { ",\n" } else { "\n" });
        out.push_str(&format!("{{\"attributes\":{{\"OBJECTID\":{}", at + 1));
        for (field, value) in layer.fields.iter().zip(&feature.values) {
            let value = match value {
                Value::Date(date) => milliseconds(date).map_err(|e| e.layer(&layer.name).field(&field.name))?.to_string(),
                other => json(other),
            };
            out.push_str(&format!(",{}:{value}", quoted(&field.name)));
        }
        out.push('}');
        if let Some(shape) = shape_of(&feature.shape) {
            out.push_str(",\"geometry\":");
            geometry(&mut out, shape);
        }
        out.push('}');
    }
    out.push_str("\n]}\n");
    Ok(out)
}

fn milliseconds(date: &str) -> Result<i64> {
    let fault = || Error::usage("this is no date").found(format!("\"{date}\"")).expected("a date such as 2024-02-29");
    let day: jiff::civil::Date = date.parse().map_err(|_| fault())?;
    let instant = jiff::tz::TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).map_err(|_| fault())?;
    Ok(instant.as_millisecond())
}

fn rings(out: &mut String, polygon: &Polygon) {
    // Outer rings run clockwise in this format.
    let polygon = polygon.orient(Direction::Reversed);
    positions(out, &polygon.exterior().0);
    for hole in polygon.interiors() {
        out.push(',');
        positions(out, &hole.0);
    }
}

fn geometry(out: &mut String, shape: &Geometry) {
    match shape {
        Geometry::Point(point) => out.push_str(&format!("{{\"x\":{},\"y\":{}}}", point.x(), point.y())),
        Geometry::LineString(line) => {
            out.push_str("{\"paths\":[");
            positions(out, &line.0);
            out.push_str("]}");
        }
        Geometry::MultiLineString(lines) => {
            out.push_str("{\"paths\":[");
            for (at, line) in lines.0.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                positions(out, &line.0);
            }
            out.push_str("]}");
        }
        Geometry::Polygon(polygon) => {
            out.push_str("{\"rings\":[");
            rings(out, polygon);
            out.push_str("]}");
        }
        Geometry::MultiPolygon(polygons) => {
            out.push_str("{\"rings\":[");
            for (at, polygon) in polygons.0.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                rings(out, polygon);
            }
            out.push_str("]}");
        }
        _ => out.push_str("null"),
    }
}
