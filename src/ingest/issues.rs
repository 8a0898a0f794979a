//! Which doubts about the maps are told, and in which order?

use std::collections::BTreeMap;

use geo::{Coord, MultiPolygon};

use super::Table;
use crate::data_issue::{DataIssue, IssueCode};
use crate::formats::RawShape;
use crate::inventory::{Inventory, LayerIndex};

/// Parts that coincide within this are the same, metres (the project's meaning of "coincident").
const COINCIDENT_M: f64 = 0.001;

/// What has been noticed so far. Doubts about single values are gathered by code, field and value.
#[derive(Debug, Default)]
pub(super) struct Issues {
    all: Vec<DataIssue>,
    /// The ids by what is doubtful about them.
    gathered: BTreeMap<Doubt, Vec<String>>,
}

/// Code, layer, field and value.
type Doubt = (IssueCode, String, Option<String>, Option<String>);

/// The rings of an outline in whole millimetres.
type Signature = Vec<Vec<(i64, i64)>>;

impl Issues {
    pub(super) fn push(&mut self, issue: DataIssue) {
        self.all.push(issue);
    }

    /// Notes a feature under a code, together with others of the same field and value.
    pub(super) fn gather(&mut self, code: IssueCode, layer: &str, field: Option<&str>, value: Option<&str>, id: &str) {
        let key = (code, layer.to_owned(), field.map(str::to_owned), value.map(str::to_owned));
        self.gathered.entry(key).or_default().push(id.to_owned());
    }

    pub(super) fn sorted(mut self) -> Vec<DataIssue> {
        for ((code, layer, field, value), mut ids) in self.gathered {
            ids.sort();
            ids.dedup();
            let mut issue = DataIssue::new(code, layer);
            let count = if ids.len() == 1 { "1 feature".to_owned() } else { format!("{} features", ids.len()) };
            issue.message = match (&field, &value) {
                (Some(field), Some(value)) => format!("{}: {field} is \"{value}\" ({count})", code.meaning()),
                (Some(field), None) => format!("{}: {field} ({count})", code.meaning()),
                (None, Some(value)) => format!("{}: {value} ({count})", code.meaning()),
                (None, None) => format!("{} ({count})", code.meaning()),
            };
            issue.ids = ids;
            issue.field = field;
            issue.value = value;
            self.all.push(issue);
        }
        let order =
            |i: &DataIssue| (i.code, i.layer.clone(), i.ids.clone(), i.field.clone(), i.value.clone(), i.file.clone(), i.message.clone());
        self.all.sort_by_cached_key(order);
        self.all
    }
}

/// What the reader noticed, now under the layer's own name and with ids for rows.
pub(super) fn of_reader(table: &mut Table, issues: &mut Issues) {
    let name = table.settings.name.clone();
    for mut issue in std::mem::take(&mut table.raw.issues) {
        issue.layer.clone_from(&name);
        issues.push(issue);
    }
    let rows: BTreeMap<usize, &str> = table.raw.features.iter().zip(&table.ids).map(|(f, id)| (f.row, &*id.plain)).collect();
    for doubt in &table.raw.doubts {
        // A row that `only` left out is no feature of ours.
        if let Some(id) = rows.get(&doubt.row) {
            issues.gather(doubt.code, &name, doubt.field.as_deref(), doubt.value.as_deref(), id);
        }
    }
    for (feature, id) in table.raw.features.iter().zip(&table.ids) {
        if feature.bad_height {
            issues.gather(IssueCode::NonFinite, &name, None, None, &id.plain);
        }
        if let RawShape::Unreadable(reason) = &feature.shape {
            issues.gather(RawShape::unreadable_code(reason), &name, None, Some(reason), &id.plain);
        }
    }
}

/// Parcels with one outline, whichever vertex each begins with.
pub(super) fn report_stacked_parcels(inventory: &Inventory, issues: &mut Issues) {
    let mut stacks: BTreeMap<(LayerIndex, Signature), Vec<(&str, Coord)>> = BTreeMap::new();
    for parcel in &inventory.parcels {
        let Some(outline) = &parcel.outline else { continue };
        let Some(first) = outline.0.first().and_then(|p| p.exterior().0.first()) else { continue };
        stacks.entry((parcel.key.layer, signature(outline))).or_default().push((&parcel.key.id, *first));
    }
    for ((layer, _), mut parcels) in stacks {
        if parcels.len() < 2 {
            continue;
        }
        parcels.sort_by(|a, b| a.0.cmp(b.0));
        let at = parcels[0].1;
        let layer = inventory.layer_name(layer);
        let issue = DataIssue::new(IssueCode::StackedParcels, layer).ids(parcels.iter().map(|(id, _)| *id)).at(at.x, at.y);
        issues.push(issue.message(format!("{} parcels share one outline; each stays a record of its own", parcels.len())));
    }
}

/// The rings in whole millimetres, each turned to begin with its smallest vertex, and sorted.
fn signature(outline: &MultiPolygon) -> Signature {
    let mut rings: Signature = outline
        .0
        .iter()
        .flat_map(|p| std::iter::once(p.exterior()).chain(p.interiors()))
        .map(|ring| {
            let millimetres = |v: f64| (v / COINCIDENT_M).round() as i64;
            let mut places: Vec<(i64, i64)> = ring.0.iter().map(|c| (millimetres(c.x), millimetres(c.y))).collect();
            places.pop();
            if let Some(least) = (0..places.len()).min_by_key(|at| places[*at]) {
                places.rotate_left(least);
            }
            places
        })
        .collect();
    rings.sort();
    rings
}
