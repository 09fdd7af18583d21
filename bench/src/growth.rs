//! The `growth` command: each map from empty to full and back, at a fixed rate of arrivals, with checked answers.
//!
//! One thread inserts while another reads what is there. Operations are due at fixed times, whether or not the one
//! before has ended, and each is timed from when it was due: a pause is charged to all that it delays. One map lives at
//! a time, and an operation holds a pin or a guard only for itself.
//!
//! Next: `growth/pace.rs`, the arrivals; `growth/grow.rs`, what a map goes through.

pub mod aims;
pub mod grow;
pub mod memory;
pub mod pace;
pub mod report;
pub mod series;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::lhash::life::Entrant;
use crate::lhash::tables;
use crate::sync::SyncError;
use grow::Grown;

/// The steps of one map that a progress bar counts.
pub const STEPS: u64 = 3;

/// How many entries a map has had before it is measured: what a collector sets up once is nobody's.
const WARM_UP_ENTRIES: u32 = 200_000;

/// What the maps go through.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// How many entries they have when they are full: at least 1.
    pub entries: u32,
    /// How many inserts, and how many reads, are due in a second: at least 1.
    pub rate: u32,
}

impl Plan {
    /// Lets one map after the other grow and shrink; `tick` is called [`STEPS`] times for each.
    ///
    /// # Errors
    ///
    /// The first wrong answer.
    pub fn run(&self, names: &[&str], tick: impl Fn()) -> Result<Vec<Row>, SyncError> {
        let warm_up = Self { entries: self.entries.min(WARM_UP_ENTRIES), ..*self };
        let row = |entrant: Entrant| {
            (entrant.growth)(&warm_up, &|| ())?;
            tick();
            Ok(Row::new(self, entrant.name, (entrant.growth)(self, &tick)?))
        };
        tables::entrants::<u64>(names).into_iter().map(row).collect()
    }

    /// How many maps [`run`](Self::run) meets.
    #[must_use]
    pub fn maps(names: &[&str]) -> u64 {
        tables::entrants::<u64>(names).len() as u64
    }
}

/// What one map came to; as JSON, a line of output whose field names are a promise to its readers.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The command.
    pub cmd: &'static str,
    /// The map.
    pub table: &'static str,
    /// How many entries it had when it was full.
    pub entries: u32,
    /// How many inserts, and how many reads, were due in a second.
    pub rate: u32,
    /// Half of the inserts were done at most so long after they were due.
    pub insert_p50_ns: u64,
    /// 99 % of them.
    pub insert_p99_ns: u64,
    /// 99.9 % of them.
    pub insert_p999_ns: u64,
    /// 99.99 % of them.
    pub insert_p9999_ns: u64,
    /// All of them.
    pub insert_max_ns: u64,
    /// Half of the reads were done at most so long after they were due.
    pub read_p50_ns: u64,
    /// 99.9 % of them.
    pub read_p999_ns: u64,
    /// All of them.
    pub read_max_ns: u64,
    /// The longest time between the ends of two inserts that followed each other.
    pub longest_gap_ns: u64,
    /// The most bytes that the map held while it grew.
    pub peak_bytes: Option<i64>,
    /// The bytes that it held when all was inserted.
    pub final_bytes: Option<i64>,
    /// The bytes that it held when all was removed, and it had given back what it can.
    pub after_remove_bytes: Option<i64>,
    /// The resident memory of the process after that.
    pub rss_after_bytes: Option<u64>,
    /// All that came out.
    #[serde(skip)]
    pub grown: Grown,
}

impl Row {
    fn new(plan: &Plan, table: &'static str, grown: Grown) -> Self {
        let quantile = |times: &Histogram<u64>, quantile| times.value_at_quantile(quantile);
        let (inserts, reads) = (&grown.inserts.latency, &grown.reads.latency);
        Self {
            cmd: "growth",
            table,
            entries: plan.entries,
            rate: plan.rate,
            insert_p50_ns: quantile(inserts, 0.5),
            insert_p99_ns: quantile(inserts, 0.99),
            insert_p999_ns: quantile(inserts, 0.999),
            insert_p9999_ns: quantile(inserts, 0.9999),
            insert_max_ns: inserts.max(),
            read_p50_ns: quantile(reads, 0.5),
            read_p999_ns: quantile(reads, 0.999),
            read_max_ns: reads.max(),
            longest_gap_ns: grown.inserts.longest_gap_ns,
            peak_bytes: grown.bytes.peak,
            final_bytes: grown.bytes.full,
            after_remove_bytes: grown.bytes.emptied,
            rss_after_bytes: grown.rss_after_bytes,
            grown,
        }
    }

    /// Is it a concurrent map of somebody else?
    #[must_use]
    pub fn is_peer(&self) -> bool {
        self.table != tables::OURS && self.table != tables::ONE_LOCK
    }

    /// Did it keep up with the arrivals, or was it late with most of them?
    #[must_use]
    pub fn kept_up(&self) -> bool {
        self.insert_p50_ns.max(self.read_p50_ns) < LATE_NS
    }
}

/// Later than this in the median is not a pause, but too much to do.
const LATE_NS: u64 = 100_000;
