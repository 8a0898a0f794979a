//! Which signatures, land uses, indicators and weights are in force, from which source? All of it is data: embedded files, which a town's `rules/` folder may replace one by one.
//!
//! Nothing is read from disk here: `town` gives the text of the town's own files. Weights are whole thousandths, so that order changes nothing.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::data_file as source;
use crate::error::{Error, Result};
use crate::law::Law;

mod doubts;
mod factors;
mod fit;
mod hydraulics;
mod indicators;
mod land_use;
mod repairs;
mod signatures;
mod sites;
#[cfg(test)]
mod tests;
mod tiers;

pub use doubts::{Doubt, DoubtCost, DoubtCosts, Standing};
pub use factors::{Factor, Hypothesis, Known, Leaning, Reason};
pub use fit::{Business, Fit, times_milli};
pub use hydraulics::{Hydraulics, MATERIALS, Range, Section, StorageKind};
pub use indicators::{Parameter, Power, Side, Threshold, ThresholdGroup};
pub use land_use::{HowMatched, LandUse, LandUseMatch, LimbB};
pub use repairs::{RepairCost, RepairCount, RepairLimit, Repairs};
pub use signatures::{Exemption, HypothesisLink, OriCodes, OriField, Pathway, Signature, SiteLink, Strength};
pub use sites::{CodeRange, SiteClass, SiteMode, SiteType};
pub use source::{Certainty, Source};
pub use tiers::{DecayKind, DecayStep, Tier, TierStrength, Weakening};

/// The data files as they come with Headwall, by the name under which a town may replace them.
const EMBEDDED: &[(&str, &str)] = &[
    (factors::FILE, include_str!("../../data/candidate_factors.toml")),
    (doubts::FILE, include_str!("../../data/doubt_costs.toml")),
    (sites::FILE, include_str!("../../data/generating_sites.toml")),
    (hydraulics::FILE, include_str!("../../data/hydraulics.toml")),
    (indicators::FILE, include_str!("../../data/indicators.toml")),
    ("land_use/generic.toml", include_str!("../../data/land_use/generic.toml")),
    ("land_use/nys.toml", include_str!("../../data/land_use/nys.toml")),
    (tiers::FILE, include_str!("../../data/link_tiers.toml")),
    (repairs::FILE, include_str!("../../data/repairs.toml")),
    (signatures::FILE, include_str!("../../data/signatures.toml")),
];

/// The rules in force: every data file, read and checked against the others.
#[derive(Clone, Debug)]
pub struct Rules {
    signatures: Vec<Signature>,
    sites: Vec<SiteType>,
    schemes: BTreeMap<String, land_use::Scheme>,
    tiers: tiers::LinkTiers,
    repairs: Repairs,
    factors: Vec<Factor>,
    hypotheses: Vec<Hypothesis>,
    parameters: Vec<Parameter>,
    thresholds: Vec<Threshold>,
    hydraulics: Hydraulics,
    doubts: DoubtCosts,
    replaced: Vec<String>,
    digest: [u8; 32],
}

impl Rules {
    /// The rules as they come with Headwall.
    ///
    /// # Errors
    /// None in practice: the tests read every embedded file.
    pub fn embedded() -> Result<Rules> {
        Self::with_replacements(&BTreeMap::new())
    }

    /// The rules with a town's own files in place of the embedded ones of the same name; a new `land_use/*.toml` adds a scheme.
    ///
    /// # Errors
    /// Names file, entry and field: an entry without a source, an unknown field, a name that no other file has, a file that is not known.
    pub fn with_replacements(files: &BTreeMap<String, String>) -> Result<Rules> {
        let mut texts: BTreeMap<&str, &str> = EMBEDDED.iter().copied().collect();
        for (name, text) in files {
            let known = texts.contains_key(name.as_str()) || scheme_name(name).is_some();
            if !known {
                let names = texts.keys().copied().collect::<Vec<_>>().join(", ");
                return Err(Error::settings("is no data file of Headwall")
                    .file(name)
                    .expected(format!("one of {names}, or a new land_use/NAME.toml"))
                    .hint("docs/rules.md explains each data file"));
            }
            texts.insert(name, text);
        }
        let text = |name: &str| texts.get(name).copied().unwrap_or_default();
        let mut schemes = BTreeMap::new();
        for (name, text) in &texts {
            if let Some(scheme) = scheme_name(name) {
                schemes.insert(scheme.to_owned(), land_use::read(name, text)?);
            }
        }
        let (factors, hypotheses) = factors::read(text(factors::FILE))?;
        let (parameters, thresholds) = indicators::read(text(indicators::FILE))?;
        let rules = Rules {
            signatures: signatures::read(text(signatures::FILE))?,
            sites: sites::read(text(sites::FILE))?,
            schemes,
            tiers: tiers::read(text(tiers::FILE))?,
            repairs: repairs::read(text(repairs::FILE))?,
            factors,
            hypotheses,
            parameters,
            thresholds,
            hydraulics: hydraulics::read(text(hydraulics::FILE))?,
            doubts: doubts::read(text(doubts::FILE))?,
            replaced: files.keys().cloned().collect(),
            digest: digest(&texts),
        };
        rules.check_references()?;
        Ok(rules)
    }

