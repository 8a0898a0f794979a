//! Do real networks give the answers that were computed independently of Headwall?
//!
//! Real data are no part of the project: they are looked for in `$HEADWALL_REAL`, else in `../shared/real` beside the checkout.
//! Without them every test here says on standard output that it was skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use geo::Geometry;
use headwall::data_issue::{DataIssue, IssueCode};
use headwall::inventory::{ConduitKind, OutfallKind, Status, StructureKind, System};
use headwall::investigate::{Basis, Report, Whereabouts, find_structure, investigate};
use headwall::links::ParcelIndex;
use headwall::network::COINCIDENT_M;
use headwall::network::locate::Place;
use headwall::town::{self, Town};
use headwall::trace::{CautionKind, Trace, TraceOptions, Way, trace};

const FOOT_M: f64 = 0.3048;

/// The folder of real data, or `None`, said aloud.
///
/// What `println!` writes in a test that passes is never shown, so this writes to the stream itself.
fn real(test: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/real");
    let folder = std::env::var_os("HEADWALL_REAL").map_or(beside, PathBuf::from);
    if folder.join("norfolk-va").is_dir() {
        return Some(folder);
    }
    let said = writeln!(
        std::io::stdout(),
        "\nSKIPPED reference::{test}: there are no real data in {}; set HEADWALL_REAL to their folder",
        folder.display()
    );
    said.unwrap();
    None
}

/// A town in a folder that goes when it does.
struct Made {
    town: Town,
    _folder: tempfile::TempDir,
}

/// Imports a town from the text of a town file in which `{real}` stands for the folder of real data.
fn made(real: &Path, toml: &str) -> Made {
    let folder = tempfile::tempdir().unwrap();
    let toml = toml.replace("{real}", &real.display().to_string());
    fs::write(folder.path().join(town::TOWN_FILE), toml).unwrap();
    if let Err(error) = town::import(folder.path(), &mut |_| {}) {
        panic!("{error:?}");
    }
    let town = town::open(folder.path()).unwrap();
    Made { town, _folder: folder }
}

impl Made {
    fn basis(&self) -> &Basis {
        &self.town.basis
    }

    fn up(&self, structure: &str, options: &TraceOptions) -> Trace {
        self.go(structure, Way::Up, options)
    }

    fn go(&self, structure: &str, way: Way, options: &TraceOptions) -> Trace {
        let index = find_structure(&self.basis().inventory, structure).unwrap();
        trace(self.basis().ground(), Place::Node(self.basis().network.node_of(index)), way, options).unwrap()
    }

    fn ids(&self, trace: &Trace) -> BTreeSet<String> {
        trace.conduits.iter().map(|c| self.basis().inventory.conduits[c.conduit.at()].key.to_string()).collect()
    }

    fn issues(&self, code: IssueCode, id: &str) -> Vec<&DataIssue> {
        self.basis().issues.iter().filter(|i| i.code == code && i.ids.iter().any(|known| known == id)).collect()
    }

    /// Parcels of a trace: touched, and all.
    fn parcels(trace: &Trace) -> (usize, usize) {
        (trace.parcels.iter().filter(|p| p.away_m <= COINCIDENT_M).count(), trace.parcels.len())
    }
}

fn close(length_m: f64, expected: f64, unit_m: f64, what: &str) {
    let length = length_m / unit_m;
    assert!((length - expected).abs() <= 0.1, "{what}: {length:.2}, not {expected}");
}

fn norfolk(tolerance: &str, structures: &str) -> String {
    format!(
        r#"
name = "Norfolk"
working_crs = "EPSG:2284"
snap_tolerance = "{tolerance}"
direction = ["digitised"]

[[layer]]
name = "pipes"
role = "conduits"
path = "{{real}}/norfolk-va/norfolk_storm.gpkg"
layer = "pipes"
fields.id = "DOCID"
fields.assigned_outfall = "OUTFALL"

[[layer]]
name = "structures"
role = "structures"
path = "{{real}}/norfolk-va/norfolk_storm.gpkg"
layer = "structures"
{structures}
[layer.fields]
id = "DOCID"
also_known_as = "Structure_"
kind = {{ field = "Structure1", codes = {{ outfall = "OF", manhole = "MH" }}, when_missing = "other", when_unknown = "other" }}
"#
    )
}

