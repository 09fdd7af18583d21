//! The public operations of a table, one thread, one by one. Construction and its errors: `config.rs`.
#![cfg(not(all(loom, feature = "loom")))]

mod common;

use common::{CONSTANT, IDENTITY, Masked, validate};
use flatmap::{BufferTag, FlatMap, InsertError, MissPolicy};
use std::cell::Cell;

type Result = std::result::Result<(), Box<dyn std::error::Error>>;

/// Four partitions, eight buckets, and a number is its own hash.
fn numbers(slots: u32) -> FlatMap<u64, Masked> {
    FlatMap::builder().slots(slots).buckets(8).partitions(4).hasher(IDENTITY).build().expect("valid")
}

#[test]
fn a_mapping_is_seen_from_both_sides_until_it_is_removed() -> Result {
    let table = numbers(4);
    assert!(table.is_empty());
    table.insert(7, 3)?;
    assert_eq!(table.get(&7), Some(3));
    assert_eq!(table.key_of(3), Some(7));
    assert!(table.holds(3, &7));
    assert_eq!((table.len(), table.is_empty()), (1, false));

    assert_eq!(table.remove(&7), Some(3));
    assert_eq!(table.get(&7), None);
    assert_eq!(table.key_of(3), None);
    assert!(!table.holds(3, &7));
    assert_eq!(table.remove(&7), None);
    assert!(table.is_empty());
    Ok(())
}

#[test]
fn holds_is_about_this_slot_and_this_key() -> Result {
    let table = numbers(4);
    table.insert(7, 3)?;
    table.insert(8, 1)?;
    assert!(!table.holds(1, &7));
    assert!(!table.holds(3, &8));
    assert!(!table.holds(0, &7));
    assert!(!table.holds(3, &9));
    assert!(!table.holds(u32::MAX, &7));
    Ok(())
}

#[test]
fn insert_names_the_first_thing_wrong_and_changes_nothing() -> Result {
    let table = numbers(2);
    table.insert(1, 0)?;
    // The key is mapped *and* there is no such slot: the slot is named.
    assert_eq!(table.insert(1, 2), Err(InsertError::SlotOutOfRange { slot: 2, slots: 2 }));
    assert_eq!(table.insert(9, u32::MAX), Err(InsertError::SlotOutOfRange { slot: u32::MAX, slots: 2 }));
    // The key is mapped *and* the slot is taken, by itself or another: the key is named.
    assert_eq!(table.insert(1, 0), Err(InsertError::KeyExists { slot: 0 }));
    table.insert(2, 1)?;
    assert_eq!(table.insert(1, 1), Err(InsertError::KeyExists { slot: 0 }));
    assert_eq!(table.insert(3, 1), Err(InsertError::SlotOccupied { slot: 1 }));

    assert_eq!((table.get(&1), table.get(&2), table.get(&3), table.len()), (Some(0), Some(1), None, 2));
    validate(&table);
    Ok(())
}

#[test]
fn insert_errors_say_what_and_where() {
    let told = |error: InsertError| error.to_string();
    assert_eq!(
        told(InsertError::SlotOutOfRange { slot: 9, slots: 4 }),
        "slot 9 is out of range; the table has slots 0 to 3"
    );
    assert_eq!(told(InsertError::KeyExists { slot: 5 }), "the key is mapped already, to slot 5");
    assert_eq!(told(InsertError::SlotOccupied { slot: 5 }), "slot 5 is occupied by another key");
}

#[test]
fn an_error_that_a_caller_made_up_can_be_shown() {
    let _ = InsertError::SlotOutOfRange { slot: 0, slots: 0 }.to_string();
}

#[test]
fn remove_if_removes_only_what_was_meant() -> Result {
    let table = numbers(4);
    table.insert(7, 3)?;
    assert!(!table.remove_if(&7, 2));
    assert!(!table.remove_if(&7, u32::MAX));
    assert!(!table.remove_if(&8, 3));
    assert_eq!(table.get(&7), Some(3));
    assert!(table.remove_if(&7, 3));
    assert!(!table.remove_if(&7, 3));
    assert!(table.is_empty());
    Ok(())
}

