//! `headwall conditions`: which outfall is under which special condition, and what a new list changes.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use jiff::ZonedDateTime;
use jiff::civil::Date;

use crate::error::{Error, Result};
use crate::export::{conditions as rows, csv};
use crate::settings::Pattern;
use crate::town::{self, Town};
use crate::waters::{Changed, Concerns, Conditions, FlagKind, Reached, conditions, diff};

use super::trace::Format;
use super::{grouped, length, open, outward, put};

/// List the special conditions of every outfall: 303(d), TMDL, future TMDL, water-quality standards.
///
/// One row for each outfall, water, pollutant and kind, direct or downstream, with the list cycle and what it rests on.
/// What is not known is said, and never passed as clean.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct ConditionsCommand {
    #[command(subcommand)]
    what: Option<What>,
    /// The town's folder.
    #[arg(required = true)]
    folder: Option<PathBuf>,
    #[command(flatten)]
    filter: Filter,
    /// The date for which the question is asked, YYYY-MM-DD; today where absent.
    #[arg(long, value_name = "DATE")]
    as_of: Option<Date>,
    /// How to print it.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Write to this file.
    #[arg(long, short)]
    output: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// What a new list or TMDL changes, outfall by outfall.
    Diff {
        /// The old town: a folder, or FOLDER@N for its network version N.
        old: String,
        /// The new town: a folder, or FOLDER@N.
        new: String,
        /// The date for which the question is asked, YYYY-MM-DD; today where absent.
        #[arg(long, value_name = "DATE")]
        as_of: Option<Date>,
        /// How to print it.
        #[arg(long, value_enum, default_value = "table")]
        format: Format,
    },
}

/// Which rows.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which rows")]
struct Filter {
    /// Only this pollutant; * stands for any run of characters.
    #[arg(long, value_name = "PATTERN")]
    pollutant: Option<String>,
    /// Only this water, by the id or name of the unit.
    #[arg(long, value_name = "PATTERN")]
    water: Option<String>,
    /// Only this kind: 303d, tmdl, future_tmdl, water_quality_standards, …
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only this outfall.
    #[arg(long, value_name = "ID")]
    outfall: Option<String>,
}

impl Filter {
    fn apply(&self, town: &Town, all: &mut Conditions) -> Result<()> {
        if let Some(kind) = &self.kind
            && !FlagKind::ALL.iter().any(|k| k.word() == kind)
        {
            let known: Vec<&str> = FlagKind::ALL.iter().map(|k| k.word()).collect();
            return Err(Error::usage("there is no such kind").found(format!("\"{kind}\"")).expected(known.join(", ")));
        }
        let inventory = &town.basis.inventory;
        let fits = |pattern: &Option<String>, texts: &[Option<&str>]| {
            pattern.as_ref().is_none_or(|p| texts.iter().flatten().any(|t| Pattern(vec![p.clone()]).matches(t)))
        };
        if let Some(outfall) = &self.outfall {
            let wanted = crate::investigate::find_structure(inventory, outfall)?;
            all.outfalls.retain(|o| o.outfall == wanted);
        }
        for own in &mut all.outfalls {
            own.flags.retain(|f| {
                fits(&self.pollutant, &[f.pollutant.as_deref(), f.concern.as_ref().map(|c| c.0.as_str())])
                    && fits(&self.water, &[Some(&*f.water), f.water_name.as_deref()])
                    && self.kind.as_ref().is_none_or(|k| f.kind.word() == k)
            });
        }
        // Whoever asks for one thing is told of the outfalls that have it.
        if self.pollutant.is_some() || self.water.is_some() || self.kind.is_some() {
            all.outfalls.retain(|o| !o.flags.is_empty());
        }
        Ok(())
    }
}

fn today() -> Date {
    ZonedDateTime::now().date()
}

fn of_town(town: &Town, as_of: Date) -> Result<Conditions> {
    let basis = &town.basis;
    Ok(conditions(basis.ground(), &basis.waters, &basis.settings, &Concerns::embedded()?, as_of))
}

impl ConditionsCommand {
    pub fn run(self) -> Result<()> {
        if let Some(What::Diff { old, new, as_of, format }) = self.what {
            return run_diff(&old, &new, as_of.unwrap_or_else(today), format);
        }
        let Some(folder) = &self.folder else { return Err(Error::usage("no folder was given")) };
        let town = open(folder)?;
        let as_of = self.as_of.unwrap_or_else(today);
        let mut all = of_town(&town, as_of)?;
        self.filter.apply(&town, &mut all)?;
        let text = outward(&town, |out| match self.format {
            Format::Table => Ok(table(&town, &all, as_of)),
            Format::Csv => rows::csv(out, &all),
            Format::Geojson => Ok(format!("{}\n", rows::geojson(out, &all, as_of))),
            Format::Json => {
                let mut head = rows::head(out, &all, as_of);
                let own = all.outfalls.iter().map(|o| {
                    let mut said = rows::outfall(out, o);
                    said["outfall"] = town.basis.inventory.structures[o.outfall.at()].key.to_string().into();
                    said
                });
                head["by_outfall"] = own.collect();
                Ok(format!("{head:#}\n"))
            }
        })?;
        put(self.output.as_ref(), &text)
    }
}

