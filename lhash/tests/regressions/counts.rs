//! What is counted.

use crate::common::{IDENTITY, Masked, POLICIES, Rng, beside, each_once, together, validate, watched};
use lhash::{Computed, CountPolicy, LHashMap, LHashMultiMap, Operation};
use std::thread;

type Map = LHashMap<u64, u64, Masked>;

fn map_of(policy: CountPolicy) -> Map {
    LHashMap::builder().count_policy(policy).hasher(IDENTITY).build().expect("valid")
}

#[test]
fn len_falls_below_zero_when_a_remove_overtakes_its_insert() {
    let mut rng = Rng::for_test("len");
    for policy in POLICIES {
        let map = map_of(policy);
        let lag = map.stats().max_lag.expect("it has a bound") as usize;
        watched("len", || {
            together(3, &mut rng, |thread, _| {
                let pin = map.pin();
                for _ in 0..10_000 {
                    match thread {
                        0 => _ = pin.insert(1, 1),
                        1 => _ = pin.remove(&1),
                        // Each of the others may be between its change and its count, or move pending counts.
                        _ => assert!(map.len() <= 3 + lag, "{policy:?} {}", map.len()),
                    }
                }
            });
        });
        validate(&map);
    }
}

#[test]
fn len_and_buckets_only_ever_go_up() {
    for policy in POLICIES {
        let map = map_of(policy);
        let mut pin = map.pin();
        for round in 0..3 {
            (0..10_000).for_each(|key| _ = pin.insert(key, round));
            assert_eq!(map.len(), 10_000);
            assert!(map.stats().max_bucket > 1_500);
            (0..10_000).for_each(|key| assert_eq!(pin.remove(&key), Some(&round)));
            assert!(map.is_empty());
            pin.shrink_to_fit();
            assert_eq!(map.stats().max_bucket, 3, "{policy:?}");
        }
        drop(pin);
        validate(&map);
    }
}

#[test]
fn is_empty_is_true_while_a_key_is_there() {
    let map = map_of(CountPolicy::Exact);
    map.pin().insert(7, 7);
    let busy = || {
        let pin = map.pin();
        pin.insert(1, 1);
        pin.remove(&1);
    };
    watched("is_empty", || {
        beside(busy, || {
            (0..30_000).for_each(|_| assert!(!map.is_empty() && (1..=2).contains(&map.len())));
        });
    });
    map.pin().remove(&7);
    assert!(map.is_empty());
    validate(&map);
}

/// What a thread remembers of one table's shards is wrong for another's.
#[test]
fn a_threads_place_in_one_counter_is_used_in_another_one() {
    let maps = POLICIES.map(map_of);
    let multi: LHashMultiMap<u64, u64> = LHashMultiMap::new();
    let mut rng = Rng::for_test("places");
    watched("places", || {
        for round in 0..8 {
            together(64, &mut rng, |thread, _| {
                for i in 0..20 {
                    let key = ((round * 64) + thread as u64) * 20 + i;
                    maps.iter().for_each(|map| _ = map.pin().insert(key, key));
                    multi.pin().insert(key % 100, key);
                }
            });
        }
    });
    assert_eq!((multi.len(), multi.exact_len()), (8 * 64 * 20, 8 * 64 * 20));
    for map in &maps {
        assert_eq!(map.len(), 8 * 64 * 20);
        validate(map);
    }
}

#[test]
fn counts_that_are_pending_are_lost_when_a_thread_ends() {
    const BATCHES: u64 = 60;
    const THREADS: u64 = 16;
    for policy in POLICIES {
        let map = map_of(policy);
        for batch in 0..BATCHES {
            thread::scope(|s| {
                for key in batch * THREADS..(batch + 1) * THREADS {
                    let map = &map;
                    s.spawn(move || map.pin().insert(key, key).is_none());
                }
            });
            let stats = map.stats();
            let counted = map.len() as u64;
            assert_eq!(counted, (batch + 1) * THREADS, "{policy:?}");
            assert!(stats.pending.unsigned_abs() <= stats.max_lag.expect("it has a bound"));
        }
        validate(&map);
    }
}

/// Kept for comparison, and documented: who ends without telling takes the count along.
#[test]
fn the_policy_that_is_said_to_lose_counts_gets_them_back_by_a_vacuum() {
    let map = LHashMultiMap::builder().count_policy(CountPolicy::OverflowSignal).build().expect("valid");
    for batch in 0..20_u64 {
        thread::scope(|s| {
            for key in batch * 10..(batch + 1) * 10 {
                let map = &map;
                s.spawn(move || map.pin().insert(key, ()));
            }
        });
    }
    let pin = map.pin();
    assert_eq!(pin.iter().count(), 200);
    assert!(map.len() < 200, "none was lost");
    assert_eq!((pin.vacuum(|_, ()| false).live, map.len()), (200, 200));
}

#[test]
fn an_operation_that_had_no_effect_is_counted_and_undone_later() {
    for policy in POLICIES {
        let map = map_of(policy);
        let pin = map.pin();
        pin.extend((0..20).map(|key| (key, key)));
        let before = map.stats();
        for _ in 0..100 {
            assert_eq!(pin.insert(3, 3), Some(&3));
            assert!(pin.try_insert(3, 4).is_err());
            assert_eq!(pin.get_or_insert(3, 4), &3);
            assert_eq!(pin.remove(&99), None);
            assert_eq!(pin.remove_if(&3, |_, _| false), None);
            assert_eq!(pin.update(99, |value| value + 1), None);
            assert_eq!(pin.compute(99, |_| Operation::Remove), Computed::Unchanged(None));
            assert_eq!(pin.compute(3, |_| Operation::Keep), Computed::Unchanged(Some(&3)));
            pin.retain(|_, _| true);
        }
        let after = map.stats();
        let figures = |stats: lhash::Stats| (stats.ntuples, stats.splits, stats.merges, stats.overflow_pages);
        assert_eq!(figures(before), figures(after), "{policy:?}");
        drop(pin);
        validate(&map);
    }
}

/// With `Sharded` and `Quiet` the decision to split lags; it must come in the end.
#[test]
fn splits_that_are_due_are_never_made_up_for() {
    let mut rng = Rng::for_test("due");
    for policy in POLICIES {
        let map = map_of(policy);
        watched("due", || {
            together(6, &mut rng, |thread, _| {
                let pin = map.pin();
                (0..3000).for_each(|i| _ = pin.insert(i * 6 + thread as u64, 0));
            });
        });
        assert_eq!(each_once(&map), 18_000);
        assert_eq!(map.exact_len(), 18_000);
        assert_eq!(u64::from(map.stats().max_bucket) + 1, 18_000 / 5, "{policy:?}");
        validate(&map);
    }
}
