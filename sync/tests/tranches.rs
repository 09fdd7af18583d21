//! What a tranche records: each acquisition once, by how the lock was taken and whether the thread slept.
#![cfg(feature = "stats")]

use std::thread;
use std::time::Duration;
use sync::{LwLock, Tranche, TrancheStats};

/// Shared, shared that slept, exclusive, exclusive that slept.
fn counts(stats: &TrancheStats) -> [u64; 4] {
    let TrancheStats { shared, shared_waited, exclusive, exclusive_waited, .. } = stats;
    [shared, shared_waited, exclusive, exclusive_waited].map(|of| of.count)
}

#[test]
fn each_way_to_take_a_free_lock_is_recorded_once() {
    static TRANCHE: Tranche = Tranche::new("free");
    let lock = LwLock::in_tranche((), &TRANCHE);
    let second = Duration::from_secs(1);
    assert_eq!(TRANCHE.name(), "free");
    let mut expected = [0; 4];
    for way in 0..4 {
        match way {
            0 => drop(lock.read()),
            1 => drop(lock.try_read().expect("it is free")),
            2 => drop(lock.try_read_for(second).expect("it is free")),
            _ => drop(lock.try_read_for(Duration::MAX).expect("it is free")),
        }
        expected[0] += 1;
        assert_eq!(counts(&TRANCHE.stats()), expected, "shared, way {way}");
        match way {
            0 => drop(lock.write()),
            1 => drop(lock.try_write().expect("it is free")),
            2 => drop(lock.try_write_for(second).expect("it is free")),
            _ => drop(lock.write_or_wait().expect("it is free").downgrade()),
        }
        expected[2] += 1;
        assert_eq!(counts(&TRANCHE.stats()), expected, "exclusive, way {way}");
    }
}

#[test]
fn who_slept_for_the_lock_is_recorded_apart() {
    static TRANCHE: Tranche = Tranche::new("held");
    let lock = LwLock::in_tranche((), &TRANCHE);
    for way in 0..4 {
        let slept_of = |counts: [u64; 4]| if way < 2 { counts[1] } else { counts[3] };
        let before = counts(&TRANCHE.stats());
        let mut rounds = 0;
        // The hold is long enough, as a rule, for the other thread to come and to sleep.
        while slept_of(counts(&TRANCHE.stats())) == slept_of(before) {
            rounds += 1;
            let guard = lock.write();
            thread::scope(|s| {
                s.spawn(|| match way {
                    0 => drop(lock.read()),
                    1 => drop(lock.try_read_for(Duration::MAX)),
                    2 => drop(lock.write()),
                    _ => drop(lock.try_write_for(Duration::MAX)),
                });
                thread::sleep(Duration::from_millis(20));
                drop(guard);
            });
            let [shared, shared_slept, exclusive, exclusive_slept] = counts(&TRANCHE.stats());
            let all = (shared + shared_slept, exclusive + exclusive_slept);
            let others = if way < 2 { (rounds, 0) } else { (0, rounds) };
            let expected = (before[0] + before[1] + others.0, before[2] + before[3] + rounds + others.1);
            assert_eq!(all, expected, "way {way}");
        }
    }
}
