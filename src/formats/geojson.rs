//! Which features does this GeoJSON hold? A collection, one feature, a bare geometry, one feature a line, or a text sequence.
//!
//! Ids keep every digit, names that differ only by case are two fields, and a feature that is bad costs none of the others.
//! Esri's JSON, which often bears the same file name, is handed to [`super::esri_json`].

use std::borrow::Cow;
use std::path::Path;

use geo::{Coord, Geometry, GeometryCollection, LineString, MultiLineString, MultiPoint, MultiPolygon, Point, Polygon};

use super::json::{DEPTH_LIMIT, Json, JsonFault, Reader, line_of};
use super::table::Table;
use super::{RawFeature, RawLayer, RawShape, Value, checked_place, esri_json, file_name, plausible_height, text};
use crate::crs::Crs;
use crate::data_issue::{DataIssue, IssueCode};
use crate::error::{Error, Result};

/// Collections inside collections deeper than this are refused.
const COLLECTION_DEPTH: usize = 16;

/// Reads GeoJSON or Esri JSON, whichever the text is.
pub(super) fn read(path: &Path) -> Result<RawLayer> {
    let (text, mut issues) = text::read_json(path)?;
    let mut layer = read_text(path, &text)?;
    issues.append(&mut layer.issues);
    layer.issues = issues;
    Ok(layer)
}

/// True where the text is a TopoJSON topology, which another reader takes.
pub(super) fn is_topology(text: &str) -> bool {
    let head: String = text.chars().take(4000).filter(|c| !c.is_whitespace()).collect();
    head.contains("\"type\":\"Topology\"")
}

fn read_text(path: &Path, text: &str) -> Result<RawLayer> {
    let documents = documents(path, text)?;
    if documents.iter().any(esri_json::is_esri) {
        return esri_json::read(path, &documents);
    }
    let mut out = Collected { table: Table::default(), features: Vec::new(), crs: None, issues: Vec::new() };
    let several = documents.len() > 1;
    for document in &documents {
        out.document(path, document, several)?;
    }
    let crs = out.crs.unwrap_or_else(|| "OGC:CRS84".to_owned());
    let mut layer = RawLayer::new(path, stem(path));
    layer.crs = Some(crs);
    layer.features = out.features;
    layer.issues = out.issues;
    out.table.finish(&mut layer);
    Ok(layer)
}

/// The name of a file without its extension: what a format without layer names calls its one layer.
pub(super) fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| file_name(path), |stem| stem.to_string_lossy().into_owned())
}

/// The top-level objects, opened by one level.
fn documents<'a>(path: &Path, text: &'a str) -> Result<Vec<Json<'a>>> {
    let mut reader = Reader::new(text);
    let mut documents = Vec::new();
    while !reader.at_end() {
        match reader.value(1).map_err(|fault| broken(path, text, &fault))? {
            // Saved pages, or features, in one array.
            Json::Array(items) => {
                for item in items {
                    let Json::Raw(raw) = item else { return Err(not_features(path, "an array of plain values")) };
                    documents.push(Reader::new(raw).value(1).map_err(|fault| broken(path, raw, &fault))?);
                }
            }
            object @ Json::Object(_) => documents.push(object),
            other => return Err(not_features(path, &format!("{other:?}").chars().take(80).collect::<String>())),
        }
    }
    if documents.is_empty() {
        return Err(not_features(path, "an empty file"));
    }
    Ok(documents)
}

fn broken(path: &Path, text: &str, fault: &JsonFault) -> Error {
    Error::input(format!("line {}: {}", line_of(text, fault.at), fault.message))
        .file(path)
        .expected("JSON")
        .hint("the file may be cut short or hand-edited: export or download it again")
}

fn not_features(path: &Path, found: &str) -> Error {
    Error::input("this is no GeoJSON or Esri JSON with features that can be recognised")
        .file(path)
        .found(found)
        .expected("a FeatureCollection, a Feature or an Esri feature set")
        .hint("export the layer again as GeoJSON")
}

