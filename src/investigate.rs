//! **Start here.** A report goes in, an investigation comes out, one line per step.

use geo::Point;
use jiff::civil::Date;

use crate::candidates::{self, Candidates, Sighting};
use crate::data_issue::{DataIssue, IssueCode};
use crate::error::{Error, ErrorKind, Result};
use crate::inventory::{Inventory, Key};
use crate::links::Links;
use crate::network::locate::{Located, Place, SegmentIndex, locate};
use crate::network::{ConduitIndex, Network, PieceIndex, StructureIndex};
use crate::rules::{Rules, Signature};
use crate::settings::Settings;
use crate::trace::{Ground, Trace, TraceOptions, Way, trace};
use crate::waters::WaterNetwork;

/// The town as built: everything an answer rests on.
#[derive(Debug)]
pub struct Basis {
    /// What `headwall.toml` says.
    pub settings: Settings,
    /// The rules in force.
    pub rules: Rules,
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
        Ground { inventory: &self.inventory, network: &self.network, links: &self.links }
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
    /// Data issues that concern the traced conduits and structures, or the input as a whole.
    pub issues: Vec<DataIssue>,
    /// The date on which the question was asked.
    pub as_of: Date,
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
    let sighting = Sighting { signatures: &seen, land_use_scheme: basis.settings.land_use_scheme.as_deref(), year: as_of.year() };
    let candidates = candidates::rank(basis.ground(), &basis.rules, &trace, sighting);
    let issues = issues_on_the_way(basis, &trace);
    let place_name = place_name(basis, place);
    Ok(Investigation { report: report.clone(), place, moved_m, place_name, signatures, trace, candidates, issues, as_of })
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
            match locate(&basis.inventory, &basis.network, &basis.segments, *point, radius_m, tolerance_m)? {
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
