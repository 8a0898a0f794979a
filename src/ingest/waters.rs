//! What becomes of the waters and of what is recorded about them: watercourses, assessment units, listings, TMDLs, notices?

use std::collections::BTreeSet;
use std::sync::Arc;

use geo::{Geometry, MultiLineString, Point};

use super::features::Builder;
use super::issues::Issues;
use super::{shape_of, shapes};
use crate::data_issue::{DataIssue, IssueCode};
use crate::formats::RawShape;
use crate::inventory::{AssessmentUnit, Extent, Inventory, ListingRow, PermitListing, TmdlAction, Water, WaterKind, WaterNotice};
use crate::settings::Meaning;

impl Builder<'_> {
    pub(super) fn water(&mut self, usual: WaterKind) -> bool {
        let (mut course, mut shore) = (None, None);
        if self.has_shape()
            && let Some(shape) = shape_of(&self.fields.feature.shape)
        {
            let lines = shapes::lines(shape);
            course = (!lines.is_empty()).then_some(MultiLineString(lines));
            shore = self.outline();
            if course.is_none() && shore.is_none() {
                self.wrong_type("a line or polygon");
            }
        }
        let usable = course.is_some() || shore.is_some();
        let f = &self.fields;
        let fcode = f.whole(Meaning::Fcode, self.issues).and_then(|code| u32::try_from(code).ok());
        let by_code = kind_of_fcode(fcode).or_else(|| f.text(Meaning::Ftype).and_then(|word| kind_of_ftype(&word)));
        let kind = f.one_of(Meaning::Kind, WaterKind::from_word, self.issues).or(by_code).unwrap_or(usual);
        if kind == WaterKind::StormPipe {
            let layer = f.layer.name.clone();
            self.issues.gather(
                IssueCode::FeaturesLeftOut,
                &layer,
                None,
                Some("NHD storm pipes, which the town's own conduits stand for"),
                &self.id.plain,
            );
        }
        let water = Water {
            key: self.key.clone(),
            kind,
            course,
            shore,
            name: f.text(Meaning::Name),
            node_from: f.node(Meaning::NodeFrom),
            node_to: f.node(Meaning::NodeTo),
            flow: f.flow(),
            hydrosequence: f.whole(Meaning::Hydrosequence, self.issues),
            fcode,
            unit: f.code(Meaning::Unit),
        };
        self.inventory.waters.push(water);
        usable
    }

    pub(super) fn assessment_unit(&mut self) -> bool {
        let (mut course, mut shore, mut points) = (None, None, Vec::new());
        if self.has_shape()
            && let Some(shape) = shape_of(&self.fields.feature.shape)
        {
            let lines = shapes::lines(shape);
            course = (!lines.is_empty()).then_some(MultiLineString(lines));
            points = points_of(shape);
            shore = self.outline();
        }
        let usable = course.is_some() || shore.is_some() || !points.is_empty();
        let f = &self.fields;
        let unit = AssessmentUnit {
            key: self.key.clone(),
            unit: f.code(Meaning::Unit).unwrap_or_else(|| self.id.plain.clone()),
            name: f.text(Meaning::Name),
            state: f.text(Meaning::State),
            cycle: f.year(Meaning::Cycle),
            category: f.text(Meaning::Category),
            impaired: f.truth(Meaning::Impaired, self.issues),
            on_303d_list: f.truth(Meaning::On303dList, self.issues),
            has_tmdl: f.truth(Meaning::HasTmdl, self.issues),
            causes: f.text(Meaning::Cause).into_iter().chain(f.causes_by_column()).collect(),
            course,
            shore,
            points,
        };
        self.inventory.units.push(unit);
        usable
    }

    pub(super) fn listing_row(&mut self) -> bool {
        let f = &self.fields;
        let Some(unit) = f.code(Meaning::Unit).filter(|unit| !unit.is_empty()) else {
            let field = f.layer.fields.get(&Meaning::Unit).map(|m| m.field.clone());
            self.issues.gather(IssueCode::IdMissing, &f.layer.name, field.as_deref(), None, &self.id.plain);
            return false;
        };
        let row = ListingRow {
            key: self.key.clone(),
            unit,
            name: f.text(Meaning::Name),
            cause: f.text(Meaning::Cause),
            category: f.text(Meaning::Category),
            impaired: f.truth(Meaning::Impaired, self.issues),
            cycle: f.year(Meaning::Cycle),
        };
        self.inventory.listing.push(row);
        true
    }

    pub(super) fn tmdl_action(&mut self) -> bool {
        let mut area = None;
        if !matches!(self.fields.feature.shape, RawShape::None) && self.has_shape() {
            area = self.outline();
        }
        let f = &self.fields;
        let (unit, water) = (f.code(Meaning::Unit), f.text(Meaning::Water));
        let usable = area.is_some() || unit.is_some() || water.is_some();
        let extent = f.one_of(Meaning::Extent, extent_of, self.issues);
        let action = TmdlAction {
            key: self.key.clone(),
            name: f.text(Meaning::Name),
            unit,
            water,
            cause: f.text(Meaning::Cause),
            approved_on: f.date(Meaning::ApprovedOn, self.issues),
            stormwater_requirement: f.truth(Meaning::StormwaterRequirement, self.issues),
            allocations_met: f.truth(Meaning::AllocationsMet, self.issues),
            reviewed_on: f.date(Meaning::ReviewedOn, self.issues),
            extent: extent.unwrap_or(Extent::Watershed),
            area,
        };
        if !usable {
            let issue = DataIssue::new(IssueCode::UnitWithoutGeometry, f.layer.name.as_str()).id(&*self.id.plain);
            self.issues.push(
                issue.message(format!("TMDL {} names neither unit nor water and has no polygon: it can be tied to nothing", self.id.plain)),
            );
        }
        self.inventory.tmdls.push(action);
        usable
    }

    pub(super) fn permit_listing(&mut self) -> bool {
        let f = &self.fields;
        let listing = PermitListing {
            key: self.key.clone(),
            unit: f.code(Meaning::Unit),
            water: f.text(Meaning::Water).or_else(|| f.text(Meaning::Name)),
            cause: f.text(Meaning::Cause),
            permit: f.text(Meaning::Permit),
            appendix: f.text(Meaning::Appendix),
            date: f.date(Meaning::Date, self.issues),
        };
        let usable = listing.unit.is_some() || listing.water.is_some();
        self.inventory.permit_listing.push(listing);
        usable
    }

    pub(super) fn water_notice(&mut self) -> bool {
        let f = &self.fields;
        let notice = WaterNotice {
            key: self.key.clone(),
            unit: f.code(Meaning::Unit),
            water: f.text(Meaning::Water).or_else(|| f.text(Meaning::Name)),
            cause: f.text(Meaning::Cause),
            standard: f.text(Meaning::Standard),
            date: f.date(Meaning::Date, self.issues),
        };
        let usable = notice.unit.is_some() || notice.water.is_some();
        self.inventory.notices.push(notice);
        usable
    }
}

