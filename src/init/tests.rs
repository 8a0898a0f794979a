use super::words::{Name, read_codes};
use super::*;

#[test]
fn every_preset_is_read() {
    assert_eq!(presets::count(), 6);
}

#[test]
fn names_are_cut_into_words() {
    let has = |name: &str, notions: &[&str]| {
        let cut = Name::new(name);
        for notion in notions {
            assert!(cut.has(notion), "{name}: {notion} not in {:?}", cut.words);
        }
    };
    has("UPSTREAMINVERT", &["upstream", "invert"]);
    has("UpstreamIn", &["upstream"]);
    has("DOWNELEV", &["downstream", "elevation"]);
    has("FROMMH", &["upstream", "node"]);
    has("INVERTUS", &["upstream", "invert"]);
    has("Downstre_1", &["downstream"]);
    has("RIMELEV", &["rim", "elevation"]);
    has("MH_Upstream", &["upstream", "node"]);
    has("PIPE_MATER", &["material"]);
    has("Dn_MH_ID", &["downstream", "node", "id"]);
    assert!(!Name::new("TOTAL").has("downstream"));
}

#[test]
fn codes_read_as_words() {
    let texts: BTreeMap<String, usize> = [("ACTIVE", 10), ("Abandoned in place", 2), ("QQ", 1)].map(|(t, n)| (t.to_owned(), n)).into();
    let reading = read_codes("status", &texts);
    assert_eq!(reading.codes["live"], ["ACTIVE"]);
    assert_eq!(reading.codes["abandoned"], ["Abandoned in place"]);
    assert_eq!(reading.open, [("QQ".to_owned(), 1)]);
}

#[test]
fn units_follow_from_magnitude() {
    use attributes::size_unit;
    assert_eq!(size_unit(&[200.0, 300.0, 450.0]).map(|u| u.0), Some(LengthUnit::Millimetre));
    assert_eq!(size_unit(&[8.0, 12.0, 15.0, 18.0]).map(|u| u.0), Some(LengthUnit::Inch));
    assert_eq!(size_unit(&[0.3, 0.45, 1.2]).map(|u| u.0), None);
}

#[test]
fn two_lines_that_meet_within_a_foot_are_joined_there() {
    let line = |x0: f64, x1: f64| Line { first: Coord { x: x0, y: 0.0 }, last: Coord { x: x1, y: 0.0 }, length_m: (x1 - x0).abs() };
    let steps = snap::steps(&[line(0.0, 10.0), line(10.2, 20.0)], &[]);
    assert_eq!(steps.iter().map(|s| s.joined).collect::<Vec<_>>(), [0, 0, 0, 2, 2, 2]);
    assert_eq!(steps.iter().map(|s| s.groups).collect::<Vec<_>>(), [2, 2, 2, 1, 1, 1]);
    assert!(steps.iter().all(|s| s.false_loops == 0));
}