/// Calls `each` with every element of an array, opened by `open` levels.
pub(super) fn elements<'a>(path: &Path, array: &Json<'a>, open: usize, mut each: impl FnMut(Json<'a>) -> Result<()>) -> Result<()> {
    let Json::Raw(raw) = array else {
        return match array {
            Json::Null => Ok(()),
            _ => Err(Error::input("`features` is no array").file(path).expected("an array of features")),
        };
    };
    // The brackets belong to the array; inside, values stand one after the other with commas between.
    let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
    if !raw.starts_with('[') {
        return Err(Error::input("`features` is no array").file(path).expected("an array of features"));
    }
    let mut reader = Reader::new(inner);
    let mut row = 0;
    while !reader.at_end() {
        row += 1;
        let fault = |fault: JsonFault| Error::input(format!("feature {row} of the file: {}", fault.message)).file(path).expected("JSON");
        each(reader.value(open).map_err(fault)?)?;
        if !reader.at_end() {
            reader.separator().map_err(fault)?;
        }
    }
    Ok(())
}

/// Opens a member that was left raw; one that is broken inside becomes a text, which no reader takes for a geometry.
pub(super) fn opened<'a>(member: Option<&Json<'a>>, open: usize) -> Json<'a> {
    match member {
        Some(Json::Raw(raw)) => Reader::new(raw).value(open).unwrap_or(Json::Text("broken".into())),
        Some(other) => other.clone(),
        None => Json::Null,
    }
}

/// The members of a feature's `properties` or `attributes`.
pub(super) fn members_of<'a>(path: &Path, feature: &Json<'a>, name: &str, row: usize) -> Result<Vec<(Cow<'a, str>, Json<'a>)>> {
    match opened(feature.get(name), 1) {
        Json::Object(members) => Ok(members),
        Json::Null => Ok(Vec::new()),
        _ => Err(Error::input(format!("feature {row} of the file: `{name}` is broken")).file(path).expected("a JSON object")),
    }
}

/// Refuses a service's own error report, which people save without noticing.
pub(super) fn refuse_error_body(path: &Path, document: &Json<'_>) -> Result<()> {
    let error = opened(document.get("error"), 3);
    if document.get("features").is_some() || matches!(error, Json::Null) {
        return Ok(());
    }
    let mut words: Vec<String> = Vec::new();
    words.extend(error.text().map(str::to_owned));
    if let Some(Json::Number(code)) = error.get("code") {
        words.push(format!("code {code}"));
    }
    words.extend(error.get("message").and_then(Json::text).map(str::to_owned));
    for detail in error.get("details").and_then(Json::array).unwrap_or_default() {
        words.extend(detail.text().map(str::to_owned));
    }
    let said: String = words.join("; ").chars().take(300).collect();
    Err(Error::input(format!("the file holds the error report of a map service, no features: {said}"))
        .file(path)
        .expected("features in GeoJSON or Esri JSON format")
        .hint("ask the service again with a correct query, and open the saved file to check it"))
}

/// Says that a service gave only a part.
pub(super) fn note_incomplete(path: &Path, document: &Json<'_>, issues: &mut Vec<DataIssue>) {
    let properties = opened(document.get("properties"), 1);
    let limit = [document, &properties].iter().any(|o| o.get("exceededTransferLimit").is_some_and(Json::is_true));
    let number = |name: &str| document.get(name).and_then(Json::number);
    let counted = matches!((number("numberMatched"), number("numberReturned")), (Some(all), Some(some)) if some < all);
    if limit || counted {
        let sign = if limit { "exceededTransferLimit" } else { "numberMatched is larger than numberReturned" };
        issues.push(
            DataIssue::new(IssueCode::InputIncomplete, "")
                .file(file_name(path))
                .message(format!("{} is incomplete: the service says {sign}; the rest must be asked for page by page", file_name(path))),
        );
    }
}

struct Collected {
    table: Table,
    features: Vec<RawFeature>,
    crs: Option<String>,
    issues: Vec<DataIssue>,
}

