//! The `lhash` command: concurrent maps beside each other, in interleaved rounds, with checked answers.
//!
//! A [`Case`] is so many entries, threads, a kind of key and a distribution. In each, all maps take turns at one
//! operation after the other. The maps that are read, updated and mixed stay the same from round to round; for
//! inserts and removes each round has new ones, which grow from empty and shrink to it.
//!
//! Next: `lhash/tables.rs`, the maps; `lhash/life.rs` and `lhash/steady.rs`, what they have to do.

pub mod aims;
pub mod keys;
pub mod life;
pub mod report;
pub mod steady;
pub mod tables;

use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;

use crate::latency::empty_histogram;
use crate::rounds::bootstrap::{Ratio, Spread};
use crate::rounds::{Measured, Outcome, Schedule, interleave};
use crate::sync::{Sample, SyncError};
use life::{Entrant, Life, Memory};

/// With so many entries, which take seconds to insert and remove, that has fewer rounds than the rest.
const MANY_ENTRIES: u32 = 500_000;
const ROUNDS_OF_MANY: u32 = 5;

/// How many operations are done under one pin or guard.
pub const BATCH: u64 = 64;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Looking up a key that is there.
    GetHit,
    /// Looking up a key that is not.
    GetMiss,
    /// Inserting, into a map that grows from empty.
    Insert,
    /// Removing, from a map that shrinks to empty.
    Remove,
    /// Replacing the value of a key that is there.
    Update,
    /// 98 % lookups, 1 % inserts, 1 % removes.
    #[serde(rename = "mix_98_1_1")]
    Mix98,
    /// 50 % lookups, 25 % inserts, 25 % removes.
    #[serde(rename = "mix_50_25_25")]
    Mix50,
    /// 10 % lookups, 40 % inserts, 40 % removes, 10 % updates.
    #[serde(rename = "mix_10_40_40")]
    Mix10,
}

/// In what manner keys are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// The lookups don't depend on each other.
    Loop,
    /// Each key depends on the value that was read before.
    Chain,
}

/// How keys are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dist {
    /// All alike.
    Uniform,
    /// The k-th in proportion to 1 / k^0.99.
    Zipf,
}

/// What keys are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// Words.
    U64,
    /// Strings of 16 bytes.
    String,
}

/// How ours counts its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Policy {
    /// When the lock is free, otherwise later: the default.
    Deferred,
    /// Under the lock, every time.
    Exact,
    /// As deferred, and not looking at a lock that was busy.
    Quiet,
    /// In shards.
    Sharded,
    /// When an overflow page was added; loses counts.
    OverflowSignal,
}

/// An operation on a map that stays full or half full.
#[derive(Debug, Clone, Copy)]
pub enum Steady {
    /// Looks up keys that are there.
    Hit(How),
    /// Looks up keys that are not.
    Miss,
    /// Raises the versions of values.
    Update,
    /// Draws from twice as many keys and looks up, inserts and removes so many in a hundred; the rest are updates.
    Mix {
        /// Lookups.
        read_pct: u64,
        /// Inserts, and as many removes.
        insert_pct: u64,
    },
}

/// In the order of the passes: each leaves the maps as the next one needs them.
const STEADY: [(Op, Steady); 7] = [
    (Op::GetHit, Steady::Hit(How::Loop)),
    (Op::GetHit, Steady::Hit(How::Chain)),
    (Op::GetMiss, Steady::Miss),
    (Op::Update, Steady::Update),
    (Op::Mix98, Steady::Mix { read_pct: 98, insert_pct: 1 }),
    (Op::Mix50, Steady::Mix { read_pct: 50, insert_pct: 25 }),
    (Op::Mix10, Steady::Mix { read_pct: 10, insert_pct: 40 }),
];

/// What the maps are compared on.
#[derive(Debug, Clone)]
pub struct Case {
    /// How many entries there are: at least 1.
    pub entries: u32,
    /// How many threads share the work.
    pub threads: u32,
    /// How keys are drawn.
    pub dist: Dist,
    /// What keys are.
    pub key: KeyKind,
    /// How ours counts.
    pub policy: Policy,
    /// Whether inserts and removes are measured, which draw no keys.
    pub with_life: bool,
    /// The keys that all threads draw, made beforehand.
    pub draws: Arc<[u32]>,
}

impl Case {
    /// A case on one thread, with inserts and removes.
    #[must_use]
    pub fn new(entries: u32, dist: Dist, key: KeyKind, policy: Policy) -> Self {
        let draws = keys::draws(dist, entries.into()).into();
        Self { entries, threads: 1, dist, key, policy, with_life: true, draws }
    }

    /// The maps that take part, some or, if none is named, all.
    #[must_use]
    pub fn entrants(&self, names: &[&str]) -> Vec<Entrant> {
        match self.key {
            KeyKind::U64 => tables::entrants::<u64>(names),
            KeyKind::String => tables::entrants::<String>(names),
        }
    }

    /// The passes that insert and remove.
    fn lives(&self, schedule: Schedule) -> Schedule {
        Schedule { rounds: life_rounds(self.entries, schedule), ..schedule }
    }

