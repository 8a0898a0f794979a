//! What shape is this well-known binary? ISO and extended forms with heights and measures, curves followed, depth and size bounded.

use geo::{Coord, Geometry, GeometryCollection, LineString, MultiLineString, MultiPoint, MultiPolygon, Point, Polygon};

use super::curves::{Fineness, push_arc};
use super::{RawShape, checked_place};

/// Collections inside collections deeper than this are refused.
const DEPTH_LIMIT: usize = 16;

/// A shape, and whether a height or measure was no number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Read {
    pub shape: RawShape,
    pub bad_height: bool,
}

/// Reads well-known binary. Whatever cannot be a planar shape becomes [`RawShape::Unreadable`] with the reason.
pub(crate) fn read(bytes: &[u8], fineness: Fineness) -> Read {
    let mut parser = Parser { bytes, at: 0, bad_height: false, fineness };
    let shape = match parser.geometry(0) {
        Ok(Some(geometry)) => RawShape::Shape(geometry),
        Ok(None) => RawShape::None,
        Err(reason) => RawShape::Unreadable(reason),
    };
    Read { shape, bad_height: parser.bad_height }
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    bad_height: bool,
    fineness: Fineness,
}

#[derive(Clone, Copy)]
struct Header {
    little: bool,
    kind: u32,
    has_z: bool,
    has_m: bool,
}

type Parsed<T> = Result<T, String>;

