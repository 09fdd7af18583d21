//! Every operation, and a panic at every call that it makes of user code: `Hash`, the closure of `pin_with`, the `Drop` of
//! what it returns. Afterwards the table is whole, and another thread can use it.
#![cfg(not(all(loom, feature = "loom")))]

mod common;

use common::{Masked, MaskedHasher, validate};
use flatmap::{FlatMap, MissPolicy};
use std::cell::Cell;
use std::hash::BuildHasher;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::thread;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Hash,
    Closure,
    Drop,
}

thread_local! {
    /// Which call panics, and how many of them come before it.
    static FUSE: Cell<Option<(Call, u32)>> = const { Cell::new(None) };
}

/// User code is called.
fn called(call: Call) {
    match FUSE.get() {
        Some((which, n)) if which == call && n > 1 => FUSE.set(Some((which, n - 1))),
        Some((which, _)) if which == call => {
            FUSE.set(None);
            panic_any("the fuse");
        }
        _ => {}
    }
}

/// Hashes as the identity does.
struct Fused;

impl BuildHasher for Fused {
    type Hasher = MaskedHasher;

    fn build_hasher(&self) -> MaskedHasher {
        called(Call::Hash);
        Masked(!0).build_hasher()
    }
}

/// What a pin closure returns.
struct Pin;

impl Drop for Pin {
    fn drop(&mut self) {
        if !thread::panicking() {
            called(Call::Drop);
        }
    }
}

fn pin(_slot: u32) -> Option<Pin> {
    called(Call::Closure);
    Some(Pin)
}

type Table = FlatMap<u64, Fused>;

type Operation = fn(&Table);

const OPERATIONS: [(&str, Operation); 16] = [
    ("get", |table| _ = table.get(&1)),
    ("get of none", |table| _ = table.get(&9)),
    ("holds", |table| _ = table.holds(0, &1)),
    ("key_of", |table| _ = table.key_of(1)),
    ("iter", |table| assert_eq!(table.iter().count(), 3)),
    ("insert", |table| _ = table.insert(9, 5)),
    ("insert of a key that is there", |table| _ = table.insert(1, 5)),
    ("insert into a slot that is taken", |table| _ = table.insert(9, 0)),
    ("remove", |table| _ = table.remove(&2)),
    ("remove_if", |table| _ = table.remove_if(&2, 1)),
    ("remove_slot", |table| _ = table.remove_slot(2)),
    ("pin_with", |table| _ = table.pin_with(&1, pin)),
    ("pin_with that refuses", |table| _ = table.pin_with(&1, |slot| pin(slot).filter(|_| false))),
    ("pin_with whose slot loses its key", |table| {
        let moved = Cell::new(false);
        let pinned = table.pin_with(&1, |slot| {
            if !moved.replace(true) {
                table.remove(&1);
                table.insert(1, 6).expect("free");
            }
            pin(slot)
        });
        assert_eq!(pinned.map(|(slot, _)| slot), Some(6));
    }),
    ("partition", |table| {
        let mut guard = table.partition(&9);
        assert_eq!(guard.get(&9), Ok(None));
        assert!(guard.insert(9, 5).is_ok() && guard.remove(&9) == Ok(Some(5)));
        assert!(guard.get(&2).is_err(), "another partition's");
    }),
    ("figures", |table| _ = (table.len(), table.stats(), format!("{table:?}"), table.memory_bytes())),
];

fn table(miss: MissPolicy) -> Table {
    let table = FlatMap::builder().slots(8).buckets(2).partitions(2).miss(miss).hasher(Fused);
    let table = table.build().expect("valid");
    for (key, slot) in [(1, 0), (2, 1), (3, 2)] {
        table.insert(key, slot).expect("free");
    }
    table
}

#[track_caller]
fn is_whole_and_usable(table: &Table) {
    validate(table);
    thread::scope(|s| {
        s.spawn(|| {
            for (key, slot) in [(20, 3), (21, 4)] {
                table.insert(key, slot).expect("both partitions are free, and the slots");
                assert_eq!((table.get(&key), table.key_of(slot)), (Some(slot), Some(key)));
                assert_eq!(table.partition(&key).remove(&key), Ok(Some(slot)));
            }
        });
    });
    validate(table);
}

#[test]
fn a_panic_in_any_call_of_any_operation_leaves_a_lock_held_or_half_a_mapping() {
    let mut panics = 0;
    for (name, operation) in OPERATIONS {
        for call in [Call::Hash, Call::Closure, Call::Drop] {
            for n in 1.. {
                let table = table(if n % 2 == 0 { MissPolicy::Locked } else { MissPolicy::Validated });
                FUSE.set(Some((call, n)));
                let outcome = catch_unwind(AssertUnwindSafe(|| operation(&table)));
                let has_panicked = FUSE.take().is_none();
                assert_eq!(outcome.is_err(), has_panicked, "{name}, {call:?} {n}");
                is_whole_and_usable(&table);
                if !has_panicked {
                    break;
                }
                panics += 1;
            }
        }
    }
    assert!(panics > 30, "{panics}");
}
