//! What does a field say? Rules first, then the field's codes and the words of its domain, then the layer's defaults.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::Date;

use super::Table;
use super::issues::Issues;
use crate::data_issue::{DataIssue, IssueCode};
use crate::error::{Error, Result};
use crate::formats::{RawFeature, RawLayer, Value, parse_number};
use crate::inventory::{
    ConduitKind, FlowCode, Level, LevelField, LevelKind, Material, NodeId, OutfallKind, Shape, Status, StructureKind, System, WaterKind,
    normalised_id,
};
use crate::settings::{FieldMapping, LayerSettings, LengthUnit, Meaning, Pattern, Role, Settings};

/// A value as text: numbers without a decimal point that means nothing; `None` for no value.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Int(number) => Some(number.to_string()),
        Value::Real(number) => Some(number.to_string()),
        Value::Text(text) | Value::Date(text) => Some(text.clone()),
    }
}

/// Whether a text is one of the patterns, as text or as a number: 0, 0.0 and "0" are one.
pub(super) fn matches(pattern: &Pattern, text: &str) -> bool {
    if pattern.0.is_empty() {
        return false;
    }
    if pattern.matches(text) {
        return true;
    }
    let Ok(number) = text.trim().parse::<f64>() else { return false };
    pattern.0.iter().any(|one| one.trim().parse::<f64>().is_ok_and(|n| n == number))
}

/// Refuses settings that speak of fields that are not there, or use words that mean nothing.
///
/// # Errors
/// Names the file, all fields that are missing and all that are there.
pub(super) fn check(settings: &LayerSettings, role: Role, raw: &RawLayer) -> Result<()> {
    let mut wanted: Vec<&str> = settings.fields.values().map(|m| m.field.as_str()).collect();
    wanted.extend(settings.rules.iter().flat_map(|r| r.when.keys()).map(String::as_str));
    wanted.extend(settings.only.iter().flat_map(BTreeMap::keys).map(String::as_str));
    wanted.extend(settings.pressurised.iter().map(|p| p.field.as_str()));
    wanted.extend(settings.cause_columns.iter().flat_map(|c| &c.fields).map(String::as_str));
    let mut missing: Vec<&str> = Vec::new();
    for name in wanted {
        if raw.field(name).is_none() && !missing.contains(&name) {
            missing.push(name);
        }
    }
    // A file without a single feature may have lost its fields with them (GeoJSON does).
    let knows_fields = !raw.fields.is_empty() || !raw.features.is_empty();
    if !missing.is_empty() && knows_fields {
        let message = if missing.len() == 1 {
            "a field that the town file names is not there"
        } else {
            "fields that the town file names are not there"
        };
        return Err(Error::input(format!("{message}: {}", missing.join(", ")))
            .file(&raw.file)
            .layer(&settings.name)
            .found(format!("the fields {}", raw.field_list()))
            .expected(missing.join(", "))
            .hint("names are compared letter by letter, and shapefiles cut them to ten: correct `fields` in headwall.toml"));
    }
    check_words(settings, role)
}

fn check_words(settings: &LayerSettings, role: Role) -> Result<()> {
    let check = |meaning: Meaning, word: &str| {
        let Some(known) = vocabulary(meaning, role) else { return Ok(()) };
        if known.contains(&word) {
            return Ok(());
        }
        Err(Error::settings(format!("\"{word}\" is no word for {}", meaning.word()))
            .file("headwall.toml")
            .layer(&settings.name)
            .expected(format!("one of {}", known.join(", "))))
    };
    for (meaning, mapping) in &settings.fields {
        for word in mapping.codes.keys().chain(&mapping.when_missing).chain(&mapping.when_unknown) {
            check(*meaning, word)?;
        }
        if let Some(kind) = &mapping.level
            && level_kind(kind).is_none()
        {
            return Err(Error::settings(format!("\"{kind}\" is no kind of level"))
                .file("headwall.toml")
                .layer(&settings.name)
                .field(&mapping.field)
                .expected("elevation, depth_below_rim or offset_above_node"));
        }
    }
    let set = settings.rules.iter().flat_map(|rule| &rule.set);
    settings.defaults.iter().chain(set).try_for_each(|(meaning, word)| check(*meaning, word))
}

