//! How does a longitudinal section leave us? As JSON, as CSV rows, and as a drawing that says in words what it shows.

use std::fmt::Write;

use serde_json::{Map, Value as Json, json};

use crate::error::Result;
use crate::profile::{Profile, Reach, station_label};

use super::{Outward, csv, put_travel, rounded};

/// Columns of the CSV: one row a conduit, with the place at which it begins and the one at which it ends.
const COLUMNS: &[&str] = &[
    "from",
    "to",
    "conduit_id",
    "from_m",
    "to_m",
    "ground_up_m",
    "ground_down_m",
    "invert_up_m",
    "invert_down_m",
    "crown_up_m",
    "crown_down_m",
    "height_mm",
    "slope_percent",
    "reversed_slope",
    "drop_at_start_m",
    "certainty",
    "vertical_datum",
    "network_version",
];

fn datum(profile: &Profile) -> &str {
    profile.datum.as_deref().unwrap_or("the town's unnamed datum")
}

fn level(value_m: Option<f64>) -> Json {
    value_m.map(|v| rounded(v, 3)).into()
}

fn reach_row(outward: &Outward, profile: &Profile, reach: &Reach) -> Map<String, Json> {
    let at = |m: f64| profile.stations.iter().min_by(|a, b| (a.at_m - m).abs().total_cmp(&(b.at_m - m).abs()));
    let (start, end) = (at(reach.from_m), at(reach.to_m));
    let name = |node| outward.basis.network.node_name(&outward.basis.inventory, node);
    let own = json!({
        "from": start.map(|s| name(s.node)),
        "to": end.map(|s| name(s.node)),
        "conduit_id": reach.conduit.map(|c| outward.conduit_id(c).to_string()),
        "from_m": rounded(reach.from_m, 2),
        "to_m": rounded(reach.to_m, 2),
        "ground_up_m": level(start.and_then(|s| s.ground_m)),
        "ground_down_m": level(end.and_then(|s| s.ground_m)),
        "invert_up_m": level(reach.invert_up_m),
        "invert_down_m": level(reach.invert_down_m),
        "crown_up_m": level(reach.crown_up_m()),
        "crown_down_m": level(reach.crown_down_m()),
        "height_mm": reach.height_m.map(|h| rounded(h * 1000.0, 0)),
        "slope_percent": level(reach.slope_percent),
        "reversed_slope": reach.slope_percent.map(|_| reach.is_reversed()),
        "drop_at_start_m": level(start.and_then(|s| s.drop_m)),
        "certainty": reach.certainty.word(),
    });
    match own {
        Json::Object(own) => own,
        _ => Map::new(),
    }
}

/// The section as JSON.
pub fn json(outward: &Outward, profile: &Profile) -> Json {
    let inventory = &outward.basis.inventory;
    let name = |node| outward.basis.network.node_name(inventory, node);
    let stations: Vec<Json> = profile
        .stations
        .iter()
        .map(|s| {
            json!({
                "name": name(s.node),
                "structure_id": station_label(inventory, s),
                "at_m": rounded(s.at_m, 2),
                "ground_m": level(s.ground_m),
                "invert_m": level(s.invert_m),
                "drop_m": level(s.drop_m),
            })
        })
        .collect();
    let reaches: Vec<Json> = profile.reaches.iter().map(|r| Json::Object(reach_row(outward, profile, r))).collect();
    let mut head = Map::new();
    let mut put = |name: &str, value: Json| {
        head.insert(name.to_owned(), value);
    };
    put("town", outward.basis.settings.name.as_str().into());
    put("synthetic", outward.basis.settings.synthetic.into());
    put("network_version", outward.version.into());
    put("vertical_datum", profile.datum.as_deref().into());
    put("length_m", rounded(profile.path.length_m, 2).into());
    put("certainty", profile.path.certainty.word().into());
    put("several_ways_part_at", profile.partings.iter().map(|n| name(*n)).collect::<Vec<_>>().into());
    put("left_out", profile.left_out.clone().into());
    put("stations", stations.into());
    put("reaches", reaches.into());
    put_travel(&mut head, profile.path.travel);
    Json::Object(head)
}

