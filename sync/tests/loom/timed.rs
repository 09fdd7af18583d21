//! Waiters that give up. In a model a time limit passes at whatever moment the scheduler likes, so that the
//! waiter is found in the queue, woken, or already the owner.

use crate::{explore, new_lock, read, task, together, write};
use std::time::Duration;

const SOME_TIME: Duration = Duration::from_millis(1);

#[test]
fn a_writer_that_gives_up_passes_its_wake_on() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
            task(&lock, seen, |lock, seen| match lock.try_write_for(SOME_TIME) {
                Some(mut guard) => {
                    *guard += 1;
                    seen.note("took it");
                }
                None => seen.note("gave up"),
            }),
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
        ]);
    });
    seen.must_be(&["gave up", "took it"]);
}

#[test]
fn a_reader_that_gives_up_passes_its_wake_on() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
            task(&lock, seen, |lock, seen| match lock.try_read_for(SOME_TIME) {
                Some(guard) => seen.note(format!("read {}", *guard)),
                None => seen.note("gave up"),
            }),
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
        ]);
    });
    seen.must_be(&["gave up", "read 0", "read 1", "read 2"]);
}

#[test]
fn a_reader_that_gives_up_too_late_owns_the_lock() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                write(lock);
                write(lock);
            }),
            task(&lock, seen, |lock, _| {
                read(lock);
            }),
            task(&lock, seen, |lock, seen| match lock.try_read_for(SOME_TIME) {
                Some(guard) => seen.note(format!("read {}", *guard)),
                None => seen.note("gave up"),
            }),
        ]);
    });
    seen.must_be(&["gave up", "read 0", "read 1", "read 2"]);
}

#[test]
fn a_writer_that_gives_up_too_late_owns_the_lock() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            // The downgrade wakes the reader past the writer that came first; the second section makes the
            // reader lose, and it asks for a hand-over: to the writer.
            task(&lock, seen, |lock, _| {
                let guard = lock.write();
                drop(guard.downgrade());
                write(lock);
            }),
            task(&lock, seen, |lock, seen| match lock.try_write_for(SOME_TIME) {
                Some(mut guard) => {
                    *guard += 10;
                    seen.note(format!("took it at {}", *guard));
                }
                None => seen.note("gave up"),
            }),
            task(&lock, seen, |lock, _| {
                read(lock);
            }),
        ]);
    });
    seen.must_be(&["gave up", "took it at 10", "took it at 11"]);
}

#[test]
fn a_lock_that_was_given_up_is_free() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                read(lock);
            }),
            task(&lock, seen, |lock, seen| {
                if lock.try_write_for(SOME_TIME).is_none() {
                    seen.note("gave up");
                    // The reader wakes it: no rest of the first wait may keep it out.
                    write(lock);
                }
                let free = lock.try_write().is_some() || lock.is_locked();
                assert!(free, "a lock that nobody holds refused a writer");
            }),
        ]);
    });
    seen.must_be(&["gave up"]);
}
