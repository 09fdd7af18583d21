//! Every operation, alone, against what std's map says.

use lhash::{
    Computed, ConfigError, CountPolicy, LHashMap, LHashMultiMap, OccupiedError, Operation, ShrinkPolicy,
};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Hashes a `u64` to itself.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64");
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = n;
    }
}

type IdentityMap = LHashMap<u64, u64, BuildHasherDefault<Identity>>;

#[test]
fn a_map_does_what_stds_map_does() {
    let map = LHashMap::new();
    let mut model = HashMap::new();
    let mut rng = fastrand::Rng::with_seed(7);
    let mut pin = map.pin();
    for step in 0..200_000_u64 {
        let key = rng.u64(..4096);
        match rng.u32(..10) {
            0..4 => assert_eq!(pin.insert(key, step).copied(), model.insert(key, step)),
            4..7 => assert_eq!(pin.remove(&key).copied(), model.remove(&key)),
            7 => {
                let updated = pin.update(key, |value| value + 1).copied();
                assert_eq!(
                    updated,
                    model.get_mut(&key).map(|value| {
                        *value += 1;
                        *value
                    })
                );
            }
            _ => assert_eq!(pin.get(&key), model.get(&key)),
        }
        assert_eq!(pin.len(), model.len());
        if step % 1000 == 0 {
            pin.repin();
        }
    }
    let all: HashMap<u64, u64> = pin.iter().map(|(&key, &value)| (key, value)).collect();
    assert_eq!(all, model);
    drop(pin);
    assert_eq!(map.into_iter().collect::<HashMap<_, _>>(), model);
}

#[test]
fn a_map_grows_and_shrinks_back_to_where_it_began() {
    let map = LHashMap::new();
    let pin = map.pin();
    for key in 0..100_000_u64 {
        pin.insert(key, key);
    }
    let grown = map.stats();
    assert_eq!(u64::from(grown.max_bucket) + 1, 100_000_u64.div_ceil(5));
    assert!(grown.splits > 0 && grown.merges == 0);
    for key in 0..100_000_u64 {
        assert_eq!(pin.remove(&key), Some(&key));
    }
    let empty = map.stats();
    assert_eq!((empty.ntuples, empty.max_bucket, empty.overflow_pages), (0, 3, 0));
    assert_eq!(empty.merges, grown.splits);
}

#[test]
fn insert_variants_say_what_was_there() {
    let map = LHashMap::from([("a".to_owned(), 1)]);
    let pin = map.pin();
    assert_eq!(pin.get("a"), Some(&1), "a borrowed form");
    assert_eq!(pin.try_insert("a".to_owned(), 2), Err(OccupiedError { current: &1, not_inserted: 2 }));
    assert_eq!(pin.try_insert("b".to_owned(), 2), Ok(&2));
    assert_eq!(pin.get_or_insert("b".to_owned(), 3), &2);
    assert_eq!(pin.get_or_insert_with("c".to_owned(), || 3), &3);
    assert_eq!(pin.get_key_value("c"), Some((&"c".to_owned(), &3)));
    assert_eq!(pin.update("d".to_owned(), |n| n + 1), None);
    assert_eq!(pin.update("c".to_owned(), |n| n + 1), Some(&4));
    assert_eq!(pin.remove_if("c", |_, &n| n == 3), None);
    assert_eq!(pin.remove_if("c", |_, &n| n == 4), Some(&4));
    assert_eq!(map.get_cloned("b"), Some(2));
    assert!(map.contains_key("a") && !map.contains_key("c"));
    let mut keys: Vec<_> = pin.keys().cloned().collect();
    keys.sort();
    assert_eq!((keys, pin.values().sum::<i32>()), (vec!["a".to_owned(), "b".to_owned()], 3));
}

#[test]
fn compute_does_what_it_is_told() {
    let map = LHashMap::new();
    let pin = map.pin();
    assert_eq!(pin.compute(1, |_| Operation::Keep), Computed::Unchanged(None::<&i32>));
    assert_eq!(pin.compute(1, |_| Operation::Remove), Computed::Unchanged(None));
    assert_eq!(pin.compute(1, |_| Operation::Insert(5)), Computed::Inserted(&5));
    assert_eq!(pin.compute(1, |_| Operation::Keep), Computed::Unchanged(Some(&5)));
    let add = |n: Option<&i32>| Operation::Insert(n.map_or(0, |n| n + 1));
    assert_eq!(pin.compute(1, add), Computed::Updated { old: &5, new: &6 });
    assert_eq!(pin.compute(1, |_| Operation::Remove), Computed::Removed(&6));
    assert!(pin.is_empty());
}

#[test]
fn a_map_that_was_sized_makes_no_split_for_what_it_was_sized_for() {
    for n in [0, 1, 2, 3, 100, 9999] {
        let map: LHashMap<usize, usize> = LHashMap::with_capacity(n);
        map.pin().extend((0..n).map(|key| (key, key)));
        assert_eq!((map.stats().splits, map.len()), (0, n));
        let map: LHashMap<usize, usize> = (0..n).map(|key| (key, key)).collect();
        assert_eq!((map.stats().splits, map.len()), (0, n), "the iterator says how many");
        let map: LHashMap<usize, usize> = LHashMap::new();
        map.reserve(n);
        let reserved = map.stats().splits;
        map.pin().extend((0..n).map(|key| (key, key)));
        assert_eq!(map.stats().splits, reserved);
    }
}

