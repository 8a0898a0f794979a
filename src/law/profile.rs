//! What does one local law say? Its data file, read and checked.

use std::collections::BTreeMap;

use jiff::civil::{Date, DateTime};

use crate::data_file::{Certainty, DataFile, Source, fault};
use crate::error::Result;

use super::calendar::Calendar;
use super::clock::{Counting, Due};
use super::entries::*;

/// A local law.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// The name by which a town chooses it.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Where it holds.
    pub jurisdiction: String,
    /// How it came into force.
    pub adopted: String,
    /// What to know about the text that was read.
    pub note: String,
    /// How days are counted.
    pub counting: Counting,
    /// The public holidays.
    pub calendar: Calendar,
    /// Who is who.
    pub roles: Vec<Role>,
    /// What the terms mean.
    pub definitions: Vec<Definition>,
    /// The limbs of the definition of an illicit connection.
    pub illicit_limbs: Vec<IllicitLimb>,
    /// Scope, prohibitions and allowances.
    pub provisions: Vec<Provision>,
    /// Exempt categories.
    pub exemptions: Vec<Exemption>,
    /// What takes a category out again.
    pub exemptions_note: String,
    /// The special conditions.
    pub special_conditions: Vec<SpecialCondition>,
    /// Duties and powers.
    pub duties: Vec<Duty>,
    /// Clocks.
    pub clocks: Vec<Clock>,
    /// Time limits that the text does not give.
    pub open_deadlines: Vec<OpenDeadline>,
    /// Sanctions.
    pub sanctions: Vec<Sanction>,
    /// Whom to call in a spill.
    pub spill_calls: Vec<SpillCall>,
    /// Signatures that may be a spill for which the block is shown unasked (a judgement).
    pub spill_signatures: Vec<String>,
    /// What the text that was read does not say.
    pub gaps: Vec<Gap>,
}

impl Law {
    /// The exempt category of an id.
    pub fn exemption(&self, id: &str) -> Option<&Exemption> {
        self.exemptions.iter().find(|e| e.id == id)
    }

    /// The clock of an id.
    pub fn clock(&self, id: &str) -> Option<&Clock> {
        self.clocks.iter().find(|c| c.id == id)
    }

    /// The limb of the definition of an illicit connection: `a` or `b`.
    pub fn limb(&self, id: &str) -> Option<&IllicitLimb> {
        self.illicit_limbs.iter().find(|l| l.id == id)
    }

    /// The role's name for people; its id where it has none.
    pub fn role_words<'a>(&'a self, id: &'a str) -> &'a str {
        self.roles.iter().find(|r| r.id == id).map_or(id, |r| &r.words)
    }

    /// A citation of this law as the source of a reason.
    pub fn cite(&self, at: &Citation) -> Source {
        Source { text: format!("{}, {at}", self.title), certainty: Certainty::Read }
    }

    /// When a clock is due that starts at a moment; `None` for an unknown or unconfirmed one.
    ///
    /// # Errors
    /// A date beyond the calendar.
    pub fn due(&self, clock: &str, start: DateTime) -> Result<Option<Due>> {
        self.clock(clock).map_or(Ok(None), |c| c.due(start, &self.counting, &self.calendar))
    }

    /// The end of a clock as a line for people: `none` where it has no date.
    ///
    /// # Errors
    /// A date beyond the calendar.
    pub fn due_on(&self, clock: &str, start: Date) -> Result<Option<Due>> {
        self.due(clock, start.at(0, 0, 0, 0))
    }

    /// Every signature that the file names, with the entry that does.
    pub fn named_signatures(&self) -> Vec<(String, &str)> {
        let of_limbs = self.illicit_limbs.iter().flat_map(|limb| {
            limb.carries.iter().flat_map(move |c| c.signatures.iter().map(move |s| (format!("illicit_limb {}", limb.id), s.as_str())))
        });
        of_limbs.chain(self.spill_signatures.iter().map(|s| ("spill_signatures".to_owned(), s.as_str()))).collect()
    }
}

