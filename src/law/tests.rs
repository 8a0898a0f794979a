//! Do the embedded profiles say what the texts say, and do dates come out as a lawyer would count them?

use jiff::ToSpan;
use jiff::civil::{Date, Weekday, date};
use proptest::prelude::*;

use super::clock::{due, is_business_day};
use super::*;

fn profiles() -> Profiles {
    Profiles::embedded().unwrap()
}

fn liverpool() -> Law {
    profiles().law("liverpool-ny-316").unwrap().clone()
}

fn on(law: &Law, start: Date, length: u16, unit: Unit) -> Date {
    due(start.at(17, 30, 0, 0), length, unit, &law.counting, &law.calendar).unwrap().on
}

#[test]
fn gaps_exemptions_conditions_and_rows_are_complete() {
    let law = liverpool();
    assert_eq!(law.gaps.iter().map(|g| g.id.as_str()).collect::<Vec<_>>(), ["G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9"]);
    let expected: Vec<String> = (1..=15).map(|n| format!("E{n}")).collect();
    assert_eq!(law.exemptions.iter().map(|e| e.id.clone()).collect::<Vec<_>>(), expected);
    assert_eq!(law.special_conditions.iter().map(|s| s.id.as_str()).collect::<Vec<_>>(), ["SC1", "SC2", "SC3", "SC4"]);
    let mut places: Vec<&Citation> = law.definitions.iter().map(|e| &e.at).collect();
    places.extend(law.illicit_limbs.iter().map(|e| &e.at));
    places.extend(law.provisions.iter().filter_map(|e| e.at.as_ref()));
    places.extend(law.exemptions.iter().map(|e| &e.at));
    places.extend(law.duties.iter().filter_map(|e| e.at.as_ref()));
    places.extend(law.clocks.iter().filter_map(|e| e.at.as_ref()));
    places.extend(law.open_deadlines.iter().map(|e| &e.at));
    places.extend(law.sanctions.iter().map(|e| &e.at));
    places.extend(law.spill_calls.iter().map(|e| &e.at));
    for row in 1..=66 {
        assert!(places.iter().any(|at| at.rows.contains(&row)), "row {row}");
    }
    for at in places {
        assert!(at.says_where(), "{at}");
        assert!(at.section.as_deref().is_none_or(|s| ["316-5", "316-6", "316-7"].contains(&s)), "{at}: only three numbers are certain");
    }
}

#[test]
fn every_clock_is_whole_and_unread_ones_have_no_date() {
    let all = profiles();
    let law = all.law("liverpool-ny-316").unwrap();
    for clock in law.clocks.iter().chain(&all.permit("ny-gp-0-24-001").unwrap().clocks) {
        assert!(!clock.start.is_empty() && !clock.words.is_empty(), "{}", clock.id);
    }
    assert!(law.clocks.iter().all(|c| c.confirmed));
    let protest = law.clock("cost_protest").unwrap();
    assert_eq!((protest.start_basis, protest.gaps.as_slice()), (Basis::Assumed, ["G7".to_owned()].as_slice()));
    let told = law.due_on("cost_protest", date(2026, 11, 30)).unwrap().unwrap();
    assert!(told.basis.contains("start assumed"), "{}", told.basis);
    let permit = all.permit("ny-gp-0-24-001").unwrap();
    assert!(permit.clocks.iter().all(|c| !c.confirmed));
    assert_eq!(permit.due("track_down_obvious", date(2026, 11, 30).at(9, 0, 0, 0)).unwrap(), None);
}

#[test]
fn a_clock_is_confirmed_only_with_a_citation() {
    let name = "permit/ny-gp-0-24-001.toml";
    let text = EMBEDDED.iter().find(|(n, _)| *n == name).unwrap().1;
    let bare = text.replacen("\nconfirmed = false", "\nconfirmed = true", 1);
    let told = Profiles::with_replacements(&BTreeMap::from([(name.to_owned(), bare)])).unwrap_err().to_string();
    assert!(told.starts_with("ny-gp-0-24-001.toml, field confirmed: clock base_map"), "{told}");
    let cited = "confirmed = true\nconfirmation = { by = \"clerk\", on = \"2026-11-30\", citation = \"Part IV.D.1\" }";
    let cited = text.replacen("\nconfirmed = false", &format!("\n{cited}"), 1);
    let all = Profiles::with_replacements(&BTreeMap::from([(name.to_owned(), cited)])).unwrap();
    assert!(all.permit("ny-gp-0-24-001").unwrap().due("base_map", date(2024, 1, 3).at(0, 0, 0, 0)).unwrap().is_some());
    assert_ne!(all.choose(None, None).unwrap().digest, profiles().choose(None, None).unwrap().digest);
}

