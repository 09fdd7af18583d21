//! The command line: what can be asked for, and one clear line for what can't.
//!
//! Next: `replay.rs`, `flatmap.rs`, `sync.rs`, `lhash.rs`, `growth.rs`, `scaling.rs`, `seeds.rs`, `report.rs`.

mod flatmap;
mod growth;
mod lhash;
mod redo;
mod redo_dump;
mod report;
mod run;
mod scaling;
mod seeds;
mod sync;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::Serialize;

use crate::replay::{CONTESTANTS, Contestant};
use crate::table::MAX_SLOTS;

pub use flatmap::FlatmapArgs;
pub use growth::GrowthArgs;
pub use lhash::{LhashArgs, MAX_ENTRIES};
pub use redo::RedoArgs;
pub use redo_dump::RedoDumpArgs;
pub use report::ReportArgs;
pub use run::RunError;
pub use scaling::ScalingArgs;
pub use seeds::SeedsArgs;

/// The most threads that a run may ask for.
pub const MAX_THREADS: u32 = 1024;
/// The most rounds that a run may ask for.
pub const MAX_ROUNDS: u32 = 10_000;

/// The longest that a run may be asked to take: a day.
pub const MAX_SECONDS: u32 = 86_400;

/// The exit status after a bad command line or a bad trace.
const USAGE_STATUS: u8 = 2;

/// The exit status where this system can't do what was asked for.
pub const CANNOT_STATUS: u8 = 3;

/// Benchmarks of the latchfree tables, maps, locks and counters.
#[derive(Debug, Parser)]
#[command(name = "bench", version, about, max_term_width = 100)]
pub struct Cli {
    /// What to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The benchmarks.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Replays a recorded PostgreSQL trace on flatmap and its peers, and checks every answer.
    Replay(ReplayArgs),
    /// Runs flatmap beside other tables, one operation after the other, and checks every answer.
    Flatmap(FlatmapArgs),
    /// Runs locks, counters and sequence locks beside their peers, and checks every answer.
    Sync(SyncArgs),
    /// Runs lhash beside other concurrent maps, and checks every answer.
    Lhash(LhashArgs),
    /// Lets lhash and other concurrent maps grow and shrink at a fixed rate, and charges each pause to all it delays.
    Growth(GrowthArgs),
    /// Measures lhash's redo log: inserts, recovery and a standby, and checks every answer.
    Redo(RedoArgs),
    /// Prints the records of a redo log, one a line.
    RedoDump(RedoDumpArgs),
    /// Counts what each operation writes that other cores need too, instruction by instruction.
    Scaling(ScalingArgs),
    /// Checks the structure of an index in lhash against the published figures, under each policy of counting.
    Seeds(SeedsArgs),
    /// Runs all of these, and writes what came out as one page and as CSV.
    Report(ReportArgs),
}

/// What the tables have to do with the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The recorded lookups, inserts and deletes, with the recorded slots, on one thread.
    Ops,
    /// The recorded lookups through a buffer pool with a clock sweep.
    Pool,
}

/// The arguments of `bench replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The trace, compressed with zstd [default: the one in bench/data].
    pub trace: Option<PathBuf>,
    /// What the tables have to do with the trace.
    #[arg(long, value_enum, default_value = "pool")]
    pub mode: Mode,
    /// How many frames the pool has (pool mode).
    #[arg(long, default_value = "4096", value_parser = frames, allow_negative_numbers = true)]
    pub frames: u32,
    /// How many threads share the lookups [default: a run with 1 and one with as many as there are cores].
    #[arg(long, value_parser = threads, allow_negative_numbers = true)]
    pub threads: Option<u32>,
    /// Which tables take part, separated by commas [default: all].
    #[arg(long, value_delimiter = ',', value_parser = contestant, value_name = "A,B,C")]
    pub tables: Vec<Contestant>,
    /// How many measured rounds each table gets; medians are shown.
    #[arg(long, default_value = "9", value_parser = rounds, allow_negative_numbers = true)]
    pub rounds: u32,
    /// Print one JSON object a line instead of a table.
    #[arg(long)]
    pub json: bool,
    /// With --json, also print `ns_low` and `ns_high`, between which the median lies with 95 % confidence, and the
    /// quartiles `ns_q1` and `ns_q3`.
    #[arg(long, requires = "json")]
    pub intervals: bool,
}

