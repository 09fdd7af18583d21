//! Threads without a checker of histories, but with things that must hold at every moment, and values that count
//! their drops. Waves of growth and shrinkage go over the tables, until the threads have met what the test is for.
//! `LHASH_SEED` repeats the threads' plans; `LHASH_LONG` makes the tests long.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

mod common;

use common::{
    Counted, IDENTITY, Masked, POLICIES, Rng, Tally, check_geometry, is_long, together, until, validate,
    watched,
};
use lhash::{CountPolicy, LHashMap, LHashMultiMap, Operation};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::thread;

type Map = LHashMap<Counted, Counted, Masked>;

/// What the threads have met.
#[derive(Debug, Default)]
struct Met {
    /// Changes that had to be tried again, because another thread had changed the bucket.
    retried: AtomicU64,
    /// Looks at a table with overflow pages.
    overflow: AtomicU64,
    /// Inserts less removes.
    there: AtomicI64,
}

impl Met {
    fn there(&self, by: i64) {
        self.there.fetch_add(by, Ordering::Relaxed);
    }
}

struct Wave<'a> {
    map: &'a Map,
    met: &'a Met,
    tally: &'static Tally,
    keys: u32,
    /// Of 16 changes, so many insert.
    inserts: u32,
}

impl Wave<'_> {
    fn value(&self, number: u64) -> Counted {
        Counted::new(number, self.tally)
    }

    /// A value's number is its key's, modulo the number of keys.
    fn step(&self, rng: &mut Rng) {
        let pin = self.map.pin();
        let number = u64::from(rng.below(self.keys));
        let key = self.value(number);
        let tries = AtomicU64::new(0);
        let next = |old: &Counted| {
            tries.fetch_add(1, Ordering::Relaxed);
            assert_eq!(old.read() % u64::from(self.keys), number);
            self.value(old.read() + u64::from(self.keys))
        };
        if rng.below(16) < self.inserts {
            match rng.below(3) {
                0 => self.met.there(i64::from(pin.insert(key, self.value(number)).is_none())),
                1 => self.met.there(i64::from(pin.try_insert(key, self.value(number)).is_ok())),
                _ => _ = pin.get(&key).map(|value| assert_eq!(value.read() % u64::from(self.keys), number)),
            }
            return;
        }
        match rng.below(5) {
            0 | 1 => self.met.there(-i64::from(pin.remove(&key).is_some())),
            2 => self.met.there(-i64::from(pin.remove_if(&key, |key, _| key.read() == number).is_some())),
            3 => _ = pin.update(key, next),
            _ => {
                let done =
                    pin.compute(key, |old| old.map_or(Operation::Keep, |old| Operation::Insert(next(old))));
                assert!(!matches!(done, lhash::Computed::Inserted(_) | lhash::Computed::Removed(_)));
            }
        }
        self.met.retried.fetch_add(tries.into_inner().saturating_sub(1), Ordering::Relaxed);
    }

    /// Something that goes over the whole map.
    fn sweep(&self, rng: &mut Rng) {
        let pin = self.map.pin();
        match rng.below(4) {
            0 => {
                let mut numbers: Vec<u64> = pin.keys().map(Counted::read).collect();
                let met = numbers.len();
                numbers.sort_unstable();
                numbers.dedup();
                assert_eq!(numbers.len(), met, "a key was met twice");
            }
            // Keeps all: what it is for is the walk.
            1 => pin.retain(|key, value| value.read() % u64::from(self.keys) == key.read()),
            2 => self.map.reserve(rng.below(100) as usize),
            _ => self.map.pin().shrink_to_fit(),
        }
        self.met.overflow.fetch_add(u64::from(self.map.stats().overflow_pages > 0), Ordering::Relaxed);
    }
}

