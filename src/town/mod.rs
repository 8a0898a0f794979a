//! What is in the town's folder? `headwall.toml`, the network versions, the town's own rules; import, open, lock.
//!
//! The command line and the server both call this. Source files are never altered; an import is all or nothing.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use geo::Geometry;
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};

use crate::crs::{Crs, WorkingCrs};
use crate::data_issue::{DataIssue, IssueCode};
use crate::error::{Error, Result};
use crate::evidence::{self, Change, Correction, FeatureName, Reliance};
use crate::formats::{self, ReadOptions, geopackage};
use crate::ingest::{self, Ingested, Source, SourceData, is_personal_field};
use crate::inventory::Inventory;
use crate::investigate::Basis;
use crate::law::{LawInForce, Profiles, is_law_file};
use crate::links::Links;
use crate::network::locate::SegmentIndex;
use crate::network::{BuildOptions, build};
use crate::proposals::{self, Gain, Limits, Proposal};
use crate::records::{self, Log, NewCorrection};
use crate::rules::Rules;
use crate::settings::{LayerSettings, Meaning, Role, Settings};
use crate::trace::Ground;
use crate::waters::{WaterNetwork, WaterOptions};

mod compact;
mod tables;
mod water_records;

/// The name of the town file.
pub const TOWN_FILE: &str = "headwall.toml";

/// Names an answer: import number, sequence of the last correction laid over it, digest of settings and data files in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Which import.
    pub import: u32,
    /// Sequence of the last correction.
    pub correction: u64,
    /// First eight hexadecimal digits of the digest.
    pub digest: String,
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}-{}", self.import, self.correction, self.digest)
    }
}

/// A town, opened.
#[derive(Debug)]
pub struct Town {
    /// Everything an answer rests on.
    pub basis: Basis,
    /// The coordinates used inside.
    pub working: WorkingCrs,
    /// The name of the network version.
    pub version: Version,
    /// What whoever reads an answer should know about the folder, such as settings changed since the import.
    pub notes: Vec<String>,
    /// What people have recorded, in order; what holds of it is laid over the inventory.
    pub log: Log,
    /// The inventory as imported, where corrections are laid over it.
    imported: Option<Inventory>,
    folder: PathBuf,
    file: PathBuf,
}

/// What an import did.
#[derive(Debug)]
pub struct Imported {
    /// The new version.
    pub version: Version,
    /// Its file.
    pub file: PathBuf,
    /// What was read, by layer and role: a SWMM model gives conduits, structures and areas.
    pub layers: Vec<LayerCount>,
    /// What is doubtful.
    pub issues: Vec<DataIssue>,
    /// The working CRS.
    pub working: WorkingCrs,
}

/// How many features a layer gave for a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerCount {
    /// The layer's name in `headwall.toml`.
    pub layer: String,
    /// What the features are.
    pub role: Role,
    /// Features read.
    pub read: usize,
    /// Features that can be used for the role.
    pub usable: usize,
}

/// A feature of a layer as imported.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerFeature {
    /// `TABLE/LAYER/ID`, unique in a town.
    pub id: String,
    /// Its shape in inside coordinates, as drawn.
    pub shape: Option<Geometry>,
    /// Its original attributes, names and values as the file has them.
    pub attributes: Map<String, Json>,
}

/// A step of an import, for whoever watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is done now, in words.
    pub step: String,
    /// Steps done.
    pub done: usize,
    /// Steps in all.
    pub of: usize,
}

/// Reads `headwall.toml` and the town's own rules.
///
/// # Errors
/// A folder without a town file; settings or rules that say what cannot be.
pub fn settings(folder: &Path) -> Result<(Settings, Rules, String)> {
    let path = folder.join(TOWN_FILE);
    let text = fs::read_to_string(&path).map_err(|cause| {
        Error::not_found(format!("{} has no {TOWN_FILE}", folder.display()))
            .hint("docs/town-file.md explains the town file; data/sample-village has one to start from")
            .cause(cause)
    })?;
    let settings = Settings::parse(&text)?;
    let mut own = own_rules(&folder.join("rules"))?;
    own.retain(|name, _| !is_law_file(name));
    let rules = Rules::with_replacements(&own)?;
    if let Some(scheme) = &settings.land_use_scheme {
        rules.check_scheme(scheme)?;
    }
    Ok((settings, rules, text))
}

