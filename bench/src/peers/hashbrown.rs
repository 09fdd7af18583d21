//! `rwlock-hashbrown`: one hash table under one read-write lock, what people write first.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use parking_lot::RwLock;

use crate::table::{BufferTag, Inserted, Lookup, Table, TagHasher};

/// A [`hashbrown::HashMap`] under a [`parking_lot::RwLock`].
#[derive(Debug)]
pub struct RwLockHashbrown {
    map: RwLock<HashMap<BufferTag, u32, TagHasher>>,
}

impl Table for RwLockHashbrown {
    const NAME: &'static str = "rwlock-hashbrown";

    fn with_slots(slots: u32) -> Self {
        Self { map: RwLock::new(HashMap::with_capacity_and_hasher(slots as usize, TagHasher::default())) }
    }

    fn get(&self, tag: &BufferTag) -> Option<u32> {
        self.map.read().get(tag).copied()
    }

    fn insert(&self, tag: &BufferTag, slot: u32) -> Inserted {
        match self.map.write().entry(*tag) {
            Entry::Occupied(entry) => Inserted::Present(*entry.get()),
            Entry::Vacant(entry) => {
                entry.insert(slot);
                Inserted::New
            }
        }
    }

    fn remove(&self, tag: &BufferTag) -> Option<u32> {
        self.map.write().remove(tag)
    }

    /// Pins while the lock is held shared.
    fn lookup_and_pin<P>(&self, tag: &BufferTag, mut pin: impl FnMut(u32) -> Option<P>) -> Lookup<P> {
        let map = self.map.read();
        match map.get(tag) {
            Some(&slot) => pin(slot).map_or(Lookup::Refused, |pinned| Lookup::Pinned(slot, pinned)),
            None => Lookup::Missing,
        }
    }

    fn mappings(&self) -> Vec<(u32, BufferTag)> {
        self.map.read().iter().map(|(tag, slot)| (*slot, *tag)).collect()
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.map.read().allocation_size())
    }
}
