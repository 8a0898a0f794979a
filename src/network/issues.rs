//! What is doubtful about the network as built? Loops, dead ends, gaps, duplicates, runs without an outfall.

use std::collections::BTreeMap;

use geo::LineString;

use crate::data_issue::{DataIssue, IssueCode};
use crate::inventory::{Conduit, Inventory, OutfallKind, StructureKind, System};

use super::cut::{foot_on, length_of};
use super::direction::Flow;
use super::grid::{PointGrid, distance};
use super::join::Clusters;
use super::options::BuildOptions;
use super::{COINCIDENT_M, ConduitIndex, Gap, Network, NodeIndex, PieceIndex};

/// Finds them all, and the gaps.
pub(super) fn find(inventory: &Inventory, options: &BuildOptions, network: &Network, issues: &mut Vec<DataIssue>) -> Vec<Gap> {
    let view = View { inventory, options, network };
    view.lengths(issues);
    view.multipart_gaps(issues);
    view.duplicates(issues);
    view.loops(issues);
    view.dead_ends(issues);
    view.outfalls(issues);
    view.runs_without_outfall(issues);
    view.gaps(issues)
}

struct View<'a> {
    inventory: &'a Inventory,
    options: &'a BuildOptions,
    network: &'a Network,
}

impl View<'_> {
    fn conduit(&self, piece: PieceIndex) -> &Conduit {
        &self.inventory.conduits[self.network.piece(piece).conduit.at()]
    }

    fn id(&self, piece: PieceIndex) -> String {
        self.conduit(piece).key.to_string()
    }

    /// A piece that storm water takes today.
    fn carries(&self, piece: PieceIndex) -> bool {
        let conduit = self.conduit(piece);
        conduit.is_live() && conduit.system != System::Sanitary
    }

    fn issue_of(&self, code: IssueCode, conduit: &Conduit) -> DataIssue {
        let issue = DataIssue::new(code, self.inventory.layer_name(conduit.key.layer)).id(&*conduit.key.id);
        match conduit.parts.first().and_then(|line| line.0.first()) {
            Some(c) => issue.at(c.x, c.y),
            None => issue,
        }
    }

    /// One issue that concerns several conduits, in the layer of the first.
    fn issue_of_many(&self, code: IssueCode, pieces: &[PieceIndex]) -> DataIssue {
        let mut keys: Vec<_> = pieces.iter().map(|p| &self.conduit(*p).key).collect();
        keys.sort();
        keys.dedup();
        let layer = keys.first().map_or("", |key| self.inventory.layer_name(key.layer));
        DataIssue::new(code, layer).ids(keys.iter().map(|key| key.to_string()))
    }

    fn at_node(&self, issue: DataIssue, node: NodeIndex) -> DataIssue {
        let issue = match self.network.structures_at(self.inventory, node).next() {
            Some((_, structure)) => issue.node(structure.key.to_string()),
            None => issue,
        };
        match self.network.nodes[node.at()].place {
            Some(place) => issue.at(place.x(), place.y()),
            None => issue,
        }
    }

    fn lengths(&self, issues: &mut Vec<DataIssue>) {
        let tolerance_m = self.options.snap_tolerance_m;
        for (at, conduit) in self.inventory.conduits.iter().enumerate() {
            let pieces = &self.network.pieces[self.network.pieces_of(ConduitIndex::from_at(at))];
            for (part, line) in conduit.parts.iter().enumerate() {
                let length_m = length_of(line);
                let mut own = pieces.iter().filter(|p| p.part as usize == part);
                let (first, last) = (own.next(), own.next_back());
                let returns = first.is_some_and(|first| first.start == last.unwrap_or(first).end);
                let id = &conduit.key;
                if length_m <= COINCIDENT_M {
                    issues.push(self.issue_of(IssueCode::ZeroLength, conduit).message(format!("{id}: has no length")));
                } else if length_m <= tolerance_m {
                    issues.push(self.issue_of(IssueCode::ShorterThanTolerance, conduit).distance_m(length_m).message(format!(
                        "{id}: is {length_m:.2} m long, shorter than the snap tolerance of {tolerance_m:.2} m{}",
                        if returns { "; both its ends are one place" } else { "" }
                    )));
                } else if returns {
                    issues.push(self.issue_of(IssueCode::SelfLoop, conduit).message(format!("{id}: ends where it begins")));
                }
            }
        }
    }

    fn multipart_gaps(&self, issues: &mut Vec<DataIssue>) {
        for (at, conduit) in self.inventory.conduits.iter().enumerate().filter(|(_, c)| c.parts.len() > 1) {
            let pieces = &self.network.pieces[self.network.pieces_of(ConduitIndex::from_at(at))];
            let mut parts = Clusters::new(conduit.parts.len());
            let mut seen: BTreeMap<NodeIndex, u32> = BTreeMap::new();
            for piece in pieces {
                for node in [piece.start, piece.end] {
                    let with = *seen.entry(node).or_insert(piece.part);
                    parts.unite(with, piece.part);
                }
            }
            let group: Vec<u32> = (0..conduit.parts.len() as u32).map(|part| parts.root(part)).collect();
            let gap_to_others_m = |own: u32| {
                let pairs = (0..group.len()).flat_map(|a| (0..group.len()).map(move |b| (a, b)));
                let across = pairs.filter(|&(a, b)| group[a] == own && group[b] != own);
                across.map(|(a, b)| ends_apart(&conduit.parts[a], &conduit.parts[b])).min_by(f64::total_cmp)
            };
            let mut own_groups = group.clone();
            own_groups.dedup();
            if let Some(gap_m) = own_groups.iter().filter_map(|g| gap_to_others_m(*g)).max_by(f64::total_cmp) {
                let id = &conduit.key;
                issues.push(
                    self.issue_of(IssueCode::MultipartGap, conduit)
                        .distance_m(gap_m)
                        .message(format!("{id}: its parts do not meet; the gap is {gap_m:.1} m")),
                );
            }
        }
    }

    fn duplicates(&self, issues: &mut Vec<DataIssue>) {
        let mut same: BTreeMap<Vec<(i64, i64)>, Vec<usize>> = BTreeMap::new();
        for (at, conduit) in self.inventory.conduits.iter().enumerate().filter(|(_, c)| !c.parts.is_empty()) {
            let points = conduit.parts.iter().flat_map(|line| &line.0);
            let mut shape: Vec<(i64, i64)> =
                points.map(|c| ((c.x / COINCIDENT_M).round() as i64, (c.y / COINCIDENT_M).round() as i64)).collect();
            shape.dedup();
            if shape.first() > shape.last() {
                shape.reverse();
            }
            same.entry(shape).or_default().push(at);
        }
        for copies in same.into_values().filter(|copies| copies.len() > 1) {
            let ids: Vec<String> = copies.iter().map(|at| self.inventory.conduits[*at].key.to_string()).collect();
            let mut issue = self.issue_of(IssueCode::DuplicateGeometry, &self.inventory.conduits[copies[0]]);
            issue.message = format!("{} are drawn as one line", ids.join(", "));
            issue.ids = ids;
            issues.push(issue);
        }
    }

    /// Strongly connected groups of live conduits whose direction is known.
    fn loops(&self, issues: &mut Vec<DataIssue>) {
        let runs = |piece: PieceIndex| self.carries(piece) && self.network.flow(self.network.piece(piece).conduit).flow != Flow::Unknown;
        let groups = strong_groups(self.network, runs);
        let mut members: BTreeMap<u32, Vec<PieceIndex>> = BTreeMap::new();
        for at in 0..self.network.pieces.len() {
            let (index, piece) = (PieceIndex::from_at(at), &self.network.pieces[at]);
            if piece.start != piece.end && groups[piece.start.at()] == groups[piece.end.at()] && runs(index) {
                members.entry(groups[piece.start.at()]).or_default().push(index);
            }
        }
        for pieces in members.into_values() {
            let issue = self.issue_of_many(IssueCode::Loop, &pieces);
            let message = format!("{} run round in a circle", issue.ids.join(", "));
            issues.push(self.at_node(issue, self.network.piece(pieces[0]).start).message(message));
        }
    }

    fn ends_well(&self, node: NodeIndex) -> bool {
        self.network.structures_at(self.inventory, node).any(|(_, s)| matches!(s.kind, StructureKind::Outfall | StructureKind::Pond))
    }

    fn dead_ends(&self, issues: &mut Vec<DataIssue>) {
        for at in 0..self.network.nodes.len() {
            let node = NodeIndex::from_at(at);
            let moves_on = |p: &&PieceIndex| {
                let piece = self.network.piece(**p);
                piece.start != piece.end && self.carries(**p)
            };
            let arriving: Vec<PieceIndex> = self.network.arriving(node).iter().filter(moves_on).copied().collect();
            if arriving.is_empty() || self.network.leaving(node).iter().any(|p| moves_on(&p)) || self.ends_well(node) {
                continue;
            }
            let issue = self.issue_of_many(IssueCode::NoWayOut, &arriving);
            let message = format!(
                "{} end at {}, which has no way out and is no outfall",
                issue.ids.join(", "),
                self.network.node_name(self.inventory, node)
            );
            issues.push(self.at_node(issue, node).message(message));
        }
    }

    fn outfalls(&self, issues: &mut Vec<DataIssue>) {
        let ends = || {
            let carrying = self.network.pieces.iter().enumerate().filter(|(at, _)| self.carries(PieceIndex::from_at(*at)));
            let nodes = carrying.flat_map(|(_, p)| [p.start, p.end]);
            nodes.filter_map(|n| self.network.nodes[n.at()].place.map(|place| (n.0, [place.x(), place.y()])))
        };
        let mut grid = None;
        for (at, structure) in self.inventory.structures.iter().enumerate().filter(|(_, s)| s.kind == StructureKind::Outfall) {
            let node = self.network.node_of(super::StructureIndex::from_at(at));
            let issue = |code| {
                let issue = DataIssue::new(code, self.inventory.layer_name(structure.key.layer)).id(&*structure.key.id);
                match structure.place {
                    Some(p) => issue.at(p.x(), p.y()),
                    None => issue,
                }
            };
            let id = &structure.key;
            let touching = || self.network.arriving(node).iter().chain(self.network.leaving(node));
            if !touching().any(|p| self.carries(*p)) {
                // What lies there beside: sanitary mains and conduits out of use, from which no storm water comes.
                let mut others: Vec<String> = touching().map(|p| self.id(*p)).collect();
                others.sort();
                others.dedup();
                let beside = match others.as_slice() {
                    [] => String::new(),
                    some => format!("; {} end there, and carry no storm water", some.join(", ")),
                };
                let grid = grid.get_or_insert_with(|| PointGrid::new(ends(), self.options.snap_tolerance_m));
                let nearest = structure.place.and_then(|p| grid.nearest([p.x(), p.y()]));
                issues.push(match nearest {
                    Some((end, away_m)) => issue(IssueCode::OutfallNotConnected).distance_m(away_m).message(format!(
                        "outfall {id} is not connected: the nearest conduit end, {}, is {away_m:.1} m away{beside}",
                        self.network.node_name(self.inventory, NodeIndex(end))
                    )),
                    None => issue(IssueCode::OutfallNotConnected).message(format!("outfall {id} is not connected to any conduit{beside}")),
                });
            } else if !self.network.arriving(node).iter().any(|p| self.carries(*p))
                && structure.outfall_kind != Some(OutfallKind::InterconnectionIn)
            {
                issues.push(issue(IssueCode::OutfallOnlyLeadsAway).message(format!("conduits only lead away from outfall {id}")));
            }
        }
    }

    fn runs_without_outfall(&self, issues: &mut Vec<DataIssue>) {
        let mut drains = vec![false; self.network.nodes.len()];
        let mut to_do: Vec<NodeIndex> = (0..drains.len()).map(NodeIndex::from_at).filter(|n| self.ends_well(*n)).collect();
        to_do.iter().for_each(|n| drains[n.at()] = true);
        while let Some(node) = to_do.pop() {
            for &piece in self.network.arriving(node).iter().filter(|p| self.carries(**p)) {
                let above = self.network.inlet_of(piece, node);
                if !drains[above.at()] {
                    drains[above.at()] = true;
                    to_do.push(above);
                }
            }
        }
        let mut clusters = Clusters::new(drains.len());
        let stranded: Vec<PieceIndex> = (0..self.network.pieces.len())
            .map(PieceIndex::from_at)
            .filter(|p| {
                let piece = self.network.piece(*p);
                let below = if self.network.flow(piece.conduit).flow == Flow::AgainstDrawing { piece.start } else { piece.end };
                let either = self.network.flow(piece.conduit).flow == Flow::Unknown && drains[piece.start.at()];
                self.carries(*p) && !drains[below.at()] && !either
            })
            .collect();
        for piece in &stranded {
            clusters.unite(self.network.piece(*piece).start.0, self.network.piece(*piece).end.0);
        }
        let mut runs: BTreeMap<u32, Vec<PieceIndex>> = BTreeMap::new();
        for piece in stranded {
            runs.entry(clusters.root(self.network.piece(piece).start.0)).or_default().push(piece);
        }
        for pieces in runs.into_values() {
            let issue = self.issue_of_many(IssueCode::NoOutfall, &pieces);
            let message = format!("{} conduits reach no outfall on the map", issue.ids.len());
            issues.push(self.at_node(issue, self.network.piece(pieces[0]).start).message(message));
        }
    }

    /// Ends and structures that lie close to something and are not joined to it.
    fn gaps(&self, issues: &mut Vec<DataIssue>) -> Vec<Gap> {
        let reach_m = self.options.near_miss_m;
        let loose: Vec<NodeIndex> = (0..self.network.nodes.len()).map(NodeIndex::from_at).filter(|n| self.is_loose(*n)).collect();
        let places = loose.iter().filter_map(|n| self.network.nodes[n.at()].place.map(|p| (n.0, [p.x(), p.y()])));
        let grid = PointGrid::new(places.clone(), reach_m);
        let mut nearest: BTreeMap<NodeIndex, (f64, NodeIndex, Option<PieceIndex>)> = BTreeMap::new();
        let mut offer = |node: NodeIndex, away_m: f64, to: NodeIndex, onto: Option<PieceIndex>| {
            let best = nearest.entry(node).or_insert((f64::INFINITY, to, onto));
            if (away_m, to, onto) < *best {
                *best = (away_m, to, onto);
            }
        };
        for (at, piece) in self.network.pieces.iter().enumerate() {
            let index = PieceIndex::from_at(at);
            let conduit = &self.inventory.conduits[piece.conduit.at()];
            let Some(part) = conduit.parts.get(piece.part as usize).filter(|_| conduit.is_live()) else { continue };
            let (mut walked_m, length_m) = (0.0, piece.length_m());
            for segment in super::cut::stretch(part, piece.from_m, piece.to_m).0.windows(2) {
                let (a, b) = ([segment[0].x, segment[0].y], [segment[1].x, segment[1].y]);
                let low = [a[0].min(b[0]) - reach_m, a[1].min(b[1]) - reach_m];
                let high = [a[0].max(b[0]) + reach_m, a[1].max(b[1]) + reach_m];
                grid.window(low, high, |loose, p| {
                    let node = NodeIndex(loose);
                    let (along_m, away_m) = foot_on(a, b, p);
                    if away_m > reach_m || node == piece.start || node == piece.end || self.are_neighbours(node, piece.conduit) {
                        return;
                    }
                    if self.is_near_by_its_other_end(node, piece) {
                        return;
                    }
                    let along_m = walked_m + along_m;
                    let at_end = along_m.min(length_m - along_m) <= self.options.snap_tolerance_m;
                    let to = if along_m <= length_m / 2.0 { piece.start } else { piece.end };
                    offer(node, away_m, to, (!at_end).then_some(index));
                });
                walked_m += distance(a, b);
            }
        }
        let mut gaps: Vec<Gap> = nearest
            .into_iter()
            .map(|(from, (distance_m, to, onto))| Gap { from, to, onto, distance_m })
            .filter(|g| g.distance_m.is_finite())
            .collect();
        // A gap seen from both sides is one gap.
        let key = |g: &Gap| (g.from.min(g.to), g.from.max(g.to), g.onto);
        gaps.sort_by(|a, b| key(a).cmp(&key(b)).then(a.distance_m.total_cmp(&b.distance_m)));
        gaps.dedup_by_key(|g| key(g));
        for gap in &gaps {
            issues.push(self.gap_issue(gap));
        }
        gaps
    }

    fn are_neighbours(&self, node: NodeIndex, conduit: ConduitIndex) -> bool {
        let around = self.network.arriving(node).iter().chain(self.network.leaving(node));
        around.into_iter().any(|p| self.network.piece(*p).conduit == conduit)
    }

    /// True where a conduit shorter than the reach ends at the node and its other end is joined to the piece: that is no gap.
    fn is_near_by_its_other_end(&self, node: NodeIndex, other: &super::Piece) -> bool {
        let around = self.network.arriving(node).iter().chain(self.network.leaving(node));
        around.map(|p| self.network.piece(*p)).any(|own| {
            let far = if own.start == node { own.end } else { own.start };
            own.length_m() <= self.options.near_miss_m && (far == other.start || far == other.end)
        })
    }

    /// An end where one expects something to follow, or a structure of the main line that nothing reaches.
    fn is_loose(&self, node: NodeIndex) -> bool {
        let (arriving, leaving) = (self.network.arriving(node), self.network.leaving(node));
        let mut structures = self.network.structures_at(self.inventory, node).peekable();
        if arriving.is_empty() && leaving.is_empty() {
            // Inlets without a drawn lead are the rule in many towns; the inlet links deal with them.
            return structures.any(|(_, s)| {
                !matches!(s.kind, StructureKind::CatchBasin | StructureKind::Inlet) && s.status == crate::inventory::Status::Live
            });
        }
        let mut around: Vec<PieceIndex> = arriving.iter().chain(leaving).copied().collect();
        around.sort_unstable();
        around.dedup();
        let [only] = around.as_slice() else { return false };
        let piece = self.network.piece(*only);
        if !self.carries(*only) || piece.start == piece.end || self.ends_well(node) {
            return false;
        }
        // Where a structure stands, a run may well begin.
        structures.peek().is_none() || !arriving.is_empty()
    }

    fn gap_issue(&self, gap: &Gap) -> DataIssue {
        let mut pieces: Vec<PieceIndex> = Vec::new();
        for node in [gap.from, gap.to] {
            let around = self.network.arriving(node).iter().chain(self.network.leaving(node));
            if node == gap.to && gap.onto.is_some() { pieces.extend(gap.onto) } else { pieces.extend(around) }
        }
        let issue = self.issue_of_many(IssueCode::NearMiss, &pieces).distance_m(gap.distance_m);
        let to = match gap.onto {
            Some(piece) => format!("the side of {}", self.id(piece)),
            None => self.network.node_name(self.inventory, gap.to),
        };
        let message =
            format!("{} and {to} are {:.2} m apart and not joined", self.network.node_name(self.inventory, gap.from), gap.distance_m);
        self.at_node(issue, gap.from).message(message)
    }
}