/// Every law and permit that the town can choose: those that come with Headwall, and its own.
///
/// # Errors
/// A file that says what cannot be.
pub fn profiles(folder: &Path) -> Result<Profiles> {
    let mut own = own_rules(&folder.join("rules"))?;
    own.retain(|name, _| is_law_file(name));
    Profiles::with_replacements(&own)
}

/// The law and the permit that the town chose, checked against its rules.
///
/// # Errors
/// A name that is no profile; a signature whose exempt category the law does not know.
pub fn law_in_force(folder: &Path, settings: &Settings, rules: &Rules) -> Result<LawInForce> {
    let law = profiles(folder)?.choose(settings.law.as_deref(), settings.permit.as_deref())?;
    law.law.as_ref().map_or(Ok(()), |law| rules.check_law(law))?;
    Ok(law)
}

/// The data files of the town's own, by the names of the embedded ones.
fn own_rules(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    let mut to_do = vec![(folder.to_owned(), String::new())];
    while let Some((at, prefix)) = to_do.pop() {
        let Ok(entries) = fs::read_dir(&at) else { continue };
        for entry in entries.flatten() {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() && prefix.is_empty() {
                to_do.push((entry.path(), format!("{name}/")));
            } else if name.ends_with(".toml") {
                let text =
                    fs::read_to_string(entry.path()).map_err(|cause| Error::input("cannot be read").file(entry.path()).cause(cause))?;
                files.insert(name, text);
            }
        }
    }
    Ok(files)
}

/// Reads every layer into the next network version; all or nothing.
///
/// # Errors
/// Whatever stops the reading of a layer, named; a folder that somebody else is importing into. Nothing is left half-written.
pub fn import(folder: &Path, watch: &mut dyn FnMut(Progress)) -> Result<Imported> {
    let (settings, rules, text) = settings(folder)?;
    let law = law_in_force(folder, &settings, &rules)?;
    if settings.layers.is_empty() {
        return Err(Error::settings("names no layer")
            .file(TOWN_FILE)
            .hint("add a [[layer]] for the conduits; docs/town-file.md shows how"));
    }
    let _lock = lock(folder)?;
    let of = settings.layers.len() + 3;
    let mut say = |done: usize, step: &str| watch(Progress { step: step.to_owned(), done, of });
    let mut sources = Vec::with_capacity(settings.layers.len());
    for (at, layer) in settings.layers.iter().enumerate() {
        say(at, &format!("reading {}", layer.name));
        sources.push(Source { layer: at, data: read_layer(folder, layer)? });
    }
    say(of - 3, "checking");
    let ingested = ingest::ingest(&settings, sources)?;
    say(of - 2, "building the network");
    let log = records::log(folder, &ingested.working)?;
    let (basis_issues, import) = (issues_of(&settings, &ingested, &log), next_import(folder)?);
    say(of - 1, "writing");
    let about = [
        ("town", settings.name.clone()),
        ("synthetic", settings.synthetic.to_string()),
        ("import", import.to_string()),
        ("working_crs", ingested.working.crs().label().to_owned()),
        ("written_by", format!("headwall {}", env!("CARGO_PKG_VERSION"))),
    ];
    let file = write_version(folder, import, &ingested, &text, &about)?;
    say(of, "done");
    let version = Version { import, correction: log.last(), digest: digest(&text, &rules, &law) };
    let count = |layer: &ingest::OriginalLayer| {
        let (read, usable) = layer.counts();
        LayerCount { layer: layer.name.clone(), role: layer.role, read, usable }
    };
    let layers = ingested.originals.layers.iter().map(count).collect();
    Ok(Imported { version, file, layers, issues: basis_issues, working: ingested.working })
}

/// The issues of the maps with what is laid over them, and of the network built from both.
fn issues_of(settings: &Settings, ingested: &Ingested, log: &Log) -> Vec<DataIssue> {
    let mut of_maps = ingested.issues.clone();
    let corrected = corrected(&ingested.inventory, &log.in_force(), &mut of_maps);
    let (_, _, _, issues) = build_all(settings, corrected.as_ref().unwrap_or(&ingested.inventory), &of_maps);
    issues
}

