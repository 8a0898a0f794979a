//! How do raw layers become files? GeoJSON, Esri JSON, KML and CSV in our own code, GeoPackage and shapefile by GDAL.
//!
//! The same layers give the same bytes: numbers are rounded, times are fixed, nothing depends on the clock. (The bytes of a
//! GeoPackage also depend on the versions of GDAL and SQLite; its features do not.)
//! Every file says that its content is synthetic where its format has a place for it.

use std::fs;
use std::path::Path;

use geo::{Coord, Geometry, MapCoords};

use crate::crs::{Crs, Transform};
use crate::error::{Error, Result};

use super::{RawLayer, RawShape};

mod esri_json_write;
mod gdal_write;
mod geojson_write;
mod kml_write;
mod table_write;

/// What every file says about itself.
const NOTE: &str = "SYNTHETIC DATA: invented for demonstration, no real place, person or business";

/// A file format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// GeoPackage, any number of layers.
    GeoPackage,
    /// Esri shapefile, one layer, field names of at most ten characters.
    Shapefile,
    /// GeoJSON (RFC 7946): longitude and latitude, one layer.
    GeoJson,
    /// The JSON of an Esri feature service, one layer.
    EsriJson,
    /// KML: longitude and latitude, one layer.
    Kml,
    /// Comma-separated table; points become two columns, `LONGITUDE` and `LATITUDE` or `X` and `Y`.
    Csv,
}

/// A file to write.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputFile {
    /// Its path in the folder, with `/`.
    pub path: String,
    /// Its format.
    pub format: Format,
    /// The CRS of the file; that of the layers where absent. GeoJSON and KML are always longitude and latitude.
    pub crs: Option<String>,
    /// Its layers, each with its own CRS.
    pub layers: Vec<RawLayer>,
}

/// Writes a file into a folder, with the folders on the way; an existing file is replaced.
///
/// # Errors
/// A layer without a CRS or with values that the format cannot hold, more layers than the format can hold, a disk that refuses.
pub fn write_file(folder: &Path, file: &OutputFile) -> Result<()> {
    let path = folder.join(&file.path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|cause| Error::machine("the folder cannot be made").file(parent).cause(cause))?;
    }
    let target = match file.format {
        // NAD 83 degrees are written as they are: a shift between the two datums is below a metre, and which one is
        // applied depends on the grids of the machine.
        Format::GeoJson | Format::Kml => Some("EPSG:4269"),
        _ => file.crs.as_deref(),
    };
    let layers = file.layers.iter().map(|layer| moved(layer, target)).collect::<Result<Vec<RawLayer>>>()?;
    let text = match (file.format, layers.as_slice()) {
        (Format::GeoPackage, layers) => return gdal_write::geopackage(&path, layers),
        (Format::Shapefile, [layer]) => return gdal_write::shapefile(&path, layer),
        (Format::GeoJson, [layer]) => geojson_write::text(layer),
        (Format::EsriJson, [layer]) => esri_json_write::text(layer)?,
        (Format::Kml, [layer]) => kml_write::text(layer),
        (Format::Csv, [layer]) => table_write::text(layer)?,
        _ => return Err(Error::usage("this format holds one layer").file(&path).found(format!("{} layers", layers.len()))),
    };
    fs::write(&path, text).map_err(|cause| Error::machine("the file cannot be written").file(&path).cause(cause))
}

/// The layer in another CRS, its coordinates rounded: degrees to 7 places (1 cm), lengths to 3.
fn moved(layer: &RawLayer, target: Option<&str>) -> Result<RawLayer> {
    let Some(target) = target else { return Ok(layer.clone()) };
    let own = layer.crs.as_deref().ok_or_else(|| Error::usage("a layer without a CRS cannot be written").layer(&layer.name))?;
    let (from, to) = (Crs::parse(own)?, Crs::parse(target)?);
    let transform = Transform::new(&from, &to)?;
    let scale = if to.is_projected() { 1e3 } else { 1e7 };
    let mut layer = layer.clone();
    layer.crs = Some(target.to_owned());
    for feature in &mut layer.features {
        if let RawShape::Shape(shape) = &mut feature.shape {
            *shape = shape.map_coords(|c| {
                let mut points = [[c.x, c.y]];
                transform.points(&mut points);
                Coord { x: (points[0][0] * scale).round() / scale, y: (points[0][1] * scale).round() / scale }
            });
        }
    }
    Ok(layer)
}

/// A position as JSON: `[x,y]`.
fn position(out: &mut String, c: Coord) {
    out.push_str(&format!("[{},{}]", c.x, c.y));
}

/// Positions as JSON, joined.
fn positions(out: &mut String, coords: &[Coord]) {
    out.push('[');
    for (at, c) in coords.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        position(out, *c);
    }
    out.push(']');
}

