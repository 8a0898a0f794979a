//! Random small networks: loops, gaps, parallel pipes, tees, multi-part lines, unknown directions, structures near ends, some ids.

use geo::{LineString, Point};
use headwall::inventory::{
    Conduit, ConduitKind, FlowCode, Inventory, Key, LayerIndex, LayerInfo, Level, LevelField, LevelKind, Material, NodeId, OutfallKind,
    Shape, Status, Structure, StructureKind, System,
};
use headwall::network::{BuildOptions, LayerOptions};
use headwall::settings::DirectionSource;
use proptest::prelude::*;

/// One foot.
pub const TOLERANCE_M: f64 = 0.3048;
/// Anchors stand on a lattice of so many columns.
const COLUMNS: usize = 4;
const SPACING_M: f64 = 20.0;

/// How one conduit is drawn.
#[derive(Clone, Debug)]
pub struct ConduitPlan {
    from: usize,
    to: usize,
    /// Where the first and the last vertex stand beside their anchors, hundredths of the tolerance.
    first_off: (i32, i32),
    last_off: (i32, i32),
    /// A vertex beside the middle, metres; none where zero.
    bulge: i32,
    /// The last vertex lies on the side of this conduit instead of at an anchor, so many per cent along its first segment.
    tee: Option<(usize, u32)>,
    parts: u32,
    never_drawn: bool,
    ids: (u8, u8),
    flow: u8,
    inverts: Option<(i32, i32)>,
    status: u8,
    system: u8,
    kind: u8,
}

/// A structure beside an anchor.
#[derive(Clone, Debug)]
pub struct StructurePlan {
    anchor: usize,
    off: (i32, i32),
    kind: u8,
    also: bool,
}

/// A network before it is drawn.
#[derive(Clone, Debug)]
pub struct Plan {
    pub conduits: Vec<ConduitPlan>,
    pub structures: Vec<StructurePlan>,
    pub direction: Vec<DirectionSource>,
    jitter: Vec<(i32, i32)>,
}

fn anchors() -> usize {
    COLUMNS * COLUMNS
}

/// Mostly exact, often a little off, sometimes a gap that is reported, sometimes one that is not.
fn offset() -> impl Strategy<Value = (i32, i32)> {
    prop_oneof![
        4 => Just((0, 0)),
        3 => (-45..45i32, -45..45i32),
        1 => (-450..450i32, -450..450i32),
    ]
}

fn conduit_plan() -> impl Strategy<Value = ConduitPlan> {
    let shape = (0..anchors(), prop_oneof![3 => Just(1usize), 3 => Just(COLUMNS), 1 => 0..anchors()], offset(), offset());
    let drawing = (
        prop_oneof![3 => Just(0), 1 => -6..6i32],
        prop_oneof![3 => Just(None), 1 => (0..40usize, 5..95u32).prop_map(Some)],
        prop_oneof![5 => Just(1u32), 1 => 2..4u32],
        prop_oneof![20 => Just(false), 1 => Just(true)],
    );
    let says = (
        (prop_oneof![3 => Just(0u8), 1 => 0..4u8], prop_oneof![3 => Just(0u8), 1 => 0..4u8]),
        prop_oneof![3 => Just(0u8), 1 => 0..4u8],
        prop_oneof![2 => Just(None), 1 => (0..40i32, 0..40i32).prop_map(Some)],
    );
    let state =
        (prop_oneof![5 => Just(0u8), 1 => 0..5u8], prop_oneof![6 => Just(0u8), 1 => 0..4u8], prop_oneof![8 => Just(0u8), 1 => 0..3u8]);
    (shape, drawing, says, state).prop_map(
        |((from, step, first_off, last_off), (bulge, tee, parts, never_drawn), (ids, flow, inverts), (status, system, kind))| ConduitPlan {
            from,
            to: (from + step) % anchors(),
            first_off,
            last_off,
            bulge,
            tee,
            parts,
            never_drawn,
            ids,
            flow,
            inverts,
            status,
            system,
            kind,
        },
    )
}

