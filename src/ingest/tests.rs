//! Ingest over every situation of `tests/cases`, as far as its expectation is about reading; and over small made-up layers.

use std::path::{Path, PathBuf};

use geo::{Area, CoordsIter};
use serde_json::Value as Json;

use super::*;
use crate::crs::Crs;
use crate::formats::{self, RawFeature, RawField, ReadOptions, swmm as model};
use crate::inventory::{ConduitKind, FlowCode, LevelKind, OutfallKind, Status, StructureKind};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// The settings of a case as `headwall.toml` would state them.
fn toml_of(expect: &Json, with_crs: bool) -> String {
    let mut out = String::from("name = \"Case\"\n");
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    for (at, input) in expect["inputs"].as_array().unwrap().iter().enumerate() {
        let path = text(&input["path"]);
        out += &format!("[[layer]]\nname = \"l{at}\"\nrole = \"{}\"\npath = \"{path}\"\n", text(&input["role"]));
        for key in ["layer", "crs"] {
            if let Some(value) = input[key].as_str() {
                out += &format!("{key} = \"{value}\"\n");
            }
        }
        if with_crs && let Some(crs) = expect["expect"]["then_with_crs"][&path].as_str() {
            out += &format!("crs = \"{crs}\"\n");
        }
        let status = &expect["run"]["status"];
        for (key, field) in input["fields"].as_object().into_iter().flatten() {
            if key == "flow_values" {
                continue;
            }
            let field = text(field);
            let quoted = |list: &Json| list.to_string();
            match key.as_str() {
                "type" => {}
                "inv_from" => out += &format!("fields.invert_from = \"{field}\"\n"),
                "inv_to" => out += &format!("fields.invert_to = \"{field}\"\n"),
                "kind" => {
                    out += &format!(
                        "fields.kind = {{ field = \"{field}\", codes = {{ outfall = \"OF\", catch_basin = \"CB\", manhole = \"MH\", pump_station = \"PS\" }} }}\n"
                    );
                }
                "flow" => {
                    let values = &input["fields"]["flow_values"];
                    out += &format!(
                        "fields.flow = {{ field = \"{field}\", codes = {{ with = {}, against = {} }} }}\n",
                        quoted(&values["with"]),
                        quoted(&values["against"])
                    );
                }
                "status" => {
                    out += &format!(
                        "fields.status = {{ field = \"{field}\", codes = {{ live = {} }}, when_missing = \"{}\" }}\n",
                        quoted(&status["live"]),
                        status["missing_is"].as_str().unwrap_or("live")
                    );
                }
                other => out += &format!("fields.{other} = \"{field}\"\n"),
            }
        }
    }
    out
}

fn run(folder: &Path, expect: &Json, with_crs: bool) -> Result<(Settings, Ingested)> {
    let toml = toml_of(expect, with_crs);
    let settings = Settings::parse(&toml)?;
    let mut sources = Vec::new();
    for (at, layer) in settings.layers.iter().enumerate() {
        let path = folder.join(&layer.path);
        let data = if layer.role == Role::Swmm {
            SourceData::Swmm(model::read(&path)?)
        } else {
            let field = |meaning| layer.fields.get(&meaning).map(|m| m.field.clone());
            let xy = field(Meaning::X).zip(field(Meaning::Y));
            SourceData::Layer(formats::read(&path, &ReadOptions { layer: layer.layer.clone(), xy, ..ReadOptions::default() })?)
        };
        sources.push(Source { layer: at, data });
    }
    let ingested = ingest(&settings, sources)?;
    Ok((settings, ingested))
}

fn role_of(word: &str) -> Role {
    *Role::ALL.iter().find(|r| r.word() == word).unwrap()
}

/// What this module answers for; the rest of the codes come from the network.
const OURS: [&str; 15] = [
    "status-missing",
    "status-unknown",
    "null-geometry",
    "wrong-geometry-type",
    "invalid-geometry",
    "non-finite",
    "duplicate-id",
    "id-missing",
    "stacked-parcels",
    "undefined-name",
    "date-invalid",
    "encoding-contradicts",
    "input-incomplete",
    "axes-swapped",
    "curve-unreadable",
];