fn ends_apart(a: &LineString, b: &LineString) -> f64 {
    let ends = |line: &LineString| [line.0.first(), line.0.last()].into_iter().flatten().map(|c| [c.x, c.y]).collect::<Vec<_>>();
    let pairs = ends(a).into_iter().flat_map(|p| ends(b).into_iter().map(move |q| distance(p, q)));
    pairs.min_by(f64::total_cmp).unwrap_or(0.0)
}

/// For each node the number of its strongly connected group (Tarjan's method, without recursion).
pub(super) fn strong_groups(network: &Network, runs: impl Fn(PieceIndex) -> bool) -> Vec<u32> {
    const UNSEEN: u32 = u32::MAX;
    let count = network.nodes.len();
    let (mut order, mut low, mut group) = (vec![UNSEEN; count], vec![0u32; count], vec![UNSEEN; count]);
    let (mut stack, mut next_order, mut next_group) = (Vec::new(), 0u32, 0u32);
    for root in 0..count {
        if order[root] != UNSEEN {
            continue;
        }
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some(&mut (node, ref mut next)) = path.last_mut() {
            if *next == 0 {
                order[node] = next_order;
                low[node] = next_order;
                next_order += 1;
                stack.push(node);
            }
            let leaving = network.leaving(NodeIndex::from_at(node));
            let Some(&piece) = leaving.get(*next) else {
                path.pop();
                if let Some(&(above, _)) = path.last() {
                    low[above] = low[above].min(low[node]);
                }
                if low[node] == order[node] {
                    while let Some(member) = stack.pop() {
                        group[member] = next_group;
                        if member == node {
                            break;
                        }
                    }
                    next_group += 1;
                }
                continue;
            };
            *next += 1;
            if !runs(piece) {
                continue;
            }
            let ends = network.piece(piece);
            let below = if ends.start.at() == node { ends.end.at() } else { ends.start.at() };
            if order[below] == UNSEEN {
                path.push((below, 0));
            } else if group[below] == UNSEEN {
                low[node] = low[node].min(order[below]);
            }
        }
    }
    group
}

