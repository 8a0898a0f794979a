//! Does the source keep to its own layout? The order of the modules, what is used where, and which SQLite is linked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The modules in the order of `src/lib.rs`.
fn modules(lib: &str) -> Vec<String> {
    let name = |line: &str| line.trim().strip_prefix("pub mod ")?.strip_suffix(';').map(str::to_owned);
    lib.lines().filter_map(name).collect()
}

/// Every source file with its path below `src`, with `/` between folders.
fn sources() -> Vec<(String, String)> {
    let src = root().join("src");
    let mut found = Vec::new();
    let mut to_do = vec![src.clone()];
    while let Some(at) = to_do.pop() {
        for entry in fs::read_dir(&at).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                to_do.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(&src).expect("below src").to_string_lossy().replace('\\', "/");
                found.push((name, fs::read_to_string(&path).expect("readable")));
            }
        }
    }
    found.sort();
    found
}

/// The module of a file: `network/cut.rs` and `crs.rs` are of `network` and `crs`.
fn module_of(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}

fn is_test_file(file: &str) -> bool {
    file.ends_with("/tests.rs") || file == "tests.rs"
}

/// The code of a file: without comments, texts and blocks under `#[cfg(test)]`.
fn code(text: &str) -> String {
    let plain = without_comments_and_texts(text);
    let mut kept = String::new();
    let mut rest = plain.as_str();
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let (open, end) = (rest.find('{'), rest.find(';'));
        rest = match (open, end) {
            (Some(open), end) if end.is_none_or(|end| open < end) => {
                let mut depth = 0usize;
                let close = rest.char_indices().find(|&(_, c)| {
                    depth = match c {
                        '{' => depth + 1,
                        '}' => depth.saturating_sub(1),
                        _ => return false,
                    };
                    c == '}' && depth == 0
                });
                debug_assert!(open < rest.len());
                close.map_or("", |(at, _)| &rest[at + 1..])
            }
            (_, Some(end)) => &rest[end + 1..],
            _ => "",
        };
    }
    kept + rest
}

fn without_comments_and_texts(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < letters.len() {
        let next = letters.get(at + 1);
        match letters[at] {
            '/' if next == Some(&'/') => {
                while at < letters.len() && letters[at] != '\n' {
                    at += 1;
                }
            }
            'r' if matches!(next, Some('"' | '#')) && !out.ends_with(|c: char| c.is_alphanumeric() || c == '_') => {
                let hashes = letters[at + 1..].iter().take_while(|c| **c == '#').count();
                if letters.get(at + 1 + hashes) != Some(&'"') {
                    out.push('r');
                    at += 1;
                    continue;
                }
                let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
                at += 2 + hashes;
                while at < letters.len() && !letters[at..].starts_with(&close) {
                    at += 1;
                }
                at += close.len();
            }
            '"' => {
                at += 1;
                while at < letters.len() && letters[at] != '"' {
                    at += if letters[at] == '\\' { 2 } else { 1 };
                }
                at += 1;
            }
            '\'' if letters.get(at + 2) == Some(&'\'') && next != Some(&'\\') => at += 3,
            '\'' if next == Some(&'\\') => {
                at += 3;
                while at < letters.len() && letters[at] != '\'' {
                    at += 1;
                }
                at += 1;
            }
            other => {
                out.push(other);
                at += 1;
            }
        }
    }
    out
}

/// The modules that `crate::` paths name, also in groups: `use crate::{error::Error, town};`.
fn used(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in code.split("crate::").skip(1) {
        let word = |text: &str| text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        if let Some(group) = part.strip_prefix('{') {
            let mut depth = 0;
            let mut begins = true;
            for (at, letter) in group.char_indices() {
                match letter {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => begins = true,
                    c if begins && depth == 0 && !c.is_whitespace() => {
                        names.push(word(&group[at..]));
                        begins = false;
                    }
                    _ => {}
                }
            }
        } else {
            names.push(word(part));
        }
    }
    names
}

/// What breaks the order: a module that uses one below it.
fn violations(order: &[String], file: &str, text: &str) -> Vec<String> {
    let place = |name: &str| order.iter().position(|m| m == name);
    let Some(own) = place(module_of(file)) else { return Vec::new() };
    let below = used(&code(text)).into_iter().filter(|name| place(name).is_some_and(|at| at > own));
    below.map(|name| format!("{file} uses {name}, which stands below it")).collect()
}

