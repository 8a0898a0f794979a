//! `headwall why-not`: proof that a property's water cannot come to a place, or the way by which it does.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::candidates::why_not::{Against, Fact, Overturn, PropertyTie, Verdict, WhyNot, why_not};
use crate::error::Result;
use crate::export::why_not as shape;
use crate::investigate::{find_parcel, find_structure};
use crate::rules::Doubt;
use crate::town::Town;
use crate::trace::TraceOptions;
use crate::trace::path::PathStep;

use super::trace::{WaterArg, statuses};
use super::{length, minutes, open, outward, put};

/// Show whether a property's water can come to a place, and if not, what on the map would have to be wrong.
///
/// Follows every tie of the property (service line, inlet area, frontage) down to where its water ends. Where the place is not reached,
/// says what blocks the way and the cheapest set of doubtful facts of the map that would overturn the exclusion: a gap that is none, a
/// direction that is the other way, an abandoned conduit that still carries, two ends that are joined, a combined or sanitary sewer in
/// between. The costs come from doubt_costs.toml and are assumed: they order facts, they are no probabilities.
/// The exit code is 0 either way; the first line says "reaches" or "cannot reach on this map".
#[derive(Debug, Args)]
pub(super) struct WhyNotCommand {
    /// The town's folder.
    folder: PathBuf,
    /// The property: ID, or LAYER/ID.
    #[arg(long, value_name = "KEY")]
    parcel: String,
    /// The place: a structure, ID or LAYER/ID; every outfall where absent.
    #[arg(long, value_name = "ID")]
    structure: Option<String>,
    /// Enter combined conduits, too.
    #[arg(long)]
    combined: bool,
    /// Take conduits of this status for live, too: abandoned, proposed, removed, unknown.
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    status: Vec<String>,
    /// Take gaps up to the near-miss limit for joined.
    #[arg(long)]
    bridge_gaps: bool,
    /// The flow in the drains: overflows known to lie above the invert carry in wet weather only.
    #[arg(long, value_enum, default_value = "dry")]
    water: WaterArg,
    /// How to print it.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Write to this file.
    #[arg(long, short)]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// For programs: every way as ids, without shapes.
    Json,
    /// For maps: RFC 7946.
    Geojson,
}

impl WhyNotCommand {
    pub fn run(self) -> Result<()> {
        let town = open(&self.folder)?;
        let inventory = &town.basis.inventory;
        let parcel = find_parcel(inventory, &self.parcel)?;
        let structure = self.structure.as_ref().map(|id| find_structure(inventory, id)).transpose()?;
        let options = TraceOptions {
            combined: self.combined,
            statuses: statuses(&self.status)?,
            bridge_gaps: self.bridge_gaps,
            water: self.water.state(),
            ..TraceOptions::default()
        };
        let found = why_not(town.basis.ground(), &town.basis.rules, parcel, structure, &options);
        let text = outward(&town, |out| {
            Ok(match self.format {
                Format::Table => table(&town, &found, &options),
                Format::Json => format!("{:#}\n", shape::json(out, &found, options.water)),
                Format::Geojson => format!("{}\n", shape::geojson(out, &found, options.water)),
            })
        })?;
        put(self.output.as_ref(), &text)
    }
}

fn first_line(town: &Town, found: &WhyNot) -> String {
    let inventory = &town.basis.inventory;
    let parcel = &inventory.parcels[found.parcel.at()].key;
    let id = |a: &Against| inventory.structures[a.structure.at()].key.to_string();
    let reached: Vec<String> = found.reached().map(id).collect();
    match (found.against.as_slice(), reached.as_slice()) {
        ([only], []) => format!("{parcel} cannot reach on this map: {}\n", id(only)),
        ([_], [one]) => format!("{parcel} reaches {one}\n"),
        (all, []) => format!("{parcel} cannot reach on this map: any of the {} outfalls\n", all.len()),
        (all, some) => format!("{parcel} reaches {} of {} outfalls: {}\n", some.len(), all.len(), some.join(", ")),
    }
}

