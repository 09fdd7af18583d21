//! Carrying out `bench seeds`: load after load, then the crowds, then what many threads come to; print.
//!
//! Next: `seeds.rs`.

use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use clap::Args;

use super::run::{self, RunError};
use crate::crew;
use crate::output;
use crate::seeds::contention::{self, Worst};
use crate::seeds::crowd::Crowd;
use crate::seeds::loads::Load;
use crate::seeds::report::Report;
use crate::seeds::{self, Policy, Row, Scenario, SeedError};

/// The most that row counts may be divided by.
const MAX_DIVIDE: u32 = 1000;

/// The arguments of `bench seeds`.
#[derive(Debug, Args)]
pub struct SeedsArgs {
    /// Which loads are run, separated by commas [default: all].
    #[arg(long, value_enum, value_delimiter = ',', value_name = "A,B,C")]
    pub scenarios: Vec<Scenario>,
    /// Under which policies, separated by commas [default: all].
    #[arg(long, value_enum, value_delimiter = ',', value_name = "A,B,C")]
    pub policies: Vec<Policy>,
    /// Also run 64 short sessions at a time, and the client tables, under all policies.
    #[arg(long)]
    pub contention: bool,
    /// Divide all row counts, for a quick look; no figures are known then.
    #[arg(long, default_value = "1", value_parser = divide, allow_negative_numbers = true)]
    pub divide: u32,
    /// Print one JSON object a line instead of tables.
    #[arg(long)]
    pub json: bool,
}

/// Carries out `bench seeds`.
pub(super) fn seeds(args: &SeedsArgs) -> Result<(), RunError> {
    let report = measure(args)?;
    run::printed(report.print(args.json))
}

fn measure(args: &SeedsArgs) -> Result<Report, SeedError> {
    let divide = args.divide;
    let scenarios = Scenario::ALL.into_iter().filter(|scenario| asked(&args.scenarios, scenario));
    let policies: Vec<Policy> =
        Policy::ALL.into_iter().filter(|policy| asked(&args.policies, policy)).collect();
    let loads: Vec<Load> = scenarios
        .flat_map(|scenario| {
            policies.iter().map(move |&policy| Load { scenario, policy, writers: 1, divide })
        })
        .collect();
    let crowds = crowds(&loads);
    let contention = if args.contention { Policy::ALL.len() as u64 + contention::passes() } else { 0 };
    let bar = run::progress_bar("loading", (loads.len() + crowds.len()) as u64 + contention);
    let mut report = Report { rows: rows(&loads, || bar.inc(1))?, ..Report::default() };
    seeds::agree(&report.rows)?;
    for scenario in crowds {
        report.crowds.push(Crowd::run(scenario, divide)?);
        bar.inc(1);
    }
    if args.contention {
        for policy in Policy::ALL {
            report.worst.push(Worst::run(policy, divide)?);
            bar.inc(1);
        }
        report.clients = contention::clients(divide, || bar.inc(1))?;
    }
    bar.finish_and_clear();
    Ok(report)
}

/// Runs the loads. Those of one thread share the cores, for no other thread touches their index; then come those that
/// have all cores for their own threads.
fn rows(loads: &[Load], tick: impl Fn() + Sync) -> Result<Vec<Row>, SeedError> {
    let row = |load: &Load| {
        let row = load.row();
        tick();
        row
    };
    let (alone, crowded): (Vec<usize>, Vec<usize>) =
        (0..loads.len()).partition(|&index| is_of_one_thread(loads[index].scenario));
    let next = AtomicUsize::new(0);
    let some_alone = |_| {
        // Relaxed: shares out numbers, and nothing else.
        let take = || alone.get(next.fetch_add(1, Relaxed));
        iter::from_fn(take).map(|&index| Ok((index, row(&loads[index])?))).collect()
    };
    let parts: Vec<Result<Vec<(usize, Row)>, SeedError>> = crew::run(output::cores(), some_alone, || ())?;
    let mut rows = parts.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    for index in crowded {
        rows.push((index, row(&loads[index])?));
    }
    rows.sort_by_key(|(index, _)| *index);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// Is it a load of one thread, unless it is told otherwise?
fn is_of_one_thread(scenario: Scenario) -> bool {
    !matches!(scenario, Scenario::ShortSessions | Scenario::Mixed)
}

fn asked<T: PartialEq>(of: &[T], one: &T) -> bool {
    of.is_empty() || of.contains(one)
}

/// The loads that eight writers that defer run too: those in which one thread does.
fn crowds(loads: &[Load]) -> Vec<Scenario> {
    let deferring = loads.iter().filter(|load| load.policy == Policy::Deferred);
    deferring.map(|load| load.scenario).filter(|&scenario| is_of_one_thread(scenario)).collect()
}

fn divide(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(n) if (1..=MAX_DIVIDE).contains(&n) => Ok(n),
        _ => Err(format!("the divisor must be 1 to {MAX_DIVIDE}")),
    }
}
