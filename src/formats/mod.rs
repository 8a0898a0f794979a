//! How do bytes become raw features, and features bytes?
//!
//! Readers yield plain raw features (typed values, geometry in the file's own coordinates, the CRS as text) and no opinion:
//! what a field means is decided in [`crate::ingest`]. GeoJSON, Esri JSON, CSV, KML, shapefiles and SWMM are read here in Rust, since our checks
//! need the raw text; GDAL reads the rest, with an allow-list of drivers, and never the network.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use geo::{Coord, Geometry};

use crate::data_issue::{DataIssue, IssueCode};
use crate::error::{Error, Result};

mod csv;
mod curves;
mod esri_json;
mod gdal;
mod geojson;
mod json;
mod kml;
mod rings;
mod shapefile;
pub mod swmm;
mod table;
mod text;
mod wkb;

pub(crate) use csv::parse_number;
pub use swmm::SwmmModel;

pub mod geopackage;
mod wkb_write;

pub mod write;

/// A value as the file holds it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Another number, always finite.
    Real(f64),
    /// Text, as it stands; also whole numbers beyond 64 bits, exact.
    Text(String),
    /// A date `2024-02-29` or an instant `2024-04-27T10:22:34.016Z`.
    Date(String),
}

/// A field of a layer.
#[derive(Clone, Debug, PartialEq)]
pub struct RawField {
    /// Its name, in the file's own spelling.
    pub name: String,
    /// True where the file declares it as a date.
    pub is_date: bool,
    /// The words of a coded-value domain, by code as text.
    pub domain: BTreeMap<String, String>,
    /// True for the driver's own row number, which a new export may change.
    pub is_row_number: bool,
}

impl RawField {
    /// A field of which nothing is known but its name.
    pub fn plain(name: impl Into<String>) -> Self {
        RawField { name: name.into(), is_date: false, domain: BTreeMap::new(), is_row_number: false }
    }
}

/// The shape of a feature, as far as it can be read.
#[derive(Clone, Debug, PartialEq)]
pub enum RawShape {
    /// No geometry, or an empty one.
    None,
    /// A planar geometry with finite coordinates; curves are flattened to within 3 mm.
    Shape(Geometry),
    /// A geometry that could not be read, with the reason, which begins with `curve` or `coordinate` where one of those is at fault.
    Unreadable(String),
}

impl RawShape {
    /// The code under which an unreadable shape is reported.
    pub fn unreadable_code(reason: &str) -> IssueCode {
        if reason.starts_with("curve") {
            IssueCode::CurveUnreadable
        } else if reason.starts_with("coordinate") {
            IssueCode::NonFinite
        } else {
            IssueCode::InvalidGeometry
        }
    }
}

/// One feature.
#[derive(Clone, Debug, PartialEq)]
pub struct RawFeature {
    /// Where it stands in the file, from 1, for people who look it up.
    pub row: usize,
    /// GeoJSON's top-level id, where there is one.
    pub feature_id: Option<String>,
    /// Its shape.
    pub shape: RawShape,
    /// True where a height or measure was not a number and was dropped.
    pub bad_height: bool,
    /// One value for each field of the layer.
    pub values: Vec<Value>,
}

/// One layer of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct RawLayer {
    /// The file.
    pub file: PathBuf,
    /// The layer's name inside the file.
    pub name: String,
    /// Its CRS as text (a code or WKT), where the file says one.
    pub crs: Option<String>,
    /// True where the file says no CRS and its format stands for longitude and latitude.
    pub crs_is_implied: bool,
    /// The fields.
    pub fields: Vec<RawField>,
    /// The features, in the file's order.
    pub features: Vec<RawFeature>,
    /// What the reader noticed about the file as a whole; the issues' `layer` is filled in by [`crate::ingest`].
    pub issues: Vec<DataIssue>,
    /// What the reader noticed about single values; ingest turns rows into ids.
    pub doubts: Vec<RowDoubt>,
}

/// A value that could not be read as it should, by its row, since readers do not know ids.
#[derive(Clone, Debug, PartialEq)]
pub struct RowDoubt {
    /// The feature's row.
    pub row: usize,
    /// What sort of doubt.
    pub code: IssueCode,
    /// The field, where it is about one.
    pub field: Option<String>,
    /// What the file holds there.
    pub value: Option<String>,
}

