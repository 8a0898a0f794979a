//! How does each assessment unit stand, by the latest cycle of each list? Parameter by parameter, never one word for the whole.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::inventory::{AssessmentUnit, Inventory, LayerIndex, ListingRow};

/// An IR category: its digit and letters, however it was spelled (`4a`, `IR 4A`, `Category 4A` are `4A`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Category(String);

impl Category {
    /// Reads a category; `None` where no digit says one.
    ///
    /// ```
    /// use headwall::waters::Category;
    /// for (text, word) in [("4a", "4A"), ("IR 4A", "4A"), ("Category 5", "5"), ("5-alt", "5ALT"), ("cat. 5 (303(d))", "5"), ("303(d) 5m", "5M")] {
    ///     assert_eq!(Category::parse(text).unwrap().as_str(), word, "{text}");
    /// }
    /// assert!(Category::parse("Impaired Seg").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Category> {
        let upper = text.to_ascii_uppercase().replace("303(D)", " ").replace("303D", " ").replace("305(B)", " ");
        let from = upper.find(|c: char| matches!(c, '1'..='5'))?;
        let mut word = String::new();
        for (at, c) in upper[from..].char_indices() {
            match c {
                _ if at == 0 => word.push(c),
                'A'..='Z' => word.push(c),
                '-' | '.' => {}
                _ => break,
            }
        }
        // A longer number is a year or a code, no category.
        let next_is_digit = upper[from + 1..].starts_with(|c: char| c.is_ascii_digit());
        (!next_is_digit).then_some(Category(word))
    }

    /// The word, as `4A`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its digit.
    pub fn digit(&self) -> char {
        self.0.chars().next().unwrap_or('0')
    }
}

/// How a unit stands with a pollutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StandingKind {
    /// Category 5: on the 303(d) list.
    Listed,
    /// Category 4A: a TMDL is said to exist.
    TmdlNamed,
    /// Category 4B or 4C: impaired, and no TMDL is needed.
    NoTmdlNeeded,
    /// Said to be impaired; nobody says which category.
    CategoryUnknown,
}

/// How a unit stands with one pollutant on one list.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The unit, as the list writes it.
    pub unit: Arc<str>,
    /// Its name, where one is known.
    pub name: Option<Arc<str>>,
    /// The pollutant; `None` where the list does not say.
    pub pollutant: Option<Arc<str>>,
    /// How it stands.
    pub kind: StandingKind,
    /// The category.
    pub category: Option<Category>,
    /// The list cycle.
    pub cycle: Option<i32>,
    /// The list's layer.
    pub layer: LayerIndex,
    /// What the reader has to know with it.
    pub remarks: Vec<String>,
}

/// How every unit stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standings {
    /// By unit key.
    pub by_unit: BTreeMap<String, Vec<Standing>>,
    /// Units of which any list or attribute says anything, also that they are clean.
    pub assessed: BTreeSet<String>,
}

/// One text of the ways in which a unit's id is written.
pub fn unit_key(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_uppercase()
}

/// One text of the ways in which a pollutant is written.
pub(super) fn pollutant_key(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_uppercase()
}

/// Words like these say of a water that it is impaired, without a category.
fn says_impaired(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.contains("impaired") && !lower.contains("unimpaired") && !lower.contains("not impaired") && !lower.contains("non-impaired")
}

impl Standings {
    /// Reads the listings of an inventory; where a unit is on none, the attributes of its own shapes.
    pub fn of(inventory: &Inventory) -> Standings {
        let mut out = Standings::default();
        let mut by_list: BTreeMap<(String, LayerIndex), Vec<&ListingRow>> = BTreeMap::new();
        let mut last_cycle: BTreeMap<LayerIndex, i32> = BTreeMap::new();
        for row in &inventory.listing {
            by_list.entry((unit_key(&row.unit), row.key.layer)).or_default().push(row);
            if let Some(cycle) = row.cycle {
                let last = last_cycle.entry(row.key.layer).or_insert(cycle);
                *last = cycle.max(*last);
            }
        }
        for ((unit, layer), rows) in by_list {
            // The latest cycle of this unit wins; rows without one count only where none has one.
            let latest = rows.iter().filter_map(|r| r.cycle).max();
            let behind = latest.zip(last_cycle.get(&layer)).is_some_and(|(own, last)| own < *last);
            for row in rows.into_iter().filter(|r| r.cycle == latest) {
                if let Some(mut standing) = of_row(row) {
                    if behind && let Some(last) = last_cycle.get(&layer) {
                        standing.remarks.push(format!("the list has a later cycle, {last}, in which this unit does not stand"));
                    }
                    out.add(&unit, standing);
                }
            }
            out.assessed.insert(unit);
        }
        out.settle_lists();
        let mut shapes: BTreeMap<String, Vec<&AssessmentUnit>> = BTreeMap::new();
        for unit in &inventory.units {
            shapes.entry(unit_key(&unit.unit)).or_default().push(unit);
        }
        for (key, units) in shapes {
            let name = units.iter().find_map(|u| u.name.clone());
            if let Some(known) = out.by_unit.get_mut(&key) {
                known.iter_mut().filter(|s| s.name.is_none()).for_each(|s| s.name = name.clone());
            }
            if !out.assessed.contains(&key) {
                let latest = units.iter().filter_map(|u| u.cycle).max();
                for unit in units.into_iter().filter(|u| u.cycle == latest) {
                    for standing in of_shape(unit) {
                        out.add(&key, standing);
                    }
                    if unit.category.is_some() || unit.impaired.is_some() || unit.on_303d_list.is_some() {
                        out.assessed.insert(key.clone());
                    }
                }
            }
        }
        out
    }

