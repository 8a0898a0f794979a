//! `headwall law`: what the local law and the permit say.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::error::Result;
use crate::export::law::{law_json, law_text, permit_json, permit_text};
use crate::law::Profiles;
use crate::town;

use super::put;

/// Print the local law and the permit: definitions, exemptions, duties, clocks, sanctions, and what their text leaves open.
///
/// With a folder, those that the town chose; without, the profiles that come with Headwall. Not legal advice.
#[derive(Debug, Args)]
pub(super) struct LawCommand {
    /// The town's folder.
    folder: Option<PathBuf>,
    /// This law or permit alone, such as liverpool-ny-316.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// How to print it.
    #[arg(long, value_enum, default_value = "text")]
    format: LawFormat,
    /// Write to this file.
    #[arg(long, short)]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LawFormat {
    Text,
    Json,
}

impl LawCommand {
    pub fn run(self) -> Result<()> {
        let profiles = self.folder.as_deref().map_or_else(Profiles::embedded, town::profiles)?;
        let (mut laws, mut permits) = (Vec::new(), Vec::new());
        match (&self.profile, &self.folder) {
            (Some(name), _) => match profiles.permits().find(|p| p.name == *name) {
                Some(permit) => permits.push(permit),
                None => laws.push(profiles.law(name)?),
            },
            (None, Some(folder)) => {
                let (settings, rules, _) = town::settings(folder)?;
                town::law_in_force(folder, &settings, &rules)?;
                laws.extend(settings.law.as_deref().map(|name| profiles.law(name)).transpose()?);
                permits.extend(settings.permit.as_deref().map(|name| profiles.permit(name)).transpose()?);
                if laws.is_empty() && permits.is_empty() {
                    eprintln!("note: the town file names neither law nor permit; docs/law.md shows how");
                }
            }
            (None, None) => {
                laws.extend(profiles.laws());
                permits.extend(profiles.permits());
            }
        }
        let text = match self.format {
            LawFormat::Text => {
                let all: Vec<String> = laws.into_iter().map(law_text).chain(permits.into_iter().map(permit_text)).collect();
                all.join("\n\n")
            }
            LawFormat::Json => {
                let all: Vec<serde_json::Value> = laws.into_iter().map(law_json).chain(permits.into_iter().map(permit_json)).collect();
                format!("{:#}\n", serde_json::Value::Array(all))
            }
        };
        put(self.output.as_ref(), &text)
    }
}
