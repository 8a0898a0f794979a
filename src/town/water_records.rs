//! In which compact form does a network version hold what is recorded about waters? Units, listings, TMDLs, the permit's list, notices.

use geo::{MultiLineString, Point};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::compact::{Area, KeyRow, Line, Shared, area, key, line, text, unarea, unkey, unline};
use crate::inventory::{AssessmentUnit, Extent, Inventory, ListingRow, PermitListing, TmdlAction, WaterNotice};

#[derive(Serialize, Deserialize)]
pub(super) struct WaterRecords {
    units: Vec<UnitRow>,
    listing: Vec<ListingRowRow>,
    tmdls: Vec<TmdlRow>,
    permit_listing: Vec<PermitRow>,
    notices: Vec<NoticeRow>,
}

#[derive(Serialize, Deserialize)]
struct UnitRow {
    key: KeyRow,
    unit: String,
    name: Option<String>,
    state: Option<String>,
    cycle: Option<i32>,
    category: Option<String>,
    impaired: Option<bool>,
    on_303d_list: Option<bool>,
    has_tmdl: Option<bool>,
    causes: Vec<String>,
    course: Option<Vec<Line>>,
    shore: Option<Area>,
    points: Vec<(f64, f64)>,
}

#[derive(Serialize, Deserialize)]
struct ListingRowRow {
    key: KeyRow,
    unit: String,
    name: Option<String>,
    cause: Option<String>,
    category: Option<String>,
    impaired: Option<bool>,
    cycle: Option<i32>,
}

type DateRow = Option<(i16, i8, i8)>;

#[derive(Serialize, Deserialize)]
struct TmdlRow {
    key: KeyRow,
    name: Option<String>,
    unit: Option<String>,
    water: Option<String>,
    cause: Option<String>,
    approved_on: DateRow,
    stormwater_requirement: Option<bool>,
    allocations_met: Option<bool>,
    reviewed_on: DateRow,
    is_watershed: bool,
    area: Option<Area>,
}

#[derive(Serialize, Deserialize)]
struct PermitRow {
    key: KeyRow,
    unit: Option<String>,
    water: Option<String>,
    cause: Option<String>,
    permit: Option<String>,
    appendix: Option<String>,
    date: DateRow,
}

#[derive(Serialize, Deserialize)]
struct NoticeRow {
    key: KeyRow,
    unit: Option<String>,
    water: Option<String>,
    cause: Option<String>,
    standard: Option<String>,
    date: DateRow,
}

fn date(date: Option<Date>) -> DateRow {
    date.map(|d| (d.year(), d.month(), d.day()))
}

fn undate(row: DateRow) -> Option<Date> {
    row.and_then(|(year, month, day)| Date::new(year, month, day).ok())
}

pub(super) fn pack(inventory: &Inventory) -> WaterRecords {
    let unit = |u: &AssessmentUnit| UnitRow {
        key: key(&u.key),
        unit: u.unit.to_string(),
        name: text(&u.name),
        state: text(&u.state),
        cycle: u.cycle,
        category: text(&u.category),
        impaired: u.impaired,
        on_303d_list: u.on_303d_list,
        has_tmdl: u.has_tmdl,
        causes: u.causes.iter().map(|c| c.to_string()).collect(),
        course: u.course.as_ref().map(|c| c.0.iter().map(line).collect()),
        shore: u.shore.as_ref().map(area),
        points: u.points.iter().map(|p| (p.x(), p.y())).collect(),
    };
    let listing = |r: &ListingRow| ListingRowRow {
        key: key(&r.key),
        unit: r.unit.to_string(),
        name: text(&r.name),
        cause: text(&r.cause),
        category: text(&r.category),
        impaired: r.impaired,
        cycle: r.cycle,
    };
    let tmdl = |t: &TmdlAction| TmdlRow {
        key: key(&t.key),
        name: text(&t.name),
        unit: text(&t.unit),
        water: text(&t.water),
        cause: text(&t.cause),
        approved_on: date(t.approved_on),
        stormwater_requirement: t.stormwater_requirement,
        allocations_met: t.allocations_met,
        reviewed_on: date(t.reviewed_on),
        is_watershed: t.extent == Extent::Watershed,
        area: t.area.as_ref().map(area),
    };
    let permit = |p: &PermitListing| PermitRow {
        key: key(&p.key),
        unit: text(&p.unit),
        water: text(&p.water),
        cause: text(&p.cause),
        permit: text(&p.permit),
        appendix: text(&p.appendix),
        date: date(p.date),
    };
    let notice = |n: &WaterNotice| NoticeRow {
        key: key(&n.key),
        unit: text(&n.unit),
        water: text(&n.water),
        cause: text(&n.cause),
        standard: text(&n.standard),
        date: date(n.date),
    };
    WaterRecords {
        units: inventory.units.iter().map(unit).collect(),
        listing: inventory.listing.iter().map(listing).collect(),
        tmdls: inventory.tmdls.iter().map(tmdl).collect(),
        permit_listing: inventory.permit_listing.iter().map(permit).collect(),
        notices: inventory.notices.iter().map(notice).collect(),
    }
}

/// Puts the records back; `None` where they are damaged.
pub(super) fn unpack(rows: WaterRecords, shared: &mut Shared, inventory: &mut Inventory) -> Option<()> {
    for u in rows.units {
        inventory.units.push(AssessmentUnit {
            key: unkey(u.key),
            unit: shared.text(Some(u.unit))?,
            name: shared.text(u.name),
            state: shared.text(u.state),
            cycle: u.cycle,
            category: shared.text(u.category),
            impaired: u.impaired,
            on_303d_list: u.on_303d_list,
            has_tmdl: u.has_tmdl,
            causes: u.causes.into_iter().map(Into::into).collect(),
            course: u.course.map(|c| MultiLineString(c.into_iter().map(unline).collect())),
            shore: u.shore.map(unarea),
            points: u.points.into_iter().map(|(x, y)| Point::new(x, y)).collect(),
        });
    }
    for r in rows.listing {
        inventory.listing.push(ListingRow {
            key: unkey(r.key),
            unit: shared.text(Some(r.unit))?,
            name: shared.text(r.name),
            cause: shared.text(r.cause),
            category: shared.text(r.category),
            impaired: r.impaired,
            cycle: r.cycle,
        });
    }
    for t in rows.tmdls {
        inventory.tmdls.push(TmdlAction {
            key: unkey(t.key),
            name: shared.text(t.name),
            unit: shared.text(t.unit),
            water: shared.text(t.water),
            cause: shared.text(t.cause),
            approved_on: undate(t.approved_on),
            stormwater_requirement: t.stormwater_requirement,
            allocations_met: t.allocations_met,
            reviewed_on: undate(t.reviewed_on),
            extent: if t.is_watershed { Extent::Watershed } else { Extent::Water },
            area: t.area.map(unarea),
        });
    }
    for p in rows.permit_listing {
        inventory.permit_listing.push(PermitListing {
            key: unkey(p.key),
            unit: shared.text(p.unit),
            water: shared.text(p.water),
            cause: shared.text(p.cause),
            permit: shared.text(p.permit),
            appendix: shared.text(p.appendix),
            date: undate(p.date),
        });
    }
    for n in rows.notices {
        inventory.notices.push(WaterNotice {
            key: unkey(n.key),
            unit: shared.text(n.unit),
            water: shared.text(n.water),
            cause: shared.text(n.cause),
            standard: shared.text(n.standard),
            date: undate(n.date),
        });
    }
    Some(())
}
