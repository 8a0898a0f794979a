//! A situation's inputs and settings as a town file: its words are mapped to ours here and nowhere else.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;

/// The town file, and for each input the name of its layer.
pub struct TownFile {
    pub text: String,
    /// By place among the inputs: role and layer name.
    pub layers: Vec<(String, String)>,
}

fn quote(text: &str) -> String {
    format!("{:?}", text)
}

fn words(value: &Json) -> String {
    let list: Vec<String> = value.as_array().unwrap().iter().map(|v| v.as_str().map_or_else(|| v.to_string(), quote)).collect();
    format!("[{}]", list.join(", "))
}

fn length(value: &Json) -> String {
    quote(&format!("{} {}", value["value"], value["unit"].as_str().unwrap()))
}

/// Writes the town file of a situation; `crs` adds references that the user gives later, by file.
pub fn write(expect: &Json, given: &Path, crs: &BTreeMap<String, String>) -> TownFile {
    let run = &expect["run"];
    let mut text = String::from("name = \"a situation\"\n");
    // Areas and lengths are stated in the projected CRS in which the situation was drawn: that of its reports.
    let drawn_in = run["discharges"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|d| d["crs"].as_str())
        .find(|crs| crs.starts_with("EPSG:") && *crs != "EPSG:4326");
    if let Some(crs) = drawn_in {
        text.push_str(&format!("working_crs = {}\n", quote(crs)));
    }
    for (theirs, ours) in [
        ("snap_tolerance", "snap_tolerance"),
        ("near_miss", "near_miss"),
        ("parcel_distance", "parcel_distance"),
        ("receiving_distance", "receiving_distance"),
        ("plausible_invert_within", "plausible_invert_within"),
    ] {
        if !run[theirs].is_null() {
            text.push_str(&format!("{ours} = {}\n", length(&run[theirs])));
        }
    }
    for key in ["unit_distance", "water_tolerance", "downstream_limit", "upstream_limit"] {
        if !run[key].is_null() {
            text.push_str(&format!("{key} = {}\n", length(&run[key])));
        }
    }
    if let Some(date) = run["programme_date"].as_str() {
        text.push_str(&format!("programme_date = {{ date = {}, source = \"the situation\" }}\n", quote(date)));
    }
    if !run["direction"].is_null() {
        text.push_str(&format!("direction = {}\n", words(&run["direction"])));
    }
    let mut layers: Vec<(String, String)> = Vec::new();
    for input in expect["inputs"].as_array().unwrap() {
        let role = input["role"].as_str().unwrap();
        let path = input["path"].as_str().unwrap();
        let stem = Path::new(path).file_stem().unwrap().to_string_lossy().into_owned();
        let mut name = stem.clone();
        if layers.iter().any(|(_, known)| *known == name) || input["layer"].is_string() && expect["http"].is_null() {
            name = format!("{stem}_{}", input["layer"].as_str().unwrap_or(role));
        }
        text.push_str(&layer(input, run, role, &name, &given.join(path), crs.get(path)));
        layers.push((role.to_owned(), name));
    }
    TownFile { text, layers }
}

fn layer(input: &Json, run: &Json, role: &str, name: &str, path: &Path, crs: Option<&String>) -> String {
    let mut text = format!("\n[[layer]]\nname = {}\nrole = {}\npath = {}\n", quote(name), quote(role), quote(&path.to_string_lossy()));
    let mut put = |key: &str, value: String| text.push_str(&format!("{key} = {value}\n"));
    if let Some(inner) = input["layer"].as_str() {
        put("layer", quote(inner));
    }
    if let Some(crs) = input["crs"].as_str().map(str::to_owned).or_else(|| crs.cloned()) {
        put("crs", quote(&crs));
    }
    for key in ["separator", "decimal"] {
        if let Some(mark) = input[key].as_str() {
            put(key, quote(mark));
        }
    }
    if role == "conduits" && !run["pressurised"].is_null() {
        let pressurised = &run["pressurised"];
        put(
            "pressurised",
            format!("{{ field = {}, values = {} }}", quote(pressurised["field"].as_str().unwrap()), words(&pressurised["values"])),
        );
    }
    let fields = &input["fields"];
    let mut lines: Vec<String> = Vec::new();
    for (theirs, ours) in [
        ("id", "id"),
        ("node_from", "node_from"),
        ("node_to", "node_to"),
        ("name", "name"),
        ("x", "x"),
        ("y", "y"),
        ("unit", "unit"),
        ("category", "category"),
        ("cause", "cause"),
        ("cycle", "cycle"),
        ("state", "state"),
        ("water", "water"),
        ("approved_on", "approved_on"),
        ("reviewed_on", "reviewed_on"),
        ("permit", "permit"),
        ("appendix", "appendix"),
        ("date", "date"),
        ("standard", "standard"),
        ("receiving_water", "receiving_water"),
        ("fcode", "fcode"),
        ("hydrosequence", "hydrosequence"),
        ("other_system", "other_system"),
        ("drains_to", "drains_to"),
    ] {
        if let Some(field) = fields[theirs].as_str() {
            lines.push(format!("{ours} = {}", quote(field)));
        }
    }
    for (theirs, ours) in [("inv_from", "invert_from"), ("inv_to", "invert_to")] {
        if let Some(field) = fields[theirs].as_str() {
            lines.push(format!("{ours} = {{ field = {}, unit = \"ft\" }}", quote(field)));
        }
    }
    for key in ["impaired", "on_303d_list", "stormwater_requirement", "allocations_met"] {
        if let Some(field) = fields[key].as_str() {
            lines.push(format!(
                "{key} = {{ field = {}, codes = {{ yes = [\"Y\", \"yes\"], no = [\"N\", \"no\"], unknown = [\"?\", \"unknown\"] }} }}",
                quote(field)
            ));
        }
    }
    if let Some(field) = fields["extent"].as_str() {
        lines.push(format!("extent = {}", quote(field)));
    }
    if let Some(field) = fields["outfall_kind"].as_str() {
        lines.push(format!("outfall_kind = {}", quote(field)));
    }
    if let Some(field) = fields["kind"].as_str().filter(|_| role == "structures") {
        let codes = "outfall = \"OF\", catch_basin = \"CB\", manhole = \"MH\", pump_station = \"PS\"";
        lines.push(format!("kind = {{ field = {}, codes = {{ {codes} }} }}", quote(field)));
    }
    if let Some(field) = fields["flow"].as_str() {
        let values = &fields["flow_values"];
        let codes = format!("with = {}, against = {}", words(&values["with"]), words(&values["against"]));
        lines.push(format!("flow = {{ field = {}, codes = {{ {codes} }} }}", quote(field)));
    }
    if let Some(field) = fields["status"].as_str() {
        let status = &run["status"];
        let mut parts = vec![format!("field = {}", quote(status["field"].as_str().unwrap_or(field)))];
        parts.push(format!("codes = {{ live = {} }}", words(&status["live"])));
        for (theirs, ours) in [("missing_is", "when_missing"), ("unknown_is", "when_unknown")] {
            if let Some(word) = status[theirs].as_str() {
                parts.push(format!("{ours} = {}", quote(word)));
            }
        }
        lines.push(format!("status = {{ {} }}", parts.join(", ")));
    }
    if !lines.is_empty() {
        text.push_str("[layer.fields]\n");
        lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    }
    text
}
