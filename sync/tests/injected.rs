//! Rare outcomes, forced one by one on a single thread.
#![cfg(feature = "inject")]

use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use sync::inject::{Point, force};
use sync::{Absorb, CondLock, LwLock, SeqLock};

#[test]
fn a_forced_failure_of_a_try_takes_nothing_and_the_next_try_succeeds() {
    let lock = LwLock::new(());
    let script = force(Point::TryLock, 0b1011);
    assert!(lock.try_read().is_none());
    assert!(lock.try_write().is_none());
    assert!(!lock.is_locked());
    assert!(lock.try_write().is_some());
    assert_eq!((script.passes(), script.fired()), (3, 2));
    drop(script);
    assert!(lock.try_read().is_some(), "a dropped script forces nothing");
}

#[test]
fn sixteen_torn_reads_end_with_the_value_all_the_same() {
    let lock = SeqLock::new([3_u64; 4]);
    let script = force(Point::TornRead, u64::MAX);
    assert_eq!(lock.try_read(), None);
    assert_eq!(lock.read(), [3; 4], "under the publication's mutex");
    assert_eq!(script.fired(), 17);
}

#[test]
fn deferred_counts_stop_at_the_cap_and_are_all_folded_in() {
    let lock = CondLock::new(0_i64, 3);
    let script = force(Point::CondBusy, 0b0111_1111);
    let counted: Vec<_> = (0..8).map(|_| lock.update(1, |total| *total)).collect();
    assert_eq!(counted, [None, None, None, Some(4), None, None, None, Some(8)]);
    assert_eq!(script.fired(), 7);
}

#[test]
fn an_update_at_the_cap_hears_that_it_waited_and_no_other_does() {
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Waits {
        total: i64,
        waits: u32,
    }

    impl Absorb for Waits {
        fn absorb(&mut self, n: i64) {
            self.total += n;
        }

        fn waited(&mut self) {
            self.waits += 1;
        }
    }

    let lock = CondLock::new(Waits { total: 0, waits: 0 }, 1);
    let _script = force(Point::CondBusy, 0b011);
    let counted: Vec<_> = (0..3).map(|_| lock.update(1, |waits| *waits)).collect();
    let waits = |total| Some(Waits { total, waits: 1 });
    assert_eq!(counted, [None, waits(2), waits(3)]);
}

#[test]
fn a_quiet_thread_that_met_contention_looks_only_at_every_cap_th_update_until_it_was_free_eight_times() {
    let lock = CondLock::quiet(0_i64, 8);
    let script = force(Point::CondBusy, 0b1);
    assert_eq!(lock.update(1, |total| *total), None, "busy");
    for look in 1..=8_u32 {
        for _ in 0..7 {
            assert_eq!(lock.update(1, |total| *total), None);
        }
        assert_eq!(script.passes(), u64::from(look), "seven updates did not look at the lock");
        let exact = 1 + 8 * i64::from(look);
        assert_eq!(lock.update(1, |total| *total), Some(exact), "this one looks, and folds its own in");
    }
    assert_eq!(lock.update(1, |total| *total), Some(66), "steady again");
    assert_eq!(lock.max_lag(), 8 * 32);
}

#[test]
fn a_waiter_that_loses_every_race_is_handed_the_lock() {
    let lock = LwLock::new(0);
    let (lost, has_lost) = mpsc::channel();
    thread::scope(|s| {
        let mut guard = Some(lock.write());
        let waiter = s.spawn(|| {
            let script = force(Point::LostRace, u64::MAX);
            *lock.write() += 1;
            lost.send(script.fired()).unwrap();
        });
        // Each release wakes the waiter, which then loses: until a release hands it the lock.
        while !waiter.is_finished() {
            drop(guard.take());
            thread::sleep(Duration::from_micros(50));
            guard = lock.try_write();
        }
        drop(guard);
    });
    assert!(has_lost.recv().unwrap() <= 9, "handed over after eight lost races, or after its patience");
    assert_eq!(lock.into_inner(), 1);
}

#[test]
#[should_panic(expected = "a script is in force at TryLock already")]
fn a_second_script_at_one_point_is_refused_instead_of_ending_the_first() {
    let _outer = force(Point::TryLock, 0);
    let _inner = force(Point::TryLock, 1);
}
