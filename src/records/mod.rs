//! What has been done about it since? The store of what people add: corrections now, cases and readings later.
//!
//! One SQLite file, `records.sqlite`: append-only (triggers refuse a change), one writer at a time, a record whole or not there.

use std::path::{Path, PathBuf};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::sqlite::SqliteConnection;
use serde::{Deserialize, Serialize};

use crate::crs::{Crs, WorkingCrs};
use crate::error::{Error, Result};
use crate::evidence::{Change, Correction, Reliance};

/// The name of the store in a town's folder.
pub const RECORDS_FILE: &str = "records.sqlite";

/// The form of what is written in `changes`; raised whenever it changes, older ones stay readable.
const FORM: u32 = 1;

/// What somebody records.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCorrection {
    /// When, UTC, RFC 3339.
    pub at: String,
    /// Who says so.
    pub who: String,
    /// Why.
    pub why: String,
    /// On what evidence.
    pub evidence: String,
    /// The proposal that it accepts.
    pub proposal: Option<String>,
    /// The changes, inside coordinates.
    pub changes: Vec<Change>,
    /// What they rely on.
    pub relied_on: Vec<Reliance>,
}

/// A record of the log: a correction, or the undoing of an earlier record.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The correction; without changes where it undoes.
    pub correction: Correction,
    /// The record that it undoes.
    pub undoes: Option<u64>,
    /// False where a later record undoes it.
    pub in_force: bool,
}

/// Everything that was recorded, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// The records.
    pub records: Vec<Record>,
}

impl Log {
    /// The number of the last record; 0 where there is none.
    pub fn last(&self) -> u64 {
        self.records.last().map_or(0, |r| r.correction.sequence)
    }

    /// The corrections that hold.
    pub fn in_force(&self) -> Vec<Correction> {
        self.records.iter().filter(|r| r.in_force && r.undoes.is_none()).map(|r| r.correction.clone()).collect()
    }

    /// A record by its number.
    pub fn record(&self, sequence: u64) -> Option<&Record> {
        self.records.iter().find(|r| r.correction.sequence == sequence)
    }
}

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS corrections (
  sequence INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  who TEXT NOT NULL,
  why TEXT NOT NULL,
  evidence TEXT NOT NULL,
  proposal TEXT,
  undoes INTEGER REFERENCES corrections (sequence),
  working_crs TEXT NOT NULL,
  changes TEXT NOT NULL
) STRICT;
CREATE TRIGGER IF NOT EXISTS corrections_are_never_changed BEFORE UPDATE ON corrections
  BEGIN SELECT RAISE(ABORT, 'a record is never changed'); END;
CREATE TRIGGER IF NOT EXISTS corrections_are_never_removed BEFORE DELETE ON corrections
  BEGIN SELECT RAISE(ABORT, 'a record is never removed'); END;
";

/// How long a writer waits for another, milliseconds (assumed: longer than any correction takes).
const BUSY_MS: u32 = 10_000;

