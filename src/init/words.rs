//! What does a name say? Fields' and layers' names cut into words, and codes read as our words; all as data in `data/presets/`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::Deserialize;

use crate::settings::{Pattern, Role};

/// A name, cut into words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Name {
    /// The words that are known, as the notions they stand for, in order.
    pub notions: Vec<Vec<&'static str>>,
    /// All its words, lower case.
    pub words: Vec<String>,
    /// Whether it may have been cut to ten letters, as shapefiles do.
    pub may_be_cut: bool,
}

#[derive(Deserialize)]
struct WordsFile {
    words: BTreeMap<String, Vec<String>>,
    role: Vec<RoleWords>,
}

#[derive(Deserialize)]
struct RoleWords {
    role: String,
    words: Vec<String>,
}

struct Words {
    /// From a word to the notions that it can stand for.
    notions: BTreeMap<String, Vec<&'static str>>,
    roles: Vec<RoleWords>,
}

fn words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| {
        let file: WordsFile =
            toml::from_str(include_str!("../../data/presets/words.toml")).unwrap_or(WordsFile { words: BTreeMap::new(), role: Vec::new() });
        let mut notions: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
        for (notion, all) in file.words {
            // One list for the life of the program.
            let notion: &'static str = Box::leak(notion.into_boxed_str());
            for word in all {
                notions.entry(word).or_default().push(notion);
            }
        }
        Words { notions, roles: file.role }
    })
}

impl Name {
    /// Cuts a name into words: at signs, at changes of case, at digits, then by the known words.
    pub fn new(name: &str) -> Self {
        let may_be_cut = name.chars().count() == 10;
        let mut parts: Vec<String> = Vec::new();
        for piece in name.split(|c: char| !c.is_alphanumeric()).filter(|p| !p.is_empty()) {
            let whole = piece.to_lowercase();
            if words().notions.contains_key(&whole) {
                parts.push(whole);
                continue;
            }
            for camel in camel(piece) {
                parts.extend(segmented(&camel));
            }
        }
        // "Up" + "stream" is one word.
        let mut joined: Vec<String> = Vec::new();
        for part in parts {
            let direction = joined.last().is_some_and(|l| ["up", "down", "dwn", "dn"].contains(&l.as_str()));
            if part == "stream" && direction {
                continue;
            }
            joined.push(part);
        }
        if may_be_cut
            && let Some(last) = joined.last_mut()
            && !words().notions.contains_key(last.as_str())
            && last.len() >= 4
        {
            let longer: BTreeSet<&String> = words().notions.keys().filter(|w| w.starts_with(last.as_str())).collect();
            if let Some(first) = longer.into_iter().next() {
                *last = first.clone();
            }
        }
        // A last scrap of two or three letters, by the words that end such names most.
        if may_be_cut
            && let Some(last) = joined.last_mut()
            && (2..=3).contains(&last.len())
            && (last == "st" || !words().notions.contains_key(last.as_str()))
        {
            const ENDS: [&str; 9] = ["size", "type", "material", "elevation", "status", "shape", "length", "diameter", "year"];
            if let Some(word) = ENDS.iter().find(|w| w.starts_with(last.as_str())) {
                *last = (*word).to_owned();
            }
        }
        // "Downstre_1" is what two equal beginnings become.
        if may_be_cut && joined.len() == 2 && joined[1].chars().all(|c| c.is_ascii_digit()) && joined[0].len() >= 6 {
            let cut = joined[0].clone();
            if let Some(word) = words().notions.keys().find(|w| w.starts_with(&cut)) {
                joined[0] = word.clone();
            }
        }
        let notions = joined.iter().filter_map(|w| words().notions.get(w).cloned()).collect();
        Name { notions, words: joined, may_be_cut }
    }

    /// Whether one of its words stands for the notion.
    pub fn has(&self, notion: &str) -> bool {
        self.notions.iter().any(|n| n.contains(&notion))
    }

    /// Whether it has any of the notions.
    pub fn has_any(&self, notions: &[&str]) -> bool {
        notions.iter().any(|n| self.has(n))
    }

    /// Its words without those of the notions: what is left of `UP_INVERT` without the direction is `invert`.
    pub fn without(&self, notions: &[&str]) -> Vec<String> {
        let of = |word: &String| words().notions.get(word).is_some_and(|n| n.iter().any(|n| notions.contains(n)));
        self.words.iter().filter(|w| !of(w)).cloned().collect()
    }
}

/// The parts of `UpstreamInvert`; `INVERTUp` and plain words stay as they are.
fn camel(piece: &str) -> Vec<String> {
    let chars: Vec<char> = piece.chars().collect();
    let mut parts = Vec::new();
    let mut word = String::new();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map(|b| chars[b]);
        let edge = before.is_some_and(|b| {
            (b.is_lowercase() && c.is_uppercase())
                || (b.is_ascii_digit() != c.is_ascii_digit())
                || (b.is_uppercase() && c.is_uppercase() && chars.get(at + 1).is_some_and(|n| n.is_lowercase()))
        });
        if edge && !word.is_empty() {
            parts.push(std::mem::take(&mut word));
        }
        word.extend(c.to_lowercase());
    }
    if !word.is_empty() {
        parts.push(word);
    }
    parts
}

