//! Which pollutant of concern is a listed parameter, and which does a sighting point to? Data, every entry with its source.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::settings::Pattern;

const FILE: &str = "pollutants_of_concern.toml";
const EMBEDDED: &str = include_str!("../../data/pollutants_of_concern.toml");

/// A pollutant of concern.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Concern {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub words: String,
    /// Parameters of lists that are it.
    pub parameters: Pattern,
    /// Signatures that point to it.
    pub signatures: Vec<String>,
    /// The key of its source.
    pub source: String,
    /// Whether the permit asks for measures against it; others are only told apart.
    #[serde(default = "yes")]
    pub permit: bool,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    sources: std::collections::BTreeMap<String, crate::rules::Source>,
    concern: Vec<Concern>,
}

/// All pollutants of concern.
#[derive(Clone, Debug, Default)]
pub struct Concerns {
    all: Vec<Concern>,
}

impl Concerns {
    /// Those that come with Headwall.
    ///
    /// # Errors
    /// None in practice: a test reads the embedded file.
    pub fn embedded() -> Result<Concerns> {
        let file: File = toml::from_str(EMBEDDED).map_err(|error| Error::settings(error.message().to_owned()).file(FILE))?;
        if let Some(without) = file.concern.iter().find(|c| !file.sources.contains_key(&c.source)) {
            return Err(Error::settings(format!("entry {} has no source", without.id)).file(FILE));
        }
        Ok(Concerns { all: file.concern })
    }

    /// The first that a parameter is.
    pub fn of_parameter(&self, parameter: &str) -> Option<&Concern> {
        let plain = parameter.replace('_', " ");
        self.all.iter().find(|c| c.parameters.matches(parameter) || c.parameters.matches(&plain))
    }

    /// Whether two parameters are one pollutant.
    pub fn alike(&self, a: &str, b: &str) -> bool {
        super::listing::pollutant_key(a) == super::listing::pollutant_key(b)
            || self.of_parameter(a).zip(self.of_parameter(b)).is_some_and(|(a, b)| a.id == b.id)
    }

    /// Whether a signature points to a parameter; `None` where the parameter is none that signatures are known for.
    pub fn points_to(&self, signature: &str, parameter: &str) -> Option<bool> {
        self.of_parameter(parameter).map(|c| c.signatures.iter().any(|s| s == signature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_new_york() {
        let concerns = Concerns::embedded().unwrap();
        let id = |p: &str| concerns.of_parameter(p).map(|c| c.id.clone());
        assert_eq!(id("PHOSPHORUS, TOTAL").as_deref(), Some("phosphorus"));
        assert_eq!(id("FECAL COLIFORM").as_deref(), Some("pathogens"));
        assert_eq!(id("SEDIMENTATION/SILTATION").as_deref(), Some("silt_sediment"));
        assert_eq!(id("MERCURY"), None);
        assert!(concerns.alike("Phosphorus", "PHOSPHORUS, TOTAL") && !concerns.alike("Phosphorus", "Pathogens"));
        assert_eq!(concerns.points_to("sewage", "Fecal coliform"), Some(true));
    }

    #[test]
    fn every_signature_is_known() {
        let rules = crate::rules::Rules::embedded().unwrap();
        for concern in Concerns::embedded().unwrap().all {
            for id in &concern.signatures {
                assert!(rules.signatures().iter().any(|s| s.id == *id), "{id}");
            }
        }
    }
}