pub(super) fn read(file_name: &str, name: &str, text: &str, calendars: &BTreeMap<String, Calendar>) -> Result<Law> {
    let mut file = DataFile::parse(file_name, text)?;
    let calendar = calendar_of(file_name, &mut file, calendars)?;
    let law = Law {
        name: name.to_owned(),
        title: file.head("title")?,
        jurisdiction: file.head("jurisdiction")?,
        adopted: file.head("adopted")?,
        note: file.head("note")?,
        counting: counting_of(file_name, &mut file)?,
        calendar,
        roles: file.entries("role")?,
        definitions: file.entries("definition")?,
        illicit_limbs: file.entries("illicit_limb")?,
        provisions: file.entries("provision")?,
        exemptions: file.entries("exemption")?,
        exemptions_note: file.head("exemptions_note")?,
        special_conditions: file.entries("special_condition")?,
        duties: file.entries("duty")?,
        clocks: file.entries("clock")?,
        open_deadlines: file.optional_entries("open_deadline")?,
        sanctions: file.entries("sanction")?,
        spill_calls: file.entries("spill_call")?,
        spill_signatures: file.head("spill_signatures")?,
        gaps: file.optional_entries("gap")?,
    };
    file.finish()?;
    let checks = Checks { file: file_name, roles: &law.roles, clocks: &law.clocks, gaps: &law.gaps };
    law.definitions.iter().try_for_each(|e| checks.entry("definition", &e.id, Some(&e.at), &e.gaps))?;
    law.illicit_limbs.iter().try_for_each(|e| checks.entry("illicit_limb", &e.id, Some(&e.at), &[]))?;
    law.provisions.iter().try_for_each(|e| checks.entry("provision", &e.id, e.at.as_ref(), &e.gaps))?;
    law.exemptions.iter().try_for_each(|e| {
        checks.entry("exemption", &e.id, Some(&e.at), &[])?;
        match &e.limit {
            Some(limit) if !limit.below.is_finite() => Err(fault(file_name, &format!("exemption {}", e.id), "limit", "is not a number")),
            _ => Ok(()),
        }
    })?;
    law.special_conditions.iter().try_for_each(|e| {
        checks.entry("special_condition", &e.id, Some(&e.at), &e.gaps)?;
        checks.clocks("special_condition", &e.id, e.clock.as_slice())
    })?;
    checks.duties(&law.duties, true)?;
    checks.clock_entries(&law.clocks, true)?;
    law.open_deadlines.iter().try_for_each(|e| checks.entry("open_deadline", &e.id, Some(&e.at), &e.gaps))?;
    law.sanctions.iter().try_for_each(|e| checks.entry("sanction", &e.id, Some(&e.at), &e.gaps))?;
    law.spill_calls.iter().try_for_each(|e| {
        checks.entry("spill_call", &e.id, Some(&e.at), &[])?;
        checks.role("spill_call", &e.id, &e.who)?;
        checks.clocks("spill_call", &e.id, e.clock.as_slice())
    })?;
    checks.once("role", law.roles.iter().map(|e| &e.id))?;
    checks.once("definition", law.definitions.iter().map(|e| &e.id))?;
    checks.once("illicit_limb", law.illicit_limbs.iter().map(|e| &e.id))?;
    checks.once("provision", law.provisions.iter().map(|e| &e.id))?;
    checks.once("exemption", law.exemptions.iter().map(|e| &e.id))?;
    checks.once("special_condition", law.special_conditions.iter().map(|e| &e.id))?;
    checks.once("sanction", law.sanctions.iter().map(|e| &e.id))?;
    checks.once("gap", law.gaps.iter().map(|e| &e.id))?;
    Ok(law)
}

/// The calendar that a file names in its head.
pub(super) fn calendar_of(file_name: &str, file: &mut DataFile, calendars: &BTreeMap<String, Calendar>) -> Result<Calendar> {
    let name: String = file.head("holidays")?;
    calendars
        .get(&name)
        .cloned()
        .ok_or_else(|| fault(file_name, "the head", "holidays", format!("\"{name}\" is no calendar: there is no law/holidays-{name}.toml")))
}