impl Collected {
    fn document(&mut self, path: &Path, document: &Json<'_>, one_of_several: bool) -> Result<()> {
        refuse_error_body(path, document)?;
        self.read_crs(path, document)?;
        note_incomplete(path, document, &mut self.issues);
        match document.get("type").and_then(Json::text) {
            Some("FeatureCollection") => {
                let Some(features) = document.get("features") else {
                    return Err(Error::input("the collection has no `features`").file(path));
                };
                elements(path, features, 1, |feature| self.feature(path, &feature))
            }
            Some("Feature") => self.feature(path, document),
            Some(kind) if is_geometry(kind) => {
                let geometry = reopened(document);
                let (shape, bad_height) = shape_of(&geometry);
                self.push(None, shape, bad_height, Vec::new());
                Ok(())
            }
            _ if document.get("features").is_some() => {
                let features = document.get("features").cloned().unwrap_or(Json::Null);
                elements(path, &features, 1, |feature| self.feature(path, &feature))
            }
            _ => {
                let names = match document {
                    Json::Object(members) => members.iter().map(|(name, _)| name.as_ref()).take(8).collect::<Vec<_>>().join(", "),
                    _ => String::new(),
                };
                let place = if one_of_several { "an object among others with members " } else { "an object with members " };
                Err(not_features(path, &format!("{place}{names}")))
            }
        }
    }

    fn feature(&mut self, path: &Path, feature: &Json<'_>) -> Result<()> {
        let feature_id = match feature.get("id") {
            Some(Json::Number(digits)) => Some((*digits).to_owned()),
            Some(Json::Text(text)) => Some(text.to_string()),
            _ => None,
        };
        let geometry = opened(feature.get("geometry"), DEPTH_LIMIT);
        let (shape, bad_height) = shape_of(&geometry);
        let mut values = Vec::with_capacity(self.table.len());
        for (name, value) in members_of(path, feature, "properties", self.features.len() + 1)? {
            self.table.put(&mut values, &name, value_of(&value));
        }
        self.push(feature_id, shape, bad_height, values);
        Ok(())
    }

    fn push(&mut self, feature_id: Option<String>, shape: RawShape, bad_height: bool, values: Vec<Value>) {
        self.features.push(RawFeature { row: self.features.len() + 1, feature_id, shape, bad_height, values });
    }

    /// The `crs` member of the 2008 form, which many exports still write.
    fn read_crs(&mut self, path: &Path, document: &Json<'_>) -> Result<()> {
        let crs = opened(document.get("crs"), 3);
        if matches!(crs, Json::Null) {
            return Ok(());
        }
        let properties = crs.get("properties");
        let name = match crs.get("type").and_then(Json::text) {
            Some("name") => properties.and_then(|p| p.get("name")).and_then(Json::text).map(str::to_owned),
            Some("EPSG") => match properties.and_then(|p| p.get("code")) {
                Some(Json::Number(code)) => Some(format!("EPSG:{code}")),
                _ => None,
            },
            Some("link") => {
                return Err(Error::input("the file's coordinate reference is a link, which is not followed")
                    .file(path)
                    .expected("a named CRS, such as EPSG:2261")
                    .hint("export the layer again as GeoJSON in longitude and latitude"));
            }
            _ => None,
        };
        let Some(name) = name else {
            return Err(Error::input("the file's `crs` member cannot be read").file(path).expected("a named CRS, such as EPSG:2261"));
        };
        Crs::parse(&name).map_err(|cause| {
            Error::input("the file names a coordinate reference that is not known here")
                .file(path)
                .found(name.chars().take(80).collect::<String>())
                .expected("EPSG:code or OGC:CRS84")
                .hint("export the layer again, or correct the `crs` member")
                .cause(cause)
        })?;
        self.crs = Some(name);
        Ok(())
    }
}

fn is_geometry(kind: &str) -> bool {
    matches!(kind, "Point" | "MultiPoint" | "LineString" | "MultiLineString" | "Polygon" | "MultiPolygon" | "GeometryCollection")
}

/// A document that was opened by one level only, opened all the way.
fn reopened<'a>(document: &Json<'a>) -> Json<'a> {
    match document {
        Json::Object(members) => {
            Json::Object(members.iter().map(|(name, value)| (name.clone(), opened(Some(value), DEPTH_LIMIT))).collect())
        }
        other => other.clone(),
    }
}

