//! What each call must return: two ordinary maps, one each way, and the pins.

use std::collections::HashMap;
use std::hash::BuildHasher;

use flatmap::{InsertError, ResizeError};

use super::key::{FuzzKey, Hashing};

/// The pins of one slot.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pins {
    pub(super) count: u32,
    pub(super) evicting: bool,
}

/// The table as it should be.
#[derive(Debug)]
pub(super) struct Model<K> {
    slot_of: HashMap<K, u32>,
    key_of: Vec<Option<K>>,
    pub(super) pins: Vec<Pins>,
    hashing: Hashing,
    partitions: u32,
}

impl<K: FuzzKey> Model<K> {
    pub(super) fn new(slots: u32, most: u32, partitions: u32, hashing: Hashing) -> Self {
        Self {
            slot_of: HashMap::new(),
            key_of: vec![None; slots as usize],
            pins: vec![Pins::default(); most as usize],
            hashing,
            partitions,
        }
    }

    /// The partition of a key: the low bits of its hash.
    pub(super) fn partition(&self, key: &K) -> u32 {
        (self.hashing.hash_one(key) % u64::from(self.partitions)) as u32
    }

    pub(super) fn get(&self, key: &K) -> Option<u32> {
        self.slot_of.get(key).copied()
    }

    pub(super) fn key_of(&self, slot: u32) -> Option<K> {
        self.key_of.get(slot as usize).copied().flatten()
    }

    pub(super) fn insert(&mut self, key: K, slot: u32) -> Result<(), InsertError> {
        let slots = self.key_of.len() as u32;
        if slot >= slots {
            return Err(InsertError::SlotOutOfRange { slot, slots });
        }
        if let Some(slot) = self.get(&key) {
            return Err(InsertError::KeyExists { slot });
        }
        if self.key_of(slot).is_some() {
            return Err(InsertError::SlotOccupied { slot });
        }
        self.slot_of.insert(key, slot);
        self.key_of[slot as usize] = Some(key);
        Ok(())
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<u32> {
        let slot = self.slot_of.remove(key)?;
        self.key_of[slot as usize] = None;
        Some(slot)
    }

    pub(super) fn remove_slot(&mut self, slot: u32) -> Option<K> {
        let key = self.key_of(slot)?;
        self.remove(&key);
        Some(key)
    }

    pub(super) fn remove_if(&mut self, key: &K, slot: u32) -> bool {
        self.get(key) == Some(slot) && self.remove(key).is_some()
    }

    /// With room for `max` slots.
    pub(super) fn set_slots(&mut self, slots: u32, max: u32) -> Result<(), ResizeError> {
        if slots == 0 || slots > max {
            return Err(ResizeError::Slots { value: slots, max });
        }
        let in_use = self.key_of.iter().skip(slots as usize).flatten().count() as u32;
        if in_use > 0 {
            return Err(ResizeError::SlotsInUse { slots, in_use });
        }
        self.key_of.resize(slots as usize, None);
        Ok(())
    }

    /// What the iterator yields.
    pub(super) fn mappings(&self) -> Vec<(u32, K)> {
        self.key_of.iter().enumerate().filter_map(|(slot, key)| Some((slot as u32, (*key)?))).collect()
    }

    pub(super) fn slots(&self) -> u32 {
        self.key_of.len() as u32
    }

    pub(super) fn len(&self) -> usize {
        self.slot_of.len()
    }

    /// How many keys of a partition are mapped.
    pub(super) fn len_of(&self, partition: u32) -> usize {
        self.slot_of.keys().filter(|key| self.partition(key) == partition).count()
    }
}
