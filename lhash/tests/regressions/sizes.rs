//! Construction, limits, and figures.

use crate::common::{CONSTANT, Counted, Masked, Rng, Tally, check_geometry, validate, watched};
use lhash::{ConfigError, CountPolicy, LHashMap, LHashMultiMap, ShrinkPolicy};
use std::panic::catch_unwind;

#[test]
fn sizes_of_zero_one_two_and_three_are_not_thought_of() {
    let numbers = [1, 2, 3];
    for (capacity, buckets, fill) in [0, 1, 2, 3]
        .into_iter()
        .flat_map(|capacity| numbers.map(|buckets| (capacity, buckets)))
        .flat_map(|(capacity, buckets)| numbers.map(|fill| (capacity, buckets, fill)))
    {
        let builder = LHashMap::builder().capacity(capacity).min_buckets(buckets).page_slots::<1>();
        let builder = builder.fill_factor(fill).count_policy(CountPolicy::Deferred { cap: 1 });
        let map = builder.shrink(ShrinkPolicy::Below { percent: 0 }).build().expect("valid");
        for round in 0..3 {
            (0..50_u64).for_each(|key| assert!(map.pin().insert(key, round).is_none()));
            validate(&map);
            assert_eq!(map.get_cloned(&99), None);
            (0..50_u64).for_each(|key| assert_eq!(map.pin().remove(&key), Some(&round)));
            validate(&map);
            map.pin().shrink_to_fit();
            assert_eq!(map.stats().max_bucket, 3);
        }
    }
    for (capacity, policy) in [0, 1, 2, 3].into_iter().zip(crate::common::POLICIES) {
        let map = LHashMap::with_capacity_and_hasher(capacity, CONSTANT);
        assert_eq!((map.pin().insert(1, 1), map.get_cloned(&1)), (None, Some(1)));
        let multi = LHashMultiMap::builder().capacity(capacity).count_policy(policy).build().expect("valid");
        (0..3).for_each(|value| multi.pin().insert(1, value));
        assert_eq!(multi.pin().count(&1), 3);
    }
    assert!(LHashMap::<u8, u8>::builder().page_slots::<7>().fill_factor(0).build().is_err());
    assert!(LHashMap::<u8, u8>::builder().min_buckets(0).build().is_err());
}

#[test]
fn the_largest_size_overflows() {
    let with_capacity = |capacity| catch_unwind(move || LHashMap::<u8, u8>::with_capacity(capacity).len());
    assert!(with_capacity(usize::MAX).is_err());
    assert!(LHashMultiMap::<u8, u8>::builder().capacity(usize::MAX).build().is_err());
    let map = LHashMap::<u8, u8>::from([(1, 1)]);
    for additional in [usize::MAX, usize::MAX - 1, usize::MAX / 2, 1 << 40] {
        assert_eq!(map.pin().try_reserve(additional).map_err(|error| error.additional), Err(additional));
    }
    // An iterator that announces more than there can be.
    let announced = (0..usize::MAX).map(|key| (key as u8, 1)).take_while(|&(key, _)| key < 9);
    assert_eq!(map.pin().extend(announced), 8);
    let huge = std::iter::repeat_n((1, 1), usize::MAX);
    assert_eq!(LHashMap::<u8, u8>::from_iter(Announces(huge.take(3))).len(), 1);
    validate(&map);
}

/// An iterator that announces far more than it has.
struct Announces<I>(I);

impl<I: Iterator> Iterator for Announces<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}

#[test]
fn a_limit_that_an_error_names_is_refused_itself() {
    for fill_factor in [1, 5, 307, 1 << 20] {
        let builder = LHashMap::<u8, u8>::builder().fill_factor(fill_factor);
        let error = builder.clone().capacity(usize::MAX).build().expect_err("too much");
        let ConfigError::Capacity { max, .. } = error else { panic!("{error}") };
        // That many buckets can't be made here; but their number must be one.
        assert!(max.div_ceil(fill_factor as usize) <= u32::MAX as usize, "{max} entries of {fill_factor}");
        let more = builder.capacity(max + 1).build().expect_err("too much");
        assert_eq!(more, ConfigError::Capacity { value: max + 1, max });
    }
}

#[test]
fn a_shrink_policy_that_undoes_each_insert_is_taken() {
    for percent in [0, 40, 90, 91, 100, 255] {
        let built = LHashMap::<u8, u8>::builder().shrink(ShrinkPolicy::Below { percent }).build();
        assert_eq!(built.is_ok(), percent <= 90, "{percent}");
    }
}

#[test]
fn a_capacity_is_not_honoured_or_kept_as_a_size_that_can_not_be() {
    let small = 1..60;
    let around_powers = (6..14).flat_map(|power| [-1_i64, 0, 1].map(|by| (1 << power) + by));
    for n in small.chain(around_powers).map(|n| n as u64) {
        let map = LHashMap::with_capacity(n as usize);
        let mut pin = map.pin();
        let made = map.stats().max_bucket;
        for round in 0..2 {
            (0..n).for_each(|key| _ = pin.insert(key, round));
            assert_eq!((map.stats().splits, map.len() as u64), (0, n), "no split");
            (0..n).for_each(|key| assert_eq!(pin.remove(&key), Some(&round)));
            assert_eq!((map.stats().merges, map.stats().max_bucket), (0, made), "the room stays");
        }
        pin.shrink_to_fit();
        assert_eq!((map.stats().max_bucket, map.len()), (3, 0));
        (0..n).for_each(|key| _ = pin.insert(key, 2));
        drop(pin);
        validate(&map);
    }
}

