//! What a conditional lock counts and says, call by call.

use std::thread;
use sync::CondLock;

/// A lock with 3 pending.
fn with_three_pending(lock: CondLock<i64>) -> CondLock<i64> {
    let holder = lock.lock();
    thread::scope(|s| s.spawn(|| assert_eq!(lock.update(3, |_| ()), None)).join().unwrap());
    drop(holder);
    assert_eq!(lock.pending(), 3);
    lock
}

#[test]
fn force_counts_its_own_delta_and_what_is_pending() {
    for new in [CondLock::new, CondLock::quiet] {
        let lock = with_three_pending(new(10, 32));
        assert_eq!(lock.force(5, |n| *n), 18);
        assert_eq!(lock.force(-20, |n| *n), -2);
        assert_eq!(lock.pending(), 0);
    }
}

#[test]
fn what_was_deferred_once_is_counted_by_the_next_update() {
    let lock = with_three_pending(CondLock::new(10, 32));
    assert_eq!((lock.update(1, |n| *n), lock.pending()), (Some(14), 0));
}

#[test]
fn what_is_pending_is_not_lost_with_the_lock() {
    assert_eq!(with_three_pending(CondLock::new(10, 32)).into_inner(), 13);
    assert_eq!(*with_three_pending(CondLock::new(10, 32)).get_mut(), 13);
}

#[test]
fn a_lock_tells_its_cap_and_whether_it_is_held() {
    let lock = CondLock::new(0_i64, 7);
    assert_eq!((lock.cap(), lock.max_lag()), (7, 7 * 32));
    assert!(!lock.is_locked());
    let guard = lock.lock();
    assert!(lock.is_locked());
    drop(guard);
    assert!(!lock.is_locked());
}
