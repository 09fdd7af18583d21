//! More and fewer buckets and slots, on one thread and beside others.
#![cfg(not(all(loom, feature = "loom")))]

mod common;

use common::{CONSTANT, IDENTITY, Masked, Rng, validate, watched};
use flatmap::{ConfigError, FlatMap, InsertError, ResizeError};
use std::cell::Cell;
use std::hash::{BuildHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

type Table = FlatMap<u64, Masked>;

fn filled(keys: u32, buckets: u32, max_buckets: u32, hasher: Masked) -> Table {
    let builder = FlatMap::builder().slots(keys).partitions(1).buckets(buckets).max_buckets(max_buckets);
    let table = builder.hasher(hasher).build().expect("valid");
    for slot in 0..keys {
        table.insert(u64::from(slot), slot).expect("free");
    }
    table
}

#[track_caller]
fn assert_all_there(table: &Table, keys: u32) {
    for slot in 0..keys {
        assert_eq!(table.get(&u64::from(slot)), Some(slot), "with {} buckets", table.buckets());
    }
    assert_eq!(table.get(&u64::from(keys)), None);
    validate(table);
}

#[test]
fn every_number_of_buckets_finds_every_key() {
    for hasher in [IDENTITY, CONSTANT, Masked(1), Masked(6)] {
        let table = filled(100, 1, 70, hasher);
        for buckets in (2..=70).chain((1..70).rev()).chain([70, 1, 33, 32, 31]) {
            let before = table.buckets();
            table.set_buckets(buckets).expect("within bounds");
            assert_eq!(table.buckets(), buckets, "from {before}");
            assert_all_there(&table, 100);
        }
        let stats = table.stats();
        assert_eq!(stats.splits - stats.merges, 30);
        assert_eq!((stats.retried, stats.fallbacks), (0, 0));
    }
}

#[test]
fn what_is_out_of_bounds_is_refused_with_the_bound() {
    let builder = FlatMap::<u64>::builder().slots(10).max_slots(20).partitions(4).buckets(5).max_buckets(9);
    let table = builder.build().expect("valid");
    for value in [0, 3, 10, u32::MAX] {
        let error = table.set_buckets(value).expect_err("out of bounds");
        assert_eq!(error, ResizeError::Buckets { value, min: 4, max: 9 });
        let said = format!("buckets is {value}; the table was built for 4 (partitions) to 9 (max_buckets)");
        assert_eq!(error.to_string(), said);
    }
    for value in [0, 21, u32::MAX] {
        let error = table.set_slots(value).expect_err("out of bounds");
        assert_eq!(error, ResizeError::Slots { value, max: 20 });
        assert_eq!(
            error.to_string(),
            format!("slots is {value}; the table was built for 1 to 20 (max_slots)")
        );
    }
    assert_eq!((table.slots(), table.buckets(), table.max_slots(), table.max_buckets()), (10, 5, 20, 9));
    let builder = || FlatMap::<u64>::builder().slots(10).partitions(1);
    let error = builder().max_slots(9).build().expect_err("fewer than there are");
    assert_eq!(error, ConfigError::MaxSlots { value: 9, min: 10, max: (1 << 30) - 2 });
    assert!(error.to_string().starts_with("max_slots is 9; with 10 slots it must be 10 to"), "{error}");
    let error = builder().buckets(8).max_buckets(7).build().expect_err("fewer than there are");
    assert_eq!(error, ConfigError::MaxBuckets { value: 7, min: 8, max: 1 << 31 });
    assert!(error.to_string().starts_with("max_buckets is 7; with 8 buckets it must be 8 to"), "{error}");
    assert!(
        builder().max_slots(u32::MAX).build().is_err() && builder().max_buckets(u32::MAX).build().is_err()
    );
    assert!(builder().max_buckets(0).build().is_err());
    let few = FlatMap::<u64>::builder().slots(8).max_buckets(50).build().expect("fewer partitions will do");
    assert_eq!((few.partitions(), few.buckets(), few.max_buckets()), (32, 32, 50));
}

#[test]
fn slots_are_taken_away_once_they_are_unmapped_and_come_back_free() {
    let table: FlatMap<u64> = FlatMap::builder().slots(4).max_slots(100_000).build().expect("valid");
    assert_eq!(table.insert(7, 4), Err(InsertError::SlotOutOfRange { slot: 4, slots: 4 }));
    for _ in 0..3 {
        table.set_slots(100_000).expect("up to the most");
        for slot in (0..100_000).step_by(10) {
            table.insert(u64::from(slot), slot).expect("new slots are free");
        }
        let refused = ResizeError::SlotsInUse { slots: 50_000, in_use: 5_000 };
        assert_eq!(table.set_slots(50_000), Err(refused));
        assert_eq!(
            refused.to_string(),
            "5000 of the slots from 50000 on are in use; they must be unmapped first"
        );
        assert_eq!((table.slots(), table.len()), (100_000, 10_000), "nothing is changed");
        for slot in (10..100_000).step_by(10) {
            assert_eq!(table.remove_slot(slot), Some(u64::from(slot)));
        }
        table.set_slots(4).expect("the others are unmapped");
        assert_eq!((table.slots(), table.get(&0), table.key_of(50_000)), (4, Some(0), None));
        validate(&table);
        table.remove(&0);
    }
}

#[test]
fn buckets_follow_slots_step_by_step() {
    let table: FlatMap<u64> =
        FlatMap::builder().slots(100).max_slots(1000).partitions(2).build().expect("valid");
    assert_eq!((table.buckets(), table.max_buckets()), (200, 2000));
    table.set_slots(1000).expect("up to the most");
    assert_eq!((table.buckets(), table.maintain(0)), (200, Ok(1800)));
    for slot in 0..1000 {
        table.insert(u64::from(slot), slot).expect("free");
        assert_eq!(table.buckets(), 201 + slot, "each insert does one step");
    }
    assert_eq!((table.maintain(300), table.buckets()), (Ok(500), 1500));
    assert_eq!((table.maintain(u32::MAX), table.buckets()), (Ok(0), 2000));
    validate(&table);
    for slot in 10..1000 {
        table.remove_slot(slot).expect("mapped");
    }
    table.set_slots(10).expect("the others are unmapped");
    assert_eq!(table.maintain(5), Ok(2000 - 20 - 5));
    table.remove(&0).expect("mapped");
    assert_eq!(table.buckets(), 1994, "each remove does one step");
    table.set_buckets(7).expect("any number will do");
    assert_eq!((table.maintain(1), table.buckets()), (Ok(0), 7));
    let fixed: FlatMap<u64> = FlatMap::builder().slots(8).max_slots(80).buckets(16).build().expect("valid");
    fixed.set_slots(80).expect("up to the most");
    assert_eq!((fixed.maintain(100), fixed.buckets()), (Ok(0), 16), "a number that was given stays");
}

thread_local! {
    static CALLS_LEFT: Cell<u32> = const { Cell::new(u32::MAX) };
}

/// Panics at the call after the last one that is left.
#[derive(Clone, Default)]
struct Brittle(u64);

impl Hasher for Brittle {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are words")
    }

    fn write_u64(&mut self, word: u64) {
        let left = CALLS_LEFT.get();
        assert!(left > 0, "no call is left");
        CALLS_LEFT.set(left - 1);
        self.0 = word;
    }
}