/// A value as the file holds it: whole numbers exact, nested values as their own text.
pub(super) fn value_of(value: &Json<'_>) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Text(text) => Value::Text(text.to_string()),
        Json::Raw(raw) => Value::Text((*raw).to_owned()),
        Json::Number(digits) => {
            if let Ok(whole) = digits.parse::<i64>() {
                return Value::Int(whole);
            }
            if digits.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit()) {
                return Value::Text((*digits).to_owned());
            }
            digits.parse::<f64>().ok().filter(|v| v.is_finite()).map_or(Value::Null, Value::Real)
        }
        Json::Array(_) | Json::Object(_) => Value::Null,
    }
}

/// The shape of a geometry object, and whether a height was no number.
fn shape_of(geometry: &Json<'_>) -> (RawShape, bool) {
    if matches!(geometry, Json::Null) {
        return (RawShape::None, false);
    }
    let mut bad_height = false;
    let shape = match geometry_of(geometry, &mut bad_height, 0) {
        Ok(Some(shape)) => RawShape::Shape(shape),
        Ok(None) => RawShape::None,
        Err(reason) => RawShape::Unreadable(reason),
    };
    (shape, bad_height)
}

fn geometry_of(geometry: &Json<'_>, bad: &mut bool, depth: usize) -> Result<Option<Geometry>, String> {
    if depth > COLLECTION_DEPTH {
        return Err("geometries lie too deep inside each other".to_owned());
    }
    let kind = geometry.get("type").and_then(Json::text).ok_or("the geometry has no type")?;
    if kind == "GeometryCollection" {
        let mut parts = Vec::new();
        for part in geometry.get("geometries").and_then(Json::array).unwrap_or_default() {
            parts.extend(geometry_of(part, bad, depth + 1)?);
        }
        return Ok((!parts.is_empty()).then_some(Geometry::GeometryCollection(GeometryCollection(parts))));
    }
    let Some(coordinates) = geometry.get("coordinates") else { return Err("the geometry has no coordinates".to_owned()) };
    let items = match coordinates {
        Json::Array(items) => items.as_slice(),
        Json::Null => return Ok(None),
        _ => return Err("the coordinates are no array".to_owned()),
    };
    if items.is_empty() {
        return Ok(None);
    }
    Ok(match kind {
        "Point" => Some(Geometry::Point(Point(position(coordinates, bad)?))),
        "MultiPoint" => {
            let points = line(coordinates, bad)?;
            Some(Geometry::MultiPoint(MultiPoint(points.into_iter().map(Point).collect())))
        }
        "LineString" => Some(Geometry::LineString(LineString(line(coordinates, bad)?))),
        "MultiLineString" => {
            let lines = lines(coordinates, bad)?;
            (!lines.is_empty()).then_some(Geometry::MultiLineString(MultiLineString(lines)))
        }
        "Polygon" => polygon(coordinates, bad)?.map(Geometry::Polygon),
        "MultiPolygon" => {
            let mut polygons = Vec::new();
            for item in items {
                polygons.extend(polygon(item, bad)?);
            }
            (!polygons.is_empty()).then_some(Geometry::MultiPolygon(MultiPolygon(polygons)))
        }
        other => return Err(format!("geometry type \"{}\" is not known", other.chars().take(40).collect::<String>())),
    })
}

fn polygon(rings: &Json<'_>, bad: &mut bool) -> Result<Option<Polygon>, String> {
    let mut rings = lines(rings, bad)?;
    if rings.is_empty() {
        return Ok(None);
    }
    let outer = rings.remove(0);
    Ok(Some(Polygon::new(outer, rings)))
}

fn lines(json: &Json<'_>, bad: &mut bool) -> Result<Vec<LineString>, String> {
    let mut lines = Vec::new();
    for item in json.array().ok_or("the coordinates are not nested as the type needs")? {
        let places = line(item, bad)?;
        if !places.is_empty() {
            lines.push(LineString(places));
        }
    }
    Ok(lines)
}

fn line(json: &Json<'_>, bad: &mut bool) -> Result<Vec<Coord>, String> {
    json.array().ok_or("the coordinates are not nested as the type needs")?.iter().map(|item| position(item, bad)).collect()
}

