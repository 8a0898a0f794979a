//! How do raw features become our inventory? Places, ids, words and units are settled here, and what is doubtful is said.
//!
//! Pure: no files, no clock, no printing; the order of features in a file changes nothing but the row numbers.
//! Nothing is lost: a feature that cannot be used for its role is in [`Originals`] with everything the file says of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use geo::Geometry;

use crate::crs::WorkingCrs;
use crate::data_issue::{DataIssue, IssueCode};
use crate::error::{Error, Result};
use crate::formats::{RawLayer, RawShape, SwmmModel, Value};
use crate::inventory::{Inventory, LayerIndex, LayerInfo};
use crate::settings::{LayerSettings, Meaning, Role, Settings};

mod features;
mod fields;
mod ids;
mod issues;
mod personal;
mod place;
mod shapes;
mod swmm;
mod waters;

pub use personal::{holds_people, is_personal_field};

/// What was read for one layer of the settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The layer, by its place in [`Settings::layers`].
    pub layer: usize,
    /// What the file holds.
    pub data: SourceData,
}

/// What a file holds.
#[expect(clippy::large_enum_variant, reason = "one value for each layer of a town: nobody notices 400 bytes")]
#[derive(Clone, Debug, PartialEq)]
pub enum SourceData {
    /// One layer.
    Layer(RawLayer),
    /// A whole model, for the role `swmm`.
    Swmm(SwmmModel),
}

/// What came of all the layers.
#[derive(Debug)]
pub struct Ingested {
    /// What the town has mapped, typed.
    pub inventory: Inventory,
    /// What the files say, as they say it.
    pub originals: Originals,
    /// The coordinates used inside.
    pub working: WorkingCrs,
    /// What is doubtful, sorted by code, layer and ids.
    pub issues: Vec<DataIssue>,
}

/// Every feature with its original attributes, layer by layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Originals {
    /// Sorted by name, then role: a SWMM model gives one name to conduits, structures and inlet areas.
    pub layers: Vec<OriginalLayer>,
}

/// A layer as the file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct OriginalLayer {
    /// Its name in `headwall.toml`.
    pub name: String,
    /// Its place among the layers of the inventory.
    pub layer: LayerIndex,
    /// What it holds.
    pub role: Role,
    /// The file, by name.
    pub file: String,
    /// The CRS of the file's coordinates, for people; `None` for a table without places.
    pub crs: Option<String>,
    /// Its fields, in the file's order and spelling.
    pub fields: Vec<OriginalField>,
    /// Its features, in the file's order.
    pub rows: Vec<OriginalRow>,
}

/// A field as the file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct OriginalField {
    /// Its name.
    pub name: String,
    /// True where it holds dates.
    pub is_date: bool,
    /// The words of its codes.
    pub domain: BTreeMap<String, String>,
}

/// A feature as the file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct OriginalRow {
    /// The id of its key.
    pub id: Arc<str>,
    /// Where it stands in the file, from 1.
    pub row: usize,
    /// One value for each field.
    pub values: Vec<Value>,
    /// The shape as drawn, in the coordinates used inside (metres).
    pub shape: Option<Geometry>,
    /// Whether it can be used for its role.
    pub usable: bool,
}

impl OriginalLayer {
    /// The domain's word for a value, where the field has one.
    pub fn label(&self, field: usize, value: &Value) -> Option<&str> {
        let domain = &self.fields.get(field)?.domain;
        if domain.is_empty() {
            return None;
        }
        domain.get(&fields::text_of(value)?).map(String::as_str)
    }

    /// How many features were read, and how many can be used.
    pub fn counts(&self) -> (usize, usize) {
        (self.rows.len(), self.rows.iter().filter(|r| r.usable).count())
    }
}

impl Originals {
    /// The layers of a role.
    pub fn of_role(&self, role: Role) -> impl Iterator<Item = &OriginalLayer> {
        self.layers.iter().filter(move |l| l.role == role)
    }
}

/// One layer on its way: settings, raw features, and what is settled step by step.
struct Table {
    settings: LayerSettings,
    role: Role,
    layer: LayerIndex,
    raw: RawLayer,
    crs: Option<crate::crs::Crs>,
    ids: Vec<ids::FeatureId>,
}

