//! Which days are public holidays? Rules by which any year's days are found, as data.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};
use serde::Deserialize;

use crate::data_file::{DataFile, Source, civil_date, fault};
use crate::error::Result;

/// A calendar of public holidays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// Its name: `ny` for `law/holidays-ny.toml`.
    pub name: String,
    /// What it is, for people.
    pub title: String,
    /// The rules.
    pub holidays: Vec<Holiday>,
    /// Days proclaimed for one year only.
    pub single_days: Vec<SingleDay>,
}

/// A holiday that returns every year.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holiday {
    /// Its stable word.
    pub id: String,
    /// Its name.
    pub words: String,
    /// The month.
    pub month: i8,
    /// The day of the month, for a fixed date.
    pub day: Option<i8>,
    /// The weekday, for a day such as the third Monday.
    pub weekday: Option<WeekdayWord>,
    /// Which of them: 1 to 4, or -1 for the last.
    pub nth: Option<i8>,
    /// Days after it, as for the Tuesday after the first Monday.
    #[serde(default)]
    pub plus_days: i8,
    /// Whether the next day is the holiday, too, where it falls on a Sunday.
    #[serde(default)]
    pub sunday_moves: bool,
    /// The first year, where it has not always been.
    pub from_year: Option<i16>,
    /// Where the rule comes from.
    pub source: Source,
}

/// A day that is a holiday once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SingleDay {
    /// The day.
    #[serde(deserialize_with = "civil_date")]
    pub date: Date,
    /// Why.
    pub words: String,
    /// Who says so.
    pub source: Source,
}

/// A weekday as it is written in the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum WeekdayWord {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

impl WeekdayWord {
    fn weekday(self) -> Weekday {
        match self {
            WeekdayWord::Monday => Weekday::Monday,
            WeekdayWord::Tuesday => Weekday::Tuesday,
            WeekdayWord::Wednesday => Weekday::Wednesday,
            WeekdayWord::Thursday => Weekday::Thursday,
            WeekdayWord::Friday => Weekday::Friday,
            WeekdayWord::Saturday => Weekday::Saturday,
            WeekdayWord::Sunday => Weekday::Sunday,
        }
    }
}

impl Holiday {
    /// Its day in a year, before a Sunday moves it; `None` before its first year.
    pub fn in_year(&self, year: i16) -> Option<Date> {
        if self.from_year.is_some_and(|from| year < from) {
            return None;
        }
        let day = match (self.day, self.weekday, self.nth) {
            (Some(day), None, None) => Date::new(year, self.month, day).ok()?,
            (None, Some(weekday), Some(nth)) => Date::new(year, self.month, 1).ok()?.nth_weekday_of_month(nth, weekday.weekday()).ok()?,
            _ => return None,
        };
        day.checked_add(i64::from(self.plus_days).days()).ok()
    }
}

impl Calendar {
    /// The name of the holiday, if the day is one.
    pub fn holiday(&self, day: Date) -> Option<&str> {
        if let Some(single) = self.single_days.iter().find(|s| s.date == day) {
            return Some(&single.words);
        }
        let falls = |holiday: &&Holiday| {
            // A Sunday moves a holiday of 31 December into the next year.
            [day.year().checked_sub(1), Some(day.year())].into_iter().flatten().filter_map(|year| holiday.in_year(year)).any(|on| {
                let moved = holiday.sunday_moves && on.weekday() == Weekday::Sunday && on.tomorrow().is_ok_and(|next| next == day);
                on == day || moved
            })
        };
        self.holidays.iter().find(falls).map(|h| h.words.as_str())
    }
}

pub(super) fn read(file_name: &str, name: &str, text: &str) -> Result<Calendar> {
    let mut file = DataFile::parse(file_name, text)?;
    let calendar = Calendar {
        name: name.to_owned(),
        title: file.head("title")?,
        holidays: file.entries("holiday")?,
        single_days: file.optional_entries("single_day")?,
    };
    file.finish()?;
    for holiday in &calendar.holidays {
        let refuse = |message: &str| Err(fault(file_name, &format!("holiday {}", holiday.id), "month", message));
        match (holiday.day, holiday.weekday, holiday.nth) {
            // A leap year, so that 29 February may stand.
            (Some(day), None, None) if Date::new(2024, holiday.month, day).is_ok() => {}
            (None, Some(_), Some(-1 | 1..=4)) if month_exists(holiday.month) => {}
            _ => return refuse("needs a month with a day, or with a weekday and nth from 1 to 4 or -1"),
        }
    }
    Ok(calendar)
}

fn month_exists(month: i8) -> bool {
    (1..=12).contains(&month)
}
