//! `papaya`: a hash table without locks, whose removed entries wait for the guards of readers.

use crate::table::{BufferTag, Inserted, Lookup, Table, TagHasher};

/// A [`papaya::HashMap`] with its default settings.
#[derive(Debug)]
pub struct Papaya {
    map: papaya::HashMap<BufferTag, u32, TagHasher>,
}

impl Table for Papaya {
    const NAME: &'static str = "papaya";

    fn with_slots(slots: u32) -> Self {
        Self { map: papaya::HashMap::with_capacity_and_hasher(slots as usize, TagHasher::default()) }
    }

    fn get(&self, tag: &BufferTag) -> Option<u32> {
        self.map.pin().get(tag).copied()
    }

    fn insert(&self, tag: &BufferTag, slot: u32) -> Inserted {
        match self.map.pin().try_insert(*tag, slot) {
            Ok(_) => Inserted::New,
            Err(occupied) => Inserted::Present(*occupied.current),
        }
    }

    fn remove(&self, tag: &BufferTag) -> Option<u32> {
        self.map.pin().remove(tag).copied()
    }

    /// A lookup holds no lock, so the slot may have gone to another page before it was pinned: look again.
    /// Once the same slot is found under the pin, nobody can take the mapping away.
    fn lookup_and_pin<P>(&self, tag: &BufferTag, mut pin: impl FnMut(u32) -> Option<P>) -> Lookup<P> {
        let map = self.map.pin();
        loop {
            let Some(&slot) = map.get(tag) else { return Lookup::Missing };
            let Some(pinned) = pin(slot) else { return Lookup::Refused };
            if map.get(tag) == Some(&slot) {
                return Lookup::Pinned(slot, pinned);
            }
        }
    }

    fn mappings(&self) -> Vec<(u32, BufferTag)> {
        self.map.pin().iter().map(|(tag, slot)| (*slot, *tag)).collect()
    }
}