impl RawLayer {
    fn new(path: &Path, name: impl Into<String>) -> Self {
        RawLayer {
            file: path.to_owned(),
            name: name.into(),
            crs: None,
            crs_is_implied: false,
            fields: Vec::new(),
            features: Vec::new(),
            issues: Vec::new(),
            doubts: Vec::new(),
        }
    }

    /// The names of its fields, for messages.
    pub fn field_list(&self) -> String {
        if self.fields.is_empty() {
            return "no fields at all".to_owned();
        }
        self.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The place of a field among the values. Names differ by case: an exact match only.
    pub fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|f| f.name == name)
    }

    /// The file's name for messages.
    pub fn file_name(&self) -> String {
        file_name(&self.file)
    }
}

/// What the reader needs to know beside the path.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The layer inside the file.
    pub layer: Option<String>,
    /// Text encoding that a person stated.
    pub encoding: Option<String>,
    /// CSV separator.
    pub separator: Option<char>,
    /// CSV decimal mark.
    pub decimal: Option<char>,
    /// CSV columns with the coordinates: x, then y.
    pub xy: Option<(String, String)>,
    /// A table whose rows belong to the features in the same order.
    pub attributes_by_row: Option<PathBuf>,
}

/// The last part of a path, for messages.
pub fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.to_string_lossy().into_owned(), |n| n.to_string_lossy().into_owned())
}

/// A coordinate beyond this is none of any system on earth, in whatever unit.
const FARTHEST: f64 = 1e10;

/// A place whose coordinates are numbers that can be coordinates.
fn checked_place(x: f64, y: f64) -> Result<Coord, String> {
    if x.abs() <= FARTHEST && y.abs() <= FARTHEST {
        return Ok(Coord { x, y });
    }
    Err(format!("coordinate is no number or beyond all bounds ({x}, {y})"))
}

/// A height that can be one: formats write NaN or -10^38 for "none".
fn plausible_height(z: f64) -> bool {
    z.abs() <= 1e6
}

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Json,
    Csv,
    Kml,
    Shapefile,
    Dbf,
    Swmm,
    Gdal(gdal::Format),
}

/// Decides by extension and by what the file begins with; both must agree.
fn reader_of(path: &Path) -> Result<Reader> {
    let name = file_name(path).to_lowercase();
    let text = path.to_string_lossy();
    let missing = || Error::input("the file is not there").file(path).hint("check `path` in headwall.toml, relative to the town's folder");
    if text.contains("://") || text.starts_with("/vsi") {
        return Err(Error::input("only files on this machine are read").file(path).hint("download the data first"));
    }
    if path.is_dir() {
        if name.ends_with(".gdb") {
            return Ok(Reader::Gdal(gdal::Format::FileGeodatabase));
        }
        return Err(Error::input("this is a folder").file(path).expected("a file, or a folder whose name ends in .gdb"));
    }
    let mut head = Vec::new();
    let file = std::fs::File::open(path).map_err(|cause| missing().cause(cause))?;
    file.take(4096).read_to_end(&mut head).map_err(|cause| Error::input("the file cannot be read").file(path).cause(cause))?;
    let agree = |expected: &str, holds: bool, reader: Reader| {
        if holds {
            return Ok(reader);
        }
        Err(Error::input("the file is not what its name says").file(path).expected(expected).hint("copy or export the file again"))
    };
    let extension = name.rsplit_once('.').map_or("", |(_, e)| e);
    let markup = head.iter().find(|b| !b.is_ascii_whitespace() && !matches!(b, 0xef | 0xbb | 0xbf)) == Some(&b'<');
    match extension {
        "geojson" | "json" | "geojsonl" | "geojsons" | "ndjson" | "jsonl" | "esrijson" | "topojson" => {
            let topology = extension == "topojson" || geojson::is_topology(&String::from_utf8_lossy(&head));
            Ok(if topology { Reader::Gdal(gdal::Format::TopoJson) } else { Reader::Json })
        }
        "csv" | "tsv" | "txt" | "tab" => Ok(Reader::Csv),
        "kml" => agree("KML, which is XML", markup, Reader::Kml),
        "inp" => Ok(Reader::Swmm),
        "shp" => Ok(Reader::Shapefile),
        "dbf" => Ok(Reader::Dbf),
        "gpkg" => agree("a SQLite database", head.starts_with(b"SQLite format 3\0"), Reader::Gdal(gdal::Format::GeoPackage)),
        "fgb" => agree("FlatGeobuf", head.starts_with(b"fgb"), Reader::Gdal(gdal::Format::FlatGeobuf)),
        "gml" => agree("GML, which is XML", markup, Reader::Gdal(gdal::Format::Gml)),
        "zip" if name.ends_with(".gdb.zip") => {
            agree("a zipped File Geodatabase", head.starts_with(b"PK"), Reader::Gdal(gdal::Format::ZippedGeodatabase))
        }
        "zip" | "kmz" | "7z" | "rar" => Err(Error::input("packed files are not read, apart from .gdb.zip")
            .file(path)
            .hint("unpack it, and name the .shp, .kml or other file that comes out")),
        "shx" | "prj" | "cpg" | "sbn" | "sbx" => {
            Err(Error::input("this is a part of a shapefile").file(path).hint("name the file that ends in .shp"))
        }
        _ => Err(Error::input("this sort of file is not read")
            .file(path)
            .found(if extension.is_empty() { "no extension".to_owned() } else { format!(".{extension}") })
            .expected(".geojson, .json, .gpkg, .shp, .gdb, .gdb.zip, .csv, .kml, .fgb, .topojson, .gml or .inp")
            .hint("export the layer as GeoJSON or GeoPackage")),
    }
}

