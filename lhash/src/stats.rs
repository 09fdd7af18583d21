//! What a table tells of itself.

use crate::table::Table;
use sync::prim::atomic::{AtomicI64, Ordering};

/// A figure of the statistics, or a count that nothing is decided by.
#[derive(Debug, Default)]
pub(crate) struct RelaxedCount(AtomicI64);

impl RelaxedCount {
    pub(crate) fn add(&self, n: i64) {
        // Relaxed: a figure.
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn set(&self, n: i64) {
        // Relaxed: a figure.
        self.0.store(n, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> i64 {
        // Relaxed: a figure.
        self.0.load(Ordering::Relaxed)
    }
}

/// A figure, and with feature `stats` the most that it ever was.
#[derive(Debug, Default)]
pub(crate) struct HighCount {
    now: AtomicI64,
    #[cfg(feature = "stats")]
    most: AtomicI64,
}

impl HighCount {
    pub(crate) fn add(&self, n: i64) {
        // Relaxed: a figure.
        let before = self.now.fetch_add(n, Ordering::Relaxed);
        #[cfg(feature = "stats")]
        // Relaxed: a figure.
        self.most.fetch_max(before + n, Ordering::Relaxed);
        #[cfg(not(feature = "stats"))]
        let _ = before;
    }

    pub(crate) fn get(&self) -> i64 {
        // Relaxed: a figure.
        self.now.load(Ordering::Relaxed)
    }

    /// 0 without feature `stats`.
    pub(crate) fn most(&self) -> i64 {
        #[cfg(feature = "stats")]
        // Relaxed: a figure.
        return self.most.load(Ordering::Relaxed);
        #[cfg(not(feature = "stats"))]
        0
    }
}

/// Figures of a map or multimap at about one moment.
///
/// ```
/// let map: lhash::LHashMap<u64, u64> = (0..1000).map(|key| (key, key)).collect();
/// let stats = map.stats();
/// assert!(stats.ntuples == 1000 && stats.max_bucket > 100);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The count of entries, with what is pending.
    pub ntuples: u64,
    /// The number of the highest bucket; there is one more.
    pub max_bucket: u32,
    /// The mask that covers all buckets.
    pub high_mask: u32,
    /// The mask that covered them when this round of splits began.
    pub low_mask: u32,
    /// Entries a bucket has on average before one is split.
    pub fill_factor: u32,
    /// Primary pages: one a bucket.
    pub primary_pages: u64,
    /// Overflow pages that are part of a chain.
    pub overflow_pages: u64,
    /// The most overflow pages that were part of a chain at a time (0 without feature `stats`).
    pub max_overflow_pages: u64,
    /// Buckets that were split off.
    pub splits: u64,
    /// Buckets that were merged.
    pub merges: u64,
    /// Splits that were due and not done, because a writer held a bucket or there was no memory.
    pub split_declined: u64,
    /// Holds of the metapage's lock that counted (0 without feature `stats`).
    pub counted: u64,
    /// Counts that met the lock busy and could not be left pending, so that they waited (0 without feature `stats`).
    pub waited: u64,
    /// Counts that were left pending because the lock was busy (0 without feature `stats`).
    pub deferred: u64,
    /// Holds that found counts pending and took them (0 without feature `stats`).
    pub folded: u64,
    /// Counts that waited for the lock because an insert took another overflow page.
    pub flushed: u64,
    /// Pending counts now.
    pub pending: i64,
    /// The most that the metapage's count can lag behind; `None` if there is no bound.
    pub max_lag: Option<u64>,
    /// Bytes of buckets, overflow pages and nodes, whether in use or not.
    pub memory_bytes: usize,
}

impl<T, const N: usize> Table<T, N> {
    pub(crate) fn stats(&self) -> Stats {
        let geometry = self.geometry();
        let meta = &*self.meta;
        let totals = meta.tally.totals();
        let figure = |count: &RelaxedCount| count.get().max(0) as u64;
        Stats {
            ntuples: meta.approx().max(0) as u64,
            max_bucket: geometry.max_bucket(),
            high_mask: geometry.high_mask(),
            low_mask: geometry.low_mask(),
            fill_factor: meta.settings.fill_factor,
            primary_pages: u64::from(geometry.max_bucket()) + 1,
            overflow_pages: meta.overflow_pages.get().max(0) as u64,
            max_overflow_pages: meta.overflow_pages.most().max(0) as u64,
            splits: figure(&meta.splits),
            merges: figure(&meta.merges),
            split_declined: figure(&meta.split_declined),
            counted: totals.counted,
            waited: totals.waited,
            deferred: totals.deferred,
            folded: totals.folded,
            flushed: figure(&meta.flushed),
            pending: meta.pending(),
            max_lag: meta.max_lag(),
            memory_bytes: self.memory_bytes(),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.buckets.bytes() + self.overflow.bytes() + self.nodes.bytes()
    }
}
