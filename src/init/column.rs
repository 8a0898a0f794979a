//! What does a column hold? How full it is, what repeats, its numbers, and the values that stand for "none".

use std::collections::BTreeMap;

use crate::formats::{RawLayer, Value};
use crate::inventory::normalised_id;

use super::words::Name;

/// One column of a layer, as its values show it.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Its name, in the file's own spelling.
    pub name: String,
    /// What the name says.
    pub says: Name,
    /// Its place among the values.
    pub at: usize,
    /// Rows of the layer.
    pub rows: usize,
    /// Rows that are not blank.
    pub filled: usize,
    /// Each text that occurs, and how often.
    pub texts: BTreeMap<String, usize>,
    /// The values that are numbers, sorted.
    pub numbers: Vec<f64>,
    /// True where a number has a fraction.
    pub has_fractions: bool,
    /// True where the values are dates, or milliseconds since 1970 by their size.
    pub is_date: bool,
    /// True for the driver's own row number.
    pub is_row_number: bool,
}

/// Numbers that exporters and people write for "no value".
const MARKERS: [f64; 17] =
    [0.0, -1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0, 99.0, 999.0, 9999.0, 99999.0, 999.99, 9999.99, -9998.0, -99.9, -999.9, 99.99];

/// Words that stand for "no id".
const NO_ID: [&str; 21] = [
    "n/a", "na", "none", "null", "<null>", "unk", "unknown", "no mh", "no id", "-", "--", "?", "0", "-1", "-99", "-999", "-9999", "999",
    "9999", "nil", "end",
];

impl Column {
    fn read(layer: &RawLayer, at: usize) -> Self {
        let field = &layer.fields[at];
        let mut texts: BTreeMap<String, usize> = BTreeMap::new();
        let (mut filled, mut has_fractions) = (0, false);
        let mut numbers = Vec::new();
        let mut dates = 0;
        for feature in &layer.features {
            let Some(text) = feature.values.get(at).and_then(text_of) else { continue };
            filled += 1;
            if matches!(feature.values[at], Value::Date(_)) {
                dates += 1;
            }
            if let Some(number) = number_of(&text) {
                has_fractions |= number.fract() != 0.0;
                numbers.push(number);
            }
            *texts.entry(text).or_default() += 1;
        }
        numbers.sort_by(f64::total_cmp);
        // Milliseconds since 1970 of any year from 1902 on: whole numbers of ten digits and more.
        let stamps = numbers.iter().filter(|n| n.abs() >= 1e10 && n.abs() < 1e15 && n.fract() == 0.0).count();
        let is_date = field.is_date || (filled > 0 && (dates * 10 >= filled * 9 || stamps * 10 >= filled * 8));
        Column {
            name: field.name.clone(),
            says: Name::new(&field.name),
            at,
            rows: layer.features.len(),
            filled,
            texts,
            numbers,
            has_fractions,
            is_date,
            is_row_number: field.is_row_number,
        }
    }

    /// Every column of a layer.
    pub fn all(layer: &RawLayer) -> Vec<Self> {
        (0..layer.fields.len()).map(|at| Column::read(layer, at)).collect()
    }

    /// Share of the rows that are not blank.
    pub fn fill(&self) -> f64 {
        share(self.filled, self.rows)
    }

    /// Share of the filled rows that are numbers.
    pub fn numeric(&self) -> f64 {
        share(self.numbers.len(), self.filled)
    }

    /// How many different values for each filled row: 1 where none repeats.
    pub fn distinct(&self) -> f64 {
        share(self.texts.len(), self.filled)
    }

    /// A row number, an identifier made by the software, or the size of the shape: about the file, not about the thing.
    pub fn is_software(&self) -> bool {
        let flat: String = self.name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        self.is_row_number
            || ["objectid", "fid", "index", "rownumber", "ogcfid", "oid"].contains(&flat.as_str())
            || flat.starts_with("globalid")
            || self.is_shape_measure()
    }

    /// The software's own measure of the shape.
    pub fn is_shape_measure(&self) -> bool {
        let flat: String = self.name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        ["shapelen", "shapeare", "shapestl", "shapesta", "shapestlength", "geomlength"].iter().any(|s| flat.starts_with(s))
    }

    /// Looks like ids: whole numbers or short texts of which most differ.
    pub fn is_id_like(&self) -> bool {
        let long = self.texts.keys().map(|t| t.chars().count()).max().unwrap_or(0);
        self.filled > 0 && !self.is_date && long <= 60 && !(self.numeric() > 0.9 && self.has_fractions)
    }

