//! What does one discharge permit say? Its data file, read and checked; what was not read from the permit says so.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use serde::Deserialize;

use crate::data_file::{DataFile, Source, fault};
use crate::error::Result;
use crate::settings::Pattern;

use super::calendar::Calendar;
use super::clock::{Counting, Due};
use super::entries::*;
use super::profile::{Checks, calendar_of, counting_of};

/// A discharge permit.
#[derive(Clone, Debug, PartialEq)]
pub struct Permit {
    /// The name by which a town chooses it.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Who issued it.
    pub authority: String,
    /// Since when.
    pub effective: String,
    /// What to know about what was read.
    pub note: String,
    /// How days are counted.
    pub counting: Counting,
    /// The public holidays.
    pub calendar: Calendar,
    /// Who is who.
    pub roles: Vec<Role>,
    /// What else it says.
    pub provisions: Vec<Provision>,
    /// Kinds of monitoring locations.
    pub location_kinds: Vec<LocationKind>,
    /// Pollutants of concern.
    pub pollutants: Vec<PollutantOfConcern>,
    /// Duties.
    pub duties: Vec<Duty>,
    /// Clocks.
    pub clocks: Vec<Clock>,
    /// What is not known.
    pub gaps: Vec<Gap>,
}

/// A kind of monitoring location.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocationKind {
    /// Its stable word.
    pub id: String,
    /// What it is.
    pub words: String,
    /// Words of `outfall_kind` in the town file that are of this kind.
    pub outfall_kinds: Vec<String>,
    /// Where it comes from.
    pub source: Source,
}

/// A pollutant of concern.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PollutantOfConcern {
    /// Its stable word.
    pub id: String,
    /// Its name.
    pub words: String,
    /// Parameter names of the lists that mean it; `*` stands for any characters.
    pub parameters: Pattern,
    /// Parameter names that do not always count.
    #[serde(default)]
    pub doubtful_parameters: Pattern,
    /// Where the parameter names come from.
    pub parameters_source: String,
    /// Where it comes from.
    pub source: Source,
}

/// What a parameter name means to a permit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PollutantMatch<'a> {
    /// The pollutant.
    pub pollutant: &'a PollutantOfConcern,
    /// Whether the parameter does not always count.
    pub doubtful: bool,
}

impl Permit {
    /// The pollutant of concern that a parameter name of a list means; `None` where it is none.
    pub fn pollutant_of(&self, parameter: &str) -> Option<PollutantMatch<'_>> {
        let sure = self.pollutants.iter().find(|p| p.parameters.matches(parameter));
        let doubtful = || self.pollutants.iter().find(|p| p.doubtful_parameters.matches(parameter));
        sure.map(|pollutant| PollutantMatch { pollutant, doubtful: false })
            .or_else(|| doubtful().map(|pollutant| PollutantMatch { pollutant, doubtful: true }))
    }

    /// The kind of monitoring location of an outfall kind of the town file; `None` where it is none.
    pub fn location_kind(&self, outfall_kind: &str) -> Option<&LocationKind> {
        self.location_kinds.iter().find(|k| k.outfall_kinds.iter().any(|o| o == outfall_kind))
    }

    /// The clock of an id.
    pub fn clock(&self, id: &str) -> Option<&Clock> {
        self.clocks.iter().find(|c| c.id == id)
    }

    /// The role's name for people; its id where it has none.
    pub fn role_words<'a>(&'a self, id: &'a str) -> &'a str {
        self.roles.iter().find(|r| r.id == id).map_or(id, |r| &r.words)
    }

    /// When a clock is due that starts at a moment; `None` for an unknown or unconfirmed one.
    ///
    /// # Errors
    /// A date beyond the calendar.
    pub fn due(&self, clock: &str, start: DateTime) -> Result<Option<Due>> {
        self.clock(clock).map_or(Ok(None), |c| c.due(start, &self.counting, &self.calendar))
    }
}

pub(super) fn read(file_name: &str, name: &str, text: &str, calendars: &BTreeMap<String, Calendar>) -> Result<Permit> {
    let mut file = DataFile::parse(file_name, text)?;
    let calendar = calendar_of(file_name, &mut file, calendars)?;
    let permit = Permit {
        name: name.to_owned(),
        title: file.head("title")?,
        authority: file.head("authority")?,
        effective: file.head("effective")?,
        note: file.head("note")?,
        counting: counting_of(file_name, &mut file)?,
        calendar,
        roles: file.entries("role")?,
        provisions: file.entries("provision")?,
        location_kinds: file.entries("location_kind")?,
        pollutants: file.entries("pollutant")?,
        duties: file.entries("duty")?,
        clocks: file.entries("clock")?,
        gaps: file.optional_entries("gap")?,
    };
    file.finish()?;
    let checks = Checks { file: file_name, roles: &permit.roles, clocks: &permit.clocks, gaps: &permit.gaps };
    checks.duties(&permit.duties, false)?;
    checks.clock_entries(&permit.clocks, false)?;
    checks.once("role", permit.roles.iter().map(|e| &e.id))?;
    checks.once("provision", permit.provisions.iter().map(|e| &e.id))?;
    checks.once("location_kind", permit.location_kinds.iter().map(|e| &e.id))?;
    checks.once("pollutant", permit.pollutants.iter().map(|e| &e.id))?;
    for pollutant in &permit.pollutants {
        if pollutant.parameters_source.trim().is_empty() {
            return Err(fault(file_name, &format!("pollutant {}", pollutant.id), "parameters_source", "is empty"));
        }
    }
    Ok(permit)
}
