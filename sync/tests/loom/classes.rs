//! Whoever holds the lock, and however it lets go: every class of waiter is served. What would be forgotten
//! sleeps for ever, and loom reports the deadlock.

use crate::{
    Lock, Seen, Task, at_rest, behind, explore, explore_within, new_lock, read, task, together, write,
};
use std::time::Duration;
use sync::LwLock;

type Work = fn(&LwLock<u32>);

/// How the lock is held and let go of.
const HOLDERS: [(&str, Work); 3] = [
    ("exclusive", |lock| _ = write(lock)),
    ("shared", |lock| _ = read(lock)),
    ("downgraded", |lock| drop(lock.write().downgrade())),
];

/// Who waits for it.
const WAITERS: [(&str, Work); 5] = [
    ("reader", |lock| _ = read(lock)),
    ("writer", |lock| _ = write(lock)),
    ("watcher", |lock| drop(lock.write_or_wait())),
    ("reader without haste", |lock| drop(lock.try_read_for(Duration::MAX).expect("waits for ever"))),
    ("writer without haste", |lock| drop(lock.try_write_for(Duration::MAX).expect("waits for ever"))),
];

fn plain(lock: &Lock, seen: &Seen, work: Work) -> Task {
    task(lock, seen, move |lock, _| work(lock))
}

#[test]
fn every_holder_wakes_every_class_of_waiter() {
    for (holder, hold) in HOLDERS {
        for (waiter, wait) in WAITERS {
            println!("{holder} holder, {waiter}");
            explore(move |seen| {
                let lock = new_lock();
                together([plain(&lock, seen, hold), plain(&lock, seen, wait)]);
                at_rest(&lock);
            });
        }
    }
}

/// Holds the lock in one mode or another from the start, while two waiters of any two classes come.
fn every_two_classes_behind(hold: fn(&LwLock<u32>, &dyn Fn())) {
    for (i, (first, one)) in WAITERS[..3].iter().copied().enumerate() {
        for (second, two) in WAITERS[i..3].iter().copied() {
            println!("{first} and {second}");
            explore_within(2, move |seen| {
                let lock = new_lock();
                behind(&lock, hold, [plain(&lock, seen, one), plain(&lock, seen, two)]);
                at_rest(&lock);
            });
        }
    }
}

#[test]
fn an_exclusive_holder_forgets_neither_of_two_waiters() {
    every_two_classes_behind(|lock, start| {
        let _guard = lock.write();
        start();
    });
}

#[test]
fn a_shared_holder_forgets_neither_of_two_waiters() {
    every_two_classes_behind(|lock, start| {
        let _guard = lock.read();
        start();
    });
}

#[test]
fn a_downgraded_holder_forgets_neither_of_two_waiters() {
    every_two_classes_behind(|lock, start| {
        let guard = lock.write();
        start();
        drop(guard.downgrade());
    });
}
