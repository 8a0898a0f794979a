//! Through files and back.
