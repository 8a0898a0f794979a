//! How well does what was seen fit what stands on a parcel? A weight and the reasons for it, in words for an inspector.

use super::Rules;
use super::factors::{Factor, Known, Leaning, Reason};
use super::land_use::LandUseMatch;
use super::signatures::{Signature, Strength};
use super::sites::{SiteClass, SiteType};
use super::source::Source;

/// A place of business, by its codes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Business {
    /// What it is called in reasons; absent: by its site type.
    pub name: Option<String>,
    /// Standard Industrial Classification code.
    pub sic: Option<String>,
    /// North American Industry Classification System code.
    pub naics: Option<String>,
}

/// How well a premises fits a signature.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Prior times fit; 1000 is a plain house about which nothing is said.
    pub factor_milli: u32,
    /// The site type that weighed most, where there is one.
    pub site: Option<String>,
    /// Why, the weightiest first; their weights multiply to `factor_milli`, apart from rounding.
    pub reasons: Vec<Reason>,
}

/// A weight times a factor, both in thousandths, rounded half up; stays at the largest weight rather than overflow.
///
/// ```
/// assert_eq!(headwall::rules::times_milli(1500, 4000), 6000);
/// assert_eq!(headwall::rules::times_milli(u32::MAX, u32::MAX), u32::MAX);
/// ```
pub fn times_milli(weight_milli: u32, factor_milli: u32) -> u32 {
    let product = (u64::from(weight_milli) * u64::from(factor_milli) + 500) / 1000;
    u32::try_from(product).unwrap_or(u32::MAX)
}

/// One thing that a premises may be, with what speaks for it.
struct Guise<'a> {
    label: String,
    site: Option<&'a SiteType>,
    /// False where the land use only may be this site type: a downtown building may be a laundry.
    sure: bool,
    prior_milli: u32,
    source: &'a Source,
}

impl Guise<'_> {
    /// How strongly a signature points to it, and what it is there.
    fn link<'s>(&self, signature: &'s Signature) -> Option<(Strength, &'s str)> {
        let link = signature.link(&self.site?.id)?;
        Some((if self.sure { link.strength } else { link.strength.weaker() }, &link.why))
    }

    /// As it begins a sentence.
    fn words(&self) -> String {
        match self.site.filter(|_| !self.sure) {
            Some(site) => format!("{}, if used as {}", self.label, site.words),
            None => self.label.clone(),
        }
    }

    /// What the signature says about it, where it points there.
    fn pointed_text(&self, signature: &Signature) -> Option<String> {
        let (strength, why) = self.link(signature)?;
        Some(format!("{}: {} source of {}: {why}", self.words(), strength.adjective(), signature.words))
    }
}

impl Rules {
    /// How well a premises fits a signature, from what its land use and businesses may be; the guise that fits best counts.
    ///
    /// Give every land use that is known (the class, and what the roll says it is used as). None at all is said, and is neutral.
    pub fn fit(&self, signature: &Signature, land_uses: &[LandUseMatch<'_>], businesses: &[Business]) -> Fit {
        let mut guises: Vec<Guise> = Vec::new();
        let mut reasons: Vec<Reason> = Vec::new();
        for business in businesses {
            let sites = self.sites_of_business(business.sic.as_deref(), business.naics.as_deref());
            if sites.is_empty() {
                reasons.extend(self.said("business_unknown", Known::Holds, |text| format!("{}: {text}", business_label(business, None))));
            }
            guises.extend(sites.into_iter().map(|site| self.business_guise(business, site)));
        }
        for land_use in land_uses {
            guises.extend(self.land_use_guises(land_use));
        }
        if land_uses.is_empty() {
            reasons.extend(self.said("land_use_unknown", Known::Holds, |text| text));
        }
        // The first of equals, so that the order of the data decides and not chance.
        let mut best: Option<(u32, usize)> = None;
        for (at, guise) in guises.iter().enumerate() {
            let weight_milli = times_milli(guise.prior_milli, self.pointing(signature, guise).map_or(1000, |f| f.factor_milli));
            if best.is_none_or(|(most, _)| weight_milli > most) {
                best = Some((weight_milli, at));
            }
        }
        let Some((factor_milli, at)) = best else {
            return Fit { factor_milli: 1000, site: None, reasons };
        };
        let mut ordered = self.guise_reasons(signature, &guises[at]);
        for (other, guise) in guises.iter().enumerate() {
            let another = other != at && guise.site.map(|site| &site.id) != guises[at].site.map(|site| &site.id);
            ordered.extend(another.then(|| also_points(signature, guise)).flatten());
        }
        ordered.append(&mut reasons);
        Fit { factor_milli, site: guises[at].site.map(|site| site.id.clone()), reasons: ordered }
    }

    fn business_guise<'a>(&'a self, business: &Business, site: &'a SiteType) -> Guise<'a> {
        let prior_milli = self.class_factor(site.class).map_or(1000, |f| f.factor_milli);
        Guise { label: business_label(business, Some(site)), site: Some(site), sure: true, prior_milli, source: &site.source }
    }

    /// One for each site type that the class may be; one without a site type where it names none.
    fn land_use_guises<'a>(&'a self, matched: &LandUseMatch<'a>) -> Vec<Guise<'a>> {
        let land_use = matched.land_use;
        let guise = |site: Option<&'a SiteType>, sure: bool| Guise {
            label: matched.label(),
            site,
            sure,
            prior_milli: land_use.prior_milli,
            source: &land_use.source,
        };
        let sites = land_use.sites.iter().enumerate().filter_map(|(at, id)| Some((at, self.site_type(id)?)));
        let guises: Vec<Guise> = sites.map(|(at, site)| guise(Some(site), at == 0)).collect();
        if guises.is_empty() { vec![guise(None, true)] } else { guises }
    }

