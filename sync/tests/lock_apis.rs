//! The traits of the crate `lock_api`: each call takes, refuses and gives back what its name says.
#![cfg(all(feature = "lock_api", not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle")))))]

use std::thread;
use std::time::{Duration, Instant};

use lock_api::{RwLock as Generic, RwLockReadGuard, RwLockWriteGuard};
use sync::RawLwLock;

type RwLock = Generic<RawLwLock, u32>;

const SOON: Duration = Duration::from_millis(1);
const LATE: Duration = Duration::from_secs(3600);

/// Which of the tries, plain and timed, another thread gets: shared ones, exclusive ones.
fn admitted(lock: &RwLock) -> ([bool; 3], [bool; 3]) {
    /// Each guard goes at once, before the next try.
    fn got<G>(guard: Option<G>) -> bool {
        guard.is_some()
    }
    let soon = || Instant::now() + SOON;
    let tries = || {
        let shared = [got(lock.try_read()), got(lock.try_read_for(SOON)), got(lock.try_read_until(soon()))];
        let exclusive =
            [got(lock.try_write()), got(lock.try_write_for(SOON)), got(lock.try_write_until(soon()))];
        (shared, exclusive)
    };
    thread::scope(|s| s.spawn(tries).join().expect("no panic"))
}

/// The free lock, taken exclusively in one of four ways.
fn exclusive(lock: &RwLock, way: u32) -> Option<RwLockWriteGuard<'_, RawLwLock, u32>> {
    match way {
        0 => Some(lock.write()),
        1 => lock.try_write(),
        2 => lock.try_write_for(LATE),
        _ => lock.try_write_until(Instant::now() + LATE),
    }
}

/// The free lock, taken shared in one of five ways.
fn shared(lock: &RwLock, way: u32) -> Option<RwLockReadGuard<'_, RawLwLock, u32>> {
    match way {
        0 => Some(lock.read()),
        1 => lock.try_read(),
        2 => lock.try_read_for(LATE),
        3 => lock.try_read_until(Instant::now() + LATE),
        _ => Some(RwLockWriteGuard::downgrade(lock.write())),
    }
}

#[test]
fn a_hold_of_either_kind_lets_in_whom_it_should_and_ends_with_its_guard() {
    let lock = RwLock::new(1);
    let said = || (lock.is_locked(), lock.is_locked_exclusive());
    for way in 0..4 {
        let guard = exclusive(&lock, way).expect("it is free");
        assert_eq!((admitted(&lock), said()), (([false; 3], [false; 3]), (true, true)), "way {way}");
        drop(guard);
        assert_eq!((admitted(&lock), said()), (([true; 3], [true; 3]), (false, false)), "way {way}");
    }
    for way in 0..5 {
        let guard = shared(&lock, way).expect("it is free");
        assert_eq!((admitted(&lock), said()), (([true; 3], [false; 3]), (true, false)), "way {way}");
        drop(guard);
        assert_eq!((admitted(&lock), said()), (([true; 3], [true; 3]), (false, false)), "way {way}");
    }
}

#[cfg(debug_assertions)]
#[test]
fn an_acquire_that_would_wait_for_itself_panics() {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    let lock = RwLock::new(1);
    let guard = lock.write();
    let text = |action: &dyn Fn()| {
        let payload = catch_unwind(AssertUnwindSafe(action)).expect_err("it would wait for ever");
        *payload.downcast::<String>().expect("the message has arguments")
    };
    let of_itself = "this thread holds the lock already and would wait for itself";
    assert_eq!(text(&|| drop(lock.read())), format!("recursive read: {of_itself}"));
    assert_eq!(text(&|| drop(lock.write())), format!("recursive write: {of_itself}"));
    drop(guard);
    assert_eq!(*lock.read(), 1);
}
