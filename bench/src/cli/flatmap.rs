//! Carrying out `bench flatmap`: plan, run size after size, print.
//!
//! Next: `flatmap.rs`.

use std::time::Duration;

use clap::Args;

use super::run::{self, RunError};
use super::{number, rounds, sync, threads};
use crate::flatmap::waits::{self, WORKERS};
use crate::flatmap::{Case, NAMES, report};
use crate::output::cores;
use crate::rounds::Schedule;
use crate::table::MAX_SLOTS;

/// The numbers of slots of a run that is told none: in the caches, as a pool of 4 GB has, and one of 16 GB.
const SLOTS: [u32; 3] = [16_384, 524_288, 2_097_152];
const WAITS_SLOTS: u32 = 524_288;

/// The arguments of `bench flatmap`.
#[derive(Debug, Args)]
pub struct FlatmapArgs {
    /// How many slots the tables have, all of them mapped [default: runs with 16384, 524288 and 2097152].
    #[arg(long, value_parser = slots, allow_negative_numbers = true)]
    pub slots: Option<u32>,
    /// How many threads share the work [default: a run with 1 and one with as many as there are cores].
    #[arg(long, value_parser = threads, allow_negative_numbers = true)]
    pub threads: Option<u32>,
    /// About how long it measures for each number of slots. Filling the tables comes on top.
    #[arg(long, default_value = "130", value_parser = sync::seconds, allow_negative_numbers = true)]
    pub seconds: Duration,
    /// Which tables take part, separated by commas [default: all].
    #[arg(long, value_delimiter = ',', value_parser = table, value_name = "A,B,C")]
    pub tables: Vec<&'static str>,
    /// How many measured rounds each table gets; medians are shown.
    #[arg(long, default_value = "9", value_parser = rounds, allow_negative_numbers = true)]
    pub rounds: u32,
    /// Instead of all that, times each call by itself on flatmap and dynahash, apart by whether it had to sleep, with 2
    /// and 10 workers [default slots: 524288]. Only on Linux.
    #[arg(long, conflicts_with_all = ["threads", "tables", "rounds", "seconds"])]
    pub waits: bool,
    /// Print one JSON object a line instead of tables.
    #[arg(long)]
    pub json: bool,
    /// With --json, also print `ns_low` and `ns_high`, between which the median lies with 95 % confidence, and the
    /// quartiles `ns_q1` and `ns_q3`.
    #[arg(long, requires = "json")]
    pub intervals: bool,
}

/// Carries out `bench flatmap`.
pub(super) fn flatmap(args: &FlatmapArgs) -> Result<(), RunError> {
    if args.waits {
        return waits(args);
    }
    let schedule = Schedule { rounds: args.rounds, clock_cost_ns: None };
    let cases = cases(args);
    let bar = run::progress_bar("measuring", cases.iter().map(|case| case.passes(schedule)).sum());
    let mut rows = Vec::new();
    for case in &cases {
        let slice = args.seconds.div_f64(case.passes(schedule) as f64);
        rows.extend(case.run(schedule, slice, || bar.inc(1))?);
    }
    bar.finish_and_clear();
    if args.intervals {
        rows.iter_mut().for_each(|row| row.spread = Some(row.measured.spread().times(1.0)));
    }
    run::printed(report::print(&rows, schedule, args.json))
}

fn waits(args: &FlatmapArgs) -> Result<(), RunError> {
    if !cfg!(target_os = "linux") {
        return Err(RunError::Usage(
            "--waits needs Linux, which tells whether a thread has slept".to_owned(),
        ));
    }
    let bar = run::progress_bar("timing calls", 2 * WORKERS.len() as u64);
    let rows = waits::run(args.slots.unwrap_or(WAITS_SLOTS), || bar.inc(1))?;
    bar.finish_and_clear();
    run::printed(waits::print(&rows, args.json))
}

fn cases(args: &FlatmapArgs) -> Vec<Case> {
    let cores = cores().min(super::MAX_THREADS);
    let threads = args.threads.map_or_else(|| if cores == 1 { vec![1] } else { vec![1, cores] }, |n| vec![n]);
    let case = |slots| Case { slots, threads: threads.clone(), tables: args.tables.clone() };
    args.slots.map_or_else(|| SLOTS.map(case).to_vec(), |slots| vec![case(slots)])
}

fn slots(text: &str) -> Result<u32, String> {
    number(text, MAX_SLOTS, "slots")
}

fn table(name: &str) -> Result<&'static str, String> {
    NAMES
        .into_iter()
        .find(|other| *other == name)
        .ok_or_else(|| format!("unknown table; known are {}", NAMES.join(", ")))
}
