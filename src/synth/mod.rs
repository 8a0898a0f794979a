//! What would a made-up town look like?
//!
//! [`village`] is the sample: a small invented place with every kind of layer and the faults that real maps have.
//! [`network`] is a drain network of any size for measuring speed. Both depend on their seed alone, and both are invented:
//! no street, owner or business is a real one.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::formats::write::{self, OutputFile};

mod drains;
mod faults;
mod ground;
mod lots;
mod network;
mod random;
mod roll;
mod sewers;
mod surroundings;
mod table;
mod village;

pub use network::{network, network_with_parcels};
pub use village::village;

/// A made-up town: what its folder holds.
#[derive(Clone, Debug, PartialEq)]
pub struct SynthTown {
    /// The text of its `headwall.toml`.
    pub toml: String,
    /// Other text files: path in the folder, text.
    pub texts: Vec<(String, String)>,
    /// The map files; shapes are in EPSG:2261, US survey feet, and are turned into each file's own CRS when written.
    pub files: Vec<OutputFile>,
}

/// Writes a made-up town into a folder, which is made where it does not exist.
///
/// # Errors
/// A folder in which a town already lies, or one that cannot be written.
pub fn write_town(town: &SynthTown, folder: &Path) -> Result<()> {
    let town_file = folder.join("headwall.toml");
    if town_file.exists() {
        return Err(Error::usage("there is a town in this folder already").file(folder).hint("name a new folder"));
    }
    for (path, text) in &town.texts {
        text_file(&folder.join(path), text)?;
    }
    for file in &town.files {
        write::write_file(folder, file)?;
    }
    text_file(&town_file, &town.toml)
}

fn text_file(path: &Path, text: &str) -> Result<()> {
    let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text));
    made.map_err(|cause| Error::machine("the file cannot be written").file(path).cause(cause))
}
