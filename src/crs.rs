//! Which coordinate system do we work in, how do we get in and out of it?
//!
//! Inside there is one system: the town's working CRS, its native coordinates times its metres per unit, so that every
//! length is in metres. Conversions happen only where data enter or leave. GDAL (PROJ) does the arithmetic; none of its
//! types is seen outside.

use gdal::spatial_ref::{AxisMappingStrategy, CoordTransform, SpatialRef};

use crate::error::{Error, Result};

/// A coordinate reference system, known by its WKT.
#[derive(Clone, Debug, PartialEq)]
pub struct Crs {
    wkt: String,
    name: String,
    authority: Option<String>,
    projected: bool,
    metres_per_unit: f64,
}

impl Crs {
    /// Longitude and latitude on WGS 84, in that order: what GeoJSON speaks (RFC 7946).
    pub fn lon_lat() -> Result<Self> {
        Self::from_epsg(4326)
    }

    /// The system of an EPSG code.
    ///
    /// # Errors
    /// An unknown code.
    pub fn from_epsg(code: u32) -> Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "the one place that sets the axis order right after")]
        let reference = SpatialRef::from_epsg(code).map_err(|cause| {
            Error::settings(format!("EPSG:{code} is not a coordinate reference system that is known here"))
                .hint("use a code of the EPSG registry, such as EPSG:2261")
                .cause(cause)
        })?;
        Self::from_reference(reference)
    }

    /// The system of WKT text, as a `.prj` or a GeoPackage holds it.
    ///
    /// # Errors
    /// Text that is no coordinate reference system.
    pub fn from_wkt(wkt: &str) -> Result<Self> {
        let mut reference = SpatialRef::from_wkt(wkt)
            .or_else(|_| SpatialRef::from_esri(wkt))
            .map_err(|cause| Error::input("the coordinate reference system cannot be read").found(shorten(wkt)).cause(cause))?;
        // What desktop software writes often lacks the code; with it, names and exports are clearer.
        let _ = reference.auto_identify_epsg();
        if let Ok(code) = reference.auth_code()
            && reference.auth_name().as_deref() == Some("EPSG")
            && let Ok(code) = u32::try_from(code)
            && let Ok(registered) = Self::from_epsg(code)
        {
            let own = Self::from_reference(reference)?;
            // The unit in the file is honoured even where the rest says the registered system.
            if (own.metres_per_unit / registered.metres_per_unit - 1.0).abs() < 1e-9 && own.projected == registered.projected {
                return Ok(Crs { wkt: own.wkt, name: own.name, ..registered });
            }
            return Ok(Crs { authority: None, ..own });
        }
        Self::from_reference(reference)
    }

    /// The system that a person wrote: `EPSG:2261`, `OGC:CRS84`, the URN forms of both, or WKT.
    ///
    /// # Errors
    /// Anything else; addresses on the network are never looked up.
    pub fn parse(text: &str) -> Result<Self> {
        let trimmed = text.trim();
        let upper = trimmed.to_ascii_uppercase();
        if upper.ends_with("CRS84") || upper.ends_with("CRS84H") {
            return Self::lon_lat();
        }
        let is_code =
            upper.starts_with("EPSG:") || upper.starts_with("URN:OGC:DEF:CRS:EPSG:") || upper.contains("OPENGIS.NET/DEF/CRS/EPSG/");
        if is_code && let Some(code) = trimmed.rsplit([':', '/']).next().and_then(|digits| digits.parse().ok()) {
            return Self::from_epsg(code);
        }
        if upper.contains('[') && !upper.contains("://") {
            return Self::from_wkt(trimmed);
        }
        Err(Error::settings("this is no coordinate reference system").found(shorten(trimmed)).expected("EPSG:code, OGC:CRS84 or WKT"))
    }

    fn from_reference(reference: SpatialRef) -> Result<Self> {
        let unreadable = |cause| Error::input("the coordinate reference system cannot be used").cause(cause);
        let wkt = reference.to_wkt().map_err(unreadable)?;
        let authority = match (reference.auth_name(), reference.auth_code()) {
            (Some(name), Ok(code)) => Some(format!("{name}:{code}")),
            _ => None,
        };
        Ok(Crs {
            name: reference.name().unwrap_or_else(|| "unnamed".to_owned()),
            authority,
            projected: reference.is_projected(),
            metres_per_unit: if reference.is_projected() { reference.linear_units() } else { 1.0 },
            wkt,
        })
    }

    /// Its WKT.
    pub fn wkt(&self) -> &str {
        &self.wkt
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `EPSG:2261`, where it is a registered one.
    pub fn authority(&self) -> Option<&str> {
        self.authority.as_deref()
    }

    /// The code, or the name where it has none.
    pub fn label(&self) -> &str {
        self.authority.as_deref().unwrap_or(&self.name)
    }

    /// True where coordinates are lengths, not degrees.
    pub fn is_projected(&self) -> bool {
        self.projected
    }

    /// Metres per unit of its coordinates; 1 for degrees, where it means nothing.
    pub fn metres_per_unit(&self) -> f64 {
        self.metres_per_unit
    }

    /// True where planar lengths are ground lengths: projected, and not Web Mercator, which stretches them.
    pub fn measures_ground(&self) -> bool {
        self.projected
            && !self.wkt.contains("Pseudo-Mercator")
            && !self.wkt.contains("Popular Visualisation")
            && !self.wkt.contains("Mercator_Auxiliary_Sphere")
    }

    /// The UTM zone of a longitude and latitude, on WGS 84.
    pub fn utm_of(lon: f64, lat: f64) -> Result<Self> {
        let zone = (((lon + 180.0) / 6.0).floor() as i64).rem_euclid(60) as u32 + 1;
        Self::from_epsg(if lat < 0.0 { 32700 } else { 32600 } + zone)
    }
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("\"{short}\"")
}

