//! `LHashMultiMap`: a key that all add values to, and values of each thread's own, which are vacuumed.

use super::{Subject, Work, ensure};
use lhash::{CountPolicy, DefaultHashBuilder, LHashMultiMap, ShrinkPolicy};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many keys there are.
const KEYS: u64 = 64;
/// How many own values a thread has at most.
const MOST: u64 = 2_000;
const BATCH: u64 = 128;

/// A thread and a number, in memory of their own.
type Value = Box<(usize, u64)>;

pub(crate) struct Multi<const N: usize> {
    name: String,
    map: LHashMultiMap<u64, Value, DefaultHashBuilder, N>,
    counts_all: bool,
    /// How many values each thread has, numbered from the first it has not removed.
    owned: Vec<Owned>,
}

#[derive(Default)]
struct Owned {
    first: AtomicU64,
    next: AtomicU64,
}

impl Owned {
    /// The numbers of a thread's values; for that thread, or at rest.
    fn range(&self) -> core::ops::Range<u64> {
        // Relaxed: the thread's own.
        self.first.load(Ordering::Relaxed)..self.next.load(Ordering::Relaxed)
    }
}

fn key(n: u64) -> u64 {
    n % KEYS
}

impl<const N: usize> Multi<N> {
    pub(crate) fn new(name: String, policy: CountPolicy, threads: usize) -> Self {
        let builder = LHashMultiMap::builder().page_slots::<N>().fill_factor(2).count_policy(policy);
        let builder = builder.shrink(ShrinkPolicy::Below { percent: 70 });
        let map = builder.build().expect("these settings are valid");
        let owned = (0..threads).map(|_| Owned::default()).collect();
        Self { name, map, counts_all: policy != CountPolicy::OverflowSignal, owned }
    }

    fn add(&self, thread: usize) {
        let owned = &self.owned[thread];
        let n = owned.range().end;
        self.map.pin().insert(key(n), Box::new((thread, n)));
        owned.next.store(n + 1, Ordering::Relaxed); // Relaxed: the thread's own.
    }

    /// Removes the oldest of the thread's values.
    fn remove(&self, thread: usize) -> Result<(), String> {
        let owned = &self.owned[thread];
        let Some(n) = owned.range().next() else { return Ok(()) };
        let pin = self.map.pin();
        let removed = pin.remove_one(&key(n), &Box::new((thread, n))).map(|value| **value);
        ensure(removed == Some((thread, n)), || format!("{n} of thread {thread} was {removed:?}"))?;
        owned.first.store(n + 1, Ordering::Relaxed); // Relaxed: the thread's own.
        Ok(())
    }

    /// The thread's values of one key, as they are at one moment.
    fn count(&self, thread: usize, of: u64) -> Result<(), String> {
        let expected = self.owned[thread].range().filter(|&n| key(n) == of).count();
        let pin = self.map.pin();
        let found = pin.get_all(&of).filter(|value| value.0 == thread).count();
        ensure(found == expected, || {
            format!("key {of} has {found} values of thread {thread}, not {expected}")
        })?;
        ensure(expected == 0 || pin.contains(&of), || format!("key {of} is not there"))
    }

    /// Vacuums all of the thread's values but the newest.
    fn vacuum(&self, thread: usize, keep: u64) -> Result<(), String> {
        let owned = &self.owned[thread];
        let range = owned.range();
        let first = range.end.saturating_sub(keep).max(range.start);
        let vacuumed = self.map.pin().vacuum(|_, value| value.0 == thread && value.1 < first);
        let expected = first - range.start;
        ensure(vacuumed.removed == expected, || format!("{vacuumed:?}, but {expected} were dead"))?;
        owned.first.store(first, Ordering::Relaxed); // Relaxed: the thread's own.
        Ok(())
    }
}

impl<const N: usize> Subject for Multi<N> {
    fn name(&self) -> &str {
        &self.name
    }

    fn churn(&self, Work { thread, rng }: Work<'_>) -> Result<u64, String> {
        let range = self.owned[thread].range();
        let grow = range.end - range.start < MOST && rng.bool();
        for _ in 0..BATCH {
            match rng.u8(0..8) {
                0 => self.count(thread, rng.u64(0..KEYS))?,
                1..4 => self.remove(thread)?,
                _ if grow => self.add(thread),
                _ => self.remove(thread)?,
            }
        }
        match rng.u8(0..128) {
            0 => self.vacuum(thread, rng.u64(0..500))?,
            1 => self.map.pin().shrink_to_fit(),
            _ => {}
        }
        Ok(BATCH)
    }

    fn look(&self) -> Result<(), String> {
        let stats = self.map.stats();
        let (pending, lag) = (stats.pending.unsigned_abs(), stats.max_lag);
        ensure(lag.is_none_or(|lag| pending <= lag), || format!("{pending} are pending, {lag:?} at most"))
    }

    fn check(&self) -> Result<(), String> {
        self.map.validate()?;
        let (entries, exact) = (self.map.pin().iter().count(), self.map.exact_len());
        let owned: u64 = self.owned.iter().map(|owned| owned.range().end - owned.range().start).sum();
        ensure(entries as u64 == owned, || {
            format!("{entries} are listed, {owned} were added and not removed")
        })?;
        ensure(exact == entries || !self.counts_all, || format!("{entries} are listed, {exact} counted"))?;
        for thread in 0..self.owned.len() {
            (0..KEYS).try_for_each(|of| self.count(thread, of))?;
        }
        self.look()
    }
}
