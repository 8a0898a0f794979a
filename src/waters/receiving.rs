//! Into which water does a way down discharge? By where the conduits end, never by what merely lies near on the way.

use geo::{Contains, Distance, Euclidean, Point};

use crate::inventory::{Inventory, Water};
use crate::network::NodeIndex;
use crate::trace::{Ground, Trace};

/// On what a receiving water rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceivingBasis {
    /// It lies within the receiving distance of where the conduits end.
    Nearness,
}

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

/// The waters within a distance (metres) of where the conduits of a downstream trace end, nearest first.
///
/// Where a conduit leads on from an outfall it is followed: a water beside the way receives nothing there.
pub fn receiving(ground: Ground, down: &Trace, within_m: f64) -> Vec<Receiving> {
    let mut found = Vec::new();
    for reached in &down.nodes {
        let goes_on = ground.network.leaving(reached.node).iter().any(|p| {
            let piece = ground.network.piece(*p);
            piece.start != piece.end && down.piece(*p).is_some()
        });
        let Some(place) = ground.network.nodes[reached.node.at()].place.filter(|_| !goes_on) else { continue };
        found.extend(waters_near(ground.inventory, place, within_m).into_iter().map(|(water, away_m)| Receiving {
            water,
            at: reached.node,
            away_m,
            basis: ReceivingBasis::Nearness,
        }));
    }
    found.sort_by(|a, b| a.away_m.total_cmp(&b.away_m).then(a.water.cmp(&b.water)).then(a.at.cmp(&b.at)));
    found
}

fn waters_near(inventory: &Inventory, place: Point, within_m: f64) -> Vec<(usize, f64)> {
    let measured = inventory.waters.iter().enumerate().filter_map(|(at, water)| Some((at, distance_m(water, place)?)));
    measured.filter(|(_, away_m)| *away_m <= within_m).collect()
}

/// How far a water lies from a place, metres; 0 within its shore.
fn distance_m(water: &Water, place: Point) -> Option<f64> {
    let to_course = water.course.as_ref().filter(|c| !c.0.is_empty()).map(|course| Euclidean.distance(&place, course));
    let to_shore = water.shore.as_ref().map(|shore| if shore.contains(&place) { 0.0 } else { Euclidean.distance(&place, shore) });
    match (to_course, to_shore) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