/// The inventory with corrections laid over it; `None` where there are none.
fn corrected(imported: &Inventory, corrections: &[Correction], issues: &mut Vec<DataIssue>) -> Option<Inventory> {
    if corrections.is_empty() {
        return None;
    }
    let (laid, said) = evidence::apply(imported, corrections);
    issues.extend(said);
    Some(laid)
}

fn build_all(
    settings: &Settings,
    inventory: &Inventory,
    of_maps: &[DataIssue],
) -> (crate::network::Network, SegmentIndex, Links, Vec<DataIssue>) {
    let (network, mut issues) = build(inventory, &BuildOptions::new(settings, inventory));
    let segments = SegmentIndex::new(inventory, &network);
    let (links, of_links) =
        Links::measure(inventory, &network, &segments, settings.parcel_distance.metres(), settings.snap_tolerance.metres());
    issues.extend(of_links);
    // The same doubt, found while reading and while building, is one.
    issues.extend(of_maps.iter().cloned());
    issues.sort_by(|a, b| (a.code, &a.layer, &a.ids, &a.field, &a.value).cmp(&(b.code, &b.layer, &b.ids, &b.field, &b.value)));
    issues.dedup_by(|a, b| {
        (a.code, &a.layer, &a.ids, &a.field, &a.value) == (b.code, &b.layer, &b.ids, &b.field, &b.value) && !a.ids.is_empty()
    });
    (network, segments, links, issues)
}

fn read_layer(folder: &Path, layer: &LayerSettings) -> Result<SourceData> {
    let path = folder.join(&layer.path);
    if layer.role == Role::Swmm {
        return formats::swmm::read(&path).map(SourceData::Swmm);
    }
    let field = |meaning: Meaning| layer.fields.get(&meaning).map(|m| m.field.clone());
    let options = ReadOptions {
        layer: layer.layer.clone(),
        encoding: layer.encoding.clone(),
        separator: layer.separator,
        decimal: layer.decimal,
        xy: field(Meaning::X).zip(field(Meaning::Y)),
        attributes_by_row: layer.attributes_by_row.as_ref().map(|table| folder.join(table)),
    };
    formats::read(&path, &options).map(SourceData::Layer)
}

/// Held while somebody imports or writes; let go when dropped.
struct Lock {
    _file: File,
}

fn lock(folder: &Path) -> Result<Lock> {
    let path = folder.join("town.lock");
    let refused = |cause: std::io::Error| Error::machine("cannot be written").file(&path).hint("is the folder writable?").cause(cause);
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(refused)?;
    match file.try_lock() {
        Ok(()) => Ok(Lock { _file: file }),
        Err(fs::TryLockError::WouldBlock) => {
            Err(Error::machine(format!("somebody is importing into {}", folder.display())).hint("wait until that import has ended"))
        }
        Err(fs::TryLockError::Error(cause)) => Err(refused(cause)),
    }
}

fn imports(folder: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(folder.join("networks")) else { return Vec::new() };
    let mut numbers: Vec<u32> = entries
        .flatten()
        .filter_map(|e| e.file_name().to_str().and_then(|n| n.strip_suffix(".gpkg")).and_then(|n| n.parse().ok()))
        .collect();
    numbers.sort_unstable();
    numbers
}

fn next_import(folder: &Path) -> Result<u32> {
    let last = imports(folder).last().copied().unwrap_or(0);
    last.checked_add(1).ok_or_else(|| Error::machine("no import number is left"))
}

/// Writes aside, syncs, makes read-only, renames: a version is whole or not there.
fn write_version(folder: &Path, import: u32, ingested: &Ingested, text: &str, about: &[(&str, String)]) -> Result<PathBuf> {
    let networks = folder.join("networks");
    let refused = |path: &Path| {
        let path = path.to_owned();
        move |cause: std::io::Error| {
            Error::machine("cannot be written").file(path).hint("is the disk full, or the folder read-only?").cause(cause)
        }
    };
    fs::create_dir_all(&networks).map_err(refused(&networks))?;
    let aside = networks.join(format!(".{import:04}.gpkg.part"));
    let file = networks.join(format!("{import:04}.gpkg"));
    let _ = fs::remove_file(&aside);
    let parts: Vec<geopackage::Part> = vec![
        ("inventory", compact::pack(&ingested.inventory)?),
        ("issues", compact::pack_issues(&ingested.issues)?),
        ("working_crs", ingested.working.crs().wkt().as_bytes().to_vec()),
        ("settings", text.as_bytes().to_vec()),
    ];
    let written = geopackage::write(&aside, ingested.working.crs(), &tables::of(ingested), about, &parts).and_then(|()| {
        let mut permissions = fs::metadata(&aside).map_err(refused(&aside))?.permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&aside, permissions).map_err(refused(&aside))?;
        fs::rename(&aside, &file).map_err(refused(&file))
    });
    if let Err(error) = written {
        let _ = fs::remove_file(&aside);
        return Err(error);
    }
    // The rename itself has to reach the disk, too.
    if let Ok(folder) = File::open(&networks) {
        let _ = folder.sync_all();
    }
    Ok(file)
}

