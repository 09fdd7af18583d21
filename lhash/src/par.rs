//! Feature `rayon`: families of buckets in parallel.

use crate::entry::Entry;
use crate::family::Families;
use crate::map::LHashMap;
use crate::reclaim::Pin;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

impl<K: Send + Sync, V: Send + Sync, S: Sync, const N: usize> LHashMap<K, V, S, N> {
    /// Calls `f` with every entry, families of buckets in parallel; each task pins for itself. What
    /// [`Pinned::iter`](crate::Pinned::iter) promises holds here too.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    ///
    /// let map: lhash::LHashMap<u64, u64> = (0..100).map(|key| (key, key)).collect();
    /// let sum = AtomicU64::new(0);
    /// map.par_for_each(|_, value| {
    ///     sum.fetch_add(*value, Relaxed);
    /// });
    /// assert_eq!(sum.into_inner(), 4950);
    /// ```
    pub fn par_for_each(&self, f: impl Fn(&K, &V) + Send + Sync) {
        self.par_map(|key, value| f(key, value)).for_each(drop);
    }

    /// What `f` makes of every entry, families of buckets in parallel; each task pins for itself. The results hold no
    /// references into the map, since a pin stays with its thread.
    ///
    /// ```
    /// # use lhash::LHashMap;
    /// use rayon::iter::ParallelIterator;
    ///
    /// let map: LHashMap<u32, u64> = (0..1000).map(|n| (n, u64::from(n))).collect();
    /// assert_eq!(map.par_map(|_, value| *value).sum::<u64>(), 499_500);
    /// ```
    pub fn par_map<R: Send>(&self, f: impl Fn(&K, &V) -> R + Send + Sync) -> impl ParallelIterator<Item = R> {
        let families = Families::of(self.table.geometry());
        let mask = families.mask();
        (0..=mask).into_par_iter().flat_map_iter(move |family| {
            let pin = Pin::new();
            let mut words = Vec::new();
            self.table.collect_family(family, mask, &mut words, &pin);
            let entry = |word: &crate::word::SlotWord| -> Option<&Entry<K, V>> {
                Some(self.table.entry(word.node()?, &pin))
            };
            let found = words.iter().filter_map(entry);
            found.map(|entry| f(&entry.key, &entry.value)).collect::<Vec<R>>()
        })
    }
}