/// Reads one layer of a file.
///
/// # Errors
/// A file that is not there, is not what its name says, is damaged, lacks a part, or has several layers where none is named.
/// The message names file, layer and what was found.
pub fn read(path: &Path, options: &ReadOptions) -> Result<RawLayer> {
    let mut layer = match reader_of(path)? {
        Reader::Json => geojson::read(path)?,
        Reader::Csv => csv::read(path, options)?,
        Reader::Kml => kml::read(path, options)?,
        Reader::Shapefile => shapefile::read(path, options)?,
        Reader::Dbf => shapefile::read_table(path, options)?,
        Reader::Gdal(format) => gdal::read(path, format, options.layer.as_deref())?,
        Reader::Swmm => {
            return Err(Error::settings("a SWMM model is more than one layer").file(path).hint("set role = \"swmm\" for this file"));
        }
    };
    if let Some(table) = &options.attributes_by_row {
        join_by_row(&mut layer, table, options)?;
    }
    Ok(layer)
}

/// The names of the layers in a file, in its order. A format that has one layer calls it as the file.
///
/// # Errors
/// As [`read`].
pub fn layers(path: &Path) -> Result<Vec<String>> {
    match reader_of(path)? {
        Reader::Gdal(format) => gdal::layers(path, format),
        Reader::Kml => kml::layers(path),
        _ => Ok(vec![geojson::stem(path)]),
    }
}

/// Gives the features the rows of a table, first to first.
fn join_by_row(layer: &mut RawLayer, table: &Path, options: &ReadOptions) -> Result<()> {
    let options = ReadOptions { layer: None, xy: None, attributes_by_row: None, ..options.clone() };
    let rows = read(table, &options)?;
    if rows.features.len() != layer.features.len() {
        return Err(Error::input(format!("the rows of {} do not belong to its features", file_name(table)))
            .file(&layer.file)
            .found(format!("{} features and {} rows", layer.features.len(), rows.features.len()))
            .expected("one row for each feature, in the same order")
            .hint("`attributes_by_row` needs the whole table in the file's own order"));
    }
    // What was said of the missing table is made good by this one.
    layer.issues.retain(|issue| issue.code != IssueCode::InputIncomplete);
    layer.issues.extend(rows.issues);
    let before = layer.fields.len();
    layer.fields.extend(rows.fields);
    for (feature, row) in layer.features.iter_mut().zip(rows.features) {
        feature.values.resize(before, Value::Null);
        feature.values.extend(row.values);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
