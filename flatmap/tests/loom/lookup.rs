//! Lookups against inserts and removes of the same bucket.

use super::*;

const STABLE: Key = key(1, 0);
const MOVING: Key = key(2, 0);
const OTHER: Key = key(3, 0);

#[test]
fn a_lookup_against_an_insert_hits_with_all_that_came_before_or_misses() {
    model(&["None", "Some(1)"], || {
        let table = table(2, &[(STABLE, 0)]);
        let sign = Arc::new(Sign::default());
        let writer = {
            let (table, sign) = (Arc::clone(&table), Arc::clone(&sign));
            spawn(move || {
                sign.set();
                table.insert(MOVING, 1)
            })
        };
        let reader = spawn(move || {
            let found = table.get(&MOVING);
            assert!(found.is_none() || sign.is_set(), "a hit must see what the inserter did before");
            assert!(matches!(found, None | Some(1)));
            found
        });
        assert_eq!(writer.join().unwrap(), Ok(()));
        format!("{:?}", reader.join().unwrap())
    });
}

#[test]
fn a_stable_key_behind_an_insert_is_never_missed() {
    model(&["Some(0)"], || {
        let table = table(2, &[(STABLE, 0)]);
        let writer = {
            let table = Arc::clone(&table);
            spawn(move || table.insert(MOVING, 1))
        };
        let reader = spawn(move || table.get(&STABLE));
        assert_eq!(writer.join().unwrap(), Ok(()));
        let found = reader.join().unwrap();
        assert_eq!(found, Some(0), "the key was there all the time");
        format!("{found:?}")
    });
}

/// One thread removes `MOVING` from slot 1 of this chain, another looks it up.
fn a_miss_sees_what_the_remover_did(chain: &'static [(Key, u32)]) {
    model(&["None", "Some(1)"], move || {
        let table = table(3, chain);
        let sign = Arc::new(Sign::default());
        let writer = {
            let (table, sign) = (Arc::clone(&table), Arc::clone(&sign));
            spawn(move || {
                sign.set();
                table.remove(&MOVING)
            })
        };
        let reader = spawn(move || {
            let found = table.get(&MOVING);
            assert!(found.is_some() || sign.is_set(), "a miss must see what the remover did before");
            found
        });
        assert_eq!(writer.join().unwrap(), Some(1));
        format!("{:?}", reader.join().unwrap())
    });
}

#[test]
fn a_lookup_against_a_remove_of_the_key_misses_only_with_all_that_came_before() {
    a_miss_sees_what_the_remover_did(&[(STABLE, 0), (MOVING, 1)]);
}

#[test]
fn a_stable_key_behind_a_removed_one_is_never_missed() {
    model(&["Some(0)"], || {
        let table = table(2, &[(STABLE, 0), (MOVING, 1)]);
        let writer = {
            let table = Arc::clone(&table);
            spawn(move || table.remove(&MOVING))
        };
        let reader = spawn(move || table.get(&STABLE));
        assert_eq!(writer.join().unwrap(), Some(1));
        let found = reader.join().unwrap();
        assert_eq!(found, Some(0), "the key was there all the time");
        format!("{found:?}")
    });
}

#[test]
fn a_remove_in_mid_chain_hides_neither_neighbour() {
    model(&["(Some(0), Some(2))"], || {
        let table = table(3, &[(STABLE, 0), (MOVING, 1), (OTHER, 2)]);
        let writer = {
            let table = Arc::clone(&table);
            spawn(move || table.remove(&MOVING))
        };
        let reader = spawn(move || (table.get(&STABLE), table.get(&OTHER)));
        assert_eq!(writer.join().unwrap(), Some(1));
        let found = reader.join().unwrap();
        assert_eq!(found, (Some(0), Some(2)), "both were there all the time");
        format!("{found:?}")
    });
}

#[test]
fn a_miss_of_a_key_unlinked_in_mid_chain_sees_what_its_remover_did() {
    a_miss_sees_what_the_remover_did(&[(STABLE, 0), (MOVING, 1), (OTHER, 2)]);
}

#[test]
fn a_torn_lookup_falls_back_to_the_lock_and_is_right() {
    model(&["fell back: true", "fell back: false"], || {
        let small = builder(2).optimistic_tries(1).build().expect("a small table");
        let table = filled(small, &[(STABLE, 0), (MOVING, 1)]);
        let writer = {
            let table = Arc::clone(&table);
            spawn(move || table.remove(&MOVING))
        };
        let reader = {
            let table = Arc::clone(&table);
            spawn(move || table.get(&STABLE))
        };
        assert_eq!(writer.join().unwrap(), Some(1));
        assert_eq!(reader.join().unwrap(), Some(0), "the key was there all the time");
        format!("fell back: {}", table.stats().fallbacks == 1)
    });
}

#[test]
fn once_a_reader_has_hit_no_later_reader_misses() {
    model(&["None then None", "None then Some(1)", "Some(1) then Some(1)"], || {
        let table = table(2, &[(STABLE, 0)]);
        let writer = {
            let table = Arc::clone(&table);
            spawn(move || table.insert(MOVING, 1))
        };
        let reader = spawn(move || {
            let first = table.get(&MOVING);
            let second = table.get(&MOVING);
            assert!(first.is_none() || second.is_some(), "nobody removed the key");
            format!("{first:?} then {second:?}")
        });
        assert_eq!(writer.join().unwrap(), Ok(()));
        reader.join().unwrap()
    });
}

#[test]
fn a_key_that_was_found_is_its_slots_key_from_then_on() {
    model(&["None", "Some(1)"], || {
        let table = table(2, &[(STABLE, 0)]);
        let writer = {
            let table = Arc::clone(&table);
            spawn(move || table.insert(MOVING, 1))
        };
        let reader = spawn(move || {
            let found = table.get(&MOVING);
            assert!(found.is_none() || table.key_of(1) == Some(MOVING), "found before it was linked");
            found
        });
        assert_eq!(writer.join().unwrap(), Ok(()));
        format!("{:?}", reader.join().unwrap())
    });
}
