//! Keeps every structure busy with several threads for a time, and looks whether it stays whole: `soak --minutes 5`.
//!
//! Ends with status 1 if anything was wrong. `cargo xtask soak` builds it with optimisation and runs it; `cargo xtask
//! tsan` runs it under the thread sanitizer, which is why it uses no more of std than it must.
//!
//! Next: `run.rs`, the threads and the looks; `subjects.rs`, what is kept busy.

mod memory;
mod run;
mod subjects;

use lexopt::{Arg, Parser, ValueExt};
use run::Plan;
use std::process::ExitCode;
use std::time::Duration;

const HELP: &str = "\
soak [--minutes N | --seconds N] [--threads N] [SUBJECT..]

  --minutes N, --seconds N   how long; 60 seconds unless given
  --threads N                how many threads; 4 unless given
  SUBJECT                    only those whose name begins so; all unless given
";

fn plan(mut parser: Parser) -> Result<Option<Plan>, lexopt::Error> {
    let mut plan = Plan { time: Duration::from_secs(60), threads: 4, only: Vec::new() };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("minutes") => plan.time = Duration::from_secs(60 * parser.value()?.parse::<u64>()?),
            Arg::Long("seconds") => plan.time = Duration::from_secs(parser.value()?.parse()?),
            Arg::Long("threads") => plan.threads = parser.value()?.parse()?,
            Arg::Value(name) => plan.only.push(name.string()?),
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(plan))
}

fn main() -> ExitCode {
    match plan(Parser::from_env()) {
        Ok(Some(plan)) => run::run(subjects::all(plan.threads), &plan).into(),
        Ok(None) => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("soak: {error}\n\n{HELP}");
            ExitCode::from(2)
        }
    }
}
