//! Which water receives what the town drains?

mod receiving;
pub use receiving::{Receiving, ReceivingBasis, receiving};
