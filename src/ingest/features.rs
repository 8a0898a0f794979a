//! What becomes of each feature in its role?

use std::sync::Arc;

use geo::{Area, Coord, CoordsIter, InteriorPoint, MultiPolygon, Point};

use super::fields::FieldReader;
use super::ids::FeatureId;
use super::issues::Issues;
use super::{OriginalField, OriginalLayer, OriginalRow, Table, shape_of, shapes};
use crate::data_issue::{DataIssue, IssueCode};
use crate::error::Result;
use crate::formats::RawShape;
use crate::inventory::{
    Backdrop, Conduit, ConduitKind, DrainageArea, Inventory, Key, LandLayerKind, Lateral, Material, OutfallKind, Parcel, Premises, Shape,
    Structure, StructureKind, System, WaterKind,
};
use crate::settings::{Meaning, Role, Settings};

/// Puts a table's features where their role belongs, and gives back what the file says of each.
pub(super) fn build(settings: &Settings, table: Table, inventory: &mut Inventory, issues: &mut Issues) -> Result<OriginalLayer> {
    let mut usable = Vec::with_capacity(table.raw.features.len());
    for (feature, id) in table.raw.features.iter().zip(&table.ids) {
        let fields = FieldReader { settings, layer: &table.settings, role: table.role, raw: &table.raw, feature, id: &id.plain };
        let mut builder = Builder { fields, key: Key { layer: table.layer, id: id.key.clone() }, id, inventory, issues };
        usable.push(builder.feature(table.role));
    }
    let fields =
        table.raw.fields.iter().map(|f| OriginalField { name: f.name.clone(), is_date: f.is_date, domain: f.domain.clone() }).collect();
    let file = table.raw.file_name();
    let rows = table.raw.features.into_iter().zip(table.ids).zip(usable);
    let rows = rows.map(|((feature, id), usable)| {
        let shape = match feature.shape {
            RawShape::Shape(shape) => Some(shape),
            RawShape::None | RawShape::Unreadable(_) => None,
        };
        OriginalRow { id: id.key, row: feature.row, values: feature.values, shape, usable }
    });
    Ok(OriginalLayer {
        name: table.settings.name,
        layer: table.layer,
        role: table.role,
        file,
        crs: table.crs.map(|crs| crs.label().to_owned()),
        fields,
        rows: rows.collect(),
    })
}

pub(super) struct Builder<'a> {
    pub(super) fields: FieldReader<'a>,
    pub(super) key: Key,
    pub(super) id: &'a FeatureId,
    pub(super) inventory: &'a mut Inventory,
    pub(super) issues: &'a mut Issues,
}

