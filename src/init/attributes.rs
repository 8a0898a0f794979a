//! Which column is the id, the size, the status, the owner? One question a function; a column is proposed where its name and its values agree.

use std::collections::BTreeMap;

use crate::settings::{FieldMapping, LengthUnit, Meaning, Pattern, Role};

use super::column::{Column, quantile, share};
use super::look::Look;
use super::words::{CodeReading, read_codes};
use super::{FieldProposal, Question};

/// What is proposed for one layer so far.
pub(super) struct Draft<'a> {
    pub look: &'a Look,
    pub role: Role,
    pub fields: BTreeMap<Meaning, FieldProposal>,
    pub questions: Vec<Question>,
}

impl<'a> Draft<'a> {
    pub fn new(look: &'a Look, role: Role) -> Self {
        Draft { look, role, fields: BTreeMap::new(), questions: Vec::new() }
    }

    /// Proposes a column.
    pub fn propose(&mut self, meaning: Meaning, column: &Column, why: impl Into<String>, shape: impl FnOnce(&mut FieldMapping)) {
        let mut mapping = FieldMapping::plain(&column.name);
        shape(&mut mapping);
        self.fields.insert(meaning, FieldProposal { mapping, why: why.into(), samples: column.samples() });
    }

    /// Asks instead.
    pub fn ask(&mut self, meaning: Meaning, asks: impl Into<String>, choices: Vec<String>) {
        self.questions.push(Question { meaning: Some(meaning), asks: asks.into(), choices, costs: cost(self.role, meaning).to_owned() });
    }

    fn is_taken(&self, column: &Column) -> bool {
        self.fields.values().any(|f| f.mapping.field == column.name)
    }

    fn columns(&self) -> &'a [Column] {
        &self.look.columns
    }

    /// The columns by a score, best first; those without one are left out.
    fn ranked(&self, score: impl Fn(&Column) -> Option<f64>) -> Vec<(f64, &'a Column)> {
        let mut all: Vec<(f64, &Column)> =
            self.columns().iter().filter(|c| c.filled > 0 && !self.is_taken(c)).filter_map(|c| Some((score(c)?, c))).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all
    }
}