fn table(town: &Town, found: &WhyNot, options: &TraceOptions) -> String {
    let inventory = &town.basis.inventory;
    let parcel = &inventory.parcels[found.parcel.at()];
    let mut out = first_line(town, found);
    let synthetic = if town.basis.settings.synthetic { "  (SYNTHETIC DATA)" } else { "" };
    out.push_str(&format!(
        "{}{synthetic}\nnetwork {}   {} weather\nproperty: {}, {}\n",
        town.basis.settings.name,
        town.version,
        options.water.word(),
        parcel.key,
        parcel.address.as_deref().unwrap_or("no address")
    ));
    out.push_str("\nwhere its water goes\n");
    if found.ties.is_empty() {
        out.push_str("  nothing on the map ties it to any drain; that says nothing about ties that no map shows\n");
    }
    for tie in &found.ties {
        out.push_str(&format!("  by {}\n", tie_words(town, tie)));
        if !tie.blocked_by.is_empty() {
            let words: Vec<&str> = tie.blocked_by.iter().map(|d| d.word()).collect();
            out.push_str(&format!("    which carries nothing on this map, unless {}\n", words.join(" and ").replace('_', " ")));
        }
        for way in &tie.ways {
            let end = town.basis.network.node_name(inventory, way.node);
            let what = if way.is_outfall { "to outfall" } else { "to an end that is no outfall:" };
            out.push_str(&format!(
                "    {what} {end}: {}, {}, {}\n      {}\n",
                way.path.certainty.word(),
                length(town, way.path.length_m),
                minutes(way.path.travel),
                steps_words(town, &way.path.steps)
            ));
        }
    }
    out.push_str("\nagainst\n");
    for against in &found.against {
        let id = &inventory.structures[against.structure.at()].key;
        match &against.verdict {
            Verdict::Reaches { tie, path } => out.push_str(&format!(
                "  {id}: reaches ({}), {}, {} of water, by {}\n    {}\n",
                path.certainty.word(),
                length(town, path.length_m),
                minutes(path.travel),
                found.ties.get(*tie).map_or_else(String::new, |t| tie_words(town, t)),
                steps_words(town, &path.steps)
            )),
            Verdict::CannotReach { block, overturn, standing } => {
                out.push_str(&format!("  {id}: cannot reach on this map\n    because {}\n", block.message));
                match overturn {
                    None => out.push_str("    no set of the doubtful facts that are looked for would lead it there\n"),
                    Some(overturn) => out.push_str(&overturn_words(town, overturn)),
                }
                out.push_str(&format!("    the exclusion is {}: {}\n", standing.id, standing.words));
            }
        }
    }
    out.push_str(&format!("\n{}\n", shape::ON_THIS_MAP));
    out
}

fn overturn_words(town: &Town, overturn: &Overturn) -> String {
    let cost = |milli: u64| format!("{:.1}", milli as f64 / 1000.0);
    let mut out = format!("    the least that would have to be wrong (cost {}):\n", cost(overturn.cost_milli));
    for fact in &overturn.facts {
        out.push_str(&format!("      - {} (cost {})\n", fact_words(town, fact), cost(fact.cost_milli)));
    }
    out
}

fn fact_words(town: &Town, fact: &Fact) -> String {
    let (inventory, network) = (&town.basis.inventory, &town.basis.network);
    let words = &town.basis.rules.doubts().cost(fact.doubt).words;
    let conduit = fact.conduit.map(|c| inventory.conduits[c.at()].key.to_string());
    let away = fact.length_m.map(|m| length(town, m)).unwrap_or_default();
    match (fact.doubt, conduit, fact.between) {
        (Doubt::UnmappedConnection, Some(conduit), _) => format!("{conduit}, {away} away: {words}"),
        (_, Some(conduit), _) => format!("{conduit}: {words}"),
        (_, None, Some((a, b))) => {
            format!("{} and {}, {away} apart: {words}", network.node_name(inventory, a), network.node_name(inventory, b))
        }
        _ => words.clone(),
    }
}

fn tie_words(town: &Town, tie: &PropertyTie) -> String {
    let inventory = &town.basis.inventory;
    let tier = tie.tier.word().replace('_', " ");
    let conduit = tie.conduit.map_or_else(String::new, |c| inventory.conduits[c.at()].key.to_string());
    match (tie.lateral, tie.inlet) {
        (Some(lateral), _) => format!("lateral {} into {conduit}", inventory.laterals[lateral.at()].key),
        (_, Some(inlet)) => format!("{tier}, inlet {}, {} away", inventory.structures[inlet.at()].key, length(town, tie.away_m)),
        _ => format!("{tier} on {conduit}, {} away", length(town, tie.away_m)),
    }
}

/// `SL-1 > MH-2 > SL-3 > OF-4`; the pieces of one conduit stand once.
fn steps_words(town: &Town, steps: &[PathStep]) -> String {
    let (inventory, network) = (&town.basis.inventory, &town.basis.network);
    let mut words: Vec<String> = Vec::new();
    let mut last = None;
    for step in steps {
        let conduit = step.piece.map(|p| network.piece(p).conduit);
        if conduit.is_some() && conduit == last {
            words.pop();
        } else {
            words.push(conduit.map_or_else(|| "over a gap".to_owned(), |c| inventory.conduits[c.at()].key.to_string()));
        }
        last = conduit;
        words.push(network.node_name(inventory, step.to));
    }
    if words.is_empty() { "at the place itself".to_owned() } else { words.join(" > ") }
}
