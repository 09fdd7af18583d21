//! What the commands print: a table for people, or one JSON object a line.
//!
//! Next: `output/human.rs`.

pub(crate) mod human;

use std::io::{self, Write};

use serde::Serialize;

use crate::cli::Mode;
use crate::replay::{Measured, Schedule, hex};
use crate::rounds::bootstrap::{Ratio, Spread};
use crate::table::LookupCounts;
use crate::trace::OpCounts;

pub use human::cores;

/// What all rows of a call have in common.
#[derive(Debug, Clone)]
pub struct Setting {
    /// What the tables had to do.
    pub mode: Mode,
    /// The trace's file name.
    pub trace: String,
    /// The frames of the pool.
    pub frames: u32,
    /// Whether the interval of the median is asked for.
    pub intervals: bool,
    /// The passes that each table made.
    pub schedule: Schedule,
}

/// What one table came to; as JSON, a line of output whose field names are a promise to its readers.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The command.
    pub cmd: &'static str,
    /// What the table had to do.
    pub mode: Mode,
    /// The table.
    pub table: &'static str,
    /// The trace's file name.
    pub trace: String,
    /// The number of threads.
    pub threads: u32,
    /// The frames of the pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<u32>,
    /// How many records were replayed.
    pub records: u64,
    /// How many of them were lookups.
    pub lookups: u64,
    /// How many were inserts (ops mode).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inserts: Option<u64>,
    /// How many were deletes (ops mode).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletes: Option<u64>,
    /// Lookups that found their tag.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
    /// Pages that gave way to others (pool mode).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evictions: Option<u64>,
    /// Inserts of a tag that was there (ops mode).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insert_exists: Option<u64>,
    /// Deletes of a tag that was not there (ops mode).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_absent: Option<u64>,
    /// How many tags are mapped at the end.
    pub mapped: u64,
    /// The CRC-32 of the mapping at the end, where it is the same in every run: with one thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crc32: Option<String>,
    /// The median round's time per record (ops) or its time x threads per lookup (pool).
    pub ns_per_op: f64,
    /// The quartiles, and between which times the median lies with 95 % confidence, if that was asked for.
    #[serde(flatten)]
    pub spread: Option<Spread>,
    /// Half of the calls took at most this long.
    pub p50_ns: u64,
    /// 99 % of the calls took at most this long.
    pub p99_ns: u64,
    /// 99.9 % of the calls took at most this long.
    pub p999_ns: u64,
    /// The longest call.
    pub max_ns: u64,
    /// Lookups settled by the first, unlocked try (flatmap).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimistic: Option<u64>,
    /// Lookups settled by a later unlocked try (flatmap).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retried: Option<u64>,
    /// Lookups settled under the partition's lock (flatmap).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<u64>,
    /// The median of the rounds' ratios to the baseline's time; for people only.
    #[serde(skip)]
    pub ratio: Option<Ratio>,
    /// The size of the table, for each slot or frame; for people only.
    #[serde(skip)]
    pub bytes_per_slot: Option<f64>,
}

/// What a table was given to do.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    /// The operations that were replayed.
    pub counts: OpCounts,
    /// How many threads shared them.
    pub threads: u32,
    /// How many slots or frames there were.
    pub slots: u32,
}

impl Row {
    /// The row of a table, without its ratio to others.
    #[must_use]
    pub fn new(setting: &Setting, table: &'static str, measured: &Measured, work: &Work) -> Self {
        let (ops, pool) = (setting.mode == Mode::Ops, setting.mode == Mode::Pool);
        let run = measured.median();
        let answers = run.answers;
        let OpCounts { lookups, inserts, deletes } = work.counts;
        let records = lookups + inserts + deletes;
        let thread_ns = run.wall_ns as f64 * f64::from(work.threads);
        let settled = run.lookup_counts.map(|counts| Settled::of(lookups, counts));
        let quantile_ns = |quantile| measured.latency.value_at_quantile(quantile);
        Self {
            cmd: "replay",
            mode: setting.mode,
            table,
            trace: setting.trace.clone(),
            threads: work.threads,
            frames: pool.then_some(work.slots),
            records,
            lookups,
            inserts: ops.then_some(inserts),
            deletes: ops.then_some(deletes),
            hits: answers.hits,
            misses: answers.misses,
            evictions: pool.then_some(answers.evictions),
            insert_exists: ops.then_some(answers.insert_exists),
            delete_absent: ops.then_some(answers.delete_absent),
            mapped: answers.mapped.count as u64,
            crc32: (work.threads == 1).then(|| hex(answers.mapped.crc32)),
            ns_per_op: (thread_ns / records as f64 * 100.0).round() / 100.0,
            p50_ns: quantile_ns(0.5),
            p99_ns: quantile_ns(0.99),
            p999_ns: quantile_ns(0.999),
            max_ns: measured.latency.max(),
            optimistic: settled.map(|settled| settled.optimistic),
            retried: settled.map(|settled| settled.retried),
            fallback: settled.map(|settled| settled.fallback),
            spread: setting
                .intervals
                .then(|| measured.spread().times(thread_ns / run.wall_ns.max(1) as f64 / records as f64)),
            ratio: None,
            bytes_per_slot: run.memory_bytes.map(|bytes| bytes as f64 / f64::from(work.slots)),
        }
    }
}

/// The lookups of a trace by how they were settled.
#[derive(Clone, Copy)]
struct Settled {
    optimistic: u64,
    retried: u64,
    fallback: u64,
}

impl Settled {
    /// An access that has to start over looks up more than once, so in a crowded pool a table may count more
    /// than the trace has; the three add up to the trace's.
    fn of(lookups: u64, counts: LookupCounts) -> Self {
        let fallback = counts.fallback.min(lookups);
        let retried = counts.retried.min(lookups - fallback);
        Self { optimistic: lookups - fallback - retried, retried, fallback }
    }
}

/// Writes the rows to standard output, one JSON object a line or as a table.
///
/// # Errors
///
/// What standard output says, such as that its reader has gone.
pub fn print(setting: &Setting, rows: &[Row], json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        // A person who watches still wants to know what was measured.
        let _ = writeln!(io::stderr(), "{}", human::facts());
        for row in rows {
            serde_json::to_writer(&mut out, row)?;
            writeln!(out)?;
        }
    } else {
        writeln!(out, "{}", human::title(setting, rows))?;
        writeln!(out, "{}", human::table(setting, rows))?;
        writeln!(out, "{}\n{}", human::notes(setting), human::facts())?;
    }
    out.flush()
}
