//! What the policies cost when many insert at once: the published client tables, sixty-four short sessions at a time,
//! and what an insert touches.
//!
//! Next: `seeds/touch.rs`.

use std::hint::black_box;
use std::time::Instant;

use hdrhistogram::Histogram;
use lhash::Stats;
use serde::Serialize;

use super::crowd::Sessions;
use super::touch::Touched;
use super::{Policy, SeedError, check, probes};
use crate::crew;
use crate::rounds::{Measured, Outcome, Pass, Schedule, interleave};

/// How many threads insert.
pub const THREADS: [u32; 6] = [1, 2, 4, 8, 16, 64];

/// How many rows they insert together.
const INSERTS: u32 = 256_000;

/// The passes of each policy and number of threads.
pub const SCHEDULE: Schedule = Schedule { rounds: 3, clock_cost_ns: None };

/// The sessions of the published worst case: so many at a time, each of which inserts a few rows and ends.
const SESSIONS: Sessions = Sessions { at_a_time: 64, sessions: 4000, inserts: 50 };

/// What one pass came to.
#[derive(Debug)]
pub struct Sample {
    /// From the first insert to the end of the last.
    wall_ns: u64,
    /// How many rows were inserted.
    inserts: u64,
    /// The figures when the last thread had ended.
    stats: Stats,
    /// The count once all that is pending is folded in.
    settled: u64,
}

impl Outcome for Sample {
    fn time_ns(&self) -> f64 {
        self.wall_ns as f64 / self.inserts.max(1) as f64
    }

    fn latency(&self) -> Option<&Histogram<u64>> {
        None
    }
}

/// A line of the client table.
#[derive(Debug, Clone, Serialize)]
pub struct Client {
    /// The command.
    pub cmd: &'static str,
    /// The load: `clients`.
    pub scenario: &'static str,
    /// How tuples were counted.
    pub policy: Policy,
    /// How many threads inserted.
    pub threads: u32,
    /// How many rows they inserted in a second.
    pub inserts_per_s: u64,
    /// How many times as many as under the exact policy.
    pub x_exact: f64,
    /// Counts that waited for the metapage's lock.
    pub lock_waits: u64,
    /// Counts that were left pending.
    pub deferrals: u64,
    /// Holds that took what others had left.
    pub folds: u64,
    /// Counts that could not be left, since the insert had taken an overflow page.
    pub forced: u64,
    /// How many tuples the metapage's count was behind when the last thread had ended.
    pub final_lag: i64,
    /// How many tuples are not counted once all that is pending is folded in.
    pub lost: i64,
    /// What an insert touched.
    #[serde(flatten)]
    pub touched: Touched,
}

/// How many passes [`clients`] makes in all.
#[must_use]
pub fn passes() -> u64 {
    SCHEDULE.passes() * (THREADS.len() * Policy::ALL.len()) as u64
}

/// Runs the client table: for each number of threads the policies take turns. `tick` is called after each pass.
///
/// # Errors
///
/// If a row is missing, or a count is lost that shall not be; or if there are not enough threads.
pub fn clients(divide: u32, tick: impl Fn()) -> Result<Vec<Client>, SeedError> {
    let mut rows = Vec::new();
    for threads in THREADS {
        let measured = interleave(SCHEDULE, Policy::ALL.len(), |policy, _: Pass| {
            let sample = inserts(Policy::ALL[policy], threads, INSERTS / divide)?;
            tick();
            Ok::<_, SeedError>(sample)
        })?;
        let line = |(policy, of)| Client::new(policy, threads, of, &measured[0]);
        rows.extend(Policy::ALL.into_iter().zip(&measured).map(line));
    }
    Ok(rows)
}

impl Client {
    fn new(policy: Policy, threads: u32, of: &Measured<Sample>, exact: &Measured<Sample>) -> Self {
        let Sample { wall_ns, inserts, stats, settled } = of.median();
        let uncounted = |count: u64| *inserts as i64 - count as i64;
        Self {
            cmd: "seeds",
            scenario: "clients",
            policy,
            threads,
            inserts_per_s: (*inserts as f64 * 1e9 / *wall_ns.max(&1) as f64) as u64,
            x_exact: (exact.ratio_to(of) * 1000.0).round() / 1000.0,
            lock_waits: stats.waited,
            deferrals: stats.deferred,
            folds: stats.folded,
            forced: stats.flushed,
            final_lag: uncounted(stats.ntuples) + stats.pending,
            lost: uncounted(*settled),
            touched: Touched::of(policy, stats, *inserts),
        }
    }
}