fn waves(threads: usize, policy: CountPolicy, hasher: Masked, rng: &mut Rng) {
    let (tally, met) = (Tally::new(), Met::default());
    let map: Map = LHashMap::builder().count_policy(policy).hasher(hasher).build().expect("valid");
    let rounds = if is_long() { 100 } else { 3 };
    for wave in 0..2 * rounds {
        let wave = Wave { map: &map, met: &met, tally, keys: 600, inserts: [14, 3][wave % 2] };
        together(threads, rng, |_, rng| {
            for step in 0..6_000 / threads {
                wave.step(rng);
                if step % 200 == 199 {
                    wave.sweep(rng);
                }
            }
        });
        validate(&map);
        assert_eq!(met.there.load(Ordering::Relaxed), map.len() as i64);
    }
    let stats = map.stats();
    assert!(stats.splits > 50 && stats.merges > 50, "{stats:?}");
    // A few keys that all threads update, until they have met.
    let wave = Wave { map: &map, met: &met, tally, keys: 2, inserts: 4 };
    until(
        || met.retried.load(Ordering::Relaxed) > 0 && met.overflow.load(Ordering::Relaxed) > 0,
        || {
            map.pin().clear();
            together(threads, rng, |_, rng| (0..500).for_each(|_| wave.step(rng)));
        },
    );
    validate(&map);
    drop(map);
    tally.settle(0);
}

#[test]
fn two_four_and_eight_threads_find_a_map_whole_after_every_wave() {
    let mut rng = Rng::for_test("waves");
    watched("waves", || {
        for (threads, policy) in [2, 4, 8].into_iter().zip(POLICIES.into_iter().cycle()) {
            waves(threads, policy, IDENTITY, &mut rng);
            waves(threads, POLICIES[threads % 3], Masked(63), &mut rng);
        }
        waves(3, CountPolicy::Sharded, IDENTITY, &mut rng);
    });
}

/// What the counters say of contention. Without the feature nobody counts.
#[cfg(feature = "stats")]
#[test]
fn threads_that_meet_at_the_metapage_leave_their_counts_pending_and_none_is_lost() {
    let mut rng = Rng::for_test("pending");
    let map = LHashMap::with_hasher(IDENTITY);
    watched("pending", || {
        until(
            || map.stats().deferred > 0,
            || {
                together(4, &mut rng, |thread, _| {
                    let pin = map.pin();
                    (0..2_000).for_each(|key| _ = pin.insert(key * 4 + thread as u64, 0_u64));
                    (0..2_000).for_each(|key| _ = pin.remove(&(key * 4 + thread as u64)));
                });
                validate(&map);
            },
        );
    });
    assert!(map.stats().counted > 0);
}

/// Clear beside everything else: nothing stays that nobody finds.
#[test]
fn what_is_cleared_is_dropped_once_while_others_insert() {
    let mut rng = Rng::for_test("cleared");
    let tally = Tally::new();
    let map: Map = LHashMap::with_hasher(Masked(31));
    watched("cleared", || {
        until(
            || map.stats().merges > 500,
            || {
                together(4, &mut rng, |thread, rng| {
                    for i in 0..300_u64 {
                        let pin = map.pin();
                        let value = |number| Counted::new(number, tally);
                        match thread {
                            0 if i % 30 == 0 => pin.clear(),
                            1 if i % 30 == 0 => pin.retain(|key, _| key.read() % 2 == 0),
                            _ => _ = pin.insert(value(rng.below(300).into()), value(i)),
                        }
                    }
                });
                validate(&map);
                assert!(map.stats().overflow_pages <= 300);
                map.pin().clear();
                assert_eq!((map.len(), map.stats().overflow_pages), (0, 0));
            },
        );
    });
    drop(map);
    tally.settle(0);
}