fn check(name: &str, expect: &Json, ingested: &Ingested) {
    let expected = &expect["expect"];
    for (role, counts) in expected["counts"].as_object().into_iter().flatten() {
        let found = ingested.originals.of_role(role_of(role)).map(OriginalLayer::counts).fold((0, 0), |s, c| (s.0 + c.0, s.1 + c.1));
        let wanted = (counts["read"].as_u64().unwrap() as usize, counts["usable"].as_u64().unwrap() as usize);
        assert_eq!(found, wanted, "{name}: counts of {role}");
    }
    for issue in expected["issues"].as_array().into_iter().flatten() {
        let code = issue["code"].as_str().unwrap();
        let of_model = code == "node-id-unknown" && name.starts_with("inp-");
        if !OURS.contains(&code) && !of_model {
            continue;
        }
        let ids: Vec<&str> = issue["ids"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        let fits = ingested.issues.iter().filter(|i| {
            i.code.as_str() == code
                && issue["field"].as_str().is_none_or(|f| i.field.as_deref() == Some(f))
                && issue["value"].as_str().is_none_or(|v| i.value.as_deref() == Some(v))
                && issue["names"].as_array().into_iter().flatten().all(|n| i.file.as_deref() == n.as_str())
        });
        let all: Vec<&str> = fits.clone().flat_map(|i| i.ids.iter().map(String::as_str)).collect();
        assert!(fits.count() > 0 && ids.iter().all(|id| all.contains(id)), "{name}: {issue} not in {:#?}", ingested.issues);
    }
    for wanted in expected["no_issues"].as_array().into_iter().flatten() {
        assert!(ingested.issues.iter().all(|i| Some(i.code.as_str()) != wanted.as_str()), "{name}: {wanted}");
    }
    for value in expected["values"].as_array().into_iter().flatten() {
        let id = value["id"].as_str().unwrap();
        let layer = ingested.originals.of_role(role_of(value["role"].as_str().unwrap())).next().unwrap();
        let row = layer.rows.iter().find(|r| &*r.id == id).unwrap_or_else(|| panic!("{name}: no {id}"));
        let at = layer.fields.iter().position(|f| Some(f.name.as_str()) == value["field"].as_str()).unwrap();
        let found = &row.values[at];
        if let Some(instant) = value["instant"].as_str() {
            assert_eq!(found, &Value::Date(instant.to_owned()), "{name}: {value}");
            continue;
        }
        let same = match (&value["equals"], found) {
            (Json::Null, Value::Null) => true,
            (Json::String(a), Value::Text(b)) => a == b,
            (Json::Number(a), Value::Int(b)) => a.as_i64() == Some(*b),
            (Json::Number(a), Value::Real(b)) => a.as_f64() == Some(*b),
            _ => false,
        };
        assert!(same, "{name}: {value} is {found:?}");
        if let Some(label) = value["label"].as_str() {
            assert_eq!(layer.label(at, found), Some(label), "{name}");
        }
    }
    for (id, area) in expected["areas_sqft"].as_object().into_iter().flatten() {
        let parcel = ingested.inventory.parcels.iter().find(|p| &*p.key.id == id).unwrap();
        // The expectation is in the data's own feet; longitude and latitude go through UTM, with its scale.
        let metres = ingested.working.crs().metres_per_unit();
        let (foot, tolerance) = if metres == 1.0 { (0.3048, area.as_f64().unwrap() * 1e-3) } else { (metres, 2.0) };
        let found = parcel.outline.as_ref().unwrap().unsigned_area() / (foot * foot);
        assert!((found - area.as_f64().unwrap()).abs() < tolerance, "{name}: {id} {found}");
    }
    for position in expected["positions"].as_array().into_iter().flatten() {
        let layer = ingested.originals.of_role(role_of(position["role"].as_str().unwrap())).next().unwrap();
        let row = layer.rows.iter().find(|r| Some(&*r.id) == position["id"].as_str()).unwrap();
        let number = |at: usize| position["nearest_vertex"][at].as_f64().unwrap();
        let at = ingested.working.point_in(&Crs::lon_lat().unwrap(), number(0), number(1)).unwrap();
        let near = row.shape.as_ref().unwrap().coords_iter().map(|c| (c.x - at[0]).hypot(c.y - at[1])).fold(f64::MAX, f64::min);
        assert!(near <= position["within_m"].as_f64().unwrap() + 0.02, "{name}: {position} {near}");
    }
    for (id, date) in expected["dates"].as_object().into_iter().flatten() {
        let layer = &ingested.originals.layers[0];
        let row = layer.rows.iter().find(|r| &*r.id == id).unwrap();
        let at = layer.fields.iter().position(|f| f.is_date).unwrap();
        assert_eq!(row.values[at], date.as_str().map_or(Value::Null, |d| Value::Date(d.to_owned())), "{name}: {id}");
    }
}

#[test]
fn every_case_is_read_as_it_should() {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(cases()).unwrap().map(|f| f.unwrap().path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    for folder in folders {
        let name = formats::file_name(&folder);
        let expect: Json = serde_json::from_str(&std::fs::read_to_string(folder.join("expect.json")).unwrap()).unwrap();
        let result = run(&folder, &expect, false);
        if expect["expect"]["load"] == "error" {
            let message = match result {
                Ok(_) => panic!("{name} should be refused"),
                Err(error) => error.to_string().to_lowercase(),
            };
            let said = |word: &Json| message.contains(&word.as_str().unwrap().to_lowercase());
            let error = &expect["expect"]["error"];
            assert!(error["names"].as_array().unwrap().iter().all(said), "{name}: {message}");
            assert!(error["says_any"].as_array().unwrap().iter().any(said), "{name}: {message}");
            if !expect["expect"]["then_with_crs"].is_null() {
                assert!(run(&folder, &expect, true).is_ok(), "{name}");
            }
            continue;
        }
        let (_, ingested) = result.unwrap_or_else(|error| panic!("{name}: {error}"));
        check(&name, &expect, &ingested);
        assert!(ingested.issues.iter().all(|i| !i.layer.is_empty()), "{name}");
        // The same again, and the issues in their order.
        let (_, again) = run(&folder, &expect, false).unwrap();
        assert_eq!(ingested.issues, again.issues);
        assert_eq!(ingested.inventory, again.inventory);
    }
}

fn raw(fields: &[&str], rows: Vec<(Option<Geometry>, Vec<Value>)>) -> RawLayer {
    let features = rows.into_iter().enumerate().map(|(at, (shape, values))| RawFeature {
        row: at + 1,
        feature_id: None,
        shape: shape.map_or(RawShape::None, RawShape::Shape),
        bad_height: false,
        values,
    });
    RawLayer {
        file: "pipes.gpkg".into(),
        name: "pipes".into(),
        crs: Some("EPSG:2261".into()),
        crs_is_implied: false,
        fields: fields.iter().map(|name| RawField::plain(*name)).collect(),
        features: features.collect(),
        issues: Vec::new(),
        doubts: Vec::new(),
    }
}

fn line() -> Option<Geometry> {
    Some(Geometry::LineString(vec![(900_000.0, 970_000.0), (900_100.0, 970_000.0)].into()))
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn one(toml: &str, raw: RawLayer) -> Result<Ingested> {
    let settings =
        Settings::parse(&format!("name = \"T\"\nown_names = [\"Elm\"]\n[[layer]]\nname = \"pipes\"\npath = \"pipes.gpkg\"\n{toml}"))
            .unwrap();
    ingest(&settings, vec![Source { layer: 0, data: SourceData::Layer(raw) }])
}

#[test]
fn rules_come_before_codes_and_codes_before_defaults() {
    let toml = r#"
        role = "conduits"
        fields.id = "ID"
        fields.kind = { field = "K", codes = { culvert = ["C*"] } }
        fields.status = { field = "S", codes = { live = "1" }, when_unknown = "abandoned" }
        fields.invert_from = { field = "Z", missing = ["0", "999"], datum = "NAVD88" }
        fields.diameter = "D"
        fields.flow = { field = "F", codes = { with = "1", against = "2" } }
        defaults.system = "storm"
        [[layer.rule]]
        when = { K = "CX" }
        set = { kind = "ditch" }
    "#;
    let values = |id: &str, k: &str, s: Value, z: Value, d: Value, f: Value| vec![text(id), text(k), s, z, d, f];
    let layer = raw(
        &["ID", "K", "S", "Z", "D", "F"],
        vec![
            (line(), values("a", "CX", Value::Int(1), Value::Real(0.0), Value::Int(12), Value::Real(2.0))),
            (line(), values("b", "C1", Value::Int(7), text("10.5"), text("12''"), Value::Null)),
            (line(), values("c", "PIPE", Value::Null, Value::Int(999), Value::Int(0), Value::Int(1))),
        ],
    );
    let ingested = one(toml, layer).unwrap();
    let conduits = &ingested.inventory.conduits;
    assert_eq!(conduits.iter().map(|c| c.kind).collect::<Vec<_>>(), [ConduitKind::Ditch, ConduitKind::Culvert, ConduitKind::Unknown]);
    assert_eq!(conduits.iter().map(|c| c.status).collect::<Vec<_>>(), [Status::Live, Status::Abandoned, Status::Live]);
    assert_eq!(
        conduits.iter().map(|c| c.flow).collect::<Vec<_>>(),
        [FlowCode::AgainstDrawing, FlowCode::SaysNothing, FlowCode::WithDrawing]
    );
    let level = conduits[1].invert_from.given().unwrap();
    assert!((level.value_m - 3.2004).abs() < 1e-9 && level.kind == LevelKind::Elevation && level.datum.as_deref() == Some("NAVD88"));
    assert!(conduits[0].invert_from.given().is_none() && conduits[2].invert_from.given().is_none());
    assert!((conduits[0].diameter_mm.unwrap() - 304.8).abs() < 1e-9);
    let codes: Vec<(&str, &[String])> = ingested.issues.iter().map(|i| (i.code.as_str(), i.ids.as_slice())).collect();
    let has = |code: &str, id: &str| codes.iter().any(|(c, ids)| *c == code && ids.iter().any(|i| i == id));
    assert!(
        has("status-unknown", "b") && has("status-missing", "c") && has("code-unknown", "c") && has("value-unreadable", "b"),
        "{codes:?}"
    );
    assert!((geo::Length::length(&geo::Euclidean, &conduits[0].parts[0]) - 100.0 * 1200.0 / 3937.0).abs() < 1e-9);
}

#[test]
fn repeated_and_missing_ids_keep_every_holder() {
    let at = |x: f64| Some(Geometry::Point(geo::Point::new(x, 970_000.0)));
    let toml = "role = \"outfalls\"\nfields.id = \"ID\"\nfields.owner = \"O\"\n";
    let rows = vec![
        (at(900_000.0), vec![Value::Real(5.0), text("ELM")]),
        (at(900_100.0), vec![text(" 5 "), text("State")]),
        (at(900_200.0), vec![Value::Null, Value::Null]),
        (at(900_200.0), vec![Value::Null, Value::Null]),
    ];
    let forward = one(toml, raw(&["ID", "O"], rows.clone())).unwrap();
    let backward = one(toml, raw(&["ID", "O"], rows.into_iter().rev().collect())).unwrap();
    assert_eq!(forward.inventory, backward.inventory);
    let structures = &forward.inventory.structures;
    assert_eq!(structures.len(), 4);
    assert_eq!(structures.iter().filter(|s| s.also_known_as.as_deref() == Some("5") && s.key.plain_id() == "5").count(), 2);
    let kinds: Vec<_> = structures.iter().filter_map(|s| s.outfall_kind).collect();
    assert!(kinds.contains(&OutfallKind::Ms4Outfall) && kinds.contains(&OutfallKind::OtherOwner) && kinds.contains(&OutfallKind::Unknown));
    assert!(structures.iter().all(|s| s.kind == StructureKind::Outfall));
    let codes: Vec<&str> = forward.issues.iter().map(|i| i.code.as_str()).collect();
    assert_eq!(codes, ["duplicate-id", "id-missing"]);
}

#[test]
fn references_that_are_missing_or_contradict_are_refused() {
    let toml = "role = \"conduits\"\nfields.id = \"ID\"\n";
    let layer = || raw(&["ID"], vec![(line(), vec![text("a")])]);
    let message = |toml: &str, layer: RawLayer| one(toml, layer).unwrap_err().to_string();
    let mut none = layer();
    none.crs = None;
    assert!(message(toml, none.clone()).contains(".prj"));
    assert!(one(&format!("{toml}crs = \"EPSG:2261\"\n"), none).is_ok());
    assert!(message(&format!("{toml}crs = \"EPSG:26918\"\n"), layer()).contains("EPSG:26918"));
    assert!(one(&format!("{toml}crs = \"EPSG:26918\"\ncrs_overrides_file = true\n"), layer()).is_ok());
    let mut degrees = layer();
    degrees.crs = Some("EPSG:4326".into());
    assert!(message(toml, degrees).contains("out of range"));
    assert!(message("role = \"conduits\"\nfields.id = \"NO\"\nfields.node_to = \"TO\"\n", layer()).contains("NO, TO"));
    assert!(message("role = \"conduits\"\nfields.status = { field = \"ID\", codes = { alive = \"1\" } }\n", layer()).contains("alive"));
}

#[test]
fn axes_that_changed_places_are_said() {
    let settings = Settings::parse(
        "name = \"T\"\n[[layer]]\nname = \"a\"\npath = \"a\"\nrole = \"conduits\"\n[[layer]]\nname = \"b\"\npath = \"b\"\nrole = \"structures\"\n",
    )
    .unwrap();
    let mut swapped = raw(&[], vec![(Some(Geometry::Point(geo::Point::new(42.66, -76.33))), vec![])]);
    swapped.crs = Some("EPSG:4326".into());
    let pipes = raw(&[], vec![(line(), vec![])]);
    let sources = vec![Source { layer: 0, data: SourceData::Layer(pipes) }, Source { layer: 1, data: SourceData::Layer(swapped) }];
    let ingested = ingest(&settings, sources);
    match ingested {
        Ok(ingested) => assert!(ingested.issues.iter().any(|i| i.code == IssueCode::AxesSwapped && i.layer == "b")),
        // State Plane may have no place for the far side of the earth.
        Err(error) => assert!(error.to_string().contains("no place"), "{error}"),
    }
}

/// Every file of a folder of real data, where the environment names one, is read and ingested; the times are printed.
#[test]
fn real_data_are_ingested() {
    let Some(folder) = std::env::var_os("HEADWALL_REAL_DATA") else { return };
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    for folder in folders {
        let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|f| f.unwrap().path()).collect();
        files.sort();
        let (mut settings, mut sources) = (Settings::parse("name = \"Real\"\n").unwrap(), Vec::new());
        let start = std::time::Instant::now();
        for path in &files {
            let name = formats::file_name(path);
            let extension = name.rsplit('.').next().unwrap();
            if ["shx", "prj", "cpg", "dbf", "md", "csv"].contains(&extension) {
                continue;
            }
            let layers = if extension == "inp" { vec![name.clone()] } else { formats::layers(path).unwrap() };
            for layer in layers {
                let options =
                    ReadOptions { layer: (extension == "gpkg" || extension == "zip").then(|| layer.clone()), ..ReadOptions::default() };
                let began = std::time::Instant::now();
                let data = if extension == "inp" {
                    SourceData::Swmm(model::read(path).unwrap())
                } else {
                    match formats::read(path, &options) {
                        Ok(raw) => SourceData::Layer(raw),
                        Err(error) => {
                            println!("  REFUSED {error}");
                            continue;
                        }
                    }
                };
                let (role, unknown) = match &data {
                    SourceData::Swmm(_) => (Role::Swmm, true),
                    SourceData::Layer(raw) => {
                        let first = raw.features.iter().find_map(|f| shape_of(&f.shape));
                        let role = match first.map(shapes::type_word) {
                            Some("LineString" | "MultiLineString") => Role::Conduits,
                            Some("Polygon" | "MultiPolygon") => Role::Parcels,
                            _ => Role::Structures,
                        };
                        (role, raw.crs.is_none())
                    }
                };
                println!("  {name} {layer} {:?} {}", began.elapsed(), role.word());
                let crs = if extension == "inp" {
                    "crs = \"EPSG:2284\""
                } else if unknown {
                    "crs = \"EPSG:4326\""
                } else {
                    ""
                };
                let toml =
                    format!("name = \"x\"\n[[layer]]\nname = \"{name} {layer}\"\npath = \"{name}\"\nrole = \"{}\"\n{crs}\n", role.word());
                settings.layers.extend(Settings::parse(&toml).unwrap().layers);
                sources.push(Source { layer: settings.layers.len() - 1, data });
            }
        }
        let read = start.elapsed();
        match ingest(&settings, sources) {
            Ok(done) => {
                let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
                done.issues.iter().for_each(|i| *counts.entry(i.code.as_str()).or_default() += i.ids.len().max(1));
                println!("{}: read {read:?}, all {:?}, {} {counts:?}", folder.display(), start.elapsed(), done.working.crs().label());
            }
            Err(error) => println!("{}: REFUSED {error}", folder.display()),
        }
    }
}
