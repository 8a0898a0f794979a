//! Which values does this dBASE table hold, and in which letters?

use std::path::Path;

use encoding_rs::{UTF_8, WINDOWS_1252};

use super::super::{RawField, RowDoubt, Value, file_name, text};
use crate::data_issue::{DataIssue, IssueCode};
use crate::error::{Error, Result};

/// What is known about the letters before looking at them.
pub(super) struct Encoding {
    /// What the town file says.
    pub stated: Option<&'static encoding_rs::Encoding>,
    /// What the `.cpg` says.
    pub cpg: Option<String>,
}

/// A table; rows marked as deleted are `None`.
pub(super) struct DbfTable {
    pub fields: Vec<RawField>,
    pub rows: Vec<Option<Vec<Value>>>,
    pub doubts: Vec<RowDoubt>,
    pub issues: Vec<DataIssue>,
}

struct Column {
    kind: u8,
    start: usize,
    width: usize,
    decimals: u8,
}

pub(super) fn read(path: &Path, hint: &Encoding) -> Result<DbfTable> {
    let bytes = text::bytes(path)?;
    let no_table =
        || Error::input("this is no dBASE table that can be read").file(path).hint("copy the file again from where it came from");
    let half = |at: usize| bytes.get(at..).and_then(|b| b.first_chunk::<2>()).map(|b| usize::from(u16::from_le_bytes(*b)));
    let count = bytes.get(4..).and_then(|b| b.first_chunk::<4>()).map(|b| u32::from_le_bytes(*b) as usize).ok_or_else(no_table)?;
    let (header, width) = (half(8).ok_or_else(no_table)?, half(10).ok_or_else(no_table)?);
    if header < 33 || width < 1 || header > bytes.len() {
        return Err(no_table());
    }
    let mut columns = Vec::new();
    let mut names: Vec<&[u8]> = Vec::new();
    let mut start = 1;
    for raw in bytes[32..header].chunks_exact(32) {
        if raw[0] == 0x0d {
            break;
        }
        let length = raw[..11].iter().position(|b| *b == 0).unwrap_or(11);
        names.push(&raw[..length]);
        let (kind, mut field_width, mut decimals) = (raw[11].to_ascii_uppercase(), usize::from(raw[16]), raw[17]);
        if kind == b'C' {
            // Texts longer than 255 keep the upper byte where numbers keep their decimals.
            field_width += usize::from(decimals) << 8;
            decimals = 0;
        }
        columns.push(Column { kind, start, width: field_width, decimals });
        start += field_width;
    }
    if start > width {
        return Err(no_table().found(format!("fields of {start} bytes in rows of {width}")));
    }
    let available = (bytes.len() - header) / width;
    let records: Vec<&[u8]> = bytes[header..].chunks_exact(width).take(count.min(available)).collect();
    let mut issues = Vec::new();
    if available < count {
        issues.push(
            DataIssue::new(IssueCode::InputIncomplete, "")
                .file(file_name(path))
                .message(format!("{} is cut short: it should hold {count} rows and holds {available}", file_name(path))),
        );
    }
    let encoding = decided(path, hint, bytes[29], &records, &columns, &mut issues)?;
    let mut doubts = Vec::new();
    let fields: Vec<RawField> = names
        .iter()
        .zip(&columns)
        .map(|(name, column)| RawField {
            is_date: column.kind == b'D',
            ..RawField::plain(encoding.decode_without_bom_handling(name).0.trim())
        })
        .collect();
    let rows = records
        .iter()
        .enumerate()
        .map(|(at, record)| {
            if record[0] == b'*' {
                return None;
            }
            let values = columns.iter().zip(&fields).map(|(column, field)| {
                let raw = &record[column.start..column.start + column.width];
                value(column, raw, encoding).unwrap_or_else(|code| {
                    let value = String::from_utf8_lossy(raw).trim().to_owned();
                    doubts.push(RowDoubt { row: at + 1, code, field: Some(field.name.clone()), value: Some(value) });
                    Value::Null
                })
            });
            Some(values.collect())
        })
        .collect();
    Ok(DbfTable { fields, rows, doubts, issues })
}

