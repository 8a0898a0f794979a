//! Which way does water take from here, through conduits and waters, and which assessment units does it pass?
//!
//! Conduits, ditches and culverts first; where they end, the water that receives them; down that to where it ends or enters a conduit
//! again; and so on up to a stated limit. Loops are gone round once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

use geo::Point;

use crate::inventory::OutfallKind;
use crate::network::{NodeIndex, StructureIndex};
use crate::trace::{Certainty, Ground, TraceOptions, step};

use super::course::{Entry, ReceivingBasis, Spot, WaterNetwork, certainty_of, discharges, place_along};
use super::listing::unit_key;

/// A stretch of water on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassedReach {
    /// The reach.
    pub reach: u32,
    /// Where the water enters it, metres along.
    pub from_m: f64,
    /// How far that is from where the water first enters a water, metres.
    pub distance_m: f64,
    /// How sure it is.
    pub certainty: Certainty,
}

/// A water on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassedWater {
    /// The water, by its place in the inventory's list.
    pub water: usize,
    /// How far below the first entry, metres.
    pub distance_m: f64,
    /// Whether it is the water that receives the discharge itself.
    pub direct: bool,
    /// How sure it is.
    pub certainty: Certainty,
}

/// An assessment unit on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct PassedUnit {
    /// Its nearest shape, by its place in the inventory's list.
    pub shape: usize,
    /// How far below the first entry, metres.
    pub distance_m: f64,
    /// Whether the discharge goes into the unit itself.
    pub direct: bool,
    /// How sure it is.
    pub certainty: Certainty,
    /// On what the receiving water rests, in words.
    pub basis: &'static str,
}

/// Where the town's system hands over to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandOver {
    /// The interconnection.
    pub structure: StructureIndex,
    /// The other system, in the town's words.
    pub to: Option<Arc<str>>,
}

/// The way down from a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WayDown {
    /// Where water enters a water from conduits, first entries first.
    pub entries: Vec<(NodeIndex, Entry)>,
    /// Stretches of water, nearest first.
    pub reaches: Vec<PassedReach>,
    /// Waters, nearest first, each once.
    pub waters: Vec<PassedWater>,
    /// Assessment units, nearest first, each once.
    pub units: Vec<PassedUnit>,
    /// Interconnections that lead out of the town's system.
    pub hand_overs: Vec<HandOver>,
    /// Places where the conduits end with no water within the receiving distance.
    pub dead_ends: Vec<NodeIndex>,
    /// True where the limit was reached, so that farther waters are not in the answer.
    pub limited: bool,
    /// True where a water has no known direction of flow, so that what lies below it is not known.
    pub course_unknown: bool,
}

impl WayDown {
    /// True where no water is known into which it leads.
    pub fn is_unknown(&self) -> bool {
        self.entries.is_empty() && self.units.is_empty()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Pipe(NodeIndex),
    Water(u32),
}

#[derive(Clone, Copy, PartialEq)]
pub(super) struct Metres(pub f64);
impl Eq for Metres {}
impl PartialOrd for Metres {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Metres {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

struct Search<'a> {
    ground: Ground<'a>,
    waters: &'a WaterNetwork,
    limit_m: f64,
    queue: BinaryHeap<Reverse<(Certainty, Metres, At, bool)>>,
    settled: BTreeSet<At>,
    found: WayDown,
    best_units: BTreeMap<String, PassedUnit>,
    basis: &'static str,
    /// Where the water came into each lake.
    into_lake: BTreeMap<u32, Point>,
}

/// Follows water from a node of the conduits.
pub fn way_down(ground: Ground, waters: &WaterNetwork, start: NodeIndex) -> WayDown {
    let Some(options) = waters.options else { return WayDown { dead_ends: vec![start], ..WayDown::default() } };
    let mut search = Search {
        ground,
        waters,
        limit_m: options.downstream_m,
        queue: BinaryHeap::new(),
        settled: BTreeSet::new(),
        found: WayDown::default(),
        best_units: BTreeMap::new(),
        basis: ReceivingBasis::Network.word(),
        into_lake: BTreeMap::new(),
    };
    search.queue.push(Reverse((Certainty::Certain, Metres(0.0), At::Pipe(start), false)));
    while let Some(Reverse((certainty, Metres(distance_m), at, entered))) = search.queue.pop() {
        if !search.settled.insert(at) {
            continue;
        }
        match at {
            At::Pipe(node) => search.pipe(node, certainty, distance_m, entered),
            At::Water(node) => search.water(node, certainty, distance_m),
        }
    }
    search.finish()
}

impl Search<'_> {
    fn push(&mut self, certainty: Certainty, distance_m: f64, at: At, entered: bool) {
        if distance_m > self.limit_m {
            self.found.limited = true;
        } else if !self.settled.contains(&at) {
            self.queue.push(Reverse((certainty, Metres(distance_m), at, entered)));
        }
    }

