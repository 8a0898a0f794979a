//! The `headwall` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(headwall::cli::run())
}
