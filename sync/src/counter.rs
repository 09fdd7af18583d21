//! Counters that threads add to without waiting for each other: [`DeferredCounter`], with a bounded lag and
//! exact when alone, and [`ShardedCounter`], whose additions seldom look at a lock.
//!
//! Why relaxed orderings are enough for `exact` and `sum` to have each addition that happens before them exactly once:
//!
//! * A slot changes by read-modify-writes alone: additions, and swaps by holders of the lock. So each count is taken by
//!   exactly one swap, the first that follows it in the slot's modification order.
//! * What `exact` reads of a slot, by its swap or by a load that finds nothing to take, is in that order no older than
//!   an addition that happens before it. So the count is in what it reads, or an earlier swap in the order has taken
//!   it. That swap was of an earlier section of the lock: of a later one it would happen after our access, which then
//!   could not have read it or what follows it. And an earlier section has added what it took to the total, which the
//!   lock protects.
//! * `sum` loads the slots and the base, and shares the lock with others that sum. By the same argument it can't miss
//!   the addition or a swap of an earlier section, nor read a swap of a later one. So a count is in the slot's value
//!   that it reads or in the base, and not in both.
//! * In the other direction: an addition that the return happens before follows in the slot's order what was read there.

use crate::condlock::CondLock;
use crate::lwlock::LwLock;
use crate::prim::SLOTS;
use crate::prim::atomic::{AtomicI64, Ordering};
use crate::slots::{Slot, Slots};
use core::cmp;

/// What became of an addition to a [`DeferredCounter`].
///
/// ```
/// use sync::{Counted, DeferredCounter};
///
/// let pages = DeferredCounter::new();
/// if let Counted::Now(total) = pages.add(1) {
///     assert_eq!(total, 1); // time to look whether that is enough
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// It is counted, with all that was pending folded in; this is the total.
    Now(i64),
    /// It is deferred: pending until a later addition or [`exact`](DeferredCounter::exact) folds it in.
    Later,
}

/// A counter that is exact while one thread uses it, and lags by a stated bound while many do.
///
/// An addition is counted if the counter's lock is free, else deferred: at most `cap` is pending in each of 32 slots.
/// Nothing pending is ever lost, however threads end (SY-9). See [`CondLock`].
///
/// Totals stop at the bounds of `i64`. Memory: 640 bytes or a little more, and 4 KiB for the slots, allocated by `new`
/// and by nothing else. A count publishes nothing else: it orders no other memory.
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
    /// A counter at 0 whose slots hold at most 32 each: [`max_lag`](Self::max_lag) is 2048.
    ///
    /// ```
    /// let counter = sync::DeferredCounter::new();
    /// assert_eq!(counter.exact(), 0);
    /// ```
    pub fn new() -> Self {
        Self::with_cap(32)
    }

    /// A counter at 0 whose slots hold at most `cap` each; with 0, nothing is ever deferred.
    ///
    /// ```
    /// let counter = sync::DeferredCounter::with_cap(0); // nothing is ever deferred
    /// assert_eq!(counter.add(3), sync::Counted::Now(3));
    /// ```
    pub fn with_cap(cap: u32) -> Self {
        Self { total: CondLock::new(0, cap), published: AtomicI64::new(0) }
    }

    /// Adds `n`. Waits only if the thread's slot is at its cap and the lock is busy: lock-free below the cap, blocking
    /// at it.
    ///
    /// ```
    /// let counter = sync::DeferredCounter::new();
    /// // Alone, a thread finds the lock free.
    /// assert_eq!(counter.add(3), sync::Counted::Now(3));
    /// ```
    pub fn add(&self, n: i32) -> Counted {
        self.total.update(n, |total| self.publish(*total)).map_or(Counted::Later, Counted::Now)
    }

    fn publish(&self, total: i64) -> i64 {
        // Relaxed: a count, which publishes nothing else; holders of the lock take turns.
        self.published.store(total, Ordering::Relaxed);
        total
    }

    /// The count without what is pending: one load, wait-free. Off by at most [`max_lag`](Self::max_lag), and
    /// the additions under way (SY-12).
    ///
    /// ```
    /// let counter = sync::DeferredCounter::new();
    /// counter.add(3);
    /// assert!((3 - counter.approx()).unsigned_abs() <= counter.max_lag());
    /// ```
    pub fn approx(&self) -> i64 {
        // Relaxed: as in `publish`.
        self.published.load(Ordering::Relaxed)
    }

    /// The count: every addition that happens before the call, and of the others only those that are under way
    /// (SY-12). An addition happens before it on the same thread, or by way of anything that synchronizes: a join, a
    /// channel, a flag stored with `Release` and seen with `Acquire`.
    ///
    /// Blocking: waits for the lock.
    ///
    /// ```
    /// let counter = sync::DeferredCounter::new();
    /// std::thread::scope(|s| {
    ///     for _ in 0..4 {
    ///         s.spawn(|| counter.add(10));
    ///     }
    /// });
    /// assert_eq!(counter.exact(), 40);
    /// ```
    pub fn exact(&self) -> i64 {
        self.publish(*self.total.lock())
    }

    /// The most that [`approx`](Self::approx) can be off by, in either direction: `cap` x 32 x 2, twice what the slots
    /// hold, since they may fill again while what they held is being folded in.
    ///
    /// ```
    /// assert_eq!(sync::DeferredCounter::with_cap(32).max_lag(), 2048);
    /// ```
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