    fn add(&mut self, unit: &str, standing: Standing) {
        let all = self.by_unit.entry(unit.to_owned()).or_default();
        let same = |s: &Standing| {
            s.kind == standing.kind
                && s.layer == standing.layer
                && s.pollutant.as_deref().map(pollutant_key) == standing.pollutant.as_deref().map(pollutant_key)
        };
        if !all.iter().any(same) {
            all.push(standing);
        }
    }

    /// Where two lists speak of one pollutant of a unit, the later cycle wins.
    fn settle_lists(&mut self) {
        for all in self.by_unit.values_mut() {
            let before = all.clone();
            let key = |s: &Standing| s.pollutant.as_deref().map(pollutant_key);
            all.retain(|s| {
                !before.iter().any(|o| {
                    o.layer != s.layer && key(o) == key(s) && (o.cycle, std::cmp::Reverse(o.layer)) > (s.cycle, std::cmp::Reverse(s.layer))
                })
            });
            for standing in all.iter_mut() {
                if let Some(later) =
                    before.iter().filter(|o| o.layer != standing.layer && o.cycle > standing.cycle).filter_map(|o| o.cycle).max()
                {
                    standing.remarks.push(format!("a later list, of cycle {later}, does not name this pollutant for the unit"));
                }
            }
        }
    }
}

fn of_row(row: &ListingRow) -> Option<Standing> {
    if row.impaired == Some(false) {
        return None;
    }
    let category = row.category.as_deref().and_then(Category::parse);
    let kind = match &category {
        Some(c) if c.digit() == '5' => StandingKind::Listed,
        Some(c) if c.as_str() == "4A" => StandingKind::TmdlNamed,
        Some(c) if c.digit() == '4' => StandingKind::NoTmdlNeeded,
        Some(_) => return None,
        None if row.impaired == Some(true) || row.category.as_deref().is_none_or(says_impaired) => StandingKind::CategoryUnknown,
        None => return None,
    };
    let (unit, name, pollutant) = (row.unit.clone(), row.name.clone(), row.cause.clone());
    Some(Standing { unit, name, pollutant, kind, category, cycle: row.cycle, layer: row.key.layer, remarks: Vec::new() })
}

/// What the attributes of a shape say: of the unit as a whole, so that a mixture of categories cannot be told apart.
fn of_shape(unit: &AssessmentUnit) -> Vec<Standing> {
    let category = unit.category.as_deref().and_then(Category::parse);
    let standing = |kind: StandingKind, pollutant: Option<&Arc<str>>, remark: Option<String>| Standing {
        unit: unit.unit.clone(),
        name: unit.name.clone(),
        pollutant: pollutant.cloned(),
        kind,
        category: category.clone(),
        cycle: unit.cycle,
        layer: unit.key.layer,
        remarks: remark.into_iter().collect(),
    };
    let whole = "the category is that of the unit as a whole; no row says it of the parameter";
    let each = |kind: StandingKind, remark: &str| -> Vec<Standing> {
        match unit.causes.as_slice() {
            [] => vec![standing(kind, None, Some(remark.to_owned()))],
            causes => causes.iter().map(|c| standing(kind, Some(c), Some(remark.to_owned()))).collect(),
        }
    };
    let digit = category.as_ref().map(Category::digit);
    if digit == Some('5') || (unit.on_303d_list == Some(true) && digit != Some('4')) {
        return match unit.causes.as_slice() {
            [] => vec![standing(StandingKind::Listed, None, Some(format!("{whole}, and no cause is given")))],
            [only] => vec![standing(StandingKind::Listed, Some(only), Some(whole.to_owned()))],
            several => {
                let names: Vec<&str> = several.iter().map(|c| &**c).collect();
                let mut all = vec![standing(StandingKind::Listed, None, Some(format!("{whole}: one or more of {}", names.join(", "))))];
                all.extend(
                    several
                        .iter()
                        .map(|c| Standing { category: None, ..standing(StandingKind::CategoryUnknown, Some(c), Some(whole.to_owned())) }),
                );
                all
            }
        };
    }
    match (digit, category.as_ref().map(Category::as_str)) {
        (_, Some("4A")) => each(StandingKind::TmdlNamed, whole),
        (Some('4'), _) => each(StandingKind::NoTmdlNeeded, whole),
        (None, _) if unit.impaired == Some(true) || unit.category.as_deref().is_some_and(says_impaired) => {
            each(StandingKind::CategoryUnknown, "the map says impaired and no more")
        }
        _ => Vec::new(),
    }
}
