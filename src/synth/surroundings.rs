//! What lies around the drains? Streets, waters, pond, sanitary and water mains, inlet areas, boundary, listed waters.

use crate::formats::{RawLayer, Value};

use super::drains::Drains;
use super::ground::{AVENUES, COLUMN, Ground, Plan, ROW, STREETS};
use super::lots::{AVENUE_NAMES, LANES, STREET_NAMES};
use super::random::Chance;
use super::sewers::pond_centre;
use super::table::{Table, area, int, lines, text};

/// The streets layer.
pub(super) fn streets(file: &str, ground: &Ground) -> RawLayer {
    let mut table = Table::new(file, "streets", &["ST_ID", "ST_NAME"]);
    let mut number = 0;
    let mut add = |name: &str, plan: &[Plan]| {
        number += 1;
        table.add(lines(&[ground.line(plan)]), vec![text(format!("R{number:02}")), text(name)]);
    };
    for (avenue, name) in AVENUE_NAMES.iter().enumerate() {
        let plan: Vec<Plan> = (0..STREETS).map(|row| [avenue as f64 * COLUMN, f64::from(row) * ROW]).collect();
        add(name, &plan);
    }
    for (row, name) in STREET_NAMES.iter().enumerate() {
        let plan: Vec<Plan> = (0..AVENUES).map(|avenue| [f64::from(avenue) * COLUMN, row as f64 * ROW]).collect();
        add(name, &plan);
    }
    for (name, (avenue, row)) in LANES {
        let (u, v) = (f64::from(avenue) * COLUMN + COLUMN / 2.0, f64::from(row) * ROW);
        add(name, &[[u, v], [u, v + 200.0]]);
    }
    table.done()
}

/// The brook, in two pieces with the piped stretch between them.
pub(super) fn brook(file: &str, ground: &Ground) -> RawLayer {
    let mut table = Table::new(file, "streams", &["WATER_ID", "NAME", "WATER_CLASS"]);
    let (head, end) = (4.0 * COLUMN + 100.0, 3.0 * COLUMN - 100.0);
    let pieces = [("W-1", "Alder Brook, upper", 6300.0, head), ("W-2", "Alder Brook, lower", end, -310.0)];
    for (id, name, from, to) in pieces {
        let line = ground.line(&ground.brook_line(from, to));
        table.add(lines(&[line]), vec![text(id), text(name), text("C")]);
    }
    table.done()
}

fn shore() -> Vec<Plan> {
    let edge = [-318.0, -306.0, -326.0, -312.0, -334.0, -308.0, -322.0, -300.0, -316.0, -330.0, -310.0, -324.0];
    let mut shore: Vec<Plan> = edge.iter().enumerate().map(|(k, u)| [*u, -620.0 + k as f64 * 540.0]).collect();
    shore.extend([[-900.0, 5600.0], [-2300.0, 4700.0], [-2500.0, 2300.0], [-2200.0, 100.0], [-1100.0, -800.0]]);
    shore
}

/// The lake.
pub(super) fn lake(file: &str, ground: &Ground) -> RawLayer {
    let mut table = Table::new(file, "lakes", &["WATER_ID", "NAME", "WATER_CLASS"]);
    table.add(area(&[ground.line(&shore())]), vec![text("W-10"), text("Quillwater Lake"), text("B")]);
    table.done()
}

/// The shapes of the listed waters.
pub(super) fn units(file: &str, ground: &Ground) -> RawLayer {
    let mut table = Table::new(file, "assessment_units", &["AU_ID", "AU_NAME"]);
    let strip = |ground: &Ground| {
        let course = ground.brook_line(6300.0, -310.0);
        let mut outline: Vec<Plan> = course.iter().map(|[u, v]| [*u, v + 15.0]).collect();
        outline.extend(course.iter().rev().map(|[u, v]| [*u, v - 15.0]));
        ground.line(&outline)
    };
    table.add(area(&[strip(ground)]), vec![text("SYN-0001"), text("Alder Brook and tributaries (synthetic)")]);
    table.add(area(&[ground.line(&shore())]), vec![text("SYN-0002"), text("Quillwater Lake (synthetic)")]);
    table.done()
}

/// What is said of the listed waters, cycle by cycle.
pub(super) fn listing(file: &str) -> RawLayer {
    let mut table = Table::new(file, "unit_listing", &["ASSESSMENT_UNIT_ID", "IR_CATEGORY", "CAUSE", "CYCLE", "SYNTHETIC"]);
    let rows = [
        ("SYN-0001", "5", "PATHOGENS", 2022),
        ("SYN-0001", "5", "PATHOGENS", 2016),
        ("SYN-0001", "3", "CADMIUM", 2022),
        ("SYN-0002", "4A", "PHOSPHORUS", 2022),
        ("SYN-0002", "5", "PHOSPHORUS", 2008),
    ];
    for (unit, category, cause, cycle) in rows {
        table.add(crate::formats::RawShape::None, vec![text(unit), text(category), text(cause), int(cycle), text("yes")]);
    }
    table.done()
}