/// Outfall code, DOCID of the structure, pipes, feet.
const NORFOLK: &[(&str, &str, usize, f64)] = &[
    ("OF075702", "PORD075702", 463, 42_059.7),
    ("OF075588", "OF075588", 60, 3_756.0),
    ("OF075658", "OF075658", 49, 2_938.9),
    ("OF0109414", "OF0109414", 43, 3_895.4),
    ("F16431", "POMD075286", 11, 1_135.2),
    ("OF075711", "OF075711", 4, 1_167.8),
    ("OF0109408", "OF0109408", 3, 313.0),
    ("OF0109419", "OF0109419", 3, 237.6),
];

#[test]
fn norfolk_agrees_with_the_citys_own_assignment() {
    let Some(real) = real("norfolk_agrees_with_the_citys_own_assignment") else { return };
    for tolerance in ["0.01 ft", "0.1 ft", "1 ft"] {
        let made = made(&real, &norfolk(tolerance, ""));
        let unit_m = made.town.working.crs().metres_per_unit();
        let mut assigned: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for conduit in &made.basis().inventory.conduits {
            if let Some(code) = &conduit.assigned_outfall {
                assigned.entry(code.to_string()).or_default().insert(conduit.key.to_string());
            }
        }
        for (code, structure, pipes, feet) in NORFOLK {
            let found = made.up(structure, &TraceOptions::default());
            assert_eq!(found.conduits.len(), *pipes, "{code} at {tolerance}");
            close(found.length_m(), *feet, unit_m, code);
            assert_eq!(made.ids(&found), assigned[*code], "{code} at {tolerance}");
        }
        let found = made.up("OF093002", &TraceOptions::default());
        assert_eq!(found.conduits.len(), 40);
        close(found.length_m(), 3_403.3, unit_m, "OF093002");
        assert_eq!(assigned["OF093002"].len(), 11);
        // The reference calls the other 29 blank. One is; 28 are assigned to OF0109414, to which water can go, too: the flow divides.
        let others: Vec<_> =
            found.conduits.iter().map(|c| made.basis().inventory.conduits[c.conduit.at()].assigned_outfall.as_deref()).collect();
        assert_eq!(others.iter().filter(|o| o.is_none()).count(), 1);
        assert_eq!(others.iter().filter(|o| **o == Some("OF0109414")).count(), 28);
        assert!(found.cautions.iter().any(|c| c.kind == CautionKind::Diversion && c.at == ["CBNS015970"]));
        for (id, feet) in [("OF0105805", 603.0), ("OF078693", 362.0)] {
            let found = made.up(id, &TraceOptions::default());
            assert!(found.conduits.is_empty());
            assert!(found.cautions.iter().any(|c| c.kind == CautionKind::NotConnected && c.at == [id]), "{:?}", found.cautions);
            let issues = made.issues(IssueCode::OutfallNotConnected, id);
            let away = issues.first().and_then(|i| i.distance_m).unwrap() / unit_m;
            assert!((away - feet).abs() < 0.5, "{id}: {away}");
        }
    }
}

#[test]
fn norfolk_at_five_feet_collapses_short_pipes_and_says_so() {
    let Some(real) = real("norfolk_at_five_feet_collapses_short_pipes_and_says_so") else { return };
    let loops = |structures: &str| -> BTreeSet<Vec<String>> {
        let made = made(&real, &norfolk("5 ft", structures));
        let issues = || made.basis().issues.iter();
        assert_eq!(issues().filter(|i| i.code == IssueCode::ShorterThanTolerance).count(), 75);
        issues().filter(|i| i.code == IssueCode::Loop).map(|i| i.ids.clone()).collect()
    };
    let (structures_first, ends_only) = (loops(""), loops("only = { Structure1 = \"OF\" }"));
    // Both ways of joining make false loops. One is the same; structures first closes another pair, ends alone another three.
    let loop_of = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    let both = loop_of(&["STPIPE070722", "STPIPE070723"]);
    assert_eq!(structures_first, BTreeSet::from([loop_of(&["STPIPE070254", "STPIPE071226"]), both.clone()]));
    assert_eq!(ends_only, BTreeSet::from([loop_of(&["STPIPE069329", "STPIPE069460", "STPIPE094563"]), both]));
}