fn position(json: &Json<'_>, bad: &mut bool) -> Result<Coord, String> {
    let numbers = json.array().ok_or("a position is no array")?;
    let (Some(x), Some(y)) = (numbers.first(), numbers.get(1)) else { return Err("coordinates need two numbers".to_owned()) };
    if let Some(z) = numbers.get(2) {
        *bad |= !z.number().is_some_and(plausible_height);
    }
    let not_number = "coordinate is no number";
    checked_place(x.number().ok_or(not_number)?, y.number().ok_or(not_number)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(text: &str) -> RawLayer {
        read_text(Path::new("pipes.geojson"), text).unwrap()
    }

    #[test]
    fn ids_and_names_stay_exact() {
        let layer = layer(
            r#"{"type":"FeatureCollection","features":[
            {"type":"Feature","id":9007199254740993,"properties":{"ID":9007199254740993,"id":"a"},"geometry":null},
            {"type":"Feature","properties":{"Id":99999999999999999999,"ID":1.5,"x":{"a":[1, 2]}},"geometry":{"type":"Point","coordinates":[1,2,-1e38]}}]}"#,
        );
        assert_eq!(layer.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["ID", "id", "Id", "x"]);
        assert_eq!(layer.features[0].values[0], Value::Int(9_007_199_254_740_993));
        assert_eq!(layer.features[0].feature_id.as_deref(), Some("9007199254740993"));
        assert_eq!(layer.features[1].values[2], Value::Text("99999999999999999999".to_owned()));
        assert_eq!(layer.features[1].values[3], Value::Text(r#"{"a":[1, 2]}"#.to_owned()));
        assert_eq!(layer.features[0].values.len(), 4);
        assert!(layer.features[1].bad_height);
    }

    #[test]
    fn sequences_lines_and_bare_geometries_are_read() {
        let text = "\u{1e}{\"type\":\"Feature\",\"properties\":{\"A\":1},\"geometry\":null}\n\u{1e}{\"type\":\"Feature\",\"properties\":{\"B\":2},\"geometry\":null}\n";
        let read = layer(text);
        assert_eq!(read.features.len(), 2);
        assert_eq!(read.features[0].values, [Value::Int(1), Value::Null]);
        let bare = layer(r#"{"type":"LineString","coordinates":[[0,0],[1,1]]}"#);
        assert!(matches!(bare.features[0].shape, RawShape::Shape(Geometry::LineString(_))));
    }

    #[test]
    fn coordinates_that_cannot_be_are_named() {
        for bad in ["[NaN, 1]", "[1e308, 1]", "[\"1\", 2]", "[1]", "[[1,2],[3]]"] {
            let read = layer(&format!(r#"{{"type":"Feature","properties":{{}},"geometry":{{"type":"Point","coordinates":{bad}}}}}"#));
            assert!(matches!(read.features[0].shape, RawShape::Unreadable(_)), "{bad}");
        }
    }

    #[test]
    fn what_is_no_geojson_is_refused_with_what_was_found() {
        let refused = |text: &str| read_text(Path::new("a.geojson"), text).unwrap_err().to_string();
        assert!(refused(r#"{"error":{"code":400,"message":"Unable to complete"}}"#).contains("Unable to complete"));
        assert!(refused(r#"{"hello":1}"#).contains("hello"));
        assert!(refused("{\"type\":\"FeatureCollection\",\n\"features\":[").contains("line 2"));
        assert!(refused("").contains("a.geojson"));
        assert!(refused(r#"{"type":"Feature","crs":{"type":"link","properties":{"href":"http://x"}},"geometry":null}"#).contains("link"));
        assert!(
            refused(r#"{"type":"Feature","crs":{"type":"name","properties":{"name":"EPSG:999999"}},"geometry":null}"#).contains("999999")
        );
        let deep = format!("{}{}", r#"{"type":"GeometryCollection","geometries":["#.repeat(500), "]}".repeat(500));
        assert!(matches!(layer(&deep).features[0].shape, RawShape::Unreadable(_) | RawShape::None));
    }

    #[test]
    fn a_cut_answer_is_said() {
        let read = layer(r#"{"type":"FeatureCollection","properties":{"exceededTransferLimit":true},"features":[]}"#);
        assert_eq!(read.issues[0].code, IssueCode::InputIncomplete);
    }
}
