//! What a table tells of itself.

use crate::meta::RelaxedCount;
use crate::table::Table;

/// Figures of a map or multimap at about one moment.
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
    /// Buckets that were split off.
    pub splits: u64,
    /// Buckets that were merged.
    pub merges: u64,
    /// Splits that were due and not done, because a writer held a bucket or there was no memory.
    pub split_declined: u64,
    /// Holds of the metapage's lock that counted (0 without feature `stats`).
    pub counted: u64,
    /// Counts that were left pending because the lock was busy (0 without feature `stats`).
    pub deferred: u64,
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
        let figure = |count: &RelaxedCount| count.get().max(0) as u64;
        Stats {
            ntuples: meta.approx().max(0) as u64,
            max_bucket: geometry.max_bucket(),
            high_mask: geometry.high_mask(),
            low_mask: geometry.low_mask(),
            fill_factor: meta.settings.fill_factor,
            primary_pages: u64::from(geometry.max_bucket()) + 1,
            overflow_pages: figure(&meta.overflow_pages),
            splits: figure(&meta.splits),
            merges: figure(&meta.merges),
            split_declined: figure(&meta.split_declined),
            counted: figure(&meta.counted),
            deferred: figure(&meta.deferred),
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