/// The words that a meaning has in a role; `None` where any text will do.
fn vocabulary(meaning: Meaning, role: Role) -> Option<Vec<&'static str>> {
    Some(match meaning {
        Meaning::Kind => match role {
            Role::Conduits => ConduitKind::ALL.iter().map(|k| k.word()).collect(),
            Role::Structures | Role::Outfalls | Role::Ponds => StructureKind::ALL.iter().map(|k| k.word()).collect(),
            Role::Watercourses | Role::Waterbodies => WaterKind::ALL.iter().map(|k| k.word()).collect(),
            _ => return None,
        },
        Meaning::Status => Status::ALL.iter().map(|k| k.word()).collect(),
        Meaning::System => System::ALL.iter().map(|k| k.word()).collect(),
        Meaning::Shape => Shape::ALL.iter().map(|k| k.word()).collect(),
        Meaning::Material => Material::ALL.iter().map(|k| k.word()).collect(),
        Meaning::OutfallKind => OutfallKind::ALL.iter().map(|k| k.word()).collect(),
        Meaning::Flow => vec!["with", "against", "unknown"],
        Meaning::Documented
        | Meaning::Approved
        | Meaning::Impaired
        | Meaning::On303dList
        | Meaning::HasTmdl
        | Meaning::StormwaterRequirement
        | Meaning::AllocationsMet => vec!["yes", "no", "unknown"],
        Meaning::Extent => vec!["water", "watershed"],
        _ => return None,
    })
}

fn level_kind(word: &str) -> Option<LevelKind> {
    Some(match word {
        "elevation" => LevelKind::Elevation,
        "depth_below_rim" => LevelKind::DepthBelowRim,
        "offset_above_node" => LevelKind::OffsetAboveNode,
        _ => return None,
    })
}

/// Leaves out what `only` does not ask for, and says how much that is.
pub(super) fn keep_only(table: &mut Table, issues: &mut Issues) -> Result<()> {
    let Some(only) = table.settings.only.clone() else { return Ok(()) };
    let before = table.raw.features.len();
    let columns: Vec<(usize, &Pattern)> = only.iter().filter_map(|(name, pattern)| Some((table.raw.field(name)?, pattern))).collect();
    let fields = table.raw.fields.clone();
    table.raw.features.retain(|feature| columns.iter().all(|(at, pattern)| holds(&feature.values[*at], &fields[*at].domain, pattern)));
    let left_out = before - table.raw.features.len();
    if left_out > 0 {
        let names = only.keys().cloned().collect::<Vec<_>>().join(", ");
        issues.push(
            DataIssue::new(IssueCode::FeaturesLeftOut, table.settings.name.as_str())
                .file(table.raw.file_name())
                .value(left_out.to_string())
                .message(format!("{left_out} of {before} features of {} were left out, as `only` ({names}) asks", table.raw.file_name())),
        );
    }
    Ok(())
}

fn holds(value: &Value, domain: &BTreeMap<String, String>, pattern: &Pattern) -> bool {
    let text = text_of(value).unwrap_or_default();
    matches(pattern, &text) || domain.get(&text).is_some_and(|label| matches(pattern, label))
}

/// The number before a unit that is the stated one: `300 mm` where the unit is mm, `15''` where it is in.
fn without_unit(text: &str, unit: LengthUnit) -> Option<&str> {
    let words: &[&str] = match unit {
        LengthUnit::Inch => &["in", "inch", "inches", "''", "\""],
        LengthUnit::Foot | LengthUnit::SurveyFoot => &["ft", "feet", "'"],
        LengthUnit::Metre => &["m"],
        LengthUnit::Centimetre => &["cm"],
        LengthUnit::Millimetre => &["mm"],
    };
    // A number has to remain: "5 cm" is no number of metres.
    words.iter().filter_map(|word| text.trim().strip_suffix(word)).map(str::trim).find(|rest| rest.parse::<f64>().is_ok())
}

/// A date of whole numbers, where it is one.
fn civil(year: i32, month: i32, day: i32) -> Option<Date> {
    let year = i16::try_from(year).ok().filter(|year| (1700..=2200).contains(year))?;
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// What is said of one meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    /// Nothing can be: there is neither field nor rule nor default.
    NotMapped,
    /// The field is empty here, and nothing else says anything.
    Missing,
    /// A word of ours, or the text itself where any text will do.
    Word(String),
    /// A code that nobody explained.
    Unknown(String),
}

