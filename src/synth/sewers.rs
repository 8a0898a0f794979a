//! Which drains does the village have? Mains down every avenue to the brook or the lake, with basins, and the special places.
//!
//! North of the brook water runs south along the avenues, south of it north; streets drain west into the avenues.
//! The special places (pond, pump station, diversion, culvert, interconnections, combined sewer) stand where they stand for
//! every seed, so that the README's story holds for every seed.

use super::drains::{COUNTY, Drains, End, VILLAGE};
use super::ground::{AVENUES, COLUMN, ROW, STREETS};
use super::random::Chance;

/// Streets (avenue to the west, row) that have ditches and driveway culverts in place of a main.
pub(super) const DITCHED: &[(i32, i32)] = &[(8, 6), (8, 7), (8, 2), (8, 3), (7, 1), (0, 3), (1, 0), (2, 8), (3, 0)];

/// Streets without any drain.
const DRY: &[(i32, i32)] = &[(0, 5), (4, 0), (6, 0), (1, 8)];

/// Where the main of a street begins, in feet east of the avenue it drains to.
pub(super) const MAIN_REACH: f64 = COLUMN - 140.0;

/// Whether a street block has a main.
pub(super) fn has_main(avenue: i32, row: i32) -> bool {
    !DITCHED.contains(&(avenue, row)) && !DRY.contains(&(avenue, row)) && (0..AVENUES - 1).contains(&avenue) && (0..STREETS).contains(&row)
}

/// The plan of a corner.
pub(super) fn corner(avenue: i32, row: i32) -> [f64; 2] {
    [f64::from(avenue) * COLUMN, f64::from(row) * ROW]
}

/// The manhole id at a corner.
pub(super) fn corner_id(avenue: i32, row: i32) -> String {
    format!("MH-{avenue:02}{row:02}")
}

/// The manhole id at the head of a street's main.
pub(super) fn head_id(avenue: i32, row: i32) -> String {
    format!("MH-{avenue:02}{row:02}H")
}

/// Lays everything.
pub(super) fn lay(drains: &mut Drains<'_>, seed: u64) {
    outfalls(drains);
    avenues(drains);
    streets(drains);
    special_places(drains);
    basins(drains, &mut Chance::new(seed, 11));
    open_drains(drains);
    drains.set_levels(&mut Chance::new(seed, 12));
}

/// Outfalls to brook and lake. Avenues 3 and 4 drain to the piped stretch of the brook instead.
fn outfalls(drains: &mut Drains<'_>) {
    for (number, avenue) in [0, 1, 2, 5, 6, 7, 8].into_iter().enumerate() {
        brook_outfall(drains, format!("OF-{:02}", number + 1), avenue, 14.0);
    }
    for (number, avenue) in [0, 1, 5, 6, 7, 8, 9].into_iter().enumerate() {
        brook_outfall(drains, format!("OF-{:02}", number + 8), avenue, -14.0);
    }
    brook_outfall(drains, "CSO-01".to_owned(), 2, -14.0);
    let end = 3.0 * COLUMN - 100.0;
    drains.node("OF-15".to_owned(), "OF", [end, drains.ground.brook(end)]);
    drains.node("OF-16".to_owned(), "OF", [-296.0, 7.0 * ROW]);
    drains.node("OF-17".to_owned(), "OF", [-296.0, ROW]);
}

fn brook_outfall(drains: &mut Drains<'_>, id: String, avenue: i32, side: f64) {
    let u = f64::from(avenue) * COLUMN;
    drains.node(id, "OF", [u, drains.ground.brook(u) + side]);
}

/// Where the water of a corner goes.
fn below_corner(drains: &Drains<'_>, avenue: i32, row: i32) -> Option<(usize, bool)> {
    let node = |id: &str| drains.find(id).map(|n| (n, false));
    let next = |row: i32| drains.find(&corner_id(avenue, row)).map(|n| (n, true));
    let north = [0, 1, 2, 5, 6, 7, 8].iter().position(|a| *a == avenue);
    let south = [0, 1, 5, 6, 7, 8, 9].iter().position(|a| *a == avenue);
    match (avenue, row) {
        (0, 7) => node("OF-16"),
        (0, 1) => node("OF-17"),
        (0, 2) => next(1),
        (9, 8) => node("IO-01"),
        (9, 5..=7) => next(row + 1),
        (9, 0) => node("PS-1"),
        (9, 1) => next(0),
        (3 | 4, 4 | 5) => node(if avenue == 3 { "MH-BK3" } else { "MH-BK4" }),
        (2, 4) => node("CSO-01"),
        (_, 5) => north.and_then(|at| node(&format!("OF-{:02}", at + 1))),
        (_, 4) => south.and_then(|at| node(&format!("OF-{:02}", at + 8))),
        (_, 6..) => next(row - 1),
        _ => next(row + 1),
    }
}

