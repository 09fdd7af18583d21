//! One change of a logged table: encoded, made, told. Next: `telling.rs`.

use super::codec::Codec;
use super::error::RedoError;
use super::logger::Logger;
use super::stored::{Row, Stored, digest_of};
use super::telling::{Change, ChangeKind, Telling};
use crate::draft::Draft;
use crate::family::Families;
use crate::pinned_multi::Vacuumed;
use crate::reclaim::Pin;
use crate::split::Leftovers;
use crate::table::{Bucket, Hit, Refused, Search, Table};
use crate::word::SlotWord;

/// So many entries are removed with one look at their buckets at most: that many records must have room in the log.
const MOST_REMOVED: usize = 1 << 9;

/// And so many bytes of them, unless the first one has more.
const MOST_BYTES: usize = 1 << 18;

/// So many buckets are cleared with one look at the count at most.
const MOST_CLEARED: usize = 1 << 6;

/// A thread that changes a logged table.
pub(crate) struct Writing<'a, K, V> {
    pub(crate) table: &'a Table<Row<K, V>, 7>,
    pub(crate) pin: &'a Pin,
    pub(crate) logger: &'a Logger,
}

fn change<K: Codec, V: Codec>(kind: ChangeKind, hash: u32, key: &K, value: &V, word: SlotWord) -> Change {
    let mut bytes = Vec::with_capacity(32);
    key.encode(&mut bytes);
    let key_len = bytes.len();
    value.encode(&mut bytes);
    Change { kind, hash, bytes, key_len, word }
}

