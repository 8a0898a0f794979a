//! Which fields tie land and laterals to the network: ids that are found elsewhere, and names.

use std::collections::BTreeSet;

use crate::inventory::normalised_id;
use crate::settings::Meaning;

use super::attributes::Draft;
use super::column::Column;
use super::look::Look;

/// The column of one layer whose values are ids of another, with the other's column and how many rows it ties.
///
/// Only plain references: at least three in ten rows, and the other column unique.
pub(super) fn reference(from: &Look, to: &Look) -> Option<(String, String, usize)> {
    let ids = |c: &Column| -> BTreeSet<String> { c.texts.keys().map(|t| normalised_id(t).to_owned()).collect() };
    let targets: Vec<(&Column, BTreeSet<String>)> = to
        .columns
        .iter()
        .filter(|c| !c.is_software() && c.is_id_like() && c.distinct() > 0.9 && c.filled > 2 && !c.says.has_any(&["edit", "date"]))
        .map(|c| (c, ids(c)))
        .collect();
    let mut best: Option<(String, String, usize)> = None;
    for own in from.columns.iter().filter(|c| !c.is_software() && c.is_id_like() && c.filled > 0) {
        // Small whole numbers meet by chance.
        let by_chance = own.numeric() > 0.9 && own.numbers.iter().all(|n| n.abs() < 100_000.0);
        if by_chance && (own.texts.len() < 30 || !own.says.has_any(&["id", "outlet", "node"])) {
            continue;
        }
        for (target, known) in &targets {
            let hits: usize = own.texts.iter().filter(|(t, _)| known.contains(normalised_id(t))).map(|(_, n)| n).sum();
            // Two or three values have to be found all, and be more than numbers.
            let few = own.texts.len() <= 2 && (hits < own.filled || own.numeric() > 0.5);
            if !few && hits * 10 >= own.filled * 3 && best.as_ref().is_none_or(|(_, _, most)| hits > *most) {
                best = Some((own.name.clone(), target.name.clone(), hits));
            }
        }
    }
    best
}

/// The name of a water.
pub(super) fn name(draft: &mut Draft) {
    let found = draft.look.columns.iter().find(|c| {
        let flat: String = c.name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        ["name", "gnisname", "fullname", "waterbodyname", "streamname"].contains(&flat.as_str()) && c.filled > 0 && c.numeric() < 0.5
    });
    if let Some(column) = found {
        draft.propose(Meaning::Name, column, "by its name", |_| {});
    }
}
