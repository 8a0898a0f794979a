//! No input makes the readers die: every file gives features or an error, in good time.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use headwall::formats::{self, ReadOptions, swmm};
use headwall::settings::Settings;
use proptest::prelude::*;

use super::cases;

const GEOJSON: &str = r#"{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"EPSG:2261"}},"features":[
{"type":"Feature","id":7,"properties":{"ID":"P1","n":9007199254740993,"d":"2020-01-01","x":null},"geometry":{"type":"LineString","coordinates":[[1.5,2],[3,4e2,5]]}},
{"type":"Feature","id":"8","properties":{"ID":"P2"},"geometry":{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}},
{"type":"Feature","properties":null,"geometry":{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[-75.1,43.2]}]}}]}"#;
const ESRI: &str = r#"{"displayFieldName":"","geometryType":"esriGeometryPolyline","spatialReference":{"wkid":102717,"latestWkid":2261},
"fields":[{"name":"OBJECTID","type":"esriFieldTypeOID"},{"name":"D","type":"esriFieldTypeDate"},{"name":"S","type":"esriFieldTypeString","domain":{"type":"codedValue","codedValues":[{"name":"Active","code":"A"}]}}],
"features":[{"attributes":{"OBJECTID":1,"D":1577836800000,"S":"A"},"geometry":{"paths":[[[1,2],[3,4]],[[5,6],[7,8]]]}},
{"attributes":{"OBJECTID":2,"D":null,"S":""},"geometry":{"curvePaths":[[[0,0],{"c":[[3,3],[1,4]]},{"b":[[1,2],[3,4],[5,6]]},{"a":[[9,9],[8,8],1,0,0]}]]}}],"exceededTransferLimit":true}"#;
const CSV: &str = "ID;Y;X;NAME\r\n0012;43,5;-75,25;\"a; \"\"b\"\"\"\r\n;;;\r\n7;1;2;\u{e9}\r\n";
const KML: &str = r##"<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document><Folder><name>Pipes</name><Placemark id="a"><name>P1</name>
<ExtendedData><Data name="d"><value>12</value></Data><SchemaData schemaUrl="#s"><SimpleData name="k">v</SimpleData></SchemaData></ExtendedData>
<LineString><coordinates>-75.1,43.1,0 -75.2,43.2</coordinates></LineString></Placemark></Folder></Document></kml>"##;
const INP: &str = "[TITLE]\nx\n[OPTIONS]\nFLOW_UNITS CFS\n[JUNCTIONS]\n;;a\nJ1 100 5 0 0 0\nJ2 99.5\n[OUTFALLS]\nO1 90 FREE NO\n[CONDUITS]\nC1 J1 J2 100 0.01 0 0\nC2 J2 O1 400 0.01 0 * 0\n[XSECTIONS]\nC1 CIRCULAR 1.5 0 0 0 1\n[COORDINATES]\nJ1 0 0\nJ2 10 0\nO1 20 1e3\n[VERTICES]\nC1 5 1\n[POLYGONS]\nS1 0 0\nS1 1 1\n[SUBCATCHMENTS]\nS1 * J1 5 10 10 1 0\n";
const TOWN: &str = "name = \"T\"\nsnap_tolerance = \"1 ft\"\ndirection = [\"node_ids\", \"digitised\"]\n[[layer]]\nname = \"pipes\"\nrole = \"conduits\"\npath = \"p.geojson\"\nonly = { A = [1, \"b*\"] }\n[layer.fields]\nid = \"ID\"\nstatus = { field = \"S\", codes = { live = [\"A\"] }, when_missing = \"live\" }\n[[layer.rule]]\nwhen = { X = \"*\" }\nset = { kind = \"pipe\" }\n";