fn somerville(extra: &str) -> String {
    format!(
        r#"
name = "Somerville"
working_crs = "EPSG:2249"
snap_tolerance = "0.5 ft"
direction = ["digitised"]
{extra}

[[layer]]
name = "storm_mains"
role = "conduits"
path = "{{real}}/somerville-ma/storm_mains.geojson"
[layer.fields]
id = "FACILITYID"
status = {{ field = "AssetStatus", codes = {{ live = "Active", proposed = "Proposed", removed = "Archive", abandoned = "Abandoned" }} }}

[[layer]]
name = "discharge_points"
role = "outfalls"
path = "{{real}}/somerville-ma/storm_discharge_points.geojson"
structure_tolerance = "2 ft"
[layer.fields]
id = "FACILITYID"
other_system = "TO_FROM"
[layer.defaults]
outfall_kind = "ms4_outfall"
[[layer.rule]]
when = {{ TO_FROM = "FROM *" }}
set = {{ outfall_kind = "interconnection_in" }}
"#
    )
}

fn every_status() -> TraceOptions {
    TraceOptions { statuses: Status::ALL.iter().copied().collect(), ..TraceOptions::default() }
}

#[test]
fn somerville_gives_the_five_outfalls() {
    let Some(real) = real("somerville_gives_the_five_outfalls") else { return };
    let made = made(&real, &somerville("join_sides = false"));
    let unit_m = made.town.working.crs().metres_per_unit();
    for (id, pipes, feet) in [("9", 41, 7_055.7), ("19", 40, 4_463.2), ("21", 35, 5_329.0), ("4", 31, 4_654.5), ("SOM-001A", 187, 27_737.5)]
    {
        let found = made.up(id, &every_status());
        println!("somerville {id}: {} {:.1}", found.conduits.len(), found.length_m() / unit_m);
        assert_eq!(found.conduits.len(), pipes, "{id}");
        close(found.length_m(), feet, unit_m, id);
    }
    let live = made.up("SOM-001A", &TraceOptions::default());
    assert_eq!(live.conduits.len(), 47);
    close(live.length_m(), 7_843.0, unit_m, "SOM-001A, active");
    let alone = made.up("31", &every_status());
    assert!(alone.conduits.is_empty());
    assert!(alone.cautions.iter().any(|c| c.kind == CautionKind::NotConnected));
    assert_eq!(made.issues(IssueCode::OutfallNotConnected, "31").len(), 1);
}

#[test]
fn water_from_another_ms4_ends_an_upstream_trace_and_is_said() {
    let Some(real) = real("water_from_another_ms4_ends_an_upstream_trace_and_is_said") else { return };
    let made = made(&real, &somerville("join_sides = false"));
    // S2-6352, another one, lies above it: the trace does not come so far.
    let inflow = "29-6461";
    let here = made.up(inflow, &every_status());
    assert!(here.conduits.is_empty());
    assert!(here.cautions.iter().any(|c| c.kind == CautionKind::Interconnection && c.at == [inflow]));
    let below = made.go(inflow, Way::Down, &every_status());
    let last = below.nodes.iter().max_by(|a, b| a.distance_m.total_cmp(&b.distance_m)).unwrap();
    assert!(!below.conduits.is_empty());
    let back = trace(made.basis().ground(), Place::Node(last.node), Way::Up, &every_status()).unwrap();
    println!("somerville: {} below {inflow}, {} above the place where that ends", below.conduits.len(), back.conduits.len());
    assert!(made.ids(&below).is_subset(&made.ids(&back)));
    assert!(back.cautions.iter().any(|c| c.kind == CautionKind::Interconnection && c.at == [inflow]));
    let above = find_structure(&made.basis().inventory, "S2-6352").unwrap();
    assert!(!back.structures.contains(&above));
}

