//! From an empty map to a full one and back: what inserting and removing cost, and what it holds meanwhile.
//!
//! The threads insert the entries, each a part, into a map that begins empty and grows; then they remove all, in
//! another order. Every insert and remove has to say that it did something. Next: `steady.rs`, maps that stay full.

use std::time::{Duration, Instant};

use super::keys::{Key, Order, difference, value_of};
use super::steady::{Filled, Stage};
use super::tables::{Batch, ConcurrentMap};
use super::{BATCH, Case};
use crate::counting::Count;
use crate::crew;
use crate::growth::Plan;
use crate::growth::grow::{self as growth, Grown};
use crate::rounds::{Outcome, Pass};
use crate::sync::{Sample, SyncError, check};

/// A map that takes part.
#[derive(Debug, Clone, Copy)]
pub struct Entrant {
    /// Its name.
    pub name: &'static str,
    /// Lets one grow and shrink, and counts the bytes.
    pub memory: fn(&Case) -> Result<Memory, SyncError>,
    /// Lets some grow and shrink, for about as long as that.
    pub life: fn(&Case, Pass, Duration) -> Result<Life, SyncError>,
    /// Lets one grow and shrink at a fixed rate; the second argument is called after each step.
    pub growth: fn(&Plan, &dyn Fn()) -> Result<Grown, SyncError>,
    /// A full one.
    pub stage: fn(&Case) -> Result<Box<dyn Stage>, SyncError>,
}

/// The map of that type.
#[must_use]
pub fn entrant<M: ConcurrentMap<K>, K: Key>() -> Entrant {
    Entrant {
        name: M::NAME,
        memory: memory::<M, K>,
        life: life::<M, K>,
        growth: growth::grow::<M, K>,
        stage: |case| Ok(Box::new(Filled::<M, K>::new(case)?)),
    }
}

/// How many bytes a map holds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory {
    /// For each entry, once all are inserted: those that were requested.
    pub bytes_per_entry: Option<f64>,
    /// For each entry there was, once all are removed and the map has given back what it can.
    pub left_per_entry: Option<f64>,
}

/// What growing and shrinking took.
#[derive(Debug)]
pub struct Life {
    /// From empty to full.
    pub grown: Sample,
    /// From full to empty.
    pub shrunk: Sample,
}

/// The rounds are judged apart, by [`Life::grown`] and [`Life::shrunk`].
impl Outcome for Life {
    fn time_ns(&self) -> f64 {
        self.grown.time_ns() + self.shrunk.time_ns()
    }

    fn latency(&self) -> Option<&hdrhistogram::Histogram<u64>> {
        None
    }
}

/// Lets threads do something with parts of the entries, in batches; how long that took and how often it was `true`.
fn share<M: ConcurrentMap<K>, K: Key>(
    map: &M,
    case: &Case,
    act: impl Fn(&M::Batch<'_>, u64) -> bool + Sync,
) -> Result<(u64, u64), SyncError> {
    let (entries, threads) = (u64::from(case.entries), u64::from(case.threads));
    let work = |thread: u32| {
        let bound = |thread: u64| entries * thread / threads;
        let (mut position, end) = (bound(thread.into()), bound(u64::from(thread) + 1));
        let (start, mut done) = (Instant::now(), 0);
        while position < end {
            let batch = map.batch();
            let batch_end = end.min(position + BATCH);
            (position..batch_end).for_each(|position| done += u64::from(act(&batch, position)));
            position = batch_end;
        }
        (start, Instant::now(), done)
    };
    let parts = crew::run(case.threads, work, || ())?;
    let start = parts.iter().map(|part| part.0).min();
    let end = parts.iter().map(|part| part.1).max();
    let wall = end.zip(start).map_or(Duration::ZERO, |(end, start)| end - start);
    Ok((wall.as_nanos() as u64, parts.iter().map(|part| part.2).sum()))
}

/// Fills an empty map; how long that took.
pub(super) fn grow<M: ConcurrentMap<K>, K: Key>(map: &M, case: &Case) -> Result<u64, SyncError> {
    let (order, entries) = (Order::new(case.entries.into()), u64::from(case.entries));
    let (wall_ns, inserted) = share(map, case, |batch, position| {
        let index = order.at(position);
        batch.insert(K::with(index, |key| key.to_owned()), value_of(index))
    })?;
    check(M::NAME, &[("inserts", inserted, entries), ("entries when full", map.count() as u64, entries)])?;
    Ok(wall_ns)
}

/// Empties a full map; how long that took.
fn shrink<M: ConcurrentMap<K>, K: Key>(map: &M, case: &Case) -> Result<u64, SyncError> {
    let (wall_ns, removed) = share(map, case, |batch, index| K::with(index, |key| batch.remove(key)))?;
    let figures = [("removes", removed, case.entries.into()), ("entries when empty", map.count() as u64, 0)];
    check(M::NAME, &figures)?;
    Ok(wall_ns)
}

/// How many of the indices below `end` are there, and how many of these have another's value.
pub(crate) fn audit<M: ConcurrentMap<K>, K: Key>(map: &M, end: u64) -> Audit {
    let mut audit = Audit::default();
    let mut first = 0;
    while first < end {
        let batch = map.batch();
        for index in first..end.min(first + BATCH) {
            if let Some(value) = K::with(index, |key| batch.get(key)) {
                audit.present += 1;
                audit.wrong += u64::from(difference(value, index) != 0);
                audit.versions += value >> 32;
            }
        }
        first += BATCH;
    }
    audit
}

/// What is in a map.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Audit {
    pub(crate) present: u64,
    pub(crate) wrong: u64,
    pub(crate) versions: u64,
}

fn life<M: ConcurrentMap<K>, K: Key>(case: &Case, pass: Pass, slice: Duration) -> Result<Life, SyncError> {
    let (mut grown_ns, mut shrunk_ns, mut operations) = (0, 0, 0);
    while operations == 0 || Duration::from_nanos(grown_ns) < slice {
        let map = M::empty(case.policy);
        grown_ns += grow::<M, K>(&map, case)?;
        if pass == Pass::Check {
            let audit = audit(&map, 2 * u64::from(case.entries));
            let entries = case.entries.into();
            check(M::NAME, &[("keys", audit.present, entries), ("wrong values", audit.wrong, 0)])?;
        }
        shrunk_ns += shrink::<M, K>(&map, case)?;
        operations += u64::from(case.entries);
    }
    let sample = |wall_ns| Sample::of_workers(case.threads, wall_ns, operations);
    Ok(Life { grown: sample(grown_ns), shrunk: sample(shrunk_ns) })
}

fn memory<M: ConcurrentMap<K>, K: Key>(case: &Case) -> Result<Memory, SyncError> {
    let case = &Case { threads: 1, ..case.clone() };
    let count = Count::begin();
    let mut map = M::empty(case.policy);
    grow::<M, K>(&map, case)?;
    let held = count.held_bytes();
    shrink::<M, K>(&map, case)?;
    map.settle();
    let left = count.held_bytes();
    let per_entry = |bytes: Option<i64>| bytes.map(|bytes| bytes as f64 / f64::from(case.entries));
    Ok(Memory { bytes_per_entry: per_entry(held), left_per_entry: per_entry(left) })
}
