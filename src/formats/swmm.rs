//! Which nodes, links and areas does this SWMM model hold?
//!
//! Section names and the names in them are matched without regard to case, as SWMM does; a link's node ids are given in the
//! node's own spelling. A node without coordinates is kept, never put at (0, 0).

use std::collections::HashMap;
use std::path::Path;

use geo::{Coord, Geometry, LineString, Point, Polygon};

use super::geojson::stem;
use super::table::Table;
use super::{RawFeature, RawLayer, RawShape, Value, checked_place, file_name, text};
use crate::data_issue::{DataIssue, IssueCode};
use crate::error::{Error, Result};

/// A SWMM model as three layers with fields of fixed names.
///
/// Nodes: `name`, `kind` (word of the structure vocabulary), `invert` (elevation), `max_depth`, `rim` (where a depth is given), `tag`.
/// Links: `name`, `kind` (word of the conduit vocabulary), `node_from`, `node_to`, `offset_from`, `offset_to`, `length`, `roughness`,
/// `section` (SWMM's word), `shape` (ours), `width`, `height`, `barrels`, `pressurised`, `tag`.
/// Areas: `name`, `drains_to`, `rain_gage`, `area`, `tag`.
///
/// # Units
/// Lengths and levels are feet or metres as [`is_metric`](Self::is_metric) says.
#[derive(Clone, Debug, PartialEq)]
pub struct SwmmModel {
    /// Junctions, outfalls, storage units and dividers.
    pub nodes: RawLayer,
    /// Conduits, pumps, orifices, weirs and outlets.
    pub links: RawLayer,
    /// Subcatchments.
    pub areas: RawLayer,
    /// True where lengths are in metres, false for feet.
    pub is_metric: bool,
    /// True where link offsets are elevations, false where they are heights above the node's invert.
    pub offsets_are_elevations: bool,
}

/// Reads a SWMM input file.
///
/// # Errors
/// A file that cannot be read, or that has no section of a drainage model.
pub fn read(path: &Path) -> Result<SwmmModel> {
    let (text, issues) = text::read(path, None)?;
    let mut model = read_text(path, &text)?;
    model.nodes.issues.splice(0..0, issues);
    Ok(model)
}

type Rows<'a> = Vec<(usize, Vec<&'a str>)>;

struct Sections<'a>(HashMap<String, Rows<'a>>);

impl<'a> Sections<'a> {
    fn rows(&self, name: &str) -> &[(usize, Vec<&'a str>)] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

const NODE_SECTIONS: [(&str, &str); 4] =
    [("junctions", "junction"), ("outfalls", "outfall"), ("storage", "pond"), ("dividers", "regulator")];
const LINK_SECTIONS: [(&str, &str); 5] =
    [("conduits", "pipe"), ("pumps", "pump"), ("orifices", "orifice"), ("weirs", "weir"), ("outlets", "orifice")];

fn sections(text: &str) -> Sections<'_> {
    let mut all: HashMap<String, Rows<'_>> = HashMap::new();
    let mut current = String::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split(';').next().unwrap_or_default().trim();
        if let Some(name) = line.strip_prefix('[') {
            current = name.split(']').next().unwrap_or_default().trim().to_lowercase();
            all.entry(current.clone()).or_default();
        } else if !line.is_empty()
            && let Some(rows) = all.get_mut(&current)
        {
            rows.push((at + 1, words(line)));
        }
    }
    Sections(all)
}

/// Words between blanks; quotes hold blanks together.
fn words(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        out.push(word);
        rest = after.trim_start();
    }
    out
}

