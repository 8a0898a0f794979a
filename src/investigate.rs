//! **Start here.** A report goes in, an investigation comes out, one line per step.

use geo::Point;
use jiff::civil::Date;

use crate::candidates::{self, Candidates, Sighting};
use crate::data_issue::{DataIssue, IssueCode};
use crate::error::{Error, ErrorKind, Result};
use crate::inventory::{Inventory, Key};
use crate::law::{LawInForce, Presumption, SpillKind};
use crate::links::{Links, ParcelIndex};
use crate::network::locate::{Located, Place, SegmentIndex, locate};
use crate::network::{ConduitIndex, Network, NodeIndex, PieceIndex, StructureIndex};
use crate::rules::{Rules, Signature};
use crate::settings::Settings;
use crate::trace::{Ground, Trace, TraceOptions, Way, trace};
use crate::waters::{Concerns, OutfallConditions, Spot, WaterNetwork, WayUp, way_down, way_up};

/// The town as built: everything an answer rests on.
#[derive(Debug)]
pub struct Basis {
    /// What `headwall.toml` says.
    pub settings: Settings,
    /// The rules in force.
    pub rules: Rules,
    /// The law and permit that the town chose.
    pub law: LawInForce,
    /// What the town has mapped.
    pub inventory: Inventory,
    /// What flows into what.
    pub network: Network,
    /// The network by place.
    pub segments: SegmentIndex,
    /// What is tied to what.
    pub links: Links,
    /// What flows into what among the waters, and which assessment units lie on them.
    pub waters: WaterNetwork,
    /// What is doubtful in the maps, in order.
    pub issues: Vec<DataIssue>,
}

impl Basis {
    /// What a trace reads.
    pub fn ground(&self) -> Ground<'_> {
        Ground { inventory: &self.inventory, network: &self.network, links: &self.links, hydraulics: self.rules.hydraulics() }
    }
}

/// Where something was seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Whereabouts {
    /// At a coordinate, inside coordinates.
    Point(Point),
    /// At a structure, by `ID` or `LAYER/ID`.
    Structure(String),
    /// On a conduit, by `ID` or `LAYER/ID`: at its lower end, so that the whole conduit is upstream.
    Conduit(String),
}

/// What somebody reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Where.
    pub at: Whereabouts,
    /// Which conduit was meant, where a coordinate lies between several.
    pub on: Option<String>,
    /// What was seen, in words; nothing means not known.
    pub pollutants: Vec<String>,
    /// Farthest distance from a coordinate to the conduit it means, metres; the town's setting where absent.
    pub search_radius_m: Option<f64>,
}

/// The answer to a report.
#[derive(Clone, Debug)]
pub struct Investigation {
    /// The report.
    pub report: Report,
    /// The place it was put at.
    pub place: Place,
    /// How far the place is from the coordinate, metres; 0 for a named feature.
    pub moved_m: f64,
    /// The place in words.
    pub place_name: String,
    /// The signatures that its words mean.
    pub signatures: Vec<Signature>,
    /// What lies upstream.
    pub trace: Trace,
    /// The ranked candidates.
    pub candidates: Candidates,
    /// Exempt categories of the law that could explain it; whether one does is not decided here.
    pub exemptions: Vec<PossibleExemption>,
    /// Whom to call in a spill, where what was seen may be one.
    pub spill: Vec<SpillLine>,
    /// Data issues that concern the traced conduits and structures, or the input as a whole.
    pub issues: Vec<DataIssue>,
    /// The special conditions of the outfalls below the place.
    pub conditions: Vec<ConditionsBelow>,
    /// The date on which the question was asked.
    pub as_of: Date,
}

/// An exempt category of the law that could explain what was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PossibleExemption {
    /// `E1` to `E15`.
    pub category: String,
    /// What was seen.
    pub signature: String,
    /// The law's words and condition.
    pub text: String,
    /// What would have to be so here, as the signature says.
    pub when: String,
    /// What can be presumed without a reading.
    pub presumption: Presumption,
    /// Where it stands.
    pub citation: String,
}

