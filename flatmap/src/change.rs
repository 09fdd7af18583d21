//! Inserts and removes: each under the exclusive lock of one partition. Next: `bucket.rs`, how chains change.

use crate::error::InsertError;
use crate::key::Key;
use crate::partition::{Hold, PartitionGuard};
use crate::table::FlatMap;
use core::hash::BuildHasher;

impl<K: Key, S: BuildHasher> FlatMap<K, S> {
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
        self.chains.expect_change(hash, Some(slot));
        self.help();
        self.insert_locked(&self.partitions.lock(hash), hash, &key, slot)
    }

    pub(crate) fn insert_locked(
        &self,
        hold: &Hold<'_>,
        hash: u64,
        key: &K,
        slot: u32,
    ) -> Result<(), InsertError> {
        let slots = self.slots();
        if slot >= slots {
            return Err(InsertError::SlotOutOfRange { slot, slots });
        }
        let (bucket, place) = self.chains.find(hash, key);
        if let Some(place) = place {
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
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// table.insert(7, 5)?;
    /// assert!(!table.remove_if(&7, 4)); // it is elsewhere
    /// assert_eq!((table.remove(&7), table.remove(&7)), (Some(5), None));
    /// # Ok::<(), flatmap::InsertError>(())
    /// ```
    pub fn remove(&self, key: &K) -> Option<u32> {
        self.remove_where(key, |_| true)
    }

    /// Unmaps `key` if it is mapped to `slot`; tells whether it was.
    ///
    /// # Panics
    /// As [`remove`](Self::remove).
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// table.insert(7, 5)?;
    /// assert!(!table.remove_if(&7, 4) && table.remove_if(&7, 5));
    /// # Ok::<(), flatmap::InsertError>(())
    /// ```
    pub fn remove_if(&self, key: &K, slot: u32) -> bool {
        self.remove_where(key, |found| found == slot).is_some()
    }

    fn remove_where(&self, key: &K, meant: impl Fn(u32) -> bool) -> Option<u32> {
        self.partitions.assert_not_entered();
        let hash = self.hash(key);
        self.chains.expect_change(hash, None);
        self.help();
        self.remove_locked(&self.partitions.lock(hash), hash, key, meant)
    }

    pub(crate) fn remove_locked(
        &self,
        hold: &Hold<'_>,
        hash: u64,
        key: &K,
        meant: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let (bucket, place) = self.chains.find(hash, key);
        let place = place.filter(|place| meant(place.slot))?;
        self.chains.unlink(bucket, place);
        hold.count_unlinked();
        Some(place.slot)
    }

    /// Unmaps whatever key is mapped to `slot`, and returns it. Linearizable (FM-2).
    ///
    /// # Panics
    /// As [`remove`](Self::remove), and as [`key_of`](Self::key_of).
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
    /// table.insert(7, 5)?;
    /// assert_eq!((table.remove_slot(5), table.get(&7)), (Some(7), None));
    /// # Ok::<(), flatmap::InsertError>(())
    /// ```
    pub fn remove_slot(&self, slot: u32) -> Option<K> {
        loop {
            let (hash, key) = self.find_key(slot)?;
            self.help();
            let removed = self.remove_locked(&self.partitions.lock(hash), hash, &key, |found| found == slot);
            if removed.is_some() {
                return Some(key);
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
}
