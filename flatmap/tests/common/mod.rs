//! What the tests share: the tools that other crates' tests use too, keys of any type, and the check that all
//! views of a table agree.
#![allow(dead_code, unused_imports, reason = "each test file uses the part it needs")]

mod tools;

use flatmap::{FlatMap, Key};
use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::BuildHasher;
pub(crate) use tools::*;

/// Repeats a random test.
const SEED: &str = "FLATMAP_SEED";

/// The key number `number` of any type: its bytes are the number's, over and over. Distinct as long as the
/// type has enough bytes.
pub(crate) fn key<K: Key>(number: u64) -> K {
    let mut key = K::zeroed();
    for bytes in bytemuck::bytes_of_mut(&mut key).chunks_mut(8) {
        bytes.copy_from_slice(&number.to_le_bytes()[..bytes.len()]);
    }
    key
}

pub(crate) fn same<K: Key>(one: &K, other: &K) -> bool {
    bytemuck::bytes_of(one) == bytemuck::bytes_of(other)
}

/// At rest: chains, slots and counters tell the same story.
#[track_caller]
pub(crate) fn validate<K: Key + Debug, S: BuildHasher>(table: &FlatMap<K, S>) {
    let mapped: Vec<(u32, K)> = table.iter().collect();
    let mut keys = HashSet::new();
    for (slot, key) in &mapped {
        assert_eq!(table.get(key), Some(*slot), "{key:?} is listed at slot {slot}");
        assert!(keys.insert(bytemuck::bytes_of(key).to_vec()), "{key:?} is listed twice");
    }
    assert_eq!(mapped.len(), table.len(), "slots and counters");
    assert_eq!(table.is_empty(), mapped.is_empty());
    let listed: HashSet<u32> = mapped.iter().map(|(slot, _)| *slot).collect();
    for slot in (0..table.slots()).filter(|slot| !listed.contains(slot)) {
        assert!(table.key_of(slot).is_none(), "slot {slot} is not listed");
    }
    assert_eq!(table.validate(), Ok(()));
}