fn avenues(drains: &mut Drains<'_>) {
    for avenue in [3, 4] {
        let u = f64::from(avenue) * COLUMN;
        let at = drains.node(format!("MH-BK{avenue}"), "MH", [u, drains.ground.brook(u)]);
        drains.edit(at, |node| node.note = "on the piped brook");
    }
    let outlet = drains.node("IO-01".to_owned(), "OF", [9.0 * COLUMN, 8.0 * ROW + 110.0]);
    drains.edit(outlet, |node| node.owner = COUNTY);
    drains.node("PS-1".to_owned(), "PS", [9.0 * COLUMN + 36.0, -70.0]);
    for avenue in 0..AVENUES {
        for row in 0..STREETS {
            let at = drains.node(corner_id(avenue, row), "MH", corner(avenue, row));
            // Avenue 2 south of the brook was never separated.
            let system = if avenue == 2 && row <= 4 { "CB" } else { "ST" };
            drains.edit(at, |node| node.system = system);
        }
    }
    for avenue in 0..AVENUES {
        for row in 0..STREETS {
            let (Some(from), Some((to, long))) = (drains.find(&corner_id(avenue, row)), below_corner(drains, avenue, row)) else {
                continue;
            };
            let (a, b) = (drains.plan_of(from), drains.plan_of(to));
            if !long {
                drains.link("MAIN", from, End::Node(to), VILLAGE);
                continue;
            }
            let system = if avenue == 2 && row <= 4 { "CB" } else { "ST" };
            let lower = if b[1] < a[1] { row - 1 } else { row };
            let middle = drains.node(format!("MH-{avenue:02}{lower:02}M"), "MH", [a[0], (a[1] + b[1]) / 2.0]);
            drains.edit(middle, |node| node.system = system);
            drains.link("MAIN", from, End::Node(middle), VILLAGE);
            drains.link("MAIN", middle, End::Node(to), VILLAGE);
        }
    }
}

fn streets(drains: &mut Drains<'_>) {
    for avenue in 0..AVENUES - 1 {
        for row in 0..STREETS {
            let Some(to) = drains.find(&corner_id(avenue, row)) else { continue };
            if !has_main(avenue, row) {
                continue;
            }
            let [u, v] = corner(avenue, row);
            let head = drains.node(head_id(avenue, row), "MH", [u + MAIN_REACH, v]);
            if avenue == 2 && row <= 4 {
                drains.edit(head, |node| node.system = "CB");
            }
            if (avenue, row) == (7, 7) {
                // This street drains through the pond.
                let pond = drains.node("POND-1".to_owned(), "PD", pond_centre());
                drains.link("MAIN", head, End::Node(pond), VILLAGE);
            } else {
                drains.link("MAIN", head, End::Node(to), VILLAGE);
            }
        }
    }
}

/// The middle of the pond.
pub(super) fn pond_centre() -> [f64; 2] {
    [7.0 * COLUMN + 300.0, 6.0 * ROW + 455.0]
}

fn special_places(drains: &mut Drains<'_>) {
    let ground = drains.ground;
    // The pond has a second inlet and one outlet.
    if let (Some(pond), Some(below)) = (drains.find("POND-1"), drains.find("MH-0706M")) {
        let inlet = drains.node("CB-P1".to_owned(), "CB", [7.0 * COLUMN + 130.0, 7.0 * ROW - 18.0]);
        drains.link("MAIN", inlet, End::Node(pond), VILLAGE);
        drains.link("OUTLET", pond, End::Node(below), VILLAGE);
    }
    // The piped stretch of the brook.
    let head = 4.0 * COLUMN + 100.0;
    let inlet = drains.node("CE-01".to_owned(), "CE", [head, ground.brook(head)]);
    drains.edit(inlet, |node| node.note = "brook enters the culvert");
    if let (Some(upper), Some(lower), Some(out)) = (drains.find("MH-BK4"), drains.find("MH-BK3"), drains.find("OF-15")) {
        drains.link("CULVERT", inlet, End::Node(upper), VILLAGE);
        drains.link("CULVERT", upper, End::Node(lower), VILLAGE);
        drains.link("CULVERT", lower, End::Node(out), VILLAGE);
    }
    // A force main climbs from the pump station.
    if let (Some(station), Some(high)) = (drains.find("PS-1"), drains.find(&corner_id(8, 1))) {
        drains.link("FORCE MAIN", station, End::Node(high), VILLAGE);
    }
    // Two ways out of one manhole.
    if let (Some(split), Some(side)) = (drains.find(&corner_id(6, 7)), drains.find(&head_id(5, 7))) {
        drains.edit(split, |node| node.note = "diversion, overflow pipe to the west");
        drains.link("MAIN", split, End::Node(side), VILLAGE);
    }
    // The county's drain takes over north of the boundary, the neighbouring town's comes in from the south.
    if let Some(handover) = drains.find("IO-01") {
        let far = drains.node("MH-C1".to_owned(), "MH", [9.0 * COLUMN, 8.0 * ROW + 420.0]);
        drains.edit(far, |node| node.owner = COUNTY);
        drains.link("MAIN", handover, End::Node(far), COUNTY);
    }
    if let Some(first) = drains.find(&corner_id(7, 0)) {
        let entry = drains.node("II-01".to_owned(), "OF", [7.0 * COLUMN, -115.0]);
        drains.edit(entry, |node| node.owner = "Town of Harrow");
        drains.link("MAIN", entry, End::Node(first), VILLAGE);
    }
    // The highway garage enters the village's own system.
    if let Some(main) = drains.find(&corner_id(8, 6)) {
        let yard = drains.node("CB-G1".to_owned(), "CB", [8.0 * COLUMN + 180.0, 6.0 * ROW + 120.0]);
        let handover = drains.node("IF-01".to_owned(), "OF", [8.0 * COLUMN + 40.0, 6.0 * ROW + 34.0]);
        drains.link("MAIN", yard, End::Node(handover), VILLAGE);
        drains.link("MAIN", handover, End::Node(main), VILLAGE);
    }
    // A factory drains its own yard to the brook.
    let u = 8.0 * COLUMN + 330.0;
    let yard = drains.node("CB-PV1".to_owned(), "CB", [u, 4.0 * ROW + 130.0]);
    let out = drains.node("PO-01".to_owned(), "OF", [u - 20.0, ground.brook(u - 20.0) - 12.0]);
    for node in [yard, out] {
        drains.edit(node, |node| node.owner = "Private");
    }
    drains.link("MAIN", yard, End::Node(out), "Private");
}

