//! Which commands are there? One file for each: its arguments, its help, what it does.

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};

use crate::error::{Error, ErrorKind, Result};
use crate::export::Outward;
use crate::town::{self, Town};
use crate::trace::Travel;

mod answer;
mod check;
mod conditions;
mod correct;
mod export;
mod import;
mod init;
mod investigate;
mod issues_table;
mod law;
mod place;
mod profile;
mod synth;
mod trace;
mod water;
mod why_not;

/// Traces a reported discharge through a town's own storm drains to the properties it may come from.
///
/// What it lists are leads to inspect, not findings.
#[derive(Debug, Parser)]
#[command(name = "headwall", version, propagate_version = true, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Init),
    Import(import::Import),
    Trace(trace::TraceCommand),
    Investigate(investigate::InvestigateCommand),
    WhyNot(why_not::WhyNotCommand),
    Profile(profile::ProfileCommand),
    Check(check::Check),
    Correct(correct::Correct),
    Conditions(conditions::ConditionsCommand),
    Export(export::Export),
    Law(law::LawCommand),
    Synth(synth::Synth),
}

/// Runs the command line, prints what it has to say, and gives the exit code.
///
/// 0: done; 1: the input or the question has no answer; 2: the command line itself is wrong; 3: the machine refused.
pub fn run() -> u8 {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Check(command) => match command.run() {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Correct(command) => command.run(),
        Command::Init(command) => command.run(),
        Command::Import(command) => command.run(),
        Command::Trace(command) => command.run(),
        Command::Investigate(command) => command.run(),
        Command::WhyNot(command) => command.run(),
        Command::Profile(command) => command.run(),
        Command::Conditions(command) => command.run(),
        Command::Export(command) => command.run(),
        Command::Law(command) => command.run(),
        Command::Synth(command) => command.run(),
    };
    match done {
        Ok(()) => 0,
        Err(error) => {
            report(&error);
            match error.kind() {
                ErrorKind::Usage => 2,
                ErrorKind::Machine => 3,
                _ => 1,
            }
        }
    }
}

/// The whole chain of causes, then the hint.
fn report(error: &Error) {
    eprintln!("error: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        eprintln!("  because: {inner}");
        cause = inner.source();
    }
    if let Some(hint) = error.hint_text() {
        eprintln!("hint: {hint}");
    }
}

/// Opens a town and says what its reader should know.
fn open(folder: &Path) -> Result<Town> {
    let town = town::open(folder)?;
    for note in &town.notes {
        eprintln!("note: {note}");
    }
    Ok(town)
}

/// Hands the town's way out to a task.
fn outward<T>(town: &Town, task: impl FnOnce(&Outward) -> Result<T>) -> Result<T> {
    let version = town.version.to_string();
    task(&Outward::new(&town.basis, &town.working, &version)?)
}

/// Writes text to a file, or to standard output where none is named; a file is whole or not there.
fn put(output: Option<&PathBuf>, text: &str) -> Result<()> {
    let Some(path) = output else {
        use std::io::Write;
        // A reader who has seen enough closes the pipe; that is no error.
        let _ = std::io::stdout().lock().write_all(text.as_bytes());
        return Ok(());
    };
    let refused = |cause: std::io::Error| Error::machine("cannot be written").file(path).cause(cause);
    let aside = path.with_extension("part");
    let written = std::fs::write(&aside, text).and_then(|()| std::fs::rename(&aside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&aside);
    }
    written.map_err(refused)?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// `1,234`: whole numbers as people read them.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A length in the units that the town set.
fn length(town: &Town, length_m: f64) -> String {
    use crate::settings::LengthUnit;
    match town.basis.settings.units {
        LengthUnit::Foot | LengthUnit::SurveyFoot | LengthUnit::Inch => {
            let feet = length_m / 0.3048;
            if feet >= 1000.0 { format!("{} ft", grouped(feet.round() as usize)) } else { format!("{feet:.0} ft") }
        }
        _ if length_m >= 1000.0 => format!("{} m", grouped(length_m.round() as usize)),
        _ => format!("{length_m:.0} m"),
    }
}

/// A range of time in minutes, such as `12–95 min`; rounded outwards, so that the range stays true.
fn minutes(travel: Travel) -> String {
    let earliest = grouped((travel.earliest_s / 60.0).floor().max(0.0) as usize);
    match travel.latest_s {
        Some(latest_s) => format!("{earliest}–{} min", grouped((latest_s / 60.0).ceil().max(0.0) as usize)),
        None => format!("{earliest} min or more"),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    /// Two arguments of one name stop a command before it does anything.
    #[test]
    fn every_command_can_be_parsed() {
        super::Cli::command().debug_assert();
    }
}
