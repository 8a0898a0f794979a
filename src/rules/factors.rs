//! What else speaks for or against a premises, how much, and in which words? And what else than a premises could it be?

use std::fmt;

use serde::Deserialize;

use super::source::{DataFile, Source, fault};
use crate::error::Result;

pub(super) const FILE: &str = "candidate_factors.toml";

/// Factors that the code asks for by name; a file without one of them is refused.
pub(super) const NEEDED: &[&str] = &[
    "pointed_strong",
    "pointed_moderate",
    "pointed_weak",
    "not_pointed",
    "class_high",
    "class_medium",
    "class_low",
    "land_use_unknown",
    "business_unknown",
    "private_sewer",
    "built_over_40_years_ago",
    "built_20_to_40_years_ago",
    "undocumented_connection",
    "business_present",
    "permit_present",
    "vacant",
];

/// What is known about a factor at a premises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Known {
    /// It holds there.
    Holds,
    /// It does not.
    Otherwise,
    /// Nobody knows, or the layer is absent.
    Unknown,
}

/// Something that makes a premises more or less likely.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factor {
    /// Its stable word.
    pub id: String,
    /// The weight where it holds; 1000 changes nothing.
    pub factor_milli: u32,
    /// The weight where it is known not to hold.
    #[serde(default = "neutral")]
    pub otherwise_milli: u32,
    /// Signatures for which it counts; empty: all.
    #[serde(default)]
    pub signatures: Vec<String>,
    /// What is said where it holds.
    pub holds: String,
    /// What is said where it does not.
    pub otherwise: Option<String>,
    /// What is said where nobody knows.
    pub unknown: Option<String>,
    /// Where this comes from.
    pub source: Source,
    /// Where the weight comes from, if not from the same source: absent means that the weight is assumed.
    pub weight_source: Option<String>,
}

fn neutral() -> u32 {
    1000
}

/// Which way a reason leans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leaning {
    /// Towards the premises.
    For,
    /// Away from it.
    Against,
    /// Neither: said because it is not known, or for completeness.
    Neither,
}

impl Leaning {
    /// The way a weight leans.
    pub fn of(factor_milli: u32) -> Self {
        match factor_milli {
            0..1000 => Leaning::Against,
            1000 => Leaning::Neither,
            _ => Leaning::For,
        }
    }
}

/// One reason for or against a premises, as people read it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The sentence, without a full stop.
    pub text: String,
    /// Which way it leans.
    pub leaning: Leaning,
    /// Its weight; 1000 changes nothing.
    pub factor_milli: u32,
    /// Where the fact comes from.
    pub source: Source,
    /// Whether the weight is a judgement rather than the source's.
    pub assumed: bool,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}", self.text, self.source)?;
        if self.assumed && !self.source.assumed() {
            f.write_str("; weight assumed")?;
        }
        f.write_str("]")
    }
}

impl Factor {
    /// Whether it counts for a signature.
    pub fn counts_for(&self, signature: &str) -> bool {
        self.signatures.is_empty() || self.signatures.iter().any(|s| s == signature)
    }

    /// The weight of what is known; not knowing changes nothing.
    pub fn weight_milli(&self, known: Known) -> u32 {
        match known {
            Known::Holds => self.factor_milli,
            Known::Otherwise => self.otherwise_milli,
            Known::Unknown => 1000,
        }
    }

    /// What is to be said, if anything is.
    pub fn reason(&self, known: Known) -> Option<Reason> {
        let text = match known {
            Known::Holds => Some(&self.holds),
            Known::Otherwise => self.otherwise.as_ref(),
            Known::Unknown => self.unknown.as_ref(),
        };
        text.map(|text| self.say(known, text.clone()))
    }

    /// The same with words of the caller's own.
    pub fn say(&self, known: Known, text: String) -> Reason {
        let factor_milli = self.weight_milli(known);
        let assumed = self.weight_source.is_none();
        Reason { text, leaning: Leaning::of(factor_milli), factor_milli, source: self.source.clone(), assumed }
    }
}

/// Another explanation than a mapped premises.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hypothesis {
    /// Its stable word.
    pub id: String,
    /// What people read in the list of candidates.
    pub words: String,
    /// Its weight beside a plain house (1000), before the signature speaks.
    pub prior_milli: u32,
    /// How to find out.
    pub check: String,
    /// Where this comes from.
    pub source: Source,
}

pub(super) fn read(text: &str) -> Result<(Vec<Factor>, Vec<Hypothesis>)> {
    let mut file = DataFile::parse(FILE, text)?;
    let (factors, hypotheses): (Vec<Factor>, Vec<Hypothesis>) = (file.entries("factor")?, file.entries("hypothesis")?);
    file.finish()?;
    if let Some(missing) = NEEDED.iter().find(|id| !factors.iter().any(|f| f.id == **id)) {
        return Err(fault(FILE, &format!("factor {missing}"), "id", "is missing"));
    }
    let twice = |kind: &str, ids: Vec<&String>| {
        let again = ids.iter().enumerate().find(|(at, id)| ids[..*at].contains(id));
        again.map_or(Ok(()), |(_, id)| Err(fault(FILE, &format!("{kind} {id}"), "id", "stands twice")))
    };
    twice("factor", factors.iter().map(|f| &f.id).collect())?;
    twice("hypothesis", hypotheses.iter().map(|h| &h.id).collect())?;
    Ok((factors, hypotheses))
}
