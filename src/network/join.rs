//! Which ends are one place? Ids first, then structures, then ends with each other; ponds hold what lies in them.
//!
//! Two structures are never made one by being close: only a pond's polygon holds several.

use std::collections::BTreeMap;

use geo::{BoundingRect, Contains, Distance, Euclidean, MultiPolygon, Point};

use crate::data_issue::{DataIssue, IssueCode};
use crate::inventory::{Inventory, NodeId};
use crate::settings::DirectionSource;

use super::grid::{PointGrid, distance};
use super::options::BuildOptions;
use super::{COINCIDENT_M, Node, NodeIndex, StructureIndex, has};

/// One end of a part of a conduit.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub conduit: u32,
    pub part: u32,
    pub is_last: bool,
    /// `None` where the conduit was never drawn.
    pub place: Option<[f64; 2]>,
    /// True where an id joined it: it takes no part in what geometry says.
    pub by_id: bool,
}

/// What the node ids of a conduit say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IdReading {
    /// True where the from-node lies at the last vertex: the line is drawn against its ids.
    pub reversed: bool,
    /// True where at least one id tells which end is which.
    pub says_direction: bool,
}

/// Every end with its node.
pub(super) struct Joined {
    pub ends: Vec<End>,
    pub end_nodes: Vec<NodeIndex>,
    pub nodes: Vec<Node>,
    pub structure_nodes: Vec<NodeIndex>,
    pub readings: Vec<IdReading>,
}

/// The structures that an id can mean.
type ById<'a> = BTreeMap<&'a str, Vec<StructureIndex>>;

/// Gives every end a node.
pub(super) fn join(inventory: &Inventory, options: &BuildOptions, issues: &mut Vec<DataIssue>) -> Joined {
    let mut ends = ends_of(inventory);
    let by_id = structures_by_id(inventory);
    let mut owners: Vec<Option<Owner>> = vec![None; ends.len()];
    let readings = join_by_id(inventory, options, &by_id, &mut ends, &mut owners, issues);
    join_structures(inventory, &ends, &mut owners, issues);
    let ponds = Ponds::new(inventory, options, &ends, &mut owners);
    join_ends(inventory, options, &ends, &mut owners, &ponds, issues);
    into_nodes(inventory, ends, &owners, &ponds, readings)
}

/// To what an end belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    /// A structure's node.
    Structure(u32),
    /// A node of its own, named by the first end in it.
    Ends(u32),
    /// Two structures claim it: a node of its own, which nothing joins but what coincides with it.
    Contested(u32),
}

fn ends_of(inventory: &Inventory) -> Vec<End> {
    let mut ends = Vec::with_capacity(inventory.conduits.len() * 2);
    for (at, conduit) in inventory.conduits.iter().enumerate() {
        let conduit_at = at as u32;
        let mut push =
            |part: usize, is_last, place| ends.push(End { conduit: conduit_at, part: part as u32, is_last, place, by_id: false });
        for (part, line) in conduit.parts.iter().enumerate() {
            let (first, last) = (line.0.first(), line.0.last());
            push(part, false, first.map(|c| [c.x, c.y]));
            push(part, true, last.map(|c| [c.x, c.y]));
        }
        if conduit.parts.is_empty() {
            push(0, false, None);
            push(0, true, None);
        }
    }
    ends
}

fn structures_by_id(inventory: &Inventory) -> ById<'_> {
    let mut by_id: ById = BTreeMap::new();
    for (at, structure) in inventory.structures.iter().enumerate() {
        let index = StructureIndex::from_at(at);
        by_id.entry(&structure.key.id).or_default().push(index);
        if let Some(other) = &structure.also_known_as
            && **other != *structure.key.id
        {
            by_id.entry(other).or_default().push(index);
        }
    }
    by_id
}