    fn pipe(&mut self, node: NodeIndex, certainty: Certainty, distance_m: f64, entered: bool) {
        let Ground { inventory, network, .. } = self.ground;
        for (structure, s) in network.structures_at(inventory, node) {
            if s.outfall_kind == Some(OutfallKind::InterconnectionOut) {
                self.found.hand_overs.push(HandOver { structure, to: s.other_system.clone() });
            }
        }
        let options = TraceOptions::default();
        let mut goes_on = false;
        for &piece in network.leaving(node) {
            let ends = network.piece(piece);
            let Some(own) = step(self.ground, &options, ends.conduit).filter(|_| ends.start != ends.end) else { continue };
            goes_on = true;
            // Before the first water the pipe counts for nothing: distances are those of the water.
            let on_m = if entered { distance_m + ends.length_m() } else { 0.0 };
            self.push(certainty.max(own), on_m, At::Pipe(network.inlet_of(piece, node)), entered);
        }
        if !discharges(inventory, network, node) {
            if !goes_on {
                self.found.dead_ends.push(node);
            }
            return;
        }
        let Some(options) = self.waters.options else { return };
        let mut entries = self.waters.entries(inventory, network, node, options);
        // Of waters that merely lie near the nearest alone receives; those equally near all do.
        if let Some(nearest_m) = entries.first().filter(|e| e.basis == ReceivingBasis::Nearness).map(|e| e.near.away_m) {
            entries.retain(|e| e.near.away_m <= nearest_m + crate::network::COINCIDENT_M);
        }
        if entries.is_empty() {
            self.dead_end(node, certainty, distance_m);
        }
        for entry in entries {
            self.enter(node, entry, certainty, distance_m);
        }
    }

    /// No water on the map; a unit's own shape may still lie there.
    fn dead_end(&mut self, node: NodeIndex, certainty: Certainty, distance_m: f64) {
        let Ground { inventory, network, .. } = self.ground;
        let handed_over = network.structures_at(inventory, node).any(|(_, s)| s.outfall_kind == Some(OutfallKind::InterconnectionOut));
        let (Some(place), Some(options)) = (network.nodes[node.at()].place, self.waters.options) else {
            self.found.dead_ends.push(node);
            return;
        };
        let near = if handed_over { Vec::new() } else { self.waters.units.near(inventory, place, options.receiving_m) };
        let Some(nearest_m) = near.first().map(|n| n.1) else {
            if !handed_over {
                self.found.dead_ends.push(node);
            }
            return;
        };
        for (shape, _) in near.into_iter().filter(|n| n.1 <= nearest_m + options.unit_m / 10.0) {
            self.unit(shape, distance_m, certainty.max(Certainty::Probable), "nearness to the unit itself");
        }
    }

    fn enter(&mut self, node: NodeIndex, entry: Entry, certainty: Certainty, distance_m: f64) {
        let certainty = certainty.max(certainty_of(entry.basis));
        self.found.entries.push((node, entry));
        self.basis = entry.basis.word();
        self.passed_water(entry.near.water, distance_m, distance_m == 0.0, certainty);
        let place = self.ground.network.nodes[node.at()].place;
        match entry.near.spot {
            Spot::OnReach { reach, along_m } => {
                self.follow(reach, along_m, certainty, distance_m);
                // A wide river or a lake with lines of its own is a unit by its area, too.
                if let Some(place) = place {
                    self.lake_units(entry.near.water, place, distance_m, certainty);
                }
            }
            Spot::InLake { node } => {
                if let Some(place) = place {
                    self.lake(node, place, distance_m, certainty);
                }
                self.push(certainty, distance_m, At::Water(node), true);
            }
        }
    }

