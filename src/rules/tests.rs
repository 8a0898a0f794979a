//! Do the embedded files hold together, and do they say what an inspector would?

use super::*;

fn rules() -> Rules {
    Rules::embedded().unwrap()
}

fn replaced(name: &str, text: &str) -> Result<Rules> {
    Rules::with_replacements(&BTreeMap::from([(name.to_owned(), text.to_owned())]))
}

fn embedded_text(name: &str) -> &'static str {
    EMBEDDED.iter().find(|(n, _)| *n == name).unwrap().1
}

fn weight(rules: &Rules, pollutant: &str, class: &str) -> u32 {
    let signature = rules.pollutant(pollutant).unwrap();
    let land_use: Vec<_> = rules.land_use("nys", class).into_iter().collect();
    rules.fit(signature, &land_use, &[]).factor_milli
}

#[test]
fn every_embedded_file_is_read_and_every_needed_factor_is_there() {
    let rules = rules();
    assert!(rules.signatures().len() >= 14);
    assert_eq!(rules.land_use_schemes(), ["generic", "nys"]);
    assert!(factors::NEEDED.iter().all(|id| rules.factor(id).is_some()));
    assert!(rules.not_nearest().is_some_and(|w| w.factor_milli < 1000));
    assert!(rules.check_scheme("nys").is_ok());
    assert!(rules.check_scheme("texas").unwrap_err().to_string().contains("generic, nys"));
}

#[test]
fn an_entry_without_a_source_is_refused_in_every_file() {
    for (name, text) in EMBEDDED {
        let at = text.find("source = \"").unwrap();
        let end = at + 10 + text[at + 10..].find('"').unwrap() + 1;
        for broken in ["", "source = \"\"", "source = \"no-such-key\""] {
            // An inline table cannot lose its last field and keep the comma, so an empty field stands in its place.
            let put = if broken.is_empty() { "note_of_nothing = \"\"" } else { broken };
            let told = replaced(name, &format!("{}{put}{}", &text[..at], &text[end..])).unwrap_err().to_string();
            let file = name.rsplit('/').next().unwrap();
            assert!(told.starts_with(&format!("{file}, field source: ")), "{told}");
        }
    }
    let text = embedded_text("signatures.toml").replacen("\nsource = \"idde\"", "", 1);
    let told = replaced("signatures.toml", &text).unwrap_err().to_string();
    assert!(told.contains("signature suds has no source"), "{told}");
}

#[test]
fn references_between_files_are_checked() {
    let text = embedded_text("signatures.toml").replacen("site = \"car_wash\"", "site = \"car_wish\"", 1);
    let told = replaced("signatures.toml", &text).unwrap_err().to_string();
    assert_eq!(told, "signatures.toml, field sites: signature suds: \"car_wish\" is no site of generating_sites.toml");
    let text = embedded_text("land_use/nys.toml").replacen("\"car_wash\"", "\"car_wish\"", 1);
    assert!(replaced("land_use/nys.toml", &text).unwrap_err().to_string().contains("class 434"));
    let text = embedded_text("candidate_factors.toml").replacen("\"unmapped_connection\"", "\"unmapped\"", 1);
    assert!(replaced("candidate_factors.toml", &text).unwrap_err().to_string().contains("unmapped_connection"));
    let text = embedded_text("candidate_factors.toml").replacen("\"permit_present\"", "\"permit\"", 1);
    assert!(replaced("candidate_factors.toml", &text).unwrap_err().to_string().contains("factor permit_present: is missing"));
}

#[test]
fn a_misspelt_field_list_or_file_is_refused() {
    let text = embedded_text("link_tiers.toml").replacen("factor_milli", "factor_mili", 1);
    let told = replaced("link_tiers.toml", &text).unwrap_err().to_string();
    assert!(told.contains("strength record plumbed") && told.contains("factor_mili"), "{told}");
    let text = format!("weakenings = []\n{}", embedded_text("link_tiers.toml"));
    assert!(replaced("link_tiers.toml", &text).unwrap_err().to_string().contains("weakenings"));
    let told = replaced("signature.toml", "").unwrap_err().to_string();
    assert!(told.contains("signatures.toml"), "{told}");
    assert!(replaced("land_use/../nys.toml", "").is_err());
    assert!(replaced("signatures.toml", "[[signature").unwrap_err().to_string().contains("line 1"));
}

