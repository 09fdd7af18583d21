//! What a lock refuses: too many readers, and in debug builds a thread that would wait for itself.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use sync::LwLock;

const MAX_READERS: u32 = 16_777_215;

/// What the panic of `action` says.
fn panic_text<R>(action: impl FnOnce() -> R) -> String {
    match catch_unwind(AssertUnwindSafe(|| drop(action()))) {
        Ok(()) => String::from("no panic"),
        Err(payload) => *payload.downcast::<String>().expect("the message has arguments"),
    }
}

/// Leaves `count` shared holds behind. Several threads do it: debug builds remember each hold until its
/// thread ends.
fn leave_behind(lock: &LwLock<()>, count: u32) {
    let part = count.div_ceil(32);
    for start in (0..count).step_by(part as usize) {
        let leave = || (start..count.min(start + part)).for_each(|_| forget(lock.try_read()));
        thread::scope(|s| s.spawn(leave).join().expect("no panic"));
    }
}

#[test]
fn one_reader_too_many_panics_before_it_is_counted() {
    let lock = LwLock::new(());
    leave_behind(&lock, MAX_READERS - 1);
    for _ in 0..2 {
        let last = lock.try_read().expect("one more has room");
        let text = thread::scope(|s| s.spawn(|| panic_text(|| lock.read())).join().expect("it was caught"));
        assert_eq!(text, "more than 16777215 readers of one lock");
        assert_eq!(panic_text(|| lock.try_read()), "more than 16777215 readers of one lock");
        assert!(lock.try_write().is_none());
        drop(last);
    }
    assert!(lock.is_locked());
    assert!(!lock.is_write_locked(), "the count ran into the next bit");
}

#[cfg(debug_assertions)]
mod recursion {
    use super::panic_text;
    use std::mem::forget;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;
    use sync::LwLock;

    fn refusal(what: &str) -> String {
        format!("recursive {what}: this thread holds the lock already and would wait for itself")
    }

    fn every_acquire_panics(lock: &LwLock<u8>) {
        assert_eq!(panic_text(|| lock.read()), refusal("read"));
        assert_eq!(panic_text(|| lock.write()), refusal("write"));
        assert_eq!(panic_text(|| lock.write_or_wait()), refusal("write_or_wait"));
    }

    #[test]
    fn an_acquire_of_a_lock_that_the_thread_reads_panics() {
        let lock = LwLock::new(0);
        let guard = lock.read();
        every_acquire_panics(&lock);
        drop(guard);
        assert!(lock.try_write().is_some(), "the failed acquires left something behind");
    }

    #[test]
    fn an_acquire_of_a_lock_that_the_thread_writes_panics() {
        let lock = LwLock::new(0);
        let guard = lock.write();
        every_acquire_panics(&lock);
        let guard = guard.downgrade();
        every_acquire_panics(&lock);
        drop(guard);
        drop(lock.write());
    }

    #[test]
    fn holds_taken_by_a_try_count_too() {
        let lock = LwLock::new(0);
        let guards = (lock.try_read(), lock.try_read_for(Duration::ZERO));
        drop(guards.0);
        every_acquire_panics(&lock);
        drop(guards.1);
        let guard = lock.write_or_wait().expect("the lock is free");
        every_acquire_panics(&lock);
        drop(guard);
        let guard = lock.try_write_for(Duration::MAX).expect("the lock is free");
        every_acquire_panics(&lock);
        drop(guard);
        drop(lock.read());
    }

    #[test]
    fn tries_of_a_lock_that_the_thread_holds_just_fail() {
        let lock = LwLock::new(0);
        let guard = lock.write();
        assert!(lock.try_read().is_none());
        assert!(lock.try_write().is_none());
        assert!(lock.try_read_for(Duration::from_millis(1)).is_none());
        assert!(lock.try_write_for(Duration::from_millis(1)).is_none());
        drop(guard);
    }

    #[test]
    fn a_try_without_a_time_limit_panics_where_it_would_hang() {
        let (tell, told) = channel();
        thread::spawn(move || {
            let lock = LwLock::new(0);
            let guard = lock.write();
            let texts = [
                panic_text(|| lock.try_read_for(Duration::MAX)),
                panic_text(|| lock.try_write_for(Duration::MAX)),
            ];
            drop(guard);
            tell.send(texts).expect("somebody waits for it");
        });
        let texts = told.recv_timeout(Duration::from_secs(10)).expect("the thread waits for itself");
        assert!(texts.iter().all(|text| text.starts_with("recursive ")), "{texts:?}");
    }

    #[test]
    fn holding_another_lock_is_no_recursion() {
        let locks = [LwLock::new(0), LwLock::new(0)];
        let first = locks[0].write();
        drop(locks[1].write());
        let second = locks[1].read();
        drop(first);
        drop(locks[0].write());
        every_acquire_panics(&locks[1]);
        drop(second);
    }

    #[test]
    fn another_thread_may_wait_for_a_lock_that_this_one_holds() {
        let lock = LwLock::new(0);
        thread::scope(|s| {
            let guard = lock.read();
            s.spawn(|| drop(lock.write()));
            thread::sleep(Duration::from_millis(2));
            drop(guard);
        });
    }

    #[test]
    fn a_new_lock_is_not_taken_for_one_at_the_same_place() {
        for _ in 0..100 {
            let lock = Box::new(LwLock::new(0));
            forget(lock.read());
            every_acquire_panics(&lock);
        }
    }
}
