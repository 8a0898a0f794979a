//! What is known of one property, and what does it say? Land use, businesses, age, septic, permits, and how it is tied.

use crate::inventory::{Inventory, LandLayerKind, Premises};
use crate::links::ParcelIndex;
use crate::rules::{Business, Fit, Known, LandUseMatch, Leaning, Pathway, Reason, Rules, Tier, times_milli};
use crate::trace::{Certainty, Ground};

use super::{KNOWN_TIE_MILLI, Sighting, Tie, certainty_milli, nearer_other};

/// The factor that limb (b) of the definition of an illicit connection stands behind.
const UNDOCUMENTED: &str = "undocumented_connection";

/// What limb (a) says of a plumbed connection that may carry such water; it moves nobody up or down.
pub(super) fn illicit_connection_reasons(sighting: Sighting) -> Vec<Reason> {
    let Some((law, limb, words)) = sighting.law.and_then(|law| {
        let limb = law.limb("a")?;
        Some((law, limb, limb.reason.as_deref()?))
    }) else {
        return Vec::new();
    };
    let may_be = |signatures: &[String]| sighting.signatures.iter().any(|s| signatures.contains(&s.id));
    let say = |water: &str| Reason {
        text: words.replace("{water}", water),
        leaning: Leaning::Neither,
        factor_milli: 1000,
        source: law.cite(&limb.at),
        assumed: false,
    };
    limb.carries.iter().filter(|c| may_be(&c.signatures)).map(|c| say(&c.words)).collect()
}

/// What the assessment roll says that a parcel is, as far as the scheme knows it.
pub(super) fn land_uses<'r>(inventory: &Inventory, rules: &'r Rules, sighting: Sighting, parcel: ParcelIndex) -> Vec<LandUseMatch<'r>> {
    let parcel = &inventory.parcels[parcel.at()];
    let by_class = parcel.land_use.as_deref().zip(sighting.land_use_scheme).and_then(|(class, scheme)| rules.land_use(scheme, class));
    let by_words = parcel.used_as.as_deref().and_then(|words| rules.land_use("generic", words));
    by_class.into_iter().chain(by_words).collect()
}

/// How well a property fits what was seen: each sighting's fit added up, then what else is known of it.
pub(super) fn fit(ground: Ground, rules: &Rules, sighting: Sighting, parcel: ParcelIndex, uses: &[LandUseMatch]) -> Fit {
    let here: Vec<&Premises> = ground.links.premises(parcel).iter().map(|p| &ground.inventory.premises[p.at()]).collect();
    let businesses: Vec<Business> = here
        .iter()
        .filter(|p| matches!(p.layer_kind, LandLayerKind::Business | LandLayerKind::Facility))
        .map(|p| Business {
            name: p.name.as_deref().map(str::to_owned),
            sic: p.sic.as_deref().map(str::to_owned),
            naics: p.naics.as_deref().map(str::to_owned),
        })
        .collect();
    let mut total = Fit { factor_milli: 0, site: None, reasons: Vec::new() };
    for signature in sighting.signatures {
        let mut one = rules.fit(signature, uses, &businesses);
        for (id, known) in facts(ground, sighting, parcel, &here, uses) {
            let Some(factor) = rules.factor(id).filter(|f| f.counts_for(&signature.id)) else { continue };
            one.factor_milli = times_milli(one.factor_milli, factor.weight_milli(known));
            // What limb (b) leaves undetermined is said: unknown is never clean.
            let limb = sighting.law.filter(|_| id == UNDOCUMENTED).and_then(|law| law.limb("b").map(|limb| law.cite(&limb.at)));
            let mut reason = factor.reason(known).filter(|_| known != Known::Unknown || limb.is_some());
            if let (Some(reason), Some(source)) = (&mut reason, limb) {
                reason.source = source;
            }
            one.reasons.extend(reason);
        }
        total.factor_milli = total.factor_milli.saturating_add(one.factor_milli);
        total.site = total.site.or(one.site);
        for reason in one.reasons {
            if !total.reasons.contains(&reason) {
                total.reasons.push(reason);
            }
        }
    }
    total.factor_milli /= u32::try_from(sighting.signatures.len().max(1)).unwrap_or(1);
    total
}