#[test]
fn remove_slot_gives_the_key_back() -> Result {
    let table = numbers(4);
    table.insert(7, 3)?;
    assert_eq!(table.remove_slot(2), None);
    assert_eq!(table.remove_slot(4), None);
    assert_eq!(table.remove_slot(u32::MAX), None);
    assert_eq!(table.remove_slot(3), Some(7));
    assert_eq!(table.remove_slot(3), None);
    assert_eq!(table.get(&7), None);
    Ok(())
}

#[test]
fn key_of_a_slot_that_is_not_there_is_none() {
    let table: FlatMap<BufferTag> = FlatMap::with_slots(3);
    for slot in [0, 2, 3, 4, 1 << 30, u32::MAX / 5, u32::MAX / 6 + 1, u32::MAX] {
        assert_eq!(table.key_of(slot), None);
    }
}

#[test]
fn removing_the_first_the_middle_and_the_last_of_a_chain_keeps_the_others() -> Result {
    for removed in 0..5_u64 {
        let table = FlatMap::builder().slots(5).buckets(1).hasher(CONSTANT).build()?;
        for key in 0..5 {
            table.insert(key, 4 - key as u32)?;
        }
        assert_eq!(table.remove(&removed), Some(4 - removed as u32));
        for key in 0..5_u64 {
            assert_eq!(table.get(&key), (key != removed).then_some(4 - key as u32));
        }
        table.insert(100, 4 - removed as u32)?;
        validate(&table);
    }
    Ok(())
}

#[test]
fn every_slot_can_be_used_and_used_again() -> Result {
    let table = numbers(64);
    for round in 0..3 {
        for slot in 0..64 {
            table.insert(round * 1000 + u64::from(slot), slot)?;
        }
        assert_eq!(table.len(), 64);
        assert_eq!(table.insert(9999, 17), Err(InsertError::SlotOccupied { slot: 17 }));
        validate(&table);
        for slot in 0..64 {
            assert!(table.remove_slot(slot).is_some());
        }
        assert!(table.is_empty());
    }
    Ok(())
}

#[test]
fn pin_with_returns_the_slot_and_what_the_closure_made() -> Result {
    let table = numbers(4);
    table.insert(7, 3)?;
    assert_eq!(table.pin_with(&7, |slot| Some(slot * 10)), Some((3, 30)));
    assert_eq!(table.pin_with(&7, |_| None::<()>), None);
    assert_eq!(table.pin_with(&8, |_| -> Option<()> { unreachable!("8 is not mapped") }), None);
    Ok(())
}

/// Counts how often it was dropped.
struct CountsDrops<'a>(&'a Cell<u32>);

impl Drop for CountsDrops<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn pin_with_drops_a_pin_of_a_key_that_left_meanwhile() -> Result {
    let table = numbers(4);
    table.insert(7, 3)?;
    let drops = Cell::new(0);
    let pinned = table.pin_with(&7, |slot| {
        assert!(table.remove_if(&7, slot), "the closure may use the table");
        Some(CountsDrops(&drops))
    });
    assert!(pinned.is_none());
    assert_eq!(drops.get(), 1);
    Ok(())
}

#[test]
fn pin_with_starts_over_when_the_key_moved() -> Result {
    let table = numbers(4);
    table.insert(7, 0)?;
    let (drops, mut seen) = (Cell::new(0), Vec::new());
    let (slot, pin) = table
        .pin_with(&7, |slot| {
            seen.push(slot);
            if slot < 2 {
                table.remove(&7);
                table.insert(7, slot + 1).expect("the next slot is free");
            }
            Some(CountsDrops(&drops))
        })
        .expect("the key is mapped in the end");
    assert_eq!((slot, drops.get()), (2, 2));
    drop(pin);
    assert_eq!(drops.get(), 3);
    assert_eq!(seen, [0, 1, 2]);
    Ok(())
}