    /// What repairs of the maps cost, and their limits.
    pub fn repairs(&self) -> &Repairs {
        &self.repairs
    }

    /// Every name in one file must stand in the other.
    fn check_references(&self) -> Result<()> {
        let no_site = |id: &String| !self.sites.iter().any(|site| site.id == *id);
        for signature in &self.signatures {
            let label = format!("signature {}", signature.id);
            if let Some(link) = signature.sites.iter().find(|link| no_site(&link.site)) {
                let message = format!("\"{}\" is no site of {}", link.site, sites::FILE);
                return Err(source::fault(signatures::FILE, &label, "sites", message));
            }
            if let Some(link) = signature.hypotheses.iter().find(|link| self.hypothesis(&link.id).is_none()) {
                let message = format!("\"{}\" is no hypothesis of {}", link.id, factors::FILE);
                return Err(source::fault(signatures::FILE, &label, "hypotheses", message));
            }
        }
        for (scheme, classes) in &self.schemes {
            for class in &classes.classes {
                if let Some(site) = class.sites.iter().find(|site| no_site(site)) {
                    let message = format!("\"{site}\" is no site of {}", sites::FILE);
                    return Err(source::fault(&format!("{scheme}.toml"), &format!("class {}", class.code), "sites", message));
                }
            }
        }
        for factor in &self.factors {
            if let Some(id) = factor.signatures.iter().find(|id| !self.signatures.iter().any(|s| s.id == **id)) {
                let message = format!("\"{id}\" is no signature of {}", signatures::FILE);
                return Err(source::fault(factors::FILE, &format!("factor {}", factor.id), "signatures", message));
            }
        }
        Ok(())
    }

    /// Fails where a signature names an exempt category that the chosen law says nothing about, or the law a signature that is not there.
    ///
    /// # Errors
    /// Names the file, the entry and the category.
    pub fn check_law(&self, law: &Law) -> Result<()> {
        for signature in &self.signatures {
            if let Some(exempt) = signature.exempt.iter().find(|e| law.exemption(&e.category).is_none()) {
                let message = format!(
                    "\"{}\" is no exemption of law/{}.toml, where it may also stand with exempt = false",
                    exempt.category, law.name
                );
                return Err(source::fault(signatures::FILE, &format!("signature {}", signature.id), "exempt", message));
            }
        }
        for (label, id) in law.named_signatures() {
            if !self.signatures.iter().any(|s| s.id == id) {
                let message = format!("\"{id}\" is no signature of {}", signatures::FILE);
                return Err(source::fault(&format!("{}.toml", law.name), &label, "signatures", message));
            }
        }
        Ok(())
    }

