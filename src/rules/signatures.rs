//! What does a person see or smell, and to what does it point?

use serde::Deserialize;

use super::source::{DataFile, Source, fault};
use crate::error::{Error, Result};

pub(super) const FILE: &str = "signatures.toml";

/// How a substance gets into the drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pathway {
    /// Through plumbing: a fixture, floor drain, service line.
    Plumbed,
    /// Over the ground: a spill, wash-down, yard, dumping.
    Surface,
    /// Not known which; both are said.
    Either,
}

impl Pathway {
    /// Every pathway.
    pub const ALL: &'static [Pathway] = &[Pathway::Plumbed, Pathway::Surface, Pathway::Either];

    /// Its word in the data files.
    pub fn word(self) -> &'static str {
        match self {
            Pathway::Plumbed => "plumbed",
            Pathway::Surface => "surface",
            Pathway::Either => "either",
        }
    }
}

/// How strongly a signature points to something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// Now and then.
    Weak,
    /// Possibly.
    Moderate,
    /// Typically.
    Strong,
}

impl Strength {
    /// The word before "source of" in a reason.
    pub fn adjective(self) -> &'static str {
        match self {
            Strength::Weak => "an occasional",
            Strength::Moderate => "a possible",
            Strength::Strong => "a typical",
        }
    }

    /// One step weaker: for what a premises only may be.
    pub fn weaker(self) -> Self {
        match self {
            Strength::Strong => Strength::Moderate,
            Strength::Moderate | Strength::Weak => Strength::Weak,
        }
    }

    /// The factor of `candidate_factors.toml` that weighs it.
    pub fn factor_id(self) -> &'static str {
        match self {
            Strength::Weak => "pointed_weak",
            Strength::Moderate => "pointed_moderate",
            Strength::Strong => "pointed_strong",
        }
    }
}

/// What a person reports: suds, sewage, fuel and so on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// Its stable word.
    pub id: String,
    /// What people call it; fits after "source of".
    pub words: String,
    /// Other names by which it may be asked for.
    #[serde(default)]
    pub synonyms: Vec<String>,
    /// How it usually gets in.
    pub pathway: Pathway,
    /// What an outfall field sheet (ORI) says when this is there.
    #[serde(default)]
    pub ori: OriCodes,
    /// Site types it points to. Empty: it says nothing about sites.
    #[serde(default)]
    pub sites: Vec<SiteLink>,
    /// Exempt categories of the law that could explain it.
    #[serde(default)]
    pub exempt: Vec<Exemption>,
    /// What else could explain it than a mapped premises.
    #[serde(default)]
    pub hypotheses: Vec<HypothesisLink>,
    /// What an inspector should know.
    pub note: String,
    /// Where this comes from; holds for its links too.
    pub source: Source,
}

/// Words of the outfall reconnaissance inventory's field sheet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OriCodes {
    /// sewage, rancid_sour, petroleum_gas, sulphide, other.
    pub odour: Vec<String>,
    /// clear, brown, grey, yellow, green, orange, red, other; and white, which the sheet itself has under other.
    pub colour: Vec<String>,
    /// slight, cloudy, opaque.
    pub turbidity: Vec<String>,
    /// sewage, suds, petroleum_sheen, other.
    pub floatables: Vec<String>,
    /// Growth in the pipe: brown, orange, green, other.
    pub growth: Vec<String>,
}

/// A section of the field sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "OriCodes says each")]
pub enum OriField {
    Odour,
    Colour,
    Turbidity,
    Floatables,
    Growth,
}

impl OriField {
    /// Every section.
    pub const ALL: &'static [OriField] = &[OriField::Odour, OriField::Colour, OriField::Turbidity, OriField::Floatables, OriField::Growth];

    /// The codes that may stand there.
    pub fn codes(self) -> &'static [&'static str] {
        match self {
            OriField::Odour => &["sewage", "rancid_sour", "petroleum_gas", "sulphide", "other"],
            OriField::Colour => &["clear", "brown", "grey", "yellow", "green", "orange", "red", "white", "other"],
            OriField::Turbidity => &["slight", "cloudy", "opaque"],
            OriField::Floatables => &["sewage", "suds", "petroleum_sheen", "other"],
            OriField::Growth => &["brown", "orange", "green", "other"],
        }
    }
}

