//! How does a shape become WKB? Little endian, two dimensions (OGC 06-103r4, section 8.2).

use geo::{Coord, Geometry, LineString, Polygon};

/// Appends the WKB of a shape.
pub fn wkb(shape: &Geometry, out: &mut Vec<u8>) {
    match shape {
        Geometry::Point(p) => {
            head(1, out);
            coord(p.0, out);
        }
        Geometry::Line(l) => line(&LineString(vec![l.start, l.end]), out),
        Geometry::LineString(l) => line(l, out),
        Geometry::Polygon(p) => polygon(p, out),
        Geometry::Rect(r) => polygon(&r.to_polygon(), out),
        Geometry::Triangle(t) => polygon(&t.to_polygon(), out),
        Geometry::MultiPoint(m) => {
            many(4, m.0.len(), out);
            m.0.iter().for_each(|p| wkb(&Geometry::Point(*p), out));
        }
        Geometry::MultiLineString(m) => {
            many(5, m.0.len(), out);
            m.0.iter().for_each(|l| line(l, out));
        }
        Geometry::MultiPolygon(m) => {
            many(6, m.0.len(), out);
            m.0.iter().for_each(|p| polygon(p, out));
        }
        Geometry::GeometryCollection(c) => {
            many(7, c.0.len(), out);
            c.0.iter().for_each(|g| wkb(g, out));
        }
    }
}

fn head(kind: u32, out: &mut Vec<u8>) {
    out.push(1);
    out.extend(kind.to_le_bytes());
}

fn many(kind: u32, count: usize, out: &mut Vec<u8>) {
    head(kind, out);
    out.extend((count as u32).to_le_bytes());
}

fn coord(c: Coord, out: &mut Vec<u8>) {
    out.extend(c.x.to_le_bytes());
    out.extend(c.y.to_le_bytes());
}

fn coords(list: &[Coord], out: &mut Vec<u8>) {
    out.extend((list.len() as u32).to_le_bytes());
    list.iter().for_each(|c| coord(*c, out));
}

fn line(l: &LineString, out: &mut Vec<u8>) {
    head(2, out);
    coords(&l.0, out);
}

fn polygon(p: &Polygon, out: &mut Vec<u8>) {
    many(3, 1 + p.interiors().len(), out);
    coords(&p.exterior().0, out);
    p.interiors().iter().for_each(|ring| coords(&ring.0, out));
}
