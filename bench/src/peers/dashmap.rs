//! `dashmap`: a hash table per shard, each under a read-write lock.

use dashmap::Entry;

use crate::table::{BufferTag, Inserted, Lookup, Table, TagHasher};

/// A [`dashmap::DashMap`] with its default number of shards.
#[derive(Debug)]
pub struct Dashmap {
    map: dashmap::DashMap<BufferTag, u32, TagHasher>,
}

impl Dashmap {
    /// As [`with_slots`](Table::with_slots), with another number of shards, a power of two.
    #[must_use]
    pub fn with_shards(slots: u32, shards: usize) -> Self {
        let hasher = TagHasher::default();
        Self {
            map: dashmap::DashMap::with_capacity_and_hasher_and_shard_amount(slots as usize, hasher, shards),
        }
    }
}

impl Table for Dashmap {
    const NAME: &'static str = "dashmap";

    fn with_slots(slots: u32) -> Self {
        Self { map: dashmap::DashMap::with_capacity_and_hasher(slots as usize, TagHasher::default()) }
    }

    fn get(&self, tag: &BufferTag) -> Option<u32> {
        self.map.get(tag).map(|slot| *slot)
    }

    fn insert(&self, tag: &BufferTag, slot: u32) -> Inserted {
        match self.map.entry(*tag) {
            Entry::Occupied(entry) => Inserted::Present(*entry.get()),
            Entry::Vacant(entry) => {
                entry.insert(slot);
                Inserted::New
            }
        }
    }

    fn remove(&self, tag: &BufferTag) -> Option<u32> {
        self.map.remove(tag).map(|(_, slot)| slot)
    }

    /// Pins while the reference holds the shard's lock shared.
    fn lookup_and_pin<P>(&self, tag: &BufferTag, mut pin: impl FnMut(u32) -> Option<P>) -> Lookup<P> {
        match self.map.get(tag) {
            Some(slot) => pin(*slot).map_or(Lookup::Refused, |pinned| Lookup::Pinned(*slot, pinned)),
            None => Lookup::Missing,
        }
    }

    fn mappings(&self) -> Vec<(u32, BufferTag)> {
        self.map.iter().map(|entry| (*entry.value(), *entry.key())).collect()
    }
}
