//! Every folder of `tests/cases` (or of `HEADWALL_CASES`) is one situation with its right answer.
//!
//! The format is that of `tests/cases/README.md`. Adding a situation is adding a folder; a folder that cannot be read fails.

use std::fs;
use std::path::{Path, PathBuf};

mod answers;
mod town_file;

/// Situations whose part of the product does not exist yet, by name: HTTP and tiles.
const PENDING: &[&str] = &["api-awkward-ids", "api-behind-a-proxy", "api-paging", "tile-feature-ids"];

fn folder() -> PathBuf {
    match std::env::var_os("HEADWALL_CASES") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"),
    }
}

/// Copies a folder, files with write permission, so that nothing of the original can change.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::write(&target, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

#[test]
fn cases() {
    let root = folder();
    let mut names: Vec<String> = fs::read_dir(&root)
        .unwrap_or_else(|cause| panic!("{} cannot be read: {cause}", root.display()))
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(!names.is_empty(), "{} holds no situations", root.display());
    let only = std::env::var("HEADWALL_CASE").ok();
    let (mut passed, mut pending, mut failed) = (0, Vec::new(), Vec::new());
    for name in &names {
        if only.as_ref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        if PENDING.contains(&name.as_str()) {
            pending.push(name.clone());
            continue;
        }
        let work = tempfile::tempdir().unwrap();
        let given = work.path().join("given");
        copy(&root.join(name), &given);
        let faults = std::panic::catch_unwind(|| answers::run(&given, work.path())).unwrap_or_else(|cause| {
            let text = cause.downcast_ref::<String>().cloned().or_else(|| cause.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            vec![format!("panicked: {}", text.unwrap_or_default())]
        });
        if faults.is_empty() { passed += 1 } else { failed.push((name.clone(), faults)) }
    }
    for (name, faults) in &failed {
        println!("FAILED {name}");
        faults.iter().for_each(|fault| println!("    {fault}"));
    }
    if !pending.is_empty() {
        println!("pending: {}", pending.join(", "));
    }
    println!("{passed} passed, {} failed", failed.len());
    assert!(failed.is_empty(), "{} of {} situations have another answer", failed.len(), names.len());
}

/// The runner must be able to fail: a right situation with one expectation made wrong.
#[test]
fn a_wrong_answer_is_noticed() {
    let work = tempfile::tempdir().unwrap();
    let given = work.path().join("given");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/snap-small-gaps"), &given);
    let right = fs::read_to_string(given.join("expect.json")).unwrap();
    for (from, to) in
        [("\"P3\", \"P4\"]", "\"P3\"]"), ("\"must\": [\"A\", \"B\"]", "\"must\": [\"A\", \"C\"]"), ("\"usable\": 4", "\"usable\": 3")]
    {
        assert!(right.contains(from));
        fs::write(given.join("expect.json"), right.replacen(from, to, 1)).unwrap();
        let again = tempfile::tempdir().unwrap();
        assert!(!answers::run(&given, again.path()).is_empty(), "{to} was not noticed");
    }
}
