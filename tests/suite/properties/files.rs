//! Through files and back: units and references change nothing, and what leaves comes back the same.

use std::fs;
use std::path::Path;

use geo::Coord;
use headwall::crs::{Crs, WorkingCrs};
use headwall::export::{Outward, geojson};
use headwall::inventory::{FlowCode, Inventory, LevelField, NodeId};
use headwall::network::Network;
use headwall::town::{self, Town};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::cases;
use super::networks::{Plan, plan};
use super::oracle;

/// Where the invented town lies, metres of EPSG:26918.
const ORIGIN: [f64; 2] = [400_000.0, 4_770_000.0];

/// How a conduit's own words stand in the file.
fn conduit_properties(conduit: &headwall::inventory::Conduit) -> Json {
    let node = |id: &NodeId| match id {
        NodeId::Named(id) => json!(**id),
        _ => Json::Null,
    };
    let level = |field: &LevelField| field.given().map_or(Json::Null, |l| json!(l.value_m));
    let flow = match conduit.flow {
        FlowCode::WithDrawing => json!("W"),
        FlowCode::AgainstDrawing => json!("A"),
        _ => Json::Null,
    };
    json!({ "ID": conduit.key.to_string(), "FROM": node(&conduit.node_from), "TO": node(&conduit.node_to), "INV1": level(&conduit.invert_from),
        "INV2": level(&conduit.invert_to), "FLOW": flow, "STATUS": conduit.status.word(), "SYS": conduit.system.word(), "KIND": conduit.kind.word() })
}

/// Both layers as GeoJSON texts; `place` gives a coordinate of the file for one in metres.
fn texts(inventory: &Inventory, place: &dyn Fn(Coord) -> [f64; 2]) -> (String, String) {
    let line = |line: &geo::LineString| json!(line.0.iter().map(|c| place(*c)).collect::<Vec<_>>());
    let pipes: Vec<Json> = (inventory.conduits.iter())
        .map(|conduit| {
            let geometry = match conduit.parts.as_slice() {
                [] => Json::Null,
                [one] => json!({ "type": "LineString", "coordinates": line(one) }),
                many => json!({ "type": "MultiLineString", "coordinates": many.iter().map(line).collect::<Vec<_>>() }),
            };
            json!({ "type": "Feature", "properties": conduit_properties(conduit), "geometry": geometry })
        })
        .collect();
    let structures: Vec<Json> = (inventory.structures.iter())
        .map(|structure| {
            let at = structure.place.map(|p| json!({ "type": "Point", "coordinates": place(p.0) }));
            let outfall = structure.outfall_kind.map(|k| k.word());
            json!({ "type": "Feature", "properties": { "ID": structure.key.to_string(), "KIND": structure.kind.word(), "OUT": outfall }, "geometry": at })
        })
        .collect();
    let collection = |features: Vec<Json>| json!({ "type": "FeatureCollection", "features": features }).to_string();
    (collection(pipes), collection(structures))
}

/// The words of the inventory stand for themselves.
fn codes<T: Copy>(all: &[T], word: impl Fn(T) -> &'static str) -> String {
    let pairs: Vec<String> = all.iter().map(|v| format!("{0} = \"{0}\"", word(*v))).collect();
    format!("{{ {} }}", pairs.join(", "))
}

fn town_file(plan: &Plan, working: &str, crs: Option<&str>) -> String {
    use headwall::inventory::{ConduitKind, OutfallKind, Status, StructureKind, System};
    let crs = crs.map_or(String::new(), |crs| format!("crs = \"{crs}\"\ncrs_overrides_file = true\n"));
    let direction: Vec<String> = plan.direction.iter().map(|d| format!("\"{}\"", d.word())).collect();
    format!(
        r#"name = "T"
working_crs = "{working}"
direction = [{}]
[[layer]]
name = "pipes"
role = "conduits"
path = "pipes.geojson"
{crs}[layer.fields]
id = "ID"
node_from = "FROM"
node_to = "TO"
invert_from = {{ field = "INV1", unit = "m" }}
invert_to = {{ field = "INV2", unit = "m" }}
flow = {{ field = "FLOW", codes = {{ with = "W", against = "A" }} }}
status = {{ field = "STATUS", codes = {} }}
system = {{ field = "SYS", codes = {} }}
kind = {{ field = "KIND", codes = {} }}
[[layer]]
name = "structures"
role = "structures"
path = "structures.geojson"
{crs}[layer.fields]
id = "ID"
kind = {{ field = "KIND", codes = {} }}
outfall_kind = {{ field = "OUT", codes = {} }}
"#,
        direction.join(", "),
        codes(Status::ALL, Status::word),
        codes(System::ALL, System::word),
        codes(ConduitKind::ALL, ConduitKind::word),
        codes(StructureKind::ALL, StructureKind::word),
        codes(OutfallKind::ALL, OutfallKind::word),
    )
}