#[test]
fn a_town_adds_a_scheme_of_its_own_and_the_digest_tells() {
    let text = "matching = \"three_digits\"\n[[class]]\ncode = \"335\"\nwords = \"car wash\"\nsites = [\"car_wash\"]\n\
                limb_b = \"commercial\"\nprior_milli = 1500\nsource = \"assumed\"\n";
    let town = replaced("land_use/ma.toml", text).unwrap();
    assert_eq!(town.land_use("ma", "3350").unwrap().land_use.words, "car wash");
    assert_eq!(town.replaced(), ["land_use/ma.toml"]);
    assert_ne!(town.digest_hex(), rules().digest_hex());
    assert_eq!(rules().digest(), rules().digest());
    assert_eq!(rules().digest_hex().len(), 64);
}

#[test]
fn a_pollutant_is_found_by_the_words_people_use() {
    let rules = rules();
    let ids =
        [("soap bubbles", "suds"), ("SUDS", "suds"), ("milky-white", "milky"), ("high pH", "milky"), ("bright  color", "bright_colour")];
    let more = [("Sewage", "sewage"), ("oil sheen", "fuel"), ("hydrant flushing", "chlorine"), ("sewage-odour", "sewage_odour")];
    for (word, id) in ids.into_iter().chain(more) {
        assert_eq!(rules.pollutant(word).unwrap().id, id, "{word}");
    }
}

#[test]
fn an_unknown_pollutant_gets_a_hint() {
    let rules = rules();
    let error = rules.pollutant("sewege").unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::Usage);
    assert!(error.hint_text().unwrap().starts_with("did you mean sewage?"), "{:?}", error.hint_text());
    let error = rules.pollutant("some soap bubbles in the brook").unwrap_err();
    assert!(error.hint_text().unwrap().starts_with("did you mean suds?"));
    let error = rules.pollutant("qqqqqqq").unwrap_err();
    assert!(error.hint_text().unwrap().starts_with("known are suds, sewage"));
    assert!(rules.pollutant("").is_err());
    assert!(rules.pollutant(&"x".repeat(100_000)).is_err());
}

#[test]
fn field_sheet_codes_point_to_signatures() {
    let rules = rules();
    let ids = |field, code| rules.signatures_of_ori(field, code).into_iter().map(|s| s.id.as_str()).collect::<Vec<_>>();
    assert_eq!(ids(OriField::Floatables, "suds"), ["suds"]);
    assert_eq!(ids(OriField::Floatables, "petroleum_sheen"), ["fuel"]);
    assert!(ids(OriField::Odour, "sewage").contains(&"sewage"));
    assert!(ids(OriField::Odour, "nonsense").is_empty());
}

#[test]
fn tiers_stand_in_the_right_order_for_each_pathway() {
    let rules = rules();
    let in_order = |pathway, tiers: [Tier; 4]| {
        let weights = tiers.map(|tier| rules.tier_strength_milli(tier, pathway));
        assert!(weights.windows(2).all(|pair| pair[0] > pair[1]), "{pathway:?} {weights:?}");
    };
    in_order(Pathway::Plumbed, [Tier::Record, Tier::Lateral, Tier::Frontage, Tier::InletArea]);
    in_order(Pathway::Surface, [Tier::Record, Tier::InletArea, Tier::Frontage, Tier::Lateral]);
    for tier in Tier::ALL {
        let between = [Pathway::Plumbed, Pathway::Surface].map(|p| rules.tier_strength_milli(*tier, p));
        let either = rules.tier_strength_milli(*tier, Pathway::Either);
        assert!((between[0].min(between[1])..=between[0].max(between[1])).contains(&either));
    }
    assert_eq!(rules.pollutant("sewage").unwrap().pathway, Pathway::Plumbed);
    assert_eq!(rules.pollutant("fuel").unwrap().pathway, Pathway::Surface);
}

#[test]
fn decays_fall_and_cover_every_distance() {
    let rules = rules();
    for of in [DecayKind::Frontage, DecayKind::AlongPipe] {
        let distances = [0.0, 1.0, 10.0, 100.0, 1e4, 1e9, f64::INFINITY, f64::NAN];
        let weights = distances.map(|d| rules.decay_milli(of, d));
        assert_eq!(weights[0], 1000);
        assert!(weights.windows(2).all(|pair| pair[0] >= pair[1]) && weights[7] > 0, "{weights:?}");
    }
    // Fifty feet, the default parcel distance, lies within the third step.
    assert_eq!(rules.decay_milli(DecayKind::Frontage, 15.24), 700);
    let rising = embedded_text("link_tiers.toml").replacen("factor_milli = 850,  source", "factor_milli = 1850, source", 1);
    assert!(replaced("link_tiers.toml", &rising).unwrap_err().to_string().contains("must not grow with distance"));
}

