//! Which tables does a network version show to GIS programs? One for each family of roles, with the typed fields and every original attribute.

use std::collections::BTreeMap;

use geo::{Geometry, MapCoords};
use serde_json::{Map, Value as Json};

use crate::formats::Value;
use crate::formats::geopackage::{Cell, ColumnType, Row, Table};
use crate::ingest::{Ingested, OriginalLayer};
use crate::inventory::{Conduit, Inventory, Key, LayerInfo, LevelField, Parcel, Structure};
use crate::settings::Role;

/// The table in which a role's features stand.
pub(super) fn table_of(role: Role) -> &'static str {
    match role {
        Role::Structures | Role::Outfalls | Role::Ponds => "structures",
        other => other.word(),
    }
}

/// The tables in which a layer's features stand, with the role that decides what of them is personal.
pub(super) fn of_layer(layer: &LayerInfo) -> Vec<(&'static str, Role)> {
    let role = Role::ALL.iter().copied().find(|role| role.word() == layer.role);
    match role {
        Some(Role::Swmm) => [Role::Conduits, Role::Structures, Role::InletAreas].map(|role| (table_of(role), role)).to_vec(),
        Some(role) => vec![(table_of(role), role)],
        None => Vec::new(),
    }
}

/// A shape with every coordinate times a factor.
pub(super) fn scaled(shape: Geometry, factor: f64) -> Geometry {
    if factor == 1.0 { shape } else { shape.map_coords(|c| geo::coord! { x: c.x * factor, y: c.y * factor }) }
}

/// All tables of an import, in the order of their names.
pub(super) fn of(ingested: &Ingested) -> Vec<Table> {
    let native = 1.0 / ingested.working.crs().metres_per_unit();
    let mut tables: BTreeMap<&'static str, Table> = BTreeMap::new();
    for layer in &ingested.originals.layers {
        let name = table_of(layer.role);
        let table = tables.entry(name).or_insert_with(|| empty(name));
        let typed = Typed::new(&ingested.inventory, name);
        for (at, row) in layer.rows.iter().enumerate() {
            let mut cells = vec![
                Cell::Text(layer.name.clone()),
                Cell::Text(row.id.to_string()),
                Cell::Int(row.row as i64),
                Cell::Int(i64::from(row.usable)),
            ];
            cells.extend(typed.cells(&Key { layer: layer.layer, id: row.id.clone() }));
            cells.push(Cell::Text(attributes(layer, at)));
            table.rows.push(Row { shape: row.shape.clone().map(|shape| scaled(shape, native)), cells });
        }
    }
    tables.into_values().collect()
}

fn empty(name: &'static str) -> Table {
    let mut columns =
        vec![("layer", ColumnType::Text), ("id", ColumnType::Text), ("source_row", ColumnType::Integer), ("usable", ColumnType::Boolean)];
    columns.extend(typed_columns(name));
    columns.push(("attributes", ColumnType::Text));
    Table {
        name: name.to_owned(),
        description: format!("{name} as imported; original attributes as JSON in the column attributes"),
        geometry: "GEOMETRY",
        columns,
        rows: Vec::new(),
    }
}

fn typed_columns(table: &str) -> &'static [(&'static str, ColumnType)] {
    use ColumnType::{Boolean, Integer, Real, Text};
    match table {
        "conduits" => &[
            ("kind", Text),
            ("system", Text),
            ("status", Text),
            ("owner", Text),
            ("operator", Text),
            ("node_from", Text),
            ("node_to", Text),
            ("invert_from_m", Real),
            ("invert_to_m", Real),
            ("diameter_mm", Real),
            ("material", Text),
            ("year_installed", Integer),
            ("pressurised", Boolean),
        ],
        "structures" => &[
            ("kind", Text),
            ("outfall_kind", Text),
            ("system", Text),
            ("status", Text),
            ("owner", Text),
            ("operator", Text),
            ("rim_m", Real),
            ("invert_m", Real),
        ],
        "parcels" => &[("land_use", Text), ("used_as", Text), ("address", Text), ("year_built", Integer)],
        _ => &[],
    }
}