/// Which encoding holds: what a person stated, the `.cpg`, the header's code page, else what the bytes allow.
fn decided(
    path: &Path,
    hint: &Encoding,
    language: u8,
    records: &[&[u8]],
    columns: &[Column],
    issues: &mut Vec<DataIssue>,
) -> Result<&'static encoding_rs::Encoding> {
    if let Some(stated) = hint.stated {
        return Ok(stated);
    }
    let texts = || {
        records
            .iter()
            .filter(|r| r[0] != b'*')
            .flat_map(|r| columns.iter().filter(|c| c.kind == b'C').map(move |c| trimmed(&r[c.start..c.start + c.width])))
    };
    let plain = texts().all(<[u8]>::is_ascii);
    // A text cut in the middle of a letter at the end of its column is still UTF-8.
    let utf8 = || texts().all(|t| std::str::from_utf8(t).map_or_else(|e| e.error_len().is_none(), |_| true));
    let name = file_name(path);
    if let Some(label) = &hint.cpg {
        match text::encoding_of_label(label) {
            Some(encoding) if encoding != UTF_8 || plain || utf8() => return Ok(encoding),
            Some(_) => {
                issues.push(
                    DataIssue::new(IssueCode::EncodingContradicts, "")
                        .file(&name)
                        .value(label.as_str())
                        .message(format!("the .cpg beside {name} says {label}, but its texts are not; they were read as Windows-1252")),
                );
                return Ok(WINDOWS_1252);
            }
            None => issues.push(
                DataIssue::new(IssueCode::EncodingAssumed, "")
                    .file(&name)
                    .value(label.as_str())
                    .message(format!("the .cpg beside {name} names an encoding that is not known: {label}")),
            ),
        }
    } else if let Some(encoding) = of_language(language) {
        // Esri writes 0x57 ("ANSI") also over UTF-8 texts, so valid UTF-8 counts for more.
        return Ok(if !plain && utf8() { UTF_8 } else { encoding });
    }
    if plain {
        return Ok(UTF_8);
    }
    let encoding = if utf8() { UTF_8 } else { WINDOWS_1252 };
    issues.push(
        DataIssue::new(IssueCode::EncodingAssumed, "")
            .file(&name)
            .message(format!("{name} does not say its text encoding; it was read as {}, set `encoding` if that is wrong", encoding.name())),
    );
    Ok(encoding)
}

/// Code pages of the header that the web's encodings cover.
fn of_language(language: u8) -> Option<&'static encoding_rs::Encoding> {
    match language {
        0x03 | 0x57 | 0x58 | 0x59 => Some(WINDOWS_1252),
        0xc8 => Some(encoding_rs::WINDOWS_1250),
        0xc9 => Some(encoding_rs::WINDOWS_1251),
        0x26 | 0x65 => Some(encoding_rs::IBM866),
        0xca => Some(encoding_rs::WINDOWS_1254),
        0xcb => Some(encoding_rs::WINDOWS_1253),
        _ => None,
    }
}

fn trimmed(raw: &[u8]) -> &[u8] {
    let end = raw.iter().rposition(|b| !matches!(b, b' ' | 0)).map_or(0, |at| at + 1);
    &raw[..end]
}

fn value(column: &Column, raw: &[u8], encoding: &'static encoding_rs::Encoding) -> Result<Value, IssueCode> {
    let bytes = trimmed(raw);
    if column.kind == b'C' {
        let text = encoding.decode_without_bom_handling(bytes).0;
        // A letter cut at the end of the column is not the text's.
        let text = text.trim_end_matches('\u{fffd}');
        return Ok(if text.trim().is_empty() { Value::Null } else { Value::Text(text.to_owned()) });
    }
    if matches!(column.kind, b'I' | b'+') && raw.len() == 4 {
        return Ok(raw.first_chunk::<4>().map_or(Value::Null, |b| Value::Int(i64::from(i32::from_le_bytes(*b)))));
    }
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    if text.is_empty() {
        return Ok(Value::Null);
    }
    match column.kind {
        b'N' | b'F' if text.bytes().all(|b| b == b'*') => Err(IssueCode::ValueUnreadable),
        b'N' | b'F' => {
            if column.decimals == 0
                && column.kind == b'N'
                && let Ok(whole) = text.parse::<i64>()
            {
                return Ok(Value::Int(whole));
            }
            if column.decimals == 0 && text.bytes().all(|b| b.is_ascii_digit()) {
                return Ok(Value::Text(text.to_owned()));
            }
            match text.replace(',', ".").parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Value::Real(number)),
                Ok(_) => Ok(Value::Null),
                Err(_) => Err(IssueCode::ValueUnreadable),
            }
        }
        b'D' => date(text),
        b'L' => Ok(match text {
            "T" | "t" | "Y" | "y" => Value::Bool(true),
            "F" | "f" | "N" | "n" => Value::Bool(false),
            _ => Value::Null,
        }),
        _ => Ok(Value::Text(text.to_owned())),
    }
}