#[test]
fn loading_is_strict() {
    let name = "law/liverpool-ny-316.toml";
    let text = EMBEDDED.iter().find(|(n, _)| *n == name).unwrap().1;
    let cases = [
        ("who = \"board\"", "who = \"senate\"", "no role"),
        ("clocks = [\"cost_notice\"]", "clocks = [\"cost_note\"]", "no clock"),
        ("gaps = [\"G4\"]", "gaps = [\"G44\"]", "no gap"),
        ("holidays = \"ny\"", "holidays = \"tx\"", "no calendar"),
        ("at = { section = \"316-5\", paragraph = \"A(1), item 4\", rows = [23] }", "at = { rows = [23] }", "neither a citation"),
        ("id = \"E3\"", "id = \"E2\"", "stands twice"),
        ("length = 5", "lenght = 5", "lenght"),
    ];
    for (old, new, expected) in cases {
        assert!(text.contains(old), "{old}");
        let told = Profiles::with_replacements(&BTreeMap::from([(name.to_owned(), text.replacen(old, new, 1))])).unwrap_err().to_string();
        assert!(told.starts_with("liverpool-ny-316.toml") && told.contains(expected), "{told}");
    }
    let error = Profiles::with_replacements(&BTreeMap::from([("law/../x.toml".to_owned(), String::new())])).unwrap_err();
    assert!(error.to_string().contains("no law or permit file"));
}

#[test]
fn a_pool_is_presumed_exempt_only_below_one() {
    let law = liverpool();
    let pool = law.exemption("E13").unwrap();
    let day = date(2026, 11, 30);
    let presumed = |reading| pool.presumption(day, reading);
    assert_eq!(presumed(None), Presumption::Undetermined);
    assert_eq!(presumed(Some(0.99)), Presumption::PresumedExempt);
    assert_eq!(presumed(Some(1.0)), Presumption::NotPresumed);
    assert_eq!(presumed(Some(f64::NAN)), Presumption::Undetermined);
    assert_eq!(presumed(Some(-1.0)), Presumption::Undetermined);
    assert_eq!(pool.sentence(day), "E13 swimming pools: presumed exempt if dechlorinated, typically below 1 ppm chlorine");
    let revoked = Revocation { by: "the Department".into(), on: date(2026, 6, 1), citation: "letter".into() };
    let pool = Exemption { revoked: Some(revoked), ..pool.clone() };
    assert_eq!(pool.presumption(date(2026, 5, 31), Some(0.2)), Presumption::PresumedExempt);
    assert_eq!(pool.presumption(date(2026, 6, 1), Some(0.2)), Presumption::NotExempt);
}

#[test]
fn parameters_lead_to_pollutants_of_concern() {
    let all = profiles();
    let permit = all.permit("ny-gp-0-24-001").unwrap();
    let of = |name| permit.pollutant_of(name).map(|m| (m.pollutant.id.as_str(), m.doubtful));
    assert_eq!(of("Phosphorus, Total"), Some(("phosphorus", false)));
    assert_eq!(of("ALGAL/WEED GROWTH"), Some(("phosphorus", false)));
    assert_eq!(of("FECAL COLIFORM"), Some(("pathogens", false)));
    assert_eq!(of("NITROGEN, NITRITE"), Some(("nitrogen", false)));
    assert_eq!(of("AMMONIA"), Some(("nitrogen", true)));
    assert_eq!(of("OIL AND FLOATING SUBSTANCES"), Some(("floatables", false)));
    assert_eq!(of("OIL AND GREASE"), None);
    assert_eq!(of("MERCURY"), None);
    assert_eq!(permit.location_kind("cso"), None);
}

