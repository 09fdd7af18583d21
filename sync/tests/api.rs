//! The public interface of [`LwLock`], call by call.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

#[path = "common/watchdog.rs"]
mod watchdog;

use std::cell::Cell;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use sync::{LwLock, ProgressLock, ReadGuard, SeqLock, Stamp, Tranche, WriteGuard};
use watchdog::watch;

const A_MOMENT: Duration = Duration::from_millis(2);

/// Whether some other thread could take `lock` in each mode.
fn admits<T: Send + Sync>(lock: &LwLock<T>) -> (bool, bool) {
    let ask = || {
        let shared = lock.try_read().is_some();
        (shared, lock.try_write().is_some())
    };
    thread::scope(|s| s.spawn(ask).join().expect("no panic"))
}

#[test]
fn readers_share() {
    let lock = LwLock::new(5);
    let guard = lock.read();
    assert_eq!(*guard, 5);
    assert_eq!(admits(&lock), (true, false));
    drop(guard);
    assert_eq!(admits(&lock), (true, true));
}

#[test]
fn a_writer_is_alone() {
    let lock = LwLock::new(5);
    let mut guard = lock.write();
    *guard += 1;
    assert_eq!(admits(&lock), (false, false));
    drop(guard);
    assert_eq!(admits(&lock), (true, true));
    assert_eq!(*lock.read(), 6);
}

#[test]
fn a_writer_waits_for_the_last_of_several_readers() {
    let lock = LwLock::new(());
    let guards = [(); 3].map(|()| lock.try_read().expect("readers share"));
    for guard in guards {
        assert!(lock.try_write().is_none());
        drop(guard);
    }
    assert!(lock.try_write().is_some());
}

#[test]
fn the_state_can_be_asked_for() {
    let lock = LwLock::new(());
    assert_eq!((lock.is_locked(), lock.is_write_locked()), (false, false));
    let shared = lock.read();
    assert_eq!((lock.is_locked(), lock.is_write_locked()), (true, false));
    drop(shared);
    let exclusive = lock.write();
    assert_eq!((lock.is_locked(), lock.is_write_locked()), (true, true));
    drop(exclusive);
    assert_eq!((lock.is_locked(), lock.is_write_locked()), (false, false));
}

#[test]
fn timed_tries_take_a_free_lock_whatever_the_time() {
    let lock = LwLock::new(());
    for timeout in [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(1), Duration::MAX] {
        assert!(lock.try_read_for(timeout).is_some());
        assert!(lock.try_write_for(timeout).is_some());
    }
}

#[test]
fn timed_tries_end_when_their_time_has_passed() {
    let _dog = watch("timed tries");
    let lock = LwLock::new(());
    for timeout in [Duration::ZERO, Duration::from_nanos(1), A_MOMENT] {
        let shared = lock.read();
        assert!(lock.try_write_for(timeout).is_none());
        drop(shared);
        let exclusive = lock.write();
        assert!(lock.try_read_for(timeout).is_none());
        assert!(lock.try_write_for(timeout).is_none());
        drop(exclusive);
        assert_eq!(admits(&lock), (true, true), "a try that gave up left something behind");
    }
}

#[test]
fn a_timed_try_takes_a_lock_that_becomes_free_in_time() {
    let _dog = watch("timed tries in time");
    let lock = LwLock::new(());
    let asked = AtomicBool::new(false);
    thread::scope(|s| {
        let guard = lock.write();
        let waiters =
            [Duration::from_secs(3600), Duration::MAX, Duration::from_secs(u64::MAX)].map(|timeout| {
                let (lock, asked) = (&lock, &asked);
                s.spawn(move || {
                    asked.store(true, Ordering::Relaxed);
                    lock.try_read_for(timeout).is_some() && lock.try_write_for(timeout).is_some()
                })
            });
        while !asked.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        thread::sleep(A_MOMENT);
        drop(guard);
        for waiter in waiters {
            assert!(waiter.join().expect("no panic"), "the lock came free in time");
        }
    });
}

#[test]
fn write_or_wait_takes_a_free_lock() {
    let lock = LwLock::new(1);
    let mut guard = lock.write_or_wait().expect("the lock is free");
    *guard += 1;
    assert_eq!(admits(&lock), (false, false));
    drop(guard);
    assert_eq!(lock.into_inner(), 2);
}

#[test]
fn write_or_wait_returns_nothing_once_the_hold_has_ended() {
    let _dog = watch("write_or_wait");
    let lock = LwLock::new(());
    let (started, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|s| {
        let guard = lock.write();
        let waiter = s.spawn(|| {
            started.store(true, Ordering::Relaxed);
            let taken = lock.write_or_wait().is_some();
            // Without a wait the lock was free, which takes the same release.
            assert!(ended.load(Ordering::Relaxed), "came back during the hold; took the lock: {taken}");
            taken
        });
        while !started.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        thread::sleep(10 * A_MOMENT);
        ended.store(true, Ordering::Relaxed);
        drop(guard);
        assert!(!waiter.join().expect("no panic"), "it should have waited");
    });
    assert_eq!(admits(&lock), (true, true), "who has waited holds nothing");
}