/// The typed features of a table, by key.
enum Typed<'a> {
    Conduits(BTreeMap<&'a Key, &'a Conduit>),
    Structures(BTreeMap<&'a Key, &'a Structure>),
    Parcels(BTreeMap<&'a Key, &'a Parcel>),
    Nothing,
}

impl<'a> Typed<'a> {
    fn new(inventory: &'a Inventory, table: &str) -> Self {
        match table {
            "conduits" => Typed::Conduits(inventory.conduits.iter().map(|c| (&c.key, c)).collect()),
            "structures" => Typed::Structures(inventory.structures.iter().map(|s| (&s.key, s)).collect()),
            "parcels" => Typed::Parcels(inventory.parcels.iter().map(|p| (&p.key, p)).collect()),
            _ => Typed::Nothing,
        }
    }

    fn cells(&self, key: &Key) -> Vec<Cell> {
        let nothing = |table: &str| vec![Cell::Null; typed_columns(table).len()];
        match self {
            Typed::Conduits(all) => all.get(key).map_or_else(|| nothing("conduits"), |c| conduit_cells(c)),
            Typed::Structures(all) => all.get(key).map_or_else(|| nothing("structures"), |s| structure_cells(s)),
            Typed::Parcels(all) => all.get(key).map_or_else(|| nothing("parcels"), |p| parcel_cells(p)),
            Typed::Nothing => Vec::new(),
        }
    }
}

fn text(text: Option<&str>) -> Cell {
    text.map_or(Cell::Null, |t| Cell::Text(t.to_owned()))
}

fn real(number: Option<f64>) -> Cell {
    number.map_or(Cell::Null, Cell::Real)
}

fn int(number: Option<i32>) -> Cell {
    number.map_or(Cell::Null, |n| Cell::Int(i64::from(n)))
}

fn level(field: &LevelField) -> Cell {
    real(field.given().map(|l| l.value_m))
}

fn conduit_cells(c: &Conduit) -> Vec<Cell> {
    vec![
        text(Some(c.kind.word())),
        text(Some(c.system.word())),
        text(Some(c.status.word())),
        text(c.owner.as_deref()),
        text(c.operator.as_deref()),
        text(c.node_from.named()),
        text(c.node_to.named()),
        level(&c.invert_from),
        level(&c.invert_to),
        real(c.diameter_mm),
        text(Some(c.material.word())),
        int(c.year_installed),
        Cell::Int(i64::from(c.pressurised)),
    ]
}

fn structure_cells(s: &Structure) -> Vec<Cell> {
    vec![
        text(Some(s.kind.word())),
        text(s.outfall_kind.map(|k| k.word())),
        text(Some(s.system.word())),
        text(Some(s.status.word())),
        text(s.owner.as_deref()),
        text(s.operator.as_deref()),
        level(&s.rim),
        level(&s.invert),
    ]
}

fn parcel_cells(p: &Parcel) -> Vec<Cell> {
    vec![text(p.land_use.as_deref()), text(p.used_as.as_deref()), text(p.address.as_deref()), int(p.year_built)]
}

/// The original attributes of a row as JSON: names and values as the file has them, the word of a coded value beside its code.
fn attributes(layer: &OriginalLayer, row: usize) -> String {
    let mut map = Map::new();
    for (at, (field, value)) in layer.fields.iter().zip(&layer.rows[row].values).enumerate() {
        map.insert(field.name.clone(), json_of(value));
        if let Some(label) = layer.label(at, value) {
            map.insert(format!("{}:label", field.name), label.into());
        }
    }
    Json::Object(map).to_string()
}

/// Beyond this a browser's numbers are no longer exact, so that whole numbers leave as text (2^53).
const EXACT: i64 = 1 << 53;

fn json_of(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Int(number) if number.unsigned_abs() > EXACT.unsigned_abs() => number.to_string().into(),
        Value::Int(number) => (*number).into(),
        Value::Real(number) => (*number).into(),
        Value::Text(text) | Value::Date(text) => text.as_str().into(),
    }
}
