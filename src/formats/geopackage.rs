//! How is a GeoPackage written and its tables read back? Plain tables through SQL; no repairs, no opinions.
//!
//! One SQLite is in the process, the system's, which libgdal has loaded already: never a bundled one.
//! A file that is written here is complete or not there: it is made aside, synced and renamed by the caller.
//! There is no R-tree: upkeep costs three quarters of the writing, and readers of these files read them whole.

use std::path::Path;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Double, Nullable, Text};
use diesel::sqlite::{Sqlite, SqliteConnection};
use geo::{BoundingRect, Geometry};

use crate::crs::Crs;
use crate::error::{Error, Result};

use super::wkb_write::wkb;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Whole numbers.
    Integer,
    /// Other numbers.
    Real,
    /// Text.
    Text,
    /// Truth, as 0 or 1.
    Boolean,
}

impl ColumnType {
    fn sql(self) -> &'static str {
        match self {
            ColumnType::Integer => "INTEGER",
            ColumnType::Real => "REAL",
            ColumnType::Text => "TEXT",
            ColumnType::Boolean => "BOOLEAN",
        }
    }
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value.
    Null,
    /// A whole number.
    Int(i64),
    /// Another number.
    Real(f64),
    /// Text.
    Text(String),
}

/// A row: a shape in the coordinates of the file, and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The shape, native coordinates of the file's CRS.
    pub shape: Option<Geometry>,
    /// One value for each column.
    pub cells: Vec<Cell>,
}

/// A table of features.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// A sentence for people.
    pub description: String,
    /// `POINT`, `MULTIPOLYGON`, … or `GEOMETRY` for any.
    pub geometry: &'static str,
    /// Its columns beside `fid` and `geom`.
    pub columns: Vec<(&'static str, ColumnType)>,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// What is kept beside the tables: name and bytes, unseen by GIS programs.
pub type Part = (&'static str, Vec<u8>);

/// Bytes of a part in one row: below SQLite's limit, and small enough to copy quickly.
const PART_BYTES: usize = 32 << 20;
/// Cells in one statement: SQLite takes 32,766.
const MOST_CELLS: usize = 8_000;
/// The time in every file: answers must not depend on when they were written.
const TIME: &str = "1970-01-01T00:00:00.000Z";

fn refused(path: &Path, what: &str) -> impl FnOnce(diesel::result::Error) -> Error + use<> {
    let (path, what) = (path.to_owned(), what.to_owned());
    move |cause| Error::machine(format!("{what} failed")).file(path).hint("is the disk full, or the file in use?").cause(cause)
}

/// Opens a file that is there; `read_only` leaves no traces beside it.
fn open(path: &Path, read_only: bool) -> Result<SqliteConnection> {
    let text = path.to_str().ok_or_else(|| Error::machine("the path is not valid text").file(path))?;
    let address = if read_only {
        let escaped = text.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        format!("file:{escaped}?mode=ro&immutable=1")
    } else {
        text.to_owned()
    };
    SqliteConnection::establish(&address).map_err(|cause| Error::machine("cannot be opened as a database").file(path).cause(cause))
}

/// Writes a new GeoPackage with these tables and parts, synced to the disk; `about` is a table of names and values for people.
///
/// # Errors
/// A disk that refuses; what was written so far is the caller's to remove.
pub fn write(path: &Path, crs: &Crs, tables: &[Table], about: &[(&str, String)], parts: &[Part]) -> Result<()> {
    let mut db = open(path, false)?;
    let failed = |what: &str| refused(path, what);
    db.batch_execute(
        "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = FULL; PRAGMA application_id = 0x47504B47; PRAGMA user_version = 10300;",
    )
    .map_err(failed("preparing the file"))?;
    db.transaction(|db| {
        db.batch_execute(CATALOGUE)?;
        let srs_id = write_crs(db, crs)?;
        for table in tables {
            write_table(db, table, srs_id)?;
        }
        write_about(db, about)?;
        db.batch_execute(
            "CREATE TABLE headwall_parts (name TEXT NOT NULL, seq INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (name, seq));",
        )?;
        for (name, bytes) in parts {
            for (seq, chunk) in bytes.chunks(PART_BYTES).enumerate() {
                diesel::sql_query("INSERT INTO headwall_parts VALUES (?, ?, ?)")
                    .bind::<Text, _>(*name)
                    .bind::<BigInt, _>(seq as i64)
                    .bind::<Binary, _>(chunk)
                    .execute(db)?;
            }
        }
        Ok(())
    })
    .map_err(failed("writing the file"))?;
    drop(db);
    let sync = std::fs::File::open(path).and_then(|file| file.sync_all());
    sync.map_err(|cause| Error::machine("could not be synced to the disk").file(path).cause(cause))
}

const CATALOGUE: &str = "
CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
  organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE, description TEXT DEFAULT '',
  last_change DATETIME NOT NULL, min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER,
  CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id));
CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL,
  z TINYINT NOT NULL, m TINYINT NOT NULL, CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name),
  CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
  CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id));
INSERT INTO gpkg_spatial_ref_sys VALUES ('Undefined Cartesian SRS', -1, 'NONE', -1, 'undefined', 'undefined Cartesian coordinate reference system');
INSERT INTO gpkg_spatial_ref_sys VALUES ('Undefined geographic SRS', 0, 'NONE', 0, 'undefined', 'undefined geographic coordinate reference system');
INSERT INTO gpkg_spatial_ref_sys VALUES ('WGS 84 geodetic', 4326, 'EPSG', 4326,
  'GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\",SPHEROID[\"WGS 84\",6378137,298.257223563,AUTHORITY[\"EPSG\",\"7030\"]],AUTHORITY[\"EPSG\",\"6326\"]],PRIMEM[\"Greenwich\",0,AUTHORITY[\"EPSG\",\"8901\"]],UNIT[\"degree\",0.0174532925199433,AUTHORITY[\"EPSG\",\"9122\"]],AUTHORITY[\"EPSG\",\"4326\"]]',
  'longitude/latitude coordinates in decimal degrees on the WGS 84 spheroid');
";

fn write_crs(db: &mut SqliteConnection, crs: &Crs) -> QueryResult<i32> {
    let code = crs.authority().and_then(|a| a.strip_prefix("EPSG:")).and_then(|code| code.parse::<i32>().ok());
    if code == Some(4326) {
        return Ok(4326);
    }
    // A system without a code gets a number beyond those of the registry.
    let srs_id = code.unwrap_or(100_000);
    diesel::sql_query("INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, NULL)")
        .bind::<Text, _>(crs.name())
        .bind::<diesel::sql_types::Integer, _>(srs_id)
        .bind::<Text, _>(if code.is_some() { "EPSG" } else { "NONE" })
        .bind::<diesel::sql_types::Integer, _>(srs_id)
        .bind::<Text, _>(crs.wkt())
        .execute(db)?;
    Ok(srs_id)
}

