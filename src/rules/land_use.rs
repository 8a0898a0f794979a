//! What does a land-use class of the assessment roll mean? By digits (New York's property classes) or by words.

use serde::Deserialize;

use super::signatures::plain;
use super::source::{DataFile, Source, fault};
use crate::error::Result;

/// Whether a drain from this land use falls under limb (b) of "illicit connection": commercial or industrial, not documented and approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimbB {
    /// Commercial: it does.
    Commercial,
    /// Industrial: it does.
    Industrial,
    /// Counted in the commercial series, but the town decides (apartments, residence over a shop).
    ByPolicy,
    /// Neither commercial nor industrial on its face.
    No,
    /// The class does not say.
    Unknown,
}

impl LimbB {
    /// Whether limb (b) covers it; `None` where that cannot be said, which is never "clean".
    pub fn covered(self, policy_counts: bool) -> Option<bool> {
        match self {
            LimbB::Commercial | LimbB::Industrial => Some(true),
            LimbB::ByPolicy => Some(policy_counts),
            LimbB::No => Some(false),
            LimbB::Unknown => None,
        }
    }
}

/// A land-use class.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LandUse {
    /// The class as digits, or a stable word in a scheme of words.
    pub code: String,
    /// What people call it, without an article.
    pub words: String,
    /// Phrases that mean it, in a scheme of words; `*` at the end of a word stands for any ending.
    #[serde(default)]
    pub phrases: Vec<String>,
    /// Site types: the first is what it is, the others are what it also may be, and count one step weaker.
    #[serde(default)]
    pub sites: Vec<String>,
    /// Commercial or industrial in the sense of limb (b).
    pub limb_b: LimbB,
    /// False for roads, rail and water: no candidates, but land all the same.
    #[serde(default = "yes")]
    pub candidate: bool,
    /// Whether people live there.
    #[serde(default)]
    pub residential: bool,
    /// How likely a discharge is from it, whatever is seen; 1000 is a plain house. An assumed weight.
    ///
    /// # Units
    /// Thousandths.
    pub prior_milli: u32,
    /// Where the code and its words come from.
    pub source: Source,
}

fn yes() -> bool {
    true
}

/// How codes are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Matching {
    /// The first three digits; else the division (`43x`), else the series (`4xx`).
    ThreeDigits,
    /// The first entry with a phrase in the text.
    Phrases,
}

/// How a class was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HowMatched {
    /// By its own code.
    Code,
    /// By its division: the code itself is not listed.
    Division,
    /// By its series: neither code nor division is listed.
    Series,
    /// By this phrase in the text.
    Phrase(String),
}

/// A class together with how it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct LandUseMatch<'a> {
    /// The class.
    pub land_use: &'a LandUse,
    /// The code or text that was looked up, trimmed.
    pub asked: String,
    /// How it was found.
    pub how: HowMatched,
}

impl LandUseMatch<'_> {
    /// As it stands in a reason: `automatic car wash (class 434)`.
    pub fn label(&self) -> String {
        let LandUse { words, code, .. } = self.land_use;
        match &self.how {
            HowMatched::Code => format!("{words} (class {code})"),
            HowMatched::Division | HowMatched::Series => format!("{words} (class {}, read as {code})", self.asked),
            HowMatched::Phrase(_) => format!("{words} (\"{}\")", self.asked),
        }
    }
}

/// A scheme of land-use classes: one file of `land_use/`.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    matching: Matching,
    pub(super) classes: Vec<LandUse>,
}

pub(super) fn read(file_name: &str, text: &str) -> Result<Scheme> {
    let mut file = DataFile::parse(file_name, text)?;
    let matching: Matching = file.head("matching")?;
    let classes: Vec<LandUse> = file.entries("class")?;
    file.finish()?;
    for (at, class) in classes.iter().enumerate() {
        let label = format!("class {}", class.code);
        if classes[..at].iter().any(|other| other.code == class.code) {
            return Err(fault(file_name, &label, "code", "stands twice"));
        }
        if matching == Matching::ThreeDigits && (class.code.len() != 3 || !class.code.bytes().all(|b| b.is_ascii_digit())) {
            return Err(fault(file_name, &label, "code", "expected three digits"));
        }
        if matching == Matching::Phrases && class.phrases.is_empty() {
            return Err(fault(file_name, &label, "phrases", "a scheme of phrases needs at least one"));
        }
    }
    Ok(Scheme { matching, classes })
}

impl Scheme {
    /// The class of a code or text, and how it was found.
    pub(super) fn find(&self, asked: &str) -> Option<LandUseMatch<'_>> {
        let asked = asked.trim();
        let (land_use, how) = match self.matching {
            Matching::ThreeDigits => self.find_digits(asked)?,
            Matching::Phrases => self.find_phrase(asked)?,
        };
        Some(LandUseMatch { land_use, asked: asked.to_owned(), how })
    }

    /// Towns append digits and letters of their own, so only the first three digits count.
    fn find_digits(&self, asked: &str) -> Option<(&LandUse, HowMatched)> {
        let digits = asked.get(..3).filter(|head| head.bytes().all(|b| b.is_ascii_digit()))?;
        let of = |code: &str| self.classes.iter().find(|class| class.code == code);
        None.or_else(|| Some((of(digits)?, HowMatched::Code)))
            .or_else(|| Some((of(&format!("{}0", &digits[..2]))?, HowMatched::Division)))
            .or_else(|| Some((of(&format!("{}00", &digits[..1]))?, HowMatched::Series)))
    }

    fn find_phrase(&self, asked: &str) -> Option<(&LandUse, HowMatched)> {
        let text = plain(asked);
        let words: Vec<&str> = text.split(' ').collect();
        self.classes.iter().find_map(|class| {
            let phrase = class.phrases.iter().find(|phrase| phrase_in(phrase, &words))?;
            Some((class, HowMatched::Phrase(phrase.clone())))
        })
    }
}

/// Whether the words of a phrase stand one after the other; a plural `s` is overlooked, `*` stands for any ending.
fn phrase_in(phrase: &str, text: &[&str]) -> bool {
    let phrase = phrase.to_lowercase();
    let pattern: Vec<&str> = phrase.split_whitespace().collect();
    let same = |pattern: &str, word: &str| match pattern.strip_suffix('*') {
        Some(stem) => word.starts_with(stem),
        None => word == pattern || word.strip_suffix('s') == Some(pattern),
    };
    !pattern.is_empty() && text.windows(pattern.len()).any(|run| run.iter().zip(&pattern).all(|(word, p)| same(p, word)))
}