fn opened(folder: &Path, town_file: &str, texts: &(String, String)) -> Town {
    fs::write(folder.join("headwall.toml"), town_file).expect("written");
    fs::write(folder.join("pipes.geojson"), &texts.0).expect("written");
    fs::write(folder.join("structures.geojson"), &texts.1).expect("written");
    town::import(folder, &mut |_| {}).unwrap_or_else(|error| panic!("import: {error}"));
    town::open(folder).unwrap_or_else(|error| panic!("open: {error}"))
}

/// The inventory of a plan, moved to where the town lies.
fn placed(plan: &Plan) -> Inventory {
    let mut inventory = plan.inventory();
    let moved = |c: &mut Coord| *c = geo::coord! { x: c.x + ORIGIN[0], y: c.y + ORIGIN[1] };
    inventory.conduits.iter_mut().flat_map(|c| &mut c.parts).flat_map(|l| &mut l.0).for_each(moved);
    inventory.structures.iter_mut().filter_map(|s| s.place.as_mut()).for_each(|p| moved(&mut p.0));
    inventory
}

/// How far the nearest distance that decides something is from its limit, as a part of the limit.
fn nearest_to_a_limit(inventory: &Inventory) -> f64 {
    let mut points: Vec<oracle::At> = inventory.structures.iter().filter_map(|s| s.place.map(|p| [p.x(), p.y()])).collect();
    let lines: Vec<_> = inventory.conduits.iter().flat_map(|c| &c.parts).collect();
    points.extend(lines.iter().flat_map(|l| [l.0[0], l.0[l.0.len() - 1]]).map(|c| [c.x, c.y]));
    let mut nearest = f64::INFINITY;
    let mut measure = |d: f64| {
        for limit in [0.3048, 3.048] {
            nearest = nearest.min((d - limit).abs() / limit);
        }
        // "Within a millimetre", and ties that a rounding may turn.
        nearest = nearest.min(if d < 1e-9 { f64::INFINITY } else { (d - 0.001).abs() / 0.3 });
    };
    for p in &points {
        points.iter().for_each(|q| measure(oracle::away(*p, *q)));
        for line in &lines {
            let (along, d) = oracle::foot(line, *p);
            measure(d);
            if d < 3.1 {
                measure(along);
                measure(oracle::length(line) - along);
            }
        }
    }
    nearest
}

/// What of a network does not depend on units: pieces with their lengths to the centimetre and their nodes, gaps, flows.
fn same_graph(a: &Network, b: &Network) -> Result<(), TestCaseError> {
    prop_assert_eq!(a.pieces.len(), b.pieces.len());
    for (x, y) in a.pieces.iter().zip(&b.pieces) {
        prop_assert_eq!((x.conduit, x.part, x.start, x.end), (y.conduit, y.part, y.start, y.end));
        // A map's own scale: a few hundredths of a per cent between the two grids.
        prop_assert!((x.length_m() - y.length_m()).abs() <= 0.01 + 1e-3 * x.length_m(), "{:?} for {:?}", x, y);
    }
    let flows = |n: &Network| n.flows.iter().map(|f| (f.flow, f.decided_by, f.contradicted_by.clone(), f.assumed)).collect::<Vec<_>>();
    prop_assert_eq!(flows(a), flows(b));
    Ok(())
}

fn references_change_nothing(plan: &Plan) -> Result<(), TestCaseError> {
    let inventory = placed(plan);
    // Twins, and distances within a few thousandths of a limit, may fall either way when rounded.
    prop_assume!(nearest_to_a_limit(&inventory) > 2e-3);
    let metres = Crs::parse("EPSG:26918").expect("UTM 18");
    let working = WorkingCrs::new(metres.clone()).expect("projected");
    let into = |crs: &str| working.exit(&Crs::parse(crs).expect("a reference")).expect("a way");
    let (feet, globe) = (into("EPSG:2261"), working.exit(&Crs::lon_lat().expect("WGS 84")).expect("a way"));
    let through = |exit: &headwall::crs::Exit, c: Coord| {
        let mut points = [[c.x, c.y]];
        exit.points(&mut points);
        points[0]
    };
    let drawn: [(Option<&str>, (String, String)); 3] = [
        (Some("EPSG:26918"), texts(&inventory, &|c| [c.x, c.y])),
        (Some("EPSG:2261"), texts(&inventory, &|c| through(&feet, c))),
        (None, texts(&inventory, &|c| through(&globe, c))),
    ];
    let mut first: Option<Network> = None;
    for (crs, texts) in &drawn {
        for working in ["EPSG:26918", "EPSG:2261"] {
            let folder = tempfile::tempdir().expect("a folder");
            let town = opened(folder.path(), &town_file(plan, working, *crs), texts);
            match &first {
                None => first = Some(town.basis.network),
                Some(known) => same_graph(known, &town.basis.network)?,
            }
        }
    }
    Ok(())
}

