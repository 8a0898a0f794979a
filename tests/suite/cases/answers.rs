//! Does what the product answers hold what the situation expects? Every key of `expect`, one function each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use geo::{Area, Point};
use headwall::crs::Crs;
use headwall::error::Error;
use headwall::export::{Outward, geojson};
use headwall::inventory::StructureKind;
use headwall::investigate::{Investigation, Report, Whereabouts, find_structure, investigate};
use headwall::network::locate::{Located, Place, locate};
use headwall::town::{self, Imported, Town};
use headwall::trace::{Trace, TraceOptions, Way, trace};
use headwall::waters;
use serde_json::{Map, Value as Json};

use super::town_file;

/// Areas and lengths of the situations are in US survey feet.
const SURVEY_FOOT_M: f64 = 1200.0 / 3937.0;

/// Runs a situation; what does not hold, in words.
pub fn run(given: &Path, work: &Path) -> Vec<String> {
    let text = fs::read_to_string(given.join("expect.json")).unwrap();
    let expect: Json = serde_json::from_str(&text).unwrap();
    let wanted = &expect["expect"];
    let before = digest(given);
    let mut faults = Vec::new();
    let file = town_file::write(&expect, given, &BTreeMap::new());
    let folder = work.join("town");
    match load(&folder, &file.text) {
        Ok((imported, town)) => {
            let ok = wanted["load"] == "ok" || !wanted["or_load_ok"].is_null();
            if !ok {
                faults.push("loads, but should be refused".to_owned());
            } else {
                let wanted = if wanted["load"] == "ok" { wanted } else { &wanted["or_load_ok"] };
                faults.extend(Check { run: &expect["run"], wanted, file: &file, imported: &imported, town: &town }.all());
            }
        }
        Err(error) => {
            let said = said(&error);
            let wanted_error = if wanted["load"] == "error" { &wanted["error"] } else { &wanted["or_load_error"] };
            if wanted_error.is_null() {
                faults.push(format!("is refused: {said}"));
            } else {
                faults.extend(error_faults(wanted_error, &said));
            }
            if folder.join("networks").exists() && fs::read_dir(folder.join("networks")).unwrap().next().is_some() {
                faults.push("something half-loaded is left".to_owned());
            }
        }
    }
    let with_crs = &wanted["then_with_crs"];
    if let Some(object) = with_crs.as_object() {
        let crs = object.iter().filter(|(k, _)| k.contains('.')).map(|(k, v)| (k.clone(), v.as_str().unwrap().to_owned())).collect();
        let file = town_file::write(&expect, given, &crs);
        match load(&work.join("again"), &file.text) {
            Ok((imported, town)) => {
                faults.extend(Check { run: &expect["run"], wanted: with_crs, file: &file, imported: &imported, town: &town }.all())
            }
            Err(error) => faults.push(format!("with the reference given, it is refused: {}", said(&error))),
        }
    }
    if digest(given) != before {
        faults.push("the input files were changed, or others were put beside them".to_owned());
    }
    faults
}

fn load(folder: &Path, town_file: &str) -> Result<(Imported, Town), Error> {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("headwall.toml"), town_file).unwrap();
    let imported = town::import(folder, &mut |_| {})?;
    Ok((imported, town::open(folder)?))
}

fn digest(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut to_do = vec![folder.to_owned()];
    while let Some(at) = to_do.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                to_do.push(path)
            } else {
                files.insert(path.to_string_lossy().into_owned(), fs::read(&path).unwrap()).map_or((), drop)
            }
        }
    }
    files
}

/// The whole message: causes and hint, as the command line prints them.
fn said(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    if let Some(hint) = error.hint_text() {
        text.push_str(&format!(" ({hint})"));
    }
    text
}

fn error_faults(wanted: &Json, said: &str) -> Vec<String> {
    let lower = said.to_lowercase();
    let has = |word: &Json| lower.contains(&word.as_str().unwrap().to_lowercase());
    let list = |key: &str| wanted[key].as_array().cloned().unwrap_or_default();
    let mut faults: Vec<String> =
        list("names").iter().filter(|w| !has(w)).map(|w| format!("the error does not name {w}: {said}")).collect();
    faults.extend(list("says_all").iter().filter(|w| !has(w)).map(|w| format!("the error does not say {w}: {said}")));
    if !list("says_any").is_empty() && !list("says_any").iter().any(has) {
        faults.push(format!("the error says none of {}: {said}", wanted["says_any"]));
    }
    faults
}

