//! How long does water take, and does the range follow from the formulas?

use headwall::inventory::{Material, StructureKind};
use headwall::network::locate::Place;
use headwall::rules::{MATERIALS, Rules, Section};
use headwall::trace::travel::{circle_velocity_ratio, manning_m_per_s};
use headwall::trace::{Trace, TraceOptions, Way, trace};

use crate::why_not::{Built, Small, level};

#[test]
fn the_ratios_of_a_part_full_circle_follow_from_its_geometry() {
    // Full circle: area pi D^2 / 4, perimeter pi D, hydraulic radius D / 4. At depth y the water surface spans the angle
    // t = 2 acos(1 - 2 y/D): area D^2 (t - sin t) / 8, perimeter D t / 2, so R = (D/4) (1 - sin t / t) and v/v_full = (1 - sin t / t)^(2/3).
    let t: f64 = 2.0 * (1.0f64 - 2.0 * 0.05).acos();
    assert!((t - 0.902_054).abs() < 1e-6, "{t}");
    assert!((t.sin() - 2.0 * 0.9 * 0.19f64.sqrt()).abs() < 1e-12);
    let radius_ratio = 1.0 - t.sin() / t;
    assert!((radius_ratio - 0.130_204).abs() < 1e-5, "{radius_ratio}");
    assert!((circle_velocity_ratio(0.05) - radius_ratio.powf(2.0 / 3.0)).abs() < 1e-12);
    assert!((circle_velocity_ratio(0.05) - 0.256_9).abs() < 1e-4, "{}", circle_velocity_ratio(0.05));
    // By the perimeter itself, without the closed form.
    let (area, perimeter) = ((t - t.sin()) / 8.0, t / 2.0);
    assert!(((area / perimeter) / 0.25 - radius_ratio).abs() < 1e-12);
    // The greatest ratio over a fine grid of depths.
    let grid = (1..10_000).map(|i| f64::from(i) / 10_000.0);
    let best = grid.max_by(|a, b| circle_velocity_ratio(*a).total_cmp(&circle_velocity_ratio(*b))).unwrap();
    assert!((best - 0.8128).abs() < 1e-3, "{best}");
    assert!((circle_velocity_ratio(best) - 1.1400).abs() < 1e-3, "{}", circle_velocity_ratio(best));
    let hydraulics = Rules::embedded().unwrap().hydraulics().clone();
    assert!((hydraulics.fastest_of_full - circle_velocity_ratio(best)).abs() < 1e-3);
}

#[test]
fn the_materials_of_the_data_are_those_of_the_inventory() {
    assert_eq!(Material::ALL.iter().map(|m| m.word()).collect::<Vec<_>>(), MATERIALS);
}

fn up(town: &Built, id: &str) -> Trace {
    let node = town.network.node_of(town.structure(id));
    trace(town.ground(), Place::Node(node), Way::Up, &TraceOptions::default()).unwrap()
}

/// 100 m of concrete pipe, 300 mm, that fall 1 m.
fn one_pipe(known: bool) -> Built {
    let town = Small::new().pipe("A", &[(0.0, 0.0), (100.0, 0.0)], |c| {
        if known {
            (c.diameter_mm, c.invert_from, c.invert_to) = (Some(300.0), level(11.0), level(10.0));
        }
    });
    town.structure("TOP", StructureKind::Manhole, 0.0, 0.0, |_| {}).structure("OF", StructureKind::Outfall, 100.0, 0.0, |_| {}).build()
}

