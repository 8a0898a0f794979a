//! What does a repair of the maps cost, when the cheapest set by which a stranded run drains is looked for?

use serde::Deserialize;

use super::source::{DataFile, Source, fault};
use crate::error::Result;

pub(super) const FILE: &str = "repairs.toml";

macro_rules! entries {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $text:literal $meaning:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $(#[doc = $meaning] $variant,)* }

        impl $name {
            /// Every one, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// Its id in the data file.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }
    };
}

entries! {
    /// What has a cost.
    RepairCost {
        ReverseInvertsAgree "reverse_inverts_agree" "Turning a conduit whose inverts fall the other way.",
        ReverseNoInverts "reverse_no_inverts" "Turning a conduit without two known inverts.",
        ReverseInvertsAgainst "reverse_inverts_against" "Turning a conduit whose inverts fall the way it flows.",
        Bridge "bridge" "A gap, before its length.",
        BridgeEachFoot "bridge_each_foot" "Each foot of a gap.",
        BridgeOntoSide "bridge_onto_side" "A gap that ends on the side of a line.",
        BridgeClimbs "bridge_climbs" "A gap beyond which the level is higher.",
        StatusUnknown "status_unknown" "A status code that nobody explained.",
        StatusInLine "status_in_line" "Out of use, yet live conduits lead into it.",
        StatusElsewhere "status_elsewhere" "Out of use, and no live conduit leads into it.",
        Attach "attach" "An outfall that no conduit reaches, before its distance.",
        AttachEachTenFeet "attach_each_10_ft" "Each ten feet to that outfall.",
        AttachByAssignment "attach_by_assignment" "An outfall to which the town's own attribute assigns a conduit above.",
    }
}

entries! {
    /// What has a limit.
    RepairLimit {
        Attach "attach" "Farthest distance from an outfall to a conduit's end.",
        LevelShift "level_shift" "Least shift of a group of levels.",
        LevelSpread "level_spread" "How far the steps of one shift may differ.",
        Climb "climb" "From where on a level counts as higher.",
        SameConduit "same_conduit" "How close a conduit of the source lies to the same one added by hand.",
    }
}

entries! {
    /// What is counted.
    RepairCount {
        UnsupportedChanges "unsupported_changes" "So many changes of one set may lack support.",
        LevelGroup "level_group" "So many conduits at least make a group of levels.",
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CountEntry {
    id: String,
    number: u32,
    words: String,
    source: Source,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CostEntry {
    id: String,
    points: u32,
    words: String,
    source: Source,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitEntry {
    id: String,
    metres: f64,
    words: String,
    source: Source,
}

/// Costs and limits of repairs, in force.
#[derive(Clone, Debug)]
pub struct Repairs {
    costs: Vec<CostEntry>,
    limits: Vec<LimitEntry>,
    counts: Vec<CountEntry>,
}

impl Repairs {
    /// The points of a cost.
    pub fn points(&self, of: RepairCost) -> u64 {
        self.costs.iter().find(|c| c.id == of.word()).map_or(0, |c| u64::from(c.points))
    }

    /// What a cost says to people.
    pub fn words(&self, of: RepairCost) -> &str {
        self.costs.iter().find(|c| c.id == of.word()).map_or("", |c| &c.words)
    }

    /// A limit, metres.
    pub fn limit_m(&self, of: RepairLimit) -> f64 {
        self.limits.iter().find(|l| l.id == of.word()).map_or(0.0, |l| l.metres)
    }

    /// A count.
    pub fn count(&self, of: RepairCount) -> usize {
        self.counts.iter().find(|c| c.id == of.word()).map_or(0, |c| c.number as usize)
    }

    /// Every cost, limit and count: id, number and unit, words, source.
    pub fn listed(&self) -> impl Iterator<Item = (&str, String, &str, &Source)> {
        let costs = self.costs.iter().map(|c| (c.id.as_str(), format!("{} points", c.points), c.words.as_str(), &c.source));
        let counts = self.counts.iter().map(|c| (c.id.as_str(), c.number.to_string(), c.words.as_str(), &c.source));
        costs.chain(counts).chain(self.limits.iter().map(|l| (l.id.as_str(), format!("{} m", l.metres), l.words.as_str(), &l.source)))
    }
}

pub(super) fn read(text: &str) -> Result<Repairs> {
    let mut file = DataFile::parse(FILE, text)?;
    let repairs = Repairs { costs: file.entries("cost")?, limits: file.entries("limit")?, counts: file.entries("count")? };
    file.finish()?;
    let once = |list: &str, known: Vec<&'static str>, found: Vec<&str>| -> Result<()> {
        for id in &known {
            let count = found.iter().filter(|f| *f == id).count();
            if count != 1 {
                return Err(fault(FILE, &format!("{list} {id}"), "id", format!("stands {count} times, expected once")));
            }
        }
        match found.iter().find(|f| !known.contains(f)) {
            Some(other) => Err(fault(FILE, &format!("{list} {other}"), "id", "is not known here".to_owned())),
            None => Ok(()),
        }
    };
    once("cost", RepairCost::ALL.iter().map(|c| c.word()).collect(), repairs.costs.iter().map(|c| c.id.as_str()).collect())?;
    once("limit", RepairLimit::ALL.iter().map(|l| l.word()).collect(), repairs.limits.iter().map(|l| l.id.as_str()).collect())?;
    once("count", RepairCount::ALL.iter().map(|c| c.word()).collect(), repairs.counts.iter().map(|c| c.id.as_str()).collect())?;
    if let Some(bad) = repairs.limits.iter().find(|l| !(l.metres > 0.0 && l.metres.is_finite())) {
        return Err(fault(FILE, &format!("limit {}", bad.id), "metres", "must be a number above 0".to_owned()));
    }
    Ok(repairs)
}
