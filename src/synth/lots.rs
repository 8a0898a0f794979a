//! Which lots does the village have, and what stands on them?

use super::ground::{AVENUES, COLUMN, Ground, Map, Plan, ROW, STREETS, hundredths};
use super::random::Chance;

/// A lot, before it becomes a row of the tax roll.
#[derive(Clone)]
pub(super) struct Lot {
    /// Section-block-lot, unique in the village.
    pub(super) print_key: String,
    pub(super) class: &'static str,
    pub(super) used_as: &'static str,
    pub(super) number: i64,
    pub(super) street: &'static str,
    pub(super) year: i64,
    /// 1 none, 2 private, 3 public.
    pub(super) sewer: &'static str,
    pub(super) outlines: Vec<Vec<Map>>,
    pub(super) holes: Vec<Vec<Map>>,
    /// The middle of the front, on the plan, and the middle of the street before it.
    pub(super) front: Plan,
    pub(super) street_side: Plan,
    pub(super) block: (i32, i32),
    /// The row of the street that the lot faces.
    pub(super) row: i32,
    pub(super) owned_by_village: bool,
}

/// The avenues, from the lake.
pub(super) const AVENUE_NAMES: [&str; 10] = [
    "Quillwater Avenue",
    "Tansy Avenue",
    "Millrace Avenue",
    "Fullers Avenue",
    "Old Kiln Avenue",
    "Teasel Avenue",
    "Barrowfield Avenue",
    "Sedgewick Hollow Avenue",
    "Copperleaf Avenue",
    "Larkmeadow Avenue",
];
/// The streets, from the south.
pub(super) const STREET_NAMES: [&str; 9] = [
    "Harrow Line Street",
    "Bobbin Street",
    "Wheelwright Street",
    "Saltbox Street",
    "Lower Mill Street",
    "Upper Mill Street",
    "Thimble Street",
    "Hopyard Street",
    "County Ditch Street",
];
/// Lanes inside blocks: name, block.
pub(super) const LANES: [(&str, (i32, i32)); 6] = [
    ("Cinder Lane", (2, 1)),
    ("Heron Court", (0, 6)),
    ("Spindle Court", (5, 2)),
    ("Weir Lane", (6, 1)),
    ("Tinker Lane", (1, 2)),
    ("Osier Court", (6, 6)),
];

/// What stands on a lot by design: block, south side of the block, lot counted from the west.
type Special = ((i32, i32), bool, i32, &'static str, &'static str);

/// The lots of the README's story and its false trails.
const SPECIALS: &[Special] = &[
    ((5, 6), true, 2, "434", "AUTOMATIC CAR WASH"),
    ((5, 7), true, 1, "433", "AUTO BODY SHOP"),
    ((5, 5), true, 3, "465", "PROFESSIONAL BUILDING"),
    ((5, 6), false, 3, "421", "RESTAURANT"),
    ((5, 5), false, 1, "411", "APARTMENTS"),
    ((6, 7), false, 2, "472", "KENNEL"),
    ((5, 7), true, 4, "210", ""),
    ((1, 3), true, 2, "436", "SELF-SERVICE CAR WASH"),
    ((3, 4), true, 2, "432", "SERVICE STATION"),
    ((4, 4), false, 1, "426", "FAST FOOD"),
    ((2, 4), true, 1, "486", "MINI-MART"),
    ((3, 4), false, 3, "464", "OFFICE BUILDING"),
    ((3, 5), true, 1, "662", "FIRE STATION"),
    ((4, 3), false, 3, "620", "CHURCH"),
    ((8, 2), true, 1, "449", "WAREHOUSE"),
    ((8, 2), false, 1, "714", "LIGHT INDUSTRIAL"),
    ((8, 1), true, 2, "475", "SALVAGE YARD"),
    ((8, 2), false, 3, "712", "HIGH TECH MANUFACTURING"),
    ((7, 3), true, 2, "447", "TRUCK TERMINAL"),
    ((1, 7), false, 2, "431", "AUTO DEALER"),
    ((3, 3), false, 2, "471", "FUNERAL HOME"),
];

/// Sides of blocks that are one lot.
const WHOLE_SIDES: &[((i32, i32), bool, &str, &str)] = &[
    ((2, 6), true, "612", "SCHOOL"),
    ((8, 6), true, "651", "HIGHWAY GARAGE"),
    ((8, 3), false, "710", "MANUFACTURING"),
    ((8, 4), true, "710", "MANUFACTURING"),
    ((7, 6), false, "853", "STORMWATER POND"),
    ((1, 6), true, "554", "OUTDOOR POOL"),
    ((6, 2), false, "210", "CONDOMINIUM"),
    ((0, 5), true, "682", "RECREATION"),
    ((0, 4), false, "963", "VILLAGE PARK"),
];