/// A line of what to do in a spill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpillLine {
    /// For which release.
    pub kind: SpillKind,
    /// Who has to, as the law names them.
    pub who: String,
    /// What, to whom and how.
    pub words: String,
    /// How to reach them, where the town has put that in.
    pub contact: Option<String>,
    /// The last day, counted from the day of the question, and how it was counted.
    pub due: Option<(Date, String)>,
    /// Where it stands.
    pub citation: String,
}

/// The exempt categories that could explain the signatures on a day; none where the town names no law.
pub fn possible_exemptions(basis: &Basis, signatures: &[Signature], as_of: Date) -> Vec<PossibleExemption> {
    let Some(law) = &basis.law.law else { return Vec::new() };
    let named = signatures.iter().flat_map(|s| s.exempt.iter().map(move |e| (s, e)));
    named
        .filter_map(|(signature, named)| {
            let exemption = law.exemption(&named.category)?;
            Some(PossibleExemption {
                category: exemption.id.clone(),
                signature: signature.id.clone(),
                text: exemption.sentence(as_of),
                when: named.when.clone(),
                presumption: exemption.presumption(as_of, None),
                citation: law.cite(&exemption.at).text,
            })
        })
        .collect()
}

/// What the law says on spills, with dates counted from a day on which the release became known; nothing where the town names no law.
///
/// # Errors
/// A date beyond the calendar.
pub fn spill_lines(basis: &Basis, known_on: Date) -> Result<Vec<SpillLine>> {
    let Some(law) = &basis.law.law else { return Ok(Vec::new()) };
    let line = |call: &crate::law::SpillCall| {
        let due = call.clock.as_deref().map_or(Ok(None), |clock| law.due_on(clock, known_on))?;
        Ok(SpillLine {
            kind: call.kind,
            who: law.role_words(&call.who).to_owned(),
            words: call.words.clone(),
            contact: call.contact.clone(),
            due: due.map(|d| (d.on, d.basis)),
            citation: law.cite(&call.at).text,
        })
    };
    law.spill_calls.iter().map(line).collect()
}

/// The special conditions of an outfall below a report, and whether the reported pollutant is one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionsBelow {
    /// The outfall with its rows.
    pub outfall: OutfallConditions,
    /// For each row whether what was seen points to its pollutant; `None` where no signature is known for it.
    pub reported: Vec<Option<bool>>,
}

/// A report on a watercourse or waterbody.
#[derive(Clone, Debug, PartialEq)]
pub struct WaterReport {
    /// The water, by `ID`, `LAYER/ID` or name.
    pub water: String,
    /// Where on it, inside coordinates; at its lowest place where nobody says.
    pub at: Option<Point>,
    /// What was seen, in words; nothing means not known.
    pub pollutants: Vec<String>,
    /// How far up the water to go, metres; the town's setting where absent.
    pub upstream_limit_m: Option<f64>,
}

/// The answer to a report on a water.
#[derive(Clone, Debug)]
pub struct WaterInvestigation {
    /// The report.
    pub report: WaterReport,
    /// The waters of that name, by their places in the inventory's list.
    pub waters: Vec<usize>,
    /// The place in words.
    pub place_name: String,
    /// How far the place is from the coordinate, metres.
    pub moved_m: f64,
    /// The signatures that its words mean.
    pub signatures: Vec<Signature>,
    /// Up the water, and the conduit ends on it.
    pub way: WayUp,
    /// All that lies upstream of those ends, each conduit once.
    pub together: Trace,
    /// The ranked candidates.
    pub candidates: Candidates,
    /// For each candidate the conduit ends through which its water would come, nearest first.
    pub through: Vec<Vec<NodeIndex>>,
    /// The date on which the question was asked.
    pub as_of: Date,
}