fn sudbury(outfalls: &str, extra: &str) -> String {
    format!(
        r#"
name = "Sudbury"
working_crs = "EPSG:32617"
snap_tolerance = "0.5 ft"
direction = ["digitised"]
{extra}

[[layer]]
name = "mains"
role = "conduits"
path = "{{real}}/canada-sudbury/mains.geojson"
fields.id = "ASSETID"

[[layer]]
name = "outfalls"
role = "outfalls"
path = "{{real}}/canada-sudbury/outfalls.geojson"
{outfalls}
fields.id = "ASSETID"

[[layer]]
name = "parcels"
role = "parcels"
path = "{{real}}/canada-sudbury/parcels.geojson"
fields.id = "OBJECTID"

# In a role that joins nothing: the answers join line ends only with each other.
[[layer]]
name = "basins"
role = "addresses"
path = "{{real}}/canada-sudbury/catchbasins.geojson"
fields.id = "ASSETID"
"#
    )
}

/// Points of the basins within a distance of the traced pieces, metres.
fn basins_within(made: &Made, found: &Trace, reach_m: f64) -> usize {
    let points = made.basis().inventory.backdrops.iter().filter_map(|b| match b.shape {
        Some(Geometry::Point(p)) => Some([p.x(), p.y()]),
        _ => None,
    });
    let near = points.filter(|p| {
        let nearest = made.basis().segments.nearest(*p, |piece| found.piece(piece).is_some());
        nearest.is_some_and(|(_, _, away_m)| away_m <= reach_m)
    });
    near.count()
}

#[test]
fn sudbury_gives_pipes_parcels_and_basins() {
    let Some(real) = real("sudbury_gives_pipes_parcels_and_basins") else { return };
    let made = made(&real, &sudbury("structure_tolerance = \"5 ft\"", "join_sides = false"));
    for (id, pipes, feet, touched, near, basins) in [("123725", 554, 39_941.5, 72, 348, 217), ("124180", 76, 5_519.6, 23, 98, 26)] {
        let found = made.up(id, &every_status());
        println!(
            "sudbury {id}: {} {:.1} {:?} {}",
            found.conduits.len(),
            found.length_m() / FOOT_M,
            Made::parcels(&found),
            basins_within(&made, &found, FOOT_M)
        );
        assert_eq!(found.conduits.len(), pipes, "{id}");
        close(found.length_m(), feet, FOOT_M, id);
        assert_eq!(Made::parcels(&found), (touched, near), "{id}");
        assert_eq!(basins_within(&made, &found, FOOT_M), basins, "{id}");
    }
}

#[test]
fn sudbury_with_tees_gives_the_larger_network() {
    let Some(real) = real("sudbury_with_tees_gives_the_larger_network") else { return };
    let made = made(&real, &sudbury("structure_tolerance = \"5 ft\"", ""));
    let found = made.up("123725", &every_status());
    println!("sudbury tees: {} {:.1}", found.conduits.len(), found.length_m() / FOOT_M);
    assert_eq!(found.conduits.len(), 800);
    close(found.length_m(), 53_125.4, FOOT_M, "123725 with tees");
}

fn melbourne() -> &'static str {
    r#"
name = "Melbourne"
units = "m"
direction = ["node_ids", "digitised"]

[[layer]]
name = "pipes"
role = "conduits"
path = "{real}/melbourne-west-sewer/pipes.geojson"
[layer.fields]
id = "PIPE_ID"
node_from = "START_NODE"
node_to = "END_NODE"

[[layer]]
name = "nodes"
role = "structures"
path = "{real}/melbourne-west-sewer/nodes.geojson"
fields.id = "NODE_ID"

[[layer]]
name = "branches"
role = "laterals"
path = "{real}/melbourne-west-sewer/branches.geojson"
[layer.fields]
id = "GID"
conduit = "PIPE_ID"
parcel = { field = "PRCL_GID", missing = "0_CWW" }

[[layer]]
name = "parcels"
role = "parcels"
path = "{real}/melbourne-west-sewer/parcels.geojson"
fields.id = "GID"
"#
}