/// The lots with septic systems: some inside storm catchments, some outside.
const SEPTIC: &[((i32, i32), bool, i32)] = &[
    ((5, 7), true, 4),
    ((8, 0), true, 0),
    ((8, 0), true, 2),
    ((8, 0), false, 3),
    ((8, 5), true, 4),
    ((8, 5), false, 5),
    ((8, 7), true, 3),
    ((8, 7), false, 4),
    ((8, 7), false, 5),
    ((0, 0), true, 1),
    ((0, 0), false, 2),
    ((0, 5), false, 3),
    ((1, 7), false, 4),
    ((6, 7), true, 1),
    ((7, 0), true, 5),
];

/// All the lots, in the order of their keys.
pub(super) fn lots(ground: &Ground, seed: u64) -> Vec<Lot> {
    let mut chance = Chance::new(seed, 21);
    let mut lots = Vec::new();
    for row in 0..STREETS - 1 {
        for avenue in 0..AVENUES - 1 {
            for south in [true, false] {
                side(&mut lots, ground, &mut chance, (avenue, row), south);
            }
            if row == 4 {
                brook_strip(&mut lots, ground, avenue);
            }
        }
    }
    for row in 0..STREETS {
        street_strip(&mut lots, ground, row);
    }
    oddities(&mut lots);
    lots
}

/// The lots of one side of a block.
fn side(lots: &mut Vec<Lot>, ground: &Ground, chance: &mut Chance, block: (i32, i32), south: bool) {
    let (avenue, row) = block;
    let whole = WHOLE_SIDES.iter().find(|w| w.0 == block && w.1 == south);
    let count = match (whole, avenue) {
        (Some(_), _) => 1,
        (None, 3..=6) => 7,
        _ => 6,
    };
    let (u0, u1) = (f64::from(avenue) * COLUMN + 30.0, f64::from(avenue + 1) * COLUMN - 30.0);
    let (bottom, top) = (f64::from(row) * ROW, f64::from(row + 1) * ROW);
    let depth = if row == 4 { 170.0 } else { ROW / 2.0 - 30.0 };
    let (street_v, front, back, faces) =
        if south { (bottom, bottom + 30.0, bottom + 30.0 + depth, row) } else { (top, top - 30.0, top - 30.0 - depth, row + 1) };
    for lot in 0..count {
        let width = (u1 - u0) / f64::from(count);
        let (west, east) = (u0 + width * f64::from(lot), u0 + width * f64::from(lot + 1));
        let special = SPECIALS.iter().find(|s| s.0 == block && s.1 == south && s.2 == lot);
        let (class, used_as) = match (special, whole) {
            (Some(s), _) => (s.3, s.4),
            (_, Some(w)) => (w.2, w.3),
            _ => ordinary(chance, block),
        };
        let private = SEPTIC.contains(&(block, south, lot));
        let class = if private { "210" } else { class };
        let built = !matches!(class, "311" | "963" | "853");
        let year = if built { 1880 + chance.below(130) as i64 } else { 0 };
        let middle = (west + east) / 2.0;
        let inwards = if south { 1.0 } else { -1.0 };
        lots.push(Lot {
            print_key: format!("{:03}.-{:02}-{:02}", 11 + row, avenue + 1, lot + 1 + if south { 0 } else { 20 }),
            class,
            used_as,
            number: i64::from(100 * (avenue + 1) + 4 * (lot + 1) + i32::from(south)),
            street: STREET_NAMES.get(faces as usize).copied().unwrap_or("Bobbin Street"),
            year,
            sewer: match (built, private) {
                (false, _) => "1",
                (true, true) => "2",
                (true, false) => "3",
            },
            outlines: vec![ground.line(&[[west, front], [east, front], [east, back], [west, back]])],
            holes: Vec::new(),
            front: [middle, front + 24.0 * inwards],
            street_side: [middle, street_v],
            block,
            row: faces,
            owned_by_village: matches!(class, "651" | "662" | "853" | "963" | "682" | "554"),
        });
    }
}

fn ordinary(chance: &mut Chance, (avenue, row): (i32, i32)) -> (&'static str, &'static str) {
    if row == 4 && (2..=6).contains(&avenue) {
        return chance.pick(
            &[
                ("481", "ATTACHED ROW, RETAIL"),
                ("482", "DETACHED ROW, RETAIL"),
                ("483", "CONVERTED RESIDENCE"),
                ("484", "ONE-STOREY SHOP"),
                ("425", "BAR"),
                ("421", "RESTAURANT"),
                ("454", "LARGE FOOD STORE"),
                ("464", "OFFICE BUILDING"),
                ("438", "PARKING LOT"),
                ("220", ""),
            ],
            ("484", "ONE-STOREY SHOP"),
        );
    }
    match chance.below(100) {
        0..=83 => ("210", ""),
        84..=91 => ("220", ""),
        92..=94 => ("230", ""),
        95..=96 => ("411", "APARTMENTS"),
        _ => ("311", ""),
    }
}