/// Turns coordinates of one system into another; x is easting or longitude on both sides.
pub struct Transform {
    inner: Option<CoordTransform>,
}

impl std::fmt::Debug for Transform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transform").field("identity", &self.inner.is_none()).finish()
    }
}

impl Transform {
    /// A transform between two systems; costs milliseconds, so make it once for many points.
    ///
    /// # Errors
    /// A pair between which PROJ knows no way.
    pub fn new(from: &Crs, to: &Crs) -> Result<Self> {
        if from.wkt == to.wkt || (from.authority.is_some() && from.authority == to.authority) {
            return Ok(Transform { inner: None });
        }
        let no_way = |cause| {
            Error::input(format!("no way is known from {} to {}", from.label(), to.label())).hint("check the CRS of the layer").cause(cause)
        };
        let (a, b) = (traditional(&from.wkt)?, traditional(&to.wkt)?);
        let inner = match (without_shift(from, &a), without_shift(to, &b)) {
            (Some(a), Some(b)) => CoordTransform::new(&a, &b),
            _ => CoordTransform::new(&a, &b),
        };
        Ok(Transform { inner: Some(inner.map_err(no_way)?) })
    }

    /// Turns points in place; what cannot be turned becomes NaN, so that the caller can name the feature.
    pub fn points(&self, points: &mut [[f64; 2]]) {
        let Some(inner) = &self.inner else { return };
        let mut x: Vec<f64> = points.iter().map(|p| p[0]).collect();
        let mut y: Vec<f64> = points.iter().map(|p| p[1]).collect();
        let whole = inner.transform_coords(&mut x, &mut y, &mut []).is_ok();
        for (at, point) in points.iter_mut().enumerate() {
            // After a failure the arrays are half changed: ask again, one by one.
            *point = if whole { [x[at], y[at]] } else { self.one(*point) };
        }
    }

    fn one(&self, point: [f64; 2]) -> [f64; 2] {
        let Some(inner) = &self.inner else { return point };
        let (mut x, mut y) = ([point[0]], [point[1]]);
        match inner.transform_coords(&mut x, &mut y, &mut []) {
            Ok(()) if x[0].is_finite() && y[0].is_finite() => [x[0], y[0]],
            _ => [f64::NAN, f64::NAN],
        }
    }
}

/// Datums that stand for one another to within a metre or two, between which no shift is made.
///
/// A better operation needs grid files that one machine has and the next has not; the answer must be the same on both.
const NEAR_WGS84: &[&str] = &[
    "WGS_1984",
    "World Geodetic System 1984",
    "North_American_Datum_1983",
    "North American Datum 1983",
    "NAD83",
    "ETRS89",
    "European_Terrestrial_Reference_System_1989",
    "European Terrestrial Reference System 1989",
    "Geocentric_Datum_of_Australia",
    "Geocentric Datum of Australia",
];

/// The projection of such a system on one unnamed datum, so that PROJ has no shift to choose; `None` for any other system.
///
/// The ellipsoids of WGS 84 and GRS 80 differ by a tenth of a millimetre.
fn without_shift(crs: &Crs, reference: &SpatialRef) -> Option<SpatialRef> {
    if !NEAR_WGS84.iter().any(|name| crs.wkt.contains(name)) {
        return None;
    }
    let text = reference.to_proj4().ok()?;
    if text.contains("+geoidgrids") || text.contains("+vunits") {
        return None;
    }
    let dropped = ["+datum=", "+ellps=", "+towgs84=", "+nadgrids=", "+type="];
    let mut kept: Vec<&str> = text.split_whitespace().filter(|word| !dropped.iter().any(|d| word.starts_with(d))).collect();
    if text.contains("+nadgrids=@null") {
        // Web Mercator takes the longitude and latitude of the ellipsoid for those of a sphere.
        kept = vec!["+proj=webmerc", "+no_defs"];
    }
    let plain = format!("{} +ellps=GRS80", kept.join(" "));
    let mut reference = SpatialRef::from_proj4(&plain).ok()?;
    reference.set_axis_mapping_strategy(AxisMappingStrategy::TraditionalGisOrder);
    Some(reference)
}

