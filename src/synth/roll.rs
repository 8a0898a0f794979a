//! How do lots become the tax roll, laterals, businesses, permits and septic systems?

use crate::formats::{RawLayer, RawShape, Value};

use super::ground::{COLUMN, Ground, Map};
use super::lots::Lot;
use super::random::Chance;
use super::sewers::{MAIN_REACH, has_main};
use super::table::{Table, int, lines, point, polygon, real, text, text_or_null};

const CLASS_WORDS: &[(&str, &str)] = &[
    ("210", "One family residence"),
    ("220", "Two family residence"),
    ("230", "Three family residence"),
    ("311", "Residential vacant land"),
    ("411", "Apartments"),
    ("692", "Roads"),
    ("963", "Municipal park"),
];

/// What a lot's business is called in the trade codes: class, SIC, NAICS.
const TRADES: &[(&str, &str, &str)] = &[
    ("421", "5812", "722511"),
    ("425", "5813", "722410"),
    ("426", "5812", "722513"),
    ("431", "5511", "441110"),
    ("432", "5541", "457120"),
    ("433", "7532", "811121"),
    ("434", "7542", "811192"),
    ("436", "7542", "811192"),
    ("447", "4213", "484121"),
    ("449", "4225", "493110"),
    ("454", "5411", "445110"),
    ("464", "8742", "541611"),
    ("465", "8021", "621210"),
    ("471", "7261", "812210"),
    ("472", "0752", "812910"),
    ("475", "5093", "423930"),
    ("481", "5999", "459999"),
    ("482", "5712", "449110"),
    ("484", "7216", "812320"),
    ("486", "5411", "445131"),
    ("710", "3471", "332813"),
    ("712", "3672", "334412"),
    ("714", "3444", "332322"),
];

/// The parcels layer. Owners' names and mailing addresses are placeholders: they are there to show that they stay private.
pub(super) fn parcels(file: &str, lots: &[Lot]) -> RawLayer {
    let fields = [
        "SWIS",
        "PRINT_KEY",
        "SBL",
        "PROP_CLASS",
        "CLASS_DESC",
        "USED_AS_DESC",
        "PARCEL_ADDR",
        "LOC_ST_NBR",
        "LOC_STREET",
        "YR_BLT",
        "SEWER_TYPE",
        "ACRES",
        "PRIMARY_OWNER",
        "MAIL_ADDR",
    ];
    let mut table = Table::new(file, "parcels", &fields);
    for (at, lot) in lots.iter().enumerate() {
        let place = if lot.number == 0 { String::new() } else { format!("{} {}", lot.number, lot.street) };
        let owner = if lot.owned_by_village { "VILLAGE (synthetic)".to_owned() } else { format!("OWNER {:04} (synthetic)", at + 1) };
        let shape = match lot.outlines.as_slice() {
            [one] => RawShape::Shape(polygon(one, &lot.holes)),
            several => super::table::area(several),
        };
        let acres: f64 = lot.outlines.iter().map(|o| acres(o)).sum::<f64>() - lot.holes.iter().map(|o| acres(o)).sum::<f64>();
        table.add(
            shape,
            vec![
                text("319999"),
                text(lot.print_key.clone()),
                text(lot.print_key.replace(['.', '-'], "")),
                text(lot.class),
                text_or_null(CLASS_WORDS.iter().find(|w| w.0 == lot.class).map_or("", |w| w.1)),
                text_or_null(lot.used_as),
                text_or_null(&place),
                if lot.number == 0 { Value::Null } else { text(lot.number.to_string()) },
                text_or_null(lot.street),
                int(lot.year),
                text(lot.sewer),
                real(acres),
                text(owner),
                text(format!("PO BOX {:04} (synthetic)", at + 1)),
            ],
        );
    }
    table.done()
}

fn acres(outline: &[Map]) -> f64 {
    let twice: f64 = outline.iter().zip(outline.iter().cycle().skip(1)).map(|(a, b)| a[0] * b[1] - b[0] * a[1]).sum();
    let square_feet = if twice < 0.0 { -twice } else { twice } / 2.0;
    (square_feet / 43_560.0 * 1000.0).round() / 1000.0
}

/// The three commercial laterals of the README's story: class, documented, approved, remark.
const STORY: &[(&str, &str, &str, &str)] = &[
    ("434", "Y", "N", "wash bay trench drain, noted in a dye test of 2011, approval never given"),
    ("433", "N", "N", "found by camera in 2019, not in any record"),
    ("465", "Y", "Y", "roof drain, approved 1994"),
];