impl<'a, K, V> Writing<'a, K, V>
where
    K: Codec + Send + 'static,
    V: Codec + Send + 'static,
{
    fn telling(&self, change: Change) -> Result<Telling<'a>, RedoError> {
        Telling::new(self.logger, vec![change], 0)
    }

    fn draft(&self, hash: u32, key: K, value: V, change: &Change) -> Draft<'a, Row<K, V>, 7> {
        let (key_bytes, value_bytes) = change.bytes.split_at(change.key_len);
        let digest = if self.logger.verify { digest_of(hash, key_bytes, value_bytes) } else { 0 };
        Draft::new_or_panic(self.table, Row { key, value: Stored { value, digest } }, self.pin)
    }

    /// Links or replaces where `search` ended; gives key and value back if the bucket has changed since.
    pub(crate) fn put(
        &self,
        search: &Search<'a, Row<K, V>, 7>,
        hash: u32,
        key: K,
        value: V,
    ) -> Result<Result<&'a V, (K, V)>, RedoError> {
        let kind = match search {
            Search::Hit(..) => ChangeKind::Replace,
            Search::Miss(_) => ChangeKind::Insert,
        };
        let change = change(kind, hash, &key, &value, SlotWord::EMPTY);
        let draft = self.draft(hash, key, value, &change);
        let telling = self.telling(change)?;
        let done = match search {
            Search::Miss(bucket) => self.table.link(bucket, draft.word(hash), &telling, self.pin),
            Search::Hit(bucket, hit) => {
                self.table.replace(bucket, hit, draft.word(hash), &telling, self.pin).map(|()| false)
            }
        };
        let added_page = match done {
            Ok(added_page) => added_page,
            Err(Refused::Stale) => {
                let Row { key, value } = draft.take();
                return Ok(Err((key, value.value)));
            }
            Err(Refused::OutOfMemory) => panic!("{}", crate::OutOfMemory),
        };
        let entry = draft.linked();
        match search {
            Search::Miss(_) => self.table.count(1, added_page, hash, &telling, self.pin),
            Search::Hit(_, hit) => self.table.retire_word(hit.word, self.pin),
        }
        telling.finish()?;
        Ok(Ok(&entry.value.value))
    }

    /// Links an entry without having looked for it.
    pub(crate) fn put_blindly(&self, hash: u32, key: K, value: V) -> Result<(), RedoError> {
        let change = change(ChangeKind::Insert, hash, &key, &value, SlotWord::EMPTY);
        let draft = self.draft(hash, key, value, &change);
        let telling = self.telling(change)?;
        let added_page = match self.table.link_blindly(draft.word(hash), &telling, self.pin) {
            Ok(added_page) => added_page,
            Err(error) => panic!("{error}"),
        };
        draft.linked();
        self.table.count(1, added_page, hash, &telling, self.pin);
        telling.finish()
    }

    /// Takes out what was found; `false` if the bucket has changed since.
    pub(crate) fn remove(
        &self,
        bucket: &Bucket<'_, 7>,
        hit: &Hit<'_, Row<K, V>, 7>,
    ) -> Result<bool, RedoError> {
        let (hash, entry) = (hit.word.hash(), hit.entry);
        let telling =
            self.telling(change(ChangeKind::Remove, hash, &entry.key, &entry.value.value, hit.word))?;
        if !self.table.unlink(bucket, hit, &telling, self.pin) {
            return Ok(false);
        }
        self.table.count(-1, false, hash, &telling, self.pin);
        telling.finish()?;
        Ok(true)
    }

    /// Removes these entries from the buckets of a family, some at a time. Returns how many, and how many pages.
    pub(crate) fn remove_words(
        &self,
        dead: &[SlotWord],
        family: u32,
        mask: u32,
    ) -> Result<(u64, u64), RedoError> {
        let (mut removed, mut pages, mut rest) = (0, 0, dead);
        // Squeezed also where nothing is dead.
        loop {
            let (changes, bytes) = self.changes(rest);
            let (some, later) = rest.split_at(changes.len());
            debug_assert!(bytes > 0 || some.is_empty());
            let buckets = Families::buckets(self.table.geometry(), family, mask).count();
            let telling = Telling::new(self.logger, changes, 2 * buckets + some.len())?;
            let buckets = |geometry| Families::buckets(geometry, family, mask);
            let done = self.table.remove_words(some.to_vec(), &telling, buckets, self.pin);
            telling.finish()?;
            (removed, pages, rest) = (removed + done.0, pages + done.1, later);
            if rest.is_empty() {
                return Ok((removed, pages));
            }
        }
    }

    /// The removes of the first of these entries, and their bytes: as many as the log takes well at a time.
    fn changes(&self, dead: &[SlotWord]) -> (Vec<Change>, usize) {
        let (mut changes, mut bytes) = (Vec::new(), 0);
        for &word in dead.iter().take(MOST_REMOVED) {
            let Some(node) = word.node() else { continue };
            let entry = self.table.entry(node, self.pin);
            let change = change(ChangeKind::Remove, word.hash(), &entry.key, &entry.value.value, word);
            bytes += change.bytes.len() + 1;
            if bytes > MOST_BYTES && !changes.is_empty() {
                break;
            }
            changes.push(change);
        }
        (changes, bytes)
    }

    /// Removes all entries there were when it began, a bucket at a time, each with one record.
    pub(crate) fn clear(&self) -> Result<(), RedoError> {
        let families = Families::of(self.table.geometry());
        let (mask, mut lsn) = (families.mask(), 0);
        for family in families {
            while !self.clear_family(family, mask, &mut lsn)? {}
        }
        self.logger.settle(lsn)
    }

    /// Clears the buckets of a family; `false` if it was split or merged meanwhile, so that some of it may be elsewhere.
    fn clear_family(&self, family: u32, mask: u32, lsn: &mut u64) -> Result<bool, RedoError> {
        let geometry = self.table.geometry();
        let buckets: Vec<u32> = Families::buckets(geometry, family, mask).collect();
        for some in buckets.chunks(MOST_CLEARED) {
            let telling = Telling::clearing(self.logger, some.len())?;
            let (mut left, mut words) = (Leftovers::new(), Vec::new());
            for &number in some {
                self.table.clear_bucket(number, &telling, self.pin, &mut left, &mut words);
            }
            // Before what went is counted: that merges buckets.
            let is_still = self.table.is_still(geometry);
            if !words.is_empty() {
                self.table.count_cleared(words.len(), &telling, self.pin);
            }
            *lsn = (*lsn).max(telling.fill_all());
            self.table.retire_pages(left, self.pin);
            words.iter().for_each(|&word| self.table.retire_word(word, self.pin));
            if !is_still {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes the entries of which `dead` says so, and squeezes every chain. `dead` runs with no lock held.
    pub(crate) fn remove_where(&self, mut dead: impl FnMut(&K, &V) -> bool) -> Result<Vacuumed, RedoError> {
        let mut vacuumed = Vacuumed::default();
        let families = Families::of(self.table.geometry());
        let (mask, mut words) = (families.mask(), Vec::new());
        for family in families {
            self.table.collect_family(family, mask, &mut words, self.pin);
            vacuumed.live += words.len() as u64;
            let is_dead = |word: &SlotWord| {
                let entry = word.node().map(|node| self.table.entry(node, self.pin));
                entry.is_some_and(|entry| dead(&entry.key, &entry.value.value))
            };
            let doomed: Vec<SlotWord> = words.drain(..).filter(is_dead).collect();
            let (removed, pages) = self.remove_words(&doomed, family, mask)?;
            vacuumed.removed += removed;
            vacuumed.live -= removed;
            vacuumed.pages += pages;
        }
        Ok(vacuumed)
    }
}
