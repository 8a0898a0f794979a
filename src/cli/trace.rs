//! `headwall trace`: what lies upstream or downstream of a place.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::error::{Error, Result};
use crate::export::{self, csv, geojson};
use crate::inventory::{OutfallKind, Status, StructureKind};
use crate::investigate::{Report, find_conduit, find_structure, investigate_water, place_name, place_of};
use crate::settings::Length;
use crate::town::Town;
use crate::trace::{Trace, TraceOptions, WaterState, Way, trace};
use crate::waters;

use super::place::{PlaceArgs, parse_length};
use super::{answer, grouped, length, minutes, open, outward, put};

/// List what lies upstream or downstream of a place: conduits, structures, parcels, lengths.
///
/// Every conduit whose water can reach the place is in the answer, once. What makes it doubtful is said with it.
#[derive(Debug, Args)]
pub(super) struct TraceCommand {
    /// Up or down.
    #[arg(value_enum)]
    way: WayArg,
    /// The town's folder.
    folder: PathBuf,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    options: OptionArgs,
    /// How to print it.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Write to this file.
    #[arg(long, short)]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum WayArg {
    /// Against the flow.
    Up,
    /// With the flow.
    Down,
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Format {
    /// For people.
    Table,
    /// For maps: RFC 7946.
    Geojson,
    /// For spreadsheets.
    Csv,
    /// For programs, without shapes.
    Json,
}

/// What a trace enters and where it stops.
#[derive(Debug, Args)]
#[command(next_help_heading = "What the trace enters")]
pub(super) struct OptionArgs {
    /// Enter combined conduits, too; sanitary ones are never entered.
    #[arg(long)]
    combined: bool,
    /// Enter conduits of this status, too: abandoned, proposed, removed, unknown.
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    status: Vec<String>,
    /// Enter only conduits of this owner.
    #[arg(long, value_name = "OWNER")]
    owner: Vec<String>,
    /// Do not go beyond this structure.
    #[arg(long, value_name = "STRUCTURE")]
    stop_at: Vec<String>,
    /// Do not enter this conduit.
    #[arg(long, value_name = "CONDUIT")]
    without: Vec<String>,
    /// Do not go farther along the pipe than this, such as "1000 ft".
    #[arg(long, value_name = "LENGTH", value_parser = parse_length)]
    max_distance: Option<Length>,
    /// Go over gaps up to the near-miss limit; what lies beyond is possible.
    #[arg(long)]
    bridge_gaps: bool,
    /// The flow in the drains: overflows known to lie above the invert carry in wet weather only.
    #[arg(long, value_enum, default_value = "dry")]
    weather: WaterArg,
}

/// The flow in the drains.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum WaterArg {
    /// Dry weather: what is known to lie above the invert carries nothing.
    Dry,
    /// Wet weather: overflows, weirs and reliefs carry, too.
    Wet,
}

impl WaterArg {
    /// The state that is meant.
    pub fn state(self) -> WaterState {
        match self {
            WaterArg::Dry => WaterState::Dry,
            WaterArg::Wet => WaterState::Wet,
        }
    }
}

/// Reads statuses by their words.
pub(super) fn statuses(words: &[String]) -> Result<BTreeSet<Status>> {
    let status = |word: &String| {
        Status::from_word(word.trim()).ok_or_else(|| {
            let known: Vec<&str> = Status::ALL.iter().map(|s| s.word()).collect();
            Error::usage("there is no such status").found(format!("\"{word}\"")).expected(known.join(", "))
        })
    };
    words.iter().map(status).collect()
}

impl OptionArgs {
    /// The options of the trace.
    pub fn options(&self, town: &Town) -> Result<TraceOptions> {
        let inventory = &town.basis.inventory;
        Ok(TraceOptions {
            combined: self.combined,
            statuses: statuses(&self.status)?,
            owners: self.owner.clone(),
            stop_structures: self.stop_at.iter().map(|id| find_structure(inventory, id)).collect::<Result<_>>()?,
            stop_conduits: self.without.iter().map(|id| find_conduit(inventory, id)).collect::<Result<_>>()?,
            max_distance_m: self.max_distance.map(Length::metres),
            bridge_gaps: self.bridge_gaps,
            water: self.weather.state(),
        })
    }
}

