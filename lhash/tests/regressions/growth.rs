//! While a table grows or shrinks.

use crate::common::{
    Counted, Hooked, IDENTITY, Masked, Rng, Tally, at_next_comparison, beside, check_geometry, each_once,
    together, until, validate, watched,
};
use lhash::{CountPolicy, LHashMap, Operation, ShrinkPolicy};
use std::collections::BTreeMap;
use std::sync::Arc;

type Map = LHashMap<u64, u64, Masked>;

/// A table of few entries that splits and merges at every other operation.
fn tiny() -> Map {
    let builder = LHashMap::builder().fill_factor(1).shrink(ShrinkPolicy::Below { percent: 90 });
    builder.hasher(IDENTITY).build().expect("valid")
}

#[test]
fn a_lookup_goes_by_the_mask_of_one_geometry_and_the_buckets_of_another() {
    let map = tiny();
    map.pin().extend((0..4).map(|key| (key, !key)));
    let resize = || {
        let pin = map.pin();
        (4..12).for_each(|key| _ = pin.insert(key, !key));
        (4..12).for_each(|key| _ = pin.remove(&key));
    };
    watched("mask and buckets", || {
        beside(resize, || {
            until(
                || map.stats().merges > 5_000,
                || {
                    let pin = map.pin();
                    for key in 0..4 {
                        assert_eq!(pin.get(&key), Some(&!key), "a key that was there throughout");
                        assert_eq!(pin.get(&(key + (1 << 20))), None, "a key that never was");
                    }
                },
            );
        });
    });
    validate(&map);
}

#[test]
fn a_lookup_runs_past_the_buckets_that_a_shrink_gave_back() {
    let map = Map::with_hasher(IDENTITY);
    map.pin().extend((0..20).map(|key| (key << 7, key)));
    let resize = || {
        map.reserve(2000);
        map.pin().shrink_to_fit();
    };
    watched("buckets given back", || {
        beside(resize, || {
            until(
                || map.stats().merges > 20_000,
                || {
                    let pin = map.pin();
                    for key in 0..20 {
                        assert_eq!(pin.get(&(key << 7)), Some(&key));
                    }
                    assert_eq!(pin.iter().count(), 20);
                },
            );
        });
    });
    validate(&map);
}

/// All entries that leave a bucket, thousands of them, are on their way at the same time.
#[test]
fn a_lookup_misses_an_entry_that_is_on_its_way_to_another_bucket() {
    const MOVED: u64 = 1_000;
    let map = LHashMap::builder().fill_factor(1000).shrink(ShrinkPolicy::Never).hasher(IDENTITY);
    let map = map.build().expect("valid");
    // Of fewer than 65 buckets they are all in bucket 0, of up to 128 half of them are in bucket 64.
    map.pin().extend((0..2 * MOVED).map(|i| (i * 64, i)));
    let resize = || {
        map.reserve(66_000);
        map.pin().shrink_to_fit();
    };
    let mut rng = Rng::for_test("on its way");
    watched("on its way", || {
        beside(resize, || {
            until(
                || map.stats().merges > 20_000,
                || {
                    let pin = map.pin();
                    for i in (0..50).map(|_| u64::from(rng.below(2 * MOVED as u32))) {
                        assert_eq!(pin.get(&(i * 64)), Some(&i));
                    }
                },
            );
        });
    });
    validate(&map);
}

#[test]
fn two_resizes_within_one_insert_look_like_none() {
    let mut rng = Rng::for_test("two resizes");
    watched("two resizes", || {
        for _ in 0..100 {
            let map = tiny();
            together(8, &mut rng, |thread, _| {
                let pin = map.pin();
                for key in (0..40).map(|i| i * 8 + thread as u64) {
                    assert_eq!(pin.insert(key, key), None);
                    if key % 3 == 0 {
                        assert_eq!(pin.remove(&key), Some(&key));
                    }
                }
            });
            let there = (0..320).filter(|key| map.get_cloned(key) == Some(*key)).count();
            assert_eq!((there, map.len()), (213, 213));
            validate(&map);
        }
    });
}

