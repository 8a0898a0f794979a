//! Can a property's water come to a place, and if not, what would have to be wrong on the map?

use geo::{LineString, MultiPolygon, Point, polygon};
use headwall::candidates::why_not::{BlockKind, Overturn, Verdict, WhyNot, why_not};
use headwall::inventory::{
    Conduit, ConduitKind, FlowCode, Inventory, Key, LayerIndex, LayerInfo, Level, LevelField, LevelKind, Material, NodeId, Parcel, Shape,
    Status, Structure, StructureKind, System,
};
use headwall::links::{Links, ParcelIndex};
use headwall::network::locate::SegmentIndex;
use headwall::network::{BuildOptions, Network, StructureIndex, build};
use headwall::rules::{Doubt, Rules};
use headwall::settings::Settings;
use headwall::trace::{Ground, TraceOptions, WaterState};

/// A small town, made by hand.
pub struct Small {
    inventory: Inventory,
}

/// The same, built.
pub struct Built {
    pub inventory: Inventory,
    pub network: Network,
    pub links: Links,
    pub rules: Rules,
}

fn key(layer: u16, id: &str) -> Key {
    Key { layer: LayerIndex(layer), id: id.into() }
}

pub fn level(value_m: f64) -> LevelField {
    LevelField::Given(Level { value_m, kind: LevelKind::Elevation, datum: None })
}

impl Small {
    pub fn new() -> Self {
        let layer = |name: &str, role: &str| LayerInfo { name: name.into(), file: String::new(), role: role.into(), read: 0, usable: 0 };
        let layers = vec![layer("parcels", "parcels"), layer("pipes", "conduits"), layer("structures", "structures")];
        Small { inventory: Inventory { layers, ..Inventory::default() } }
    }

    pub fn pipe(mut self, id: &str, line: &[(f64, f64)], change: impl FnOnce(&mut Conduit)) -> Self {
        let mut conduit = Conduit {
            key: key(1, id),
            kind: ConduitKind::Pipe,
            parts: vec![LineString::from(line.to_vec())],
            node_from: NodeId::NotMapped,
            node_to: NodeId::NotMapped,
            invert_from: LevelField::NotMapped,
            invert_to: LevelField::NotMapped,
            flow: FlowCode::NotMapped,
            diameter_mm: None,
            height_mm: None,
            shape: Shape::Circular,
            material: Material::Concrete,
            barrels: None,
            year_installed: None,
            status: Status::Live,
            system: System::Storm,
            owner: None,
            operator: None,
            pressurised: false,
            assigned_outfall: None,
        };
        change(&mut conduit);
        self.inventory.conduits.push(conduit);
        self
    }

    pub fn structure(mut self, id: &str, kind: StructureKind, x: f64, y: f64, change: impl FnOnce(&mut Structure)) -> Self {
        let mut structure = Structure {
            key: key(2, id),
            kind,
            outfall_kind: None,
            place: Some(Point::new(x, y)),
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
        };
        change(&mut structure);
        self.inventory.structures.push(structure);
        self
    }

    pub fn parcel(mut self, id: &str, x: f64, y: f64) -> Self {
        let outline = polygon![(x: x, y: y), (x: x + 10.0, y: y), (x: x + 10.0, y: y + 8.0), (x: x, y: y + 8.0)];
        self.inventory.parcels.push(Parcel {
            key: key(0, id),
            outline: Some(MultiPolygon(vec![outline])),
            land_use: None,
            used_as: None,
            address: None,
            year_built: None,
            sewer: None,
        });
        self
    }

    pub fn build(mut self) -> Built {
        self.inventory.sort();
        let settings = Settings::parse("name = \"T\"\ndirection = [\"digitised\"]\nparcel_distance = \"10 m\"\n").unwrap();
        let (network, _) = build(&self.inventory, &BuildOptions::new(&settings, &self.inventory));
        let segments = SegmentIndex::new(&self.inventory, &network);
        let (links, _) = Links::measure(&self.inventory, &network, &segments, 10.0, 0.3048);
        Built { inventory: self.inventory, network, links, rules: Rules::embedded().unwrap() }
    }
}

