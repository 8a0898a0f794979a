//! Where does a rule or a provision of law come from, and how is a data file read? Every entry carries a source or the word `assumed`; one without is refused.
//!
//! A file holds lists of entries and a table `[sources]` of citations, so that an entry can name its source by a short key.

use std::collections::BTreeMap;
use std::fmt;

use jiff::civil::Date;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::error::{Error, Result};

/// How sure a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The source itself was read.
    Read,
    /// Somebody else's description of the source was read.
    Secondary,
    /// Recalled by people who know the source; not checked against its text.
    Recalled,
    /// Recalled, and may be wrong in a number or a detail.
    Unsure,
    /// A judgement of ours or of the town's.
    Assumed,
}

/// Where an entry comes from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The citation, or `assumed` and what it leans on.
    pub text: String,
    /// How sure it is.
    pub certainty: Certainty,
}

impl Source {
    /// True where nobody but us says so.
    pub fn assumed(&self) -> bool {
        self.certainty == Certainty::Assumed
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match self.certainty {
            Certainty::Read | Certainty::Assumed => Ok(()),
            Certainty::Secondary => f.write_str(" (as others describe it)"),
            Certainty::Recalled => f.write_str(" (recalled, not checked against its text)"),
            Certainty::Unsure => f.write_str(" (recalled, unsure)"),
        }
    }
}

/// A data file being read: its lists are taken out one by one, and what is left over is refused.
pub(crate) struct DataFile<'a> {
    name: &'a str,
    table: toml::Table,
    sources: BTreeMap<String, Source>,
}

impl<'a> DataFile<'a> {
    /// Reads the text of a data file.
    pub(crate) fn parse(name: &'a str, text: &str) -> Result<Self> {
        let mut table: toml::Table = toml::from_str(text).map_err(|error| {
            let line = error.span().and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count() + 1);
            let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            Error::settings(format!("{place}{}", error.message())).file(name).hint(HINT)
        })?;
        let mut sources = BTreeMap::new();
        if let Some(listed) = table.remove("sources") {
            let listed: BTreeMap<String, toml::Value> =
                listed.try_into().map_err(|_| Error::settings("`sources` is not a table").file(name).hint(HINT))?;
            for (key, value) in listed {
                let source: Source = value.try_into().map_err(|e: toml::de::Error| entry_error(name, &format!("source {key}"), &e))?;
                if source.text.trim().is_empty() {
                    return Err(Error::settings(format!("source {key} has no text")).file(name).field("text").hint(HINT));
                }
                sources.insert(key, source);
            }
        }
        Ok(DataFile { name, table, sources })
    }

    /// Takes a single word or number out of the file's head.
    pub(crate) fn head<T: DeserializeOwned>(&mut self, field: &str) -> Result<T> {
        let missing = || Error::settings("is missing").file(self.name).field(field).hint(HINT);
        let value = self.table.remove(field).ok_or_else(missing)?;
        value.try_into().map_err(|e: toml::de::Error| Error::settings(e.message()).file(self.name).field(field).hint(HINT))
    }

    /// Takes a list of entries out of the file, each with its source resolved.
    pub(crate) fn entries<T: DeserializeOwned>(&mut self, list: &str) -> Result<Vec<T>> {
        let missing = || Error::settings(format!("has no list `{list}`")).file(self.name).hint(HINT);
        let toml::Value::Array(items) = self.table.remove(list).ok_or_else(missing)? else { return Err(missing()) };
        items.into_iter().enumerate().map(|(at, item)| self.entry(list, at, item)).collect()
    }

    /// The same for a list that may be absent.
    pub(crate) fn optional_entries<T: DeserializeOwned>(&mut self, list: &str) -> Result<Vec<T>> {
        if self.table.contains_key(list) { self.entries(list) } else { Ok(Vec::new()) }
    }

    fn entry<T: DeserializeOwned>(&self, list: &str, at: usize, mut item: toml::Value) -> Result<T> {
        let ordinal = format!("{list} number {}", at + 1);
        let Some(fields) = item.as_table_mut() else {
            return Err(Error::settings(format!("{ordinal} is not a table")).file(self.name).hint(HINT));
        };
        let named = |names: &[&str]| names.iter().filter_map(|name| Some(fields.get(*name)?.as_str()?.to_owned())).collect::<Vec<_>>();
        let own = named(&["id", "code"]);
        let words = if own.is_empty() { named(&["of", "tier", "pathway"]) } else { own };
        let label = if words.is_empty() { ordinal } else { format!("{list} {}", words.join(" ")) };
        let source = self.source(&label, fields.get("source"))?;
        let mut resolved = toml::Table::new();
        resolved.insert("text".into(), source.text.into());
        resolved.insert("certainty".into(), certainty_word(source.certainty).into());
        fields.insert("source".into(), resolved.into());
        item.try_into().map_err(|e: toml::de::Error| entry_error(self.name, &label, &e))
    }

    /// A key of `[sources]`, a citation in several words, or `assumed` with or without a word on what it leans on.
    fn source(&self, label: &str, value: Option<&toml::Value>) -> Result<Source> {
        let fault = |what: &str| {
            Error::settings(format!("{label} {what}"))
                .file(self.name)
                .field("source")
                .expected("a key of [sources], a citation, or the word assumed")
                .hint(HINT)
        };
        let Some(text) = value.and_then(toml::Value::as_str).map(str::trim).filter(|t| !t.is_empty()) else {
            return Err(fault("has no source"));
        };
        if let Some(source) = self.sources.get(text) {
            return Ok(source.clone());
        }
        if text.split(|c: char| !c.is_alphanumeric()).next() == Some("assumed") {
            return Ok(Source { text: text.into(), certainty: Certainty::Assumed });
        }
        if !text.contains(' ') {
            return Err(fault("names a source that is not in [sources]").found(text));
        }
        Ok(Source { text: text.into(), certainty: Certainty::Read })
    }

    /// Refuses what nobody took out: a list with a misspelt name would otherwise be lost in silence.
    pub(crate) fn finish(self) -> Result<()> {
        match self.table.keys().next() {
            Some(key) => Err(Error::settings("is not known here").file(self.name).field(key).hint(HINT)),
            None => Ok(()),
        }
    }
}

/// Reads a calendar date, with or without quotes: `2008-01-01` or `"2008-01-01"`.
pub(crate) fn civil_date<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Date, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    let text = match &value {
        toml::Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    text.parse().map_err(|_| serde::de::Error::custom(format!("{text} is not a date such as 2008-01-01")))
}

const HINT: &str = "docs/rules.md explains each data file of the rules, docs/law.md those of the law";

fn certainty_word(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Read => "read",
        Certainty::Secondary => "secondary",
        Certainty::Recalled => "recalled",
        Certainty::Unsure => "unsure",
        Certainty::Assumed => "assumed",
    }
}

/// Names the field where serde's message does.
fn entry_error(file: &str, label: &str, error: &toml::de::Error) -> Error {
    let message = error.message();
    let told = Error::settings(format!("{label}: {message}")).file(file).hint(HINT);
    match message.split('`').nth(1) {
        Some(field) if message.contains("field `") => told.field(field),
        _ => told,
    }
}

/// Fails where an entry names something that is not there, or a name stands twice.
pub(crate) fn fault(file: &str, label: &str, field: &str, message: impl fmt::Display) -> Error {
    Error::settings(format!("{label}: {message}")).file(file).field(field).hint(HINT)
}
