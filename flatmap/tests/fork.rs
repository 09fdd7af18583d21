//! A child after `fork`: if no other thread is in the middle of a call, it has a table of its own, whole and usable.
#![cfg(all(unix, not(all(loom, feature = "loom"))))]

#[path = "common/child.rs"]
mod child;

use child::in_a_child;
use flatmap::{FlatMap, MissPolicy, PinWord};

#[test]
fn a_child_has_a_table_of_its_own() {
    for miss in [MissPolicy::Validated, MissPolicy::Locked] {
        let table: FlatMap<u64> =
            FlatMap::builder().slots(64).partitions(4).miss(miss).build().expect("valid");
        let pins: Vec<PinWord> = (0..64).map(|_| PinWord::new()).collect();
        // Another thread has used it, and rests.
        std::thread::scope(|s| {
            s.spawn(|| (0..64).for_each(|n| table.insert(u64::from(n) * 7, n).expect("free")));
        });
        let child = || {
            assert_eq!((table.validate(), table.len()), (Ok(()), 64));
            let (slot, pin) = table.pin_with(&70, |slot| pins[slot as usize].pin()).expect("it is there");
            assert_eq!((slot, pins[10].pins()), (10, 1));
            drop(pin);
            (0..32).for_each(|slot| assert!(table.remove_slot(slot).is_some()));
            std::thread::scope(|s| _ = s.spawn(|| table.insert(1, 5).expect("free")));
            let mut guard = table.partition(&9);
            guard.insert(9, 6).expect("free");
            drop(guard);
            assert_eq!((table.validate(), table.len(), table.get(&1)), (Ok(()), 34, Some(5)));
        };
        assert_eq!(in_a_child(child), 0);
        assert_eq!(in_a_child(|| panic!("a child may fail")), 101);
        assert_eq!((table.validate(), table.len(), table.get(&1)), (Ok(()), 64, None), "as it was");
        assert_eq!(pins[10].pins(), 0);
    }
}
