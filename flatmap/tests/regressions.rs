//! Faults that other people's maps really had, each named by the fault; one thread, or no race to win. The
//! races among them: `races.rs`; what a bad `Hash` does: `hash.rs`.
#![cfg(not(all(loom, feature = "loom")))]

mod common;

use common::{CONSTANT, IDENTITY, validate};
use flatmap::{FlatMap, InsertError, MissPolicy, PinWord};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::mpsc::channel;
use std::thread;

#[test]
fn a_panic_in_the_pin_closure_blocks_writers_for_ever() {
    let table: FlatMap<u64> = FlatMap::with_slots(4);
    table.insert(1, 0).expect("free");
    let word = PinWord::new();
    let panics = || table.pin_with(&1, |_| word.pin().map(|_pin| -> () { panic_any("closure") }));
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert_eq!(word.pins(), 0, "the pin was dropped as the panic passed");
    assert!(word.try_evict());
    assert_eq!(table.remove(&1), Some(0));
    table.insert(2, 0).expect("free");
    validate(&table);
}

#[test]
fn a_panic_in_the_drop_of_a_pin_leaves_the_table_unusable() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic_any("drop");
        }
    }
    let table: FlatMap<u64> = FlatMap::with_slots(4);
    table.insert(1, 0).expect("free");
    let moved_away = |slot| {
        table.remove_if(&1, slot);
        Some(Bomb)
    };
    assert!(catch_unwind(AssertUnwindSafe(|| table.pin_with(&1, moved_away))).is_err());
    table.insert(1, 0).expect("free");
    validate(&table);
}

#[test]
fn a_victim_search_among_pinned_slots_never_ends() {
    let pins: Vec<PinWord> = (0..8).map(|_| PinWord::new()).collect();
    let search = || pins.iter().position(PinWord::try_evict);
    let held: Vec<_> = pins.iter().map(PinWord::pin).collect();
    assert_eq!(search(), None, "one sweep tells that all are pinned");
    drop(held);
    let victims: Vec<_> = (0..9).map(|_| search()).collect();
    assert_eq!(victims.iter().flatten().count(), 8, "each is a victim once");
    assert_eq!(victims[8], None, "one sweep tells that all are being evicted");
}

#[test]
fn a_pin_that_had_no_effect_is_undone_later() {
    let word = PinWord::new();
    assert!(word.try_evict());
    assert!(!word.try_pin());
    assert_eq!(word.pins(), 0);
    // Nothing is owed for the pin that failed; who unpins all the same is told, and the eviction stands.
    assert!(catch_unwind(AssertUnwindSafe(|| word.unpin())).is_err());
    assert!(word.is_evicting());
    word.finish();
    assert!(word.try_evict(), "neither a pin too many nor one too few");
}

#[test]
fn a_placeholder_that_is_never_filled_is_leaked() {
    let table: FlatMap<u64> = FlatMap::with_slots(1);
    let word = PinWord::new();
    table.insert(1, 0).expect("free");
    for _ in 0..3 {
        // The eviction removes the old page, and the new one can't be read.
        assert!(word.try_evict());
        table.remove(&1);
        word.finish();
        drop(table.partition(&1));
        assert_eq!((table.len(), table.key_of(0)), (0, None));
        table.insert(1, 0).expect("the slot is free again");
    }
}

#[test]
fn sizes_of_zero_one_two_and_three_are_not_thought_of() {
    assert!(FlatMap::<u64>::builder().slots(0).build().is_err());
    for (slots, buckets) in (1..=3).flat_map(|slots| (1..=3).map(move |buckets| (slots, buckets))) {
        let table = FlatMap::builder().slots(slots).buckets(buckets).hasher(IDENTITY).build().expect("valid");
        for slot in 0..slots {
            table.insert(u64::from(slot), slot).expect("free");
        }
        validate(&table);
        assert_eq!(table.insert(99, slots - 1), Err(InsertError::SlotOccupied { slot: slots - 1 }));
        assert_eq!(table.get(&99), None);
        for slot in 0..slots {
            assert_eq!(table.remove(&u64::from(slot)), Some(slot));
        }
        validate(&table);
    }
}

#[test]
fn a_table_of_n_slots_does_not_take_n_keys() {
    for slots in 1..200 {
        let table: FlatMap<u64> = FlatMap::with_slots(slots);
        for _ in 0..2 {
            assert!((0..slots).all(|slot| table.insert(u64::from(slot), slot).is_ok()));
            assert_eq!(table.len(), slots as usize);
            assert!((0..slots).all(|slot| table.remove_slot(slot) == Some(u64::from(slot))));
        }
    }
}

/// Every result stayed right, and every lookup took the lock.
#[cfg(feature = "stats")]
#[test]
fn the_fast_path_silently_always_falls_back() {
    let table: FlatMap<u64> = FlatMap::with_slots(1000);
    for slot in 0..1000 {
        table.insert(u64::from(slot), slot).expect("free");
    }
    for key in 0..2000 {
        assert_eq!(table.get(&key), (key < 1000).then_some(key as u32));
    }
    let stats = table.stats();
    assert_eq!((stats.unlocked_hits, stats.unlocked_misses), (Some(1000), Some(1000)));
    assert_eq!((stats.retried, stats.fallbacks), (0, 0));
}

#[test]
fn a_constant_hash_makes_the_table_grow() {
    for miss in [MissPolicy::Validated, MissPolicy::Locked] {
        let table = FlatMap::builder().slots(300).miss(miss).hasher(CONSTANT).build().expect("valid");
        let before = table.memory_bytes();
        for slot in 0..300 {
            table.insert(u64::from(slot), slot).expect("free");
        }
        validate(&table);
        assert_eq!(table.get(&300), None);
        assert_eq!(table.memory_bytes(), before);
    }
}

#[test]
fn an_iteration_that_waits_for_a_thread_that_inserts_deadlocks() {
    let table: FlatMap<u64> = FlatMap::with_slots(8);
    table.insert(0, 0).expect("free");
    let ((go, next), (tell, told)) = (channel(), channel());
    thread::scope(|s| {
        s.spawn(|| {
            for slot in next {
                table.insert(u64::from(slot), slot).expect("free");
                tell.send(slot).expect("the other side listens");
            }
        });
        let mut yielded = 0;
        for (slot, _) in &table {
            yielded += 1;
            if slot < 7 {
                go.send(slot + 1).expect("the other side listens");
                assert_eq!(told.recv(), Ok(slot + 1));
            }
        }
        assert_eq!(yielded, 8, "each was mapped before its slot's turn");
        drop(go);
    });
}
