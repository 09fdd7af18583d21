//! The operations of a [`LoggedMultiMap`](super::LoggedMultiMap). Next: `writing.rs`, one change.

use super::codec::Codec;
use super::error::RedoError;
use super::hasher::SeededHasher;
use super::pinned_logged::PinnedLogged;
use super::record::Record;
use super::stored::Row;
use crate::config::MultiMap;
use crate::pinned_multi::Vacuumed;
use crate::table::Search;
use crate::word::SlotWord;
use core::hash::{BuildHasher, Hash};
use equivalent::Equivalent;

impl<K, V, S: BuildHasher> PinnedLogged<'_, K, V, MultiMap, S> {
    /// All values of a key, in no order, as they were at one moment. Works also when the log has failed.
    ///
    /// ```
    /// use lhash::redo::{LoggedMultiMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let index: LoggedMultiMap<u64, u64> = Options::new().create(&path)?;
    /// let pin = index.pin();
    /// pin.insert(1, 10)?;
    /// pin.insert(1, 11)?;
    /// assert_eq!(pin.get_all(&1).sum::<u64>(), 21);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn get_all<'p, Q: Hash + Equivalent<K> + ?Sized>(
        &'p self,
        key: &'p Q,
    ) -> impl Iterator<Item = &'p V> {
        self.entries_of(key).map(|(_, entry)| &entry.value.value)
    }

    fn entries_of<'p, Q: Hash + Equivalent<K> + ?Sized>(
        &'p self,
        key: &'p Q,
    ) -> impl Iterator<Item = (SlotWord, &'p Row<K, V>)> {
        let mut words = Vec::new();
        self.table().collect_hash(self.map.hash(key), &mut words, &self.pin);
        let entries =
            words.into_iter().filter_map(|word| Some((word, self.table().entry(word.node()?, &self.pin))));
        entries.filter(|(_, entry)| key.equivalent(&entry.key))
    }

    /// How many values a key has, at one moment. Walks them.
    ///
    /// ```
    /// use lhash::redo::{LoggedMultiMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let index: LoggedMultiMap<u64, u64> = Options::new().create(&path)?;
    /// let pin = index.pin();
    /// pin.insert(1, 10)?;
    /// pin.insert(1, 11)?;
    /// assert_eq!(pin.count(&1), 2);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn count<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> usize {
        self.entries_of(key).count()
    }

    /// Whether a key has values. Lock-free.
    ///
    /// ```
    /// use lhash::redo::{LoggedMultiMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let index: LoggedMultiMap<u64, u64> = Options::new().create(&path)?;
    /// let pin = index.pin();
    /// pin.insert(1, 10)?;
    /// pin.insert(1, 11)?;
    /// assert!(pin.contains(&1) && !pin.contains(&2));
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn contains<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> bool {
        let hash = self.map.hash(key);
        self.table().get(hash, &self.pin, |entry| key.equivalent(&entry.key)).is_some()
    }
}

impl<K, V, S> PinnedLogged<'_, K, V, MultiMap, S>
where
    K: Codec + Hash + Eq + Send + 'static,
    V: Codec + Send + 'static,
    S: SeededHasher,
{
    /// Adds a value to a key; see [`PinnedMulti::insert`](crate::PinnedMulti::insert).
    ///
    /// # Errors
    /// If the log can't be written, now or earlier.
    ///
    /// # Panics
    /// If there is no memory.
    ///
    /// ```
    /// use lhash::redo::{LoggedMultiMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let index: LoggedMultiMap<u64, u64> = Options::new().create(&path)?;
    /// let pin = index.pin();
    /// pin.insert(1, 10)?;
    /// pin.insert(1, 11)?;
    /// assert_eq!(index.len(), 2);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn insert(&self, key: K, value: V) -> Result<(), RedoError> {
        self.writing().put_blindly(self.map.hash(&key), key, value)
    }

    /// Removes one entry with this key and this value; returns its value.
    ///
    /// # Errors
    /// If the log can't be written, now or earlier.
    ///
    /// ```
    /// use lhash::redo::{LoggedMultiMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let index: LoggedMultiMap<u64, u64> = Options::new().create(&path)?;
    /// let pin = index.pin();
    /// pin.insert(1, 10)?;
    /// pin.insert(1, 11)?;
    /// assert_eq!(pin.remove_one(&1, &10)?, Some(&10));
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn remove_one<Q, W>(&self, key: &Q, value: &W) -> Result<Option<&V>, RedoError>
    where
        Q: Hash + Equivalent<K> + ?Sized,
        W: Equivalent<V> + ?Sized,
    {
        let (hash, writing) = (self.map.hash(key), self.writing());
        loop {
            let found = self.table().search(hash, &self.pin, |entry| {
                key.equivalent(&entry.key) && value.equivalent(&entry.value.value)
            });
            let Search::Hit(bucket, hit) = found else { return Ok(None) };
            if writing.remove(&bucket, &hit)? {
                return Ok(Some(&hit.entry.value.value));
            }
        }
    }

    /// Removes all values that a key had at one moment; returns how many. See [`PinnedMulti::remove_all`](crate::PinnedMulti::remove_all).
    ///
    /// # Errors
    /// If the log can't be written, now or earlier. Some may be removed then and others not.
    ///
    /// ```
    /// use lhash::redo::{LoggedMultiMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let index: LoggedMultiMap<u64, u64> = Options::new().create(&path)?;
    /// let pin = index.pin();
    /// pin.insert(1, 10)?;
    /// pin.insert(1, 11)?;
    /// assert_eq!(pin.remove_all(&1)?, 2);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn remove_all<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Result<usize, RedoError> {
        let dead: Vec<SlotWord> = self.entries_of(key).map(|(word, _)| word).collect();
        if dead.is_empty() {
            return Ok(0);
        }
        let (removed, _) = self.writing().remove_words(&dead, self.map.hash(key), u32::MAX)?;
        Ok(removed as usize)
    }

    /// Removes the entries of which `dead` says so, squeezes every chain, and puts the exact count back; see
    /// [`PinnedMulti::vacuum`](crate::PinnedMulti::vacuum).
    ///
    /// # Errors
    /// If the log can't be written, now or earlier. Some may be removed then and others not.
    ///
    /// ```
    /// use lhash::redo::{LoggedMultiMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let index: LoggedMultiMap<u64, u64> = Options::new().create(&path)?;
    /// let pin = index.pin();
    /// pin.insert(1, 10)?;
    /// pin.insert(1, 11)?;
    /// assert_eq!(pin.vacuum(|_, row| *row == 10)?.removed, 1);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn vacuum(&self, dead: impl FnMut(&K, &V) -> bool) -> Result<Vacuumed, RedoError> {
        let vacuumed = self.writing().remove_where(dead)?;
        let exact = self.table().corrects_count().then_some(vacuumed.live);
        let record = Record::Vacuum { removed: vacuumed.removed, exact };
        self.map.logger.note(&record, |logger| self.table().correct_count(vacuumed.live as i64, logger))?;
        Ok(vacuumed)
    }
}
