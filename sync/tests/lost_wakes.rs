//! Wake-ups that get lost, by any way that is known from other locks: then the program below hangs.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

#[path = "common/watchdog.rs"]
mod watchdog;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;
use sync::{LwLock, WriteGuard};
use watchdog::watch;

const A_MOMENT: Duration = Duration::from_millis(2);

fn assert_at_rest(lock: &LwLock<u32>) {
    assert!(!lock.is_locked(), "somebody holds the lock still");
    assert!(lock.try_write().is_some(), "a free lock refuses a writer");
    assert!(lock.try_read().is_some(), "a free lock refuses a reader");
}

type LetGo = fn(WriteGuard<'_, u32>);
type Wait = fn(&LwLock<u32>);

/// What a holder does with the exclusive hold that it begins with.
const HOLDERS: [(&str, LetGo); 4] = [
    ("drop", |guard| drop(guard)),
    ("downgrade", |guard| drop(guard.downgrade())),
    ("long downgrade", |guard| {
        let _guard = guard.downgrade();
        thread::sleep(A_MOMENT);
    }),
    ("panic", |guard| {
        let unwound = catch_unwind(AssertUnwindSafe(move || {
            let _guard = guard;
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(unwound.is_err());
    }),
];

/// Who waits for it.
const WAITERS: [(&str, Wait); 5] = [
    ("read", |lock| drop(lock.read())),
    ("write", |lock| drop(lock.write())),
    ("write_or_wait", |lock| drop(lock.write_or_wait())),
    ("try_read_for", |lock| assert!(lock.try_read_for(Duration::MAX).is_some())),
    ("try_write_for", |lock| assert!(lock.try_write_for(Duration::MAX).is_some())),
];

#[test]
fn no_class_of_waiter_is_forgotten_by_any_kind_of_release() {
    for (release, let_go) in HOLDERS {
        for (waiter, wait) in WAITERS {
            let _dog = watch("one class of waiter");
            println!("{release}, {waiter}");
            let lock = LwLock::new(0);
            thread::scope(|s| {
                let guard = lock.write();
                s.spawn(|| wait(&lock));
                thread::sleep(A_MOMENT);
                let_go(guard);
            });
            assert_at_rest(&lock);
        }
    }
}

#[test]
fn no_class_of_waiter_is_forgotten_by_the_last_reader() {
    for (waiter, wait) in WAITERS {
        let _dog = watch("one class of waiter behind readers");
        println!("{waiter}");
        let lock = LwLock::new(0);
        thread::scope(|s| {
            let guards = (lock.try_read(), lock.try_read());
            // Makes even readers wait.
            s.spawn(|| *lock.write() += 1);
            while lock.try_read().is_some() {
                thread::yield_now();
            }
            s.spawn(|| wait(&lock));
            thread::sleep(A_MOMENT);
            drop(guards);
        });
        assert_at_rest(&lock);
    }
}

/// Two threads take turns as fast as they can: each release races the other's way into the queue.
fn take_turns(name: &'static str, wait: impl Fn(&LwLock<u32>) + Sync) {
    let _dog = watch(name);
    let lock = LwLock::new(0);
    let waits = AtomicU32::new(0);
    let turns = || {
        for _ in 0..2000 {
            waits.fetch_add(u32::from(lock.is_locked()), Ordering::Relaxed);
            wait(&lock);
            *lock.write() += 1;
            if waits.load(Ordering::Relaxed) < 20 {
                // Too quick to meet: stay for a while.
                let _guard = lock.write();
                thread::yield_now();
            }
        }
    };
    thread::scope(|s| (0..3).for_each(|_| _ = s.spawn(turns)));
    println!("{name}: met another {waits:?} times");
    assert!(waits.into_inner() > 0, "the threads never met");
    assert_eq!(lock.into_inner(), 6000);
}

#[test]
fn a_release_that_saw_nobody_and_a_waiter_that_saw_a_holder_do_not_miss_each_other() {
    take_turns("read", |lock| drop(lock.read()));
    take_turns("write", |lock| drop(lock.write()));
    take_turns("downgrade", |lock| drop(lock.write().downgrade()));
    take_turns("write_or_wait", |lock| drop(lock.write_or_wait()));
    take_turns("try_write_for", |lock| drop(lock.try_write_for(Duration::from_micros(5))));
    take_turns("try_read_for", |lock| drop(lock.try_read_for(Duration::from_micros(5))));
}

#[test]
fn group_commit_never_sleeps_through_the_last_flush() {
    let _dog = watch("group commit");
    let (asked, flushed) = (AtomicU32::new(0), AtomicU32::new(0));
    let (flushes, spared) = (AtomicU32::new(0), AtomicU32::new(0));
    let lock = LwLock::new(());
    let commit = || {
        let mine = asked.fetch_add(1, Ordering::AcqRel) + 1;
        while flushed.load(Ordering::Acquire) < mine {
            match lock.write_or_wait() {
                Some(_leader) => {
                    let all = asked.load(Ordering::Acquire);
                    thread::yield_now();
                    flushed.fetch_max(all, Ordering::Release);
                    flushes.fetch_add(1, Ordering::Relaxed);
                }
                None => _ = spared.fetch_add(1, Ordering::Relaxed),
            }
        }
    };
    let commits = || (0..500).for_each(|_| commit());
    thread::scope(|s| (0..8).for_each(|_| _ = s.spawn(commits)));
    println!("4000 commits, {flushes:?} flushes, {spared:?} waits");
    assert!(spared.into_inner() > 0, "nobody ever waited");
    assert_eq!(flushed.into_inner(), 4000);
}

#[test]
fn a_lock_works_where_thread_locals_are_torn_down() {
    static LOCK: LwLock<u32> = LwLock::new(0);

    struct AtTheEnd;

    impl Drop for AtTheEnd {
        fn drop(&mut self) {
            *LOCK.write() += 1;
            drop(LOCK.write_or_wait());
            drop(LOCK.try_read_for(Duration::MAX).expect("waits for ever"));
        }
    }

    thread_local! {
        static FIRST: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) };
        static LAST: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) };
    }

    let _dog = watch("thread-local destructors");
    let guard = LOCK.write();
    let threads = [(); 8].map(|()| {
        thread::spawn(|| {
            // One is dropped before what the lock itself keeps in a thread-local, the other after it.
            FIRST.with(|end| *end.borrow_mut() = Some(AtTheEnd));
            assert!(LOCK.try_read().is_none());
            LAST.with(|end| *end.borrow_mut() = Some(AtTheEnd));
        })
    });
    thread::sleep(Duration::from_millis(5));
    drop(guard);
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    assert_eq!(*LOCK.read(), 16);
}