type HookedMap = LHashMap<Hooked, u64, Masked>;

/// Keys 2k and 2k + 1 have the same hash, so that an operation on one of them looks at the other one too.
fn hooked() -> HookedMap {
    let map = LHashMap::builder().fill_factor(2).hasher(Masked(!1)).build().expect("valid");
    map.pin().extend((0..40).map(|key| (Hooked(2 * key), key)));
    map.pin().extend((0..40).step_by(2).map(|key| (Hooked(2 * key + 1), key)));
    map
}

/// What operations say, of a key that is there and of one of the same hash that may not be.
const OPERATIONS: [fn(&HookedMap, Hooked) -> String; 8] = [
    |map, key| format!("{:?}", map.pin().get(&key)),
    |map, key| format!("{:?}", map.pin().insert(key, 1000)),
    |map, key| format!("{:?}", map.pin().try_insert(key, 1000)),
    |map, key| format!("{:?}", map.pin().get_or_insert(key, 1000)),
    |map, key| format!("{:?}", map.pin().update(key, |value| value + 1)),
    |map, key| format!("{:?}", map.pin().remove(&key)),
    |map, key| format!("{:?}", map.pin().compute(key, |_| Operation::Insert(1000))),
    |map, key| format!("{:?}", map.pin().compute(key, |_| Operation::Remove)),
];

fn contents(map: &HookedMap) -> BTreeMap<u64, u64> {
    map.pin().iter().map(|(key, &value)| (key.0, value)).collect()
}

#[test]
fn two_resizes_between_a_look_at_a_bucket_and_its_lock_look_like_none() {
    const RESIZES: [fn(&HookedMap); 3] = [
        |map| {
            map.reserve(100);
            map.reserve(200);
        },
        |map| {
            map.reserve(200);
            map.pin().shrink_to_fit();
        },
        |map| {
            map.pin().shrink_to_fit();
            map.reserve(60);
        },
    ];
    for (operation, resize) in OPERATIONS.iter().flat_map(|op| RESIZES.map(|resize| (op, resize))) {
        for key in (0..16).chain(50..74).map(Hooked) {
            let (map, plain) = (Arc::new(hooked()), hooked());
            let there = Arc::clone(&map);
            at_next_comparison(move || resize(&there));
            let before = map.stats();
            assert_eq!(operation(&map, key), operation(&plain, key), "{key:?}");
            assert!(map.stats().splits + map.stats().merges > before.splits + 1, "nothing was resized");
            assert_eq!(contents(&map), contents(&plain), "{key:?}");
            validate(&map);
        }
    }
}

#[test]
fn a_grow_works_on_a_geometry_that_another_one_has_left() {
    let mut rng = Rng::for_test("stale geometry");
    let map = Map::with_hasher(IDENTITY);
    map.pin().extend((0..100).map(|key| (key, key)));
    watched("stale geometry", || {
        together(4, &mut rng, |_, rng| {
            for _ in 0..200 {
                match rng.below(2) {
                    0 => map.reserve(rng.below(1000) as usize),
                    _ => map.pin().shrink_to_fit(),
                }
            }
        });
    });
    let stats = map.stats();
    let buckets = 20 + stats.splits.wrapping_sub(stats.merges);
    assert!((0..100).all(|key| map.get_cloned(&key) == Some(key)));
    // `extend` made room for 100 entries: 16 splits of 4 buckets.
    assert_eq!(buckets - 16, u64::from(stats.max_bucket) + 1, "{stats:?}");
    validate(&map);
}

