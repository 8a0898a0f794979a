//! What does a new list or TMDL change, outfall by outfall?

use std::collections::BTreeMap;

use crate::inventory::Inventory;

use super::flags::{Conditions, Flag};

/// How a row differs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changed {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It stands otherwise, in words: what it was, what it is.
    Altered(String, String),
    /// The outfall itself is not in the other.
    OutfallOnlyIn(&'static str),
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The outfall, as `LAYER/ID`.
    pub outfall: String,
    /// The water or unit.
    pub water: String,
    /// The pollutant.
    pub pollutant: Option<String>,
    /// The kind's word.
    pub kind: &'static str,
    /// How it differs.
    pub changed: Changed,
}

type Row = (String, String, Option<String>, &'static str);

fn rows<'a>(conditions: &'a Conditions, inventory: &Inventory) -> BTreeMap<Row, Vec<&'a Flag>> {
    let mut rows: BTreeMap<Row, Vec<&Flag>> = BTreeMap::new();
    for flag in conditions.flags() {
        let key = (
            name(inventory, flag.outfall.at()),
            flag.water.to_string(),
            flag.pollutant.as_deref().map(str::to_uppercase),
            flag.kind.word(),
        );
        rows.entry(key).or_default().push(flag);
    }
    rows
}

fn name(inventory: &Inventory, outfall: usize) -> String {
    let key = &inventory.structures[outfall].key;
    format!("{}/{key}", inventory.layer_name(key.layer))
}

/// How rows stand, in words that change only where something that matters does.
fn standing(flags: &[&Flag]) -> String {
    let words = flags.iter().map(|f| {
        let category = f.category.as_ref().map_or_else(String::new, |c| format!(", category {c}"));
        let cycle = f.cycle.map_or_else(String::new, |c| format!(", cycle {c}"));
        let permit = f.permit.word();
        let due = f.follow.date().map_or_else(String::new, |d| format!(", {d}"));
        format!("{}{category}{cycle}, permit list: {permit}{due}", f.reached.word())
    });
    let mut words: Vec<String> = words.collect();
    words.sort();
    words.join("; ")
}

/// The differences from old to new, in the order of outfalls.
pub fn diff(old: (&Conditions, &Inventory), new: (&Conditions, &Inventory)) -> Vec<Change> {
    let (before, after) = (rows(old.0, old.1), rows(new.0, new.1));
    let mut changes = Vec::new();
    let change = |row: &Row, changed: Changed| Change {
        outfall: row.0.clone(),
        water: row.1.clone(),
        pollutant: row.2.clone(),
        kind: row.3,
        changed,
    };
    for (row, flags) in &before {
        match after.get(row) {
            None => changes.push(change(row, Changed::Removed)),
            Some(now) => {
                let (was, is) = (standing(flags), standing(now));
                if was != is {
                    changes.push(change(row, Changed::Altered(was, is)));
                }
            }
        }
    }
    changes.extend(after.keys().filter(|row| !before.contains_key(*row)).map(|row| change(row, Changed::Added)));
    let names = |c: &Conditions, i: &Inventory| -> Vec<String> { c.outfalls.iter().map(|o| name(i, o.outfall.at())).collect() };
    let (of_old, of_new) = (names(old.0, old.1), names(new.0, new.1));
    for (these, those, which) in [(&of_old, &of_new, "the old"), (&of_new, &of_old, "the new")] {
        for outfall in these.iter().filter(|o| !those.contains(o)) {
            changes.push(Change {
                outfall: outfall.clone(),
                water: String::new(),
                pollutant: None,
                kind: "outfall",
                changed: Changed::OutfallOnlyIn(which),
            });
        }
    }
    changes.sort();
    changes
}
