//! After a lost race the lock is handed over: the new owner takes no step of its own on the lock's word, so all
//! that it may rely on has to come with the message. In a model one lost race is enough.

use crate::{explore, new_lock, read, task, together, write};

#[test]
fn a_handed_over_lock_brings_the_sections_of_all_readers() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                write(lock);
                read(lock);
            }),
            task(&lock, seen, |lock, _| {
                read(lock);
            }),
            task(&lock, seen, |lock, seen| seen.note(write(lock).to_string())),
        ]);
    });
    seen.must_be(&["0", "1"]);
}

#[test]
fn nobody_passes_while_the_lock_waits_to_be_handed_over() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                write(lock);
                read(lock);
            }),
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
            task(&lock, seen, |lock, seen| {
                // A shared hold does not refuse readers. Only a hand-over that is due does.
                let before = lock.is_write_locked();
                match lock.try_read() {
                    Some(guard) => seen.note(format!("read {}", *guard)),
                    None if before || lock.is_write_locked() => seen.note("written"),
                    None => seen.note("refused"),
                }
            }),
        ]);
    });
    seen.must_be(&["read 0", "read 1", "read 2", "refused", "written"]);
}

#[test]
fn readers_who_lost_a_race_are_let_in_together() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                write(lock);
                write(lock);
            }),
            task(&lock, seen, |lock, seen| seen.note(format!("one {}", read(lock)))),
            task(&lock, seen, |lock, seen| seen.note(format!("two {}", read(lock)))),
        ]);
    });
    seen.must_be(&["one 0", "one 1", "one 2", "two 0", "two 1", "two 2"]);
}

#[test]
fn a_hand_over_wakes_those_who_wait_for_a_release() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                write(lock);
                write(lock);
            }),
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
            task(&lock, seen, |lock, seen| {
                let got = lock.write_or_wait().is_some();
                seen.note(if got { "took it" } else { "waited" });
            }),
        ]);
    });
    seen.must_be(&["took it", "waited"]);
}