/// The arguments of `bench sync`.
#[derive(Debug, Args)]
pub struct SyncArgs {
    /// About how long it measures, all in all: the rounds are as long as that allows. Starting and stopping
    /// threads comes on top, the more the busier the machine is.
    #[arg(long, default_value = "135", value_parser = sync::seconds, allow_negative_numbers = true)]
    pub seconds: Duration,
    /// How many threads there are where there can be several [default: 2, 4, 8 and 16 under a lock, and so
    /// on].
    #[arg(long, value_parser = threads, allow_negative_numbers = true)]
    pub threads: Option<u32>,
    /// Which implementations take part, separated by commas [default: all].
    #[arg(long, visible_alias = "impls", value_delimiter = ',', value_parser = sync::implementation, value_name = "A,B,C")]
    pub tables: Vec<&'static str>,
    /// How many measured rounds each implementation gets; medians are shown.
    #[arg(long, default_value = "9", value_parser = rounds, allow_negative_numbers = true)]
    pub rounds: u32,
    /// Print one JSON object a line instead of tables.
    #[arg(long)]
    pub json: bool,
    /// With --json, also print `ns_low` and `ns_high`, between which the median lies with 95 % confidence, and the
    /// quartiles `ns_q1` and `ns_q3`.
    #[arg(long, requires = "json")]
    pub intervals: bool,
}

/// Parses the command line, does what it says, and returns the exit status: 0, 1 if a table failed, 2 if
/// the command line or the trace is wrong, 3 if this system can't do it.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    let done = match cli.command {
        Command::Replay(args) => run::replay(&args),
        Command::Flatmap(args) => flatmap::flatmap(&args),
        Command::Sync(args) => sync::sync(&args),
        Command::Lhash(args) => lhash::lhash(&args),
        Command::Growth(args) => growth::growth(&args),
        Command::Redo(args) => redo::redo(&args),
        Command::RedoDump(args) => redo_dump::redo_dump(&args),
        Command::Scaling(args) => scaling::scaling(&args),
        Command::Seeds(args) => seeds::seeds(&args),
        Command::Report(args) => report::report(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("error: {error}"));
            ExitCode::from(error.status())
        }
    }
}

/// Prints a line to standard error, if anybody still reads that.
fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints help as it is and an error as one line.
fn explain(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // Nobody is left to tell if standard output is closed.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    complain(&one_line(error));
    ExitCode::from(USAGE_STATUS)
}

/// The message of a clap error, without usage and with its tips, on one line.
fn one_line(error: &clap::Error) -> String {
    if matches!(
        error.kind(),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        return "error: no subcommand was given; there are `replay`, `flatmap`, `sync`, `lhash`, `growth`, `redo`, `redo-dump`, `scaling`, `seeds` and `report`, and `--help`"
            .to_owned();
    }
    let message = error.to_string();
    let paragraphs = message.split("\n\n").filter(|p| !p.starts_with("Usage:") && !p.starts_with("For more"));
    let lines: Vec<String> = paragraphs.map(|p| p.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    lines.join("; ")
}

/// Parses a number from 1 to `max`.
fn number(text: &str, max: u32, of_what: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(n) if (1..=max).contains(&n) => Ok(n),
        _ => Err(format!("the number of {of_what} must be 1 to {max}")),
    }
}

fn frames(text: &str) -> Result<u32, String> {
    number(text, MAX_SLOTS, "frames")
}

fn threads(text: &str) -> Result<u32, String> {
    number(text, MAX_THREADS, "threads")
}

fn rounds(text: &str) -> Result<u32, String> {
    number(text, MAX_ROUNDS, "rounds")
}

fn contestant(name: &str) -> Result<Contestant, String> {
    CONTESTANTS.into_iter().find(|c| c.name == name).ok_or_else(|| {
        let known = CONTESTANTS.map(|c| c.name).join(", ");
        format!("unknown table; known are {known}")
    })
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::{Cli, one_line};

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_error_is_one_line() {
        for args in [
            &["bench"][..],
            &["bench", "replya"],
            &["bench", "replay", "--mode", "both"],
            &["bench", "replay", "--frmes", "1"],
            &["bench", "replay", "--frames"],
            &["bench", "replay", "--frames", "-1"],
            &["bench", "replay", "--frames", "1", "--frames", "2"],
            &["bench", "replay", "--tables", "flatmap,cuckoo"],
            &["bench", "replay", "a", "b"],
            &["bench", "sync", "a"],
            &["bench", "sync", "--seconds", "-1"],
            &["bench", "sync", "--tables", "std,futex"],
            &["bench", "flatmap", "--slots", "0"],
            &["bench", "flatmap", "--waits", "--rounds", "3"],
            &["bench", "lhash", "--entries", "0"],
            &["bench", "lhash", "--dist", "normal"],
            &["bench", "growth", "--rate", "0"],
            &["bench", "scaling", "--ops", "1"],
            &["bench", "seeds", "--policies", "exact,eager"],
            &["bench", "seeds", "--divide", "0"],
            &["bench", "redo", "--records", "0"],
            &["bench", "redo", "--policy", "sharded"],
            &["bench", "redo-dump"],
        ] {
            let line = one_line(&Cli::try_parse_from(args).unwrap_err());
            assert!(line.starts_with("error: ") && line.lines().count() == 1, "{args:?}: {line}");
        }
    }
}