impl Built {
    pub fn ground(&self) -> Ground<'_> {
        Ground { inventory: &self.inventory, network: &self.network, links: &self.links, hydraulics: self.rules.hydraulics() }
    }

    pub fn structure(&self, id: &str) -> StructureIndex {
        StructureIndex::from_at(self.inventory.structures.iter().position(|s| *s.key.id == *id).unwrap())
    }

    fn ask(&self, id: &str, options: &TraceOptions) -> WhyNot {
        why_not(self.ground(), &self.rules, ParcelIndex(0), Some(self.structure(id)), options)
    }

    fn overturn(&self, id: &str) -> (BlockKind, Overturn) {
        let found = self.ask(id, &TraceOptions::default());
        match found.against[0].verdict.clone() {
            Verdict::CannotReach { block, overturn, .. } => (block.kind, overturn.unwrap()),
            other => panic!("{other:?}"),
        }
    }
}

fn nothing<T>(_: &mut T) {}

fn doubts(overturn: &Overturn) -> Vec<Doubt> {
    overturn.facts.iter().map(|f| f.doubt).collect()
}

/// Two runs that begin at one manhole: west to OF-W, east to OF-E. The property lies by the western one.
fn divide(change: impl FnOnce(&mut Conduit)) -> Built {
    Small::new()
        .pipe("W", &[(0.0, 0.0), (-200.0, 0.0)], change)
        .pipe("E", &[(0.0, 0.0), (200.0, 0.0)], nothing)
        .structure("TOP", StructureKind::Manhole, 0.0, 0.0, nothing)
        .structure("OF-W", StructureKind::Outfall, -200.0, 0.0, nothing)
        .structure("OF-E", StructureKind::Outfall, 200.0, 0.0, nothing)
        .parcel("P", -120.0, 2.0)
        .build()
}

#[test]
fn what_reaches_is_never_called_excluded() {
    let town = divide(nothing);
    let found = town.ask("OF-W", &TraceOptions::default());
    let Verdict::Reaches { path, .. } = &found.against[0].verdict else { panic!("{found:?}") };
    assert!((path.length_m - 90.0).abs() < 1e-6, "{}", path.length_m);
    let all = why_not(town.ground(), &town.rules, ParcelIndex(0), None, &TraceOptions::default());
    assert_eq!((all.against.len(), all.reached().count()), (2, 1));
}

#[test]
fn the_other_side_of_a_divide_would_take_a_reversal() {
    let (kind, overturn) = divide(nothing).overturn("OF-E");
    assert_eq!((kind, doubts(&overturn)), (BlockKind::Divide, vec![Doubt::ReverseAny]));
    assert_eq!(overturn.cost_milli, 6000);
}

#[test]
fn a_contradicted_direction_is_cheaper_to_doubt() {
    let town = divide(|c| (c.invert_from, c.invert_to) = (level(100.0), level(101.0)));
    let (kind, overturn) = town.overturn("OF-E");
    assert_eq!((kind, doubts(&overturn), overturn.cost_milli), (BlockKind::Direction, vec![Doubt::ReverseContradicted], 800));
}

#[test]
fn a_conduit_cut_by_side_joins_is_reversed_once() {
    let town = Small::new()
        .pipe("W", &[(0.0, 0.0), (-200.0, 0.0)], nothing)
        .pipe("E", &[(0.0, 0.0), (200.0, 0.0)], nothing)
        .pipe("T1", &[(-40.0, 50.0), (-40.0, 0.0)], nothing)
        .pipe("T2", &[(-80.0, 50.0), (-80.0, 0.0)], nothing)
        .structure("OF-E", StructureKind::Outfall, 200.0, 0.0, nothing)
        .parcel("P", -120.0, 2.0)
        .build();
    assert_eq!(town.network.pieces_of(headwall::network::ConduitIndex(3)).len(), 3);
    let (_, overturn) = town.overturn("OF-E");
    assert_eq!((overturn.facts.len(), overturn.cost_milli), (1, 6000));
}

