//! Can every example of a town file in the documents be read?

use std::fs;
use std::path::Path;

use headwall::settings::Settings;

fn text(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The TOML blocks of a Markdown text, also indented ones.
fn examples(markdown: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for line in markdown.lines() {
        match (&mut open, line.trim()) {
            (None, "```toml") => open = Some(String::new()),
            (Some(_), "```") => found.extend(open.take()),
            (Some(block), line) => {
                block.push_str(line);
                block.push('\n');
            }
            _ => {}
        }
    }
    found
}

#[test]
fn every_example_of_a_town_file_parses() {
    const TOWN: &str = "name = \"T\"\n";
    const LAYER: &str = "[[layer]]\nname = \"l\"\nrole = \"conduits\"\npath = \"l.gpkg\"\n";
    let mut count = 0;
    for document in ["README.md", "docs/town-file.md"] {
        for example in examples(&text(document)) {
            count += 1;
            // An example is a whole file, a town's setting, a layer, a layer's setting, or a field.
            let ways = [
                example.clone(),
                format!("{TOWN}{example}"),
                format!("{TOWN}{LAYER}{example}"),
                format!("{TOWN}{LAYER}[layer.fields]\n{example}"),
            ];
            assert!(ways.iter().any(|way| Settings::parse(way).is_ok()), "{document}:\n{example}");
        }
    }
    assert!(count >= 15, "{count}");
}

#[test]
fn every_word_of_a_town_file_is_explained() {
    use headwall::settings::{DirectionSource, Meaning, Role};
    let page = text("docs/town-file.md");
    let missing: Vec<&str> = Role::ALL
        .iter()
        .map(|r| r.word())
        .chain(Meaning::ALL.iter().map(|m| m.word()))
        .chain(
            [DirectionSource::NodeIds, DirectionSource::Inverts, DirectionSource::FlowField, DirectionSource::Digitised].map(|d| d.word()),
        )
        .filter(|word| !page.contains(&format!("`{word}`")) && !page.contains(&format!("\"{word}\"")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