/// Text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// The shape, where there is one.
fn shape_of(shape: &RawShape) -> Option<&Geometry> {
    match shape {
        RawShape::Shape(shape) => Some(shape),
        RawShape::None | RawShape::Unreadable(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{RawFeature, RawField, Value};
    use geo::{Point, polygon};
    use std::path::PathBuf;

    fn layer(shapes: Vec<Geometry>) -> RawLayer {
        let feature = |(at, shape): (usize, Geometry)| RawFeature {
            row: at + 1,
            feature_id: None,
            shape: RawShape::Shape(shape),
            bad_height: false,
            values: vec![Value::Text(format!("A & \"B\" {at}")), Value::Date("2024-02-29".to_owned())],
        };
        RawLayer {
            file: PathBuf::new(),
            name: "l".to_owned(),
            crs: Some("EPSG:2261".to_owned()),
            crs_is_implied: false,
            fields: vec![RawField::plain("NAME"), RawField { is_date: true, ..RawField::plain("SEEN") }],
            features: shapes.into_iter().enumerate().map(feature).collect(),
            issues: Vec::new(),
            doubts: Vec::new(),
        }
    }

    fn written(format: Format, path: &str, layer: RawLayer) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        write_file(folder.path(), &OutputFile { path: path.to_owned(), format, crs: None, layers: vec![layer] }).unwrap();
        fs::read(folder.path().join(path)).unwrap()
    }

    fn point() -> Geometry {
        Point::new(912_000.0, 968_000.5).into()
    }

    #[test]
    fn the_same_layer_gives_the_same_bytes() {
        for (format, path) in [(Format::GeoPackage, "a/l.gpkg"), (Format::Shapefile, "l.dbf"), (Format::GeoJson, "l.geojson")] {
            let path = path.to_owned();
            let target = if format == Format::Shapefile { "l.shp" } else { &path };
            let once = || {
                let folder = tempfile::tempdir().unwrap();
                let file = OutputFile { path: target.to_owned(), format, crs: None, layers: vec![layer(vec![point()])] };
                write_file(folder.path(), &file).unwrap();
                fs::read(folder.path().join(&path)).unwrap()
            };
            assert!(once() == once(), "{path}");
        }
    }

    #[test]
    fn dates_leave_for_esri_as_milliseconds() {
        let text = String::from_utf8(written(Format::EsriJson, "l.json", layer(vec![point()]))).unwrap();
        assert!(text.contains("\"SEEN\":1709164800000"), "{text}");
        assert!(text.contains("{\"x\":912000,\"y\":968000.5}"), "{text}");
    }

    #[test]
    fn kml_escapes_and_csv_quotes() {
        let kml = String::from_utf8(written(Format::Kml, "l.kml", layer(vec![point()]))).unwrap();
        assert!(kml.contains("A &amp; &quot;B&quot; 0"), "{kml}");
        let csv = String::from_utf8(written(Format::Csv, "l.csv", layer(vec![point()]))).unwrap();
        assert_eq!(csv, "NAME,SEEN,X,Y\n\"A & \"\"B\"\" 0\",2024-02-29,912000,968000.5\n");
    }

    #[test]
    fn outer_rings_of_geojson_run_against_the_clock() {
        let clockwise = polygon![(x: 912_000.0, y: 968_000.0), (x: 912_000.0, y: 968_100.0), (x: 912_100.0, y: 968_100.0), (x: 912_000.0, y: 968_000.0)];
        let text = String::from_utf8(written(Format::GeoJson, "l.geojson", layer(vec![clockwise.into()]))).unwrap();
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        let ring: Vec<[f64; 2]> = serde_json::from_value(read["features"][0]["geometry"]["coordinates"][0].clone()).unwrap();
        let twice: f64 = ring.windows(2).map(|p| p[0][0] * p[1][1] - p[1][0] * p[0][1]).sum();
        assert!(twice > 0.0, "{ring:?}");
    }

    #[test]
    fn what_a_format_cannot_hold_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let two = OutputFile {
            path: "l.geojson".to_owned(),
            format: Format::GeoJson,
            crs: None,
            layers: vec![layer(vec![point()]), layer(vec![point()])],
        };
        assert!(write_file(folder.path(), &two).unwrap_err().to_string().contains("one layer"));
        let mut long = layer(vec![point()]);
        long.fields[0].name = "ELEVENCHARS".to_owned();
        let long = OutputFile { path: "l.shp".to_owned(), format: Format::Shapefile, crs: None, layers: vec![long] };
        assert!(write_file(folder.path(), &long).unwrap_err().to_string().contains("ten characters"));
    }
}
