//! Pool mode: the trace's lookups through a buffer pool, on one thread or several.

use std::ops::Range;
use std::time::Instant;

use hdrhistogram::Histogram;

use super::{Answers, Pass, ReplayError, Run};
use crate::crew;
use crate::latency::{Stopwatch, Timed, Untimed};
use crate::pool::{Pool, PoolCounts, PoolError};
use crate::table::{BufferTag, Table};

/// What every pass of pool mode needs.
#[derive(Debug)]
pub struct Input<'a> {
    /// The tags, in the order of the trace.
    pub lookups: &'a [BufferTag],
    /// The size of the pool.
    pub frames: u32,
    /// How many threads share the lookups, each with a range of its own.
    pub threads: u32,
    /// What one thread must come to.
    pub right_answers: Answers,
}

/// What one thread saw.
struct Part<S> {
    start: Instant,
    end: Instant,
    counts: PoolCounts,
    watch: S,
}

/// One pass of a table, checked: against the right answers with one thread, against itself with several.
///
/// # Errors
///
/// [`ReplayError::Disagrees`] or [`ReplayError::Pool`], when the figures or the mappings are wrong.
pub fn pass<T: Table>(input: &Input<'_>, pass: Pass) -> Result<Run, ReplayError> {
    let run = match pass {
        Pass::Check | Pass::Throughput => run::<T, _>(input, &Untimed),
        Pass::Latency { clock_cost_ns } => run::<T, _>(input, &Timed::new(clock_cost_ns)),
    };
    let run = run.map_err(|error| ReplayError::Pool { table: T::NAME, error })?;
    if input.threads == 1 {
        run.answers.expect(T::NAME, &input.right_answers)?;
    } else {
        add_up(T::NAME, input, &run.answers)?;
    }
    Ok(run)
}

/// What must hold however the threads met: each lookup is a hit or a miss, and what was loaded and not
/// evicted is mapped.
fn add_up(table: &'static str, input: &Input<'_>, answers: &Answers) -> Result<(), ReplayError> {
    let sums = [
        ("hits + misses", answers.hits + answers.misses, input.lookups.len() as u64),
        ("mapped + evictions", answers.mapped.count as u64 + answers.evictions, answers.misses),
    ];
    match sums.into_iter().find(|(_, found, expected)| found != expected) {
        None => Ok(()),
        Some((field, found, expected)) => {
            let (found, expected) = (found.to_string(), expected.to_string());
            Err(ReplayError::Disagrees { table, field, found, expected })
        }
    }
}

fn run<T: Table, S: Stopwatch>(input: &Input<'_>, watch: &S) -> Result<Run, PoolError> {
    let pool = Pool::<T>::with_frames(input.frames);
    let work = |thread| {
        let lookups = &input.lookups[range(input.lookups.len(), input.threads, thread)];
        one_thread(&pool, lookups, watch.clone())
    };
    let parts = crew::run(input.threads, work, || ());
    let parts = parts.map_err(|error| PoolError::NoThread { reason: error.to_string() })?;
    sum(&pool, parts.into_iter().collect::<Result<_, _>>()?)
}

/// The `thread`-th of `threads` contiguous ranges of nearly the same length.
fn range(len: usize, threads: u32, thread: u32) -> Range<usize> {
    let bound = |thread: u32| len * thread as usize / threads as usize;
    bound(thread)..bound(thread + 1)
}

fn one_thread<T: Table, S: Stopwatch>(
    pool: &Pool<T>,
    lookups: &[BufferTag],
    mut watch: S,
) -> Result<Part<S>, PoolError> {
    let mut counts = PoolCounts::default();
    let start = Instant::now();
    for tag in lookups {
        watch.time(|| pool.access(tag, &mut counts))?;
    }
    Ok(Part { start, end: Instant::now(), counts, watch })
}

fn sum<T: Table, S: Stopwatch>(pool: &Pool<T>, parts: Vec<Part<S>>) -> Result<Run, PoolError> {
    let first_start = parts.iter().map(|part| part.start).min();
    let last_end = parts.iter().map(|part| part.end).max();
    let wall = last_end.zip(first_start).map_or_else(Default::default, |(end, start)| end - start);
    let mut counts = PoolCounts::default();
    let mut latency: Option<Histogram<u64>> = None;
    for part in parts {
        counts.hits += part.counts.hits;
        counts.misses += part.counts.misses;
        counts.evictions += part.counts.evictions;
        if let Some(times) = part.watch.into_histogram() {
            match &mut latency {
                Some(all) => *all += times,
                None => latency = Some(times),
            }
        }
    }
    // Read before the check below, whose own lookups are none of the trace's.
    let (lookup_counts, memory_bytes) = (pool.table().lookup_counts(), pool.table().memory_bytes());
    let PoolCounts { hits, misses, evictions } = counts;
    let mapped = pool.check()?;
    let answers = Answers { hits, misses, evictions, insert_exists: 0, delete_absent: 0, digest: 0, mapped };
    Ok(Run { wall_ns: wall.as_nanos() as u64, answers, lookup_counts, memory_bytes, latency })
}
