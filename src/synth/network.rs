//! What would a drain network of ten million pipes look like? Trees grown from outfalls over a jittered street grid.
//!
//! For measuring speed: the shape is like that of real networks (nearly a forest, outfall sizes spread log-normally, one very large
//! interceptor, few bifurcations and parallel barrels, very few circles), the time to make it grows with the number of conduits.

use std::sync::Arc;

use geo::{Coord, LineString, MultiPolygon, Point, Polygon};

use crate::inventory::{
    Conduit, ConduitKind, FlowCode, Inventory, Key, LayerIndex, LayerInfo, Level, LevelField, LevelKind, Material, NodeId, OutfallKind,
    Parcel, Shape, Status, Structure, StructureKind, System,
};

use super::random::Chance;

/// Metres between neighbouring nodes.
const SPACING_M: f64 = 90.0;
/// Conduits for each outfall, about, as in the towns that were looked at.
const CONDUITS_PER_OUTFALL: usize = 60;
const NOBODY: u32 = u32::MAX;
/// Of a thousand nodes: those with a second way out, and those with a second barrel.
const BIFURCATIONS: usize = 30;
const SECOND_BARRELS: usize = 5;
/// One node in so many has a way back up.
const BACK_EDGE_EVERY: usize = 2000;

/// Makes up a network of about so many conduits (within a few per cent), without parcels.
///
/// Coordinates are metres of an invented plane that begins near (500 000, 4 700 000). Memory is some 600 bytes a conduit.
pub fn network(seed: u64, conduits: usize) -> Inventory {
    grow(seed, conduits, false)
}

/// The same network, with about one parcel for every two conduits.
pub fn network_with_parcels(seed: u64, conduits: usize) -> Inventory {
    grow(seed, conduits, true)
}

/// Which node each node drains to, and in which order they were reached.
struct Forest {
    width: usize,
    below: Vec<u32>,
    /// Nodes from the outfalls up: every node stands after the one it drains to.
    order: Vec<u32>,
    rank: Vec<u32>,
    outfalls: usize,
}

fn grow(seed: u64, conduits: usize, with_parcels: bool) -> Inventory {
    // A node has 1.0355 ways out; outfalls have none.
    let nodes = (conduits.clamp(1, u32::MAX as usize / 2) as f64 / 1.0355) as usize;
    let outfalls = (nodes / CONDUITS_PER_OUTFALL).max(1);
    let forest = forest(seed, nodes + outfalls, outfalls);
    let mut inventory = inventory(seed, &forest);
    if with_parcels {
        parcels(seed, &forest, &mut inventory);
    }
    inventory
}

fn forest(seed: u64, nodes: usize, outfalls: usize) -> Forest {
    let mut chance = Chance::new(seed, 61);
    let width = ((nodes as f64).sqrt() as usize).max(1);
    let mut forest = Forest { width, below: vec![NOBODY; nodes], order: Vec::with_capacity(nodes), rank: vec![NOBODY; nodes], outfalls: 0 };
    for number in 0..outfalls {
        // Spread evenly, one in each stretch of the grid.
        let stretch = nodes / outfalls;
        let at = number * stretch + chance.below(stretch.max(1));
        if forest.rank.get(at) == Some(&NOBODY) {
            forest.reach(at, NOBODY);
            forest.outfalls += 1;
        }
    }
    let roots: Vec<u32> = forest.order.clone();
    let mega = chance.below(roots.len());
    let mut frontier = Vec::new();
    for (number, &root) in roots.iter().enumerate().skip(mega).chain(roots.iter().enumerate().take(mega)) {
        // A product of even chances is nearly log-normal.
        let mut quota = 14.0;
        for _ in 0..6 {
            quota *= chance.between(0.4, 2.2);
        }
        let quota = if number == mega { nodes / 33 } else { quota as usize };
        frontier.clear();
        frontier.push(root);
        forest.spread(&mut frontier, quota, &mut chance);
    }
    // What nobody has reached goes to whoever is near.
    let mut frontier = forest.order.clone();
    forest.spread(&mut frontier, usize::MAX, &mut chance);
    forest
}

impl Forest {
    fn reach(&mut self, node: usize, below: u32) {
        if let (Some(rank), Some(slot)) = (self.rank.get_mut(node), self.below.get_mut(node)) {
            *rank = self.order.len() as u32;
            *slot = below;
            self.order.push(node as u32);
        }
    }

