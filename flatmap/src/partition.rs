//! Partitions: each has the lock for a share of the buckets, and counts what happens there.

use crate::error::{InsertError, OtherPartition};
use crate::key::Key;
use crate::table::FlatMap;
use core::fmt;
use core::hash::BuildHasher;
use crossbeam_utils::CachePadded;
use sync::prim::atomic::{AtomicU32, AtomicU64, Ordering};
use sync::prim::held::LockId;
use sync::{LwLock, ReadGuard, WriteGuard};

/// A counter that nobody synchronises on.
#[derive(Debug)]
pub(crate) struct RelaxedCounter(AtomicU64);

impl RelaxedCounter {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    #[inline]
    pub(crate) fn add_one(&self) {
        // Relaxed: a plain counter.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        // Relaxed: a plain counter.
        self.0.load(Ordering::Relaxed)
    }
}

/// The lock of a share of the buckets.
#[derive(Debug)]
pub(crate) struct Partition {
    lock: LwLock<()>,
    mapped: AtomicU32,
    pub(crate) retried: RelaxedCounter,
    pub(crate) fallbacks: RelaxedCounter,
    pub(crate) fallback_hits: RelaxedCounter,
}

impl Partition {
    fn new() -> Self {
        Self {
            lock: LwLock::new(()),
            mapped: AtomicU32::new(0),
            retried: RelaxedCounter::new(),
            fallbacks: RelaxedCounter::new(),
            fallback_hits: RelaxedCounter::new(),
        }
    }

    pub(crate) fn is_locked(&self) -> bool {
        self.lock.is_locked()
    }

    /// How many keys are mapped. Exact while the partition is locked.
    #[inline]
    pub(crate) fn mapped(&self) -> u32 {
        // Relaxed: a plain counter, which only holders of the lock change.
        self.mapped.load(Ordering::Relaxed)
    }
}

/// An exclusive hold of a partition.
pub(crate) struct Hold<'a> {
    partition: &'a Partition,
    _guard: WriteGuard<'a, ()>,
}

impl Hold<'_> {
    #[inline]
    pub(crate) fn count_linked(&self) {
        // Relaxed: as in `mapped`.
        self.partition.mapped.store(self.partition.mapped() + 1, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn count_unlinked(&self) {
        // Relaxed: as in `mapped`.
        self.partition.mapped.store(self.partition.mapped() - 1, Ordering::Relaxed);
    }
}

/// All partitions. A hash belongs to the one that its low bits name, whatever the number of buckets.
#[derive(Debug)]
pub(crate) struct Partitions {
    all: Box<[CachePadded<Partition>]>,
    /// Held by threads that have a [`PartitionGuard`] of this table.
    entered: LockId,
}

impl Partitions {
    pub(crate) fn new(count: u32) -> Self {
        let all = (0..count).map(|_| CachePadded::new(Partition::new())).collect();
        Self { all, entered: LockId::new() }
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.all)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Partition> {
        self.all.iter().map(|partition| &**partition)
    }

    #[inline]
    pub(crate) fn count(&self) -> u32 {
        self.all.len() as u32
    }

    #[inline]
    pub(crate) fn index(&self, hash: u64) -> u32 {
        hash as u32 & (self.count() - 1)
    }

    #[inline]
    pub(crate) fn of(&self, hash: u64) -> &Partition {
        &self.all[self.index(hash) as usize]
    }

    /// Panics in debug builds if this thread has a [`PartitionGuard`] of this table.
    #[inline]
    #[track_caller]
    pub(crate) fn assert_not_entered(&self) {
        self.entered.assert_not_held("use of a FlatMap beside a PartitionGuard of it");
    }

    #[inline]
    pub(crate) fn share(&self, hash: u64) -> ReadGuard<'_, ()> {
        self.of(hash).lock.read()
    }

    /// As `share`, if that needs no wait.
    pub(crate) fn try_share(&self, hash: u64) -> Option<ReadGuard<'_, ()>> {
        self.of(hash).lock.try_read()
    }

    /// Waits until every hold of now has ended.
    pub(crate) fn wait_for_all(&self) {
        self.all().for_each(|partition| drop(partition.lock.read()));
    }

    /// Notes that this thread runs user code while it holds a partition.
    pub(crate) fn enter(&self) -> Entered<'_> {
        self.entered.acquired();
        Entered(&self.entered)
    }

    #[inline]
    pub(crate) fn lock(&self, hash: u64) -> Hold<'_> {
        let partition = self.of(hash);
        Hold { partition, _guard: partition.lock.write() }
    }

    /// As `lock`, if that needs no wait.
    pub(crate) fn try_lock(&self, hash: u64) -> Option<Hold<'_>> {
        let partition = self.of(hash);
        Some(Hold { partition, _guard: partition.lock.try_write()? })
    }
}

