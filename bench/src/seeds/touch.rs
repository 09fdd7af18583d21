//! What an insert touches: how many cache lines it writes that other threads write too. Unlike time, that does not
//! depend on how many cores the machine has.
//!
//! How often each thing happened is counted by lhash (feature `stats`); how many lines each writes follows from where
//! the words lie, and is here. A line is what `CachePadded` keeps apart, 128 bytes. Three sorts:
//!
//! * *common* lines, which all threads write: the metapage's lock with the count it guards, the count published for
//!   those who don't hold it, the marks of pending counts, the numbers of overflow pages, the geometry;
//! * lines *of a group* of threads: the slot of pending counts (32 of them), the numbers of free nodes (16);
//! * lines *of the key*: two of its bucket. Threads meet there if their keys do.

use lhash::Stats;
use serde::Serialize;

use super::Policy;

/// The lock with its count, and the published count.
const OF_A_HOLD: f64 = 2.0;
/// The marks: of a wait at the cap, a fold, or a count left in an empty slot.
const OF_MARKS: f64 = 1.0;
/// The list of page numbers. (The figures of pages and splits are beside the published count.)
const OF_A_PAGE: f64 = 1.0;
/// The geometry.
const OF_A_SPLIT: f64 = 1.0;
/// The numbers that all threads fetch from, every 32nd insert.
const OF_NODE_NUMBERS: f64 = 1.0 / 32.0;
/// The lock under which shards are summed up.
const OF_A_SUM: f64 = 1.0;
/// Every how many inserts a thread with the shards compares their sum with the threshold.
const COMPARES_EVERY: f64 = 8.0;
/// After how many inserts a shard is folded.
const FOLDS_EVERY: f64 = 256.0;
/// The lines of the bucket of a key: its head, and a slot.
pub const OF_THE_KEY: f64 = 2.0;

/// What the inserts of a load came to, each per insert.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Touched {
    /// Holds of the metapage's lock.
    pub holds: f64,
    /// Waits for it.
    pub waits: f64,
    /// Counts left pending.
    pub deferrals: f64,
    /// Holds that took what others had left.
    pub folds: f64,
    /// Overflow pages added.
    pub pages: f64,
    /// Buckets split off.
    pub splits: f64,
    /// Common lines written, at most: a deferral is taken to find its slot empty.
    pub common_lines: f64,
    /// Lines of a group of threads written.
    pub group_lines: f64,
}

impl Touched {
    /// Of an index that was filled by so many inserts.
    #[must_use]
    pub fn of(policy: Policy, stats: &Stats, inserts: u64) -> Self {
        let per_insert = |count: u64| count as f64 / inserts.max(1) as f64;
        let [holds, waits, deferrals, folds, pages, splits] =
            [stats.counted, stats.waited, stats.deferred, stats.folded, stats.flushed, stats.splits]
                .map(per_insert);
        let marks = match policy {
            Policy::Deferred => waits + folds + deferrals,
            Policy::Exact | Policy::Quiet => waits,
            Policy::OverflowSignal | Policy::Sharded => 0.0,
        };
        let sums = if policy == Policy::Sharded { holds * OF_A_SUM + 2.0 / FOLDS_EVERY } else { 0.0 };
        let own_slot = match policy {
            Policy::Deferred | Policy::Quiet => deferrals + folds,
            Policy::Sharded => 1.0,
            Policy::Exact | Policy::OverflowSignal => 0.0,
        };
        Self {
            holds,
            waits,
            deferrals,
            folds,
            pages,
            splits,
            common_lines: holds * OF_A_HOLD
                + marks * OF_MARKS
                + sums
                + pages * OF_A_PAGE
                + splits * OF_A_SPLIT
                + OF_NODE_NUMBERS,
            group_lines: 1.0 + own_slot,
        }
    }
}

/// The common lines that counting one insert writes if the metapage's lock is always free.
#[must_use]
pub fn when_free(policy: Policy) -> f64 {
    match policy {
        Policy::Exact | Policy::Deferred | Policy::Quiet => OF_A_HOLD,
        Policy::OverflowSignal => 0.0,
        Policy::Sharded => (OF_A_HOLD + OF_A_SUM) / COMPARES_EVERY + 2.0 / FOLDS_EVERY,
    }
}

/// The same if the lock is always found busy, and is got by those who wait for it.
#[must_use]
pub fn when_busy(policy: Policy) -> f64 {
    let of_a_wait = OF_A_HOLD + OF_MARKS;
    let inserts = f64::from(super::CAP + 1);
    match policy {
        Policy::Exact => of_a_wait,
        Policy::OverflowSignal => 0.0,
        // The first of 32 finds its slot empty and marks it; the next one waits.
        Policy::Deferred => (OF_MARKS + of_a_wait) / inserts,
        Policy::Quiet => of_a_wait / inserts,
        Policy::Sharded => 2.0 / FOLDS_EVERY,
    }
}

#[cfg(test)]
mod tests {
    use super::{OF_A_PAGE, OF_A_SPLIT, OF_NODE_NUMBERS, Touched, when_busy, when_free};
    use crate::seeds::Policy;

    #[test]
    fn alone_the_counts_come_to_what_the_lines_of_a_free_lock_say() {
        for policy in Policy::ALL {
            let index = policy.index().unwrap();
            (0..20_000).for_each(|key| index.pin().insert(key, key));
            let touched = Touched::of(policy, &index.stats(), 20_000);
            let rest = touched.pages * OF_A_PAGE + touched.splits * OF_A_SPLIT + OF_NODE_NUMBERS;
            let told = if policy == Policy::OverflowSignal { touched.holds * 2.0 } else { 0.0 };
            let counting = touched.common_lines - rest - told;
            let expected = when_free(policy);
            assert!((counting - expected).abs() < 0.05, "{policy:?}: {counting} {expected} {touched:?}");
            assert_eq!((touched.waits, touched.deferrals, touched.folds), (0.0, 0.0, 0.0), "{policy:?}");
        }
    }

    #[test]
    fn deferring_writes_a_twentieth_of_the_lines_when_the_lock_is_busy() {
        assert_eq!(when_busy(Policy::Exact), 3.0);
        assert_eq!(when_busy(Policy::Deferred), 4.0 / 33.0);
        assert_eq!(when_busy(Policy::Quiet), 3.0 / 33.0);
    }
}