/// Answers a report on a water: up the water to every outfall, interconnection, ditch and parcel along it, and on up each network.
///
/// # Errors
/// A water that is unknown or has no course on the map; a word for what was seen that no signature knows.
pub fn investigate_water(basis: &Basis, report: &WaterReport, options: &TraceOptions, as_of: Date) -> Result<WaterInvestigation> {
    let found = find_waters(&basis.inventory, &report.water)?;
    let signatures = read_signatures(&basis.rules, &report.pollutants)?;
    let (spots, moved_m) = spots_of(basis, &found, report.at);
    if spots.is_empty() {
        return Err(Error::not_found(format!("{} has no course on the map", report.water)).hint("give the coordinate with --at"));
    }
    let limit_m = report.upstream_limit_m.unwrap_or_else(|| basis.settings.upstream_limit.metres());
    let way = way_up(basis.ground(), &basis.waters, &spots, limit_m, options)?;
    let place = way.above.first().map_or(Place::Node(NodeIndex(0)), |a| Place::Node(a.node));
    let together = way.together(place);
    let seen: Vec<&Signature> = signatures.iter().collect();
    let sighting = Sighting {
        signatures: &seen,
        land_use_scheme: basis.settings.land_use_scheme.as_deref(),
        year: as_of.year(),
        law: basis.law.law.as_ref(),
    };
    let candidates = candidates::rank(basis.ground(), &basis.rules, &together, sighting);
    let through = candidates.ranked.iter().map(|c| ends_of(basis, &way, &c.tie)).collect();
    let place_name = report.at.map_or_else(|| format!("all of {}", report.water), |_| format!("a place on {}", report.water));
    Ok(WaterInvestigation {
        report: report.clone(),
        waters: found,
        place_name,
        moved_m,
        signatures,
        way,
        together,
        candidates,
        through,
        as_of,
    })
}

/// The place of a report on a water: the nearest to its coordinate, else the lowest places.
fn spots_of(basis: &Basis, waters: &[usize], at: Option<Point>) -> (Vec<Spot>, f64) {
    let Some(at) = at else { return (waters.iter().flat_map(|w| basis.waters.lowest(*w)).collect(), 0.0) };
    let near = waters.iter().filter_map(|w| basis.waters.on_water(&basis.inventory, *w, at));
    let nearest = near.min_by(|a, b| a.away_m.total_cmp(&b.away_m).then(a.water.cmp(&b.water)));
    nearest.map_or((Vec::new(), 0.0), |n| (vec![n.spot], n.away_m))
}

/// The conduit ends through which water of a tie comes.
fn ends_of(basis: &Basis, way: &WayUp, tie: &candidates::Tie) -> Vec<NodeIndex> {
    let by_conduit = |above: &&crate::waters::Above| {
        tie.conduit.is_some_and(|c| above.trace.conduit(c).is_some())
            || tie.inlet.is_some_and(|s| above.trace.node(basis.network.node_of(s)).is_some())
    };
    way.above.iter().filter(by_conduit).map(|a| a.node).collect()
}

/// Finds waters by `ID`, `LAYER/ID` or name: a river of many reaches has one name.
///
/// # Errors
/// None of that name.
pub fn find_waters(inventory: &Inventory, name: &str) -> Result<Vec<usize>> {
    let name = name.trim();
    let is_named = |w: &crate::inventory::Water| {
        let by_layer = name.strip_prefix(inventory.layer_name(w.key.layer)).and_then(|rest| rest.strip_prefix('/')) == Some(&*w.key.id);
        by_layer || w.key.plain_id() == name || *w.key.id == *name || w.name.as_deref().is_some_and(|n| n.eq_ignore_ascii_case(name))
    };
    let found: Vec<usize> = inventory.waters.iter().enumerate().filter(|(_, w)| w.receives() && is_named(w)).map(|(at, _)| at).collect();
    if found.is_empty() {
        let lower = name.to_lowercase();
        let near = inventory.waters.iter().filter(|w| w.name.as_deref().is_some_and(|n| n.to_lowercase().contains(&lower)));
        let near: Vec<&str> = near.filter_map(|w| w.name.as_deref()).take(5).collect();
        let error = Error::not_found(format!("there is no water {name}"));
        return Err(if near.is_empty() {
            error.hint("ids are compared exactly")
        } else {
            error.hint(format!("near to it are {}", near.join(", ")))
        });
    }
    Ok(found)
}