#[test]
fn iter_yields_the_mapped_slots_in_order() -> Result {
    let table = numbers(8);
    assert_eq!(table.iter().next(), None);
    for (key, slot) in [(70, 7), (20, 2), (50, 5)] {
        table.insert(key, slot)?;
    }
    assert_eq!(table.iter().collect::<Vec<_>>(), [(2, 20), (5, 50), (7, 70)]);
    let mut seen = Vec::new();
    for (slot, key) in &table {
        seen.push((slot, key));
        table.remove(&key);
    }
    assert_eq!(seen.len(), 3);
    assert!(table.is_empty());
    Ok(())
}

#[test]
fn iter_bounds_its_length_and_stays_at_its_end() -> Result {
    let table = numbers(8);
    table.insert(20, 2)?;
    let mut iter = table.iter();
    assert_eq!(iter.size_hint(), (0, Some(8)));
    assert_eq!(iter.next(), Some((2, 20)));
    assert_eq!(iter.size_hint(), (0, Some(5)));
    assert_eq!(format!("{iter:?}"), "Iter { slots: 3..8, .. }");
    assert_eq!(iter.next(), None);
    table.insert(1, 0)?;
    assert_eq!(iter.next(), None);
    Ok(())
}

#[test]
fn debug_shows_the_sizes_and_not_the_keys() -> Result {
    let table = numbers(4);
    table.insert(7, 3)?;
    assert_eq!(format!("{table:?}"), "FlatMap { slots: 4, buckets: 8, partitions: 4, len: 1, .. }");
    Ok(())
}

#[test]
fn a_quiet_table_never_retries() -> Result {
    let table = numbers(4);
    table.insert(7, 3)?;
    for key in 0..100 {
        table.get(&key);
    }
    let stats = table.stats();
    assert_eq!((stats.retried, stats.fallbacks, stats.fallback_hits), (0, 0, 0));
    Ok(())
}

#[test]
fn the_locked_miss_policy_looks_again_for_misses_only() -> Result {
    let table = FlatMap::builder().slots(4).miss(MissPolicy::Locked).hasher(IDENTITY).build()?;
    table.insert(7_u64, 3)?;
    assert_eq!((table.get(&7), table.stats().fallbacks), (Some(3), 0));
    assert_eq!((table.get(&8), table.stats().fallbacks), (None, 1));
    assert_eq!(table.stats().fallback_hits, 0);
    assert_eq!(table.stats().retried, 0);
    Ok(())
}

#[test]
fn unlocked_lookups_are_counted_with_the_stats_feature_only() -> Result {
    let table = numbers(4);
    table.insert(7, 3)?;
    for key in [7, 7, 8] {
        table.get(&key);
    }
    let stats = table.stats();
    let expected = if cfg!(feature = "stats") { (Some(2), Some(1)) } else { (None, None) };
    assert_eq!((stats.unlocked_hits, stats.unlocked_misses), expected);
    Ok(())
}

#[test]
fn a_buffer_tag_has_postgres_size_and_an_order() {
    assert_eq!((size_of::<BufferTag>(), align_of::<BufferTag>()), (20, 4));
    let tag = |fork_number, block_number| BufferTag { fork_number, block_number, ..BufferTag::default() };
    assert!(tag(0, 9) < tag(1, 0));
    let table: FlatMap<BufferTag> = FlatMap::with_slots(64);
    // Keys that differ in one field only.
    let tags = [
        BufferTag::default(),
        BufferTag { spc_oid: 1, ..BufferTag::default() },
        BufferTag { db_oid: 1, ..BufferTag::default() },
        BufferTag { rel_number: 1, ..BufferTag::default() },
        tag(1, 0),
        tag(0, 1),
    ];
    for (slot, tag) in (0..).zip(tags) {
        table.insert(tag, slot).expect("all tags differ");
    }
    validate(&table);
}