    fn follow(&mut self, reach: u32, along_m: f64, certainty: Certainty, distance_m: f64) {
        let line = self.waters.reach(reach);
        if !line.flows {
            self.found.course_unknown = true;
        }
        self.found.reaches.push(PassedReach { reach, from_m: along_m, distance_m, certainty });
        self.passed_water(line.water, distance_m, false, certainty);
        let unit_m = self.waters.options.map_or(0.0, |o| o.unit_m);
        for on in &self.waters.units_on[reach as usize] {
            if on.to_m + unit_m < along_m {
                continue;
            }
            let below_m = if on.from_m <= along_m + unit_m { distance_m } else { distance_m + on.from_m - along_m };
            if below_m <= self.limit_m && (line.flows || on.from_m <= along_m + unit_m) {
                self.unit(on.unit, below_m, certainty, self.basis);
            }
        }
        if !line.flows {
            return;
        }
        let beyond_m = distance_m + line.length_m - along_m;
        if self.waters.lakes.contains_key(&line.to)
            && beyond_m <= self.limit_m
            && let Some(place) = line.line.0.last()
        {
            self.lake(line.to, Point::from(*place), beyond_m, certainty);
        }
        self.push(certainty, beyond_m, At::Water(line.to), true);
    }

    /// The waters and units of a lake that is a node.
    fn lake(&mut self, node: u32, place: Point, distance_m: f64, certainty: Certainty) {
        self.into_lake.entry(node).or_insert(place);
        for water in self.waters.lakes.get(&node).into_iter().flatten() {
            self.passed_water(*water, distance_m, false, certainty);
            self.lake_units(*water, place, distance_m, certainty);
        }
    }

    fn lake_units(&mut self, water: usize, place: Point, distance_m: f64, certainty: Certainty) {
        let unit_m = self.waters.options.map_or(0.0, |o| o.unit_m);
        for (shape, away_m) in self.waters.units.of_lake(self.ground.inventory, water, place) {
            // In one body of water, but not at this place of it: downstream, at least as far as it lies.
            let below_m = if away_m <= unit_m { distance_m } else { distance_m + away_m };
            if below_m <= self.limit_m {
                self.unit(shape, below_m, certainty, self.basis);
            }
        }
    }

    fn water(&mut self, node: u32, certainty: Certainty, distance_m: f64) {
        for &reach in self.waters.leaving(node) {
            // Through a lake as straight as it can be.
            let start = self.waters.reach(reach).line.0.first().copied();
            let across = self.into_lake.get(&node).zip(start).map_or(0.0, |(p, c)| (p.x() - c.x).hypot(p.y() - c.y));
            if distance_m + across > self.limit_m {
                self.found.limited = true;
            } else {
                self.follow(reach, 0.0, certainty, distance_m + across);
            }
        }
        if self.waters.leaving(node).is_empty() {
            for &pipe in self.waters.swallowed.get(&node).into_iter().flatten() {
                self.push(certainty.max(Certainty::Probable), distance_m, At::Pipe(pipe), true);
            }
        }
    }

    fn passed_water(&mut self, water: usize, distance_m: f64, direct: bool, certainty: Certainty) {
        match self.found.waters.iter_mut().find(|w| w.water == water) {
            Some(known) => {
                known.direct |= direct;
                known.distance_m = known.distance_m.min(distance_m);
                known.certainty = known.certainty.min(certainty);
            }
            None => self.found.waters.push(PassedWater { water, distance_m, direct, certainty }),
        }
    }

    fn unit(&mut self, shape: usize, distance_m: f64, certainty: Certainty, basis: &'static str) {
        let unit_m = self.waters.options.map_or(0.0, |o| o.unit_m);
        let passed = PassedUnit { shape, distance_m, direct: distance_m <= unit_m, certainty, basis };
        let known = self.best_units.entry(unit_key(&self.ground.inventory.units[shape].unit)).or_insert_with(|| passed.clone());
        let surest = known.certainty.min(certainty);
        if (passed.distance_m, passed.shape) < (known.distance_m, known.shape) {
            *known = passed;
        }
        known.certainty = surest;
    }

    fn finish(mut self) -> WayDown {
        self.found.units = self.best_units.into_values().collect();
        self.found.units.sort_by(|a, b| a.distance_m.total_cmp(&b.distance_m).then(a.shape.cmp(&b.shape)));
        self.found.waters.sort_by(|a, b| b.direct.cmp(&a.direct).then(a.distance_m.total_cmp(&b.distance_m)).then(a.water.cmp(&b.water)));
        self.found.hand_overs.dedup();
        self.found
    }
}

impl WaterNetwork {
    /// The drawn place of a spot, where it has one.
    pub fn place_of(&self, spot: Spot) -> Option<Point> {
        match spot {
            Spot::OnReach { reach, along_m } => place_along(&self.reach(reach).line, along_m).map(Point::from),
            Spot::InLake { node } => self.places[node as usize].map(|p| Point::new(p[0], p[1])),
        }
    }
}
