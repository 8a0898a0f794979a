//! How are the fields of a SWMM model read? They are the same in every model, so the town file need not say it.

use std::collections::BTreeMap;

use crate::formats::{RawLayer, SwmmModel};
use crate::settings::{FieldMapping, LayerSettings, LengthUnit, Meaning, PressurisedSettings, Role};

/// The layers of a model with the settings that read them; what the town file sets beside (defaults, rules) holds for each.
pub(super) fn layers(settings: &LayerSettings, model: SwmmModel) -> Vec<(LayerSettings, Role, RawLayer)> {
    let unit = if model.is_metric { LengthUnit::Metre } else { LengthUnit::Foot };
    let offsets = if model.offsets_are_elevations { "elevation" } else { "offset_above_node" };
    let plain = |meaning: Meaning, field: &str| (meaning, FieldMapping::plain(field));
    let level = |meaning: Meaning, field: &str, kind: &str| {
        (meaning, FieldMapping { unit: Some(unit), level: Some(kind.to_owned()), ..FieldMapping::plain(field) })
    };
    let length = |meaning: Meaning, field: &str| (meaning, FieldMapping { unit: Some(unit), ..FieldMapping::plain(field) });
    let with = |fields: Vec<(Meaning, FieldMapping)>, raw: &RawLayer| {
        let mut own = settings.clone();
        // A section that is not there leaves its fields out; that is no fault of the town file.
        own.fields = fields.into_iter().filter(|(_, m)| raw.field(&m.field).is_some()).collect();
        own.rules.clear();
        own.defaults.remove(&Meaning::Kind);
        own.only = None;
        own.pressurised = None;
        own
    };
    let nodes = with(
        vec![
            plain(Meaning::Id, "name"),
            plain(Meaning::Kind, "kind"),
            level(Meaning::Invert, "invert", "elevation"),
            level(Meaning::Rim, "rim", "elevation"),
        ],
        &model.nodes,
    );
    let mut links = with(
        vec![
            plain(Meaning::Id, "name"),
            plain(Meaning::Kind, "kind"),
            plain(Meaning::NodeFrom, "node_from"),
            plain(Meaning::NodeTo, "node_to"),
            level(Meaning::InvertFrom, "offset_from", offsets),
            level(Meaning::InvertTo, "offset_to", offsets),
            length(Meaning::Diameter, "width"),
            length(Meaning::Height, "height"),
            plain(Meaning::Shape, "shape"),
            plain(Meaning::Barrels, "barrels"),
        ],
        &model.links,
    );
    if model.links.field("pressurised").is_some() {
        let values = crate::settings::Pattern(vec!["yes".to_owned()]);
        links.pressurised = Some(PressurisedSettings { field: "pressurised".to_owned(), values });
    }
    let areas = with(vec![plain(Meaning::Id, "name"), plain(Meaning::DrainsTo, "drains_to")], &model.areas);
    // What a default says of nodes and links says nothing of land.
    let areas = LayerSettings { defaults: BTreeMap::new(), ..areas };
    let mut all = vec![(nodes, Role::Structures, model.nodes), (links, Role::Conduits, model.links)];
    if !model.areas.features.is_empty() {
        all.push((areas, Role::InletAreas, model.areas));
    }
    all
}
