//! Carrying out `bench lhash`: plan, measure the bytes, run case after case, print.
//!
//! Next: `lhash.rs`.

use std::time::Duration;

use clap::Args;

use super::run::{self, RunError};
use super::{number, rounds, sync, threads};
use crate::lhash::life::{Entrant, Memory};
use crate::lhash::tables::NAMES;
use crate::lhash::{Case, Dist, KeyKind, Policy, report};
use crate::output::cores;
use crate::rounds::Schedule;
use crate::sync::SyncError;

/// The most entries that a run may ask for.
pub const MAX_ENTRIES: u32 = 100_000_000;

/// What `--all` measures.
const ALL_ENTRIES: [u32; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
const ENTRIES: u32 = 1_000_000;

/// The arguments of `bench lhash`.
#[derive(Debug, Args)]
pub struct LhashArgs {
    /// How many entries the maps have when they are full [default: 1000000].
    #[arg(long, value_parser = entries, allow_negative_numbers = true)]
    pub entries: Option<u32>,
    /// How keys are drawn [default: uniform].
    #[arg(long, value_enum)]
    pub dist: Option<Dist>,
    /// What keys are [default: u64].
    #[arg(long, value_enum)]
    pub key: Option<KeyKind>,
    /// How many threads share the work [default: a run with 1 and one with as many as there are cores].
    #[arg(long, value_parser = threads, allow_negative_numbers = true)]
    pub threads: Option<u32>,
    /// Measures the whole matrix, but for what is given: 10^4 to 10^7 entries, both distributions, both keys. That
    /// takes hours; inserts and removes, which draw no keys, are not repeated for the second distribution.
    #[arg(long)]
    pub all: bool,
    /// About how long it measures maps that are full, all in all and for each number of entries, distribution and
    /// key. Filling and emptying maps comes on top, as long as the entries take.
    #[arg(long, default_value = "40", value_parser = sync::seconds, allow_negative_numbers = true)]
    pub seconds: Duration,
    /// Which maps take part, separated by commas [default: all].
    #[arg(long, value_delimiter = ',', value_parser = table, value_name = "A,B,C")]
    pub tables: Vec<&'static str>,
    /// How many measured rounds each map gets; medians are shown. Half a million inserts and removes or more get at
    /// most 5.
    #[arg(long, default_value = "9", value_parser = rounds, allow_negative_numbers = true)]
    pub rounds: u32,
    /// How lhash counts its entries.
    #[arg(long, value_enum, default_value = "deferred")]
    pub policy: Policy,
    /// Print one JSON object a line instead of tables.
    #[arg(long)]
    pub json: bool,
    /// With --json, also print `ns_low` and `ns_high`, between which the median lies with 95 % confidence, and the
    /// quartiles `ns_q1` and `ns_q3`.
    #[arg(long, requires = "json")]
    pub intervals: bool,
}

/// Carries out `bench lhash`.
pub(super) fn lhash(args: &LhashArgs) -> Result<(), RunError> {
    let schedule = Schedule { rounds: args.rounds, clock_cost_ns: None };
    let groups = groups(args);
    let maps = if args.tables.is_empty() { NAMES.len() } else { groups[0][0].entrants(&args.tables).len() };
    let bar =
        run::progress_bar("measuring", groups.iter().flatten().map(|case| case.passes(schedule, maps)).sum());
    let mut rows = Vec::new();
    let mut entrants = Vec::new();
    for (index, cases) in groups.iter().enumerate() {
        let is_new = index == 0 || shape(cases) != shape(&groups[index - 1]);
        if is_new {
            entrants = with_memory(&cases[0], &args.tables)?;
        }
        let passes: u64 = cases.iter().map(|case| case.passes(schedule, maps)).sum();
        let slice = args.seconds.div_f64(passes as f64);
        for case in cases {
            rows.extend(case.run(&entrants, schedule, slice, || bar.inc(1))?);
        }
    }
    bar.finish_and_clear();
    if args.intervals {
        rows.iter_mut().for_each(|row| row.spread = Some(row.measured.spread().times(1.0)));
    }
    run::printed(report::print(&rows, schedule, args.json))
}

/// What the bytes depend on.
fn shape(cases: &[Case]) -> (u32, KeyKind) {
    (cases[0].entries, cases[0].key)
}

fn with_memory(case: &Case, names: &[&str]) -> Result<Vec<(Entrant, Memory)>, SyncError> {
    // What a collector allocates once for all is nobody's.
    let few = Case { entries: case.entries.min(1000), ..case.clone() };
    case.entrants(names).iter().try_for_each(|entrant| (entrant.memory)(&few).map(|_| ()))?;
    case.entrants(names).into_iter().map(|entrant| Ok((entrant, (entrant.memory)(case)?))).collect()
}

/// For each number of entries, key and distribution a case for each number of threads.
fn groups(args: &LhashArgs) -> Vec<Vec<Case>> {
    fn chosen<T: Copy>(given: Option<T>, all: bool, matrix: &[T], default: T) -> Vec<T> {
        match given {
            Some(one) => vec![one],
            None if all => matrix.to_vec(),
            None => vec![default],
        }
    }
    let cores = cores().min(super::MAX_THREADS);
    let threads = args.threads.map_or_else(|| if cores == 1 { vec![1] } else { vec![1, cores] }, |n| vec![n]);
    let mut groups = Vec::new();
    for entries in chosen(args.entries, args.all, &ALL_ENTRIES, ENTRIES) {
        for key in chosen(args.key, args.all, &[KeyKind::U64, KeyKind::String], KeyKind::U64) {
            let dists = chosen(args.dist, args.all, &[Dist::Uniform, Dist::Zipf], Dist::Uniform);
            for (index, dist) in dists.into_iter().enumerate() {
                let case = Case { with_life: index == 0, ..Case::new(entries, dist, key, args.policy) };
                groups.push(threads.iter().map(|&threads| Case { threads, ..case.clone() }).collect());
            }
        }
    }
    groups
}

pub(super) fn entries(text: &str) -> Result<u32, String> {
    number(text, MAX_ENTRIES, "entries")
}

pub(super) fn table(name: &str) -> Result<&'static str, String> {
    NAMES
        .into_iter()
        .find(|other| *other == name)
        .ok_or_else(|| format!("unknown table; known are {}", NAMES.join(", ")))
}
