//! `--waits`: each operation timed by itself, apart by whether its thread had to sleep, as the table was published
//! that flatmap descends from. A thread has slept if the system counts a voluntary switch to another.

use std::io::{self, Write};
use std::time::Instant;

use hdrhistogram::Histogram;
use serde::Serialize;
use sync::LwLock;

use super::keys::tag;
use super::report::{facts, right};
use super::stage::Full;
use super::steps::Hand;
use super::{BASELINE, OURS};
use crate::crew;
use crate::latency::{clock_cost_ns, empty_histogram};
use crate::output::human::{counted, grouped};
use crate::peers::dynahash::Dynahash;
use crate::peers::flatmap::{Flatmap, PARTITIONS, Plain};
use crate::sync::report::markdown;
use crate::sync::{SyncError, check};
use crate::table::{Inserted, Table};

/// The numbers of workers.
pub const WORKERS: [u32; 2] = [2, 10];
/// How often each operation is done by all workers together.
const CALLS: u32 = 120_000;
/// The bare lock, in the place of a table.
const LOCK: &str = "latchfree LwLock";

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Looking up a key that is there.
    Hit,
    /// Looking up a key that is not.
    Miss,
    /// Mapping a key.
    Insert,
    /// Unmapping a key.
    Delete,
    /// Taking one of as many locks as there are partitions, and letting go.
    Lock,
}

const OPS: [Op; 5] = [Op::Hit, Op::Miss, Op::Insert, Op::Delete, Op::Lock];

/// What some calls took; as JSON, a line of output.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The command.
    pub cmd: &'static str,
    /// What was called.
    pub op: Op,
    /// On which table, or on the lock by itself.
    pub table: &'static str,
    /// The slots of the table.
    pub slots: u32,
    /// How many threads called.
    pub workers: u32,
    /// Whether the callers had to sleep.
    pub waited: bool,
    /// How many calls.
    pub count: u64,
    /// Their mean.
    pub avg_ns: u64,
    /// A quarter took at most this long.
    pub q1_ns: u64,
    /// Half.
    pub median_ns: u64,
    /// Three quarters.
    pub q3_ns: u64,
}

/// The times of one thread: by operation, and whether it slept.
struct Times {
    clock_cost_ns: u64,
    times: [[Histogram<u64>; 2]; OPS.len()],
}

impl Times {
    fn new(clock_cost_ns: u64) -> Self {
        Self { clock_cost_ns, times: std::array::from_fn(|_| [empty_histogram(), empty_histogram()]) }
    }

    fn time<R>(&mut self, op: Op, call: impl FnOnce() -> R) -> R {
        let slept = sleeps();
        let start = Instant::now();
        let done = call();
        let ns = (start.elapsed().as_nanos() as u64).saturating_sub(self.clock_cost_ns).max(1);
        self.times[op as usize][usize::from(sleeps() > slept)].saturating_record(ns);
        done
    }

    fn add(&mut self, other: &Self) {
        let pairs = self.times.iter_mut().flatten().zip(other.times.iter().flatten());
        pairs.for_each(|(all, times)| *all += times);
    }
}

/// How often this thread has gone to sleep.
#[cfg(target_os = "linux")]
fn sleeps() -> i64 {
    use nix::sys::resource::{UsageWho, getrusage};
    getrusage(UsageWho::RUSAGE_THREAD).map_or(0, |usage| usage.voluntary_context_switches())
}

#[cfg(not(target_os = "linux"))]
fn sleeps() -> i64 {
    0
}

/// Times all operations on both tables, of so many slots.
///
/// # Errors
///
/// A wrong answer.
pub fn run(slots: u32, tick: impl Fn()) -> Result<Vec<Row>, SyncError> {
    let mut rows = Vec::new();
    for workers in WORKERS {
        rows.extend(times::<Flatmap<Plain>>(slots, workers)?);
        tick();
        rows.extend(times::<Dynahash>(slots, workers)?);
        tick();
    }
    Ok(rows)
}

