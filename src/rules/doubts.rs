//! What does each doubtful fact cost, when one asks what would have to be wrong on the map?

use serde::Deserialize;

use super::source::{DataFile, Source, fault};
use crate::error::Result;

pub(super) const FILE: &str = "doubt_costs.toml";

macro_rules! doubts {
    ($($variant:ident $word:literal $meaning:literal,)*) => {
        /// A fact of the map that may be wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Doubt { $(#[doc = $meaning] $variant,)* }

        impl Doubt {
            /// Every kind of fact.
            pub const ALL: &'static [Doubt] = &[$(Doubt::$variant,)*];

            /// Its word in the data file and in exports.
            pub fn word(self) -> &'static str {
                match self { $(Doubt::$variant => $word,)* }
            }
        }
    };
}

doubts! {
    ReverseContradicted "reverse_contradicted" "A direction that another source contradicts.",
    ReverseAssumed "reverse_assumed" "A direction that was assumed.",
    ReverseAny "reverse_any" "A direction against which nothing speaks.",
    OverflowCarries "overflow_carries" "An overflow that is taken to be dry.",
    BridgeGap "bridge_gap" "A gap that the network reports.",
    JoinEnds "join_ends" "Two ends that nothing joins.",
    ReviveUnknown "revive_unknown" "A conduit of unknown status.",
    ReviveAbandoned "revive_abandoned" "An abandoned conduit.",
    ReviveProposed "revive_proposed" "A proposed conduit.",
    ReviveRemoved "revive_removed" "A removed conduit.",
    EnterCombined "enter_combined" "A combined sewer.",
    EnterSanitary "enter_sanitary" "A sanitary sewer.",
    UnmappedConnection "unmapped_connection" "A connection of the property that no map shows.",
}

/// What a doubtful fact costs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoubtCost {
    /// The kind of fact.
    pub id: Doubt,
    /// Thousandths.
    pub cost_milli: u32,
    /// Thousandths for each metre, where the fact has a length.
    #[serde(default)]
    pub per_metre_milli: u32,
    /// What would have to be so, in words.
    pub words: String,
    /// Where this comes from.
    pub source: Source,
}

impl DoubtCost {
    /// The cost of a fact of this length, thousandths.
    pub fn of_milli(&self, length_m: f64) -> u64 {
        // Below a thousandth of a metre the length costs nothing; beyond any map it is bounded.
        let along = (length_m.clamp(0.0, 1e9) * f64::from(self.per_metre_milli)).round() as u64;
        u64::from(self.cost_milli) + along
    }
}

/// How far apart two things may be to be thought joined.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reach {
    id: Doubt,
    up_to_m: f64,
    source: Source,
}

/// How well an exclusion stands.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    /// The stable word: weak, fair, strong.
    pub id: String,
    /// Up to and with this cost, thousandths; absent in the last.
    pub up_to_milli: Option<u64>,
    /// What it says to a reader.
    pub words: String,
    /// Where this comes from.
    pub source: Source,
}

/// The whole file.
#[derive(Clone, Debug, PartialEq)]
pub struct DoubtCosts {
    costs: Vec<DoubtCost>,
    reaches: Vec<Reach>,
    standings: Vec<Standing>,
}

pub(super) fn read(text: &str) -> Result<DoubtCosts> {
    let mut file = DataFile::parse(FILE, text)?;
    let mut costs: Vec<DoubtCost> = file.entries("doubt")?;
    let (reaches, standings) = (file.entries::<Reach>("reach")?, file.entries::<Standing>("standing")?);
    file.finish()?;
    for doubt in Doubt::ALL {
        let so_many = costs.iter().filter(|c| c.id == *doubt).count();
        if so_many != 1 {
            return Err(fault(FILE, &format!("doubt {}", doubt.word()), "id", format!("stands {so_many} times, expected once")));
        }
    }
    // Free doubts would make every exclusion void.
    if let Some(free) = costs.iter().find(|c| c.cost_milli == 0) {
        return Err(fault(FILE, &format!("doubt {}", free.id.word()), "cost_milli", "must be greater than 0"));
    }
    costs.sort_by_key(|c| c.id);
    for doubt in [Doubt::JoinEnds, Doubt::UnmappedConnection] {
        let mut of = reaches.iter().filter(|r| r.id == doubt);
        let (first, more) = (of.next(), of.next());
        if more.is_some() || first.is_none_or(|r| !(0.0..=1000.0).contains(&r.up_to_m)) {
            return Err(fault(FILE, &format!("reach {}", doubt.word()), "up_to_m", "must stand once, from 0 to 1000 metres"));
        }
    }
    if let Some(other) = reaches.iter().find(|r| !matches!(r.id, Doubt::JoinEnds | Doubt::UnmappedConnection)) {
        return Err(fault(FILE, &format!("reach {}", other.id.word()), "id", "has no reach"));
    }
    if standings.last().is_none_or(|last| last.up_to_milli.is_some()) {
        return Err(fault(FILE, "standing", "up_to_milli", "the last step must have none, so that every cost is covered"));
    }
    if standings.windows(2).any(|pair| pair[0].up_to_milli.is_none_or(|low| low >= pair[1].up_to_milli.unwrap_or(u64::MAX))) {
        return Err(fault(FILE, "standing", "up_to_milli", "must grow from step to step"));
    }
    Ok(DoubtCosts { costs, reaches, standings })
}

impl DoubtCosts {
    /// What a kind of fact costs.
    pub fn cost(&self, doubt: Doubt) -> &DoubtCost {
        // Reading the file made sure that every kind stands once, and sorted them.
        &self.costs[doubt as usize]
    }

    /// How far apart two things may be to be thought joined by this, metres; 0 for facts without a reach.
    pub fn reach_m(&self, doubt: Doubt) -> f64 {
        self.reaches.iter().find(|r| r.id == doubt).map_or(0.0, |r| r.up_to_m)
    }

    /// How well an exclusion stands that this cost would overturn; `None` in the cost: nothing would.
    pub fn standing(&self, cost_milli: Option<u64>) -> &Standing {
        let covers = |s: &&Standing| s.up_to_milli.is_none_or(|most| cost_milli.is_some_and(|cost| cost <= most));
        // Reading the file made sure that there is a last step without a bound.
        self.standings.iter().find(covers).unwrap_or(&self.standings[self.standings.len() - 1])
    }
}
