//! How is a layer written as a table? Points become two columns after the fields.

use geo::Geometry;

use super::kml_write::plain;
use super::shape_of;
use crate::crs::Crs;
use crate::error::{Error, Result};
use crate::formats::RawLayer;

pub(super) fn text(layer: &RawLayer) -> Result<String> {
    let fault = |cause: csv::Error| Error::machine("the table cannot be written").layer(&layer.name).cause(cause);
    let has_points = layer.features.iter().any(|f| shape_of(&f.shape).is_some());
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    let mut header: Vec<&str> = layer.fields.iter().map(|f| f.name.as_str()).collect();
    if has_points {
        let degrees = layer.crs.as_deref().map(Crs::parse).transpose()?.is_some_and(|crs| !crs.is_projected());
        header.extend(if degrees { ["LONGITUDE", "LATITUDE"] } else { ["X", "Y"] });
    }
    writer.write_record(&header).map_err(fault)?;
    for feature in &layer.features {
        let mut row: Vec<String> = feature.values.iter().map(|v| plain(v).unwrap_or_default()).collect();
        if has_points {
            row.extend(match shape_of(&feature.shape) {
                Some(Geometry::Point(point)) => [point.x().to_string(), point.y().to_string()],
                None => [String::new(), String::new()],
                Some(_) => return Err(Error::usage("a table holds points, not lines or areas").layer(&layer.name)),
            });
        }
        writer.write_record(&row).map_err(fault)?;
    }
    let bytes = writer.into_inner().map_err(|_| Error::machine("the table cannot be written").layer(&layer.name))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