/// The strip along the brook behind the lots of a block.
fn brook_strip(lots: &mut Vec<Lot>, ground: &Ground, avenue: i32) {
    let (west, east) = (f64::from(avenue) * COLUMN + 30.0, f64::from(avenue + 1) * COLUMN - 30.0);
    let (low, high) = (4.0 * ROW + 200.0, 5.0 * ROW - 200.0);
    let outline = ground.line(&[[west, low], [east, low], [east, high], [west, high]]);
    lots.push(land(format!("015.-{:02}-50", avenue + 1), "963", "VILLAGE PARK", outline, (avenue, 4)));
}

/// The land of a street, which the roll carries as a parcel.
fn street_strip(lots: &mut Vec<Lot>, ground: &Ground, row: i32) {
    let v = f64::from(row) * ROW;
    let mut outline: Vec<Plan> = (0..AVENUES).map(|a| [f64::from(a) * COLUMN, v - 30.0]).collect();
    outline.extend((0..AVENUES).rev().map(|a| [f64::from(a) * COLUMN, v + 30.0]));
    lots.push(land(format!("099.-{:02}-01", row + 1), "692", "ROAD", ground.line(&outline), (0, row)));
}

fn land(print_key: String, class: &'static str, used_as: &'static str, outline: Vec<Map>, block: (i32, i32)) -> Lot {
    Lot {
        print_key,
        class,
        used_as,
        number: 0,
        street: "",
        year: 0,
        sewer: "1",
        outlines: vec![outline],
        holes: Vec::new(),
        front: [0.0, 0.0],
        street_side: [0.0, 0.0],
        block,
        row: -1,
        owned_by_village: true,
    }
}

/// What real rolls hold, too: stacked condominiums, a donut with its hole filled, an outline that crosses itself, a lot in two pieces.
fn oddities(lots: &mut Vec<Lot>) {
    let mut extra = Vec::new();
    for lot in lots.iter_mut() {
        match lot.used_as {
            "CONDOMINIUM" => {
                for unit in 2..=6 {
                    extra.push(Lot { print_key: format!("{}.{unit}", lot.print_key), ..lot.clone() });
                }
                lot.print_key.push_str(".1");
            }
            "RECREATION" => {
                let Some(outline) = lot.outlines.first() else { continue };
                let hole = shrink(outline);
                extra.push(Lot {
                    print_key: format!("{}.2", lot.print_key),
                    class: "210",
                    used_as: "",
                    outlines: vec![hole.clone()],
                    owned_by_village: false,
                    year: 1926,
                    sewer: "3",
                    ..lot.clone()
                });
                lot.holes = vec![hole];
            }
            _ => {}
        }
        if lot.print_key == CROSSED
            && let Some(outline) = lot.outlines.first_mut()
        {
            outline.swap(1, 2);
        }
        if lot.print_key == SPLIT
            && let Some(outline) = lot.outlines.first().cloned()
        {
            lot.outlines = halves(&outline);
        }
    }
    lots.extend(extra);
    lots.sort_by(|a, b| a.print_key.cmp(&b.print_key));
}

/// The lot whose outline crosses itself.
pub(super) const CROSSED: &str = "012.-05-04";
/// The lot in two pieces.
const SPLIT: &str = "013.-02-03";

fn between(a: Map, b: Map, share: f64) -> Map {
    [hundredths(a[0] + (b[0] - a[0]) * share), hundredths(a[1] + (b[1] - a[1]) * share)]
}

fn shrink(outline: &[Map]) -> Vec<Map> {
    let count = outline.len().max(1) as f64;
    let middle = outline.iter().fold([0.0, 0.0], |m, p| [m[0] + p[0] / count, m[1] + p[1] / count]);
    outline.iter().map(|p| between(*p, middle, 0.6)).collect()
}

/// A four-cornered lot cut by a strip of a fifth of its depth.
fn halves(outline: &[Map]) -> Vec<Vec<Map>> {
    let &[a, b, c, d] = outline else { return vec![outline.to_vec()] };
    vec![vec![a, b, between(b, c, 0.4), between(a, d, 0.4)], vec![between(a, d, 0.6), between(b, c, 0.6), c, d]]
}