fn table(town: &Town, all: &Conditions, as_of: Date) -> String {
    let inventory = &town.basis.inventory;
    let synthetic = if town.basis.settings.synthetic { "  (SYNTHETIC DATA)" } else { "" };
    let mut out = format!("{}{synthetic}\nnetwork {}   as of {as_of}\n", town.basis.settings.name, town.version);
    let count = all.flags().count();
    out.push_str(&format!("{} outfalls, {} rows\n", grouped(all.outfalls.len()), grouped(count)));
    all.notes.iter().for_each(|note| out.push_str(&format!("note: {note}\n")));
    for own in &all.outfalls {
        let structure = &inventory.structures[own.outfall.at()];
        out.push_str(&format!("\n{} ({})\n", structure.key, own.kind.word().replace('_', " ")));
        for (_, entry) in &own.way.entries {
            let water = &inventory.waters[entry.near.water];
            let name = water.name.as_deref().map_or_else(|| water.key.to_string(), |name| format!("{name} ({})", water.key));
            out.push_str(&format!("  into {name}, by {}, {} away\n", entry.basis.word(), length(town, entry.near.away_m)));
        }
        for f in &own.flags {
            let how = match f.reached {
                Reached::Downstream(m) => format!("downstream {}", length(town, m)),
                other => other.word().to_owned(),
            };
            let name = f.water_name.as_deref().map_or_else(|| f.water.to_string(), |n| format!("{n} ({})", f.water));
            let cycle = f.cycle.map_or_else(String::new, |c| format!(", cycle {c}"));
            let mark = if f.kind.is_special_condition() { '*' } else { ' ' };
            out.push_str(&format!(
                "  {mark} {}: {} in {name}, {how}{cycle}\n      {}\n      permit's list: {}; {}\n",
                f.kind.meaning(),
                f.pollutant.as_deref().unwrap_or("pollutant not stated"),
                f.basis,
                f.permit.word(),
                f.follow.words()
            ));
            f.remarks.iter().for_each(|r| out.push_str(&format!("      {r}\n")));
        }
        if own.flags.is_empty() {
            out.push_str("    no row; that is not the same as clean where anything below is not known\n");
        }
        own.unknown.iter().for_each(|u| out.push_str(&format!("  ? {u}\n")));
    }
    out.push_str("\n* one of the law's four special conditions\n");
    out
}

/// A town at its newest version, or at the one after `@`.
fn open_named(text: &str) -> Result<Town> {
    if let Some((folder, number)) = text.rsplit_once('@')
        && let Ok(number) = number.parse()
        && !Path::new(text).exists()
    {
        return town::open_import(Path::new(folder), number);
    }
    open(Path::new(text))
}

fn run_diff(old: &str, new: &str, as_of: Date, format: Format) -> Result<()> {
    let (old, new) = (open_named(old)?, open_named(new)?);
    let (before, after) = (of_town(&old, as_of)?, of_town(&new, as_of)?);
    let changes = diff((&before, &old.basis.inventory), (&after, &new.basis.inventory));
    let properties: Vec<_> = changes.iter().map(rows::change).collect();
    let text = match format {
        Format::Csv => csv::rows(&["outfall", "change", "water", "pollutant", "kind", "was", "is"], &properties)?,
        Format::Json => format!(
            "{:#}\n",
            serde_json::json!({ "old": old.version.to_string(), "new": new.version.to_string(), "as_of": as_of.to_string(), "changes": properties })
        ),
        Format::Geojson => return Err(Error::usage("a difference has no shape").hint("use --format table, csv or json")),
        Format::Table => {
            let mut out = format!("from network {} to {}, as of {as_of}: {} changes\n", old.version, new.version, grouped(changes.len()));
            for c in &changes {
                let pollutant = c.pollutant.as_deref().unwrap_or("pollutant not stated");
                out.push_str(&match &c.changed {
                    Changed::Added => format!("+ {}: {} {} in {}\n", c.outfall, c.kind, pollutant, c.water),
                    Changed::Removed => format!("- {}: {} {} in {}\n", c.outfall, c.kind, pollutant, c.water),
                    Changed::Altered(was, is) => format!("~ {}: {} {} in {}: {was} -> {is}\n", c.outfall, c.kind, pollutant, c.water),
                    Changed::OutfallOnlyIn(which) => format!("! {}: this outfall is only in {which}\n", c.outfall),
                });
            }
            out
        }
    };
    put(None, &text)
}
