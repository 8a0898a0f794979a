//! Do the ways down real waters agree with what their files say? Only where the folder of real data is there; said plainly where not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use headwall::town::{self, Town};
use headwall::waters::{Concerns, FlagKind, conditions};

fn real(name: &str) -> Option<PathBuf> {
    let root =
        std::env::var_os("HEADWALL_REAL").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/real"), PathBuf::from);
    let folder = root.join(name);
    if folder.is_dir() {
        return fs::canonicalize(folder).ok();
    }
    println!("not run: {name} is not there; set HEADWALL_REAL to the folder of real data");
    None
}

fn import(text: &str) -> (tempfile::TempDir, Town) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("headwall.toml"), text).unwrap();
    town::import(folder.path(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let town = town::open(folder.path()).unwrap();
    (folder, town)
}

/// Which water follows on which, in the waters as built and in the files' own columns.
#[test]
fn nhd_flowlines_flow_as_their_own_nodes_say() {
    let Some(folder) = real("nhdplus-samples") else { return };
    for (file, layer) in [
        ("new_hope.gpkg", "NHDFlowline_Network"),
        ("petapsco_flowlines.gpkg", "petapsco_flowlines"),
        ("sample_natseamless.gpkg", "NHDFlowline_Network"),
        ("walker.gpkg", "NHDFlowline_Network"),
    ] {
        let text = format!(
            "name = \"{file}\"\n[[layer]]\nname = \"flowlines\"\nrole = \"watercourses\"\npath = {:?}\nlayer = \"{layer}\"\n[layer.fields]\nid = \"COMID\"\nname = \"GNIS_NAME\"\nnode_from = \"FromNode\"\nnode_to = \"ToNode\"\nhydrosequence = \"Hydroseq\"\nfcode = \"FCODE\"\nflow = {{ field = \"FLOWDIR\", codes = {{ with = \"With Digitized\" }} }}\n",
            folder.join(file).to_string_lossy()
        );
        let (_kept, town) = import(&text);
        let inventory = &town.basis.inventory;
        let waters = &town.basis.waters;
        let id = |water: usize| inventory.waters[water].key.plain_id().to_owned();
        let whole = |v: &serde_json::Value| v.as_f64().unwrap_or(0.0) as i64;
        let rows: Vec<(String, i64, i64, i64, i64)> = town
            .layer("flowlines")
            .unwrap()
            .iter()
            .map(|f| {
                let a = &f.attributes;
                (whole(&a["COMID"]).to_string(), whole(&a["FromNode"]), whole(&a["ToNode"]), whole(&a["Hydroseq"]), whole(&a["DnHydroseq"]))
            })
            .collect();
        let mut from: BTreeMap<i64, BTreeSet<String>> = BTreeMap::new();
        for r in &rows {
            from.entry(r.1).or_default().insert(r.0.clone());
        }
        let by_hydroseq: BTreeMap<i64, String> = rows.iter().map(|r| (r.3, r.0.clone())).collect();
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for reach in &waters.reaches {
            let own = found.entry(id(reach.water)).or_default();
            let next = waters.leaving(reach.to).iter().map(|n| waters.reach(*n).water).filter(|w| *w != reach.water);
            own.extend(next.map(id));
        }
        let (mut checked, mut main) = (0, 0);
        for (comid, _, to, hydroseq, down) in &rows {
            let wanted = from.get(to).cloned().unwrap_or_default();
            assert_eq!(found.get(comid).cloned().unwrap_or_default(), wanted, "{file}: what follows on {comid}");
            checked += 1;
            if let Some(next) = by_hydroseq.get(down) {
                assert!(wanted.contains(next), "{file}: {comid} has the main way {next}");
                assert!(hydroseq > down, "{file}: {comid}");
                main += 1;
            }
            let water = inventory.waters.iter().find(|w| w.key.plain_id() == comid).unwrap();
            assert_eq!(water.hydrosequence, Some(*hydroseq), "{file}: {comid}");
        }
        println!("{file}: {checked} flowlines flow as their nodes say, {main} with their main way inside the file");
        assert!(checked > 50);
    }
}

#[test]
fn attains_units_stand_as_their_file_says() {
    let Some(folder) = real("epa-attains") else { return };
    for (file, listed) in [("attains_wv.gpkg", 22), ("attains_co_front_range.gpkg", 12)] {
        let causes =
            ["pathogens", "sediment", "nutrients", "mercury", "temperature", "metals_other_than_mercury", "ph_acidity_caustic_conditions"];
        let text = format!(
            "name = \"{file}\"\n[[layer]]\nname = \"lines\"\nrole = \"assessment_units\"\npath = {:?}\nlayer = \"attains_lines\"\ncause_columns = {{ fields = {causes:?}, values = \"Cause\" }}\n[layer.fields]\nid = \"assessmentunitidentifier\"\nname = \"assessmentunitname\"\nstate = \"state\"\ncycle = \"reportingcycle\"\ncategory = \"ircategory\"\nimpaired = {{ field = \"isimpaired\", codes = {{ yes = \"Y\", no = \"N\" }} }}\non_303d_list = {{ field = \"on303dlist\", codes = {{ yes = \"Y\", no = \"N\" }} }}\nhas_tmdl = {{ field = \"hastmdl\", codes = {{ yes = \"Y\", no = \"N\" }} }}\n",
            folder.join(file).to_string_lossy()
        );
        let (_kept, town) = import(&text);
        let standings = headwall::waters::Standings::of(&town.basis.inventory);
        let own: BTreeSet<&String> = standings
            .by_unit
            .iter()
            .filter(|(_, all)| all.iter().any(|s| s.kind == headwall::waters::StandingKind::Listed))
            .map(|(unit, _)| unit)
            .collect();
        let in_file: BTreeSet<String> = town
            .layer("lines")
            .unwrap()
            .iter()
            .filter(|f| f.attributes["ircategory"].as_str().is_some_and(|c| c.starts_with('5')) || f.attributes["on303dlist"] == "Y")
            .map(|f| f.attributes["assessmentunitidentifier"].as_str().unwrap().to_uppercase())
            .collect();
        println!("{file}: {} units, {} listed", town.basis.inventory.units.len(), own.len());
        assert_eq!(own.into_iter().cloned().collect::<BTreeSet<_>>(), in_file);
        assert_eq!(in_file.len(), listed);
        for unit in &town.basis.inventory.units {
            assert!(unit.cycle.is_some_and(|c| (2010..2030).contains(&c)) && unit.state.is_some(), "{}", unit.unit);
        }
    }
}

/// Bangor's own streams say Impaired Y or N, and nothing of a category.
#[test]
fn bangor_reaches_impaired_streams_and_nothing_is_called_303d() {
    let Some(folder) = real("bangor-me") else { return };
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let text = format!(
        "name = \"Bangor\"\nreceiving_distance = \"100 ft\"\n\
         [[layer]]\nname = \"ditches\"\nrole = \"conduits\"\npath = {:?}\n[layer.defaults]\nsystem = \"storm\"\n\
         [[layer]]\nname = \"cso\"\nrole = \"outfalls\"\npath = {:?}\n[layer.fields]\nid = \"ID_Number\"\n[layer.defaults]\noutfall_kind = \"cso\"\n\
         [[layer]]\nname = \"streams\"\nrole = \"waterbodies\"\npath = {:?}\n[layer.fields]\nname = \"Name\"\nunit = \"Name\"\n\
         [[layer]]\nname = \"rivers\"\nrole = \"watercourses\"\npath = {:?}\n[layer.fields]\nname = \"Name\"\n\
         [[layer]]\nname = \"units\"\nrole = \"assessment_units\"\npath = {:?}\n[layer.fields]\nunit = \"Name\"\nname = \"Name\"\nimpaired = {{ field = \"Impaired\", codes = {{ yes = \"Y\", no = \"N\" }} }}\n",
        path("ditch.geojson"),
        path("sanitaryCso.geojson"),
        path("streams.geojson"),
        path("rivers.geojson"),
        path("streams.geojson")
    );
    let (_kept, town) = import(&text);
    let basis = &town.basis;
    let all = conditions(basis.ground(), &basis.waters, &basis.settings, &Concerns::embedded().unwrap(), jiff::civil::date(2026, 11, 30));
    assert_eq!(all.outfalls.len(), 9);
    for own in &all.outfalls {
        let id = &basis.inventory.structures[own.outfall.at()].key;
        let into: Vec<&str> = own.way.entries.iter().filter_map(|(_, e)| basis.inventory.waters[e.near.water].name.as_deref()).collect();
        let rows: Vec<String> = own.flags.iter().map(|f| format!("{} {} ({})", f.kind.word(), f.water, f.reached.word())).collect();
        println!("CSO {id}: into {into:?}; {rows:?}; {:?}", own.unknown);
        assert!(own.flags.iter().all(|f| f.kind == FlagKind::CategoryUnknown));
        // Only where the stream itself says N is there neither row nor doubt.
        let says_no = own.way.units.iter().any(|u| basis.inventory.units[u.shape].impaired == Some(false));
        assert!(!own.flags.is_empty() || !own.unknown.is_empty() || says_no, "{id} is passed as clean");
    }
    // Ditches that end in a stream: what they reach is impaired exactly where the stream says so.
    let names: BTreeMap<String, bool> = (basis.inventory.units.iter()).fold(BTreeMap::new(), |mut all, u| {
        *all.entry(u.unit.to_string()).or_default() |= u.impaired == Some(true);
        all
    });
    let (mut ends, mut impaired) = (0, 0);
    for inflow in &basis.waters.inflows {
        let way = headwall::waters::way_down(basis.ground(), &basis.waters, inflow.node);
        for unit in &way.units {
            impaired += usize::from(names[&basis.inventory.units[unit.shape].unit.to_string()]);
        }
        ends += 1;
    }
    println!("{ends} ends of ditches and overflows reach a water; {impaired} ways pass an impaired unit");
    assert!(ends > 100 && impaired > 10);
}

/// Two list cycles of one town: the difference names what changed and nothing else.
#[test]
fn a_new_list_cycle_changes_exactly_what_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/two-categories-in-one-water");
    for name in ["pipes.geojson", "structures.geojson", "streams.geojson", "units.geojson", "listing.csv"] {
        fs::copy(case.join(name), folder.path().join(name)).unwrap();
    }
    let layer = |name: &str, role: &str, file: &str, fields: &str| {
        let crs = if file.ends_with("csv") { "" } else { "crs = \"EPSG:2261\"\n" };
        format!("[[layer]]\nname = \"{name}\"\nrole = \"{role}\"\npath = \"{file}\"\n{crs}[layer.fields]\n{fields}\n")
    };
    let text = [
        "name = \"T\"\n".to_owned(),
        layer("pipes", "conduits", "pipes.geojson", "id = \"PIPE_ID\""),
        layer("outfalls", "outfalls", "structures.geojson", "id = \"STR_ID\""),
        layer("streams", "watercourses", "streams.geojson", "id = \"WATER_ID\""),
        layer("units", "assessment_units", "units.geojson", "id = \"AU_ID\""),
        layer("listing", "unit_listing", "listing.csv", "unit = \"UNIT\"\ncategory = \"CATEGORY\"\ncause = \"CAUSE\"\ncycle = \"CYCLE\""),
    ]
    .concat();
    fs::write(folder.path().join("headwall.toml"), text).unwrap();
    town::import(folder.path(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    // Pathogens leave the list, turbidity comes on it, phosphorus stays as it is, in a later cycle.
    fs::write(folder.path().join("listing.csv"), "UNIT,CATEGORY,CAUSE,CYCLE\nXX-1,4A,PHOSPHORUS,2026\nXX-1,5,TURBIDITY,2026\n").unwrap();
    town::import(folder.path(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let of = |town: &Town| {
        let basis = &town.basis;
        conditions(basis.ground(), &basis.waters, &basis.settings, &Concerns::embedded().unwrap(), jiff::civil::date(2026, 11, 30))
    };
    let (old, new) = (town::open_import(folder.path(), 1).unwrap(), town::open_import(folder.path(), 2).unwrap());
    let (before, after) = (of(&old), of(&new));
    let changes = headwall::waters::diff((&before, &old.basis.inventory), (&after, &new.basis.inventory));
    let found: Vec<(String, &str, &str)> = changes
        .iter()
        .map(|c| {
            let word = match &c.changed {
                headwall::waters::Changed::Added => "added",
                headwall::waters::Changed::Removed => "removed",
                headwall::waters::Changed::Altered(..) => "altered",
                headwall::waters::Changed::OutfallOnlyIn(_) => "outfall",
            };
            (c.pollutant.clone().unwrap_or_default(), c.kind, word)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("PATHOGENS".to_owned(), "303d", "removed"),
            ("PHOSPHORUS".to_owned(), "tmdl_named_not_found", "altered"),
            ("TURBIDITY".to_owned(), "303d", "added"),
        ]
    );
    assert!(headwall::waters::diff((&before, &old.basis.inventory), (&before, &old.basis.inventory)).is_empty());
    assert!(town::open_import(folder.path(), 3).is_err());
}
