//! Which features does this shapefile hold? Read here rather than by GDAL, since our checks need the bytes that a driver hides:
//! asterisks for numbers that did not fit, dates that cannot be, deleted records, letters in an encoding that nobody named.
//!
//! Nothing is written: a missing part is said, never rebuilt beside the town's own files.

use std::path::{Path, PathBuf};

use geo::{Coord, Geometry, LineString, MultiLineString, MultiPoint, Point};

use super::geojson::stem;
use super::rings::polygons_from_rings;
use super::{RawFeature, RawLayer, RawShape, ReadOptions, checked_place, file_name, plausible_height, text};
use crate::data_issue::{DataIssue, IssueCode};
use crate::error::{Error, Result};

mod dbf;

/// Below this a measure or height means "no data" (the format's own rule).
const NO_DATA: f64 = -1e38;

/// Reads a shapefile with whatever of its parts is there.
pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<RawLayer> {
    let shapes = shapes(path)?;
    let mut layer = RawLayer::new(path, stem(path));
    layer.crs = projection(path)?;
    let Some(table) = part(path, "dbf") else {
        layer.issues.push(
            DataIssue::new(IssueCode::InputIncomplete, "")
                .file(file_name(path))
                .message(format!("{} has no .dbf beside it, so its features have no attributes", file_name(path))),
        );
        for (at, (shape, bad_height)) in shapes.into_iter().enumerate() {
            layer.features.push(RawFeature { row: at + 1, feature_id: None, shape, bad_height, values: Vec::new() });
        }
        return Ok(layer);
    };
    let table = dbf::read(&table, &encoding_hint(path, options)?)?;
    if table.rows.len() != shapes.len() {
        return Err(Error::input("the shapes and the table do not belong together")
            .file(path)
            .found(format!("{} shapes and {} rows", shapes.len(), table.rows.len()))
            .expected("as many of one as of the other")
            .hint("copy all parts of the shapefile again from one place"));
    }
    layer.fields = table.fields;
    layer.doubts = table.doubts;
    layer.issues.extend(table.issues);
    for (at, ((shape, bad_height), values)) in shapes.into_iter().zip(table.rows).enumerate() {
        // A row marked as deleted is no feature, shape and all.
        let Some(values) = values else { continue };
        layer.features.push(RawFeature { row: at + 1, feature_id: None, shape, bad_height, values });
    }
    Ok(layer)
}

/// Reads a `.dbf` on its own, as a table without places.
pub(super) fn read_table(path: &Path, options: &ReadOptions) -> Result<RawLayer> {
    let table = dbf::read(path, &encoding_hint(path, options)?)?;
    let mut layer = RawLayer::new(path, stem(path));
    layer.fields = table.fields;
    layer.doubts = table.doubts;
    layer.issues = table.issues;
    for (at, values) in table.rows.into_iter().enumerate() {
        let Some(values) = values else { continue };
        layer.features.push(RawFeature { row: at + 1, feature_id: None, shape: RawShape::None, bad_height: false, values });
    }
    Ok(layer)
}

/// A part of the shapefile beside it, in small or capital letters.
fn part(path: &Path, extension: &str) -> Option<PathBuf> {
    let upper = extension.to_ascii_uppercase();
    [extension, &upper].iter().map(|e| path.with_extension(e)).find(|p| p.is_file())
}

fn projection(path: &Path) -> Result<Option<String>> {
    let Some(prj) = part(path, "prj") else { return Ok(None) };
    let bytes = text::bytes(&prj)?;
    let wkt = String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').trim().to_owned();
    Ok((!wkt.is_empty()).then_some(wkt))
}

fn encoding_hint(path: &Path, options: &ReadOptions) -> Result<dbf::Encoding> {
    let stated = options.encoding.as_deref().map(|label| text::named_encoding(path, label)).transpose()?;
    let cpg = match part(path, "cpg") {
        Some(cpg) => String::from_utf8_lossy(&text::bytes(&cpg)?).trim_start_matches('\u{feff}').trim().to_owned(),
        None => String::new(),
    };
    Ok(dbf::Encoding { stated, cpg: (!cpg.is_empty()).then_some(cpg) })
}

type Shapes = Vec<(RawShape, bool)>;

fn shapes(path: &Path) -> Result<Shapes> {
    let bytes = text::bytes(path)?;
    let missing = format!("{}.shx", stem(path));
    let Some(index) = part(path, "shx") else {
        return Err(Error::input(format!("a part of the shapefile is missing: {missing}, its index"))
            .file(path)
            .hint(format!("copy {missing} from where the shapefile came from, or export the layer again")));
    };
    let index_bytes = text::bytes(&index)?;
    for (part, bytes) in [(path, &bytes), (index.as_path(), &index_bytes)] {
        if bytes.len() < 100 || big(bytes, 0) != Some(9994) {
            return Err(Error::input("this is no shapefile")
                .file(part)
                .expected("the number 9994 at its start")
                .hint("copy the file again"));
        }
    }
    let mut shapes = Vec::with_capacity(index_bytes.len() / 8);
    for entry in index_bytes[100..].chunks_exact(8) {
        let offset = big(entry, 0).and_then(|words| usize::try_from(words).ok()).map(|words| words.saturating_mul(2));
        // The header of the record says its length; the index repeats it, and disagrees in some files.
        let record = offset.and_then(|start| {
            let length = usize::try_from(big(&bytes, start.checked_add(4)?)?).ok()?.checked_mul(2)?;
            bytes.get(start.checked_add(8)?..start.checked_add(8)?.checked_add(length)?)
        });
        shapes.push(match record {
            Some(record) => {
                let mut reader = Record { bytes: record, bad_height: false };
                let shape = match reader.shape() {
                    Ok(Some(shape)) => RawShape::Shape(shape),
                    Ok(None) => RawShape::None,
                    Err(reason) => RawShape::Unreadable(reason),
                };
                (shape, reader.bad_height)
            }
            None => (RawShape::Unreadable("the record lies outside the file".to_owned()), false),
        });
    }
    Ok(shapes)
}