#[test]
fn melbourne_ties_pipes_to_parcels() {
    let Some(real) = real("melbourne_ties_pipes_to_parcels") else { return };
    let made = made(&real, melbourne());
    let found = made.up("93104_CWW", &TraceOptions::default());
    assert_eq!(found.conduits.len(), 20);
    let links: Vec<_> = found.pieces.iter().flat_map(|p| made.basis().links.laterals(p.piece)).collect();
    let parcels: BTreeSet<ParcelIndex> = links.iter().filter_map(|l| l.parcel).collect();
    let named: BTreeSet<&str> = links.iter().filter_map(|l| made.basis().inventory.laterals[l.lateral.at()].parcel.as_deref()).collect();
    println!("melbourne: {} laterals, {} parcels, {} named", links.len(), parcels.len(), named.len());
    assert_eq!(links.len(), 140);
    // The reference counts 113 distinct values, and one of them is "0_CWW": 27 branches that name no parcel.
    assert_eq!((parcels.len(), named.len()), (112, 112));
    assert_eq!(links.iter().filter(|l| made.basis().inventory.laterals[l.lateral.at()].parcel.is_none()).count(), 27);
    let as_they_stand = self::made(&real, &melbourne().replace(", missing = \"0_CWW\"", ""));
    let basis = as_they_stand.basis();
    let found = as_they_stand.up("93104_CWW", &TraceOptions::default());
    let laterals = found.pieces.iter().flat_map(|p| basis.links.laterals(p.piece)).map(|l| &basis.inventory.laterals[l.lateral.at()]);
    assert_eq!(laterals.filter_map(|l| l.parcel.clone()).collect::<BTreeSet<_>>().len(), 113);
}

fn town_file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/towns").join(format!("{name}.toml"));
    fs::read_to_string(path).unwrap()
}

fn investigated(made: &Made, structure: &str, options: &TraceOptions) -> headwall::investigate::Investigation {
    let report = Report { at: Whereabouts::Structure(structure.to_owned()), on: None, pollutants: Vec::new(), search_radius_m: None };
    investigate(made.basis(), &report, options, jiff::civil::date(2026, 11, 30)).unwrap()
}

fn outfalls_by_kind(made: &Made) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for kind in made.basis().inventory.structures.iter().filter_map(|s| s.outfall_kind) {
        *counts.entry(kind.word()).or_insert(0) += 1;
    }
    counts
}

/// Traces up from every outfall, into combined sewers too: no sanitary main is entered, although some touch the way.
fn stays_out_of_sanitary_mains(made: &Made) {
    let basis = made.basis();
    let sanitary = basis.inventory.conduits.iter().filter(|c| c.system == System::Sanitary).count();
    assert!(sanitary > 1_000, "the control: there are sanitary mains to enter");
    let (mut traced, mut refused) = (0, 0);
    let options = TraceOptions { combined: true, ..every_status() };
    for (at, _) in basis.inventory.structures.iter().enumerate().filter(|(_, s)| s.kind == StructureKind::Outfall) {
        let place = Place::Node(basis.network.node_of(headwall::network::StructureIndex::from_at(at)));
        let found = trace(basis.ground(), place, Way::Up, &options).unwrap();
        traced += found.conduits.len();
        refused += found.cautions.iter().filter(|c| c.kind == CautionKind::Sanitary).count();
        assert!(found.conduits.iter().all(|c| basis.inventory.conduits[c.conduit.at()].system != System::Sanitary));
    }
    println!("{}: {traced} conduits traced, {refused} sanitary mains met and not entered, of {sanitary}", basis.settings.name);
    assert!(traced > 100);
    assert!(refused > 0, "the control: sanitary mains touch the way");
}