fn digest(text: &str, rules: &Rules, law: &LawInForce) -> String {
    let mut hash = Sha256::new();
    hash.update(rules.digest());
    hash.update(law.digest);
    hash.update(text.as_bytes());
    hash.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// Opens the newest network version, built under the settings in force.
///
/// # Errors
/// A folder without an import; a damaged or foreign file.
pub fn open(folder: &Path) -> Result<Town> {
    let import = imports(folder).last().copied().ok_or_else(|| {
        Error::not_found(format!("{} has no network yet", folder.display())).hint(format!("run headwall import {}", folder.display()))
    });
    // A folder without a town file is told first.
    settings(folder)?;
    open_import(folder, import?)
}

/// Opens one network version by its import number, under the settings in force.
///
/// # Errors
/// A version that is not there; a damaged or foreign file.
pub fn open_import(folder: &Path, import: u32) -> Result<Town> {
    let (settings, rules, text) = settings(folder)?;
    let law = law_in_force(folder, &settings, &rules)?;
    if !imports(folder).contains(&import) {
        return Err(Error::not_found(format!("{} has no network version {import}", folder.display())));
    }
    let file = folder.join("networks").join(format!("{import:04}.gpkg"));
    let part = |name: &str| geopackage::read_part(&file, name);
    let inventory = compact::unpack(&part("inventory")?)?;
    let mut of_maps = compact::unpack_issues(&part("issues")?)?;
    let as_text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|cause| Error::input("is damaged").file(&file).cause(cause));
    let working = WorkingCrs::new(Crs::from_wkt(&as_text(part("working_crs")?)?)?)?;
    let mut notes = Vec::new();
    let imported_under = Settings::parse(&as_text(part("settings")?)?)?;
    if format!("{:?}", imported_under.layers) != format!("{:?}", settings.layers) {
        notes.push(format!("the layers in {TOWN_FILE} were changed after this import; run headwall import again to use them"));
    }
    let log = records::log(folder, &working)?;
    let (inventory, imported) = match corrected(&inventory, &log.in_force(), &mut of_maps) {
        Some(laid) => (laid, Some(inventory)),
        None => (inventory, None),
    };
    let (network, segments, links, issues) = build_all(&settings, &inventory, &of_maps);
    let version = Version { import, correction: log.last(), digest: digest(&text, &rules, &law) };
    let waters = WaterNetwork::build(&inventory, &network, WaterOptions::new(&settings));
    let basis = Basis { settings, rules, law, inventory, network, segments, links, waters, issues };
    Ok(Town { basis, working, version, notes, log, imported, folder: folder.to_owned(), file })
}

/// What a correction would do, or did.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// What reaches an outfall without it.
    pub before: Gain,
    /// What reaches an outfall with it.
    pub after: Gain,
    /// What it says about itself, such as that the source has by now what it adds.
    pub said: Vec<DataIssue>,
}

impl Town {
    /// The inventory as imported, without corrections.
    pub fn imported(&self) -> &Inventory {
        self.imported.as_ref().unwrap_or(&self.basis.inventory)
    }

    /// The bounds within which repairs are proposed.
    pub fn limits(&self) -> Limits {
        let settings = &self.basis.settings;
        Limits { snap_tolerance_m: settings.snap_tolerance.metres(), near_miss_m: settings.near_miss.metres() }
    }

    /// The repairs that the maps suggest, ranked.
    pub fn proposals(&self) -> Vec<Proposal> {
        proposals::find(self.basis.ground(), &self.basis.segments, self.limits(), self.basis.rules.repairs())
    }

