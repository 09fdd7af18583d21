//! What changes a key of a map: looked for without a lock, done under its bucket's, if that is still as it was seen.
//! Next: `table.rs`; `compute.rs`, the same with a closure that decides.

use crate::OccupiedError;
use crate::draft::Draft;
use crate::entry::Entry;
use crate::pinned::Pinned;
use crate::table::{Bucket, Hit, Refused, Search};
use crate::word::SlotWord;
use core::hash::{BuildHasher, Hash};
use equivalent::Equivalent;

type Found<'p, K, V, const N: usize> = (Bucket<'p, N>, Hit<'p, Entry<K, V>, N>);

impl<K, V, S, const N: usize> Pinned<'_, K, V, S, N>
where
    K: Hash + Eq + Send + 'static,
    V: Send + 'static,
    S: BuildHasher,
{
    pub(crate) fn find<Q: Equivalent<K> + ?Sized>(&self, hash: u32, key: &Q) -> Search<'_, Entry<K, V>, N> {
        self.table().search(hash, &self.pin, |entry| key.equivalent(&entry.key))
    }

    pub(crate) fn draft(&self, key: K, value: V) -> Draft<'_, Entry<K, V>, N> {
        Draft::new_or_panic(self.table(), Entry { key, value }, &self.pin)
    }

    /// Links the draft in where nothing was found; `Err` if the bucket has changed since.
    pub(crate) fn add<'p>(
        &'p self,
        bucket: &Bucket<'p, N>,
        hash: u32,
        draft: Draft<'p, Entry<K, V>, N>,
    ) -> Result<&'p Entry<K, V>, Draft<'p, Entry<K, V>, N>> {
        match self.table().link(bucket, draft.word(hash), &(), &self.pin) {
            Ok(added_page) => {
                let entry = draft.linked();
                self.table().count(1, added_page, hash, &(), &self.pin);
                Ok(entry)
            }
            Err(Refused::Stale) => Err(draft),
            Err(Refused::OutOfMemory) => panic!("{}", crate::OutOfMemory),
        }
    }

    /// Puts the draft in the place of what was found; `Err` if the bucket has changed since.
    pub(crate) fn replace<'p>(
        &'p self,
        (bucket, hit): &Found<'p, K, V, N>,
        hash: u32,
        draft: Draft<'p, Entry<K, V>, N>,
    ) -> Result<&'p Entry<K, V>, Draft<'p, Entry<K, V>, N>> {
        if self.table().replace(bucket, hit, draft.word(hash), &(), &self.pin).is_err() {
            return Err(draft);
        }
        let entry = draft.linked();
        self.table().retire_word(hit.word, &self.pin);
        Ok(entry)
    }

    pub(crate) fn unlink(&self, (bucket, hit): &Found<'_, K, V, N>, hash: u32) -> bool {
        let unlinked = self.table().unlink(bucket, hit, &(), &self.pin);
        if unlinked {
            self.table().count(-1, false, hash, &(), &self.pin);
        }
        unlinked
    }

    /// Inserts, or puts another value in place of the key's. Returns the value there was. A key that is equal to the one
    /// there is replaced too.
    ///
    /// # Panics
    /// If there is no memory.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!(pin.insert(2, "zwei"), Some(&"two"));
    /// assert_eq!(pin.insert(3, "three"), None);
    /// ```
    pub fn insert(&self, key: K, value: V) -> Option<&V> {
        let hash = self.map.hash(&key);
        let mut draft = self.draft(key, value);
        loop {
            let tried = match self.find(hash, &draft.entry().key) {
                Search::Miss(bucket) => self.add(&bucket, hash, draft).map(|_| None),
                Search::Hit(bucket, hit) => {
                    let found = (bucket, hit);
                    self.replace(&found, hash, draft).map(|_| Some(&found.1.entry.value))
                }
            };
            match tried {
                Ok(old) => return old,
                Err(back) => draft = back,
            }
        }
    }

    /// Inserts if there is no such key.
    ///
    /// # Errors
    /// If there is one: its value, and the one that was not inserted.
    ///
    /// # Panics
    /// If there is no memory.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!(pin.try_insert(3, "three"), Ok(&"three"));
    /// let error = pin.try_insert(2, "zwei").expect_err("it is there");
    /// assert_eq!(error.current, &"two");
    /// ```
    pub fn try_insert(&self, key: K, value: V) -> Result<&V, OccupiedError<'_, V>> {
        let hash = self.map.hash(&key);
        let mut draft = self.draft(key, value);
        loop {
            match self.find(hash, &draft.entry().key) {
                Search::Hit(_, hit) => {
                    let current = &hit.entry.value;
                    let Entry { key, value: not_inserted } = draft.take();
                    // Here, where a panic in its `Drop` doesn't leak the value.
                    drop(key);
                    return Err(OccupiedError { current, not_inserted });
                }
                Search::Miss(bucket) => match self.add(&bucket, hash, draft) {
                    Ok(entry) => return Ok(&entry.value),
                    Err(back) => draft = back,
                },
            }
        }
    }

    /// The key's value, or this one.
    ///
    /// # Panics
    /// If there is no memory.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!(pin.get_or_insert(2, "zwei"), &"two");
    /// assert_eq!(pin.get_or_insert(3, "three"), &"three");
    /// ```
    pub fn get_or_insert(&self, key: K, value: V) -> &V {
        self.get_or_insert_with(key, || value)
    }

    /// The key's value, or one that `make` makes, which runs at most once, with no lock held. If another thread inserts
    /// the key while it runs, that thread's value is returned and the made one is dropped: so two threads may both
    /// make one, and all get the same.
    ///
    /// # Panics
    /// If there is no memory.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!(pin.get_or_insert_with(2, || unreachable!()), &"two");
    /// ```
    pub fn get_or_insert_with(&self, key: K, make: impl FnOnce() -> V) -> &V {
        let hash = self.map.hash(&key);
        let found = self.table().get(hash, &self.pin, |entry| entry.key == key);
        if let Some(entry) = found {
            return &entry.value;
        }
        let value = make();
        match self.try_insert(key, value) {
            Ok(value) => value,
            Err(OccupiedError { current, .. }) => current,
        }
    }

    /// Puts `f` of the key's value in its place and returns that; `None` if there is no such key. `f` runs with no lock
    /// held, and again if the key has another value meanwhile: so it must not itself change the key each time.
    ///
    /// # Panics
    /// If there is no memory.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([("a", 1)]);
    /// let pin = map.pin();
    /// assert_eq!(pin.update("a", |n| n + 1), Some(&2));
    /// assert_eq!(pin.update("b", |n| n + 1), None);
    /// ```
    pub fn update(&self, key: K, f: impl Fn(&V) -> V) -> Option<&V> {
        let hash = self.map.hash(&key);
        let mut key = key;
        // What `f` made of the entry in that word, which names no other entry as long as the pin lives.
        let mut made: Option<(SlotWord, V)> = None;
        loop {
            let Search::Hit(bucket, hit) = self.find(hash, &key) else { return None };
            let seen = hit.word;
            let value = match made.take() {
                Some((of, value)) if of == seen => value,
                _ => f(&hit.entry.value),
            };
            let draft = self.draft(key, value);
            match self.replace(&(bucket, hit), hash, draft) {
                Ok(entry) => return Some(&entry.value),
                Err(back) => {
                    let back = back.take();
                    key = back.key;
                    made = Some((seen, back.value));
                }
            }
        }
    }

    /// Removes a key; returns its value.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!((pin.remove(&1), pin.remove(&1)), (Some(&"one"), None));
    /// ```
    pub fn remove<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<&V> {
        self.remove_if(key, |_, _| true)
    }

    /// Removes a key if `dead` says so of it and its value; returns the value. `dead` runs with no lock held, and again if
    /// the key has another value meanwhile: what is removed is what it last said so of.
    ///
    /// ```
    /// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
    /// let pin = map.pin();
    /// assert_eq!(pin.remove_if(&1, |_, value| value.is_empty()), None);
    /// assert_eq!(pin.len(), 2);
    /// ```
    pub fn remove_if<Q: Hash + Equivalent<K> + ?Sized>(
        &self,
        key: &Q,
        mut dead: impl FnMut(&K, &V) -> bool,
    ) -> Option<&V> {
        let hash = self.map.hash(key);
        let mut doomed = None;
        loop {
            let Search::Hit(bucket, hit) = self.find(hash, key) else { return None };
            let entry = hit.entry;
            if doomed != Some(hit.word) && !dead(&entry.key, &entry.value) {
                return None;
            }
            doomed = Some(hit.word);
            if self.unlink(&(bucket, hit), hash) {
                return Some(&entry.value);
            }
        }
    }
}