/// Makes the inventory of all layers.
///
/// # Errors
/// A layer whose mapped fields are not there, that has no coordinate reference or a contradicted one, whose coordinates cannot be
/// what they are said to be, or whose settings use words that mean nothing. Messages name file, layer and field.
pub fn ingest(settings: &Settings, sources: Vec<Source>) -> Result<Ingested> {
    let mut issues = issues::Issues::default();
    let mut inventory = Inventory::default();
    let mut tables = tables(settings, sources, &mut inventory)?;
    for table in &mut tables {
        fields::check(&table.settings, table.role, &table.raw)?;
        fields::keep_only(table, &mut issues)?;
        table.crs = place::reference(&table.settings, &table.raw)?;
        place::check_degrees(table)?;
    }
    let swapped = place::report_swapped_axes(&tables, &mut issues)?;
    let working = place::working(settings, &tables)?;
    for (table, swapped) in tables.iter_mut().zip(swapped) {
        place::bring_inside(table, &working, swapped)?;
        table.ids = ids::assign(table, &mut issues);
        issues::of_reader(table, &mut issues);
    }
    let mut originals = Originals::default();
    for table in tables {
        originals.layers.push(features::build(settings, table, &mut inventory, &mut issues)?);
    }
    count_conduits_known_by_ids(&inventory, &mut originals, &mut issues);
    issues::report_stacked_parcels(&inventory, &mut issues);
    waters::report_units_without_shape(&inventory, &mut issues);
    for info in &mut inventory.layers {
        let counts = originals.layers.iter().filter(|l| l.name == *info.name).map(OriginalLayer::counts);
        (info.read, info.usable) = counts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    }
    inventory.sort();
    originals.layers.sort_by(|a, b| (&a.name, a.role).cmp(&(&b.name, b.role)));
    Ok(Ingested { inventory, originals, working, issues: issues.sorted() })
}

fn tables(settings: &Settings, sources: Vec<Source>, inventory: &mut Inventory) -> Result<Vec<Table>> {
    let mut tables = Vec::new();
    for source in sources {
        let Some(layer) = settings.layers.get(source.layer) else {
            return Err(Error::settings(format!("there is no layer number {} in the settings", source.layer)));
        };
        let role = layer.role;
        let (file, data) = match source.data {
            SourceData::Layer(raw) => (raw.file_name(), vec![(layer.clone(), role, raw)]),
            SourceData::Swmm(model) => (model.nodes.file_name(), swmm::layers(layer, model)),
        };
        inventory.layers.push(LayerInfo { name: layer.name.as_str().into(), file, role: role.word().to_owned(), read: 0, usable: 0 });
        tables.extend(data.into_iter().map(|(settings, role, raw)| Table {
            settings,
            role,
            layer: LayerIndex(0),
            raw,
            crs: None,
            ids: Vec::new(),
        }));
    }
    inventory.layers.sort_by(|a, b| a.name.cmp(&b.name));
    for table in &mut tables {
        table.layer = inventory
            .layer_index(&table.settings.name)
            .ok_or_else(|| Error::settings("more layers than can be numbered").layer(&table.settings.name))?;
    }
    tables.sort_by_key(|table| (table.layer, table.role));
    Ok(tables)
}

/// A conduit that was never drawn is usable where both its node ids name structures; a SWMM link that names none is said.
fn count_conduits_known_by_ids(inventory: &Inventory, originals: &mut Originals, issues: &mut issues::Issues) {
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for structure in &inventory.structures {
        known.insert(&structure.key.id);
        known.extend(structure.also_known_as.as_deref());
    }
    let mut usable: BTreeSet<(LayerIndex, &str)> = BTreeSet::new();
    for conduit in &inventory.conduits {
        let ends = [&conduit.node_from, &conduit.node_to];
        if ends.iter().all(|end| end.named().is_some_and(|id| known.contains(id))) {
            usable.insert((conduit.key.layer, &conduit.key.id));
        }
        if inventory.layers.get(usize::from(conduit.key.layer.0)).is_some_and(|l| l.role == Role::Swmm.word()) {
            for (field, end) in [("node_from", ends[0]), ("node_to", ends[1])] {
                if let Some(id) = end.named().filter(|id| !known.contains(id)) {
                    let issue = DataIssue::new(IssueCode::NodeIdUnknown, inventory.layer_name(conduit.key.layer));
                    issues.push(
                        issue
                            .id(conduit.key.plain_id())
                            .field(field)
                            .value(id)
                            .message(format!("link {} names node {id}, which the model does not define", conduit.key)),
                    );
                }
            }
        }
    }
    for layer in originals.layers.iter_mut().filter(|l| l.role == Role::Conduits) {
        for row in &mut layer.rows {
            row.usable = row.usable || usable.contains(&(layer.layer, &*row.id));
        }
    }
}

/// Whether a layer maps a meaning, by a field, a default or a rule.
fn speaks_of(settings: &LayerSettings, meaning: Meaning) -> bool {
    settings.fields.contains_key(&meaning)
        || settings.defaults.contains_key(&meaning)
        || settings.rules.iter().any(|rule| rule.set.contains_key(&meaning))
}

/// The shape of a raw feature, where it has one.
fn shape_of(shape: &RawShape) -> Option<&Geometry> {
    match shape {
        RawShape::Shape(geometry) => Some(geometry),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