fn what_leaves_comes_back(plan: &Plan) -> Result<(), TestCaseError> {
    let inventory = placed(plan);
    let folder = tempfile::tempdir().expect("a folder");
    let town = opened(folder.path(), &town_file(plan, "EPSG:26918", Some("EPSG:26918")), &texts(&inventory, &|c| [c.x, c.y]));
    // What was imported is what was drawn, to the last bit.
    for (a, b) in inventory.conduits.iter().zip(&town.basis.inventory.conduits) {
        prop_assert_eq!(&a.parts, &b.parts);
        prop_assert_eq!((&a.key, a.kind, a.status, a.system), (&b.key, b.kind, b.status, b.system));
        prop_assert_eq!((a.node_from.named(), a.node_to.named()), (b.node_from.named(), b.node_to.named()));
        prop_assert_eq!(a.invert_from.given().map(|l| l.value_m), b.invert_from.given().map(|l| l.value_m));
    }
    prop_assert_eq!(inventory.conduits.len(), town.basis.inventory.conduits.len());
    // Through the export and back: within a centimetre.
    let version = town.version.to_string();
    let out = Outward::new(&town.basis, &town.working, &version).expect("a way out");
    let exported = |layer: &str| geojson::layer(&out, layer, town.layer(layer).expect("a layer")).to_string();
    let again = tempfile::tempdir().expect("a folder");
    let back = opened(again.path(), &town_file(plan, "EPSG:26918", None), &(exported("pipes"), exported("structures")));
    let (a, b) = (&town.basis.inventory, &back.basis.inventory);
    prop_assert_eq!((a.conduits.len(), a.structures.len()), (b.conduits.len(), b.structures.len()));
    let near = |p: Coord, q: Coord| (p.x - q.x).hypot(p.y - q.y) < 0.01;
    for (a, b) in a.conduits.iter().zip(&b.conduits) {
        prop_assert_eq!(a.parts.len(), b.parts.len());
        for (p, q) in a.parts.iter().zip(&b.parts) {
            prop_assert!(p.0.len() == q.0.len() && p.0.iter().zip(&q.0).all(|(p, q)| near(*p, *q)), "{:?} for {:?}", q, p);
        }
        let mut same = b.clone();
        same.parts.clone_from(&a.parts);
        prop_assert_eq!(a, &same);
    }
    for (a, b) in a.structures.iter().zip(&b.structures) {
        prop_assert!(a.place.zip(b.place).is_some_and(|(p, q)| near(p.0, q.0)));
        let mut same = b.clone();
        same.place = a.place;
        prop_assert_eq!(a, &same);
    }
    // The version file's own tables as a source: exactly the same.
    let gpkg = fs::read_dir(folder.path().join("networks")).expect("versions").flatten().next().expect("a version").path();
    let source = tempfile::tempdir().expect("a folder");
    fs::copy(&gpkg, source.path().join("source.gpkg")).expect("copied");
    let mut text = town_file(plan, "EPSG:26918", None).replace("path = \"pipes.geojson\"", "path = \"source.gpkg\"\nlayer = \"conduits\"");
    text = text.replace("path = \"structures.geojson\"", "path = \"source.gpkg\"\nlayer = \"structures\"");
    for (own, typed) in [
        ("\"ID\"", "\"id\""),
        ("\"FROM\"", "\"node_from\""),
        ("\"TO\"", "\"node_to\""),
        ("\"INV1\"", "\"invert_from_m\""),
        ("\"INV2\"", "\"invert_to_m\""),
        ("\"STATUS\"", "\"status\""),
        ("\"SYS\"", "\"system\""),
        ("\"KIND\"", "\"kind\""),
        ("\"OUT\"", "\"outfall_kind\""),
    ] {
        text = text.replace(own, typed);
    }
    // The flow code is no typed field of the table.
    let text: String = text.lines().filter(|line| !line.starts_with("flow =")).map(|line| format!("{line}\n")).collect();
    let third = opened(source.path(), &text, &(String::new(), String::new()));
    for (a, b) in town.basis.inventory.conduits.iter().zip(&third.basis.inventory.conduits) {
        let mut same = b.clone();
        same.flow = a.flow;
        prop_assert_eq!(a, &same);
    }
    prop_assert_eq!(&town.basis.inventory.structures, &third.basis.inventory.structures);
    prop_assert_eq!(town.basis.inventory.conduits.len(), third.basis.inventory.conduits.len());
    Ok(())
}

proptest! {
    #![proptest_config(cases(5))]

    #[test]
    fn units_and_references_change_nothing(plan in plan(16)) {
        references_change_nothing(&plan)?;
    }

    #[test]
    fn what_leaves_is_what_comes_back(plan in plan(16)) {
        what_leaves_comes_back(&plan)?;
    }
}