impl OriCodes {
    /// The codes of a section.
    pub fn of(&self, field: OriField) -> &[String] {
        match field {
            OriField::Odour => &self.odour,
            OriField::Colour => &self.colour,
            OriField::Turbidity => &self.turbidity,
            OriField::Floatables => &self.floatables,
            OriField::Growth => &self.growth,
        }
    }
}

/// A site type that a signature points to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteLink {
    /// A site type of `generating_sites.toml`.
    pub site: String,
    /// How strongly.
    pub strength: Strength,
    /// What it is there; fits after a colon.
    pub why: String,
}

/// An exempt category that could explain a signature.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exemption {
    /// `E1` to `E15`, as the law profile lists them.
    pub category: String,
    /// What has to hold.
    pub when: String,
}

/// Another explanation than a mapped premises.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HypothesisLink {
    /// A hypothesis of `candidate_factors.toml`.
    pub id: String,
    /// How strongly.
    pub strength: Strength,
}

impl Signature {
    /// The link to a site type, if it points there.
    pub fn link(&self, site: &str) -> Option<&SiteLink> {
        self.sites.iter().find(|link| link.site == site)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        [&self.id, &self.words].into_iter().chain(&self.synonyms).map(String::as_str)
    }
}

pub(super) fn read(text: &str) -> Result<Vec<Signature>> {
    let mut file = DataFile::parse(FILE, text)?;
    let signatures: Vec<Signature> = file.entries("signature")?;
    file.finish()?;
    for (at, signature) in signatures.iter().enumerate() {
        let label = format!("signature {}", signature.id);
        for name in signature.names() {
            if let Some(other) = signatures[..at].iter().find(|other| other.names().any(|n| plain(n) == plain(name))) {
                return Err(fault(FILE, &label, "synonyms", format!("\"{name}\" already means {}", other.id)));
            }
        }
        for field in OriField::ALL {
            if let Some(code) = signature.ori.of(*field).iter().find(|code| !field.codes().contains(&code.as_str())) {
                return Err(fault(FILE, &label, "ori", format!("\"{code}\" is not one of {}", field.codes().join(", "))));
            }
        }
        for exemption in &signature.exempt {
            let number = exemption.category.strip_prefix('E').and_then(|n| n.parse::<u8>().ok());
            if !number.is_some_and(|n| (1..=15).contains(&n)) {
                return Err(fault(FILE, &label, "exempt", format!("\"{}\" is not one of E1 to E15", exemption.category)));
            }
        }
    }
    Ok(signatures)
}

/// The signature of a word or phrase: its id, its words or a synonym, whatever the case, hyphens and blanks.
pub(super) fn find<'a>(signatures: &'a [Signature], word: &str) -> Result<&'a Signature> {
    let asked = plain(word);
    if let Some(found) = signatures.iter().find(|s| s.names().any(|name| plain(name) == asked)) {
        return Ok(found);
    }
    let known = signatures.iter().map(|s| s.id.as_str()).collect::<Vec<_>>().join(", ");
    let hint = match nearest(signatures, &asked) {
        Some(id) => format!("did you mean {id}? known are {known}"),
        None => format!("known are {known}"),
    };
    Err(Error::usage("no pollutant goes by this name").field("pollutant").found(format!("\"{word}\"")).hint(hint))
}

/// The signature with a name inside the phrase, else the one with the least misspelling, if small.
fn nearest<'a>(signatures: &'a [Signature], asked: &str) -> Option<&'a str> {
    let padded = format!(" {asked} ");
    let inside = signatures.iter().find(|s| s.names().any(|name| padded.contains(&format!(" {} ", plain(name)))));
    if let Some(signature) = inside {
        return Some(&signature.id);
    }
    let tries = signatures.iter().flat_map(|s| s.names().map(move |name| (edits(&plain(name), asked), s.id.as_str())));
    let (distance, id) = tries.min_by_key(|(distance, _)| *distance)?;
    (distance * 3 <= asked.chars().count().max(3)).then_some(id)
}

/// Lower case, everything but letters and digits as one blank.
pub(super) fn plain(text: &str) -> String {
    let text = text.to_lowercase();
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Insertions, deletions and replacements between two words. Long phrases count as far off: nobody asks for them by mistake.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 8 || b.len() > 64 {
        return usize::MAX / 4;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
