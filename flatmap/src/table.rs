//! [`FlatMap`]: what a lookup does when its walk is torn, and who holds which lock. Next: `bucket.rs`, the walk.

use crate::bucket::{Chains, Walk};
use crate::config::{Builder, MissPolicy, Policy};
use crate::error::InsertError;
use crate::geometry::Geometry;
use crate::iter::Iter;
use crate::key::Key;
use crate::partition::{Hold, PartitionGuard, Partitions};
use crate::stats::Stats;
use core::fmt;
use core::hash::BuildHasher;

/// The default hasher: foldhash, seeded for each table.
pub type DefaultHashBuilder = foldhash::fast::RandomState;

/// A table from keys to slots. See the [crate's page](crate).
///
/// All operations take `&self`; share the table by reference or `Arc`.
pub struct FlatMap<K, S = DefaultHashBuilder> {
    chains: Chains<K>,
    geometry: Geometry,
    policy: Policy,
    hasher: S,
    partitions: Partitions,
    #[cfg(feature = "stats")]
    unlocked: crate::stats::Unlocked,
}

impl<K: Key> FlatMap<K> {
    /// A table for an array of `slots` slots: 1 to 1,073,741,822.
    ///
    /// # Panics
    /// If `slots` is out of range, or if there is no memory; [`build`](Builder::build) returns errors instead.
    pub fn with_slots(slots: u32) -> Self {
        match Self::builder().slots(slots).build() {
            Ok(table) => table,
            Err(error) => panic!("FlatMap::with_slots: {error}"),
        }
    }

    /// A builder with the default settings.
    pub fn builder() -> Builder<K> {
        Builder::new()
    }
}

impl<K: Key, S> FlatMap<K, S> {
    pub(crate) fn from_parts(
        chains: Chains<K>,
        geometry: Geometry,
        partitions: Partitions,
        policy: Policy,
        hasher: S,
    ) -> Self {
        Self {
            chains,
            geometry,
            policy,
            hasher,
            partitions,
            #[cfg(feature = "stats")]
            unlocked: crate::stats::Unlocked::new(),
        }
    }

    /// How many slots there are.
    pub fn slots(&self) -> u32 {
        self.chains.entries().slots()
    }

    /// How many buckets there are.
    pub fn buckets(&self) -> u32 {
        self.geometry.buckets()
    }

    /// How many partitions there are.
    pub fn partitions(&self) -> u32 {
        self.partitions.count()
    }

    /// How many keys are mapped: exact at rest, otherwise within the inserts and removes under way. Reads one
    /// word a partition.
    pub fn len(&self) -> usize {
        self.partitions.all().map(|partition| partition.mapped() as usize).sum()
    }

    /// Whether no key is mapped, as [`len`](Self::len) sees it.
    pub fn is_empty(&self) -> bool {
        self.partitions.all().all(|partition| partition.mapped() == 0)
    }

    /// The memory of the table in bytes, all of it allocated at construction.
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
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        #[cfg(feature = "stats")]
        self.unlocked.report(&mut stats);
        for partition in self.partitions.all() {
            stats.retried += partition.retried.get();
            stats.fallbacks += partition.fallbacks.get();
            stats.fallback_hits += partition.fallback_hits.get();
        }
        stats
    }

    pub(crate) fn partition_locks(&self) -> &Partitions {
        &self.partitions
    }
}

impl<K: Key, S: BuildHasher> FlatMap<K, S> {
    #[inline]
    pub(crate) fn hash(&self, key: &K) -> u64 {
        self.hasher.hash_one(key)
    }

    /// The slot that `key` is mapped to. Takes no lock, unless its chain changes during each of the first
    /// tries. Linearizable (FM-1).
    ///
    /// The slot may be given to another key at any moment after; to use what is in it, see
    /// [`pin_with`](Self::pin_with).
    ///
    /// # Panics
    /// In debug builds, if this thread has a [`PartitionGuard`] of this table.
    #[inline]
    pub fn get(&self, key: &K) -> Option<u32> {
        self.lookup(self.hash(key), key)
    }

    #[inline]
    fn lookup(&self, hash: u64, key: &K) -> Option<u32> {
        self.partitions.assert_not_entered();
        match self.chains.walk(self.geometry.bucket(hash), key) {
            Walk::Hit(slot) => {
                self.count_unlocked(Some(slot));
                Some(slot)
            }
            Walk::Miss if self.policy.miss == MissPolicy::Validated => {
                self.count_unlocked(None);
                None
            }
            first => self.look_again(hash, key, first),
        }
    }

    #[inline]
    fn count_unlocked(&self, found: Option<u32>) {
        #[cfg(feature = "stats")]
        self.unlocked.count(found);
        #[cfg(not(feature = "stats"))]
        let _ = found;
    }

