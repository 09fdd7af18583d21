//! [`Pinned`]'s operations on the whole map.

use crate::ReserveError;
use crate::entry::Entry;
use crate::family::Entries;
use crate::pinned::Pinned;
use crate::table::Search;
use core::hash::{BuildHasher, Hash};

impl<K, V, S, const N: usize> Pinned<'_, K, V, S, N>
where
    K: Hash + Eq + Send + 'static,
    V: Send + 'static,
    S: BuildHasher,
{
    /// Removes the entries of which `keep` says no. Each is looked at as [`iter`](Self::iter) meets it; one that was replaced
    /// since then stays. `keep` runs with no lock held and may use the map.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// pin.retain(|key, _| *key == 2);
    /// assert_eq!((pin.get(&1), pin.len()), (None, 1));
    /// ```
    pub fn retain(&self, mut keep: impl FnMut(&K, &V) -> bool) {
        for (word, entry) in Entries::new(self.table(), &self.pin) {
            if !keep(&entry.key, &entry.value) {
                self.remove_entry(word.hash(), entry);
            }
        }
    }

    /// Removes all entries that [`iter`](Self::iter) meets.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// pin.clear();
    /// assert!(map.is_empty());
    /// ```
    pub fn clear(&self) {
        self.retain(|_, _| false);
    }

    /// Removes this very entry, if it is still linked.
    fn remove_entry(&self, hash: u32, entry: &Entry<K, V>) {
        while let Search::Hit(bucket, hit) =
            self.table().search(hash, &self.pin, |linked| core::ptr::eq(linked, entry))
        {
            if self.unlink(&(bucket, hit), hash) {
                return;
            }
        }
    }

    /// Inserts all; of entries with equal keys the last one stays. Returns how many keys there were not before. Makes room
    /// for as many as the iterator announces.
    ///
    /// # Panics
    /// If there is no memory.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!(pin.extend([(2, "zwei"), (3, "three")]), 1); // one key is new
    /// ```
    pub fn extend(&self, entries: impl IntoIterator<Item = (K, V)>) -> usize {
        let entries = entries.into_iter();
        // Only a hint: if there is no room for so many, the inserts will tell.
        self.table().split_for(self.len().saturating_add(entries.size_hint().0), false, &(), &self.pin);
        entries.filter_map(|(key, value)| self.insert(key, value).is_none().then_some(())).count()
    }

    /// Makes room for `additional` more entries.
    ///
    /// # Panics
    /// If there is no memory, or if there would be more than 2^32 buckets.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// pin.reserve(10_000);
    /// let splits = map.stats().splits;
    /// pin.extend((3..10_000).map(|key| (key, "more")));
    /// assert_eq!(map.stats().splits, splits);
    /// ```
    pub fn reserve(&self, additional: usize) {
        self.try_reserve(additional).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Makes room for `additional` more entries: as many can be inserted without a split. The room stays until
    /// [`shrink_to_fit`](Self::shrink_to_fit).
    ///
    /// # Errors
    /// If there is no memory, or if there would be more than 2^32 buckets.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert!(pin.try_reserve(10_000).is_ok());
    /// assert!(pin.try_reserve(usize::MAX).is_err());
    /// ```
    pub fn try_reserve(&self, additional: usize) -> Result<(), ReserveError> {
        let all = self.len().checked_add(additional).ok_or(ReserveError { additional })?;
        self.table().split_for(all, true, &(), &self.pin).map(drop).ok_or(ReserveError { additional })
    }

    /// Merges as many buckets as the fill factor allows, never below the least number, and gives memory back that nobody
    /// uses: segments of buckets, and segments of nodes and overflow pages in which nothing is left. What other
    /// threads' pins still see follows later.
    ///
    /// ```
    /// let map: lhash::LHashMap<u64, u64> = (0..10_000).map(|key| (key, key)).collect();
    /// let mut pin = map.pin();
    /// pin.clear();
    /// pin.shrink_to_fit();
    /// assert!(map.stats().max_bucket < 10);
    /// ```
    pub fn shrink_to_fit(&mut self) {
        self.map.table.merge_all(&(), &self.pin);
        self.map.table.trim(&mut self.pin);
    }
}
