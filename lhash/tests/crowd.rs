//! Far more threads than cores, with every policy: all of them come to an end, and leave a table that is whole.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

mod common;

use common::{POLICIES, Rng, together, validate, watched};
use lhash::{CountPolicy, LHashMap, LHashMultiMap, ShrinkPolicy};
use std::sync::atomic::{AtomicU64, Ordering};

const THREADS: usize = 64;
const TURNS: u64 = 50;

fn churn(map: &LHashMap<u64, u64>, thread: u64, rng: &mut Rng) {
    for _ in 0..TURNS {
        let pin = map.pin();
        let (own, shared) = (1000 + thread, u64::from(rng.below(100)));
        match rng.below(32) {
            0..4 => _ = pin.remove(&shared),
            4..8 => _ = pin.update(shared, |old| old + 1),
            8 => map.reserve(rng.below(300) as usize),
            9 => map.pin().shrink_to_fit(),
            _ => _ = pin.insert(shared, 0),
        }
        pin.insert(own, pin.get(&own).map_or(1, |n| n + 1));
    }
}

#[test]
fn sixty_four_threads_churn_a_map_under_every_policy() {
    let mut rng = Rng::for_test("crowd");
    for policy in POLICIES {
        let shrink = ShrinkPolicy::Below { percent: 90 };
        let map = LHashMap::builder().fill_factor(1).count_policy(policy).shrink(shrink);
        let map = map.build().expect("valid");
        watched("crowd", || together(THREADS, &mut rng, |thread, rng| churn(&map, thread as u64, rng)));
        assert!((0..THREADS as u64).all(|thread| map.get_cloned(&(1000 + thread)) == Some(TURNS)));
        validate(&map);
        let stats = map.stats();
        assert!(stats.splits > 0 && stats.merges > 0, "{stats:?}");
    }
}

#[test]
fn sixty_four_threads_churn_a_multimap_and_lose_nothing() {
    let mut rng = Rng::for_test("crowd of values");
    for policy in POLICIES.into_iter().chain([CountPolicy::OverflowSignal]) {
        let map = LHashMultiMap::builder().fill_factor(2).count_policy(policy).build().expect("valid");
        let (inserted, removed) = (AtomicU64::new(0), AtomicU64::new(0));
        watched("crowd of values", || {
            together(THREADS, &mut rng, |thread, rng| {
                for n in 0..TURNS {
                    let (pin, key) = (map.pin(), u64::from(rng.below(40)));
                    match rng.below(32) {
                        0..4 => _ = removed.fetch_add(pin.remove_all(&key) as u64, Ordering::Relaxed),
                        4 => {
                            let dead = pin.vacuum(|_, value| value % 64 == thread as u64).removed;
                            removed.fetch_add(dead, Ordering::Relaxed);
                        }
                        5 => map.pin().shrink_to_fit(),
                        _ => {
                            pin.insert(key, n * 64 + u64::from(rng.below(64)));
                            inserted.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        });
        let left = inserted.into_inner() - removed.into_inner();
        assert_eq!((map.pin().iter().count() as u64, map.validate()), (left, Ok(())));
        if policy != CountPolicy::OverflowSignal {
            assert_eq!(map.exact_len() as u64, left);
        }
    }
}
