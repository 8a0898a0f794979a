//! In which compact form does a network version hold the inventory? Row structs of its own, so that what is stored and what is used can part ways.

use std::collections::BTreeMap;
use std::sync::Arc;

use geo::{Coord, LineString, MultiLineString, MultiPolygon, Point, Polygon};
use serde::{Deserialize, Serialize};

use super::water_records::{self, WaterRecords};
use crate::data_issue::{DataIssue, IssueCode};
use crate::error::{Error, Result};
use crate::inventory::{
    Backdrop, Conduit, ConduitKind, DrainageArea, FlowCode, Inventory, Key, LandLayerKind, Lateral, LayerIndex, LayerInfo, Level,
    LevelField, LevelKind, Material, NodeId, OutfallKind, Parcel, Premises, Shape, Status, Structure, StructureKind, System, Water,
    WaterKind,
};

/// Raised whenever a row struct changes, so that an older file is refused and not misread.
pub(super) const FORM: u32 = 2;

pub(super) type Line = Vec<(f64, f64)>;
pub(super) type Area = Vec<Vec<Line>>;

#[derive(Serialize, Deserialize)]
struct InventoryRow {
    form: u32,
    layers: Vec<(String, String, String, u64, u64)>,
    conduits: Vec<ConduitRow>,
    structures: Vec<StructureRow>,
    laterals: Vec<LateralRow>,
    parcels: Vec<ParcelRow>,
    premises: Vec<PremisesRow>,
    drainage_areas: Vec<DrainageAreaRow>,
    waters: Vec<WaterRow>,
    records: WaterRecords,
    backdrops: Vec<BackdropRow>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct KeyRow(u16, String);

#[derive(Serialize, Deserialize)]
enum NodeIdRow {
    NotMapped,
    Missing,
    Named(String),
}

#[derive(Serialize, Deserialize)]
enum LevelRow {
    NotMapped,
    Missing,
    Given(f64, u8, Option<String>),
}

#[derive(Serialize, Deserialize)]
struct ConduitRow {
    key: KeyRow,
    kind: u8,
    parts: Vec<Line>,
    node_from: NodeIdRow,
    node_to: NodeIdRow,
    invert_from: LevelRow,
    invert_to: LevelRow,
    flow: u8,
    diameter_mm: Option<f64>,
    height_mm: Option<f64>,
    shape: u8,
    material: u8,
    barrels: Option<u32>,
    year_installed: Option<i32>,
    status: u8,
    system: u8,
    owner: Option<String>,
    operator: Option<String>,
    pressurised: bool,
    assigned_outfall: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct StructureRow {
    key: KeyRow,
    kind: u8,
    outfall_kind: Option<u8>,
    place: Option<(f64, f64)>,
    area: Option<Area>,
    rim: LevelRow,
    invert: LevelRow,
    sump_m: Option<f64>,
    status: u8,
    system: u8,
    owner: Option<String>,
    operator: Option<String>,
    other_system: Option<String>,
    name: Option<String>,
    also_known_as: Option<String>,
    receiving_water: Option<String>,
    tolerance_m: f64,
}

#[derive(Serialize, Deserialize)]
struct LateralRow {
    key: KeyRow,
    parts: Vec<Line>,
    conduit: Option<String>,
    parcel: Option<String>,
    status: u8,
    system: u8,
    documented: Option<bool>,
    approved: Option<bool>,
}

#[derive(Serialize, Deserialize)]
struct ParcelRow {
    key: KeyRow,
    outline: Option<Area>,
    land_use: Option<String>,
    used_as: Option<String>,
    address: Option<String>,
    year_built: Option<i32>,
    sewer: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct PremisesRow {
    key: KeyRow,
    layer_kind: u8,
    place: Option<(f64, f64)>,
    parcel: Option<String>,
    sic: Option<String>,
    naics: Option<String>,
    name: Option<String>,
    year: Option<i32>,
}

#[derive(Serialize, Deserialize)]
struct DrainageAreaRow {
    key: KeyRow,
    outline: Option<Area>,
    drains_to: Option<String>,
    whole_catchment: bool,
}

#[derive(Serialize, Deserialize)]
struct WaterRow {
    key: KeyRow,
    kind: u8,
    course: Option<Vec<Line>>,
    shore: Option<Area>,
    name: Option<String>,
    node_from: NodeIdRow,
    node_to: NodeIdRow,
    flow: u8,
    hydrosequence: Option<i64>,
    fcode: Option<u32>,
    unit: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct BackdropRow {
    key: KeyRow,
    /// Points, lines and areas of the shape; other types are kept in the tables alone.
    points: Vec<(f64, f64)>,
    lines: Vec<Line>,
    areas: Area,
    name: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct IssueRow {
    code: String,
    layer: String,
    ids: Vec<String>,
    file: Option<String>,
    field: Option<String>,
    value: Option<String>,
    node: Option<String>,
    distance_m: Option<f64>,
    at: Option<[f64; 2]>,
    message: String,
}

pub(super) fn text(shared: &Option<Arc<str>>) -> Option<String> {
    shared.as_deref().map(str::to_owned)
}

pub(super) fn key(key: &Key) -> KeyRow {
    KeyRow(key.layer.0, key.id.to_string())
}

pub(super) fn line(line: &LineString) -> Line {
    line.0.iter().map(|c| (c.x, c.y)).collect()
}

pub(super) fn area(area: &MultiPolygon) -> Area {
    let rings = |p: &Polygon| std::iter::once(p.exterior()).chain(p.interiors()).map(line).collect();
    area.0.iter().map(rings).collect()
}

fn level(field: &LevelField) -> LevelRow {
    match field {
        LevelField::NotMapped => LevelRow::NotMapped,
        LevelField::Missing => LevelRow::Missing,
        LevelField::Given(l) => LevelRow::Given(l.value_m, l.kind as u8, text(&l.datum)),
    }
}

fn node_id(id: &NodeId) -> NodeIdRow {
    match id {
        NodeId::NotMapped => NodeIdRow::NotMapped,
        NodeId::Missing => NodeIdRow::Missing,
        NodeId::Named(id) => NodeIdRow::Named(id.to_string()),
    }
}

/// The inventory as bytes.
pub(super) fn pack(inventory: &Inventory) -> Result<Vec<u8>> {
    let row = InventoryRow {
        form: FORM,
        layers: inventory
            .layers
            .iter()
            .map(|l| (l.name.to_string(), l.file.clone(), l.role.clone(), l.read as u64, l.usable as u64))
            .collect(),
        conduits: inventory
            .conduits
            .iter()
            .map(|c| ConduitRow {
                key: key(&c.key),
                kind: c.kind as u8,
                parts: c.parts.iter().map(line).collect(),
                node_from: node_id(&c.node_from),
                node_to: node_id(&c.node_to),
                invert_from: level(&c.invert_from),
                invert_to: level(&c.invert_to),
                flow: c.flow as u8,
                diameter_mm: c.diameter_mm,
                height_mm: c.height_mm,
                shape: c.shape as u8,
                material: c.material as u8,
                barrels: c.barrels,
                year_installed: c.year_installed,
                status: c.status as u8,
                system: c.system as u8,
                owner: text(&c.owner),
                operator: text(&c.operator),
                pressurised: c.pressurised,
                assigned_outfall: text(&c.assigned_outfall),
            })
            .collect(),
        structures: inventory
            .structures
            .iter()
            .map(|s| StructureRow {
                key: key(&s.key),
                kind: s.kind as u8,
                outfall_kind: s.outfall_kind.map(|k| k as u8),
                place: s.place.map(|p| (p.x(), p.y())),
                area: s.area.as_ref().map(area),
                rim: level(&s.rim),
                invert: level(&s.invert),
                sump_m: s.sump_m,
                status: s.status as u8,
                system: s.system as u8,
                owner: text(&s.owner),
                operator: text(&s.operator),
                other_system: text(&s.other_system),
                name: text(&s.name),
                also_known_as: text(&s.also_known_as),
                receiving_water: text(&s.receiving_water),
                tolerance_m: s.tolerance_m,
            })
            .collect(),
        laterals: inventory
            .laterals
            .iter()
            .map(|l| LateralRow {
                key: key(&l.key),
                parts: l.parts.iter().map(line).collect(),
                conduit: text(&l.conduit),
                parcel: text(&l.parcel),
                status: l.status as u8,
                system: l.system as u8,
                documented: l.documented,
                approved: l.approved,
            })
            .collect(),
        parcels: inventory
            .parcels
            .iter()
            .map(|p| ParcelRow {
                key: key(&p.key),
                outline: p.outline.as_ref().map(area),
                land_use: text(&p.land_use),
                used_as: text(&p.used_as),
                address: text(&p.address),
                year_built: p.year_built,
                sewer: text(&p.sewer),
            })
            .collect(),
        premises: inventory
            .premises
            .iter()
            .map(|p| PremisesRow {
                key: key(&p.key),
                layer_kind: p.layer_kind as u8,
                place: p.place.map(|p| (p.x(), p.y())),
                parcel: text(&p.parcel),
                sic: text(&p.sic),
                naics: text(&p.naics),
                name: text(&p.name),
                year: p.year,
            })
            .collect(),
        drainage_areas: inventory
            .drainage_areas
            .iter()
            .map(|a| DrainageAreaRow {
                key: key(&a.key),
                outline: a.outline.as_ref().map(area),
                drains_to: text(&a.drains_to),
                whole_catchment: a.whole_catchment,
            })
            .collect(),
        waters: inventory
            .waters
            .iter()
            .map(|w| WaterRow {
                key: key(&w.key),
                kind: w.kind as u8,
                course: w.course.as_ref().map(|c| c.0.iter().map(line).collect()),
                shore: w.shore.as_ref().map(area),
                name: text(&w.name),
                node_from: node_id(&w.node_from),
                node_to: node_id(&w.node_to),
                flow: w.flow as u8,
                hydrosequence: w.hydrosequence,
                fcode: w.fcode,
                unit: text(&w.unit),
            })
            .collect(),
        records: water_records::pack(inventory),
        backdrops: inventory.backdrops.iter().map(backdrop).collect(),
    };
    postcard::to_allocvec(&row).map_err(|cause| Error::machine("the inventory could not be packed").cause(cause))
}

fn backdrop(b: &Backdrop) -> BackdropRow {
    let mut row = BackdropRow { key: key(&b.key), points: Vec::new(), lines: Vec::new(), areas: Vec::new(), name: text(&b.name) };
    let mut to_do: Vec<&geo::Geometry> = b.shape.iter().collect();
    while let Some(shape) = to_do.pop() {
        match shape {
            geo::Geometry::Point(p) => row.points.push((p.x(), p.y())),
            geo::Geometry::MultiPoint(m) => row.points.extend(m.0.iter().map(|p| (p.x(), p.y()))),
            geo::Geometry::LineString(l) => row.lines.push(line(l)),
            geo::Geometry::MultiLineString(m) => row.lines.extend(m.0.iter().map(line)),
            geo::Geometry::Polygon(p) => row.areas.extend(area(&MultiPolygon(vec![p.clone()]))),
            geo::Geometry::MultiPolygon(m) => row.areas.extend(area(m)),
            geo::Geometry::GeometryCollection(c) => to_do.extend(c.0.iter().rev()),
            _ => {}
        }
    }
    row
}

/// Texts that many features share are kept once.
#[derive(Default)]
pub(super) struct Shared {
    known: BTreeMap<String, Arc<str>>,
}

impl Shared {
    pub(super) fn text(&mut self, text: Option<String>) -> Option<Arc<str>> {
        let text = text?;
        if let Some(known) = self.known.get(&text) {
            return Some(known.clone());
        }
        let shared: Arc<str> = text.as_str().into();
        self.known.insert(text, shared.clone());
        Some(shared)
    }

    fn level(&mut self, row: LevelRow) -> Option<LevelField> {
        Some(match row {
            LevelRow::NotMapped => LevelField::NotMapped,
            LevelRow::Missing => LevelField::Missing,
            LevelRow::Given(value_m, kind, datum) => {
                let kinds = [LevelKind::Elevation, LevelKind::DepthBelowRim, LevelKind::OffsetAboveNode];
                LevelField::Given(Level { value_m, kind: *kinds.get(usize::from(kind))?, datum: self.text(datum) })
            }
        })
    }
}

pub(super) fn unkey(row: KeyRow) -> Key {
    Key { layer: LayerIndex(row.0), id: row.1.into() }
}

pub(super) fn unline(row: Line) -> LineString {
    LineString(row.into_iter().map(|(x, y)| Coord { x, y }).collect())
}

pub(super) fn unarea(row: Area) -> MultiPolygon {
    let polygon = |rings: Vec<Line>| {
        let mut rings = rings.into_iter().map(unline);
        Polygon::new(rings.next().unwrap_or_else(|| LineString(Vec::new())), rings.collect())
    };
    MultiPolygon(row.into_iter().map(polygon).collect())
}

fn unnode(row: NodeIdRow) -> NodeId {
    match row {
        NodeIdRow::NotMapped => NodeId::NotMapped,
        NodeIdRow::Missing => NodeId::Missing,
        NodeIdRow::Named(id) => NodeId::Named(id.into()),
    }
}

fn word<T: Copy>(all: &[T], at: u8) -> Option<T> {
    all.get(usize::from(at)).copied()
}

/// The inventory from bytes.
///
/// # Errors
/// Bytes of another form, or damaged ones.
pub(super) fn unpack(bytes: &[u8]) -> Result<Inventory> {
    let damaged = || Error::input("the network version is damaged or of another form").hint("run headwall import again");
    let row: InventoryRow = postcard::from_bytes(bytes).map_err(|cause| damaged().cause(cause))?;
    if row.form != FORM {
        return Err(damaged().found(format!("form {}", row.form)).expected(format!("form {FORM}")));
    }
    unpack_rows(row).ok_or_else(damaged)
}

fn unpack_rows(row: InventoryRow) -> Option<Inventory> {
    let mut shared = Shared::default();
    let layer = |(name, file, role, read, usable): (String, String, String, u64, u64)| LayerInfo {
        name: name.into(),
        file,
        role,
        read: read as usize,
        usable: usable as usize,
    };
    let mut inventory = Inventory { layers: row.layers.into_iter().map(layer).collect(), ..Inventory::default() };
    let flows = [FlowCode::NotMapped, FlowCode::SaysNothing, FlowCode::WithDrawing, FlowCode::AgainstDrawing];
    for c in row.conduits {
        inventory.conduits.push(Conduit {
            key: unkey(c.key),
            kind: word(ConduitKind::ALL, c.kind)?,
            parts: c.parts.into_iter().map(unline).collect(),
            node_from: unnode(c.node_from),
            node_to: unnode(c.node_to),
            invert_from: shared.level(c.invert_from)?,
            invert_to: shared.level(c.invert_to)?,
            flow: word(&flows, c.flow)?,
            diameter_mm: c.diameter_mm,
            height_mm: c.height_mm,
            shape: word(Shape::ALL, c.shape)?,
            material: word(Material::ALL, c.material)?,
            barrels: c.barrels,
            year_installed: c.year_installed,
            status: word(Status::ALL, c.status)?,
            system: word(System::ALL, c.system)?,
            owner: shared.text(c.owner),
            operator: shared.text(c.operator),
            pressurised: c.pressurised,
            assigned_outfall: shared.text(c.assigned_outfall),
        });
    }
    for s in row.structures {
        inventory.structures.push(Structure {
            key: unkey(s.key),
            kind: word(StructureKind::ALL, s.kind)?,
            outfall_kind: match s.outfall_kind {
                Some(kind) => Some(word(OutfallKind::ALL, kind)?),
                None => None,
            },
            place: s.place.map(|(x, y)| Point::new(x, y)),
            area: s.area.map(unarea),
            rim: shared.level(s.rim)?,
            invert: shared.level(s.invert)?,
            sump_m: s.sump_m,
            status: word(Status::ALL, s.status)?,
            system: word(System::ALL, s.system)?,
            owner: shared.text(s.owner),
            operator: shared.text(s.operator),
            other_system: shared.text(s.other_system),
            name: shared.text(s.name),
            also_known_as: shared.text(s.also_known_as),
            receiving_water: shared.text(s.receiving_water),
            tolerance_m: s.tolerance_m,
        });
    }
    for l in row.laterals {
        inventory.laterals.push(Lateral {
            key: unkey(l.key),
            parts: l.parts.into_iter().map(unline).collect(),
            conduit: shared.text(l.conduit),
            parcel: shared.text(l.parcel),
            status: word(Status::ALL, l.status)?,
            system: word(System::ALL, l.system)?,
            documented: l.documented,
            approved: l.approved,
        });
    }
    for p in row.parcels {
        inventory.parcels.push(Parcel {
            key: unkey(p.key),
            outline: p.outline.map(unarea),
            land_use: shared.text(p.land_use),
            used_as: shared.text(p.used_as),
            address: p.address.map(Into::into),
            year_built: p.year_built,
            sewer: shared.text(p.sewer),
        });
    }
    for p in row.premises {
        inventory.premises.push(Premises {
            key: unkey(p.key),
            layer_kind: word(LandLayerKind::ALL, p.layer_kind)?,
            place: p.place.map(|(x, y)| Point::new(x, y)),
            parcel: shared.text(p.parcel),
            sic: shared.text(p.sic),
            naics: shared.text(p.naics),
            name: shared.text(p.name),
            year: p.year,
        });
    }
    for a in row.drainage_areas {
        inventory.drainage_areas.push(DrainageArea {
            key: unkey(a.key),
            outline: a.outline.map(unarea),
            drains_to: shared.text(a.drains_to),
            whole_catchment: a.whole_catchment,
        });
    }
    for w in row.waters {
        inventory.waters.push(Water {
            key: unkey(w.key),
            kind: word(WaterKind::ALL, w.kind)?,
            course: w.course.map(|c| MultiLineString(c.into_iter().map(unline).collect())),
            shore: w.shore.map(unarea),
            name: shared.text(w.name),
            node_from: unnode(w.node_from),
            node_to: unnode(w.node_to),
            flow: word(&flows, w.flow)?,
            hydrosequence: w.hydrosequence,
            fcode: w.fcode,
            unit: shared.text(w.unit),
        });
    }
    water_records::unpack(row.records, &mut shared, &mut inventory)?;
    for b in row.backdrops {
        let mut shapes: Vec<geo::Geometry> = b.points.into_iter().map(|(x, y)| Point::new(x, y).into()).collect();
        shapes.extend(b.lines.into_iter().map(|l| geo::Geometry::from(unline(l))));
        if !b.areas.is_empty() {
            shapes.push(unarea(b.areas).into());
        }
        let shape = match shapes.len() {
            0 => None,
            1 => shapes.pop(),
            _ => Some(geo::Geometry::GeometryCollection(geo::GeometryCollection(shapes))),
        };
        inventory.backdrops.push(Backdrop { key: unkey(b.key), shape, name: shared.text(b.name) });
    }
    Some(inventory)
}

/// Issues as bytes.
pub(super) fn pack_issues(issues: &[DataIssue]) -> Result<Vec<u8>> {
    let rows: Vec<IssueRow> = issues
        .iter()
        .cloned()
        .map(|i| IssueRow {
            code: i.code.as_str().to_owned(),
            layer: i.layer,
            ids: i.ids,
            file: i.file,
            field: i.field,
            value: i.value,
            node: i.node,
            distance_m: i.distance_m,
            at: i.at,
            message: i.message,
        })
        .collect();
    postcard::to_allocvec(&rows).map_err(|cause| Error::machine("the data issues could not be packed").cause(cause))
}

/// Issues from bytes.
///
/// # Errors
/// Damaged bytes.
pub(super) fn unpack_issues(bytes: &[u8]) -> Result<Vec<DataIssue>> {
    let damaged = || Error::input("the data issues of the network version are damaged").hint("run headwall import again");
    let rows: Vec<IssueRow> = postcard::from_bytes(bytes).map_err(|cause| damaged().cause(cause))?;
    rows.into_iter()
        .map(|r| {
            let code = IssueCode::ALL.iter().find(|c| c.as_str() == r.code).ok_or_else(damaged)?;
            Ok(DataIssue {
                code: *code,
                layer: r.layer,
                ids: r.ids,
                file: r.file,
                field: r.field,
                value: r.value,
                node: r.node,
                distance_m: r.distance_m,
                at: r.at,
                message: r.message,
            })
        })
        .collect()
}
