//! Faults that resizing itself had, each as a test that is named by the fault.
#![cfg(not(all(loom, feature = "loom")))]

mod common;

use common::{IDENTITY, watched};
use flatmap::{FlatMap, ResizeError};
use std::cell::Cell;
use std::hash::{BuildHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

#[test]
fn iteration_beside_a_set_slots_that_fails_skips_no_mapping() {
    let table: FlatMap<u64> = FlatMap::builder().slots(100).partitions(1).build().expect("valid");
    table.insert(7, 50).expect("free");
    watched("a failing set_slots", || {
        let guard = table.partition(&7);
        thread::scope(|s| {
            let table = &table;
            let resizer = s.spawn(move || table.set_slots(10));
            // It has lowered the number, and waits for the guard.
            while table.slots() == 100 {
                thread::yield_now();
            }
            let listed = s.spawn(move || table.iter().collect::<Vec<_>>()).join().expect("no panic");
            drop(guard);
            assert_eq!(
                resizer.join().expect("no panic"),
                Err(ResizeError::SlotsInUse { slots: 10, in_use: 1 })
            );
            assert_eq!(listed, [(50, 7)], "it was mapped throughout, and nothing changed");
        });
    });
}

#[test]
fn an_insert_never_waits_for_the_guard_of_another_partition_to_do_a_step() {
    for (to, partitions) in [(100, 2), (5, 2)] {
        let builder = FlatMap::builder().slots(10).max_slots(100).partitions(partitions);
        let table: FlatMap<u64, _> = builder.hasher(IDENTITY).build().expect("valid");
        table.set_slots(to).expect("all are free");
        // Bucket 20 is to be split off, or 19 to be merged: in the partition of its parent.
        let held = if to > 10 { 0 } else { 1 };
        let guard = table.partition(&held);
        let (done, is_done) = channel();
        thread::scope(|s| {
            let table = &table;
            s.spawn(move || {
                table.insert(1 - held, 0).expect("free");
                assert_eq!(table.remove(&(1 - held)), Some(0));
                done.send(()).expect("the test waits");
            });
            let waited = is_done.recv_timeout(Duration::from_secs(20));
            drop(guard);
            assert!(waited.is_ok(), "it waited for a guard of the other partition");
        });
        assert_ne!(table.maintain(0), Ok(0), "steps are due");
    }
}

thread_local! {
    static ARMED: Cell<bool> = const { Cell::new(false) };
}

/// Panics at the word 1 while it is armed.
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
        assert!(word != 1 || !ARMED.get(), "armed");
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
fn a_hash_that_panics_in_the_step_of_an_insert_or_remove_leaves_the_table_as_it_was() {
    let builder = FlatMap::<u64>::builder().slots(8).max_slots(80).partitions(1);
    let table = builder.hasher(Brittle(0)).build().expect("valid");
    table.set_buckets(1).expect("within bounds");
    table.insert(1, 1).expect("free");
    table.insert(3, 3).expect("free");
    table.set_slots(80).expect("up to the most");
    ARMED.set(true);
    let inserted = catch_unwind(AssertUnwindSafe(|| table.insert(2, 2)));
    let removed = catch_unwind(AssertUnwindSafe(|| table.remove(&3)));
    let slot_removed = catch_unwind(AssertUnwindSafe(|| table.remove_slot(3)));
    ARMED.set(false);
    assert!(inserted.is_err() && removed.is_err() && slot_removed.is_err());
    assert_eq!([1, 2, 3].map(|key| table.get(&key)), [Some(1), None, Some(3)]);
}

/// A hasher that changes the table whenever a split hashes a key, which it may outside locks. In the end the split hashes
/// under the lock, and that is noticed there.
#[cfg(debug_assertions)]
mod restless {
    use super::{AssertUnwindSafe, BuildHasher, Cell, FlatMap, Hasher, catch_unwind};
    use std::rc::Rc;

    thread_local! {
        static TABLE: Cell<Option<Rc<FlatMap<u64, Restless>>>> = const { Cell::new(None) };
        static CHANGES: Cell<u32> = const { Cell::new(0) };
    }

    #[derive(Clone)]
    pub(super) struct Restless(u64);

    impl Hasher for Restless {
        fn finish(&self) -> u64 {
            if let Some(table) = TABLE.take() {
                // By a guard: a remove or insert would do the step that is due.
                let mut guard = table.partition(&1);
                assert_eq!(guard.remove(&1), Ok(Some(1)));
                guard.insert(1, 1).expect("free");
                drop(guard);
                CHANGES.set(CHANGES.get() + 1);
                TABLE.set(Some(table));
            }
            self.0
        }

        fn write(&mut self, _: &[u8]) {
            unreachable!("keys are words")
        }

        fn write_u64(&mut self, word: u64) {
            self.0 = word;
        }
    }

    impl BuildHasher for Restless {
        type Hasher = Self;

        fn build_hasher(&self) -> Self {
            Self(0)
        }
    }

    #[test]
    fn a_chain_that_changes_nine_times_while_it_is_hashed_is_hashed_under_its_lock() {
        let builder = FlatMap::<u64>::builder().slots(4).partitions(1).buckets(1).max_buckets(4);
        let table = Rc::new(builder.hasher(Restless(0)).build().expect("valid"));
        table.insert(1, 1).expect("free");
        TABLE.set(Some(Rc::clone(&table)));
        let resized = catch_unwind(AssertUnwindSafe(|| table.set_buckets(2)));
        let payload = resized.expect_err("it uses the table under its lock");
        TABLE.set(None);
        let said = payload.downcast_ref::<String>().map_or("", String::as_str);
        assert!(said.contains("beside a PartitionGuard"), "{said}");
        assert_eq!(CHANGES.get(), 9, "so often without the lock");
        assert_eq!((table.validate(), table.buckets(), table.get(&1)), (Ok(()), 1, Some(1)));
        table.set_buckets(2).expect("every lock is free");
        assert_eq!((table.validate(), table.buckets()), (Ok(()), 2));
    }
}
