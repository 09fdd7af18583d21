//! The `seeds` command: loads that leave an index in a known structure, and the figures published for it.
//!
//! A hash index's structure depends on how its tuples are counted, since buckets are split by the count. So each
//! [`Scenario`] is run under each [`Policy`], on a multimap with PostgreSQL's geometry and hash, and what comes out is
//! set beside what PostgreSQL came to, where that is known. After each load a probe of every key must find what a full
//! scan finds, and both what was inserted.
//!
//! Next: `seeds/loads.rs`, the loads; `seeds/expected.rs`, what is known; `seeds/file.rs`, an index's file.

pub mod contention;
pub mod crowd;
pub mod expected;
pub mod file;
pub mod hash;
pub mod loads;
pub mod probes;
pub mod report;
pub mod touch;

use std::io;

use clap::ValueEnum;
use lhash::{ConfigError, CountPolicy, LHashMultiMap, Stats};
use serde::Serialize;

use expected::{Expected, expected};
use file::FilePages;
use hash::BuildHashUint32;

/// The most counts that a thread's slot holds under [`Policy::Deferred`] and [`Policy::Quiet`].
pub const CAP: u32 = 32;

/// The slots of a page in PostgreSQL's geometry.
pub const PAGE_SLOTS: usize = 407;

/// The fill factor of PostgreSQL's geometry.
pub const FILL_FACTOR: u64 = 307;

/// The buckets that PostgreSQL's geometry begins with.
pub const FIRST_BUCKETS: u64 = 8;

/// A hash index: a key and a tuple's number, by PostgreSQL's hash, in its geometry.
pub type Index = LHashMultiMap<u32, u32, BuildHashUint32, PAGE_SLOTS>;

/// How tuples are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Policy {
    /// Under the metapage's lock, every time: PostgreSQL today.
    Exact,
    /// When an insert took an overflow page; what a session has not told is lost with it: the published prototype.
    OverflowSignal,
    /// If the lock is free, else later, up to 32 a slot.
    Deferred,
    /// As deferred, and threads that met the lock busy leave it alone for a while.
    Quiet,
    /// In shards.
    Sharded,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Exact, Self::OverflowSignal, Self::Deferred, Self::Quiet, Self::Sharded];

    /// The name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::OverflowSignal => "overflow_signal",
            Self::Deferred => "deferred",
            Self::Quiet => "quiet",
            Self::Sharded => "sharded",
        }
    }

    /// Are all counts there in the end, whatever ends a thread?
    #[must_use]
    pub fn is_lossless(self) -> bool {
        self != Self::OverflowSignal
    }

    /// An empty index that counts so.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    pub fn index(self) -> Result<Index, ConfigError> {
        let policy = match self {
            Self::Exact => CountPolicy::Exact,
            Self::OverflowSignal => CountPolicy::OverflowSignal,
            Self::Deferred => CountPolicy::Deferred { cap: CAP },
            Self::Quiet => CountPolicy::Quiet { cap: CAP },
            Self::Sharded => CountPolicy::Sharded,
        };
        LHashMultiMap::builder().hasher(BuildHashUint32::default()).postgres().count_policy(policy).build()
    }
}

/// A load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Scenario {
    /// 500,000 times the same key.
    OneKey,
    /// 2,000,000 rows of 50 keys.
    HighDuplicate,
    /// 2,000,000 keys, nine tenths of them deleted and vacuumed, and 2,000,000 others.
    DeleteHeavyVacuum,
    /// The same without the vacuum: a delete alone leaves the index as it is.
    DeleteHeavy,
    /// 200,000 inserts, each by a new thread, 8 at a time.
    ShortSessions,
    /// 8 writers, unique keys and one heavy duplicate, a third of them deleted, and as many again inserted.
    Mixed,
}

impl Scenario {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::OneKey,
        Self::HighDuplicate,
        Self::DeleteHeavyVacuum,
        Self::DeleteHeavy,
        Self::ShortSessions,
        Self::Mixed,
    ];

    /// The name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OneKey => "one_key",
            Self::HighDuplicate => "high_duplicate",
            Self::DeleteHeavyVacuum => "delete_heavy_vacuum",
            Self::DeleteHeavy => "delete_heavy",
            Self::ShortSessions => "short_sessions",
            Self::Mixed => "mixed",
        }
    }
}

