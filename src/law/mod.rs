//! What do the local law and the permit say: definitions, exemptions, duties, clocks, sanctions, and where their text has a gap?
//!
//! Both are data: embedded files that a town chooses by name and may replace. Nothing is read from disk here, nothing is decided here,
//! and a gap is never filled from another law. Not legal advice.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

pub mod calendar;
pub mod clock;
mod entries;
mod permit;
mod profile;
#[cfg(test)]
mod tests;

pub use calendar::Calendar;
pub use clock::{Basis, Counting, Due, Unit};
pub use entries::{
    Carried, Citation, Clock, Confirmation, Definition, Duty, Exemption, Gap, IllicitLimb, Limit, OpenDeadline, Presumption, Provision,
    Revocation, Role, Sanction, SpecialCondition, SpecialConditionKind, SpillCall, SpillKind, Standing,
};
pub use permit::{LocationKind, Permit, PollutantMatch, PollutantOfConcern};
pub use profile::Law;

/// The data files as they come with Headwall, by the name under which a town may replace them.
const EMBEDDED: &[(&str, &str)] = &[
    ("law/holidays-ny.toml", include_str!("../../data/law/holidays-ny.toml")),
    ("law/liverpool-ny-316.toml", include_str!("../../data/law/liverpool-ny-316.toml")),
    ("permit/ny-gp-0-24-001.toml", include_str!("../../data/permit/ny-gp-0-24-001.toml")),
];

/// Every law and permit that can be chosen.
#[derive(Clone, Debug)]
pub struct Profiles {
    laws: BTreeMap<String, Law>,
    permits: BTreeMap<String, Permit>,
    digest: [u8; 32],
}

/// The law and permit that a town chose, and a digest of every law file it could have chosen from.
#[derive(Clone, Debug, Default)]
pub struct LawInForce {
    /// The local law.
    pub law: Option<Law>,
    /// The permit.
    pub permit: Option<Permit>,
    /// SHA-256 over the names and texts of the files.
    pub digest: [u8; 32],
}

/// Whether a file of a town's `rules/` folder belongs to the law rather than to the rules.
pub fn is_law_file(name: &str) -> bool {
    name.starts_with("law/") || name.starts_with("permit/")
}

impl Profiles {
    /// The profiles as they come with Headwall.
    ///
    /// # Errors
    /// None in practice: the tests read every embedded file.
    pub fn embedded() -> Result<Profiles> {
        Self::with_replacements(&BTreeMap::new())
    }

    /// The profiles with a town's own files in place of the embedded ones of the same name; a new name adds a profile.
    ///
    /// # Errors
    /// Names file, entry and field: an entry without a source or citation, an unknown field, a name that stands nowhere, a clock that is
    /// confirmed without a citation.
    pub fn with_replacements(files: &BTreeMap<String, String>) -> Result<Profiles> {
        let mut texts: BTreeMap<&str, &str> = EMBEDDED.iter().copied().collect();
        for (name, text) in files {
            if name_of(name).is_none() {
                return Err(Error::settings("is no law or permit file")
                    .file(name)
                    .expected("law/NAME.toml, law/holidays-NAME.toml or permit/NAME.toml")
                    .hint("docs/law.md explains the law and permit files"));
            }
            texts.insert(name, text);
        }
        let mut calendars = BTreeMap::new();
        for (file, text) in &texts {
            if let Some(("holidays", name)) = name_of(file) {
                calendars.insert(name.to_owned(), calendar::read(file, name, text)?);
            }
        }
        let (mut laws, mut permits) = (BTreeMap::new(), BTreeMap::new());
        for (file, text) in &texts {
            match name_of(file) {
                Some(("law", name)) => drop(laws.insert(name.to_owned(), profile::read(file, name, text, &calendars)?)),
                Some(("permit", name)) => drop(permits.insert(name.to_owned(), permit::read(file, name, text, &calendars)?)),
                _ => {}
            }
        }
        Ok(Profiles { laws, permits, digest: digest(&texts) })
    }

    /// Every law.
    pub fn laws(&self) -> impl Iterator<Item = &Law> {
        self.laws.values()
    }

    /// Every permit.
    pub fn permits(&self) -> impl Iterator<Item = &Permit> {
        self.permits.values()
    }

    /// The law of a name.
    ///
    /// # Errors
    /// Lists the known names.
    pub fn law(&self, name: &str) -> Result<&Law> {
        self.laws.get(name).ok_or_else(|| no_such("law", name, self.laws.keys()))
    }

    /// The permit of a name.
    ///
    /// # Errors
    /// Lists the known names.
    pub fn permit(&self, name: &str) -> Result<&Permit> {
        self.permits.get(name).ok_or_else(|| no_such("permit", name, self.permits.keys()))
    }

    /// What a town chose.
    ///
    /// # Errors
    /// A name that is none of the profiles.
    pub fn choose(&self, law: Option<&str>, permit: Option<&str>) -> Result<LawInForce> {
        let law = law.map(|name| self.law(name).cloned()).transpose()?;
        let permit = permit.map(|name| self.permit(name).cloned()).transpose()?;
        Ok(LawInForce { law, permit, digest: self.digest })
    }
}

fn no_such<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a String>) -> Error {
    let known: Vec<&str> = known.map(String::as_str).collect();
    Error::settings(format!("there is no such {what}"))
        .field(what)
        .found(format!("\"{name}\""))
        .expected(format!("one of {}", known.join(", ")))
        .hint(format!("put {what}/NAME.toml into the town's rules/ folder to add one; docs/law.md shows how"))
}

/// `("law", "liverpool-ny-316")` for `law/liverpool-ny-316.toml`, `("holidays", "ny")` for `law/holidays-ny.toml`; `None` for any other file.
fn name_of(file: &str) -> Option<(&'static str, &str)> {
    let (folder, name) = file.strip_suffix(".toml")?.split_once('/')?;
    let sound = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    match (folder, name.strip_prefix("holidays-")) {
        ("law", Some(name)) if sound(name) => Some(("holidays", name)),
        ("law", None) if sound(name) => Some(("law", name)),
        ("permit", _) if sound(name) => Some(("permit", name)),
        _ => None,
    }
}

/// Names and texts with their lengths, so that no two sets of files can look alike.
fn digest(texts: &BTreeMap<&str, &str>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in texts.iter().flat_map(|(name, text)| [name, text]) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}