    /// The further tries, and the fallback.
    #[cold]
    fn look_again(&self, hash: u64, key: &K, first: Walk) -> Option<u32> {
        let partition = self.partitions.of(hash);
        let mut walk = first;
        for _ in 1..self.policy.optimistic_tries {
            if walk != Walk::Torn {
                break;
            }
            walk = self.chains.walk(self.geometry.bucket(hash), key);
        }
        let settled = match walk {
            Walk::Hit(slot) => Some(Some(slot)),
            Walk::Miss if self.policy.miss == MissPolicy::Validated => Some(None),
            Walk::Miss | Walk::Torn => None,
        };
        if let Some(found) = settled {
            partition.retried.add_one();
            self.count_unlocked(found);
            return found;
        }
        let found = {
            let _shared = self.partitions.share(hash);
            self.get_locked(hash, key)
        };
        partition.fallbacks.add_one();
        if found.is_some() {
            partition.fallback_hits.add_one();
        }
        found
    }

    /// A lookup by a holder of the partition, shared or exclusive.
    pub(crate) fn get_locked(&self, hash: u64, key: &K) -> Option<u32> {
        match self.chains.walk(self.geometry.bucket(hash), key) {
            Walk::Hit(slot) => Some(slot),
            Walk::Miss => None,
            Walk::Torn => unreachable!("a chain changed while its partition was locked"),
        }
    }

    /// Maps `key` to `slot`. Waits for other inserts and removes of the partition. Linearizable (FM-2).
    ///
    /// A lookup that finds the key happens after everything that this thread did before the call.
    ///
    /// # Errors
    /// Checked in this order, and nothing is changed: [`SlotOutOfRange`](InsertError::SlotOutOfRange),
    /// [`KeyExists`](InsertError::KeyExists), [`SlotOccupied`](InsertError::SlotOccupied).
    ///
    /// # Panics
    /// In debug builds, if this thread has a [`PartitionGuard`] of this table.
    ///
    /// ```
    /// use flatmap::{FlatMap, InsertError};
    ///
    /// let table: FlatMap<u64> = FlatMap::with_slots(2);
    /// table.insert(7, 0)?;
    /// assert_eq!(table.insert(7, 1), Err(InsertError::KeyExists { slot: 0 }));
    /// assert_eq!(table.insert(8, 0), Err(InsertError::SlotOccupied { slot: 0 }));
    /// # Ok::<(), InsertError>(())
    /// ```
    pub fn insert(&self, key: K, slot: u32) -> Result<(), InsertError> {
        self.partitions.assert_not_entered();
        let hash = self.hash(&key);
        self.insert_locked(&self.partitions.lock(hash), hash, &key, slot)
    }

    pub(crate) fn insert_locked(
        &self,
        hold: &Hold<'_>,
        hash: u64,
        key: &K,
        slot: u32,
    ) -> Result<(), InsertError> {
        let bucket = self.geometry.bucket(hash);
        if slot >= self.slots() {
            return Err(InsertError::SlotOutOfRange { slot, slots: self.slots() });
        }
        if let Some(place) = self.chains.find(bucket, key) {
            return Err(InsertError::KeyExists { slot: place.slot });
        }
        if !self.chains.link(bucket, key, slot) {
            return Err(InsertError::SlotOccupied { slot });
        }
        hold.count_linked();
        Ok(())
    }

    /// Unmaps `key` and returns the slot it was mapped to; the slot is free when the call returns. Waits for
    /// other inserts and removes of the partition. Linearizable (FM-2).
    ///
    /// # Panics
    /// In debug builds, if this thread has a [`PartitionGuard`] of this table.
    pub fn remove(&self, key: &K) -> Option<u32> {
        self.remove_where(key, |_| true)
    }

    /// Unmaps `key` if it is mapped to `slot`; tells whether it was.
    ///
    /// # Panics
    /// As [`remove`](Self::remove).
    pub fn remove_if(&self, key: &K, slot: u32) -> bool {
        self.remove_where(key, |found| found == slot).is_some()
    }

    fn remove_where(&self, key: &K, meant: impl Fn(u32) -> bool) -> Option<u32> {
        self.partitions.assert_not_entered();
        let hash = self.hash(key);
        self.remove_locked(&self.partitions.lock(hash), hash, key, meant)
    }

    pub(crate) fn remove_locked(
        &self,
        hold: &Hold<'_>,
        hash: u64,
        key: &K,
        meant: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let bucket = self.geometry.bucket(hash);
        let place = self.chains.find(bucket, key).filter(|place| meant(place.slot))?;
        self.chains.unlink(bucket, place);
        hold.count_unlinked();
        Some(place.slot)
    }

    /// Unmaps whatever key is mapped to `slot`, and returns it. Linearizable (FM-2).
    ///
    /// # Panics
    /// As [`remove`](Self::remove), and as [`key_of`](Self::key_of).
    pub fn remove_slot(&self, slot: u32) -> Option<K> {
        loop {
            let (hash, key) = self.find_key(slot)?;
            let hold = self.partitions.lock(hash);
            if self.remove_locked(&hold, hash, &key, |found| found == slot).is_some() {
                return Some(key);
            }
        }
    }