/// What a load came to; as JSON, a line of output whose field names are a promise to its readers.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The command.
    pub cmd: &'static str,
    /// The load.
    pub scenario: Scenario,
    /// How tuples were counted.
    pub policy: Policy,
    /// The count of tuples.
    pub ntuples: u64,
    /// The number of the highest bucket.
    pub max_bucket: u32,
    /// The number of buckets.
    pub buckets: u64,
    /// Bucket pages, which are allocated a split point at a time.
    pub primary_pages: u64,
    /// Overflow pages that are part of a chain.
    pub overflow_pages: u64,
    /// All pages of the file, overflow pages that were freed and are not used again among them.
    pub file_pages: u64,
    /// What is known of it.
    pub expected: Option<Expected>,
    /// Whether it came to that.
    pub exact: Option<bool>,
    /// How long the load and the probes took; for people only.
    #[serde(skip)]
    pub seconds: f64,
}

impl Row {
    /// The row of an index with these figures; `divide` is by what all row counts were divided.
    #[must_use]
    pub fn new(scenario: Scenario, policy: Policy, divide: u32, stats: &Stats, seconds: f64) -> Self {
        let pages = FilePages::of_stats(stats);
        let mut row = Self {
            cmd: "seeds",
            scenario,
            policy,
            ntuples: stats.ntuples,
            max_bucket: stats.max_bucket,
            buckets: u64::from(stats.max_bucket) + 1,
            primary_pages: pages.primary,
            overflow_pages: stats.overflow_pages,
            file_pages: pages.total(),
            expected: expected(scenario, policy).filter(|_| divide == 1),
            exact: None,
            seconds,
        };
        row.exact = row.expected.map(|expected| expected.is_met_by(&row));
        row
    }
}

/// Why a load failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeedError {
    /// An index came out of a load with a wrong answer.
    #[error("{scenario}, {policy}: {what} is {found}, expected {expected}")]
    Disagrees {
        /// The load.
        scenario: &'static str,
        /// How tuples were counted.
        policy: &'static str,
        /// The figure.
        what: &'static str,
        /// What the index came to.
        found: u64,
        /// What is right.
        expected: u64,
    },
    /// An index could not be made.
    #[error("an index can't be made: {0}")]
    NoIndex(#[from] ConfigError),
    /// There are not enough threads.
    #[error("a thread can't be made: {0}")]
    NoThread(#[from] io::Error),
}

/// Compares figures that an index came to, with what they are, with those that are right.
fn check(
    scenario: &'static str,
    policy: Policy,
    figures: &[(&'static str, u64, u64)],
) -> Result<(), SeedError> {
    match figures.iter().find(|(_, found, expected)| found != expected) {
        None => Ok(()),
        Some(&(what, found, expected)) => {
            Err(SeedError::Disagrees { scenario, policy: policy.name(), what, found, expected })
        }
    }
}

/// How many buckets an index has that counted up to so many tuples.
#[must_use]
pub fn buckets_due(tuples: u64) -> u64 {
    tuples.div_ceil(FILL_FACTOR).max(FIRST_BUCKETS)
}

/// Sees to it that the lossless policies agree on the mixed load: writers that defer count, in the end, as those
/// that wait.
///
/// # Errors
///
/// The first two that don't.
pub fn agree(rows: &[Row]) -> Result<(), SeedError> {
    let mut mixed = rows.iter().filter(|row| row.scenario == Scenario::Mixed && row.policy.is_lossless());
    let Some(first) = mixed.next() else { return Ok(()) };
    mixed.try_for_each(|row| {
        let max_buckets = (u64::from(row.max_bucket), u64::from(first.max_bucket));
        let figures = [("ntuples", row.ntuples, first.ntuples), ("max_bucket", max_buckets.0, max_buckets.1)];
        check(row.scenario.name(), row.policy, &figures)
    })
}