/// What is known about each factor; what nobody knows changes nothing.
fn facts(
    ground: Ground,
    sighting: Sighting,
    parcel_index: ParcelIndex,
    here: &[&Premises],
    uses: &[LandUseMatch],
) -> Vec<(&'static str, Known)> {
    let inventory = ground.inventory;
    let parcel = &inventory.parcels[parcel_index.at()];
    let mut facts = Vec::new();
    let has_septic = here.iter().any(|p| p.layer_kind == LandLayerKind::Septic);
    facts.push((
        "private_sewer",
        match parcel.sewer.as_deref() {
            _ if has_septic => Known::Holds,
            Some("private") => Known::Holds,
            Some("public") => Known::Otherwise,
            _ => Known::Unknown,
        },
    ));
    if let Some(age) = parcel.year_built.filter(|y| *y > 1600).map(|y| i32::from(sighting.year) - y) {
        match age {
            41.. => facts.push(("built_over_40_years_ago", Known::Holds)),
            20..=40 => facts.push(("built_20_to_40_years_ago", Known::Holds)),
            _ => {}
        }
    }
    if here.iter().any(|p| p.layer_kind == LandLayerKind::Permit) {
        facts.push(("permit_present", Known::Holds));
    }
    // Limb (b) speaks of commercial and industrial uses; whether apartments count is the town's policy, by default yes.
    let is_covered =
        uses.iter().any(|u| u.land_use.limb_b.covered(true) == Some(true)) || here.iter().any(|p| p.layer_kind == LandLayerKind::Business);
    if is_covered {
        let own = inventory.laterals.iter().filter(|l| l.parcel.as_deref() == Some(&*parcel.key.id));
        let (mut documented, mut any_unknown, mut any) = (true, false, false);
        for lateral in own {
            any = true;
            match (lateral.documented, lateral.approved) {
                (Some(true), Some(true)) => {}
                (Some(false), _) | (_, Some(false)) => documented = false,
                _ => any_unknown = true,
            }
        }
        if any {
            let known = if !documented {
                Known::Holds
            } else if any_unknown {
                Known::Unknown
            } else {
                Known::Otherwise
            };
            facts.push((UNDOCUMENTED, known));
        }
    }
    facts
}

/// How the property is tied, in words, and what weakens the tie.
pub(super) fn tie_reasons(ground: Ground, rules: &Rules, pathway: Pathway, parcel: ParcelIndex, tie: &Tie) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let Some(strength) = rules.tier(tie.tier, pathway) else { return reasons };
    let through = match (tie.lateral, tie.inlet, tie.conduit) {
        (Some(lateral), _, _) => format!("lateral {}", ground.inventory.laterals[lateral.at()].key),
        (_, Some(inlet), _) => format!("inlet {}", ground.inventory.structures[inlet.at()].key),
        (_, _, Some(conduit)) => format!("conduit {}", ground.inventory.conduits[conduit.at()].key),
        _ => "the drain".to_owned(),
    };
    let say = |text: String, factor_milli: u32| Reason {
        text,
        leaning: Leaning::of(factor_milli),
        factor_milli,
        source: strength.source.clone(),
        assumed: true,
    };
    // A tie is never a reason against; one too weak to count as known is merely said.
    let leaning = if strength.factor_milli >= KNOWN_TIE_MILLI { Leaning::For } else { Leaning::Neither };
    reasons.push(Reason { leaning, ..say(format!("{through}: {}", strength.words), strength.factor_milli) });
    if tie.tier == Tier::Frontage
        && let Some((piece, nearer_m)) = nearer_other(ground, parcel, tie)
        && let Some(weakening) = rules.not_nearest()
    {
        let id = &ground.inventory.conduits[ground.network.piece(piece).conduit.at()].key;
        let text = format!("{}: {id} at {nearer_m:.1} m, against {:.1} m", weakening.words, tie.away_m);
        reasons.push(Reason { source: weakening.source.clone(), ..say(text, weakening.factor_milli) });
    }
    if tie.certainty != Certainty::Certain {
        let text = match tie.certainty {
            Certainty::Probable => "the way from there rests on a contradicted or assumed direction",
            _ => "the way from there is only possible: by an unknown direction, an overflow or a conduit that should carry nothing",
        };
        reasons.push(say(text.to_owned(), certainty_milli(tie.certainty)));
    }
    reasons
}