/// Reads the fields of one feature.
pub(super) struct FieldReader<'a> {
    pub settings: &'a Settings,
    pub layer: &'a LayerSettings,
    pub role: Role,
    pub raw: &'a RawLayer,
    pub feature: &'a RawFeature,
    pub id: &'a str,
}

impl<'a> FieldReader<'a> {
    fn mapping(&self, meaning: Meaning) -> Option<(&'a FieldMapping, usize)> {
        let mapping = self.layer.fields.get(&meaning)?;
        Some((mapping, self.raw.field(&mapping.field)?))
    }

    fn rule(&self, meaning: Meaning) -> Option<&'a str> {
        let hit = self.layer.rules.iter().find(|rule| {
            rule.set.contains_key(&meaning)
                && rule.when.iter().all(|(name, pattern)| {
                    self.raw.field(name).is_some_and(|at| holds(&self.feature.values[at], &self.raw.fields[at].domain, pattern))
                })
        })?;
        hit.set.get(&meaning).map(String::as_str)
    }

    /// The field's text where it has one that is no marker for "none", and the domain's word for it.
    fn text_and_label(&self, mapping: &FieldMapping, at: usize) -> Option<(String, Option<&'a str>)> {
        let text = text_of(&self.feature.values[at])?;
        let text = text.trim();
        if text.is_empty() || matches(&mapping.missing, text) {
            return None;
        }
        let label = self.raw.fields[at].domain.get(text).map(String::as_str);
        if label.is_some_and(|label| matches(&mapping.missing, label)) {
            return None;
        }
        Some((text.to_owned(), label))
    }

    fn said(&self, meaning: Meaning) -> Said {
        if let Some(word) = self.rule(meaning) {
            return Said::Word(word.to_owned());
        }
        let default = self.layer.defaults.get(&meaning);
        let Some((mapping, at)) = self.mapping(meaning) else {
            return default.map_or(Said::NotMapped, |word| Said::Word(word.clone()));
        };
        let Some((text, label)) = self.text_and_label(mapping, at) else {
            return mapping.when_missing.as_ref().or(default).map_or(Said::Missing, |word| Said::Word(word.clone()));
        };
        let coded = |text: &str| mapping.codes.iter().find(|(_, pattern)| matches(pattern, text)).map(|(word, _)| word.clone());
        if let Some(word) = coded(&text).or_else(|| label.and_then(coded)) {
            return Said::Word(word);
        }
        match vocabulary(meaning, self.role) {
            // Without codes the town may use our own words, in whatever letters.
            Some(words) if mapping.codes.is_empty() => {
                let spelled = |text: &str| text.trim().to_lowercase().replace([' ', '-'], "_");
                let own = [Some(text.as_str()), label].into_iter().flatten().map(spelled).find(|word| words.contains(&word.as_str()));
                own.map_or(Said::Unknown(text), Said::Word)
            }
            Some(_) => Said::Unknown(text),
            None => Said::Word(label.map_or(text, str::to_owned)),
        }
    }

    /// A word of a vocabulary; a code that nobody explained is reported under `unknown`, an empty field under `missing`.
    fn word(&self, meaning: Meaning, missing: Option<IssueCode>, unknown: IssueCode, issues: &mut Issues) -> Option<String> {
        let said = self.said(meaning);
        let field = self.layer.fields.get(&meaning);
        let name = field.map(|m| m.field.as_str());
        if let (Some(code), Some((mapping, at))) = (missing, self.mapping(meaning))
            && self.rule(meaning).is_none()
            && self.text_and_label(mapping, at).is_none()
        {
            issues.gather(code, &self.layer.name, name, None, self.id);
        }
        match said {
            Said::Word(word) => Some(word),
            Said::Unknown(text) => {
                issues.gather(unknown, &self.layer.name, name, Some(&text), self.id);
                Some(field.and_then(|m| m.when_unknown.clone()).unwrap_or_else(|| "unknown".to_owned()))
            }
            Said::NotMapped | Said::Missing => None,
        }
    }

    /// A word of one of the vocabularies; `None` where nothing is said.
    pub(super) fn one_of<T>(&self, meaning: Meaning, from_word: fn(&str) -> Option<T>, issues: &mut Issues) -> Option<T> {
        from_word(&self.word(meaning, None, IssueCode::CodeUnknown, issues)?)
    }

    /// Where an asset stands in its life: live where nobody says otherwise.
    pub(super) fn status(&self, issues: &mut Issues) -> Status {
        let word = self.word(Meaning::Status, Some(IssueCode::StatusMissing), IssueCode::StatusUnknown, issues);
        word.map_or(Status::Live, |word| Status::from_word(&word).unwrap_or(Status::Unknown))
    }

    /// What the flow code says; what it says otherwise than `with` and `against` is nothing.
    pub(super) fn flow(&self) -> FlowCode {
        match self.said(Meaning::Flow) {
            Said::NotMapped => FlowCode::NotMapped,
            Said::Word(word) if word == "with" => FlowCode::WithDrawing,
            Said::Word(word) if word == "against" => FlowCode::AgainstDrawing,
            _ => FlowCode::SaysNothing,
        }
    }

    /// Yes or no; `None` where the town does not say.
    pub(super) fn truth(&self, meaning: Meaning, issues: &mut Issues) -> Option<bool> {
        if let Some((mapping, at)) = self.mapping(meaning)
            && mapping.codes.is_empty()
            && let Value::Bool(truth) = self.feature.values[at]
        {
            return Some(truth);
        }
        match self.word(meaning, None, IssueCode::CodeUnknown, issues)?.as_str() {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        }
    }

    /// Any text, trimmed: the domain's word where the field has one.
    pub(super) fn text(&self, meaning: Meaning) -> Option<Arc<str>> {
        match self.said(meaning) {
            Said::Word(text) | Said::Unknown(text) => Some(text.trim().into()),
            Said::NotMapped | Said::Missing => None,
        }
    }

    /// The field's own code, trimmed, not the domain's word for it: for ids and classes.
    pub(super) fn code(&self, meaning: Meaning) -> Option<Arc<str>> {
        if let Some(word) = self.rule(meaning) {
            return Some(word.into());
        }
        let own = self.mapping(meaning).and_then(|(mapping, at)| self.text_and_label(mapping, at));
        own.map(|(text, _)| normalised_id(&text).into()).or_else(|| self.layer.defaults.get(&meaning).map(|word| word.as_str().into()))
    }

    /// A node's id.
    pub(super) fn node(&self, meaning: Meaning) -> NodeId {
        if !super::speaks_of(self.layer, meaning) {
            return NodeId::NotMapped;
        }
        self.code(meaning).filter(|id| !id.is_empty()).map_or(NodeId::Missing, NodeId::Named)
    }

    /// A number; what cannot be read as one is reported.
    pub(super) fn number(&self, meaning: Meaning, issues: &mut Issues) -> Option<f64> {
        let default = || self.layer.defaults.get(&meaning).and_then(|word| word.trim().parse().ok());
        if let Some(word) = self.rule(meaning) {
            return word.trim().parse().ok();
        }
        let Some((mapping, at)) = self.mapping(meaning) else { return default() };
        let Some((text, label)) = self.text_and_label(mapping, at) else { return default() };
        let read = match &self.feature.values[at] {
            Value::Int(number) => Some(*number as f64),
            Value::Real(number) => Some(*number),
            _ => (parse_number(&text, self.layer.decimal).or_else(|| parse_number(label?, self.layer.decimal)))
                .or_else(|| parse_number(without_unit(&text, mapping.unit?)?, self.layer.decimal)),
        };
        let read = read.filter(|number| number.is_finite());
        if read.is_none() {
            issues.gather(IssueCode::ValueUnreadable, &self.layer.name, Some(&mapping.field), Some(&text), self.id);
        }
        read
    }

    /// A length in metres; `usual` is the unit where the town file names none.
    pub(super) fn length_m(&self, meaning: Meaning, usual: LengthUnit, issues: &mut Issues) -> Option<f64> {
        let unit = self.layer.fields.get(&meaning).and_then(|m| m.unit).unwrap_or(usual);
        self.number(meaning, issues).map(|number| number * unit.metres())
    }

    /// A diameter or height in millimetres; inches in towns that count in feet. Zero and less is no size.
    pub(super) fn size_mm(&self, meaning: Meaning, issues: &mut Issues) -> Option<f64> {
        let usual = if self.is_metric() { LengthUnit::Millimetre } else { LengthUnit::Inch };
        self.length_m(meaning, usual, issues).map(|metres| metres * 1000.0).filter(|mm| *mm > 0.0)
    }

    fn is_metric(&self) -> bool {
        matches!(self.settings.units, LengthUnit::Metre | LengthUnit::Centimetre | LengthUnit::Millimetre)
    }

    fn level_unit(&self) -> LengthUnit {
        match self.settings.units {
            LengthUnit::SurveyFoot => LengthUnit::SurveyFoot,
            LengthUnit::Foot | LengthUnit::Inch => LengthUnit::Foot,
            LengthUnit::Metre | LengthUnit::Centimetre | LengthUnit::Millimetre => LengthUnit::Metre,
        }
    }

    /// A level with its kind and datum.
    pub(super) fn level(&self, meaning: Meaning, issues: &mut Issues) -> LevelField {
        if !super::speaks_of(self.layer, meaning) {
            return LevelField::NotMapped;
        }
        let Some(value_m) = self.length_m(meaning, self.level_unit(), issues) else { return LevelField::Missing };
        let mapping = self.layer.fields.get(&meaning);
        let kind = mapping.and_then(|m| level_kind(m.level.as_deref()?)).unwrap_or(LevelKind::Elevation);
        let datum = mapping.and_then(|m| m.datum.as_deref()).map(Into::into);
        LevelField::Given(Level { value_m, kind, datum })
    }

    /// A depth in metres.
    pub(super) fn depth_m(&self, meaning: Meaning, issues: &mut Issues) -> Option<f64> {
        self.length_m(meaning, self.level_unit(), issues)
    }

    /// A year, also out of a date; what can be none is none.
    pub(super) fn year(&self, meaning: Meaning) -> Option<i32> {
        let text = self.code(meaning)?;
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        let from_front = (digits.len() == 4 || digits.len() == 8).then(|| digits[..4].parse().ok()).flatten();
        // Some exports write the month first: 6/2/1955.
        let from_end = || {
            let tail: String = text.chars().rev().take_while(char::is_ascii_digit).collect::<Vec<_>>().into_iter().rev().collect();
            (tail.len() == 4 && text.contains(['/', '-', '.'])).then(|| tail.parse().ok()).flatten()
        };
        from_front.or_else(from_end).filter(|year: &i32| (1700..=2200).contains(year))
    }

    /// A date: `2012-06-29`, the beginning of an instant, or month first as in `6/29/2012`; what cannot be read is reported.
    pub(super) fn date(&self, meaning: Meaning, issues: &mut Issues) -> Option<Date> {
        let text = self.code(meaning)?;
        let numbers: Vec<i32> = text.split(['/', '-', 'T', ' ']).take(3).filter_map(|part| part.trim().parse().ok()).collect();
        let read = match numbers.as_slice() {
            [y, m, d] if *y > 31 => civil(*y, *m, *d),
            [m, d, y] => civil(*y, *m, *d),
            [number] if *number > 17_000_101 => civil(number / 10_000, number / 100 % 100, number % 100),
            _ => None,
        };
        if read.is_none() {
            let field = self.layer.fields.get(&meaning).map(|m| m.field.as_str());
            issues.gather(IssueCode::DateInvalid, &self.layer.name, field, Some(&text), self.id);
        }
        read
    }

    /// A whole number, however it is stored.
    pub(super) fn whole(&self, meaning: Meaning, issues: &mut Issues) -> Option<i64> {
        let number = self.number(meaning, issues)?;
        // Exact in a double below 2^53, as NHDPlus numbers are.
        (number.abs() < 9_007_199_254_740_992.0).then_some(number as i64)
    }

    /// The causes whose own columns say that they impair.
    pub(super) fn causes_by_column(&self) -> Vec<Arc<str>> {
        let Some(columns) = &self.layer.cause_columns else { return Vec::new() };
        let impairs = |name: &&String| {
            self.raw.field(name).is_some_and(|at| holds(&self.feature.values[at], &self.raw.fields[at].domain, &columns.values))
        };
        columns.fields.iter().filter(impairs).map(|name| name.as_str().into()).collect()
    }

    /// How many barrels, where it says so.
    pub(super) fn barrels(&self, issues: &mut Issues) -> Option<u32> {
        let number = self.number(Meaning::Barrels, issues)?;
        ((1.0..=100.0).contains(&number)).then_some(number as u32)
    }

    /// Whether the layer's own field says that this is a pressurised main.
    pub(super) fn pressurised(&self) -> bool {
        self.layer.pressurised.as_ref().is_some_and(|p| {
            self.raw.field(&p.field).is_some_and(|at| holds(&self.feature.values[at], &self.raw.fields[at].domain, &p.values))
        })
    }
}
