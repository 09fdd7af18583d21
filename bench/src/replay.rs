//! The `replay` command: a recorded trace on every table, in interleaved rounds, with checked answers.
//!
//! The tables take turns ([`rounds`]). The first pass of each table only checks its answers and
//! warms up; the measured rounds follow, and after every few of them a pass that times each single call.
//!
//! Next: `replay/ops.rs` and `replay/pool.rs`, the two modes; `replay/reference.rs`, what they must answer.

pub mod ops;
pub mod pool;
pub mod reference;

use hdrhistogram::Histogram;

use crate::peers::dashmap::Dashmap;
use crate::peers::dynahash::Dynahash;
use crate::peers::flatmap::{Flatmap, LockedMiss, Plain};
use crate::peers::hashbrown::RwLockHashbrown;
use crate::peers::papaya::Papaya;
use crate::peers::scc::Scc;
use crate::pool::PoolError;
use crate::rounds::{self, Outcome};
use crate::table::{LookupCounts, Mapped, Table};
use crate::trace::TraceError;

pub use crate::rounds::{Pass, Schedule, interleave};

/// A table as the modes see it: its name, and each mode compiled for it.
#[derive(Debug, Clone, Copy)]
pub struct Contestant {
    /// The table's name on the command line and in the output.
    pub name: &'static str,
    /// Is there something to see in ops mode?
    pub in_ops_mode: bool,
    /// One pass of ops mode.
    pub ops: fn(&ops::Input<'_>, Pass) -> Result<Run, ReplayError>,
    /// One pass of pool mode.
    pub pool: fn(&pool::Input<'_>, Pass) -> Result<Run, ReplayError>,
}

impl Contestant {
    /// The contestant that a table type makes.
    #[must_use]
    pub const fn of<T: Table>() -> Self {
        Self { name: T::NAME, in_ops_mode: true, ops: ops::pass::<T>, pool: pool::pass::<T> }
    }

    const fn only_in_pool_mode(self) -> Self {
        Self { in_ops_mode: false, ..self }
    }
}

/// The table that the others are compared with.
pub const BASELINE: &str = Dynahash::NAME;

/// All tables, in the order of the output.
pub const CONTESTANTS: [Contestant; 7] = [
    Contestant::of::<Flatmap<Plain>>(),
    Contestant::of::<Flatmap<LockedMiss>>().only_in_pool_mode(),
    Contestant::of::<Dynahash>(),
    Contestant::of::<RwLockHashbrown>(),
    Contestant::of::<Dashmap>(),
    Contestant::of::<Papaya>(),
    Contestant::of::<Scc>(),
];

/// What came out of one pass over the trace.
#[derive(Debug)]
pub struct Run {
    /// How long it took, from the first thread's start to the last one's end.
    pub wall_ns: u64,
    /// What the table answered.
    pub answers: Answers,
    /// How its lookups were settled, if the table tells.
    pub lookup_counts: Option<LookupCounts>,
    /// The table's size, if the table tells.
    pub memory_bytes: Option<usize>,
    /// The times of the single calls, after a [`Pass::Latency`].
    pub latency: Option<Histogram<u64>>,
}

impl Outcome for Run {
    fn time_ns(&self) -> f64 {
        self.wall_ns as f64
    }

    fn latency(&self) -> Option<&Histogram<u64>> {
        self.latency.as_ref()
    }
}

/// What one table's passes came to.
pub type Measured = rounds::Measured<Run>;

/// What a table answered in one pass; the fields that don't belong to a mode stay 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answers {
    /// Lookups that found their tag.
    pub hits: u64,
    /// Lookups that did not, or in pool mode: pages loaded.
    pub misses: u64,
    /// Pages evicted.
    pub evictions: u64,
    /// Inserts of a tag that was there.
    pub insert_exists: u64,
    /// Deletes of a tag that was not there.
    pub delete_absent: u64,
    /// A digest of every answer in order.
    pub digest: u64,
    /// What is mapped at the end.
    pub mapped: Mapped,
}

impl Answers {
    /// Compares with the answers that are right, field by field, most telling first.
    ///
    /// # Errors
    ///
    /// [`ReplayError::Disagrees`] for the first field that differs.
    pub fn expect(&self, table: &'static str, right: &Self) -> Result<(), ReplayError> {
        let fields = [
            ("hits", self.hits, right.hits),
            ("misses", self.misses, right.misses),
            ("evictions", self.evictions, right.evictions),
            ("insert_exists", self.insert_exists, right.insert_exists),
            ("delete_absent", self.delete_absent, right.delete_absent),
            ("mapped", self.mapped.count as u64, right.mapped.count as u64),
            ("digest of the answers", self.digest, right.digest),
        ];
        let disagrees =
            |field, found, expected| Err(ReplayError::Disagrees { table, field, found, expected });
        match fields.into_iter().find(|(_, found, expected)| found != expected) {
            Some((field, found, expected)) => disagrees(field, found.to_string(), expected.to_string()),
            None if self.mapped.crc32 == right.mapped.crc32 => Ok(()),
            None => disagrees("crc32", hex(self.mapped.crc32), hex(right.mapped.crc32)),
        }
    }
}

/// Eight lower-case hexadecimal digits.
#[must_use]
pub fn hex(crc32: u32) -> String {
    format!("{crc32:08x}")
}

/// Why a replay failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// No table could replay this trace.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A table answered a record wrongly.
    #[error("{table} disagrees at record {record}: {operation} gave {found}, expected {expected}")]
    WrongAnswer {
        /// The table.
        table: &'static str,
        /// The record, counted from 0.
        record: usize,
        /// What was asked.
        operation: &'static str,
        /// What the table answered.
        found: ops::Answer,
        /// What is right.
        expected: ops::Answer,
    },
    /// A table came out of a run with wrong figures.
    #[error("{table} disagrees: {field} is {found}, expected {expected}")]
    Disagrees {
        /// The table.
        table: &'static str,
        /// The figure, as it is called in the output.
        field: &'static str,
        /// What the table came to.
        found: String,
        /// What is right.
        expected: String,
    },
    /// The buffer pool could not go on with a table.
    #[error("{table}: {error}")]
    Pool {
        /// The table.
        table: &'static str,
        /// What happened.
        error: PoolError,
    },
}
