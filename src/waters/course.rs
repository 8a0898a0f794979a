//! What flows into what among the waters? Reaches between nodes: by the layer's own from and to nodes where it has them (NHD), else by
//! ends that meet and the drawn direction; a lake without lines of its own through it is one node.

use std::collections::{BTreeMap, BTreeSet};

use geo::{BoundingRect, Contains, Coord, Distance, Euclidean, InteriorPoint, Intersects, LineString, MultiPolygon, Point};
use rstar::primitives::{GeomWithData, Line, Rectangle};
use rstar::{AABB, PointDistance, RTree};

use crate::inventory::{FlowCode, Inventory, LayerIndex, NodeId, OutfallKind, StructureKind, System, WaterKind};
use crate::network::{Flow, Network, NodeIndex};
use crate::settings::Settings;
use crate::trace::Certainty;

use super::units::{UnitShapes, UnitStretch};

/// The distances under which waters are tied to each other and to the network, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaterOptions {
    /// Ends of watercourses this close are one place.
    pub join_m: f64,
    /// A conduit's end this close to a water touches it.
    pub touch_m: f64,
    /// A water this close to where conduits end receives them.
    pub receiving_m: f64,
    /// The shape of an assessment unit this close to a water is that water.
    pub unit_m: f64,
    /// How far waters are followed downstream.
    pub downstream_m: f64,
    /// How far waters are followed upstream.
    pub upstream_m: f64,
}

impl WaterOptions {
    /// What the town file says.
    pub fn new(settings: &Settings) -> Self {
        WaterOptions {
            join_m: settings.water_tolerance.metres(),
            touch_m: settings.snap_tolerance.metres(),
            receiving_m: settings.receiving_distance.metres(),
            unit_m: settings.unit_distance.metres(),
            downstream_m: settings.downstream_limit.metres(),
            upstream_m: settings.upstream_limit.metres(),
        }
    }
}

/// A stretch of a watercourse between two nodes; its line runs with the flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Reach {
    /// The water, by its place in the inventory's list.
    pub water: usize,
    /// Its line, in the direction of flow.
    pub line: LineString,
    /// The node from which its water comes.
    pub from: u32,
    /// The node to which it goes.
    pub to: u32,
    /// Its length, metres.
    pub length_m: f64,
    /// False where a flow field is mapped and says nothing: it is not traced.
    pub flows: bool,
    /// True where the layer's own node ids decide, false where ends that meet do.
    pub by_ids: bool,
}

/// A place on the waters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spot {
    /// On a reach, this far along it, metres.
    OnReach {
        /// The reach.
        reach: u32,
        /// Along its line, metres.
        along_m: f64,
    },
    /// In a lake that is one node.
    InLake {
        /// The node.
        node: u32,
    },
}

/// A water near a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearWater {
    /// The water, by its place in the inventory's list.
    pub water: usize,
    /// Where on it.
    pub spot: Spot,
    /// How far away, metres.
    pub away_m: f64,
}

/// A conduit's end or bare outfall that discharges into a water.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inflow {
    /// The node of the conduits.
    pub node: NodeIndex,
    /// What receives it.
    pub entry: Entry,
}

/// On what a receiving water rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReceivingBasis {
    /// The conduits end in it or on its bank.
    Network,
    /// The town's own record of the outfall names it.
    Attribute,
    /// It lies within the receiving distance of where the conduits end.
    Nearness,
}

impl ReceivingBasis {
    /// The stable text form.
    pub fn word(self) -> &'static str {
        match self {
            ReceivingBasis::Network => "network",
            ReceivingBasis::Attribute => "attribute",
            ReceivingBasis::Nearness => "nearness",
        }
    }
}

/// Where and on what ground water enters a water.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The water and the place on it.
    pub near: NearWater,
    /// On what it rests.
    pub basis: ReceivingBasis,
}

type Segment = GeomWithData<Line<[f64; 2]>, (u32, f64)>;
type Shore = GeomWithData<Rectangle<[f64; 2]>, usize>;

