//! [`PinnedMulti`]: a multimap's operations. Next: `table.rs`.

use crate::draft::Draft;
use crate::entry::{Entry, fold};
use crate::family::{Entries, Families};
use crate::iter::Iter;
use crate::multimap::LHashMultiMap;
use crate::reclaim::Pin;
use crate::table::{Search, Table};
use crate::word::SlotWord;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use equivalent::Equivalent;

/// A multimap with a pin; see [`Pinned`](crate::Pinned).
///
/// ```
/// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
/// let pin = index.pin();
/// assert_eq!(pin.get_all(&2).collect::<Vec<_>>(), [&20]); // as long as the pin lives
/// ```
pub struct PinnedMulti<'a, K, V, S, const N: usize = 7> {
    pub(crate) map: &'a LHashMultiMap<K, V, S, N>,
    pub(crate) pin: Pin,
}

/// What a vacuum did.
///
/// ```
/// let index = lhash::LHashMultiMap::<u64, u64>::new();
/// let pin = index.pin();
/// (0..100).for_each(|row| pin.insert(row % 10, row));
/// let vacuumed = pin.vacuum(|_, row| row % 2 == 0);
/// assert_eq!((vacuumed.removed, index.len()), (50, 50));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Vacuumed {
    /// Entries that were removed.
    pub removed: u64,
    /// Entries that were looked at and stayed.
    pub live: u64,
    /// Overflow pages that were given back.
    pub pages: u64,
}

impl<K, V, S, const N: usize> PinnedMulti<'_, K, V, S, N> {
    fn table(&self) -> &Table<Entry<K, V>, N> {
        &self.map.table
    }

    /// As [`LHashMultiMap::len`].
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// assert_eq!(pin.len(), 3);
    /// ```
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// As [`LHashMultiMap::is_empty`].
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// assert!(!pin.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Lets go of all that was found under this pin, and pins anew.
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let mut pin = index.pin();
    /// pin.remove_all(&1);
    /// pin.repin(); // what was removed may be dropped now
    /// assert_eq!(pin.len(), 1);
    /// ```
    pub fn repin(&mut self) {
        self.pin.repin();
    }

    /// All entries; see [`Pinned::iter`](crate::Pinned::iter).
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// assert_eq!(pin.iter().map(|(_, row)| row).sum::<u64>(), 41);
    /// ```
    pub fn iter(&self) -> Iter<'_, K, V, N> {
        Iter(Entries::new(self.table(), &self.pin))
    }
}

impl<K, V, S: BuildHasher, const N: usize> PinnedMulti<'_, K, V, S, N> {
    fn hash<Q: Hash + ?Sized>(&self, key: &Q) -> u32 {
        fold(self.map.hasher.hash_one(key))
    }

    /// All values of a key, in no order, as they were at one moment.
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// let mut rows: Vec<u64> = pin.get_all(&1).copied().collect();
    /// rows.sort();
    /// assert_eq!(rows, [10, 11]);
    /// ```
    pub fn get_all<'p, Q: Hash + Equivalent<K> + ?Sized>(
        &'p self,
        key: &'p Q,
    ) -> impl Iterator<Item = &'p V> {
        self.entries_of(key).map(|(_, entry)| &entry.value)
    }

    fn entries_of<'p, Q: Hash + Equivalent<K> + ?Sized>(
        &'p self,
        key: &'p Q,
    ) -> impl Iterator<Item = (SlotWord, &'p Entry<K, V>)> {
        let mut words = Vec::new();
        self.table().collect_hash(self.hash(key), &mut words, &self.pin);
        let entries =
            words.into_iter().filter_map(|word| Some((word, self.table().entry(word.node()?, &self.pin))));
        entries.filter(|(_, entry)| key.equivalent(&entry.key))
    }

    /// How many values a key has, at one moment. Walks them.
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// assert_eq!((pin.count(&1), pin.count(&3)), (2, 0));
    /// ```
    pub fn count<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> usize {
        self.entries_of(key).count()
    }

    /// Whether a key has values. Lock-free.
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// assert!(pin.contains(&2) && !pin.contains(&3));
    /// ```
    pub fn contains<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> bool {
        self.table().get(self.hash(key), &self.pin, |entry| key.equivalent(&entry.key)).is_some()
    }
}