/// The laterals layer: service lines from about a third of the lots to the main before them.
pub(super) fn laterals(file: &str, ground: &Ground, lots: &[Lot], seed: u64) -> RawLayer {
    let mut chance = Chance::new(seed, 31);
    let fields = ["LAT_ID", "PRINT_KEY", "LAT_TYPE", "DOCUMENTED", "APPROVED", "STATUS", "REMARK"];
    let mut table = Table::new(file, "laterals", &fields);
    let mut number = 0;
    for lot in lots {
        let west = f64::from(lot.block.0) * COLUMN;
        let before_main = has_main(lot.block.0, lot.row) && lot.street_side[0] < west + MAIN_REACH - 8.0;
        let story = STORY.iter().find(|s| s.0 == lot.class && lot.block.0 == 5);
        let wanted = chance.per_mille(520);
        let built = !matches!(lot.class, "311" | "963" | "853") && lot.row >= 0 && lot.sewer != "2";
        let in_pond_street = lot.block.0 == 7 && lot.row == 7;
        let may_have_one = matches!(lot.class, "210" | "220" | "230" | "411" | "481" | "482" | "484" | "620" | "612");
        if !before_main || !built || in_pond_street || !(story.is_some() || (wanted && may_have_one)) {
            continue;
        }
        number += 1;
        let (documented, approved) = match (story, chance.below(20)) {
            (Some(s), _) => (s.1, s.2),
            (None, 0..=10) => ("Y", "Y"),
            (None, 11..=13) => ("Y", ""),
            (None, 14..=17) => ("", ""),
            (None, _) => ("N", ""),
        };
        let kind =
            if story.is_some_and(|s| s.0 != "465") { "FLOOR DRAIN" } else { chance.pick(&["ROOF DRAIN", "FOOTING DRAIN"], "ROOF DRAIN") };
        let tied = if chance.per_mille(700) || story.is_some() { lot.print_key.as_str() } else { "" };
        table.add(
            lines(&[ground.line(&[lot.front, lot.street_side])]),
            vec![
                text(format!("LT-{number:04}")),
                text_or_null(tied),
                text(kind),
                text_or_null(documented),
                text_or_null(approved),
                text("ACT"),
                text_or_null(story.map_or("", |s| s.3)),
            ],
        );
    }
    table.done()
}

/// Somewhere inside a lot.
fn inside(lot: &Lot) -> Map {
    let Some(outline) = lot.outlines.first() else { return [0.0, 0.0] };
    let count = outline.len().max(1) as f64;
    let middle = outline.iter().fold([0.0, 0.0], |m, p| [m[0] + p[0] / count, m[1] + p[1] / count]);
    [super::ground::hundredths(middle[0]), super::ground::hundredths(middle[1])]
}

/// The businesses table.
pub(super) fn businesses(file: &str, lots: &[Lot]) -> RawLayer {
    let mut table = Table::new(file, "businesses", &["BUS_ID", "BUS_NAME", "PRINT_KEY", "SIC", "NAICS", "SYNTHETIC"]);
    let mut number = 0;
    for lot in lots {
        let Some(trade) = TRADES.iter().find(|t| t.0 == lot.class) else { continue };
        number += 1;
        let name = format!("{} no. {number} (synthetic)", lot.used_as.to_lowercase());
        let id = format!("B{number:03}");
        table.add(point(inside(lot)), vec![text(id), text(name), text(lot.print_key.clone()), text(trade.1), text(trade.2), text("yes")]);
    }
    table.done()
}

/// The septic systems table.
pub(super) fn septic(file: &str, lots: &[Lot]) -> RawLayer {
    let mut table = Table::new(file, "septic_systems", &["SYS_ID", "PRINT_KEY", "INSTALL_YEAR", "SYNTHETIC"]);
    for (at, lot) in lots.iter().filter(|l| l.sewer == "2").enumerate() {
        let year = if lot.year > 1950 { lot.year } else { 1958 };
        table.add(point(inside(lot)), vec![text(format!("SEP-{:02}", at + 1)), text(lot.print_key.clone()), int(year), text("yes")]);
    }
    table.done()
}

/// The permits table: who may discharge, under what.
pub(super) fn permits(file: &str, lots: &[Lot]) -> RawLayer {
    let mut table = Table::new(file, "permits", &["PERMIT_ID", "PERMIT_NAME", "PRINT_KEY", "ISSUE_YEAR", "SYNTHETIC"]);
    let permitted =
        [("710", "industrial storm water, synthetic"), ("475", "industrial storm water, synthetic"), ("651", "highway garage, synthetic")];
    for (at, (class, name)) in permitted.into_iter().enumerate() {
        let Some(lot) = lots.iter().find(|l| l.class == class) else { continue };
        let id = format!("SYN-{:03}", at + 1);
        table.add(point(inside(lot)), vec![text(id), text(name), text(lot.print_key.clone()), int(2019 + at as i64), text("yes")]);
    }
    table.done()
}

/// The municipal facilities layer.
pub(super) fn facilities(file: &str, lots: &[Lot]) -> RawLayer {
    let mut table = Table::new(file, "municipal_facilities", &["FAC_ID", "FAC_NAME", "PRINT_KEY"]);
    let own = [("651", "Highway garage"), ("662", "Fire station")];
    for (at, (class, name)) in own.into_iter().enumerate() {
        let Some(lot) = lots.iter().find(|l| l.class == class) else { continue };
        let shape = lot.outlines.first().map_or(RawShape::None, |o| RawShape::Shape(polygon(o, &[])));
        table.add(shape, vec![text(format!("MF-{}", at + 1)), text(name), text(lot.print_key.clone())]);
    }
    table.done()
}
