//! What a table tells about itself.

use crate::key::Key;
use crate::memory::Words;
use crate::table::FlatMap;

/// Counts since the table was made; see [`FlatMap::stats`](crate::FlatMap::stats).
///
/// A lookup is settled by its first try, by a later try without a lock (`retried`), or under the shared lock
/// of its partition (`fallbacks`). The counts are read one after the other: while lookups run, they need not
/// add up.
///
/// ```
/// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
/// table.insert(7, 5)?;
/// let stats = table.stats();
/// assert_eq!((stats.retried, stats.fallbacks), (0, 0)); // nobody was in the way
/// # Ok::<(), flatmap::InsertError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Lookups that found their key without a lock. `None` unless built with feature `stats`: counting each
    /// lookup costs a write to shared memory.
    pub unlocked_hits: Option<u64>,
    /// Lookups that missed without a lock. `None` unless built with feature `stats`.
    pub unlocked_misses: Option<u64>,
    /// Lookups that were settled without a lock, but not by the first try.
    pub retried: u64,
    /// Lookups that took the lock.
    pub fallbacks: u64,
    /// Lookups that took the lock and then found their key.
    pub fallback_hits: u64,
    /// Buckets that were split off.
    pub splits: u64,
    /// Buckets that were merged.
    pub merges: u64,
    /// Bytes of the table that lie on huge pages. `None` if they were not asked for, or where the system doesn't tell. To know,
    /// a file of the system is read, of some kilobytes.
    pub huge_page_bytes: Option<u64>,
}

impl<K: Key, S> FlatMap<K, S> {
    /// How many slots there are.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// assert_eq!(table.slots(), 8);
    /// ```
    pub fn slots(&self) -> u32 {
        self.chains.entries().slots()
    }

    /// How many buckets there are.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// assert!(table.buckets() >= table.slots());
    /// ```
    pub fn buckets(&self) -> u32 {
        self.chains.geometry().load().buckets()
    }

    /// How many partitions there are.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// assert!(table.partitions().is_power_of_two());
    /// ```
    pub fn partitions(&self) -> u32 {
        self.partitions.count()
    }

    /// How many keys are mapped: exact at rest, otherwise within the inserts and removes under way. Reads one
    /// word a partition.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// assert!(table.is_empty());
    /// table.insert(7, 5)?;
    /// assert_eq!((table.len(), table.slots()), (1, 8));
    /// # Ok::<(), flatmap::InsertError>(())
    /// ```
    pub fn len(&self) -> usize {
        self.partitions.all().map(|partition| partition.mapped() as usize).sum()
    }

    /// Whether no key is mapped, as [`len`](Self::len) sees it.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// assert!(table.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.partitions.all().all(|partition| partition.mapped() == 0)
    }

    /// The most slots that there may be.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// assert_eq!(table.max_slots(), 8); // unless the builder was told more
    /// ```
    pub fn max_slots(&self) -> u32 {
        self.chains.entries().most()
    }

    /// The most buckets that there may be.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// assert!(table.max_buckets() >= table.buckets());
    /// ```
    pub fn max_buckets(&self) -> u32 {
        self.resizing.max_buckets
    }

    /// The memory of the table in bytes, with the slots and buckets that it has now. Pages that were never written are
    /// among it, and address space that is only reserved is not.
    ///
    /// ```
    /// let table: flatmap::FlatMap<[u8; 20]> = flatmap::FlatMap::with_slots(524_288);
    /// assert_eq!(table.memory_bytes() / 524_288, 40);
    /// ```
    pub fn memory_bytes(&self) -> usize {
        let counters = {
            #[cfg(feature = "stats")]
            {
                self.unlocked.bytes()
            }
            #[cfg(not(feature = "stats"))]
            0
        };
        size_of::<Self>() + self.chains.bytes() + self.partitions.bytes() + counters
    }

    /// Counts of how lookups were settled.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// table.insert(7, 5)?;
    /// assert_eq!(table.stats().fallbacks, 0);
    /// # Ok::<(), flatmap::InsertError>(())
    /// ```
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        #[cfg(feature = "stats")]
        self.unlocked.report(&mut stats);
        for partition in self.partitions.all() {
            stats.retried += partition.retried.get();
            stats.fallbacks += partition.fallbacks.get();
            stats.fallback_hits += partition.fallback_hits.get();
        }
        stats.splits = self.resizing.splits.get();
        stats.merges = self.resizing.merges.get();
        let huge_bytes = [self.chains.heads(), self.chains.entries().words()].map(Words::huge_bytes);
        stats.huge_page_bytes = huge_bytes.into_iter().sum();
        stats
    }
}

#[cfg(feature = "stats")]
pub(crate) use unlocked::Unlocked;

#[cfg(feature = "stats")]
mod unlocked {
    use super::Stats;
    use crate::partition::RelaxedCounter;
    use core::sync::atomic::{AtomicUsize, Ordering};
    use crossbeam_utils::CachePadded;

    const SHARDS: usize = 64;

    #[derive(Debug)]
    struct Shard {
        hits: RelaxedCounter,
        misses: RelaxedCounter,
    }

    /// Counts of lookups without a lock, in shards so that threads seldom share a line.
    #[derive(Debug)]
    pub(crate) struct Unlocked(Box<[CachePadded<Shard>]>);

    impl Unlocked {
        pub(crate) fn new() -> Self {
            let shard =
                |_| CachePadded::new(Shard { hits: RelaxedCounter::new(), misses: RelaxedCounter::new() });
            Self((0..SHARDS).map(shard).collect())
        }

        pub(crate) fn bytes(&self) -> usize {
            size_of_val(&*self.0)
        }

        pub(crate) fn count(&self, found: Option<u32>) {
            let shard = &self.0[shard_of_this_thread()];
            let counter = if found.is_some() { &shard.hits } else { &shard.misses };
            counter.add_one();
        }

        pub(crate) fn report(&self, stats: &mut Stats) {
            stats.unlocked_hits = Some(self.0.iter().map(|shard| shard.hits.get()).sum());
            stats.unlocked_misses = Some(self.0.iter().map(|shard| shard.misses.get()).sum());
        }
    }

    fn shard_of_this_thread() -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            // Relaxed: threads only have to be spread.
            static SHARD: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS;
        }
        SHARD.with(|shard| *shard)
    }
}