    /// The factor that weighs how strongly a signature points to a guise; `None` where the signature says nothing about sites.
    fn pointing(&self, signature: &Signature, guise: &Guise) -> Option<&Factor> {
        if signature.sites.is_empty() {
            return None;
        }
        self.factor(guise.link(signature).map_or("not_pointed", |(strength, _)| strength.factor_id()))
    }

    fn class_factor(&self, class: SiteClass) -> Option<&Factor> {
        self.factor(match class {
            SiteClass::High => "class_high",
            SiteClass::Medium => "class_medium",
            SiteClass::Low => "class_low",
        })
    }

    fn guise_reasons(&self, signature: &Signature, guise: &Guise) -> Vec<Reason> {
        let mut reasons = Vec::new();
        if let Some(factor) = self.pointing(signature, guise) {
            let pointed = guise.pointed_text(signature);
            let source = if pointed.is_some() { signature.source.clone() } else { factor.source.clone() };
            let text = pointed.unwrap_or_else(|| format!("{}: {} of {}", guise.label, factor.holds, signature.words));
            reasons.push(Reason { source, ..factor.say(Known::Holds, text) });
        }
        if guise.prior_milli != 1000 {
            let leaning = Leaning::of(guise.prior_milli);
            let site = guise.site.filter(|site| site.class > SiteClass::Low && leaning == Leaning::For);
            let text = match (site, leaning) {
                (Some(site), _) => {
                    let (class, materials) = (site.class.word(), site.materials.join(", "));
                    format!("{}: {class} potential for illicit discharge ({}: {materials})", guise.label, site.words)
                }
                (None, Leaning::For) => format!("{}: discharges are more likely than from a house", guise.label),
                (None, _) => format!("{}: discharges are less likely than from a house", guise.label),
            };
            let source = site.map_or(guise.source, |site| &site.source).clone();
            reasons.push(Reason { text, leaning, factor_milli: guise.prior_milli, source, assumed: true });
        }
        reasons
    }

    fn said(&self, id: &str, known: Known, words: impl Fn(String) -> String) -> Option<Reason> {
        let mut reason = self.factor(id)?.reason(known)?;
        reason.text = words(reason.text);
        Some(reason)
    }
}

fn business_label(business: &Business, site: Option<&SiteType>) -> String {
    let name = business.name.as_deref().or(site.map(|site| site.words.as_str())).unwrap_or("business");
    let codes: Vec<String> = [("SIC", &business.sic), ("NAICS", &business.naics)]
        .into_iter()
        .filter_map(|(scheme, code)| code.as_ref().map(|code| format!("{scheme} {}", code.trim())))
        .collect();
    if codes.is_empty() { name.to_owned() } else { format!("{name} ({})", codes.join(", ")) }
}

/// What another guise adds: said, without a weight of its own. What a building only may be, and only now and then a source, would be noise.
fn also_points(signature: &Signature, guise: &Guise) -> Option<Reason> {
    let (strength, _) = guise.link(signature)?;
    if !guise.sure && strength == Strength::Weak {
        return None;
    }
    let text = format!("also {}", guise.pointed_text(signature)?);
    Some(Reason { text, leaning: Leaning::For, factor_milli: 1000, source: signature.source.clone(), assumed: true })
}