#[test]
fn land_use_codes_fall_back_to_division_and_series_and_say_so() {
    let rules = rules();
    let found = |code| rules.land_use("nys", code);
    assert_eq!(found("434").unwrap().label(), "automatic car wash (class 434)");
    assert_eq!(found(" 43401 ").unwrap().how, HowMatched::Code);
    assert_eq!(found("427").unwrap().label(), "dining establishment (class 427, read as 420)");
    assert_eq!(found("499").unwrap().how, HowMatched::Series);
    for nothing in ["", "4", "ab4", "012", "é34"] {
        assert!(found(nothing).is_none(), "{nothing}");
    }
    assert!(rules.land_use("texas", "434").is_none());
    for (code, candidate) in [("692", false), ("843", false), ("972", false), ("315", false), ("210", true), ("330", true), ("963", true)] {
        assert_eq!(found(code).unwrap().land_use.candidate, candidate, "{code}");
    }
    assert!(found("210").unwrap().land_use.residential && !found("421").unwrap().land_use.residential);
}

#[test]
fn limb_b_is_never_clean_where_it_is_not_known() {
    let rules = rules();
    let covered = |code, policy| rules.land_use("nys", code).unwrap().land_use.limb_b.covered(policy);
    assert_eq!(covered("434", false), Some(true));
    assert_eq!(covered("710", false), Some(true));
    assert_eq!((covered("411", true), covered("411", false)), (Some(true), Some(false)));
    assert_eq!(covered("612", true), Some(false));
    assert_eq!(covered("853", true), Some(false));
    assert_eq!(covered("330", true), None);
}

#[test]
fn land_use_words_are_read_in_any_case_and_the_special_wins() {
    let rules = rules();
    let code = |text| rules.land_use("generic", text).map(|m| m.land_use.code.clone()).unwrap_or_default();
    let cases = [
        ("RESTAURANT", "restaurant"),
        ("Commercial - Car Wash", "car_wash"),
        ("Vacant Commercial", "vacant"),
        ("Gas Stations", "gas_station"),
        ("Single-Family Residential", "one_family"),
        ("Parking Lot", "parking"),
        ("City Park", "parkland"),
        ("Barn", ""),
        ("Roads/ROW", "road"),
        ("Non-Residential", "nonresidential"),
        ("Multi-Family", "apartments"),
        ("Mobile Home", "residential"),
        ("Public School", "school"),
        ("Zzz", ""),
    ];
    for (text, expected) in cases {
        assert_eq!(code(text), expected, "{text}");
    }
}

#[test]
fn business_codes_find_the_most_specific_site() {
    let rules = rules();
    let ids = |sic, naics| rules.sites_of_business(sic, naics).into_iter().map(|s| s.id.as_str()).collect::<Vec<_>>();
    assert_eq!(ids(Some("7542"), None), ["car_wash"]);
    assert_eq!(ids(None, Some("811192")), ["car_wash"]);
    assert_eq!(ids(None, Some("811111.0")), ["auto_repair"]);
    assert_eq!(ids(Some("7549"), None), ["auto_repair", "oil_change"]);
    assert_eq!(ids(Some("3471"), None), ["metal_works"]);
    assert_eq!(ids(Some("5812"), Some("722511")), ["restaurant"]);
    assert!(ids(Some("9999"), Some("x")).is_empty());
    assert!(ids(None, None).is_empty());
}

#[test]
fn suds_prefer_a_car_wash_to_a_house_to_a_vacant_lot() {
    let rules = rules();
    let [wash, restaurant, house, vacant] = ["434", "421", "210", "311"].map(|class| weight(&rules, "suds", class));
    assert!(wash > restaurant && restaurant > house && house > vacant, "{wash} {restaurant} {house} {vacant}");
    // Metal works are dirtier in general, but suds do not point to them.
    assert!(weight(&rules, "suds", "720") < house);
}

