//! [`Pinned`]: a map's operations, key by key. Next: `change.rs`, what changes a key; `table.rs`; beside
//! them `bulk.rs`, the whole map at once.

use crate::entry::Entry;
use crate::family::Entries;
use crate::iter::Iter;
use crate::map::LHashMap;
use crate::reclaim::Pin;
use crate::table::Table;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use equivalent::Equivalent;

/// A map with a pin: references to what is found live as long as it.
///
/// * Lookups take no lock and write no shared memory (the pin writes its thread's own). They are linearizable, hits
///   and misses, also while buckets are split and merged; they look again only when another thread has
///   changed the same bucket meanwhile.
/// * Writers lock one bucket, for a few stores. No user code runs under a lock: `Hash`, `Eq`, `Drop` and closures may
///   panic, and may use the same map.
/// * What is removed or replaced is dropped some time after the last pin that could see it, on whichever thread comes
///   by: in any operation, of any map, that pins or removes. So don't hold a lock there that a `Drop` takes. It is
///   dropped with the map at the latest; and if at that moment another thread is dropping what was removed, the
///   map's end, with all that is in it, is that thread's when it has done so.
/// * [`repin`](Self::repin) lets go of nothing while the thread has another pin, of whatever map.
///
/// ```
/// let map = lhash::LHashMap::new();
/// let pin = map.pin();
/// pin.insert("page", 1);
/// let found = pin.get("page").expect("just inserted");
/// pin.remove("page");
/// assert_eq!(*found, 1); // as long as the pin lives
/// ```
pub struct Pinned<'a, K, V, S, const N: usize = 7> {
    pub(crate) map: &'a LHashMap<K, V, S, N>,
    pub(crate) pin: Pin,
}

impl<K, V, S, const N: usize> Pinned<'_, K, V, S, N> {
    pub(crate) fn table(&self) -> &Table<Entry<K, V>, N> {
        &self.map.table
    }

    /// Lets go of all that was found under this pin, so that memory can be given back, and pins anew.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one")]);
    /// let mut pin = map.pin();
    /// pin.remove(&1);
    /// pin.repin(); // what was removed may be dropped now
    /// assert!(pin.is_empty());
    /// ```
    pub fn repin(&mut self) {
        self.pin.repin();
    }

    /// As [`LHashMap::len`].
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!(pin.len(), 2);
    /// ```
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// As [`LHashMap::is_empty`].
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert!(!pin.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// All entries, in no order. Each that is there throughout is met exactly once, whatever splits and merges run; one
    /// that comes or goes meanwhile, at most once. It ends, however many are inserted meanwhile.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!(pin.iter().map(|(key, _)| key).sum::<i32>(), 3);
    /// ```
    pub fn iter(&self) -> Iter<'_, K, V, N> {
        Iter(Entries::new(self.table(), &self.pin))
    }

    /// All keys; as [`iter`](Self::iter).
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!(pin.keys().max(), Some(&2));
    /// ```
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// All values; as [`iter`](Self::iter).
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert!(pin.values().any(|value| *value == "two"));
    /// ```
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K, V, S: BuildHasher, const N: usize> Pinned<'_, K, V, S, N> {
    /// A key's value. Lock-free.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!((pin.get(&2), pin.get(&3)), (Some(&"two"), None));
    /// ```
    #[inline]
    pub fn get<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<&V> {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// A key as it is in the map, and its value. Lock-free.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!(pin.get_key_value(&2), Some((&2, &"two")));
    /// ```
    #[inline]
    pub fn get_key_value<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<(&K, &V)> {
        let hash = self.map.hash(key);
        let entry = self.table().get(hash, &self.pin, |entry| key.equivalent(&entry.key))?;
        Some((&entry.key, &entry.value))
    }

    /// Whether there is such a key. Lock-free.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert!(pin.contains_key(&1) && !pin.contains_key(&3));
    /// ```
    #[inline]
    pub fn contains_key<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> bool {
        self.get_key_value(key).is_some()
    }
}

impl<K, V, S, const N: usize> fmt::Debug for Pinned<'_, K, V, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pinned").field("len", &self.len()).finish_non_exhaustive()
    }
}