/// A name as SQL takes it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn write_table(db: &mut SqliteConnection, table: &Table, srs_id: i32) -> QueryResult<()> {
    let columns: String = table.columns.iter().map(|(name, kind)| format!(", {} {}", quoted(name), kind.sql())).collect();
    let name = quoted(&table.name);
    db.batch_execute(&format!("CREATE TABLE {name} (fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, geom {}{columns});", table.geometry))?;
    let bounds = table.rows.iter().filter_map(|row| row.shape.as_ref()?.bounding_rect()).reduce(|a, b| {
        geo::Rect::new(
            geo::coord! { x: a.min().x.min(b.min().x), y: a.min().y.min(b.min().y) },
            geo::coord! { x: a.max().x.max(b.max().x), y: a.max().y.max(b.max().y) },
        )
    });
    let edge = |pick: fn(&geo::Rect) -> f64| bounds.as_ref().map(pick);
    diesel::sql_query("INSERT INTO gpkg_contents VALUES (?, 'features', ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind::<Text, _>(&table.name)
        .bind::<Text, _>(&table.name)
        .bind::<Text, _>(&table.description)
        .bind::<Text, _>(TIME)
        .bind::<Nullable<Double>, _>(edge(|b| b.min().x))
        .bind::<Nullable<Double>, _>(edge(|b| b.min().y))
        .bind::<Nullable<Double>, _>(edge(|b| b.max().x))
        .bind::<Nullable<Double>, _>(edge(|b| b.max().y))
        .bind::<diesel::sql_types::Integer, _>(srs_id)
        .execute(db)?;
    diesel::sql_query("INSERT INTO gpkg_geometry_columns VALUES (?, 'geom', ?, ?, 0, 0)")
        .bind::<Text, _>(&table.name)
        .bind::<Text, _>(table.geometry)
        .bind::<diesel::sql_types::Integer, _>(srs_id)
        .execute(db)?;
    let width = table.columns.len() + 1;
    let names: String = table.columns.iter().map(|(name, _)| format!(", {}", quoted(name))).collect();
    let places = format!("({})", vec!["?"; width].join(", "));
    for rows in table.rows.chunks((MOST_CELLS / width).max(1)) {
        let sql = format!("INSERT INTO {name} (geom{names}) VALUES {}", vec![places.as_str(); rows.len()].join(", "));
        let mut insert = diesel::sql_query(sql).into_boxed::<Sqlite>();
        for row in rows {
            insert = insert.bind::<Nullable<Binary>, _>(row.shape.as_ref().map(|shape| geometry_blob(shape, srs_id)));
            for cell in &row.cells {
                insert = match cell {
                    Cell::Null => insert.bind::<Nullable<Text>, _>(None::<String>),
                    Cell::Int(value) => insert.bind::<BigInt, _>(*value),
                    Cell::Real(value) => insert.bind::<Double, _>(*value),
                    Cell::Text(value) => insert.bind::<Text, _>(value.as_str()),
                };
            }
        }
        insert.execute(db)?;
    }
    Ok(())
}

/// A registered table without shapes; GIS programs then show no table that is not registered, such as the parts.
fn write_about(db: &mut SqliteConnection, about: &[(&str, String)]) -> QueryResult<()> {
    db.batch_execute("CREATE TABLE about (fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL);")?;
    diesel::sql_query(
        "INSERT INTO gpkg_contents VALUES ('about', 'attributes', 'about', 'what this file is', ?, NULL, NULL, NULL, NULL, NULL)",
    )
    .bind::<Text, _>(TIME)
    .execute(db)?;
    for (name, value) in about {
        diesel::sql_query("INSERT INTO about (name, value) VALUES (?, ?)").bind::<Text, _>(*name).bind::<Text, _>(value).execute(db)?;
    }
    Ok(())
}

/// The header of GeoPackage 1.3 (little endian, envelope of x and y) and WKB.
fn geometry_blob(shape: &Geometry, srs_id: i32) -> Vec<u8> {
    let mut blob = vec![b'G', b'P', 0];
    match shape.bounding_rect() {
        Some(bounds) => {
            blob.push(0b0000_0011);
            blob.extend(srs_id.to_le_bytes());
            for edge in [bounds.min().x, bounds.max().x, bounds.min().y, bounds.max().y] {
                blob.extend(edge.to_le_bytes());
            }
        }
        None => {
            blob.push(0b0001_0001);
            blob.extend(srs_id.to_le_bytes());
        }
    }
    wkb(shape, &mut blob);
    blob
}

#[derive(QueryableByName)]
struct Bytes {
    #[diesel(sql_type = Binary)]
    bytes: Vec<u8>,
}

