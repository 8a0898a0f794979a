//! Where does each layer lie? Its CRS, whether its numbers can be what they are said to be, and its coordinates inside.

use std::cell::Cell;
use std::collections::BTreeMap;

use geo::{Coord, CoordsIter, MapCoordsInPlace};

use super::issues::Issues;
use super::{Table, shape_of};
use crate::crs::{Crs, Transform, WorkingCrs};
use crate::data_issue::{DataIssue, IssueCode};
use crate::error::{Error, Result};
use crate::formats::{RawLayer, RawShape};
use crate::settings::{LayerSettings, Role, Settings};

/// A layer farther than this from all others, degrees, is looked at with its axes exchanged (assumed).
const FAR_DEGREES: f64 = 5.0;

/// Exchanged, it must then lie this near to one of them, degrees (assumed).
const NEAR_DEGREES: f64 = 1.0;

/// The CRS of a layer: the file's, or the one that the town file states; `None` for a table without places.
///
/// # Errors
/// No reference at all, one that cannot be read, or two that differ.
pub(super) fn reference(settings: &LayerSettings, raw: &RawLayer) -> Result<Option<Crs>> {
    let stated = match &settings.crs {
        Some(text) => Some(Crs::parse(text).map_err(|cause| {
            Error::settings("the layer's `crs` is not known").file("headwall.toml").layer(&settings.name).found(text.as_str()).cause(cause)
        })?),
        None => None,
    };
    if let Some(stated) = &stated
        && (settings.crs_overrides_file || raw.crs_is_implied)
    {
        return Ok(Some(stated.clone()));
    }
    let own = match &raw.crs {
        Some(text) => Some(Crs::parse(text).or_else(|_| Crs::from_wkt(text)).map_err(|cause| {
            Error::input("the file's coordinate reference system cannot be read")
                .file(&raw.file)
                .layer(&settings.name)
                .hint("set `crs` and `crs_overrides_file = true` for the layer")
                .cause(cause)
        })?),
        None => None,
    };
    match (own, stated) {
        (Some(own), Some(stated)) if !same_places(&own, &stated, raw) => {
            Err(Error::settings("the file and the town file name different coordinate reference systems")
                .file(&raw.file)
                .layer(&settings.name)
                .found(format!("{} in the file, {} in headwall.toml", own.label(), stated.label()))
                .hint("remove `crs`, or set `crs_overrides_file = true` if the file is wrong"))
        }
        (Some(own), _) => Ok(Some(own)),
        (None, Some(stated)) => Ok(Some(stated)),
        (None, None) if raw.features.iter().all(|f| shape_of(&f.shape).is_none()) => Ok(None),
        (None, None) => Err(Error::input("the file does not say its coordinate reference system (CRS); a shapefile says it in its .prj")
            .file(&raw.file)
            .layer(&settings.name)
            .expected("a projection or coordinate reference that states where the numbers lie")
            .hint("find out in which system the data were made and set it, such as crs = \"EPSG:2261\"")),
    }
}

/// Two references are one where they put the layer's own coordinates in the same place, however they are worded.
fn same_places(a: &Crs, b: &Crs, raw: &RawLayer) -> bool {
    if a == b || (a.authority().is_some() && a.authority() == b.authority()) {
        return true;
    }
    let Some(first) = raw.features.iter().find_map(|f| shape_of(&f.shape)?.coords_iter().next()) else { return true };
    if a.is_projected() != b.is_projected() {
        return false;
    }
    let Ok(transform) = Transform::new(a, b) else { return false };
    let mut point = [[first.x, first.y]];
    transform.points(&mut point);
    let tolerance = if a.is_projected() { 0.01 } else { 1e-7 };
    (point[0][0] - first.x).abs() < tolerance && (point[0][1] - first.y).abs() < tolerance
}

/// Refuses "degrees" that are none.
pub(super) fn check_degrees(table: &Table) -> Result<()> {
    let Some(crs) = table.crs.as_ref().filter(|crs| !crs.is_projected()) else { return Ok(()) };
    for feature in &table.raw.features {
        let Some(shape) = shape_of(&feature.shape) else { continue };
        let Some(bad) = shape.coords_iter().find(|c| c.x.abs() > 180.000_1 || c.y.abs() > 90.000_1) else { continue };
        let hint = if bad.x.abs() <= 90.0 && bad.y.abs() <= 180.0 {
            "longitude and latitude seem to have changed places: export again with longitude first"
        } else {
            "the file names the wrong system: set the right `crs`, and `crs_overrides_file = true`, for the layer"
        };
        return Err(Error::input(format!("coordinates are out of range for longitude and latitude ({})", crs.label()))
            .file(&table.raw.file)
            .layer(&table.settings.name)
            .feature(format!("in row {}", feature.row))
            .found(format!("{}, {}", bad.x, bad.y))
            .expected("-180 to 180 and -90 to 90 degrees")
            .hint(hint));
    }
    Ok(())
}

