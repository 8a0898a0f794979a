//! Into which water does a way down discharge? By where the conduits end, never by what merely lies near on the way.

use crate::network::NodeIndex;
use crate::trace::{Ground, Trace};

use super::course::{ReceivingBasis, WaterNetwork};

/// A water that receives what a trace leads to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Receiving {
    /// The water, by its place in the inventory's list.
    pub water: usize,
    /// The node at which the conduits end.
    pub at: NodeIndex,
    /// How far the water lies from it, metres.
    pub away_m: f64,
    /// On what it rests.
    pub basis: ReceivingBasis,
}

/// The waters that receive what a downstream trace leads to where its conduits end, nearest first.
///
/// By the network first, the town's own record of the outfall second, nearness third.
/// Where a conduit leads on from an outfall it is followed: a water beside the way receives nothing there.
pub fn receiving(ground: Ground, waters: &WaterNetwork, down: &Trace) -> Vec<Receiving> {
    let Some(options) = waters.options else { return Vec::new() };
    let mut found = Vec::new();
    for reached in &down.nodes {
        let goes_on = ground.network.leaving(reached.node).iter().any(|p| {
            let piece = ground.network.piece(*p);
            piece.start != piece.end && down.piece(*p).is_some()
        });
        if goes_on {
            continue;
        }
        let entries = waters.entries(ground.inventory, ground.network, reached.node, options);
        found.extend(entries.into_iter().map(|e| Receiving {
            water: e.near.water,
            at: reached.node,
            away_m: e.near.away_m,
            basis: e.basis,
        }));
    }
    found.sort_by(|a, b| a.away_m.total_cmp(&b.away_m).then(a.water.cmp(&b.water)).then(a.at.cmp(&b.at)));
    found
}
