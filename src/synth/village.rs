//! What would a made-up village look like? Alder Mills: its layers, its town file, its faults, and a story to trace.

use crate::formats::write::{Format, OutputFile};
use crate::formats::{RawLayer, Value};

use super::SynthTown;
use super::drains::{Drains, Fault, Pipe, VILLAGE};
use super::ground::{Ground, distance};
use super::random::Chance;
use super::table::{Table, int, lines, point, real, text, text_or_null};
use super::{faults, lots, roll, sewers, surroundings};

/// Makes up the village of Alder Mills.
///
/// The same seed gives the same town on every machine. Other seeds bend the streets, mix the houses and place the faults
/// otherwise; the special places stay where they are.
pub fn village(seed: u64) -> SynthTown {
    let ground = Ground::new(seed);
    let mut drains = Drains::new(&ground);
    sewers::lay(&mut drains, seed);
    let mut pipes = drains.pipes(&mut Chance::new(seed, 13));
    let mut found = faults::add(&mut pipes, seed);
    let lots = lots::lots(&ground, seed);
    let structures = structures("source/structures.shp", &drains, seed, &mut found);
    roll_faults(&mut found);

    let geojson =
        |path: &str, layer: RawLayer| OutputFile { path: path.to_owned(), format: Format::GeoJson, crs: None, layers: vec![layer] };
    let csv = |path: &str, crs: Option<&str>, layer: RawLayer| OutputFile {
        path: path.to_owned(),
        format: Format::Csv,
        crs: crs.map(str::to_owned),
        layers: vec![layer],
    };
    let packaged = |path: &str, crs: Option<&str>, layers: Vec<RawLayer>| OutputFile {
        path: path.to_owned(),
        format: Format::GeoPackage,
        crs: crs.map(str::to_owned),
        layers,
    };
    let drainage = "source/drainage.gpkg";
    let files = vec![
        packaged(
            drainage,
            None,
            vec![
                sewer_lines(drainage, &pipes, &ground),
                open_drains(drainage, &drains),
                surroundings::water_mains(drainage, &ground, seed),
            ],
        ),
        OutputFile { path: "source/structures.shp".to_owned(), format: Format::Shapefile, crs: None, layers: vec![structures] },
        OutputFile {
            path: "source/outfalls.json".to_owned(),
            format: Format::EsriJson,
            crs: None,
            layers: vec![outfalls("source/outfalls.json", &drains)],
        },
        OutputFile {
            path: "source/ponds.kml".to_owned(),
            format: Format::Kml,
            crs: None,
            layers: vec![surroundings::pond("source/ponds.kml", &ground)],
        },
        packaged(
            "source/waters.gpkg",
            Some("EPSG:26918"),
            vec![surroundings::brook("source/waters.gpkg", &ground), surroundings::lake("source/waters.gpkg", &ground)],
        ),
        geojson("source/parcels.geojson", roll::parcels("source/parcels.geojson", &lots)),
        geojson("source/laterals.geojson", roll::laterals("source/laterals.geojson", &ground, &lots, seed)),
        geojson("source/inlet_areas.geojson", surroundings::inlet_areas("source/inlet_areas.geojson", &drains, sewers::has_main)),
        geojson("source/streets.geojson", surroundings::streets("source/streets.geojson", &ground)),
        geojson("source/municipal_facilities.geojson", roll::facilities("source/municipal_facilities.geojson", &lots)),
        geojson("source/boundary.geojson", surroundings::boundary("source/boundary.geojson", &ground)),
        geojson("source/assessment_units.geojson", surroundings::units("source/assessment_units.geojson", &ground)),
        csv("source/unit_listing.csv", None, surroundings::listing("source/unit_listing.csv")),
        csv("source/businesses.csv", Some("EPSG:4269"), roll::businesses("source/businesses.csv", &lots)),
        csv("source/septic_systems.csv", None, roll::septic("source/septic_systems.csv", &lots)),
        csv("source/permits.csv", None, roll::permits("source/permits.csv", &lots)),
    ];
    let texts = vec![("README.md".to_owned(), include_str!("village.md").to_owned()), ("faults.csv".to_owned(), fault_list(&found))];
    SynthTown { toml: include_str!("village.toml").to_owned(), texts, files }
}

