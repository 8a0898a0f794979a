//! What stands in a profile: one struct for each sort of entry, in the words of the data files.

use std::fmt;

use jiff::civil::{Date, DateTime};
use serde::Deserialize;

use crate::data_file::{Source, civil_date};
use crate::error::Result;

use super::calendar::Calendar;
use super::clock::{Basis, Counting, Due, Unit, due};

/// Where in the text an entry stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// The section's number, only where the text that was read gives it.
    pub section: Option<String>,
    /// The section's place in the order of the text, where its number was not in what was read.
    pub order: Option<u8>,
    /// The paragraph within it.
    pub paragraph: Option<String>,
    /// Rows of the reading table: the facts of the text, numbered in the order of reading.
    #[serde(default)]
    pub rows: Vec<u8>,
}

impl Citation {
    /// Whether it says where.
    pub fn says_where(&self) -> bool {
        self.section.is_some() || self.order.is_some()
    }
}

impl fmt::Display for Citation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.section, self.order) {
            (Some(section), _) => write!(f, "§{section}")?,
            (None, Some(order)) => write!(f, "section no. {order} in the order of the text")?,
            (None, None) => f.write_str("place not known")?,
        }
        if let Some(paragraph) = &self.paragraph {
            write!(f, ", {paragraph}")?;
        }
        match self.rows.as_slice() {
            [] => Ok(()),
            [row] => write!(f, " (row {row})"),
            rows => write!(f, " (rows {})", rows.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// Somebody who has a duty or a power.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// Its stable word.
    pub id: String,
    /// Its name as the text has it.
    pub words: String,
    /// Where it comes from.
    pub source: Source,
}

/// What a term means.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Its stable word.
    pub id: String,
    /// The term.
    pub term: String,
    /// Whether the text that was read has the term, or it was told from how the text uses it.
    pub term_basis: Basis,
    /// What it means, in our words.
    pub words: String,
    /// Where it stands.
    pub at: Citation,
    /// Gaps that concern it.
    #[serde(default)]
    pub gaps: Vec<String>,
    /// Where it comes from.
    pub source: Source,
}

/// A limb of the definition of an illicit connection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IllicitLimb {
    /// `a` or `b`.
    pub id: String,
    /// What it covers, in our words.
    pub words: String,
    /// What it says of a connection that may carry such water; for limb (a).
    pub reason: Option<String>,
    /// What the water is called and which signatures may be it (the signatures are a judgement of ours).
    #[serde(default)]
    pub carries: Vec<Carried>,
    /// Where it stands.
    pub at: Citation,
    /// Where it comes from.
    pub source: Source,
}

/// Water that a connection carries.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carried {
    /// The text's word.
    pub words: String,
    /// Signatures that may be it.
    pub signatures: Vec<String>,
}

/// A prohibition, allowance or other provision.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provision {
    /// Its stable word.
    pub id: String,
    /// What it says, in our words.
    pub words: String,
    /// Its parts, where it has some.
    #[serde(default)]
    pub parts: Vec<String>,
    /// Where it stands; absent where the text was not read.
    pub at: Option<Citation>,
    /// Gaps that concern it.
    #[serde(default)]
    pub gaps: Vec<String>,
    /// Where it comes from.
    pub source: Source,
}

/// A category of discharge that the prohibition leaves out.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exemption {
    /// `E1` to `E15`: the categories that the signatures name.
    pub id: String,
    /// What it is.
    pub words: String,
    /// What has to hold.
    pub condition: Option<String>,
    /// A measurement that the condition names.
    pub limit: Option<Limit>,
    /// Whether this law lists the category at all.
    #[serde(default = "yes")]
    pub exempt: bool,
    /// The determination by which it is no longer exempt, where there is one.
    pub revoked: Option<Revocation>,
    /// Where it stands.
    pub at: Citation,
    /// Where it comes from.
    pub source: Source,
}

fn yes() -> bool {
    true
}

/// The upper end of a measurement; the number itself is outside.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// What is measured.
    pub parameter: String,
    /// Below this.
    pub below: f64,
    /// The unit.
    pub unit: String,
    /// Whether the text says typically: then it is a presumption.
    pub typically: bool,
}