/// The section as CSV, one row a conduit.
///
/// # Errors
/// None in practice.
pub fn csv_rows(outward: &Outward, profile: &Profile) -> Result<String> {
    let rows: Vec<Map<String, Json>> = profile
        .reaches
        .iter()
        .map(|reach| {
            let mut row = reach_row(outward, profile, reach);
            row.insert("vertical_datum".to_owned(), datum(profile).into());
            row.insert("network_version".to_owned(), outward.version.into());
            row
        })
        .collect();
    csv::rows(COLUMNS, &rows)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A step of 1, 2 or 5 times a power of ten that divides a span into at most so many parts.
fn nice_step(span: f64, most: f64) -> f64 {
    let raw = (span / most).max(1e-6);
    let power = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|k| k * power).find(|s| *s >= raw).unwrap_or(10.0 * power)
}

/// The frame of the drawing, in its own units: 720 across fit Letter between half-inch margins.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 470.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 118.0;
const BOTTOM: f64 = 92.0;

/// The section as an SVG drawing: `in_feet` sets the units that people read.
pub fn svg(outward: &Outward, profile: &Profile, in_feet: bool) -> String {
    let inventory = &outward.basis.inventory;
    let (per_m, unit) = if in_feet { (1.0 / 0.3048, "ft") } else { (1.0, "m") };
    let name = |at: usize| profile.stations.get(at).map_or_else(String::new, |s| outward.basis.network.node_name(inventory, s.node));
    let title = format!("Profile from {} down to {}", name(0), name(profile.stations.len().saturating_sub(1)));
    let levels: Vec<f64> = (profile.reaches.iter())
        .flat_map(|r| [r.invert_up_m, r.invert_down_m, r.crown_up_m(), r.crown_down_m()])
        .chain(profile.stations.iter().flat_map(|s| [s.ground_m, s.invert_m]))
        .flatten()
        .map(|m| m * per_m)
        .collect();
    let (low, high) = levels.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
    let (low, high) = if low.is_finite() { (low, high.max(low + 1.0)) } else { (0.0, 1.0) };
    let margin = (high - low) * 0.06;
    // Room below for the slopes in words.
    let (low, high) = (low - 4.5 * margin, high + margin);
    let length = (profile.path.length_m * per_m).max(1e-6);
    let x = |m: f64| LEFT + m * per_m / length * (WIDTH - LEFT - RIGHT);
    let y = |m: f64| TOP + (high - m * per_m) / (high - low) * (HEIGHT - TOP - BOTTOM);
    let reversed: Vec<String> = profile
        .reaches
        .iter()
        .filter(|r| r.is_reversed())
        .filter_map(|r| Some(format!("{} rises {:.2} %", outward.conduit_id(r.conduit?), -r.slope_percent?)))
        .collect();
    let unknown = profile.reaches.iter().filter(|r| r.invert_up_m.is_none() || r.invert_down_m.is_none()).count();
    let reversed_words = if reversed.is_empty() {
        "No conduit is known to rise in the direction of flow.".to_owned()
    } else {
        format!("{}.", reversed.join("; "))
    };
    let desc = format!(
        "{} conduits over {length:.0} {unit}, water from left to right. {reversed_words} {unknown} with an invert that is not known.",
        profile.reaches.len()
    );
    let mut out = String::new();
    // Writing to a String cannot fail.
    let mut put = |line: String| {
        let _ = writeln!(out, "{line}");
    };
    put(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"7.5in\" height=\"{:.2}in\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"t d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"10\" fill=\"#000\">",
        7.5 * HEIGHT / WIDTH
    ));
    put(format!("<title id=\"t\">{}</title>", escaped(&title)));
    put(format!("<desc id=\"d\">{}</desc>", escaped(&desc)));
    put(format!("<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>"));
    let synthetic = if outward.basis.settings.synthetic { " (SYNTHETIC DATA)" } else { "" };
    put(format!("<text x=\"{LEFT}\" y=\"18\" font-size=\"13\" font-weight=\"bold\">{}</text>", escaped(&title)));
    put(format!(
        "<text x=\"{LEFT}\" y=\"32\">{}{synthetic}, network {}; levels in {unit} above {}; the way is {}</text>",
        escaped(&outward.basis.settings.name),
        escaped(outward.version),
        escaped(datum(profile)),
        profile.path.certainty.word()
    ));
    let step = nice_step(high - low, 7.0);
    let mut at = (low / step).ceil() * step;
    while at <= high {
        let line_y = y(at / per_m);
        put(format!("<path d=\"M{LEFT} {line_y:.1}H{:.1}\" stroke=\"#ccc\" stroke-width=\"0.6\"/>", WIDTH - RIGHT));
        let decimals = if step < 1.0 { 1 } else { 0 };
        put(format!("<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{at:.decimals$}</text>", LEFT - 5.0, line_y + 3.5));
        at += step;
    }
    let axis_y = HEIGHT - BOTTOM;
    put(format!("<path d=\"M{LEFT} {axis_y}H{:.1}\" stroke=\"#000\" stroke-width=\"0.8\"/>", WIDTH - RIGHT));
    let step = nice_step(length, 8.0);
    let mut at = 0.0;
    while at <= length {
        let tick_x = x(at / per_m);
        put(format!("<path d=\"M{tick_x:.1} {axis_y}v4\" stroke=\"#000\" stroke-width=\"0.8\"/>"));
        put(format!("<text x=\"{tick_x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{at:.0}</text>", axis_y + 15.0));
        at += step;
    }
    put(format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">distance along the pipe, {unit}; water runs from left to right</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        axis_y + 29.0
    ));
    for pair in profile.stations.iter().filter(|s| s.ground_m.is_some()).collect::<Vec<_>>().windows(2) {
        let (Some(a), Some(b)) = (pair[0].ground_m, pair[1].ground_m) else { continue };
        put(format!(
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"#555\" stroke-width=\"1.2\" stroke-dasharray=\"6 3\" fill=\"none\"/>",
            x(pair[0].at_m),
            y(a),
            x(pair[1].at_m),
            y(b)
        ));
    }
    let mut free_from = f64::NEG_INFINITY;
    let mut unnamed = 0;
    for station in profile.stations.iter().filter(|s| s.structure.is_some()) {
        let at = x(station.at_m);
        let inverts = profile.reaches.iter().flat_map(|r| {
            let end = ((r.to_m - station.at_m).abs() < 1e-6).then_some(r.invert_down_m).flatten();
            let start = ((r.from_m - station.at_m).abs() < 1e-6).then_some(r.invert_up_m).flatten();
            [end, start]
        });
        let bottom = inverts.chain([station.invert_m]).flatten().fold(f64::INFINITY, f64::min);
        let top_y = station.ground_m.map_or(TOP, y);
        let bottom_y = if bottom.is_finite() { y(bottom) } else { axis_y };
        let dash = if station.ground_m.is_some() && bottom.is_finite() { "" } else { " stroke-dasharray=\"1 3\"" };
        put(format!("<path d=\"M{at:.1} {top_y:.1}V{bottom_y:.1}\" stroke=\"#000\" stroke-width=\"1\"{dash}/>"));
        if at < free_from {
            unnamed += 1;
            continue;
        }
        free_from = at + 11.0;
        // Upright, so that the last one stays on the paper; a longer id than fits is cut, and the table has it whole.
        let label = station.structure.map_or_else(String::new, |s| outward.structure_id(s).plain_id().to_owned());
        let unknown = if station.ground_m.is_none() { " (no rim)" } else { "" };
        let room = 14usize.saturating_sub(unknown.len());
        let label = if label.chars().count() > room { label.chars().take(room.saturating_sub(1)).chain(['…']).collect() } else { label };
        put(format!(
            "<text transform=\"translate({:.1} {:.1}) rotate(-90)\">{}{unknown}</text>",
            (at + 3.0).min(WIDTH - 3.0),
            TOP - 5.0,
            escaped(&label)
        ));
    }
    let mut free_from = f64::NEG_INFINITY;
    for reach in &profile.reaches {
        let (from, to) = (x(reach.from_m), x(reach.to_m));
        let width = if reach.is_reversed() { 2.6 } else { 1.6 };
        match (reach.invert_up_m, reach.invert_down_m) {
            (Some(up), Some(down)) => {
                if let (Some(crown_up), Some(crown_down)) = (reach.crown_up_m(), reach.crown_down_m()) {
                    put(format!(
                        "<path d=\"M{from:.1} {:.1}L{to:.1} {:.1}L{to:.1} {:.1}L{from:.1} {:.1}Z\" fill=\"#dfe8f2\" stroke=\"#1b3a5c\" stroke-width=\"0.8\"/>",
                        y(crown_up),
                        y(crown_down),
                        y(down),
                        y(up)
                    ));
                }
                put(format!("<path d=\"M{from:.1} {:.1}L{to:.1} {:.1}\" stroke=\"#1b3a5c\" stroke-width=\"{width}\"/>", y(up), y(down)));
            }
            (up, down) => {
                for (at, known) in [(from, up), (to, down)] {
                    if let Some(known) = known {
                        put(format!("<circle cx=\"{at:.1}\" cy=\"{:.1}\" r=\"2.4\" fill=\"#1b3a5c\"/>", y(known)));
                    }
                }
            }
        }
        let words = match reach.slope_percent {
            Some(slope) if slope < 0.0 => format!("RISES {:.2} %", -slope),
            Some(slope) => format!("{slope:.2} %"),
            None => "slope unknown".to_owned(),
        };
        // A label that would lie on its neighbour is left to the table; a reversed slope is always said.
        let middle = (from + to) / 2.0;
        if middle < free_from && !reach.is_reversed() {
            continue;
        }
        free_from = middle + 11.0;
        let weight = if reach.is_reversed() { " font-weight=\"bold\"" } else { "" };
        put(format!(
            "<text transform=\"translate({:.1} {:.1}) rotate(-90)\" font-size=\"8.5\"{weight}>{words}</text>",
            middle + 3.0,
            axis_y - 4.0
        ));
    }
    put(format!(
        "<text x=\"{LEFT}\" y=\"{:.1}\">dashed: ground between rims; band: pipe, invert to crown; dot: invert without its other end; no rim: ground unknown</text>",
        axis_y + 46.0
    ));
    let mut notes = vec![if reversed.is_empty() { reversed_words } else { format!("Reversed slopes: {reversed_words}") }];
    if !profile.partings.is_empty() {
        notes.push("Several ways lead there; this is the surest, then the shortest.".to_owned());
    }
    if !profile.left_out.is_empty() {
        notes.push(format!("{} levels of another datum or kind are left out.", profile.left_out.len()));
    }
    if unnamed > 0 {
        notes.push(format!("{unnamed} places stand too close to be named; the table names them."));
    }
    let notes = notes.join(" ");
    let mut line = String::new();
    let mut lines = Vec::new();
    for word in notes.split(' ') {
        if line.chars().count() + word.chars().count() > 108 {
            lines.push(std::mem::take(&mut line));
        }
        line.push_str(word);
        line.push(' ');
    }
    lines.push(line);
    if lines.len() > 3 {
        lines.truncate(2);
        lines.push("… the table and the JSON have the rest.".to_owned());
    }
    for (at, line) in lines.iter().enumerate() {
        put(format!("<text x=\"{LEFT}\" y=\"{:.1}\">{}</text>", axis_y + 59.0 + 12.0 * at as f64, escaped(line.trim_end())));
    }
    put("</svg>".to_owned());
    out
}
