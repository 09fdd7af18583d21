//! `SeqLock`: readers see values whole and in order, torn ones wait for the publication, and no write is lost.

use crate::{Seen, Task, explore, pause, together};
use std::sync::Arc;
use sync::SeqLock;

/// Four words that are equal in every published value.
type Value = [u64; 4];
type Lock = Arc<SeqLock<Value>>;

fn whole(value: Value) -> u64 {
    assert!(value.iter().all(|word| *word == value[0]), "torn: {value:?}");
    value[0]
}

/// Adds 1 to each word, `times` times, each published as its guard goes.
fn writer(lock: &Lock, times: u32) -> Task {
    let lock = lock.clone();
    Box::new(move || {
        for _ in 0..times {
            let mut guard = lock.write();
            guard.iter_mut().for_each(|word| *word += 1);
        }
    })
}

/// Reads so often; what it sees never goes back.
fn reader(lock: &Lock, seen: &Seen, times: u32) -> Task {
    let (lock, seen) = (lock.clone(), seen.clone());
    Box::new(move || {
        let mut last = 0;
        for _ in 0..times {
            let now = match lock.try_read() {
                Some(value) => whole(value),
                None => {
                    seen.note("torn");
                    whole(lock.read())
                }
            };
            assert!(now >= last, "{now} after {last}");
            if now > last {
                seen.note("saw a new value");
            }
            last = now;
        }
    })
}

#[test]
fn readers_among_writers_see_whole_values_in_order() {
    let seen = explore(24_000, |seen| {
        let lock: Lock = Arc::default();
        together([
            writer(&lock, 2),
            writer(&lock, 2),
            reader(&lock, seen, 4),
            reader(&lock, seen, 4),
            reader(&lock, seen, 4),
        ]);
        assert_eq!(whole(lock.read()), 4, "a write was lost");
    });
    seen.must_have(&["torn", "saw a new value"]);
}

#[test]
fn a_reader_that_is_torn_again_and_again_waits_for_one_publication_and_reads_it_whole() {
    let seen = explore(24_000, |seen| {
        let lock: Lock = Arc::default();
        let publishes: Task = {
            let lock = lock.clone();
            Box::new(move || {
                let mut guard = lock.write();
                for _ in 0..6 {
                    guard.iter_mut().for_each(|word| *word += 1);
                    guard.publish();
                }
            })
        };
        let reads = || -> Task {
            let (lock, seen) = (lock.clone(), seen.clone());
            Box::new(move || {
                for _ in 0..2 {
                    // The model's patience: two torn reads, then it waits; the lock's own two more.
                    if lock.try_read().is_none() && lock.try_read().is_none() {
                        seen.note("torn twice");
                    }
                    whole(lock.read());
                }
            })
        };
        together([publishes, reads(), reads(), reads()]);
        assert_eq!(whole(lock.read()), 6);
    });
    seen.must_have(&["torn twice"]);
}

#[test]
fn nobody_sees_a_copy_before_it_is_published() {
    explore(18_000, |seen| {
        let lock: Lock = Arc::default();
        let edits: Task = {
            let lock = lock.clone();
            Box::new(move || {
                for _ in 0..2 {
                    let mut guard = lock.write();
                    guard[0] += 1;
                    pause();
                    guard[1] += 1;
                    pause();
                    guard[2] += 1;
                    guard[3] += 1;
                }
            })
        };
        let tries: Task = {
            let lock = lock.clone();
            Box::new(move || {
                for _ in 0..2 {
                    if let Some(mut guard) = lock.try_write() {
                        whole(*guard);
                        guard.iter_mut().for_each(|word| *word += 10);
                    }
                }
            })
        };
        together([edits, tries, reader(&lock, seen, 4), reader(&lock, seen, 4)]);
        assert_eq!(whole(lock.read()) % 10, 2, "a write was lost");
    });
}
