//! Progress locks: who waits for news gets it, and nobody else is woken.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use sync::{Progress, ProgressLock};

#[test]
fn without_a_writer_there_is_nothing_to_wait_for() {
    let lock = ProgressLock::new(());
    assert_eq!(lock.wait_past(0), Progress::Released);
    let _reader = lock.read();
    assert_eq!(lock.wait_past(0), Progress::Released, "shared holders do not count");
}

#[test]
fn a_number_published_before_the_wait_is_returned_at_once_and_stays_after_the_release() {
    let lock = ProgressLock::new(0);
    let mut guard = lock.write();
    guard.set_progress(5);
    thread::scope(|s| s.spawn(|| assert_eq!(lock.wait_past(0), Progress::Changed(5))).join().unwrap());
    drop(guard);
    assert_eq!(lock.progress(), 5);
    lock.write().release_clearing();
    assert_eq!(lock.progress(), 0);
}

#[test]
fn publishing_wakes_those_for_whom_it_is_news_and_the_release_wakes_the_others() {
    let lock = ProgressLock::new(());
    let mut guard = lock.write();
    guard.set_progress(1);
    let (tell, told) = mpsc::channel();
    thread::scope(|s| {
        for old in [1, 2] {
            let (lock, tell) = (&lock, tell.clone());
            s.spawn(move || {
                // The one that waits past 2 gets 1 first, which is news to it too.
                let mut outcome = lock.wait_past(old);
                if outcome == Progress::Changed(1) {
                    tell.send((old, outcome)).unwrap();
                    outcome = lock.wait_past(1);
                }
                tell.send((old, outcome)).unwrap();
            });
        }
        assert_eq!(told.recv().unwrap(), (2, Progress::Changed(1)));
        assert!(told.try_recv().is_err(), "nobody has anything else to learn");
        guard.set_progress(1);
        guard.set_progress(2);
        let mut both = [told.recv().unwrap(), told.recv().unwrap()];
        both.sort_by_key(|&(old, _)| old);
        assert_eq!(both, [(1, Progress::Changed(2)), (2, Progress::Changed(2))]);
        drop(guard);
    });
}

#[test]
fn a_downgrade_and_a_panic_end_the_wait_as_a_release_does() {
    for panics in [false, true] {
        let lock = ProgressLock::new(());
        let (held, is_held) = mpsc::channel();
        thread::scope(|s| {
            let holder = s.spawn(|| {
                let guard = lock.write();
                held.send(()).unwrap();
                while !format!("{lock:?}").contains("locked") {
                    thread::yield_now();
                }
                thread::sleep(std::time::Duration::from_millis(5)); // so that the waiter sleeps, as a rule
                if panics {
                    panic!("while holding the lock");
                }
                drop(guard.downgrade());
            });
            is_held.recv().unwrap();
            assert_eq!(lock.wait_past(0), Progress::Released);
            assert_eq!(holder.join().is_err(), panics);
        });
    }
}

#[test]
fn followers_of_a_fast_writer_see_rising_numbers_and_end_with_it() {
    let lock = ProgressLock::new(());
    let written = AtomicU64::new(0);
    let mut guard = lock.write();
    guard.set_progress(1);
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                let mut seen = 0;
                while let Progress::Changed(now) = lock.wait_past(seen) {
                    assert!(now > seen, "went back from {seen} to {now}");
                    assert!(written.load(Ordering::Relaxed) + 1 >= now, "published before it was written");
                    seen = now;
                }
            });
        }
        for progress in 2..20_000 {
            written.store(progress, Ordering::Relaxed);
            guard.set_progress(progress);
        }
        drop(guard);
    });
}

#[test]
fn write_or_wait_and_tries_work_beside_it() {
    let lock = ProgressLock::<Vec<u8>>::default();
    lock.write_or_wait().expect("free").push(1);
    assert_eq!(lock.try_read().as_deref(), Some(&vec![1]));
    let guard = lock.try_write().expect("free");
    assert!(lock.try_write().is_none());
    drop(guard);
    assert_eq!(lock.into_inner(), [1]);
}

#[cfg(debug_assertions)]
#[test]
#[should_panic(expected = "recursive wait_past")]
fn a_holder_that_waits_for_its_own_progress_panics_in_debug_builds() {
    let lock = ProgressLock::new(());
    let _guard = lock.write();
    lock.wait_past(0);
}