#[test]
fn a_downgraded_guard_shares_what_it_wrote() {
    let lock = LwLock::new(1);
    let mut guard = lock.write();
    *guard = 2;
    let guard = guard.downgrade();
    assert_eq!(*guard, 2);
    assert_eq!((lock.is_locked(), lock.is_write_locked()), (true, false));
    assert_eq!(admits(&lock), (true, false));
    drop(guard);
    assert_eq!(admits(&lock), (true, true));
}

#[test]
fn a_panic_lets_go_and_poisons_nothing() {
    let lock = LwLock::new(1);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut guard = lock.write();
        *guard = 2;
        panic!("on purpose");
    }));
    assert!(panicked.is_err());
    assert_eq!(*lock.write(), 2);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _guard = lock.write().downgrade();
        panic!("on purpose");
    }));
    assert!(panicked.is_err());
    assert_eq!(admits(&lock), (true, true));
}

#[test]
fn a_unique_reference_needs_no_lock() {
    let mut lock = LwLock::new(vec![1]);
    lock.get_mut().push(2);
    assert_eq!(lock.into_inner(), [1, 2]);
}

#[test]
fn a_lock_can_be_a_static_and_a_constant() {
    static LOCK: LwLock<Vec<u8>> = LwLock::new(Vec::new());
    #[expect(
        clippy::declare_interior_mutable_const,
        reason = "each use is a lock of its own, as it should be"
    )]
    const NEW: LwLock<u8> = LwLock::new(3);
    LOCK.write().push(1);
    assert_eq!(*LOCK.read(), [1]);
    assert!([NEW; 2].into_iter().all(|lock| lock.into_inner() == 3));
}

#[test]
fn unsized_data_can_be_locked() {
    let mut slice: Box<LwLock<[u8]>> = Box::new(LwLock::new([1, 2, 3]));
    slice.write()[0] = 9;
    assert_eq!(*slice.write().downgrade(), [9, 2, 3]);
    assert_eq!(slice.write_or_wait().map(|guard| guard.len()), Some(3));
    slice.get_mut()[1] = 8;
    assert_eq!(format!("{slice:?}"), "LwLock { data: [9, 8, 3] }");
    let lock = LwLock::new(7);
    let dynamic: &LwLock<dyn Debug> = &lock;
    assert_eq!(format!("{:?} {dynamic:?}", &*dynamic.read()), "7 LwLock { data: 7 }");
}

#[test]
fn what_is_printed_is_the_data_where_it_can_be_read() {
    let lock = LwLock::new("text");
    assert_eq!(format!("{lock:?}"), r#"LwLock { data: "text" }"#);
    let shared = lock.read();
    assert_eq!(format!("{lock:?} {shared:?} {shared}"), r#"LwLock { data: "text" } "text" text"#);
    drop(shared);
    let exclusive = lock.write();
    assert_eq!(format!("{lock:?} {exclusive:?} {exclusive}"), r#"LwLock { data: <locked> } "text" text"#);
}

#[test]
fn a_lock_is_made_from_a_value_or_its_default() {
    assert_eq!(LwLock::from(4).into_inner(), 4);
    assert_eq!(LwLock::<u8>::default().into_inner(), 0);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn locks_and_guards_are_as_big_as_their_documentation_says() {
    let tranche = if cfg!(feature = "stats") { 8 } else { 0 };
    let lock = size_of::<LwLock<()>>();
    assert_eq!(lock, tranche + if cfg!(debug_assertions) { 32 } else { 24 });
    assert_eq!((size_of::<ReadGuard<'_, u8>>(), size_of::<WriteGuard<'_, u8>>()), (16, 16));
    assert_eq!(size_of::<ProgressLock<()>>(), lock + 8);
    assert_eq!((size_of::<SeqLock<()>>(), size_of::<SeqLock<[u8; 9]>>()), (lock + 16, lock + 16 + 16));
    assert_eq!((size_of::<Stamp>(), size_of::<Tranche>()), (8, if tranche == 0 { 16 } else { 31_280 }));
}

/// Resolves for one implementation only: a type that has the trait too makes the call ambiguous.
macro_rules! is_not {
    ($bound:path: $($type:ty),+) => {{
        trait Ambiguous<A> { fn check() {} }
        impl<T: ?Sized> Ambiguous<()> for T {}
        impl<T: ?Sized + $bound> Ambiguous<u8> for T {}
        $(<$type as Ambiguous<_>>::check();)+
    }};
}

#[test]
fn locks_and_guards_cross_threads_only_where_that_is_sound() {
    fn is_send<T: Send>() {}
    fn is_sync<T: Sync>() {}
    is_send::<LwLock<u8>>();
    is_sync::<LwLock<u8>>();
    is_send::<LwLock<Cell<u8>>>();
    is_not!(Sync: LwLock<Cell<u8>>, LwLock<Rc<u8>>, LwLock<MutexGuard<'static, u8>>);
    is_not!(Send: LwLock<Rc<u8>>, LwLock<MutexGuard<'static, u8>>);
    is_not!(Send: ReadGuard<'static, u8>, WriteGuard<'static, u8>);
    is_sync::<ReadGuard<'static, u8>>();
    is_sync::<WriteGuard<'static, u8>>();
    is_not!(Sync: ReadGuard<'static, Cell<u8>>, WriteGuard<'static, Cell<u8>>);
}