impl Builder<'_> {
    /// Adds the feature; true where it can be used for its role.
    fn feature(&mut self, role: Role) -> bool {
        match role {
            Role::Conduits => self.conduit(),
            Role::Structures | Role::Outfalls | Role::Ponds => self.structure(role),
            Role::Laterals => self.lateral(),
            Role::InletAreas | Role::Catchments => self.drainage_area(role == Role::Catchments),
            Role::Parcels => self.parcel(),
            Role::Watercourses => self.water(WaterKind::Stream),
            Role::Waterbodies => self.water(WaterKind::Lake),
            Role::Businesses => self.premises(LandLayerKind::Business),
            Role::Permits => self.premises(LandLayerKind::Permit),
            Role::SepticSystems => self.premises(LandLayerKind::Septic),
            Role::MunicipalFacilities => self.premises(LandLayerKind::Facility),
            Role::Addresses | Role::Streets | Role::Buildings | Role::SanitaryMains | Role::WaterMains | Role::Boundary => self.backdrop(),
            Role::AssessmentUnits => self.assessment_unit(),
            Role::UnitListing => self.listing_row(),
            Role::TmdlActions => self.tmdl_action(),
            Role::PermitListing => self.permit_listing(),
            Role::WaterNotices => self.water_notice(),
            // A model was taken apart before.
            Role::Swmm => true,
        }
    }

    fn layer(&self) -> &str {
        &self.fields.layer.name
    }

    /// Says that a feature has no place, once; unreadable shapes were said with their reason.
    pub(super) fn has_shape(&mut self) -> bool {
        match &self.fields.feature.shape {
            RawShape::Shape(_) => true,
            RawShape::None => {
                let layer = self.layer().to_owned();
                self.issues.gather(IssueCode::NullGeometry, &layer, None, None, &self.id.plain);
                false
            }
            RawShape::Unreadable(_) => false,
        }
    }

    pub(super) fn wrong_type(&mut self, wanted: &str) {
        let Some(shape) = shape_of(&self.fields.feature.shape) else { return };
        let word = shapes::type_word(shape);
        let mut issue = DataIssue::new(IssueCode::WrongGeometryType, self.layer()).id(&*self.id.plain).value(word);
        if let Some(at) = shape.coords_iter().next() {
            issue = issue.at(at.x, at.y);
        }
        self.issues.push(issue.message(format!("{} is a {word}, where {wanted} is expected", self.id.plain)));
    }

    fn system(&mut self) -> System {
        self.fields.one_of(Meaning::System, System::from_word, self.issues).unwrap_or(System::Unknown)
    }

    fn conduit(&mut self) -> bool {
        let mut parts = Vec::new();
        if self.has_shape() {
            parts = shape_of(&self.fields.feature.shape).map(shapes::lines).unwrap_or_default();
            if parts.is_empty() {
                self.wrong_type("a line");
            }
        }
        let usable = !parts.is_empty();
        let f = &self.fields;
        let kind = f.one_of(Meaning::Kind, ConduitKind::from_word, self.issues).unwrap_or(ConduitKind::Unknown);
        let conduit = Conduit {
            key: self.key.clone(),
            kind,
            parts,
            node_from: f.node(Meaning::NodeFrom),
            node_to: f.node(Meaning::NodeTo),
            invert_from: f.level(Meaning::InvertFrom, self.issues),
            invert_to: f.level(Meaning::InvertTo, self.issues),
            flow: f.flow(),
            diameter_mm: f.size_mm(Meaning::Diameter, self.issues),
            height_mm: f.size_mm(Meaning::Height, self.issues),
            shape: f.one_of(Meaning::Shape, Shape::from_word, self.issues).unwrap_or(Shape::Unknown),
            material: f.one_of(Meaning::Material, Material::from_word, self.issues).unwrap_or(Material::Unknown),
            barrels: f.barrels(self.issues),
            year_installed: f.year(Meaning::YearInstalled),
            status: f.status(self.issues),
            system: f.one_of(Meaning::System, System::from_word, self.issues).unwrap_or(System::Unknown),
            owner: f.text(Meaning::Owner),
            operator: f.text(Meaning::Operator),
            pressurised: f.pressurised() || kind == ConduitKind::Pump,
            assigned_outfall: f.code(Meaning::AssignedOutfall),
        };
        self.inventory.conduits.push(conduit);
        usable
    }

    fn structure(&mut self, role: Role) -> bool {
        let (mut place, mut area) = (None, None);
        if self.has_shape()
            && let Some(shape) = shape_of(&self.fields.feature.shape)
        {
            place = shapes::point(shape);
            if place.is_none() {
                area = self.outline();
                place = area.as_ref().and_then(inside);
                if area.is_none() {
                    self.wrong_type("a point");
                }
            }
        }
        let usual = match role {
            Role::Outfalls => StructureKind::Outfall,
            Role::Ponds => StructureKind::Pond,
            _ => StructureKind::Unknown,
        };
        let kind = self.fields.one_of(Meaning::Kind, StructureKind::from_word, self.issues).unwrap_or(usual);
        if area.is_some()
            && !matches!(kind, StructureKind::Pond | StructureKind::PumpStation | StructureKind::Unknown | StructureKind::Other)
        {
            // A manhole drawn as an area is placed, but that was not meant.
            self.wrong_type("a point");
        }
        let system = self.system();
        let f = &self.fields;
        let owner = f.text(Meaning::Owner);
        let outfall_kind = (kind == StructureKind::Outfall).then(|| {
            f.one_of(Meaning::OutfallKind, OutfallKind::from_word, self.issues).unwrap_or_else(|| {
                match owner.as_deref().map(|owner| f.settings.is_own(owner)) {
                    Some(Some(true)) => OutfallKind::Ms4Outfall,
                    Some(Some(false)) => OutfallKind::OtherOwner,
                    _ => OutfallKind::Unknown,
                }
            })
        });
        // A repeated id is in the key with a hash; conduits still name the structure by the id itself.
        let repeated = (self.id.key != self.id.plain).then(|| self.id.plain.clone());
        let structure = Structure {
            key: self.key.clone(),
            kind,
            outfall_kind,
            place,
            area,
            rim: f.level(Meaning::Rim, self.issues),
            invert: f.level(Meaning::Invert, self.issues),
            sump_m: f.depth_m(Meaning::Sump, self.issues),
            status: f.status(self.issues),
            system,
            owner,
            operator: f.text(Meaning::Operator),
            other_system: f.text(Meaning::OtherSystem),
            name: f.text(Meaning::Name),
            receiving_water: f.text(Meaning::ReceivingWater),
            also_known_as: repeated.or_else(|| f.code(Meaning::AlsoKnownAs)),
            tolerance_m: f.settings.structure_tolerance_m(f.layer),
        };
        self.inventory.structures.push(structure);
        place.is_some()
    }

    fn lateral(&mut self) -> bool {
        let mut parts = Vec::new();
        let conduit = self.fields.code(Meaning::Conduit);
        let parcel = self.fields.code(Meaning::Parcel);
        // A lateral known by its attributes alone needs no line.
        let by_record = conduit.is_some() && parcel.is_some();
        if (by_record && matches!(self.fields.feature.shape, RawShape::None)) || self.has_shape() {
            parts = shape_of(&self.fields.feature.shape).map(shapes::lines).unwrap_or_default();
            if parts.is_empty() {
                self.wrong_type("a line");
            }
        }
        let usable = by_record || !parts.is_empty();
        let system = self.system();
        let f = &self.fields;
        let lateral = Lateral {
            key: self.key.clone(),
            parts,
            conduit,
            parcel,
            status: f.status(self.issues),
            system,
            documented: f.truth(Meaning::Documented, self.issues),
            approved: f.truth(Meaning::Approved, self.issues),
        };
        self.inventory.laterals.push(lateral);
        usable
    }

    /// The outline of a polygon; one that crosses itself is reported and stands for all that it encloses.
    pub(super) fn outline(&mut self) -> Option<MultiPolygon> {
        let drawn = shapes::polygons(shape_of(&self.fields.feature.shape)?)?;
        let (outline, crossing) = shapes::outline(drawn);
        if let Some(Coord { x, y }) = crossing {
            let issue = DataIssue::new(IssueCode::InvalidGeometry, self.layer()).id(&*self.id.plain).at(x, y);
            self.issues
                .push(issue.message(format!("the outline of {} crosses itself; all that it encloses is taken as its land", self.id.plain)));
        }
        Some(outline)
    }

    /// The outline of what must have one, with a word where it has none.
    fn needed_outline(&mut self) -> Option<MultiPolygon> {
        if !self.has_shape() {
            return None;
        }
        let outline = self.outline();
        if outline.is_none() {
            self.wrong_type("a polygon");
        }
        outline
    }

    fn parcel(&mut self) -> bool {
        let outline = self.needed_outline();
        let usable = outline.is_some();
        let f = &self.fields;
        self.inventory.parcels.push(Parcel {
            key: self.key.clone(),
            outline,
            land_use: f.code(Meaning::LandUse),
            used_as: f.text(Meaning::UsedAs),
            address: f.text(Meaning::Address),
            year_built: f.year(Meaning::YearBuilt),
            sewer: f.text(Meaning::Sewer),
        });
        usable
    }

    fn drainage_area(&mut self, whole_catchment: bool) -> bool {
        let outline = self.needed_outline();
        let usable = outline.is_some();
        let drains_to = self.fields.code(Meaning::DrainsTo);
        self.inventory.drainage_areas.push(DrainageArea { key: self.key.clone(), outline, drains_to, whole_catchment });
        usable
    }

    fn premises(&mut self, layer_kind: LandLayerKind) -> bool {
        let parcel = self.fields.code(Meaning::Parcel);
        let mut place = None;
        // A record that names its parcel needs no place of its own.
        if parcel.is_none() || !matches!(self.fields.feature.shape, RawShape::None) {
            self.has_shape();
        }
        if let Some(shape) = shape_of(&self.fields.feature.shape) {
            place = shapes::point(shape).or_else(|| shape.interior_point());
        }
        let usable = place.is_some() || parcel.is_some();
        let f = &self.fields;
        let digits =
            |meaning| f.code(meaning).map(|code| code.chars().filter(char::is_ascii_digit).collect::<String>()).filter(|d| !d.is_empty());
        self.inventory.premises.push(Premises {
            key: self.key.clone(),
            layer_kind,
            place,
            parcel,
            sic: digits(Meaning::Sic).map(Arc::from),
            naics: digits(Meaning::Naics).map(Arc::from),
            name: f.text(Meaning::Name),
            year: f.year(Meaning::Year),
        });
        usable
    }

    fn backdrop(&mut self) -> bool {
        let usable = self.has_shape();
        let name = self.fields.text(Meaning::Name).or_else(|| self.fields.text(Meaning::Address));
        let shape = shape_of(&self.fields.feature.shape).cloned();
        self.inventory.backdrops.push(Backdrop { key: self.key.clone(), shape, name });
        usable
    }
}

/// A place inside an area: of its largest part, so that it lies where people look for it.
fn inside(area: &MultiPolygon) -> Option<Point> {
    let largest = area.0.iter().max_by(|a, b| a.unsigned_area().total_cmp(&b.unsigned_area()))?;
    largest.interior_point()
}
