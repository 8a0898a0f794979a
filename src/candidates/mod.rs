//! Which properties, ranked by what evidence?
//!
//! A weight orders leads for inspection; people see the order, an evidence word and reasons for and against, never a percentage.

use std::collections::BTreeMap;

use crate::inventory::{Inventory, LandLayerKind, StructureKind};
use crate::law::Law;
use crate::links::{LateralIndex, ParcelIndex, stacks};
use crate::network::{ConduitIndex, PieceIndex, StructureIndex};
use crate::rules::{DecayKind, Hypothesis, Pathway, Reason, Rules, Signature, Tier, times_milli};
use crate::trace::travel::stretch;
use crate::trace::{Certainty, Ground, Trace, Travel};

mod premises;
pub mod why_not;

/// How a property is tied to the traced system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tie {
    /// The tier of the tie.
    pub tier: Tier,
    /// The conduit through which its water would come, where one is known.
    pub conduit: Option<ConduitIndex>,
    /// The inlet through which it would come, where it is one.
    pub inlet: Option<StructureIndex>,
    /// The lateral, where it is one.
    pub lateral: Option<LateralIndex>,
    /// How far the property lies from the conduit or inlet, metres.
    pub away_m: f64,
    /// How far the tie lies from the place along the pipe, metres.
    pub distance_m: f64,
    /// How sure the way from there is.
    pub certainty: Certainty,
    /// How long water takes from the tie to the place.
    pub travel: Travel,
}

/// How much speaks for a candidate, as a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EvidenceWord {
    /// A known tie and a use that such a discharge points to.
    Strong,
    /// One of the two.
    Moderate,
    /// Neither.
    Weak,
}

impl EvidenceWord {
    /// The word people see.
    pub fn word(self) -> &'static str {
        match self {
            EvidenceWord::Strong => "strong",
            EvidenceWord::Moderate => "moderate",
            EvidenceWord::Weak => "weak",
        }
    }
}

/// A property that the discharge may come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The property.
    pub parcel: ParcelIndex,
    /// Its rank; equals share one.
    pub rank: u32,
    /// How much speaks for it.
    pub evidence: EvidenceWord,
    /// Its strongest tie.
    pub tie: Tie,
    /// Its other ties, strongest first.
    pub other_ties: Vec<Tie>,
    /// Why, and why not, the weightiest first.
    pub reasons: Vec<Reason>,
    /// Thousandths; orders the list and is shown to nobody.
    pub weight_milli: u32,
}

/// Another explanation than a mapped property.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherExplanation {
    /// The hypothesis.
    pub hypothesis: Hypothesis,
    /// Thousandths; orders the list.
    pub weight_milli: u32,
}

/// The candidates of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    /// Ranked.
    pub ranked: Vec<Candidate>,
    /// What else it could be, likelier first.
    pub other_explanations: Vec<OtherExplanation>,
    /// Road, rail and water parcels on the way: land, but no candidates.
    pub left_out: Vec<ParcelIndex>,
    /// Factors that could not be weighed because their layer is absent, in words.
    pub absent: Vec<String>,
}

/// What was seen and when, against which the properties are weighed.
#[derive(Clone, Copy)]
pub struct Sighting<'a> {
    /// What was seen; at least one.
    pub signatures: &'a [&'a Signature],
    /// The scheme of the parcels' land-use classes.
    pub land_use_scheme: Option<&'a str>,
    /// The year in which the question is asked, for the age of buildings.
    pub year: i16,
    /// The law that the town chose, whose words and citations go into reasons.
    pub law: Option<&'a Law>,
}

/// At this tie strength and above a tie counts as known (assumed; thousandths).
const KNOWN_TIE_MILLI: u32 = 600;
/// At this fit and above a use counts as one that the discharge points to (assumed; thousandths).
const POINTED_FIT_MILLI: u32 = 2000;

