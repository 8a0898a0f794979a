//! What drains to this place of a water? Up the water within a stated distance, to every outfall, interconnection and ditch on it,
//! then on up each network; where the water comes out of a conduit, up that and on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use geo::{BoundingRect, Distance, Euclidean, Intersects, LineString, MultiLineString};

use crate::error::Result;
use crate::links::ParcelIndex;
use crate::network::NodeIndex;
use crate::network::locate::Place;
use crate::trace::{Ground, Trace, TraceOptions, Way, trace};

use super::course::{Entry, Spot, WaterNetwork, stretch_of};
use super::way::Metres;

/// A conduit's end that discharges into the water above the place.
#[derive(Clone, Debug, PartialEq)]
pub struct Above {
    /// The node at which the conduits end.
    pub node: NodeIndex,
    /// Where and on what ground it enters the water.
    pub entry: Entry,
    /// How far above the place along the water, metres.
    pub distance_m: f64,
    /// What lies upstream of it.
    pub trace: Trace,
}

/// What lies above a place on a water.
#[derive(Clone, Debug)]
pub struct WayUp {
    /// Where it began.
    pub from: Vec<Spot>,
    /// Stretches of water: the reach, from and to along it, the distance of its lower end; metres.
    pub reaches: Vec<(u32, f64, f64, f64)>,
    /// Lakes on the way, by their places in the inventory's list of waters.
    pub lakes: Vec<usize>,
    /// Conduit ends that discharge into it, nearest first.
    pub above: Vec<Above>,
    /// Parcels along the water, with how far from its line or shore, metres.
    pub riparian: Vec<(ParcelIndex, f64)>,
    /// The limit, metres.
    pub limit_m: f64,
    /// True where the limit was reached, so that what lies farther up is not in the answer.
    pub limited: bool,
}

/// Goes up the waters from one or several places.
///
/// # Errors
/// A trace that is refused.
pub fn way_up(ground: Ground, waters: &WaterNetwork, from: &[Spot], limit_m: f64, options: &TraceOptions) -> Result<WayUp> {
    let mut search = Search {
        ground,
        waters,
        limit_m,
        options,
        queue: BinaryHeap::new(),
        settled: BTreeSet::new(),
        seen: BTreeSet::new(),
        // Conduit nodes into which a water ends, with that water's node.
        enters: waters.swallowed.iter().flat_map(|(water, nodes)| nodes.iter().map(move |node| (*node, *water))).collect(),
        found: WayUp {
            from: from.to_vec(),
            reaches: Vec::new(),
            lakes: Vec::new(),
            above: Vec::new(),
            riparian: Vec::new(),
            limit_m,
            limited: false,
        },
    };
    for spot in from {
        match *spot {
            Spot::OnReach { reach, along_m } => search.reach(reach, along_m, 0.0)?,
            Spot::InLake { node } => search.queue.push(Reverse((Metres(0.0), node))),
        }
    }
    while let Some(Reverse((Metres(distance_m), node))) = search.queue.pop() {
        if search.settled.insert(node) {
            search.node(node, distance_m)?;
        }
    }
    let mut found = search.found;
    found.above.sort_by(|a, b| a.distance_m.total_cmp(&b.distance_m).then(a.node.cmp(&b.node)));
    found.riparian = riparian(ground, waters, &found);
    Ok(found)
}

struct Search<'a> {
    ground: Ground<'a>,
    waters: &'a WaterNetwork,
    limit_m: f64,
    options: &'a TraceOptions,
    queue: BinaryHeap<Reverse<(Metres, u32)>>,
    settled: BTreeSet<u32>,
    seen: BTreeSet<NodeIndex>,
    enters: BTreeSet<(NodeIndex, u32)>,
    found: WayUp,
}

impl Search<'_> {
    /// The stretch of a reach below which is the place.
    fn reach(&mut self, reach: u32, along_m: f64, distance_m: f64) -> Result<()> {
        let line = self.waters.reach(reach);
        let reach_m = (self.limit_m - distance_m).max(0.0);
        let from_m = (along_m - reach_m).max(0.0);
        self.found.reaches.push((reach, from_m, along_m, distance_m));
        self.found.limited |= from_m > 0.0;
        let slack_m = self.waters.options.map_or(0.0, |o| o.touch_m);
        let own: Vec<(NodeIndex, Entry, f64)> = self
            .waters
            .inflows
            .iter()
            .filter_map(|i| match i.entry.near.spot {
                Spot::OnReach { reach: other, along_m: at_m }
                    if other == reach && at_m <= along_m + slack_m && at_m >= from_m - slack_m =>
                {
                    Some((i.node, i.entry, distance_m + (along_m - at_m).max(0.0)))
                }
                _ => None,
            })
            .collect();
        for (node, entry, at_m) in own {
            self.inflow(node, entry, at_m)?;
        }
        if from_m == 0.0 && line.flows {
            self.queue.push(Reverse((Metres(distance_m + along_m), line.from)));
        }
        Ok(())
    }

    fn node(&mut self, node: u32, distance_m: f64) -> Result<()> {
        if let Some(lakes) = self.waters.lakes.get(&node) {
            self.found.lakes.extend(lakes);
            let own: Vec<(NodeIndex, Entry)> =
                self.waters.inflows.iter().filter(|i| i.entry.near.spot == Spot::InLake { node }).map(|i| (i.node, i.entry)).collect();
            for (pipe, entry) in own {
                self.inflow(pipe, entry, distance_m)?;
            }
        }
        for &reach in self.waters.arriving(node) {
            if distance_m > self.limit_m {
                self.found.limited = true;
            } else if self.waters.reach(reach).from != node {
                self.reach(reach, self.waters.reach(reach).length_m, distance_m)?;
            }
        }
        Ok(())
    }

    fn inflow(&mut self, node: NodeIndex, entry: Entry, distance_m: f64) -> Result<()> {
        if !self.seen.insert(node) {
            return Ok(());
        }
        let up = trace(self.ground, Place::Node(node), Way::Up, self.options)?;
        // A water that enters these conduits is followed on.
        for reached in &up.nodes {
            let into: Vec<u32> = self.enters.range((reached.node, 0)..=(reached.node, u32::MAX)).map(|(_, water)| *water).collect();
            for water in into {
                let on_m = distance_m + reached.distance_m;
                if on_m > self.limit_m {
                    self.found.limited = true;
                } else {
                    self.queue.push(Reverse((Metres(on_m), water)));
                }
            }
        }
        self.found.above.push(Above { node, entry, distance_m, trace: up });
        Ok(())
    }
}

