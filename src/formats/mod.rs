//! How do bytes become raw features, and features bytes?
//!
//! Readers yield plain raw features (typed values, geometry in the file's own coordinates, the CRS as text) and no opinion:
//! what a field means is decided in [`crate::ingest`]. GeoJSON, Esri JSON, CSV, KML and SWMM are read here in Rust, since our checks
//! need the raw text; GDAL reads the rest, with an allow-list of drivers, and never the network.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use geo::Geometry;

use crate::data_issue::DataIssue;

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
}

/// The shape of a feature, as far as it can be read.
#[derive(Clone, Debug, PartialEq)]
pub enum RawShape {
    /// No geometry, or an empty one.
    None,
    /// A planar geometry with finite coordinates; curves are flattened to within 3 mm.
    Shape(Geometry),
    /// A geometry that could not be read, with the reason.
    Unreadable(String),
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
    /// The fields.
    pub fields: Vec<RawField>,
    /// The features, in the file's order.
    pub features: Vec<RawFeature>,
    /// What the reader noticed about the file as a whole; `layer` is filled in by [`crate::ingest`].
    pub issues: Vec<DataIssue>,
}

impl RawLayer {
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
