//! What does the path look like from the side? Ground, inverts, crowns, slopes and drops along one way down.
//!
//! Levels of one vertical datum only; what is not known stays unknown, and nothing is drawn between two levels that are not there.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::inventory::{Inventory, LevelField, LevelKind, Structure};
use crate::network::locate::Place;
use crate::network::{ConduitIndex, NodeIndex, StructureIndex};
use crate::trace::path::{Path, PathStep, WaysDown};
use crate::trace::travel::one_datum;
use crate::trace::{Certainty, Ground, TraceOptions};

/// A place on the way where conduits meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// The node.
    pub node: NodeIndex,
    /// Its structure, where it has one.
    pub structure: Option<StructureIndex>,
    /// How far along the way, metres.
    pub at_m: f64,
    /// Rim or ground level, metres.
    pub ground_m: Option<f64>,
    /// The structure's own lowest invert, metres.
    pub invert_m: Option<f64>,
    /// How far the way falls within the structure, from the conduit that comes to the one that leaves, metres; negative where it climbs.
    pub drop_m: Option<f64>,
}

/// A conduit, or the part of it that the way takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Reach {
    /// The conduit; `None` over a bridged gap.
    pub conduit: Option<ConduitIndex>,
    /// Where it begins along the way, metres.
    pub from_m: f64,
    /// Where it ends along the way, metres.
    pub to_m: f64,
    /// Invert at its upper end, metres; unknown also where the way enters it from the side.
    pub invert_up_m: Option<f64>,
    /// Invert at its lower end, metres; unknown also where the way leaves it at the side.
    pub invert_down_m: Option<f64>,
    /// Inside height, metres.
    pub height_m: Option<f64>,
    /// Slope in the direction of flow, per cent; negative where it climbs.
    pub slope_percent: Option<f64>,
    /// How sure the way through it is.
    pub certainty: Certainty,
}

impl Reach {
    /// Crown at the upper end, metres.
    pub fn crown_up_m(&self) -> Option<f64> {
        self.invert_up_m.zip(self.height_m).map(|(invert, height)| invert + height)
    }

    /// Crown at the lower end, metres.
    pub fn crown_down_m(&self) -> Option<f64> {
        self.invert_down_m.zip(self.height_m).map(|(invert, height)| invert + height)
    }

    /// True where it climbs in the direction of flow.
    pub fn is_reversed(&self) -> bool {
        self.slope_percent.is_some_and(|slope| slope < 0.0)
    }
}

/// The longitudinal section of a way down.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The way.
    pub path: Path,
    /// The places on it, in the order of the flow.
    pub stations: Vec<Station>,
    /// The conduits between them, in the order of the flow.
    pub reaches: Vec<Reach>,
    /// The vertical datum of every level; `None` is the town's unnamed one.
    pub datum: Option<Arc<str>>,
    /// Levels that were left out because they are measured from another datum, or from no level of this one; in words.
    pub left_out: Vec<String>,
    /// Where the flow divides and more than one branch leads to the end: the way that is shown is one of several.
    pub partings: Vec<NodeIndex>,
}

/// The section along the surest way down from one node to another, the shortest of equals.
///
/// # Errors
/// No way leads down from the first to the second; the hint says whether one leads up.
pub fn profile(ground: Ground, from: NodeIndex, to: NodeIndex, options: &TraceOptions) -> Result<Profile> {
    let ways = WaysDown::from(ground, Place::Node(from), options);
    let name = |node: NodeIndex| ground.network.node_name(ground.inventory, node);
    let path = match ways.path_to(to) {
        Some(path) if from != to => path,
        Some(_) => return Err(Error::usage(format!("{} is both ends", name(from))).hint("name two places on one way")),
        None => {
            let no_way = Error::new(ErrorKind::NotFound, format!("no way leads down from {} to {}", name(from), name(to)));
            let other_way = WaysDown::from(ground, Place::Node(to), options).reaches(from);
            return Err(no_way.hint(if other_way {
                "water runs the other way: exchange --from and --to"
            } else {
                "headwall trace down lists what it reaches; --status, --combined, --water wet and --bridge-gaps admit more"
            }));
        }
    };
    let datum = commonest_datum(ground, &path);
    let mut left_out = Vec::new();
    let reaches = reaches_of(ground, &path, &datum, &mut left_out);
    let stations = stations_of(ground, from, &reaches, &path, &datum, &mut left_out);
    left_out.sort();
    left_out.dedup();
    Ok(Profile { partings: ways.partings(to), path, stations, reaches, datum, left_out })
}

