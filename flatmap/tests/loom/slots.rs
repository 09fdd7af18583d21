//! Inserts against each other.

use super::*;
use flatmap::InsertError;

#[test]
fn of_two_inserts_of_one_key_one_wins_and_the_other_learns_the_slot() {
    model(&["first", "second"], || {
        let table = table(2, &[]);
        let threads = [0, 1].map(|slot| {
            let table = Arc::clone(&table);
            spawn(move || table.insert(key(1, 0), slot))
        });
        let [first, second] = threads.map(|thread| thread.join().unwrap());
        match (first, second) {
            (Ok(()), Err(InsertError::KeyExists { slot: 0 })) => "first".into(),
            (Err(InsertError::KeyExists { slot: 1 }), Ok(())) => "second".into(),
            other => panic!("impossible: {other:?}"),
        }
    });
}

#[test]
fn of_two_keys_for_one_slot_one_gets_it_across_partitions() {
    model(&["first", "second"], || {
        let table = table(1, &[]);
        let threads = [0, 1].map(|hash| {
            let table = Arc::clone(&table);
            spawn(move || table.insert(key(7, hash), 0))
        });
        let [first, second] = threads.map(|thread| thread.join().unwrap());
        let winner = match (first, second) {
            (Ok(()), Err(InsertError::SlotOccupied { slot: 0 })) => 0,
            (Err(InsertError::SlotOccupied { slot: 0 }), Ok(())) => 1,
            other => panic!("impossible: {other:?}"),
        };
        assert_eq!(table.get(&key(7, winner)), Some(0));
        assert_eq!(table.get(&key(7, 1 - winner)), None);
        assert_eq!(table.key_of(0), Some(key(7, winner)));
        ["first", "second"][winner as usize].into()
    });
}

#[test]
fn a_guard_sees_no_change_between_its_steps() {
    model(&["Ok(())", "Err(KeyExists { slot: 0 })"], || {
        let table = table(2, &[]);
        let holder = {
            let table = Arc::clone(&table);
            spawn(move || {
                let mut partition = table.partition(&key(1, 0));
                let before = partition.get(&key(1, 0)).unwrap();
                let inserted = partition.insert(key(1, 0), 0);
                assert_eq!(before.is_none(), inserted.is_ok(), "nobody came in between");
            })
        };
        let other = {
            let table = Arc::clone(&table);
            spawn(move || table.insert(key(1, 0), 1))
        };
        holder.join().unwrap();
        format!("{:?}", other.join().unwrap())
    });
}
