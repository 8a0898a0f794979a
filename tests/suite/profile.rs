//! Does the section show what the map knows, and leave unknown what it does not?

use headwall::inventory::{Level, LevelField, LevelKind, StructureKind};
use headwall::profile::{Profile, profile};
use headwall::trace::TraceOptions;

use crate::why_not::{Built, Small, level};

/// Three pipes in a row: one falls, one rises, one has no upper invert and a lower one of another datum at its manhole's rim.
fn row() -> Built {
    let other = LevelField::Given(Level { value_m: 50.0, kind: LevelKind::Elevation, datum: Some("NGVD 29".into()) });
    Small::new()
        .pipe("A", &[(0.0, 0.0), (100.0, 0.0)], |c| (c.diameter_mm, c.invert_from, c.invert_to) = (Some(300.0), level(11.0), level(10.0)))
        .pipe("B", &[(100.0, 0.0), (200.0, 0.0)], |c| (c.invert_from, c.invert_to) = (level(9.8), level(10.3)))
        .pipe("C", &[(200.0, 0.0), (300.0, 0.0)], |c| (c.invert_from, c.invert_to) = (LevelField::Missing, level(9.0)))
        .structure("M1", StructureKind::Manhole, 0.0, 0.0, |s| s.rim = level(13.0))
        .structure("M2", StructureKind::Manhole, 100.0, 0.0, |s| s.rim = level(12.5))
        .structure("M3", StructureKind::Manhole, 200.0, 0.0, move |s| s.rim = other)
        .structure("OF", StructureKind::Outfall, 300.0, 0.0, |_| {})
        .build()
}

fn section(town: &Built, from: &str, to: &str) -> headwall::error::Result<Profile> {
    let node = |id| town.network.node_of(town.structure(id));
    profile(town.ground(), node(from), node(to), &TraceOptions::default())
}

#[test]
fn slopes_drops_and_crowns_are_those_of_the_levels() {
    let found = section(&row(), "M1", "OF").unwrap();
    let near = |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 1e-9, "{a:?} {b}");
    near(found.reaches[0].slope_percent, 1.0);
    near(found.reaches[0].crown_up_m(), 11.3);
    near(found.reaches[1].slope_percent, -0.5);
    assert!(found.reaches[1].is_reversed() && !found.reaches[0].is_reversed());
    near(found.stations[1].drop_m, 0.2);
    near(found.stations[1].ground_m, 12.5);
}

#[test]
fn what_is_not_known_stays_unknown_and_another_datum_is_said() {
    let found = section(&row(), "M1", "OF").unwrap();
    let last = &found.reaches[2];
    assert_eq!((last.invert_up_m, last.slope_percent, last.invert_down_m), (None, None, Some(9.0)));
    assert_eq!((found.stations[2].ground_m, found.stations[2].drop_m, found.stations[3].ground_m), (None, None, None));
    assert_eq!(found.datum, None);
    assert_eq!(found.left_out, ["the rim of M3: measured from NGVD 29"]);
}

#[test]
fn a_way_that_is_none_says_whether_it_is_the_other_way_round() {
    let told = section(&row(), "OF", "M1").unwrap_err();
    assert_eq!(told.to_string(), "no way leads down from OF to M1");
    assert!(told.hint_text().unwrap().contains("exchange"), "{:?}", told.hint_text());
    assert!(section(&row(), "M1", "M1").is_err());
}

#[test]
fn of_several_ways_the_shortest_is_shown_and_the_others_are_said() {
    let town = Small::new()
        .pipe("B1", &[(0.0, 0.0), (100.0, 0.0)], |_| {})
        .pipe("B2", &[(0.0, 0.0), (50.0, 300.0), (100.0, 0.0)], |_| {})
        .structure("M1", StructureKind::Manhole, 0.0, 0.0, |_| {})
        .structure("OF", StructureKind::Outfall, 100.0, 0.0, |_| {})
        .build();
    let found = section(&town, "M1", "OF").unwrap();
    assert_eq!((found.path.length_m, found.partings.len()), (100.0, 1));
}