/// Parcels by which the water passes, or through which it runs.
fn riparian(ground: Ground, waters: &WaterNetwork, found: &WayUp) -> Vec<(ParcelIndex, f64)> {
    let within_m = ground.links.parcel_distance_m;
    let mut near: BTreeMap<ParcelIndex, f64> = BTreeMap::new();
    let lines: Vec<LineString> =
        found.reaches.iter().map(|(reach, from_m, to_m, _)| stretch_of(&waters.reach(*reach).line, *from_m, *to_m)).collect();
    let course = MultiLineString(lines);
    let shores: Vec<_> = found.lakes.iter().filter_map(|w| ground.inventory.waters[*w].shore.as_ref()).collect();
    let grown = |r: geo::Rect| {
        geo::Rect::new(
            geo::coord! { x: r.min().x - within_m, y: r.min().y - within_m },
            geo::coord! { x: r.max().x + within_m, y: r.max().y + within_m },
        )
    };
    let course_bounds = course.bounding_rect().map(grown);
    for (at, parcel) in ground.inventory.parcels.iter().enumerate() {
        let Some((outline, bounds)) = parcel.outline.as_ref().and_then(|o| Some((o, o.bounding_rect()?))) else { continue };
        let mut away_m = f64::INFINITY;
        if course_bounds.is_some_and(|c| c.intersects(&bounds)) {
            for line in course.0.iter().filter(|l| l.bounding_rect().is_some_and(|r| grown(r).intersects(&bounds))) {
                away_m = away_m.min(Euclidean.distance(line, outline));
            }
        }
        for shore in shores.iter().filter(|s| s.bounding_rect().is_some_and(|r| grown(r).intersects(&bounds))) {
            away_m = away_m.min(if shore.intersects(outline) { 0.0 } else { Euclidean.distance(*shore, outline) });
        }
        if away_m <= within_m {
            near.insert(ParcelIndex(at as u32), away_m);
        }
    }
    near.into_iter().collect()
}

/// How long the water takes in the stream is not known: the time in the drains is the least, and nothing bounds the most.
fn open_ended(travel: crate::trace::Travel) -> crate::trace::Travel {
    crate::trace::Travel { latest_s: None, ..travel }
}

impl WayUp {
    /// All traces as one, each conduit once, with the distance along the water added; for ranking properties.
    pub fn together(&self, place: Place) -> Trace {
        let mut all = Trace {
            place,
            way: Way::Up,
            water: self.above.first().map_or(Default::default(), |a| a.trace.water),
            pieces: Vec::new(),
            conduits: Vec::new(),
            nodes: Vec::new(),
            structures: Vec::new(),
            parcels: Vec::new(),
            length_um: 0,
            cautions: Vec::new(),
        };
        let (mut pieces, mut conduits, mut nodes, mut parcels) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        // The nearest outfall first: what drains to two is told by the nearer one.
        for above in &self.above {
            let farther_m = above.distance_m;
            for p in &above.trace.pieces {
                pieces.entry(p.piece).or_insert(crate::trace::TracedPiece {
                    distance_m: p.distance_m + farther_m,
                    travel: open_ended(p.travel),
                    ..*p
                });
            }
            for c in &above.trace.conduits {
                conduits.entry(c.conduit).or_insert(crate::trace::TracedConduit {
                    distance_m: c.distance_m + farther_m,
                    travel: open_ended(c.travel),
                    ..*c
                });
            }
            for n in &above.trace.nodes {
                nodes.entry(n.node).or_insert(crate::trace::TracedNode {
                    distance_m: n.distance_m + farther_m,
                    travel: open_ended(n.travel),
                    ..*n
                });
            }
            for p in &above.trace.parcels {
                let moved = crate::trace::TracedParcel { distance_m: p.distance_m + farther_m, travel: open_ended(p.travel), ..*p };
                let known = parcels.entry(p.parcel).or_insert(moved);
                if moved.away_m < known.away_m {
                    *known = moved;
                }
            }
            all.structures.extend(&above.trace.structures);
            all.cautions.extend(above.trace.cautions.iter().cloned());
        }
        all.structures.sort_unstable();
        all.structures.dedup();
        all.cautions.sort_by(|a, b| a.kind.cmp(&b.kind).then(a.at.cmp(&b.at)));
        all.cautions.dedup_by(|a, b| a.kind == b.kind && a.at == b.at && a.message == b.message);
        all.pieces = pieces.into_values().collect();
        all.conduits = conduits.into_values().collect();
        all.nodes = nodes.into_values().collect();
        all.parcels = parcels.into_values().collect();
        all.length_um = all.conduits.iter().map(|c| c.length_um).sum();
        all
    }

    /// The conduit ends through which water of a traced node comes, nearest first.
    pub fn through(&self, node: NodeIndex) -> Vec<NodeIndex> {
        self.above.iter().filter(|a| a.trace.node(node).is_some()).map(|a| a.node).collect()
    }
}