    /// Grows from nodes of the frontier, taken at random, until the quota is used up or nothing is left to reach.
    fn spread(&mut self, frontier: &mut Vec<u32>, quota: usize, chance: &mut Chance) {
        let mut grown = 0;
        while grown < quota && !frontier.is_empty() {
            let at = chance.below(frontier.len());
            let Some(&from) = frontier.get(at) else { break };
            let start = chance.below(4);
            let free = (0..4).filter_map(|k| self.neighbour(from as usize, (start + k) % 4)).find(|n| self.rank.get(*n) == Some(&NOBODY));
            match free {
                Some(next) => {
                    self.reach(next, from);
                    frontier.push(next as u32);
                    grown += 1;
                }
                None => {
                    frontier.swap_remove(at);
                }
            }
        }
    }

    fn neighbour(&self, node: usize, side: usize) -> Option<usize> {
        let column = node % self.width;
        let next = match side {
            0 if column > 0 => node - 1,
            1 if column + 1 < self.width => node + 1,
            2 => node.checked_sub(self.width)?,
            3 => node + self.width,
            _ => return None,
        };
        (next < self.below.len()).then_some(next)
    }
}

fn inventory(seed: u64, forest: &Forest) -> Inventory {
    let (layer_conduits, layer_structures) = (LayerIndex(0), LayerIndex(2));
    let mut chance = Chance::new(seed, 62);
    let count = forest.below.len();
    let places: Vec<Coord> = (0..count)
        .map(|node| {
            let (x, y) = ((node % forest.width) as f64 * SPACING_M, (node / forest.width) as f64 * SPACING_M);
            let millimetres = |v: f64| (v * 1000.0).round() / 1000.0;
            Coord {
                x: millimetres(500_000.0 + x + chance.between(-25.0, 25.0)),
                y: millimetres(4_700_000.0 + y + chance.between(-25.0, 25.0)),
            }
        })
        .collect();
    let mut levels = vec![100.0_f64; count];
    for &node in &forest.order {
        let below = forest.below.get(node as usize).copied().unwrap_or(NOBODY);
        if let Some(base) = levels.get(below as usize).copied()
            && let Some(level) = levels.get_mut(node as usize)
        {
            *level = base + (chance.between(0.15, 0.75) * 100.0).round() / 100.0;
        }
    }
    let names: Vec<Arc<str>> = (0..count).map(|node| Arc::from(format!("N{node:08}").as_str())).collect();
    let mut found = Inventory::default();
    found.structures.reserve_exact(count);
    found.conduits.reserve(count + count / 25);
    let level = |value_m: f64| LevelField::Given(Level { value_m, kind: LevelKind::Elevation, datum: None });
    for node in 0..count {
        let outfall = forest.below.get(node) == Some(&NOBODY);
        let (Some(name), Some(place), Some(&invert)) = (names.get(node), places.get(node), levels.get(node)) else { continue };
        let kind = match (outfall, chance.below(5)) {
            (true, _) => StructureKind::Outfall,
            (false, 0..=2) => StructureKind::CatchBasin,
            _ => StructureKind::Manhole,
        };
        found.structures.push(Structure {
            key: Key { layer: layer_structures, id: name.clone() },
            kind,
            outfall_kind: outfall.then_some(OutfallKind::Ms4Outfall),
            place: Some(Point(*place)),
            area: None,
            rim: level(invert + 2.0),
            invert: level(invert),
            sump_m: None,
            status: Status::Live,
            system: System::Storm,
            owner: None,
            operator: None,
            other_system: None,
            name: None,
            also_known_as: None,
            receiving_water: None,
            tolerance_m: 0.3048,
        });
    }
    let mut add = |from: usize, to: usize, aside: f64| {
        let (Some(a), Some(b), Some(name_from), Some(name_to)) = (places.get(from), places.get(to), names.get(from), names.get(to)) else {
            return;
        };
        let (Some(high), Some(low)) = (levels.get(from), levels.get(to)) else { return };
        let mut line = vec![*a, *b];
        if aside > 0.0 {
            line.insert(1, Coord { x: (a.x + b.x) / 2.0 + aside, y: (a.y + b.y) / 2.0 + aside });
        }
        let id = format!("C{:08}", found.conduits.len());
        found.conduits.push(Conduit {
            key: Key { layer: layer_conduits, id: Arc::from(id.as_str()) },
            kind: ConduitKind::Pipe,
            parts: vec![LineString(line)],
            node_from: NodeId::Named(name_from.clone()),
            node_to: NodeId::Named(name_to.clone()),
            invert_from: level(*high),
            invert_to: level(*low),
            flow: FlowCode::NotMapped,
            diameter_mm: Some(380.0),
            height_mm: None,
            shape: Shape::Circular,
            material: Material::Concrete,
            barrels: None,
            year_installed: Some(1974),
            status: Status::Live,
            system: System::Storm,
            owner: None,
            operator: None,
            pressurised: false,
            assigned_outfall: None,
        });
    };
    for node in 0..count {
        let Some(&below) = forest.below.get(node) else { continue };
        if below == NOBODY {
            continue;
        }
        add(node, below as usize, 0.0);
        if chance.per_mille(SECOND_BARRELS) {
            add(node, below as usize, 2.0);
        }
        let rank = |n: usize| forest.rank.get(n).copied().unwrap_or(NOBODY);
        let others = || (0..4).filter_map(|side| forest.neighbour(node, side)).filter(|n| *n != below as usize);
        if chance.per_mille(BIFURCATIONS)
            && let Some(other) = others().find(|n| rank(*n) < rank(node))
        {
            add(node, other, 0.0);
        }
        if chance.below(BACK_EDGE_EVERY) == 0
            && let Some(other) = others().find(|n| forest.below.get(*n) == Some(&(node as u32)))
        {
            add(node, other, 3.0);
        }
    }
    let layer = |name: &str, count: usize| LayerInfo {
        name: Arc::from(name),
        file: String::new(),
        role: name.to_owned(),
        read: count,
        usable: count,
    };
    found.layers = vec![layer("conduits", found.conduits.len()), layer("parcels", 0), layer("structures", found.structures.len())];
    found
}

