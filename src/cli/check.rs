//! `headwall check`: what is doubtful in the maps, by its effect, and which repairs would gain what.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;

use crate::data_issue::Severity;
use crate::error::{Error, Result};
use crate::export::repairs;
use crate::proposals::{self, Assignment, Gain, Proposal, Touched};
use crate::town::Town;

use super::trace::Format;
use super::{grouped, length, open, outward, put};

/// List what is doubtful in the maps, the weightiest first, or the repairs that they suggest.
///
/// Each issue says what it touches: the conduits that it names, and what drains through them. With --proposals: for each run that
/// reaches no outfall the cheapest set of changes by which it drains, with its evidence and what it gains. Nothing is repaired here;
/// headwall correct records what somebody accepts. The exit status is 1 where an issue of severity error stands.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The town's folder.
    folder: PathBuf,
    /// List repairs in place of issues.
    #[arg(long)]
    proposals: bool,
    /// How to print it; proposals have no csv.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Write to this file.
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// How many the table shows.
    #[arg(long, default_value_t = 40)]
    top: usize,
}

impl Check {
    /// Prints, and gives the exit status.
    pub fn run(self) -> Result<u8> {
        let town = open(&self.folder)?;
        let text = if self.proposals { self.proposals_text(&town)? } else { self.issues_text(&town)? };
        put(self.output.as_ref(), &text)?;
        Ok(u8::from(town.basis.issues.iter().any(|issue| issue.code.severity() == Severity::Error)))
    }

    fn issues_text(&self, town: &Town) -> Result<String> {
        let issues = proposals::touched(town.basis.ground(), &town.basis.issues);
        outward(town, |out| match self.format {
            Format::Table => Ok(issues_table(town, &issues, self.top)),
            Format::Csv => repairs::issues_csv(out, &issues),
            Format::Json => Ok(format!("{:#}\n", repairs::issues(out, &issues))),
            Format::Geojson => Ok(format!("{}\n", repairs::issues_geojson(out, &issues))),
        })
    }

    fn proposals_text(&self, town: &Town) -> Result<String> {
        let found = town.proposals();
        let assigned = proposals::assignments(town.basis.ground());
        outward(town, |out| match self.format {
            Format::Table => Ok(proposals_table(town, &found, &assigned, self.top)),
            Format::Csv => Err(Error::usage("proposals have no csv").hint("take --format json or geojson")),
            Format::Json => Ok(format!("{:#}\n", repairs::proposals(out, &found, &assigned))),
            Format::Geojson => Ok(format!("{}\n", repairs::proposals_geojson(out, &found))),
        })
    }
}

/// `3 conduits, 640 ft, 5 parcels`.
pub(super) fn gain(town: &Town, gain: &Gain) -> String {
    let conduits = if gain.conduits == 1 { "1 conduit".to_owned() } else { format!("{} conduits", grouped(gain.conduits)) };
    format!("{conduits}, {}, {} parcels", length(town, gain.length_um as f64 / 1e6), grouped(gain.parcels))
}

fn issues_table(town: &Town, issues: &[Touched], top: usize) -> String {
    let mut out = format!("{}\nnetwork {}\n", town.basis.settings.name, town.version);
    if issues.is_empty() {
        out.push_str("no data issues\n");
        return out;
    }
    let count = |severity| issues.iter().filter(|t| t.issue.code.severity() == severity).count();
    out.push_str(&format!(
        "data issues: {} ({} errors, {} warnings, {} notes), the weightiest first\n",
        grouped(issues.len()),
        grouped(count(Severity::Error)),
        grouped(count(Severity::Warning)),
        grouped(count(Severity::Note))
    ));
    for touched in issues.iter().take(top) {
        let issue = touched.issue;
        out.push_str(&format!("\n{:8} {}  {}\n         {}\n", issue.code.severity().word(), issue.code, issue.layer, issue.message));
        if touched.conduits > 0 || touched.hangs.parcels > 0 {
            out.push_str(&format!("         touches {} conduits; on it hang {}\n", touched.conduits, gain(town, &touched.hangs)));
        }
    }
    if issues.len() > top {
        out.push_str(&format!("\n… and {} more: --top N, or --format csv, json, geojson\n", grouped(issues.len() - top)));
    }
    out
}

fn proposals_table(town: &Town, found: &[Proposal], assigned: &[Assignment], top: usize) -> String {
    let inventory = &town.basis.inventory;
    let mut out = format!("{}\nnetwork {}\n", town.basis.settings.name, town.version);
    out.push_str(&format!("reaches an outfall now: {}\n", gain(town, &proposals::reach(town.basis.ground()))));
    out.push_str(&format!(
        "{} proposals, by what they gain; nothing is repaired until somebody records it (headwall correct)\n",
        found.len()
    ));
    for (at, proposal) in found.iter().take(top).enumerate() {
        out.push_str(&format!("\n{:>4}  {}  {}; gains {}", at + 1, proposal.id, proposal.evidence.words(), gain(town, &proposal.gain)));
        if proposal.clears > 0 {
            out.push_str(&format!("; clears {} steps of level", proposal.clears));
        }
        if let Some(after) = &proposal.after {
            out.push_str(&format!("; after {after}"));
        }
        out.push('\n');
        for change in &proposal.changes {
            out.push_str(&format!("      * {}\n", change.in_words()));
        }
        for reason in &proposal.reasons {
            out.push_str(&format!("        {reason}\n"));
        }
    }
    if found.len() > top {
        out.push_str(&format!("\n… and {} more: --top N, or --format json, geojson\n", found.len() - top));
    }
    if !assigned.is_empty() {
        out.push_str("\nthe town's own assignment of conduits to outfalls\n");
    }
    for assignment in assigned {
        let outfall = &inventory.structures[assignment.outfall.at()].key;
        let connected = if assignment.connected { "" } else { " (not connected)" };
        out.push_str(&format!(
            "  {outfall}{connected}: {} drain to it, {} are assigned to it, {} of the first name no outfall, {} name another, {} of the second do not drain to it\n",
            assignment.upstream.len(),
            assignment.assigned.len(),
            assignment.blank.len(),
            assignment.names_another.len(),
            assignment.not_upstream.len()
        ));
        if !assignment.blank.is_empty() {
            let ids: Vec<&str> = assignment.blank.iter().map(|c| inventory.conduits[c.at()].key.plain_id()).collect();
            out.push_str(&format!("    name none: {}\n", ids.join(", ")));
        }
        let mut others: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for conduit in assignment.names_another.iter().map(|c| &inventory.conduits[c.at()]) {
            others.entry(conduit.assigned_outfall.as_deref().unwrap_or_default()).or_default().push(conduit.key.plain_id());
        }
        for (other, ids) in others {
            out.push_str(&format!("    name {other}: {}\n", ids.join(", ")));
        }
    }
    out
}
