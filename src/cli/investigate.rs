//! `headwall investigate`: a reported discharge in, the ranked properties upstream of it out.

use std::path::PathBuf;

use clap::Args;
use jiff::ZonedDateTime;
use jiff::civil::Date;

use crate::error::{Error, Result};
use crate::export::{self, LEADS, csv, geojson};
use crate::investigate::{Investigation, Report, investigate, investigate_water, spill_lines};
use crate::rules::Leaning;
use crate::settings::Length;
use crate::town::Town;

use super::place::PlaceArgs;
use super::trace::{Format, OptionArgs};
use super::{answer, grouped, length, minutes, open, outward, put};

/// Rank the properties that a reported discharge may come from.
///
/// Traces upstream from where it was seen and lists every property that is tied to the way: by a mapped lateral, by the ground that
/// drains to an inlet, or by lying along a conduit; with reasons for and against. The list holds leads to inspect, not findings.
#[derive(Debug, Args)]
pub(super) struct InvestigateCommand {
    /// The town's folder.
    folder: PathBuf,
    #[command(flatten)]
    place: PlaceArgs,
    /// What was seen, in words: suds, sewage, fuel, … Several may be given.
    #[arg(long, value_name = "WORDS", num_args = 1.., value_delimiter = ',')]
    pollutant: Vec<String>,
    /// The date for which the question is asked, YYYY-MM-DD; today where absent.
    #[arg(long, value_name = "DATE")]
    as_of: Option<Date>,
    /// Say whom to call in a spill, whatever was seen.
    #[arg(long)]
    spill: bool,
    #[command(flatten)]
    options: OptionArgs,
    /// How far up a water to go, such as "5000 ft"; the town's setting where absent.
    #[arg(long, value_name = "LENGTH", requires = "water", value_parser = super::place::parse_length)]
    upstream_limit: Option<Length>,
    /// How to print it.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Write to this file.
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// How many candidates the table shows.
    #[arg(long, default_value_t = 15)]
    top: usize,
}

impl InvestigateCommand {
    pub fn run(self) -> Result<()> {
        let town = open(&self.folder)?;
        let as_of = self.as_of.unwrap_or_else(|| ZonedDateTime::now().date());
        if let Some(report) = self.place.water_report(&town, &self.pollutant, self.upstream_limit)? {
            let found = investigate_water(&town.basis, &report, &self.options.options(&town)?, as_of)?;
            return put(self.output.as_ref(), &super::water::text(&town, &found, self.format, self.top)?);
        }
        let report = Report {
            at: self.place.whereabouts(&town)?,
            on: self.place.on.clone(),
            pollutants: self.pollutant.clone(),
            search_radius_m: self.place.search_radius.map(Length::metres),
        };
        let as_of = self.as_of.unwrap_or_else(|| ZonedDateTime::now().date());
        let mut found = investigate(&town.basis, &report, &self.options.options(&town)?, as_of)?;
        if self.spill {
            found.spill = spill_lines(&town.basis, as_of)?;
            if found.spill.is_empty() {
                eprintln!(
                    "note: the town file names no law, so whom to call in a spill is not known here; in danger call emergency dispatch"
                );
            }
        }
        let originals = |table: &str, layer: &str, id: &str| town.originals(table, layer, id);
        let text = outward(&town, |out| match self.format {
            Format::Table => Ok(table(&town, &found, self.top)),
            Format::Csv => csv::candidates(out, &found, &originals),
            Format::Geojson => Ok(format!("{}\n", geojson::investigation(out, &found, &originals)?)),
            Format::Json => {
                let rows = found
                    .candidates
                    .ranked
                    .iter()
                    .map(|c| geojson::candidate_properties(out, c, &originals).map(serde_json::Value::Object));
                let rows: Vec<serde_json::Value> = rows.collect::<Result<_>>()?;
                let mut head = export::investigation_head(out, &found);
                let object = head.as_object_mut().ok_or_else(|| Error::machine("the answer has no head"))?;
                object.insert("ranked".to_owned(), rows.into());
                Ok(format!("{head:#}\n"))
            }
        })?;
        put(self.output.as_ref(), &text)
    }
}

