//! How is an answer shown on a terminal? Cautions in words, grouped, with what each would cut off or add.

use std::collections::BTreeMap;

use crate::town::Town;
use crate::trace::{Caution, CautionKind, Effect, Trace};

use super::length;

/// The lines that head every answer.
pub(super) fn head(town: &Town, place: &str) -> String {
    let settings = &town.basis.settings;
    let synthetic = if settings.synthetic { "  (SYNTHETIC DATA)" } else { "" };
    format!("{}{synthetic}\nnetwork {}\nplace: {place}\n", settings.name, town.version)
}

fn effect(town: &Town, word: &str, effect: Option<Effect>) -> Option<String> {
    let effect = effect?;
    let size = length(town, effect.length_um as f64 / 1e6);
    Some(match effect.conduits {
        0 => format!("{word} nothing"),
        1 => format!("{word} 1 conduit, {size}, {} parcels", effect.parcels),
        n => format!("{word} {n} conduits, {size}, {} parcels", effect.parcels),
    })
}

/// A line for each caution; of a kind with many, the weightiest.
pub(super) fn cautions(town: &Town, trace: &Trace) -> String {
    const MOST: usize = 5;
    if trace.cautions.is_empty() {
        return "cautions: none\n".to_owned();
    }
    let mut by_kind: BTreeMap<CautionKind, Vec<&Caution>> = BTreeMap::new();
    for caution in &trace.cautions {
        by_kind.entry(caution.kind).or_default().push(caution);
    }
    let mut out = String::from("cautions:\n");
    for (kind, all) in by_kind {
        let places: usize = all.iter().map(|c| c.at.len()).sum();
        for caution in all.iter().take(MOST) {
            let effects: Vec<String> = [effect(town, "if wrong, cuts off", caution.cuts_off), effect(town, "if so, adds", caution.adds)]
                .into_iter()
                .flatten()
                .collect();
            let effects = if effects.is_empty() { String::new() } else { format!(" [{}]", effects.join("; ")) };
            out.push_str(&format!("  {}: {}{effects}\n", kind.word().replace('_', " "), caution.message));
        }
        if all.len() > MOST {
            out.push_str(&format!("  {}: … at {places} places in all; JSON and GeoJSON have every one\n", kind.word().replace('_', " ")));
        }
    }
    out
}
