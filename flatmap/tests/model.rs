//! Random operations on a table and on two plain maps, key to slot and slot to key, with all kinds of keys
//! and hashers. `FLATMAP_SEED` repeats a run.
#![cfg(not(all(loom, feature = "loom")))]

mod common;

use common::{CONSTANT, IDENTITY, Masked, Rng, key, same, validate};
use flatmap::{BufferTag, FlatMap, InsertError, Key, MissPolicy, ResizeError};
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::BuildHasher;

const STEPS: u32 = if cfg!(debug_assertions) { 1_000 } else { 10_000 };

/// A table and what it must be. Keys go by their numbers.
struct Pair<K, S> {
    table: FlatMap<K, S>,
    slot_of: HashMap<u32, u32>,
    key_in: HashMap<u32, u32>,
    keys: Vec<K>,
}

impl<K: Key + Debug, S: BuildHasher> Pair<K, S> {
    fn new(table: FlatMap<K, S>, keys: u32) -> Self {
        let keys = (0..keys).map(|number| key(u64::from(number))).collect();
        Self { table, slot_of: HashMap::new(), key_in: HashMap::new(), keys }
    }

    fn key(&self, number: u32) -> K {
        self.keys[number as usize]
    }

    fn expected_insert(&self, number: u32, slot: u32) -> Result<(), InsertError> {
        let slots = self.table.slots();
        if slot >= slots {
            Err(InsertError::SlotOutOfRange { slot, slots })
        } else if let Some(&slot) = self.slot_of.get(&number) {
            Err(InsertError::KeyExists { slot })
        } else if self.key_in.contains_key(&slot) {
            Err(InsertError::SlotOccupied { slot })
        } else {
            Ok(())
        }
    }

    fn inserted(&mut self, number: u32, slot: u32) {
        assert!(self.slot_of.insert(number, slot).is_none());
        assert!(self.key_in.insert(slot, number).is_none());
    }

    fn removed(&mut self, number: u32) -> Option<u32> {
        let slot = self.slot_of.remove(&number)?;
        assert_eq!(self.key_in.remove(&slot), Some(number));
        Some(slot)
    }

    fn insert(&mut self, number: u32, slot: u32) {
        let expected = self.expected_insert(number, slot);
        assert_eq!(self.table.insert(self.key(number), slot), expected, "insert of {number} at {slot}");
        if expected.is_ok() {
            self.inserted(number, slot);
        }
    }

    fn remove(&mut self, number: u32) {
        let expected = self.removed(number);
        assert_eq!(self.table.remove(&self.key(number)), expected, "remove of {number}");
    }

    fn remove_if(&mut self, number: u32, slot: u32) {
        let meant = self.slot_of.get(&number) == Some(&slot);
        assert_eq!(self.table.remove_if(&self.key(number), slot), meant, "remove of {number} at {slot}");
        if meant {
            self.removed(number);
        }
    }

    fn remove_slot(&mut self, slot: u32) {
        let expected = self.key_in.get(&slot).copied();
        let found = self.table.remove_slot(slot);
        assert!(self.is_key(found, expected), "remove of slot {slot}: {found:?}, not number {expected:?}");
        if let Some(number) = expected {
            self.removed(number);
        }
    }

    fn is_key(&self, found: Option<K>, expected: Option<u32>) -> bool {
        match (found, expected) {
            (Some(found), Some(expected)) => same(&found, &self.key(expected)),
            (found, expected) => found.is_none() && expected.is_none(),
        }
    }

    /// The same step through the guard of the key's partition; twice, with a look in between.
    fn under_the_guard(&mut self, number: u32, slot: u32) {
        let expected = self.expected_insert(number, slot);
        let key = self.key(number);
        let mut guard = self.table.partition(&key);
        assert_eq!(guard.insert(key, slot), expected, "guarded insert of {number} at {slot}");
        let mapped = if expected.is_ok() { Some(slot) } else { self.slot_of.get(&number).copied() };
        assert_eq!(guard.get(&key), Ok(mapped));
        let keep = slot % 2 == 0;
        assert!(keep || guard.remove(&key) == Ok(mapped));
        drop(guard);
        if keep && expected.is_ok() {
            self.inserted(number, slot);
        } else if !keep {
            self.removed(number);
        }
    }

