//! Which placemarks does this KML hold? All folders as one layer, attributes of both styles; links to elsewhere are never followed.

use std::path::Path;

use geo::{Coord, Geometry, GeometryCollection, LineString, Point, Polygon};
use roxmltree::{Document, Node, ParsingOptions};

use super::geojson::stem;
use super::table::Table;
use super::{RawFeature, RawLayer, RawShape, ReadOptions, Value, checked_place, plausible_height, text};
use crate::error::{Error, Result};

/// Multi-geometries inside each other deeper than this are refused.
const DEPTH_LIMIT: usize = 16;

/// Elements inside each other deeper than this are refused.
const DEEPEST: i64 = 500;

/// Reads the placemarks of a folder, or of all folders.
pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<RawLayer> {
    let (text, issues) = text::read(path, None)?;
    let mut layer = read_text(path, &text, options.layer.as_deref())?;
    layer.issues = issues;
    Ok(layer)
}

/// The names of the folders that hold placemarks, each once; the file's own name where there are none.
pub(super) fn layers(path: &Path) -> Result<Vec<String>> {
    let (text, _) = text::read(path, None)?;
    let document = parsed(path, &text)?;
    Ok(folders(&document, path))
}

fn parsed<'a>(path: &Path, text: &'a str) -> Result<Document<'a>> {
    // Elements nest a dozen deep in any real file; the bound keeps the stack safe.
    if too_deep(text) {
        return Err(Error::input("elements lie too deep inside each other").file(path));
    }
    let options = ParsingOptions { allow_dtd: false, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|cause| {
        Error::input(format!("this is no KML that can be read: {cause}"))
            .file(path)
            .hint("export the layer again as KML or, better, as GeoJSON")
    })
}

/// Counts opened elements ahead of the parser; what stands in comments and CDATA (descriptions in HTML) opens none.
fn too_deep(text: &str) -> bool {
    let mut depth = 0i64;
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let end = if rest.starts_with("<![CDATA[") {
            "]]>"
        } else if rest.starts_with("<!--") {
            "-->"
        } else {
            ">"
        };
        let Some(length) = rest.find(end) else { return depth > DEEPEST };
        let tag = &rest[..length];
        if end == ">" && !tag.starts_with("<?") && !tag.starts_with("<!") {
            depth += if tag.starts_with("</") { -1 } else { i64::from(!tag.ends_with('/')) };
        }
        if depth > DEEPEST {
            return true;
        }
        rest = &rest[length + end.len()..];
    }
    false
}

fn folders(document: &Document<'_>, path: &Path) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for placemark in document.descendants().filter(|n| n.has_tag_name_local("Placemark")) {
        if let Some(name) = placemark.parent().filter(|p| p.has_tag_name_local("Folder")).and_then(|p| child_text(p, "name"))
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    if names.is_empty() { vec![stem(path)] } else { names }
}

fn read_text(path: &Path, text: &str, wanted: Option<&str>) -> Result<RawLayer> {
    let document = parsed(path, text)?;
    if !document.root_element().has_tag_name_local("kml") && !document.descendants().any(|n| n.has_tag_name_local("Placemark")) {
        return Err(Error::input("this is no KML").file(path).found(format!("<{}>", document.root_element().tag_name().name())));
    }
    let mut layer = RawLayer::new(path, wanted.map_or_else(|| stem(path), str::to_owned));
    layer.crs = Some("OGC:CRS84".to_owned());
    let mut table = Table::default();
    for placemark in document.descendants().filter(|n| n.has_tag_name_local("Placemark")) {
        if let Some(wanted) = wanted
            && !placemark.ancestors().any(|a| a.has_tag_name_local("Folder") && child_text(a, "name").as_deref() == Some(wanted))
        {
            continue;
        }
        layer.features.push(feature(placemark, &mut table, layer.features.len() + 1));
    }
    if let Some(wanted) = wanted
        && layer.features.is_empty()
    {
        return Err(Error::input("the file has no such folder")
            .file(path)
            .layer(wanted)
            .expected(format!("one of {}", folders(&document, path).join(", ")))
            .hint("leave `layer` out to read all folders"));
    }
    table.finish(&mut layer);
    Ok(layer)
}