#[test]
fn other_signatures_prefer_what_an_inspector_would_visit_first() {
    let rules = rules();
    let before = |pollutant, first, then| {
        let (a, b) = (weight(&rules, pollutant, first), weight(&rules, pollutant, then));
        assert!(a > b, "{pollutant}: {first} {a}, {then} {b}");
    };
    before("fuel", "432", "210");
    before("fuel", "441", "464");
    before("grease", "421", "210");
    before("chlorine", "554", "210");
    before("sewage", "210", "311");
    before("sewage", "210", "434");
    before("sewage", "210", "714");
    before("sewage", "210", "963");
    before("sediment", "720", "210");
    before("unknown", "710", "210");
    before("unknown", "210", "311");
}

#[test]
fn reasons_read_well_and_multiply_to_the_weight() {
    let rules = rules();
    let suds = rules.pollutant("suds").unwrap();
    let wash = rules.land_use("nys", "434").unwrap();
    let fit = rules.fit(suds, &[wash], &[]);
    assert_eq!(fit.site.as_deref(), Some("car_wash"));
    assert_eq!(fit.reasons[0].text, "automatic car wash (class 434): a typical source of suds or foam: wash and rinse water from the bays");
    assert_eq!(fit.reasons[0].leaning, Leaning::For);
    assert!(fit.reasons[0].assumed && fit.reasons[0].to_string().ends_with("; weight assumed]"));
    assert!(fit.reasons[1].text.ends_with("medium potential for illicit discharge (car wash: detergent, wax, grit)"));
    assert!(fit.reasons[1].source.text.contains("MAPC"));
    assert_eq!(fit.reasons.iter().fold(1000, |weight, reason| times_milli(weight, reason.factor_milli)), fit.factor_milli);
    let vacant = rules.fit(suds, &[rules.land_use("nys", "311").unwrap()], &[]);
    assert!(vacant.reasons.iter().all(|reason| reason.leaning == Leaning::Against), "{:?}", vacant.reasons);
}

#[test]
fn what_is_not_known_is_said_and_weighs_nothing() {
    let rules = rules();
    let suds = rules.pollutant("suds").unwrap();
    let nothing = rules.fit(suds, &[], &[]);
    assert_eq!(nothing.factor_milli, 1000);
    assert_eq!(nothing.reasons.len(), 1);
    assert!(nothing.reasons[0].text.starts_with("land use not known"));
    assert_eq!(nothing.reasons[0].leaning, Leaning::Neither);
    let odd = Business { name: Some("Acme".into()), sic: Some("9999".into()), naics: None };
    let fit = rules.fit(suds, &[], &[odd]);
    assert!(fit.reasons[0].text.starts_with("Acme (SIC 9999): not in the list of generating sites"), "{:?}", fit.reasons);
}

#[test]
fn a_business_shows_through_a_land_use_that_says_little() {
    let rules = rules();
    let suds = rules.pollutant("suds").unwrap();
    let shop = rules.land_use("nys", "464").unwrap();
    let laundry = Business { name: None, sic: Some("7215".into()), naics: None };
    let alone = rules.fit(suds, std::slice::from_ref(&shop), &[]).factor_milli;
    let fit = rules.fit(suds, &[shop], &[laundry]);
    assert!(fit.factor_milli > alone);
    assert_eq!(fit.site.as_deref(), Some("laundry"));
    assert!(fit.reasons[0].text.starts_with("laundry or dry cleaner (SIC 7215): a typical source of suds"));
    assert!(fit.reasons.iter().any(|reason| reason.text.starts_with("also office building (class 464)")));
}

#[test]
fn what_a_building_only_may_be_weighs_less_than_what_it_is() {
    let rules = rules();
    let suds = rules.pollutant("suds").unwrap();
    let row = rules.land_use("nys", "482").unwrap();
    let fit = rules.fit(suds, std::slice::from_ref(&row), &[]);
    assert!(fit.reasons[0].text.starts_with("detached row building, downtown (class 482), if used as laundry or dry cleaner: a possible"));
    let laundry = Business { name: Some("Wash House".into()), sic: Some("7215".into()), naics: None };
    assert!(rules.fit(suds, &[row], &[laundry]).factor_milli > fit.factor_milli);
}