fn direction() -> impl Strategy<Value = Vec<DirectionSource>> {
    use DirectionSource::{Digitised, FlowField, Inverts, NodeIds};
    prop_oneof![
        3 => Just(vec![NodeIds, FlowField, Digitised]),
        1 => Just(vec![FlowField]),
        1 => Just(vec![Inverts, Digitised]),
        1 => Just(vec![NodeIds, Inverts]),
        1 => Just(vec![Digitised]),
    ]
}

/// A network of at most so many conduits.
pub fn plan(most: usize) -> impl Strategy<Value = Plan> {
    let structure = (0..anchors(), offset(), 0..8u8, prop_oneof![5 => Just(false), 1 => Just(true)]);
    let structure = structure.prop_map(|(anchor, off, kind, also)| StructurePlan { anchor, off, kind, also });
    (
        prop::collection::vec(conduit_plan(), 1..=most),
        prop::collection::vec(structure, 0..10),
        direction(),
        prop::collection::vec((-300..300i32, -300..300i32), anchors()),
    )
        .prop_map(|(conduits, structures, direction, jitter)| Plan { conduits, structures, direction, jitter })
}

impl Plan {
    fn anchor(&self, at: usize) -> [f64; 2] {
        let (dx, dy) = self.jitter[at];
        [(at % COLUMNS) as f64 * SPACING_M + f64::from(dx) / 100.0, (at / COLUMNS) as f64 * SPACING_M + f64::from(dy) / 100.0]
    }

    fn beside(&self, at: usize, off: (i32, i32)) -> [f64; 2] {
        let [x, y] = self.anchor(at);
        [x + f64::from(off.0) / 100.0 * TOLERANCE_M, y + f64::from(off.1) / 100.0 * TOLERANCE_M]
    }

    /// The lines of a conduit, its parts one after the other.
    fn parts(&self, at: usize) -> Vec<LineString> {
        let plan = &self.conduits[at];
        if plan.never_drawn {
            return Vec::new();
        }
        let first = self.beside(plan.from, plan.first_off);
        let mut last = self.beside(plan.to, plan.last_off);
        if let Some((onto, per_cent)) = plan.tee.filter(|(onto, _)| *onto < at) {
            let line = &self.conduits[onto];
            let (a, b) = (self.beside(line.from, line.first_off), self.beside(line.to, line.last_off));
            let t = f64::from(per_cent) / 100.0;
            let off = f64::from(plan.last_off.0 % 60) / 100.0 * TOLERANCE_M;
            last = [a[0] + (b[0] - a[0]) * t + off, a[1] + (b[1] - a[1]) * t + off];
        }
        let mut points = vec![first, last];
        if plan.bulge != 0 {
            let off = f64::from(plan.bulge);
            points.insert(1, [(first[0] + last[0]) / 2.0 + off, (first[1] + last[1]) / 2.0 - off]);
            if plan.from == plan.to {
                // A ring, not a line that runs back over itself.
                points.insert(2, [first[0] + 2.0 * off, first[1] + off]);
            }
        }
        if plan.parts == 1 || points.len() > 2 {
            return vec![points.iter().map(|p| (p[0], p[1])).collect()];
        }
        let at = |t: f64| (first[0] + (last[0] - first[0]) * t, first[1] + (last[1] - first[1]) * t);
        let count = f64::from(plan.parts);
        (0..plan.parts).map(|n| LineString::from(vec![at(f64::from(n) / count), at(f64::from(n + 1) / count)])).collect()
    }

    /// The structure that an id of a conduit's end can truly name.
    fn structure_by(&self, anchor: usize) -> Option<usize> {
        self.structures.iter().position(|s| s.anchor == anchor)
    }

