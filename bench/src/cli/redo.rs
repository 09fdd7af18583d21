//! Carrying out `bench redo`: plan, run case after case, print.
//!
//! Next: `redo.rs` beside `cli.rs`.

use std::time::Duration;

use clap::Args;

use super::run::{self, RunError};
use super::{number, rounds, sync, threads};
use crate::latency::clock_cost_ns;
use crate::redo::inserts::{Case, Round};
use crate::redo::{DURABILITIES, Durability, Policy, RedoBenchError, Row, replays, report};

/// The most inserts that recovery may be asked to replay.
const MAX_RECORDS: u32 = 100_000_000;

const THREADS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
const POLICIES: [Policy; 2] = [Policy::Exact, Policy::Deferred];

/// The arguments of `bench redo`.
#[derive(Debug, Args)]
pub struct RedoArgs {
    /// How many threads insert [default: 1, 2, 4 and so on to 64].
    #[arg(long, value_parser = threads, allow_negative_numbers = true)]
    pub threads: Option<u32>,
    /// How lhash counts its entries [default: exact and deferred].
    #[arg(long, value_enum)]
    pub policy: Option<Policy>,
    /// About how long it measures inserts and standbys, all in all. Recovery comes on top.
    #[arg(long, default_value = "60", value_parser = sync::seconds, allow_negative_numbers = true)]
    pub seconds: Duration,
    /// How many inserts recovery replays.
    #[arg(long, default_value = "1000000", value_parser = records, allow_negative_numbers = true)]
    pub records: u32,
    /// How many measured rounds each case gets; medians are shown.
    #[arg(long, default_value = "5", value_parser = rounds, allow_negative_numbers = true)]
    pub rounds: u32,
    /// Print one JSON object a line instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// Carries out `bench redo`.
pub(super) fn redo(args: &RedoArgs) -> Result<(), RunError> {
    let threads = args.threads.map_or_else(|| THREADS.to_vec(), |threads| vec![threads]);
    let policies = args.policy.map_or_else(|| POLICIES.to_vec(), |policy| vec![policy]);
    let most = threads.iter().copied().max().unwrap_or(1);
    let mut cases = Vec::new();
    for &policy in &policies {
        for &threads in &threads {
            cases.extend(DURABILITIES.map(|durability| Case { policy, durability, threads }));
        }
    }
    let passes = u64::from(args.rounds) * (cases.len() + policies.len()) as u64;
    let slice = args.seconds.div_f64(passes as f64);
    let bar = run::progress_bar("measuring", passes);
    let rounds = interleaved(&cases, args.rounds, slice, || bar.inc(1))?;
    let mut rows: Vec<Row> = cases.iter().zip(&rounds).map(|(case, rounds)| case.row(rounds)).collect();
    for policy in policies {
        let buffered = |threads| Case { policy, durability: Durability::Buffered, threads };
        rows.push(replays::recover(buffered(1), u64::from(args.records), args.rounds)?);
        rows.push(replays::standby(buffered(most.min(8)), slice, args.rounds)?);
        bar.inc(u64::from(args.rounds));
    }
    bar.finish_and_clear();
    run::printed(report::print(&rows, args.rounds, args.json))
}

/// The rounds of every case, taken in turns.
fn interleaved(
    cases: &[Case],
    rounds: u32,
    slice: Duration,
    done: impl Fn(),
) -> Result<Vec<Vec<Round>>, RedoBenchError> {
    let clock_cost_ns = clock_cost_ns();
    let mut all: Vec<Vec<Round>> = cases.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (case, its) in cases.iter().zip(&mut all) {
            its.push(case.round(slice, clock_cost_ns)?);
            done();
        }
    }
    Ok(all)
}

fn records(text: &str) -> Result<u32, String> {
    number(text, MAX_RECORDS, "records")
}
