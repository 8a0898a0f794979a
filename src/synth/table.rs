//! How is a made-up layer put together? Rows of values under named fields, with shapes in EPSG:2261.

use std::path::PathBuf;

use geo::{Coord, Geometry, LineString, MultiLineString, MultiPolygon, Point, Polygon};

use crate::formats::{RawFeature, RawField, RawLayer, RawShape, Value};

use super::ground::Map;

/// The CRS of everything that is made up here.
pub(super) const CRS: &str = "EPSG:2261";

/// A layer under construction.
pub(super) struct Table {
    layer: RawLayer,
}

impl Table {
    /// A layer with its fields; a field whose name ends in `_DATE` holds dates.
    pub(super) fn new(file: &str, name: &str, fields: &[&str]) -> Self {
        let field = |name: &&str| RawField { is_date: name.ends_with("_DATE"), ..RawField::plain(*name) };
        Table {
            layer: RawLayer {
                file: PathBuf::from(file),
                name: name.to_owned(),
                crs: Some(CRS.to_owned()),
                crs_is_implied: false,
                fields: fields.iter().map(field).collect(),
                features: Vec::new(),
                issues: Vec::new(),
                doubts: Vec::new(),
            },
        }
    }

    /// Adds a row.
    pub(super) fn add(&mut self, shape: RawShape, values: Vec<Value>) {
        let row = self.layer.features.len() + 1;
        debug_assert_eq!(values.len(), self.layer.fields.len());
        self.layer.features.push(RawFeature { row, feature_id: None, shape, bad_height: false, values });
    }

    pub(super) fn done(self) -> RawLayer {
        self.layer
    }
}

pub(super) fn text(value: impl Into<String>) -> Value {
    Value::Text(value.into())
}

/// Text, or no value where it is empty.
pub(super) fn text_or_null(value: &str) -> Value {
    if value.is_empty() { Value::Null } else { Value::Text(value.to_owned()) }
}

pub(super) fn int(value: impl Into<i64>) -> Value {
    Value::Int(value.into())
}

pub(super) fn real(value: f64) -> Value {
    Value::Real(value)
}

fn ring(points: &[Map]) -> LineString {
    let mut coords: Vec<Coord> = points.iter().map(|p| Coord { x: p[0], y: p[1] }).collect();
    if coords.first() != coords.last() {
        coords.extend(coords.first().copied());
    }
    LineString(coords)
}

pub(super) fn point(at: Map) -> RawShape {
    RawShape::Shape(Geometry::Point(Point::new(at[0], at[1])))
}

/// A line, or a multi-part one where there is more than one part.
pub(super) fn lines(parts: &[Vec<Map>]) -> RawShape {
    let line = |part: &Vec<Map>| LineString(part.iter().map(|p| Coord { x: p[0], y: p[1] }).collect());
    RawShape::Shape(match parts {
        [] => return RawShape::None,
        [one] => Geometry::LineString(line(one)),
        more => Geometry::MultiLineString(MultiLineString(more.iter().map(line).collect())),
    })
}

pub(super) fn polygon(outer: &[Map], holes: &[Vec<Map>]) -> Geometry {
    Geometry::Polygon(Polygon::new(ring(outer), holes.iter().map(|h| ring(h)).collect()))
}

/// An area of one piece, or of several.
pub(super) fn area(outlines: &[Vec<Map>]) -> RawShape {
    RawShape::Shape(match outlines {
        [] => return RawShape::None,
        [one] => polygon(one, &[]),
        more => Geometry::MultiPolygon(MultiPolygon(more.iter().map(|o| Polygon::new(ring(o), Vec::new())).collect())),
    })
}
