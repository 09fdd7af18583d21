//! A vacuum must leave no dead entry, no chain as it is, and no page behind.

use super::*;
use lhash::{CountPolicy, LHashMultiMap};

#[test]
fn a_vacuum_removes_all_that_is_dead_though_buckets_are_split_meanwhile() {
    // With `Sharded`, only hashes with no high bit set compare the count. One of those is removed, by the vacuum.
    let map: LHashMultiMap<u64, u64, Same, 64> = LHashMultiMap::<u64, u64>::builder()
        .hasher(Same::default())
        .page_slots::<64>()
        .fill_factor(1)
        .count_policy(CountPolicy::Sharded)
        .build()
        .unwrap();
    let pin = map.pin();
    let high = 1 << 31;
    pin.insert(0, 0);
    for n in 1..160 {
        pin.insert(high | n, n);
    }
    assert_eq!(map.stats().max_bucket, 3, "no split yet");
    let vacuumed = pin.vacuum(|_, _| true);
    let left: Vec<u64> = pin.iter().map(|(key, _)| key & !high).collect();
    assert!(left.is_empty(), "{vacuumed:?} and still there: {left:?}");
}

#[test]
fn a_vacuum_squeezes_every_chain() {
    let map = LHashMultiMap::new();
    let pin = map.pin();
    for n in 0..700_u32 {
        pin.insert((), n);
    }
    for n in (0..700).filter(|n| n % 7 != 0) {
        pin.remove_one(&(), &n);
    }
    let before = map.stats().overflow_pages;
    pin.vacuum(|_, _| false);
    let after = map.stats().overflow_pages;
    assert!(after <= 15, "100 entries on {after} overflow pages, {before} before");
}

#[test]
fn a_vacuum_whose_closure_panics_leaks_no_pages() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let map: LHashMultiMap<u64, u64, Same> =
        LHashMultiMap::<u64, u64>::builder().hasher(Same::default()).build().unwrap();
    let mut sizes = Vec::new();
    for _ in 0..40 {
        for _ in 0..500 {
            map.pin().insert(0, 0);
        }
        map.pin().insert(1, 1);
        let vacuum = std::panic::AssertUnwindSafe(|| {
            map.pin().vacuum(|&key, _| if key == 1 { panic!("as it may") } else { true })
        });
        assert!(std::panic::catch_unwind(vacuum).is_err());
        map.pin().remove_all(&1);
        map.pin().shrink_to_fit();
        sizes.push(map.stats().memory_bytes);
    }
    std::panic::set_hook(hook);
    // Other tests' pins hold up what is given back; what is leaked never comes.
    for _ in 0..1_000 {
        if map.stats().memory_bytes < 2 * sizes[0] {
            return;
        }
        map.pin().shrink_to_fit();
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{} bytes are left of {sizes:?}", map.stats().memory_bytes);
}
