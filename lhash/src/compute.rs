//! [`Pinned::compute`]: an operation that a closure chooses.

use crate::pinned::Pinned;
use crate::table::Search;
use crate::word::SlotWord;
use crate::{Computed, Operation};
use core::hash::{BuildHasher, Hash};

impl<K, V, S, const N: usize> Pinned<'_, K, V, S, N>
where
    K: Hash + Eq + Send + 'static,
    V: Send + 'static,
    S: BuildHasher,
{
    /// Looks at the key's value and inserts, replaces, removes or does nothing, in one step. `f` runs with no lock held,
    /// and again if the key has come, gone or got another value meanwhile: what is done is what it said last.
    ///
    /// ```
    /// use lhash::{Computed, LHashMap, Operation};
    ///
    /// let map = LHashMap::from([("a", 1)]);
    /// let map = map.pin();
    /// let count_down = |value: Option<&i32>| match value {
    ///     None | Some(0) => Operation::Remove,
    ///     Some(n) => Operation::Insert(n - 1),
    /// };
    /// assert_eq!(map.compute("a", count_down), Computed::Updated { old: &1, new: &0 });
    /// assert_eq!(map.compute("a", count_down), Computed::Removed(&0));
    /// assert_eq!(map.compute("a", count_down), Computed::Unchanged(None));
    /// ```
    ///
    /// # Panics
    /// If there is no memory.
    pub fn compute(&self, key: K, mut f: impl FnMut(Option<&V>) -> Operation<V>) -> Computed<'_, V> {
        let hash = self.map.hash(&key);
        let mut key = key;
        // What `f` said of the entry in that word, or of none.
        let mut said: Option<(Option<SlotWord>, Operation<V>)> = None;
        loop {
            let search = self.find(hash, &key);
            let current = match &search {
                Search::Hit(_, hit) => Some(&hit.entry.value),
                Search::Miss(_) => None,
            };
            let seen = match &search {
                Search::Hit(_, hit) => Some(hit.word),
                Search::Miss(_) => None,
            };
            let operation = match said.take() {
                Some((of, operation)) if of == seen => operation,
                _ => f(current),
            };
            let back = match (operation, search) {
                (Operation::Keep, _) | (Operation::Remove, Search::Miss(_)) => {
                    return Computed::Unchanged(current);
                }
                (Operation::Remove, Search::Hit(bucket, hit)) => {
                    let old = &hit.entry.value;
                    if self.unlink(&(bucket, hit), hash) {
                        return Computed::Removed(old);
                    }
                    said = Some((seen, Operation::Remove));
                    continue;
                }
                (Operation::Insert(value), Search::Miss(bucket)) => {
                    match self.add(&bucket, hash, self.draft(key, value)) {
                        Ok(entry) => return Computed::Inserted(&entry.value),
                        Err(back) => back,
                    }
                }
                (Operation::Insert(value), Search::Hit(bucket, hit)) => {
                    let old = &hit.entry.value;
                    match self.replace(&(bucket, hit), hash, self.draft(key, value)) {
                        Ok(entry) => return Computed::Updated { old, new: &entry.value },
                        Err(back) => back,
                    }
                }
            };
            let back = back.take();
            key = back.key;
            said = Some((seen, Operation::Insert(back.value)));
        }
    }
}