fn set(list: &Json) -> BTreeSet<String> {
    list.as_array().map(|l| l.iter().map(|v| v.as_str().unwrap().to_owned()).collect()).unwrap_or_default()
}

struct Check<'a> {
    run: &'a Json,
    wanted: &'a Json,
    file: &'a town_file::TownFile,
    imported: &'a Imported,
    town: &'a Town,
}

impl Check<'_> {
    fn all(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let known = [
            "load",
            "or_load_error",
            "or_load_ok",
            "then_with_crs",
            "counts",
            "values",
            "positions",
            "areas_sqft",
            "lengths_ft",
            "lengths_drawn_ft",
            "upstream",
            "upstream_either",
            "candidates",
            "candidate_count",
            "downstream",
            "outfalls_below",
            "receiving_waters",
            "units",
            "flags",
            "conditions",
            "not_known",
            "water_above",
            "conditions_diff",
            "trace_cautions",
            "trace_error",
            "ambiguous_location",
            "issues",
            "no_issues",
            "issue_unless_traced",
            "dates",
            "texts",
            "input_unchanged",
            "outputs",
            "error",
        ];
        for key in self.wanted.as_object().unwrap().keys().filter(|k| !k.contains('.')) {
            if !known.contains(&key.as_str()) {
                faults.push(format!("the runner does not know the expectation {key}"));
            }
        }
        self.counts(&mut faults);
        self.values(&mut faults);
        self.positions(&mut faults);
        self.measures(&mut faults);
        self.upstream(&mut faults);
        self.candidates(&mut faults);
        self.downstream(&mut faults);
        self.cautions(&mut faults);
        self.conditions(&mut faults);
        self.water_above(&mut faults);
        self.places(&mut faults);
        self.issues(&mut faults);
        self.outputs(&mut faults);
        faults
    }

    fn object(&self, key: &str) -> Map<String, Json> {
        self.wanted[key].as_object().cloned().unwrap_or_default()
    }

    fn list(&self, key: &str) -> Vec<Json> {
        self.wanted[key].as_array().cloned().unwrap_or_default()
    }

    /// The layers of a role; a model stands for conduits and structures.
    fn layers(&self, role: &str) -> Vec<&str> {
        let fits = |r: &str| r == role || (r == "swmm" && matches!(role, "conduits" | "structures"));
        self.file.layers.iter().filter(|(r, _)| fits(r)).map(|(_, name)| name.as_str()).collect()
    }

    fn role_of_table(role: &str) -> &str {
        match role {
            "outfalls" | "ponds" => "structures",
            other => other,
        }
    }

    /// The features of a role as exported: id, GeoJSON feature.
    fn exported(&self, role: &str) -> Vec<(String, Json)> {
        let mut all = Vec::new();
        for layer in self.layers(role) {
            let features = self.town.layer(layer).unwrap();
            let version = self.town.version.to_string();
            let outward = Outward::new(&self.town.basis, &self.town.working, &version).unwrap();
            let collection = geojson::layer(&outward, layer, features);
            let prefix = format!("{}/{layer}/", Self::role_of_table(role));
            for feature in collection["features"].as_array().unwrap() {
                if let Some(id) = feature["id"].as_str().unwrap().strip_prefix(&prefix) {
                    all.push((id.to_owned(), feature.clone()));
                }
            }
        }
        all
    }

    fn feature(&self, role: &str, id: &str) -> Option<Json> {
        let plain = |key: &str| key == id || key.split('~').next() == Some(id);
        self.exported(role).into_iter().find(|(key, _)| plain(key)).map(|(_, feature)| feature)
    }

    fn counts(&self, faults: &mut Vec<String>) {
        for (role, wanted) in self.object("counts") {
            let layers = self.layers(&role);
            let own = self.imported.layers.iter().filter(|l| l.role.word() == role && layers.contains(&l.layer.as_str()));
            let (read, usable) = own.fold((0, 0), |sum, l| (sum.0 + l.read as u64, sum.1 + l.usable as u64));
            for (key, found) in [("read", read), ("usable", usable)] {
                if wanted[key].as_u64().is_some_and(|w| w != found) {
                    faults.push(format!("{role}: {found} {key}, expected {}", wanted[key]));
                }
            }
        }
    }

    fn values(&self, faults: &mut Vec<String>) {
        let mut wanted = self.list("values");
        for key in ["dates", "texts"] {
            // The field is named by the situation's issue, or is the only one that holds such values.
            for (id, value) in self.object(key) {
                let field = self.list("issues").iter().find_map(|i| i["field"].as_str().map(str::to_owned));
                wanted.push(serde_json::json!({ "role": "conduits", "id": id, "field": field, "equals": value }));
            }
        }
        for one in wanted {
            let (role, id) = (one["role"].as_str().unwrap(), one["id"].as_str().unwrap());
            let Some(feature) = self.feature(role, id) else {
                faults.push(format!("{role} {id} is not exported"));
                continue;
            };
            let field = one["field"].as_str().unwrap();
            let Some(found) = feature["properties"].get(field) else {
                faults.push(format!("{role} {id} has no {field}"));
                continue;
            };
            let wanted_value = if one["instant"].is_string() { &one["instant"] } else { &one["equals"] };
            let alike = found == wanted_value
                || found.as_f64().is_some_and(|f| wanted_value.as_f64() == Some(f))
                || same_instant(found, wanted_value);
            if !alike {
                faults.push(format!("{role} {id}: {field} is {found}, expected {wanted_value}"));
            }
            if one["label"].is_string() && feature["properties"][format!("{field}:label")] != one["label"] {
                faults.push(format!("{role} {id}: {field} is not labelled {}", one["label"]));
            }
        }
    }

    fn positions(&self, faults: &mut Vec<String>) {
        for one in self.list("positions") {
            let (role, id) = (one["role"].as_str().unwrap(), one["id"].as_str().unwrap());
            let wanted = (one["nearest_vertex"][0].as_f64().unwrap(), one["nearest_vertex"][1].as_f64().unwrap());
            let mut vertices = Vec::new();
            if let Some(feature) = self.feature(role, id) {
                positions_in(&feature["geometry"], &mut vertices);
            }
            let metres = |p: &[f64]| ((p[0] - wanted.0) * 111_320.0 * wanted.1.to_radians().cos()).hypot((p[1] - wanted.1) * 111_132.0);
            let nearest = vertices.iter().map(|p| metres(p)).fold(f64::INFINITY, f64::min);
            if nearest > one["within_m"].as_f64().unwrap() {
                faults.push(format!("{role} {id}: its nearest vertex is {nearest:.3} m from {wanted:?}"));
            }
        }
    }

    fn measures(&self, faults: &mut Vec<String>) {
        let inventory = &self.town.basis.inventory;
        for (id, wanted) in self.object("areas_sqft") {
            let found = inventory.parcels.iter().find(|p| *p.key.id == *id).and_then(|p| p.outline.as_ref());
            let found = found.map_or(0.0, |outline| outline.unsigned_area() / SURVEY_FOOT_M.powi(2));
            if (found - wanted.as_f64().unwrap()).abs() > 2.0 {
                faults.push(format!("{id} covers {found:.1} square feet, expected {wanted}"));
            }
        }
        for (id, wanted) in self.object("lengths_ft").into_iter().chain(self.object("lengths_drawn_ft")) {
            let conduit = inventory.conduits.iter().find(|c| *c.key.id == *id);
            let found: f64 = conduit.map_or(0.0, |c| c.parts.iter().map(drawn_length_m).sum::<f64>() / SURVEY_FOOT_M);
            if (found - wanted.as_f64().unwrap()).abs() > 0.2 {
                faults.push(format!("{id} is {found:.2} ft long, expected {wanted}"));
            }
        }
    }

    /// The place of a discharge or structure.
    fn report(&self, id: &str) -> Report {
        let discharge = self.run["discharges"].as_array().and_then(|all| all.iter().find(|d| d["id"] == id).cloned());
        let Some(discharge) = discharge else {
            return Report { at: Whereabouts::Structure(id.to_owned()), on: None, pollutants: Vec::new(), search_radius_m: None };
        };
        let crs = Crs::parse(discharge["crs"].as_str().unwrap()).unwrap();
        let (x, y) = (discharge["x"].as_f64().unwrap(), discharge["y"].as_f64().unwrap());
        let [x, y] = self.town.working.point_in(&crs, x, y).unwrap();
        let radius = &discharge["search_radius"];
        let metres = if radius["unit"] == "ft" { 0.3048 } else { 1.0 };
        Report {
            at: Whereabouts::Point(Point::new(x, y)),
            on: None,
            pollutants: Vec::new(),
            search_radius_m: radius["value"].as_f64().map(|v| v * metres),
        }
    }

    fn investigate(&self, id: &str) -> Result<Investigation, Error> {
        investigate(&self.town.basis, &self.report(id), &TraceOptions::default(), jiff::civil::date(2026, 11, 30))
    }

    fn conduit_ids(&self, trace: &Trace) -> BTreeSet<String> {
        trace.conduits.iter().map(|c| self.town.basis.inventory.conduits[c.conduit.at()].key.plain_id().to_owned()).collect()
    }

    fn upstream(&self, faults: &mut Vec<String>) {
        for (id, wanted) in self.object("upstream") {
            match self.investigate(&id) {
                Ok(found) => {
                    let (found, wanted) = (self.conduit_ids(&found.trace), set(&wanted));
                    let either = set(&self.wanted["upstream_either"][&id]);
                    let differs = found.symmetric_difference(&wanted).any(|c| !either.contains(c));
                    if differs {
                        faults.push(format!("upstream of {id}: {found:?}, expected {wanted:?}"));
                    }
                }
                Err(error) => faults.push(format!("upstream of {id}: {}", said(&error))),
            }
        }
    }

    fn candidates(&self, faults: &mut Vec<String>) {
        let inventory = &self.town.basis.inventory;
        for (id, wanted) in self.object("candidates") {
            let Ok(found) = self.investigate(&id) else {
                faults.push(format!("candidates of {id}: no answer"));
                continue;
            };
            let ranks: Vec<(String, u32)> =
                found.candidates.ranked.iter().map(|c| (inventory.parcels[c.parcel.at()].key.plain_id().to_owned(), c.rank)).collect();
            let ids: BTreeSet<String> = ranks.iter().map(|(id, _)| id.clone()).collect();
            let missing: Vec<String> = set(&wanted["must"]).difference(&ids).cloned().collect();
            let extra: Vec<String> = set(&wanted["must_not"]).intersection(&ids).cloned().collect();
            if !missing.is_empty() || !extra.is_empty() {
                faults.push(format!("candidates of {id}: {missing:?} missing, {extra:?} must not be there"));
            }
            let allowed: BTreeSet<String> = set(&wanted["must"]).union(&set(&wanted["either"])).cloned().collect();
            if wanted["either"].is_array() && !ids.is_subset(&allowed) {
                faults.push(format!("candidates of {id}: {ids:?}, only {allowed:?} may be there"));
            }
            for group in wanted["same_rank"].as_array().cloned().unwrap_or_default() {
                let own: BTreeSet<u32> = ranks.iter().filter(|(id, _)| set(&group).contains(id)).map(|(_, rank)| *rank).collect();
                if own.len() != 1 {
                    faults.push(format!("candidates of {id}: {group} have the ranks {own:?}"));
                }
            }
        }
        for (id, wanted) in self.object("candidate_count") {
            let found = self.investigate(&id).map(|f| f.candidates.ranked.len()).unwrap_or_default();
            if wanted.as_u64() != Some(found as u64) {
                faults.push(format!("{id} has {found} candidates, expected {wanted}"));
            }
        }
    }

    fn down(&self, id: &str) -> Trace {
        let basis = &self.town.basis;
        let structure = find_structure(&basis.inventory, id).unwrap();
        trace(basis.ground(), Place::Node(basis.network.node_of(structure)), Way::Down, &TraceOptions::default()).unwrap()
    }

    fn downstream(&self, faults: &mut Vec<String>) {
        let inventory = &self.town.basis.inventory;
        let mut same = |what: &str, id: &str, found: BTreeSet<String>, wanted: &Json| {
            if found != set(wanted) {
                faults.push(format!("{what} of {id}: {found:?}, expected {wanted}"));
            }
        };
        for (id, wanted) in self.object("downstream") {
            same("downstream", &id, self.conduit_ids(&self.down(&id)), &wanted);
        }
        for (id, wanted) in self.object("outfalls_below") {
            let structures = self.down(&id).structures;
            let outfalls = structures.iter().map(|s| &inventory.structures[s.at()]).filter(|s| s.kind == StructureKind::Outfall);
            same("outfalls below", &id, outfalls.map(|s| s.key.to_string()).collect(), &wanted);
        }
        for (id, wanted) in self.object("receiving_waters") {
            let found = waters::receiving(self.town.basis.ground(), &self.town.basis.waters, &self.down(&id));
            same("receiving waters", &id, found.iter().map(|r| inventory.waters[r.water].key.to_string()).collect(), &wanted);
        }
    }

    /// The date on which the questions are asked: the situation's, or the day on which the situations were written.
    fn as_of(&self) -> jiff::civil::Date {
        self.run["as_of"].as_str().map_or(jiff::civil::date(2026, 11, 30), |text| text.parse().unwrap())
    }

    fn conditions(&self, faults: &mut Vec<String>) {
        let (basis, inventory) = (&self.town.basis, &self.town.basis.inventory);
        let keys = ["units", "flags", "conditions", "not_known"];
        if keys.iter().all(|key| self.wanted[*key].is_null()) {
            return;
        }
        let concerns = waters::Concerns::embedded().unwrap();
        let all = waters::conditions(basis.ground(), &basis.waters, &basis.settings, &concerns, self.as_of());
        let of = |id: &str| {
            let structure = find_structure(inventory, id).unwrap();
            all.outfalls.iter().find(|o| o.outfall == structure).unwrap_or_else(|| panic!("{id} is no outfall"))
        };
        for (id, wanted) in self.object("units") {
            let found: BTreeSet<String> = of(&id).way.units.iter().map(|u| inventory.units[u.shape].unit.to_string()).collect();
            if found != set(&wanted) {
                faults.push(format!("units of {id}: {found:?}, expected {wanted}"));
            }
        }
        let values = set(&self.run["listed_categories"]["values"]);
        for (id, wanted) in self.object("flags") {
            let mut found: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
            for flag in of(&id).flags.iter().filter(|f| f.category.as_ref().is_some_and(|c| values.contains(c))) {
                let causes = found.entry((flag.water.to_string(), flag.category.clone().unwrap())).or_default();
                causes.extend(flag.pollutant.as_deref().map(str::to_owned));
            }
            let wanted: BTreeMap<(String, String), BTreeSet<String>> = (wanted.as_array().unwrap().iter())
                .map(|w| ((w["unit"].as_str().unwrap().to_owned(), w["category"].as_str().unwrap().to_owned()), set(&w["causes"])))
                .collect();
            if found != wanted {
                faults.push(format!("flags of {id}: {found:?}, expected {wanted:?}"));
            }
        }
        let version = self.town.version.to_string();
        let outward = Outward::new(basis, &self.town.working, &version).unwrap();
        for (id, wanted) in self.object("conditions") {
            let mut found: Vec<Map<String, Json>> = of(&id).flags.iter().map(|f| headwall::export::conditions::flag(&outward, f)).collect();
            for row in wanted.as_array().unwrap() {
                let fits = |f: &Map<String, Json>| {
                    row.as_object().unwrap().iter().all(|(key, value)| match (key.as_str(), value) {
                        ("says", says) => {
                            ["basis", "follows", "remarks"].iter().any(|k| f[*k].to_string().contains(says.as_str().unwrap()))
                        }
                        ("about_ft", feet) => {
                            let (found, wanted) = (f["distance_m"].as_f64().unwrap() / 0.3048, feet.as_f64().unwrap());
                            (found - wanted).abs() <= (wanted * 0.01).max(2.0)
                        }
                        _ => f.get(key) == Some(value),
                    })
                };
                match found.iter().position(fits) {
                    Some(at) => drop(found.remove(at)),
                    None => faults.push(format!("{id} has no row {row}; left are {}", Json::from(found.clone()))),
                }
            }
            if !found.is_empty() {
                faults.push(format!("{id} has rows that are not expected: {}", Json::from(found)));
            }
        }
        for (id, wanted) in self.object("not_known") {
            let own = of(&id);
            for words in set(&wanted) {
                if !own.unknown.iter().any(|u| u.contains(&words)) {
                    faults.push(format!("{id}: nobody says \"{words}\": {:?}", own.unknown));
                }
            }
        }
        // They leave as GeoJSON, too.
        let collection = headwall::export::conditions::geojson(&outward, &all, self.as_of());
        let features = collection["features"].as_array().unwrap();
        let ids: BTreeSet<&str> = features.iter().map(|f| f["id"].as_str().unwrap()).collect();
        if ids.len() != features.len() {
            faults.push("conditions: ids are not unique".to_owned());
        }
    }

    /// What lies above a place on a water: conduit ends with how far, parcels along it.
    fn water_above(&self, faults: &mut Vec<String>) {
        let (basis, inventory) = (&self.town.basis, &self.town.basis.inventory);
        for (name, wanted) in self.object("water_above") {
            let report = self.report_on_water(&name);
            let found = match headwall::investigate::investigate_water(basis, &report, &TraceOptions::default(), self.as_of()) {
                Ok(found) => found,
                Err(error) => {
                    faults.push(format!("above {name}: {}", said(&error)));
                    continue;
                }
            };
            let ends: BTreeSet<String> = found.way.above.iter().map(|a| basis.network.node_name(inventory, a.node)).collect();
            let conduits = self.conduit_ids(&found.together);
            let riparian: BTreeSet<String> =
                found.way.riparian.iter().map(|(p, _)| inventory.parcels[p.at()].key.plain_id().to_owned()).collect();
            let candidates: BTreeSet<String> =
                found.candidates.ranked.iter().map(|c| inventory.parcels[c.parcel.at()].key.plain_id().to_owned()).collect();
            for (key, found) in [("ends", ends), ("conduits", conduits), ("riparian", riparian), ("candidates", candidates)] {
                if wanted[key].is_array() && found != set(&wanted[key]) {
                    faults.push(format!("above {name}: {key} {found:?}, expected {}", wanted[key]));
                }
            }
            for (parcel, through) in wanted["through"].as_object().into_iter().flatten() {
                let at = found.candidates.ranked.iter().position(|c| *inventory.parcels[c.parcel.at()].key.id == **parcel);
                let came: BTreeSet<String> =
                    at.map(|at| found.through[at].iter().map(|n| basis.network.node_name(inventory, *n)).collect()).unwrap_or_default();
                if came != set(through) {
                    faults.push(format!("above {name}: {parcel} comes through {came:?}, expected {through}"));
                }
            }
        }
    }

    /// A report on a water: `WATER`, or a discharge of the run that names its water.
    fn report_on_water(&self, name: &str) -> headwall::investigate::WaterReport {
        let discharge = self.run["discharges"].as_array().and_then(|all| all.iter().find(|d| d["id"] == name).cloned());
        let at = discharge.as_ref().and_then(|_| match self.report(name).at {
            Whereabouts::Point(point) => Some(point),
            _ => None,
        });
        let water = discharge.as_ref().map_or(name, |d| d["water"].as_str().unwrap()).to_owned();
        headwall::investigate::WaterReport { water, at, pollutants: Vec::new(), upstream_limit_m: None }
    }

    fn cautions(&self, faults: &mut Vec<String>) {
        for (id, wanted) in self.object("trace_cautions") {
            let trace = match self.investigate(&id) {
                Ok(found) => found.trace,
                Err(error) => {
                    faults.push(format!("cautions of {id}: {}", said(&error)));
                    continue;
                }
            };
            for one in wanted.as_array().unwrap() {
                let of_kind = trace.cautions.iter().filter(|c| c.kind.word() == one["kind"].as_str().unwrap());
                let at: BTreeSet<String> = of_kind.flat_map(|c| c.at.iter().cloned()).collect();
                if !set(&one["at"]).is_subset(&at) {
                    faults.push(format!("{id}: the caution {} is at {at:?}, expected {}", one["kind"], one["at"]));
                }
            }
        }
    }

    fn places(&self, faults: &mut Vec<String>) {
        for (id, wanted) in self.object("trace_error") {
            match self.investigate(&id) {
                Ok(_) => faults.push(format!("{id} is traced, but should be refused")),
                Err(error) => faults.extend(error_faults(&wanted, &said(&error))),
            }
        }
        let basis = &self.town.basis;
        for (id, wanted) in self.object("ambiguous_location") {
            let report = self.report(&id);
            let Whereabouts::Point(point) = report.at else { continue };
            let radius_m = report.search_radius_m.unwrap_or(15.24);
            let tolerance_m = basis.settings.snap_tolerance.metres();
            let places = match locate(&basis.inventory, &basis.network, &basis.segments, point, radius_m, tolerance_m) {
                Ok(Located::Between(places, _)) => places,
                other => {
                    faults.push(format!("{id}: {other:?}, expected a choice"));
                    continue;
                }
            };
            let mut found = BTreeMap::new();
            for (conduit, place) in places {
                let upstream = trace(basis.ground(), place, Way::Up, &TraceOptions::default()).unwrap();
                found.insert(basis.inventory.conduits[conduit.at()].key.to_string(), self.conduit_ids(&upstream));
            }
            let wanted_places: BTreeMap<String, BTreeSet<String>> =
                wanted.as_object().unwrap().iter().map(|(k, v)| (k.clone(), set(v))).collect();
            if found != wanted_places {
                faults.push(format!("{id}: possible places {found:?}, expected {wanted_places:?}"));
            }
            match self.investigate(&id) {
                Err(error) if wanted_places.keys().all(|conduit| said(&error).contains(conduit.as_str())) => {}
                other => faults.push(format!(
                    "{id}: one place was picked, or the choice not offered: {:?}",
                    other.map(|f| f.place_name).map_err(|e| said(&e))
                )),
            }
        }
    }

    fn issues(&self, faults: &mut Vec<String>) {
        let issues = &self.town.basis.issues;
        for wanted in self.list("issues") {
            let layers = self.layers(wanted["role"].as_str().unwrap());
            let code = wanted["code"].as_str().unwrap();
            let fits = |i: &&headwall::data_issue::DataIssue| {
                let field = wanted["field"].as_str().is_none_or(|f| i.field.as_deref() == Some(f));
                let value = wanted["value"].as_str().is_none_or(|v| i.value.as_deref() == Some(v));
                let node = wanted["node"].as_str().is_none_or(|n| i.node.as_deref() == Some(n));
                let about = wanted["about_ft"]
                    .as_f64()
                    .is_none_or(|ft| i.distance_m.is_some_and(|m| (m / 0.3048 - ft).abs() <= (ft * 0.01).max(0.5)));
                i.code.as_str() == code && layers.contains(&i.layer.as_str()) && field && value && node && about
            };
            let found: Vec<_> = issues.iter().filter(fits).collect();
            let ids: BTreeSet<String> =
                found.iter().flat_map(|i| i.ids.iter().map(|id| id.split('~').next().unwrap_or(id).to_owned())).collect();
            let names: BTreeSet<String> = found.iter().filter_map(|i| i.file.clone()).collect();
            if found.is_empty() || !set(&wanted["ids"]).is_subset(&ids) || !set(&wanted["names"]).is_subset(&names) {
                let of_code: Vec<_> = issues
                    .iter()
                    .filter(|i| i.code.as_str() == code)
                    .map(|i| (&i.ids, &i.field, &i.value, &i.node, i.distance_m))
                    .collect();
                faults.push(format!("issue {wanted} is not reported; of this code: {of_code:?}"));
            }
        }
        for code in set(&self.wanted["no_issues"]) {
            if let Some(issue) = issues.iter().find(|i| i.code.as_str() == code) {
                faults.push(format!("issue {code} is reported: {}", issue.message));
            }
        }
        for (id, wanted) in self.object("issue_unless_traced") {
            for one in wanted.as_array().cloned().unwrap_or_else(|| vec![wanted.clone()]) {
                let conduit = one["id"].as_str().unwrap_or(&id).to_owned();
                let traced = self
                    .object("upstream")
                    .keys()
                    .any(|d| self.investigate(d).is_ok_and(|f| self.conduit_ids(&f.trace).contains(&conduit)));
                let reported = issues.iter().any(|i| one["code"].as_str().is_none_or(|c| i.code.as_str() == c) && i.ids.contains(&conduit));
                if !traced && !reported {
                    faults.push(format!("{conduit} is neither traced nor reported"));
                }
            }
        }
    }

    /// Every GeoJSON that leaves: each layer, and each discharge's investigation.
    fn outputs(&self, faults: &mut Vec<String>) {
        let wanted = set(&self.wanted["outputs"]);
        let version = self.town.version.to_string();
        let outward = Outward::new(&self.town.basis, &self.town.working, &version).unwrap();
        let mut collections = Vec::new();
        for (_, layer) in &self.file.layers {
            collections.push(geojson::layer(&outward, layer, self.town.layer(layer).unwrap()));
        }
        for discharge in self.run["discharges"].as_array().cloned().unwrap_or_default() {
            if let Ok(found) = self.investigate(discharge["id"].as_str().unwrap()) {
                collections.push(geojson::investigation(&outward, &found, &|t, l, id| self.town.originals(t, l, id)).unwrap());
            }
        }
        // They hold for everything that leaves, whether a situation asks or not.
        let all = ["geojson-finite", "geojson-no-crs", "geojson-winding", "geojson-ids-unique"];
        for unknown in wanted.iter().filter(|w| !all.contains(&w.as_str())) {
            faults.push(format!("the runner does not know the output check {unknown}"));
        }
        for collection in &collections {
            if collection.get("crs").is_some() {
                faults.push("a collection has a crs member".to_owned());
            }
            let features = collection["features"].as_array().unwrap();
            let ids: BTreeSet<&str> = features.iter().map(|f| f["id"].as_str().unwrap()).collect();
            if ids.len() != features.len() {
                faults.push(format!("{} ids for {} features", ids.len(), features.len()));
            }
            for feature in features {
                let mut positions = Vec::new();
                positions_in(&feature["geometry"], &mut positions);
                if positions.iter().any(|p| p.len() > 3 || p.iter().any(|v| !v.is_finite()) || p[0].abs() > 180.0 || p[1].abs() > 90.0) {
                    faults.push(format!("{} has a position that is no longitude and latitude", feature["id"]));
                }
                rings_of(&feature["geometry"])
                    .iter()
                    .filter(|(ring, outer)| (signed_area(ring) > 0.0) != *outer && signed_area(ring) != 0.0)
                    .for_each(|_| {
                        faults.push(format!("{} has a ring that is wound wrong", feature["id"]));
                    });
            }
        }
    }
}