/// Local names: old files stand in other namespaces, or none.
trait LocalName {
    fn has_tag_name_local(&self, name: &str) -> bool;
}

impl LocalName for Node<'_, '_> {
    fn has_tag_name_local(&self, name: &str) -> bool {
        // Google's own additions (gx:Track and kin) share local names with nothing we read, but are no KML either.
        self.is_element()
            && self.tag_name().name() == name
            && !self.tag_name().namespace().is_some_and(|ns| ns.contains("google.com/kml/ext"))
    }
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|c| c.has_tag_name_local(name))
}

fn child_text(node: Node<'_, '_>, name: &str) -> Option<String> {
    let text: String = child(node, name)?.descendants().filter(Node::is_text).filter_map(|t| t.text()).collect();
    Some(text.trim().to_owned()).filter(|t| !t.is_empty())
}

fn feature(placemark: Node<'_, '_>, table: &mut Table, row: usize) -> RawFeature {
    let mut values = Vec::new();
    for name in ["name", "description", "address"] {
        if let Some(text) = child_text(placemark, name) {
            table.put(&mut values, name, Value::Text(text));
        }
    }
    for extended in placemark.children().filter(|c| c.has_tag_name_local("ExtendedData")) {
        for data in extended.descendants() {
            let Some(name) = data.attribute("name") else { continue };
            let text = if data.has_tag_name_local("Data") {
                child_text(data, "value")
            } else if data.has_tag_name_local("SimpleData") {
                data.text().map(|t| t.trim().to_owned()).filter(|t| !t.is_empty())
            } else {
                continue;
            };
            table.put(&mut values, name, text.map_or(Value::Null, Value::Text));
        }
    }
    let mut bad_height = false;
    let mut parts = Vec::new();
    let read = placemark.children().try_for_each(|c| geometry(c, &mut parts, &mut bad_height, 0));
    let shape = match (read, parts.len()) {
        (Err(reason), _) => RawShape::Unreadable(reason),
        (Ok(()), 0) => RawShape::None,
        (Ok(()), 1) => RawShape::Shape(parts.remove(0)),
        (Ok(()), _) => RawShape::Shape(together(parts)),
    };
    RawFeature { row, feature_id: placemark.attribute("id").map(str::to_owned), shape, bad_height, values }
}

/// Parts of one type as one multi-geometry.
fn together(parts: Vec<Geometry>) -> Geometry {
    if parts.iter().all(|p| matches!(p, Geometry::LineString(_))) {
        return Geometry::MultiLineString(parts.into_iter().filter_map(|p| LineString::try_from(p).ok()).collect());
    }
    if parts.iter().all(|p| matches!(p, Geometry::Polygon(_))) {
        return Geometry::MultiPolygon(parts.into_iter().filter_map(|p| Polygon::try_from(p).ok()).collect());
    }
    if parts.iter().all(|p| matches!(p, Geometry::Point(_))) {
        return Geometry::MultiPoint(parts.into_iter().filter_map(|p| Point::try_from(p).ok()).collect());
    }
    Geometry::GeometryCollection(GeometryCollection(parts))
}

