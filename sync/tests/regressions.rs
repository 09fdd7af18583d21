//! Faults that other people's locks had, each as the smallest program that would show it in this one.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

#[path = "common/rng.rs"]
mod rng;
#[path = "common/watchdog.rs"]
mod watchdog;

use rng::{Rng, seed};
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;
use sync::LwLock;
use watchdog::watch;

const A_MOMENT: Duration = Duration::from_millis(2);

fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        thread::yield_now();
    }
}

/// While this thread reads, a try to read fails only if a writer has queued and asked for a hand-over.
fn wait_until_a_writer_insists(lock: &LwLock<u32>) {
    while lock.try_read().is_some() {
        thread::yield_now();
    }
}

fn assert_at_rest(lock: &LwLock<u32>) {
    assert!(!lock.is_locked(), "somebody holds the lock still");
    assert!(lock.try_write().is_some(), "a free lock refuses a writer");
    assert!(lock.try_read().is_some(), "a free lock refuses a reader");
}

#[test]
fn a_second_shared_acquire_behind_a_queued_writer_does_not_hang_unnoticed() {
    let _dog = watch("second shared acquire");
    let lock = LwLock::new(0);
    thread::scope(|s| {
        let first = lock.read();
        s.spawn(|| *lock.write() += 1);
        wait_until_a_writer_insists(&lock);
        assert!(lock.try_read().is_none());
        assert!(lock.try_read_for(A_MOMENT).is_none(), "it would pass the writer");
        assert!(lock.try_write().is_none());
        if cfg!(debug_assertions) {
            assert!(catch_unwind(AssertUnwindSafe(|| drop(lock.read()))).is_err(), "debug builds notice");
        }
        assert_eq!(*first, 0);
    });
    assert_eq!(*lock.read(), 1);
}

#[test]
fn timeouts_that_race_releases_leave_no_bit_behind() {
    let _dog = watch("timeouts");
    let lock = LwLock::new(0);
    let (taken, given_up) = (AtomicU32::new(0), AtomicU32::new(0));
    let seed = seed();
    let work = |seed| {
        let mut rng = Rng::new(seed);
        for _ in 0..400 {
            let timeout = Duration::from_nanos(rng.below(3_000_000) * rng.below(2));
            let got = if rng.below(3) == 0 {
                lock.try_write_for(timeout).map(|mut guard| *guard += 1).is_some()
            } else {
                let guard = lock.try_read_for(timeout);
                (0..rng.below(20)).for_each(|_| thread::yield_now());
                guard.is_some()
            };
            (if got { &taken } else { &given_up }).fetch_add(1, Ordering::Relaxed);
        }
    };
    let work = &work;
    thread::scope(|s| (0..6).for_each(|i| _ = s.spawn(move || work(seed + i))));
    println!("{taken:?} taken, {given_up:?} given up");
    assert!(taken.into_inner() > 0, "nobody ever got the lock");
    assert!(given_up.into_inner() > 0, "nobody ever gave up");
    assert_at_rest(&lock);
}

#[test]
fn who_waits_for_a_release_only_keeps_no_reader_out() {
    let _dog = watch("watchers and readers");
    let lock = LwLock::new(0);
    let started = AtomicBool::new(false);
    thread::scope(|s| {
        let guard = lock.read();
        s.spawn(|| {
            started.store(true, Ordering::Release);
            assert!(lock.write_or_wait().is_none(), "the lock is held");
        });
        wait_for(&started);
        for _ in 0..20 {
            thread::sleep(A_MOMENT / 2);
            assert!(lock.try_read().is_some(), "a reader was kept out");
        }
        drop(guard);
    });
}

#[test]
fn readers_let_in_beside_a_reader_do_not_end_its_hold() {
    let _dog = watch("hand-over beside a reader");
    let lock = LwLock::new(0);
    let (over, told, let_in) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    let flag = || AtomicBool::new(false);
    let (watching, done) = (flag(), flag());
    thread::scope(|s| {
        let guard = lock.read();
        s.spawn(|| {
            watching.store(true, Ordering::Release);
            assert!(lock.write_or_wait().is_none(), "the lock is held");
            told.store(true, Ordering::Release);
            assert!(over.load(Ordering::Acquire), "told of a release before there was one");
        });
        wait_for(&watching);
        thread::sleep(A_MOMENT);
        // A writer makes a reader wait behind it, and gives up: the reader is let in beside us.
        s.spawn(|| assert!(lock.try_write_for(100 * A_MOMENT).is_none(), "we read"));
        wait_until_a_writer_insists(&lock);
        s.spawn(|| {
            let _guard = lock.read();
            let_in.store(true, Ordering::Release);
            wait_for(&done);
        });
        wait_for(&let_in);
        thread::sleep(10 * A_MOMENT);
        let early = told.load(Ordering::Acquire);
        over.store(true, Ordering::Release);
        done.store(true, Ordering::Release);
        drop(guard);
        assert!(!early, "told of a release before there was one");
    });
}

