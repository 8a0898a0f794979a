//! How fast may water run in a conduit, and what holds it back? Ranges of roughness, slope and size, each with its source.

use serde::Deserialize;

use super::source::{DataFile, Source, fault};
use crate::error::Result;

pub(super) const FILE: &str = "hydraulics.toml";

/// A lowest and a highest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Roughness {
    material: String,
    section: Section,
    n_low_e4: u32,
    n_high_e4: u32,
    source: Source,
}

/// Whether a conduit is closed or open to the sky.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// A pipe, box or culvert.
    Closed,
    /// A ditch, channel or gutter.
    Open,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bound {
    id: String,
    low: u32,
    high: u32,
    source: Source,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelEntry {
    id: String,
    value: u32,
    source: Source,
}

/// What holds water back on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StorageKind {
    /// A pond or basin.
    Pond,
    /// A catch basin with a stated sump.
    Sump,
    /// The well of a pump station.
    WetWell,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Storage {
    id: StorageKind,
    longest_hold_s: Option<f64>,
    source: Source,
}

/// The whole file, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Hydraulics {
    roughness: Vec<(String, Section, Range)>,
    /// Slope where none is known, metres for each metre.
    pub slope: Range,
    /// Diameter or width where none is known, metres.
    pub diameter_m: Range,
    /// Height over width of a box or ellipse whose height is not known.
    pub height_of_width: Range,
    /// Hydraulic radius of an open conduit, metres.
    pub open_radius_m: Range,
    /// Velocity in a pressurised conduit, metres for each second.
    pub pressurised_m_per_s: Range,
    /// Greatest velocity in a circular conduit over that when it is full.
    pub fastest_of_full: f64,
    /// The share of the depth at which a trickle runs.
    pub slowest_depth: f64,
    /// By how much a fall between two inverts may be wrong, metres.
    pub fall_error_m: f64,
    /// How far above the lowest way out another must lie to be an overflow, metres.
    pub overflow_step_m: f64,
    storage: Vec<Storage>,
}

/// The word of a material that nobody stated.
const UNKNOWN: &str = "unknown";
/// The materials of the inventory, by word; a test holds the two lists together.
pub const MATERIALS: &[&str] =
    &["concrete", "clay", "plastic", "corrugated_plastic", "corrugated_metal", "iron", "brick", "earth", "rock", "other", UNKNOWN];
const BOUNDS: &[&str] = &["slope_e6", "diameter_mm", "height_of_width_milli", "open_radius_mm", "pressurised_mm_per_s"];
const LEVELS: &[&str] = &["fastest_of_full_milli", "slowest_depth_milli", "fall_error_mm", "overflow_step_mm"];