/// The one rule of counting.
pub(super) fn counting_of(file_name: &str, file: &mut DataFile) -> Result<Counting> {
    let mut all: Vec<Counting> = file.entries("counting")?;
    match (all.pop(), all.len()) {
        (Some(counting), 0) => Ok(counting),
        _ => Err(fault(file_name, "counting", "id", "stands not exactly once")),
    }
}

/// Names in a file that must stand elsewhere in it.
pub(super) struct Checks<'a> {
    pub(super) file: &'a str,
    pub(super) roles: &'a [Role],
    pub(super) clocks: &'a [Clock],
    pub(super) gaps: &'a [Gap],
}

impl Checks<'_> {
    /// Every entry says where it stands, or which gap keeps it from saying so.
    pub(super) fn entry(&self, list: &str, id: &str, at: Option<&Citation>, gaps: &[String]) -> Result<()> {
        let label = format!("{list} {id}");
        if !at.is_some_and(Citation::says_where) && gaps.is_empty() {
            return Err(fault(self.file, &label, "at", "has neither a citation (section or order) nor a gap"));
        }
        match gaps.iter().find(|gap| !self.gaps.iter().any(|g| g.id == **gap)) {
            Some(gap) => Err(fault(self.file, &label, "gaps", format!("\"{gap}\" is no gap of this file"))),
            None => Ok(()),
        }
    }

    pub(super) fn role(&self, list: &str, id: &str, who: &str) -> Result<()> {
        if self.roles.iter().any(|r| r.id == who) {
            return Ok(());
        }
        Err(fault(self.file, &format!("{list} {id}"), "who", format!("\"{who}\" is no role of this file")))
    }

    pub(super) fn clocks(&self, list: &str, id: &str, named: &[String]) -> Result<()> {
        match named.iter().find(|clock| !self.clocks.iter().any(|c| c.id == **clock)) {
            Some(clock) => Err(fault(self.file, &format!("{list} {id}"), "clock", format!("\"{clock}\" is no clock of this file"))),
            None => Ok(()),
        }
    }

    pub(super) fn duties(&self, duties: &[Duty], cited: bool) -> Result<()> {
        for duty in duties {
            if cited {
                self.entry("duty", &duty.id, duty.at.as_ref(), &duty.gaps)?;
            }
            self.role("duty", &duty.id, &duty.who)?;
            self.clocks("duty", &duty.id, &duty.clocks)?;
        }
        self.once("duty", duties.iter().map(|d| &d.id))
    }

    /// A clock is confirmed by having been read, or by somebody who names where its number stands.
    pub(super) fn clock_entries(&self, clocks: &[Clock], cited: bool) -> Result<()> {
        for clock in clocks {
            let label = format!("clock {}", clock.id);
            if cited {
                self.entry("clock", &clock.id, clock.at.as_ref(), &clock.gaps)?;
            }
            self.role("clock", &clock.id, &clock.who)?;
            let by_somebody = clock.confirmation.as_ref().is_some_and(|c| !c.by.trim().is_empty() && !c.citation.trim().is_empty());
            if clock.confirmed && clock.source.certainty != Certainty::Read && !by_somebody {
                let message = "is confirmed although its source was not read: it needs confirmation = { by, on, citation }";
                return Err(fault(self.file, &label, "confirmed", message));
            }
            if (clock.length == 0) != (clock.unit == super::Unit::Immediately) {
                return Err(fault(self.file, &label, "length", "is 0 for what is due immediately, and only then"));
            }
        }
        self.once("clock", clocks.iter().map(|c| &c.id))
    }

    pub(super) fn once<'a>(&self, list: &str, ids: impl Iterator<Item = &'a String>) -> Result<()> {
        let mut seen = std::collections::BTreeSet::new();
        for id in ids {
            if !seen.insert(id) {
                return Err(fault(self.file, &format!("{list} {id}"), "id", "stands twice"));
            }
        }
        Ok(())
    }
}