/// Ranks every property that is tied to the trace.
pub fn rank(ground: Ground, rules: &Rules, trace: &Trace, sighting: Sighting) -> Candidates {
    let ties = gather_ties(ground, trace);
    let stack_of = stacks(ground.inventory);
    let mut out = Candidates { absent: absent_factors(ground.inventory, sighting), ..Candidates::default() };
    let mut groups: BTreeMap<ParcelIndex, Vec<Candidate>> = BTreeMap::new();
    for (parcel, ties) in ties {
        let uses = premises::land_uses(ground.inventory, rules, sighting, parcel);
        if uses.iter().any(|u| !u.land_use.candidate) {
            out.left_out.push(parcel);
            continue;
        }
        let candidate = weigh(ground, rules, sighting, parcel, ties, &uses);
        groups.entry(stack_of[parcel.at()]).or_default().push(candidate);
    }
    // Parcels that share one outline stand together, at the place of the weightiest.
    let mut groups: Vec<(u32, f64, Vec<Candidate>)> = groups
        .into_values()
        .map(|members| {
            let weight = members.iter().map(|c| c.weight_milli).max().unwrap_or(0);
            let distance_m = members.iter().map(|c| c.tie.distance_m).fold(f64::INFINITY, f64::min);
            (weight, distance_m, members)
        })
        .collect();
    groups.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)).then(a.2[0].parcel.cmp(&b.2[0].parcel)));
    let (mut rank, mut last_weight) = (0u32, None);
    for (at, (weight, _, members)) in groups.into_iter().enumerate() {
        if last_weight != Some(weight) {
            rank = at as u32 + 1;
            last_weight = Some(weight);
        }
        out.ranked.extend(members.into_iter().map(|candidate| Candidate { rank, ..candidate }));
    }
    out.other_explanations = other_explanations(rules, trace, sighting);
    out
}

fn weigh(
    ground: Ground,
    rules: &Rules,
    sighting: Sighting,
    parcel: ParcelIndex,
    mut ties: Vec<Tie>,
    uses: &[crate::rules::LandUseMatch],
) -> Candidate {
    let pathway = common_pathway(sighting.signatures);
    let strength = |tie: &Tie| tie_strength(ground, rules, pathway, parcel, tie);
    ties.sort_by(|a, b| strength(b).cmp(&strength(a)).then(a.tier.cmp(&b.tier)).then(a.distance_m.total_cmp(&b.distance_m)));
    let tie = ties[0];
    let strength_milli = strength(&tie);
    let fit = premises::fit(ground, rules, sighting, parcel, uses);
    let tie_words = premises::tie_reasons(ground, rules, pathway, parcel, &tie);
    let mut reasons = fit.reasons;
    reasons.extend(tie_words);
    let is_plumbed = |tie: &Tie| matches!(tie.tier, Tier::Record | Tier::Lateral);
    if is_plumbed(&tie) || ties.iter().any(is_plumbed) {
        reasons.extend(premises::illicit_connection_reasons(sighting));
    }
    let known_tie = rules.tier_strength_milli(tie.tier, pathway) >= KNOWN_TIE_MILLI && tie.certainty != Certainty::Possible;
    let pointed = fit.factor_milli >= POINTED_FIT_MILLI;
    let evidence = match (known_tie, pointed) {
        (true, true) => EvidenceWord::Strong,
        (false, false) => EvidenceWord::Weak,
        _ => EvidenceWord::Moderate,
    };
    let weight_milli = times_milli(fit.factor_milli, strength_milli);
    Candidate { parcel, rank: 0, evidence, tie, other_ties: ties.split_off(1), reasons, weight_milli }
}

/// The pathway that all sightings share; `either` where they differ.
pub(crate) fn common_pathway(signatures: &[&Signature]) -> Pathway {
    let mut pathways = signatures.iter().map(|s| s.pathway);
    let first = pathways.next().unwrap_or(Pathway::Either);
    if pathways.all(|p| p == first) { first } else { Pathway::Either }
}

/// What a way that rests on doubtful links leaves of a tie, thousandths (assumed).
fn certainty_milli(certainty: Certainty) -> u32 {
    match certainty {
        Certainty::Certain => 1000,
        Certainty::Probable => 800,
        Certainty::Possible => 400,
    }
}

fn tie_strength(ground: Ground, rules: &Rules, pathway: Pathway, parcel: ParcelIndex, tie: &Tie) -> u32 {
    let mut milli = rules.tier_strength_milli(tie.tier, pathway);
    if tie.tier == Tier::Frontage {
        milli = times_milli(milli, rules.decay_milli(DecayKind::Frontage, tie.away_m));
        if nearer_other(ground, parcel, tie).is_some() {
            milli = times_milli(milli, rules.not_nearest().map_or(1000, |w| w.factor_milli));
        }
    }
    milli = times_milli(milli, rules.decay_milli(DecayKind::AlongPipe, tie.distance_m));
    times_milli(milli, certainty_milli(tie.certainty))
}

/// A live conduit that lies nearer to the parcel than the tie and is another one.
pub(crate) fn nearer_other(ground: Ground, parcel: ParcelIndex, tie: &Tie) -> Option<(PieceIndex, f64)> {
    let (piece, away_m) = ground.links.nearest_piece(parcel)?;
    // A decimetre: two pipes in one trench are equally near.
    (away_m + 0.1 < tie.away_m && Some(ground.network.piece(piece).conduit) != tie.conduit).then_some((piece, away_m))
}