/// The special conditions of every outfall below a place, and whether what was seen is one of their pollutants.
fn conditions_below(basis: &Basis, place: Place, signatures: &[Signature], as_of: Date) -> Result<Vec<ConditionsBelow>> {
    let concerns = Concerns::embedded()?;
    let down = trace(basis.ground(), place, Way::Down, &TraceOptions::default())?;
    let outfalls = down.structures.iter().filter(|s| basis.inventory.structures[s.at()].kind == crate::inventory::StructureKind::Outfall);
    let mut below = Vec::new();
    for &outfall in outfalls {
        let way = way_down(basis.ground(), &basis.waters, basis.network.node_of(outfall));
        let own = way.judge(basis.ground(), &basis.waters, &basis.settings, &concerns, outfall, as_of);
        let points = |pollutant: &str| {
            let said: Vec<Option<bool>> = signatures.iter().map(|s| concerns.points_to(&s.id, pollutant)).collect();
            if said.contains(&Some(true)) { Some(true) } else { said.into_iter().flatten().next() }
        };
        let unknown = signatures.iter().all(|s| s.id == "unknown");
        let reported = own.flags.iter().map(|f| f.pollutant.as_deref().filter(|_| !unknown).and_then(points)).collect();
        below.push(ConditionsBelow { outfall: own, reported });
    }
    Ok(below)
}

/// Answers a report.
///
/// # Errors
/// A place that is off the network, unknown or ambiguous; a word for what was seen that no signature knows.
pub fn investigate(basis: &Basis, report: &Report, options: &TraceOptions, as_of: Date) -> Result<Investigation> {
    let (place, moved_m) = place_of(basis, report)?;
    let signatures = read_signatures(&basis.rules, &report.pollutants)?;
    let trace = trace(basis.ground(), place, Way::Up, options)?;
    let seen: Vec<&Signature> = signatures.iter().collect();
    let law = basis.law.law.as_ref();
    let sighting = Sighting { signatures: &seen, land_use_scheme: basis.settings.land_use_scheme.as_deref(), year: as_of.year(), law };
    let candidates = candidates::rank(basis.ground(), &basis.rules, &trace, sighting);
    let issues = issues_on_the_way(basis, &trace);
    let conditions = conditions_below(basis, place, &signatures, as_of)?;
    let place_name = place_name(basis, place);
    let exemptions = possible_exemptions(basis, &signatures, as_of);
    let may_be_spill = law.is_some_and(|law| signatures.iter().any(|s| law.spill_signatures.contains(&s.id)));
    let spill = if may_be_spill { spill_lines(basis, as_of)? } else { Vec::new() };
    Ok(Investigation {
        report: report.clone(),
        place,
        moved_m,
        place_name,
        signatures,
        trace,
        candidates,
        exemptions,
        spill,
        issues,
        conditions,
        as_of,
    })
}

fn read_signatures(rules: &Rules, words: &[String]) -> Result<Vec<Signature>> {
    if words.is_empty() {
        return Ok(vec![rules.pollutant("unknown")?.clone()]);
    }
    words.iter().map(|word| rules.pollutant(word).cloned()).collect()
}