fn times<T: Table>(slots: u32, workers: u32) -> Result<Vec<Row>, SyncError> {
    let full = Full::<T>::new(slots)?;
    let locks: Vec<LwLock<()>> = (0..PARTITIONS).map(|_| LwLock::new(())).collect();
    let clock_cost_ns = clock_cost_ns();
    let work = |worker| {
        let (mut hand, mut times) = (full.hand(worker, workers), Times::new(clock_cost_ns));
        for _ in 0..CALLS / workers {
            hand.wrong += u64::from(!each_once(full.table(), &locks, slots, &mut hand, &mut times));
        }
        (times, hand.wrong)
    };
    let parts = crew::run(workers, work, || ())?;
    check(T::NAME, &[("wrong answers", parts.iter().map(|part| part.1).sum(), 0)])?;
    let mut all = Times::new(clock_cost_ns);
    parts.iter().for_each(|part| all.add(&part.0));
    let row = |op: Op, waited: usize| {
        let times = &all.times[op as usize][waited];
        let quantile = |q| times.value_at_quantile(q);
        Row {
            cmd: "flatmap",
            op,
            table: if op == Op::Lock { LOCK } else { T::NAME },
            slots,
            workers,
            waited: waited == 1,
            count: times.len(),
            avg_ns: times.mean() as u64,
            q1_ns: quantile(0.25),
            median_ns: quantile(0.5),
            q3_ns: quantile(0.75),
        }
    };
    Ok(OPS
        .into_iter()
        .flat_map(|op| [0, 1].map(|waited| row(op, waited)))
        .filter(|row| row.count > 0)
        .collect())
}

/// Each operation once, on keys of this worker's own where it changes them; whether the answers were right.
fn each_once<T: Table>(
    table: &T,
    locks: &[LwLock<()>],
    slots: u32,
    hand: &mut Hand<'_>,
    times: &mut Times,
) -> bool {
    let (index, own) = (hand.draw(slots.into()), hand.own.0 + hand.draw(hand.own.1.max(1)));
    let (there, missing) = (tag(index), tag(index + 2 * u64::from(slots)));
    // Another worker may just have taken it away.
    let found = times.time(Op::Hit, || table.get(&there));
    let mut is_right = found.is_none_or(|slot| slot == hand.slot(index));
    is_right &= times.time(Op::Miss, || table.get(&missing)).is_none();
    if hand.own.1 > 0 {
        let (key, slot) = (tag(own), hand.slot(own));
        is_right &= times.time(Op::Delete, || table.remove(&key)) == Some(slot);
        is_right &= times.time(Op::Insert, || table.insert(&key, slot)) == Inserted::New;
    }
    let lock = &locks[hand.draw(locks.len() as u64) as usize];
    times.time(Op::Lock, || drop(lock.write()));
    is_right
}

/// Writes the rows to standard output.
///
/// # Errors
///
/// What standard output says, such as that its reader has gone.
pub fn print(rows: &[Row], json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        for row in rows {
            serde_json::to_writer(&mut out, row)?;
            writeln!(out)?;
        }
        return out.flush();
    }
    for rows in rows.chunk_by(|a, b| a.workers == b.workers) {
        let mut table = markdown(["op", "table", "waited", "avg ns", "q1", "median", "q3", "count"]);
        for op in OPS {
            for row in rows.iter().filter(|row| row.op == op) {
                let figures = [row.avg_ns, row.q1_ns, row.median_ns, row.q3_ns, row.count].map(grouped);
                let name = format!("{op:?}").to_lowercase();
                let waited = if row.waited { "yes" } else { "no" };
                table.add_row([name, row.table.to_owned(), waited.to_owned()].into_iter().chain(figures));
            }
        }
        let workers = counted(rows[0].workers, "worker", "workers");
        writeln!(out, "{} slots, {workers}\n{}\n", grouped(rows[0].slots.into()), right(table, 3))?;
    }
    writeln!(
        out,
        "each call timed by itself, less what reading the clock takes; {} of each, by all workers together\n\
         waited: the system put the thread to sleep and counted it; of the other calls some were interrupted\n\
         lock: one of {PARTITIONS} taken exclusively, as often as the tables were called; once for each table's run\n\
         {OURS}: lookups without a lock, inserts and deletes under that of a partition; {BASELINE}: PostgreSQL's present \
         table, modelled, all of them under that of a partition\n{}",
        grouped(CALLS.into()),
        facts(),
    )?;
    out.flush()
}