    /// Up to three values, the commonest first.
    pub fn samples(&self) -> Vec<String> {
        let mut all: Vec<(&String, usize)> = self.texts.iter().map(|(t, n)| (t, *n)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        all.into_iter().take(3).map(|(t, _)| t.chars().take(40).collect()).collect()
    }

    /// Values of ids that name nothing: marker words, and numbers that repeat far more than any other and are found nowhere.
    pub fn missing_ids(&self, is_known: impl Fn(&str) -> bool) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for (text, count) in &self.texts {
            let plain = normalised_id(text);
            if *count > 1 && NO_ID.contains(&plain.to_lowercase().as_str()) && !is_known(plain) {
                found.push(text.clone());
            }
        }
        found
    }

    /// Values of levels or sizes that stand for "none": known markers and repeated values far from all others; with why.
    pub fn missing_numbers(&self, zero_is_none: bool) -> (Vec<String>, Option<String>) {
        let mut counts: BTreeMap<i64, (f64, usize)> = BTreeMap::new();
        for &n in &self.numbers {
            // To a hundred-thousandth: files write one level in several ways.
            let entry = counts.entry((n * 1e5).round().clamp(-9e17, 9e17) as i64).or_insert((n, 0));
            entry.1 += 1;
        }
        let is_marker = |n: f64| MARKERS.iter().any(|m| (m - n).abs() < 1e-9);
        let real: Vec<f64> = self.numbers.iter().copied().filter(|n| !is_marker(*n)).collect();
        if real.is_empty() {
            let all = counts.values().filter(|(n, _)| is_marker(*n)).map(|(n, _)| n.to_string()).collect();
            return (all, None);
        }
        // Each value once: a marker that nobody knows repeats, and would pull the bounds to itself.
        let once: Vec<f64> = counts.values().map(|(n, _)| *n).filter(|n| !is_marker(*n)).collect();
        let (low, high) = (quantile(&once, 0.05), quantile(&once, 0.95));
        let lowest = quantile(&once, 0.01);
        let spread = (high - low).max(1.0);
        let usual_repeat = counts.values().filter(|(n, _)| !is_marker(*n)).map(|(_, c)| *c).max().unwrap_or(1);
        let mut found = Vec::new();
        let mut note = None;
        for (n, count) in counts.values() {
            let far = *n < low - 2.0 * spread || *n > high + 2.0 * spread;
            let outside = *n < low - 0.5 * spread || *n > high + 0.5 * spread;
            let spike = *count >= 4 && *count * 2 >= 5 * usual_repeat && *count * 100 >= self.filled.min(1000);
            let none = if *n == 0.0 {
                zero_is_none || (outside && low > 3.0) || (*count >= 2 && lowest > 3.0) || spike
            } else if is_marker(*n) {
                // A lone negative marker among levels that are all well above zero.
                outside || spike || (*n < 0.0 && lowest > 1.0)
            } else {
                far && *count >= 3
            };
            if none {
                found.push(n.to_string());
                if *n == 0.0 && !zero_is_none && low <= 3.0 && high >= 0.0 {
                    note = Some(format!(
                        "0 stands {count} times, every other value at most {usual_repeat} times; yet 0 is also a possible level here"
                    ));
                }
            }
        }
        (found, note)
    }

    /// The numbers that are none of the given markers, sorted.
    pub fn real_numbers(&self, missing: &[String]) -> Vec<f64> {
        let markers: Vec<f64> = missing.iter().filter_map(|m| m.parse().ok()).collect();
        self.numbers.iter().copied().filter(|n| !markers.iter().any(|m| (m - n).abs() < 1e-9)).collect()
    }

    /// The number in a row, unless it is a marker.
    pub fn number(&self, layer: &RawLayer, row: usize, missing: &[String]) -> Option<f64> {
        let text = text_of(layer.features.get(row)?.values.get(self.at)?)?;
        let number = number_of(&text)?;
        (!missing.iter().any(|m| m.parse::<f64>().is_ok_and(|m| (m - number).abs() < 1e-9))).then_some(number)
    }

    /// The id in a row.
    pub fn id(&self, layer: &RawLayer, row: usize) -> Option<String> {
        let text = text_of(layer.features.get(row)?.values.get(self.at)?)?;
        Some(normalised_id(&text).to_owned())
    }
}

/// A value as text; `None` for no value and for blanks.
pub(super) fn text_of(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) | Value::Date(text) => text.trim().to_owned(),
    };
    (!text.is_empty()).then_some(text)
}

/// The number that a text is, also with a unit behind it: `300 mm`, `15''`.
pub(super) fn number_of(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some(number);
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-')))?;
    let unit = text[end..].trim().to_lowercase();
    if !["mm", "m", "in", "in.", "inch", "inches", "\"", "''", "ft", "cm"].contains(&unit.as_str()) {
        return None;
    }
    text[..end].trim().parse::<f64>().ok().filter(|n| n.is_finite())
}

/// `part` of `whole`, 0 where there is nothing.
pub(super) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A quantile of sorted numbers; 0 of none.
pub(super) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    sorted[((last as f64) * q).round() as usize]
}
