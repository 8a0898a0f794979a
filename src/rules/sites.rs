//! Which kinds of premises discharge what? Generating sites, with the business codes by which they are known.

use serde::Deserialize;
use serde::de::{self, Deserializer};

use super::source::{DataFile, Source, fault};
use crate::error::Result;

pub(super) const FILE: &str = "generating_sites.toml";

/// How likely a kind of site is to discharge something, whatever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteClass {
    /// Little reason to expect a discharge.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl SiteClass {
    /// The word people see.
    pub fn word(self) -> &'static str {
        match self {
            SiteClass::Low => "low",
            SiteClass::Medium => "medium",
            SiteClass::High => "high",
        }
    }
}

/// How the material gets into the drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteMode {
    /// Plumbed or poured in.
    Direct,
    /// Washed from outdoor surfaces by rain or hosing.
    Indirect,
    /// Either way.
    Both,
}

/// A kind of premises.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteType {
    /// Its stable word.
    pub id: String,
    /// What people call it, without an article.
    pub words: String,
    /// Overall potential.
    pub class: SiteClass,
    /// How it discharges.
    pub mode: SiteMode,
    /// Materials found there.
    pub materials: Vec<String>,
    /// Standard Industrial Classification codes.
    #[serde(default)]
    pub sic: Vec<CodeRange>,
    /// North American Industry Classification System codes.
    #[serde(default)]
    pub naics: Vec<CodeRange>,
    /// Where this comes from.
    pub source: Source,
}

/// Codes that begin alike: `30` (all of 30xx), `5812`, or `7532-7539`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeRange {
    first: String,
    last: String,
}

impl CodeRange {
    fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let digits = |s: &str| (2..=6).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_digit());
        let sound = digits(first) && digits(last) && first.len() == last.len() && first <= last;
        sound.then(|| CodeRange { first: first.into(), last: last.into() })
    }

    /// How many leading digits it fixes, where the code lies in it.
    fn digits_matched(&self, code: &str) -> Option<usize> {
        let head = code.get(..self.first.len())?;
        (self.first.as_str() <= head && head <= self.last.as_str()).then_some(self.first.len())
    }
}

impl<'de> Deserialize<'de> for CodeRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        CodeRange::parse(&text)
            .ok_or_else(|| de::Error::custom(format!("\"{text}\" is no code: expected 2 to 6 digits, or two such with a hyphen")))
    }
}

pub(super) fn read(text: &str) -> Result<Vec<SiteType>> {
    let mut file = DataFile::parse(FILE, text)?;
    let sites: Vec<SiteType> = file.entries("site")?;
    file.finish()?;
    for (at, site) in sites.iter().enumerate() {
        if sites[..at].iter().any(|other| other.id == site.id) {
            return Err(fault(FILE, &format!("site {}", site.id), "id", "stands twice"));
        }
    }
    Ok(sites)
}

/// The site types of a business: the most specific codes win, SIC and NAICS each for itself.
pub(super) fn of_business<'a>(sites: &'a [SiteType], sic: Option<&str>, naics: Option<&str>) -> Vec<&'a SiteType> {
    let by_sic = most_specific(sites, sic, |site| &site.sic);
    let by_naics = most_specific(sites, naics, |site| &site.naics);
    sites.iter().filter(|site| by_sic.contains(&site.id.as_str()) || by_naics.contains(&site.id.as_str())).collect()
}

fn most_specific<'a>(sites: &'a [SiteType], code: Option<&str>, ranges: fn(&SiteType) -> &Vec<CodeRange>) -> Vec<&'a str> {
    let Some(code) = code.and_then(leading_digits) else { return Vec::new() };
    let matched: Vec<(usize, &str)> = sites
        .iter()
        .filter_map(|site| Some((ranges(site).iter().filter_map(|range| range.digits_matched(code)).max()?, site.id.as_str())))
        .collect();
    let most = matched.iter().map(|(digits, _)| *digits).max();
    matched.into_iter().filter(|(digits, _)| Some(*digits) == most).map(|(_, id)| id).collect()
}

/// The digits at the front: rolls write `5812`, `5812.0`, `5812-01`.
fn leading_digits(code: &str) -> Option<&str> {
    let code = code.trim();
    let end = code.find(|c: char| !c.is_ascii_digit()).unwrap_or(code.len());
    (end >= 2).then(|| &code[..end])
}