#[test]
fn somervilles_outfalls_are_of_the_kinds_that_its_fields_tell() {
    let Some(real) = real("somervilles_outfalls_are_of_the_kinds_that_its_fields_tell") else { return };
    let made = made(&real, &town_file("somerville-ma"));
    let expected = [("cso", 3), ("interconnection_in", 3), ("interconnection_out", 6), ("ms4_outfall", 12), ("other_owner", 3)];
    assert_eq!(outfalls_by_kind(&made), BTreeMap::from(expected));
    let kind = |id: &str| {
        made.basis().inventory.structures[find_structure(&made.basis().inventory, &format!("discharge_points/{id}")).unwrap().at()]
            .outfall_kind
    };
    assert_eq!(kind("SOM-001A"), Some(OutfallKind::Cso));
    assert_eq!(kind("9"), Some(OutfallKind::OtherOwner));
    stays_out_of_sanitary_mains(&made);
    // Only a sanitary main passes this one: that is no connection, and said.
    let found = made.up("discharge_points/35", &TraceOptions::default());
    assert!(found.cautions.iter().any(|c| c.kind == CautionKind::NotConnected));
    assert_eq!(made.issues(IssueCode::OutfallNotConnected, "35").len(), 1);
}

#[test]
fn bangors_systems_are_kept_apart() {
    let Some(real) = real("bangors_systems_are_kept_apart") else { return };
    let made = made(&real, &town_file("bangor-me"));
    assert_eq!(outfalls_by_kind(&made), BTreeMap::from([("cso", 9)]));
    let inventory = &made.basis().inventory;
    let pipes = |system| inventory.conduits.iter().filter(|c| c.kind != ConduitKind::Ditch && c.system == system).count();
    assert_eq!((pipes(System::Sanitary), pipes(System::Combined), pipes(System::Storm), pipes(System::Unknown)), (2905, 2190, 1, 4));
    assert_eq!(inventory.conduits.iter().filter(|c| c.kind == ConduitKind::Lead).count(), 787);
    assert_eq!(inventory.conduits.iter().filter(|c| c.pressurised).count(), 30);
    let given = inventory.conduits.iter().filter_map(|c| c.invert_from.given());
    assert!(given.clone().count() > 4_000);
    assert!(given.into_iter().all(|l| l.value_m != 0.0 && l.value_m != -FOOT_M));
    assert!(inventory.conduits.iter().all(|c| c.node_from.named() != Some("NO MH") && c.node_to.named() != Some("NO MH")));
    stays_out_of_sanitary_mains(&made);
}

#[test]
fn towns_with_parcels_give_properties() {
    let Some(real) = real("towns_with_parcels_give_properties") else { return };
    for (town, structure) in [("canada-sudbury", "outfalls/123725"), ("melbourne-west-sewer", "93104_CWW")] {
        let made = made(&real, &town_file(town));
        let found = investigated(&made, structure, &TraceOptions::default());
        println!("{town}: {} conduits, {} properties", found.trace.conduits.len(), found.candidates.ranked.len());
        assert!(found.candidates.ranked.len() > 50, "{town}: {}", found.candidates.ranked.len());
    }
}

#[test]
fn every_other_town_file_imports() {
    let Some(real) = real("every_other_town_file_imports") else { return };
    for (town, conduits, structures) in [
        ("norfolk-va", 3721, 4275),
        ("norfolk-va-shapefile", 3721, 4275),
        ("norfolk-va-geodatabase", 3843 + 404, 1460 + 15),
        ("johnson-vt", 35, 29),
        // 211 conduits and two other links.
        ("norfolk-va-hague-swmm", 213, 213),
    ] {
        let made = made(&real, &town_file(town));
        let inventory = &made.basis().inventory;
        println!(
            "{town}: {} conduits, {} structures, {} issues",
            inventory.conduits.len(),
            inventory.structures.len(),
            made.basis().issues.len()
        );
        assert_eq!((inventory.conduits.len(), inventory.structures.len()), (conduits, structures), "{town}");
    }
}

#[test]
fn a_shapefile_and_its_table_give_what_the_geopackage_gives() {
    let Some(real) = real("a_shapefile_and_its_table_give_what_the_geopackage_gives") else { return };
    let (package, shapefile) = (made(&real, &norfolk("1 ft", "")), made(&real, &town_file("norfolk-va-shapefile")));
    for (_, structure, pipes, _) in NORFOLK {
        let found = shapefile.up(structure, &every_status());
        assert_eq!(found.conduits.len(), *pipes);
        assert_eq!(shapefile.ids(&found), package.ids(&package.up(structure, &every_status())), "{structure}");
    }
}
