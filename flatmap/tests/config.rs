//! Construction: what the builder takes, what it refuses and in which order, and what a table weighs.
#![cfg(not(all(loom, feature = "loom")))]

mod common;

use bytemuck::{Pod, Zeroable};
use common::{IDENTITY, Masked, validate};
use flatmap::{BufferTag, Builder, ConfigError, FlatMap, MissPolicy, Stats};
use std::collections::hash_map::RandomState;
use std::panic::catch_unwind;

const MAX_SLOTS: u32 = (1 << 30) - 2;
const MAX_PARTITIONS: u32 = 1 << 16;
const MAX_BUCKETS: u32 = 1 << 31;

fn builder() -> Builder<u64> {
    FlatMap::builder()
}

fn refused<K: flatmap::Key, S>(builder: Builder<K, S>) -> ConfigError {
    builder.build().expect_err("the builder refuses")
}

#[test]
fn the_defaults_are_those_documented() {
    let table: FlatMap<u64> = builder().build().expect("valid");
    assert_eq!((table.slots(), table.buckets(), table.partitions()), (1024, 2048, 128));
    let table = FlatMap::<u64>::with_slots(1000);
    assert_eq!((table.slots(), table.buckets(), table.partitions()), (1000, 2000, 128));
}

#[test]
fn partitions_default_to_a_power_of_two_that_the_buckets_allow() {
    for (buckets, partitions) in [(1, 1), (2, 2), (3, 2), (127, 64), (128, 128), (129, 128), (1000, 128)] {
        let table = builder().slots(4).buckets(buckets).build().expect("valid");
        assert_eq!((table.buckets(), table.partitions()), (buckets, partitions));
    }
}

#[test]
fn a_small_table_has_a_bucket_for_each_partition() {
    let table = builder().slots(1).build().expect("valid");
    assert_eq!((table.buckets(), table.partitions()), (128, 128));
    let table = builder().slots(1).partitions(4096).build().expect("valid");
    assert_eq!((table.buckets(), table.partitions()), (4096, 4096));
    let table = builder().slots(3).partitions(1).build().expect("valid");
    assert_eq!((table.buckets(), table.partitions()), (6, 1));
}

#[test]
fn slots_must_be_in_bounds() {
    for value in [0, MAX_SLOTS + 1, 1 << 30, 1 << 31, u32::MAX] {
        assert_eq!(refused(builder().slots(value)), ConfigError::Slots { value, max: MAX_SLOTS });
    }
}

#[test]
fn partitions_must_be_a_power_of_two_in_bounds() {
    for value in [0, 3, 6, 127, 129, MAX_PARTITIONS + 1, 2 * MAX_PARTITIONS, 1 << 31, u32::MAX] {
        let expected = ConfigError::Partitions { value, max: MAX_PARTITIONS };
        assert_eq!(refused(builder().partitions(value)), expected);
    }
    let most = builder().slots(1).partitions(MAX_PARTITIONS).build().expect("valid");
    assert_eq!(most.partitions(), MAX_PARTITIONS);
    assert_eq!(most.buckets(), MAX_PARTITIONS);
    most.insert(u64::MAX, 0).expect("free");
    assert!(most.partition(&u64::MAX).index() < MAX_PARTITIONS);
    assert_eq!((most.partition(&u64::MAX).len(), most.len()), (1, 1));
}

#[test]
fn buckets_must_be_in_bounds() {
    for value in [0, 1, 7] {
        let expected = ConfigError::Buckets { value, min: 8, max: MAX_BUCKETS };
        assert_eq!(refused(builder().partitions(8).buckets(value)), expected);
    }
    for value in [MAX_BUCKETS + 1, u32::MAX] {
        let expected = ConfigError::Buckets { value, min: 128, max: MAX_BUCKETS };
        assert_eq!(refused(builder().buckets(value)), expected);
    }
    assert_eq!(refused(builder().buckets(0)), ConfigError::Buckets { value: 0, min: 1, max: MAX_BUCKETS });
    assert_eq!(builder().partitions(8).buckets(8).build().expect("valid").buckets(), 8);
}