#[test]
fn extend_returns_how_many_keys_are_new_and_the_last_value_stays() {
    let map = LHashMap::from([(1, 'a')]);
    assert_eq!(map.pin().extend([(1, 'b'), (2, 'c'), (2, 'd')]), 1);
    assert_eq!((map.get_cloned(&1), map.get_cloned(&2)), (Some('b'), Some('d')));
    let mut sum = map.clone();
    sum.extend([(3, 'e')]);
    assert_eq!((map.len(), sum.len()), (2, 3));
    assert_ne!(map, sum);
    sum.pin().retain(|&key, _| key != 3);
    assert_eq!(map, sum);
    assert_eq!(format!("{:?}", LHashMap::from([(1, 2)])), "{1: 2}");
    sum.pin().clear();
    assert!(sum.is_empty() && sum.stats().ntuples == 0);
}

#[test]
fn every_bad_setting_is_an_error_that_says_what_would_be_right() {
    let bad = |builder: lhash::Builder<u8, u8, lhash::Map>| builder.build().unwrap_err();
    let builder = LHashMap::<u8, u8>::builder;
    for (error, text) in [
        (bad(builder().fill_factor(0)), "fill_factor must be 1 to 1048576 entries a bucket, but is 0"),
        (bad(builder().min_buckets(0)), "min_buckets must be 1 to 2147483648, but is 0"),
        (
            bad(builder().count_policy(CountPolicy::Deferred { cap: 0 })),
            "the cap of a count policy must be 1 to 16777216, but is 0",
        ),
        (
            bad(builder().capacity(usize::MAX)),
            "capacity must be at most 21474836475 entries, but is 18446744073709551615",
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(
        bad(builder().min_buckets(u32::MAX)),
        ConfigError::MinBuckets { value: u32::MAX, max: 1 << 31 }
    );
    let map = LHashMap::<u8, u8>::new();
    assert!(map.pin().try_reserve(usize::MAX).is_err());
    assert_eq!(map.stats().splits, 0);
}

#[test]
fn every_policy_counts_a_single_thread_exactly_but_the_one_that_says_it_does_not() {
    for policy in [
        CountPolicy::Exact,
        CountPolicy::Deferred { cap: 32 },
        CountPolicy::Quiet { cap: 32 },
        CountPolicy::Sharded,
        CountPolicy::OverflowSignal,
    ] {
        let map = LHashMap::builder().count_policy(policy).build().unwrap();
        let pin = map.pin();
        for key in 0..10_000_u64 {
            pin.insert(key, ());
        }
        let stats = map.stats();
        if policy == CountPolicy::OverflowSignal {
            assert!(stats.ntuples <= 10_000 && stats.max_lag.is_none());
        } else {
            assert_eq!(stats.ntuples, 10_000, "{policy:?}");
            assert!(stats.max_bucket >= 1990, "{policy:?} {}", stats.max_bucket);
        }
        for key in 0..10_000_u64 {
            assert!(pin.contains_key(&key), "{policy:?} {key}");
        }
    }
}

#[test]
fn keys_that_hash_to_themselves_and_keys_that_all_hash_alike_are_found() {
    let map = IdentityMap::default();
    let pin = map.pin();
    for key in (0..5000).chain((1..100).map(|high| high << 32)).chain([u64::MAX]) {
        assert_eq!(pin.insert(key, !key), None);
    }
    assert_eq!(pin.len(), 5100);
    for (&key, &value) in pin.iter() {
        assert_eq!((value, pin.get(&key)), (!key, Some(&!key)));
    }
}

#[test]
fn a_multimap_keeps_duplicates() {
    let map = LHashMultiMap::new();
    let pin = map.pin();
    let mut model: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut rng = fastrand::Rng::with_seed(3);
    for step in 0..20_000_u32 {
        let key = rng.u32(..200);
        match rng.u32(..20) {
            0..14 => {
                pin.insert(key, step);
                model.entry(key).or_default().push(step);
            }
            14..18 => {
                let values = model.entry(key).or_default();
                let value = values.pop();
                let removed = value.and_then(|value| pin.remove_one(&key, &value));
                assert_eq!(removed.copied(), value);
            }
            18 => assert_eq!(pin.count(&key), model.get(&key).map_or(0, Vec::len)),
            _ if step % 50 == 0 => {
                let removed = pin.remove_all(&key);
                assert_eq!(removed, model.remove(&key).map_or(0, |values| values.len()));
            }
            _ => {
                let mut values: Vec<u32> = pin.get_all(&key).copied().collect();
                values.sort_unstable();
                assert_eq!(values, model.get(&key).cloned().unwrap_or_default());
            }
        }
        assert_eq!(pin.len(), model.values().map(Vec::len).sum::<usize>());
    }
    let dead = |key: &u32, value: &u32| key % 3 == 0 || value % 2 == 0;
    let vacuumed = pin.vacuum(dead);
    let before = model.values().map(Vec::len).sum::<usize>();
    for (key, values) in &mut model {
        values.retain(|value| !dead(key, value));
    }
    let live = model.values().map(Vec::len).sum::<usize>();
    assert_eq!((vacuumed.live, vacuumed.removed), (live as u64, (before - live) as u64));
    assert_eq!(pin.len(), live);
    let mut all: Vec<(u32, u32)> = pin.iter().map(|(&key, &value)| (key, value)).collect();
    all.sort_unstable();
    let expected: Vec<(u32, u32)> =
        model.iter().flat_map(|(&key, values)| values.iter().map(move |&value| (key, value))).collect();
    assert_eq!(all, expected);
}

#[test]
fn a_table_that_shall_not_shrink_does_not_until_it_is_told() {
    let map = LHashMap::builder().shrink(ShrinkPolicy::Never).build().unwrap();
    let mut pin = map.pin();
    pin.extend((0..1000).map(|key| (key, key)));
    pin.clear();
    assert_eq!(map.stats().max_bucket, 199);
    pin.shrink_to_fit();
    assert_eq!(map.stats().max_bucket, 3);
}
