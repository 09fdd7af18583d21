//! Random schedules of programs that are too long for loom: several splits and merges in a row.
//!
//! Run with `cargo xtask shuttle -p lhash [FILTER]`; how a failure is repeated says `sync/tests/shuttle/main.rs`. Shuttle's
//! memory is sequentially consistent: about orderings these models say nothing, loom's do.
#![cfg(all(shuttle, feature = "shuttle"))]

mod explore;

use core::hash::{BuildHasherDefault, Hasher};
use explore::{Seen, Task, explore, together};
use lhash::{CountPolicy, LHashMap, LHashMultiMap, ShrinkPolicy};
use std::sync::Arc;

/// Hashes a `u32` to itself.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys of these models write one u32")
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = u64::from(value);
    }
}

type BuildIdentity = BuildHasherDefault<Identity>;
type Pairs = LHashMap<u32, u32, BuildIdentity, 2>;

/// Four buckets, each for one entry before a split, two to a page.
fn map(policy: CountPolicy, keys: &[u32]) -> Arc<Pairs> {
    let builder = LHashMap::builder().hasher(BuildIdentity::default()).page_slots::<2>().fill_factor(1);
    let builder = builder.count_policy(policy).shrink(ShrinkPolicy::Below { percent: 90 });
    let map = builder.build().expect("a small map");
    for &key in keys {
        assert_eq!(map.pin().insert(key, key), None);
    }
    Arc::new(map)
}

fn task(map: &Arc<Pairs>, f: impl FnOnce(&Pairs) + Send + 'static) -> Task {
    let map = Arc::clone(map);
    Box::new(move || f(&map))
}

fn insert_all(map: &Pairs, keys: impl IntoIterator<Item = u32>) {
    for key in keys {
        assert_eq!(map.pin().insert(key, key), None, "{key} is new");
    }
}

fn remove_all(map: &Pairs, keys: impl IntoIterator<Item = u32>) {
    for key in keys {
        assert_eq!(map.pin().remove(&key), Some(&key), "{key} is there");
    }
}

/// Whatever the policy, afterwards the map is what it must be.
fn check(map: &Pairs, seen: &Seen, keys: &[u32]) {
    assert_eq!(map.exact_len(), keys.len());
    let mut all: Vec<u32> = map.pin().keys().copied().collect();
    all.sort_unstable();
    assert_eq!(all, keys);
    assert!(keys.iter().all(|key| map.pin().get(key) == Some(key)));
    let stats = map.stats();
    seen.note(if stats.splits > 1 { "splits" } else { "no splits" });
    seen.note(if stats.merges > 0 { "merges" } else { "no merges" });
    seen.note(if stats.split_declined > 0 { "declined" } else { "not declined" });
}

#[test]
fn lookups_against_two_splitters_miss_nothing() {
    let seen = explore(4000, |seen| {
        let map = map(CountPolicy::Deferred { cap: 2 }, &[0, 4, 8, 12]);
        let reader = |key: u32| {
            task(&map, move |map| (0..3).for_each(|_| assert_eq!(map.get_cloned(&key), Some(key))))
        };
        let splitters = [
            task(&map, |map| insert_all(map, [1, 2, 3, 16])),
            task(&map, |map| insert_all(map, [5, 6, 7, 20])),
        ];
        together(splitters.into_iter().chain([reader(4), reader(12)]));
        check(&map, seen, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20]);
    });
    seen.must_have(&["splits", "declined"]);
}