/// A determination that a category is no longer exempt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revocation {
    /// By whom.
    pub by: String,
    /// From which day.
    #[serde(deserialize_with = "civil_date")]
    pub on: Date,
    /// Where it stands.
    pub citation: String,
}

/// What can be presumed of an exempt category. Nobody but the agency decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Presumption {
    /// Exempt if its condition holds.
    PresumedExempt,
    /// The reading is at or above the limit.
    NotPresumed,
    /// A reading is needed and there is none.
    Undetermined,
    /// Revoked before that day, or not listed.
    NotExempt,
}

impl Presumption {
    /// Its stable word.
    pub fn word(self) -> &'static str {
        match self {
            Presumption::PresumedExempt => "presumed_exempt",
            Presumption::NotPresumed => "not_presumed",
            Presumption::Undetermined => "undetermined",
            Presumption::NotExempt => "not_exempt",
        }
    }
}

impl Exemption {
    /// Whether the category is exempt on a day.
    pub fn listed_on(&self, day: Date) -> bool {
        self.exempt && self.revoked.as_ref().is_none_or(|r| day < r.on)
    }

    /// What can be presumed on a day, with a reading in the limit's unit where there is one.
    pub fn presumption(&self, day: Date, reading: Option<f64>) -> Presumption {
        if !self.listed_on(day) {
            return Presumption::NotExempt;
        }
        match (&self.limit, reading.filter(|r| r.is_finite() && *r >= 0.0)) {
            (None, _) => Presumption::PresumedExempt,
            (Some(_), None) => Presumption::Undetermined,
            (Some(limit), Some(reading)) if reading < limit.below => Presumption::PresumedExempt,
            (Some(_), Some(_)) => Presumption::NotPresumed,
        }
    }

    /// One sentence for people, without a full stop.
    pub fn sentence(&self, day: Date) -> String {
        let name = format!("{} {}", self.id, self.words);
        match (&self.revoked, self.exempt) {
            (_, false) => format!("{name}: not exempt by this law"),
            (Some(r), _) if day >= r.on => format!("{name}: no longer exempt since {} ({}, {})", r.on, r.by, r.citation),
            _ => match &self.condition {
                Some(condition) => format!("{name}: presumed exempt {condition}"),
                None => format!("{name}: presumed exempt"),
            },
        }
    }
}

/// One of the four special conditions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecialCondition {
    /// `SC1` to `SC4`.
    pub id: String,
    /// Which.
    pub kind: SpecialConditionKind,
    /// When it applies.
    pub trigger: String,
    /// What the municipality then has to do.
    pub duty: String,
    /// The clock that it starts, if any.
    pub clock: Option<String>,
    /// Where it stands.
    pub at: Citation,
    /// Gaps that concern it.
    #[serde(default)]
    pub gaps: Vec<String>,
    /// Where it comes from.
    pub source: Source,
}

/// Which special condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum SpecialConditionKind {
    WaterQualityStandards,
    ListedWater,
    Tmdl,
    FutureTmdl,
}

impl SpecialConditionKind {
    /// Its stable word.
    pub fn word(self) -> &'static str {
        match self {
            SpecialConditionKind::WaterQualityStandards => "water_quality_standards",
            SpecialConditionKind::ListedWater => "listed_water",
            SpecialConditionKind::Tmdl => "tmdl",
            SpecialConditionKind::FutureTmdl => "future_tmdl",
        }
    }
}

/// Whether it must be done or may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A duty.
    Must,
    /// A power or right.
    May,
}

/// Something that somebody must or may do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Duty {
    /// Its stable word.
    pub id: String,
    /// Whose.
    pub who: String,
    /// Must or may.
    pub standing: Standing,
    /// What, in our words; fits after "must" or "may".
    pub words: String,
    /// Its parts, where it has some.
    #[serde(default)]
    pub parts: Vec<String>,
    /// Its clocks, if any.
    #[serde(default)]
    pub clocks: Vec<String>,
    /// Where it stands; absent where the text was not read.
    pub at: Option<Citation>,
    /// Gaps that concern it.
    #[serde(default)]
    pub gaps: Vec<String>,
    /// Where it comes from.
    pub source: Source,
}

