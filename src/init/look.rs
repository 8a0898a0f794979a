//! Which files and layers are there, and where do they lie? Reads; decides nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use geo::{Coord, CoordsIter, Geometry};

use crate::crs::{Crs, WorkingCrs};
use crate::error::{Error, Result};
use crate::formats::{self, RawLayer, RawShape, ReadOptions, SwmmModel};

use super::column::Column;

/// What most shapes of a layer are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drawn {
    /// Points.
    Points,
    /// Lines.
    Lines,
    /// Areas.
    Areas,
    /// Nothing is drawn: a table.
    Nothing,
}

/// One layer, read.
#[derive(Debug)]
pub(super) struct Look {
    pub path: PathBuf,
    /// The layer inside the file; `None` where the file has one.
    pub inside: Option<String>,
    /// File and layer, for people.
    pub called: String,
    pub raw: RawLayer,
    pub drawn: Drawn,
    pub columns: Vec<Column>,
    pub crs: Option<Crs>,
    /// For each row its line's first and last place and its length, metres.
    pub lines: Vec<Option<Line>>,
    /// For each row its place, metres.
    pub places: Vec<Option<Coord>>,
}

/// A line's ends and length, metres.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub first: Coord,
    pub last: Coord,
    pub length_m: f64,
}

/// A SWMM model, read.
#[derive(Debug)]
pub(super) struct Model {
    pub path: PathBuf,
    pub model: SwmmModel,
}

/// All that was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub looks: Vec<Look>,
    pub models: Vec<Model>,
    /// Files that are of a sort that is read, and could not be.
    pub unread: Vec<(PathBuf, String)>,
}

const READ: [&str; 16] = [
    "geojson", "json", "geojsonl", "geojsons", "ndjson", "jsonl", "esrijson", "topojson", "csv", "tsv", "kml", "inp", "shp", "gpkg", "fgb",
    "gml",
];

/// The files that were named, and those inside of folders that were named; in order, each once.
///
/// # Errors
/// A path that is not there.
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found: BTreeSet<PathBuf> = BTreeSet::new();
    let mut folders: Vec<(PathBuf, usize)> = Vec::new();
    for path in paths {
        let path = fs::canonicalize(path).map_err(|cause| Error::input("the file is not there").file(path).cause(cause))?;
        let is_geodatabase = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gdb"));
        if path.is_dir() && !is_geodatabase {
            folders.push((path, 0));
        } else {
            found.insert(path);
        }
    }
    while let Some((folder, depth)) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|cause| Error::input("the folder cannot be read").file(&folder).cause(cause))?;
        for entry in entries.flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().to_lowercase();
            if name.starts_with('.') {
                continue;
            }
            let extension = name.rsplit_once('.').map_or("", |(_, e)| e).to_owned();
            if name.ends_with(".gdb") || name.ends_with(".gdb.zip") {
                found.insert(path);
            } else if path.is_dir() {
                // What a town's folder keeps itself is no source.
                if depth < 6 && !["networks", "rules", "files"].contains(&name.as_str()) {
                    folders.push((path, depth + 1));
                }
            } else if READ.contains(&extension.as_str()) {
                found.insert(path);
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// Reads every layer of every file; what cannot be read is kept with the reason.
pub(super) fn read(paths: &[PathBuf]) -> Found {
    let mut found = Found::default();
    for path in paths {
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("inp")) {
            match formats::swmm::read(path) {
                Ok(model) => found.models.push(Model { path: path.clone(), model }),
                Err(error) => found.unread.push((path.clone(), error.to_string())),
            }
            continue;
        }
        let names = match formats::layers(path) {
            Ok(names) => names,
            Err(error) => {
                found.unread.push((path.clone(), error.to_string()));
                continue;
            }
        };
        let several = names.len() > 1;
        for name in names {
            let options = ReadOptions { layer: several.then(|| name.clone()), ..ReadOptions::default() };
            match formats::read(path, &options) {
                Ok(raw) => found.looks.push(Look::new(path, several.then_some(name), raw)),
                Err(error) => found.unread.push((path.clone(), error.to_string())),
            }
        }
    }
    give_places(&mut found.looks);
    found
}

