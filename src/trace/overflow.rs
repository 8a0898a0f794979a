//! Which ways out carry only when the water stands high?

use crate::inventory::{ConduitKind, LevelField};
use crate::network::{ConduitIndex, Flow, NodeIndex, PieceIndex};

use super::Ground;
use super::travel::one_datum;

/// The flow in the drains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaterState {
    /// Dry weather: what is known to lie above the invert carries nothing.
    #[default]
    Dry,
    /// Wet weather: overflows, weirs and reliefs carry, too; what lies beyond them is possible.
    Wet,
}

impl WaterState {
    /// `dry` or `wet`.
    pub fn word(self) -> &'static str {
        match self {
            WaterState::Dry => "dry",
            WaterState::Wet => "wet",
        }
    }
}

/// By how much a weir or overflow begins above the lowest other way out of its upper node, metres, where that makes it a known one.
///
/// Only what the town itself calls a weir or overflow: a plain pipe that begins high is a drop or a wrong level as often as a relief, and to
/// leave it out of a trace would hide the properties above it.
/// Only where its direction is certain, both levels are known and measured from one vertical datum, and the step is greater than the
/// assumed one of the data file: whatever is unknown counts as carrying.
pub fn known_overflow_m(ground: Ground, conduit: ConduitIndex) -> Option<f64> {
    if ground.inventory.conduits[conduit.at()].kind != ConduitKind::Weir {
        return None;
    }
    let own_m = level_at_top(ground, conduit)?;
    let node = upper_node(ground, conduit)?;
    let others = ground.network.leaving(node);
    if others.len() < 2 {
        return None;
    }
    let datum = datum_of(ground, conduit);
    let lowest_m = others
        .iter()
        .map(|p| ground.network.piece(*p).conduit)
        .filter(|other| *other != conduit && carries(ground, *other) && upper_node(ground, *other) == Some(node))
        .filter(|other| datum_of(ground, *other) == datum)
        .filter_map(|other| level_at_top(ground, other))
        .fold(f64::INFINITY, f64::min);
    let above_m = own_m - lowest_m;
    (above_m.is_finite() && above_m > ground.hydraulics.overflow_step_m).then_some(above_m)
}

/// A low way out that carries nothing makes no overflow of the other.
fn carries(ground: Ground, conduit: ConduitIndex) -> bool {
    let conduit = &ground.inventory.conduits[conduit.at()];
    conduit.is_live() && conduit.system != crate::inventory::System::Sanitary && !conduit.pressurised
}

/// The invert at the upper end, where it and the direction are certain.
fn level_at_top(ground: Ground, index: ConduitIndex) -> Option<f64> {
    let conduit = &ground.inventory.conduits[index.at()];
    let flow = ground.network.flow(index);
    let known = flow.is_certain() && !conduit.pressurised && datum_is_sure(ground, index);
    flow.invert_up_m.filter(|_| known)
}

/// The datum of the upper invert is sure where both ends share one, or where only one of them is given.
fn datum_is_sure(ground: Ground, index: ConduitIndex) -> bool {
    let conduit = &ground.inventory.conduits[index.at()];
    let both = conduit.invert_from.given().is_some() && conduit.invert_to.given().is_some();
    !both || one_datum(conduit)
}

fn datum_of(ground: Ground, index: ConduitIndex) -> Option<std::sync::Arc<str>> {
    let conduit = &ground.inventory.conduits[index.at()];
    let given = |field: &LevelField| field.given().cloned();
    given(&conduit.invert_from).or_else(|| given(&conduit.invert_to)).and_then(|level| level.datum)
}

/// The node at which water enters a conduit; `None` where nobody knows which end that is.
pub(crate) fn upper_node(ground: Ground, conduit: ConduitIndex) -> Option<NodeIndex> {
    let pieces = ground.network.pieces_of(conduit);
    match ground.network.flow(conduit).flow {
        Flow::WithDrawing => Some(ground.network.piece(PieceIndex::from_at(pieces.start)).start),
        Flow::AgainstDrawing => Some(ground.network.piece(PieceIndex::from_at(pieces.end.checked_sub(1)?)).end),
        Flow::Unknown => None,
    }
}
