//! Which published schema does this layer follow? The schemas are data in `data/presets/`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::settings::{Meaning, Role};

use super::look::{Drawn, Look};

#[derive(Deserialize)]
struct PresetFile {
    name: String,
    layer: Vec<PresetLayer>,
}

#[derive(Deserialize)]
struct PresetLayer {
    role: Role,
    #[serde(default)]
    layers: Vec<String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    tables_only: bool,
    land_use_scheme: Option<String>,
    #[serde(default)]
    fields: BTreeMap<Meaning, Vec<String>>,
}

/// A preset that fits a layer.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// The schema's name.
    pub schema: String,
    pub role: Role,
    /// The layer's own fields, by what the schema says that they mean.
    pub fields: BTreeMap<Meaning, String>,
    pub land_use_scheme: Option<String>,
}

fn presets() -> &'static [PresetFile] {
    static PRESETS: OnceLock<Vec<PresetFile>> = OnceLock::new();
    PRESETS.get_or_init(|| {
        [
            include_str!("../../data/presets/esri_local_government.toml"),
            include_str!("../../data/presets/esri_utility_network.toml"),
            include_str!("../../data/presets/nys_parcels.toml"),
            include_str!("../../data/presets/nhd.toml"),
            include_str!("../../data/presets/attains.toml"),
            include_str!("../../data/presets/swmm.toml"),
        ]
        .iter()
        .filter_map(|text| toml::from_str(text).ok())
        .collect()
    })
}

/// How many presets there are, for a test that each can be read.
#[cfg(test)]
pub(super) fn count() -> usize {
    presets().len()
}

/// A field by name: case does not matter, and a shapefile may have cut it to ten letters.
fn field_named(look: &Look, wanted: &str) -> Option<String> {
    let same = |name: &str| {
        name.eq_ignore_ascii_case(wanted)
            || (name.chars().count() == 10 && wanted.chars().count() > 10 && wanted.to_lowercase().starts_with(&name.to_lowercase()))
    };
    look.columns.iter().find(|c| same(&c.name)).map(|c| c.name.clone())
}

/// The preset whose layer name fits, or all of whose needed fields are there and drawn as its role is.
pub(super) fn fit(look: &Look) -> Option<Fit> {
    let layer_name = look.inside.clone().unwrap_or_else(|| look.raw.name.clone());
    let drawn_as = |role: Role| match role {
        Role::Conduits | Role::SanitaryMains | Role::Laterals => look.drawn == Drawn::Lines,
        Role::Structures | Role::Outfalls => look.drawn == Drawn::Points,
        Role::Parcels | Role::Waterbodies | Role::InletAreas => look.drawn == Drawn::Areas,
        Role::Watercourses => look.drawn == Drawn::Lines,
        Role::UnitListing => look.drawn == Drawn::Nothing,
        _ => look.drawn != Drawn::Nothing,
    };
    let mut best: Option<(usize, Fit)> = None;
    for preset in presets() {
        for layer in &preset.layer {
            if !drawn_as(layer.role) || (layer.tables_only && look.drawn != Drawn::Nothing) {
                continue;
            }
            let named = layer.layers.iter().any(|n| n.eq_ignore_ascii_case(&layer_name));
            let has_all = !layer.needs.is_empty() && layer.needs.iter().all(|n| field_named(look, n).is_some());
            if !named && !has_all {
                continue;
            }
            let fields: BTreeMap<Meaning, String> =
                layer.fields.iter().filter_map(|(m, names)| Some((*m, names.iter().find_map(|n| field_named(look, n))?))).collect();
            let score = fields.len() + 3 * usize::from(has_all) + 2 * usize::from(named);
            if best.as_ref().is_none_or(|(s, _)| score > *s) {
                let fit = Fit { schema: preset.name.clone(), role: layer.role, fields, land_use_scheme: layer.land_use_scheme.clone() };
                best = Some((score, fit));
            }
        }
    }
    best.map(|(_, fit)| fit)
}