#[cfg(test)]
mod tests {
    use geo::{Point, coord};

    use super::super::{BuildOptions, build};
    use super::*;
    use crate::inventory::{ConduitKind, FlowCode, Key, LayerIndex, LayerInfo, LevelField, Material, NodeId, Shape, Status, Structure};
    use crate::settings::Settings;

    fn conduit(id: &str, from: [f64; 2], to: [f64; 2], system: System) -> Conduit {
        Conduit {
            key: Key { layer: LayerIndex(0), id: id.into() },
            kind: ConduitKind::Pipe,
            parts: vec![LineString(vec![coord! { x: from[0], y: from[1] }, coord! { x: to[0], y: to[1] }])],
            node_from: NodeId::NotMapped,
            node_to: NodeId::NotMapped,
            invert_from: LevelField::NotMapped,
            invert_to: LevelField::NotMapped,
            flow: FlowCode::NotMapped,
            diameter_mm: None,
            height_mm: None,
            shape: Shape::Unknown,
            material: Material::Unknown,
            barrels: None,
            year_installed: None,
            status: Status::Live,
            system,
            owner: None,
            operator: None,
            pressurised: false,
            assigned_outfall: None,
        }
    }

    fn outfall(id: &str, at: [f64; 2]) -> Structure {
        Structure {
            key: Key { layer: LayerIndex(0), id: id.into() },
            kind: StructureKind::Outfall,
            outfall_kind: None,
            place: Some(Point::new(at[0], at[1])),
            area: None,
            rim: LevelField::NotMapped,
            invert: LevelField::NotMapped,
            sump_m: None,
            status: Status::Live,
            system: System::Storm,
            owner: None,
            operator: None,
            other_system: None,
            name: None,
            also_known_as: None,
            receiving_water: None,
            tolerance_m: 0.3,
        }
    }

