//! The readers together, over the situations of `tests/cases` and over bytes that are none.

use std::path::PathBuf;

use super::*;

fn case(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(path)
}

fn read_case(path: &str, layer: Option<&str>) -> RawLayer {
    read(&case(path), &ReadOptions { layer: layer.map(str::to_owned), ..ReadOptions::default() }).unwrap()
}

fn of<'l>(layer: &'l RawLayer, row: usize, field: &str) -> &'l Value {
    &layer.features[row].values[layer.field(field).unwrap()]
}

/// Every file of the cases reads, or fails with an error that names it; nothing is written beside any of them.
#[test]
fn every_case_reads_or_says_why() {
    let mut failed = Vec::new();
    let mut folders: Vec<_> = std::fs::read_dir(case("")).unwrap().map(|f| f.unwrap().path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    assert!(folders.len() >= 62);
    let listing = || -> Vec<_> {
        let mut files: Vec<_> = folders.iter().flat_map(|f| std::fs::read_dir(f).unwrap()).map(|f| f.unwrap().path()).collect();
        files.sort();
        files
    };
    let before = listing();
    for path in &before {
        let name = file_name(path);
        if ["md", "dbf", "shx", "prj", "cpg"].iter().any(|e| name.ends_with(e)) || name == "expect.json" {
            continue;
        }
        let readable = if name.ends_with(".inp") {
            swmm::read(path).map(|_| ())
        } else {
            layers(path).and_then(|all| {
                all.into_iter().try_for_each(|l| {
                    read(path, &ReadOptions { layer: (!name.ends_with("kml")).then_some(l), ..ReadOptions::default() }).map(|_| ())
                })
            })
        };
        if let Err(error) = readable {
            assert!(error.to_string().contains(&name), "{error}");
            failed.push(path.strip_prefix(case("")).unwrap().to_string_lossy().into_owned());
        }
    }
    assert_eq!(before, listing());
    assert_eq!(failed, ["esri-error-saved/pipes.json", "shapefile-without-shx/storm.shp"]);
}

#[test]
fn domains_of_a_geodatabase_come_along() {
    let layer = read_case("flow-code-domain/utility.gdb", Some("StormMain"));
    let field = &layer.fields[layer.field("FLOW_DIR").unwrap()];
    assert_eq!(field.domain["2"], "Against digitized direction");
    let error = read(&case("abandoned-and-proposed/network.gpkg"), &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("pipes") && error.contains("structures"), "{error}");
}

#[test]
fn curves_heights_and_mixed_types_are_as_they_should() {
    let curved = read_case("curved-pipe/network.gpkg", Some("pipes"));
    assert!(curved.features.iter().all(|f| matches!(f.shape, RawShape::Shape(_))));
    assert!(curved.features.iter().any(|f| matches!(&f.shape, RawShape::Shape(Geometry::LineString(l)) if l.0.len() > 10)));
    let heights = read_case("z-and-m-no-data/storm.shp", None);
    assert_eq!(heights.features.iter().map(|f| f.bad_height).collect::<Vec<_>>(), [false, true, true]);
    let mixed = read_case("mixed-geometry-layer/network.gpkg", Some("pipes"));
    assert_eq!(mixed.features.iter().filter(|f| f.shape == RawShape::None).count(), 2);
    assert_eq!(mixed.features.len(), 7);
}

#[test]
fn letters_of_old_shapefiles() {
    let layer = read_case("dbf-without-cpg/parcels.shp", None);
    assert_eq!(of(&layer, 0, "ADDR"), &Value::Text("12 Peña Court".into()));
    assert_eq!(layer.issues[0].code, IssueCode::EncodingAssumed);
}

#[test]
fn names_that_lie_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("a.gpkg", &b"<OGRVRTDataSource/>"[..]),
        ("a.shp", b"<x/>"),
        ("a.kml", b"{}"),
        ("a.kmz", b"PK"),
        ("a.xyz", b""),
        ("a.geojson", b"<OGRVRTDataSource>"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = read(&path, &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
    assert!(read(Path::new("/vsicurl/http://127.0.0.1/a.geojson"), &ReadOptions::default()).is_err());
    assert!(read(Path::new("http://127.0.0.1/a.geojson"), &ReadOptions::default()).is_err());
}

#[test]
fn a_table_is_joined_by_row() {
    let folder = tempfile::tempdir().unwrap();
    for part in ["shp", "shx", "prj"] {
        std::fs::copy(case(&format!("null-shapes/storm.{part}")), folder.path().join(format!("storm.{part}"))).unwrap();
    }
    let path = folder.path().join("storm.shp");
    let alone = read(&path, &ReadOptions::default()).unwrap();
    assert!(alone.fields.is_empty() && alone.issues[0].code == IssueCode::InputIncomplete);
    let table = folder.path().join("rows.csv");
    std::fs::write(&table, format!("ID\n{}", "a\n".repeat(alone.features.len()))).unwrap();
    let options = ReadOptions { attributes_by_row: Some(table.clone()), ..ReadOptions::default() };
    let joined = read(&path, &options).unwrap();
    assert_eq!(of(&joined, 0, "ID"), &Value::Text("a".into()));
    assert!(joined.issues.is_empty());
    std::fs::write(&table, "ID\na\n").unwrap();
    assert!(read(&path, &options).unwrap_err().to_string().contains("rows.csv"));
}

#[test]
fn a_geopackage_is_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("network.gpkg");
    std::fs::copy(case("curved-pipe/network.gpkg"), &path).unwrap();
    let before = std::fs::read(&path).unwrap();
    read(&path, &ReadOptions { layer: Some("pipes".into()), ..ReadOptions::default() }).unwrap();
    assert_eq!(before, std::fs::read(&path).unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

mod any_bytes {
    use proptest::prelude::*;

    use super::*;

    /// Sound files of each format, into which changes are made.
    const SEEDS: [(&str, &str); 8] = [
        ("geojson", "big-ids-and-twin-names/pipes.geojson"),
        ("json", "esri-rings/parcels.json"),
        ("json", "dates-in-milliseconds/pipes.json"),
        ("csv", "csv-ids-with-zeros/structures.csv"),
        ("kml", "kml-two-folders-one-name/storm.kml"),
        ("inp", "inp-loose-writing/model.inp"),
        ("shp", "z-and-m-no-data/storm.shp"),
        ("dbf", "deleted-records-and-dates/storm.dbf"),
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        /// No change of a file makes a reader panic; it gives features or an error that names the file.
        #[test]
        fn changed_files_give_features_or_an_error(
            seed in 0..SEEDS.len(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
            cut in prop::option::of(any::<prop::sample::Index>()),
        ) {
            let (extension, source) = SEEDS[seed];
            let mut bytes = std::fs::read(case(source)).unwrap();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(format!("changed.{extension}"));
            std::fs::write(&path, &bytes).unwrap();
            if extension == "shp" {
                std::fs::copy(case("z-and-m-no-data/storm.shx"), folder.path().join("changed.shx")).unwrap();
            }
            let error = if extension == "inp" { swmm::read(&path).err() } else { read(&path, &ReadOptions::default()).err() };
            if let Some(error) = error {
                prop_assert!(error.to_string().contains("changed."), "{error}");
            }
        }
    }
}
