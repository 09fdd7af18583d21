//! The features `serde` and `rayon`.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]
#![cfg(any(feature = "serde", feature = "rayon"))]

mod common;

#[cfg(feature = "serde")]
mod with_serde {
    use lhash::{LHashMap, LHashMultiMap};
    use std::collections::BTreeMap;

    #[test]
    fn a_map_becomes_a_map_and_comes_back() {
        for n in [0, 1, 7, 1000] {
            let map: LHashMap<String, u64> = (0..n).map(|i| (format!("key {i}"), i)).collect();
            let json = serde_json::to_string(&map).expect("text");
            let as_std: BTreeMap<String, u64> = serde_json::from_str(&json).expect("a map");
            assert_eq!(as_std.len() as u64, n);
            let back: LHashMap<String, u64> = serde_json::from_str(&json).expect("a map");
            assert_eq!(back, map);
            super::common::validate(&back);
        }
    }

    #[test]
    fn a_multimap_becomes_a_sequence_of_pairs_and_comes_back() {
        let map: LHashMultiMap<u32, u64> = (0..500).map(|i| ((i % 30) as u32, i)).collect();
        let json = serde_json::to_string(&map).expect("text");
        let mut pairs: Vec<(u32, u64)> = serde_json::from_str(&json).expect("a sequence");
        let back: LHashMultiMap<u32, u64> = serde_json::from_str(&json).expect("a sequence");
        let mut there: Vec<(u32, u64)> = back.pin().iter().map(|(&key, &value)| (key, value)).collect();
        pairs.sort_unstable();
        there.sort_unstable();
        assert_eq!((pairs.len(), pairs == there, back.len()), (500, true, 500));
    }

    #[test]
    fn of_a_key_that_comes_twice_the_last_value_stays_and_what_is_no_map_is_an_error() {
        let map: LHashMap<String, u8> = serde_json::from_str(r#"{"a":1,"b":2,"a":3}"#).expect("a map");
        assert_eq!((map.len(), map.get_cloned("a")), (2, Some(3)));
        for wrong in ["[1]", "{\"a\":true}", "{\"a\":1", "1"] {
            assert!(serde_json::from_str::<LHashMap<String, u8>>(wrong).is_err());
            assert!(serde_json::from_str::<LHashMultiMap<String, u8>>(wrong).is_err());
        }
        let error = serde_json::from_str::<LHashMap<String, u8>>("7").expect_err("no map");
        assert!(error.to_string().contains("expected a map"), "{error}");
    }
}

#[cfg(feature = "rayon")]
mod with_rayon {
    use super::common::{IDENTITY, beside, until, watched};
    use lhash::LHashMap;
    use rayon::iter::ParallelIterator;
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn a_parallel_iteration_meets_each_entry_once() {
        for n in [0, 1, 19, 20_000_u64] {
            let map: LHashMap<u64, u64> = (0..n).map(|i| (i, i * i)).collect();
            let mut met: Vec<(u64, u64)> = map.par_map(|&key, &value| (key, value)).collect();
            met.sort_unstable();
            assert!(met.into_iter().eq((0..n).map(|i| (i, i * i))));
            let (count, sum) = (AtomicU64::new(0), AtomicU64::new(0));
            map.par_for_each(|key, _| {
                count.fetch_add(1, Ordering::Relaxed);
                sum.fetch_add(*key, Ordering::Relaxed);
            });
            assert_eq!((count.into_inner(), sum.into_inner()), (n, (0..n).sum()));
        }
    }

    #[test]
    fn a_parallel_iteration_meets_what_is_there_throughout_while_buckets_are_split_and_merged() {
        let map = LHashMap::with_hasher(IDENTITY);
        map.pin().extend((0..100_u64).map(|key| (key * 7, 0)));
        let churn = || {
            let pin = map.pin();
            (1000..3000).for_each(|key| _ = pin.insert(key, 1));
            pin.retain(|_, &kind| kind == 0);
        };
        watched("parallel", || {
            beside(churn, || {
                until(
                    || map.stats().merges > 1_000,
                    || {
                        let met: Vec<u64> = map.par_map(|&key, _| key).collect();
                        let set: HashSet<u64> = met.iter().copied().collect();
                        assert_eq!(set.len(), met.len(), "a key was met twice");
                        assert!((0..100).all(|key| set.contains(&(key * 7))), "a key was not met");
                    },
                );
            });
        });
    }
}