/// Splits of a bucket's descendants follow each other closely: n, 2n, 4n, 8n.
#[test]
fn a_split_overtakes_that_of_its_parent_and_finds_nothing_to_move() {
    let mut rng = Rng::for_test("overtaken split");
    watched("overtaken split", || {
        for _ in 0..20 {
            let map = tiny();
            // All stable keys begin in bucket 0 and leave it, one at each level.
            map.pin().extend((0..8).map(|level| (1 << (2 + level), level)));
            together(6, &mut rng, |thread, _| {
                let pin = map.pin();
                for key in (0..300).map(|i| (1 << 20) + i * 8 + thread as u64) {
                    pin.insert(key, key);
                    let level = key % 8;
                    assert_eq!(pin.get(&(1 << (2 + level))), Some(&level));
                }
            });
            // Does the splits that were given up, where a thread was interrupted while it held a bucket.
            assert_eq!(map.exact_len(), 8 + 6 * 300);
            assert!(map.stats().max_bucket > 1 << 9, "eight generations");
            validate(&map);
        }
    });
}

#[test]
fn a_map_dropped_in_the_middle_of_growth_forgets_its_last_buckets() {
    let mut rng = Rng::for_test("dropped while it grows");
    let tally = Tally::new();
    watched("dropped while it grows", || {
        for _ in 0..50 {
            let map = LHashMap::new();
            together(4, &mut rng, |thread, rng| {
                let pin = map.pin();
                for i in 0..50 + u64::from(rng.below(100)) {
                    pin.insert(Counted::new(i * 4 + thread as u64, tally), Counted::new(i, tally));
                }
            });
            assert!(map.stats().splits > 0);
            drop(map);
            tally.settle(0);
        }
    });
}

/// The buckets that wait for their split are twice as full as the others, and no fuller.
#[test]
fn the_part_that_is_not_split_yet_is_ever_fuller() {
    let map = LHashMap::with_hasher(foldhash::fast::FixedState::with_seed(7));
    let pin = map.pin();
    for key in 0..60_000_u64 {
        pin.insert(key, ());
        if key % 64 == 63 {
            let stats = map.stats();
            assert_eq!(u64::from(stats.max_bucket) + 1, (key + 1).div_ceil(5).max(4));
            assert!(stats.overflow_pages <= 16 + stats.primary_pages / 2, "{stats:?}");
        }
    }
}

#[test]
fn an_eager_shrink_leaves_a_lookup_with_a_bucket_out_of_range() {
    const KEYS: u64 = 3000;
    let map: LHashMap<u64, u64> = LHashMap::with_capacity(500);
    let mut rng = Rng::for_test("eager shrink");
    watched("eager shrink", || {
        for _ in 0..5 {
            map.pin().extend((0..KEYS).map(|key| (key, key)));
            together(3, &mut rng, |thread, rng| {
                let pin = map.pin();
                for i in 0..KEYS {
                    match thread {
                        0 => assert_eq!(pin.remove(&i), Some(&i)),
                        1 => assert!(pin.get(&(KEYS - 1 - i)).is_none_or(|&value| value == KEYS - 1 - i)),
                        _ => {
                            let key = KEYS + u64::from(rng.below(50));
                            pin.insert(key, key);
                            pin.remove(&key);
                        }
                    }
                }
            });
            assert_eq!(map.stats().max_bucket, 99, "the capacity it was made with");
            validate(&map);
        }
    });
    assert!(map.stats().merges > 2000);
}

#[test]
fn a_map_never_splits_and_nobody_notices() {
    let mut rng = Rng::for_test("no split");
    for policy in [CountPolicy::OverflowSignal].into_iter().chain(crate::common::POLICIES) {
        let map = LHashMap::builder().count_policy(policy).build().expect("valid");
        together(8, &mut rng, |thread, _| {
            let pin = map.pin();
            (0..4000_u64).for_each(|i| _ = pin.insert(i * 8 + thread as u64, i));
        });
        assert_eq!(each_once(&map), 32_000);
        let stats = map.stats();
        assert!(stats.splits > 32_000 / 14, "{policy:?} {stats:?}");
        assert!(stats.overflow_pages < 2 * stats.primary_pages, "{policy:?} {stats:?}");
        check_geometry(&stats);
    }
}