impl BuildHasher for Brittle {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Self(0)
    }
}

#[test]
fn a_hash_that_panics_in_a_split_leaves_the_table_whole() {
    let builder = FlatMap::<u64>::builder().slots(40).partitions(1).buckets(1).max_buckets(16);
    let table = builder.hasher(Brittle(0)).build().expect("valid");
    for slot in 0..40 {
        table.insert(u64::from(slot), slot).expect("free");
    }
    let mut panics = 0;
    for calls in 0.. {
        CALLS_LEFT.set(calls);
        let result = catch_unwind(AssertUnwindSafe(|| table.set_buckets(16)));
        CALLS_LEFT.set(u32::MAX);
        validate(&table);
        assert_eq!(table.len(), 40);
        if result.is_ok() {
            break;
        }
        panics += 1;
        // Another thread finds every lock free.
        thread::scope(|s| {
            s.spawn(|| {
                table.remove(&7).expect("mapped");
                table.insert(7, 7).expect("free");
                table.set_buckets(1).expect("merging hashes nothing, but splits may be due");
            });
        });
    }
    assert!(panics > 40, "{panics}");
    assert_eq!(table.buckets(), 16);
}

#[test]
fn threads_that_resize_to_different_numbers_end_at_one_of_them() {
    let table = filled(300, 1, 512, IDENTITY);
    watched("resizers", || {
        for round in 0..100 {
            thread::scope(|s| {
                for buckets in [1 + round, 512 - round, 200] {
                    let table = &table;
                    s.spawn(move || table.set_buckets(buckets).expect("within bounds"));
                }
            });
            let buckets = table.buckets();
            assert!([1 + round, 512 - round, 200].contains(&buckets), "{buckets} in round {round}");
            validate(&table);
        }
    });
}

