//! Which rows does this table hold? Every value stays text, so that ids keep their zeros; places come from two columns.

use std::path::Path;

use geo::{Geometry, Point};

use super::geojson::stem;
use super::{RawFeature, RawField, RawLayer, RawShape, ReadOptions, RowDoubt, Value, checked_place, text};
use crate::data_issue::IssueCode;
use crate::error::{Error, Result};

/// Reads a table of separated values.
pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<RawLayer> {
    let (text, issues) = text::read(path, options.encoding.as_deref())?;
    let mut layer = read_text(path, &text, options)?;
    layer.issues = issues;
    Ok(layer)
}

fn read_text(path: &Path, text: &str, options: &ReadOptions) -> Result<RawLayer> {
    let separator = options.separator.unwrap_or_else(|| sniffed(text));
    let Ok(separator_byte) = u8::try_from(separator) else {
        return Err(Error::settings("the separator must be one plain character").file(path).found(format!("'{separator}'")));
    };
    let mut reader = ::csv::ReaderBuilder::new().delimiter(separator_byte).flexible(true).from_reader(text.as_bytes());
    let broken = |cause: ::csv::Error| Error::input("the table cannot be read").file(path).cause(cause);
    let header = reader.headers().map_err(broken)?.clone();
    let mut layer = RawLayer::new(path, stem(path));
    layer.fields = header.iter().map(|name| RawField::plain(name.trim())).collect();
    if layer.fields.iter().all(|f| f.name.is_empty()) {
        return Err(Error::input("the table has no header row").file(path).expected("column names in the first row"));
    }
    let xy = options.xy.as_ref().map(|(x, y)| Ok::<_, Error>((column(path, &layer, x)?, column(path, &layer, y)?))).transpose()?;
    for (at, record) in reader.records().enumerate() {
        let record = record.map_err(broken)?;
        if record.iter().all(|v| v.trim().is_empty()) {
            continue;
        }
        let row = at + 1;
        if record.len() > layer.fields.len() {
            let value = record.iter().skip(layer.fields.len()).collect::<Vec<_>>().join(&separator.to_string());
            if !value.trim().is_empty() {
                layer.doubts.push(RowDoubt { row, code: IssueCode::ValueUnreadable, field: None, value: Some(value) });
            }
        }
        let mut values: Vec<Value> = record.iter().take(layer.fields.len()).map(value_of).collect();
        values.resize(layer.fields.len(), Value::Null);
        let shape = match xy {
            Some((x, y)) => place(&values[x], &values[y], options.decimal),
            None => RawShape::None,
        };
        layer.features.push(RawFeature { row, feature_id: None, shape, bad_height: false, values });
    }
    Ok(layer)
}

fn column(path: &Path, layer: &RawLayer, name: &str) -> Result<usize> {
    layer.field(name).ok_or_else(|| {
        Error::settings("the coordinate column is not there")
            .file(path)
            .field(name)
            .expected(format!("one of {}", layer.field_list()))
            .hint("name the columns as the table's header does")
    })
}

fn value_of(text: &str) -> Value {
    if text.trim().is_empty() { Value::Null } else { Value::Text(text.to_owned()) }
}

/// A place from two texts: nothing where both are empty.
fn place(x: &Value, y: &Value, decimal: Option<char>) -> RawShape {
    let number = |value: &Value| match value {
        Value::Text(text) => parse_number(text, decimal),
        _ => None,
    };
    match (x, y) {
        (Value::Null, Value::Null) => RawShape::None,
        _ => match (number(x), number(y)) {
            (Some(x), Some(y)) => match checked_place(x, y) {
                Ok(place) => RawShape::Shape(Geometry::Point(Point(place))),
                Err(reason) => RawShape::Unreadable(reason),
            },
            _ => RawShape::Unreadable("coordinate is no number".to_owned()),
        },
    }
}

/// A number with the decimal mark that the town stated.
pub(crate) fn parse_number(text: &str, decimal: Option<char>) -> Option<f64> {
    let text = text.trim();
    match decimal {
        Some(mark) if mark != '.' => text.replace('.', "").replace(mark, ".").parse().ok(),
        _ => text.parse().ok(),
    }
}

/// The separator that the header row uses most, outside quotes; a comma where none is seen.
fn sniffed(text: &str) -> char {
    let mut counts = [(',', 0usize), (';', 0), ('\t', 0), ('|', 0)];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '\n' | '\r' if !quoted => {
                if counts.iter().any(|(_, n)| *n > 0) {
                    break;
                }
            }
            _ if quoted => {}
            _ => counts.iter_mut().filter(|(mark, _)| *mark == c).for_each(|(_, n)| *n += 1),
        }
    }
    let most = counts.iter().map(|(_, n)| *n).max().unwrap_or(0);
    counts.iter().find(|(_, n)| *n == most).map_or(',', |(mark, _)| *mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_quotes_and_blank_rows() {
        let options = ReadOptions { xy: Some(("LON".into(), "LAT".into())), ..ReadOptions::default() };
        let text = "ID,LAT,LON,REMARK\n0007,42.5,-76.25,\"lid cracked, see photo\"\n\n,,,\n7,42.5,x,\"says \"\"STORM\"\"\"\n8\n";
        let layer = read_text(Path::new("s.csv"), text, &options).unwrap();
        assert_eq!(layer.features.len(), 3);
        assert_eq!(layer.features[0].values[0], Value::Text("0007".into()));
        assert_eq!(layer.features[0].shape, RawShape::Shape(Geometry::Point(Point::new(-76.25, 42.5))));
        assert!(matches!(layer.features[1].shape, RawShape::Unreadable(_)));
        assert_eq!(layer.features[2].values, [Value::Text("8".into()), Value::Null, Value::Null, Value::Null]);
    }

    #[test]
    fn semicolons_and_decimal_commas() {
        let options = ReadOptions { xy: Some(("X".into(), "Y".into())), decimal: Some(','), ..ReadOptions::default() };
        let layer = read_text(Path::new("s.csv"), "\"a;b\";X;Y\n1;900.123,5;2,25\n", &options).unwrap();
        assert_eq!(layer.features[0].shape, RawShape::Shape(Geometry::Point(Point::new(900_123.5, 2.25))));
        let missing = ReadOptions { xy: Some(("EAST".into(), "Y".into())), ..ReadOptions::default() };
        let error = read_text(Path::new("s.csv"), "a\tX\tY\n", &missing).unwrap_err().to_string();
        assert!(error.contains("EAST") && error.contains("a, X, Y"), "{error}");
    }
}