fn conduit_of(ground: Ground, step: &PathStep) -> Option<ConduitIndex> {
    step.piece.map(|p| ground.network.piece(p).conduit)
}

fn structure_levels(structure: &Structure) -> [&LevelField; 2] {
    [&structure.rim, &structure.invert]
}

/// The datum in which most levels on the way are stated; of equals the unnamed one, then the first by name.
fn commonest_datum(ground: Ground, path: &Path) -> Option<Arc<str>> {
    let mut counts: BTreeMap<Option<Arc<str>>, usize> = BTreeMap::new();
    let mut count = |field: &LevelField| {
        if let Some(level) = field.given() {
            *counts.entry(level.datum.clone()).or_insert(0) += 1;
        }
    };
    for step in &path.steps {
        if let Some(conduit) = conduit_of(ground, step) {
            let conduit = &ground.inventory.conduits[conduit.at()];
            [&conduit.invert_from, &conduit.invert_to].into_iter().for_each(&mut count);
        }
        for (_, structure) in ground.network.structures_at(ground.inventory, step.to) {
            structure_levels(structure).into_iter().for_each(&mut count);
        }
    }
    // `max_by_key` keeps the last of equals, so the order is turned round.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).and_then(|(datum, _)| datum)
}

fn reaches_of(ground: Ground, path: &Path, datum: &Option<Arc<str>>, left_out: &mut Vec<String>) -> Vec<Reach> {
    let mut reaches: Vec<Reach> = Vec::new();
    let mut at_m = 0.0;
    let mut begin = 0;
    while begin < path.steps.len() {
        let conduit = conduit_of(ground, &path.steps[begin]);
        let same = |step: &&PathStep| conduit.is_some() && conduit_of(ground, step) == conduit;
        let count = path.steps[begin..].iter().take_while(same).count().max(1);
        let steps = &path.steps[begin..begin + count];
        let length_m: f64 = steps.iter().map(|s| s.length_m).sum();
        let certainty = steps.iter().map(|s| s.certainty).max().unwrap_or(Certainty::Certain);
        let mut reach = Reach {
            conduit,
            from_m: at_m,
            to_m: at_m + length_m,
            invert_up_m: None,
            invert_down_m: None,
            height_m: None,
            slope_percent: None,
            certainty,
        };
        if let Some(index) = conduit {
            levels_of(ground, index, steps, datum, &mut reach, left_out);
        }
        at_m += length_m;
        begin += count;
        reaches.push(reach);
    }
    reaches
}

