//! How does a proposal read as a town file? Every line with why and three values beside it, every question as a comment.

use std::fmt::Write as _;
use std::path::Path;

use crate::settings::{FieldMapping, LengthUnit, Pattern};

use super::{LayerProposal, Proposal, Question};

/// The text of `headwall.toml`.
pub(super) fn town_file(proposal: &Proposal, name: &str, folder: &Path) -> String {
    let mut out = String::new();
    let questions = proposal.question_count();
    let _ = writeln!(
        out,
        "# Proposed by `headwall init`. Read it through: each line says why it stands there; docs/town-file.md explains the settings."
    );
    let _ = writeln!(
        out,
        "# Open questions: {questions}. Each is a comment that begins with QUESTION; answer it by adding the line, then take the comment away."
    );
    let _ = writeln!(out, "\nname = {}", quoted(name));
    if proposal.units == LengthUnit::Metre {
        let _ = writeln!(out, "units = \"m\"");
    } else {
        let _ = writeln!(out, "units = \"ft\"");
    }
    if let Some(scheme) = &proposal.land_use_scheme {
        let _ = writeln!(out, "land_use_scheme = {}", quoted(scheme));
    }
    if !proposal.snap.is_empty() {
        let _ = writeln!(out, "\n# What each snap tolerance would do with the ends of the conduits proposed below:");
        let _ = writeln!(
            out,
            "#   {:>9}  {:>11}  {:>6}  {:>11}  {:>15}",
            "tolerance", "ends joined", "groups", "false loops", "lines collapsed"
        );
        for step in &proposal.snap {
            let tolerance = format!("{} ft", step.tolerance_ft);
            let _ = writeln!(
                out,
                "#   {tolerance:>9}  {:>11}  {:>6}  {:>11}  {:>15}",
                step.joined, step.groups, step.false_loops, step.collapsed
            );
        }
        let _ = writeln!(out, "snap_tolerance = \"{} ft\"", proposal.tolerance_ft);
    }
    for (file, why) in &proposal.unread {
        let _ = writeln!(out, "\n# Not read: {}: {}", one_line(&shown(file, folder)), one_line(why));
    }
    for layer in &proposal.layers {
        write_layer(&mut out, layer, folder);
    }
    out
}

fn write_layer(out: &mut String, layer: &LayerProposal, folder: &Path) {
    let mut text = String::new();
    let _ = writeln!(text, "[[layer]]");
    let _ = writeln!(text, "name = {}", quoted(&layer.name));
    let role = layer.role.map_or("…", |r| r.word());
    let _ = writeln!(text, "# {} features; {}", layer.features, one_line(&layer.why));
    let _ = writeln!(text, "role = {}", quoted(role));
    let _ = writeln!(text, "path = {}", quoted(&shown(&layer.path, folder)));
    if let Some(inside) = &layer.inside {
        let _ = writeln!(text, "layer = {}", quoted(inside));
    }
    if let Some((crs, why)) = &layer.crs {
        let _ = writeln!(text, "# {}", one_line(why));
        let _ = writeln!(text, "crs = {}", quoted(crs));
    }
    if let Some((table, why)) = &layer.attributes_by_row {
        let _ = writeln!(text, "# {}", one_line(why));
        let _ = writeln!(text, "attributes_by_row = {}", quoted(&shown(table, folder)));
    }
    if let Some((field, values, why)) = &layer.pressurised {
        let _ = writeln!(text, "# {}", one_line(why));
        let _ = writeln!(text, "pressurised = {{ field = {}, values = {} }}", quoted(field), list(values));
    }
    for note in &layer.notes {
        let _ = writeln!(text, "# {}", one_line(note));
    }
    for question in &layer.questions {
        write_question(&mut text, &layer.name, question);
    }
    if !layer.fields.is_empty() {
        let _ = writeln!(text, "\n[layer.fields]");
        for (meaning, field) in &layer.fields {
            let samples: Vec<String> = field.samples.iter().map(|s| one_line(s)).collect();
            let _ = writeln!(text, "# {}; for example {}", one_line(&field.why), samples.join(" | "));
            let _ = writeln!(text, "{} = {}", meaning.word(), mapping_text(&field.mapping));
        }
    }
    if !layer.defaults.is_empty() {
        let _ = writeln!(text, "\n[layer.defaults]");
        for (meaning, (word, why)) in &layer.defaults {
            let _ = writeln!(text, "# {}", one_line(why));
            let _ = writeln!(text, "{} = {}", meaning.word(), quoted(word));
        }
    }
    out.push('\n');
    if layer.is_used() {
        out.push_str(&text);
        return;
    }
    // What is not used yet stands there to be taken in: without the sign before each line.
    let _ = writeln!(out, "# Not used: {}", one_line(&layer.why));
    for line in text.lines() {
        let _ = if line.starts_with('#') {
            writeln!(out, "{line}")
        } else {
            writeln!(out, "#{}{line}", if line.is_empty() { "" } else { " " })
        };
    }
}

fn write_question(text: &mut String, layer: &str, question: &Question) {
    let _ = writeln!(text, "# QUESTION: {layer}: {}", one_line(&question.asks));
    if !question.costs.is_empty() {
        let _ = writeln!(text, "#   COST: {}", one_line(&question.costs));
    }
    for choice in &question.choices {
        let choice = one_line(choice);
        let line = match question.meaning {
            Some(meaning) if choice.starts_with('{') => format!("fields.{} = {choice}", meaning.word()),
            Some(meaning) => format!("fields.{} = {}", meaning.word(), quoted(&choice)),
            None => choice,
        };
        let _ = writeln!(text, "#   {line}");
    }
}

fn mapping_text(mapping: &FieldMapping) -> String {
    let mut parts = vec![format!("field = {}", quoted(&mapping.field))];
    if let Some(unit) = mapping.unit {
        parts.push(format!("unit = \"{}\"", unit.word()));
    }
    if !mapping.missing.0.is_empty() {
        parts.push(format!("missing = {}", list(&mapping.missing.0)));
    }
    if !mapping.codes.is_empty() {
        let codes: Vec<String> = mapping.codes.iter().map(|(word, Pattern(codes))| format!("{word} = {}", list(codes))).collect();
        parts.push(format!("codes = {{ {} }}", codes.join(", ")));
    }
    if let Some(level) = &mapping.level {
        parts.push(format!("level = {}", quoted(level)));
    }
    if parts.len() == 1 { quoted(&mapping.field) } else { format!("{{ {} }}", parts.join(", ")) }
}

/// A path as it is written in the town file: from the folder where it lies inside, with `/` on every machine.
fn shown(path: &Path, folder: &Path) -> String {
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let path = path.strip_prefix(&folder).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/")
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn list(all: &[String]) -> String {
    if let [one] = all {
        return quoted(one);
    }
    format!("[{}]", all.iter().map(|a| quoted(a)).collect::<Vec<_>>().join(", "))
}

/// Comments stay on their line, whatever a file holds.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}
