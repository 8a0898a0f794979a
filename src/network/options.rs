//! Which settings shape the network? Those of `headwall.toml`, gathered for the layers of one inventory.

use crate::inventory::{Inventory, LayerIndex};
use crate::settings::{DirectionSource, Meaning, Role, Settings};

/// The settings of a build.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildOptions {
    /// Ends this close are one node, metres.
    pub snap_tolerance_m: f64,
    /// Whether an end on the side of a line joins it there.
    pub join_sides: bool,
    /// Gaps up to this are reported, metres.
    pub near_miss_m: f64,
    /// For each layer of the inventory its own settings.
    pub layers: Vec<LayerOptions>,
}

/// The settings of one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerOptions {
    /// Which sources decide the direction, first to last.
    pub direction: Vec<DirectionSource>,
    /// A level farther than this from the layer's middle value is a placeholder, metres.
    pub plausible_invert_within_m: f64,
    /// Source field names, for issues.
    pub node_from_field: String,
    /// Source field of the to-node.
    pub node_to_field: String,
    /// Source field of the upper invert.
    pub invert_from_field: String,
    /// Source field of the lower invert.
    pub invert_to_field: String,
    /// Source field of the flow code.
    pub flow_field: String,
}

impl BuildOptions {
    /// The settings for the layers of an inventory.
    pub fn new(settings: &Settings, inventory: &Inventory) -> Self {
        let layers = inventory
            .layers
            .iter()
            .map(|info| {
                let layer = settings.layer(&info.name);
                let field = |meaning: Meaning| {
                    layer.and_then(|l| l.fields.get(&meaning)).map_or_else(|| meaning.word().to_owned(), |mapping| mapping.field.clone())
                };
                let within = layer.and_then(|l| l.plausible_invert_within).unwrap_or(settings.plausible_invert_within);
                LayerOptions {
                    direction: match layer {
                        // A SWMM model has no other way to say direction, whatever the town prefers for its maps.
                        Some(l) if l.role == Role::Swmm && l.direction.is_none() => vec![DirectionSource::NodeIds],
                        Some(l) => settings.direction_of(l).to_vec(),
                        None => settings.direction.clone(),
                    },
                    plausible_invert_within_m: within.metres(),
                    node_from_field: field(Meaning::NodeFrom),
                    node_to_field: field(Meaning::NodeTo),
                    invert_from_field: field(Meaning::InvertFrom),
                    invert_to_field: field(Meaning::InvertTo),
                    flow_field: field(Meaning::Flow),
                }
            })
            .collect();
        BuildOptions {
            snap_tolerance_m: settings.snap_tolerance.metres(),
            join_sides: settings.join_sides,
            near_miss_m: settings.near_miss.metres(),
            layers,
        }
    }

    /// The settings of a layer.
    pub fn layer(&self, layer: LayerIndex) -> &LayerOptions {
        &self.layers[usize::from(layer.0)]
    }
}
