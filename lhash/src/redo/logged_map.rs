//! The operations of a [`LoggedMap`](super::LoggedMap). Next: `writing.rs`, one change; `telling.rs`, its records.

use super::codec::Codec;
use super::error::RedoError;
use super::hasher::SeededHasher;
use super::logged::Logged;
use super::pinned_logged::PinnedLogged;
use super::stored::{Row, Stored};
use crate::config::Map;
use crate::draft::Draft;
use crate::table::Search;
use crate::{Computed, Operation};
use core::hash::{BuildHasher, Hash};
use equivalent::Equivalent;

impl<K, V, S: BuildHasher> PinnedLogged<'_, K, V, Map, S> {
    /// A key's value. Lock-free, also when the log has failed.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let pin = map.pin();
    /// pin.insert(1, "one".to_owned())?;
    /// assert_eq!(pin.get(&1), Some(&"one".to_owned()));
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn get<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<&V> {
        let hash = self.map.hash(key);
        let entry = self.table().get(hash, &self.pin, |entry| key.equivalent(&entry.key))?;
        Some(&entry.value.value)
    }

    /// Whether there is such a key.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let pin = map.pin();
    /// pin.insert(1, "one".to_owned())?;
    /// assert!(pin.contains_key(&1) && !pin.contains_key(&2));
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn contains_key<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> bool {
        self.get(key).is_some()
    }
}

impl<K, V, S> PinnedLogged<'_, K, V, Map, S>
where
    K: Codec + Hash + Eq + Send + 'static,
    V: Codec + Send + 'static,
    S: SeededHasher,
{
    fn find<Q: Equivalent<K> + ?Sized>(&self, hash: u32, key: &Q) -> Search<'_, Row<K, V>, 7> {
        self.table().search(hash, &self.pin, |entry| key.equivalent(&entry.key))
    }

    /// Inserts, or puts another value in place of the key's. Returns the value there was.
    ///
    /// # Errors
    /// If the log can't be written, now or earlier. Refused earlier, nothing is changed. If it fails while this change
    /// waits to be on the disk, the change is in memory, and may or may not be there after recovery.
    ///
    /// # Panics
    /// If there is no memory.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let pin = map.pin();
    /// pin.insert(1, "one".to_owned())?;
    /// assert_eq!(pin.insert(1, "eins".to_owned())?, Some(&"one".to_owned()));
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn insert(&self, key: K, value: V) -> Result<Option<&V>, RedoError> {
        let mut value = Some(value);
        match self.compute(key, |_| value.take().map_or(Operation::Keep, Operation::Insert))? {
            Computed::Updated { old, .. } => Ok(Some(old)),
            _ => Ok(None),
        }
    }

    /// Puts `f` of the key's value in its place and returns that; `None` if there is no such key. See
    /// [`Pinned::update`](crate::Pinned::update).
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    ///
    /// # Panics
    /// If there is no memory.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let pin = map.pin();
    /// pin.insert(1, "one".to_owned())?;
    /// assert_eq!(pin.update(1, |name| name.to_uppercase())?, Some(&"ONE".to_owned()));
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn update(&self, key: K, f: impl Fn(&V) -> V) -> Result<Option<&V>, RedoError> {
        match self.compute(key, |old| old.map_or(Operation::Keep, |old| Operation::Insert(f(old))))? {
            Computed::Updated { new, .. } => Ok(Some(new)),
            _ => Ok(None),
        }
    }

    /// Removes a key; returns its value.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let pin = map.pin();
    /// pin.insert(1, "one".to_owned())?;
    /// assert_eq!(pin.remove(&1)?, Some(&"one".to_owned()));
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn remove<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Result<Option<&V>, RedoError> {
        let (hash, writing) = (self.map.hash(key), self.writing());
        loop {
            let Search::Hit(bucket, hit) = self.find(hash, key) else { return Ok(None) };
            if writing.remove(&bucket, &hit)? {
                return Ok(Some(&hit.entry.value.value));
            }
        }
    }

    /// Looks at the key's value and inserts, replaces, removes or does nothing, in one step; see [`Pinned::compute`](crate::Pinned::compute).
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    ///
    /// # Panics
    /// If there is no memory.
    ///
    /// ```
    /// use lhash::Operation;
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let pin = map.pin();
    /// pin.insert(1, "one".to_owned())?;
    /// pin.compute(1, |_| Operation::Remove)?;
    /// assert!(map.is_empty());
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn compute(
        &self,
        key: K,
        mut f: impl FnMut(Option<&V>) -> Operation<V>,
    ) -> Result<Computed<'_, V>, RedoError> {
        let (hash, writing) = (self.map.hash(&key), self.writing());
        let mut key = key;
        // What `f` said of the entry in that word, or of none.
        let mut said = None;
        loop {
            let search = self.find(hash, &key);
            let (current, seen) = match &search {
                Search::Hit(_, hit) => (Some(&hit.entry.value.value), Some(hit.word)),
                Search::Miss(_) => (None, None),
            };
            let operation = match said.take() {
                Some((of, operation)) if of == seen => operation,
                _ => f(current),
            };
            match (operation, &search) {
                (Operation::Keep, _) | (Operation::Remove, Search::Miss(_)) => {
                    return Ok(Computed::Unchanged(current));
                }
                (Operation::Remove, Search::Hit(bucket, hit)) => {
                    if writing.remove(bucket, hit)? {
                        return Ok(Computed::Removed(&hit.entry.value.value));
                    }
                    said = Some((seen, Operation::Remove));
                }
                (Operation::Insert(value), _) => match writing.put(&search, hash, key, value)? {
                    Ok(new) => {
                        return Ok(match current {
                            Some(old) => Computed::Updated { old, new },
                            None => Computed::Inserted(new),
                        });
                    }
                    Err((back, value)) => {
                        key = back;
                        said = Some((seen, Operation::Insert(value)));
                    }
                },
            }
        }
    }
}

impl<K, V, S> Logged<K, V, Map, S>
where
    K: Codec + Hash + Eq + Send + 'static,
    V: Codec + Send + 'static,
    S: SeededHasher,
{
    /// Puts another value in the place of a key's without the log. For tests of what a standby finds.
    #[doc(hidden)]
    pub fn tamper(&self, key: &K, value: V) {
        let (pin, hash) = (self.pin(), self.hash(key));
        if let Search::Hit(_, hit) = pin.find(hash, key) {
            let mut bytes = Vec::new();
            hit.entry.key.encode(&mut bytes);
            if let Ok(key) = K::decode(&bytes) {
                let draft = Draft::new_or_panic(
                    pin.table(),
                    Row { key, value: Stored { value, digest: 0 } },
                    &pin.pin,
                );
                while let Search::Hit(bucket, hit) = pin.find(hash, &draft.entry().key) {
                    if pin.table().replace(&bucket, &hit, draft.word(hash), &(), &pin.pin).is_ok() {
                        draft.linked();
                        return;
                    }
                }
            }
        }
    }

    /// The bucket that a key belongs to now. For tests.
    #[doc(hidden)]
    pub fn bucket_of(&self, key: &K) -> u32 {
        self.table.geometry().address(self.hash(key))
    }
}
