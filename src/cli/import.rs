//! `headwall import`: the town's map files into the next network version.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use crate::error::Result;
use crate::{init, town};

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
        print_questions(&self.folder);
        Ok(())
    }
}

/// What the town file still asks, and what each question costs until it is answered.
fn print_questions(folder: &Path) {
    let Ok(text) = std::fs::read_to_string(folder.join(town::TOWN_FILE)) else { return };
    let open = init::open_questions(&text);
    if open.is_empty() {
        return;
    }
    println!();
    println!("{} open questions in {}; until they are answered:", open.len(), town::TOWN_FILE);
    for question in &open {
        println!("  line {}: {}", question.line, question.asks);
        if !question.costs.is_empty() {
            println!("      {}", question.costs);
        }
    }
}
