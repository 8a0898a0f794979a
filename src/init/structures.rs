//! Which fields of a structure are its rim and its invert? Measured against the inverts of the conduits that end there.

use std::collections::BTreeMap;

use geo::Coord;

use crate::settings::{LengthUnit, Meaning, Pattern};

use super::attributes::Draft;
use super::column::{Column, quantile, share};
use super::look::{Look, distance};

/// The inverts of conduit ends by place, in cells.
#[derive(Debug, Default)]
pub(super) struct EndLevels(BTreeMap<(i64, i64), Vec<(Coord, f64)>>);

const CELL_M: f64 = 3.0;
/// An end this close to a structure is taken as its own when levels are compared.
const AT_M: f64 = 1.5;

impl EndLevels {
    /// Adds an end.
    pub fn add(&mut self, place: Coord, level: f64) {
        self.0.entry(cell(place)).or_default().push((place, level));
    }

    /// The lowest invert of the ends at a place.
    fn lowest_at(&self, place: Coord) -> Option<f64> {
        let (x, y) = cell(place);
        let mut lowest: Option<f64> = None;
        for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
            for (end, level) in self.0.get(&(x + dx, y + dy)).into_iter().flatten() {
                if distance(*end, place) <= AT_M {
                    lowest = Some(lowest.map_or(*level, |l| l.min(*level)));
                }
            }
        }
        lowest
    }
}

fn cell(place: Coord) -> (i64, i64) {
    ((place.x / CELL_M).floor() as i64, (place.y / CELL_M).floor() as i64)
}

/// A level column with what was measured.
struct Candidate<'a> {
    column: &'a Column,
    missing: Vec<String>,
    note: Option<String>,
    /// Middle height above the lowest conduit invert there, and over how many structures.
    above: Option<(f64, usize)>,
}

fn candidates<'a>(look: &'a Look, ends: &EndLevels) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    for column in &look.columns {
        let says = &column.says;
        let named = says.has_any(&["rim", "ground", "elevation", "invert", "bottom"]);
        const NOT: [&str; 14] =
            ["doing", "edit", "depth", "compass", "size", "diameter", "material", "status", "count", "length", "type", "id", "date", "x"];
        if !named || says.has_any(&NOT) || column.is_date || column.numeric() < 0.8 || (column.texts.len() < 2 && column.rows > 4) {
            continue;
        }
        let (missing, note) = column.missing_numbers(false);
        let real = column.real_numbers(&missing);
        if real.is_empty()
            || (column.rows > 4 && real.len() * 100 < column.rows)
            || (real.len() > 4 && quantile(&real, 0.0) == quantile(&real, 1.0))
        {
            continue;
        }
        let mut above = Vec::new();
        for row in 0..look.raw.features.len() {
            let place = look.places.get(row).copied().flatten();
            if let (Some(level), Some(end)) = (column.number(&look.raw, row, &missing), place.and_then(|p| ends.lowest_at(p))) {
                above.push(level - end);
            }
        }
        above.sort_by(f64::total_cmp);
        let measured = (above.len() >= 3).then(|| (quantile(&above, 0.5), above.len()));
        found.push(Candidate { column, missing, note, above: measured });
    }
    found
}

/// Share of the rows in which `high` lies above `low` and not more than 20 above.
fn stands_over(look: &Look, high: &Candidate, low: &Candidate) -> Option<f64> {
    let (mut both, mut over) = (0, 0);
    for row in 0..look.raw.features.len() {
        if let (Some(h), Some(l)) = (high.column.number(&look.raw, row, &high.missing), low.column.number(&look.raw, row, &low.missing)) {
            both += 1;
            over += usize::from(h >= l - 0.01 && h - l < 20.0);
        }
    }
    (both >= 3).then(|| share(over, both))
}

/// Rim and invert.
pub(super) fn levels(draft: &mut Draft, ends: &EndLevels, unit: Option<LengthUnit>) {
    let look = draft.look;
    let all = candidates(look, ends);
    let rims = || all.iter().filter(|c| c.column.says.has_any(&["rim", "ground"]) && !c.column.says.has("invert"));
    let rim = rims()
        .filter(|c| c.above.is_none_or(|(above, _)| above > 0.2 && above < 25.0))
        .max_by(|a, b| filled(a).total_cmp(&filled(b)))
        .or_else(|| {
            // A bare "elevation" is the rim where it lies well above the pipes' inverts.
            let bare = all.iter().filter(|c| c.column.says.words.len() == 1 && c.column.says.has("elevation"));
            bare.filter(|c| c.above.is_some_and(|(above, n)| n >= 5 && above > 0.5 && above < 25.0))
                .max_by(|a, b| filled(a).total_cmp(&filled(b)))
        });
    let inverts = || all.iter().filter(|c| c.column.says.has_any(&["invert", "bottom"]) && !c.column.says.has_any(&["rim", "ground"]));
    let can_be = |c: &&Candidate| match (c.above, rim) {
        (Some((above, _)), _) => above.abs() < 1.5,
        (None, Some(rim)) => stands_over(look, rim, c).is_none_or(|share| share > 0.7),
        (None, None) => true,
    };
    // "INVERT" beside "INVERTELEV" may be a depth: the one that says elevation comes first.
    let rank = |c: &&Candidate| f64::from(u8::from(c.column.says.has("elevation"))) + filled(c);
    let invert = inverts().filter(can_be).max_by(|a, b| rank(a).total_cmp(&rank(b)));
    for (meaning, chosen) in [(Meaning::Rim, rim), (Meaning::Invert, invert)] {
        if draft.fields.contains_key(&meaning) {
            continue;
        }
        match chosen {
            Some(c) => {
                let mut why = match c.above {
                    Some((above, n)) => format!("middle height above the lowest pipe there {above:.2}, over {n} structures"),
                    None => "by its name; no pipe with an invert to compare".to_owned(),
                };
                if let Some(note) = &c.note {
                    why.push_str("; ");
                    why.push_str(note);
                }
                draft.propose(meaning, c.column, why, |m| {
                    m.unit = unit;
                    m.missing = Pattern(c.missing.clone());
                    m.level = Some("elevation".to_owned());
                });
            }
            None => {
                let named: Vec<&Candidate> = if meaning == Meaning::Rim { rims().collect() } else { inverts().collect() };
                let bare =
                    all.iter().filter(|c| meaning == Meaning::Rim && c.column.says.words.len() == 1 && c.column.says.has("elevation"));
                let choices: Vec<String> = named.into_iter().chain(bare).map(|c| c.column.name.clone()).collect();
                if !choices.is_empty() {
                    draft.ask(
                        meaning,
                        format!("which field is the {}? what is named so does not fit the pipes' inverts", meaning.word()),
                        choices,
                    );
                }
            }
        }
    }
}

fn filled(c: &Candidate) -> f64 {
    share(c.column.real_numbers(&c.missing).len(), c.column.rows)
}
