//! `Hash` is user code: it panics, uses the table again, changes its mind. Each test is named by what such a
//! `Hash` did, or could do, to a map.
#![cfg(not(all(loom, feature = "loom")))]

mod common;

use common::{Masked, MaskedHasher, validate};
use flatmap::FlatMap;
use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::rc::Rc;

/// Hashes as the identity does; the call it is armed for does something else instead.
#[derive(Clone)]
struct Trap(Rc<State>);

struct State {
    calls_left: Cell<u32>,
    sprung: RefCell<Box<dyn Fn() -> u64>>,
}

type Table = FlatMap<u64, Trap>;

impl Trap {
    fn new() -> Self {
        Self(Rc::new(State {
            calls_left: Cell::new(0),
            sprung: RefCell::new(Box::new(|| panic_any("trap"))),
        }))
    }

    /// The call number `call` from now, the next being the first, springs the trap.
    fn arm(&self, call: u32) {
        self.0.calls_left.set(call);
    }

    /// Whether it has sprung; disarms it.
    fn disarm(&self) -> bool {
        self.0.calls_left.replace(0) == 0
    }

    fn springs_to(&self, act: impl Fn() -> u64 + 'static) {
        *self.0.sprung.borrow_mut() = Box::new(act);
    }

    /// Key k belongs to partition k % 2. 1, 2 and 3 are mapped to 0, 1 and 2.
    fn table(&self) -> Table {
        let builder = FlatMap::builder().slots(8).buckets(2).partitions(2);
        let table = builder.hasher(self.clone()).build().expect("valid");
        for (key, slot) in [(1, 0), (2, 1), (3, 2)] {
            table.insert(key, slot).expect("free");
        }
        table
    }
}

impl BuildHasher for Trap {
    type Hasher = TrapHasher;

    fn build_hasher(&self) -> TrapHasher {
        TrapHasher { trap: self.clone(), word: 0 }
    }
}

struct TrapHasher {
    trap: Trap,
    word: u64,
}

impl Hasher for TrapHasher {
    fn write(&mut self, _: &[u8]) {
        unreachable!("the keys are u64")
    }

    fn write_u64(&mut self, word: u64) {
        self.word = word;
    }

    fn finish(&self) -> u64 {
        let state = &self.trap.0;
        let left = state.calls_left.get();
        state.calls_left.set(left.saturating_sub(1));
        if left == 1 { (state.sprung.borrow())() } else { self.word }
    }
}

type Operation = fn(&Table);

const OPERATIONS: [(&str, Operation); 11] = [
    ("get of a key", |table| _ = table.get(&1)),
    ("get of no key", |table| _ = table.get(&9)),
    ("holds", |table| _ = table.holds(0, &1)),
    ("key_of", |table| _ = table.key_of(0)),
    ("iter", |table| _ = table.iter().count()),
    ("insert", |table| _ = table.insert(9, 5)),
    ("insert of a key that is there", |table| _ = table.insert(1, 5)),
    ("remove", |table| _ = table.remove(&2)),
    ("remove_if", |table| _ = table.remove_if(&2, 1)),
    ("remove_slot", |table| _ = table.remove_slot(2)),
    ("pin_with", |table| _ = table.pin_with(&1, Some)),
];

fn through_a_guard(table: &Table) {
    let mut guard = table.partition(&4);
    assert!(guard.get(&4).is_ok());
    assert!(guard.insert(4, 6).is_ok());
    assert!(guard.remove(&4).is_ok());
}

#[test]
fn hash_panics_and_leaves_a_lock_held_or_half_a_mapping() {
    for (name, operation) in OPERATIONS.into_iter().chain([("partition", through_a_guard as Operation)]) {
        for call in 1.. {
            let trap = Trap::new();
            let table = trap.table();
            trap.arm(call);
            let outcome = catch_unwind(AssertUnwindSafe(|| operation(&table)));
            let sprung = trap.disarm();
            assert_eq!(outcome.is_err(), sprung, "{name}, call {call}");
            validate(&table);
            for key in [10, 11] {
                // 4 may be left at 6 by a guard that did not come to its remove.
                table.insert(key, key as u32 - 7).expect("both partitions are free, and the slots");
            }
            validate(&table);
            if !sprung {
                assert!(call > 1, "{name} hashes");
                break;
            }
        }
    }
}