#[test]
fn a_module_uses_only_modules_above_it() {
    let order = modules(&fs::read_to_string(root().join("src/lib.rs")).expect("src/lib.rs"));
    assert!(order.len() > 10, "the order was not read: {order:?}");
    let files = sources();
    for (file, _) in &files {
        let known = ["lib.rs", "main.rs"].contains(&file.as_str()) || order.iter().any(|m| m == module_of(file));
        assert!(known, "{file} belongs to no module of src/lib.rs");
    }
    let found: Vec<String> =
        files.iter().filter(|(file, _)| !is_test_file(file)).flat_map(|(file, text)| violations(&order, file, text)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_order_test_sees_what_breaks_the_order() {
    let order: Vec<String> = ["error", "crs", "network", "town"].map(str::to_owned).to_vec();
    let seen = |text: &str| violations(&order, "network/cut.rs", text).len();
    assert_eq!(seen("use crate::town::open;"), 1);
    assert_eq!(seen("use crate::{crs::Crs, town};"), 1);
    assert_eq!(seen("use crate::{\n    crs::{Crs, town},\n    error::Error,\n};"), 0);
    assert_eq!(seen("fn f() -> crate::town::Town { crate::town::open() }"), 2);
    assert_eq!(seen("// crate::town\n/// [`crate::town`]\nuse crate::crs::Crs;"), 0);
    assert_eq!(seen("#[cfg(test)]\nmod tests { use crate::town::open; fn f() {} }\nuse crate::error::Error;"), 0);
    assert_eq!(seen("#[cfg(test)]\nmod tests;\nuse crate::town::open;"), 1);
    assert_eq!(seen("const A: &str = \"crate::town\"; const B: char = '\"'; use crate::town::x;"), 1);
}

fn uses_crate(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let starts = before.is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == ':'));
        let path = code[at + name.len()..].starts_with("::") || code[at + name.len()..].starts_with(';');
        starts && path && !code[..at].trim_end().ends_with("mod")
    })
}

#[test]
fn libraries_stay_where_they_belong() {
    assert!(uses_crate("use gdal::Dataset;", "gdal") && uses_crate("let x = gdal::x();", "gdal"));
    assert!(!uses_crate("mod gdal;", "gdal") && !uses_crate("crate::formats::gdal::open", "gdal") && !uses_crate("my_gdal::x", "gdal"));
    let mut found = Vec::new();
    for (file, text) in sources() {
        let code = code(&text);
        let within = |places: &[&str]| places.iter().any(|p| file.starts_with(p));
        let mut check = |name: &str, places: &[&str]| {
            if uses_crate(&code, name) && !within(places) {
                found.push(format!("{file} uses {name}, which belongs to {}", places.join(", ")));
            }
        };
        // `super::gdal` and `gdal::open` of formats itself are our own module, not the library.
        if !file.starts_with("formats/mod.rs") {
            check("gdal", &["formats/gdal", "formats/write/gdal_write.rs", "crs.rs"]);
        }
        check("gdal_sys", &["formats/gdal", "formats/write/gdal_write.rs", "crs.rs"]);
        for name in ["axum", "tokio"] {
            check(name, &["http/", "cli/serve"]);
        }
        check("clap", &["cli/"]);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn pure_modules_have_no_hash_maps() {
    let order = modules(&fs::read_to_string(root().join("src/lib.rs")).expect("src/lib.rs"));
    let at = |name: &str| order.iter().position(|m| m == name);
    // From settings to fieldwork; what comes after it reads files, clocks or the network.
    let first = at("settings").expect("settings");
    let past = ["fieldwork", "records", "town"].iter().find_map(|m| at(m).map(|i| i + usize::from(*m == "fieldwork"))).expect("an end");
    let pure: Vec<&String> = order[first..past].iter().filter(|m| *m != "formats").collect();
    let mut found = Vec::new();
    for (file, text) in sources().iter().filter(|(f, _)| pure.iter().any(|m| *m == module_of(f)) && !is_test_file(f)) {
        let marked = |line: &str| line.contains("// order never leaves");
        for line in code_lines(text).filter(|line| (line.contains("HashMap") || line.contains("HashSet")) && !marked(line)) {
            found.push(format!("{file}: {}", line.trim()));
        }
    }
    assert!(found.is_empty(), "the order of a hash map is chance; use a BTreeMap, or say `// order never leaves`:\n{}", found.join("\n"));
}

/// Lines that hold code, before the file's tests.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text).lines().filter(|line| !line.trim_start().starts_with("//"))
}

#[test]
fn no_sqlite_of_our_own() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--edges", "features,normal", "--invert", "libsqlite3-sys"])
        .current_dir(root())
        .output();
    match tree {
        Ok(out) if out.status.success() => {
            let text = String::from_utf8_lossy(&out.stdout);
            assert!(text.contains("libsqlite3-sys"), "{text}");
            assert!(!text.contains("feature \"bundled\""), "a bundled SQLite crashes beside libgdal:\n{text}");
        }
        Ok(out) => panic!("cargo tree: {}", String::from_utf8_lossy(&out.stderr)),
        Err(error) => eprintln!("not checked, cargo does not run here: {error}"),
    }
    match Command::new("nm").args(["--defined-only", env!("CARGO_BIN_EXE_headwall")]).output() {
        Ok(out) if out.status.success() => {
            let text = String::from_utf8_lossy(&out.stdout);
            let own: Vec<&str> = text.lines().filter(|l| l.split_whitespace().last().is_some_and(|s| s.starts_with("sqlite3_"))).collect();
            assert!(own.is_empty(), "the binary brings its own SQLite: {}", own.join(", "));
            assert!(text.lines().any(|l| l.ends_with(" main")), "nm shows no symbols, so this proves nothing");
        }
        Ok(out) => eprintln!("not checked, nm says: {}", String::from_utf8_lossy(&out.stderr)),
        Err(error) => eprintln!("not checked, there is no nm here: {error}"),
    }
}