/// Puts a report on the network: one place, or an error that offers the choice.
///
/// # Errors
/// See [`investigate`].
pub fn place_of(basis: &Basis, report: &Report) -> Result<(Place, f64)> {
    match &report.at {
        Whereabouts::Structure(name) => Ok((Place::Node(basis.network.node_of(find_structure(&basis.inventory, name)?)), 0.0)),
        Whereabouts::Conduit(name) => Ok((lower_end(basis, find_conduit(&basis.inventory, name)?), 0.0)),
        Whereabouts::Point(point) => {
            let radius_m = report.search_radius_m.unwrap_or_else(|| basis.settings.search_radius.metres());
            let tolerance_m = basis.settings.snap_tolerance.metres();
            let found = locate(&basis.inventory, &basis.network, &basis.segments, *point, radius_m, tolerance_m);
            let water = basis.waters.near(&basis.inventory, *point, radius_m).into_iter().next();
            let offer = |error: Error, away_m: f64| {
                // A water that lies nearer is offered, and not guessed.
                let Some(near) = water.filter(|w| report.on.is_none() && w.away_m < away_m && away_m > tolerance_m) else { return error };
                let water = &basis.inventory.waters[near.water];
                let name = water.name.as_deref().unwrap_or("no name");
                Error::new(ErrorKind::Ambiguous, format!("the report lies nearer to the water {} ({name}) than to any conduit", water.key))
                    .hint(format!("say --water {} for the water, or --on CONDUIT for the conduit", water.key))
                    .cause(error)
            };
            let found = found.map_err(|error| offer(error, f64::INFINITY))?;
            if let Located::At(_, away_m) = &found
                && water.is_some_and(|w| report.on.is_none() && w.away_m < *away_m && *away_m > tolerance_m)
            {
                return Err(offer(Error::usage(format!("the nearest conduit is {away_m:.1} m away")), *away_m));
            }
            match found {
                Located::At(place, away_m) => Ok((place, away_m)),
                Located::Between(places, away_m) => choose(basis, report, &places).map(|place| (place, away_m)),
            }
        }
    }
}

/// Several conduits are equally near: the one that the report names, or an error that offers them.
fn choose(basis: &Basis, report: &Report, places: &[(ConduitIndex, Place)]) -> Result<Place> {
    if let Some(name) = &report.on {
        let wanted = find_conduit(&basis.inventory, name)?;
        if let Some((_, place)) = places.iter().find(|(conduit, _)| *conduit == wanted) {
            return Ok(*place);
        }
    }
    let mut offers = Vec::new();
    for (conduit, place) in places {
        let upstream = trace(basis.ground(), *place, Way::Up, &TraceOptions::default())?;
        let id = &basis.inventory.conduits[conduit.at()].key;
        offers.push(format!("{id} ({} conduits upstream, {} parcels)", upstream.conduits.len(), upstream.parcels.len()));
    }
    Err(Error::new(ErrorKind::Ambiguous, format!("the report lies equally near to {}", offers.join(" and to ")))
        .hint("say which one is meant with --on CONDUIT"))
}

/// The node at the lower end of a conduit; a place on its last piece where nobody knows which end that is.
fn lower_end(basis: &Basis, conduit: ConduitIndex) -> Place {
    let pieces = basis.network.pieces_of(conduit);
    let last = PieceIndex::from_at(pieces.end - 1);
    match basis.network.flow(conduit).flow {
        crate::network::Flow::WithDrawing => Place::Node(basis.network.piece(last).end),
        crate::network::Flow::AgainstDrawing => Place::Node(basis.network.piece(PieceIndex::from_at(pieces.start)).start),
        crate::network::Flow::Unknown => Place::OnPiece { piece: last, along_m: basis.network.piece(last).to_m },
    }
}

/// Finds a structure by `ID` or `LAYER/ID`.
///
/// # Errors
/// None of that name (with near names), or several (with their layers).
pub fn find_structure(inventory: &Inventory, name: &str) -> Result<StructureIndex> {
    let keys = inventory.structures.iter().map(|s| (&s.key, s.also_known_as.as_deref()));
    find(inventory, "structure", name, keys).map(StructureIndex::from_at)
}

