//! Faults in growing and shrinking that other maps had, each as a test that is named by the fault.
#![cfg(not(all(loom, feature = "loom")))]

mod common;

use common::{IDENTITY, Masked, StopAll, validate, watched};
use flatmap::FlatMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

fn table(slots: u32, partitions: u32, max_buckets: u32) -> FlatMap<u64, Masked> {
    let builder = FlatMap::builder().slots(slots).partitions(partitions).buckets(partitions);
    let table = builder.max_buckets(max_buckets).hasher(IDENTITY).build().expect("valid");
    (0..slots).for_each(|slot| table.insert(u64::from(slot), slot).expect("free"));
    table
}

/// Readers look all keys up while `resize` runs.
fn under_lookups(table: &FlatMap<u64, Masked>, resize: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    watched("growth", || {
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let _stop = StopAll(&stop);
                    while !stop.load(Ordering::Relaxed) {
                        for slot in 0..table.slots() {
                            assert_eq!(table.get(&u64::from(slot)), Some(slot));
                            assert_eq!(table.get(&u64::from(slot + 1000)), None);
                        }
                    }
                });
            }
            resize();
            stop.store(true, Ordering::Relaxed);
        });
    });
    validate(table);
}

#[test]
fn a_reader_never_pairs_a_new_mask_with_an_old_array() {
    let table = table(3, 1, 64);
    under_lookups(&table, || {
        for _ in 0..2_000 {
            for buckets in [1, 2, 64, 32, 1, 33] {
                table.set_buckets(buckets).expect("within bounds");
            }
        }
    });
}

#[test]
fn two_resizes_within_one_lookup_do_not_look_like_none() {
    let table = table(8, 4, 8);
    under_lookups(&table, || {
        for _ in 0..50_000 {
            table.set_buckets(5).expect("within bounds");
            table.set_buckets(4).expect("within bounds");
        }
    });
    let stats = table.stats();
    assert_eq!((stats.splits, stats.merges), (50_000, 50_000));
}

#[test]
fn a_resizer_that_lost_does_not_grow_a_table_it_saw_before() {
    let table = table(100, 2, 1 << 12);
    for round in 1..100_u64 {
        watched("resizers", || {
            thread::scope(|s| {
                for _ in 0..3 {
                    s.spawn(|| table.set_buckets(1 << 10).expect("within bounds"));
                }
            });
        });
        let stats = table.stats();
        assert_eq!((stats.splits, stats.merges), (round * 1022, (round - 1) * 1022), "each split once");
        table.set_buckets(2).expect("within bounds");
        validate(&table);
    }
}

#[test]
fn no_split_runs_before_that_of_its_parent() {
    // Every thread pushes the frontier through several doublings; a key far up moves at each.
    let table = table(64, 1, 1 << 10);
    under_lookups(&table, || {
        for _ in 0..20 {
            thread::scope(|s| {
                for buckets in [1 << 10, 1 << 9, 1 << 10] {
                    let table = &table;
                    s.spawn(move || table.set_buckets(buckets).expect("within bounds"));
                }
            });
            table.set_buckets(1).expect("within bounds");
        }
    });
}

/// Counts how often it hashes.
struct Counting<'a>(&'a AtomicU32);

struct Word<'a>(&'a AtomicU32, u64);

impl Hasher for Word<'_> {
    fn finish(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed);
        self.1.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are words")
    }

    fn write_u64(&mut self, word: u64) {
        self.1 = word;
    }
}

impl<'a> BuildHasher for Counting<'a> {
    type Hasher = Word<'a>;

    fn build_hasher(&self) -> Word<'a> {
        Word(self.0, 0)
    }
}

#[test]
fn filling_a_table_from_its_smallest_size_hashes_each_key_a_few_times_only() {
    const KEYS: u32 = 50_000;
    let hashes = AtomicU32::new(0);
    let builder = FlatMap::<u64>::builder().slots(1).max_slots(KEYS).partitions(1);
    let table = builder.hasher(Counting(&hashes)).build().expect("valid");
    for slot in 0..KEYS {
        table.set_slots(slot + 1).expect("up to the most");
        table.insert(u64::from(slot), slot).expect("free");
    }
    assert!(table.buckets() > KEYS, "it grows while it is filled, or else nobody would notice");
    let hashes = hashes.into_inner();
    assert!(hashes < 4 * KEYS, "{hashes} hashes of {KEYS} keys");
}

#[test]
fn shrinking_stops_at_the_floor() {
    let table = table(1000, 8, 4000);
    under_lookups(&table, || {
        table.set_buckets(4000).expect("within bounds");
        assert!(table.set_buckets(7).is_err());
        assert_eq!(table.buckets(), 4000, "what is refused changes nothing");
        table.set_buckets(8).expect("one for each partition");
    });
    (0..1000).for_each(|slot| assert_eq!(table.remove(&u64::from(slot)), Some(slot)));
    table.set_slots(1).expect("all are free");
    assert!(table.is_empty());
    validate(&table);
}

#[test]
fn iteration_beside_resizing_meets_each_key_once() {
    let table = table(50, 1, 128);
    let stop = AtomicBool::new(false);
    watched("iteration", || {
        thread::scope(|s| {
            s.spawn(|| {
                let _stop = StopAll(&stop);
                for _ in 0..300 {
                    let keys: Vec<u64> = table.iter().map(|(_, key)| key).collect();
                    assert_eq!(keys, (0..50).collect::<Vec<_>>());
                }
            });
            while !stop.load(Ordering::Relaxed) {
                table.set_buckets(128).expect("within bounds");
                table.set_buckets(1).expect("within bounds");
            }
        });
    });
}

/// The address space of the largest table is 40 GiB. Walking over it would take seconds; this must not.
#[cfg(target_pointer_width = "64")]
#[test]
fn what_is_reserved_and_not_used_costs_nothing_in_resizing_or_dropping() {
    const MOST: u32 = (1 << 30) - 2;
    let builder = FlatMap::<u64>::builder().slots(10).max_slots(MOST).partitions(1).buckets(20);
    let Ok(table) = builder.build() else { return }; // a system that never overcommits
    watched("the largest", || {
        let start = Instant::now();
        for _ in 0..100 {
            table.set_slots(MOST).expect("up to the most");
            table.insert(1, 1000).expect("free");
            table.remove(&1).expect("mapped");
            table.set_slots(10).expect("all are free");
        }
        drop(table);
        eprintln!("{:?}", start.elapsed());
    });
}