fn extent_of(word: &str) -> Option<Extent> {
    match word {
        "water" => Some(Extent::Water),
        "watershed" => Some(Extent::Watershed),
        _ => None,
    }
}

fn points_of(shape: &Geometry) -> Vec<Point> {
    match shape {
        Geometry::Point(point) => vec![*point],
        Geometry::MultiPoint(many) => many.0.clone(),
        Geometry::GeometryCollection(parts) => parts.0.iter().flat_map(points_of).collect(),
        _ => Vec::new(),
    }
}

/// What an NHD feature code says (USGS NHD feature codes; 42820 to 42824 are storm pipes).
fn kind_of_fcode(fcode: Option<u32>) -> Option<WaterKind> {
    let fcode = fcode?;
    Some(match fcode {
        42_820..=42_824 => WaterKind::StormPipe,
        _ => match fcode / 100 {
            336 => WaterKind::Ditch,
            334 | 558 => WaterKind::Routing,
            420 => WaterKind::Underground,
            428 => WaterKind::Pipeline,
            460 | 468 => WaterKind::Stream,
            566 => WaterKind::Coastline,
            390 | 436 | 493 => WaterKind::Lake,
            _ => return None,
        },
    })
}

/// What an NHD feature type says, as number or word.
fn kind_of_ftype(word: &str) -> Option<WaterKind> {
    let letters: String = word.chars().filter(|c| c.is_ascii_alphanumeric()).collect::<String>().to_ascii_lowercase();
    Some(match letters.as_str() {
        "336" | "canalditch" => WaterKind::Ditch,
        "334" | "connector" | "558" | "artificialpath" => WaterKind::Routing,
        "420" | "undergroundconduit" => WaterKind::Underground,
        "428" | "pipeline" => WaterKind::Pipeline,
        "460" | "streamriver" | "468" | "drainageway" => WaterKind::Stream,
        "566" | "coastline" => WaterKind::Coastline,
        "390" | "lakepond" | "436" | "reservoir" | "493" | "estuary" => WaterKind::Lake,
        _ => return None,
    })
}

