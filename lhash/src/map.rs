//! [`LHashMap`]: the map itself, and what needs no pin. Next: `pinned.rs`, the operations.

use crate::config::{Builder, DefaultHashBuilder, Map};
use crate::entry::{Entry, fold};
use crate::family::Entries;
use crate::iter::IntoIter;
use crate::pinned::Pinned;
use crate::reclaim::Pin;
use crate::retire::Owner;
use crate::stats::Stats;
use crate::table::Table;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use equivalent::Equivalent;
use std::sync::Arc;

/// A concurrent map that grows and shrinks one bucket at a time.
///
/// All operations hang on a [`pin`](Self::pin): references to values live as long as the pin does, whatever
/// others do to the map meanwhile. See [`Pinned`] for the operations and what they promise.
///
/// ```
/// use lhash::LHashMap;
///
/// let map = LHashMap::new();
/// std::thread::scope(|s| {
///     for thread in 0..4_u64 {
///         let map = &map;
///         s.spawn(move || {
///             let map = map.pin();
///             for i in 0..1000 {
///                 map.insert(thread * 1000 + i, i);
///             }
///         });
///     }
/// });
/// let map = map.pin();
/// assert_eq!(map.len(), 4000);
/// assert_eq!(map.get(&3999), Some(&999));
/// assert_eq!(map.remove(&3999), Some(&999));
/// assert_eq!(map.get(&3999), None);
/// ```
///
/// Memory: an entry takes the size of `(K, V)` and, with the default fill factor, 13 to 16 bytes in its bucket; an
/// empty map about 8 KiB.
pub struct LHashMap<K, V, S = DefaultHashBuilder, const N: usize = 7> {
    pub(crate) table: Owner<Entry<K, V>, N>,
    pub(crate) hasher: S,
}

impl<K, V> LHashMap<K, V> {
    /// An empty map.
    ///
    /// ```
    /// let map = lhash::LHashMap::<String, u64>::new();
    /// assert!(map.is_empty());
    /// ```
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// A map that holds `capacity` entries before its first split.
    ///
    /// # Panics
    /// If it would need more than 2^32 buckets, or if there is no memory; [`builder`](Self::builder) returns an error.
    ///
    /// ```
    /// let map = lhash::LHashMap::with_capacity(1000);
    /// map.pin().extend((0..1000).map(|key| (key, key)));
    /// assert_eq!(map.stats().splits, 0);
    /// ```
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, DefaultHashBuilder::default())
    }

    /// A builder.
    ///
    /// ```
    /// let map = lhash::LHashMap::<u64, u64>::builder().fill_factor(6).build()?;
    /// assert_eq!(map.stats().fill_factor, 6);
    /// # Ok::<(), lhash::ConfigError>(())
    /// ```
    pub fn builder() -> Builder<K, V, Map> {
        Builder::new()
    }
}

impl<K, V, S> LHashMap<K, V, S> {
    /// An empty map that hashes with `hasher`.
    ///
    /// ```
    /// let map = lhash::LHashMap::<u64, u64, _>::with_hasher(std::hash::RandomState::new());
    /// assert!(map.pin().insert(1, 2).is_none());
    /// ```
    pub fn with_hasher(hasher: S) -> Self {
        Self::with_capacity_and_hasher(0, hasher)
    }

    /// A map that holds `capacity` entries before its first split, and hashes with `hasher`.
    ///
    /// # Panics
    /// As [`with_capacity`](LHashMap::with_capacity).
    ///
    /// ```
    /// use std::hash::RandomState;
    ///
    /// let map = lhash::LHashMap::<u64, u64, _>::with_capacity_and_hasher(1000, RandomState::new());
    /// assert!(map.stats().max_bucket > 100);
    /// ```
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        let map = Builder::<K, V, Map>::new().capacity(capacity).hasher(hasher).build();
        map.unwrap_or_else(|error| panic!("{error}"))
    }
}

impl<K, V, S, const N: usize> LHashMap<K, V, S, N> {
    pub(crate) fn from_parts(table: Arc<Table<Entry<K, V>, N>>, hasher: S) -> Self {
        Self { table: Owner::new(table), hasher }
    }

    /// Pins the map for this thread: while the pin lives, whatever it finds stays in memory. So keep it for a batch of
    /// operations and not for ever; [`Pinned::repin`] renews it. `!Send`, therefore not to be held across an
    /// `await`; there, use [`get_cloned`](Self::get_cloned) and [`contains_key`](Self::contains_key).
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!(pin.get(&1), Some(&"one"));
    /// ```
    #[inline]
    pub fn pin(&self) -> Pinned<'_, K, V, S, N> {
        Pinned { map: self, pin: Pin::new() }
    }

    /// The number of entries, without a lock: exact when nobody writes; otherwise what is pending is included, and
    /// only the operations and folds under way are off. See GUARANTEES.md in the repository, LH-6, for each
    /// [`CountPolicy`](crate::CountPolicy).
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!((map.len(), map.is_empty()), (2, false));
    /// ```
    pub fn len(&self) -> usize {
        usize::try_from(self.table.meta.approx().max(0)).unwrap_or(usize::MAX)
    }

    /// Whether [`len`](Self::len) is 0.
    ///
    /// ```
    /// assert!(lhash::LHashMap::<u64, u64>::new().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Figures of the table.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!(map.stats().ntuples, pin.len() as u64);
    /// ```
    pub fn stats(&self) -> Stats {
        self.table.stats()
    }

    /// Bytes of buckets, overflow pages and nodes, whether in use or not.
    ///
    /// ```
    /// let map: lhash::LHashMap<u64, u64> = (0..100_000).map(|key| (key, key)).collect();
    /// assert!(map.memory_bytes() > 16 * 100_000);
    /// ```
    pub fn memory_bytes(&self) -> usize {
        self.table.memory_bytes()
    }

    /// The hasher.
    ///
    /// ```
    /// use std::hash::BuildHasher;
    ///
    /// let map = lhash::LHashMap::<u64, u64>::new();
    /// assert_eq!(map.hasher().hash_one(7_u64), map.hasher().hash_one(7_u64));
    /// ```
    pub fn hasher(&self) -> &S {
        &self.hasher
    }
}

