//! What becomes of a walk that was torn, and of a pin beside which a chain has changed.

use super::FlatMap;
use crate::bucket::Walk;
use crate::config::MissPolicy;

fn table(miss: MissPolicy) -> FlatMap<u64> {
    let table = FlatMap::builder().slots(8).buckets(1).partitions(1).miss(miss).build().expect("valid");
    table.insert(1, 0).expect("free");
    table
}

#[test]
fn a_torn_walk_is_settled_by_the_next_and_a_miss_under_the_lock_where_that_is_the_policy() {
    let again = |table: &FlatMap<u64>, key: u64| table.look_again(table.hash(&key), &key, Walk::Torn);
    let (validated, locked) = (table(MissPolicy::Validated), table(MissPolicy::Locked));
    assert_eq!((again(&validated, 1), again(&validated, 2)), (Some(0), None));
    assert_eq!((again(&locked, 1), again(&locked, 2)), (Some(0), None));
    let counts = |table: &FlatMap<u64>| {
        let stats = table.stats();
        (stats.retried, stats.fallbacks, stats.fallback_hits, stats.unlocked_hits, stats.unlocked_misses)
    };
    let counted = |count: u64| cfg!(feature = "stats").then_some(count);
    assert_eq!(counts(&validated), (2, 0, 0, counted(1), counted(1)));
    assert_eq!(counts(&locked), (1, 1, 0, counted(1), counted(0)));
}

#[test]
fn a_pin_stays_though_another_key_of_its_bucket_has_come_meanwhile() {
    let table = table(MissPolicy::Validated);
    let mut pins = 0;
    let pinned = table.pin_with(&1, |slot| {
        pins += 1;
        table.insert(10 + u64::from(pins), pins).expect("free");
        Some(slot)
    });
    assert_eq!((pinned, pins), (Some((0, 0)), 1));
}