    #[test]
    fn an_outfall_that_only_a_sanitary_main_reaches_is_not_connected() {
        let settings = Settings::parse("name = \"Elm\"").unwrap();
        let layer = LayerInfo { name: "all".into(), file: "all.gpkg".into(), role: "conduits".into(), read: 0, usable: 0 };
        let mut inventory = Inventory {
            layers: vec![layer],
            conduits: vec![
                conduit("SAN", [0.0, 0.0], [10.0, 0.0], System::Sanitary),
                conduit("STORM", [0.0, 50.0], [10.0, 50.0], System::Storm),
            ],
            structures: vec![outfall("A", [10.0, 0.0]), outfall("B", [10.0, 50.0])],
            ..Inventory::default()
        };
        inventory.sort();
        let (_, issues) = build(&inventory, &BuildOptions::new(&settings, &inventory));
        let lonely: Vec<&DataIssue> = issues.iter().filter(|i| i.code == IssueCode::OutfallNotConnected).collect();
        assert_eq!(lonely.len(), 1);
        assert_eq!(lonely[0].ids, ["A"]);
        // The nearest end is the storm one, not the sanitary one on which the outfall stands.
        assert_eq!(lonely[0].distance_m, Some(50.0));
        assert!(lonely[0].message.contains("SAN"), "{}", lonely[0].message);
    }

    #[test]
    fn the_two_ends_of_a_short_conduit_are_no_gap() {
        let settings = Settings::parse("name = \"Elm\"").unwrap();
        let layer = LayerInfo { name: "all".into(), file: "all.gpkg".into(), role: "conduits".into(), read: 0, usable: 0 };
        let gaps = |lead: [f64; 2]| {
            let mut inventory = Inventory {
                layers: vec![layer.clone()],
                conduits: vec![
                    conduit("LEAD", lead, [0.0, 0.0], System::Storm),
                    conduit("MAIN", [0.0, 0.0], [0.0, -50.0], System::Storm),
                    conduit("STRAY", [1.0, -20.0], [30.0, -20.0], System::Storm),
                ],
                ..Inventory::default()
            };
            inventory.sort();
            let (network, _) = build(&inventory, &BuildOptions::new(&settings, &inventory));
            network.gaps.iter().map(|g| g.distance_m).collect::<Vec<_>>()
        };
        // The lead's own upper end lies 2 m from the main that its lower end joins; the stray end is a gap.
        assert_eq!(gaps([2.0, 0.0]), [1.0]);
        assert_eq!(gaps([20.0, 0.0]), [1.0]);
    }
}
