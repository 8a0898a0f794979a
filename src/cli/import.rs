//! `headwall import`: the town's map files into the next network version.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use crate::error::Result;
use crate::town;

use super::{grouped, issues_table};

/// Read the town's map files into the next network version.
///
/// Reads every layer that headwall.toml names, checks it, builds the network, and writes networks/NNNN.gpkg: a GeoPackage that
/// QGIS opens and that never changes. All or nothing: where a layer cannot be used, nothing is written. Source files stay as they are.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// The town's folder, with headwall.toml in it.
    folder: PathBuf,
    /// List every data issue, not only how many there are of each kind.
    #[arg(long)]
    all_issues: bool,
}

impl Import {
    pub fn run(self) -> Result<()> {
        let bar = if std::io::stderr().is_terminal() { ProgressBar::new(0) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}") {
            bar.set_style(style);
        }
        let imported = town::import(&self.folder, &mut |progress| {
            bar.set_length(progress.of as u64);
            bar.set_position(progress.done as u64);
            bar.set_message(progress.step);
        });
        bar.finish_and_clear();
        let imported = imported?;
        println!("network {}  {}", imported.version, imported.file.display());
        println!("working CRS: {} ({})", imported.working.crs().label(), imported.working.crs().name());
        println!();
        let width = imported.layers.iter().map(|l| l.layer.len()).max().unwrap_or(5).max(5);
        println!("{:width$}  {:20} {:>9} {:>9}", "layer", "role", "read", "usable");
        for layer in &imported.layers {
            println!("{:width$}  {:20} {:>9} {:>9}", layer.layer, layer.role.word(), grouped(layer.read), grouped(layer.usable));
        }
        println!();
        issues_table::print(&imported.issues, self.all_issues);
        Ok(())
    }
}
