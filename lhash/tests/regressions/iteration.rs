//! Iterations beside splits and merges, and beside inserts without end.

use crate::common::{IDENTITY, Masked, beside, until, validate, watched};
use lhash::{LHashMap, ShrinkPolicy};
use std::sync::atomic::{AtomicU64, Ordering};

type Map = LHashMap<u64, u64, Masked>;

#[test]
fn an_iteration_meets_a_key_twice_or_not_at_all_while_buckets_are_split_and_merged() {
    const STABLE: u64 = 100;
    let map = Map::with_hasher(IDENTITY);
    map.pin().extend((0..STABLE).map(|key| (key * 7, 0)));
    let churn = || {
        let pin = map.pin();
        (1000..2000).for_each(|key| _ = pin.insert(key, 1));
        pin.retain(|_, &kind| kind == 0);
    };
    watched("iteration", || {
        beside(churn, || {
            until(
                || map.stats().merges > 5_000,
                || {
                    let pin = map.pin();
                    let mut all: Vec<u64> = pin.keys().copied().collect();
                    let met = all.len();
                    all.sort_unstable();
                    all.dedup();
                    assert_eq!(all.len(), met, "a key was met twice");
                    all.retain(|&key| key < 7 * STABLE && key % 7 == 0);
                    assert_eq!(all.len() as u64, STABLE, "a key was not met");
                },
            );
        });
    });
    validate(&map);
}

#[test]
fn an_iteration_goes_on_for_ever_if_it_is_fed() {
    let map = LHashMap::<_, _>::from_iter((0..100_u64).map(|key| (key, 0)));
    let pin = map.pin();
    let mut met = 0;
    for _ in pin.iter() {
        met += 1;
        assert!(met < 10_000, "the iteration does not end");
        (0..2).for_each(|i| _ = pin.insert(met * 1000 + i, 1));
    }
    assert!(met >= 100);
    validate(&map);
}

#[test]
fn an_iteration_beside_inserts_and_removes_of_one_key_never_ends() {
    let map = LHashMap::builder().fill_factor(1).shrink(ShrinkPolicy::Below { percent: 90 });
    let map: Map = map.hasher(IDENTITY).build().expect("valid");
    let busy = || {
        let pin = map.pin();
        pin.insert(1, 1);
        pin.remove(&1);
    };
    let rounds = AtomicU64::new(0);
    watched("endless iteration", || {
        beside(busy, || {
            until(
                || rounds.load(Ordering::Relaxed) > 5_000,
                || {
                    let count = map.pin().iter().count();
                    assert!(count <= 1, "one key, met {count} times");
                    rounds.fetch_add(count as u64, Ordering::Relaxed);
                },
            );
        });
    });
}