    /// How many passes there are, of so many maps.
    #[must_use]
    pub fn passes(&self, schedule: Schedule, maps: usize) -> u64 {
        let lives = if self.with_life { self.lives(schedule).passes() } else { 0 };
        (lives + STEADY.len() as u64 * schedule.passes()) * maps as u64
    }

    /// Runs all passes, each of about a `slice`; `tick` is called after each.
    ///
    /// # Errors
    ///
    /// The first wrong answer.
    pub fn run(
        &self,
        entrants: &[(Entrant, Memory)],
        schedule: Schedule,
        slice: Duration,
        tick: impl Fn(),
    ) -> Result<Vec<Row>, SyncError> {
        let mut rows = Vec::new();
        let mut add = |op, how, all: Vec<Measured<Sample>>| {
            let row = |((entrant, memory), measured): (&(Entrant, Memory), _)| {
                Row::new(self, op, how, (entrant.name, *memory), measured)
            };
            rows.extend(entrants.iter().zip(all).map(row));
        };
        if self.with_life {
            let lives = interleave(self.lives(schedule), entrants.len(), |index, pass| {
                (entrants[index].0.life)(self, pass, slice).inspect(|_| tick())
            })?;
            let (grown, shrunk) = lives.into_iter().map(parted).unzip();
            add(Op::Insert, None, grown);
            add(Op::Remove, None, shrunk);
        }
        let stages = entrants.iter().map(|(entrant, _)| (entrant.stage)(self));
        let mut stages = stages.collect::<Result<Vec<_>, _>>()?;
        for (op, steady) in STEADY {
            let all = interleave(schedule, stages.len(), |index, _| {
                stages[index].run(steady, slice).inspect(|_| tick())
            })?;
            // What lookups saw has been checked one by one, and what the first mixes left, the last one is added to.
            if matches!(op, Op::Update | Op::Mix10) {
                stages.iter_mut().try_for_each(|stage| stage.audit())?;
            }
            let how = if let Steady::Hit(how) = steady { Some(how) } else { None };
            add(op, how, all);
        }
        Ok(rows)
    }
}

/// How many rounds insert and remove so many entries.
fn life_rounds(entries: u32, schedule: Schedule) -> u32 {
    if entries < MANY_ENTRIES { schedule.rounds } else { schedule.rounds.min(ROUNDS_OF_MANY) }
}

/// The rounds of growing and those of shrinking.
fn parted(lives: Measured<Life>) -> (Measured<Sample>, Measured<Sample>) {
    let (grown, shrunk) = lives.rounds.into_iter().map(|life| (life.grown, life.shrunk)).unzip();
    let measured = |rounds| Measured { rounds, latency: empty_histogram() };
    (measured(grown), measured(shrunk))
}

/// What one map came to; as JSON, a line of output whose field names are a promise to its readers.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The command.
    pub cmd: &'static str,
    /// What was measured.
    pub op: Op,
    /// In what manner, where there are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<How>,
    /// The map.
    pub table: &'static str,
    /// How many entries there were when it was full.
    pub entries: u32,
    /// The number of threads.
    pub threads: u32,
    /// How keys were drawn.
    pub dist: Dist,
    /// What keys were.
    pub key: KeyKind,
    /// The median round's time x threads per operation.
    pub ns_median: f64,
    /// The quartiles, and between which times the median lies with 95 % confidence, if that was asked for.
    #[serde(flatten)]
    pub spread: Option<Spread>,
    /// The fastest round's.
    pub ns_min: f64,
    /// The median round's operations of all threads in a second, in millions.
    pub mops: f64,
    /// The bytes requested for a map that grew to so many entries, for each.
    pub bytes_per_entry: Option<f64>,
    /// All that is known of the bytes.
    #[serde(skip)]
    pub memory: Memory,
    /// The rounds, for ratios.
    #[serde(skip)]
    pub measured: Measured<Sample>,
}

impl Row {
    fn new(
        case: &Case,
        op: Op,
        how: Option<How>,
        (table, memory): (&'static str, Memory),
        measured: Measured<Sample>,
    ) -> Self {
        let round = |value: f64, digits: i32| (value * 10_f64.powi(digits)).round() / 10_f64.powi(digits);
        let fastest = measured.rounds.iter().map(Sample::time_ns).fold(f64::INFINITY, f64::min);
        Self {
            cmd: "lhash",
            op,
            how,
            table,
            entries: case.entries,
            threads: case.threads,
            dist: case.dist,
            key: case.key,
            ns_median: round(measured.median().time_ns(), 2),
            spread: None,
            ns_min: round(fastest, 2),
            mops: round(measured.median().mops(), 3),
            bytes_per_entry: memory.bytes_per_entry.map(|bytes| round(bytes, 2)),
            memory,
            measured,
        }
    }

    /// Is it a concurrent map of somebody else?
    #[must_use]
    pub fn is_peer(&self) -> bool {
        self.table != tables::OURS && self.table != tables::ONE_LOCK
    }

    /// Was it compared with the other, round by round?
    #[must_use]
    pub fn is_in_group_of(&self, other: &Self) -> bool {
        let group = |row: &Self| (row.op, row.how, row.entries, row.threads, row.dist, row.key);
        group(self) == group(other)
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

#[cfg(test)]
mod tests;
