//! What have people added? Corrections of the maps: types, and how they are laid over the inventory.
//!
//! A correction is a record, never a change of the source: who, when, why, on what evidence, and a digest of what it relied on.
//! The types derive `Serialize` because the log of corrections is append-only: what is written is this form, and stays it.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::inventory::{Conduit, Inventory, LevelField, NodeId, Structure};

mod apply;
pub use apply::{ADDED_CONDUITS, ADDED_LATERALS, ADDED_STRUCTURES, apply};

/// A feature by its layer's name and its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FeatureName {
    /// The layer's name in `headwall.toml`.
    pub layer: String,
    /// Its id.
    pub id: String,
}

impl FeatureName {
    /// Names a feature.
    pub fn new(layer: impl Into<String>, id: impl Into<String>) -> Self {
        FeatureName { layer: layer.into(), id: id.into() }
    }
}

impl std::fmt::Display for FeatureName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.id)
    }
}

/// Which end of a conduit, as drawn in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConduitEnd {
    /// The first vertex of the first part.
    First,
    /// The last vertex of the last part.
    Last,
}

impl ConduitEnd {
    /// `first` or `last`.
    pub fn word(self) -> &'static str {
        match self {
            ConduitEnd::First => "first",
            ConduitEnd::Last => "last",
        }
    }
}

/// How a place or a line was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Surveyed {
    /// Drawn by hand on the map.
    Sketched,
    /// Measured by GPS.
    Gps,
    /// Taken from a plan or a record drawing.
    Plan,
}

impl Surveyed {
    /// `sketched`, `gps`, `plan`.
    pub fn word(self) -> &'static str {
        match self {
            Surveyed::Sketched => "sketched",
            Surveyed::Gps => "gps",
            Surveyed::Plan => "plan",
        }
    }
}

/// A thing that somebody says is there, and how well its place is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Added {
    /// Its id; the correction's own number makes one where absent.
    pub id: Option<String>,
    /// Its line, or its one point; inside coordinates, metres of the working CRS. A conduit's water goes as its points do.
    pub points: Vec<[f64; 2]>,
    /// What it is, as a word of the inventory.
    pub kind: Option<String>,
    /// Inside diameter, millimetres.
    pub diameter_mm: Option<f64>,
    /// Material, as a word of the inventory.
    pub material: Option<String>,
    /// How it was found.
    pub surveyed: Surveyed,
    /// How far it may lie from the truth, metres.
    pub accuracy_m: Option<f64>,
    /// A feature of the source is this one where it lies within this distance, metres.
    pub same_within_m: f64,
    /// For a lateral: the conduit that it joins.
    pub conduit: Option<String>,
    /// For a lateral: the parcel from which it comes.
    pub parcel: Option<String>,
}

/// One change that is laid over the maps. Coordinates are inside ones: metres of the working CRS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// Water goes with the drawing of the source, or against it, whatever else says.
    Reverse {
        /// The conduit.
        conduit: FeatureName,
        /// Whether it goes as the source draws the line.
        with_drawing: bool,
    },
    /// An end belongs to what lies at a place within the tolerance, or was named wrongly.
    Join {
        /// The conduit.
        conduit: FeatureName,
        /// Which end.
        end: ConduitEnd,
        /// The structure, where there is one.
        structure: Option<FeatureName>,
        /// Where the end goes.
        to: [f64; 2],
    },
    /// A gap is none: the end goes on to a place.
    Bridge {
        /// The conduit.
        conduit: FeatureName,
        /// Which end.
        end: ConduitEnd,
        /// The structure, where there is one.
        structure: Option<FeatureName>,
        /// Where the end goes.
        to: [f64; 2],
        /// How long the gap is, metres.
        length_m: f64,
    },
    /// An outfall stands at the end of a conduit, not where it is drawn.
    AttachOutfall {
        /// The outfall.
        outfall: FeatureName,
        /// The conduit that ends there.
        conduit: FeatureName,
        /// Which end.
        end: ConduitEnd,
        /// Where that is.
        to: [f64; 2],
        /// How far the outfall is moved, metres.
        length_m: f64,
    },
    /// A feature's life-cycle status.
    SetStatus {
        /// The conduit, structure or lateral.
        feature: FeatureName,
        /// A word of the inventory.
        status: String,
    },
    /// What a feature is.
    SetKind {
        /// The conduit or structure.
        feature: FeatureName,
        /// A word of the inventory.
        kind: String,
    },
    /// Who owns a feature.
    SetOwner {
        /// The conduit or structure.
        feature: FeatureName,
        /// The owner.
        owner: String,
    },
    /// Which system a feature belongs to.
    SetSystem {
        /// The conduit, structure or lateral.
        feature: FeatureName,
        /// A word of the inventory.
        system: String,
    },
    /// The levels of a group of conduits are off by a constant.
    ShiftLevels {
        /// The conduits.
        conduits: Vec<FeatureName>,
        /// What is added to each level that is an elevation, metres.
        by_m: f64,
    },
    /// A conduit that no map has.
    AddConduit(Added),
    /// A structure that no map has.
    AddStructure(Added),
    /// A lateral that no map has.
    AddLateral(Added),
    /// An end does not join what it is drawn to.
    Disconnect {
        /// The conduit.
        conduit: FeatureName,
        /// Which end.
        end: ConduitEnd,
        /// How far its end is drawn back, metres: beyond the snap tolerance.
        back_m: f64,
    },
    /// A conduit is plugged: it is there, and carries nothing.
    Plug {
        /// The conduit.
        conduit: FeatureName,
    },
    /// A conduit is two, with a place between.
    Split {
        /// The conduit.
        conduit: FeatureName,
        /// Where; the nearest place on the line is taken.
        at: [f64; 2],
    },
    /// A structure stands elsewhere.
    Move {
        /// The structure.
        structure: FeatureName,
        /// Where.
        to: [f64; 2],
    },
}