/// Rule 4: an end whose id names exactly one structure is joined to it, and by nothing else.
fn join_by_id(
    inventory: &Inventory,
    options: &BuildOptions,
    by_id: &ById,
    ends: &mut [End],
    owners: &mut [Option<Owner>],
    issues: &mut Vec<DataIssue>,
) -> Vec<IdReading> {
    let mut readings = vec![IdReading::default(); inventory.conduits.len()];
    let mut begin = 0;
    while begin < ends.len() {
        let conduit_at = ends[begin].conduit as usize;
        let length = ends[begin..].iter().take_while(|e| e.conduit as usize == conduit_at).count();
        let own = begin..begin + length;
        begin += length;
        let conduit = &inventory.conduits[conduit_at];
        let layer = options.layer(conduit.key.layer);
        let layer_name = inventory.layer_name(conduit.key.layer);
        let places = |id: &NodeId| -> Vec<StructureIndex> { id.named().and_then(|id| by_id.get(id)).cloned().unwrap_or_default() };
        let (from, to) = (places(&conduit.node_from), places(&conduit.node_to));
        readings[conduit_at] = read_ids(inventory, &ends[own.clone()], &from, &to);
        if !has(&layer.direction, DirectionSource::NodeIds) {
            continue;
        }
        let reversed = readings[conduit_at].reversed;
        let sides =
            [(&conduit.node_from, &from, &layer.node_from_field, reversed), (&conduit.node_to, &to, &layer.node_to_field, !reversed)];
        for (id, named, field, at_last) in sides {
            match (id, named.as_slice()) {
                (NodeId::NotMapped, _) => {}
                (NodeId::Missing, _) => issues.push(
                    DataIssue::new(IssueCode::NodeIdMissing, layer_name)
                        .id(&*conduit.key.id)
                        .field(field)
                        .message(format!("{}: {field} is empty; the drawn end is used", conduit.key)),
                ),
                (NodeId::Named(id), []) => issues.push(
                    DataIssue::new(IssueCode::NodeIdUnknown, layer_name)
                        .id(&*conduit.key.id)
                        .field(field)
                        .value(&**id)
                        .message(format!("{}: {field} says {id}, and there is no such structure; the drawn end is used", conduit.key)),
                ),
                (NodeId::Named(_), [structure]) => {
                    let place = inventory.structures[structure.at()].place.map(|p| [p.x(), p.y()]);
                    let Some(end_at) = nearest_end(&ends[own.clone()], at_last, place) else { continue };
                    let end_at = own.start + end_at;
                    ends[end_at].by_id = true;
                    owners[end_at] = Some(Owner::Structure(structure.0));
                    report_misfit(inventory, options, conduit_at, &ends[end_at], *structure, field, issues);
                }
                // Several structures bear the id: the drawing tells which one is meant.
                _ => {}
            }
        }
    }
    readings
}

/// Tells at which end the from-node lies: the way round that fits the drawing better.
fn read_ids(inventory: &Inventory, ends: &[End], from: &[StructureIndex], to: &[StructureIndex]) -> IdReading {
    if from.is_empty() && to.is_empty() {
        return IdReading::default();
    }
    let misfit = |structures: &[StructureIndex], at_last: bool| -> Option<f64> {
        let places = structures.iter().filter_map(|s| inventory.structures[s.at()].place).map(|p| [p.x(), p.y()]);
        let drawn = || ends.iter().filter(|e| e.is_last == at_last).filter_map(|e| e.place);
        places.flat_map(|p| drawn().map(move |e| distance(p, e))).min_by(f64::total_cmp)
    };
    let sum = |reversed: bool| -> Option<f64> {
        match (misfit(from, reversed), misfit(to, !reversed)) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        }
    };
    match (sum(false), sum(true)) {
        (Some(straight), Some(reversed)) => {
            // A structure as far from one end as from the other tells nothing when it stands alone.
            let tells = (from.len() == 1 && to.len() == 1) || (straight - reversed).abs() > COINCIDENT_M;
            IdReading { reversed: reversed + COINCIDENT_M < straight, says_direction: tells }
        }
        // Nothing was drawn: the ids alone say it.
        _ => IdReading { reversed: false, says_direction: true },
    }
}

fn nearest_end(ends: &[End], at_last: bool, place: Option<[f64; 2]>) -> Option<usize> {
    let candidates = ends.iter().enumerate().filter(|(_, e)| e.is_last == at_last && !e.by_id);
    candidates
        .map(|(at, e)| {
            let d = match (place, e.place) {
                (Some(a), Some(b)) => distance(a, b),
                _ => 0.0,
            };
            (d, at)
        })
        .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
        .map(|(_, at)| at)
}

fn report_misfit(
    inventory: &Inventory,
    options: &BuildOptions,
    conduit_at: usize,
    end: &End,
    structure: StructureIndex,
    field: &str,
    issues: &mut Vec<DataIssue>,
) {
    let structure = &inventory.structures[structure.at()];
    let (Some(place), Some(drawn)) = (structure.place, end.place) else { return };
    let away_m = distance([place.x(), place.y()], drawn);
    if away_m <= structure.tolerance_m.max(options.snap_tolerance_m) {
        return;
    }
    let conduit = &inventory.conduits[conduit_at];
    issues.push(
        DataIssue::new(IssueCode::NodeIdContradictsGeometry, inventory.layer_name(conduit.key.layer))
            .id(&*conduit.key.id)
            .field(field)
            .value(&*structure.key.id)
            .node(&*structure.key.id)
            .distance_m(away_m)
            .at(drawn[0], drawn[1])
            .message(format!(
                "{}: {field} says {}, which stands {away_m:.1} m from the drawn end; joined by the id",
                conduit.key, structure.key
            )),
    );
}