/// What an answer lacks without the field.
pub(super) fn cost(role: Role, meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::Id => "without ids features are known by a hash of their shape, which a new export may change",
        Meaning::NodeFrom | Meaning::NodeTo => "without node ids direction rests on the drawing, and ends join by distance alone",
        Meaning::InvertFrom | Meaning::InvertTo => {
            "without inverts nothing contradicts a pipe that was drawn the wrong way round, and profiles are empty"
        }
        Meaning::Status => "without status every conduit counts as in use, abandoned ones too",
        Meaning::System => "without the system storm, combined and sanitary lines are not told apart",
        Meaning::Kind if role == Role::Conduits => "without kinds leads, ditches and mains are not told apart",
        Meaning::Kind => "without kinds outfalls and pump stations inside this layer are not known as such",
        Meaning::Diameter => "without sizes a trace cannot say how large a pipe is",
        Meaning::Rim | Meaning::Invert => "without this level profiles show no ground or no bottom here",
        Meaning::Material => "without the words for these codes the material is shown as unknown",
        Meaning::DrainsTo => "without it a parcel inside this area is tied to no inlet",
        Meaning::Parcel | Meaning::Conduit => "without it a lateral counts only where its line touches",
        Meaning::LandUse => "without land use commercial and residential parcels rank alike",
        Meaning::Address => "without addresses candidates are listed by parcel id only",
        _ => "this is not shown",
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// The id: unique, full, named like one; a row number only where nothing else is there.
pub(super) fn id(draft: &mut Draft, referred: Option<&(String, usize)>, elsewhere: &[String], paired: &[usize], nouns: &[&str]) {
    if let Some((name, hits)) = referred
        && let Some(column) = draft.look.column(name)
    {
        let why = format!("conduits name {hits} of its values as their nodes; {} filled", percent(column.fill()));
        return draft.propose(Meaning::Id, column, why, |_| {});
    }
    let look = draft.look;
    let ranked = draft.ranked(|c| {
        let at = c.at;
        if paired.contains(&at) || !c.is_id_like() || c.is_shape_measure() || c.distinct() < 0.93 || c.fill() < 0.7 || c.filled < 1 {
            return None;
        }
        if c.says.has_any(&[
            "x",
            "y",
            "length",
            "slope",
            "elevation",
            "invert",
            "rim",
            "depth",
            "address_link",
            "edit",
            "date",
            "street",
            "percent",
            "angle",
            "outfall",
        ]) && !c.says.has("id")
        {
            return None;
        }
        let flat: String = c.name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        let mut score = c.distinct() + c.fill();
        if c.is_software() {
            // A GUID outlives an export, a row number does not.
            score -= if flat.starts_with("globalid") { 1.0 } else { 2.0 };
        } else {
            if !c.says.has("id") && !c.says.has("facility") && flat != "handle" {
                if c.says.has("parcel") || flat == "name" {
                    score += 0.3;
                } else {
                    score -= 1.2;
                }
            }
            if c.says.has("facility") && c.says.has("id") {
                score += 1.0;
            } else if c.says.has("id") {
                score += 0.6;
            }
            if nouns.iter().any(|n| flat.contains(n)) {
                score += 0.5;
            }
            if elsewhere.contains(&c.name) {
                score += 1.0;
            }
            if c.says.words.iter().any(|w| {
                ["legacy", "legacyid", "old", "previous", "host", "doc", "guid", "source", "plan", "project", "terminator"]
                    .contains(&w.as_str())
            }) {
                score -= 0.8;
            }
        }
        Some(score)
    });
    let few = look.raw.features.len() < 2;
    match ranked.first() {
        Some((score, column)) if *score > 0.4 || few || column.is_software() => {
            let why = if column.is_software() && !column.name.to_lowercase().starts_with("global") {
                "the only unique field; a row number of the software, which a new export may change".to_owned()
            } else {
                format!("{} differ, {} filled", percent(column.distinct()), percent(column.fill()))
            };
            let column = *column;
            draft.propose(Meaning::Id, column, why, |_| {});
        }
        _ => {
            let choices = ranked.iter().take(4).map(|(_, c)| c.name.clone()).collect();
            draft.ask(Meaning::Id, "which field is the id? none is full and unique", choices);
        }
    }
}

/// Usual sizes of pipes.
const INCHES: [f64; 28] = [
    4.0, 6.0, 8.0, 10.0, 12.0, 15.0, 16.0, 18.0, 20.0, 21.0, 22.0, 24.0, 27.0, 30.0, 33.0, 36.0, 42.0, 48.0, 54.0, 60.0, 66.0, 72.0, 78.0,
    84.0, 90.0, 96.0, 108.0, 120.0,
];
const MILLIMETRES: [f64; 42] = [
    50.0, 75.0, 100.0, 110.0, 125.0, 135.0, 150.0, 152.0, 160.0, 200.0, 203.2, 225.0, 250.0, 254.0, 300.0, 304.8, 315.0, 350.0, 375.0,
    381.0, 400.0, 450.0, 457.2, 500.0, 525.0, 600.0, 675.0, 750.0, 800.0, 825.0, 900.0, 1000.0, 1050.0, 1200.0, 1350.0, 1500.0, 1650.0,
    1800.0, 1950.0, 2100.0, 2400.0, 3000.0,
];

/// The unit of sizes by their magnitude, and how many are usual sizes in it; `None` where the numbers fit several.
pub(super) fn size_unit(sizes: &[f64]) -> Option<(LengthUnit, f64)> {
    if sizes.is_empty() {
        return None;
    }
    let usual = |list: &[f64]| share(sizes.iter().filter(|s| list.iter().any(|l| (l - **s).abs() < 0.6)).count(), sizes.len());
    let (low, middle, high) = (quantile(sizes, 0.05), quantile(sizes, 0.5), quantile(sizes, 0.95));
    if middle >= 100.0 && low >= 40.0 {
        return Some((LengthUnit::Millimetre, usual(&MILLIMETRES)));
    }
    if (6.0..=96.0).contains(&middle) && low >= 2.0 && high <= 200.0 && usual(&INCHES) > 0.5 {
        return Some((LengthUnit::Inch, usual(&INCHES)));
    }
    None
}

/// Diameter, and height where it is another field.
pub(super) fn size(draft: &mut Draft) {
    let named = |c: &Column| -> Option<f64> {
        if c.says.has_any(&["length", "slope", "doing", "depth", "elevation", "street", "percent", "count", "invert", "outfall", "edit"]) {
            return None;
        }
        let says = &c.says;
        let inside = says.words.iter().any(|w| w == "inside" || w == "internal" || w == "nominal");
        let second = says
            .words
            .iter()
            .any(|w| ["sec", "2", "second", "under", "outside", "access", "drop", "liner", "upgrde", "psab"].contains(&w.as_str()));
        let base = if says.has("diameter") {
            3.0
        } else if says.has("size") && (says.has("pipe") || says.words.len() <= 2) {
            2.6
        } else if says.has("width") {
            2.0
        } else {
            return None;
        };
        Some(base + if inside { 0.2 } else { 0.0 } - if second { 2.0 } else { 0.0 })
    };
    let ranked = draft.ranked(|c| {
        let name = named(c)?;
        if c.numeric() < 0.6 || c.is_date {
            return None;
        }
        let sizes: Vec<f64> = c.numbers.iter().copied().filter(|n| *n > 0.0).collect();
        if sizes.len() * 5 < c.rows {
            return None;
        }
        let text = c.texts.keys().any(|t| t.parse::<f64>().is_err());
        Some(name + 2.0 * share(sizes.len(), c.rows) + if text { -1.5 } else { 0.0 })
    });
    let Some((_, column)) = ranked.first().copied() else {
        // Inside heights alone: egg-shaped and old pipes are measured so.
        let heights = draft.ranked(|c| {
            let sizes: Vec<f64> = c.numbers.iter().copied().filter(|n| *n > 0.0).collect();
            (c.says.has("height") && c.numeric() > 0.6 && size_unit(&sizes).is_some_and(|(_, usual)| usual > 0.5)).then_some(c.fill())
        });
        if let Some((_, column)) = heights.first().copied() {
            propose_size(draft, Meaning::Diameter, column);
        }
        return;
    };
    propose_size(draft, Meaning::Diameter, column);
    if column.says.has("width") {
        let heights = draft.ranked(|c| {
            let same_beginning = c.numeric() > 0.8 && c.says.has("height") && !c.says.has_any(&["doing", "elevation"]);
            (same_beginning && c.numbers.iter().any(|n| *n > 0.0)).then_some(c.fill())
        });
        if let Some((_, height)) = heights.first().copied() {
            let unit = draft.fields.get(&Meaning::Diameter).and_then(|f| f.mapping.unit);
            let missing = size_markers(height);
            draft.propose(Meaning::Height, height, "goes with the width", |m| {
                m.unit = unit;
                m.missing = Pattern(missing);
            });
        }
    }
}

fn size_markers(column: &Column) -> Vec<String> {
    let (mut missing, _) = column.missing_numbers(true);
    for n in &column.numbers {
        if *n <= 0.0 && !missing.contains(&n.to_string()) {
            missing.push(n.to_string());
        }
    }
    // What is no number at all: "Unknown".
    missing.extend(column.texts.keys().filter(|t| super::column::number_of(t).is_none()).take(20).cloned());
    missing
}

fn propose_size(draft: &mut Draft, meaning: Meaning, column: &Column) {
    let missing = size_markers(column);
    let sizes: Vec<f64> = column.real_numbers(&missing).into_iter().filter(|n| *n > 0.0).collect();
    let words = &column.says.words;
    let by_name = [
        ("mm", LengthUnit::Millimetre),
        ("in", LengthUnit::Inch),
        ("inch", LengthUnit::Inch),
        ("ft", LengthUnit::Foot),
        ("cm", LengthUnit::Centimetre),
    ]
    .into_iter()
    .find(|(word, _)| words.len() > 1 && words.last().is_some_and(|w| w == word))
    .map(|(_, unit)| unit);
    match size_unit(&sizes).map(|(unit, usual)| (unit, Some(usual))).or(by_name.map(|unit| (unit, None))) {
        Some((unit, usual)) => {
            let why = match usual {
                Some(usual) => {
                    format!("middle value {}: {} by magnitude; {} are usual sizes", quantile(&sizes, 0.5), unit.word(), percent(usual))
                }
                None => format!("the name says {}", unit.word()),
            };
            draft.propose(meaning, column, why, |m| {
                m.unit = Some(unit);
                m.missing = Pattern(missing);
            });
        }
        None => {
            let asks = format!("in which unit is {}? values from {} to {}", column.name, quantile(&sizes, 0.05), quantile(&sizes, 0.95));
            draft.ask(
                meaning,
                asks,
                vec![
                    format!("{{ field = \"{}\", unit = \"ft\" }}", column.name),
                    format!("{{ field = \"{}\", unit = \"in\" }}", column.name),
                    format!("{{ field = \"{}\", unit = \"m\" }}", column.name),
                ],
            );
        }
    }
}

fn codes_of(reading: &CodeReading) -> BTreeMap<String, Pattern> {
    reading.codes.iter().map(|(word, codes)| (word.clone(), Pattern(codes.clone()))).collect()
}

fn open_codes(reading: &CodeReading) -> String {
    let list: Vec<String> = reading.open.iter().take(12).map(|(code, n)| format!("{code} ({n})")).collect();
    list.join(", ")
}

/// A column whose codes are words of one of our vocabularies.
struct Coded {
    meaning: Meaning,
    vocabulary: &'static str,
    /// Share of the filled rows that has to be read before codes are believed where the name says it.
    with_name: f64,
    /// The same without help from the name; above 1: never.
    without_name: f64,
    /// Fewest different values.
    least: usize,
}

fn coded(draft: &mut Draft, rule: &Coded, name_score: impl Fn(&Column) -> f64) {
    let ranked = draft.ranked(|c| {
        let name = name_score(c);
        if name < 0.0 || c.is_date || c.texts.len() < rule.least || c.texts.len() > 120 || c.fill() < 0.02 {
            return None;
        }
        let reading = read_codes(rule.vocabulary, &c.texts);
        let read = share(reading.read, c.filled);
        let all = share(reading.read + reading.said_unknown, c.filled);
        let enough = if name > 0.0 { rule.with_name } else { rule.without_name };
        // Codes that only say "unknown" explain nothing.
        (all >= enough && read > 0.1).then_some(name + read + 0.5 * c.fill())
    });
    if let Some((_, column)) = ranked.first().copied() {
        let reading = read_codes(rule.vocabulary, &column.texts);
        let why = format!(
            "{} of the filled rows read as {} words",
            percent(share(reading.read + reading.said_unknown, column.filled)),
            rule.meaning.word()
        );
        draft.propose(rule.meaning, column, why, |m| m.codes = codes_of(&reading));
        if !reading.open.is_empty() && matches!(rule.meaning, Meaning::Status | Meaning::System) {
            let asks = format!("what do these codes of {} mean: {}?", column.name, open_codes(&reading));
            draft.questions.push(Question {
                meaning: None,
                asks,
                choices: Vec::new(),
                costs: format!(
                    "{} rows have an unknown {}; an unknown status carries no water",
                    reading.open.iter().map(|o| o.1).sum::<usize>(),
                    rule.meaning.word()
                ),
            });
        }
        return;
    }
    // A name without readable codes: ask, and say the codes.
    let named = draft.ranked(|c| {
        let name = name_score(c);
        (name >= 1.0 && !c.is_date && c.texts.len() <= 40 && c.fill() > 0.3).then_some(name + c.fill())
    });
    if let Some((_, column)) = named.first().copied()
        && matches!(rule.meaning, Meaning::Status | Meaning::System)
    {
        let reading = read_codes(rule.vocabulary, &column.texts);
        let asks = format!("is {} the {}, and what do its codes mean: {}?", column.name, rule.meaning.word(), open_codes(&reading));
        draft.ask(rule.meaning, asks, vec![format!("{{ field = \"{}\", codes = {{ … }} }}", column.name)]);
    }
}

/// Life-cycle status.
pub(super) fn status(draft: &mut Draft) {
    let rule = Coded { meaning: Meaning::Status, vocabulary: "status", with_name: 0.6, without_name: 2.0, least: 1 };
    coded(draft, &rule, |c| {
        let words = &c.says.words;
        // Of cleaning, drawing, project, condition: another status.
        let other = c.says.has_any(&["doing", "edit", "flag"]) && !words.iter().any(|w| w == "constructed" || w == "construction");
        if !c.says.has("status") || other || words.iter().any(|w| ["assum", "park", "parks", "scada", "date"].contains(&w.as_str())) {
            return -1.0;
        }
        1.0 + if c.says.has_any(&["facility", "system"]) || words.iter().any(|w| w == "lifecycle" || w == "life") { 0.5 } else { 0.0 }
    });
}

/// Storm, combined, sanitary.
pub(super) fn system(draft: &mut Draft) {
    let rule = Coded { meaning: Meaning::System, vocabulary: "system", with_name: 0.8, without_name: 2.0, least: 1 };
    coded(draft, &rule, |c| {
        if c.says.has_any(&["edit", "date", "street", "doing", "owner", "address", "length", "id"]) {
            return -1.0;
        }
        let flat: String = c.name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        let typed = c.says.has("type") || flat.ends_with("type") || flat.ends_with("system");
        if c.says.has("system") && typed { 0.9 } else { -1.0 }
    });
}

/// Cross-section.
pub(super) fn shape(draft: &mut Draft) {
    let rule = Coded { meaning: Meaning::Shape, vocabulary: "shape", with_name: 0.5, without_name: 2.0, least: 1 };
    coded(
        draft,
        &rule,
        |c| if c.says.has("shape") && !c.is_shape_measure() && !c.says.has("rim") && c.numeric() < 0.5 { 0.5 } else { -1.0 },
    );
}

/// Material: by name and codes, or by the codes alone (materials stand in fields called type).
pub(super) fn material(draft: &mut Draft) {
    let not = ["doing", "edit", "date", "owner", "street", "status", "rim", "shape", "bottom"];
    let rule = Coded { meaning: Meaning::Material, vocabulary: "material", with_name: 0.4, without_name: 0.7, least: 2 };
    coded(draft, &rule, |c| {
        let words = &c.says.words;
        if c.says.has_any(&not)
            || words.iter().any(|w| ["bedding", "lining", "wall", "ground", "cat", "change", "psab"].contains(&w.as_str()))
        {
            -1.0
        } else if c.says.has("material") {
            1.0
        } else if c.says.has("pipe") && c.says.has("type") {
            0.0
        } else {
            -1.0
        }
    });
    if !draft.fields.contains_key(&Meaning::Material) {
        let named = draft.ranked(|c| {
            let plain = c.says.has("material") && !c.says.has_any(&not);
            (plain && c.fill() > 0.3 && c.texts.len() <= 40).then(|| c.fill() - 0.1 * c.says.words.len() as f64)
        });
        if let Some((_, column)) = named.first().copied() {
            let reading = read_codes("material", &column.texts);
            let one_known = reading.read * 10 >= column.filled * 4;
            draft.propose(Meaning::Material, column, "by its name; the codes are listed as a question", |m| m.codes = codes_of(&reading));
            if !one_known {
                let asks = format!("what do these codes of {} mean: {}?", column.name, open_codes(&reading));
                draft.questions.push(Question {
                    meaning: None,
                    asks,
                    choices: Vec::new(),
                    costs: cost(draft.role, Meaning::Material).to_owned(),
                });
            }
        }
    }
}

/// What sort of thing each feature is, where the layer mixes several.
pub(super) fn kind(draft: &mut Draft) {
    let (vocabulary, least) = if draft.role == Role::Conduits { ("conduit_kind", 2) } else { ("structure_kind", 2) };
    let rule = Coded {
        meaning: Meaning::Kind,
        vocabulary,
        with_name: if draft.role == Role::Conduits { 0.7 } else { 0.45 },
        without_name: 2.0,
        least,
    };
    coded(draft, &rule, |c| {
        let words = &c.says.words;
        let other = c.says.has_any(&[
            "doing",
            "edit",
            "date",
            "owner",
            "system",
            "material",
            "shape",
            "status",
            "address",
            "street",
            "length",
            "upstream",
            "downstream",
            "rim",
            "id",
        ]);
        if other
            || c.numeric() > 0.5
            || c.filled * 2 < c.rows
            || words.iter().any(|w| ["label", "color", "area", "class"].contains(&w.as_str()))
        {
            return -1.0;
        }
        let feature = c.says.has("type") || words.iter().any(|w| w == "structure" || w == "device");
        if !feature {
            return -1.0;
        }
        // More different kinds tell more.
        0.5 + (c.texts.len() as f64).ln() * 0.2
    });
    if !draft.fields.contains_key(&Meaning::Kind) && matches!(draft.role, Role::Structures) {
        // A name cut to ten letters may say nothing, and its values are kinds all the same.
        let ranked = draft.ranked(|c| {
            if c.texts.len() < 4 || c.texts.len() > 100 || c.numeric() > 0.3 || c.fill() < 0.7 || !c.says.has("node") {
                return None;
            }
            let reading = read_codes(vocabulary, &c.texts);
            (share(reading.read, c.filled) > 0.5 && reading.codes.len() >= 3).then(|| share(reading.read, c.filled))
        });
        if let Some((_, column)) = ranked.first().copied() {
            let reading = read_codes(vocabulary, &column.texts);
            let why = format!("{} of the rows read as kinds of structures", percent(share(reading.read, column.filled)));
            draft.propose(Meaning::Kind, column, why, |m| m.codes = codes_of(&reading));
        }
    }
    if let Some(field) = draft.fields.get(&Meaning::Kind) {
        let name = field.mapping.field.clone();
        if let Some(column) = draft.look.column(&name) {
            let reading = read_codes(vocabulary, &column.texts);
            if !reading.open.is_empty() {
                let asks = format!("what do these codes of {name} mean: {}?", open_codes(&reading));
                let costs = format!("{} features are of unknown kind", reading.open.iter().map(|o| o.1).sum::<usize>());
                draft.questions.push(Question { meaning: None, asks, choices: Vec::new(), costs });
            }
        }
    }
}

/// Owner and operator.
pub(super) fn owner(draft: &mut Draft) {
    let plain = |c: &Column| !c.is_date && c.texts.len() <= 60 && c.fill() > 0.3 && !c.says.has_any(&["edit", "date", "status", "id"]);
    let owners = draft.ranked(|c| {
        if !plain(c) || !c.says.has("owner") {
            return None;
        }
        // Words tell more than numbers, and a plain name more than a long one.
        let flat = c.name.to_lowercase();
        Some(
            c.fill() - 0.1 * c.says.words.len() as f64
                + if c.numeric() < 0.5 { 0.3 } else { 0.0 }
                + if flat.starts_with("own") { 0.2 } else { 0.0 },
        )
    });
    if let Some((_, column)) = owners.first().copied() {
        draft.propose(Meaning::Owner, column, format!("by its name; {} different", column.texts.len()), |_| {});
    }
    let operators = draft.ranked(|c| {
        let flat: String = c.name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        let named = ["maintby", "maintainedby", "operatedby", "managedby", "operator"].contains(&flat.as_str());
        (named && plain(c)).then(|| c.fill())
    });
    if let Some((_, column)) = operators.first().copied() {
        draft.propose(Meaning::Operator, column, format!("by its name; {} different", column.texts.len()), |_| {});
    }
}

/// Year or date of installation.
pub(super) fn year(draft: &mut Draft) {
    let ranked = draft.ranked(|c| {
        if c.says.has_any(&["doing", "edit", "owner", "status", "by", "type", "id"]) && !c.says.has("install") {
            return None;
        }
        if c.says.has_any(&["edit", "doing", "status", "type"]) {
            return None;
        }
        // 0 and 1 stand for "none" in fields of years.
        let small = c.numbers.iter().filter(|n| n.abs() <= 1.0).count();
        let years = c.numbers.iter().filter(|n| (1800.0..=2100.0).contains(*n)).count();
        let texts = c.texts.keys().filter(|t| t.len() >= 8 && t.chars().filter(char::is_ascii_digit).count() >= 6).count();
        let can_be = c.is_date
            || (years > 5 && share(years, c.filled - small.min(c.filled)) > 0.5)
            || (c.numeric() < 0.5 && share(texts, c.texts.len()) > 0.6);
        let words = &c.says.words;
        let named = c.says.has("install")
            || (c.says.has_any(&["year", "date"]) && (words.len() == 1 || words.iter().any(|w| ["am", "asset"].contains(&w.as_str()))));
        (named && can_be && c.fill() > 0.1).then(|| c.fill() + if c.says.has("install") { 1.0 } else { 0.0 } - 0.05 * words.len() as f64)
    });
    if let Some((_, column)) = ranked.first().copied() {
        let (missing, _) = column.missing_numbers(true);
        let missing = if column.is_date { Vec::new() } else { missing };
        draft.propose(Meaning::YearInstalled, column, "a year or date, named so", |m| m.missing = Pattern(missing));
    }
}

/// The outfall to which the town itself assigns each conduit: codes that repeat.
pub(super) fn assigned_outfall(draft: &mut Draft) {
    let ranked = draft.ranked(|c| {
        let plain = c.says.has("outfall") && !c.is_date && c.says.words.len() <= 2 && !c.says.has_any(&["type", "date", "status", "rim"]);
        (plain && c.texts.len() >= 2 && c.distinct() < 0.7 && c.fill() > 0.1).then(|| c.fill() - 0.1 * c.says.words.len() as f64)
    });
    if let Some((_, column)) = ranked.first().copied() {
        let why = format!("{} codes that repeat over {} conduits", column.texts.len(), column.filled);
        draft.propose(Meaning::AssignedOutfall, column, why, |_| {});
    }
}

/// Address of a parcel.
pub(super) fn address(draft: &mut Draft) {
    let house_number =
        |t: &str| t.chars().next().is_some_and(|c| c.is_ascii_digit()) && t.contains(' ') && t.chars().any(char::is_alphabetic);
    let ranked = draft.ranked(|c| {
        if crate::ingest::is_personal_field(&c.name) || c.says.has_any(&["edit", "address_link"]) {
            return None;
        }
        let like = share(c.texts.iter().filter(|(t, _)| house_number(t)).map(|(_, n)| n).sum(), c.filled);
        let named = c.says.has("address") || c.name.to_lowercase().contains("addr");
        let moderate = like > 0.3 && c.distinct() > 0.3;
        (moderate && (named || c.name.to_lowercase().contains("location"))).then(|| like + c.fill() - 0.05 * c.name.len() as f64 / 10.0)
    });
    if let Some((_, column)) = ranked.first().copied() {
        draft.propose(Meaning::Address, column, "house number and street", |_| {});
    }
}

/// Land-use class of a parcel, and its words.
pub(super) fn land_use(draft: &mut Draft) {
    let class = |c: &Column| -> Option<f64> {
        let flat: String = c.name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        let named = [
            "usecode",
            "landuse",
            "landusecode",
            "propclass",
            "luc",
            "lucode",
            "classcode",
            "propertyclass",
            "useclass",
            "statecode",
            "usecd",
        ]
        .iter()
        .any(|n| flat == *n || (n.len() > 6 && flat.starts_with(n)));
        let repeats = c.texts.len() >= 2 && c.distinct() < 0.5 && c.fill() > 0.3 && c.texts.keys().all(|t| t.len() <= 12);
        (named && repeats).then(|| c.fill())
    };
    if let Some((_, column)) = draft.ranked(class).first().copied().filter(|_| !draft.fields.contains_key(&Meaning::LandUse)) {
        draft.propose(Meaning::LandUse, column, format!("{} codes that repeat", column.texts.len()), |_| {});
    }
    let words = draft.ranked(|c| {
        let flat: String = c.name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        let named = ["usedesc", "usedescription", "landusedesc", "usedasdesc", "propdesc", "classdesc", "pdescript", "propertydescription"]
            .contains(&flat.as_str());
        // What a parcel is used as says more than the words of its class, also where the roll says it of few.
        let rank = if flat.starts_with("usedas") { 2.0 } else { 0.0 };
        let least = if rank > 0.0 { 0.02 } else { 0.3 };
        (named && c.numeric() < 0.3 && c.fill() > least).then(|| rank + c.fill())
    });
    // A field that the schema names is not to be replaced by one whose name is merely like it.
    if let Some((_, column)) = words.first().copied().filter(|_| !draft.fields.contains_key(&Meaning::UsedAs)) {
        draft.propose(Meaning::UsedAs, column, "words for the use", |_| {});
    }
}