#[test]
fn hash_uses_the_table_again_and_deadlocks_it() {
    for (name, operation) in OPERATIONS {
        let trap = Trap::new();
        let table = Rc::new(trap.table());
        let again = Rc::downgrade(&table);
        trap.springs_to(move || {
            let table = again.upgrade().expect("the table is in use");
            table.insert(21, 7).expect("no lock is held");
            assert_eq!(table.pin_with(&21, Some), Some((7, 7)));
            assert_eq!(table.remove_slot(7), Some(21));
            assert!(table.partition(&1).get(&1).is_ok());
            1
        });
        trap.arm(1);
        operation(&table);
        assert!(trap.disarm(), "{name} hashes");
        validate(&table);
    }
}

#[cfg(debug_assertions)]
#[test]
fn hash_under_a_guard_uses_the_table_again_and_hangs() {
    let trap = Trap::new();
    let table = Rc::new(trap.table());
    let again = Rc::downgrade(&table);
    trap.springs_to(move || {
        again.upgrade().expect("the table is in use").get(&1);
        1
    });
    let mut guard = table.partition(&4);
    trap.arm(1);
    assert!(catch_unwind(AssertUnwindSafe(|| guard.insert(4, 6))).is_err());
    assert_eq!(guard.insert(4, 6), Ok(()), "the guard is as good as before");
    drop(guard);
    validate(&table);
}

/// As in other maps, such a `Hash` may give odd results; it must not break what others rely on.
#[test]
fn hash_changes_its_mind_and_corrupts_a_chain() {
    let trap = Trap::new();
    trap.springs_to(|| 1);
    let table = trap.table();
    trap.arm(1);
    table.insert(4, 3).expect("free"); // on the chain of 1 and 3, where a lookup of 4 never comes
    assert_eq!(table.get(&4), None);
    table.insert(4, 4).expect("not found, so not refused");
    assert_eq!(table.get(&4), Some(4));
    let blamed = catch_unwind(AssertUnwindSafe(|| table.key_of(3))).expect_err("the key of slot 3 is lost");
    let blame = blamed.downcast_ref::<String>().expect("a formatted message");
    assert_eq!(blame, "the key of slot 3 can't be found by its hash: is Hash deterministic?");
    trap.arm(1);
    assert_eq!(table.remove(&4), Some(3), "the chain of 1 is whole");
    assert_eq!((table.get(&1), table.get(&3), table.get(&4), table.len()), (Some(0), Some(2), Some(4), 4));
    validate(&table);
}

/// What is found in the slot is another key each time, so nothing is wrong with `Hash`.
#[test]
fn hash_replaces_the_key_of_the_slot_each_time_and_is_blamed_for_not_finding_it() {
    const ROUNDS: u64 = 3000;
    let trap = Trap::new();
    let table = Rc::new(trap.table());
    let (again, armed, key) = (Rc::downgrade(&table), trap.clone(), Cell::new(3_u64));
    trap.springs_to(move || {
        let table = again.upgrade().expect("the table is in use");
        let old = key.replace(key.get() + 2);
        assert_eq!(table.remove(&old), Some(2));
        table.insert(key.get(), 2).expect("free");
        armed.arm(u32::from(key.get() < 2 * ROUNDS));
        old
    });
    trap.arm(1);
    assert_eq!(table.key_of(2), Some(2 * ROUNDS + 1));
    validate(&table);
}

/// Every second call hashes elsewhere, for ever.
#[derive(Clone)]
struct Alternating(Cell<u64>);

impl BuildHasher for &Alternating {
    type Hasher = MaskedHasher;

    fn build_hasher(&self) -> MaskedHasher {
        self.0.set(self.0.get() + 1);
        assert!(self.0.get() < 1_000_000, "it goes round for ever, it seems");
        Masked(self.0.get() % 2).build_hasher()
    }
}

#[test]
fn hash_alternates_and_remove_slot_goes_round_for_ever() {
    let hasher = Alternating(Cell::new(0));
    let table = FlatMap::builder().slots(2).buckets(2).partitions(2).hasher(&hasher).build().expect("valid");
    table.insert(1_u64, 0).expect("free");
    hasher.0.set(0); // a second hash of the key would always miss
    assert_eq!(table.remove_slot(0), Some(1), "the key is removed by the hash that found it");
    assert!(table.is_empty());
}