/// Threads that insert rows of their own keys.
fn inserts(policy: Policy, threads: u32, all: u32) -> Result<Sample, SeedError> {
    let index = policy.index()?;
    let each = (all / threads).max(1);
    let part = |thread: u32| {
        let start = Instant::now();
        // As new rows of a table: the keys of all threads go up together.
        (0..each).map(|i| i * threads + thread).for_each(|g| index.pin().insert(g, g));
        (start, Instant::now())
    };
    let (starts, ends): (Vec<Instant>, Vec<Instant>) = crew::run(threads, part, || ())?.into_iter().unzip();
    let wall = starts.iter().min().zip(ends.iter().max()).map(|(start, end)| *end - *start);
    let (inserts, stats) = (u64::from(each * threads), index.stats());
    let settled = index.exact_len() as u64;
    let scanned = index.pin().iter().count() as u64;
    check("clients", policy, &[("the number of rows in a scan", scanned, inserts)])?;
    if policy.is_lossless() {
        check("clients", policy, &[("the count, folded in,", settled, inserts)])?;
    }
    Ok(Sample { wall_ns: wall.unwrap_or_default().as_nanos() as u64, inserts, stats, settled })
}

/// What short sessions, sixty-four at a time, came to.
#[derive(Debug, Clone, Serialize)]
pub struct Worst {
    /// The command.
    pub cmd: &'static str,
    /// The load: `sessions_64`.
    pub scenario: &'static str,
    /// How tuples were counted.
    pub policy: Policy,
    /// How many rows were inserted.
    pub rows: u64,
    /// The metapage's count when the last session had ended.
    pub counted: u64,
    /// How many percent that is low.
    pub counted_low_pct: f64,
    /// The count once all that is pending is folded in.
    pub ntuples: u64,
    /// How many percent that is low.
    pub low_pct: f64,
    /// The number of the highest bucket then.
    pub max_bucket: u32,
    /// How long a probe for a key takes then, one thread alone.
    pub ns_per_probe: f64,
}

impl Worst {
    /// Runs it under a policy.
    ///
    /// # Errors
    ///
    /// If a row is missing, or a count is lost that shall not be; or if there are not enough threads.
    pub fn run(policy: Policy, divide: u32) -> Result<Self, SeedError> {
        let index = policy.index()?;
        let sessions = Sessions { sessions: (SESSIONS.sessions / divide).max(64), ..SESSIONS };
        sessions.run(&index)?;
        let expected: Vec<u64> = sessions.rows().collect();
        let rows = expected.len() as u64;
        let before = index.stats();
        let counted = before.ntuples.saturating_add_signed(-before.pending);
        let ntuples = index.exact_len() as u64;
        if policy.is_lossless() {
            check("sessions_64", policy, &[("the count, folded in,", ntuples, rows)])?;
        }
        let begin = Instant::now();
        for key in 0..rows as u32 {
            index.pin().get_all(black_box(&key)).for_each(|tuple| _ = black_box(tuple));
        }
        let ns_per_probe = begin.elapsed().as_nanos() as f64 / rows as f64;
        probes::compare("sessions_64", policy, &index, &expected)?;
        let low_pct = |count: u64| (10_000.0 * (rows as f64 - count as f64) / rows as f64).round() / 100.0;
        Ok(Self {
            cmd: "seeds",
            scenario: "sessions_64",
            policy,
            rows,
            counted,
            counted_low_pct: low_pct(counted),
            ntuples,
            low_pct: low_pct(ntuples),
            max_bucket: index.stats().max_bucket,
            ns_per_probe: ns_per_probe.round(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Worst, clients};
    use crate::seeds::Policy;

    #[test]
    fn sixty_four_sessions_at_a_time_lose_nothing_but_under_the_prototype() {
        for policy in Policy::ALL {
            let worst = Worst::run(policy, 1000).unwrap();
            assert_eq!(worst.ntuples == worst.rows, policy.is_lossless(), "{worst:?}");
        }
    }

    #[test]
    fn every_policy_has_a_line_for_every_number_of_threads() {
        let rows = clients(1000, || ()).unwrap();
        assert_eq!(rows.len(), 30);
        for row in rows {
            assert!(row.inserts_per_s > 0 && (row.lost == 0 || !row.policy.is_lossless()), "{row:?}");
        }
    }
}
