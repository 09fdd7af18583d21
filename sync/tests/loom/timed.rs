//! Waiters that give up. In a model a time limit passes at whatever moment the scheduler likes, so that the
//! waiter is found in the queue, or woken; `patience.rs` has those that own the lock already.

use crate::{at_rest, behind, explore, explore_within, new_lock, read, task, together, write, write_once};
use std::time::Duration;

const SOME_TIME: Duration = Duration::from_millis(1);

#[test]
fn a_writer_that_gives_up_passes_its_wake_on() {
    let seen = explore_within(2, |seen| {
        let lock = new_lock();
        let others = [
            task(&lock, seen, |lock, seen| match lock.try_write_for(SOME_TIME) {
                Some(_guard) => seen.note("took it"),
                None => seen.note("gave up"),
            }),
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
        ];
        behind(&lock, write_once, others);
        at_rest(&lock);
    });
    seen.must_be(&["gave up", "took it"]);
}

#[test]
fn a_reader_that_gives_up_passes_its_wake_on() {
    let seen = explore_within(2, |seen| {
        let lock = new_lock();
        let others = [
            task(&lock, seen, |lock, seen| match lock.try_read_for(SOME_TIME) {
                Some(guard) => seen.note(format!("read {}", *guard)),
                None => seen.note("gave up"),
            }),
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
        ];
        behind(&lock, write_once, others);
        at_rest(&lock);
    });
    seen.must_be(&["gave up", "read 1", "read 2"]);
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
            }),
        ]);
        at_rest(&lock);
    });
    seen.must_be(&["gave up"]);
}

#[test]
fn who_gives_up_does_not_strike_off_those_who_wait_for_a_release() {
    let seen = explore_within(2, |seen| {
        let lock = new_lock();
        let others = [
            task(&lock, seen, |lock, seen| {
                let taken = lock.write_or_wait().is_some();
                seen.note(if taken { "took it" } else { "waited" });
            }),
            task(&lock, seen, |lock, seen| {
                let taken = lock.try_write_for(SOME_TIME).is_some();
                seen.note(if taken { "came in" } else { "gave up" });
            }),
        ];
        behind(&lock, write_once, others);
        at_rest(&lock);
    });
    seen.must_be(&["came in", "gave up", "took it", "waited"]);
}