impl Change {
    /// Its stable word.
    pub fn word(&self) -> &'static str {
        match self {
            Change::Reverse { .. } => "reverse",
            Change::Join { .. } => "join",
            Change::Bridge { .. } => "bridge",
            Change::AttachOutfall { .. } => "attach_outfall",
            Change::SetStatus { .. } => "set_status",
            Change::SetKind { .. } => "set_kind",
            Change::SetOwner { .. } => "set_owner",
            Change::SetSystem { .. } => "set_system",
            Change::ShiftLevels { .. } => "shift_levels",
            Change::AddConduit(_) => "add_conduit",
            Change::AddStructure(_) => "add_structure",
            Change::AddLateral(_) => "add_lateral",
            Change::Disconnect { .. } => "disconnect",
            Change::Plug { .. } => "plug",
            Change::Split { .. } => "split",
            Change::Move { .. } => "move",
        }
    }

    /// The features that it needs.
    pub fn features(&self) -> Vec<&FeatureName> {
        match self {
            Change::Reverse { conduit, .. }
            | Change::Disconnect { conduit, .. }
            | Change::Plug { conduit }
            | Change::Split { conduit, .. } => {
                vec![conduit]
            }
            Change::Join { conduit, structure, .. } | Change::Bridge { conduit, structure, .. } => {
                std::iter::once(conduit).chain(structure.as_ref()).collect()
            }
            Change::AttachOutfall { outfall, conduit, .. } => vec![outfall, conduit],
            Change::SetStatus { feature, .. }
            | Change::SetKind { feature, .. }
            | Change::SetOwner { feature, .. }
            | Change::SetSystem { feature, .. } => vec![feature],
            Change::ShiftLevels { conduits, .. } => conduits.iter().collect(),
            Change::Move { structure, .. } => vec![structure],
            Change::AddConduit(_) | Change::AddStructure(_) | Change::AddLateral(_) => Vec::new(),
        }
    }

    /// One clause for people; lengths in metres and feet.
    pub fn in_words(&self) -> String {
        let feet = |m: f64| format!("{:.1} ft ({m:.2} m)", m / 0.3048);
        let onto = |structure: &Option<FeatureName>| structure.as_ref().map_or("what lies there".to_owned(), |s| s.to_string());
        match self {
            Change::Reverse { conduit, with_drawing: true } => format!("{conduit} flows as it is drawn"),
            Change::Reverse { conduit, .. } => format!("{conduit} flows against its drawing"),
            Change::Join { conduit, end, structure, .. } => format!("the {} end of {conduit} joins {}", end.word(), onto(structure)),
            Change::Bridge { conduit, end, structure, length_m, .. } => {
                format!("the {} end of {conduit} goes on {} to {}", end.word(), feet(*length_m), onto(structure))
            }
            Change::AttachOutfall { outfall, conduit, end, length_m, .. } => {
                format!("outfall {outfall} stands at the {} end of {conduit}, {} from where it is drawn", end.word(), feet(*length_m))
            }
            Change::SetStatus { feature, status } => format!("{feature} is {status}"),
            Change::SetKind { feature, kind } => format!("{feature} is a {}", kind.replace('_', " ")),
            Change::SetOwner { feature, owner } => format!("{feature} belongs to {owner}"),
            Change::SetSystem { feature, system } => format!("{feature} belongs to the {system} system"),
            Change::ShiftLevels { conduits, by_m } => format!("the levels of {} conduits shift by {by_m:+.2} m", conduits.len()),
            Change::AddConduit(added) => format!("a conduit of {} points is added", added.points.len()),
            Change::AddStructure(added) => format!("a {} is added", added.kind.as_deref().unwrap_or("structure").replace('_', " ")),
            Change::AddLateral(added) => format!("a lateral of {} points is added", added.points.len()),
            Change::Disconnect { conduit, end, .. } => format!("the {} end of {conduit} joins nothing", end.word()),
            Change::Plug { conduit } => format!("{conduit} is plugged"),
            Change::Split { conduit, .. } => format!("{conduit} is split"),
            Change::Move { structure, .. } => format!("{structure} stands elsewhere"),
        }
    }

    /// The coordinates in it, so that they can be taken into another CRS.
    pub fn points_mut(&mut self) -> Vec<&mut [f64; 2]> {
        match self {
            Change::Join { to, .. } | Change::Bridge { to, .. } | Change::AttachOutfall { to, .. } | Change::Move { to, .. } => vec![to],
            Change::Split { at, .. } => vec![at],
            Change::AddConduit(added) | Change::AddStructure(added) | Change::AddLateral(added) => added.points.iter_mut().collect(),
            _ => Vec::new(),
        }
    }
}