/// An end goes to its nearest structure within that structure's tolerance; between two it is contested.
fn join_structures(inventory: &Inventory, ends: &[End], owners: &mut [Option<Owner>], issues: &mut Vec<DataIssue>) {
    let points = || {
        let placed = inventory.structures.iter().enumerate().filter(|(_, s)| s.area.is_none());
        placed.filter_map(|(at, s)| s.place.map(|p| (at as u32, [p.x(), p.y()])))
    };
    let widest_m = inventory.structures.iter().map(|s| s.tolerance_m).fold(0.0, f64::max);
    let grid = PointGrid::new(points(), widest_m);
    let mut contested: BTreeMap<(i64, i64), u32> = BTreeMap::new();
    for (at, end) in ends.iter().enumerate() {
        let (None, Some(place)) = (owners[at], end.place) else { continue };
        let mut near: Vec<(f64, u32)> = Vec::new();
        grid.within(place, widest_m, |structure, d| {
            if d <= inventory.structures[structure as usize].tolerance_m {
                near.push((d, structure));
            }
        });
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        match near.as_slice() {
            [] => {}
            [(_, only)] => owners[at] = Some(Owner::Structure(*only)),
            [(nearest_m, nearest), ..] if *nearest_m <= COINCIDENT_M => owners[at] = Some(Owner::Structure(*nearest)),
            [first, second, ..] => {
                // Ends that coincide are one place, even where nobody can say whose it is.
                let square = |v: f64| (v / COINCIDENT_M).round() as i64;
                let name = *contested.entry((square(place[0]), square(place[1]))).or_insert(at as u32);
                owners[at] = Some(Owner::Contested(name));
                let id = |s: u32| inventory.structures[s as usize].key.to_string();
                issues.push(contested_issue(inventory, end, place, &[id(first.1), id(second.1)]));
            }
        }
    }
}

fn contested_issue(inventory: &Inventory, end: &End, place: [f64; 2], structures: &[String]) -> DataIssue {
    let conduit = &inventory.conduits[end.conduit as usize];
    DataIssue::new(IssueCode::AmbiguousSnap, inventory.layer_name(conduit.key.layer))
        .id(&*conduit.key.id)
        .node(structures.join(", "))
        .at(place[0], place[1])
        .message(format!("{}: its end lies between {} and was joined to neither", conduit.key, structures.join(" and ")))
}

/// Ponds, and what they hold: every end and structure in one, or within the tolerance of its shore, is one node with it.
struct Ponds {
    /// For each structure the pond that holds it, or itself.
    holder: Vec<u32>,
}

impl Ponds {
    fn new(inventory: &Inventory, options: &BuildOptions, ends: &[End], owners: &mut [Option<Owner>]) -> Self {
        let mut holder: Vec<u32> = (0..inventory.structures.len() as u32).collect();
        let ponds: Vec<(u32, &MultiPolygon, f64)> = inventory
            .structures
            .iter()
            .enumerate()
            .filter_map(|(at, s)| s.area.as_ref().map(|area| (at as u32, area, s.tolerance_m.max(options.snap_tolerance_m))))
            .collect();
        if ponds.is_empty() {
            return Ponds { holder };
        }
        let drawn_ends = || ends.iter().enumerate().filter_map(|(at, e)| Some((at as u32, e.place?)));
        let end_grid = PointGrid::new(drawn_ends(), options.snap_tolerance_m);
        let placed = || inventory.structures.iter().enumerate().filter_map(|(at, s)| Some((at as u32, s.place.map(|p| [p.x(), p.y()])?)));
        let structure_grid = PointGrid::new(placed(), options.snap_tolerance_m);
        for (pond, area, reach_m) in ponds {
            let Some(bounds) = area.bounding_rect() else { continue };
            let low = [bounds.min().x - reach_m, bounds.min().y - reach_m];
            let high = [bounds.max().x + reach_m, bounds.max().y + reach_m];
            let holds = |p: [f64; 2]| {
                let p = Point::new(p[0], p[1]);
                area.contains(&p) || Euclidean.distance(&p, area) <= reach_m
            };
            structure_grid.window(low, high, |structure, p| {
                let is_point = inventory.structures[structure as usize].area.is_none();
                if is_point && holder[structure as usize] == structure && holds(p) {
                    holder[structure as usize] = pond;
                }
            });
            end_grid.window(low, high, |end, p| {
                let end = end as usize;
                if !ends[end].by_id && !matches!(owners[end], Some(Owner::Structure(_))) && holds(p) {
                    owners[end] = Some(Owner::Structure(pond));
                }
            });
        }
        Ponds { holder }
    }