    fn look(&self, number: u32, slot: u32) {
        let (key, expected) = (self.key(number), self.slot_of.get(&number).copied());
        assert_eq!(self.table.get(&key), expected, "get of {number}");
        assert_eq!(self.table.holds(slot, &key), expected == Some(slot), "{number} at {slot}");
        let pinned = self.table.pin_with(&key, Some);
        assert_eq!(pinned, expected.map(|slot| (slot, slot)), "pin of {number}");
        let (found, expected) = (self.table.key_of(slot), self.key_in.get(&slot).copied());
        assert!(self.is_key(found, expected), "key of {slot}: {found:?}, not number {expected:?}");
        assert_eq!((self.table.len(), self.table.is_empty()), (self.slot_of.len(), self.slot_of.is_empty()));
    }

    fn look_many(&self, rng: &mut Rng) {
        let numbers: Vec<u32> = (0..rng.below(100)).map(|_| rng.below(self.keys.len() as u32)).collect();
        let keys: Vec<K> = numbers.iter().map(|&number| self.key(number)).collect();
        let mut found = vec![Some(u32::MAX); keys.len()];
        self.table.get_many(&keys, &mut found);
        let expected: Vec<_> = numbers.iter().map(|number| self.slot_of.get(number).copied()).collect();
        assert_eq!(found, expected);
    }

    fn resize(&mut self, rng: &mut Rng) {
        let (table, least) = (&self.table, self.table.partitions());
        match rng.below(4) {
            0 => {
                let buckets = least + rng.below(table.max_buckets() - least + 1);
                assert_eq!(table.set_buckets(buckets), Ok(()));
                assert_eq!(table.buckets(), buckets);
            }
            1 => assert!(table.maintain(rng.below(3)).is_ok()),
            _ => {
                let slots = 1 + rng.below(table.max_slots());
                let before = table.slots();
                let in_use = self.key_in.keys().filter(|&&slot| slot >= slots).count() as u32;
                let refused =
                    (slots < before && in_use > 0).then_some(ResizeError::SlotsInUse { slots, in_use });
                assert_eq!(table.set_slots(slots).err(), refused);
                assert_eq!(table.slots(), if refused.is_some() { before } else { slots });
            }
        }
    }

    fn compare_whole(&self) {
        validate(&self.table);
        assert_eq!(self.table.len(), self.key_in.len());
        for (slot, found) in &self.table {
            assert!(self.is_key(Some(found), self.key_in.get(&slot).copied()), "slot {slot}: {found:?}");
        }
    }

    fn step(&mut self, rng: &mut Rng) {
        let number = rng.below(self.keys.len() as u32);
        // One slot more than there is; or, half of the time, a slot that will do.
        let any = rng.below(self.table.slots() + 1);
        let free = (0..self.table.slots()).find(|slot| !self.key_in.contains_key(slot));
        let slot = if rng.below(2) == 0 { any } else { free.unwrap_or(any) };
        match rng.below(12) {
            10 => self.resize(rng),
            11 => self.look_many(rng),
            0..=3 => self.insert(number, slot),
            4 => self.remove(number),
            5 => self.remove_if(number, any),
            6 => self.remove_slot(any),
            7 => self.under_the_guard(number, slot),
            _ => self.look(number, any),
        }
    }
}

fn run<K: Key + Debug, S: BuildHasher>(table: FlatMap<K, S>, keys: u32, rng: &mut Rng) {
    let mut pair = Pair::new(table, keys);
    for step in 0..STEPS {
        pair.step(rng);
        if step % 256 == 0 {
            pair.compare_whole();
        }
    }
    pair.compare_whole();
    let stats = pair.table.stats();
    assert_eq!((stats.retried, stats.fallback_hits), (0, 0), "one thread tears no walk");
}