    /// SHA-256 over the names and texts of every data file in force.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// The digest as 64 hexadecimal digits.
    pub fn digest_hex(&self) -> String {
        self.digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The files that the town replaced or added, in order.
    pub fn replaced(&self) -> &[String] {
        &self.replaced
    }

    /// Every signature, in the order of the file.
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// The signature of a word or phrase that a person gave: an id, its words or a synonym; case, hyphens and blanks do not matter.
    ///
    /// # Errors
    /// A usage error whose hint suggests the nearest name and lists the known ones.
    pub fn pollutant(&self, word: &str) -> Result<&Signature> {
        signatures::find(&self.signatures, word)
    }

    /// The signatures to which a code of the outfall field sheet points, in the order of the file.
    pub fn signatures_of_ori(&self, field: OriField, code: &str) -> Vec<&Signature> {
        self.signatures.iter().filter(|s| s.ori.of(field).iter().any(|c| c == code)).collect()
    }

    /// Every site type, in the order of the file.
    pub fn sites(&self) -> &[SiteType] {
        &self.sites
    }

    /// The site type of an id.
    pub fn site_type(&self, id: &str) -> Option<&SiteType> {
        self.sites.iter().find(|site| site.id == id)
    }

    /// The site types of a business; the most specific code wins, SIC and NAICS each for itself.
    pub fn sites_of_business(&self, sic: Option<&str>, naics: Option<&str>) -> Vec<&SiteType> {
        sites::of_business(&self.sites, sic, naics)
    }

    /// The names of the land-use schemes.
    pub fn land_use_schemes(&self) -> Vec<&str> {
        self.schemes.keys().map(String::as_str).collect()
    }

    /// Fails where a town's `land_use_scheme` is none of the schemes in force.
    ///
    /// # Errors
    /// Lists the known schemes.
    pub fn check_scheme(&self, scheme: &str) -> Result<()> {
        if self.schemes.contains_key(scheme) {
            return Ok(());
        }
        let known = self.land_use_schemes().join(", ");
        Err(Error::settings("there is no such land-use scheme")
            .file("headwall.toml")
            .field("land_use_scheme")
            .found(format!("\"{scheme}\""))
            .expected(format!("one of {known}"))
            .hint("put land_use/NAME.toml into the town's rules/ folder to add a scheme"))
    }

    /// The land use of a class, and how it was found; `None` where the scheme does not know it, which is never "clean".
    pub fn land_use(&self, scheme: &str, code: &str) -> Option<LandUseMatch<'_>> {
        self.schemes.get(scheme)?.find(code)
    }

    /// How strong a tier is for a pathway, with its words and source.
    pub fn tier(&self, tier: Tier, pathway: Pathway) -> Option<&TierStrength> {
        self.tiers.strength(tier, pathway)
    }

    /// How strong a tier is for a pathway, in thousandths.
    pub fn tier_strength_milli(&self, tier: Tier, pathway: Pathway) -> u32 {
        // Reading the file made sure that every pair is there.
        self.tier(tier, pathway).map_or(0, |s| s.factor_milli)
    }

    /// What a distance in metres leaves of a link, in thousandths.
    pub fn decay_milli(&self, of: DecayKind, distance_m: f64) -> u32 {
        // Reading the file made sure that the last step has no end.
        self.tiers.step(of, distance_m).map_or(0, |step| step.factor_milli)
    }

    /// The steps of a decay, nearest first.
    pub fn decay_steps(&self, of: DecayKind) -> Vec<&DecayStep> {
        self.tiers.steps.iter().filter(|step| step.of == of).collect()
    }

    /// What weakens the link to every system but the nearest.
    pub fn not_nearest(&self) -> Option<&Weakening> {
        self.tiers.weakening(tiers::NOT_NEAREST)
    }

    /// Every other factor, in the order of the file.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The factor of an id. Those in the embedded file are always there: a replacement without one is refused.
    pub fn factor(&self, id: &str) -> Option<&Factor> {
        self.factors.iter().find(|factor| factor.id == id)
    }

    /// Every explanation other than a mapped premises, in the order of the file.
    pub fn hypotheses(&self) -> &[Hypothesis] {
        &self.hypotheses
    }

    /// The hypothesis of an id.
    pub fn hypothesis(&self, id: &str) -> Option<&Hypothesis> {
        self.hypotheses.iter().find(|h| h.id == id)
    }

    /// The weight of a hypothesis for a signature: its prior times how strongly the signature points to it; `None` where it does not.
    pub fn hypothesis_milli(&self, signature: &Signature, id: &str) -> Option<u32> {
        let link = signature.hypotheses.iter().find(|link| link.id == id)?;
        let strength_milli = self.factor(link.strength.factor_id())?.factor_milli;
        Some(times_milli(self.hypothesis(id)?.prior_milli, strength_milli))
    }

    /// How fast water may run, and what holds it back.
    pub fn hydraulics(&self) -> &Hydraulics {
        &self.hydraulics
    }

    /// What each doubtful fact costs.
    pub fn doubts(&self) -> &DoubtCosts {
        &self.doubts
    }

    /// What can be measured.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The thresholds, in the order of the file.
    pub fn thresholds(&self) -> &[Threshold] {
        &self.thresholds
    }
}

/// `nys` for `land_use/nys.toml`; `None` for any other file.
fn scheme_name(file: &str) -> Option<&str> {
    let name = file.strip_prefix("land_use/")?.strip_suffix(".toml")?;
    let sound = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    sound.then_some(name)
}

/// Names and texts with their lengths, so that no two sets of files can look alike.
fn digest(texts: &BTreeMap<&str, &str>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for (name, text) in texts {
        for part in [name, text] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
    }
    hash.finalize().into()
}
