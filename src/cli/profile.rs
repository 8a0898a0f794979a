//! `headwall profile`: the longitudinal section between two places on one way down.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::error::Result;
use crate::export::profile as shape;
use crate::inventory::Inventory;
use crate::investigate::find_structure;
use crate::profile::{Profile, profile};
use crate::settings::LengthUnit;
use crate::town::Town;

use super::trace::OptionArgs;
use super::{length, minutes, open, outward, put};

/// Draw the longitudinal section between two structures: ground, inverts, crowns, sizes, slopes, drops.
///
/// Takes the surest way down, the shortest of equals, and says where others part from it. Levels of one vertical datum only: those of
/// another are named and left out. What is not known is shown as unknown; a slope that rises in the direction of flow is said in words.
#[derive(Debug, Args)]
pub(super) struct ProfileCommand {
    /// The town's folder.
    folder: PathBuf,
    /// The upper structure: ID, or LAYER/ID.
    #[arg(long, value_name = "ID")]
    from: String,
    /// The lower structure: ID, or LAYER/ID.
    #[arg(long, value_name = "ID")]
    to: String,
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
enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// For spreadsheets: one row a conduit.
    Csv,
    /// A drawing that fits Letter paper.
    Svg,
}

impl ProfileCommand {
    pub fn run(self) -> Result<()> {
        let town = open(&self.folder)?;
        let node = |inventory: &Inventory, id: &str| find_structure(inventory, id).map(|s| town.basis.network.node_of(s));
        let (from, to) = (node(&town.basis.inventory, &self.from)?, node(&town.basis.inventory, &self.to)?);
        let found = profile(town.basis.ground(), from, to, &self.options.options(&town)?)?;
        let text = outward(&town, |out| match self.format {
            Format::Table => Ok(table(&town, &found)),
            Format::Json => Ok(format!("{:#}\n", shape::json(out, &found))),
            Format::Csv => shape::csv_rows(out, &found),
            Format::Svg => Ok(shape::svg(out, &found, in_feet(&town))),
        })?;
        put(self.output.as_ref(), &text)
    }
}

fn in_feet(town: &Town) -> bool {
    matches!(town.basis.settings.units, LengthUnit::Foot | LengthUnit::SurveyFoot | LengthUnit::Inch)
}

fn table(town: &Town, found: &Profile) -> String {
    let (inventory, network) = (&town.basis.inventory, &town.basis.network);
    let (per_m, unit) = if in_feet(town) { (1.0 / 0.3048, "ft") } else { (1.0, "m") };
    let level = |m: Option<f64>| m.map_or_else(|| "unknown".to_owned(), |m| format!("{:.2}", m * per_m));
    let name = |at: usize| found.stations.get(at).map_or_else(String::new, |s| network.node_name(inventory, s.node));
    let synthetic = if town.basis.settings.synthetic { "  (SYNTHETIC DATA)" } else { "" };
    let mut out = format!(
        "{}{synthetic}\nnetwork {}\nprofile: {} down to {}: {}, {}, {} of water\nlevels: {unit} above {}\n",
        town.basis.settings.name,
        town.version,
        name(0),
        name(found.stations.len().saturating_sub(1)),
        length(town, found.path.length_m),
        found.path.certainty.word(),
        minutes(found.path.travel),
        found.datum.as_deref().unwrap_or("the town's unnamed datum")
    );
    if !found.partings.is_empty() {
        let at: Vec<String> = found.partings.iter().map(|n| network.node_name(inventory, *n)).collect();
        out.push_str(&format!("several ways lead there, parting at {}: this is the surest, then the shortest\n", at.join(", ")));
    }
    for left_out in &found.left_out {
        out.push_str(&format!("left out: {left_out}\n"));
    }
    out.push_str("\n        at    ground    invert     crown  what\n");
    let mut reaches = found.reaches.iter().peekable();
    for station in &found.stations {
        let drop = match station.drop_m {
            Some(drop_m) if drop_m > 0.005 => format!(", drops {:.2} {unit}", drop_m * per_m),
            Some(drop_m) if drop_m < -0.005 => format!(", CLIMBS {:.2} {unit}", -drop_m * per_m),
            _ => String::new(),
        };
        out.push_str(&format!(
            "{:>10}  {:>8}  {:>8}  {:>8}  {}{drop}\n",
            length(town, station.at_m),
            level(station.ground_m),
            level(station.invert_m),
            "",
            network.node_name(inventory, station.node)
        ));
        while let Some(reach) = reaches.next_if(|r| r.from_m <= station.at_m + 1e-9) {
            let id = reach.conduit.map_or_else(|| "a gap, bridged".to_owned(), |c| inventory.conduits[c.at()].key.to_string());
            let slope = match reach.slope_percent {
                Some(slope) if slope < 0.0 => format!("REVERSED SLOPE: rises {:.2} %", -slope),
                Some(slope) => format!("falls {slope:.2} %"),
                None => "slope unknown".to_owned(),
            };
            let size = match reach.height_m {
                Some(height_m) if in_feet(town) => format!("{:.0} in", height_m / 0.0254),
                Some(height_m) => format!("{:.0} mm", height_m * 1000.0),
                None => "size unknown".to_owned(),
            };
            let what = format!("{id}, {size}, {}, {slope}, {}", length(town, reach.to_m - reach.from_m), reach.certainty.word());
            let row = |end: &str, invert: Option<f64>, crown: Option<f64>, what: &str| {
                format!("{:>10}  {:>8}  {:>8}  {:>8}    {what}\n", end, "", level(invert), level(crown))
            };
            out.push_str(&row("upper end", reach.invert_up_m, reach.crown_up_m(), &what));
            out.push_str(&row("lower end", reach.invert_down_m, reach.crown_down_m(), ""));
        }
    }
    out
}
