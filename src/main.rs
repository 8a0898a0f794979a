//! The `headwall` command.

fn main() {}
