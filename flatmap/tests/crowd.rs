//! Far more threads than cores: all of them come to an end, and leave a table that is whole; and tables that are used while
//! thread-locals are torn down.
#![cfg(not(all(loom, feature = "loom")))]

mod common;

use common::{Masked, Rng, StartLine, validate, watched};
use flatmap::{FlatMap, MissPolicy};
use std::cell::RefCell;
use std::sync::Arc;
use std::thread;

const THREADS: u32 = 64;
const TURNS: u32 = 300;

/// Each thread has a slot of its own, and shares others.
fn churn(table: &FlatMap<u64, Masked>, thread: u32, rng: &mut Rng) {
    for turn in 0..TURNS {
        let own = u64::from(1000 + thread * TURNS + turn);
        table.insert(own, thread).expect("it is this thread's");
        let (key, slot) = (u64::from(rng.below(40)), THREADS + rng.below(16));
        match rng.below(8) {
            0 => _ = table.insert(key, slot),
            1 => _ = table.remove(&key),
            2 => _ = table.remove_slot(slot),
            3 => _ = table.remove_if(&key, slot),
            4 => _ = table.key_of(slot),
            5 => {
                let mut guard = table.partition(&key);
                if guard.insert(key, slot).is_ok() {
                    guard.remove(&key).expect("its partition");
                }
            }
            _ => _ = table.get(&key),
        }
        assert_eq!((table.get(&own), table.key_of(thread)), (Some(thread), Some(own)));
        if turn + 1 < TURNS {
            assert_eq!(table.remove(&own), Some(thread));
        }
    }
}

#[test]
fn sixty_four_threads_churn_a_table() {
    let mut rng = Rng::for_test("crowd");
    for (mask, miss) in [(!0, MissPolicy::Validated), (3, MissPolicy::Locked), (0, MissPolicy::Validated)] {
        let builder = FlatMap::builder().slots(THREADS + 16).partitions(2).miss(miss);
        let table = builder.hasher(Masked(mask)).build().expect("valid");
        let line = StartLine::new(THREADS as usize);
        watched("crowd", || {
            thread::scope(|s| {
                for number in 0..THREADS {
                    let (mut rng, table, line) = (rng.split(), &table, &line);
                    s.spawn(move || {
                        line.wait();
                        churn(table, number, &mut rng);
                    });
                }
            });
        });
        assert!((0..THREADS).all(|slot| table.key_of(slot).is_some()));
        validate(&table);
    }
}

/// Uses the table when its thread ends.
struct AtTheEnd(Arc<FlatMap<u64>>, u32);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        let Self(table, slot) = self;
        let key = u64::from(*slot);
        assert_eq!(table.remove_slot(*slot), Some(key));
        table.insert(key + 1000, *slot).expect("free");
        assert_eq!((table.get(&(key + 1000)), table.key_of(*slot)), (Some(*slot), Some(key + 1000)));
        let mut guard = table.partition(&key);
        guard.insert(key, *slot + 16).expect("free");
    }
}

thread_local! {
    static END: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) };
}

#[test]
fn a_table_is_used_while_thread_locals_are_torn_down() {
    let table = Arc::new(FlatMap::with_slots(32));
    thread::scope(|s| {
        for slot in 0..16 {
            let table = Arc::clone(&table);
            s.spawn(move || {
                END.set(Some(AtTheEnd(Arc::clone(&table), slot)));
                table.insert(u64::from(slot), slot).expect("free");
            });
        }
    });
    // A scope does not wait for the destructors of thread-locals.
    while Arc::strong_count(&table) > 1 {
        thread::yield_now();
    }
    validate(&table);
    assert_eq!(table.len(), 32);
}