#[test]
fn a_multimap_is_whole_after_all_threads_have_churned_it() {
    let mut rng = Rng::for_test("multimap");
    for (policy, hasher) in POLICIES.into_iter().zip([IDENTITY, Masked(3), Masked(0), Masked(!7)]) {
        let (tally, there) = (Tally::new(), AtomicI64::new(0));
        let map: LHashMultiMap<u64, Counted, Masked> = LHashMultiMap::builder()
            .fill_factor(2)
            .count_policy(policy)
            .hasher(hasher)
            .build()
            .expect("valid");
        watched("multimap", || {
            together(4, &mut rng, |thread, rng| {
                for step in 0..1_200 {
                    let pin = map.pin();
                    let key = u64::from(rng.below(40));
                    let number = key + 40 * u64::from(rng.below(4));
                    let by = match rng.below(12) {
                        _ if step % 200 == 50 * thread => {
                            let vacuumed = pin.vacuum(|key, value| {
                                assert_eq!(value.read() % 40, *key);
                                value.read() / 40 == 3
                            });
                            -(vacuumed.removed as i64)
                        }
                        0 => -(pin.remove_all(&key) as i64),
                        1..4 => -i64::from(pin.remove_one(&key, &Counted::new(number, tally)).is_some()),
                        4 => {
                            assert!(pin.get_all(&key).all(|value| value.read() % 40 == key));
                            0
                        }
                        _ => {
                            pin.insert(key, Counted::new(number, tally));
                            1
                        }
                    };
                    there.fetch_add(by, Ordering::Relaxed);
                }
            });
        });
        let (pin, stats) = (map.pin(), map.stats());
        assert_eq!((pin.iter().count(), map.exact_len()), (map.len(), map.len()));
        assert_eq!(map.len() as i64, there.into_inner());
        assert_eq!((0..40).map(|key| pin.count(&key)).sum::<usize>(), map.len());
        assert!(stats.splits > 0, "{stats:?}");
        check_geometry(&stats);
        drop(pin);
        drop(map);
        tally.settle(0);
    }
}

#[test]
fn ten_thousand_short_lived_threads_leave_nothing_behind() {
    const BATCHES: u64 = 200;
    const THREADS: u64 = 50;
    let tally = Tally::new();
    let map = LHashMap::<u64, Counted>::new();
    watched("short-lived", || {
        for batch in 0..BATCHES {
            thread::scope(|s| {
                for number in batch * THREADS..(batch + 1) * THREADS {
                    let map = &map;
                    s.spawn(move || {
                        let pin = map.pin();
                        assert!(pin.insert(number, Counted::new(number, tally)).is_none());
                        // That of a thread which is no more.
                        let before = number.checked_sub(2 * THREADS).and_then(|number| pin.remove(&number));
                        assert!(before.is_some() || number < 2 * THREADS);
                    });
                }
            });
        }
    });
    validate(&map);
    assert_eq!(map.len() as u64, 2 * THREADS);
    // What the others have retired is not lost with them.
    until(|| tally.live() == 2 * THREADS, || map.pin().shrink_to_fit());
    assert!(map.stats().memory_bytes < 1 << 20, "{:?}", map.stats());
    drop(map);
    tally.settle(0);
}

/// One live key, inserted and removed a million times by two threads. That memory stays constant to the byte with one
/// thread: `memory.rs`.
#[test]
fn one_live_key_takes_ever_more_memory() {
    let rounds = if is_long() { 100_000_000 } else { 1_000_000 };
    let map = LHashMap::with_hasher(IDENTITY);
    let (done, most) = (AtomicU64::new(0), AtomicU64::new(0));
    watched("one key", || {
        let mut rng = Rng::for_test("one key");
        while done.load(Ordering::Relaxed) < rounds {
            together(2, &mut rng, |_, _| {
                for _ in 0..50_000_u64 {
                    let pin = map.pin();
                    pin.insert(7_u64, [1_u64; 3]);
                    pin.remove(&7);
                }
            });
            done.fetch_add(100_000, Ordering::Relaxed);
            most.fetch_max(map.stats().memory_bytes as u64, Ordering::Relaxed);
        }
    });
    // A thread that sleeps with its pin holds up what the others have removed meanwhile: some ten thousand entries.
    let most = most.into_inner();
    assert!(most < 8 << 20, "{most} bytes for one key");
    assert_eq!((map.len(), map.stats().overflow_pages, map.stats().max_bucket), (0, 0, 3));
    validate(&map);
}
