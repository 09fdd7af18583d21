//! `scc`: a hash table whose buckets each have a small lock.

use scc::hash_map::Entry;

use crate::table::{BufferTag, Inserted, Lookup, Table, TagHasher};

/// A [`scc::HashMap`], used through its blocking methods.
#[derive(Debug)]
pub struct Scc {
    map: scc::HashMap<BufferTag, u32, TagHasher>,
}

impl Table for Scc {
    const NAME: &'static str = "scc";

    fn with_slots(slots: u32) -> Self {
        Self { map: scc::HashMap::with_capacity_and_hasher(slots as usize, TagHasher::default()) }
    }

    fn get(&self, tag: &BufferTag) -> Option<u32> {
        self.map.read_sync(tag, |_, slot| *slot)
    }

    fn insert(&self, tag: &BufferTag, slot: u32) -> Inserted {
        match self.map.entry_sync(*tag) {
            Entry::Occupied(entry) => Inserted::Present(*entry.get()),
            Entry::Vacant(entry) => {
                entry.insert_entry(slot);
                Inserted::New
            }
        }
    }

    fn remove(&self, tag: &BufferTag) -> Option<u32> {
        self.map.remove_sync(tag).map(|(_, slot)| slot)
    }

    /// Pins within the closure, which runs while the bucket's lock is held shared.
    fn lookup_and_pin<P>(&self, tag: &BufferTag, mut pin: impl FnMut(u32) -> Option<P>) -> Lookup<P> {
        let found = self.map.read_sync(tag, |_, &slot| (slot, pin(slot)));
        match found {
            Some((slot, Some(pinned))) => Lookup::Pinned(slot, pinned),
            Some((_, None)) => Lookup::Refused,
            None => Lookup::Missing,
        }
    }

    fn mappings(&self) -> Vec<(u32, BufferTag)> {
        let mut mappings = Vec::with_capacity(self.map.len());
        self.map.iter_sync(|tag, slot| {
            mappings.push((*slot, *tag));
            true
        });
        mappings
    }
}