fn date(text: &str) -> Result<Value, IssueCode> {
    if text.bytes().all(|b| b == b'0') {
        return Ok(Value::Null);
    }
    if text.len() != 8 || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(IssueCode::DateInvalid);
    }
    let number = |range: std::ops::Range<usize>| text[range].parse::<i16>().unwrap_or(0);
    let (year, month, day) = (number(0..4), number(4..6), number(6..8));
    let (Ok(month), Ok(day)) = (i8::try_from(month), i8::try_from(day)) else { return Err(IssueCode::DateInvalid) };
    jiff::civil::Date::new(year, month, day).map(|date| Value::Date(date.to_string())).map_err(|_| IssueCode::DateInvalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[(&str, u8, u8, u8)], rows: &[&[u8]], language: u8) -> Vec<u8> {
        let width: usize = 1 + columns.iter().map(|c| usize::from(c.2)).sum::<usize>();
        let header = 33 + 32 * columns.len();
        let mut bytes = vec![0u8; 32];
        bytes[0] = 3;
        bytes[4..8].copy_from_slice(&u32::try_from(rows.len()).unwrap().to_le_bytes());
        bytes[8..10].copy_from_slice(&u16::try_from(header).unwrap().to_le_bytes());
        bytes[10..12].copy_from_slice(&u16::try_from(width).unwrap().to_le_bytes());
        bytes[29] = language;
        for (name, kind, width, decimals) in columns {
            let mut raw = [0u8; 32];
            raw[..name.len()].copy_from_slice(name.as_bytes());
            raw[11] = *kind;
            raw[16] = *width;
            raw[17] = *decimals;
            bytes.extend(raw);
        }
        bytes.push(0x0d);
        rows.iter().for_each(|row| bytes.extend_from_slice(row));
        bytes
    }

    fn read_bytes(bytes: &[u8], cpg: Option<&str>) -> Result<DbfTable> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.dbf");
        std::fs::write(&path, bytes).unwrap();
        read(&path, &Encoding { stated: None, cpg: cpg.map(str::to_owned) })
    }

    #[test]
    fn numbers_dates_and_deleted_rows() {
        let columns = [("N", b'N', 4, 0), ("R", b'N', 6, 2), ("D", b'D', 8, 0)];
        let rows: [&[u8]; 4] = [b"   12 12.5020240229", b" ****      20240231", b"*   1  1.0020240101", b"        -100000000"];
        let mut fixed: Vec<Vec<u8>> = rows.iter().map(|r| r.to_vec()).collect();
        fixed[3] = b"         -1.00000000".to_vec();
        fixed[3].truncate(11);
        fixed[3].extend(b"00000000");
        let refs: Vec<&[u8]> = fixed.iter().map(Vec::as_slice).collect();
        let table = read_bytes(&table(&columns, &refs, 0), None).unwrap();
        assert_eq!(table.rows[0].as_deref().unwrap(), [Value::Int(12), Value::Real(12.5), Value::Date("2024-02-29".into())]);
        assert_eq!(table.rows[1].as_deref().unwrap(), [Value::Null, Value::Null, Value::Null]);
        assert!(table.rows[2].is_none());
        assert_eq!(table.rows[3].as_ref().unwrap()[2], Value::Null);
        let doubts: Vec<_> = table.doubts.iter().map(|d| (d.row, d.code, d.field.as_deref())).collect();
        assert_eq!(doubts, [(2, IssueCode::ValueUnreadable, Some("N")), (2, IssueCode::DateInvalid, Some("D"))]);
    }

    #[test]
    fn letters_are_decided_from_what_is_known() {
        let columns = [("A", b'C', 6, 0)];
        let latin = table(&columns, &[b" Pe\xf1a  "], 0);
        let read = read_bytes(&latin, None).unwrap();
        assert_eq!(read.rows[0].as_deref().unwrap(), [Value::Text("Peña".into())]);
        assert_eq!(read.issues[0].code, IssueCode::EncodingAssumed);
        assert_eq!(read_bytes(&latin, Some("UTF-8")).unwrap().issues[0].code, IssueCode::EncodingContradicts);
        let utf8 = table(&columns, &["  Peña ".as_bytes()], 0x57);
        assert_eq!(read_bytes(&utf8, None).unwrap().rows[0].as_deref().unwrap(), [Value::Text(" Peña".into())]);
    }

    #[test]
    fn broken_headers_are_refused_without_panic() {
        let whole = table(&[("A", b'C', 6, 0)], &[b" abcdef"], 0);
        for length in 0..whole.len() {
            let _ = read_bytes(&whole[..length], None);
        }
        let mut lies = whole.clone();
        lies[10] = 2;
        assert!(read_bytes(&lies, None).is_err());
    }
}