fn geometry(node: Node<'_, '_>, parts: &mut Vec<Geometry>, bad: &mut bool, depth: usize) -> Result<(), String> {
    if depth > DEPTH_LIMIT {
        return Err("geometries lie too deep inside each other".to_owned());
    }
    if node.has_tag_name_local("MultiGeometry") {
        return node.children().try_for_each(|c| geometry(c, parts, bad, depth + 1));
    }
    if node.has_tag_name_local("Point") {
        parts.extend(coordinates(node, bad)?.first().map(|c| Geometry::Point(Point(*c))));
    } else if node.has_tag_name_local("LineString") || node.has_tag_name_local("LinearRing") {
        let line = coordinates(node, bad)?;
        parts.extend((!line.is_empty()).then_some(Geometry::LineString(LineString(line))));
    } else if node.has_tag_name_local("Polygon") {
        let ring = |boundary: Node<'_, '_>, bad: &mut bool| match child(boundary, "LinearRing") {
            Some(ring) => coordinates(ring, bad).map(LineString),
            None => Ok(LineString::new(vec![])),
        };
        let Some(outer) = child(node, "outerBoundaryIs") else { return Ok(()) };
        let outer = ring(outer, bad)?;
        let mut holes = Vec::new();
        for boundary in node.children().filter(|c| c.has_tag_name_local("innerBoundaryIs")) {
            holes.push(ring(boundary, bad)?);
        }
        parts.extend((!outer.0.is_empty()).then(|| Geometry::Polygon(Polygon::new(outer, holes))));
    }
    Ok(())
}

fn coordinates(node: Node<'_, '_>, bad: &mut bool) -> Result<Vec<Coord>, String> {
    let Some(text) = child_text(node, "coordinates") else { return Ok(Vec::new()) };
    let mut places = Vec::new();
    for tuple in text.split_whitespace() {
        let mut numbers = tuple.split(',').map(|n| n.trim().parse::<f64>());
        let (Some(Ok(x)), Some(Ok(y))) = (numbers.next(), numbers.next()) else { return Err("coordinate is no number".to_owned()) };
        if let Some(z) = numbers.next() {
            *bad |= !z.is_ok_and(plausible_height);
        }
        places.push(checked_place(x, y)?);
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_STYLES: &str = r##"<kml xmlns="http://www.opengis.net/kml/2.2"><Document>
      <Folder><name>Storm</name><Placemark><name>a</name><ExtendedData><SchemaData schemaUrl="#p"><SimpleData name="ID">P1</SimpleData></SchemaData></ExtendedData>
      <LineString><coordinates>1,2,0 3,4,0</coordinates></LineString></Placemark></Folder>
      <Folder><name>Storm</name><Placemark><ExtendedData><Data name="ID"><value>P2</value></Data></ExtendedData>
      <MultiGeometry><Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 1,0 1,1 0,0</coordinates></LinearRing></outerBoundaryIs></Polygon><Point><coordinates>5,NaN</coordinates></Point></MultiGeometry></Placemark></Folder>
      <Folder><name>Other</name><Placemark/></Folder></Document></kml>"##;

    #[test]
    fn folders_and_both_attribute_styles() {
        let path = Path::new("storm.kml");
        let all = read_text(path, TWO_STYLES, None).unwrap();
        assert_eq!(all.features.len(), 3);
        let id = all.field("ID").unwrap();
        assert_eq!(all.features[0].values[id], Value::Text("P1".into()));
        assert_eq!(all.features[1].values[id], Value::Text("P2".into()));
        assert!(matches!(all.features[1].shape, RawShape::Unreadable(_)));
        assert_eq!(read_text(path, TWO_STYLES, Some("Storm")).unwrap().features.len(), 2);
        let error = read_text(path, TWO_STYLES, Some("Sewer")).unwrap_err().to_string();
        assert!(error.contains("Storm, Other"), "{error}");
    }

    #[test]
    fn html_in_descriptions_is_no_depth() {
        let html = "<br>".repeat(2000);
        let text =
            format!("<kml><Document><Placemark><!-- {html} --><description><![CDATA[{html}]]></description></Placemark></Document></kml>");
        assert_eq!(read_text(Path::new("a.kml"), &text, None).unwrap().features.len(), 1);
    }

    #[test]
    fn hostile_text_is_refused() {
        let path = Path::new("storm.kml");
        assert!(read_text(path, "<!DOCTYPE a [<!ENTITY b \"c\">]><kml>&b;</kml>", None).is_err());
        assert!(read_text(path, &"<a>".repeat(200_000), None).is_err());
        assert!(read_text(path, "<html/>", None).unwrap_err().to_string().contains("html"));
    }
}