/// UP by the property ends at a node; what joins it to DOWN differs.
fn chain(middle: impl FnOnce(&mut Conduit)) -> Built {
    Small::new()
        .pipe("A", &[(0.0, 0.0), (100.0, 0.0)], nothing)
        .pipe("B", &[(100.0, 0.0), (200.0, 0.0)], middle)
        .pipe("C", &[(200.0, 0.0), (300.0, 0.0)], nothing)
        .structure("OF", StructureKind::Outfall, 300.0, 0.0, nothing)
        .parcel("P", 40.0, 2.0)
        .build()
}

#[test]
fn what_blocks_is_named_by_what_it_is() {
    let cases = [
        (Status::Abandoned, System::Storm, BlockKind::NotLive, Doubt::ReviveAbandoned, 1500),
        (Status::Unknown, System::Storm, BlockKind::NotLive, Doubt::ReviveUnknown, 800),
        (Status::Proposed, System::Storm, BlockKind::NotLive, Doubt::ReviveProposed, 2000),
        (Status::Removed, System::Storm, BlockKind::NotLive, Doubt::ReviveRemoved, 6000),
        (Status::Live, System::Combined, BlockKind::Combined, Doubt::EnterCombined, 1200),
        (Status::Live, System::Sanitary, BlockKind::Sanitary, Doubt::EnterSanitary, 4000),
    ];
    for (status, system, block, doubt, cost_milli) in cases {
        let town = chain(|c| (c.status, c.system) = (status, system));
        let (kind, overturn) = town.overturn("OF");
        assert_eq!((kind, doubts(&overturn), overturn.cost_milli), (block, vec![doubt], cost_milli), "{status} {system}");
        let ends = town.ask("OF", &TraceOptions::default()).ties[0].ways.clone();
        assert!(ends.iter().all(|w| !w.is_outfall), "{ends:?}");
    }
    let combined = chain(|c| c.system = System::Combined);
    let found = combined.ask("OF", &TraceOptions { combined: true, ..TraceOptions::default() });
    assert!(matches!(found.against[0].verdict, Verdict::Reaches { .. }));
}

#[test]
fn a_reported_gap_is_bridged_before_anything_dearer() {
    let town = Small::new()
        .pipe("A", &[(0.0, 0.0), (100.0, 0.0)], nothing)
        .pipe("C", &[(101.0, 0.0), (300.0, 0.0)], nothing)
        .structure("OF", StructureKind::Outfall, 300.0, 0.0, nothing)
        .parcel("P", 40.0, 2.0)
        .build();
    assert_eq!(town.network.gaps.len(), 1);
    let (kind, overturn) = town.overturn("OF");
    assert_eq!((kind, doubts(&overturn), overturn.cost_milli), (BlockKind::Gap, vec![Doubt::BridgeGap], 800));
    let found = town.ask("OF", &TraceOptions { bridge_gaps: true, ..TraceOptions::default() });
    assert!(matches!(found.against[0].verdict, Verdict::Reaches { .. }));
}

#[test]
fn ends_far_apart_are_joined_at_a_cost_or_not_at_all() {
    let apart = |gap_m: f64| {
        Small::new()
            .pipe("A", &[(0.0, 0.0), (100.0, 0.0)], nothing)
            .pipe("C", &[(100.0 + gap_m, 0.0), (400.0, 0.0)], nothing)
            .structure("OF", StructureKind::Outfall, 400.0, 0.0, nothing)
            .parcel("P", 5.0, 2.0)
            .build()
    };
    let (kind, overturn) = apart(20.0).overturn("OF");
    assert_eq!((kind, doubts(&overturn), overturn.cost_milli), (BlockKind::OtherSystem, vec![Doubt::JoinEnds], 2500 + 20 * 150));
    let found = apart(150.0).ask("OF", &TraceOptions::default());
    let Verdict::CannotReach { block, overturn: None, standing } = &found.against[0].verdict else { panic!("{found:?}") };
    assert_eq!((block.kind, standing.id.as_str()), (BlockKind::OtherSystem, "strong"));
}