    /// The digests of what changes rely on: the features of the source that they name.
    pub fn relied_on(&self, changes: &[Change]) -> Vec<Reliance> {
        let mut features: Vec<&FeatureName> = changes.iter().flat_map(Change::features).collect();
        features.sort_unstable();
        features.dedup();
        let digest = |feature: &FeatureName| evidence::digest(self.imported(), feature);
        features.into_iter().filter_map(|f| Some(Reliance { feature: f.clone(), digest: digest(f)? })).collect()
    }

    /// What the network would be with one more correction, in numbers; nothing is recorded.
    pub fn try_correction(&self, new: &NewCorrection) -> Effect {
        let mut corrections = self.log.in_force();
        let sequence = self.log.last() + 1;
        corrections.push(Correction {
            sequence,
            at: new.at.clone(),
            who: new.who.clone(),
            why: new.why.clone(),
            evidence: new.evidence.clone(),
            proposal: new.proposal.clone(),
            changes: new.changes.clone(),
            relied_on: new.relied_on.clone(),
        });
        let (inventory, mut said) = evidence::apply(self.imported(), &corrections);
        said.retain(|issue| issue.value.as_ref().is_some_and(|v| *v == format!("correction {sequence}")));
        let (network, _, links, _) = build_all(&self.basis.settings, &inventory, &[]);
        let after =
            proposals::reach(Ground { inventory: &inventory, network: &network, links: &links, hydraulics: self.basis.rules.hydraulics() });
        Effect { before: proposals::reach(self.basis.ground()), after, said }
    }

    /// Records a correction; what is open stays as it was until the town is opened again.
    ///
    /// # Errors
    /// One that does not fit what is there; a disk that refuses.
    pub fn correct(&self, new: &NewCorrection) -> Result<(u64, Effect)> {
        let effect = self.try_correction(new);
        if let Some(issue) = effect.said.iter().find(|issue| issue.code != IssueCode::CorrectionNowInSource) {
            return Err(Error::usage(issue.message.clone()).hint("headwall check shows what is there"));
        }
        Ok((records::add(&self.folder, &self.working, new)?, effect))
    }

    /// Records that an earlier record holds no more.
    ///
    /// # Errors
    /// No such record; a disk that refuses.
    pub fn undo(&self, sequence: u64, new: &NewCorrection) -> Result<u64> {
        records::undo(&self.folder, &self.working, sequence, new)
    }

    /// The original attributes of a feature, by its table in the version file.
    ///
    /// # Errors
    /// A damaged file.
    pub fn originals(&self, table: &str, layer: &str, id: &str) -> Result<Map<String, Json>> {
        Ok(geopackage::read_attributes(&self.file, table, layer, id)?.map(|text| parse(&text)).unwrap_or_default())
    }

    /// Every feature of a layer as imported, without the personal attributes that the town file does not allow.
    ///
    /// # Errors
    /// An unknown layer; a damaged file.
    pub fn layer(&self, name: &str) -> Result<Vec<LayerFeature>> {
        let Some(layer) = self.basis.inventory.layers.iter().find(|l| *l.name == *name) else {
            let known: Vec<&str> = self.basis.inventory.layers.iter().map(|l| &*l.name).collect();
            return Err(Error::not_found(format!("there is no layer {name}")).hint(format!("the layers are {}", known.join(", "))));
        };
        let metres = self.working.crs().metres_per_unit();
        let mut features = Vec::new();
        // A model without areas, say, has no table for them.
        let written = geopackage::table_names(&self.file)?;
        for (table, role) in tables::of_layer(layer).into_iter().filter(|(table, _)| written.iter().any(|w| w == table)) {
            for row in geopackage::read_layer(&self.file, table, name)? {
                let shape = row.shape.map(|shape| tables::scaled(shape, metres));
                let mut attributes = parse(&row.attributes);
                if ingest::holds_people(role) {
                    attributes.retain(|field, _| !is_personal_field(field) || self.basis.settings.personal_fields_allowed.contains(field));
                }
                features.push(LayerFeature { id: format!("{table}/{name}/{}", row.id), shape, attributes });
            }
        }
        Ok(features)
    }
}

fn parse(text: &str) -> Map<String, Json> {
    serde_json::from_str(text).unwrap_or_default()
}