/// One bucket is changed all the time, so that a split seldom finds its chain as it copied it.
#[test]
fn a_split_of_a_chain_that_never_rests_ends() {
    let table = filled(4, 1, 64, IDENTITY);
    let stop = AtomicBool::new(false);
    watched("no rest", || {
        thread::scope(|s| {
            for key in 0..3_u64 {
                let (table, stop) = (&table, &stop);
                s.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        assert_eq!(table.remove(&key), Some(key as u32));
                        table.insert(key, key as u32).expect("free");
                    }
                });
            }
            for _ in 0..200 {
                table.set_buckets(64).expect("within bounds");
                table.set_buckets(1).expect("within bounds");
            }
            stop.store(true, Ordering::Relaxed);
        });
    });
    assert_all_there(&table, 4);
}

#[test]
fn inserts_and_removes_go_on_while_slots_come_and_go() {
    let table: FlatMap<u64> = FlatMap::builder().slots(100).max_slots(10_000).build().expect("valid");
    let stop = AtomicBool::new(false);
    watched("slots", || {
        thread::scope(|s| {
            for thread in 0..3_u64 {
                let (table, stop, mut rng) = (&table, &stop, Rng::for_test("slots"));
                s.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let key = u64::from(rng.below(1000)) * 3 + thread;
                        let slot = rng.below(10_000);
                        match table.insert(key, slot) {
                            Ok(()) => {
                                assert_eq!(table.get(&key), Some(slot));
                                assert_eq!(table.remove(&key), Some(slot));
                            }
                            Err(InsertError::SlotOutOfRange { .. } | InsertError::SlotOccupied { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                });
            }
            let (mut rng, mut done, mut refused) = (Rng::for_test("resizer"), 0, 0);
            while done < 200 || refused < 10 {
                match table.set_slots(1 + rng.below(10_000)) {
                    Ok(()) => done += 1,
                    Err(ResizeError::SlotsInUse { in_use: 1..=3, .. }) => refused += 1,
                    Err(error) => panic!("{error}"),
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
    });
    assert!(table.is_empty());
    table.set_slots(1).expect("all are free");
    validate(&table);
}

#[test]
#[should_panic(expected = "FlatMap::get_many: 2 keys, but room for 3 answers")]
fn a_batch_needs_room_for_all_answers() {
    filled(4, 1, 1, IDENTITY).get_many(&[1, 2], &mut [None; 3]);
}

#[test]
fn batches_of_any_length_are_as_many_lookups() {
    let table = filled(1000, 500, 500, IDENTITY);
    for length in (0..70).chain([100, 1000, 3000]) {
        let keys: Vec<u64> = (0..length).map(|i| i * 7919 % 2000).collect();
        let mut found = vec![Some(0); keys.len()];
        table.get_many(&keys, &mut found);
        assert!(keys.iter().zip(&found).all(|(key, found)| *found == table.get(key)), "{length}");
    }
}

#[cfg(debug_assertions)]
#[test]
fn resizing_beside_a_guard_of_the_same_thread_panics_instead_of_waiting_for_itself() {
    let table = filled(4, 1, 64, IDENTITY);
    let _guard = table.partition(&1);
    for result in [
        catch_unwind(AssertUnwindSafe(|| table.set_buckets(2).is_ok())),
        catch_unwind(AssertUnwindSafe(|| table.set_slots(4).is_ok())),
        catch_unwind(AssertUnwindSafe(|| table.maintain(1).is_ok())),
        catch_unwind(AssertUnwindSafe(|| {
            table.get_many(&[1], &mut [None]);
            true
        })),
    ] {
        assert!(result.is_err());
    }
}
