//! Closures that use the same map, as the documentation allows.

use super::*;
use lhash::{Computed, LHashMap, Operation};
use std::cell::Cell;

/// Two keys of one bucket.
const HERE: u64 = 0;
const BESIDE: u64 = 1 << 20;

fn with_both() -> LHashMap<u64, u64, Same> {
    let map = LHashMap::default();
    map.pin().insert(HERE, 0);
    map.pin().insert(BESIDE, 0);
    map
}

fn at_most(calls: &Cell<u32>) {
    calls.set(calls.get() + 1);
    assert!(calls.get() < 100, "never ends");
}

#[test]
fn update_ends_though_its_closure_changes_another_key_of_the_bucket() {
    let (map, calls) = (with_both(), Cell::new(0));
    let pin = map.pin();
    let updated = pin.update(HERE, |n| {
        at_most(&calls);
        pin.insert(BESIDE, 7);
        n + 1
    });
    assert_eq!(updated, Some(&1));
}

#[test]
fn remove_if_ends_though_its_closure_changes_another_key_of_the_bucket() {
    let (map, calls) = (with_both(), Cell::new(0));
    let pin = map.pin();
    let removed = pin.remove_if(&HERE, |_, _| {
        at_most(&calls);
        pin.insert(BESIDE, 7);
        true
    });
    assert_eq!(removed, Some(&0));
}

#[test]
fn compute_ends_though_its_closure_changes_another_key_of_the_bucket() {
    let (map, calls) = (with_both(), Cell::new(0));
    let pin = map.pin();
    let again = |_: Option<&u64>| {
        at_most(&calls);
        pin.insert(BESIDE, 7);
        Operation::Insert(5)
    };
    assert_eq!(pin.compute(HERE, again), Computed::Updated { old: &0, new: &5 });
    pin.remove(&HERE);
    calls.set(0);
    assert_eq!(pin.compute(HERE, again), Computed::Inserted(&5));
    calls.set(0);
    let remove = |_: Option<&u64>| {
        at_most(&calls);
        pin.insert(BESIDE, 7);
        Operation::Remove
    };
    assert_eq!(pin.compute(HERE, remove), Computed::Removed(&5));
}