/// Who confirmed a clock's number, where that is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirmation {
    /// Who.
    pub by: String,
    /// When.
    #[serde(deserialize_with = "civil_date")]
    pub on: Date,
    /// Where the number stands.
    pub citation: String,
}

/// A period after which something is due.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// Its stable word.
    pub id: String,
    /// What is due.
    pub words: String,
    /// Whose duty.
    pub who: String,
    /// What starts it.
    pub start: String,
    /// Whether the text states the start.
    pub start_basis: Basis,
    /// How long.
    pub length: u16,
    /// In what.
    pub unit: Unit,
    /// Whether the text states length and unit.
    pub basis: Basis,
    /// Whether it starts anew each time it ends.
    #[serde(default)]
    pub recurring: bool,
    /// Whether the number was read from its source; without that, nothing is ever due by it.
    pub confirmed: bool,
    /// Who confirmed a number that Headwall's makers had not read.
    pub confirmation: Option<Confirmation>,
    /// Where it stands; absent where the text was not read.
    pub at: Option<Citation>,
    /// Gaps that concern it.
    #[serde(default)]
    pub gaps: Vec<String>,
    /// Where it comes from.
    pub source: Source,
}

impl Clock {
    /// When it is due; `None` while its number is not confirmed.
    ///
    /// # Errors
    /// A date beyond the calendar.
    pub fn due(&self, start: DateTime, counting: &Counting, calendar: &Calendar) -> Result<Option<Due>> {
        if !self.confirmed {
            return Ok(None);
        }
        let mut due = due(start, self.length, self.unit, counting, calendar)?;
        if self.start_basis == Basis::Assumed {
            due.basis.push_str(&format!("; start assumed: {}", self.start));
        }
        if self.basis == Basis::Assumed {
            due.basis.push_str("; length assumed");
        }
        Ok(Some(due))
    }
}

/// A time limit that the text leaves to somebody else or does not give.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenDeadline {
    /// Its stable word.
    pub id: String,
    /// What for, and who or what sets it.
    pub words: String,
    /// Where it stands.
    pub at: Citation,
    /// Gaps that concern it.
    #[serde(default)]
    pub gaps: Vec<String>,
    /// Where it comes from.
    pub source: Source,
}

/// What may follow a violation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sanction {
    /// Its stable word.
    pub id: String,
    /// What, in our words.
    pub words: String,
    /// Its parts or conditions, where it has some.
    #[serde(default)]
    pub parts: Vec<String>,
    /// Dollars per violation and day, where it is such a penalty.
    pub dollars_per_violation_day: Option<u32>,
    /// Longest imprisonment in days, where it is such a penalty.
    pub imprisonment_days: Option<u16>,
    /// Where it stands.
    pub at: Citation,
    /// Gaps that concern it.
    #[serde(default)]
    pub gaps: Vec<String>,
    /// Where it comes from.
    pub source: Source,
}

/// What the text that was read does not say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// `G1` and on.
    pub id: String,
    /// What is missing.
    pub words: String,
    /// What is certain all the same.
    pub certain: String,
    /// What must not be assumed.
    pub not_assumed: String,
    /// Who noticed it, or where.
    pub source: Source,
}

/// Which release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpillKind {
    /// Hazardous materials.
    Hazardous,
    /// Other materials.
    NonHazardous,
    /// Any.
    Any,
}

impl SpillKind {
    /// Its stable word.
    pub fn word(self) -> &'static str {
        match self {
            SpillKind::Hazardous => "hazardous",
            SpillKind::NonHazardous => "non_hazardous",
            SpillKind::Any => "any",
        }
    }

    /// Its words for people.
    pub fn words(self) -> &'static str {
        match self {
            SpillKind::Hazardous => "hazardous",
            SpillKind::NonHazardous => "not hazardous",
            SpillKind::Any => "in any case",
        }
    }
}

/// What to do in a spill, and whom to call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpillCall {
    /// Its stable word.
    pub id: String,
    /// For which release.
    pub kind: SpillKind,
    /// Whose duty.
    pub who: String,
    /// What, to whom and how; fits after the role.
    pub words: String,
    /// A telephone number or other way, where the town has put one in.
    pub contact: Option<String>,
    /// Its clock.
    pub clock: Option<String>,
    /// Where it stands.
    pub at: Citation,
    /// Where it comes from.
    pub source: Source,
}