fn read_text(path: &Path, text: &str) -> Result<SwmmModel> {
    let sections = sections(text);
    let known = NODE_SECTIONS.iter().chain(&LINK_SECTIONS).any(|(name, _)| sections.0.contains_key(*name));
    if !known {
        let mut found: Vec<&str> = sections.0.keys().map(String::as_str).collect();
        found.sort_unstable();
        return Err(Error::input("this is no SWMM model")
            .file(path)
            .found(if found.is_empty() { "no section".to_owned() } else { format!("sections {}", found.join(", ")) })
            .expected("at least one of [JUNCTIONS], [OUTFALLS], [STORAGE], [CONDUITS]")
            .hint("export the project again as a SWMM 5 input file (.inp)"));
    }
    let option = |name: &str| {
        let row = sections.rows("options").iter().rev().find(|(_, w)| w.first().is_some_and(|k| k.eq_ignore_ascii_case(name)));
        row.and_then(|(_, w)| w.get(1)).map(|v| v.to_ascii_uppercase())
    };
    let is_metric = matches!(option("FLOW_UNITS").as_deref(), Some("CMS" | "LPS" | "MLD"));
    let offsets_are_elevations = option("LINK_OFFSETS").as_deref() == Some("ELEVATION");
    let mut reader = Reader { path, sections: &sections, nodes: HashMap::new(), offsets_are_elevations, issues: Vec::new() };
    let nodes = reader.nodes();
    let links = reader.links();
    let areas = reader.areas();
    let mut model = SwmmModel { nodes, links, areas, is_metric, offsets_are_elevations };
    model.nodes.issues = reader.issues;
    Ok(model)
}

struct Node {
    spelling: String,
    invert: Option<f64>,
    place: Option<Coord>,
}

struct Reader<'a> {
    path: &'a Path,
    sections: &'a Sections<'a>,
    nodes: HashMap<String, Node>,
    offsets_are_elevations: bool,
    issues: Vec<DataIssue>,
}

/// A row under way.
struct Row<'t> {
    table: &'t mut Table,
    values: Vec<Value>,
}

impl Row<'_> {
    fn text(&mut self, name: &str, text: Option<&str>) {
        let value = text.map_or(Value::Null, |t| Value::Text(t.to_owned()));
        self.table.put(&mut self.values, name, value);
    }

    fn number(&mut self, name: &str, number: Option<f64>) {
        self.table.put(&mut self.values, name, number.map_or(Value::Null, Value::Real));
    }
}

fn parsed(words: &[&str], at: usize) -> Option<f64> {
    words.get(at).and_then(|w| w.parse::<f64>().ok()).filter(|v| v.is_finite())
}

fn fold(name: &str) -> String {
    name.to_lowercase()
}

impl<'a> Reader<'a> {
    fn layer(&self, name: &str) -> RawLayer {
        RawLayer::new(self.path, format!("{} {name}", stem(self.path)))
    }

