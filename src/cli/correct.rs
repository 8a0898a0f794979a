//! `headwall correct`: what people know better than the maps, recorded and laid over them.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;

use crate::crs::Crs;
use crate::error::{Error, Result};
use crate::evidence::{Added, Change, ConduitEnd, FeatureName, Surveyed};
use crate::export::repairs;
use crate::formats::geopackage;
use crate::inventory::{ConduitKind, Key, Material, Status, StructureKind, System};
use crate::investigate::{find_conduit, find_structure};
use crate::records::NewCorrection;
use crate::rules::RepairLimit;
use crate::settings::Length;
use crate::town::{self, Town};

use super::check::gain;
use super::place::parse_length;
use super::{open, outward, put};

/// Record what somebody knows better than the maps; it is laid over them, and the source files stay as they are.
///
/// A correction says who, why and on what evidence. It is kept in records.sqlite, holds for every answer from then on (its number is
/// in the name of the network version), survives the next import, and is taken back by undo, which is a record of its own.
#[derive(Debug, Args)]
pub(super) struct Correct {
    /// The town's folder.
    folder: PathBuf,
    #[command(subcommand)]
    action: Action,
    /// Who says so.
    #[arg(long, global = true, help_heading = "Who, why, on what evidence")]
    who: Option<String>,
    /// Why.
    #[arg(long, global = true, help_heading = "Who, why, on what evidence")]
    why: Option<String>,
    /// On what evidence: a visit, a dye test, a record drawing.
    #[arg(long, global = true, help_heading = "Who, why, on what evidence")]
    evidence: Option<String>,
    /// Say what would change, and record nothing.
    #[arg(long, global = true)]
    dry_run: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Accept a proposal of headwall check --proposals, by its id.
    Accept {
        /// The proposal, such as p-1a2b3c4d.
        proposal: String,
    },
    /// Water goes the other way through a conduit than the maps say.
    Reverse {
        /// The conduit: ID, or LAYER/ID.
        conduit: String,
    },
    /// An end of a conduit belongs to a structure within the snap tolerance, or was named wrongly.
    Join(EndArgs),
    /// A gap is none: an end goes on to a structure or a place; never farther than the near-miss limit.
    Bridge(EndArgs),
    /// An outfall stands at the end of a conduit, not where it is drawn.
    AttachOutfall {
        /// The outfall: ID, or LAYER/ID.
        outfall: String,
        /// The conduit: ID, or LAYER/ID.
        conduit: String,
        /// Which end of it, as drawn.
        #[arg(long, value_enum, default_value = "last")]
        end: EndArg,
    },
    /// Set status, kind, owner or system of a conduit or structure.
    Set {
        /// The conduit or structure: ID, or LAYER/ID.
        feature: String,
        /// live, abandoned, proposed, removed.
        #[arg(long)]
        status: Option<String>,
        /// pipe, culvert, ditch, …; manhole, catch_basin, outfall, …
        #[arg(long)]
        kind: Option<String>,
        /// Who owns it.
        #[arg(long)]
        owner: Option<String>,
        /// storm, combined, sanitary.
        #[arg(long)]
        system: Option<String>,
    },
    /// Add a conduit that no map has; its water goes as its points do.
    AddConduit(AddArgs),
    /// Add a structure that no map has.
    AddStructure(AddArgs),
    /// Add a lateral that no map has.
    AddLateral(AddArgs),
    /// An end of a conduit does not join what it is drawn to.
    Disconnect {
        /// The conduit: ID, or LAYER/ID.
        conduit: String,
        /// Which end, as drawn.
        #[arg(long, value_enum, default_value = "last")]
        end: EndArg,
    },
    /// A conduit is plugged: it is there, and carries nothing.
    Plug {
        /// The conduit: ID, or LAYER/ID.
        conduit: String,
    },
    /// A conduit is two, with a place between.
    Split {
        /// The conduit: ID, or LAYER/ID.
        conduit: String,
        /// Where: LON,LAT, or X,Y of --crs.
        #[arg(long, allow_hyphen_values = true)]
        at: String,
        /// The CRS of the coordinate.
        #[arg(long)]
        crs: Option<String>,
    },
    /// A structure stands elsewhere.
    Move {
        /// The structure: ID, or LAYER/ID.
        structure: String,
        /// Where: LON,LAT, or X,Y of --crs.
        #[arg(long, allow_hyphen_values = true)]
        to: String,
        /// The CRS of the coordinate.
        #[arg(long)]
        crs: Option<String>,
    },
    /// The levels of a group of conduits are off by a constant.
    ShiftLevels {
        /// The conduits: IDs, or LAYER/IDs.
        #[arg(required = true)]
        conduits: Vec<String>,
        /// What is added, such as "-0.9 ft".
        #[arg(long, value_parser = parse_length, allow_hyphen_values = true)]
        by: Length,
    },
    /// List what was recorded.
    List {
        /// For programs.
        #[arg(long)]
        json: bool,
    },
    /// Take a record back, by its number; it stays in the list.
    Undo {
        /// The number.
        sequence: u64,
    },
    /// Write every correction as a GeoPackage, for whoever keeps the source maps.
    Export {
        /// The file to make.
        #[arg(long, short)]
        output: PathBuf,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EndArg {
    /// Where its drawing begins.
    First,
    /// Where its drawing ends.
    Last,
}

#[derive(Debug, Args)]
struct EndArgs {
    /// The conduit: ID, or LAYER/ID.
    conduit: String,
    /// Which end of it, as drawn.
    #[arg(long, value_enum, default_value = "last")]
    end: EndArg,
    /// The structure to which it goes: ID, or LAYER/ID.
    #[arg(long, conflicts_with = "to")]
    structure: Option<String>,
    /// The place to which it goes: LON,LAT, or X,Y of --crs.
    #[arg(long, allow_hyphen_values = true)]
    to: Option<String>,
    /// The CRS of the coordinate.
    #[arg(long)]
    crs: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SurveyedArg {
    /// Drawn by hand.
    Sketched,
    /// Measured by GPS.
    Gps,
    /// From a plan.
    Plan,
}

#[derive(Debug, Args)]
struct AddArgs {
    /// Its points in order: "LON,LAT LON,LAT …", or X,Y of --crs.
    #[arg(long, allow_hyphen_values = true, value_name = "POINTS")]
    points: String,
    /// The CRS of the points; longitude and latitude where absent.
    #[arg(long)]
    crs: Option<String>,
    /// An id for it; made from the correction's number where absent.
    #[arg(long)]
    id: Option<String>,
    /// What it is, as a word of headwall.toml.
    #[arg(long)]
    kind: Option<String>,
    /// Inside diameter, such as "12 in".
    #[arg(long, value_parser = parse_length)]
    size: Option<Length>,
    /// Material, as a word of headwall.toml.
    #[arg(long)]
    material: Option<String>,
    /// How it was found.
    #[arg(long, value_enum, default_value = "sketched")]
    surveyed: SurveyedArg,
    /// How far it may lie from the truth, such as "5 ft".
    #[arg(long, value_parser = parse_length)]
    accuracy: Option<Length>,
    /// For a lateral: the conduit that it joins.
    #[arg(long)]
    conduit: Option<String>,
    /// For a lateral: the parcel from which it comes.
    #[arg(long)]
    parcel: Option<String>,
}

impl Correct {
    pub fn run(self) -> Result<()> {
        let town = open(&self.folder)?;
        match &self.action {
            Action::List { json: true } => {
                let text = outward(&town, |out| Ok(format!("{:#}\n", repairs::corrections(out, &town.log))))?;
                put(None, &text)
            }
            Action::List { json: false } => put(None, &list(&town)),
            Action::Export { output } => export(&town, output),
            Action::Undo { sequence } => {
                let before = crate::proposals::reach(town.basis.ground());
                let number = town.undo(*sequence, &self.correction(Vec::new(), None)?)?;
                let after = open(&self.folder)?;
                println!("correction {number} undoes {sequence}; network {}", after.version);
                println!(
                    "reaches an outfall: {} before, {} now",
                    gain(&town, &before),
                    gain(&town, &crate::proposals::reach(after.basis.ground()))
                );
                Ok(())
            }
            action => {
                let (changes, proposal) = changes(&town, action)?;
                self.record(&town, changes, proposal)
            }
        }
    }

    fn correction(&self, changes: Vec<Change>, proposal: Option<String>) -> Result<NewCorrection> {
        let need = |value: &Option<String>, option: &str| {
            let text = value.as_deref().map(str::trim).filter(|v| !v.is_empty());
            text.map(str::to_owned)
                .ok_or_else(|| Error::usage(format!("--{option} is missing")).hint("a correction says --who, --why and --evidence"))
        };
        Ok(NewCorrection {
            at: Timestamp::now().to_string(),
            who: need(&self.who, "who")?,
            why: need(&self.why, "why")?,
            evidence: need(&self.evidence, "evidence")?,
            proposal,
            changes,
            relied_on: Vec::new(),
        })
    }

    fn record(&self, town: &Town, changes: Vec<Change>, proposal: Option<String>) -> Result<()> {
        let relied_on = town.relied_on(&changes);
        for change in &changes {
            println!("* {}", change.in_words());
        }
        let new = NewCorrection { relied_on, ..self.correction(changes, proposal)? };
        let effect = if self.dry_run {
            town.try_correction(&new)
        } else {
            let (number, effect) = town.correct(&new)?;
            println!("recorded as correction {number}; network {}", town::Version { correction: number, ..town.version.clone() });
            effect
        };
        for issue in &effect.said {
            println!("note: {}", issue.message);
        }
        println!("reaches an outfall: {} before", gain(town, &effect.before));
        println!(
            "                    {} {}",
            gain(town, &effect.after),
            if self.dry_run { "with it; nothing was recorded" } else { "now" }
        );
        Ok(())
    }
}

/// What is changed, and the proposal that says so.
fn changes(town: &Town, action: &Action) -> Result<(Vec<Change>, Option<String>)> {
    if let Action::Accept { proposal } = action {
        let found = town.proposals().into_iter().find(|p| p.id == *proposal);
        let found = found.ok_or_else(|| {
            Error::not_found(format!("there is no proposal {proposal}")).hint("headwall check --proposals lists those that stand now")
        })?;
        return Ok((found.changes, Some(found.id)));
    }
    Ok((by_hand(town, action)?, None))
}

fn name(town: &Town, key: &Key) -> FeatureName {
    FeatureName::new(town.basis.inventory.layer_name(key.layer), &*key.id)
}

fn conduit(town: &Town, id: &str) -> Result<FeatureName> {
    let index = find_conduit(&town.basis.inventory, id)?;
    Ok(name(town, &town.basis.inventory.conduits[index.at()].key))
}

fn structure(town: &Town, id: &str) -> Result<FeatureName> {
    let index = find_structure(&town.basis.inventory, id)?;
    Ok(name(town, &town.basis.inventory.structures[index.at()].key))
}

fn end(end: EndArg) -> ConduitEnd {
    match end {
        EndArg::First => ConduitEnd::First,
        EndArg::Last => ConduitEnd::Last,
    }
}

/// Reads `LON,LAT LON,LAT`.
fn points(town: &Town, text: &str, crs: Option<&String>) -> Result<Vec<[f64; 2]>> {
    let crs = match crs {
        Some(crs) => Crs::parse(crs)?,
        None => Crs::lon_lat()?,
    };
    let wrong =
        || Error::usage("is no list of coordinates").found(format!("\"{text}\"")).expected("two numbers with a comma for each point");
    let mut found = Vec::new();
    for pair in text.split_whitespace() {
        let numbers: Vec<f64> = pair.split(',').filter_map(|n| n.trim().parse().ok()).filter(|n: &f64| n.is_finite()).collect();
        let [x, y] = numbers.as_slice() else { return Err(wrong()) };
        found.push(town.working.point_in(&crs, *x, *y)?);
    }
    if found.is_empty() { Err(wrong()) } else { Ok(found) }
}

fn one_point(town: &Town, text: &str, crs: Option<&String>) -> Result<[f64; 2]> {
    points(town, text, crs)?.first().copied().ok_or_else(|| Error::usage("no coordinate was given"))
}

/// Where an end of a conduit lies.
fn end_place(town: &Town, id: &str, which: ConduitEnd) -> Result<[f64; 2]> {
    let conduit = &town.basis.inventory.conduits[find_conduit(&town.basis.inventory, id)?.at()];
    let vertex = match which {
        ConduitEnd::First => conduit.parts.first().and_then(|l| l.0.first()),
        ConduitEnd::Last => conduit.parts.last().and_then(|l| l.0.last()),
    };
    vertex.map(|c| [c.x, c.y]).ok_or_else(|| Error::usage(format!("{id} was never drawn")))
}

fn away_m(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

fn known(word: &str, what: &str, words: Vec<&str>) -> Result<String> {
    if words.contains(&word) {
        return Ok(word.to_owned());
    }
    Err(Error::usage(format!("there is no such {what}")).found(format!("\"{word}\"")).expected(words.join(", ")))
}

fn by_hand(town: &Town, action: &Action) -> Result<Vec<Change>> {
    let inventory = &town.basis.inventory;
    Ok(vec![match action {
        Action::Reverse { conduit: id } => {
            let index = find_conduit(inventory, id)?;
            let against = town.basis.network.flow(index).flow == crate::network::Flow::AgainstDrawing;
            // The drawing is that of the source, whatever was turned before.
            let key = &inventory.conduits[index.at()].key;
            let drawn = |i: &crate::inventory::Inventory| i.conduits.iter().find(|c| c.key == *key).map(|c| c.parts.clone());
            let is_turned = drawn(town.imported()) != drawn(inventory)
                && drawn(town.imported()).is_some_and(|d| reversed(&d) == drawn(inventory).unwrap_or_default());
            Change::Reverse { conduit: conduit(town, id)?, with_drawing: against != is_turned }
        }
        Action::Join(args) | Action::Bridge(args) => {
            let which = end(args.end);
            let from = end_place(town, &args.conduit, which)?;
            let (structure, to) = match (&args.structure, &args.to) {
                (Some(id), _) => {
                    let place = inventory.structures[find_structure(inventory, id)?.at()].place;
                    let place = place.ok_or_else(|| Error::usage(format!("{id} was never drawn")).hint("give --to"))?;
                    (Some(structure(town, id)?), [place.x(), place.y()])
                }
                (None, Some(to)) => (None, one_point(town, to, args.crs.as_ref())?),
                (None, None) => return Err(Error::usage("no place was given").hint("give --structure or --to")),
            };
            let (length_m, conduit) = (away_m(from, to), conduit(town, &args.conduit)?);
            if matches!(action, Action::Join(_)) {
                Change::Join { conduit, end: which, structure, to }
            } else {
                let limit_m = town.limits().near_miss_m;
                if length_m > limit_m {
                    return Err(Error::usage(format!("the gap is {length_m:.1} m long"))
                        .expected(format!("at most the near-miss limit, {limit_m:.1} m"))
                        .hint("a longer gap is a conduit that nobody drew: add-conduit"));
                }
                Change::Bridge { conduit, end: which, structure, to, length_m }
            }
        }
        Action::AttachOutfall { outfall, conduit: id, end: which } => {
            let to = end_place(town, id, end(*which))?;
            let place = inventory.structures[find_structure(inventory, outfall)?.at()].place;
            let length_m = place.map_or(0.0, |p| away_m([p.x(), p.y()], to));
            Change::AttachOutfall { outfall: structure(town, outfall)?, conduit: conduit(town, id)?, end: end(*which), to, length_m }
        }
        Action::Set { feature, status, kind, owner, system } => return set(town, feature, [status, kind, owner, system]),
        Action::AddConduit(args) => Change::AddConduit(added(town, args, 2)?),
        Action::AddStructure(args) => Change::AddStructure(added(town, args, 1)?),
        Action::AddLateral(args) => Change::AddLateral(added(town, args, 2)?),
        Action::Disconnect { conduit: id, end: which } => {
            // Twice the tolerance: beyond it, and still to be seen where it was.
            Change::Disconnect { conduit: conduit(town, id)?, end: end(*which), back_m: 2.0 * town.limits().snap_tolerance_m }
        }
        Action::Plug { conduit: id } => Change::Plug { conduit: conduit(town, id)? },
        Action::Split { conduit: id, at, crs } => Change::Split { conduit: conduit(town, id)?, at: one_point(town, at, crs.as_ref())? },
        Action::Move { structure: id, to, crs } => Change::Move { structure: structure(town, id)?, to: one_point(town, to, crs.as_ref())? },
        Action::ShiftLevels { conduits, by } => {
            let conduits = conduits.iter().map(|id| conduit(town, id)).collect::<Result<_>>()?;
            Change::ShiftLevels { conduits, by_m: by.metres() }
        }
        Action::Accept { .. } | Action::List { .. } | Action::Undo { .. } | Action::Export { .. } => return Ok(Vec::new()),
    }])
}

fn reversed(parts: &[geo::LineString]) -> Vec<geo::LineString> {
    parts.iter().rev().map(|line| geo::LineString(line.0.iter().rev().copied().collect())).collect()
}

fn set(town: &Town, id: &str, [status, kind, owner, system]: [&Option<String>; 4]) -> Result<Vec<Change>> {
    let (feature, is_conduit) = match conduit(town, id) {
        Ok(feature) => (feature, true),
        Err(_) => (structure(town, id)?, false),
    };
    let mut changes = Vec::new();
    if let Some(word) = status {
        let status = known(word, "status", Status::ALL.iter().map(|s| s.word()).collect())?;
        changes.push(Change::SetStatus { feature: feature.clone(), status });
    }
    if let Some(word) = kind {
        let words = match is_conduit {
            true => ConduitKind::ALL.iter().map(|k| k.word()).collect(),
            false => StructureKind::ALL.iter().map(|k| k.word()).collect(),
        };
        changes.push(Change::SetKind { feature: feature.clone(), kind: known(word, "kind", words)? });
    }
    if let Some(owner) = owner {
        changes.push(Change::SetOwner { feature: feature.clone(), owner: owner.clone() });
    }
    if let Some(word) = system {
        let system = known(word, "system", System::ALL.iter().map(|s| s.word()).collect())?;
        changes.push(Change::SetSystem { feature, system });
    }
    if changes.is_empty() {
        return Err(Error::usage("nothing was set").hint("give --status, --kind, --owner or --system"));
    }
    Ok(changes)
}

fn added(town: &Town, args: &AddArgs, least: usize) -> Result<Added> {
    let points = points(town, &args.points, args.crs.as_ref())?;
    if points.len() < least || (least == 1 && points.len() > 1) {
        return Err(Error::usage("has the wrong number of points").found(points.len().to_string()).expected(if least == 1 {
            "one"
        } else {
            "two or more"
        }));
    }
    let material = match &args.material {
        Some(word) => Some(known(word, "material", Material::ALL.iter().map(|m| m.word()).collect())?),
        None => None,
    };
    let kind = match &args.kind {
        Some(word) if least == 1 => Some(known(word, "kind of structure", StructureKind::ALL.iter().map(|k| k.word()).collect())?),
        Some(word) => Some(known(word, "kind of conduit", ConduitKind::ALL.iter().map(|k| k.word()).collect())?),
        None => None,
    };
    let accuracy_m = args.accuracy.map(Length::metres);
    Ok(Added {
        id: args.id.clone(),
        points,
        kind,
        diameter_mm: args.size.map(|s| s.metres() * 1000.0),
        material,
        surveyed: match args.surveyed {
            SurveyedArg::Sketched => Surveyed::Sketched,
            SurveyedArg::Gps => Surveyed::Gps,
            SurveyedArg::Plan => Surveyed::Plan,
        },
        accuracy_m,
        same_within_m: accuracy_m.unwrap_or(0.0).max(town.basis.rules.repairs().limit_m(RepairLimit::SameConduit)),
        conduit: args.conduit.clone(),
        parcel: args.parcel.clone(),
    })
}

fn list(town: &Town) -> String {
    let mut out = format!("network {}\n", town.version);
    if town.log.records.is_empty() {
        out.push_str("no corrections\n");
    }
    for record in &town.log.records {
        let correction = &record.correction;
        let state = match (record.undoes, record.in_force) {
            (_, false) => "  (undone)".to_owned(),
            (Some(undone), true) => format!("  undoes {undone}"),
            (None, true) => String::new(),
        };
        out.push_str(&format!("\n{:>4}  {}  {}{state}\n", correction.sequence, correction.at, correction.who));
        for change in &correction.changes {
            out.push_str(&format!("      * {}\n", change.in_words()));
        }
        out.push_str(&format!("      why: {}\n      evidence: {}\n", correction.why, correction.evidence));
    }
    let held = town.basis.issues.iter().filter(|i| i.value.as_ref().is_some_and(|v| v.starts_with("correction ")));
    for issue in held {
        out.push_str(&format!("\nnote: {}\n", issue.message));
    }
    out
}

fn export(town: &Town, output: &PathBuf) -> Result<()> {
    let native = 1.0 / town.working.crs().metres_per_unit();
    let table = repairs::corrections_table(town.imported(), &town.log, native);
    let aside = output.with_extension("part");
    let _ = std::fs::remove_file(&aside);
    let written = geopackage::write(&aside, town.working.crs(), &[table], &[("town", town.basis.settings.name.clone())], &[])
        .and_then(|()| std::fs::rename(&aside, output).map_err(|cause| Error::machine("cannot be written").file(output).cause(cause)));
    if written.is_err() {
        let _ = std::fs::remove_file(&aside);
    }
    written?;
    eprintln!("wrote {}", output.display());
    Ok(())
}
