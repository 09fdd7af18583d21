//! Entries that are lost, doubled or mixed up.

use crate::common::{
    CONSTANT, Hooked, IDENTITY, Masked, Rng, at_next_comparison, beside, each_once, together, until,
    validate, watched,
};
use lhash::{Computed, LHashMap, LHashMultiMap, Operation, ShrinkPolicy};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

type Map = LHashMap<u64, u64, Masked>;

#[test]
fn two_entries_for_one_key_after_heavy_insert_and_delete() {
    let mut rng = Rng::for_test("two entries");
    for hasher in [CONSTANT, IDENTITY, Masked(3)] {
        let map = Map::with_hasher(hasher);
        watched("two entries", || {
            for _ in 0..100 {
                together(3, &mut rng, |_, rng| {
                    let pin = map.pin();
                    for _ in 0..100 {
                        let key = u64::from(rng.below(8));
                        match rng.below(5) {
                            0 | 1 => _ = pin.insert(key, key),
                            2 => _ = pin.try_insert(key, key),
                            _ => _ = pin.remove(&key),
                        }
                    }
                });
                assert!(map.len() <= 8);
                validate(&map);
            }
        });
    }
}

/// Of each key, as many were removed as were inserted, up to the one that is there.
#[test]
fn an_entry_is_removed_by_two_threads_or_inserted_by_two() {
    let mut rng = Rng::for_test("two winners");
    let map = LHashMap::builder().fill_factor(1).shrink(ShrinkPolicy::Below { percent: 90 });
    let map = map.hasher(Masked(15)).build().expect("valid");
    let there: [AtomicI64; 24] = Default::default();
    watched("two winners", || {
        for _ in 0..100 {
            together(4, &mut rng, |_, rng| {
                let pin = map.pin();
                for _ in 0..100 {
                    let key = rng.below(24) as usize;
                    let by = match rng.below(5) {
                        0 => i64::from(pin.insert(key, 0).is_none()),
                        1 => i64::from(pin.try_insert(key, 1).is_ok()),
                        2 => -i64::from(pin.remove(&key).is_some()),
                        3 => -i64::from(pin.remove_if(&key, |_, &value| value == 1).is_some()),
                        _ => match pin.compute(key, |old| match old {
                            None => Operation::Insert(2),
                            Some(_) => Operation::Remove,
                        }) {
                            Computed::Inserted(_) => 1,
                            Computed::Removed(_) => -1,
                            other => panic!("{other:?}"),
                        },
                    };
                    there[key].fetch_add(by, Ordering::Relaxed);
                }
            });
            for (key, there) in there.iter().enumerate() {
                assert_eq!(there.load(Ordering::Relaxed), i64::from(map.contains_key(&key)), "key {key}");
            }
            validate(&map);
        }
    });
    assert!(map.stats().splits > 100 && map.stats().merges > 100);
}

/// All threads go through the same keys, side by side.
#[test]
fn of_several_inserts_of_one_key_not_just_one_wins() {
    const KEYS: u64 = 3_000;
    let mut rng = Rng::for_test("one winner");
    watched("one winner", || {
        for _ in 0..4 {
            let (map, wins) = (Map::with_hasher(Masked(!1)), AtomicU64::new(0));
            together(3, &mut rng, |thread, _| {
                let pin = map.pin();
                for key in 0..KEYS {
                    let won = match key % 3 {
                        0 => pin.try_insert(key, thread as u64).is_ok(),
                        1 => pin.insert(key, thread as u64).is_none(),
                        _ => matches!(
                            pin.compute(key, |old| old.map_or(Operation::Insert(7), |_| Operation::Keep)),
                            Computed::Inserted(_)
                        ),
                    };
                    wins.fetch_add(won.into(), Ordering::Relaxed);
                }
            });
            assert_eq!((wins.into_inner(), map.len() as u64), (KEYS, KEYS));
            validate(&map);
        }
    });
}

type HookedMap = LHashMap<Hooked, u64, Masked>;
type Step = fn(&HookedMap, Hooked) -> String;

/// Keys 2k and 2k + 1 have the same hash. The even ones are there.
fn hooked() -> HookedMap {
    let map = LHashMap::builder().fill_factor(2).hasher(Masked(!1)).build().expect("valid");
    map.pin().extend((0..20).map(|key| (Hooked(2 * key), key)));
    map
}

/// What operations do and say, of a key that is there and of one that is not.
const STEPS: [Step; 12] = [
    |map, key| format!("{:?}", map.pin().get(&key)),
    |map, key| format!("{:?}", map.pin().insert(key, 1000)),
    |map, key| format!("{:?}", map.pin().insert(Hooked(key.0 ^ 1), 1000)),
    |map, key| format!("{:?}", map.pin().try_insert(key, 2000)),
    |map, key| format!("{:?}", map.pin().update(key, |value| value + 1)),
    |map, key| format!("{:?}", map.pin().remove(&key)),
    |map, key| format!("{:?}", map.pin().remove(&Hooked(key.0 ^ 1))),
    |map, key| format!("{:?}", map.pin().remove_if(&key, |_, &value| value < 100)),
    |map, key| format!("{:?}", map.pin().compute(key, |_| Operation::Insert(3000))),
    |map, key| {
        let toggle = |old: Option<&u64>| old.map_or(Operation::Insert(4000), |_| Operation::Remove);
        format!("{:?}", map.pin().compute(key, toggle))
    },
    |map, _| format!("{}", map.pin().extend((100..140).map(|key| (Hooked(key), key)))),
    |map, _| {
        map.pin().clear();
        map.pin().shrink_to_fit();
        String::new()
    },
];

fn contents(map: &HookedMap) -> BTreeMap<u64, u64> {
    map.pin().iter().map(|(key, &value)| (key.0, value)).collect()
}