/// Storm, combined and sanitary lines in one layer, as towns often keep them.
fn sewer_lines(file: &str, pipes: &[Pipe], ground: &Ground) -> RawLayer {
    let fields = [
        "LINE_ID",
        "LINE_TYPE",
        "SYS_TYPE",
        "US_NODE",
        "DS_NODE",
        "US_INV_FT",
        "DS_INV_FT",
        "DIAM_IN",
        "MATERIAL",
        "INST_YEAR",
        "STATUS",
        "OWNER",
        "LENGTH_FT",
    ];
    let mut table = Table::new(file, "sewer_lines", &fields);
    for pipe in pipes {
        let length: f64 =
            pipe.parts.iter().flat_map(|part| part.windows(2)).map(|pair| if let &[a, b] = pair { distance(a, b) } else { 0.0 }).sum();
        table.add(
            lines(&pipe.parts),
            vec![
                text(pipe.id.clone()),
                text(pipe.kind),
                text(pipe.system),
                text_or_null(&pipe.from),
                text_or_null(&pipe.to),
                real(pipe.invert_from),
                real(pipe.invert_to),
                int(pipe.diameter_in),
                text(pipe.material),
                int(pipe.year),
                text_or_null(pipe.status),
                text(pipe.owner),
                real(super::ground::hundredths(length)),
            ],
        );
    }
    for (at, line) in surroundings::beside_streets(ground, 11.0).into_iter().enumerate() {
        let mut values =
            vec![text(format!("SS-{:04}", at + 1)), text("MAIN"), text("SA"), Value::Null, Value::Null, Value::Null, Value::Null];
        values.extend([int(8), text("VCP"), int(1958), text("ACT"), text("Larch County"), Value::Null]);
        table.add(lines(&[line]), values);
    }
    table.done()
}

fn open_drains(file: &str, drains: &Drains<'_>) -> RawLayer {
    let mut table = Table::new(file, "open_drains", &["DRAIN_ID", "DRAIN_TYPE", "WIDTH_IN", "OWNER"]);
    for drain in &drains.open {
        let values = vec![text(drain.id.clone()), text(drain.kind), int(drain.width_in), text(VILLAGE)];
        table.add(lines(std::slice::from_ref(&drain.line)), values);
    }
    table.done()
}

/// Manholes, basins, culvert ends and the pump station; field names of at most ten characters, since it is a shapefile.
fn structures(file: &str, drains: &Drains<'_>, seed: u64, found: &mut Vec<Fault>) -> RawLayer {
    let mut chance = Chance::new(seed, 14);
    let fields = ["STRUCT_ID", "STR_TYPE", "RIM_FT", "INVERT_FT", "SUMP_IN", "SYS_TYPE", "STATUS", "OWNER", "LOC_DESC", "SYNTHETIC"];
    let mut table = Table::new(file, "structures", &fields);
    for node in drains.nodes.iter().filter(|n| !matches!(n.kind, "OF" | "PD")) {
        let sump = if node.kind == "CB" { int(chance.pick(&[12, 18, 24], 18)) } else { int(0) };
        // One manhole bears the id of another.
        let id = if node.id == "MH-0103M" { "MH-0102M" } else { node.id.as_str() };
        if id != node.id {
            let detail = format!("two manholes bear it; the second should be {}", node.id);
            found.push(Fault { layer: "structures", id: id.to_owned(), fault: "one id on two manholes", detail });
        }
        table.add(
            point(drains.ground.place(node.plan)),
            vec![
                text(id),
                text(node.kind),
                real(node.rim),
                real(node.invert),
                sump,
                text(node.system),
                text("ACT"),
                text(node.owner),
                text_or_null(node.note),
                text("yes"),
            ],
        );
    }
    table.done()
}

/// Outfalls of every kind; the kind stands in no single field, as is usual.
fn outfalls(file: &str, drains: &Drains<'_>) -> RawLayer {
    let fields = [
        "OUTFALL_ID",
        "DISCHARGE_TYPE",
        "INTERCONNECTION",
        "TO_FROM",
        "FACILITY",
        "RECEIVING_WATER",
        "OWNER",
        "INVERT_FT",
        "STATUS",
        "INSPECTED_DATE",
    ];
    let mut table = Table::new(file, "outfalls", &fields);
    for (at, node) in drains.nodes.iter().filter(|n| n.kind == "OF").enumerate() {
        let (discharge, joined, to_from, facility, water) = match node.id.as_str() {
            "IO-01" => ("STORM", "Yes", "TO Larch County", "", ""),
            "II-01" => ("STORM", "Yes", "FROM Town of Harrow", "", ""),
            "IF-01" => ("STORM", "Yes", "FROM Highway Garage", "Highway garage", ""),
            "CSO-01" => ("CSO", "No", "", "", "Alder Brook"),
            "OF-16" | "OF-17" => ("STORM", "No", "", "", "Quillwater Lake"),
            _ => ("STORM", "No", "", "", "Alder Brook"),
        };
        let inspected = format!("20{:02}-{:02}-{:02}", 19 + at % 5, 4 + at % 7, 2 + at % 26);
        table.add(
            point(drains.ground.place(node.plan)),
            vec![
                text(node.id.clone()),
                text(discharge),
                text(joined),
                text_or_null(to_from),
                text_or_null(facility),
                text_or_null(water),
                text(node.owner),
                real(node.invert),
                text("ACT"),
                Value::Date(inspected),
            ],
        );
    }
    table.done()
}