/// Every tie of every property with the traced stretches and inlets.
fn gather_ties(ground: Ground, trace: &Trace) -> BTreeMap<ParcelIndex, Vec<Tie>> {
    let mut ties: BTreeMap<ParcelIndex, Vec<Tie>> = BTreeMap::new();
    for traced in &trace.parcels {
        ties.entry(traced.parcel).or_default().push(Tie {
            tier: Tier::Frontage,
            conduit: Some(ground.network.piece(traced.piece).conduit),
            inlet: None,
            lateral: None,
            away_m: traced.away_m,
            distance_m: traced.distance_m,
            certainty: traced.certainty,
            travel: traced.travel,
        });
    }
    for traced in &trace.pieces {
        for link in ground.links.laterals(traced.piece) {
            let inside = link.along_m >= traced.from_m - 1e-6 && link.along_m <= traced.to_m + 1e-6;
            let (Some(parcel), true) = (link.parcel, inside) else { continue };
            let conduit = ground.network.piece(traced.piece).conduit;
            let beyond_m = traced.from_near_end_m(ground.network, trace.place, link.along_m);
            ties.entry(parcel).or_default().push(Tie {
                tier: Tier::Lateral,
                conduit: Some(conduit),
                inlet: None,
                lateral: Some(link.lateral),
                away_m: 0.0,
                distance_m: traced.distance_m + beyond_m,
                certainty: traced.certainty,
                travel: traced.travel.then(stretch(ground, conduit, beyond_m)),
            });
        }
    }
    for &structure in &trace.structures {
        let node = ground.network.node_of(structure);
        let Some(reached) = trace.node(node).filter(|_| is_open_to_ground(ground.inventory, structure)) else { continue };
        for link in ground.links.inlets(structure) {
            ties.entry(link.parcel).or_default().push(Tie {
                tier: if link.by_area { Tier::InletArea } else { Tier::Frontage },
                conduit: None,
                inlet: Some(structure),
                lateral: None,
                away_m: link.away_m,
                distance_m: reached.distance_m,
                certainty: reached.certainty,
                travel: reached.travel,
            });
        }
    }
    ties
}

fn is_open_to_ground(inventory: &Inventory, structure: StructureIndex) -> bool {
    matches!(inventory.structures[structure.at()].kind, StructureKind::CatchBasin | StructureKind::Inlet)
}

fn absent_factors(inventory: &Inventory, sighting: Sighting) -> Vec<String> {
    let mut absent = Vec::new();
    let mut say = |missing: bool, text: &str| {
        if missing {
            absent.push(text.to_owned());
        }
    };
    say(!inventory.has_role("parcels"), "no parcels: properties cannot be named");
    say(!inventory.has_role("laterals"), "no laterals: which property is plumbed to which pipe is not known");
    say(!inventory.has_role("inlet_areas"), "no inlet areas: what drains to an inlet is judged by nearness alone");
    say(!inventory.has_role(LandLayerKind::Business.word()), "no businesses: what is done on a property is judged by its land use alone");
    say(!inventory.has_role(LandLayerKind::Septic.word()), "no septic systems");
    say(!inventory.has_role(LandLayerKind::Permit.word()), "no discharge permits");
    let has_use = inventory.parcels.iter().any(|p| p.land_use.is_some() || p.used_as.is_some());
    say(inventory.has_role("parcels") && !has_use, "no land use on the parcels: uses speak neither for nor against");
    say(has_use && sighting.land_use_scheme.is_none(), "the town file names no land_use_scheme: land-use classes cannot be read");
    absent
}

fn other_explanations(rules: &Rules, trace: &Trace, sighting: Sighting) -> Vec<OtherExplanation> {
    let from_another = trace.cautions.iter().any(|c| c.kind == crate::trace::CautionKind::Interconnection);
    let mut out: Vec<OtherExplanation> = rules
        .hypotheses()
        .iter()
        .filter_map(|hypothesis| {
            let weights = sighting.signatures.iter().filter_map(|s| rules.hypothesis_milli(s, &hypothesis.id));
            let weight_milli = weights.max()?;
            // Where no other system enters on the way, none can have brought it.
            let possible = hypothesis.id != "other_ms4" || from_another;
            possible.then(|| OtherExplanation { hypothesis: hypothesis.clone(), weight_milli })
        })
        .collect();
    out.sort_by(|a, b| b.weight_milli.cmp(&a.weight_milli).then(a.hypothesis.id.cmp(&b.hypothesis.id)));
    out
}
