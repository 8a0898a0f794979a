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
        let blank = found.conduits.iter().filter(|c| made.basis().inventory.conduits[c.conduit.at()].assigned_outfall.is_none());
        assert_eq!(blank.count(), 29);
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
    let made = made(&real, &norfolk("5 ft", ""));
    let short = made.basis().issues.iter().filter(|i| i.code == IssueCode::ShorterThanTolerance).count();
    let loops = made.basis().issues.iter().filter(|i| i.code == IssueCode::Loop).count();
    println!("norfolk 5 ft: {short} short, {loops} loops");
    assert_eq!(short, 75);
    assert_eq!(loops, 1);
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
    for (id, pipes, feet) in [("9", 41, 7_055.7), ("19", 40, 4_463.2), ("21", 35, 5_329.0), ("4", 31, 4_654.5), ("SOM-001A", 187, 27_737.5)] {
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
    let named: BTreeSet<&str> =
        links.iter().filter_map(|l| made.basis().inventory.laterals[l.lateral.at()].parcel.as_deref()).collect();
    println!("melbourne: {} laterals, {} parcels, {} named", links.len(), parcels.len(), named.len());
    assert_eq!(links.len(), 140);
    assert_eq!(parcels.len(), 113);
    assert_eq!(named.len(), 113);
}
