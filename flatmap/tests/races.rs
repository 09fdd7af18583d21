//! Faults that other people's maps really had when threads met, each named by the fault. Those that need one
//! thread: `regressions.rs`.
#![cfg(not(all(loom, feature = "loom")))]

mod common;

use common::{CONSTANT, IDENTITY, Masked, PATIENCE, Rng, StartLine, StopAll, validate, watched};
use flatmap::{FlatMap, InsertError};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// One bucket, or a bucket and a partition for each of the first keys.
fn table(slots: u32, hasher: Masked) -> FlatMap<u64, Masked> {
    let builder = FlatMap::builder().slots(slots).buckets(8).partitions(8).optimistic_tries(2);
    builder.hasher(hasher).build().expect("valid")
}

/// Runs `work` on three threads again and again, and looks at the table whenever they rest.
fn rounds(
    test: &'static str,
    table: &FlatMap<u64, Masked>,
    work: impl Fn(&mut Rng) + Sync,
    at_rest: impl Fn(),
) {
    const THREADS: usize = 3;
    let mut rng = Rng::for_test(test);
    let line = StartLine::new(THREADS);
    watched(test, || {
        for _ in 0..100 {
            thread::scope(|s| {
                for _ in 0..THREADS {
                    let (mut rng, line, work) = (rng.split(), &line, &work);
                    s.spawn(move || {
                        line.wait();
                        (0..100).for_each(|_| work(&mut rng));
                    });
                }
            });
            validate(table);
            at_rest();
        }
    });
}

#[test]
fn two_entries_for_one_key_after_heavy_insert_and_delete() {
    for hasher in [CONSTANT, IDENTITY] {
        let table = table(8, hasher);
        let work = |rng: &mut Rng| {
            let (key, slot) = (u64::from(rng.below(4)), rng.below(8));
            match rng.below(2) {
                0 => _ = table.insert(key, slot),
                _ => _ = table.remove(&key),
            }
        };
        rounds("two entries", &table, work, || assert!(table.len() <= 4));
    }
}

/// Eight keys of eight partitions and only two slots: claims of one slot meet all the time.
#[test]
fn a_slot_is_linked_into_two_chains() {
    let table = table(2, IDENTITY);
    let refused = AtomicU64::new(0);
    let work = |rng: &mut Rng| {
        let (key, slot) = (u64::from(rng.below(8)), rng.below(2));
        match rng.below(3) {
            0 => _ = table.remove(&key),
            _ => {
                if table.insert(key, slot) == Err(InsertError::SlotOccupied { slot }) {
                    refused.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    };
    rounds("two chains", &table, work, || assert!(table.len() <= 2));
    assert!(refused.into_inner() > 0);
}

/// Of each key, as many were removed as were inserted, up to the one that is there.
#[test]
fn a_removed_key_is_read_from_a_slot_that_was_given_away() {
    let table = table(2, IDENTITY);
    let there: [AtomicI64; 8] = Default::default();
    let count = |key: u64, by| _ = there[key as usize].fetch_add(by, Ordering::Relaxed);
    let work = |rng: &mut Rng| {
        let (key, slot) = (u64::from(rng.below(8)), rng.below(2));
        match rng.below(2) {
            0 if table.insert(key, slot).is_ok() => count(key, 1),
            0 => {}
            _ => _ = table.remove_slot(slot).map(|key| count(key, -1)),
        }
    };
    rounds("given away", &table, work, || {
        for (key, there) in (0..).zip(&there) {
            assert_eq!(there.load(Ordering::Relaxed), i64::from(table.get(&key).is_some()), "key {key}");
        }
    });
}

/// The key goes to and fro between two slots; a stranger empties one of them, never the other.
#[test]
fn a_key_that_moved_on_is_removed_from_its_new_slot() {
    let table = table(2, IDENTITY);
    let emptied = AtomicU64::new(0);
    let move_it = || {
        table.insert(1, 0).expect("not mapped");
        table.remove(&1);
        table.insert(1, 1).expect("not mapped");
        assert_eq!(table.remove(&1), Some(1), "nobody empties slot 1");
    };
    let empty = || {
        if table.remove_slot(0).is_some() {
            emptied.fetch_add(1, Ordering::Relaxed);
        }
    };
    beside("moved on", empty, move_it, || emptied.load(Ordering::Relaxed) > 100);
}

#[test]
fn of_several_inserts_of_one_key_not_just_one_wins() {
    let table = table(4, IDENTITY);
    let wins = AtomicU64::new(0);
    let line = StartLine::new(4);
    watched("one winner", || {
        for _ in 0..500 {
            thread::scope(|s| {
                for slot in 0..4 {
                    let (table, wins, line) = (&table, &wins, &line);
                    s.spawn(move || {
                        line.wait();
                        match table.insert(7, slot) {
                            Ok(()) => _ = wins.fetch_add(1, Ordering::Relaxed),
                            Err(InsertError::KeyExists { slot }) => assert!(table.holds(slot, &7)),
                            Err(error) => panic!("{error}"),
                        }
                    });
                }
            });
            assert_eq!(wins.swap(0, Ordering::Relaxed), 1);
            assert!(table.remove(&7).is_some());
        }
    });
}

/// Runs `busy` on a thread of its own over and over, and `look` beside it: many times, and until `met`.
fn beside(test: &'static str, busy: impl Fn() + Sync, look: impl Fn(), met: impl Fn() -> bool) {
    let stop = AtomicBool::new(false);
    watched(test, || {
        thread::scope(|s| {
            s.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    busy();
                }
            });
            let _stop = StopAll(&stop);
            (0..20_000).for_each(|_| look());
            let start = Instant::now();
            while !met() {
                look();
                assert!(start.elapsed() < PATIENCE, "{test}: the threads do not meet");
            }
        });
    });
}

#[test]
fn len_falls_below_zero_when_a_remove_overtakes_its_insert() {
    let table = table(4, IDENTITY);
    let line = StartLine::new(3);
    watched("len", || {
        thread::scope(|s| {
            s.spawn(|| {
                line.wait();
                (0..20_000).for_each(|_| _ = table.insert(1, 0));
            });
            s.spawn(|| {
                line.wait();
                (0..20_000).for_each(|_| _ = table.remove(&1));
            });
            line.wait();
            (0..20_000).for_each(|_| assert!(table.len() <= 1));
        });
    });
    validate(&table);
}

#[test]
fn is_empty_is_true_while_a_key_is_there() {
    let table = table(4, IDENTITY);
    table.insert(7, 3).expect("free");
    let changes = AtomicU64::new(0);
    let busy = || {
        table.insert(1, 0).expect("free");
        table.remove(&1);
        changes.fetch_add(1, Ordering::Relaxed);
    };
    let look = || assert!(!table.is_empty() && (1..=2).contains(&table.len()));
    beside("is_empty", busy, look, || changes.load(Ordering::Relaxed) > 1000);
}

#[test]
fn an_iteration_beside_inserts_and_removes_of_one_key_never_ends() {
    let table = table(4, CONSTANT);
    let busy = || {
        table.insert(1, 2).expect("free");
        table.remove(&1);
    };
    let look = || {
        let seen: Vec<_> = table.iter().collect();
        assert!(seen.is_empty() || seen == [(2, 1)], "{seen:?}");
    };
    let torn = || table.stats().retried + table.stats().fallbacks > 0;
    beside("endless iteration", busy, look, torn);
}
