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