    fn tags(&self, kind: &str) -> HashMap<String, &'a str> {
        let rows = self.sections.rows("tags").iter().filter(|(_, w)| w.len() > 2 && w[0].eq_ignore_ascii_case(kind));
        rows.map(|(_, w)| (fold(w[1]), w[2])).collect()
    }

    fn undefined(&mut self, section: &str, names: Vec<&str>) {
        let mut seen: Vec<&str> = Vec::new();
        for name in names {
            if !seen.contains(&name) {
                seen.push(name);
            }
        }
        for name in seen {
            let issue = DataIssue::new(IssueCode::UndefinedName, "")
                .id(name)
                .file(file_name(self.path))
                .message(format!("[{section}] speaks of {name}, which no section defines"));
            self.issues.push(issue);
        }
    }

    fn nodes(&mut self) -> RawLayer {
        let sections = self.sections;
        let mut places: HashMap<String, Result<Coord, String>> = HashMap::new();
        for (_, words) in sections.rows("coordinates") {
            if words.len() < 3 {
                continue;
            }
            let place = match (parsed(words, 1), parsed(words, 2)) {
                (Some(x), Some(y)) => checked_place(x, y),
                _ => Err("coordinate is no number".to_owned()),
            };
            places.insert(fold(words[0]), place);
        }
        let tags = self.tags("node");
        let mut layer = self.layer("nodes");
        let mut table = Table::default();
        for (section, kind) in NODE_SECTIONS {
            for (row, words) in sections.rows(section) {
                let name = words[0];
                let mut out = Row { table: &mut table, values: Vec::new() };
                let invert = parsed(words, 1);
                let depth = if matches!(section, "junctions" | "storage") { parsed(words, 2) } else { None };
                out.text("name", Some(name));
                out.text("kind", Some(kind));
                out.number("invert", invert);
                out.number("max_depth", depth);
                // SWMM writes 0 for "as deep as the highest pipe": that is no rim.
                out.number("rim", depth.filter(|d| *d > 0.0).and_then(|d| invert.map(|i| i + d)));
                out.text("tag", tags.get(&fold(name)).copied());
                if section == "outfalls" {
                    out.text("outfall_type", words.get(2).copied());
                }
                let values = out.values;
                let place = places.get(&fold(name));
                let shape = match place {
                    Some(Ok(place)) => RawShape::Shape(Geometry::Point(Point(*place))),
                    Some(Err(reason)) => RawShape::Unreadable(reason.clone()),
                    None => RawShape::None,
                };
                let place = place.and_then(|p| p.as_ref().ok().copied());
                // A name that is defined twice keeps its first meaning; ingest reports the repeat.
                self.nodes.entry(fold(name)).or_insert_with(|| Node { spelling: name.to_owned(), invert, place });
                layer.features.push(RawFeature { row: *row, feature_id: None, shape, bad_height: false, values });
            }
        }
        table.finish(&mut layer);
        let unknown =
            sections.rows("coordinates").iter().filter(|(_, w)| !self.nodes.contains_key(&fold(w[0]))).map(|(_, w)| w[0]).collect();
        self.undefined("COORDINATES", unknown);
        layer
    }

    fn links(&mut self) -> RawLayer {
        let sections = self.sections;
        let mut bends: HashMap<String, Vec<Result<Coord, String>>> = HashMap::new();
        for (_, words) in sections.rows("vertices") {
            let place = match (parsed(words, 1), parsed(words, 2)) {
                (Some(x), Some(y)) => checked_place(x, y),
                _ => Err("coordinate is no number".to_owned()),
            };
            bends.entry(fold(words[0])).or_default().push(place);
        }
        let profiles: HashMap<String, &Vec<&str>> = sections.rows("xsections").iter().map(|(_, w)| (fold(w[0]), w)).collect();
        let tags = self.tags("link");
        let mut layer = self.layer("links");
        let mut table = Table::default();
        let mut defined: HashMap<String, ()> = HashMap::new();
        for (section, kind) in LINK_SECTIONS {
            for (row, words) in sections.rows(section) {
                let name = words[0];
                defined.insert(fold(name), ());
                let (from, to) = (words.get(1).copied(), words.get(2).copied());
                let mut out = Row { table: &mut table, values: Vec::new() };
                out.text("name", Some(name));
                let profile = profiles.get(&fold(name)).map(|w| w.as_slice()).unwrap_or_default();
                let section_word = profile.get(1).map(|w| w.to_ascii_uppercase());
                let shape = section_word.as_deref().map_or("unknown", shape_word);
                out.text("kind", Some(if section == "conduits" && shape == "open" { "channel" } else { kind }));
                out.text("node_from", from.map(|n| self.spelling(n)));
                out.text("node_to", to.map(|n| self.spelling(n)));
                let (offset_from, offset_to) = match section {
                    "conduits" => (self.offset(words, 5, from), self.offset(words, 6, to)),
                    "orifices" | "weirs" => (self.offset(words, 4, from), None),
                    "outlets" => (self.offset(words, 3, from), None),
                    _ => (None, None),
                };
                out.number("offset_from", offset_from);
                out.number("offset_to", offset_to);
                let conduit = section == "conduits";
                out.number("length", parsed(words, 3).filter(|_| conduit));
                out.number("roughness", parsed(words, 4).filter(|_| conduit));
                out.text("section", section_word.as_deref());
                out.text("shape", Some(shape));
                let first = parsed(profile, 2).filter(|v| *v > 0.0);
                let second = parsed(profile, 3).filter(|v| *v > 0.0);
                let round = shape == "circular";
                out.number("width", if round { first } else { second });
                out.number("height", first.filter(|_| !round));
                out.number("barrels", parsed(profile, 6).filter(|v| *v >= 1.0));
                out.text(
                    "pressurised",
                    Some(if section == "pumps" || section_word.as_deref() == Some("FORCE_MAIN") { "yes" } else { "no" }),
                );
                out.text("tag", tags.get(&fold(name)).copied());
                let values = out.values;
                let shape = self.course(from, to, bends.get(&fold(name)).map(Vec::as_slice).unwrap_or_default());
                layer.features.push(RawFeature { row: *row, feature_id: None, shape, bad_height: false, values });
            }
        }
        table.finish(&mut layer);
        let unknown = sections.rows("vertices").iter().filter(|(_, w)| !defined.contains_key(&fold(w[0]))).map(|(_, w)| w[0]).collect();
        self.undefined("VERTICES", unknown);
        layer
    }

    fn spelling<'n>(&'n self, name: &'n str) -> &'n str {
        self.nodes.get(&fold(name)).map_or(name, |node| &node.spelling)
    }

    /// An offset as it stands; `*` means the node's own invert.
    fn offset(&self, words: &[&str], at: usize, node: Option<&str>) -> Option<f64> {
        match words.get(at) {
            Some(&"*") if self.offsets_are_elevations => self.nodes.get(&fold(node?))?.invert,
            Some(&"*") => Some(0.0),
            _ => parsed(words, at),
        }
    }

    /// The line over the bends; nothing where an end has no place, since half a line would lie.
    fn course(&self, from: Option<&str>, to: Option<&str>, bends: &[Result<Coord, String>]) -> RawShape {
        let place = |node: Option<&str>| self.nodes.get(&fold(node?))?.place;
        let (Some(start), Some(end)) = (place(from), place(to)) else { return RawShape::None };
        let mut line = vec![start];
        for bend in bends {
            match bend {
                Ok(bend) => line.push(*bend),
                Err(reason) => return RawShape::Unreadable(reason.clone()),
            }
        }
        line.push(end);
        RawShape::Shape(Geometry::LineString(LineString(line)))
    }

    fn areas(&mut self) -> RawLayer {
        let sections = self.sections;
        let mut rings: HashMap<String, Vec<Coord>> = HashMap::new();
        let mut bad: HashMap<String, String> = HashMap::new();
        for (_, words) in sections.rows("polygons") {
            match (parsed(words, 1), parsed(words, 2)) {
                (Some(x), Some(y)) => match checked_place(x, y) {
                    Ok(place) => rings.entry(fold(words[0])).or_default().push(place),
                    Err(reason) => _ = bad.insert(fold(words[0]), reason),
                },
                _ => _ = bad.insert(fold(words[0]), "coordinate is no number".to_owned()),
            }
        }
        let tags = self.tags("subcatch");
        let mut layer = self.layer("subcatchments");
        let mut table = Table::default();
        let mut defined: HashMap<String, ()> = HashMap::new();
        for (row, words) in sections.rows("subcatchments") {
            let name = words[0];
            defined.insert(fold(name), ());
            let mut out = Row { table: &mut table, values: Vec::new() };
            out.text("name", Some(name));
            out.text("drains_to", words.get(2).map(|n| self.spelling(n)));
            out.text("rain_gage", words.get(1).copied());
            out.number("area", parsed(words, 3));
            out.text("tag", tags.get(&fold(name)).copied());
            let values = out.values;
            let shape = match (bad.get(&fold(name)), rings.get(&fold(name))) {
                (Some(reason), _) => RawShape::Unreadable(reason.clone()),
                (None, Some(ring)) if ring.len() > 2 => RawShape::Shape(Geometry::Polygon(Polygon::new(LineString(ring.clone()), vec![]))),
                _ => RawShape::None,
            };
            layer.features.push(RawFeature { row: *row, feature_id: None, shape, bad_height: false, values });
        }
        table.finish(&mut layer);
        let unknown = sections.rows("polygons").iter().filter(|(_, w)| !defined.contains_key(&fold(w[0]))).map(|(_, w)| w[0]).collect();
        self.undefined("Polygons", unknown);
        layer
    }
}

