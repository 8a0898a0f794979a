//! When does a period end? Calendar days, months and years, business days, hours; the start is an argument, and nothing here reads a clock.
//!
//! How days are counted is data of the profile, and every result says by which rule it was found.

use jiff::ToSpan;
use jiff::civil::{Date, DateTime, Weekday};
use serde::Deserialize;

use crate::data_file::Source;
use crate::error::{Error, Result};

use super::calendar::Calendar;

/// What a period is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// At once; its length is 0.
    Immediately,
    /// Hours from the moment.
    Hours,
    /// Calendar days.
    Days,
    /// Business days.
    BusinessDays,
    /// Calendar months.
    Months,
    /// Calendar years.
    Years,
}

impl Unit {
    /// Its word for a length.
    pub fn words(self, length: u16) -> String {
        let (one, many) = match self {
            Unit::Immediately => return "immediately".to_owned(),
            Unit::Hours => ("hour", "hours"),
            Unit::Days => ("day", "days"),
            Unit::BusinessDays => ("business day", "business days"),
            Unit::Months => ("calendar month", "calendar months"),
            Unit::Years => ("year", "years"),
        };
        format!("{length} {}", if length == 1 { one } else { many })
    }

    /// Its stable word.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Immediately => "immediately",
            Unit::Hours => "hours",
            Unit::Days => "days",
            Unit::BusinessDays => "business_days",
            Unit::Months => "months",
            Unit::Years => "years",
        }
    }
}

/// Whether something is stated in the text or filled in by us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The text says it.
    Stated,
    /// The text does not; somebody assumed it.
    Assumed,
}

impl Basis {
    /// The word people see.
    pub fn word(self) -> &'static str {
        match self {
            Basis::Stated => "stated",
            Basis::Assumed => "assumed",
        }
    }
}

/// How days are counted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counting {
    /// Its stable word.
    pub id: String,
    /// The rule in words.
    pub words: String,
    /// Whether the day on which something starts is itself day one.
    pub first_day_counts: bool,
    /// Whether a period that ends on a Saturday, Sunday or public holiday runs to the next business day.
    pub moves_to_business_day: bool,
    /// Where the rule comes from.
    pub source: Source,
}

/// When a period ends, and by which rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// The last day.
    pub on: Date,
    /// The moment, for hours and what is due at once.
    pub at: Option<DateTime>,
    /// The end before a weekend or holiday moved it; the cautious date.
    pub before_moving: Date,
    /// How it was counted, in words.
    pub basis: String,
}

/// The end of a period that starts at a moment.
///
/// # Errors
/// A date beyond the calendar.
pub fn due(start: DateTime, length: u16, unit: Unit, counting: &Counting, calendar: &Calendar) -> Result<Due> {
    let beyond = |cause: jiff::Error| Error::usage("the period ends beyond the calendar").cause(cause);
    let from = start.date();
    // Where the first day counts, a period ends one day earlier.
    let back = i64::from(counting.first_day_counts && length > 0);
    let end = match unit {
        Unit::Immediately => return Ok(moment(start, "at once")),
        Unit::Hours => {
            let at = start.checked_add(i64::from(length).hours()).map_err(beyond)?;
            return Ok(moment(at, &format!("{} from {start}", unit.words(length))));
        }
        Unit::Days => from.checked_add((i64::from(length) - back).days()),
        Unit::Months => from.checked_add(i64::from(length).months()).and_then(|d| d.checked_sub(back.days())),
        Unit::Years => from.checked_add(i64::from(length).years()).and_then(|d| d.checked_sub(back.days())),
        Unit::BusinessDays => business_days(from, length, counting.first_day_counts, calendar),
    }
    .map_err(beyond)?;
    let mut on = end;
    if counting.moves_to_business_day {
        while !is_business_day(on, calendar) {
            on = on.tomorrow().map_err(beyond)?;
        }
    }
    let mut basis = format!("{} from {from}; {}", unit.words(length), counting.words);
    if on != end {
        basis.push_str(&format!("; {} {end} is {}, so the next business day", weekday_word(end.weekday()), what_day(end, calendar)));
    }
    if counting.moves_to_business_day || unit == Unit::BusinessDays {
        basis.push_str(&format!("; holidays: {}", calendar.title));
    }
    Ok(Due { on, at: None, before_moving: end, basis })
}

fn moment(at: DateTime, basis: &str) -> Due {
    Due { on: at.date(), at: Some(at), before_moving: at.date(), basis: basis.to_owned() }
}

fn business_days(from: Date, length: u16, first_day_counts: bool, calendar: &Calendar) -> std::result::Result<Date, jiff::Error> {
    let mut left = length;
    let mut day = from;
    if first_day_counts && left > 0 && is_business_day(day, calendar) {
        left -= 1;
    }
    while left > 0 {
        day = day.tomorrow()?;
        if is_business_day(day, calendar) {
            left -= 1;
        }
    }
    Ok(day)
}

/// Neither Saturday, Sunday nor a public holiday.
pub fn is_business_day(day: Date, calendar: &Calendar) -> bool {
    !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday) && calendar.holiday(day).is_none()
}

fn what_day(day: Date, calendar: &Calendar) -> String {
    calendar.holiday(day).map_or_else(|| "a weekend".to_owned(), str::to_owned)
}

/// The English name of a weekday.
pub fn weekday_word(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}