fn same_instant(a: &Json, b: &Json) -> bool {
    let parse = |v: &Json| v.as_str().and_then(|s| s.parse::<jiff::Timestamp>().ok());
    parse(a).is_some() && parse(a) == parse(b)
}

fn drawn_length_m(line: &geo::LineString) -> f64 {
    line.0.windows(2).map(|s| (s[1].x - s[0].x).hypot(s[1].y - s[0].y)).sum()
}

fn positions_in(value: &Json, out: &mut Vec<Vec<f64>>) {
    match value {
        Json::Array(items) if items.first().is_some_and(Json::is_number) => {
            out.push(items.iter().map(|v| v.as_f64().unwrap_or(f64::NAN)).collect())
        }
        Json::Array(items) => items.iter().for_each(|item| positions_in(item, out)),
        Json::Object(map) => ["coordinates", "geometries"].iter().filter_map(|k| map.get(*k)).for_each(|item| positions_in(item, out)),
        _ => {}
    }
}

/// The rings of a polygon or multi-polygon, each with whether it is an outer one.
fn rings_of(geometry: &Json) -> Vec<(Vec<Vec<f64>>, bool)> {
    let polygon = |rings: &Json| -> Vec<(Vec<Vec<f64>>, bool)> {
        let rings = rings.as_array().cloned().unwrap_or_default();
        rings
            .iter()
            .enumerate()
            .map(|(at, ring)| {
                let mut positions = Vec::new();
                positions_in(ring, &mut positions);
                (positions, at == 0)
            })
            .collect()
    };
    match geometry["type"].as_str() {
        Some("Polygon") => polygon(&geometry["coordinates"]),
        Some("MultiPolygon") => geometry["coordinates"].as_array().unwrap().iter().flat_map(polygon).collect(),
        _ => Vec::new(),
    }
}

fn signed_area(ring: &[Vec<f64>]) -> f64 {
    ring.windows(2).map(|s| s[0][0] * s[1][1] - s[1][0] * s[0][1]).sum::<f64>() / 2.0
}