pub(super) fn read(text: &str) -> Result<Hydraulics> {
    let mut file = DataFile::parse(FILE, text)?;
    let roughness: Vec<Roughness> = file.entries("roughness")?;
    let bounds: Vec<Bound> = file.entries("bound")?;
    let levels: Vec<LevelEntry> = file.entries("level")?;
    let storage: Vec<Storage> = file.entries("storage")?;
    file.finish()?;
    let bound = |id: &str, scale: f64| -> Result<Range> {
        let found: Vec<&Bound> = bounds.iter().filter(|b| b.id == id).collect();
        match found.as_slice() {
            [one] if one.low > 0 && one.low <= one.high => Ok(Range { low: f64::from(one.low) / scale, high: f64::from(one.high) / scale }),
            [_] => Err(fault(FILE, &format!("bound {id}"), "low", "must be greater than 0 and no greater than high")),
            several => Err(fault(FILE, &format!("bound {id}"), "id", format!("stands {} times, expected once", several.len()))),
        }
    };
    let level = |id: &str| -> Result<f64> {
        let found: Vec<&LevelEntry> = levels.iter().filter(|l| l.id == id).collect();
        match found.as_slice() {
            [one] => Ok(f64::from(one.value) / 1000.0),
            several => Err(fault(FILE, &format!("level {id}"), "id", format!("stands {} times, expected once", several.len()))),
        }
    };
    if let Some(odd) = bounds.iter().find(|b| !BOUNDS.contains(&b.id.as_str())) {
        return Err(fault(FILE, &format!("bound {}", odd.id), "id", format!("is not one of {}", BOUNDS.join(", "))));
    }
    if let Some(odd) = levels.iter().find(|l| !LEVELS.contains(&l.id.as_str())) {
        return Err(fault(FILE, &format!("level {}", odd.id), "id", format!("is not one of {}", LEVELS.join(", "))));
    }
    let (fastest_of_full, slowest_depth) = (level("fastest_of_full_milli")?, level("slowest_depth_milli")?);
    if fastest_of_full < 1.0 {
        return Err(fault(FILE, "level fastest_of_full_milli", "value", "must be 1000 or more: a full pipe is not the fastest"));
    }
    if !(0.001..=0.5).contains(&slowest_depth) {
        return Err(fault(FILE, "level slowest_depth_milli", "value", "must lie between 1 and 500"));
    }
    for kind in [StorageKind::Pond, StorageKind::Sump, StorageKind::WetWell] {
        let so_many = storage.iter().filter(|s| s.id == kind).count();
        if so_many != 1 {
            return Err(fault(FILE, &format!("storage {kind:?}"), "id", format!("stands {so_many} times, expected once")));
        }
    }
    if storage.iter().any(|s| s.longest_hold_s.is_some_and(|hold| !(hold.is_finite() && hold >= 0.0))) {
        return Err(fault(FILE, "storage", "longest_hold_s", "must be 0 or more seconds"));
    }
    Ok(Hydraulics {
        roughness: read_roughness(&roughness)?,
        slope: bound("slope_e6", 1e6)?,
        diameter_m: bound("diameter_mm", 1e3)?,
        height_of_width: bound("height_of_width_milli", 1e3)?,
        open_radius_m: bound("open_radius_mm", 1e3)?,
        pressurised_m_per_s: bound("pressurised_mm_per_s", 1e3)?,
        fastest_of_full,
        slowest_depth,
        fall_error_m: level("fall_error_mm")?,
        overflow_step_m: level("overflow_step_mm")?,
        storage,
    })
}

fn read_roughness(entries: &[Roughness]) -> Result<Vec<(String, Section, Range)>> {
    let mut out: Vec<(String, Section, Range)> = Vec::new();
    for entry in entries {
        let label = format!("roughness {} {:?}", entry.material, entry.section).to_lowercase();
        if !MATERIALS.contains(&entry.material.as_str()) {
            return Err(fault(FILE, &label, "material", format!("is not one of {}", MATERIALS.join(", "))));
        }
        if entry.n_low_e4 == 0 || entry.n_low_e4 > entry.n_high_e4 {
            return Err(fault(FILE, &label, "n_low_e4", "must be greater than 0 and no greater than n_high_e4"));
        }
        if out.iter().any(|known| known.0 == entry.material && known.1 == entry.section) {
            return Err(fault(FILE, &label, "material", "stands twice"));
        }
        let range = Range { low: f64::from(entry.n_low_e4) / 1e4, high: f64::from(entry.n_high_e4) / 1e4 };
        out.push((entry.material.clone(), entry.section, range));
    }
    for section in [Section::Closed, Section::Open] {
        if !out.iter().any(|known| known.0 == UNKNOWN && known.1 == section) {
            return Err(fault(FILE, "roughness", "material", "needs a row \"unknown\" for closed and for open conduits"));
        }
    }
    Ok(out)
}

impl Hydraulics {
    /// Manning's n for a material, by its word in the inventory; that of an unknown one where the file has no row for it.
    pub fn roughness(&self, material: &str, section: Section) -> Range {
        let of = |wanted: &str| self.roughness.iter().find(|r| r.0 == wanted && r.1 == section).map(|r| r.2);
        // Reading the file made sure that both unknown rows are there.
        of(material).or_else(|| of(UNKNOWN)).unwrap_or(Range { low: 0.009, high: 0.14 })
    }

    /// How long a storage may hold water, seconds; `None` where nothing bounds it.
    pub fn longest_hold_s(&self, kind: StorageKind) -> Option<f64> {
        self.storage.iter().find(|s| s.id == kind).and_then(|s| s.longest_hold_s)
    }
}
