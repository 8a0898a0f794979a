//! Which features does this Esri JSON hold? What ArcGIS services answer and `FeaturesToJSON` writes.
//!
//! Dates are counted milliseconds, rings come in any order, curves are followed, coded values have their words beside them.

use std::collections::BTreeMap;
use std::path::Path;

use geo::{Coord, Geometry, LineString, MultiLineString, MultiPoint, Point};

use super::curves::{Fineness, push_arc, push_arc_round, push_bezier};
use super::geojson::{elements, members_of, note_incomplete, opened, refuse_error_body, stem, value_of};
use super::json::{DEPTH_LIMIT, Json};
use super::rings::polygons_from_rings;
use super::table::Table;
use super::{RawFeature, RawLayer, RawShape, Value, checked_place, plausible_height};
use crate::crs::Crs;
use crate::error::{Error, Result};

/// Whether a document opened by one level is Esri's rather than GeoJSON.
pub(super) fn is_esri(document: &Json<'_>) -> bool {
    if document.get("attributes").is_some() && document.get("properties").is_none() {
        return true;
    }
    let kind = document.get("geometryType").and_then(Json::text).is_some_and(|kind| kind.starts_with("esri"));
    if kind || document.get("spatialReference").is_some() {
        return true;
    }
    // Some proxies wrap Esri's features into a "FeatureCollection": look at the first one.
    let Some(Json::Raw(features)) = document.get("features") else { return false };
    let first: String = features.chars().take(200).filter(|c| !c.is_whitespace()).collect();
    first.starts_with("[{\"attributes\"") || (first.starts_with("[{\"geometry\"") && !features.contains("\"properties\""))
}

#[derive(Default)]
struct Fields {
    dates: Vec<String>,
    domains: BTreeMap<String, BTreeMap<String, String>>,
}

