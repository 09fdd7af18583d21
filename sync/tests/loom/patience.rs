//! Waiters that lose patience. In a model that happens at a moment of the scheduler's choice, and as often as
//! the model says in advance; as often again, a waiter finds that the last demand was long enough ago.

use crate::{at_rest, behind, explore, explore_within, new_lock, read, task, write, write_once};
use std::time::Duration;
use sync::LwLock;
use sync::prim::lose_patience;

#[test]
fn who_lost_patience_may_find_the_lock_just_given_up() {
    let seen = explore(|seen| {
        lose_patience(1);
        let lock = new_lock();
        let writer = task(&lock, seen, |lock, seen| seen.note(write(lock).to_string()));
        behind(&lock, write_once, [writer]);
        at_rest(&lock);
    });
    seen.must_be(&["1"]);
}

#[test]
fn a_reader_that_lost_patience_may_find_the_lock_just_given_up() {
    let seen = explore(|seen| {
        lose_patience(1);
        let lock = new_lock();
        let reader = task(&lock, seen, |lock, seen| seen.note(read(lock).to_string()));
        behind(&lock, write_once, [reader]);
        at_rest(&lock);
    });
    seen.must_be(&["1"]);
}

#[test]
fn the_last_reader_hands_over_what_all_readers_did() {
    let seen = explore(|seen| {
        lose_patience(1);
        let lock = new_lock();
        let reader = task(&lock, seen, |lock, seen| seen.note(format!("read {}", read(lock))));
        let writer = task(&lock, seen, |lock, seen| seen.note(format!("wrote {}", write(lock))));
        let first = |lock: &LwLock<u32>, start: &dyn Fn()| {
            let _guard = lock.read();
            start();
        };
        behind(&lock, first, [reader, writer]);
        at_rest(&lock);
    });
    seen.must_be(&["read 0", "read 1", "wrote 0"]);
}

#[test]
fn two_waiters_without_patience_are_both_served() {
    let seen = explore_within(2, |seen| {
        lose_patience(4);
        let lock = new_lock();
        let reader = task(&lock, seen, |lock, seen| seen.note(format!("read {}", read(lock))));
        let writer = task(&lock, seen, |lock, seen| seen.note(format!("wrote {}", write(lock))));
        behind(&lock, write_once, [reader, writer]);
        at_rest(&lock);
    });
    seen.must_be(&["read 1", "read 2", "wrote 1"]);
}

#[test]
fn who_waits_for_a_release_is_told_when_a_waiter_took_the_lock_for_itself() {
    let seen = explore_within(2, |seen| {
        lose_patience(1);
        let lock = new_lock();
        let writer = task(&lock, seen, |lock, seen| seen.note(format!("wrote {}", write(lock))));
        let watcher = task(&lock, seen, |lock, seen| {
            let taken = lock.write_or_wait().is_some();
            seen.note(if taken { "took it" } else { "waited" });
        });
        behind(&lock, write_once, [writer, watcher]);
        at_rest(&lock);
    });
    seen.must_be(&["took it", "waited", "wrote 1"]);
}

#[test]
fn a_reader_that_gives_up_too_late_owns_the_lock() {
    let seen = explore_within(2, |seen| {
        lose_patience(1);
        let lock = new_lock();
        let others = [
            task(&lock, seen, |lock, _| {
                read(lock);
            }),
            task(&lock, seen, |lock, seen| match lock.try_read_for(Duration::from_millis(1)) {
                Some(guard) => seen.note(format!("read {}", *guard)),
                None => seen.note("gave up"),
            }),
        ];
        behind(&lock, write_once, others);
        at_rest(&lock);
    });
    seen.must_be(&["gave up", "read 1"]);
}

#[test]
fn a_writer_that_gives_up_too_late_owns_the_lock() {
    let seen = explore_within(2, |seen| {
        lose_patience(1);
        let lock = new_lock();
        let others = [
            // The first in the queue, but another one's patience ends.
            task(&lock, seen, |lock, seen| match lock.try_write_for(Duration::from_millis(1)) {
                Some(mut guard) => {
                    seen.note(format!("took it at {}", *guard));
                    *guard += 1;
                }
                None => seen.note("gave up"),
            }),
            task(&lock, seen, |lock, seen| seen.note(format!("read {}", read(lock)))),
        ];
        behind(&lock, write_once, others);
        at_rest(&lock);
    });
    seen.must_be(&["gave up", "read 1", "read 2", "took it at 1"]);
}
