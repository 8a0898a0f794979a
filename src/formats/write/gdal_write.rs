//! How does GDAL write GeoPackages and shapefiles for us, with the same content every time?

use std::fs;
use std::path::Path;

use gdal::config::{clear_thread_local_config_option, set_thread_local_config_option};
use gdal::spatial_ref::{AxisMappingStrategy, SpatialRef};
use gdal::vector::{Feature, FieldDefn, Geometry as OgrGeometry, LayerAccess, LayerOptions, OGRFieldType, OGRwkbGeometryType, ToGdal};
use gdal::{Dataset, DriverManager};
use geo::Geometry;

use super::{NOTE, shape_of};
use crate::crs::Crs;
use crate::error::{Error, Result};
use crate::formats::{RawLayer, Value};

/// The time that every GeoPackage bears.
const FIXED_TIME: &str = "2024-01-01T00:00:00.000Z";
/// The date that every `.dbf` bears: years since 1900, month, day.
const FIXED_DATE: [u8; 3] = [124, 1, 1];

pub(super) fn geopackage(path: &Path, layers: &[RawLayer]) -> Result<()> {
    remove(path)?;
    let machine = |cause| Error::machine("the GeoPackage cannot be written").file(path).cause(cause);
    set_thread_local_config_option("OGR_CURRENT_DATE", FIXED_TIME).map_err(machine)?;
    let written = dataset("GPKG", path).and_then(|mut dataset| {
        for layer in layers {
            write_layer(&mut dataset, path, layer, &["GEOMETRY_NAME=geom", &format!("DESCRIPTION={NOTE}")])?;
        }
        dataset.close().map_err(machine)
    });
    clear_thread_local_config_option("OGR_CURRENT_DATE").map_err(machine)?;
    written
}

pub(super) fn shapefile(path: &Path, layer: &RawLayer) -> Result<()> {
    for ending in ["shp", "shx", "dbf", "prj", "cpg"] {
        remove(&path.with_extension(ending))?;
    }
    if let Some(field) = layer.fields.iter().find(|f| f.name.len() > 10) {
        return Err(Error::usage("a shapefile's field names have at most ten characters").file(path).field(&field.name));
    }
    // GDAL fills an empty number with asterisks, which others read as a number that did not fit.
    let empty_number = |(place, field)| {
        let numeric = matches!(field_type(layer, place), OGRFieldType::OFTInteger | OGRFieldType::OFTReal);
        let empty = layer.features.iter().any(|f| f.values.get(place) == Some(&Value::Null));
        (numeric && empty).then_some(field)
    };
    if let Some(field) = layer.fields.iter().enumerate().find_map(empty_number) {
        return Err(Error::usage("a shapefile cannot hold an empty number").file(path).field(&field.name).hint("write a marker such as 0"));
    }
    let mut dataset = dataset("ESRI Shapefile", path)?;
    write_layer(&mut dataset, path, layer, &["ENCODING=UTF-8"])?;
    dataset.close().map_err(|cause| Error::machine("the shapefile cannot be written").file(path).cause(cause))?;
    // The driver puts today's date into the header.
    let table = path.with_extension("dbf");
    let machine = |cause| Error::machine("the file cannot be written").file(&table).cause(cause);
    let mut bytes = fs::read(&table).map_err(machine)?;
    if let Some(date) = bytes.get_mut(1..4) {
        date.copy_from_slice(&FIXED_DATE);
    }
    fs::write(&table, bytes).map_err(machine)
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::machine("the old file cannot be removed").file(path).cause(cause))
        }
        _ => Ok(()),
    }
}

fn dataset(driver: &str, path: &Path) -> Result<Dataset> {
    let made = DriverManager::get_driver_by_name(driver).and_then(|driver| driver.create_vector_only(path));
    made.map_err(|cause| Error::machine("the file cannot be made").file(path).cause(cause))
}

