//! Counters that threads add to without waiting for each other: [`DeferredCounter`], with a bounded lag and
//! exact when alone, and [`ShardedCounter`], the fastest to add to.

use crate::condlock::CondLock;
use crate::lwlock::LwLock;
use crate::prim::SLOTS;
use crate::prim::atomic::{AtomicI64, Ordering};
use crate::slots::{Slot, Slots};
use core::cmp;

/// What became of an addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// It is counted, with all that was pending; this is the total.
    Now(i64),
    /// It is pending.
    Later,
}

/// A counter that is exact while one thread uses it, and lags by a stated bound while many do.
///
/// An addition is counted if the counter's lock is free, else left pending: at most `cap` in each of 32 slots.
/// Nothing pending is ever lost, however threads end. See [`CondLock`].
///
/// ```
/// use sync::{Counted, DeferredCounter};
///
/// let counter = DeferredCounter::new();
/// assert_eq!(counter.add(5), Counted::Now(5));
/// assert_eq!(counter.add(-2), Counted::Now(3));
/// assert_eq!(counter.approx(), 3); // one load
/// assert_eq!(counter.exact(), 3);
/// assert_eq!(counter.max_lag(), 2048);
/// ```
#[derive(Debug)]
pub struct DeferredCounter {
    total: CondLock<i64>,
    published: AtomicI64,
}

impl DeferredCounter {
    /// A counter at 0 whose slots hold at most 32.
    pub fn new() -> Self {
        Self::with_cap(32)
    }

    /// A counter at 0 whose slots hold at most `cap`; with 0, nothing is ever deferred.
    pub fn with_cap(cap: u32) -> Self {
        Self { total: CondLock::new(0, cap), published: AtomicI64::new(0) }
    }

    /// Adds `n`. Waits only if the thread's slot is at its cap and the lock is busy.
    pub fn add(&self, n: i32) -> Counted {
        self.total.update(n, |total| self.publish(*total)).map_or(Counted::Later, Counted::Now)
    }

    fn publish(&self, total: i64) -> i64 {
        // Relaxed: a count, which publishes nothing else; holders of the lock take turns.
        self.published.store(total, Ordering::Relaxed);
        total
    }

    /// The count without what is pending: one load, wait-free. Off by at most [`max_lag`](Self::max_lag), and
    /// the additions under way.
    pub fn approx(&self) -> i64 {
        // Relaxed: as in `publish`.
        self.published.load(Ordering::Relaxed)
    }

    /// The count, but for the additions under way. Waits for the lock.
    pub fn exact(&self) -> i64 {
        self.publish(*self.total.lock())
    }

    /// The most that [`approx`](Self::approx) can be off by, in either direction: twice what the slots hold, since
    /// they may fill again while what they held is being published.
    pub fn max_lag(&self) -> u64 {
        2 * self.total.max_lag()
    }
}

impl Default for DeferredCounter {
    fn default() -> Self {
        Self::new()
    }
}

/// A shard that holds as much, either way, is folded into the base if that needs no wait.
const BATCH: u64 = 256;

/// A counter in 32 shards: an addition writes one line, the thread's shard.
///
/// ```
/// use std::cmp::Ordering;
/// use sync::ShardedCounter;
///
/// let free_pages = ShardedCounter::new();
/// free_pages.add(100_000);
/// assert_eq!(free_pages.compare(10), Ordering::Greater); // far off: one load
/// assert_eq!(free_pages.compare(100_000), Ordering::Equal); // near: sums
/// assert_eq!(free_pages.sum(), 100_000);
/// ```
#[derive(Debug)]
pub struct ShardedCounter {
    base: AtomicI64,
    shards: Slots,
    folding: LwLock<()>,
}

impl ShardedCounter {
    /// How far the base can be off, but for the additions under way: every shard just below its limit, and one more
    /// that is being folded.
    const SLACK: i64 = (2 * BATCH * (SLOTS as u64 + 1)) as i64;

    /// A counter at 0.
    pub fn new() -> Self {
        Self { base: AtomicI64::new(0), shards: Slots::new(), folding: LwLock::new(()) }
    }

    /// Adds `n`. Wait-free as long as the shard holds less than 256 either way; beyond that it folds the shard into
    /// the base, and from 512 on it may wait for others that do. Sums beyond the type's range wrap.
    pub fn add(&self, n: i64) {
        let shard = self.shards.mine();
        let held = shard.add(n).unsigned_abs();
        if held >= BATCH {
            self.fold(shard, held);
        }
    }

    #[cold]
    fn fold(&self, shard: &Slot, held: u64) {
        let folding = if held < 2 * BATCH { self.folding.try_write() } else { Some(self.folding.write()) };
        if folding.is_some() {
            // Relaxed: a count, which publishes nothing else; those who fold take turns.
            self.base.store(self.approx().wrapping_add(shard.take()), Ordering::Relaxed);
        }
    }

    /// The count without what is in the shards: one load, wait-free. Off by at most 16,896, and the additions
    /// under way.
    pub fn approx(&self) -> i64 {
        // Relaxed: as in `fold`.
        self.base.load(Ordering::Relaxed)
    }

    /// The count, but for the additions under way. Waits for those who fold.
    pub fn sum(&self) -> i64 {
        let _nobody_folds = self.folding.read();
        self.approx().wrapping_add(self.shards.pending())
    }

    /// How the count compares with `value`: one load if they are far apart, else a [`sum`](Self::sum), with what
    /// that says of the additions under way.
    pub fn compare(&self, value: i64) -> cmp::Ordering {
        let base = self.approx();
        match base.checked_sub(value) {
            Some(distance) if distance > Self::SLACK => cmp::Ordering::Greater,
            Some(distance) if distance < -Self::SLACK => cmp::Ordering::Less,
            _ => self.sum().cmp(&value),
        }
    }
}

impl Default for ShardedCounter {
    fn default() -> Self {
        Self::new()
    }
}
