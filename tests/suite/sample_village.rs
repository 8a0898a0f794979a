//! Is the committed sample village what the generator makes?

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gdal::Dataset;
use gdal::vector::LayerAccess;
use headwall::formats::{self, RawShape, ReadOptions};
use headwall::settings::{Meaning, Settings};
use headwall::synth;

const TEXT_FORMATS: &[&str] = &["toml", "md", "csv", "geojson", "json", "kml"];

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample-village")
}

fn files(folder: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for folder in [folder.to_path_buf(), folder.join("source")] {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                found.insert(path.file_name().unwrap().to_string_lossy().into_owned(), path);
            }
        }
    }
    found
}

/// Layers and their numbers of features.
fn counts(path: &Path) -> Vec<(String, u64)> {
    let dataset = Dataset::open(path).unwrap();
    dataset.layers().map(|layer| (layer.name(), layer.feature_count())).collect()
}

#[test]
fn the_generator_makes_the_committed_files_again() {
    let fresh = tempfile::tempdir().unwrap();
    synth::write_town(&synth::village(1), fresh.path()).unwrap();
    let (old, new) = (files(&committed()), files(fresh.path()));
    assert_eq!(old.keys().collect::<Vec<_>>(), new.keys().collect::<Vec<_>>());
    for (name, path) in &new {
        let ending = path.extension().unwrap().to_string_lossy().into_owned();
        if TEXT_FORMATS.contains(&ending.as_str()) {
            assert!(
                fs::read(path).unwrap() == fs::read(&old[name]).unwrap(),
                "{name} differs; if that is meant, run `headwall synth village --seed 1` and commit its files"
            );
        } else if ending == "gpkg" || ending == "shp" {
            assert_eq!(counts(path), counts(&old[name]), "{name}");
        }
    }
}

#[test]
fn the_committed_town_file_is_readable_and_says_that_all_is_invented() {
    let text = fs::read_to_string(committed().join("headwall.toml")).unwrap();
    let settings = Settings::parse(&text).unwrap();
    assert!(settings.synthetic);
    for layer in &settings.layers {
        assert!(committed().join(&layer.path).is_file(), "{}", layer.path);
    }
}

#[test]
fn every_layer_reads_back_with_the_fields_that_the_town_file_names() {
    let made = synth::village(1);
    let settings = Settings::parse(&made.toml).unwrap();
    for layer in &settings.layers {
        let column = |meaning| layer.fields.get(&meaning).map(|m| m.field.clone());
        let options = ReadOptions { layer: layer.layer.clone(), xy: column(Meaning::X).zip(column(Meaning::Y)), ..ReadOptions::default() };
        let read = formats::read(&committed().join(&layer.path), &options).unwrap();
        let file = made.files.iter().find(|f| f.path == layer.path).unwrap();
        let source = file.layers.iter().find(|l| layer.layer.as_ref().is_none_or(|name| &l.name == name)).unwrap();
        assert_eq!(read.features.len(), source.features.len(), "{}", layer.name);
        assert!(read.issues.is_empty() && read.doubts.is_empty(), "{}: {:?} {:?}", layer.name, read.issues, read.doubts);
        for mapping in layer.fields.values() {
            assert!(read.field(&mapping.field).is_some(), "{}: {}", layer.name, mapping.field);
        }
        if layer.name != "unit_listing" {
            assert!(read.features.iter().all(|f| matches!(f.shape, RawShape::Shape(_))), "{}", layer.name);
        }
    }
}

#[test]
fn every_land_use_class_is_known_to_the_rules() {
    let rules = headwall::rules::Rules::embedded().unwrap();
    let made = synth::village(1);
    let parcels = made.files.iter().flat_map(|f| &f.layers).find(|l| l.name == "parcels").unwrap();
    let at = parcels.field("PROP_CLASS").unwrap();
    for feature in &parcels.features {
        let formats::Value::Text(class) = &feature.values[at] else { panic!("{feature:?}") };
        assert!(rules.land_use("nys", class).is_some(), "{class}");
    }
    assert!(rules.pollutant("suds").is_ok());
    let car_wash = rules.sites_of_business(Some("7542"), Some("811192"));
    assert!(!car_wash.is_empty());
}

#[test]
fn the_sample_stays_small_and_every_owner_is_a_placeholder() {
    let all = files(&committed());
    let bytes: u64 = all.values().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(bytes < 5_000_000, "{bytes}");
    let parcels = fs::read_to_string(&all["parcels.geojson"]).unwrap();
    for (field, count) in [
        ("PRIMARY_OWNER", parcels.matches("(synthetic)\",\"MAIL_ADDR\"").count()),
        ("MAIL_ADDR", parcels.matches("(synthetic)\"},\"geometry\"").count()),
    ] {
        assert_eq!(count, parcels.matches(&format!("\"{field}\":")).count(), "{field}");
    }
}

#[test]
fn a_town_is_not_written_over_another() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("headwall.toml"), "name = \"Elsewhere\"\n").unwrap();
    let error = synth::write_town(&synth::village(1), folder.path()).unwrap_err();
    assert!(error.to_string().contains("a town in this folder already"), "{error}");
}
