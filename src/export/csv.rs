//! CSV of candidates and traces: one row a feature, units in the header, nothing that a spreadsheet would run.

use serde_json::{Map, Value as Json};

use crate::error::{Error, Result};
use crate::investigate::Investigation;
use crate::trace::Trace;

use super::geojson::{candidate_properties, conduit_properties};
use super::{Originals, Outward, put_travel, rounded};

/// Keeps a spreadsheet from taking text for a formula (OWASP ASVS 1.2.10): a quote before `= + - @`, tab and return, unless it is a number.
fn harmless(text: &str) -> String {
    let risky = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    if risky { format!("'{text}") } else { text.to_owned() }
}

fn cell(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => harmless(text),
        Json::Array(items) => harmless(&items.iter().map(cell).collect::<Vec<_>>().join("; ")),
        Json::Object(map) => harmless(&map.values().map(cell).filter(|c| !c.is_empty()).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Rows as CSV text; the header is that of the first row, and every row has its fields.
///
/// # Errors
/// None in practice: memory is the only thing written to.
pub fn rows(columns: &[&str], rows: &[Map<String, Json>]) -> Result<String> {
    let failed = |cause: ::csv::Error| Error::machine("the table could not be written").cause(cause);
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(columns).map_err(failed)?;
    for row in rows {
        let cells: Vec<String> = columns.iter().map(|c| row.get(*c).map_or_else(String::new, cell)).collect();
        writer.write_record(&cells).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|cause| Error::machine("the table could not be written").cause(cause.into_error()))?;
    String::from_utf8(bytes).map_err(|cause| Error::machine("the table could not be written").cause(cause))
}

/// The candidates of an investigation.
///
/// # Errors
/// Original attributes that cannot be read back.
pub fn candidates(outward: &Outward, found: &Investigation, originals: &Originals) -> Result<String> {
    let mut columns = vec![
        "rank",
        "evidence",
        "parcel_id",
        "address",
        "land_use",
        "used_as",
        "tier",
        "conduit_id",
        "inlet_id",
        "lateral_id",
        "away_m",
        "distance_m",
        "travel_earliest_min",
        "travel_latest_min",
        "certainty",
        "reasons_for",
        "reasons_against",
        "layer",
        "network_version",
        "as_of",
        "notice",
    ];
    columns.extend(outward.basis.settings.personal_fields_allowed.iter().map(String::as_str));
    let mut out = Vec::new();
    for candidate in &found.candidates.ranked {
        let mut row = candidate_properties(outward, candidate, originals)?;
        let lean = |wanted: crate::rules::Leaning| -> String {
            candidate.reasons.iter().filter(|r| r.leaning == wanted).map(|r| r.text.as_str()).collect::<Vec<_>>().join("; ")
        };
        row.insert("reasons_for".to_owned(), lean(crate::rules::Leaning::For).into());
        row.insert("reasons_against".to_owned(), lean(crate::rules::Leaning::Against).into());
        row.insert("network_version".to_owned(), outward.version.into());
        row.insert("as_of".to_owned(), found.as_of.to_string().into());
        out.push(row);
    }
    rows(&columns, &out)
}

/// The conduits of a trace.
///
/// # Errors
/// None in practice.
pub fn trace(outward: &Outward, trace: &Trace) -> Result<String> {
    let columns = [
        "conduit_id",
        "layer",
        "kind",
        "system",
        "status",
        "owner",
        "diameter_mm",
        "material",
        "flow",
        "direction_by",
        "certainty",
        "distance_m",
        "traced_length_m",
        "travel_earliest_min",
        "travel_latest_min",
        "network_version",
    ];
    let out: Vec<Map<String, Json>> = trace
        .conduits
        .iter()
        .map(|traced| {
            let mut row = conduit_properties(outward, traced.conduit);
            row.insert("certainty".to_owned(), traced.certainty.word().into());
            row.insert("distance_m".to_owned(), rounded(traced.distance_m, 2).into());
            row.insert("traced_length_m".to_owned(), rounded(traced.length_um as f64 / 1e6, 2).into());
            put_travel(&mut row, traced.travel);
            row.insert("network_version".to_owned(), outward.version.into());
            row
        })
        .collect();
    rows(&columns, &out)
}