/// A counter in 32 shards: an addition writes one line, its thread's shard. A shard that holds 256 or more, either way,
/// is folded into the base.
///
/// Sums wrap at the bounds of `i64`. Memory: 384 bytes or a little more, and 4 KiB for the shards, allocated by `new`
/// and by nothing else. A count publishes nothing else: it orders no other memory.
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

    /// The most that [`approx`](Self::approx) can be off by, but for the additions under way.
    ///
    /// ```
    /// assert_eq!(sync::ShardedCounter::MAX_LAG, 16_896);
    /// ```
    pub const MAX_LAG: u64 = Self::SLACK as u64;

    /// A counter at 0.
    ///
    /// ```
    /// let counter = sync::ShardedCounter::new();
    /// assert_eq!(counter.sum(), 0);
    /// ```
    pub fn new() -> Self {
        Self { base: AtomicI64::new(0), shards: Slots::new(), folding: LwLock::new(()) }
    }

    /// Adds `n`. Wait-free as long as the shard holds less than 256 either way; beyond that it folds the shard into
    /// the base, and from 512 on it may wait for others that do. Sums beyond the type's range wrap.
    ///
    /// ```
    /// let counter = sync::ShardedCounter::new();
    /// counter.add(5);
    /// counter.add(-2);
    /// assert_eq!(counter.sum(), 3);
    /// ```
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

    /// The count without what is in the shards: one load, wait-free. Off by at most 16,896 (2 x 256 x 33), and the
    /// additions under way (SY-12).
    ///
    /// ```
    /// let counter = sync::ShardedCounter::new();
    /// counter.add(100);
    /// assert_eq!(counter.approx(), 0); // still in its shard
    /// counter.add(1_000_000);
    /// assert_eq!(counter.approx(), 1_000_100);
    /// ```
    pub fn approx(&self) -> i64 {
        // Relaxed: as in `fold`.
        self.base.load(Ordering::Relaxed)
    }

    /// The count: every addition that happens before the call, and of the others only those that are under way (SY-12).
    /// 33 loads. Blocking: waits for those who fold.
    ///
    /// ```
    /// let counter = sync::ShardedCounter::new();
    /// std::thread::scope(|s| {
    ///     for _ in 0..4 {
    ///         s.spawn(|| counter.add(10));
    ///     }
    /// });
    /// assert_eq!(counter.sum(), 40);
    /// ```
    pub fn sum(&self) -> i64 {
        let _nobody_folds = self.folding.read();
        self.approx().wrapping_add(self.shards.pending())
    }

    /// How the count compares with `value`: one load if they are more than 16,896 apart, else a [`sum`](Self::sum),
    /// with what that says of the additions under way.
    ///
    /// ```
    /// let counter = sync::ShardedCounter::new();
    /// counter.add(100);
    /// assert!(counter.compare(99).is_gt() && counter.compare(100).is_eq());
    /// ```
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

#[cfg(test)]
mod tests {
    use std::thread;

    use super::{BATCH, ShardedCounter};

    /// Adds `n` on another thread while this one keeps folds from beginning; whether it waited for the end of that.
    fn waits(counter: &ShardedCounter, n: i64) -> bool {
        let nobody_folds = counter.folding.read();
        thread::scope(|s| {
            let adder = s.spawn(|| counter.add(n));
            while !adder.is_finished() {
                if counter.folding.has_waiters() {
                    drop(nobody_folds);
                    return true;
                }
                thread::yield_now();
            }
            false
        })
    }

    #[test]
    fn a_shard_is_folded_from_256_on_and_waits_for_that_from_512_on() {
        let batch = BATCH as i64;
        for sign in [1, -1] {
            let counter = ShardedCounter::new();
            counter.add(sign * (batch - 1));
            assert_eq!(counter.approx(), 0);
            counter.add(sign);
            assert_eq!(counter.approx(), sign * batch);
            for (n, expected) in
                [(batch, false), (2 * batch - 1, false), (2 * batch, true), (3 * batch, true)]
            {
                let counter = ShardedCounter::new();
                assert_eq!(waits(&counter, sign * n), expected, "{n}");
                assert_eq!(counter.approx(), if expected { sign * n } else { 0 });
                assert_eq!(counter.sum(), sign * n);
            }
        }
    }
}
