//! Is the committed sample village what the generator makes?

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gdal::Dataset;
use gdal::vector::LayerAccess;
use headwall::settings::Settings;
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
