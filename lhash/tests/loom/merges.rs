//! Operations against a merge: five buckets and three entries; with one less, bucket 4 is merged into bucket 0.

use super::*;

/// Keys 0, 1 and 4, and five buckets.
fn about_to_merge<const N: usize>() -> Arc<LHashMap<u32, u32, BuildIdentity, N>> {
    let map = map::<N>(&[0, 4, 1, 2, 3]);
    for key in [2, 3] {
        assert_eq!(map.pin().remove(&key), Some(&key));
    }
    assert_eq!(map.stats().max_bucket, 4);
    map
}

fn a_key_is_never_missed<const N: usize>(key: u32) {
    model(&["4"], move || {
        let map = about_to_merge::<N>();
        let merger = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().remove(&1), Some(&1)))
        };
        let reader = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().get(&key), Some(&key), "the key was there all the time"))
        };
        merger.join().unwrap();
        reader.join().unwrap();
        assert_eq!(map.pin().get(&key), Some(&key));
        (map.stats().max_bucket + 1).to_string()
    });
}

#[test]
fn a_key_that_moves_is_never_missed() {
    a_key_is_never_missed::<2>(4);
}

#[test]
fn a_key_that_moves_to_an_overflow_page_is_never_missed() {
    a_key_is_never_missed::<1>(4);
}

#[test]
fn a_key_that_stays_is_never_missed() {
    a_key_is_never_missed::<1>(0);
}

#[test]
fn a_key_is_never_missed_when_a_merge_and_a_split_look_like_no_change() {
    model_within(2, &["5"], || {
        let map = about_to_merge::<2>();
        let mover = {
            let map = Arc::clone(&map);
            spawn(move || {
                let pin = map.pin();
                assert_eq!(pin.remove(&1), Some(&1));
                for key in [1, 2, 3] {
                    assert_eq!(pin.insert(key, key), None);
                }
            })
        };
        let reader = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().get(&4), Some(&4), "the key was there all the time"))
        };
        mover.join().unwrap();
        reader.join().unwrap();
        (map.stats().max_bucket + 1).to_string()
    });
}

#[test]
fn an_insert_during_a_merge_is_there_afterwards() {
    model(&["4", "5"], || {
        let map = about_to_merge::<2>();
        let merger = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().remove(&1), Some(&1)))
        };
        let inserter = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().insert(12, 12), None))
        };
        merger.join().unwrap();
        inserter.join().unwrap();
        for key in [0, 4, 12] {
            assert_eq!(map.pin().get(&key), Some(&key));
        }
        assert_eq!(map.stats().ntuples, 3);
        (map.stats().max_bucket + 1).to_string()
    });
}

#[test]
fn iteration_during_a_merge_meets_each_key_once() {
    model(&["2", "3"], || {
        let map = about_to_merge::<1>();
        let merger = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().remove(&1), Some(&1)))
        };
        let reader = spawn(move || {
            let mut keys: Vec<u32> = map.pin().keys().copied().collect();
            keys.sort_unstable();
            assert!(keys == [0, 1, 4] || keys == [0, 4], "{keys:?}");
            keys.len()
        });
        merger.join().unwrap();
        reader.join().unwrap().to_string()
    });
}