/// A run of letters as the fewest known words that fill it; the run itself where none do.
fn segmented(run: &str) -> Vec<String> {
    let known = &words().notions;
    if known.contains_key(run) || !run.is_ascii() || run.len() > 40 {
        return vec![run.to_owned()];
    }
    // best[i]: the words that fill the first i letters.
    let mut best: Vec<Option<Vec<&str>>> = vec![None; run.len() + 1];
    best[0] = Some(Vec::new());
    for end in 1..=run.len() {
        for start in 0..end {
            let word = &run[start..end];
            if word.len() < 2 || !known.contains_key(word) {
                continue;
            }
            let Some(before) = best[start].clone() else { continue };
            if best[end].as_ref().is_none_or(|b| before.len() + 1 < b.len()) {
                let mut more = before;
                more.push(word);
                best[end] = Some(more);
            }
        }
    }
    if let Some(found) = &best[run.len()] {
        return found.iter().map(|w| (*w).to_owned()).collect();
    }
    // Something unknown before or behind the known words: `ztopcov`, `stmpipeid`, `prclid`.
    for skip in 1..=4.min(run.len().saturating_sub(3)) {
        let rest = segmented_whole(&run[skip..]);
        if let Some(mut found) = rest {
            found.insert(0, run[..skip].to_owned());
            return found;
        }
        if let Some(mut found) = segmented_whole(&run[..run.len() - skip]) {
            found.push(run[run.len() - skip..].to_owned());
            return found;
        }
    }
    vec![run.to_owned()]
}

fn segmented_whole(run: &str) -> Option<Vec<String>> {
    let known = &words().notions;
    if known.contains_key(run) {
        return Some(vec![run.to_owned()]);
    }
    (2..run.len()).rev().find_map(|cut| {
        let (head, tail) = run.split_at(cut);
        (known.contains_key(head) && tail.len() >= 2).then(|| segmented_whole(tail)).flatten().map(|mut rest| {
            rest.insert(0, head.to_owned());
            rest
        })
    })
}

/// The roles that words of a file's or layer's name suggest, the likeliest first, each with the word.
pub(super) fn roles_named(name: &str) -> Vec<(Option<Role>, String)> {
    let own: BTreeSet<String> = name
        .split(|c: char| !c.is_alphanumeric())
        .flat_map(|piece| {
            let mut all = camel(piece);
            all.push(piece.to_lowercase());
            all
        })
        .collect();
    let flat: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let mut found = Vec::new();
    for group in &words().roles {
        // Long words are found inside of others and across signs: `stormDrainLines`, `water_mains`; water of storms is another.
        let other_water = group.role == "water_mains" && (flat.contains("storm") || flat.contains("waste"));
        let hit = group.words.iter().find(|w| own.contains(*w) || (w.len() >= 6 && flat.contains(w.as_str()) && !other_water));
        if let Some(word) = hit {
            found.push((Role::ALL.iter().copied().find(|r| r.word() == group.role), word.clone()));
        }
    }
    found
}

type CodeBook = BTreeMap<String, BTreeMap<String, Pattern>>;

fn code_book() -> &'static CodeBook {
    static CODES: OnceLock<CodeBook> = OnceLock::new();
    CODES.get_or_init(|| toml::from_str(include_str!("../../data/presets/codes.toml")).unwrap_or_default())
}

/// How the codes of a column read in one of the vocabularies.
#[derive(Clone, Debug, Default)]
pub(super) struct CodeReading {
    /// Our word for each code.
    pub codes: BTreeMap<String, Vec<String>>,
    /// Rows whose code is read, and not as `unknown`.
    pub read: usize,
    /// Rows whose code says that it is not known.
    pub said_unknown: usize,
    /// Codes that nobody explained, with their rows, commonest first.
    pub open: Vec<(String, usize)>,
}

/// Reads the codes of a column: `status`, `system`, `shape`, `material`, `structure_kind`, `conduit_kind`.
pub(super) fn read_codes(vocabulary: &str, texts: &BTreeMap<String, usize>) -> CodeReading {
    let mut reading = CodeReading::default();
    let Some(book) = code_book().get(vocabulary) else { return reading };
    for (text, count) in texts {
        let plain = text.trim().to_lowercase();
        let exact = book.iter().find(|(_, p)| p.0.contains(&plain));
        let longest = |p: &Pattern| p.0.iter().filter(|one| Pattern(vec![(*one).clone()]).matches(&plain)).map(String::len).max();
        let found = exact.map(|(word, _)| word).or_else(|| {
            book.iter().filter_map(|(word, p)| Some((longest(p)?, word))).max_by_key(|(length, _)| *length).map(|(_, word)| word)
        });
        match found {
            Some(word) => {
                if word == "unknown" {
                    reading.said_unknown += count;
                } else {
                    reading.read += count;
                }
                reading.codes.entry(word.clone()).or_default().push(text.clone());
            }
            None => reading.open.push((text.clone(), *count)),
        }
    }
    reading.open.sort_by(|(a, m), (b, n)| n.cmp(m).then(a.cmp(b)));
    reading
}
