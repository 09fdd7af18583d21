//! The `sync` command: locks, counters and sequence locks beside their peers, in interleaved rounds, with
//! checked answers.
//!
//! What is compared with each other is a [`Group`]: its entries take turns in rounds of a fixed time. Where
//! single calls are timed, passes of their own do that, so that the clock is not in the throughput.
//!
//! Next: `sync/plan.rs`, what is measured; `sync/locks.rs`, `sync/counters.rs`, `sync/seqlocks.rs`, how.

pub mod aims;
pub mod contended;
pub mod counters;
pub mod locks;
pub mod plan;
pub mod report;
pub mod seqlocks;

use std::io;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::crew::Alone;
use crate::rounds::bootstrap::{Ratio, Spread};
use crate::rounds::{Measured, Outcome, Pass, Schedule, interleave, median};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Taking a free lock shared and letting go.
    PairRead,
    /// Taking a free lock exclusively and letting go.
    PairWrite,
    /// Threads that read and write under one lock.
    Contended,
    /// Threads that add to one counter.
    CounterAdd,
    /// Reading a counter, alone or while others add.
    CounterRead,
    /// Reading a value that nobody writes.
    SeqlockRead,
    /// Reading a value that another thread publishes now and then.
    SeqlockMixed,
}

/// In what manner, where there are two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// What the counter shows without asking every thread's part.
    Approx,
    /// What the counter adds up to.
    Exact,
    /// Reads that don't depend on each other.
    Loop,
    /// Reads each of which decides where the next one goes.
    Chain,
}

/// One implementation in a group: its name, and a pass of it that takes about as long as it is told.
pub struct Entry {
    name: &'static str,
    kind: Option<Kind>,
    run: Box<dyn Fn(Pass, Duration) -> Result<Sample, SyncError>>,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// What is compared with each other.
#[derive(Debug)]
pub struct Group {
    /// What is measured.
    pub what: What,
    /// On how many threads.
    pub threads: u32,
    /// How many of a hundred acquisitions are shared.
    pub read_pct: Option<u32>,
    entries: Vec<Entry>,
}

/// How long the passes of a group last, in units.
#[derive(Debug, Clone, Copy)]
struct Weights {
    check: u32,
    throughput: u32,
    /// 0 if single calls are not timed.
    latency: u32,
}

impl Group {
    fn weights(&self) -> Weights {
        match self.what {
            What::Contended => Weights { check: 1, throughput: 4, latency: 6 },
            What::SeqlockMixed => Weights { check: 1, throughput: 2, latency: 0 },
            _ => Weights { check: 1, throughput: 1, latency: 0 },
        }
    }

    fn schedule(&self, schedule: Schedule) -> Schedule {
        let clock_cost_ns = schedule.clock_cost_ns.filter(|_| self.weights().latency > 0);
        Schedule { clock_cost_ns, ..schedule }
    }

    /// How many passes its entries make.
    #[must_use]
    pub fn passes(&self, schedule: Schedule) -> u64 {
        self.entries.len() as u64 * self.schedule(schedule).passes()
    }

    /// How many units all passes of its entries last.
    fn units(&self, schedule: Schedule) -> u64 {
        let weights = self.weights();
        let latency_passes = self.schedule(schedule).latency_passes();
        let units =
            [(1, weights.check), (schedule.rounds, weights.throughput), (latency_passes, weights.latency)];
        let each: u64 = units.into_iter().map(|(passes, weight)| u64::from(passes) * u64::from(weight)).sum();
        self.entries.len() as u64 * each
    }

    /// Runs all passes, each of a number of units; `tick` is called after each.
    ///
    /// # Errors
    ///
    /// The first error of a pass.
    pub fn run(&self, schedule: Schedule, unit: Duration, tick: impl Fn()) -> Result<Vec<Row>, SyncError> {
        let weights = self.weights();
        let all = interleave(self.schedule(schedule), self.entries.len(), |entry, pass| {
            let weight = match pass {
                Pass::Check => weights.check,
                Pass::Throughput => weights.throughput,
                Pass::Latency { .. } => weights.latency,
            };
            let sample = (self.entries[entry].run)(pass, unit * weight)?;
            tick();
            Ok::<_, SyncError>(sample)
        })?;
        Ok(self.entries.iter().zip(all).map(|(entry, measured)| Row::new(self, entry, measured)).collect())
    }
}

/// The unit with which all passes of the groups together last about `total`.
#[must_use]
pub fn unit(groups: &[Group], schedule: Schedule, total: Duration) -> Duration {
    let units: u64 = groups.iter().map(|group| group.units(schedule)).sum();
    total.div_f64(units.max(1) as f64)
}

/// What came out of one pass.
#[derive(Debug)]
pub struct Sample {
    /// How long the operations took.
    pub wall_ns: u64,
    /// How many threads did what was counted.
    pub workers: u32,
    /// How often they did it; one thread alone, in the median chunk of a pass.
    pub operations: u64,
    /// The fewest operations of a thread divided by the most.
    pub fairness: Option<f64>,
    /// The times of the single calls, after a [`Pass::Latency`].
    pub latency: Option<Histogram<u64>>,
}

impl Sample {
    /// One thread's median chunk.
    fn alone(alone: &Alone) -> Self {
        let Alone { chunk, chunk_ns, .. } = *alone;
        Self { wall_ns: chunk_ns, workers: 1, operations: chunk, fairness: None, latency: None }
    }