/// The waters as built, with the conduits that end in them and those into which they end.
#[derive(Debug, Default)]
pub struct WaterNetwork {
    /// The reaches.
    pub reaches: Vec<Reach>,
    /// Assessment units on each reach, as stretches along it.
    pub units_on: Vec<Vec<UnitStretch>>,
    /// Places of nodes, as far as one is known.
    pub places: Vec<Option<[f64; 2]>>,
    /// Lakes that are nodes: the water by its node.
    pub lakes: BTreeMap<u32, Vec<usize>>,
    /// Conduit ends that discharge, in the order of nodes.
    pub inflows: Vec<Inflow>,
    /// Conduit nodes into which a water ends, by the water's node.
    pub swallowed: BTreeMap<u32, Vec<NodeIndex>>,
    /// The shapes of assessment units.
    pub units: UnitShapes,
    /// The distances in force.
    pub options: Option<WaterOptions>,
    departures: Vec<Vec<u32>>,
    arrivals: Vec<Vec<u32>>,
    segments: RTree<Segment>,
    shores: RTree<Shore>,
    lake_nodes: BTreeMap<usize, u32>,
}

/// A line on its way to reaches.
struct Raw {
    water: usize,
    line: LineString,
    length_m: f64,
    from: usize,
    to: usize,
    flows: bool,
    by_ids: bool,
    cuts: Vec<(f64, usize)>,
}

/// Places that may be one, until all is joined.
#[derive(Default)]
struct Union {
    parent: Vec<usize>,
    place: Vec<Option<[f64; 2]>>,
}

impl Union {
    fn add(&mut self, place: Option<[f64; 2]>) -> usize {
        self.parent.push(self.parent.len());
        self.place.push(place);
        self.parent.len() - 1
    }