impl TraceCommand {
    pub fn run(self) -> Result<()> {
        let town = open(&self.folder)?;
        if self.place.water.is_some() && matches!(self.way, WayArg::Down) {
            return Err(Error::usage("--water leads up").hint("use trace up, or conditions for what lies downstream"));
        }
        if let Some(report) = self.place.water_report(&town, &[], self.options.max_distance)? {
            let options = TraceOptions { max_distance_m: None, ..self.options.options(&town)? };
            let as_of = jiff::ZonedDateTime::now().date();
            let found = investigate_water(&town.basis, &report, &options, as_of)?;
            return put(self.output.as_ref(), &super::water::text(&town, &found, self.format, 0)?);
        }
        let report = Report {
            at: self.place.whereabouts(&town)?,
            on: self.place.on.clone(),
            pollutants: Vec::new(),
            search_radius_m: self.place.search_radius.map(Length::metres),
        };
        let way = match self.way {
            WayArg::Up => Way::Up,
            WayArg::Down => Way::Down,
        };
        let (place, _) = place_of(&town.basis, &report)?;
        let found = trace(town.basis.ground(), place, way, &self.options.options(&town)?)?;
        let name = place_name(&town.basis, place);
        let text = outward(&town, |out| match self.format {
            Format::Table => Ok(table(&town, &found, &name)),
            Format::Csv => csv::trace(out, &found),
            Format::Json => Ok(format!("{:#}\n", export::trace_head(out, &found, &name))),
            Format::Geojson => Ok(format!("{}\n", geojson::trace(out, &found, &name, &|t, l, id| town.originals(t, l, id))?)),
        })?;
        put(self.output.as_ref(), &text)
    }
}

/// The waters by which the conduits end, each once, with the nearest distance.
fn receiving_waters(town: &Town, found: &Trace) -> String {
    let within_m = town.basis.settings.receiving_distance.metres();
    let mut named: Vec<(usize, String)> = Vec::new();
    for receiving in waters::receiving(town.basis.ground(), &town.basis.waters, found) {
        let water = &town.basis.inventory.waters[receiving.water];
        let name = water.name.as_deref().map_or_else(|| water.key.to_string(), |name| format!("{name} ({})", water.key));
        if !named.iter().any(|(known, _)| *known == receiving.water) {
            named.push((receiving.water, format!("{name}, {} away", length(town, receiving.away_m))));
        }
    }
    if town.basis.inventory.waters.is_empty() {
        return "receiving waters: no waters are on the map\n".to_owned();
    }
    match named.as_slice() {
        [] => format!("receiving waters: none on the map within {} of where the conduits end\n", length(town, within_m)),
        some => format!("receiving waters: {}\n", some.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ")),
    }
}

fn table(town: &Town, found: &Trace, place: &str) -> String {
    let inventory = &town.basis.inventory;
    let mut out = answer::head(town, place);
    out.push_str(&format!(
        "{}: {} conduits, {}; {} structures; {} parcels within {}\n",
        found.way.word(),
        grouped(found.conduits.len()),
        length(town, found.length_m()),
        grouped(found.structures.len()),
        grouped(found.parcels.len()),
        length(town, town.basis.links.parcel_distance_m)
    ));
    if found.way == Way::Down {
        let outfalls: Vec<String> = found
            .structures
            .iter()
            .map(|s| &inventory.structures[s.at()])
            .filter(|s| s.kind == StructureKind::Outfall)
            .map(|s| format!("{} ({})", s.key, s.outfall_kind.unwrap_or(OutfallKind::Unknown).word().replace('_', " ")))
            .collect();
        out.push_str(&match outfalls.as_slice() {
            [] => "outfalls: it reaches no outfall on the map\n".to_owned(),
            some => format!("outfalls: {}\n", some.join(", ")),
        });
        out.push_str(&receiving_waters(town, found));
    }
    out.push_str(&answer::cautions(town, found));
    out.push_str("\n  distance  certainty  length    water takes       conduit\n");
    let mut by_distance: Vec<_> = found.conduits.iter().collect();
    by_distance.sort_by(|a, b| a.distance_m.total_cmp(&b.distance_m).then(a.conduit.cmp(&b.conduit)));
    for traced in by_distance {
        let conduit = &inventory.conduits[traced.conduit.at()];
        out.push_str(&format!(
            "{:>10}  {:9}  {:>8}  {:16}  {} ({})\n",
            length(town, traced.distance_m),
            traced.certainty.word(),
            length(town, traced.length_um as f64 / 1e6),
            minutes(traced.travel),
            conduit.key,
            conduit.kind
        ));
    }
    out
}