/// The special conditions of the outfalls below, each in a line, and whether what was seen is one of their pollutants.
fn special_conditions(town: &Town, found: &Investigation) -> String {
    let mut out = String::new();
    if found.conditions.is_empty() {
        return "special conditions: not known, since no outfall is known below\n".to_owned();
    }
    for below in &found.conditions {
        let outfall = &town.basis.inventory.structures[below.outfall.outfall.at()].key;
        if below.outfall.flags.is_empty() {
            let why = if below.outfall.unknown.is_empty() { "none on record" } else { "none on record, but not all is known" };
            out.push_str(&format!("special conditions of {outfall}: {why}\n"));
        }
        for (flag, reported) in below.outfall.flags.iter().zip(&below.reported) {
            let seen = match reported {
                Some(true) => "; what was seen points to this pollutant",
                Some(false) => "; what was seen does not point to it",
                None => "",
            };
            let name = flag.water_name.as_deref().unwrap_or(&flag.water);
            let pollutant = flag.pollutant.as_deref().unwrap_or("pollutant not stated");
            out.push_str(&format!(
                "special conditions of {outfall}: {}: {pollutant} in {name} ({}){seen}\n",
                flag.kind.meaning(),
                flag.reached.word()
            ));
        }
        below.outfall.unknown.iter().for_each(|u| out.push_str(&format!("  ? {u}\n")));
    }
    out
}

fn table(town: &Town, found: &Investigation, top: usize) -> String {
    let inventory = &town.basis.inventory;
    let mut out = answer::head(town, &found.place_name);
    let seen: Vec<&str> = found.signatures.iter().map(|s| s.words.as_str()).collect();
    out.push_str(&format!("seen: {}   as of {}\n", seen.join(", "), found.as_of));
    if found.moved_m > 0.0 {
        out.push_str(&format!("the coordinate lies {} from that place\n", length(town, found.moved_m)));
    }
    out.push_str(&format!(
        "upstream: {} conduits, {}; {} structures; {} parcels within {}\n",
        grouped(found.trace.conduits.len()),
        length(town, found.trace.length_m()),
        grouped(found.trace.structures.len()),
        grouped(found.trace.parcels.len()),
        length(town, town.basis.links.parcel_distance_m)
    ));
    out.push_str(&special_conditions(town, found));
    out.push_str(&answer::cautions(town, &found.trace));
    if !found.issues.is_empty() {
        out.push_str(&format!("data issues on the way: {} (in JSON and GeoJSON)\n", grouped(found.issues.len())));
    }
    for absent in &found.candidates.absent {
        out.push_str(&format!("not weighed: {absent}\n"));
    }
    out.push_str(&export::law::investigation_text(found));
    out.push_str(&format!("\n{} candidates; {LEADS}\n", grouped(found.candidates.ranked.len())));
    if !found.candidates.left_out.is_empty() {
        out.push_str(&format!("({} road, rail or water parcels are land, not candidates)\n", found.candidates.left_out.len()));
    }
    if found.candidates.ranked.is_empty() {
        out.push_str("no property is tied to the way; that says nothing about properties that no map shows\n");
    }
    for candidate in found.candidates.ranked.iter().take(top) {
        let parcel = &inventory.parcels[candidate.parcel.at()];
        let address = parcel.address.as_deref().unwrap_or("no address");
        out.push_str(&format!(
            "\n{:>4}  {:8}  {}  {address}\n      by {}, {} along the pipe, {} of water, {}\n",
            candidate.rank,
            candidate.evidence.word(),
            parcel.key,
            candidate.tie.tier.word().replace('_', " "),
            length(town, candidate.tie.distance_m),
            minutes(candidate.tie.travel),
            candidate.tie.certainty.word()
        ));
        for reason in &candidate.reasons {
            let sign = match reason.leaning {
                Leaning::For => '+',
                Leaning::Against => '-',
                Leaning::Neither => ' ',
            };
            // What rests on the law says where it stands.
            let law = town.basis.law.law.as_ref().filter(|law| reason.source.text.starts_with(&law.title));
            let citation = law.map(|_| format!(" [{}]", reason.source)).unwrap_or_default();
            out.push_str(&format!("      {sign} {}{citation}\n", reason.text));
        }
    }
    if found.candidates.ranked.len() > top {
        out.push_str(&format!("\n… and {} more: --top N, or --format csv, json, geojson\n", found.candidates.ranked.len() - top));
    }
    if !found.candidates.other_explanations.is_empty() {
        out.push_str("\nit may also be\n");
        for other in &found.candidates.other_explanations {
            out.push_str(&format!("  - {}: {}\n", other.hypothesis.words, other.hypothesis.check));
        }
    }
    out
}
