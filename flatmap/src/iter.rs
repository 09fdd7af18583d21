//! Walking over the slots.

use crate::key::Key;
use crate::table::FlatMap;
use core::fmt;
use core::hash::BuildHasher;

/// The mapped slots with their keys, by slot. See [`FlatMap::iter`].
///
/// ```
/// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
/// table.insert(7, 5)?;
/// table.insert(9, 2)?;
/// assert_eq!(table.iter().collect::<Vec<_>>(), [(2, 9), (5, 7)]); // by slot
/// # Ok::<(), flatmap::InsertError>(())
/// ```
#[must_use = "an iterator does nothing until it is used"]
pub struct Iter<'a, K, S> {
    table: &'a FlatMap<K, S>,
    slots: core::ops::Range<u32>,
}

impl<'a, K: Key, S: BuildHasher> Iter<'a, K, S> {
    pub(crate) fn new(table: &'a FlatMap<K, S>) -> Self {
        Self { table, slots: 0..table.chains.entries().bound() }
    }
}

impl<K: Key, S: BuildHasher> Iterator for Iter<'_, K, S> {
    type Item = (u32, K);

    fn next(&mut self) -> Option<Self::Item> {
        self.slots.find_map(|slot| Some((slot, self.table.key_of(slot)?)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.slots.len()))
    }
}

impl<K: Key, S: BuildHasher> core::iter::FusedIterator for Iter<'_, K, S> {}

impl<K, S> fmt::Debug for Iter<'_, K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("slots", &self.slots).finish_non_exhaustive()
    }
}
