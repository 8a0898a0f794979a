//! Which water receives what the town drains, which assessment units does it pass, and under which special condition does that put the land?
//!
//! [`WaterNetwork`] holds the waters as built; [`way_down`] goes from a place of the conduits to every unit its water passes,
//! [`way_up`] from a place on a water to everything that drains to it, [`conditions`] turns ways and listings into flags.

mod concern;
mod course;
mod diff;
mod flags;
mod listing;
mod receiving;
mod units;
mod way;
mod way_up;

pub use concern::{Concern, Concerns};
pub use course::{Entry, Inflow, NearWater, Reach, ReceivingBasis, Spot, WaterNetwork, WaterOptions, stretch_of};
pub use diff::{Change, Changed, diff};
pub use flags::{Conditions, Flag, FlagKind, Follow, OutfallConditions, PermitColumn, Reached, TmdlRow, conditions, six_months_after};
pub use listing::{Category, Standing, StandingKind, Standings, unit_key};
pub use receiving::{Receiving, receiving};
pub use way::{HandOver, PassedReach, PassedUnit, PassedWater, WayDown, way_down};
pub use way_up::{Above, WayUp, way_up};