#[test]
fn at_least_one_try_is_made() {
    assert_eq!(refused(builder().optimistic_tries(0)), ConfigError::OptimisticTries);
    for tries in [1, u32::MAX] {
        let table = builder().optimistic_tries(tries).build().expect("valid");
        table.insert(1, 1).expect("free");
        assert_eq!(table.get(&1), Some(1));
    }
}

#[test]
fn the_first_field_that_is_wrong_is_named() {
    let all_wrong = builder().slots(0).partitions(3).buckets(0).optimistic_tries(0);
    assert!(matches!(refused(all_wrong.clone()), ConfigError::Slots { .. }));
    assert!(matches!(refused(all_wrong.clone().slots(1)), ConfigError::Partitions { .. }));
    let right = all_wrong.slots(1).partitions(1);
    assert!(matches!(refused(right.clone()), ConfigError::Buckets { .. }));
    assert!(matches!(refused(right.buckets(1)), ConfigError::OptimisticTries));
}

/// A key of 16 MiB, which only its type has.
#[derive(Clone, Copy, Hash, Pod, Zeroable)]
#[repr(transparent)]
struct Large([[u8; 4096]; 4096]);

/// A key of 64 GiB.
#[derive(Clone, Copy, Hash, Pod, Zeroable)]
#[repr(transparent)]
struct Huge([[[u8; 4096]; 4096]; 4096]);

#[cfg(target_pointer_width = "64")]
#[test]
fn a_table_that_no_memory_can_hold_is_an_error() {
    let large: Builder<Large> = FlatMap::builder();
    // `next` and the key, rounded up to 8, and two heads, which there may be later.
    let bytes = (8 + (1 << 24) + 2 * 8) * MAX_SLOTS as usize;
    let expected = ConfigError::OutOfMemory { bytes: Some(bytes) };
    assert_eq!(refused(large.slots(MAX_SLOTS).buckets(1)), expected);
}

#[cfg(target_pointer_width = "64")]
#[test]
fn a_size_that_overflows_is_an_error() {
    let huge: Builder<Huge> = FlatMap::builder();
    let expected = ConfigError::OutOfMemory { bytes: None };
    assert_eq!(refused(huge.slots(MAX_SLOTS).buckets(1)), expected);
}

/// Costs address space only: nothing may walk over a table to build it, to describe it or to drop it.
#[cfg(target_pointer_width = "64")]
#[test]
fn the_largest_table_is_usable_at_its_ends() {
    let table: FlatMap<u8, Masked> =
        match FlatMap::builder().slots(MAX_SLOTS).buckets(MAX_BUCKETS).hasher(IDENTITY).build() {
            Ok(table) => table,
            Err(ConfigError::OutOfMemory { bytes: Some(_) }) => return, // a machine that does not overcommit
            Err(error) => panic!("{error}"),
        };
    for (key, slot) in [(1, MAX_SLOTS - 1), (2, 0)] {
        table.insert(key, slot).expect("free");
        assert_eq!((table.get(&key), table.key_of(slot)), (Some(slot), Some(key)));
    }
    assert_eq!(table.key_of(MAX_SLOTS), None);
    assert!(table.insert(3, MAX_SLOTS).is_err());
    assert_eq!((table.len(), table.is_empty(), table.stats().retried), (2, false, 0));
    let shown = format!("{table:?}");
    assert_eq!(shown, "FlatMap { slots: 1073741822, buckets: 2147483648, partitions: 128, len: 2, .. }");
    assert_eq!(table.remove_slot(MAX_SLOTS - 1), Some(1));
}

