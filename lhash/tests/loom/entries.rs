//! Operations on the same key or bucket, without moves.

use super::*;
use lhash::LHashMultiMap;

/// More buckets than these models fill.
fn roomy(keys: &[u32]) -> Arc<Pairs> {
    filled(builder().fill_factor(100).build().expect("a small map"), keys)
}

#[test]
fn a_hit_sees_the_value_and_all_that_came_before_it() {
    model(&["None", "Some(7)"], || {
        let (map, sign) = (roomy(&[]), Arc::new(Sign::default()));
        let writer = {
            let (map, sign) = (Arc::clone(&map), Arc::clone(&sign));
            spawn(move || {
                sign.set();
                assert_eq!(map.pin().insert(1, 7), None);
            })
        };
        let reader = spawn(move || {
            let found = map.get_cloned(&1);
            assert!(found.is_none() || sign.is_set(), "a hit must see what the inserter did before");
            found
        });
        writer.join().unwrap();
        format!("{:?}", reader.join().unwrap())
    });
}

#[test]
fn a_miss_sees_what_the_remover_did_before() {
    model(&["None", "Some(1)"], || {
        let (map, sign) = (roomy(&[1]), Arc::new(Sign::default()));
        let writer = {
            let (map, sign) = (Arc::clone(&map), Arc::clone(&sign));
            spawn(move || {
                sign.set();
                assert_eq!(map.pin().remove(&1), Some(&1));
            })
        };
        let reader = spawn(move || {
            let found = map.get_cloned(&1);
            assert!(found.is_some() || sign.is_set(), "a miss must see what the remover did before");
            found
        });
        writer.join().unwrap();
        format!("{:?}", reader.join().unwrap())
    });
}

#[test]
fn two_inserters_of_one_key_make_one_entry() {
    model(&["(None, Some(1))", "(Some(2), None)"], || {
        let map = roomy(&[]);
        let [one, two] = [1, 2].map(|value| {
            let map = Arc::clone(&map);
            spawn(move || map.pin().insert(5, value).copied())
        });
        let olds = (one.join().unwrap(), two.join().unwrap());
        assert_eq!((map.pin().iter().count(), map.len()), (1, 1));
        assert!(matches!(olds, (None, Some(1)) | (Some(2), None)), "{olds:?}");
        format!("{olds:?}")
    });
}

#[test]
fn two_removers_of_one_key_remove_it_once() {
    model(&["(None, Some(5))", "(Some(5), None)"], || {
        let map = roomy(&[5]);
        let [one, two] = [(); 2].map(|()| {
            let map = Arc::clone(&map);
            spawn(move || map.pin().remove(&5).copied())
        });
        let removed = (one.join().unwrap(), two.join().unwrap());
        assert_eq!(map.len(), 0);
        format!("{removed:?}")
    });
}

#[test]
fn two_updates_of_one_key_both_count() {
    model(&["7"], || {
        let map = roomy(&[5]);
        let updates = [(); 2].map(|()| {
            let map = Arc::clone(&map);
            spawn(move || assert!(map.pin().update(5, |value| value + 1).is_some()))
        });
        updates.into_iter().for_each(|update| update.join().unwrap());
        map.get_cloned(&5).unwrap().to_string()
    });
}

#[test]
fn a_key_that_is_replaced_is_never_missed() {
    model(&["5", "6"], || {
        let map = roomy(&[5]);
        let writer = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().insert(5, 6), Some(&5)))
        };
        let reader = spawn(move || map.get_cloned(&5).expect("the key was there all the time"));
        writer.join().unwrap();
        reader.join().unwrap().to_string()
    });
}

#[test]
fn a_key_is_found_or_missed_and_never_half_removed_against_iteration() {
    model(&["[1, 5]", "[1]"], || {
        let map = roomy(&[1, 5]);
        let remover = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().remove(&5), Some(&5)))
        };
        let reader = spawn(move || {
            let mut keys: Vec<u32> = map.pin().keys().copied().collect();
            keys.sort_unstable();
            keys
        });
        remover.join().unwrap();
        format!("{:?}", reader.join().unwrap())
    });
}

#[test]
fn the_values_of_a_key_are_those_of_one_moment() {
    model(&["[]", "[0, 1, 2]"], || {
        let builder = LHashMultiMap::builder().hasher(BuildIdentity::default()).page_slots::<1>();
        let map =
            Arc::new(builder.fill_factor(10).count_policy(CountPolicy::Exact).build().expect("a small one"));
        for value in 0..3_u32 {
            map.pin().insert(0_u32, value);
        }
        let remover = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().remove_all(&0), 3))
        };
        let reader = spawn(move || {
            let mut all: Vec<u32> = map.pin().get_all(&0).copied().collect();
            all.sort_unstable();
            assert!([&[][..], &[0, 1, 2], &[1, 2], &[2]].contains(&&all[..]), "{all:?} was never so");
            all
        });
        remover.join().unwrap();
        format!("{:?}", reader.join().unwrap())
    });
}