    /// The key that is mapped to `slot`; `None` if there is none, or no such slot. Takes no lock, as
    /// [`get`](Self::get). Linearizable (FM-3).
    ///
    /// `Hash` may be asked about a mix of two keys, whose hash is then not used.
    ///
    /// # Panics
    /// If the key's `Hash` gives different results for the same bytes. In debug builds, if this thread has a
    /// [`PartitionGuard`] of this table.
    pub fn key_of(&self, slot: u32) -> Option<K> {
        self.find_key(slot).map(|(_, key)| key)
    }

    /// The key that is mapped to `slot`, with its hash.
    fn find_key(&self, slot: u32) -> Option<(u64, K)> {
        self.partitions.assert_not_entered();
        let entry = self.chains.entries().get(slot)?;
        // The words may be a torn mix of two keys, of which a third, quiet bucket knows nothing. Only a
        // lookup that ends at this slot shows that they are a key.
        let mut suspect = None;
        let mut alike = 0;
        while entry.next().is_linked() {
            let key = entry.candidate();
            let hash = self.hash(&key);
            if self.lookup(hash, &key) == Some(slot) {
                return Some((hash, key));
            }
            alike = if suspect.is_some_and(|suspect| same_bytes(&suspect, &key)) { alike + 1 } else { 0 };
            assert!(
                alike < SUSPICIOUS,
                "the key of slot {slot} can't be found by its hash: is Hash deterministic?"
            );
            suspect = Some(key);
        }
        None
    }

    /// Whether `key` is mapped to `slot`. Takes no lock, as [`get`](Self::get). Linearizable (FM-1).
    ///
    /// # Panics
    /// As [`get`](Self::get).
    #[inline]
    pub fn holds(&self, slot: u32, key: &K) -> bool {
        self.get(key) == Some(slot)
    }

    /// Looks `key` up, calls `pin` with its slot, and makes sure that the slot still has that key; otherwise
    /// drops what `pin` returned and starts over. `None` if the key is not mapped or if `pin` returns `None`.
    ///
    /// Dropping the value must unpin, and nobody may map or unmap a pinned slot. With
    /// [`PinWord`](crate::PinWord), and removers that evict before they remove, the slot holds `key` for as long
    /// as the value lives (FM-4). Without such a rule the answer may be out of date, as that of
    /// [`get`](Self::get). No lock is held while `pin` runs.
    ///
    /// # Panics
    /// As [`get`](Self::get), and if `pin` does.
    pub fn pin_with<P>(&self, key: &K, mut pin: impl FnMut(u32) -> Option<P>) -> Option<(u32, P)> {
        let hash = self.hash(key);
        loop {
            let slot = self.lookup(hash, key)?;
            let pinned = pin(slot)?;
            if self.chains.entries().get(slot).is_some_and(|entry| entry.holds_pinned(key)) {
                return Some((slot, pinned));
            }
        }
    }

    /// Locks the partition of `key` exclusively, for several steps under one hold. See [`PartitionGuard`].
    ///
    /// # Panics
    /// In debug builds, if this thread has a guard of this table.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// let mut partition = table.partition(&7);
    /// if partition.get(&7)?.is_none() {
    ///     partition.insert(7, 3).expect("7 is not mapped, slot 3 is free");
    /// }
    /// # Ok::<(), flatmap::OtherPartition>(())
    /// ```
    pub fn partition(&self, key: &K) -> PartitionGuard<'_, K, S> {
        self.partitions.assert_not_entered();
        PartitionGuard::new(self, self.hash(key))
    }

    /// The mapped slots with their keys, by slot. Each item is true at some moment during its step; a mapping
    /// that is there throughout is yielded once (FM-5).
    pub fn iter(&self) -> Iter<'_, K, S> {
        Iter::new(self)
    }
}

/// How often in a row the same words must fail to be found before their `Hash` is blamed. A mix of two keys
/// lasts only until the insert that writes them ends.
const SUSPICIOUS: u32 = 1000;

fn same_bytes<K: Key>(one: &K, other: &K) -> bool {
    bytemuck::bytes_of(one) == bytemuck::bytes_of(other)
}

impl<'a, K: Key, S: BuildHasher> IntoIterator for &'a FlatMap<K, S> {
    type Item = (u32, K);
    type IntoIter = Iter<'a, K, S>;

    fn into_iter(self) -> Iter<'a, K, S> {
        self.iter()
    }
}

impl<K: Key, S> fmt::Debug for FlatMap<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlatMap")
            .field("slots", &self.slots())
            .field("buckets", &self.buckets())
            .field("partitions", &self.partitions())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