/// One table for each shape, of random sizes.
fn run_shapes<K: Key + Debug>(keys: u32, rng: &mut Rng) {
    for hasher in [IDENTITY, CONSTANT, Masked(1), Masked(!7), Masked(!0 << 32)] {
        let partitions = 1 << rng.below(4);
        let slots = 1 + rng.below(2 * keys);
        let builder = FlatMap::<K>::builder().slots(slots).max_slots(slots + rng.below(keys));
        let builder = builder.partitions(partitions).hasher(hasher).buckets_follow(rng.below(2) == 0);
        let builder = builder.buckets(partitions + rng.below(30)).optimistic_tries(1 + rng.below(4));
        let miss = if rng.below(2) == 0 { MissPolicy::Locked } else { MissPolicy::Validated };
        run(builder.miss(miss).build().expect("valid"), keys, rng);
    }
    run(FlatMap::<K>::with_slots(1 + rng.below(2 * keys)), keys, rng);
    let follows = FlatMap::<K>::builder().slots(1 + rng.below(keys)).max_slots(4 * keys).partitions(1);
    run(follows.build().expect("valid"), keys, rng);
}

macro_rules! the_table_agrees_with_two_plain_maps {
    ($($name:ident: $key:ty, $keys:literal;)*) => {$(
        #[test]
        fn $name() {
            run_shapes::<$key>($keys, &mut Rng::for_test(stringify!($name)));
        }
    )*};
}

the_table_agrees_with_two_plain_maps! {
    with_the_only_key_of_no_bytes: (), 1;
    with_keys_of_1_byte: u8, 40;
    with_keys_of_2_bytes: i16, 40;
    with_keys_of_3_bytes: [u8; 3], 40;
    with_keys_of_4_bytes: u32, 40;
    with_keys_of_5_bytes: [u8; 5], 40;
    with_keys_of_6_bytes: [u16; 3], 40;
    with_keys_of_8_bytes: u64, 200;
    with_keys_of_16_bytes: u128, 40;
    with_keys_of_20_bytes: BufferTag, 200;
    with_keys_of_31_bytes: [u8; 31], 40;
    with_keys_of_64_bytes: [u64; 8], 40;
}

#[test]
fn keys_that_differ_in_one_byte_are_different_keys() {
    fn one_byte<K: Key + Debug>() {
        let size = size_of::<K>() as u32;
        let table: FlatMap<K, _> = FlatMap::builder().slots(size).hasher(CONSTANT).build().expect("valid");
        for byte in 0..size {
            let mut key = K::zeroed();
            bytemuck::bytes_of_mut(&mut key)[byte as usize] = 0x80;
            table.insert(key, byte).expect("a new key");
        }
        assert_eq!(table.get(&K::zeroed()), None);
        validate(&table);
    }
    one_byte::<[u8; 3]>();
    one_byte::<[u8; 5]>();
    one_byte::<BufferTag>();
    one_byte::<[u64; 8]>();
}

/// Filling one chain takes n^2 / 2 steps, which are slow without optimisation.
#[test]
fn ten_thousand_keys_of_one_hash_work() {
    const KEYS: u32 = if cfg!(debug_assertions) { 2_000 } else { 10_000 };
    let table = FlatMap::builder().slots(KEYS).hasher(CONSTANT).build().expect("valid");
    let before = table.memory_bytes();
    for slot in 0..KEYS {
        table.insert(u64::from(slot), slot).expect("a new key and a free slot");
    }
    let mut rng = Rng::for_test("ten_thousand_keys_of_one_hash_work");
    for _ in 0..100 {
        let slot = rng.below(KEYS);
        assert_eq!(table.get(&u64::from(slot)), Some(slot));
        assert_eq!(table.key_of(slot), Some(u64::from(slot)));
    }
    assert_eq!(table.get(&u64::from(KEYS)), None);
    assert_eq!(table.remove(&0), Some(0), "the last of the chain");
    assert_eq!(table.remove_slot(KEYS / 2), Some(u64::from(KEYS / 2)));
    assert_eq!((table.len(), table.memory_bytes()), (KEYS as usize - 2, before));
}