    fn of(&self, structure: u32) -> u32 {
        self.holder[structure as usize]
    }
}

/// What is left forms clusters of ends within the tolerance; a cluster that reaches one structure's ends joins it.
fn join_ends(
    inventory: &Inventory,
    options: &BuildOptions,
    ends: &[End],
    owners: &mut [Option<Owner>],
    ponds: &Ponds,
    issues: &mut Vec<DataIssue>,
) {
    let reach_m = options.snap_tolerance_m;
    let takes_part = |at: usize| !ends[at].by_id && !matches!(owners[at], Some(Owner::Contested(_)));
    let points = ends.iter().enumerate().filter(|(at, _)| takes_part(*at)).filter_map(|(at, e)| Some((at as u32, e.place?)));
    let grid = PointGrid::new(points, reach_m);
    let mut clusters = Clusters::new(ends.len());
    let mut reached: Vec<(u32, u32)> = Vec::new();
    for (at, end) in ends.iter().enumerate() {
        let (None, Some(place)) = (owners[at], end.place) else { continue };
        grid.within(place, reach_m, |other, _| match owners[other as usize] {
            None => clusters.unite(at as u32, other),
            Some(Owner::Structure(structure)) => reached.push((at as u32, ponds.of(structure))),
            Some(_) => {}
        });
    }
    let mut claims: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (end, structure) in reached {
        claims.entry(clusters.root(end)).or_default().push(structure);
    }
    for claim in claims.values_mut() {
        claim.sort_unstable();
        claim.dedup();
    }
    for at in 0..ends.len() {
        if owners[at].is_some() {
            continue;
        }
        let root = clusters.root(at as u32);
        owners[at] = Some(match claims.get(&root).map(Vec::as_slice) {
            Some([structure]) => Owner::Structure(*structure),
            Some(several) => {
                let ids: Vec<String> = several.iter().map(|s| inventory.structures[*s as usize].key.to_string()).collect();
                issues.push(contested_issue(inventory, &ends[at], ends[at].place.unwrap_or_default(), &ids));
                Owner::Ends(root)
            }
            None => Owner::Ends(root),
        });
    }
}

/// Structures first, then the nodes that only ends make, in the order of their first ends.
fn into_nodes(inventory: &Inventory, ends: Vec<End>, owners: &[Option<Owner>], ponds: &Ponds, readings: Vec<IdReading>) -> Joined {
    let mut nodes = Vec::new();
    let mut structure_nodes = vec![NodeIndex(0); inventory.structures.len()];
    for (at, structure) in inventory.structures.iter().enumerate() {
        if ponds.of(at as u32) == at as u32 {
            structure_nodes[at] = NodeIndex::from_at(nodes.len());
            nodes.push(Node { place: structure.place, structures: vec![StructureIndex::from_at(at)] });
        }
    }
    for at in 0..inventory.structures.len() {
        let holder = ponds.of(at as u32) as usize;
        if holder != at {
            structure_nodes[at] = structure_nodes[holder];
            nodes[structure_nodes[at].at()].structures.push(StructureIndex::from_at(at));
        }
    }
    let mut of_ends: BTreeMap<Owner, NodeIndex> = BTreeMap::new();
    let end_nodes = ends
        .iter()
        .zip(owners)
        .enumerate()
        .map(|(at, (end, owner))| match owner.unwrap_or(Owner::Ends(at as u32)) {
            Owner::Structure(structure) => structure_nodes[structure as usize],
            other => *of_ends.entry(other).or_insert_with(|| {
                nodes.push(Node { place: end.place.map(|p| Point::new(p[0], p[1])), structures: Vec::new() });
                NodeIndex::from_at(nodes.len() - 1)
            }),
        })
        .collect();
    Joined { ends, end_nodes, nodes, structure_nodes, readings }
}

/// Union-find; the root of a cluster is its smallest member, so that nothing depends on the order of joining.
pub(super) struct Clusters {
    parent: Vec<u32>,
}

impl Clusters {
    pub fn new(count: usize) -> Self {
        Clusters { parent: (0..count as u32).collect() }
    }

    pub fn root(&mut self, mut member: u32) -> u32 {
        while self.parent[member as usize] != member {
            let up = self.parent[self.parent[member as usize] as usize];
            self.parent[member as usize] = up;
            member = up;
        }
        member
    }

    pub fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        let (low, high) = (a.min(b), a.max(b));
        self.parent[high as usize] = low;
    }
}
