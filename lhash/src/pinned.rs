//! [`Pinned`]: a map's operations, key by key. Next: `table.rs`; beside it `bulk.rs`, the whole map at once.

use crate::OccupiedError;
use crate::draft::Draft;
use crate::entry::Entry;
use crate::family::Entries;
use crate::iter::Iter;
use crate::map::LHashMap;
use crate::reclaim::Pin;
use crate::table::{Bucket, Hit, Refused, Search, Table};
use crate::word::SlotWord;
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
    pub fn repin(&mut self) {
        self.pin.repin();
    }

    /// As [`LHashMap::len`].
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// As [`LHashMap::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// All entries, in no order. Each that is there throughout is met exactly once, whatever splits and merges run; one
    /// that comes or goes meanwhile, at most once. It ends, however many are inserted meanwhile.
    pub fn iter(&self) -> Iter<'_, K, V, N> {
        Iter(Entries::new(self.table(), &self.pin))
    }

    /// All keys; as [`iter`](Self::iter).
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// All values; as [`iter`](Self::iter).
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K, V, S: BuildHasher, const N: usize> Pinned<'_, K, V, S, N> {
    /// A key's value. Lock-free.
    #[inline]
    pub fn get<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<&V> {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// A key as it is in the map, and its value. Lock-free.
    #[inline]
    pub fn get_key_value<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<(&K, &V)> {
        let hash = self.map.hash(key);
        let entry = self.table().get(hash, &self.pin, |entry| key.equivalent(&entry.key))?;
        Some((&entry.key, &entry.value))
    }

    /// Whether there is such a key. Lock-free.
    #[inline]
    pub fn contains_key<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> bool {
        self.get_key_value(key).is_some()
    }
}

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
    pub fn get_or_insert(&self, key: K, value: V) -> &V {
        self.get_or_insert_with(key, || value)
    }

    /// The key's value, or one that `make` makes, which runs at most once, with no lock held. If another thread inserts
    /// the key while it runs, that thread's value is returned and the made one is dropped: so two threads may both
    /// make one, and all get the same.
    ///
    /// # Panics
    /// If there is no memory.
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
    pub fn remove<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<&V> {
        self.remove_if(key, |_, _| true)
    }

    /// Removes a key if `dead` says so of it and its value; returns the value. `dead` runs with no lock held, and again if
    /// the key has another value meanwhile: what is removed is what it last said so of.
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

impl<K, V, S, const N: usize> fmt::Debug for Pinned<'_, K, V, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pinned").field("len", &self.len()).finish_non_exhaustive()
    }
}
