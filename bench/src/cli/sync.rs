//! Carrying out `bench sync`: plan, run group after group, print.
//!
//! Next: `sync.rs`.

use std::time::Duration;

use super::run::{self, RunError};
use super::{MAX_SECONDS, SyncArgs};
use crate::latency::clock_cost_ns;
use crate::rounds::Schedule;
use crate::sync::{self, Group, plan, report};

/// Carries out `bench sync`.
pub(super) fn sync(args: &SyncArgs) -> Result<(), RunError> {
    let groups = plan::groups(args.threads, &args.tables);
    if groups.is_empty() {
        return Err(RunError::Usage(format!(
            "nothing to do: {} has no part in a run with --threads {}",
            args.tables.join(", "),
            args.threads.unwrap_or_default()
        )));
    }
    let schedule = Schedule { rounds: args.rounds, clock_cost_ns: Some(clock_cost_ns()) };
    let unit = sync::unit(&groups, schedule, args.seconds);
    let passes = groups.iter().map(|group| group.passes(schedule)).sum();
    let bar = run::progress_bar("measuring", passes);
    let mut rows = Vec::new();
    for group in &groups {
        rows.extend(Group::run(group, schedule, unit, || bar.inc(1))?);
    }
    bar.finish_and_clear();
    if args.intervals {
        rows.iter_mut().for_each(|row| row.spread = Some(row.measured.spread().times(1.0)));
    }
    run::printed(report::print(&rows, schedule, args.json))
}

/// Parses how long a run is to take.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds =
        text.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && *seconds <= f64::from(MAX_SECONDS));
    let seconds = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| format!("the seconds must be more than 0 and at most {MAX_SECONDS}"))
}

/// Finds an implementation's name.
pub(super) fn implementation(name: &str) -> Result<&'static str, String> {
    let known = plan::names();
    known
        .iter()
        .copied()
        .find(|other| *other == name)
        .ok_or_else(|| format!("unknown implementation; known are {}", known.join(", ")))
}