#[test]
fn lookups_and_iteration_against_splits_and_merges_miss_nothing_and_meet_nothing_twice() {
    let seen = explore(3000, |seen| {
        let map = map(CountPolicy::Exact, &[0, 4, 12]);
        let wave = |keys: [u32; 3]| {
            task(&map, move |map| {
                insert_all(map, keys);
                remove_all(map, keys);
            })
        };
        let reader = task(&map, |map| {
            for key in [12, 4, 0, 4, 12] {
                assert_eq!(map.get_cloned(&key), Some(key), "the key was there all the time");
            }
        });
        let iterator = task(&map, |map| {
            let mut keys: Vec<u32> = map.pin().keys().copied().collect();
            keys.sort_unstable();
            let met = keys.len();
            keys.dedup();
            assert_eq!(keys.len(), met, "none twice");
            assert!([0, 4, 12].iter().all(|key| keys.contains(key)), "{keys:?}");
        });
        together([wave([1, 8, 5]), wave([16, 2, 20]), reader, iterator]);
        check(&map, seen, &[0, 4, 12]);
    });
    seen.must_have(&["splits", "merges"]);
}

#[test]
fn writers_of_the_same_keys_agree_on_who_was_first() {
    for policy in [CountPolicy::Deferred { cap: 1 }, CountPolicy::Quiet { cap: 2 }, CountPolicy::Sharded] {
        let seen = explore(1500, move |seen| {
            let map = map(policy, &[0, 4]);
            let won = Arc::new(std::sync::atomic::AtomicU32::new(0));
            let racer = |mine: u32| {
                let won = Arc::clone(&won);
                task(&map, move |map| {
                    let pin = map.pin();
                    for key in [8, 12, 1, 5, 9] {
                        if pin.try_insert(key, mine).is_ok() {
                            won.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        }
                    }
                    for key in [8, 9] {
                        if pin.remove(&key).is_some() {
                            won.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
                        }
                    }
                })
            };
            together([racer(1), racer(2), racer(3)]);
            let won = won.load(std::sync::atomic::Ordering::Relaxed) as usize;
            assert_eq!((map.exact_len(), map.pin().iter().count()), (won + 2, won + 2));
            seen.note(format!("{won} stayed"));
        });
        seen.must_have(&["3 stayed"]);
    }
}

#[test]
fn every_update_counts_while_the_key_moves() {
    let seen = explore(3000, |seen| {
        let map = map(CountPolicy::Exact, &[0, 4, 1, 2]);
        let adder = || {
            task(&map, |map| {
                (0..3).for_each(|_| assert!(map.pin().update(4, |value| value + 1).is_some()));
            })
        };
        let mover = task(&map, |map| {
            insert_all(map, [3, 8, 12]);
            remove_all(map, [3, 8, 12, 1]);
        });
        together([adder(), adder(), mover]);
        assert_eq!(map.get_cloned(&4), Some(10));
        seen.note(if map.stats().splits > 0 { "splits" } else { "no splits" });
    });
    seen.must_have(&["splits"]);
}

#[test]
fn a_vacuum_beside_inserts_removes_what_was_dead_and_nothing_else() {
    let seen = explore(2000, |seen| {
        let builder =
            LHashMultiMap::builder().hasher(BuildIdentity::default()).page_slots::<2>().fill_factor(1);
        let index = Arc::new(builder.build().expect("a small multimap"));
        for value in 0..6_u32 {
            index.pin().insert(4_u32 * (value % 2), value);
        }
        let insert = |values: [u32; 3]| -> Task {
            let index = Arc::clone(&index);
            Box::new(move || values.into_iter().for_each(|value| index.pin().insert(4, value)))
        };
        let vacuum = {
            let (index, seen) = (Arc::clone(&index), seen.clone());
            move || {
                let vacuumed = index.pin().vacuum(|_, value| *value < 4);
                assert_eq!(vacuumed.removed, 4);
                seen.note(format!("{} live", vacuumed.live));
            }
        };
        together([insert([10, 11, 12]), insert([20, 21, 22]), Box::new(vacuum)]);
        let mut values: Vec<u32> = index.pin().iter().map(|(_, &value)| value).collect();
        values.sort_unstable();
        assert_eq!(values, [4, 5, 10, 11, 12, 20, 21, 22]);
        assert_eq!((index.exact_len(), index.pin().count(&4)), (8, 7));
    });
    seen.must_have(&["2 live", "5 live", "8 live"]);
}
