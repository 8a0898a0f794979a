//! Do corrections hold through imports, say when what they relied on has changed, double nothing, and come whole or not at all?

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use headwall::data_issue::IssueCode;
use headwall::evidence::{Added, Change, ConduitEnd, FeatureName, Surveyed};
use headwall::network::Flow;
use headwall::records::{self, NewCorrection};
use headwall::town::{self, Town};

/// Two pipes to an outfall in feet of EPSG:2261, and a pipe beside them; more lines may be added.
fn write_pipes(folder: &Path, first_y: f64, more: &str) {
    let pipe = |id: &str, points: &str| {
        format!(r#"{{"type":"Feature","properties":{{"ID":"{id}"}},"geometry":{{"type":"LineString","coordinates":[{points}]}}}}"#)
    };
    let lines = [
        pipe("P-1", &format!("[600000,{first_y}],[600200,1100000]")),
        pipe("P-2", "[600200,1100000],[600400,1100000]"),
        pipe("P-3", "[600000,1100300],[600200,1100300]"),
    ];
    let more = if more.is_empty() { String::new() } else { format!(",{}", pipe("P-9", more)) };
    fs::write(folder.join("pipes.geojson"), format!(r#"{{"type":"FeatureCollection","features":[{}{more}]}}"#, lines.join(","))).unwrap();
}

fn town_in(folder: &Path) -> Town {
    write_pipes(folder, 1_100_000.0, "");
    fs::write(
        folder.join("outfalls.geojson"),
        r#"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"ID":"OF-1"},"geometry":{"type":"Point","coordinates":[600400,1100000]}}]}"#,
    )
    .unwrap();
    let toml = r#"
name = "Correction Corner"
working_crs = "EPSG:2261"
snap_tolerance = "1 ft"
near_miss = "10 ft"
direction = ["digitised"]

[[layer]]
name = "pipes"
role = "conduits"
path = "pipes.geojson"
crs = "EPSG:2261"
crs_overrides_file = true
fields.id = "ID"
defaults.system = "storm"
defaults.status = "live"

[[layer]]
name = "outfalls"
role = "outfalls"
path = "outfalls.geojson"
crs = "EPSG:2261"
crs_overrides_file = true
fields.id = "ID"
defaults.status = "live"
"#;
    fs::write(folder.join("headwall.toml"), toml).unwrap();
    import(folder)
}

fn import(folder: &Path) -> Town {
    town::import(folder, &mut |_| {}).unwrap();
    town::open(folder).unwrap()
}

fn record(town: &Town, changes: Vec<Change>) -> NewCorrection {
    NewCorrection {
        at: "2026-11-30T12:00:00Z".to_owned(),
        who: "Ann Surveyor".to_owned(),
        why: "seen".to_owned(),
        evidence: "dye test".to_owned(),
        proposal: None,
        relied_on: town.relied_on(&changes),
        changes,
    }
}

fn pipe(id: &str) -> FeatureName {
    FeatureName::new("pipes", id)
}

fn flow(town: &Town, id: &str) -> (Flow, Vec<(f64, f64)>) {
    let at = town.basis.inventory.conduits.iter().position(|c| &*c.key.id == id).unwrap();
    let line = &town.basis.inventory.conduits[at].parts[0];
    (town.basis.network.flows[at].flow, line.0.iter().map(|c| (c.x.round(), c.y.round())).collect())
}

fn codes(town: &Town) -> Vec<IssueCode> {
    let all = town.basis.issues.iter().map(|i| i.code);
    all.filter(|c| matches!(c, IssueCode::CorrectionFeatureGone | IssueCode::CorrectionFeatureChanged | IssueCode::CorrectionNowInSource))
        .collect()
}

fn ft(x: f64) -> f64 {
    x * 1200.0 / 3937.0
}

fn added(points: &[[f64; 2]]) -> Change {
    Change::AddConduit(Added {
        id: None,
        points: points.iter().map(|p| p.map(ft)).collect(),
        kind: Some("pipe".to_owned()),
        diameter_mm: Some(300.0),
        material: None,
        surveyed: Surveyed::Gps,
        accuracy_m: Some(0.5),
        same_within_m: 1.5,
        conduit: None,
        parcel: None,
    })
}

#[test]
fn a_correction_survives_the_next_import_and_its_number_names_the_network() {
    let folder = tempfile::tempdir().unwrap();
    let town = town_in(folder.path());
    assert_eq!(town.version.correction, 0);
    let before = flow(&town, "P-1");
    let (number, effect) = town.correct(&record(&town, vec![Change::Reverse { conduit: pipe("P-1"), with_drawing: false }])).unwrap();
    assert_eq!((number, effect.before.conduits, effect.after.conduits), (1, 2, 1));
    let opened = town::open(folder.path()).unwrap();
    let turned = flow(&opened, "P-1");
    assert_eq!(turned.1, before.1.iter().rev().copied().collect::<Vec<_>>());
    let again = import(folder.path());
    assert_eq!((again.version.import, again.version.correction), (2, 1));
    assert!(again.version.to_string().starts_with("2.1-"));
    assert_eq!(flow(&again, "P-1"), turned);
    assert!(codes(&again).is_empty());
    // Taking it back is a record of its own, and taking that back, too.
    assert_eq!(again.undo(1, &record(&again, Vec::new())).unwrap(), 2);
    let back = town::open(folder.path()).unwrap();
    assert_eq!(flow(&back, "P-1"), before);
    assert_eq!((back.version.correction, back.log.records.len(), back.log.in_force().len()), (2, 2, 0));
    back.undo(2, &record(&back, Vec::new())).unwrap();
    assert_eq!(flow(&town::open(folder.path()).unwrap(), "P-1"), turned);
    assert!(back.undo(1, &record(&back, Vec::new())).is_ok());
    assert!(back.undo(99, &record(&back, Vec::new())).is_err());
}

#[test]
fn a_correction_on_a_changed_or_missing_feature_is_reported_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let town = town_in(folder.path());
    town.correct(&record(&town, vec![Change::Reverse { conduit: pipe("P-1"), with_drawing: false }])).unwrap();
    write_pipes(folder.path(), 1_100_040.0, "");
    let changed = import(folder.path());
    assert_eq!(codes(&changed), [IssueCode::CorrectionFeatureChanged]);
    assert_eq!(changed.log.in_force().len(), 1);
    assert_eq!(flow(&changed, "P-1").1[0].1, ft(1_100_040.0).round());
    let issue = changed.basis.issues.iter().find(|i| i.code == IssueCode::CorrectionFeatureChanged).unwrap();
    assert!(issue.message.contains("correction 1") && issue.ids == ["P-1"], "{}", issue.message);
    let text = fs::read_to_string(folder.path().join("pipes.geojson")).unwrap().replace("P-1", "P-7");
    fs::write(folder.path().join("pipes.geojson"), text).unwrap();
    let gone = import(folder.path());
    assert_eq!(codes(&gone), [IssueCode::CorrectionFeatureGone]);
    assert_eq!(gone.log.records.len(), 1);
    // The old map again: it holds again.
    write_pipes(folder.path(), 1_100_000.0, "");
    assert!(codes(&import(folder.path())).is_empty());
}

#[test]
fn a_pipe_added_by_hand_is_not_doubled_when_the_source_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let town = town_in(folder.path());
    let (_, effect) = town.correct(&record(&town, vec![added(&[[600_200.0, 1_100_300.0], [600_200.0, 1_100_000.0]])])).unwrap();
    assert_eq!((effect.before.conduits, effect.after.conduits), (2, 4));
    let opened = town::open(folder.path()).unwrap();
    assert_eq!(opened.basis.inventory.conduits.len(), 4);
    assert!(opened.basis.inventory.conduits.iter().any(|c| &*c.key.id == "added-1"));
    // Drawn the other way round, 3 ft off at one end.
    write_pipes(folder.path(), 1_100_000.0, "[600200.4,1100000],[600203,1100300]");
    let again = import(folder.path());
    assert_eq!(again.basis.inventory.conduits.len(), 4);
    assert!(again.basis.inventory.conduits.iter().any(|c| &*c.key.id == "P-9"));
    assert_eq!(codes(&again), [IssueCode::CorrectionNowInSource]);
    // A pipe elsewhere is another one.
    write_pipes(folder.path(), 1_100_000.0, "[600200,1100000],[600240,1100300]");
    assert_eq!(import(folder.path()).basis.inventory.conduits.len(), 5);
}

#[test]
fn every_kind_of_change_is_laid_over() {
    let folder = tempfile::tempdir().unwrap();
    let town = town_in(folder.path());
    let lay = |changes: Vec<Change>| town.try_correction(&record(&town, changes)).after.conduits;
    let to = [600_200.0, 1_100_000.0].map(ft);
    assert_eq!(lay(vec![Change::Plug { conduit: pipe("P-2") }]), 0);
    assert_eq!(lay(vec![Change::SetStatus { feature: pipe("P-2"), status: "abandoned".to_owned() }]), 0);
    assert_eq!(lay(vec![Change::SetSystem { feature: pipe("P-2"), system: "sanitary".to_owned() }]), 0);
    assert_eq!(lay(vec![Change::SetOwner { feature: pipe("P-2"), owner: "County".to_owned() }]), 2);
    assert_eq!(lay(vec![Change::SetKind { feature: pipe("P-2"), kind: "ditch".to_owned() }]), 2);
    assert_eq!(lay(vec![Change::Join { conduit: pipe("P-3"), end: ConduitEnd::Last, structure: None, to }]), 3);
    assert_eq!(lay(vec![Change::Bridge { conduit: pipe("P-3"), end: ConduitEnd::Last, structure: None, to, length_m: ft(300.0) }]), 3);
    let end = [600_200.0, 1_100_300.0].map(ft);
    let attach = Change::AttachOutfall {
        outfall: FeatureName::new("outfalls", "OF-1"),
        conduit: pipe("P-3"),
        end: ConduitEnd::Last,
        to: end,
        length_m: 1.0,
    };
    assert_eq!(lay(vec![attach]), 1);
    assert_eq!(lay(vec![Change::Move { structure: FeatureName::new("outfalls", "OF-1"), to: end }]), 1);
    assert_eq!(lay(vec![Change::Disconnect { conduit: pipe("P-1"), end: ConduitEnd::Last, back_m: ft(2.0) }]), 1);
    assert_eq!(lay(vec![Change::Split { conduit: pipe("P-1"), at: [600_100.0, 1_100_000.0].map(ft) }]), 3);
    assert_eq!(lay(vec![Change::ShiftLevels { conduits: vec![pipe("P-1")], by_m: 1.0 }]), 2);
    // Whole or not at all: the second change does not fit, so the first is not laid over either.
    let half = town.try_correction(&record(&town, vec![Change::Plug { conduit: pipe("P-2") }, Change::Plug { conduit: pipe("P-8") }]));
    assert_eq!((half.after.conduits, half.said.is_empty()), (2, false));
    assert!(town.correct(&record(&town, vec![Change::Plug { conduit: pipe("P-8") }])).is_err());
    assert!(!folder.path().join("records.sqlite").exists());
}

#[test]
fn what_was_recorded_is_never_changed() {
    use diesel::prelude::*;
    let folder = tempfile::tempdir().unwrap();
    let town = town_in(folder.path());
    town.correct(&record(&town, vec![Change::Plug { conduit: pipe("P-1") }])).unwrap();
    let path = folder.path().join("records.sqlite");
    let mut db = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    assert!(diesel::sql_query("UPDATE corrections SET who = 'nobody'").execute(&mut db).is_err());
    assert!(diesel::sql_query("DELETE FROM corrections").execute(&mut db).is_err());
    assert_eq!(records::log(folder.path(), &town.working).unwrap().records[0].correction.who, "Ann Surveyor");
}

#[test]
fn a_killed_writer_leaves_a_whole_record_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let town = town_in(folder.path());
    let mut least = 0;
    for round in 0..12u64 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_headwall"))
            .arg("correct")
            .arg(folder.path())
            .args(["set", "P-3", "--owner", "County", "--who", "W", "--why", "R", "--evidence", "E"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(round * 17));
        let _ = child.kill();
        child.wait().unwrap();
        let log = records::log(folder.path(), &town.working).unwrap();
        let count = log.records.len() as u64;
        assert!(count == least || count == least + 1, "{count} after {least}");
        least = count;
        assert!(
            log.records.iter().all(|r| r.correction.changes.len() == 1 && r.correction.relied_on.len() == 1 && r.correction.who == "W")
        );
        assert_eq!(log.last(), count);
    }
    let done = Command::new(env!("CARGO_BIN_EXE_headwall"))
        .arg("correct")
        .arg(folder.path())
        .args(["plug", "P-1", "--who", "W", "--why", "R", "--evidence", "E"])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(said.contains(&format!("correction {}", least + 1)) && said.contains("2 conduits") && said.contains("1 conduit,"), "{said}");
    let gpkg = folder.path().join("corrections.gpkg");
    let exported =
        Command::new(env!("CARGO_BIN_EXE_headwall")).arg("correct").arg(folder.path()).args(["export", "-o"]).arg(&gpkg).status();
    assert!(exported.unwrap().success() && gpkg.exists());
}

#[test]
fn check_exits_with_1_where_an_error_stands() {
    let folder = tempfile::tempdir().unwrap();
    let town = town_in(folder.path());
    let check = |more: &[&str]| Command::new(env!("CARGO_BIN_EXE_headwall")).arg("check").arg(folder.path()).args(more).output().unwrap();
    assert_eq!(check(&[]).status.code(), Some(0));
    town.correct(&record(&town, vec![Change::Reverse { conduit: pipe("P-1"), with_drawing: false }])).unwrap();
    write_pipes(folder.path(), 1_100_040.0, "");
    import(folder.path());
    let told = check(&[]);
    assert_eq!(told.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&told.stdout).contains("correction-feature-changed"));
    for format in ["csv", "json", "geojson"] {
        assert!(!check(&["--format", format]).stdout.is_empty());
    }
    let proposals = check(&["--proposals", "--format", "geojson"]);
    let json: serde_json::Value = serde_json::from_slice(&proposals.stdout).unwrap();
    assert!(json["features"].as_array().is_some());
}