/// The middle vertex of a layer in longitude and latitude.
fn middle(table: &Table) -> Result<Option<[f64; 2]>> {
    let Some(crs) = &table.crs else { return Ok(None) };
    let firsts = table.raw.features.iter().filter_map(|f| shape_of(&f.shape)?.coords_iter().next());
    let (mut x, mut y): (Vec<f64>, Vec<f64>) = firsts.map(|c| (c.x, c.y)).unzip();
    if x.is_empty() {
        return Ok(None);
    }
    x.sort_by(f64::total_cmp);
    y.sort_by(f64::total_cmp);
    let mut point = [[x[x.len() / 2], y[y.len() / 2]]];
    Transform::new(crs, &Crs::lon_lat()?)?.points(&mut point);
    Ok(point[0].iter().all(|v| v.is_finite()).then_some(point[0]))
}

/// Says where a layer in degrees would lie near the others if its axes were exchanged; one answer for each table.
pub(super) fn report_swapped_axes(tables: &[Table], issues: &mut Issues) -> Result<Vec<bool>> {
    let mut swapped = vec![false; tables.len()];
    let middles: Vec<Option<[f64; 2]>> = tables.iter().map(middle).collect::<Result<_>>()?;
    for (at, (table, own)) in tables.iter().zip(&middles).enumerate() {
        let Some(own) = own.filter(|_| table.crs.as_ref().is_some_and(|crs| !crs.is_projected())) else { continue };
        let others = || middles.iter().enumerate().filter(|(other, _)| *other != at).filter_map(|(_, m)| *m);
        let far = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
        let alone = others().count() > 0 && others().all(|other| far(own, other) > FAR_DEGREES);
        let exchanged = [own[1], own[0]];
        if alone && others().any(|other| far(exchanged, other) < NEAR_DEGREES) {
            swapped[at] = true;
            let file = table.raw.file_name();
            issues.push(DataIssue::new(IssueCode::AxesSwapped, table.settings.name.as_str()).file(file.as_str()).message(format!(
                "{file} lies at longitude {:.3}, latitude {:.3}, far from everything else; exchanged, it would lie among the other layers",
                own[0], own[1]
            )));
        }
    }
    Ok(swapped)
}

/// The CRS used inside: the town file's, else the commonest projected one of the conduits, else the UTM zone of the data.
pub(super) fn working(settings: &Settings, tables: &[Table]) -> Result<WorkingCrs> {
    if let Some(text) = &settings.working_crs {
        let unknown = |cause| Error::settings("working_crs is not known").file("headwall.toml").found(text.as_str()).cause(cause);
        return WorkingCrs::new(Crs::parse(text).map_err(unknown)?);
    }
    let mut counts: BTreeMap<(&str, &str), (usize, &Crs)> = BTreeMap::new();
    for table in tables.iter().filter(|t| t.role == Role::Conduits) {
        if let Some(crs) = table.crs.as_ref().filter(|crs| crs.measures_ground()) {
            counts.entry((crs.label(), crs.wkt())).or_insert((0, crs)).0 += table.raw.features.len();
        }
    }
    // The first of the most numerous, by name.
    if let Some((_, crs)) = counts.into_values().reduce(|best, next| if next.0 > best.0 { next } else { best }) {
        return WorkingCrs::new(crs.clone());
    }
    let mut ordered: Vec<&Table> = tables.iter().collect();
    ordered.sort_by_key(|t| t.role);
    for table in ordered {
        if let Some([lon, lat]) = middle(table)? {
            return WorkingCrs::new(Crs::utm_of(lon, lat)?);
        }
    }
    // No layer has a place at all; any projected system will do.
    WorkingCrs::new(Crs::utm_of(-75.0, 43.0)?)
}

/// Turns a layer's coordinates into inside ones.
///
/// # Errors
/// A feature that has no place in the working CRS.
pub(super) fn bring_inside(table: &mut Table, working: &WorkingCrs, swapped: bool) -> Result<()> {
    let Some(crs) = table.crs.clone() else { return Ok(()) };
    let entry = working.entry(&crs)?;
    let mut points: Vec<[f64; 2]> = Vec::new();
    for feature in &table.raw.features {
        if let Some(shape) = shape_of(&feature.shape) {
            points.extend(shape.coords_iter().map(|c| [c.x, c.y]));
        }
    }
    entry.points(&mut points);
    // Shared by the closure below, which has to be copyable.
    let next = Cell::new(0);
    for feature in &mut table.raw.features {
        let RawShape::Shape(shape) = &mut feature.shape else { continue };
        let lost: Cell<Option<Coord>> = Cell::new(None);
        let at = |index: usize| points.get(index).filter(|p| p[0].is_finite() && p[1].is_finite());
        shape.map_coords_in_place(|old| {
            next.set(next.get() + 1);
            at(next.get() - 1).map_or_else(
                || {
                    lost.set(lost.get().or(Some(old)));
                    old
                },
                |[x, y]| Coord { x: *x, y: *y },
            )
        });
        if let Some(lost) = lost.get() {
            return Err(Error::input(format!("a coordinate has no place in the working CRS {}", working.crs().label()))
                .file(&table.raw.file)
                .layer(&table.settings.name)
                .feature(format!("in row {}", feature.row))
                .found(format!("{}, {} in {}", lost.x, lost.y, crs.label()))
                .hint(if swapped {
                    "longitude and latitude seem to have changed places: export again with longitude first"
                } else {
                    "check the layer's `crs`, or set `working_crs` to the town's own State Plane or UTM zone"
                }));
        }
    }
    Ok(())
}