fn roll_faults(found: &mut Vec<Fault>) {
    let mut note = |id: &str, fault: &'static str, detail: &str| {
        found.push(Fault { layer: "parcels", id: id.to_owned(), fault, detail: detail.to_owned() });
    };
    note(lots::CROSSED, "outline crosses itself", "two corners have changed places");
    note("013.-07-21.1", "stacked parcels", "six condominium units share one outline");
    note("016.-01-01", "donut", "another lot fills the hole");
    note("013.-02-03", "lot in two pieces", "one record, two outlines");
}

fn fault_list(found: &[Fault]) -> String {
    let mut list = String::from("layer,id,fault,detail\n");
    for fault in found {
        list.push_str(&format!("{},{},{},\"{}\"\n", fault.layer, fault.id, fault.fault, fault.detail));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::RawShape;
    use crate::settings::Settings;

    fn rows(town: &SynthTown, layer: &str) -> usize {
        town.files.iter().flat_map(|f| &f.layers).find(|l| l.name == layer).map_or(0, |l| l.features.len())
    }

    #[test]
    fn the_town_file_parses_and_names_fields_that_exist() {
        let town = village(1);
        let settings = Settings::parse(&town.toml).unwrap();
        assert!(settings.synthetic);
        for layer in &settings.layers {
            let file = town.files.iter().find(|f| f.path == layer.path).unwrap_or_else(|| panic!("{}", layer.path));
            let inside = match &layer.layer {
                Some(name) => file.layers.iter().find(|l| &l.name == name).unwrap(),
                None => &file.layers[0],
            };
            for mapping in layer.fields.values().filter(|m| !matches!(m.field.as_str(), "LONGITUDE" | "LATITUDE" | "X" | "Y")) {
                assert!(inside.field(&mapping.field).is_some(), "{}: {}", layer.name, mapping.field);
            }
            for field in layer.only.iter().flatten().map(|(f, _)| f).chain(layer.rules.iter().flat_map(|r| r.when.keys())) {
                assert!(inside.field(field).is_some(), "{}: {field}", layer.name);
            }
        }
    }

    #[test]
    fn it_is_about_as_large_as_a_small_village() {
        let town = village(1);
        assert!((850..1000).contains(&rows(&town, "parcels")), "{}", rows(&town, "parcels"));
        assert!((200..400).contains(&rows(&town, "laterals")), "{}", rows(&town, "laterals"));
        assert!((500..650).contains(&rows(&town, "structures")), "{}", rows(&town, "structures"));
        assert!((22..28).contains(&rows(&town, "outfalls")), "{}", rows(&town, "outfalls"));
        assert_eq!(rows(&town, "streets"), 25);
        assert_eq!(rows(&town, "septic_systems"), 15);
        assert!(rows(&town, "inlet_areas") > 10);
        assert_eq!(rows(&town, "ponds"), 1);
    }

    #[test]
    fn keys_are_unique_and_the_same_seed_gives_the_same_town() {
        let town = village(3);
        assert_eq!(format!("{:?}", town.files), format!("{:?}", village(3).files));
        assert_ne!(format!("{:?}", town.files), format!("{:?}", village(4).files));
        for (name, key) in [("parcels", "PRINT_KEY"), ("sewer_lines", "LINE_ID"), ("laterals", "LAT_ID"), ("outfalls", "OUTFALL_ID")] {
            let layer = town.files.iter().flat_map(|f| &f.layers).find(|l| l.name == name).unwrap();
            let at = layer.field(key).unwrap();
            let mut keys: Vec<String> = layer.features.iter().map(|f| format!("{:?}", f.values[at])).collect();
            let count = keys.len();
            keys.sort();
            keys.dedup();
            assert_eq!(keys.len(), count, "{name}");
        }
    }

    #[test]
    fn every_fault_names_a_feature() {
        let town = village(1);
        let list = &town.texts.iter().find(|t| t.0 == "faults.csv").unwrap().1;
        let all: Vec<String> =
            town.files.iter().flat_map(|f| &f.layers).flat_map(|l| &l.features).map(|f| format!("{:?}", f.values)).collect();
        for line in list.lines().skip(1) {
            let id = line.split(',').nth(1).unwrap();
            assert!(all.iter().any(|values| values.contains(&format!("\"{id}\""))), "{line}");
        }
        assert!(list.lines().count() > 90);
    }

    #[test]
    fn every_layer_is_laid_out_in_the_same_place() {
        use geo::BoundingRect;
        for layer in village(1).files.iter().flat_map(|f| &f.layers) {
            for feature in &layer.features {
                if let RawShape::Shape(shape) = &feature.shape {
                    let bounds = shape.bounding_rect().unwrap();
                    assert!(bounds.min().x > 905_000.0 && bounds.max().x < 917_000.0, "{}", layer.name);
                    assert!(bounds.min().y > 963_000.0 && bounds.max().y < 973_000.0, "{}", layer.name);
                }
            }
        }
    }
}