/// The levels of a conduit at the ends that the way takes, where they are of the datum.
fn levels_of(
    ground: Ground,
    index: ConduitIndex,
    steps: &[PathStep],
    datum: &Option<Arc<str>>,
    reach: &mut Reach,
    left_out: &mut Vec<String>,
) {
    let conduit = &ground.inventory.conduits[index.at()];
    let flow = ground.network.flow(index);
    reach.height_m = conduit.height_mm.or(conduit.diameter_mm).filter(|mm| *mm > 0.0).map(|mm| mm / 1000.0);
    let given: Vec<&Option<Arc<str>>> =
        [&conduit.invert_from, &conduit.invert_to].into_iter().filter_map(|f| f.given()).map(|l| &l.datum).collect();
    if given.is_empty() {
        return;
    }
    let both_in = given.iter().all(|d| *d == datum) && (given.len() < 2 || one_datum(conduit));
    if !both_in {
        left_out.push(format!("the inverts of {}: measured from {}", conduit.key, names(&given)));
        return;
    }
    // The node at which the levels of the upper end hold; a way that enters or leaves at the side takes none of them.
    let pieces = ground.network.pieces_of(index);
    let (first, last) = (&ground.network.pieces[pieces.start], &ground.network.pieces[pieces.end - 1]);
    let (Some(enters), Some(leaves)) = (steps.first().and_then(|s| s.from), steps.last().map(|s| s.to)) else { return };
    let (top, bottom, up_m, down_m) = match flow.flow {
        crate::network::Flow::AgainstDrawing => (last.end, first.start, flow.invert_up_m, flow.invert_down_m),
        // Where nobody knows the direction, the levels stand as drawn.
        crate::network::Flow::Unknown if enters == last.end => (last.end, first.start, flow.invert_down_m, flow.invert_up_m),
        _ => (first.start, last.end, flow.invert_up_m, flow.invert_down_m),
    };
    reach.invert_up_m = up_m.filter(|_| enters == top);
    reach.invert_down_m = down_m.filter(|_| leaves == bottom);
    let length_m = reach.to_m - reach.from_m;
    reach.slope_percent =
        reach.invert_up_m.zip(reach.invert_down_m).filter(|_| length_m > 0.0).map(|(up, down)| 100.0 * (up - down) / length_m);
}

fn names(datums: &[&Option<Arc<str>>]) -> String {
    let mut names: Vec<&str> = datums.iter().map(|d| d.as_deref().unwrap_or("the town's unnamed datum")).collect();
    names.sort_unstable();
    names.dedup();
    names.join(" and ")
}

fn stations_of(
    ground: Ground,
    from: NodeIndex,
    reaches: &[Reach],
    path: &Path,
    datum: &Option<Arc<str>>,
    left_out: &mut Vec<String>,
) -> Vec<Station> {
    let mut nodes = vec![(from, 0.0)];
    let mut at_m = 0.0;
    for step in &path.steps {
        at_m += step.length_m;
        nodes.push((step.to, at_m));
    }
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * (1.0 + a.abs());
    nodes
        .into_iter()
        .map(|(node, at_m)| {
            let structure = ground.network.structures_at(ground.inventory, node).next();
            let mut level = |field: &LevelField, what: &str, id: &str| {
                let level = field.given()?;
                if level.kind == LevelKind::Elevation && level.datum == *datum {
                    return Some(level.value_m);
                }
                let why = if level.kind == LevelKind::Elevation {
                    format!("measured from {}", names(&[&level.datum]))
                } else {
                    "a depth or offset, not an elevation".to_owned()
                };
                left_out.push(format!("the {what} of {id}: {why}"));
                None
            };
            let ground_m = structure.and_then(|(_, s)| level(&s.rim, "rim", &s.key.id));
            let invert_m = structure.and_then(|(_, s)| level(&s.invert, "invert", &s.key.id));
            let arriving = reaches.iter().find(|r| near(r.to_m, at_m) && r.to_m > r.from_m).and_then(|r| r.invert_down_m);
            let leaving = reaches.iter().rev().find(|r| near(r.from_m, at_m) && r.to_m > r.from_m).and_then(|r| r.invert_up_m);
            let drop_m = arriving.zip(leaving).map(|(arriving, leaving)| arriving - leaving);
            Station { node, structure: structure.map(|(index, _)| index), at_m, ground_m, invert_m, drop_m }
        })
        .collect()
}

/// What a station is called on a drawing: the structure's id, or nothing where lines merely meet.
pub fn station_label(inventory: &Inventory, station: &Station) -> Option<String> {
    station.structure.map(|s| inventory.structures[s.at()].key.to_string())
}
