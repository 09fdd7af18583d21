//! What a record does to a table that is rebuilt. It does what the record says and decides nothing: counts change by
//! the records' counts alone, buckets by the records of splits and merges. Next: `recover.rs` and `standby.rs`.

use super::codec::Codec;
use super::record::{Ntuples, Record};
use super::snapshot;
use super::stored::{Row, Stored, digest_of};
use crate::draft::Draft;
use crate::reclaim::Pin;
use crate::split::{Leftovers, Moved};
use crate::table::{Search, Table};
use core::hash::Hash;

/// A table that is being rebuilt, with the one thread that writes to it.
pub(crate) struct Applying<'a, K, V, H> {
    pub(crate) table: &'a Table<Row<K, V>, 7>,
    pub(crate) hash: H,
    /// Whether a key has one value.
    pub(crate) unique: bool,
    /// Compare the digests.
    pub(crate) verify: bool,
}

/// Why a record can't be applied: the table is not what it was where the record was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diverged(pub(crate) String);

type Applied<T = ()> = Result<T, Diverged>;

fn ensure(is_right: bool, wrong: impl FnOnce() -> String) -> Applied {
    if is_right { Ok(()) } else { Err(Diverged(wrong())) }
}

fn decoded<T: Codec>(what: &str, bytes: &[u8]) -> Applied<T> {
    T::decode(bytes).map_err(|error| Diverged(format!("the {what} can't be read: {error}")))
}