/// What a correction relied on: a feature, and what was said of it then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reliance {
    /// The feature.
    pub feature: FeatureName,
    /// Digest of its place, ends, direction and status as imported.
    pub digest: String,
}

/// A correction: one or several changes that stand or fall together.
#[derive(Clone, Debug, PartialEq)]
pub struct Correction {
    /// Its number; the last one is in the name of the network version.
    pub sequence: u64,
    /// When it was recorded, UTC, RFC 3339.
    pub at: String,
    /// Who says so.
    pub who: String,
    /// Why.
    pub why: String,
    /// On what evidence: a visit, a dye test, a record drawing.
    pub evidence: String,
    /// The proposal that it accepts, by its id.
    pub proposal: Option<String>,
    /// The changes.
    pub changes: Vec<Change>,
    /// The features of the source that it relied on.
    pub relied_on: Vec<Reliance>,
}

/// The digest of what corrections rely on: place, ends, direction and status of a conduit, structure or lateral, in the inventory as imported.
pub fn digest(inventory: &Inventory, feature: &FeatureName) -> Option<String> {
    let layer = inventory.layer_index(&feature.layer)?;
    let is = |key: &crate::inventory::Key| key.layer == layer && *key.id == *feature.id;
    let text = if let Some(conduit) = inventory.conduits.iter().find(|c| is(&c.key)) {
        conduit_facts(conduit)
    } else if let Some(structure) = inventory.structures.iter().find(|s| is(&s.key)) {
        structure_facts(structure)
    } else {
        let lateral = inventory.laterals.iter().find(|l| is(&l.key))?;
        format!("lateral {} {} {}", shape(&lateral.parts), lateral.status, lateral.system)
    };
    Some(Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// Vertices to the centimetre: finer differences come from the way through another format.
fn shape(parts: &[geo::LineString]) -> String {
    let vertex = |c: &geo::Coord| format!("{} {}", (c.x * 100.0).round() as i64, (c.y * 100.0).round() as i64);
    parts.iter().map(|line| line.0.iter().map(vertex).collect::<Vec<_>>().join(",")).collect::<Vec<_>>().join(";")
}

fn conduit_facts(conduit: &Conduit) -> String {
    let id = |node: &NodeId| node.named().unwrap_or_default().to_owned();
    let level = |field: &LevelField| field.given().map(|l| (l.value_m * 100.0).round() as i64);
    format!(
        "conduit {} {} {} {:?} {:?} {:?} {} {}",
        shape(&conduit.parts),
        id(&conduit.node_from),
        id(&conduit.node_to),
        conduit.flow,
        level(&conduit.invert_from),
        level(&conduit.invert_to),
        conduit.status,
        conduit.system
    )
}

fn structure_facts(structure: &Structure) -> String {
    let place = structure.place.map(|p| ((p.x() * 100.0).round() as i64, (p.y() * 100.0).round() as i64));
    format!("structure {place:?} {} {} {}", structure.kind, structure.status, structure.system)
}