#[derive(Serialize, Deserialize)]
struct Body {
    form: u32,
    changes: Vec<Change>,
    relied_on: Vec<Reliance>,
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    sequence: i64,
    #[diesel(sql_type = Text)]
    at: String,
    #[diesel(sql_type = Text)]
    who: String,
    #[diesel(sql_type = Text)]
    why: String,
    #[diesel(sql_type = Text)]
    evidence: String,
    #[diesel(sql_type = Nullable<Text>)]
    proposal: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    undoes: Option<i64>,
    #[diesel(sql_type = Text)]
    working_crs: String,
    #[diesel(sql_type = Text)]
    changes: String,
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

fn refused(path: &Path) -> impl Fn(diesel::result::Error) -> Error + use<> {
    let path = path.to_owned();
    move |cause| {
        Error::machine("could not be read or written")
            .file(&path)
            .hint("is the disk full, the folder read-only, or somebody else writing?")
            .cause(cause)
    }
}

fn connect(address: &str, path: &Path) -> Result<SqliteConnection> {
    SqliteConnection::establish(address).map_err(|cause| Error::machine("cannot be opened as a database").file(path).cause(cause))
}

fn path_of(folder: &Path) -> Result<(PathBuf, String)> {
    let path = folder.join(RECORDS_FILE);
    let text = path.to_str().ok_or_else(|| Error::machine("the path is not valid text").file(&path))?.to_owned();
    Ok((path, text))
}

/// Opens the store for writing, and makes it where it is not there.
fn writer(folder: &Path) -> Result<(SqliteConnection, PathBuf)> {
    let (path, text) = path_of(folder)?;
    let mut db = connect(&text, &path)?;
    db.batch_execute(&format!(
        "PRAGMA busy_timeout = {BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;"
    ))
    .map_err(refused(&path))?;
    db.immediate_transaction(|db| db.batch_execute(SCHEMA)).map_err(refused(&path))?;
    Ok((db, path))
}

/// Everything that was recorded in a town's folder, coordinates in the town's working CRS; nothing where there is no store.
///
/// # Errors
/// A damaged store, or one that a newer Headwall wrote.
pub fn log(folder: &Path, working: &WorkingCrs) -> Result<Log> {
    let (path, text) = path_of(folder)?;
    if !path.exists() {
        return Ok(Log::default());
    }
    let mut db = connect(&text, &path)?;
    db.batch_execute(&format!("PRAGMA busy_timeout = {BUSY_MS}; PRAGMA query_only = ON;")).map_err(refused(&path))?;
    let tables: Vec<Number> = diesel::sql_query("SELECT count(*) AS number FROM sqlite_schema WHERE name = 'corrections'")
        .load(&mut db)
        .map_err(refused(&path))?;
    if tables.first().is_none_or(|n| n.number == 0) {
        return Ok(Log::default());
    }
    let rows: Vec<Row> = diesel::sql_query("SELECT * FROM corrections ORDER BY sequence").load(&mut db).map_err(refused(&path))?;
    let mut records: Vec<Record> = rows.into_iter().map(|row| record(row, working, &path)).collect::<Result<_>>()?;
    // From the last to the first: what holds and undoes makes what it undoes hold no more.
    for at in (0..records.len()).rev() {
        if let (true, Some(undone)) = (records[at].in_force, records[at].undoes)
            && let Some(earlier) = records.iter_mut().find(|r| r.correction.sequence == undone)
        {
            earlier.in_force = false;
        }
    }
    Ok(Log { records })
}

fn record(row: Row, working: &WorkingCrs, path: &Path) -> Result<Record> {
    let damaged = |what: String| Error::input(what).file(path).feature(format!("correction {}", row.sequence));
    let body: Body = serde_json::from_str(&row.changes).map_err(|cause| damaged("cannot be read".to_owned()).cause(cause))?;
    if body.form > FORM {
        return Err(damaged(format!("is of form {}, written by a newer Headwall", body.form)).expected(format!("form {FORM} or older")));
    }
    let mut changes = body.changes;
    if row.working_crs != working.crs().wkt() {
        let from = Crs::from_wkt(&row.working_crs)?;
        let metres = from.metres_per_unit();
        for point in changes.iter_mut().flat_map(Change::points_mut) {
            *point = working.point_in(&from, point[0] / metres, point[1] / metres)?;
        }
    }
    let correction = Correction {
        sequence: row.sequence.unsigned_abs(),
        at: row.at,
        who: row.who,
        why: row.why,
        evidence: row.evidence,
        proposal: row.proposal,
        changes,
        relied_on: body.relied_on,
    };
    Ok(Record { correction, undoes: row.undoes.map(i64::unsigned_abs), in_force: true })
}

/// Records a correction, and gives its number. When this returns, it is on the disk.
///
/// # Errors
/// A disk that refuses, or another writer that does not end.
pub fn add(folder: &Path, working: &WorkingCrs, new: &NewCorrection) -> Result<u64> {
    append(folder, working, new, None)
}

/// Records that an earlier record holds no more; the earlier one stays as it is.
///
/// # Errors
/// No such record; a disk that refuses.
pub fn undo(folder: &Path, working: &WorkingCrs, sequence: u64, new: &NewCorrection) -> Result<u64> {
    let log = log(folder, working)?;
    match log.record(sequence) {
        None => Err(Error::not_found(format!("there is no correction {sequence}")).hint("headwall correct list shows them")),
        Some(record) if !record.in_force => Err(Error::usage(format!("correction {sequence} is undone already"))),
        Some(_) => append(folder, working, &NewCorrection { changes: Vec::new(), relied_on: Vec::new(), ..new.clone() }, Some(sequence)),
    }
}

fn append(folder: &Path, working: &WorkingCrs, new: &NewCorrection, undoes: Option<u64>) -> Result<u64> {
    let body = Body { form: FORM, changes: new.changes.clone(), relied_on: new.relied_on.clone() };
    let body = serde_json::to_string(&body).map_err(|cause| Error::machine("the correction cannot be written as text").cause(cause))?;
    let (mut db, path) = writer(folder)?;
    let wkt = working.crs().wkt();
    let sequence = db
        .immediate_transaction(|db| {
            let next: Vec<Number> = diesel::sql_query("SELECT coalesce(max(sequence), 0) + 1 AS number FROM corrections").load(db)?;
            let number = next.first().map_or(1, |n| n.number);
            diesel::sql_query(
                "INSERT INTO corrections (sequence, at, who, why, evidence, proposal, undoes, working_crs, changes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )
            .bind::<BigInt, _>(number)
            .bind::<Text, _>(&new.at)
            .bind::<Text, _>(&new.who)
            .bind::<Text, _>(&new.why)
            .bind::<Text, _>(&new.evidence)
            .bind::<Nullable<Text>, _>(new.proposal.as_deref())
            .bind::<Nullable<BigInt>, _>(undoes.map(|u| u as i64))
            .bind::<Text, _>(wkt)
            .bind::<Text, _>(&body)
            .execute(db)?;
            QueryResult::Ok(number)
        })
        .map_err(refused(&path))?;
    Ok(sequence.unsigned_abs())
}
