//! `headwall synth`: made-up towns, for trying things out and for measuring.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::error::Result;
use crate::synth;

/// Make up a town, the same for the same seed.
#[derive(Debug, Args)]
pub(super) struct Synth {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// A village with storm drains, parcels, waters, and faults as real data have them.
    Village {
        /// Which one.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The folder to make.
        folder: PathBuf,
    },
}

impl Synth {
    pub fn run(self) -> Result<()> {
        match self.what {
            What::Village { seed, folder } => {
                let town = synth::village(seed);
                synth::write_town(&town, &folder)?;
                println!("wrote {}; next: headwall import {}", folder.display(), folder.display());
                Ok(())
            }
        }
    }
}
