//! Inserts by several threads: without a log, with one, and with an fsync for each.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use lhash::LHashMap;
use lhash::redo::{self, LoggedMap, Options};

use super::{Durability, Policy, RedoBenchError, Row, What, ensure, folder, key, value};
use crate::crew::{self, Shift};
use crate::latency::{Stopwatch, Timed, empty_histogram};
use crate::rounds::median;

/// What is measured in one place of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// How entries are counted.
    pub policy: Policy,
    /// When an insert's call returns.
    pub durability: Durability,
    /// The number of threads.
    pub threads: u32,
}

/// What a round came to.
#[derive(Debug)]
pub struct Round {
    ops: u64,
    ops_per_s: f64,
    times: Histogram<u64>,
    fsyncs: Option<u64>,
    bytes: Option<u64>,
}

/// Something that takes inserts.
trait Sink: Sync {
    fn insert(&self, key: u64) -> Result<(), RedoBenchError>;
}

impl Sink for LHashMap<u64, u64> {
    fn insert(&self, key: u64) -> Result<(), RedoBenchError> {
        self.pin().insert(key, value(key));
        Ok(())
    }
}

impl Sink for LoggedMap<u64, u64> {
    fn insert(&self, key: u64) -> Result<(), RedoBenchError> {
        self.pin().insert(key, value(key))?;
        Ok(())
    }
}

/// The naive log: one lock, and under it a write and an fsync for each insert.
struct FsyncEach {
    map: LHashMap<u64, u64>,
    file: Mutex<File>,
}

/// As many bytes as an insert's record has here: length, checksum, kind, bucket, hash, key and value.
const NAIVE_RECORD: usize = 33;

impl Sink for FsyncEach {
    fn insert(&self, key: u64) -> Result<(), RedoBenchError> {
        let mut record = [0; NAIVE_RECORD];
        record[..8].copy_from_slice(&key.to_le_bytes());
        record[8..16].copy_from_slice(&value(key).to_le_bytes());
        let mut file = self.file.lock().expect("no thread panics with it");
        file.write_all(&record)?;
        file.sync_data()?;
        self.map.pin().insert(key, value(key));
        Ok(())
    }
}

impl Case {
    fn plain(&self) -> Result<LHashMap<u64, u64>, RedoBenchError> {
        let map = LHashMap::builder().count_policy(self.policy.count_policy()).build();
        map.map_err(|error| RedoBenchError::Wrong(error.to_string()))
    }

    pub(crate) fn logged(&self, path: &Path) -> Result<LoggedMap<u64, u64>, RedoBenchError> {
        let durability = match self.durability {
            Durability::Sync => redo::Durability::Sync,
            _ => redo::Durability::Buffered,
        };
        Ok(Options::new().count_policy(self.policy.count_policy()).durability(durability).create(path)?)
    }

    /// Inserts for a while, and checks that all is there: with a log, also after recovery.
    ///
    /// # Errors
    ///
    /// If the log fails, or if an entry is missing.
    pub fn round(&self, slice: Duration, clock_cost_ns: u64) -> Result<Round, RedoBenchError> {
        let dir = folder()?;
        let path = dir.path().join("log");
        match self.durability {
            Durability::Off => {
                let map = self.plain()?;
                let round = insert(&map, self.threads, slice, clock_cost_ns)?;
                check(map.len(), round.ops)?;
                Ok(round)
            }
            Durability::FsyncEach => {
                let sink = FsyncEach { map: self.plain()?, file: Mutex::new(File::create_new(&path)?) };
                let mut round = insert(&sink, self.threads, slice, clock_cost_ns)?;
                check(sink.map.len(), round.ops)?;
                round.fsyncs = Some(round.ops);
                round.bytes = Some(std::fs::metadata(&path)?.len());
                Ok(round)
            }
            Durability::Buffered | Durability::Sync => {
                let map = self.logged(&path)?;
                let start = map.lsn();
                let mut round = insert(&map, self.threads, slice, clock_cost_ns)?;
                round.fsyncs = Some(map.fsyncs());
                round.bytes = Some(map.lsn() - start);
                map.flush()?;
                drop(map);
                let (map, _): (LoggedMap<u64, u64>, _) = redo::open(&path)?;
                check(map.len(), round.ops)?;
                Ok(round)
            }
        }
    }

    /// A row of the median round.
    #[must_use]
    pub fn row(&self, rounds: &[Round]) -> Row {
        let mut times = empty_histogram();
        rounds.iter().for_each(|round| times += &round.times);
        let ops: u64 = rounds.iter().map(|round| round.ops).sum();
        let each = |of: fn(&Round) -> Option<u64>| {
            let sum: Option<u64> = rounds.iter().map(of).sum();
            sum.map(|sum| sum as f64 / ops.max(1) as f64)
        };
        let hundredths = |x: f64| (x * 100.0).round() / 100.0;
        Row {
            ops_per_s: Some(median(rounds.iter().map(|round| round.ops_per_s)).round()),
            p99_ns: Some(times.value_at_quantile(0.99)),
            fsyncs_per_1000: each(|round| round.fsyncs).map(|each| hundredths(each * 1000.0)),
            bytes_per_insert: each(|round| round.bytes).map(hundredths),
            ..Row::new(What::Insert, self.policy, self.durability, self.threads)
        }
    }
}

fn check(len: usize, inserted: u64) -> Result<(), RedoBenchError> {
    ensure(len as u64 == inserted, || format!("{inserted} entries were inserted, {len} are there"))
}

fn insert(
    sink: &impl Sink,
    threads: u32,
    slice: Duration,
    clock_cost_ns: u64,
) -> Result<Round, RedoBenchError> {
    let shift = crew::shift(threads, slice, |thread, stop| {
        let (mut watch, mut step, mut failed) = (Timed::new(clock_cost_ns), 0, None);
        let start = Instant::now();
        stop.repeat_until_asked(|| {
            if failed.is_none() {
                let done = watch.time(|| sink.insert(key(u64::from(thread), step)));
                step += u64::from(done.is_ok());
                failed = done.err();
            }
        });
        Part { step, start, end: Instant::now(), times: watch.into_histogram(), failed }
    });
    sum(shift?)
}

/// What one thread came to.
struct Part {
    step: u64,
    start: Instant,
    end: Instant,
    times: Option<Histogram<u64>>,
    failed: Option<RedoBenchError>,
}

/// To the end of the last insert, which may come long after the threads are told to stop.
fn sum(shift: Shift<Part>) -> Result<Round, RedoBenchError> {
    let (mut ops, mut times) = (0, empty_histogram());
    let span = shift.parts.iter().map(|part| (part.start, part.end));
    let span = span.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    for part in shift.parts {
        if let Some(error) = part.failed {
            return Err(error);
        }
        ops += part.step;
        if let Some(part) = part.times {
            times += part;
        }
    }
    let seconds = span.map_or(f64::MIN_POSITIVE, |(start, end)| (end - start).as_secs_f64());
    Ok(Round { ops, ops_per_s: ops as f64 / seconds, times, fsyncs: None, bytes: None })
}