fn write_layer(dataset: &mut Dataset, path: &Path, layer: &RawLayer, options: &[&str]) -> Result<()> {
    let fault = |cause| Error::machine("the layer cannot be written").file(path).layer(&layer.name).cause(cause);
    let crs = layer.crs.as_deref().map(Crs::parse).transpose()?;
    let mut reference = crs.map(|crs| SpatialRef::from_wkt(crs.wkt())).transpose().map_err(fault)?;
    if let Some(reference) = &mut reference {
        reference.set_axis_mapping_strategy(AxisMappingStrategy::TraditionalGisOrder);
    }
    let target = dataset
        .create_layer(LayerOptions { name: &layer.name, srs: reference.as_ref(), ty: geometry_type(layer), options: Some(options) })
        .map_err(fault)?;
    for (place, field) in layer.fields.iter().enumerate() {
        let definition = FieldDefn::new(&field.name, field_type(layer, place)).map_err(fault)?;
        match field_type(layer, place) {
            OGRFieldType::OFTString => definition.set_width(width(layer, place)),
            OGRFieldType::OFTReal => {
                definition.set_width(13);
                definition.set_precision(3);
            }
            _ => {}
        }
        definition.add_to_layer(&target).map_err(fault)?;
    }
    for feature in &layer.features {
        let mut row = Feature::new(target.defn()).map_err(fault)?;
        for (place, value) in feature.values.iter().enumerate() {
            match value {
                Value::Null => row.set_field_null(place),
                Value::Bool(truth) => row.set_field_integer(place, i32::from(*truth)),
                Value::Int(number) => row.set_field_integer64(place, *number),
                Value::Real(number) => row.set_field_double(place, *number),
                Value::Text(text) | Value::Date(text) => row.set_field_string(place, text),
            }
            .map_err(fault)?;
        }
        if let Some(shape) = shape_of(&feature.shape) {
            row.set_geometry(ogr(shape, geometry_type(layer)).map_err(fault)?).map_err(fault)?;
        }
        row.create(&target).map_err(fault)?;
    }
    Ok(())
}

/// The geometry type that holds every shape of the layer.
fn geometry_type(layer: &RawLayer) -> OGRwkbGeometryType::Type {
    let (mut lines, mut areas, mut several) = (false, false, false);
    for shape in layer.features.iter().filter_map(|f| shape_of(&f.shape)) {
        lines |= matches!(shape, Geometry::LineString(_) | Geometry::MultiLineString(_));
        areas |= matches!(shape, Geometry::Polygon(_) | Geometry::MultiPolygon(_));
        several |= matches!(shape, Geometry::MultiLineString(_) | Geometry::MultiPolygon(_));
    }
    match (lines, areas, several) {
        (false, false, _) => OGRwkbGeometryType::wkbPoint,
        (true, false, false) => OGRwkbGeometryType::wkbLineString,
        (true, false, true) => OGRwkbGeometryType::wkbMultiLineString,
        (false, true, false) => OGRwkbGeometryType::wkbPolygon,
        (false, true, true) => OGRwkbGeometryType::wkbMultiPolygon,
        (true, true, _) => OGRwkbGeometryType::wkbUnknown,
    }
}

/// The shape for GDAL, as a multi-part one where the layer holds such.
fn ogr(shape: &Geometry, kind: OGRwkbGeometryType::Type) -> gdal::errors::Result<OgrGeometry> {
    match (shape, kind) {
        (Geometry::LineString(line), OGRwkbGeometryType::wkbMultiLineString) => geo::MultiLineString(vec![line.clone()]).to_gdal(),
        (Geometry::Polygon(polygon), OGRwkbGeometryType::wkbMultiPolygon) => geo::MultiPolygon(vec![polygon.clone()]).to_gdal(),
        _ => shape.to_gdal(),
    }
}

fn field_type(layer: &RawLayer, place: usize) -> OGRFieldType::Type {
    let values = || layer.features.iter().filter_map(|f| f.values.get(place));
    let any = |test: fn(&Value) -> bool| values().any(test);
    if any(|v| matches!(v, Value::Text(_))) {
        OGRFieldType::OFTString
    } else if any(|v| matches!(v, Value::Date(_))) {
        OGRFieldType::OFTDate
    } else if any(|v| matches!(v, Value::Real(_))) {
        OGRFieldType::OFTReal
    } else if any(|v| matches!(v, Value::Int(_) | Value::Bool(_))) {
        OGRFieldType::OFTInteger
    } else {
        OGRFieldType::OFTString
    }
}

fn width(layer: &RawLayer, place: usize) -> i32 {
    let longest = layer.features.iter().filter_map(|f| f.values.get(place)).map(|v| if let Value::Text(t) = v { t.len() } else { 0 }).max();
    i32::try_from(longest.unwrap_or(0).clamp(1, 254)).unwrap_or(254)
}
