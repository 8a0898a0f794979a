//! How much does each kind of link between a premises and the drain weigh?

use serde::Deserialize;

use super::signatures::Pathway;
use super::source::{DataFile, Source, fault};
use crate::error::Result;

pub(super) const FILE: &str = "link_tiers.toml";

/// How a premises is tied to the storm system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// An entry in the connection register.
    Record,
    /// A drawn service line, or an attribute that ties premises to pipe.
    Lateral,
    /// The premises or a part of it drains to an inlet.
    InletArea,
    /// It lies within the parcel distance of a conduit or inlet.
    Frontage,
}

impl Tier {
    /// Every tier.
    pub const ALL: &'static [Tier] = &[Tier::Record, Tier::Lateral, Tier::InletArea, Tier::Frontage];

    /// Its word in the data files.
    pub fn word(self) -> &'static str {
        match self {
            Tier::Record => "record",
            Tier::Lateral => "lateral",
            Tier::InletArea => "inlet_area",
            Tier::Frontage => "frontage",
        }
    }
}

/// How strong a tier is for a pathway.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierStrength {
    /// The tier.
    pub tier: Tier,
    /// The pathway.
    pub pathway: Pathway,
    /// Thousandths; a record is 1000.
    pub factor_milli: u32,
    /// What it says to an inspector.
    pub words: String,
    /// Where this comes from.
    pub source: Source,
}

/// What a distance is measured along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecayKind {
    /// From the parcel to the conduit or inlet.
    Frontage,
    /// Along the pipes, from the link down to the report.
    AlongPipe,
}

/// One step of a decay.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecayStep {
    /// What the distance is measured along.
    pub of: DecayKind,
    /// Up to and with this many metres; absent in the last step.
    pub up_to_m: Option<f64>,
    /// Thousandths.
    pub factor_milli: u32,
    /// Where this comes from.
    pub source: Source,
}

/// Something else that makes a link weaker.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weakening {
    /// Its stable word.
    pub id: String,
    /// Thousandths.
    pub factor_milli: u32,
    /// What it says to an inspector.
    pub words: String,
    /// Where this comes from.
    pub source: Source,
}

/// The whole file.
#[derive(Clone, Debug)]
pub(super) struct LinkTiers {
    pub(super) strengths: Vec<TierStrength>,
    pub(super) steps: Vec<DecayStep>,
    pub(super) weakenings: Vec<Weakening>,
}

pub(super) fn read(text: &str) -> Result<LinkTiers> {
    let mut file = DataFile::parse(FILE, text)?;
    let (strengths, steps, weakenings) = (file.entries("strength")?, file.entries("decay")?, file.entries("weakening")?);
    let tiers = LinkTiers { strengths, steps, weakenings };
    file.finish()?;
    for tier in Tier::ALL {
        for pathway in Pathway::ALL {
            let so_many = tiers.strengths.iter().filter(|s| s.tier == *tier && s.pathway == *pathway).count();
            if so_many != 1 {
                let label = format!("strength {} {}", tier.word(), pathway.word());
                return Err(fault(FILE, &label, "tier", format!("stands {so_many} times, expected once")));
            }
        }
    }
    check_decay(&tiers, DecayKind::Frontage, "decay frontage")?;
    check_decay(&tiers, DecayKind::AlongPipe, "decay along_pipe")?;
    if tiers.weakening(NOT_NEAREST).is_none() {
        return Err(fault(FILE, &format!("weakening {NOT_NEAREST}"), "id", "is missing"));
    }
    Ok(tiers)
}

/// The id of the weakening of every system but the nearest.
pub(super) const NOT_NEAREST: &str = "not_nearest_system";

/// Farther may never weigh more, and some step must cover every distance.
fn check_decay(tiers: &LinkTiers, of: DecayKind, label: &str) -> Result<()> {
    let steps: Vec<&DecayStep> = tiers.steps.iter().filter(|step| step.of == of).collect();
    if steps.last().is_none_or(|last| last.up_to_m.is_some()) {
        return Err(fault(FILE, label, "up_to_m", "the last step must have none, so that every distance is covered"));
    }
    for pair in steps.windows(2) {
        let next = pair[1].up_to_m.unwrap_or(f64::INFINITY);
        if !pair[0].up_to_m.is_some_and(|up_to| up_to >= 0.0 && up_to < next) {
            return Err(fault(FILE, label, "up_to_m", "must grow from step to step"));
        }
        if pair[1].factor_milli > pair[0].factor_milli {
            return Err(fault(FILE, label, "factor_milli", "must not grow with distance"));
        }
    }
    Ok(())
}

impl LinkTiers {
    pub(super) fn strength(&self, tier: Tier, pathway: Pathway) -> Option<&TierStrength> {
        self.strengths.iter().find(|s| s.tier == tier && s.pathway == pathway)
    }

    /// The step that covers a distance; a distance that is no number takes the last.
    pub(super) fn step(&self, of: DecayKind, distance_m: f64) -> Option<&DecayStep> {
        let mut steps = self.steps.iter().filter(|step| step.of == of);
        steps.find(|step| step.up_to_m.is_none_or(|up_to| distance_m <= up_to))
    }

    pub(super) fn weakening(&self, id: &str) -> Option<&Weakening> {
        self.weakenings.iter().find(|w| w.id == id)
    }
}