fn traditional(wkt: &str) -> Result<SpatialRef> {
    let mut reference =
        SpatialRef::from_wkt(wkt).map_err(|cause| Error::input("the coordinate reference system cannot be used").cause(cause))?;
    reference.set_axis_mapping_strategy(AxisMappingStrategy::TraditionalGisOrder);
    Ok(reference)
}

/// The coordinate system used inside: the working CRS, in metres.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkingCrs {
    crs: Crs,
}

impl WorkingCrs {
    /// Takes a projected CRS as the working one.
    ///
    /// # Errors
    /// A CRS in degrees, in which lengths mean nothing, or Web Mercator, in which they are not ground lengths.
    pub fn new(crs: Crs) -> Result<Self> {
        if !crs.measures_ground() {
            return Err(Error::settings(format!("{} cannot be the working CRS: its lengths are not ground lengths", crs.label()))
                .hint("set working_crs to the State Plane or UTM zone of the town, such as EPSG:2261"));
        }
        Ok(WorkingCrs { crs })
    }

    /// The CRS whose native coordinates, times metres per unit, are used inside.
    pub fn crs(&self) -> &Crs {
        &self.crs
    }

    /// What turns coordinates of `from` into inside ones.
    pub fn entry(&self, from: &Crs) -> Result<Entry> {
        Ok(Entry { transform: Transform::new(from, &self.crs)?, metres_per_unit: self.crs.metres_per_unit })
    }

    /// What turns inside coordinates into those of `to`.
    pub fn exit(&self, to: &Crs) -> Result<Exit> {
        Ok(Exit { transform: Transform::new(&self.crs, to)?, metres_per_unit: self.crs.metres_per_unit })
    }

    /// One given point into inside coordinates.
    ///
    /// # Errors
    /// A point that has no place in the working CRS.
    pub fn point_in(&self, from: &Crs, x: f64, y: f64) -> Result<[f64; 2]> {
        let mut points = [[x, y]];
        self.entry(from)?.points(&mut points);
        if points[0].iter().all(|v| v.is_finite()) {
            return Ok(points[0]);
        }
        Err(Error::usage(format!("{x}, {y} of {} has no place in the town's {}", from.label(), self.crs.label()))
            .hint("give longitude first, then latitude"))
    }
}

/// Into inside coordinates.
#[derive(Debug)]
pub struct Entry {
    transform: Transform,
    metres_per_unit: f64,
}

impl Entry {
    /// Turns points in place; NaN where there is no way.
    pub fn points(&self, points: &mut [[f64; 2]]) {
        self.transform.points(points);
        for point in points {
            point[0] *= self.metres_per_unit;
            point[1] *= self.metres_per_unit;
        }
    }
}

/// Out of inside coordinates.
#[derive(Debug)]
pub struct Exit {
    transform: Transform,
    metres_per_unit: f64,
}

impl Exit {
    /// Turns points in place; NaN where there is no way.
    pub fn points(&self, points: &mut [[f64; 2]]) {
        for point in points.iter_mut() {
            point[0] /= self.metres_per_unit;
            point[1] /= self.metres_per_unit;
        }
        self.transform.points(points);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pinned operation must be the projection itself: compared with what PROJ chooses where no grid is at hand.
    #[test]
    fn pinned_operations_are_the_plain_projections() {
        let lon_lat = Crs::lon_lat().unwrap();
        for (code, lon, lat) in [
            (2261, -76.3360992, 42.6678426),
            (2284, -76.25, 36.85),
            (26918, -76.2, 43.1),
            (3857, -76.2, 43.1),
            (4269, -76.2, 43.1),
            (2249, -71.1, 42.4),
            (32617, -81.0, 46.49),
        ] {
            let crs = Crs::from_epsg(code).unwrap();
            let pinned = Transform::new(&lon_lat, &crs).unwrap();
            let mut there = [[lon, lat]];
            pinned.points(&mut there);
            let plain = CoordTransform::new(&traditional(lon_lat.wkt()).unwrap(), &traditional(crs.wkt()).unwrap()).unwrap();
            let (mut x, mut y) = ([lon], [lat]);
            plain.transform_coords(&mut x, &mut y, &mut []).unwrap();
            let near = if crs.is_projected() { 0.003 / crs.metres_per_unit() } else { 1e-8 };
            assert!((there[0][0] - x[0]).abs() < near && (there[0][1] - y[0]).abs() < near, "EPSG:{code}: {there:?} against {x:?} {y:?}");
            Transform::new(&crs, &lon_lat).unwrap().points(&mut there);
            assert!((there[0][0] - lon).abs() < 1e-9 && (there[0][1] - lat).abs() < 1e-9, "EPSG:{code} there and back: {there:?}");
        }
    }
}