/// A parcel beside every second conduit.
fn parcels(seed: u64, forest: &Forest, inventory: &mut Inventory) {
    let mut chance = Chance::new(seed, 63);
    let layer = LayerIndex(1);
    let mut parcels = Vec::with_capacity(inventory.conduits.len() / 2 + 1);
    for (at, conduit) in inventory.conduits.iter().enumerate().step_by(2) {
        let Some(&[a, .., b]) = conduit.parts.first().map(|p| p.0.as_slice()) else { continue };
        let (x, y) = ((a.x + b.x) / 2.0 + 8.0, (a.y + b.y) / 2.0 + 8.0);
        let (width, depth) = (chance.between(18.0, 26.0), chance.between(28.0, 36.0));
        let corner = |dx: f64, dy: f64| Coord { x: ((x + dx) * 1000.0).round() / 1000.0, y: ((y + dy) * 1000.0).round() / 1000.0 };
        let ring = vec![corner(0.0, 0.0), corner(width, 0.0), corner(width, depth), corner(0.0, depth), corner(0.0, 0.0)];
        let class = chance.pick(&["210", "210", "210", "210", "210", "210", "220", "411", "484", "432"], "210");
        parcels.push(Parcel {
            key: Key { layer, id: Arc::from(format!("P{at:08}").as_str()) },
            outline: Some(MultiPolygon(vec![Polygon::new(LineString(ring), Vec::new())])),
            land_use: Some(Arc::from(class)),
            used_as: None,
            address: None,
            year_built: Some(1950 + chance.below(60) as i32),
            sewer: Some(Arc::from("public")),
        });
    }
    debug_assert!(forest.outfalls > 0);
    if let Some(info) = inventory.layers.get_mut(usize::from(layer.0)) {
        (info.read, info.usable) = (parcels.len(), parcels.len());
    }
    inventory.parcels = parcels;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_has_about_the_size_and_the_shape_that_were_asked_for() {
        let made = network_with_parcels(5, 10_000);
        assert!((9_500..10_500).contains(&made.conduits.len()), "{}", made.conduits.len());
        assert!((4_700..5_300).contains(&made.parcels.len()));
        let mut ways_out: BTreeMap<&str, usize> = BTreeMap::new();
        for conduit in &made.conduits {
            *ways_out.entry(conduit.node_from.named().unwrap()).or_default() += 1;
        }
        let outfalls: Vec<&Structure> = made.structures.iter().filter(|s| s.kind == StructureKind::Outfall).collect();
        assert!((100..250).contains(&outfalls.len()), "{}", outfalls.len());
        assert!(made.structures.iter().all(|s| s.kind == StructureKind::Outfall || ways_out.contains_key(&*s.key.id)));
        let several = ways_out.values().filter(|n| **n > 1).count();
        assert!((150..600).contains(&several), "{several}");
    }

    #[test]
    fn every_list_is_sorted_and_the_same_seed_gives_the_same_network() {
        let mut made = network_with_parcels(5, 2_000);
        let as_made = made.clone();
        made.sort();
        assert_eq!(made, as_made);
        assert_eq!(as_made, network_with_parcels(5, 2_000));
        assert_ne!(as_made, network_with_parcels(6, 2_000));
        assert!(network(5, 1).conduits.len() < 5);
    }
}