impl<K, V, S: BuildHasher, const N: usize> LHashMap<K, V, S, N> {
    #[inline]
    pub(crate) fn hash<Q: Hash + ?Sized>(&self, key: &Q) -> u32 {
        fold(self.hasher.hash_one(key))
    }

    /// A copy of a key's value.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([("a".to_owned(), vec![1])]);
    /// assert_eq!(map.get_cloned("a"), Some(vec![1]));
    /// ```
    pub fn get_cloned<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<V>
    where
        V: Clone,
    {
        self.pin().get(key).cloned()
    }

    /// Whether there is such a key.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([("a".to_owned(), 1)]);
    /// assert!(map.contains_key("a") && !map.contains_key("b"));
    /// ```
    pub fn contains_key<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> bool {
        self.pin().contains_key(key)
    }
}

impl<K, V, S, const N: usize> LHashMap<K, V, S, N>
where
    K: Hash + Eq + Send + 'static,
    V: Send + 'static,
    S: BuildHasher,
{
    /// The number of entries, exact but for the operations under way; and does the splits that are due. Waits for the
    /// metapage's lock.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// pin.insert(3, "three");
    /// assert_eq!(map.exact_len(), 3);
    /// ```
    pub fn exact_len(&self) -> usize {
        usize::try_from(self.table.exact(&(), &Pin::new()).max(0)).unwrap_or(usize::MAX)
    }

    /// Makes room for `additional` more entries; see [`Pinned::try_reserve`].
    ///
    /// # Panics
    /// If there is no memory, or if there would be more than 2^32 buckets.
    ///
    /// ```
    /// let map = lhash::LHashMap::<u64, u64>::new();
    /// map.reserve(1000);
    /// assert!(map.stats().max_bucket > 100);
    /// ```
    pub fn reserve(&self, additional: usize) {
        self.pin().reserve(additional);
    }
}

impl<K, V, S: Default> Default for LHashMap<K, V, S> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

impl<K: fmt::Debug, V: fmt::Debug, S, const N: usize> fmt::Debug for LHashMap<K, V, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pin = Pin::new();
        let entries = Entries::new(&self.table, &pin);
        f.debug_map().entries(entries.map(|(_, entry)| (&entry.key, &entry.value))).finish()
    }
}

impl<K, V, S, const N: usize> Clone for LHashMap<K, V, S, N>
where
    K: Hash + Eq + Clone + Send + 'static,
    V: Clone + Send + 'static,
    S: BuildHasher + Clone,
{
    /// A map of its own with the entries of this one, as [`Pinned::iter`] meets them.
    fn clone(&self) -> Self {
        let settings = self.table.meta.settings;
        let buckets = self.table.geometry().max_bucket() + 1;
        let table = Table::new(buckets, crate::meta::Meta::new(settings, 0))
            .unwrap_or_else(|error| panic!("{error}"));
        let copy = Self::from_parts(table, self.hasher.clone());
        copy.pin().extend(self.pin().iter().map(|(key, value)| (key.clone(), value.clone())));
        copy
    }
}

impl<K, V, S> FromIterator<(K, V)> for LHashMap<K, V, S>
where
    K: Hash + Eq + Send + 'static,
    V: Send + 'static,
    S: BuildHasher + Default,
{
    /// Of entries with equal keys, the last one stays. Makes room for as many as the iterator announces.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        let sized = Builder::<K, V, Map>::new().capacity(entries.size_hint().0).hasher(S::default()).build();
        // Only a hint: if there is no room for so many, the inserts will tell.
        let map = sized.unwrap_or_else(|_| Self::with_hasher(S::default()));
        map.table.meta.set_floor(0);
        map.pin().extend(entries);
        map
    }
}

impl<K, V, const M: usize> From<[(K, V); M]> for LHashMap<K, V>
where
    K: Hash + Eq + Send + 'static,
    V: Send + 'static,
{
    fn from(entries: [(K, V); M]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K, V, S, const N: usize> Extend<(K, V)> for LHashMap<K, V, S, N>
where
    K: Hash + Eq + Send + 'static,
    V: Send + 'static,
    S: BuildHasher,
{
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        self.pin().extend(entries);
    }
}

impl<K, V, S, const N: usize> PartialEq for LHashMap<K, V, S, N>
where
    K: Hash + Eq,
    V: PartialEq,
    S: BuildHasher,
{
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.pin(), other.pin());
        self.len() == other.len() && a.iter().all(|(key, value)| b.get(key) == Some(value))
    }
}

impl<K, V, S, const N: usize> IntoIterator for LHashMap<K, V, S, N> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V, N>;

    fn into_iter(self) -> IntoIter<K, V, N> {
        IntoIter::new(self.table)
    }
}