impl<K, V, H> Applying<'_, K, V, H>
where
    K: Codec + Eq + Hash + Send + 'static,
    V: Codec + Send + 'static,
    H: Fn(&K) -> u32,
{
    /// Applies a record. Returns how many entries more there are than counted now.
    pub(crate) fn apply(&self, record: &Record<'_>, pin: &Pin) -> Applied<i64> {
        let (own, ntuples) = match *record {
            Record::Insert { bucket, hash, key, value, ntuples, digest } => {
                self.check_address(bucket, hash)?;
                self.insert(hash, key, value, pin)?;
                self.compare(bucket, digest, pin)?;
                (1, ntuples)
            }
            Record::Remove { bucket, hash, key, value, ntuples, digest } => {
                self.check_address(bucket, hash)?;
                self.remove(hash, key, value, pin)?;
                self.compare(bucket, digest, pin)?;
                (-1, ntuples)
            }
            Record::Clear { bucket, removed, ntuples, digest } => {
                self.clear(bucket, removed, digest, pin)?;
                (-i64::from(removed), ntuples)
            }
            _ => return self.apply_uncounted(record, pin).map(|()| 0),
        };
        let counted = match ntuples {
            Ntuples::Nothing => 0,
            Ntuples::Itself => own,
            Ntuples::By(n) => i64::from(n),
        };
        Ok(self.table.redo_count(own, counted))
    }

    /// Applies a record after which there are as many entries as before.
    fn apply_uncounted(&self, record: &Record<'_>, pin: &Pin) -> Applied {
        match *record {
            Record::Replace { bucket, hash, key, value, digest } => {
                self.check_address(bucket, hash)?;
                self.replace(hash, key, value, pin)?;
                self.compare(bucket, digest, pin)
            }
            Record::Split { from, to, digests } => {
                self.split(from, to, pin)?;
                self.compare(from, digests.map(|digests| digests.0), pin)?;
                self.compare(to, digests.map(|digests| digests.1), pin)
            }
            Record::Merge { from, to, digest } => {
                self.merge(from, to, pin)?;
                self.compare(to, digest, pin)
            }
            Record::Squeeze { bucket, digest } => {
                let mut left = Leftovers::new();
                self.table.remove_and_squeeze(bucket, &[], &(), pin, &mut left, drop);
                self.table.retire_pages(left, pin);
                self.compare(bucket, digest, pin)
            }
            Record::Vacuum { exact: Some(exact), .. } => {
                self.table.correct_count(exact as i64, &());
                Ok(())
            }
            // The insert that follows takes the page.
            Record::AddPage { .. } | Record::Vacuum { exact: None, .. } => Ok(()),
            Record::Insert { .. } | Record::Remove { .. } | Record::Clear { .. } => Ok(()),
        }
    }

    fn check_address(&self, bucket: u32, hash: u32) -> Applied {
        let address = self.table.geometry().address(hash);
        ensure(address == bucket, || format!("hash {hash:#010x} is of bucket {address} here, {bucket} there"))
    }

    fn row(&self, hash: u32, key: &[u8], value: &[u8]) -> Applied<Row<K, V>> {
        let digest = if self.verify { digest_of(hash, key, value) } else { 0 };
        let key: K = decoded("key", key)?;
        let own = (self.hash)(&key);
        ensure(own == hash, || format!("the key's hash is {own:#010x} here, {hash:#010x} there"))?;
        Ok(Row { key, value: Stored { value: decoded("value", value)?, digest } })
    }

    fn draft<'p>(&'p self, row: Row<K, V>, pin: &'p Pin) -> Applied<Draft<'p, Row<K, V>, 7>> {
        Draft::new(self.table, row, pin).map_err(|(error, _)| Diverged(error.to_string()))
    }

    fn insert(&self, hash: u32, key: &[u8], value: &[u8], pin: &Pin) -> Applied {
        let draft = self.draft(self.row(hash, key, value)?, pin)?;
        let linked = self.table.link_blindly(draft.word(hash), &(), pin);
        linked.map_err(|error| Diverged(error.to_string()))?;
        draft.linked();
        Ok(())
    }

    /// Puts an entry of a snapshot where it belongs.
    pub(crate) fn load(&self, row: snapshot::Row<'_>, pin: &Pin) -> Applied {
        self.insert(row.hash, row.key, row.value, pin)
    }

    fn replace(&self, hash: u32, key: &[u8], value: &[u8], pin: &Pin) -> Applied {
        let draft = self.draft(self.row(hash, key, value)?, pin)?;
        // Only this thread writes; but iteration may hold a bucket for a moment.
        while let Search::Hit(bucket, hit) =
            self.table.search(hash, pin, |entry| entry.key == draft.entry().key)
        {
            if self.table.replace(&bucket, &hit, draft.word(hash), &(), pin).is_ok() {
                draft.linked();
                self.table.retire_word(hit.word, pin);
                return Ok(());
            }
        }
        Err(Diverged("the entry to replace is not there".to_owned()))
    }

    fn remove(&self, hash: u32, key: &[u8], value: &[u8], pin: &Pin) -> Applied {
        let key: K = decoded("key", key)?;
        let mut bytes = Vec::new();
        let mut is_value = |entry: &Row<K, V>| {
            bytes.clear();
            entry.value.value.encode(&mut bytes);
            bytes == value
        };
        while let Search::Hit(bucket, hit) =
            self.table.search(hash, pin, |entry| entry.key == key && (self.unique || is_value(entry)))
        {
            if self.table.unlink(&bucket, &hit, &(), pin) {
                return Ok(());
            }
        }
        Err(Diverged("the entry to remove is not there".to_owned()))
    }

    fn clear(&self, bucket: u32, removed: u32, digest: Option<u64>, pin: &Pin) -> Applied {
        let last = self.table.geometry().max_bucket();
        ensure(bucket <= last, || {
            format!("bucket {bucket} is cleared there, and the last one here is {last}")
        })?;
        self.compare(bucket, digest, pin)?;
        let (mut left, mut words) = (Leftovers::new(), Vec::new());
        self.table.clear_bucket(bucket, &(), pin, &mut left, &mut words);
        self.table.retire_pages(left, pin);
        words.iter().for_each(|&word| self.table.retire_word(word, pin));
        ensure(words.len() == removed as usize, || {
            format!("bucket {bucket} had {} entries when it was cleared here, {removed} there", words.len())
        })
    }

    fn split(&self, from: u32, to: u32, pin: &Pin) -> Applied {
        let last = self.table.geometry().max_bucket();
        ensure(last.checked_add(1) == Some(to) && crate::addr::parent(to) == from, || {
            format!("bucket {to} is split off from {from} there, and the last one here is {last}")
        })?;
        self.patiently(pin, |left| self.table.split(&(), pin, left))
    }

    fn merge(&self, from: u32, to: u32, pin: &Pin) -> Applied {
        let last = self.table.geometry().max_bucket();
        ensure(last == from && from != 0 && crate::addr::parent(from) == to, || {
            format!("bucket {from} is merged into {to} there, and the last one here is {last}")
        })?;
        self.patiently(pin, |left| self.table.merge(1, &(), pin, left))
    }

    fn patiently(&self, pin: &Pin, mut step: impl FnMut(&mut Leftovers) -> Moved) -> Applied {
        let mut left = Leftovers::new();
        let moved = loop {
            match step(&mut left) {
                Moved::Busy => sync::prim::yield_now(),
                moved => break moved,
            }
        };
        self.table.retire_pages(left, pin);
        ensure(moved == Moved::Done, || format!("{}", crate::OutOfMemory))
    }

    /// Compares a bucket with the digest that the log carries. From the entries themselves, not from their digests here.
    fn compare(&self, bucket: u32, digest: Option<u64>, pin: &Pin) -> Applied {
        let Some(there) = digest.filter(|_| self.verify) else { return Ok(()) };
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let mut here = 0_u64;
        self.table.for_each_at_rest(bucket, pin, |hash, entry| {
            key.clear();
            value.clear();
            entry.key.encode(&mut key);
            entry.value.value.encode(&mut value);
            here = here.wrapping_add(digest_of(hash, &key, &value));
        });
        ensure(here == there, || format!("bucket {bucket} has digest {here:#018x} here, {there:#018x} there"))
    }
}
