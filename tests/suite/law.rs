//! Does `headwall law` print the same, and does an investigation say what the law says?

use std::fs;
use std::path::Path;

use headwall::export::law::law_text;
use headwall::law::Profiles;
use headwall::rules::Rules;

#[test]
fn the_print_of_the_law_is_stable() {
    let profiles = Profiles::embedded().unwrap();
    let printed = law_text(profiles.law("liverpool-ny-316").unwrap());
    let golden = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/law-liverpool-ny-316.txt")).unwrap();
    assert!(printed == golden, "if that is meant: headwall law --profile liverpool-ny-316 --output tests/golden/law-liverpool-ny-316.txt");
}

#[test]
fn signatures_name_exempt_categories_of_the_law() {
    let profiles = Profiles::embedded().unwrap();
    let rules = Rules::embedded().unwrap();
    for law in profiles.laws() {
        rules.check_law(law).unwrap();
        let mut poorer = law.clone();
        poorer.exemptions.retain(|e| e.id != "E13");
        let told = rules.check_law(&poorer).unwrap_err().to_string();
        assert!(told.contains("signature chlorine: \"E13\" is no exemption"), "{told}");
    }
}