#[test]
fn a_reserve_makes_a_table_smaller_or_loses_its_entries() {
    let map = LHashMap::new();
    map.pin().extend((0..500_u64).map(|key| (key, key)));
    let mut buckets = map.stats().max_bucket;
    for additional in (0..2000).chain([1500, 3, 0]) {
        map.reserve(additional);
        let now = map.stats().max_bucket;
        assert!(now >= buckets && (now as usize + 1) * 5 >= 500 + additional);
        buckets = now;
        if additional % 100 == 0 {
            validate(&map);
            assert!((0..500).all(|key| map.get_cloned(&key) == Some(key)));
        }
    }
    check_geometry(&map.stats());
}

#[test]
fn a_smaller_reserve_gives_up_the_room_of_a_larger_one() {
    let made = LHashMap::<u64, u64>::with_capacity(1000);
    let reserved = LHashMap::<u64, u64>::new();
    reserved.reserve(1000);
    for map in [made, reserved] {
        map.reserve(10);
        let before = map.stats();
        let pin = map.pin();
        pin.insert(1, 1);
        pin.remove(&1);
        assert_eq!(map.stats().merges, 0, "the room was given up");
        pin.extend((0..1000).map(|key| (key, key)));
        assert_eq!(map.stats().splits, before.splits, "the room was there");
    }
}

#[test]
fn a_constant_hash_makes_the_table_grow_without_end() {
    const KEYS: u64 = 10_000;
    let map = LHashMap::with_hasher(CONSTANT);
    let multi = LHashMultiMap::builder().hasher(CONSTANT).build().expect("valid");
    watched("constant hash", || {
        // One in ten in the map, where each insert looks at all that are there.
        for key in 0..KEYS {
            multi.pin().insert(key, key);
            if key % 10 == 0 {
                map.pin().insert(key, key);
            }
        }
    });
    for (stats, keys) in [(map.stats(), KEYS / 10), (multi.stats(), KEYS)] {
        assert_eq!(
            u64::from(stats.max_bucket) + 1,
            keys / 5,
            "the fill factor decides, not the longest chain"
        );
        assert_eq!(stats.overflow_pages, keys.div_ceil(7) - 1);
        assert!(stats.memory_bytes as u64 <= 100 * keys + 20_000, "{} bytes", stats.memory_bytes);
    }
    validate(&map);
    assert_eq!((map.get_cloned(&1), map.pin().remove(&0)), (None, Some(&0)));
    let vacuumed = multi.pin().vacuum(|&key, _| key % 100 != 0);
    assert_eq!((vacuumed.live, vacuumed.removed), (100, 9_900));
    assert_eq!(multi.stats().overflow_pages, 100_u64.div_ceil(7) - 1);
}

#[test]
fn ten_thousand_keys_that_hash_alike_are_lost_or_never_found() {
    let keys = if crate::common::is_long() || !cfg!(debug_assertions) { 10_000 } else { 3_000 };
    let map = LHashMap::with_hasher(CONSTANT);
    let mut rng = Rng::for_test("alike");
    let start = rng.next() >> 1;
    let pin = map.pin();
    for key in start..start + keys {
        assert_eq!(pin.insert(key, !key), None);
    }
    assert_eq!(pin.iter().filter(|&(key, value)| *value == !key).count() as u64, keys);
    for key in [start, start + keys / 2, start + keys - 1] {
        assert_eq!(pin.get(&key), Some(&!key));
    }
    assert_eq!(pin.get(&(start + keys)), None);
    pin.clear();
    assert_eq!((map.len(), map.stats().overflow_pages, map.stats().max_bucket), (0, 0, 3));
}

/// Neighbours in one bucket, hashes that differ only in bits that choose no bucket, and the ends of the range.
#[test]
fn an_identity_hash_leaves_keys_where_they_are_not_looked_for() {
    for hasher in [Masked(!0), Masked(0xffff_ffff_0000_0000), Masked(0xff00), Masked(1 << 31)] {
        let map = LHashMap::with_hasher(hasher);
        let ends = [u64::MAX, u64::MAX - 1, 1 << 63, 1 << 32, u64::from(u32::MAX)];
        let keys = || (0..800).chain((1..400).map(|high| high << 48)).chain(ends);
        keys().for_each(|key| assert_eq!(map.pin().insert(key, !key), None));
        assert!(keys().all(|key| map.get_cloned(&key) == Some(!key)));
        validate(&map);
        keys().for_each(|key| assert_eq!(map.pin().remove(&key), Some(&!key)));
        assert_eq!((map.stats().max_bucket, map.stats().overflow_pages), (3, 0));
    }
}

#[test]
fn figures_of_an_empty_map_and_its_drop_walk_what_was_only_reserved() {
    let tally = Tally::new();
    for _ in 0..20 {
        let map = LHashMap::with_capacity(2_000_000);
        let stats = map.stats();
        assert_eq!((stats.primary_pages, stats.ntuples, stats.overflow_pages), (400_000, 0, 0));
        map.pin().insert(1, Counted::new(1, tally));
        assert_eq!(map.len(), 1);
    }
    tally.settle(0);
}
