//! `headwall init`: looks at map files and writes a first town file.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::error::{Error, Result};
use crate::init;
use crate::town::TOWN_FILE;

use super::grouped;

/// Look at map files and write a first headwall.toml, with a reason beside every line.
///
/// Proposes for each layer its role, CRS, fields, units and codes; what is not sure is left out and asked, as comments in the file
/// and here. The files themselves are only read. An existing headwall.toml is never overwritten.
#[derive(Debug, Args)]
pub(super) struct Init {
    /// The town's folder; made where it is not there.
    folder: PathBuf,
    /// Map files, or folders to search for them.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The town's name; the folder's where absent.
    #[arg(long)]
    name: Option<String>,
    /// Write the proposal to this file, not to headwall.toml in the folder.
    #[arg(long)]
    output: Option<PathBuf>,
}

impl Init {
    pub fn run(self) -> Result<()> {
        let target = self.output.clone().unwrap_or_else(|| self.folder.join(TOWN_FILE));
        if target.exists() {
            return Err(Error::usage(format!("{} is there already and is not overwritten", target.display()))
                .hint("write beside it with --output proposal.toml, and compare"));
        }
        let proposal = init::propose(&self.files)?;
        let refused = |cause: std::io::Error| Error::machine("cannot be written").file(&target).cause(cause);
        fs::create_dir_all(&self.folder).map_err(refused)?;
        let name = self.name.clone().unwrap_or_else(|| {
            let folder = fs::canonicalize(&self.folder).unwrap_or_else(|_| self.folder.clone());
            folder.file_name().map_or_else(|| "Town".to_owned(), |n| n.to_string_lossy().into_owned())
        });
        let text = proposal.to_toml(&name, &self.folder);
        // Made new or not at all: between the look and the writing somebody else may have made it.
        let mut file = fs::File::options().write(true).create_new(true).open(&target).map_err(refused)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(refused)?;
        println!("wrote {}", target.display());
        for layer in &proposal.layers {
            let role = layer.role.map_or("not used", |r| r.word());
            println!(
                "  {}: {role}, {} features, {} fields, {} questions",
                layer.name,
                grouped(layer.features),
                layer.fields.len(),
                layer.questions.len()
            );
        }
        for (file, why) in &proposal.unread {
            println!("  not read: {}: {why}", file.display());
        }
        let open = init::open_questions(&text);
        println!("{} open questions{}", open.len(), if open.is_empty() { "" } else { ":" });
        for question in &open {
            println!("  line {}: {}", question.line, question.asks);
        }
        println!("next: read {}, answer what you can, then headwall import {}", target.display(), self.folder.display());
        Ok(())
    }
}