/// Catch basins: two at each corner, one at each manhole between, some that enter the side of a main.
fn basins(drains: &mut Drains<'_>, chance: &mut Chance) {
    let manholes: Vec<(usize, String)> =
        drains.nodes.iter().enumerate().filter(|(_, n)| n.kind == "MH").map(|(at, n)| (at, n.id.clone())).collect();
    let mut number = 0;
    let mut basin = |drains: &mut Drains<'_>, plan: [f64; 2], end: End, system: &'static str| {
        number += 1;
        let at = drains.node(format!("CB-{number:04}"), "CB", plan);
        drains.edit(at, |node| node.system = system);
        drains.link("LEAD", at, end, VILLAGE);
    };
    for (at, id) in manholes {
        if id.starts_with("MH-BK") || id.starts_with("MH-C") {
            continue;
        }
        let Some(system) = drains.nodes.get(at).map(|n| n.system) else { continue };
        let [u, v] = drains.plan_of(at);
        if id.ends_with('M') {
            basin(drains, [u + 16.0, v + chance.between(4.0, 9.0)], End::Node(at), system);
        } else if id.ends_with('H') {
            basin(drains, [u + 8.0, v + 16.0], End::Node(at), system);
        } else {
            basin(drains, [u + 22.0, v + 17.0], End::Node(at), system);
            basin(drains, [u - 21.0, v - 17.0], End::Node(at), system);
        }
    }
    for avenue in 0..AVENUES - 1 {
        for row in 0..STREETS {
            if !has_main(avenue, row) || (avenue, row) == (7, 7) || !chance.per_mille(450) {
                continue;
            }
            let Some(to) = drains.find(&corner_id(avenue, row)) else { continue };
            let [u, v] = corner(avenue, row);
            let along = u + chance.between(150.0, 260.0);
            let system = if avenue == 2 && row <= 4 { "CB" } else { "ST" };
            basin(drains, [along, v - 16.0], End::Side([along, v], to), system);
        }
    }
}

fn open_drains(drains: &mut Drains<'_>) {
    for &(avenue, row) in DITCHED {
        let [u, v] = corner(avenue, row);
        let v = v + 20.0;
        let steps = [560.0, 400.0, 372.0, 230.0, 202.0, 60.0];
        for (piece, span) in steps.windows(2).enumerate() {
            let &[from, to] = span else { continue };
            run(drains, piece % 2 == 1, &[[u + from, v], [u + to, v]]);
        }
        // A last culvert leads into the corner manhole.
        run(drains, true, &[[u + 60.0, v], [u, v - 20.0]]);
    }
    // Two long ditches at the eastern edge reach the brook on their own.
    for (id, start, side) in [("OF-18", 6.4 * ROW, 12.0), ("OF-19", 2.8 * ROW, -12.0)] {
        let u = 9.0 * COLUMN + 300.0;
        let end = [u, drains.ground.brook(u) + side];
        drains.node(id.to_owned(), "OF", end);
        let middle = [u + 12.0, (start + end[1]) / 2.0];
        run(drains, false, &[[u - 20.0, start], [u + 4.0, (start + middle[1]) / 2.0], middle]);
        run(drains, false, &[middle, end]);
    }
}

fn run(drains: &mut Drains<'_>, culvert: bool, plan: &[[f64; 2]]) {
    let id = format!("OD-{:03}", drains.open.len() + 1);
    let (kind, width_in) = if culvert { ("CULVERT", 15) } else { ("DITCH", 48) };
    let line = drains.ground.line(plan);
    drains.open.push(super::drains::OpenDrain { id, kind, line, width_in });
}
