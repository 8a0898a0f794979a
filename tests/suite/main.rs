//! One test binary with modules.

mod documents;
mod sample_village;
