//! [`FlatMap`] and its lookups: what becomes of a walk that is torn. Next: `bucket.rs`, the walk. Inserts and removes
//! are in `change.rs`.

use crate::bucket::{Chains, Walk};
use crate::config::{Builder, MissPolicy, Policy};
use crate::iter::Iter;
use crate::key::Key;
use crate::partition::Partitions;
use crate::resize::Resizing;
use core::fmt;
use core::hash::BuildHasher;

/// The default hasher: foldhash, seeded for each table.
///
/// ```
/// // Two tables have two seeds: what collides in one does not in the other.
/// use std::hash::BuildHasher;
///
/// let seeded = flatmap::DefaultHashBuilder::default();
/// assert_eq!(seeded.hash_one(7_u64), seeded.hash_one(7_u64));
/// ```
pub type DefaultHashBuilder = foldhash::fast::RandomState;

/// A table from keys to slots. See the [crate's page](crate).
///
/// All operations take `&self`; share the table by reference or `Arc`.
///
/// ```
/// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
/// table.insert(7, 5)?;
/// assert_eq!(table.get(&7), Some(5));
/// # Ok::<(), flatmap::InsertError>(())
/// ```
pub struct FlatMap<K, S = DefaultHashBuilder> {
    pub(crate) chains: Chains<K>,
    policy: Policy,
    hasher: S,
    pub(crate) partitions: Partitions,
    pub(crate) resizing: Resizing,
    #[cfg(feature = "stats")]
    pub(crate) unlocked: crate::stats::Unlocked,
}

impl<K: Key> FlatMap<K> {
    /// A table for an array of `slots` slots: 1 to 1,073,741,822.
    ///
    /// # Panics
    /// If `slots` is out of range, or if there is no memory; [`build`](Builder::build) returns errors instead.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// assert_eq!((table.slots(), table.len()), (8, 0));
    /// ```
    pub fn with_slots(slots: u32) -> Self {
        match Self::builder().slots(slots).build() {
            Ok(table) => table,
            Err(error) => panic!("FlatMap::with_slots: {error}"),
        }
    }

    /// A builder with the default settings.
    ///
    /// ```
    /// let table = flatmap::FlatMap::<u64>::builder().slots(8).partitions(2).build()?;
    /// assert_eq!(table.partitions(), 2);
    /// # Ok::<(), flatmap::ConfigError>(())
    /// ```
    pub fn builder() -> Builder<K> {
        Builder::new()
    }
}

impl<K: Key, S> FlatMap<K, S> {
    pub(crate) fn from_parts(
        chains: Chains<K>,
        partitions: Partitions,
        resizing: Resizing,
        policy: Policy,
        hasher: S,
    ) -> Self {
        Self {
            chains,
            policy,
            hasher,
            partitions,
            resizing,
            #[cfg(feature = "stats")]
            unlocked: crate::stats::Unlocked::new(),
        }
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
    /// In debug builds, if this thread has a [`PartitionGuard`](crate::PartitionGuard) of this table.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// table.insert(7, 5)?;
    /// assert_eq!((table.get(&7), table.get(&8)), (Some(5), None));
    /// # Ok::<(), flatmap::InsertError>(())
    /// ```
    #[inline]
    pub fn get(&self, key: &K) -> Option<u32> {
        self.lookup(self.hash(key), key)
    }

    #[inline]
    pub(crate) fn lookup(&self, hash: u64, key: &K) -> Option<u32> {
        self.partitions.assert_not_entered();
        let first = self.chains.walk(hash, key);
        self.settle(hash, key, first)
    }

    /// What the first walk came to, if it settles the lookup; else further tries.
    #[inline]
    fn settle(&self, hash: u64, key: &K, first: Walk) -> Option<u32> {
        match first {
            Walk::Hit(slot) => {
                self.count_unlocked(Some(slot));
                Some(slot)
            }
            Walk::Miss if self.policy.miss == MissPolicy::Validated => {
                self.count_unlocked(None);
                None
            }
            Walk::Miss | Walk::Torn => self.look_again(hash, key, first),
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
            walk = self.chains.walk(hash, key);
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
        self.chains.find(hash, key).1.map(|place| place.slot)
    }

    /// The key that is mapped to `slot`; `None` if there is none, or no such slot. Takes no lock, as
    /// [`get`](Self::get). Linearizable (FM-3).
    ///
    /// `Hash` may be asked about a mix of two keys, whose hash is then not used.
    ///
    /// # Panics
    /// If the key's `Hash` gives different results for the same bytes. In debug builds, if this thread has a
    /// [`PartitionGuard`](crate::PartitionGuard) of this table.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// table.insert(7, 5)?;
    /// assert_eq!((table.key_of(5), table.key_of(6)), (Some(7), None));
    /// # Ok::<(), flatmap::InsertError>(())
    /// ```
    pub fn key_of(&self, slot: u32) -> Option<K> {
        self.find_key(slot).map(|(_, key)| key)
    }

    /// The key that is mapped to `slot`, with its hash.
    pub(crate) fn find_key(&self, slot: u32) -> Option<(u64, K)> {
        self.partitions.assert_not_entered();
        let entry = self.chains.entries().get(slot)?;
        // The words may be a torn mix of two keys, of which a third, quiet bucket knows nothing. Only a
        // lookup that ends at this slot shows that they are a key.
        let mut suspect = None;
        let mut alike = 0;
        while entry.link().next().is_linked() {
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
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// table.insert(7, 5)?;
    /// assert!(table.holds(5, &7) && !table.holds(4, &7));
    /// # Ok::<(), flatmap::InsertError>(())
    /// ```
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
    ///
    /// ```
    /// use flatmap::{FlatMap, PinWord};
    ///
    /// let words: Vec<PinWord> = (0..8).map(|_| PinWord::new()).collect();
    /// let table: FlatMap<u64> = FlatMap::with_slots(8);
    /// table.insert(7, 5)?;
    /// let (slot, _pin) = table.pin_with(&7, |slot| words[slot as usize].pin()).expect("it is there");
    /// assert!(slot == 5 && !words[5].try_evict()); // 7 stays in slot 5
    /// # Ok::<(), flatmap::InsertError>(())
    /// ```
    pub fn pin_with<P>(&self, key: &K, mut pin: impl FnMut(u32) -> Option<P>) -> Option<(u32, P)> {
        let hash = self.hash(key);
        loop {
            self.partitions.assert_not_entered();
            let (walk, start) = self.chains.walk_from(hash, key);
            let slot = self.settle(hash, key, walk)?;
            let pinned = pin(slot)?;
            // Whoever unmapped the slot before we pinned it had raised the stamp of the bucket where that walk found it.
            let stays = matches!(walk, Walk::Hit(_)) && self.chains.is_unchanged(start)
                || self.chains.entries().get(slot).is_some_and(|entry| entry.holds(entry.link(), key));
            if stays {
                return Some((slot, pinned));
            }
        }
    }

    /// The mapped slots with their keys, by slot. Each item is true at some moment during its step; a mapping
    /// that is there throughout is yielded once (FM-5).
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// table.insert(7, 5)?;
    /// assert!(table.iter().eq([(5, 7)]));
    /// # Ok::<(), flatmap::InsertError>(())
    /// ```
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

#[cfg(all(test, not(all(loom, feature = "loom"))))]
mod tests;
