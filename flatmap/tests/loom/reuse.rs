//! Lookups against a slot that is given to another key. Slot 1 begins as `LEAVING`'s, in front of `STABLE`.

use super::*;

const STABLE: Key = key(1, 0);
const LEAVING: Key = key(2, 0);

/// One thread gives slot 1 from `LEAVING` to `coming`, another looks `wanted` up.
fn against_reuse(coming: Key, wanted: Key) -> Option<u32> {
    let table = table(2, &[(STABLE, 0), (LEAVING, 1)]);
    let writer = {
        let table = Arc::clone(&table);
        spawn(move || {
            assert_eq!(table.remove(&LEAVING), Some(1));
            assert_eq!(table.insert(coming, 1), Ok(()));
        })
    };
    let reader = spawn(move || table.get(&wanted));
    writer.join().unwrap();
    reader.join().unwrap()
}

#[test]
fn a_stable_key_is_never_missed_while_a_slot_moves_to_another_bucket() {
    model(&["Some(0)"], || {
        let found = against_reuse(key(3, 1), STABLE);
        assert_eq!(found, Some(0), "the key was there all the time");
        format!("{found:?}")
    });
}

#[test]
fn a_stable_key_is_never_missed_while_a_slot_moves_within_the_bucket() {
    model(&["Some(0)"], || {
        let found = against_reuse(key(3, 0), STABLE);
        assert_eq!(found, Some(0), "the key was there all the time");
        format!("{found:?}")
    });
}

#[test]
fn a_key_behind_a_slot_that_leaves_in_mid_chain_is_never_missed() {
    model(&["Some(0)"], || {
        // The head leads to slot 2 before and after: only its stamp tells.
        let table = table(3, &[(STABLE, 0), (LEAVING, 1), (key(4, 0), 2)]);
        let writer = {
            let table = Arc::clone(&table);
            spawn(move || {
                assert_eq!(table.remove(&LEAVING), Some(1));
                assert_eq!(table.insert(key(3, 1), 1), Ok(()));
            })
        };
        let reader = {
            let table = Arc::clone(&table);
            spawn(move || table.get(&STABLE))
        };
        writer.join().unwrap();
        let found = reader.join().unwrap();
        assert_eq!(found, Some(0), "the key was there all the time");
        format!("{found:?}")
    });
}

#[test]
fn a_mix_of_the_old_and_the_new_key_is_never_found() {
    model(&["None"], || {
        // The new key's first word and the old one's second make a key of the old bucket.
        let found = against_reuse(key(3, 1), key(3, 0));
        assert_eq!(found, None, "nobody ever inserted this key");
        format!("{found:?}")
    });
}

#[test]
fn a_mix_of_the_new_and_the_old_key_is_never_found_either() {
    model(&["None"], || {
        // All three keys are of one bucket; the wanted one has the old key's first word and the new one's second.
        let found = against_reuse(key(3, 2), key(LEAVING.id, 2));
        assert_eq!(found, None, "nobody ever inserted this key");
        format!("{found:?}")
    });
}

#[test]
fn the_coming_key_is_found_in_its_slot_or_not_at_all() {
    model(&["None", "Some(1)"], || {
        let found = against_reuse(key(3, 1), key(3, 1));
        assert!(matches!(found, None | Some(1)));
        format!("{found:?}")
    });
}

#[test]
fn the_leaving_key_is_found_in_its_slot_or_not_at_all() {
    model(&["None", "Some(1)"], || {
        let found = against_reuse(key(3, 1), LEAVING);
        assert!(matches!(found, None | Some(1)));
        format!("{found:?}")
    });
}

#[test]
fn a_slot_freed_by_one_thread_and_claimed_by_another_misleads_no_reader() {
    model(&["claimed: true", "claimed: false"], || {
        let table = table(2, &[(STABLE, 0), (LEAVING, 1)]);
        let remover = {
            let table = Arc::clone(&table);
            spawn(move || table.remove(&LEAVING))
        };
        let inserter = {
            let table = Arc::clone(&table);
            spawn(move || table.insert(key(3, 1), 1))
        };
        let reader = spawn(move || table.get(&STABLE));
        assert_eq!(remover.join().unwrap(), Some(1));
        assert_eq!(reader.join().unwrap(), Some(0), "the key was there all the time");
        format!("claimed: {}", inserter.join().unwrap().is_ok())
    });
}

#[test]
fn the_key_of_a_reused_slot_is_one_of_its_keys_and_never_a_mix() {
    let coming = key(3, 1);
    model(&["None", "2", "3"], move || {
        let table = table(2, &[(STABLE, 0), (LEAVING, 1)]);
        let writer = {
            let table = Arc::clone(&table);
            spawn(move || {
                assert_eq!(table.remove(&LEAVING), Some(1));
                assert_eq!(table.insert(coming, 1), Ok(()));
            })
        };
        let reader = spawn(move || table.key_of(1));
        writer.join().unwrap();
        let found = reader.join().unwrap();
        assert!(matches!(found, None | Some(LEAVING)) || found == Some(coming), "{found:?} was never there");
        found.map_or("None".into(), |key| key.id.to_string())
    });
}

#[test]
fn removing_a_reused_slot_takes_one_of_its_keys_exactly_once() {
    let coming = key(3, 1);
    model(&["2", "3", "None"], move || {
        let table = table(2, &[(STABLE, 0), (LEAVING, 1)]);
        let writer = {
            let table = Arc::clone(&table);
            spawn(move || {
                let removed = table.remove(&LEAVING);
                let inserted = table.insert(coming, 1);
                assert_eq!(inserted, Ok(()), "the slot is free, whoever freed it");
                removed
            })
        };
        let remover = {
            let table = Arc::clone(&table);
            spawn(move || table.remove_slot(1))
        };
        let by_key = writer.join().unwrap();
        let by_slot = remover.join().unwrap();
        assert_ne!(by_key.is_some(), by_slot == Some(LEAVING), "one of the two removed the first key");
        assert_eq!(table.get(&coming).is_some(), by_slot != Some(coming));
        by_slot.map_or("None".into(), |key| key.id.to_string())
    });
}