/// The pond's shore.
pub(super) fn pond(file: &str, ground: &Ground) -> RawLayer {
    let mut table = Table::new(file, "ponds", &["POND_ID", "POND_NAME"]);
    let [u, v] = pond_centre();
    let shape = [[62.0, 0.0], [46.0, 26.0], [4.0, 38.0], [-44.0, 28.0], [-66.0, 2.0], [-40.0, -26.0], [2.0, -36.0], [44.0, -24.0]];
    let outline: Vec<Plan> = shape.iter().map(|[x, y]| [u + x, v + y]).collect();
    table.add(area(&[ground.line(&outline)]), vec![text("POND-1"), text("Hopyard Street pond")]);
    table.done()
}

/// The village boundary.
pub(super) fn boundary(file: &str, ground: &Ground) -> RawLayer {
    let mut table = Table::new(file, "boundary", &["MUNI_ID", "MUNI_NAME"]);
    let outline =
        [[-290.0, -125.0], [2400.0, -140.0], [6250.0, -120.0], [6270.0, 2300.0], [6260.0, 4600.0], [3000.0, 4620.0], [-285.0, 4590.0]];
    table.add(area(&[ground.line(&outline)]), vec![text("AM"), text("Village of Alder Mills (synthetic)")]);
    table.done()
}

/// Lines beside every street: sanitary mains are rows of the sewer layer, water mains a layer of their own.
pub(super) fn beside_streets(ground: &Ground, offset: f64) -> Vec<Vec<[f64; 2]>> {
    let mut all = Vec::new();
    for row in 0..STREETS {
        for avenue in 0..AVENUES - 1 {
            let (u, v) = (f64::from(avenue) * COLUMN, f64::from(row) * ROW + offset);
            all.push(ground.line(&[[u + COLUMN + offset, v], [u + offset, v]]));
        }
    }
    for avenue in 0..AVENUES {
        for row in 0..STREETS - 1 {
            let (u, v) = (f64::from(avenue) * COLUMN + offset, f64::from(row) * ROW + offset);
            all.push(ground.line(&[[u, v + ROW], [u, v]]));
        }
    }
    all
}

/// The water mains layer.
pub(super) fn water_mains(file: &str, ground: &Ground, seed: u64) -> RawLayer {
    let mut chance = Chance::new(seed, 41);
    let mut table = Table::new(file, "water_mains", &["WM_ID", "DIAM_IN", "MATERIAL"]);
    for (at, line) in beside_streets(ground, -12.0).into_iter().enumerate() {
        let values = vec![text(format!("WM-{:03}", at + 1)), int(chance.pick(&[6, 8, 8, 12], 8)), text(chance.pick(&["CI", "DIP"], "DIP"))];
        table.add(lines(&[line]), values);
    }
    table.done()
}

/// Land that drains to the basin at the head of a street, for some streets.
pub(super) fn inlet_areas(file: &str, drains: &Drains<'_>, mains: impl Fn(i32, i32) -> bool) -> RawLayer {
    let mut table = Table::new(file, "inlet_areas", &["AREA_ID", "INLET_ID", "METHOD"]);
    let heads: Vec<(&str, Plan)> = drains.nodes.iter().filter(|n| n.kind == "CB").map(|n| (n.id.as_str(), n.plan)).collect();
    let mut number = 0;
    for avenue in [1, 5, 6] {
        for row in 1..STREETS {
            if !mains(avenue, row) {
                continue;
            }
            let (u, v) = (f64::from(avenue) * COLUMN, f64::from(row) * ROW);
            // The basin beside the head manhole of this street.
            let head = [u + super::sewers::MAIN_REACH + 8.0, v + 16.0];
            let Some((inlet, _)) = heads.iter().find(|(_, p)| p[0] == head[0] && p[1] == head[1]) else { continue };
            number += 1;
            let outline = [[u + 330.0, v - 180.0], [u + 630.0, v - 170.0], [u + 630.0, v + 150.0], [u + 330.0, v + 160.0]];
            table.add(
                area(&[drains.ground.line(&outline)]),
                vec![text(format!("IA-{number:02}")), Value::Text((*inlet).to_owned()), text("estimated from slopes")],
            );
        }
    }
    table.done()
}