/// One operation in the middle of another: the result is that of one order or the other. (The last two are not one
/// step, and happen in the middle only.)
#[test]
fn what_was_seen_is_acted_upon_although_it_has_changed_since() {
    let in_order = |steps: [Step; 2], key| {
        let map = hooked();
        let said = steps.map(|step| step(&map, key));
        (said, contents(&map))
    };
    for (outer, inner) in STEPS[..10].iter().flat_map(|outer| STEPS.map(|inner| (*outer, inner))) {
        for key in [6, 7].map(Hooked) {
            let map = Arc::new(hooked());
            let said = Arc::new(std::sync::Mutex::new(None));
            let (there, inner_said) = (Arc::clone(&map), Arc::clone(&said));
            at_next_comparison(move || *inner_said.lock().unwrap() = Some(inner(&there, key)));
            let outer_said = outer(&map, key);
            at_next_comparison(|| ());
            let Some(inner_said) = said.lock().unwrap().take() else {
                continue; // the operation compared nothing
            };
            let happened = ([outer_said, inner_said], contents(&map));
            let first = in_order([outer, inner], key);
            let ([inner_said, outer_said], after) = in_order([inner, outer], key);
            let second = ([outer_said, inner_said], after);
            assert!(happened == first || happened == second, "{happened:?}, not {first:?}, {second:?}");
            validate(&map);
        }
    }
}

#[test]
fn duplicate_keys_stay_after_a_copy_or_a_collect() {
    let twice = || (0..2000_u64).map(|i| (i % 1000, i));
    let collected = LHashMap::<u64, u64>::from_iter(twice());
    let mut extended = LHashMap::<u64, u64>::new();
    extended.extend(twice());
    let copied = collected.clone();
    for map in [collected, extended, copied] {
        validate(&map);
        assert_eq!(map.len(), 1000);
        assert!((0..1000).all(|key| map.get_cloned(&key) == Some(key + 1000)), "the last value stays");
    }
    let multi = LHashMultiMap::from_iter(twice());
    assert_eq!((multi.len(), multi.pin().count(&1)), (2000, 2));
}

#[test]
fn a_copy_made_beside_writers_has_a_key_twice_or_lacks_one() {
    let map = LHashMap::<_, _>::from_iter((0..50_u64).map(|key| (key, key)));
    let churn = || {
        let pin = map.pin();
        (1000..1200).for_each(|key| _ = pin.insert(key, key));
        (1000..1200).for_each(|key| _ = pin.remove(&key));
    };
    watched("copy", || {
        beside(churn, || {
            until(
                || map.stats().merges > 2_000,
                || {
                    let copy = map.clone();
                    assert!((0..50).all(|key| copy.get_cloned(&key) == Some(key)));
                    validate(&copy);
                },
            );
        });
    });
}

#[test]
fn a_bulk_insert_reports_the_length_of_its_input() {
    let map = LHashMap::new();
    assert_eq!(map.pin().extend((0..100_u64).map(|key| (key % 60, key))), 60);
    assert_eq!(map.pin().extend((50..70_u64).map(|key| (key, key))), 10);
    assert_eq!(map.pin().extend([]), 0);
    assert_eq!(map.len(), 70);
}

#[test]
fn the_closure_that_makes_a_value_runs_twice_in_one_call() {
    const KEYS: u32 = 64;
    let mut rng = Rng::for_test("closure");
    let (made, raced) = (AtomicU64::new(0), AtomicU64::new(0));
    watched("closure", || {
        until(
            || raced.load(Ordering::Relaxed) > 20,
            || {
                let map = LHashMap::with_hasher(Masked(3));
                let inserted = AtomicU64::new(0);
                together(4, &mut rng, |_, rng| {
                    let pin = map.pin();
                    for _ in 0..KEYS {
                        let mut calls = 0;
                        let key = rng.below(KEYS);
                        let value = *pin.get_or_insert_with(key, || {
                            calls += 1;
                            std::thread::yield_now();
                            made.fetch_add(1, Ordering::Relaxed)
                        });
                        assert!(calls <= 1);
                        inserted.fetch_add(calls, Ordering::Relaxed);
                        assert_eq!(pin.get(&key), Some(&value), "all get the same");
                    }
                });
                map.pin().keys().for_each(|&key| {
                    map.pin().get_or_insert_with(key, || panic!("it is there"));
                });
                assert!(inserted.load(Ordering::Relaxed) >= map.len() as u64);
                raced.fetch_add(inserted.into_inner() - map.len() as u64, Ordering::Relaxed);
                assert_eq!(each_once(&map), map.len());
            },
        );
    });
}

/// A loop around a compare-and-change that goes on with what it read first.
#[test]
fn an_update_loses_another_threads_update() {
    let mut rng = Rng::for_test("lost update");
    let map = LHashMap::with_hasher(CONSTANT);
    let tried = AtomicU64::new(0);
    map.pin().extend((0..4_u32).map(|key| (key, 0_u64)));
    watched("lost update", || {
        let mut done = 0;
        while tried.load(Ordering::Relaxed) == 2 * done || done < 40_000 {
            together(4, &mut rng, |_, rng| {
                let pin = map.pin();
                for _ in 0..500 {
                    let key = rng.below(4);
                    let add = |value: &u64| {
                        tried.fetch_add(1, Ordering::Relaxed);
                        value + 1
                    };
                    pin.update(key, add).expect("it is there");
                    pin.compute(key, |value| Operation::Insert(add(value.expect("it is there"))));
                }
            });
            done += 2_000;
            assert_eq!(map.pin().values().sum::<u64>(), 2 * done);
        }
        eprintln!("{} of {} tries", 2 * done, tried.load(Ordering::Relaxed));
    });
    validate(&map);
}
