//! One test binary with modules.
