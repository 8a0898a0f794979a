//! What is a drain network while it is being made up? Nodes with a place on the plan, links between them, and levels that fall
//! towards the outfalls.

use std::collections::BTreeMap;

use super::ground::{Ground, LAKE_LEVEL, Map, Plan, distance, hundredths};
use super::random::Chance;

/// A structure.
pub(super) struct Node {
    pub(super) id: String,
    /// The town's code: MH, CB, PS, CE (culvert end), OF (an outfall of any kind), PD (pond).
    pub(super) kind: &'static str,
    pub(super) plan: Plan,
    pub(super) rim: f64,
    pub(super) invert: f64,
    pub(super) system: &'static str,
    pub(super) owner: &'static str,
    pub(super) note: &'static str,
    downstream: Option<usize>,
    above: usize,
}

/// Where a link ends.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// At a node.
    Node(usize),
    /// On the side of a main, at this place of the plan, whose water goes to this node.
    Side(Plan, usize),
}

struct Link {
    kind: &'static str,
    from: usize,
    end: End,
    owner: &'static str,
    system: &'static str,
}

/// A line of the sewer layer as it will be written; coordinates of the map.
#[derive(Clone)]
pub(super) struct Pipe {
    pub(super) id: String,
    /// MAIN, LEAD, FORCE MAIN, CULVERT, OUTLET.
    pub(super) kind: &'static str,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) parts: Vec<Vec<Map>>,
    pub(super) invert_from: f64,
    pub(super) invert_to: f64,
    pub(super) diameter_in: i64,
    pub(super) material: &'static str,
    pub(super) year: i64,
    pub(super) status: &'static str,
    pub(super) system: &'static str,
    pub(super) owner: &'static str,
}

/// A ditch or a culvert of the open drains layer, which has no node ids.
pub(super) struct OpenDrain {
    pub(super) id: String,
    /// DITCH or CULVERT.
    pub(super) kind: &'static str,
    pub(super) line: Vec<Map>,
    pub(super) width_in: i64,
}

/// A fault that was put into the data on purpose.
pub(super) struct Fault {
    pub(super) layer: &'static str,
    pub(super) id: String,
    pub(super) fault: &'static str,
    pub(super) detail: String,
}

/// The network under construction.
pub(super) struct Drains<'a> {
    pub(super) ground: &'a Ground,
    pub(super) nodes: Vec<Node>,
    pub(super) open: Vec<OpenDrain>,
    by_id: BTreeMap<String, usize>,
    links: Vec<Link>,
}

/// The village as an owner.
pub(super) const VILLAGE: &str = "Village of Alder Mills";
/// The county as an owner.
pub(super) const COUNTY: &str = "Larch County";

impl<'a> Drains<'a> {
    pub(super) fn new(ground: &'a Ground) -> Self {
        Drains { ground, nodes: Vec::new(), open: Vec::new(), by_id: BTreeMap::new(), links: Vec::new() }
    }

    /// Adds a structure, or finds the one that has this id.
    pub(super) fn node(&mut self, id: String, kind: &'static str, plan: Plan) -> usize {
        if let Some(at) = self.by_id.get(&id) {
            return *at;
        }
        let at = self.nodes.len();
        self.by_id.insert(id.clone(), at);
        let rim = hundredths(self.ground.level(plan));
        let (system, owner) = ("ST", VILLAGE);
        self.nodes.push(Node { id, kind, plan, rim, invert: rim, system, owner, note: "", downstream: None, above: 0 });
        at
    }

    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    pub(super) fn plan_of(&self, node: usize) -> Plan {
        self.nodes.get(node).map_or([0.0, 0.0], |n| n.plan)
    }

    pub(super) fn edit(&mut self, node: usize, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(node) {
            change(node);
        }
    }

    /// Adds a link; the first one that leaves a node is the way its water goes.
    pub(super) fn link(&mut self, kind: &'static str, from: usize, end: End, owner: &'static str) {
        let (End::Node(to) | End::Side(_, to)) = end;
        let system = self.nodes.get(from).map_or("ST", |n| n.system);
        self.links.push(Link { kind, from, end, owner, system });
        if let Some(node) = self.nodes.get_mut(from)
            && node.downstream.is_none()
            && kind != "FORCE MAIN"
        {
            node.downstream = Some(to);
        }
    }