/// Reads one or several documents (pages) as one layer.
pub(super) fn read(path: &Path, documents: &[Json<'_>]) -> Result<RawLayer> {
    let mut layer = RawLayer::new(path, stem(path));
    let mut table = Table::default();
    let mut known = Fields::default();
    for document in documents {
        refuse_error_body(path, document)?;
        note_incomplete(path, document, &mut layer.issues);
        read_fields(document, &mut table, &mut known);
        if let Some(crs) = spatial_reference(path, &opened(document.get("spatialReference"), 2))? {
            if layer.crs.as_ref().is_some_and(|before| *before != crs) {
                return Err(Error::input("the pages of this file have different coordinate references").file(path).found(crs));
            }
            layer.crs = Some(crs);
        }
        if layer.crs.is_none() && document.get("type").and_then(Json::text) == Some("FeatureCollection") {
            layer.crs = Some("OGC:CRS84".to_owned());
        }
        let fineness = Fineness { metres_per_unit: metres_per_unit(layer.crs.as_deref()) };
        let flags = Flags { has_z: flag(document, "hasZ"), has_m: flag(document, "hasM"), fineness };
        match document.get("features") {
            Some(features) => {
                // In a page each feature may state its own reference; then the first one counts for the layer.
                let mut own = None;
                elements(path, features, 1, |feature| {
                    own = own.take().or_else(|| own_reference(path, &feature));
                    push(path, &mut layer, &mut table, &known, &feature, flags)
                })?;
                layer.crs = layer.crs.take().or(own);
            }
            None => push(path, &mut layer, &mut table, &known, document, flags)?,
        }
    }
    table.finish(&mut layer);
    for field in &mut layer.fields {
        field.is_date = known.dates.contains(&field.name);
        field.domain = known.domains.remove(&field.name).unwrap_or_default();
    }
    Ok(layer)
}

fn flag(document: &Json<'_>, name: &str) -> Option<bool> {
    match document.get(name) {
        Some(Json::Bool(truth)) => Some(*truth),
        _ => None,
    }
}

fn metres_per_unit(crs: Option<&str>) -> Option<f64> {
    let crs = Crs::parse(crs?).ok()?;
    crs.is_projected().then(|| crs.metres_per_unit())
}

fn read_fields(document: &Json<'_>, table: &mut Table, known: &mut Fields) {
    let fields = opened(document.get("fields"), 6);
    for field in fields.array().unwrap_or_default() {
        let Some(name) = field.get("name").and_then(Json::text) else { continue };
        let kind = field.get("type").and_then(Json::text).unwrap_or_default();
        if kind == "esriFieldTypeGeometry" {
            continue;
        }
        table.index(name);
        if kind == "esriFieldTypeDate" && !known.dates.iter().any(|d| d == name) {
            known.dates.push(name.to_owned());
        }
        let words = field.get("domain").and_then(|d| d.get("codedValues")).and_then(Json::array).unwrap_or_default();
        for word in words {
            let code = match word.get("code") {
                Some(Json::Number(digits)) => (*digits).to_owned(),
                Some(Json::Text(text)) => text.to_string(),
                _ => continue,
            };
            if let Some(label) = word.get("name").and_then(Json::text) {
                known.domains.entry(name.to_owned()).or_default().insert(code, label.to_owned());
            }
        }
    }
}

/// The CRS of a `spatialReference`: the newer code, the older one, or WKT.
fn spatial_reference(path: &Path, reference: &Json<'_>) -> Result<Option<String>> {
    let code = |name: &str| match reference.get(name) {
        Some(Json::Number(digits)) => digits.parse::<u32>().ok(),
        _ => None,
    };
    let mut tried = Vec::new();
    for code in [code("latestWkid"), code("wkid")].into_iter().flatten() {
        // Codes of Esri's own, still seen in old answers; its Web Mercator codes mean EPSG:3857.
        let code = if matches!(code, 102_100 | 102_113 | 900_913) { 3857 } else { code };
        let text = format!("EPSG:{code}");
        if Crs::parse(&text).is_ok() {
            return Ok(Some(text));
        }
        tried.push(code.to_string());
    }
    for name in ["wkt2", "wkt"] {
        if let Some(wkt) = reference.get(name).and_then(Json::text).filter(|w| !w.trim().is_empty()) {
            Crs::parse(wkt).map_err(|cause| Error::input("the file's spatialReference cannot be read").file(path).cause(cause))?;
            return Ok(Some(wkt.to_owned()));
        }
    }
    if tried.is_empty() {
        return Ok(None);
    }
    Err(Error::input("the file's spatialReference is not known here")
        .file(path)
        .found(format!("wkid {}", tried.join(", ")))
        .hint("ask the service for outSR=4326, or set `crs` and `crs_overrides_file` for the layer"))
}

fn own_reference(path: &Path, feature: &Json<'_>) -> Option<String> {
    let geometry = opened(feature.get("geometry"), 1);
    spatial_reference(path, &opened(geometry.get("spatialReference"), 2)).ok().flatten()
}

#[derive(Clone, Copy)]
struct Flags {
    has_z: Option<bool>,
    has_m: Option<bool>,
    fineness: Fineness,
}

fn push(path: &Path, layer: &mut RawLayer, table: &mut Table, known: &Fields, feature: &Json<'_>, flags: Flags) -> Result<()> {
    let mut values = Vec::with_capacity(table.len());
    for (name, value) in members_of(path, feature, "attributes", layer.features.len() + 1)? {
        let value = if known.dates.iter().any(|d| *d == name) { instant(&value) } else { value_of(&value) };
        table.put(&mut values, &name, value);
    }
    let geometry = opened(feature.get("geometry"), DEPTH_LIMIT);
    let mut reader = ShapeReader { flags: own_flags(&geometry, flags), bad_height: false };
    let shape = match reader.shape(&geometry) {
        Ok(Some(shape)) => RawShape::Shape(shape),
        Ok(None) => RawShape::None,
        Err(reason) => RawShape::Unreadable(reason),
    };
    layer.features.push(RawFeature { row: layer.features.len() + 1, feature_id: None, shape, bad_height: reader.bad_height, values });
    Ok(())
}

fn own_flags(geometry: &Json<'_>, flags: Flags) -> Flags {
    Flags { has_z: flag(geometry, "hasZ").or(flags.has_z), has_m: flag(geometry, "hasM").or(flags.has_m), ..flags }
}

/// Milliseconds since 1970, also before it, as an instant.
fn instant(value: &Json<'_>) -> Value {
    match value {
        Json::Number(digits) => match digits.parse::<f64>() {
            Ok(millis) if millis.is_finite() && millis.abs() < 8e15 => {
                jiff::Timestamp::from_millisecond(millis as i64).map_or(Value::Null, |at| Value::Date(at.to_string()))
            }
            _ => Value::Null,
        },
        other => value_of(other),
    }
}

struct ShapeReader {
    flags: Flags,
    bad_height: bool,
}

impl ShapeReader {
    fn shape(&mut self, geometry: &Json<'_>) -> Result<Option<Geometry>, String> {
        if let (Some(x), Some(y)) = (geometry.get("x"), geometry.get("y")) {
            if matches!(x, Json::Null) || matches!(y, Json::Null) || x.text() == Some("NaN") {
                return Ok(None);
            }
            if let Some(z) = geometry.get("z") {
                self.bad_height |= !matches!(z, Json::Null) && !z.number().is_some_and(plausible_height);
            }
            let not_number = "coordinate is no number";
            let place = checked_place(x.number().ok_or(not_number)?, y.number().ok_or(not_number)?)?;
            return Ok(Some(Geometry::Point(Point(place))));
        }
        if let Some(points) = geometry.get("points") {
            let points = self.line(points)?;
            return Ok((!points.is_empty()).then_some(Geometry::MultiPoint(MultiPoint(points.into_iter().map(Point).collect()))));
        }
        if let Some(paths) = geometry.get("curvePaths").or_else(|| geometry.get("paths")) {
            let mut lines = self.lines(paths)?;
            return Ok(match lines.len() {
                0 => None,
                1 => lines.pop().map(Geometry::LineString),
                _ => Some(Geometry::MultiLineString(MultiLineString(lines))),
            });
        }
        if let Some(rings) = geometry.get("curveRings").or_else(|| geometry.get("rings")) {
            let mut shape = polygons_from_rings(self.lines(rings)?);
            return Ok(match shape.0.len() {
                0 => None,
                1 => shape.0.pop().map(Geometry::Polygon),
                _ => Some(Geometry::MultiPolygon(shape)),
            });
        }
        if let Some(corners) =
            ["xmin", "ymin", "xmax", "ymax"].iter().map(|c| geometry.get(c).and_then(Json::number)).collect::<Option<Vec<_>>>()
        {
            let (low, high) = (checked_place(corners[0], corners[1])?, checked_place(corners[2], corners[3])?);
            return Ok(Some(Geometry::Polygon(geo::Rect::new(low, high).to_polygon())));
        }
        match geometry {
            Json::Null => Ok(None),
            Json::Object(members) if members.iter().all(|(name, _)| matches!(name.as_ref(), "spatialReference" | "hasZ" | "hasM")) => {
                Ok(None)
            }
            _ => Err("the geometry is none of point, points, paths and rings".to_owned()),
        }
    }

    fn lines(&mut self, lines: &Json<'_>) -> Result<Vec<LineString>, String> {
        let mut all = Vec::new();
        for line in lines.array().ok_or("paths or rings are no array")? {
            let places = self.line(line)?;
            if !places.is_empty() {
                all.push(LineString(places));
            }
        }
        Ok(all)
    }

    fn line(&mut self, items: &Json<'_>) -> Result<Vec<Coord>, String> {
        let items = items.array().ok_or("a path or ring is no array")?;
        let mut places: Vec<Coord> = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Json::Array(numbers) => {
                    let place = self.position(numbers)?;
                    places.push(place);
                }
                Json::Object(_) => self.curve(&mut places, item)?,
                _ => return Err("a path or ring holds what is no position".to_owned()),
            }
        }
        Ok(places)
    }

    fn curve(&mut self, places: &mut Vec<Coord>, curve: &Json<'_>) -> Result<(), String> {
        let start = *places.last().ok_or("curve without a start")?;
        let parts = |name: &str| curve.get(name).and_then(Json::array);
        let fineness = self.flags.fineness;
        if let Some([end, middle, ..]) = parts("c") {
            let (end, middle) = (self.place(end)?, self.place(middle)?);
            push_arc(places, start, middle, end, fineness);
            return Ok(());
        }
        if let Some([end, first, second, ..]) = parts("b") {
            let (end, first, second) = (self.place(end)?, self.place(first)?, self.place(second)?);
            push_bezier(places, start, first, second, end);
            return Ok(());
        }
        if let Some([end, centre, rest @ ..]) = parts("a") {
            let ratio = rest.get(4).and_then(Json::number).unwrap_or(1.0);
            if (ratio - 1.0).abs() > 1e-9 {
                return Err("curve is part of an ellipse, which is not followed".to_owned());
            }
            let clockwise = rest.get(1).and_then(Json::number).is_some_and(|v| v != 0.0);
            let (end, centre) = (self.place(end)?, self.place(centre)?);
            push_arc_round(places, start, end, centre, clockwise, fineness);
            return Ok(());
        }
        Err("curve of a kind that is not known".to_owned())
    }

    fn place(&mut self, json: &Json<'_>) -> Result<Coord, String> {
        self.position(json.array().ok_or("curve position is no array")?)
    }

    fn position(&mut self, numbers: &[Json<'_>]) -> Result<Coord, String> {
        let (Some(x), Some(y)) = (numbers.first(), numbers.get(1)) else { return Err("coordinates need two numbers".to_owned()) };
        // The third number is a height unless the file says that it is a measure.
        if let Some(z) = numbers.get(2)
            && (self.flags.has_z != Some(false) && !(self.flags.has_z.is_none() && self.flags.has_m == Some(true)))
        {
            self.bad_height |= !matches!(z, Json::Null) && !z.number().is_some_and(plausible_height);
        }
        let not_number = "coordinate is no number";
        checked_place(x.number().ok_or(not_number)?, y.number().ok_or(not_number)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::Reader;
    use super::*;
    use geo::Area;

    fn layer(text: &str) -> RawLayer {
        let document = Reader::new(text).value(1).unwrap();
        assert!(is_esri(&document));
        read(Path::new("pipes.json"), &[document]).unwrap()
    }

    #[test]
    fn dates_domains_and_references_are_read() {
        let read = layer(
            r#"{"spatialReference":{"wkid":102716,"latestWkid":2261},"geometryType":"esriGeometryPoint",
            "fields":[{"name":"D","type":"esriFieldTypeDate"},{"name":"F","type":"esriFieldTypeInteger","domain":{"type":"codedValue","codedValues":[{"name":"With","code":1}]}}],
            "features":[{"attributes":{"D":-460080000000,"F":1},"geometry":{"x":1,"y":2}},{"attributes":{"D":null,"F":null}},{"attributes":{"D":1714213354016},"geometry":{"x":"NaN","y":"NaN"}}]}"#,
        );
        assert_eq!(read.crs.as_deref(), Some("EPSG:2261"));
        assert_eq!(read.features[0].values[0], Value::Date("1955-06-04T00:00:00Z".to_owned()));
        assert_eq!(read.features[1].values[0], Value::Null);
        assert_eq!(read.features[2].values[0], Value::Date("2024-04-27T10:22:34.016Z".to_owned()));
        assert_eq!(read.features[2].shape, RawShape::None);
        assert_eq!(read.fields[1].domain["1"], "With");
    }

    #[test]
    fn curves_are_followed_or_said() {
        let read = layer(
            r#"{"spatialReference":{"wkid":2261},"features":[
            {"attributes":{},"geometry":{"curvePaths":[[[0,0],{"c":[[200,0],[100,100]]}]]}},
            {"attributes":{},"geometry":{"curveRings":[[[0,0],{"a":[[0,0],[100,0],0,1]}]]}},
            {"attributes":{},"geometry":{"curvePaths":[[[0,0],{"a":[[9,0],[5,0],0,1,0,5,0.5]}]]}}]}"#,
        );
        assert!(matches!(&read.features[0].shape, RawShape::Shape(Geometry::LineString(l)) if l.0.len() > 50));
        assert!(matches!(&read.features[1].shape, RawShape::Shape(Geometry::Polygon(p)) if (p.unsigned_area() - 31_415.9).abs() < 10.0));
        assert!(matches!(&read.features[2].shape, RawShape::Unreadable(reason) if reason.starts_with("curve")));
    }
}