#[test]
fn config_errors_name_the_field_the_value_and_the_bound() {
    let told = |builder: Builder<u64>| refused(builder).to_string();
    assert_eq!(told(builder().slots(0)), "slots is 0; a table has 1 to 1073741822 slots");
    assert_eq!(told(builder().partitions(3)), "partitions is 3; it must be a power of two from 1 to 65536");
    assert_eq!(
        told(builder().partitions(4).buckets(3)),
        "buckets is 3; with 4 partitions it must be 4 to 2147483648"
    );
    assert_eq!(told(builder().optimistic_tries(0)), "optimistic_tries is 0; a lookup makes at least 1 try");
    let memory = |bytes| ConfigError::OutOfMemory { bytes }.to_string();
    assert_eq!(memory(Some(12)), "no memory for a table of 12 bytes");
    assert_eq!(memory(None), "a table of this size exceeds the address space");
}

#[test]
fn with_slots_panics_with_the_same_words() {
    let panic = catch_unwind(|| FlatMap::<u64>::with_slots(0)).expect_err("0 slots");
    let message = panic.downcast_ref::<String>().expect("a formatted message");
    assert_eq!(message, "FlatMap::with_slots: slots is 0; a table has 1 to 1073741822 slots");
}

#[test]
fn a_builder_can_be_cloned_shown_and_given_any_hasher() {
    let slots = FlatMap::<u64>::builder().slots(8).miss(MissPolicy::Locked).hasher(RandomState::new());
    let (one, two) = (slots.clone().build().expect("valid"), slots.build().expect("valid"));
    one.insert(1, 1).expect("free");
    assert!(two.is_empty(), "clones are two tables");
    two.insert(1, 1).expect("free");
    validate(&one);
    assert!(format!("{:?}", builder()).starts_with("Builder { slots: 1024"));
    assert_eq!(MissPolicy::default(), MissPolicy::Validated);
}

#[test]
fn two_tables_of_the_default_hasher_have_two_seeds() {
    // With 2^16 partitions, 64 keys of two tables all fall alike with a chance of 2^-1024.
    let table = || FlatMap::<u64>::builder().slots(1).partitions(MAX_PARTITIONS).build().expect("valid");
    let (one, two) = (table(), table());
    assert!((0..64).any(|key| one.partition(&key).index() != two.partition(&key).index()));
}

#[test]
fn a_table_of_buffer_tags_takes_40_bytes_a_slot_and_its_partitions() {
    for slots in [1 << 10, 16_384, 524_288] {
        let table: FlatMap<BufferTag> = FlatMap::with_slots(slots);
        let arrays = 40 * slots as usize;
        let rest = table.memory_bytes() - arrays;
        // 16 KiB of partitions; the statistics' shards come with their feature.
        let most = (16 << 10) + 1024 + if cfg!(feature = "stats") { 16 << 10 } else { 0 };
        assert!(rest <= most, "{rest} bytes beside the arrays of {slots} slots");
    }
}

#[test]
fn memory_follows_the_size_of_the_key() {
    fn entries<K: flatmap::Key>() -> usize {
        let bytes = |slots| {
            let table: FlatMap<K> = FlatMap::builder().slots(slots).buckets(128).build().expect("valid");
            table.memory_bytes()
        };
        bytes(1001) - bytes(1)
    }
    assert_eq!(entries::<()>(), 8 * 1000);
    assert_eq!(entries::<u8>(), 8 * 1000);
    assert_eq!(entries::<[u8; 3]>(), 8 * 1000);
    assert_eq!(entries::<u32>(), 8 * 1000);
    assert_eq!(entries::<[u8; 5]>(), 16 * 1000);
    assert_eq!(entries::<BufferTag>(), 24 * 1000);
    assert_eq!(entries::<[u64; 8]>(), 72 * 1000);
}

#[test]
fn stats_start_at_zero() {
    let stats = builder().build().expect("valid").stats();
    assert_eq!((stats.retried, stats.fallbacks, stats.fallback_hits), (0, 0, 0));
    assert_eq!(stats.unlocked_hits.unwrap_or(0) + stats.unlocked_misses.unwrap_or(0), 0);
    assert_eq!(Stats::default().unlocked_hits, None);
}