#[test]
fn periods_end_where_a_lawyer_would_count() {
    let law = liverpool();
    // Without moving: the end of a short month, in common and leap years.
    let still = Counting { moves_to_business_day: false, ..law.counting.clone() };
    let plain = |start: Date, n, unit| due(start.at(0, 0, 0, 0), n, unit, &still, &law.calendar).unwrap().on;
    assert_eq!(plain(date(2026, 8, 31), 6, Unit::Months), date(2027, 2, 28));
    assert_eq!(plain(date(2027, 8, 31), 6, Unit::Months), date(2028, 2, 29));
    assert_eq!(plain(date(2012, 6, 29), 6, Unit::Months), date(2012, 12, 29));
    assert_eq!(plain(date(2024, 2, 29), 1, Unit::Years), date(2025, 2, 28));
    // 28 February 2027 is a Sunday.
    let moved = due(date(2026, 8, 31).at(0, 0, 0, 0), 6, Unit::Months, &law.counting, &law.calendar).unwrap();
    assert_eq!((moved.on, moved.before_moving), (date(2027, 3, 1), date(2027, 2, 28)));
    assert!(moved.basis.contains("Sunday 2027-02-28 is a weekend"), "{}", moved.basis);
    // A Friday evening; the day after Thanksgiving; three business days over it.
    assert_eq!(on(&law, date(2026, 12, 4), 1, Unit::BusinessDays), date(2026, 12, 7));
    assert_eq!(on(&law, date(2026, 11, 25), 1, Unit::BusinessDays), date(2026, 11, 27));
    assert_eq!(on(&law, date(2026, 11, 25), 3, Unit::BusinessDays), date(2026, 12, 1));
    // A Saturday itself; five days that end on a Saturday.
    assert_eq!(on(&law, date(2026, 12, 5), 1, Unit::BusinessDays), date(2026, 12, 7));
    assert_eq!(on(&law, date(2026, 11, 30), 5, Unit::Days), date(2026, 12, 7));
    let first = Counting { first_day_counts: true, moves_to_business_day: false, ..law.counting.clone() };
    assert_eq!(due(date(2026, 11, 30).at(0, 0, 0, 0), 5, Unit::Days, &first, &law.calendar).unwrap().on, date(2026, 12, 4));
    let hours = due(date(2026, 12, 31).at(23, 30, 0, 0), 2, Unit::Hours, &law.counting, &law.calendar).unwrap();
    assert_eq!(hours.at, Some(date(2027, 1, 1).at(1, 30, 0, 0)));
    assert!(due(Date::MAX.at(0, 0, 0, 0), 1, Unit::Days, &law.counting, &law.calendar).is_err());
}

#[test]
fn holidays_fall_where_they_do() {
    let ny = liverpool().calendar;
    let named = |day| ny.holiday(day);
    assert_eq!(named(date(2026, 11, 3)), Some("Election Day"));
    assert_eq!(named(date(2026, 11, 26)), Some("Thanksgiving Day"));
    assert_eq!(named(date(2026, 5, 25)), Some("Memorial Day"));
    assert_eq!(named(date(2022, 12, 26)), Some("Christmas Day"), "Christmas was a Sunday");
    assert_eq!(named(date(2026, 7, 3)), None, "a Saturday moves nothing");
    assert_eq!(named(date(2019, 6, 19)), None);
    assert_eq!(named(date(2026, 6, 15)), None, "Flag Day is a Sunday and does not move");
}

proptest! {
    #[test]
    fn ends_never_precede_the_start_and_grow_with_length(days in 0i64..40_000, n in 1u16..400, which in 0usize..4) {
        let law = liverpool();
        let start = date(1970, 1, 1).checked_add(days.days()).unwrap();
        let unit = [Unit::Days, Unit::BusinessDays, Unit::Months, Unit::Years][which];
        let length = if unit == Unit::Years { n % 30 + 1 } else { n };
        let (end, next) = (on(&law, start, length, unit), on(&law, start, length + 1, unit));
        prop_assert!(end > start);
        prop_assert!(next >= end);
        prop_assert!(is_business_day(end, &law.calendar));
        prop_assert!(end.weekday() != Weekday::Sunday);
    }

    #[test]
    fn so_many_business_days_lie_between(days in 0i64..40_000, n in 1u16..40) {
        let law = liverpool();
        let start = date(1970, 1, 1).checked_add(days.days()).unwrap();
        let end = on(&law, start, n, Unit::BusinessDays);
        let mut day = start;
        let mut count = 0;
        while day < end {
            day = day.tomorrow().unwrap();
            count += u16::from(is_business_day(day, &law.calendar));
        }
        prop_assert_eq!(count, n);
    }
}