/// One text of the ways in which a unit's id is written: case and runs of blanks say nothing.
fn unit_key(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_uppercase()
}

/// Listed units that no shape stands for: an overlay alone would pass them as clean.
pub(super) fn report_units_without_shape(inventory: &Inventory, issues: &mut Issues) {
    let has_shape = |u: &&AssessmentUnit| u.course.is_some() || u.shore.is_some() || !u.points.is_empty();
    let mut drawn: BTreeSet<String> = inventory.units.iter().filter(has_shape).map(|u| unit_key(&u.unit)).collect();
    drawn.extend(inventory.waters.iter().filter_map(|w| w.unit.as_deref()).map(unit_key));
    for layer in &inventory.layers {
        let mut missing: Vec<(Arc<str>, Option<Arc<str>>)> = Vec::new();
        let rows = inventory.listing.iter().filter(|row| inventory.layer_name(row.key.layer) == &*layer.name);
        for row in rows.filter(|row| may_be_listed(row) && !drawn.contains(&unit_key(&row.unit))) {
            if !missing.iter().any(|(unit, _)| *unit == row.unit) {
                missing.push((row.unit.clone(), row.name.clone()));
            }
        }
        if missing.is_empty() {
            continue;
        }
        missing.sort();
        let named =
            |(unit, name): &(Arc<str>, Option<Arc<str>>)| name.as_ref().map_or_else(|| unit.to_string(), |name| format!("{name} ({unit})"));
        let mut words: Vec<String> = missing.iter().take(10).map(named).collect();
        if missing.len() > 10 {
            words.push(format!("and {} more", missing.len() - 10));
        }
        let issue = DataIssue::new(IssueCode::UnitWithoutGeometry, &*layer.name).ids(missing.iter().map(|(unit, _)| unit.to_string()));
        issues.push(issue.message(format!(
            "listed, but without a shape, so that no outfall is tied to it and none is cleared by it: {}",
            words.join(", ")
        )));
    }
}

/// Whether a row may stand for an impairment: category 4 or 5, the word impaired, or no category at all.
fn may_be_listed(row: &ListingRow) -> bool {
    match row.category.as_deref().map(|c| c.chars().find(char::is_ascii_digit)) {
        Some(Some(digit)) => matches!(digit, '4' | '5'),
        Some(None) | None => row.impaired != Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_codes() {
        assert_eq!(kind_of_fcode(Some(46006)), Some(WaterKind::Stream));
        assert_eq!(kind_of_fcode(Some(42823)), Some(WaterKind::StormPipe));
        assert_eq!(kind_of_fcode(Some(42803)), Some(WaterKind::Pipeline));
        assert_eq!(kind_of_fcode(Some(55800)), Some(WaterKind::Routing));
        assert_eq!(kind_of_ftype("Artificial Path"), Some(WaterKind::Routing));
        assert_eq!(kind_of_ftype("460"), Some(WaterKind::Stream));
    }
}
