//! Operations against a split: with the fifth entry, bucket 0 is split and key 4 moves to bucket 4, in a new segment.

use super::*;

/// Keys 0 and 4 share bucket 0, on two pages or one.
fn about_to_split<const N: usize>() -> Arc<LHashMap<u32, u32, BuildIdentity, N>> {
    map::<N>(&[0, 4, 1, 2])
}

fn a_key_is_never_missed<const N: usize>(key: u32) {
    model(&["5"], move || {
        let map = about_to_split::<N>();
        let splitter = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().insert(3, 3), None))
        };
        let reader = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().get(&key), Some(&key), "the key was there all the time"))
        };
        splitter.join().unwrap();
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
fn a_key_that_moves_from_an_overflow_page_is_never_missed() {
    a_key_is_never_missed::<1>(4);
}

#[test]
fn a_key_that_is_squeezed_to_the_front_is_never_missed() {
    model(&["5"], || {
        // Key 4 first: when it has moved away, key 0 takes its place on the primary page.
        let map = map::<1>(&[4, 0, 1, 2]);
        let splitter = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().insert(3, 3), None))
        };
        let reader = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().get(&0), Some(&0), "the key was there all the time"))
        };
        splitter.join().unwrap();
        reader.join().unwrap();
        assert_eq!(map.stats().overflow_pages, 0);
        (map.stats().max_bucket + 1).to_string()
    });
}

#[test]
fn a_key_that_is_inserted_during_a_split_is_there_afterwards() {
    model_within(2, &["declined", "split"], || {
        let map = map::<2>(&[0, 1, 2, 3]);
        let splitter = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().insert(8, 8), None))
        };
        let inserter = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().insert(4, 4), None))
        };
        splitter.join().unwrap();
        inserter.join().unwrap();
        for key in [0, 1, 2, 3, 4, 8] {
            assert_eq!(map.pin().get(&key), Some(&key));
        }
        let stats = map.stats();
        assert_eq!(stats.ntuples, 6);
        // Where a writer held the bucket, a later insert asks again.
        if stats.split_declined == 0 { "split" } else { "declined" }.to_owned()
    });
}

#[test]
fn a_key_that_moves_is_removed_once() {
    model(&["Some(4)"], || {
        let map = about_to_split::<2>();
        let splitter = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().insert(3, 3), None))
        };
        let remover = {
            let map = Arc::clone(&map);
            spawn(move || map.pin().remove(&4).copied())
        };
        splitter.join().unwrap();
        let removed = remover.join().unwrap();
        assert_eq!((map.pin().get(&4), map.len()), (None, 4));
        format!("{removed:?}")
    });
}

#[test]
fn iteration_during_a_split_meets_each_key_once() {
    model(&["4", "5"], || {
        let map = about_to_split::<2>();
        let splitter = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().insert(3, 3), None))
        };
        let reader = {
            let map = Arc::clone(&map);
            spawn(move || {
                let mut keys: Vec<u32> = map.pin().keys().copied().collect();
                keys.sort_unstable();
                assert!(keys == [0, 1, 2, 4] || keys == [0, 1, 2, 3, 4], "{keys:?}");
                keys.len()
            })
        };
        splitter.join().unwrap();
        reader.join().unwrap().to_string()
    });
}
