//! `headwall export`: a layer as imported, with its original attributes, as GeoJSON.

use std::path::PathBuf;

use clap::Args;

use crate::error::Result;
use crate::export::geojson;

use super::{open, outward, put};

/// Write a layer as it was imported, with its original attributes and names, as GeoJSON.
///
/// Owner, mailing and similar fields of parcels and premises stay out unless headwall.toml allows them by name.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// The town's folder.
    folder: PathBuf,
    /// The layer, by its name in headwall.toml.
    layer: String,
    /// Write to this file.
    #[arg(long, short)]
    output: Option<PathBuf>,
}

impl Export {
    pub fn run(self) -> Result<()> {
        let town = open(&self.folder)?;
        let features = town.layer(&self.layer)?;
        let text = outward(&town, |out| Ok(format!("{}\n", geojson::layer(out, &self.layer, features))))?;
        put(self.output.as_ref(), &text)
    }
}