/// Finds a conduit by `ID` or `LAYER/ID`.
///
/// # Errors
/// None of that name (with near names), or several (with their layers).
pub fn find_conduit(inventory: &Inventory, name: &str) -> Result<ConduitIndex> {
    find(inventory, "conduit", name, inventory.conduits.iter().map(|c| (&c.key, None))).map(ConduitIndex::from_at)
}

/// Finds a parcel by `ID` or `LAYER/ID`.
///
/// # Errors
/// None of that name (with near names), or several (with their layers).
pub fn find_parcel(inventory: &Inventory, name: &str) -> Result<ParcelIndex> {
    let at = find(inventory, "parcel", name, inventory.parcels.iter().map(|p| (&p.key, None)))?;
    Ok(ParcelIndex(u32::try_from(at).unwrap_or(u32::MAX)))
}

fn find<'a>(
    inventory: &Inventory,
    what: &str,
    name: &str,
    keys: impl Iterator<Item = (&'a Key, Option<&'a str>)> + Clone,
) -> Result<usize> {
    let name = name.trim();
    let is_named = |key: &Key, other: Option<&str>| {
        *key.id == *name
            || other == Some(name)
            || name.strip_prefix(inventory.layer_name(key.layer)).and_then(|rest| rest.strip_prefix('/')).is_some_and(|id| *key.id == *id)
    };
    let found: Vec<usize> = keys.clone().enumerate().filter(|(_, (key, other))| is_named(key, *other)).map(|(at, _)| at).collect();
    match found.as_slice() {
        [only] => Ok(*only),
        [] => {
            let lower = name.to_lowercase();
            let near = keys.filter(|(key, _)| key.id.to_lowercase().contains(&lower) || lower.contains(&key.id.to_lowercase()));
            let near: Vec<String> = near.take(5).map(|(key, _)| key.to_string()).collect();
            let error = Error::not_found(format!("there is no {what} {name}"));
            Err(if near.is_empty() {
                error.hint(format!("ids are compared exactly; list them with ogrinfo on the network file, layer {what}s"))
            } else {
                error.hint(format!("near to it are {}", near.join(", ")))
            })
        }
        several => {
            let all: Vec<&Key> = keys.map(|(key, _)| key).collect();
            let names: Vec<String> = several.iter().map(|at| format!("{}/{}", inventory.layer_name(all[*at].layer), all[*at])).collect();
            Err(Error::new(ErrorKind::Ambiguous, format!("{name} names {} {what}s: {}", several.len(), names.join(", ")))
                .hint("give LAYER/ID, or the coordinate"))
        }
    }
}

/// A place in words.
pub fn place_name(basis: &Basis, place: Place) -> String {
    match place {
        Place::Node(node) => match basis.network.structures_at(&basis.inventory, node).next() {
            Some((_, s)) => format!("{} {}", s.kind.word().replace('_', " "), s.key),
            None => basis.network.node_name(&basis.inventory, node),
        },
        Place::OnPiece { piece, along_m } => {
            let conduit = &basis.inventory.conduits[basis.network.piece(piece).conduit.at()];
            format!("{} {}, {along_m:.1} m from where its line begins", conduit.kind, conduit.key)
        }
    }
}

/// Issues that change what this answer is worth: about its conduits and structures, or about a file as a whole.
fn issues_on_the_way(basis: &Basis, trace: &Trace) -> Vec<DataIssue> {
    let mut on_the_way = std::collections::BTreeSet::new();
    for traced in &trace.conduits {
        let key = &basis.inventory.conduits[traced.conduit.at()].key;
        on_the_way.insert((basis.inventory.layer_name(key.layer), &*key.id));
    }
    for structure in &trace.structures {
        let key = &basis.inventory.structures[structure.at()].key;
        on_the_way.insert((basis.inventory.layer_name(key.layer), &*key.id));
    }
    let concerns = |issue: &&DataIssue| {
        issue.code == IssueCode::InputIncomplete || issue.ids.iter().any(|id| on_the_way.contains(&(issue.layer.as_str(), id.as_str())))
    };
    basis.issues.iter().filter(concerns).cloned().collect()
}