/// Our word for SWMM's cross-section.
fn shape_word(section: &str) -> &'static str {
    match section {
        "CIRCULAR" | "FILLED_CIRCULAR" | "FORCE_MAIN" => "circular",
        "RECT_CLOSED" | "RECT_TRIANGULAR" | "RECT_ROUND" | "MODBASKETHANDLE" => "box",
        "RECT_OPEN" | "TRAPEZOIDAL" | "TRIANGULAR" | "PARABOLIC" | "POWER" | "IRREGULAR" | "STREET" => "open",
        "HORIZ_ELLIPSE" | "VERT_ELLIPSE" | "ARCH" | "EGG" | "HORSESHOE" | "GOTHIC" | "CATENARY" | "SEMIELLIPTICAL" | "BASKETHANDLE"
        | "SEMICIRCULAR" => "elliptical",
        "DUMMY" => "unknown",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "[TITLE]\na; b\n[Options]\nflow_units LPS\nLINK_OFFSETS elevation\n[Junctions]\nMH-1\t10 2\n J3 9\n[outfalls]\nOut1 8 FREE NO\n\
        [CONDUITS]\nC1 mh-1 OUT1 20 0.013 10.5 *\nC2 J3 Out1 20 0.013 0 0\nC3 J9 Out1 1 1 0 0\n[PUMPS]\nP1 J3 MH-1 curve ON\n\
        [XSECTIONS]\nc1 RECT_CLOSED 1 2 0 0 2\n[COORDINATES]\nMH-1 0 0\nout1 10 0\nJ8 1 1\n[VERTICES]\nC1 5 5\nC7 1 1\n\
        [SUBCATCHMENTS]\nS1 rg mh-1 3\n[Polygons]\nS1 0 0\nS1 1 0\nS1 1 1\n[TAGS]\nNode MH-1 \"Elm St\"\n";

    fn at<'l>(layer: &'l RawLayer, row: usize, field: &str) -> &'l Value {
        &layer.features[row].values[layer.field(field).unwrap()]
    }

    #[test]
    fn a_model_written_by_hand_is_read() {
        let model = read_text(Path::new("model.inp"), MODEL).unwrap();
        assert!(model.is_metric && model.offsets_are_elevations);
        assert_eq!(model.nodes.features.len(), 3);
        assert_eq!(at(&model.nodes, 0, "tag"), &Value::Text("Elm St".into()));
        assert_eq!(at(&model.links, 0, "node_from"), &Value::Text("MH-1".into()));
        assert_eq!(at(&model.links, 0, "node_to"), &Value::Text("Out1".into()));
        assert_eq!(at(&model.links, 0, "offset_to"), &Value::Real(8.0));
        assert_eq!(at(&model.links, 0, "width"), &Value::Real(2.0));
        assert!(matches!(&model.links.features[0].shape, RawShape::Shape(Geometry::LineString(l)) if l.0.len() == 3));
        assert_eq!(model.links.features[1].shape, RawShape::None);
        assert_eq!(at(&model.links, 3, "pressurised"), &Value::Text("yes".into()));
        assert_eq!(at(&model.areas, 0, "drains_to"), &Value::Text("MH-1".into()));
        let undefined: Vec<_> = model.nodes.issues.iter().flat_map(|i| i.ids.clone()).collect();
        assert_eq!(undefined, ["J8", "C7"]);
    }

    #[test]
    fn what_is_no_model_is_refused() {
        assert!(read_text(Path::new("a.inp"), "[TITLE]\nx\n").unwrap_err().to_string().contains("title"));
        assert!(read_text(Path::new("a.inp"), "hello").unwrap_err().to_string().contains("no section"));
    }
}