    /// Threads that did the same, or some of them that did what is counted.
    pub(crate) fn of_workers(workers: u32, wall_ns: u64, operations: u64) -> Self {
        Self { wall_ns, workers, operations, fairness: None, latency: None }
    }

    pub(crate) fn mops(&self) -> f64 {
        self.operations as f64 * 1e3 / self.wall_ns.max(1) as f64
    }
}

impl Outcome for Sample {
    fn time_ns(&self) -> f64 {
        self.wall_ns as f64 * f64::from(self.workers) / self.operations.max(1) as f64
    }

    fn latency(&self) -> Option<&Histogram<u64>> {
        self.latency.as_ref()
    }
}

/// What one entry came to; as JSON, a line of output whose field names are a promise to its readers.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The command.
    pub cmd: &'static str,
    /// What was measured.
    pub what: What,
    /// The implementation.
    #[serde(rename = "impl")]
    pub name: &'static str,
    /// In what manner, where there are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The number of threads.
    pub threads: u32,
    /// How many of a hundred acquisitions were shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_pct: Option<u32>,
    /// The median round's time x threads per operation.
    pub ns_median: f64,
    /// The quartiles, and between which times the median lies with 95 % confidence, if that was asked for.
    #[serde(flatten)]
    pub spread: Option<Spread>,
    /// The median round's operations of all threads in a second, in millions.
    pub mops: f64,
    /// 99.9 % of the acquisitions took at most this long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p999_ns: Option<u64>,
    /// The longest acquisition, from the call to its return; of the control the longest gap between two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_wait_ns: Option<u64>,
    /// The fewest acquisitions of a thread divided by the most, median of the rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<f64>,
    /// The rounds, for ratios.
    #[serde(skip)]
    pub measured: Measured<Sample>,
}

impl Row {
    fn new(group: &Group, entry: &Entry, measured: Measured<Sample>) -> Self {
        let round = |value: f64, digits: i32| (value * 10_f64.powi(digits)).round() / 10_f64.powi(digits);
        let (latency, sample) = (&measured.latency, measured.median());
        let fairness: Option<Vec<f64>> = measured.rounds.iter().map(|sample| sample.fairness).collect();
        Self {
            cmd: "sync",
            what: group.what,
            name: entry.name,
            kind: entry.kind,
            threads: group.threads,
            read_pct: group.read_pct,
            ns_median: round(sample.time_ns(), 2),
            spread: None,
            mops: round(sample.mops(), 3),
            p999_ns: (!latency.is_empty()).then(|| latency.value_at_quantile(0.999)),
            max_wait_ns: (!latency.is_empty()).then(|| latency.max()),
            fairness: fairness.map(|rounds| round(median(rounds.into_iter()), 3)),
            measured,
        }
    }

    /// Is it one of this workspace's own?
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.name.starts_with("latchfree")
    }

    /// Is it somebody else's implementation, which ours is compared with?
    #[must_use]
    pub fn is_peer(&self) -> bool {
        !self.is_ours() && self.name != locks::CONTROL
    }

    /// Was it compared with the other, round by round?
    #[must_use]
    pub fn is_in_group_of(&self, other: &Self) -> bool {
        // The two manners of reading a value are groups of their own, those of reading a counter are not.
        let kind = |row: &Self| row.kind.filter(|_| row.what == What::SeqlockRead);
        (self.what, self.threads, self.read_pct, kind(self))
            == (other.what, other.threads, other.read_pct, kind(other))
    }

    /// How many times as fast as the other it was, in the median round.
    #[must_use]
    pub fn speed_to(&self, other: &Self) -> f64 {
        other.measured.ratio_to(&self.measured)
    }

    /// The same with its interval.
    #[must_use]
    pub fn trusted_speed_to(&self, other: &Self) -> Ratio {
        other.measured.trusted_ratio_to(&self.measured)
    }

    /// The fastest peer in its group.
    #[must_use]
    pub fn best_peer<'a>(&self, rows: &'a [Self]) -> Option<&'a Self> {
        let peers = rows.iter().filter(|row| row.is_peer() && row.is_in_group_of(self));
        peers.min_by(|a, b| a.ns_median.total_cmp(&b.ns_median))
    }
}

/// Why a pass failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// An implementation came out of a pass with a wrong answer.
    #[error("{name} disagrees: {field} is {found}, expected {expected}")]
    Disagrees {
        /// The implementation.
        name: &'static str,
        /// The figure.
        field: &'static str,
        /// What the implementation came to.
        found: u64,
        /// What is right.
        expected: u64,
    },
    /// There are not enough threads.
    #[error("a thread can't be made: {0}")]
    NoThread(#[from] io::Error),
}

/// Compares the figures that an implementation came to with those that are right.
pub(crate) fn check(name: &'static str, figures: &[(&'static str, u64, u64)]) -> Result<(), SyncError> {
    match figures.iter().find(|(_, found, expected)| found != expected) {
        None => Ok(()),
        Some(&(field, found, expected)) => Err(SyncError::Disagrees { name, field, found, expected }),
    }
}