/// One partition of a [`FlatMap`], locked for several steps. See [`FlatMap::partition`].
///
/// While the guard lives, inserts and removes of the partition's keys wait, and lookups of them go on. A
/// forgotten guard leaves the partition locked: other threads' lookups still work as long as
/// they need no lock.
///
/// The table itself must not be used on this thread meanwhile: it could wait for this guard, or for another
/// partition whose holder waits for this one. Debug builds panic. The key's `Hash` runs under the lock.
///
/// ```
/// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
/// table.insert(7, 5).expect("free");
/// let mut partition = table.partition(&7);
/// // Nobody sees 7 unmapped and mapped again by others in between.
/// assert_eq!(partition.remove(&7)?, Some(5));
/// partition.insert(7, 6).expect("free");
/// assert_eq!(partition.get(&7)?, Some(6));
/// # Ok::<(), flatmap::OtherPartition>(())
/// ```
#[must_use = "the partition is let go at once if the guard is not kept"]
pub struct PartitionGuard<'a, K, S> {
    table: &'a FlatMap<K, S>,
    index: u32,
    hold: Hold<'a>,
    _entered: Entered<'a>,
}

pub(crate) struct Entered<'a>(&'a LockId);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.released();
    }
}

impl<'a, K: Key, S: BuildHasher> PartitionGuard<'a, K, S> {
    pub(crate) fn new(table: &'a FlatMap<K, S>, hash: u64) -> Self {
        let partitions = &table.partitions;
        let hold = partitions.lock(hash);
        Self { table, index: partitions.index(hash), hold, _entered: partitions.enter() }
    }

    /// The number of this partition.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// let partition = table.partition(&7);
    /// assert!(partition.index() < table.partitions());
    /// ```
    pub fn index(&self) -> u32 {
        self.index
    }

    /// How many keys of this partition are mapped.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// let mut partition = table.partition(&7);
    /// partition.insert(7, 5).expect("free");
    /// assert_eq!((partition.len(), partition.is_empty()), (1, false));
    /// ```
    pub fn len(&self) -> u32 {
        self.hold.partition.mapped()
    }

    /// Whether no key of this partition is mapped.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// assert!(table.partition(&7).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The slot that `key` is mapped to.
    ///
    /// # Errors
    /// If `key` belongs to another partition.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// assert_eq!(table.partition(&7).get(&7)?, None);
    /// # Ok::<(), flatmap::OtherPartition>(())
    /// ```
    pub fn get(&self, key: &K) -> Result<Option<u32>, OtherPartition> {
        let hash = self.hash(key)?;
        Ok(self.table.get_locked(hash, key))
    }

    /// Maps `key` to `slot`.
    ///
    /// # Errors
    /// Those of [`FlatMap::insert`]; before them, [`InsertError::OtherPartition`].
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// let mut partition = table.partition(&7);
    /// partition.insert(7, 5).expect("7 is not mapped, slot 5 is free");
    /// assert_eq!(partition.get(&7)?, Some(5));
    /// # Ok::<(), flatmap::OtherPartition>(())
    /// ```
    pub fn insert(&mut self, key: K, slot: u32) -> Result<(), InsertError> {
        let hash = self.hash(&key)?;
        self.table.insert_locked(&self.hold, hash, &key, slot)
    }

    /// Unmaps `key`; returns the slot it was mapped to.
    ///
    /// # Errors
    /// If `key` belongs to another partition.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// let mut partition = table.partition(&7);
    /// partition.insert(7, 5).expect("free");
    /// assert_eq!(partition.remove(&7)?, Some(5));
    /// # Ok::<(), flatmap::OtherPartition>(())
    /// ```
    pub fn remove(&mut self, key: &K) -> Result<Option<u32>, OtherPartition> {
        let hash = self.hash(key)?;
        Ok(self.table.remove_locked(&self.hold, hash, key, |_| true))
    }

    fn hash(&self, key: &K) -> Result<u64, OtherPartition> {
        let hash = self.table.hash(key);
        match self.table.partitions.index(hash) {
            of_key if of_key == self.index => Ok(hash),
            of_key => Err(OtherPartition { held: self.index, of_key }),
        }
    }
}

impl<K, S> fmt::Debug for PartitionGuard<'_, K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartitionGuard").field("index", &self.index).finish_non_exhaustive()
    }
}
