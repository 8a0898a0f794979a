//! What is each feature called? By its own id; where that is missing or repeated, with a hash of what the feature is.

use std::collections::BTreeMap;
use std::sync::Arc;

use geo::{CoordsIter, Geometry};
use sha2::{Digest, Sha256};

use super::fields::text_of;
use super::issues::Issues;
use super::{Table, shape_of};
use crate::data_issue::{DataIssue, IssueCode};
use crate::formats::RawFeature;
use crate::inventory::normalised_id;
use crate::settings::{Meaning, Role};

/// What a feature is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FeatureId {
    /// In its key: unique in its layer.
    pub key: Arc<str>,
    /// As the town says it; the key's where it has none.
    pub plain: Arc<str>,
}

/// Gives every feature of a table its id. The coordinates must be inside ones, so that the same data give the same hash.
pub(super) fn assign(table: &Table, issues: &mut Issues) -> Vec<FeatureId> {
    let mapping = table.settings.fields.get(&Meaning::Id);
    let column = mapping.and_then(|m| table.raw.field(&m.field));
    let features = &table.raw.features;
    let layer = table.settings.name.as_str();
    let own: Vec<Option<String>> = match column {
        Some(at) => features
            .iter()
            .map(|f| {
                let text = text_of(&f.values[at])?;
                let missing = mapping.is_some_and(|m| super::fields::matches(&m.missing, &text));
                let id = normalised_id(&text);
                (!id.is_empty() && !missing).then(|| id.to_owned())
            })
            .collect(),
        None => service_ids(features).unwrap_or_else(|| vec![None; features.len()]),
    };
    if column.is_none() && !features.is_empty() && own.iter().all(Option::is_none) && needs_ids(table.role) {
        issues.push(DataIssue::new(IssueCode::IdMissing, layer).file(table.raw.file_name()).message(format!(
            "no field of {} is mapped as id, so its features are named by what they are; an edit changes such a name",
            table.raw.file_name()
        )));
    }
    let mut holders: BTreeMap<&str, usize> = BTreeMap::new();
    for id in own.iter().flatten() {
        *holders.entry(id).or_default() += 1;
    }
    for (id, count) in holders.iter().filter(|(_, count)| **count > 1) {
        issues
            .push(DataIssue::new(IssueCode::DuplicateId, layer).id(*id).message(format!("{count} features are called {id}; all are kept")));
    }
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let mut out = Vec::with_capacity(features.len());
    for (feature, id) in features.iter().zip(&own) {
        let key = match id {
            Some(id) if holders.get(id.as_str()) == Some(&1) => {
                let id: Arc<str> = id.as_str().into();
                out.push(FeatureId { key: id.clone(), plain: id });
                continue;
            }
            Some(id) => format!("{id}~{}", hash(table, feature)),
            None => format!("~{}", hash(table, feature)),
        };
        // Features alike in everything cannot be told apart but by counting.
        let count = taken.entry(key.clone()).or_default();
        *count += 1;
        let key: Arc<str> = if *count == 1 { key.into() } else { format!("{key}-{count}").into() };
        let plain = id.as_deref().map_or_else(|| key.clone(), Into::into);
        if id.is_none() && column.is_some() {
            issues.gather(IssueCode::IdMissing, layer, mapping.map(|m| m.field.as_str()), None, &key);
        }
        out.push(FeatureId { key, plain });
    }
    out
}

fn needs_ids(role: Role) -> bool {
    matches!(role, Role::Conduits | Role::Structures | Role::Outfalls | Role::Parcels | Role::Laterals)
}

/// GeoJSON's own ids, where every feature has one of its own.
fn service_ids(features: &[RawFeature]) -> Option<Vec<Option<String>>> {
    let ids: Vec<&str> = features.iter().map(|f| f.feature_id.as_deref().map(normalised_id)).collect::<Option<_>>()?;
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    let unique = sorted.windows(2).all(|pair| pair[0] != pair[1]) && sorted.first().is_none_or(|id| !id.is_empty());
    unique.then(|| ids.into_iter().map(|id| Some(id.to_owned())).collect())
}

/// Eight letters that follow from the shape, to the centimetre, and the attributes, but not from the place in the file.
fn hash(table: &Table, feature: &RawFeature) -> String {
    let mut hasher = Sha256::new();
    if let Some(geometry) = shape_of(&feature.shape) {
        hasher.update(kind(geometry));
        for coord in geometry.coords_iter() {
            for v in [coord.x, coord.y] {
                hasher.update(((v * 100.0).round() as i64).to_le_bytes());
            }
        }
    }
    for (field, value) in table.raw.fields.iter().zip(&feature.values) {
        if field.is_row_number {
            continue;
        }
        if let Some(text) = text_of(value) {
            hasher.update(field.name.as_bytes());
            hasher.update([0]);
            hasher.update(text.as_bytes());
            hasher.update([0]);
        }
    }
    hasher.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

fn kind(geometry: &Geometry) -> &'static str {
    match geometry {
        Geometry::Point(_) | Geometry::MultiPoint(_) => "point",
        Geometry::Line(_) | Geometry::LineString(_) | Geometry::MultiLineString(_) => "line",
        Geometry::GeometryCollection(_) => "collection",
        _ => "polygon",
    }
}