    /// Nodes from the outfalls up.
    fn upwards(&self) -> Vec<usize> {
        let depth = |mut node: usize| {
            let mut depth = 0;
            while let Some(next) = self.nodes.get(node).and_then(|n| n.downstream) {
                node = next;
                depth += 1;
                if depth > self.nodes.len() {
                    break;
                }
            }
            depth
        };
        let mut order: Vec<(usize, usize)> = (0..self.nodes.len()).map(|n| (depth(n), n)).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, n)| n).collect()
    }

    /// Gives every node its levels, from the outfalls up, and counts what lies above each.
    pub(super) fn set_levels(&mut self, chance: &mut Chance) {
        let order = self.upwards();
        for &at in &order {
            let Some(node) = self.nodes.get(at) else { continue };
            let (plan, kind, ground) = (node.plan, node.kind, self.ground.level(node.plan));
            let cover = match kind {
                "CB" => chance.between(3.2, 4.2),
                "PS" => 16.0,
                "PD" => 5.0,
                _ => chance.between(5.4, 7.4),
            };
            let lake = plan[0] < 0.0 && kind == "OF";
            let (rim, invert) = match node.downstream.and_then(|d| self.nodes.get(d)) {
                None if lake => (LAKE_LEVEL + 4.0, LAKE_LEVEL + 0.4),
                None if kind == "OF" => (self.ground.bed(plan[0]) + 5.0, self.ground.bed(plan[0]) + 0.6),
                None => (ground, ground - cover),
                Some(below) => {
                    let run = distance(self.ground.place(plan), self.ground.place(below.plan));
                    let least = below.invert + 0.15 + run * if kind == "CB" { 0.01 } else { 0.0035 };
                    let invert = if ground - cover > least { ground - cover } else { least };
                    let lid = if kind == "CB" { 2.5 } else { 4.0 };
                    (if ground > invert + lid { ground } else { invert + lid }, invert)
                }
            };
            self.edit(at, |node| {
                node.rim = hundredths(rim);
                node.invert = hundredths(invert);
            });
        }
        for &at in order.iter().rev() {
            let Some((above, Some(below))) = self.nodes.get(at).map(|n| (n.above + 1, n.downstream)) else { continue };
            self.edit(below, |node| node.above += above);
        }
    }

    /// The lines as they will be written, with ids in the order in which they were laid.
    pub(super) fn pipes(&self, chance: &mut Chance) -> Vec<Pipe> {
        let mut pipes = Vec::new();
        for (at, link) in self.links.iter().enumerate() {
            let (Some(from), End::Node(to) | End::Side(_, to)) = (self.nodes.get(link.from), link.end) else { continue };
            let Some(below) = self.nodes.get(to) else { continue };
            let (end, to_id, invert_to) = match link.end {
                End::Node(_) if link.kind == "FORCE MAIN" => (below.plan, below.id.clone(), below.rim - 4.0),
                End::Node(_) => (below.plan, below.id.clone(), below.invert + 0.1),
                End::Side(foot, _) => (foot, String::new(), (from.invert + below.invert) / 2.0),
            };
            let (diameter_in, material) = self.size(link.kind, from.above, chance);
            let year = chance.pick(&[1938, 1952, 1957, 1961, 1964, 1968, 1973, 1979, 1986, 1994, 2003, 2011, 2018], 1964);
            pipes.push(Pipe {
                id: format!("SL-{:04}", at + 1),
                kind: link.kind,
                from: from.id.clone(),
                to: to_id,
                parts: vec![self.ground.line(&[from.plan, end])],
                invert_from: hundredths(from.invert),
                invert_to: hundredths(invert_to),
                diameter_in,
                material,
                year,
                status: "ACT",
                system: link.system,
                owner: link.owner,
            });
        }
        pipes
    }

    fn size(&self, kind: &str, above: usize, chance: &mut Chance) -> (i64, &'static str) {
        let material = chance.pick(&["RCP", "RCP", "RCP", "HDPE", "CMP", "VCP"], "RCP");
        match kind {
            "LEAD" => (chance.pick(&[8, 10, 12, 12], 12), chance.pick(&["PVC", "HDPE", "RCP", "VCP"], "PVC")),
            "FORCE MAIN" => (8, "DIP"),
            "CULVERT" => (72, "RCP"),
            _ => (
                match above {
                    0..=3 => 12,
                    4..=8 => 15,
                    9..=16 => 18,
                    17..=30 => 24,
                    31..=50 => 30,
                    _ => 36,
                },
                material,
            ),
        }
    }
}
