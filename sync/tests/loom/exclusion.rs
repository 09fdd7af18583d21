//! Who holds the lock is alone, or among readers, and sees what the holders before did.

use crate::{explore, new_lock, read, task, together, write};

#[test]
fn a_reader_sees_a_writers_section_whole_or_not_at_all() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                let mut guard = lock.write();
                *guard += 1;
                *guard += 1;
            }),
            task(&lock, seen, |lock, seen| seen.note(read(lock).to_string())),
        ]);
    });
    seen.must_be(&["0", "2"]);
}

#[test]
fn two_writers_take_turns() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, seen| seen.note(format!("one {}", write(lock)))),
            task(&lock, seen, |lock, seen| seen.note(format!("two {}", write(lock)))),
        ]);
    });
    seen.must_be(&["one 0", "one 1", "two 0", "two 1"]);
}

#[test]
fn a_woken_writer_sees_the_section_that_passed_it() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                write(lock);
                write(lock);
            }),
            task(&lock, seen, |lock, seen| seen.note(write(lock).to_string())),
        ]);
    });
    seen.must_be(&["0", "1", "2"]);
}

#[test]
fn a_woken_reader_sees_the_section_that_passed_it() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                write(lock);
                write(lock);
            }),
            task(&lock, seen, |lock, seen| seen.note(read(lock).to_string())),
        ]);
    });
    seen.must_be(&["0", "1", "2"]);
}

#[test]
fn a_writer_follows_both_readers() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, seen| seen.note(format!("one {}", read(lock)))),
            task(&lock, seen, |lock, seen| seen.note(format!("two {}", read(lock)))),
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
        ]);
    });
    seen.must_be(&["one 0", "one 1", "two 0", "two 1"]);
}

#[test]
fn a_passer_by_sees_the_section_that_was_just_given_up_to_a_queue() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
            task(&lock, seen, |lock, seen| match lock.try_write() {
                Some(guard) => seen.note(format!("passed at {}", *guard)),
                None => seen.note("held"),
            }),
        ]);
    });
    seen.must_be(&["held", "passed at 0", "passed at 1", "passed at 2"]);
}

#[test]
fn a_try_by_a_reader_fails_only_against_a_writer() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, seen| match lock.try_read() {
                Some(guard) => seen.note(format!("one {}", *guard)),
                None => seen.note("one held"),
            }),
            task(&lock, seen, |lock, seen| match lock.try_write() {
                Some(mut guard) => {
                    *guard += 1;
                    seen.note("wrote");
                }
                None => seen.note("not written"),
            }),
        ]);
    });
    seen.must_be(&["not written", "one 0", "one 1", "one held", "wrote"]);
}