#[test]
fn a_downgrade_loses_neither_its_own_write_nor_a_wake() {
    let _dog = watch("downgrades");
    let lock = LwLock::new(0);
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for _ in 0..1000 {
                    let mut guard = lock.write();
                    *guard += 1;
                    let mine = *guard;
                    assert_eq!(*guard.downgrade(), mine, "somebody wrote between");
                }
            });
            s.spawn(|| (0..1000).for_each(|_| assert!(*lock.read() <= 4000)));
        }
    });
    assert_at_rest(&lock);
    assert_eq!(lock.into_inner(), 4000);
}

#[test]
fn readers_and_a_writer_are_never_inside_together() {
    let _dog = watch("exclusion");
    let lock = LwLock::new(());
    let (readers, writers, met) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for i in 0..3000 {
                    let _guard = lock.write();
                    writers.store(1, Ordering::Relaxed);
                    if i % 16 == 0 {
                        thread::yield_now();
                    }
                    assert_eq!(readers.load(Ordering::Relaxed), 0, "a reader is inside");
                    writers.store(0, Ordering::Relaxed);
                }
            });
            s.spawn(|| {
                for i in 0..3000 {
                    met.fetch_add(u32::from(lock.is_write_locked()), Ordering::Relaxed);
                    let _guard = lock.read();
                    readers.fetch_add(1, Ordering::Relaxed);
                    if i % 16 == 0 {
                        thread::yield_now();
                    }
                    assert_eq!(writers.load(Ordering::Relaxed), 0, "a writer is inside");
                    readers.fetch_sub(1, Ordering::Relaxed);
                }
            });
        }
    });
    println!("a reader met a writer {met:?} times");
    assert!(met.into_inner() > 0, "readers and writers never met");
}

#[test]
fn a_waiter_may_leave_and_end_its_thread_before_the_releaser_is_done_with_it() {
    let _dog = watch("short-lived waiters");
    let lock = LwLock::new(0);
    let seed = seed();
    for round in 0..100 {
        let guard = lock.write();
        thread::scope(|s| {
            for i in 0..4 {
                let lock = &lock;
                s.spawn(move || {
                    let timeout = Duration::from_micros(Rng::new(seed + round * 4 + i).below(300));
                    lock.try_write_for(timeout).map(|mut guard| *guard += 1)
                });
            }
            thread::sleep(Duration::from_micros(100));
            drop(guard);
        });
    }
    assert_at_rest(&lock);
}

#[test]
fn hundreds_of_threads_get_through_one_lock() {
    let _dog = watch("256 threads");
    let lock = LwLock::new(0);
    thread::scope(|s| {
        let guard = lock.write();
        for i in 0..256 {
            let lock = &lock;
            s.spawn(move || match i % 4 {
                0 => drop(lock.read()),
                1 => drop(lock.write_or_wait()),
                _ => *lock.write() += 1,
            });
        }
        thread::sleep(A_MOMENT);
        drop(guard);
    });
    assert_at_rest(&lock);
    assert_eq!(lock.into_inner(), 128);
}

#[test]
fn a_forgotten_guard_does_not_keep_the_owner_from_its_data() {
    let forgets: [fn(&LwLock<u32>); 4] = [
        |lock| forget(lock.read()),
        |lock| forget(lock.write()),
        |lock| forget(lock.write().downgrade()),
        |lock| forget(lock.write_or_wait()),
    ];
    for leave in forgets {
        let mut lock = Box::new(LwLock::new(1));
        leave(&lock);
        *lock.get_mut() += 1;
        assert!(lock.is_locked());
        assert!(lock.try_write_for(A_MOMENT).is_none(), "the hold is still there");
        assert_eq!((*lock).into_inner(), 2);
        let lock = LwLock::new(1);
        leave(&lock);
        drop(lock);
    }
}

#[test]
fn an_unwinding_thread_gives_back_just_what_it_held() {
    let lock = LwLock::new(0);
    let kept = lock.try_read();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _guards = (lock.try_read(), lock.try_read());
        std::panic::resume_unwind(Box::new(()));
    }));
    assert!(unwound.is_err());
    assert!(lock.is_locked(), "the hold outside of the panic is gone");
    drop(kept);
    assert_at_rest(&lock);
}

#[test]
fn wakes_that_mean_nothing_let_nobody_in() {
    let _dog = watch("stray wakes");
    let lock = LwLock::new(0);
    thread::scope(|s| {
        let guard = lock.write();
        let waiters = [
            s.spawn(|| *lock.write() += 1),
            s.spawn(|| drop(lock.read())),
            s.spawn(|| assert!(lock.try_write_for(Duration::MAX).is_some())),
            s.spawn(|| drop(lock.write_or_wait())),
        ];
        for _ in 0..200 {
            waiters.iter().for_each(|waiter| waiter.thread().unpark());
            thread::sleep(A_MOMENT / 20);
            assert!(waiters.iter().all(|waiter| !waiter.is_finished()), "let in during the hold");
        }
        drop(guard);
    });
    assert_at_rest(&lock);
}
