//! [`LHashMultiMap`]: a key has any number of values. Next: `pinned_multi.rs`, its operations.

use crate::config::{Builder, DefaultHashBuilder, MultiMap};
use crate::entry::Entry;
use crate::family::Entries;
use crate::iter::IntoIter;
use crate::pinned_multi::PinnedMulti;
use crate::reclaim::Pin;
use crate::retire::Owner;
use crate::stats::Stats;
use crate::table::Table;
use core::fmt;
use core::hash::Hash;
use std::sync::Arc;

/// A concurrent multimap that grows and shrinks one bucket at a time: PostgreSQL's hash index in memory.
///
/// ```
/// use lhash::LHashMultiMap;
///
/// let index = LHashMultiMap::new();
/// let index = index.pin();
/// index.insert("rust", 1);
/// index.insert("rust", 2);
/// index.insert("c", 3);
/// assert_eq!(index.count("rust"), 2);
/// assert_eq!(index.remove_all("rust"), 2);
/// assert_eq!(index.iter().collect::<Vec<_>>(), [(&"c", &3)]);
/// ```
///
/// One key may have a million values: they are one chain, which a lookup of that key has to walk, but an insert
/// goes to the first page with room, which is remembered.
pub struct LHashMultiMap<K, V, S = DefaultHashBuilder, const N: usize = 7> {
    pub(crate) table: Owner<Entry<K, V>, N>,
    pub(crate) hasher: S,
}

impl<K, V> LHashMultiMap<K, V> {
    /// An empty multimap.
    ///
    /// # Panics
    /// If there is no memory.
    ///
    /// ```
    /// let index = lhash::LHashMultiMap::<u64, u64>::new();
    /// assert!(index.is_empty());
    /// ```
    pub fn new() -> Self {
        Self::builder().build().unwrap_or_else(|error| panic!("{error}"))
    }

    /// A builder.
    ///
    /// ```
    /// let index = lhash::LHashMultiMap::<u64, u64>::builder().fill_factor(6).build()?;
    /// assert_eq!(index.stats().fill_factor, 6);
    /// # Ok::<(), lhash::ConfigError>(())
    /// ```
    pub fn builder() -> Builder<K, V, MultiMap> {
        Builder::new()
    }
}

impl<K, V, S, const N: usize> LHashMultiMap<K, V, S, N> {
    pub(crate) fn from_parts(table: Arc<Table<Entry<K, V>, N>>, hasher: S) -> Self {
        Self { table: Owner::new(table), hasher }
    }

    /// Pins the multimap for this thread; see [`LHashMap::pin`](crate::LHashMap::pin).
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// assert!(pin.contains(&1));
    /// ```
    #[inline]
    pub fn pin(&self) -> PinnedMulti<'_, K, V, S, N> {
        PinnedMulti { map: self, pin: Pin::new() }
    }

    /// The number of entries; see [`LHashMap::len`](crate::LHashMap::len).
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// assert_eq!(index.len(), pin.iter().count());
    /// ```
    pub fn len(&self) -> usize {
        usize::try_from(self.table.meta.approx().max(0)).unwrap_or(usize::MAX)
    }

    /// Whether [`len`](Self::len) is 0.
    ///
    /// ```
    /// assert!(lhash::LHashMultiMap::<u64, u64>::new().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Figures of the table.
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// assert_eq!(index.stats().ntuples, pin.len() as u64);
    /// ```
    pub fn stats(&self) -> Stats {
        self.table.stats()
    }
}

impl<K: Send + 'static, V: Send + 'static, S, const N: usize> LHashMultiMap<K, V, S, N> {
    /// The number of entries, exact but for the operations under way; and does the splits that are due. Waits for the
    /// metapage's lock.
    ///
    /// ```
    /// let index: lhash::LHashMultiMap<u64, u64> = [(1, 10), (1, 11), (2, 20)].into_iter().collect();
    /// let pin = index.pin();
    /// pin.remove_all(&1);
    /// assert_eq!(index.exact_len(), 1);
    /// ```
    pub fn exact_len(&self) -> usize {
        usize::try_from(self.table.exact(&(), &Pin::new()).max(0)).unwrap_or(usize::MAX)
    }
}

impl<K, V> Default for LHashMultiMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug, S, const N: usize> fmt::Debug for LHashMultiMap<K, V, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pin = Pin::new();
        let entries = Entries::new(&self.table, &pin);
        f.debug_map().entries(entries.map(|(_, entry)| (&entry.key, &entry.value))).finish()
    }
}

impl<K, V> FromIterator<(K, V)> for LHashMultiMap<K, V>
where
    K: Hash + Eq + Send + 'static,
    V: Send + 'static,
{
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let map = Self::new();
        map.pin().extend(entries);
        map
    }
}

impl<K, V, S, const N: usize> IntoIterator for LHashMultiMap<K, V, S, N> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V, N>;

    fn into_iter(self) -> IntoIter<K, V, N> {
        IntoIter::new(self.table)
    }
}