fn big(bytes: &[u8], at: usize) -> Option<i32> {
    bytes.get(at..)?.first_chunk::<4>().map(|b| i32::from_be_bytes(*b))
}

struct Record<'a> {
    bytes: &'a [u8],
    bad_height: bool,
}

const CUT_SHORT: &str = "the record is cut short";

impl Record<'_> {
    fn shape(&mut self) -> Result<Option<Geometry>, String> {
        match self.int(0)? {
            0 => Ok(None),
            1 | 21 => self.point(4).map(Some),
            11 => {
                let z = self.double(20)?;
                self.check_height(z);
                self.point(4).map(Some)
            }
            kind @ (8 | 18 | 28) => {
                let count = self.count(36)?;
                let places = self.places(40, count)?;
                self.heights(kind == 18, 40 + 16 * count, count);
                Ok((!places.is_empty()).then(|| Geometry::MultiPoint(MultiPoint(places.into_iter().map(Point).collect()))))
            }
            kind @ (3 | 13 | 23) => {
                let mut lines = self.parts(kind == 13)?;
                Ok(match lines.len() {
                    0 => None,
                    1 => lines.pop().map(Geometry::LineString),
                    _ => Some(Geometry::MultiLineString(MultiLineString(lines))),
                })
            }
            kind @ (5 | 15 | 25) => {
                let mut shape = polygons_from_rings(self.parts(kind == 15)?);
                Ok(match shape.0.len() {
                    0 => None,
                    1 => shape.0.pop().map(Geometry::Polygon),
                    _ => Some(Geometry::MultiPolygon(shape)),
                })
            }
            kind => Err(format!("shape type {kind} is not read here")),
        }
    }

    fn parts(&mut self, has_z: bool) -> Result<Vec<LineString>, String> {
        let (parts, points) = (self.count(36)?, self.count(40)?);
        let first = 44usize.saturating_add(4usize.saturating_mul(parts));
        if first.saturating_add(points.saturating_mul(16)) > self.bytes.len() {
            return Err(CUT_SHORT.to_owned());
        }
        let places = self.places(first, points)?;
        self.heights(has_z, first + 16 * points, points);
        let mut starts = Vec::with_capacity(parts + 1);
        for part in 0..parts {
            starts.push(self.count(44 + 4 * part)?);
        }
        starts.push(points);
        let mut lines = Vec::with_capacity(parts);
        for pair in starts.windows(2) {
            let places = places.get(pair[0]..pair[1]).ok_or("the parts of the record overlap")?;
            if !places.is_empty() {
                lines.push(LineString(places.to_vec()));
            }
        }
        Ok(lines)
    }

    fn heights(&mut self, has_z: bool, at: usize, count: usize) {
        if !has_z {
            return;
        }
        // Two numbers of range, then one height each; measures after them may be "no data" without harm.
        for index in 0..count {
            match self.double(at + 16 + 8 * index) {
                Ok(z) => self.check_height(z),
                Err(_) => return,
            }
        }
    }

    fn check_height(&mut self, z: f64) {
        self.bad_height |= z <= NO_DATA || !plausible_height(z);
    }

    fn places(&self, at: usize, count: usize) -> Result<Vec<Coord>, String> {
        if at.saturating_add(count.saturating_mul(16)) > self.bytes.len() {
            return Err(CUT_SHORT.to_owned());
        }
        (0..count).map(|index| checked_place(self.double(at + 16 * index)?, self.double(at + 16 * index + 8)?)).collect()
    }

    fn point(&self, at: usize) -> Result<Geometry, String> {
        Ok(Geometry::Point(Point(checked_place(self.double(at)?, self.double(at + 8)?)?)))
    }

    fn count(&self, at: usize) -> Result<usize, String> {
        usize::try_from(self.int(at)?).map_err(|_| "the record counts below zero".to_owned())
    }

    fn int(&self, at: usize) -> Result<i32, String> {
        self.bytes.get(at..).and_then(|b| b.first_chunk::<4>()).map(|b| i32::from_le_bytes(*b)).ok_or_else(|| CUT_SHORT.to_owned())
    }

    fn double(&self, at: usize) -> Result<f64, String> {
        self.bytes.get(at..).and_then(|b| b.first_chunk::<8>()).map(|b| f64::from_le_bytes(*b)).ok_or_else(|| CUT_SHORT.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_record_makes_it_panic() {
        let mut record = vec![0u8; 120];
        record[0] = 15;
        record[36] = 0xff;
        record[37..40].fill(0x7f);
        record[40..44].fill(0x7f);
        for length in 0..record.len() {
            let _ = Record { bytes: &record[..length], bad_height: false }.shape();
        }
        for kind in 0..40 {
            record[0] = kind;
            record[36..44].fill(1);
            let _ = Record { bytes: &record, bad_height: false }.shape();
        }
    }

    #[test]
    fn a_missing_index_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("storm.shp");
        std::fs::write(&path, b"x").unwrap();
        let error = read(&path, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("storm.shx"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