#[test]
fn the_cheapest_set_wins_over_the_shortest_way() {
    // A removed conduit straight on (6.0), or an abandoned one (1.5) and one of unknown status (0.8) round about.
    let town = Small::new()
        .pipe("A", &[(0.0, 0.0), (100.0, 0.0)], nothing)
        .pipe("STRAIGHT", &[(100.0, 0.0), (200.0, 0.0)], |c| c.status = Status::Removed)
        .pipe("ROUND-1", &[(100.0, 0.0), (150.0, -200.0)], |c| c.status = Status::Abandoned)
        .pipe("ROUND-2", &[(150.0, -200.0), (200.0, 0.0)], |c| c.status = Status::Unknown)
        .pipe("C", &[(200.0, 0.0), (300.0, 0.0)], nothing)
        .structure("OF", StructureKind::Outfall, 300.0, 0.0, nothing)
        .parcel("P", 5.0, 2.0)
        .build();
    let (_, overturn) = town.overturn("OF");
    assert_eq!((doubts(&overturn), overturn.cost_milli), (vec![Doubt::ReviveAbandoned, Doubt::ReviveUnknown], 2300));
}

/// HIGH, of this kind, leaves the manhole a metre above LOW.
fn overflow(kind: ConduitKind, high_m: f64, datum: Option<&str>) -> Built {
    let at = |value_m, datum: Option<&str>| LevelField::Given(Level { value_m, kind: LevelKind::Elevation, datum: datum.map(Into::into) });
    Small::new()
        .pipe("A", &[(0.0, 0.0), (100.0, 0.0)], nothing)
        .pipe("LOW", &[(100.0, 0.0), (200.0, 0.0)], |c| (c.invert_from, c.invert_to) = (at(10.0, None), at(9.0, None)))
        .pipe("HIGH", &[(100.0, 0.0), (100.0, 100.0)], |c| {
            (c.invert_from, c.invert_to) = (at(high_m, datum), at(high_m - 1.0, datum));
            c.kind = kind;
        })
        .structure("OF-LOW", StructureKind::Outfall, 200.0, 0.0, nothing)
        .structure("OF-HIGH", StructureKind::Outfall, 100.0, 100.0, nothing)
        .parcel("P", 20.0, 2.0)
        .build()
}

#[test]
fn an_overflow_is_dry_in_dry_weather_and_possible_in_wet() {
    let wet = TraceOptions { water: WaterState::Wet, ..TraceOptions::default() };
    let town = overflow(ConduitKind::Weir, 11.0, None);
    let (kind, high) = town.overturn("OF-HIGH");
    assert_eq!((kind, doubts(&high), high.cost_milli), (BlockKind::Overflow, vec![Doubt::OverflowCarries], 500));
    let found = town.ask("OF-HIGH", &wet);
    let Verdict::Reaches { path, .. } = &found.against[0].verdict else { panic!("{found:?}") };
    assert_eq!(path.certainty, headwall::trace::Certainty::Possible);
    // A step within what survey and rounding make, a level of another datum, or no weir at all: what is not known counts as carrying.
    let weir = ConduitKind::Weir;
    for town in [overflow(weir, 10.2, None), overflow(weir, 11.0, Some("NGVD 29")), overflow(ConduitKind::Pipe, 11.0, None)] {
        assert!(matches!(town.ask("OF-HIGH", &TraceOptions::default()).against[0].verdict, Verdict::Reaches { .. }));
    }
}

#[test]
fn a_property_that_nothing_ties_says_so() {
    let town = Small::new()
        .pipe("A", &[(0.0, 0.0), (100.0, 0.0)], nothing)
        .structure("OF", StructureKind::Outfall, 100.0, 0.0, nothing)
        .parcel("P", 40.0, 30.0)
        .build();
    let (kind, overturn) = town.overturn("OF");
    assert_eq!((kind, doubts(&overturn), overturn.cost_milli), (BlockKind::NoTie, vec![Doubt::UnmappedConnection], 3000 + 30 * 40));
}
