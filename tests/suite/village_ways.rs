//! Why-not and profile on the sample village: do they agree with the traces, and do their drawings say what they should?

use std::path::Path;
use std::{fs, process::Command};

use headwall::candidates::why_not::{Verdict, why_not};
use headwall::inventory::StructureKind;
use headwall::links::ParcelIndex;
use headwall::network::StructureIndex;
use headwall::network::locate::Place;
use headwall::town::{self, Town};
use headwall::trace::{TraceOptions, Way, trace};

fn village() -> (tempfile::TempDir, Town) {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample-village");
    fs::create_dir(folder.path().join("source")).unwrap();
    fs::copy(from.join("headwall.toml"), folder.path().join("headwall.toml")).unwrap();
    for entry in fs::read_dir(from.join("source")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join("source").join(entry.file_name())).unwrap();
    }
    town::import(folder.path(), &mut |_| {}).unwrap();
    let town = town::open(folder.path()).unwrap();
    (folder, town)
}

#[test]
fn a_property_reaches_an_outfall_where_and_only_where_the_outfalls_trace_has_it() {
    let (folder, town) = village();
    let ground = town.basis.ground();
    let options = TraceOptions::default();
    let outfalls: Vec<StructureIndex> = (0..town.basis.inventory.structures.len())
        .filter(|at| town.basis.inventory.structures[*at].kind == StructureKind::Outfall)
        .map(StructureIndex::from_at)
        .collect();
    let upstream: Vec<_> =
        outfalls.iter().map(|s| trace(ground, Place::Node(town.basis.network.node_of(*s)), Way::Up, &options).unwrap()).collect();
    let (mut reached, mut excluded) = (0, 0);
    for parcel in (0..town.basis.inventory.parcels.len()).step_by(37).map(|at| ParcelIndex(at as u32)) {
        let found = why_not(ground, &town.basis.rules, parcel, None, &options);
        for against in &found.against {
            let at = outfalls.iter().position(|o| *o == against.structure).unwrap();
            let fronts = upstream[at].parcels.iter().any(|p| p.parcel == parcel);
            match &against.verdict {
                Verdict::Reaches { .. } => reached += 1,
                Verdict::CannotReach { overturn, .. } => {
                    assert!(!fronts, "{parcel:?} fronts a conduit above {:?}", against.structure);
                    assert!(overturn.as_ref().is_none_or(|o| o.cost_milli > 0 && !o.facts.is_empty()));
                    let sum = overturn.as_ref().map(|o| o.facts.iter().map(|f| f.cost_milli).sum::<u64>());
                    assert_eq!(sum, overturn.as_ref().map(|o| o.cost_milli));
                    excluded += 1;
                }
            }
        }
    }
    assert!(reached > 5 && excluded > 20, "{reached} {excluded}");

    // The commands say the same, and leave with 0 either way.
    let parcel = town.basis.inventory.parcels[37].key.to_string();
    let run = |args: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_headwall")).args(args).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let place = folder.path().to_str().unwrap();
    for outfall in &outfalls {
        let id = town.basis.inventory.structures[outfall.at()].key.to_string();
        let first = run(&["why-not", place, "--parcel", &parcel, "--structure", &id]).lines().next().unwrap().to_owned();
        assert!(first.contains(" reaches ") != first.contains("cannot reach on this map"), "{first}");
    }
    let json: serde_json::Value = serde_json::from_str(&run(&["why-not", place, "--parcel", &parcel, "--format", "json"])).unwrap();
    assert!(json["against"].as_array().unwrap().iter().all(|a| a["verdict"].is_string()));
    let map: serde_json::Value = serde_json::from_str(&run(&["why-not", place, "--parcel", &parcel, "--format", "geojson"])).unwrap();
    assert_eq!(map["type"], "FeatureCollection");
    // A section down to an outfall, as a drawing that says in words what it shows.
    let up = &upstream[outfalls.iter().position(|o| &*town.basis.inventory.structures[o.at()].key.id == "OF-04").unwrap()];
    let far = up.structures.iter().max_by(|a, b| {
        let far = |s: &StructureIndex| up.node(town.basis.network.node_of(*s)).map_or(0.0, |n| n.distance_m);
        far(a).total_cmp(&far(b))
    });
    let from = town.basis.inventory.structures[far.unwrap().at()].key.to_string();
    let svg = run(&["profile", place, "--from", &from, "--to", "OF-04", "--format", "svg"]);
    for part in ["<title id=\"t\">", "<desc id=\"d\">", "role=\"img\"", "width=\"7.5in\"", "SYNTHETIC"] {
        assert!(svg.contains(part), "{part}");
    }
    let rows = run(&["profile", place, "--from", &from, "--to", "OF-04", "--format", "csv"]);
    assert!(rows.starts_with("from,to,conduit_id,from_m,to_m,"), "{rows}");
    assert!(rows.lines().count() > 3);
}