/// Reads a part back, whole.
///
/// # Errors
/// A file that is no network version, or is damaged.
pub fn read_part(path: &Path, name: &str) -> Result<Vec<u8>> {
    let mut db = open(path, true)?;
    let rows: Vec<Bytes> =
        diesel::sql_query("SELECT bytes FROM headwall_parts WHERE name = ? ORDER BY seq").bind::<Text, _>(name).load(&mut db).map_err(
            |cause| Error::input("is no network version that Headwall wrote").file(path).hint("run headwall import again").cause(cause),
        )?;
    if rows.is_empty() {
        return Err(Error::input(format!("holds no part {name}")).file(path).hint("run headwall import again"));
    }
    Ok(rows.into_iter().flat_map(|row| row.bytes).collect())
}

#[derive(QueryableByName)]
struct Attributes {
    #[diesel(sql_type = Nullable<Text>)]
    attributes: Option<String>,
}

/// The original attributes of a feature as JSON text; `None` where there is no such feature.
///
/// # Errors
/// A file that is no network version, or is damaged.
pub fn read_attributes(path: &Path, table: &str, layer: &str, id: &str) -> Result<Option<String>> {
    let mut db = open(path, true)?;
    let sql = format!("SELECT attributes FROM {} WHERE layer = ? AND id = ?", quoted(table));
    let rows: Vec<Attributes> = diesel::sql_query(sql)
        .bind::<Text, _>(layer)
        .bind::<Text, _>(id)
        .load(&mut db)
        .map_err(|cause| Error::input("is no network version that Headwall wrote").file(path).cause(cause))?;
    Ok(rows.into_iter().next().and_then(|row| row.attributes))
}

#[derive(QueryableByName)]
struct FeatureRow {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Nullable<Binary>)]
    geom: Option<Vec<u8>>,
    #[diesel(sql_type = Text)]
    attributes: String,
}

/// A feature of a network version: id, shape in the coordinates of the file, attributes as JSON text.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredFeature {
    /// The id of its key.
    pub id: String,
    /// Its shape, native coordinates of the file's CRS.
    pub shape: Option<Geometry>,
    /// Its original attributes as JSON text.
    pub attributes: String,
}

#[derive(QueryableByName)]
struct Name {
    #[diesel(sql_type = Text)]
    name: String,
}

/// The names of the tables of features, in order.
///
/// # Errors
/// A file that is no GeoPackage, or is damaged.
pub fn table_names(path: &Path) -> Result<Vec<String>> {
    let mut db = open(path, true)?;
    let rows: Vec<Name> = diesel::sql_query("SELECT table_name AS name FROM gpkg_contents ORDER BY table_name")
        .load(&mut db)
        .map_err(|cause| Error::input("is no network version that Headwall wrote").file(path).cause(cause))?;
    Ok(rows.into_iter().map(|row| row.name).collect())
}

/// Every feature of a layer, in the order of its source file.
///
/// # Errors
/// A file that is no network version, or is damaged.
pub fn read_layer(path: &Path, table: &str, layer: &str) -> Result<Vec<StoredFeature>> {
    let mut db = open(path, true)?;
    let foreign = |cause| Error::input("is no network version that Headwall wrote").file(path).cause(cause);
    let sql = format!("SELECT id, geom, attributes FROM {} WHERE layer = ? ORDER BY fid", quoted(table));
    let rows: Vec<FeatureRow> = diesel::sql_query(sql).bind::<Text, _>(layer).load(&mut db).map_err(foreign)?;
    let shape = |blob: Option<Vec<u8>>| blob.and_then(|blob| shape_of_blob(&blob));
    Ok(rows.into_iter().map(|row| StoredFeature { id: row.id, shape: shape(row.geom), attributes: row.attributes }).collect())
}

/// The shape in a GeoPackage blob that this module wrote.
fn shape_of_blob(blob: &[u8]) -> Option<Geometry> {
    let envelope = match (blob.get(3)? >> 1) & 7 {
        0 => 0,
        1 => 32,
        _ => return None,
    };
    match super::wkb::read(blob.get(8 + envelope..)?, super::curves::Fineness { metres_per_unit: None }).shape {
        super::RawShape::Shape(shape) => Some(shape),
        _ => None,
    }
}