impl Parser<'_> {
    fn geometry(&mut self, depth: usize) -> Parsed<Option<Geometry>> {
        let header = self.header(depth)?;
        Ok(match header.kind {
            1 => self.point(header)?.map(Geometry::Point),
            2 | 8 | 9 | 13 => {
                let line = self.curve(header, depth)?;
                (!line.0.is_empty()).then_some(Geometry::LineString(line))
            }
            3 | 10 | 17 => self.surface(header, depth)?.map(Geometry::Polygon),
            4 => {
                let mut points = Vec::new();
                for _ in 0..self.count(header)? {
                    let inner = self.header(depth + 1)?;
                    points.extend(self.point(inner)?);
                }
                (!points.is_empty()).then_some(Geometry::MultiPoint(MultiPoint(points)))
            }
            5 | 11 => {
                let mut lines = Vec::new();
                for _ in 0..self.count(header)? {
                    let inner = self.header(depth + 1)?;
                    lines.push(self.curve(inner, depth + 1)?);
                }
                lines.retain(|l| !l.0.is_empty());
                (!lines.is_empty()).then_some(Geometry::MultiLineString(MultiLineString(lines)))
            }
            6 | 12 | 15 | 16 => {
                let mut polygons = Vec::new();
                for _ in 0..self.count(header)? {
                    let inner = self.header(depth + 1)?;
                    polygons.extend(self.surface(inner, depth + 1)?);
                }
                (!polygons.is_empty()).then_some(Geometry::MultiPolygon(MultiPolygon(polygons)))
            }
            7 => {
                let mut parts = Vec::new();
                for _ in 0..self.count(header)? {
                    parts.extend(self.geometry(depth + 1)?);
                }
                (!parts.is_empty()).then_some(Geometry::GeometryCollection(GeometryCollection(parts)))
            }
            other => return Err(format!("geometry type {other} is not known here")),
        })
    }

    fn header(&mut self, depth: usize) -> Parsed<Header> {
        if depth > DEPTH_LIMIT {
            return Err("geometries lie too deep inside each other".to_owned());
        }
        let little = match self.take::<1>()?[0] {
            0 => false,
            1 => true,
            _ => return Err("the geometry does not begin with a byte order".to_owned()),
        };
        let code = self.u32(little)?;
        let has_srid = code & 0x2000_0000 != 0;
        let plain = code & 0x0fff_ffff;
        let (kind, iso) = (plain % 1000, plain / 1000);
        if has_srid {
            self.u32(little)?;
        }
        let has_z = code & 0x8000_0000 != 0 || iso == 1 || iso == 3;
        let has_m = code & 0x4000_0000 != 0 || iso == 2 || iso == 3;
        Ok(Header { little, kind, has_z, has_m })
    }

    fn point(&mut self, header: Header) -> Parsed<Option<Point>> {
        if header.kind != 1 {
            return Err("a part is no point".to_owned());
        }
        let (x, y) = self.position(header)?;
        if x.is_nan() && y.is_nan() {
            // The agreed form of an empty point.
            return Ok(None);
        }
        Ok(Some(Point(checked_place(x, y)?)))
    }

    /// A line, followed along its arcs.
    fn curve(&mut self, header: Header, depth: usize) -> Parsed<LineString> {
        match header.kind {
            2 => self.positions(header).map(LineString),
            8 => {
                let control = self.positions(header)?;
                if control.len() > 1 && control.len() % 2 == 0 {
                    return Err("a circular string needs an odd number of places".to_owned());
                }
                let mut line: Vec<Coord> = control.first().copied().into_iter().collect();
                for arc in control.windows(3).step_by(2) {
                    push_arc(&mut line, arc[0], arc[1], arc[2], self.fineness);
                }
                Ok(LineString(line))
            }
            9 => {
                let mut line: Vec<Coord> = Vec::new();
                for _ in 0..self.count(header)? {
                    let inner = self.header(depth + 1)?;
                    let part = self.curve(inner, depth + 1)?;
                    let joins = line.last().is_some_and(|last| part.0.first() == Some(last));
                    line.extend(part.0.into_iter().skip(usize::from(joins)));
                }
                Ok(LineString(line))
            }
            _ => Err("a part is no line".to_owned()),
        }
    }

    fn surface(&mut self, header: Header, depth: usize) -> Parsed<Option<Polygon>> {
        let mut rings = Vec::new();
        match header.kind {
            3 | 17 => {
                for _ in 0..self.count(header)? {
                    rings.push(LineString(self.positions(header)?));
                }
            }
            10 => {
                for _ in 0..self.count(header)? {
                    let inner = self.header(depth + 1)?;
                    rings.push(self.curve(inner, depth + 1)?);
                }
            }
            _ => return Err("a part is no polygon".to_owned()),
        }
        rings.retain(|ring| !ring.0.is_empty());
        if rings.is_empty() {
            return Ok(None);
        }
        let outer = rings.remove(0);
        Ok(Some(Polygon::new(outer, rings)))
    }

    fn positions(&mut self, header: Header) -> Parsed<Vec<Coord>> {
        let count = self.count(header)?;
        let width = 16 + 8 * (usize::from(header.has_z) + usize::from(header.has_m));
        if count.saturating_mul(width) > self.bytes.len() - self.at {
            return Err("the geometry is cut short".to_owned());
        }
        let mut places = Vec::with_capacity(count);
        for _ in 0..count {
            let (x, y) = self.position(header)?;
            places.push(checked_place(x, y)?);
        }
        Ok(places)
    }

    fn position(&mut self, header: Header) -> Parsed<(f64, f64)> {
        let (x, y) = (self.f64(header.little)?, self.f64(header.little)?);
        if header.has_z {
            let z = self.f64(header.little)?;
            // An empty point has no height either.
            let is_empty = x.is_nan() && y.is_nan();
            self.bad_height |= !is_empty && !super::plausible_height(z);
        }
        if header.has_m {
            // A measure below -10^38 is the shapefile's way to say "none", and no fault.
            let _ = self.f64(header.little)?;
        }
        Ok((x, y))
    }

    fn count(&mut self, header: Header) -> Parsed<usize> {
        self.u32(header.little).map(|count| count as usize)
    }

    fn u32(&mut self, little: bool) -> Parsed<u32> {
        let bytes = self.take::<4>()?;
        Ok(if little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    fn f64(&mut self, little: bool) -> Parsed<f64> {
        let bytes = self.take::<8>()?;
        Ok(if little { f64::from_le_bytes(bytes) } else { f64::from_be_bytes(bytes) })
    }

    fn take<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>()).ok_or("the geometry is cut short")?;
        self.at += N;
        Ok(*taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wkb(kind: u32, rest: &[u8]) -> Vec<u8> {
        [&[1u8][..], &kind.to_le_bytes(), rest].concat()
    }

    fn doubles(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    const FINE: Fineness = Fineness { metres_per_unit: Some(1.0) };

    #[test]
    fn heights_are_dropped_and_bad_ones_said() {
        let line = wkb(1002, &[&2u32.to_le_bytes()[..], &doubles(&[0.0, 0.0, f64::NAN, 1.0, 1.0, 5.0])].concat());
        let read = read(&line, FINE);
        assert!(read.bad_height);
        assert_eq!(read.shape, RawShape::Shape(Geometry::LineString(vec![(0.0, 0.0), (1.0, 1.0)].into())));
    }

    #[test]
    fn arcs_are_followed() {
        let arc = wkb(8, &[&3u32.to_le_bytes()[..], &doubles(&[0.0, 0.0, 1.0, 1.0, 2.0, 0.0])].concat());
        let compound = wkb(9, &[&1u32.to_le_bytes()[..], &arc].concat());
        let RawShape::Shape(Geometry::LineString(line)) = read(&compound, FINE).shape else { panic!("no line") };
        assert!(line.0.len() > 10);
    }

    #[test]
    fn no_bytes_make_it_panic_or_eat_memory() {
        let nested = (0..100).fold(wkb(1, &doubles(&[1.0, 2.0])), |inner, _| wkb(7, &[&1u32.to_le_bytes()[..], &inner].concat()));
        assert!(matches!(read(&nested, FINE).shape, RawShape::Unreadable(_)));
        let huge = wkb(2, &u32::MAX.to_le_bytes());
        assert!(matches!(read(&huge, FINE).shape, RawShape::Unreadable(_)));
        let far = wkb(1, &doubles(&[1e308, 0.0]));
        assert!(matches!(read(&far, FINE).shape, RawShape::Unreadable(_)));
        assert_eq!(read(&wkb(1, &doubles(&[f64::NAN, f64::NAN])), FINE).shape, RawShape::None);
        for length in 0..nested.len().min(200) {
            let _ = read(&nested[..length], FINE);
        }
    }
}