#[test]
fn factors_count_for_their_signatures_and_say_what_is_absent() {
    let rules = rules();
    let age = rules.factor("built_over_40_years_ago").unwrap();
    assert!(age.counts_for("sewage") && !age.counts_for("fuel"));
    assert_eq!(age.reason(Known::Unknown).unwrap().text, "year of construction not known");
    assert_eq!(age.weight_milli(Known::Unknown), 1000);
    let undocumented = rules.factor("undocumented_connection").unwrap();
    assert_eq!(undocumented.reason(Known::Otherwise).unwrap().leaning, Leaning::Against);
    assert_eq!(undocumented.reason(Known::Holds).unwrap().leaning, Leaning::For);
    let sewage = rules.pollutant("sewage").unwrap();
    assert!(rules.hypothesis_milli(sewage, "sanitary_leak") > rules.hypothesis_milli(sewage, "dumped_at_inlet"));
    assert_eq!(rules.hypothesis_milli(sewage, "exempt_or_natural"), None);
}

#[test]
fn thresholds_are_data_with_a_side() {
    let rules = rules();
    let ratio = rules.thresholds().iter().find(|t| t.id == "ammonia_by_potassium").unwrap();
    assert!(ratio.divided_by.as_deref() == Some("potassium") && ratio.side.holds(1.1, ratio.value) && !ratio.side.holds(1.0, ratio.value));
    let fluoride = rules.thresholds().iter().find(|t| t.id == "fluoride_tap_water").unwrap();
    assert_eq!(fluoride.source.certainty, Certainty::Unsure);
    assert!(rules.parameters().iter().any(|p| p.id == "surfactants" && p.sewage == Power::Good));
}

#[test]
fn doubts_and_hydraulics_are_read_strictly() {
    let costs = rules().doubts().clone();
    assert_eq!(costs.cost(Doubt::BridgeGap).of_milli(2.0), 900);
    assert!(Doubt::ALL.iter().all(|d| costs.cost(*d).id == *d));
    assert_eq!(costs.standing(Some(800)).id, "weak");
    assert_eq!(costs.standing(Some(6000)).id, "strong");
    assert_eq!(costs.standing(None).id, "strong");
    let broken = |file: &str, from: &str, to: &str| replaced(file, &embedded_text(file).replacen(from, to, 1)).unwrap_err().to_string();
    assert!(broken("doubt_costs.toml", "cost_milli = 800", "cost_milli = 0").contains("must be greater than 0"));
    assert!(broken("doubt_costs.toml", "\"bridge_gap\"", "\"bridge_gaps\"").contains("bridge_gaps"));
    assert!(broken("doubt_costs.toml", "up_to_m = 30.0", "up_to_m = -1.0").contains("from 0 to 1000"));
    assert!(broken("hydraulics.toml", "n_low_e4 = 110", "n_low_e4 = 990").contains("no greater than"));
    assert!(broken("hydraulics.toml", "material = \"clay\"", "material = \"clam\"").contains("roughness clam closed"));
    assert!(broken("hydraulics.toml", "id = \"slope_e6\"", "id = \"slope\"").contains("is not one of"));
    let known = embedded_text("hydraulics.toml").replacen("id = \"pond\"", "id = \"pond\"\nlongest_hold_s = 86400.0", 1);
    let known = replaced("hydraulics.toml", &known).unwrap();
    assert_eq!(known.hydraulics().longest_hold_s(StorageKind::Pond), Some(86400.0));
    assert_eq!(rules().hydraulics().longest_hold_s(StorageKind::Pond), None);
}

#[test]
fn repairs_have_every_cost_and_limit_once_and_a_source_each() {
    let rules = Rules::embedded().unwrap();
    assert!(rules.repairs().listed().all(|(_, _, words, source)| !words.is_empty() && !source.text.is_empty()));
    assert_eq!(rules.repairs().listed().count(), RepairCost::ALL.len() + RepairLimit::ALL.len() + RepairCount::ALL.len());
    let missing = embedded_text("repairs.toml").replacen("id = \"bridge\",", "id = \"brigde\",", 1);
    assert!(replaced("repairs.toml", &missing).unwrap_err().to_string().contains("bridge"));
    let unsourced = embedded_text("repairs.toml").replacen("source = \"assumed\"", "source = \"\"", 1);
    assert!(replaced("repairs.toml", &unsourced).is_err());
    let below = embedded_text("repairs.toml").replacen("metres = 45.72", "metres = -1.0", 1);
    assert!(replaced("repairs.toml", &below).unwrap_err().to_string().contains("above 0"));
}