impl Look {
    fn new(path: &Path, inside: Option<String>, raw: RawLayer) -> Self {
        let mut counts = [0usize; 3];
        for feature in &raw.features {
            if let RawShape::Shape(shape) = &feature.shape {
                match shape {
                    Geometry::Point(_) | Geometry::MultiPoint(_) => counts[0] += 1,
                    Geometry::Line(_) | Geometry::LineString(_) | Geometry::MultiLineString(_) => counts[1] += 1,
                    Geometry::GeometryCollection(_) => {}
                    _ => counts[2] += 1,
                }
            }
        }
        let kinds = [Drawn::Points, Drawn::Lines, Drawn::Areas];
        let most = (0..3).max_by_key(|k| (counts[*k], 3 - *k)).filter(|k| counts[*k] > 0);
        let file = raw.file_name();
        let called = inside.as_ref().map_or_else(|| file.clone(), |layer| format!("{file}, layer {layer}"));
        let crs = raw.crs.as_deref().and_then(|text| Crs::parse(text).or_else(|_| Crs::from_wkt(text)).ok());
        let crs = if crs.is_none() && raw.crs_is_implied { Crs::lon_lat().ok() } else { crs };
        Look {
            path: path.to_owned(),
            inside,
            called,
            drawn: most.map_or(Drawn::Nothing, |k| kinds[k]),
            columns: Column::all(&raw),
            crs,
            lines: Vec::new(),
            places: Vec::new(),
            raw,
        }
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// The bounds in the file's own coordinates: west, south, east, north.
    pub fn bounds(&self) -> Option<[f64; 4]> {
        bounds(&self.raw)
    }

    /// Reads the columns again, after a table was joined.
    pub fn refresh(&mut self) {
        self.columns = Column::all(&self.raw);
    }
}

/// The bounds of a layer in its own coordinates.
pub(super) fn bounds(raw: &RawLayer) -> Option<[f64; 4]> {
    let mut all: Option<[f64; 4]> = None;
    for feature in &raw.features {
        let RawShape::Shape(shape) = &feature.shape else { continue };
        for c in shape.coords_iter() {
            let b = all.get_or_insert([c.x, c.y, c.x, c.y]);
            *b = [b[0].min(c.x), b[1].min(c.y), b[2].max(c.x), b[3].max(c.y)];
        }
    }
    all
}

/// Coordinates that can only be degrees: inside their bounds, and a town's worth of them.
pub(super) fn looks_like_degrees(b: [f64; 4]) -> bool {
    let inside = b[0] >= -180.0 && b[2] <= 180.0 && b[1] >= -90.0 && b[3] <= 90.0;
    inside && b[2] - b[0] < 3.0 && b[3] - b[1] < 3.0 && (b[0].abs() > 3.0 || b[1].abs() > 3.0)
}

/// Turns every layer's coordinates into metres of one system, for measuring only.
fn give_places(looks: &mut [Look]) {
    let working = looks.iter().filter_map(|l| l.crs.as_ref()).find(|c| c.measures_ground()).cloned().or_else(|| {
        looks.iter().find_map(|look| {
            let b = look.bounds()?;
            match &look.crs {
                None if looks_like_degrees(b) => Crs::utm_of((b[0] + b[2]) / 2.0, (b[1] + b[3]) / 2.0).ok(),
                Some(crs) if !crs.is_projected() => Crs::utm_of((b[0] + b[2]) / 2.0, (b[1] + b[3]) / 2.0).ok(),
                _ => None,
            }
        })
    });
    let Some(working) = working.and_then(|crs| WorkingCrs::new(crs).ok()) else { return };
    for look in looks {
        let degrees = || look.bounds().filter(|b| looks_like_degrees(*b)).and_then(|_| Crs::lon_lat().ok());
        let Some(crs) = look.crs.clone().or_else(degrees) else { continue };
        let Ok(entry) = working.entry(&crs) else { continue };
        for feature in &look.raw.features {
            let RawShape::Shape(shape) = &feature.shape else {
                look.lines.push(None);
                look.places.push(None);
                continue;
            };
            let mut points: Vec<[f64; 2]> = shape.coords_iter().map(|c| [c.x, c.y]).collect();
            entry.points(&mut points);
            let places: Vec<Coord> =
                points.iter().filter(|p| p[0].is_finite() && p[1].is_finite()).map(|p| Coord { x: p[0], y: p[1] }).collect();
            look.places.push(places.first().copied());
            let line = match look.drawn {
                Drawn::Lines if places.len() > 1 => Some(Line {
                    first: places[0],
                    last: places[places.len() - 1],
                    length_m: places.windows(2).map(|w| distance(w[0], w[1])).sum(),
                }),
                _ => None,
            };
            look.lines.push(line);
        }
    }
}

/// Distance on the plane.
pub(super) fn distance(a: Coord, b: Coord) -> f64 {
    (a.x - b.x).hypot(a.y - b.y)
}
