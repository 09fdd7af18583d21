//! Whoever holds the lock, and however it lets go: every class of waiter is served. What would be forgotten
//! sleeps for ever, and loom reports the deadlock.

use crate::{Lock, Seen, Task, explore, new_lock, read, task, together, write};
use std::time::Duration;
use sync::LwLock;

/// How the lock is held and let go of.
const HOLDERS: [(&str, fn(&LwLock<u32>)); 3] = [
    ("exclusive", |lock| _ = write(lock)),
    ("shared", |lock| _ = read(lock)),
    ("downgraded", |lock| drop(lock.write().downgrade())),
];

/// Who waits for it.
const WAITERS: [(&str, fn(&LwLock<u32>)); 5] = [
    ("reader", |lock| _ = read(lock)),
    ("writer", |lock| _ = write(lock)),
    ("watcher", |lock| drop(lock.write_or_wait())),
    ("reader without haste", |lock| drop(lock.try_read_for(Duration::MAX).expect("waits for ever"))),
    ("writer without haste", |lock| drop(lock.try_write_for(Duration::MAX).expect("waits for ever"))),
];

fn plain(lock: &Lock, seen: &Seen, work: fn(&LwLock<u32>)) -> Task {
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
            });
        }
    }
}

fn every_two_classes_behind(hold: fn(&LwLock<u32>)) {
    for (i, (first, one)) in WAITERS[..3].iter().copied().enumerate() {
        for (second, two) in WAITERS[i..3].iter().copied() {
            println!("{first} and {second}");
            explore(move |seen| {
                let lock = new_lock();
                together([plain(&lock, seen, hold), plain(&lock, seen, one), plain(&lock, seen, two)]);
            });
        }
    }
}

#[test]
fn an_exclusive_holder_forgets_neither_of_two_waiters() {
    every_two_classes_behind(HOLDERS[0].1);
}

#[test]
fn a_shared_holder_forgets_neither_of_two_waiters() {
    every_two_classes_behind(HOLDERS[1].1);
}

#[test]
fn a_downgraded_holder_forgets_neither_of_two_waiters() {
    every_two_classes_behind(HOLDERS[2].1);
}