/// A change to bytes.
#[derive(Clone, Debug)]
enum Change {
    Set(usize, u8),
    Cut(usize),
    Drop(usize, usize),
    Repeat(usize, usize),
    Put(usize, &'static str),
}

fn change() -> impl Strategy<Value = Change> {
    let words = prop::sample::select(vec![
        "[",
        "{",
        "}",
        "]",
        "\"",
        "null",
        "1e999",
        "-",
        "NaN",
        ",",
        "\u{feff}",
        "[[[[[[",
        "99999999999999999999",
        "\n",
        "\0",
        "é",
        ";",
        "*",
        "0",
    ]);
    prop_oneof![
        3 => (any::<usize>(), any::<u8>()).prop_map(|(at, b)| Change::Set(at, b)),
        1 => any::<usize>().prop_map(Change::Cut),
        2 => (any::<usize>(), 1..40usize).prop_map(|(at, n)| Change::Drop(at, n)),
        2 => (any::<usize>(), 1..60usize).prop_map(|(at, n)| Change::Repeat(at, n)),
        3 => (any::<usize>(), words).prop_map(|(at, w)| Change::Put(at, w)),
    ]
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let length = bytes.len().max(1);
        match *change {
            _ if bytes.is_empty() => {}
            Change::Set(at, byte) => bytes[at % length] = byte,
            Change::Cut(at) => bytes.truncate(at % length),
            Change::Drop(at, count) => drop(bytes.drain(at % length..(at % length + count).min(length))),
            Change::Repeat(at, count) => {
                let again = bytes[at % length..(at % length + count).min(length)].to_vec();
                bytes.splice(at % length..at % length, again);
            }
            Change::Put(at, word) => drop(bytes.splice(at % length..at % length, word.bytes())),
        }
    }
    bytes
}

fn survives(name: &str, bytes: &[u8], beside: &[(&str, Vec<u8>)]) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, bytes).expect("written");
    for (name, bytes) in beside {
        fs::write(folder.path().join(name), bytes).expect("written");
    }
    let begun = Instant::now();
    if name.ends_with(".inp") {
        let _ = swmm::read(&path);
    } else {
        let _ = formats::read(&path, &ReadOptions::default());
        let xy = Some(("X".to_owned(), "Y".to_owned()));
        let _ = formats::read(&path, &ReadOptions { xy, separator: Some(';'), decimal: Some(','), ..ReadOptions::default() });
        let _ = formats::layers(&path);
    }
    // A shared machine may stop for a moment; what grows without bound takes far longer.
    prop_assert!(begun.elapsed() < Duration::from_secs(5), "{} took {:?}", name, begun.elapsed());
    Ok(())
}

fn case_file(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name)).expect("a case file")
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400), kind in 0..8usize) {
        let name = ["a.geojson", "a.json", "a.csv", "a.kml", "a.inp", "a.shp", "a.gpkg", "a.dbf"][kind];
        survives(name, &bytes, &[])?;
    }

    #[test]
    fn changed_texts_are_survived(kind in 0..5usize, changes in prop::collection::vec(change(), 1..6)) {
        let (name, text) =
            [("a.geojson", GEOJSON), ("a.json", ESRI), ("a.csv", CSV), ("a.kml", KML), ("a.inp", INP)][kind];
        survives(name, &changed(text.as_bytes().to_vec(), &changes), &[])?;
    }

    #[test]
    fn changed_town_files_are_survived(changes in prop::collection::vec(change(), 1..6), text in "\\PC{0,200}") {
        let _ = Settings::parse(&text);
        let bytes = changed(TOWN.as_bytes().to_vec(), &changes);
        let _ = Settings::parse(&String::from_utf8_lossy(&bytes));
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn changed_shapefiles_are_survived(shp in prop::collection::vec(change(), 0..4), dbf in prop::collection::vec(change(), 0..4),
                                       shx in prop::collection::vec(change(), 0..2), kind in 0..3usize) {
        let case = ["z-and-m-no-data/storm", "shapefile-rings-wound-wrong/parcels", "deleted-records-and-dates/storm"][kind];
        let part = |ending: &str| case_file(&format!("{case}.{ending}"));
        let beside = [("a.dbf", changed(part("dbf"), &dbf)), ("a.shx", changed(part("shx"), &shx)), ("a.prj", part("prj"))];
        survives("a.shp", &changed(part("shp"), &shp), &beside)?;
    }

    #[test]
    fn changed_geopackages_are_survived(changes in prop::collection::vec(change(), 1..6)) {
        survives("a.gpkg", &changed(case_file("loop-of-three/network.gpkg"), &changes), &[])?;
    }
}