impl<K, V, S, const N: usize> PinnedMulti<'_, K, V, S, N>
where
    K: Hash + Eq + Send + 'static,
    V: Send + 'static,
    S: BuildHasher,
{
    /// Adds a value to a key. Looks for nothing: also one of a million values of a key is added in constant time, on
    /// average over inserts that follow each other; after a remove, one insert looks for the first page with room.
    ///
    /// # Panics
    /// If there is no memory.
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// pin.insert(1, 10); // the same again
    /// assert_eq!(pin.count(&1), 3);
    /// ```
    pub fn insert(&self, key: K, value: V) {
        let hash = self.hash(&key);
        let draft = Draft::new_or_panic(self.table(), Entry { key, value }, &self.pin);
        match self.table().link_blindly(draft.word(hash), &(), &self.pin) {
            Ok(added_page) => {
                draft.linked();
                self.table().count(1, added_page, hash, &(), &self.pin);
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Inserts all.
    ///
    /// # Panics
    /// If there is no memory.
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// pin.extend([(3, 30), (3, 31)]);
    /// assert_eq!(pin.count(&3), 2);
    /// ```
    pub fn extend(&self, entries: impl IntoIterator<Item = (K, V)>) {
        let entries = entries.into_iter();
        let all = self.len().saturating_add(entries.size_hint().0);
        // Only a hint: if there is no room for so many, the inserts will tell.
        self.table().split_for(all, false, &(), &self.pin);
        entries.for_each(|(key, value)| self.insert(key, value));
    }

    /// Removes one entry with this key and this value; returns its value.
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// assert_eq!(pin.remove_one(&1, &11), Some(&11));
    /// assert_eq!(pin.count(&1), 1);
    /// ```
    pub fn remove_one<Q, W>(&self, key: &Q, value: &W) -> Option<&V>
    where
        Q: Hash + Equivalent<K> + ?Sized,
        W: Equivalent<V> + ?Sized,
    {
        let hash = self.hash(key);
        let is = |entry: &Entry<K, V>| key.equivalent(&entry.key) && value.equivalent(&entry.value);
        while let Search::Hit(bucket, hit) = self.table().search(hash, &self.pin, is) {
            if self.table().unlink(&bucket, &hit, &(), &self.pin) {
                self.table().count(-1, false, hash, &(), &self.pin);
                return Some(&hit.entry.value);
            }
        }
        None
    }

    /// Removes all values that a key had at one moment; returns how many. Not one step: others may see some of them gone
    /// already and others not yet.
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// assert_eq!(pin.remove_all(&1), 2);
    /// assert_eq!(pin.len(), 1);
    /// ```
    pub fn remove_all<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> usize {
        let hash = self.hash(key);
        let dead: Vec<SlotWord> = self.entries_of(key).map(|(word, _)| word).collect();
        if dead.is_empty() {
            return 0;
        }
        let (removed, _) =
            self.table().remove_words(dead, &(), |geometry| [geometry.address(hash)], &self.pin);
        removed as usize
    }

    /// Removes the entries of which `dead` says so, squeezes every chain, and puts the exact count back (which only
    /// [`CountPolicy::OverflowSignal`](crate::CountPolicy::OverflowSignal) has lost). Bucket by bucket, while others
    /// go on. `dead` runs with no lock held.
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// assert_eq!(pin.vacuum(|_, row| *row < 20).removed, 2);
    /// ```
    pub fn vacuum(&self, mut dead: impl FnMut(&K, &V) -> bool) -> Vacuumed {
        let mut vacuumed = Vacuumed::default();
        let families = Families::of(self.table().geometry());
        let mask = families.mask();
        let mut words = Vec::new();
        for family in families {
            self.table().collect_family(family, mask, &mut words, &self.pin);
            vacuumed.live += words.len() as u64;
            let is_dead = |word: &SlotWord| {
                let entry = word.node().map(|node| self.table().entry(node, &self.pin));
                entry.is_some_and(|entry| dead(&entry.key, &entry.value))
            };
            let doomed = words.drain(..).filter(is_dead).collect();
            let buckets = |geometry| Families::buckets(geometry, family, mask);
            let (removed, pages) = self.table().remove_words(doomed, &(), buckets, &self.pin);
            vacuumed.removed += removed;
            vacuumed.live -= removed;
            vacuumed.pages += pages;
        }
        self.table().correct_count(vacuumed.live as i64, &());
        vacuumed
    }

    /// Merges buckets and gives memory back; see [`Pinned::shrink_to_fit`](crate::Pinned::shrink_to_fit).
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let mut pin = index.pin();
    /// pin.remove_all(&1);
    /// pin.shrink_to_fit();
    /// assert_eq!(pin.len(), 1);
    /// ```
    pub fn shrink_to_fit(&mut self) {
        self.map.table.merge_all(&(), &self.pin);
        self.map.table.trim(&mut self.pin);
    }
}

impl<K, V, S, const N: usize> fmt::Debug for PinnedMulti<'_, K, V, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedMulti").field("len", &self.len()).finish_non_exhaustive()
    }
}