    fn root(&self, mut at: usize) -> usize {
        while self.parent[at] != at {
            at = self.parent[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        // The smaller number stays, so that the order of joining changes nothing.
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        self.parent[high] = low;
        self.place[low] = self.place[low].or(self.place[high]);
    }
}

/// How long a line is, metres.
pub(super) fn length_of(line: &LineString) -> f64 {
    line.0.windows(2).map(|s| (s[1].x - s[0].x).hypot(s[1].y - s[0].y)).sum()
}

/// The place so far along a line, metres.
pub(super) fn place_along(line: &LineString, along_m: f64) -> Option<Coord> {
    let mut gone = 0.0;
    for s in line.0.windows(2) {
        let length = (s[1].x - s[0].x).hypot(s[1].y - s[0].y);
        if gone + length >= along_m && length > 0.0 {
            let t = ((along_m - gone) / length).clamp(0.0, 1.0);
            return Some(Coord { x: s[0].x + t * (s[1].x - s[0].x), y: s[0].y + t * (s[1].y - s[0].y) });
        }
        gone += length;
    }
    line.0.last().copied()
}

/// A line from one distance along it to another, metres.
pub fn stretch_of(line: &LineString, from_m: f64, to_m: f64) -> LineString {
    let mut out: Vec<Coord> = place_along(line, from_m).into_iter().collect();
    let mut gone = 0.0;
    for s in line.0.windows(2) {
        gone += (s[1].x - s[0].x).hypot(s[1].y - s[0].y);
        if gone > from_m && gone < to_m {
            out.push(s[1]);
        }
    }
    out.extend(place_along(line, to_m));
    LineString(out)
}

/// The foot of a place on a segment: how far along it, how far away.
fn foot(a: [f64; 2], b: [f64; 2], p: [f64; 2]) -> (f64, f64) {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let length_2 = dx * dx + dy * dy;
    let t = if length_2 > 0.0 { (((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length_2).clamp(0.0, 1.0) } else { 0.0 };
    (t * length_2.sqrt(), (p[0] - a[0] - t * dx).hypot(p[1] - a[1] - t * dy))
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

fn segments_of<'a>(line: &'a LineString, data: u32) -> impl Iterator<Item = Segment> + 'a {
    let mut gone = 0.0;
    line.0.windows(2).map(move |s| {
        let (a, b) = ([s[0].x, s[0].y], [s[1].x, s[1].y]);
        let begins = gone;
        gone += distance(a, b);
        GeomWithData::new(Line::new(a, b), (data, begins))
    })
}

/// How far a place is from an area, metres; 0 inside.
pub(super) fn off_area(area: &MultiPolygon, place: Point) -> f64 {
    if area.contains(&place) { 0.0 } else { Euclidean.distance(&place, area) }
}

impl WaterNetwork {
    /// Builds the waters of an inventory and ties them to its network.
    pub fn build(inventory: &Inventory, network: &Network, options: WaterOptions) -> WaterNetwork {
        let mut union = Union::default();
        let mut raws = raw_lines(inventory, &mut union);
        let tree = RTree::bulk_load(raws.iter().enumerate().flat_map(|(at, raw)| segments_of(&raw.line, at as u32)).collect());
        let lake_elements = join_lakes(inventory, &mut raws, &mut union, &tree, options);
        join_ends(&mut raws, &mut union, &tree, options);
        let mut built = WaterNetwork { options: Some(options), ..WaterNetwork::default() };
        built.keep_reaches(raws, &union, &lake_elements);
        built.segments = RTree::bulk_load(
            built
                .reaches
                .iter()
                .enumerate()
                .filter(|(_, r)| inventory.waters[r.water].receives())
                .flat_map(|(at, r)| segments_of(&r.line, at as u32))
                .collect(),
        );
        built.shores = RTree::bulk_load(shores(inventory));
        built.units = UnitShapes::new(inventory, options.unit_m);
        built.units_on = built.reaches.iter().map(|r| built.units.along(inventory, r)).collect();
        built.tie(inventory, network, options);
        built
    }

    fn keep_reaches(&mut self, raws: Vec<Raw>, union: &Union, lakes: &[(usize, usize)]) {
        let mut numbers: BTreeMap<usize, u32> = BTreeMap::new();
        let mut number = |element: usize, places: &mut Vec<Option<[f64; 2]>>| {
            let root = union.root(element);
            *numbers.entry(root).or_insert_with(|| {
                places.push(union.place[root]);
                places.len() as u32 - 1
            })
        };
        for mut raw in raws {
            raw.cuts.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let mut stops = vec![(0.0, raw.from)];
            stops.extend(raw.cuts);
            stops.push((raw.length_m, raw.to));
            for pair in stops.windows(2) {
                let ((from_m, from), (to_m, to)) = (pair[0], pair[1]);
                let line = if stops.len() == 2 { raw.line.clone() } else { stretch_of(&raw.line, from_m, to_m) };
                let (from, to) = (number(from, &mut self.places), number(to, &mut self.places));
                self.reaches.push(Reach {
                    water: raw.water,
                    length_m: length_of(&line),
                    line,
                    from,
                    to,
                    flows: raw.flows,
                    by_ids: raw.by_ids,
                });
            }
        }
        for (water, element) in lakes {
            let node = number(*element, &mut self.places);
            self.lakes.entry(node).or_default().push(*water);
            self.lake_nodes.insert(*water, node);
        }
        self.departures = vec![Vec::new(); self.places.len()];
        self.arrivals = vec![Vec::new(); self.places.len()];
        for (at, reach) in self.reaches.iter().enumerate().filter(|(_, r)| r.flows) {
            self.departures[reach.from as usize].push(at as u32);
            self.arrivals[reach.to as usize].push(at as u32);
        }
    }

    /// Reaches that leave a node.
    pub fn leaving(&self, node: u32) -> &[u32] {
        self.departures.get(node as usize).map_or(&[], Vec::as_slice)
    }

    /// Reaches that arrive at a node.
    pub fn arriving(&self, node: u32) -> &[u32] {
        self.arrivals.get(node as usize).map_or(&[], Vec::as_slice)
    }

    /// A reach.
    pub fn reach(&self, reach: u32) -> &Reach {
        &self.reaches[reach as usize]
    }

    /// The waters within a distance of a place, each once, nearest first; copies of the town's pipes and coastlines are none.
    pub fn near(&self, inventory: &Inventory, place: Point, within_m: f64) -> Vec<NearWater> {
        let at = [place.x(), place.y()];
        let window = AABB::from_corners([at[0] - within_m, at[1] - within_m], [at[0] + within_m, at[1] + within_m]);
        let mut best: BTreeMap<usize, NearWater> = BTreeMap::new();
        let mut offer = |near: NearWater| {
            if near.away_m <= within_m {
                let known = best.entry(near.water).or_insert(near);
                if near.away_m < known.away_m {
                    *known = near;
                }
            }
        };
        for segment in self.segments.locate_in_envelope_intersecting(window) {
            let (reach, begins_m) = segment.data;
            let (along_m, away_m) = foot(segment.geom().from, segment.geom().to, at);
            offer(NearWater {
                water: self.reaches[reach as usize].water,
                spot: Spot::OnReach { reach, along_m: begins_m + along_m },
                away_m,
            });
        }
        for shore in self.shores.locate_in_envelope_intersecting(window) {
            let Some(area) = &inventory.waters[shore.data].shore else { continue };
            let away_m = off_area(area, place);
            let spot = match self.lake_nodes.get(&shore.data) {
                Some(node) => Some(Spot::InLake { node: *node }),
                // Lines of its own lead through it: the nearest of them inside carries on.
                None => self.nearest_inside(area, at),
            };
            if let Some(spot) = spot {
                offer(NearWater { water: shore.data, spot, away_m });
            }
        }
        let mut found: Vec<NearWater> = best.into_values().collect();
        found.sort_by(|a, b| a.away_m.total_cmp(&b.away_m).then(a.water.cmp(&b.water)));
        found
    }

    fn nearest_inside(&self, area: &MultiPolygon, at: [f64; 2]) -> Option<Spot> {
        let inside = |s: &&Segment| {
            let middle = Point::new((s.geom().from[0] + s.geom().to[0]) / 2.0, (s.geom().from[1] + s.geom().to[1]) / 2.0);
            area.contains(&middle)
        };
        let segment = self.segments.nearest_neighbor_iter(at).find(inside)?;
        let (reach, begins_m) = segment.data;
        let (along_m, _) = foot(segment.geom().from, segment.geom().to, at);
        Some(Spot::OnReach { reach, along_m: begins_m + along_m })
    }

    /// The place on one water that is nearest to a place.
    pub fn on_water(&self, inventory: &Inventory, water: usize, place: Point) -> Option<NearWater> {
        let at = [place.x(), place.y()];
        let own = self.segments.nearest_neighbor_iter(at).find(|s| self.reaches[s.data.0 as usize].water == water);
        let on_line = own.map(|s| {
            let (along_m, away_m) = foot(s.geom().from, s.geom().to, at);
            NearWater { water, spot: Spot::OnReach { reach: s.data.0, along_m: s.data.1 + along_m }, away_m }
        });
        let in_lake = inventory.waters[water].shore.as_ref().and_then(|area| {
            let spot = self.lake_nodes.get(&water).map(|node| Spot::InLake { node: *node }).or_else(|| self.nearest_inside(area, at))?;
            Some(NearWater { water, spot, away_m: off_area(area, place) })
        });
        match (on_line, in_lake) {
            (Some(a), Some(b)) => Some(if a.away_m < b.away_m { a } else { b }),
            (a, b) => a.or(b),
        }
    }

    /// The lowest places of a water: all of it lies upstream of them.
    pub fn lowest(&self, water: usize) -> Vec<Spot> {
        if let Some(node) = self.lake_nodes.get(&water) {
            return vec![Spot::InLake { node: *node }];
        }
        let own: BTreeSet<u32> = self.reaches.iter().enumerate().filter(|(_, r)| r.water == water).map(|(at, _)| at as u32).collect();
        let ends = own.iter().filter(|at| !self.leaving(self.reach(**at).to).iter().any(|next| own.contains(next) && next != *at));
        ends.map(|at| Spot::OnReach { reach: *at, along_m: self.reach(*at).length_m }).collect()
    }

    /// Ties conduit ends to waters and ends of waters to conduits.
    fn tie(&mut self, inventory: &Inventory, network: &Network, options: WaterOptions) {
        for at in 0..network.nodes.len() {
            let node = NodeIndex::from_at(at);
            if discharges(inventory, network, node) {
                let entries = self.entries(inventory, network, node, options);
                self.inflows.extend(entries.into_iter().map(|entry| Inflow { node, entry }));
            }
        }
        let starts: Vec<GeomWithData<[f64; 2], NodeIndex>> = (0..network.nodes.len())
            .map(NodeIndex::from_at)
            .filter(|node| network.leaving(*node).iter().any(|p| carries(inventory, network.piece(*p).conduit.at())))
            .filter_map(|node| network.nodes[node.at()].place.map(|p| GeomWithData::new([p.x(), p.y()], node)))
            .collect();
        let starts = RTree::bulk_load(starts);
        for node in 0..self.places.len() as u32 {
            let ends_here = self.leaving(node).is_empty() && (!self.arriving(node).is_empty() || self.lakes.contains_key(&node));
            let Some(place) = self.places[node as usize].filter(|_| ends_here) else { continue };
            let mut into: Vec<NodeIndex> = match self.lakes.get(&node) {
                // A lake has its whole shore: an outlet pipe may begin anywhere along it.
                Some(waters) => {
                    let areas: Vec<&MultiPolygon> = waters.iter().filter_map(|w| inventory.waters[*w].shore.as_ref()).collect();
                    let begins = |p: &[f64; 2]| areas.iter().any(|a| off_area(a, Point::new(p[0], p[1])) <= options.join_m);
                    let bounds = areas.iter().filter_map(|a| a.bounding_rect());
                    let windows = bounds.map(|b| {
                        AABB::from_corners(
                            [b.min().x - options.join_m, b.min().y - options.join_m],
                            [b.max().x + options.join_m, b.max().y + options.join_m],
                        )
                    });
                    windows.flat_map(|w| starts.locate_in_envelope(w)).filter(|s| begins(s.geom())).map(|s| s.data).collect()
                }
                None => starts.locate_within_distance(place, options.join_m.powi(2)).map(|s| s.data).collect(),
            };
            into.sort_unstable();
            into.dedup();
            if !into.is_empty() {
                self.swallowed.insert(node, into);
            }
        }
    }

    /// The waters that receive what ends at a node: by the network first, the town's record second, nearness third.
    pub fn entries(&self, inventory: &Inventory, network: &Network, node: NodeIndex, options: WaterOptions) -> Vec<Entry> {
        let Some(place) = network.nodes[node.at()].place else { return Vec::new() };
        let with = |basis: ReceivingBasis| move |near: NearWater| Entry { near, basis };
        let touching = self.near(inventory, place, options.touch_m);
        if !touching.is_empty() {
            return touching.into_iter().map(with(ReceivingBasis::Network)).collect();
        }
        let named: Vec<NearWater> = network
            .structures_at(inventory, node)
            .filter_map(|(_, s)| s.receiving_water.as_deref())
            .filter_map(|name| {
                let mut of_name: Vec<NearWater> = inventory
                    .waters
                    .iter()
                    .enumerate()
                    .filter(|(_, w)| w.receives() && is_called(w.key.plain_id(), w.name.as_deref(), name))
                    .filter_map(|(at, _)| self.on_water(inventory, at, place))
                    .collect();
                of_name.sort_by(|a, b| a.away_m.total_cmp(&b.away_m).then(a.water.cmp(&b.water)));
                of_name.into_iter().next()
            })
            .collect();
        if !named.is_empty() {
            return named.into_iter().map(with(ReceivingBasis::Attribute)).collect();
        }
        // Another system takes over here: what lies near receives nothing from us.
        if network.structures_at(inventory, node).any(|(_, s)| s.outfall_kind == Some(OutfallKind::InterconnectionOut)) {
            return Vec::new();
        }
        self.near(inventory, place, options.receiving_m).into_iter().map(with(ReceivingBasis::Nearness)).collect()
    }
}

/// Whether an id or name is the one that somebody wrote.
pub(super) fn is_called(id: &str, name: Option<&str>, written: &str) -> bool {
    let alike = |a: &str| a.trim().eq_ignore_ascii_case(written.trim());
    alike(id) || name.is_some_and(alike)
}

/// Whether a conduit carries storm water by its status and system.
pub(super) fn carries(inventory: &Inventory, conduit: usize) -> bool {
    let conduit = &inventory.conduits[conduit];
    conduit.is_live() && conduit.system != System::Sanitary
}

/// Whether conduits end at a node, or an outfall stands there alone.
pub(super) fn discharges(inventory: &Inventory, network: &Network, node: NodeIndex) -> bool {
    let is_outfall = network.structures_at(inventory, node).any(|(_, s)| s.kind == StructureKind::Outfall);
    let onward = network.leaving(node).iter().any(|p| {
        let piece = network.piece(*p);
        let known = network.flow(piece.conduit).flow != Flow::Unknown;
        // Where nobody knows the direction, an outfall is an end all the same.
        piece.start != piece.end && carries(inventory, piece.conduit.at()) && (known || !is_outfall)
    });
    let arrives = network.arriving(node).iter().any(|p| carries(inventory, network.piece(*p).conduit.at()));
    !onward && (arrives || is_outfall)
}

/// How sure a step onto a water is.
pub(super) fn certainty_of(basis: ReceivingBasis) -> Certainty {
    match basis {
        ReceivingBasis::Network | ReceivingBasis::Attribute => Certainty::Certain,
        ReceivingBasis::Nearness => Certainty::Probable,
    }
}

fn shores(inventory: &Inventory) -> Vec<Shore> {
    let bounds = inventory.waters.iter().enumerate().filter(|(_, w)| w.receives()).filter_map(|(at, w)| {
        let b = w.shore.as_ref()?.bounding_rect()?;
        Some(GeomWithData::new(Rectangle::from_corners([b.min().x, b.min().y], [b.max().x, b.max().y]), at))
    });
    bounds.collect()
}

/// Every line with the elements of its two ends.
fn raw_lines(inventory: &Inventory, union: &mut Union) -> Vec<Raw> {
    let mut known: BTreeMap<(LayerIndex, String), usize> = BTreeMap::new();
    let mut raws = Vec::new();
    for (at, water) in inventory.waters.iter().enumerate().filter(|(_, w)| w.kind != WaterKind::Coastline) {
        let Some(course) = &water.course else { continue };
        // NHD writes 0 for a line that belongs to no network.
        let named = |id: &NodeId| id.named().filter(|id| *id != "0").map(str::to_owned);
        let ids = (named(&water.node_from), named(&water.node_to));
        let by_ids = ids.0.is_some() && ids.1.is_some();
        let parts: Vec<LineString> = course.0.iter().filter(|l| length_of(l) > 0.0).map(|l| oriented(l, water.flow)).collect();
        let parts: Vec<LineString> = if water.flow == FlowCode::AgainstDrawing { parts.into_iter().rev().collect() } else { parts };
        let mut element = |id: &NodeId, place: Option<[f64; 2]>, union: &mut Union| match id {
            NodeId::Named(text) => *known.entry((water.key.layer, text.to_string())).or_insert_with(|| union.add(place)),
            _ => union.add(place),
        };
        let mut from = None;
        for (index, line) in parts.iter().enumerate() {
            let (first, last) = (line.0[0], line.0[line.0.len() - 1]);
            let places = ([first.x, first.y], [last.x, last.y]);
            let (start, end) = if by_ids {
                // The parts of one record follow each other, whatever gap is drawn.
                let start = from.unwrap_or_else(|| element(&water.node_from, Some(places.0), union));
                let is_last = index + 1 == parts.len();
                let end = if is_last { element(&water.node_to, Some(places.1), union) } else { union.add(Some(places.1)) };
                (start, end)
            } else {
                (union.add(Some(places.0)), union.add(Some(places.1)))
            };
            from = Some(end);
            let flows = water.flow != FlowCode::SaysNothing;
            raws.push(Raw {
                water: at,
                line: line.clone(),
                length_m: length_of(line),
                from: start,
                to: end,
                flows,
                by_ids,
                cuts: Vec::new(),
            });
        }
    }
    raws
}

fn oriented(line: &LineString, flow: FlowCode) -> LineString {
    if flow == FlowCode::AgainstDrawing { LineString(line.0.iter().rev().copied().collect()) } else { line.clone() }
}

/// Lakes become nodes, unless lines with node ids lead through them; gives each such lake with its element.
fn join_lakes(
    inventory: &Inventory,
    raws: &mut [Raw],
    union: &mut Union,
    tree: &RTree<Segment>,
    options: WaterOptions,
) -> Vec<(usize, usize)> {
    let mut lakes = Vec::new();
    for (water, area) in
        inventory.waters.iter().enumerate().filter(|(_, w)| w.receives()).filter_map(|(at, w)| Some((at, w.shore.as_ref()?)))
    {
        let Some(b) = area.bounding_rect() else { continue };
        let reach_m = options.join_m;
        let window = AABB::from_corners([b.min().x - reach_m, b.min().y - reach_m], [b.max().x + reach_m, b.max().y + reach_m]);
        let near: BTreeSet<u32> = tree.locate_in_envelope_intersecting(window).map(|s| s.data.0).collect();
        let has_own_lines = near.iter().any(|at| {
            let raw = &raws[*at as usize];
            let middle = place_along(&raw.line, raw.length_m / 2.0);
            raw.by_ids && middle.is_some_and(|m| area.contains(&Point::from(m)))
        });
        if has_own_lines {
            continue;
        }
        let inside = area.interior_point().map(|p| [p.x(), p.y()]);
        let element = union.add(inside);
        lakes.push((water, element));
        for at in near {
            let raw = &mut raws[at as usize];
            let close = |c: Coord| off_area(area, c.into()) <= reach_m;
            let (starts, ends) = (raw.line.0.first().is_some_and(|c| close(*c)), raw.line.0.last().is_some_and(|c| close(*c)));
            if starts {
                union.join(raw.from, element);
            }
            if ends {
                union.join(raw.to, element);
            }
            if !starts && !ends && area.intersects(&raw.line) {
                let samples = 400;
                let along = (1..samples).map(|n| raw.length_m * f64::from(n) / f64::from(samples));
                let within: Vec<f64> =
                    along.filter(|m| place_along(&raw.line, *m).is_some_and(|c| area.contains(&Point::from(c)))).collect();
                if let Some(middle) = within.get(within.len() / 2) {
                    raw.cuts.push((*middle, element));
                }
            }
        }
    }
    lakes
}

/// Ends without node ids join what lies within the tolerance: an end, else the side of another line.
fn join_ends(raws: &mut [Raw], union: &mut Union, tree: &RTree<Segment>, options: WaterOptions) {
    let mut ends: Vec<GeomWithData<[f64; 2], (usize, usize, bool)>> = Vec::new();
    for (at, raw) in raws.iter().enumerate() {
        let (first, last) = (raw.line.0[0], raw.line.0[raw.line.0.len() - 1]);
        ends.push(GeomWithData::new([first.x, first.y], (at, raw.from, raw.by_ids)));
        ends.push(GeomWithData::new([last.x, last.y], (at, raw.to, raw.by_ids)));
    }
    let by_place = RTree::bulk_load(ends.clone());
    let mut joins = Vec::new();
    let mut cuts = Vec::new();
    for end in ends.iter().filter(|e| !e.data.2) {
        let (own, element, _) = end.data;
        let place = *end.geom();
        let mut others: Vec<(f64, usize)> = by_place
            .locate_within_distance(place, options.join_m.powi(2))
            .filter(|o| o.data.1 != element)
            .map(|o| (o.distance_2(&place), o.data.1))
            .collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // Ends of plain lines join all that are near; of nodes with ids only the nearest.
        if !others.is_empty() {
            let mut met_ids = false;
            for (_, other) in others {
                let has_ids = ends.iter().any(|e| e.data.1 == other && e.data.2);
                if !has_ids || !met_ids {
                    joins.push((element, other));
                }
                met_ids |= has_ids;
            }
            continue;
        }
        let mut sides: Vec<(f64, u32, f64)> = tree
            .locate_within_distance(place, options.join_m.powi(2))
            .filter(|s| s.data.0 as usize != own)
            .map(|s| {
                let (along_m, away_m) = foot(s.geom().from, s.geom().to, place);
                (away_m, s.data.0, s.data.1 + along_m)
            })
            .collect();
        sides.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.total_cmp(&b.2)));
        if let Some((_, line, along_m)) = sides.first() {
            cuts.push((*line as usize, *along_m, element));
        }
    }
    joins.into_iter().for_each(|(a, b)| union.join(a, b));
    for (line, along_m, element) in cuts {
        let (length_m, from, to) = (raws[line].length_m, raws[line].from, raws[line].to);
        if along_m <= options.join_m.min(length_m / 2.0) {
            union.join(element, from);
        } else if along_m >= length_m - options.join_m.min(length_m / 2.0) {
            union.join(element, to);
        } else {
            raws[line].cuts.push((along_m, element));
        }
    }
}
