//! Iterators.

use crate::entry::Entry;
use crate::family::{Entries, Families};
use crate::nodes::NodeId;
use crate::reclaim::Pin;
use crate::retire::Owner;
use crate::word::SlotWord;
use core::fmt;
use core::iter::FusedIterator;

/// The entries of a map or multimap, in no order. See [`Pinned::iter`](crate::Pinned::iter) for what it promises.
///
/// ```
/// let map: lhash::LHashMap<u64, u64> = (0..100).map(|key| (key, key)).collect();
/// let pin = map.pin();
/// assert_eq!(pin.iter().map(|(key, _)| key).sum::<u64>(), 4950);
/// ```
pub struct Iter<'p, K, V, const N: usize = 7>(pub(crate) Entries<'p, Entry<K, V>, N>);

impl<'p, K, V, const N: usize> Iterator for Iter<'p, K, V, N> {
    type Item = (&'p K, &'p V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(_, entry)| (&entry.key, &entry.value))
    }
}

impl<K, V, const N: usize> FusedIterator for Iter<'_, K, V, N> {}

impl<K, V, const N: usize> fmt::Debug for Iter<'_, K, V, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Iter")
    }
}

/// The entries of a map or multimap that is no more.
///
/// ```
/// let map: lhash::LHashMap<u64, String> = [(1, "one".to_owned())].into_iter().collect();
/// assert_eq!(map.into_iter().next(), Some((1, "one".to_owned())));
/// ```
pub struct IntoIter<K, V, const N: usize = 7> {
    table: Owner<Entry<K, V>, N>,
    families: Families,
    words: Vec<SlotWord>,
}

impl<K, V, const N: usize> IntoIter<K, V, N> {
    pub(crate) fn new(mut table: Owner<Entry<K, V>, N>) -> Self {
        table.hand_out();
        let families = Families::of(table.geometry());
        Self { table, families, words: Vec::new() }
    }

    fn next_node(&mut self, pin: &Pin) -> Option<NodeId> {
        loop {
            if let Some(node) = self.words.pop().and_then(SlotWord::node) {
                return Some(node);
            }
            let family = self.families.next()?;
            self.table.collect_family(family, self.families.mask(), &mut self.words, pin);
        }
    }
}

impl<K, V, const N: usize> Iterator for IntoIter<K, V, N> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        let pin = Pin::new();
        let node = self.next_node(&pin)?;
        // SAFETY: the map is consumed: nobody else reads, links or unlinks an entry, and those who retire or free
        // numbers don't have this one. Each family is met once, so the node is taken once; its number is free then,
        // so that it is not dropped again with the table.
        let entry = unsafe { self.table.nodes.take(node) };
        Some((entry.key, entry.value))
    }
}

impl<K, V, const N: usize> FusedIterator for IntoIter<K, V, N> {}

impl<K, V, const N: usize> Drop for IntoIter<K, V, N> {
    fn drop(&mut self) {
        // What a panic leaves ends with the table.
        self.for_each(drop);
    }
}

impl<K, V, const N: usize> fmt::Debug for IntoIter<K, V, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IntoIter")
    }
}