#[test]
fn a_known_pipe_takes_what_mannings_formula_says() {
    let town = one_pipe(true);
    let trace = up(&town, "OF");
    let top = trace.node(town.network.node_of(town.structure("TOP"))).unwrap().travel;
    let n = town.rules.hydraulics().roughness("concrete", Section::Closed);
    // The fall is 1 m, give or take 0.03 m; R of the full pipe is 0.075 m.
    let earliest_s = 100.0 / (1.14 * manning_m_per_s(n.low, 0.075, 1.03 / 100.0));
    let latest_s = 100.0 / (circle_velocity_ratio(0.05) * manning_m_per_s(n.high, 0.075, 0.97 / 100.0));
    assert!((top.earliest_s - earliest_s).abs() < 1e-6, "{top:?} {earliest_s}");
    assert!((top.latest_s.unwrap() - latest_s).abs() < 1e-6, "{top:?} {latest_s}");
    assert!((50.0..60.0).contains(&earliest_s) && (370.0..400.0).contains(&latest_s), "{earliest_s} {latest_s}");
}

#[test]
fn what_is_unknown_widens_the_range() {
    let (known, unknown) = (up(&one_pipe(true), "OF"), up(&one_pipe(false), "OF"));
    // Structures come first among the nodes, in the order of their ids: OF, then TOP.
    let top = 1;
    // A conduit's own range covers all of it, down to its lower end at the place; the whole way is that of the node above.
    assert_eq!((known.conduits[0].travel.earliest_s, known.conduits[0].travel.latest_s), (0.0, known.nodes[top].travel.latest_s));
    let (known, unknown) = (known.nodes[top].travel, unknown.nodes[top].travel);
    assert!(unknown.earliest_s < known.earliest_s && unknown.latest_s > known.latest_s, "{known:?} {unknown:?}");
}

#[test]
fn a_pond_on_the_way_leaves_the_latest_without_a_bound() {
    let town = Small::new()
        .pipe("A", &[(0.0, 0.0), (100.0, 0.0)], |_| {})
        .pipe("B", &[(100.0, 0.0), (200.0, 0.0)], |_| {})
        .structure("TOP", StructureKind::Manhole, 0.0, 0.0, |_| {})
        .structure("POND", StructureKind::Pond, 100.0, 0.0, |_| {})
        .structure("OF", StructureKind::Outfall, 200.0, 0.0, |_| {})
        .build();
    let node = |id| town.network.node_of(town.structure(id));
    let above = up(&town, "OF").node(node("TOP")).unwrap().travel;
    assert!(above.earliest_s > 0.0 && above.latest_s.is_none());
    // At the pond itself, what comes to it has not been held yet.
    assert!(up(&town, "POND").node(node("TOP")).unwrap().travel.latest_s.is_some());
    let down = trace(town.ground(), Place::Node(node("TOP")), Way::Down, &TraceOptions::default()).unwrap();
    assert_eq!(down.node(node("OF")).unwrap().travel.earliest_s, above.earliest_s);
    assert!(down.node(node("POND")).unwrap().travel.latest_s.is_some() && down.node(node("OF")).unwrap().travel.latest_s.is_none());
}

#[test]
fn of_two_ways_the_quick_one_is_the_earliest_and_the_slow_one_the_latest() {
    let town = Small::new()
        .pipe("A", &[(0.0, 0.0), (100.0, 0.0)], |_| {})
        .pipe("B1", &[(100.0, 0.0), (200.0, 0.0)], |_| {})
        .pipe("B2", &[(100.0, 0.0), (150.0, 400.0), (200.0, 0.0)], |_| {})
        .structure("TOP", StructureKind::Manhole, 0.0, 0.0, |_| {})
        .structure("FORK", StructureKind::Manhole, 100.0, 0.0, |_| {})
        .structure("OF", StructureKind::Outfall, 200.0, 0.0, |_| {})
        .build();
    let trace = up(&town, "OF");
    let fork = trace.node(town.network.node_of(town.structure("FORK"))).unwrap().travel;
    let (short_m, long_m) = (100.0, 2.0 * 50.0f64.hypot(400.0));
    let single = one_pipe(false);
    let pace = up(&single, "OF").node(single.network.node_of(single.structure("TOP"))).unwrap().travel;
    assert!((fork.earliest_s - pace.earliest_s * short_m / 100.0).abs() < 1e-6);
    assert!((fork.latest_s.unwrap() - pace.latest_s.unwrap() * long_m / 100.0).abs() < 1e-6);
}