    /// The network, its ids by these functions.
    pub fn inventory_named(&self, conduit_id: &dyn Fn(usize) -> String, structure_id: &dyn Fn(usize) -> String) -> Inventory {
        let layer = |name: &str, role: &str, read: usize| LayerInfo {
            name: name.into(),
            file: format!("{name}.geojson"),
            role: role.into(),
            read,
            usable: read,
        };
        let mut inventory = Inventory {
            layers: vec![layer("pipes", "conduits", self.conduits.len()), layer("structures", "structures", self.structures.len())],
            ..Inventory::default()
        };
        for (at, plan) in self.conduits.iter().enumerate() {
            let id = |code: u8, anchor: usize| match (code, self.structure_by(anchor)) {
                (0, Some(structure)) if plan.ids != (0, 0) || plan.never_drawn => NodeId::Named(structure_id(structure).into()),
                (1, _) => NodeId::Named("nowhere".into()),
                (2, _) => NodeId::Missing,
                (3, _) if !self.structures.is_empty() => NodeId::Named(structure_id(at % self.structures.len()).into()),
                _ => NodeId::NotMapped,
            };
            let level = |value: i32| match value {
                39 => LevelField::Missing,
                38 => LevelField::Given(Level { value_m: 9999.0, kind: LevelKind::Elevation, datum: None }),
                other => LevelField::Given(Level { value_m: 100.0 + f64::from(other) / 4.0, kind: LevelKind::Elevation, datum: None }),
            };
            inventory.conduits.push(Conduit {
                key: Key { layer: LayerIndex(0), id: conduit_id(at).into() },
                kind: [ConduitKind::Pipe, ConduitKind::Weir, ConduitKind::Ditch][usize::from(plan.kind % 3)],
                parts: self.parts(at),
                node_from: id(plan.ids.0, plan.from),
                node_to: id(plan.ids.1, plan.to),
                invert_from: plan.inverts.map_or(LevelField::NotMapped, |i| level(i.0)),
                invert_to: plan.inverts.map_or(LevelField::NotMapped, |i| level(i.1)),
                flow: [FlowCode::NotMapped, FlowCode::SaysNothing, FlowCode::WithDrawing, FlowCode::AgainstDrawing]
                    [usize::from(plan.flow % 4)],
                diameter_mm: None,
                height_mm: None,
                shape: Shape::Unknown,
                material: Material::Unknown,
                barrels: None,
                year_installed: None,
                status: [Status::Live, Status::Abandoned, Status::Proposed, Status::Removed, Status::Unknown][usize::from(plan.status % 5)],
                system: [System::Storm, System::Combined, System::Sanitary, System::Unknown][usize::from(plan.system % 4)],
                owner: None,
                operator: None,
                pressurised: false,
                assigned_outfall: None,
            });
        }
        for (at, plan) in self.structures.iter().enumerate() {
            let place = self.beside(plan.anchor, plan.off);
            let (kind, outfall_kind) = match plan.kind {
                0 => (StructureKind::Outfall, Some(OutfallKind::Unknown)),
                1 => (StructureKind::Outfall, Some(OutfallKind::InterconnectionIn)),
                2 => (StructureKind::CatchBasin, None),
                3 => (StructureKind::PumpStation, None),
                _ => (StructureKind::Manhole, None),
            };
            inventory.structures.push(Structure {
                key: Key { layer: LayerIndex(1), id: structure_id(at).into() },
                kind,
                outfall_kind,
                place: Some(Point::new(place[0], place[1])),
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
                also_known_as: plan.also.then(|| structure_id((at + 1) % self.structures.len()).into()),
                receiving_water: None,
                tolerance_m: TOLERANCE_M,
            });
        }
        inventory.sort();
        inventory
    }

    pub fn inventory(&self) -> Inventory {
        self.inventory_named(&|at| format!("P{at:02}"), &|at| format!("S{at:02}"))
    }

    pub fn options(&self) -> BuildOptions {
        let layer = LayerOptions {
            direction: self.direction.clone(),
            plausible_invert_within_m: 60.96,
            node_from_field: "from".into(),
            node_to_field: "to".into(),
            invert_from_field: "inv_from".into(),
            invert_to_field: "inv_to".into(),
            flow_field: "flow".into(),
        };
        BuildOptions { snap_tolerance_m: TOLERANCE_M, join_sides: true, near_miss_m: 3.048, layers: vec![layer.clone(), layer] }
    }
}
