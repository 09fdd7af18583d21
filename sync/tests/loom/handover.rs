//! After a lost race the lock is handed over: the new owner takes no step of its own on the lock's word, so all
//! that it may rely on has to come with the message. In a model one lost race is enough.

use crate::{at_rest, behind, explore, explore_within, new_lock, read, task, write};
use sync::LwLock;

fn write_and(then: fn(&LwLock<u32>)) -> impl FnOnce(&LwLock<u32>, &dyn Fn()) {
    move |lock, start| {
        let mut guard = lock.write();
        start();
        *guard += 1;
        drop(guard);
        then(lock);
    }
}

#[test]
fn a_handed_over_lock_brings_the_section_before() {
    let seen = explore(|seen| {
        let lock = new_lock();
        let writer = task(&lock, seen, |lock, seen| seen.note(write(lock).to_string()));
        behind(&lock, write_and(|lock| _ = write(lock)), [writer]);
    });
    seen.must_be(&["1", "2"]);
}

#[test]
fn a_handed_over_lock_brings_the_sections_of_all_readers() {
    let seen = explore(|seen| {
        let lock = new_lock();
        let reader = task(&lock, seen, |lock, seen| seen.note(format!("read {}", read(lock))));
        let writer = task(&lock, seen, |lock, seen| seen.note(format!("wrote {}", write(lock))));
        behind(&lock, write_and(|lock| _ = read(lock)), [reader, writer]);
    });
    seen.must_be(&["read 1", "read 2", "wrote 1"]);
}

#[test]
fn nobody_passes_while_the_lock_waits_to_be_handed_over() {
    let seen = explore_within(2, |seen| {
        let lock = new_lock();
        let writer = task(&lock, seen, |lock, _| {
            write(lock);
        });
        let passer_by = task(&lock, seen, |lock, seen| {
            // A shared hold does not refuse readers. Only a hand-over that is due does.
            let before = lock.is_write_locked();
            match lock.try_read() {
                Some(guard) => seen.note(format!("read {}", *guard)),
                None if before || lock.is_write_locked() => seen.note("written"),
                None => seen.note("refused"),
            }
        });
        behind(&lock, write_and(|lock| _ = read(lock)), [writer, passer_by]);
    });
    seen.must_be(&["read 1", "read 2", "refused", "written"]);
}

#[test]
fn readers_who_lost_a_race_are_let_in_together() {
    let seen = explore_within(2, |seen| {
        let lock = new_lock();
        let one = task(&lock, seen, |lock, seen| seen.note(format!("one {}", read(lock))));
        let two = task(&lock, seen, |lock, seen| seen.note(format!("two {}", read(lock))));
        behind(&lock, write_and(|lock| _ = write(lock)), [one, two]);
        at_rest(&lock);
    });
    seen.must_be(&["one 1", "one 2", "two 1", "two 2"]);
}

#[test]
fn a_hand_over_wakes_those_who_wait_for_a_release() {
    let seen = explore_within(2, |seen| {
        let lock = new_lock();
        let writer = task(&lock, seen, |lock, _| {
            write(lock);
        });
        let watcher = task(&lock, seen, |lock, seen| {
            let taken = lock.write_or_wait().is_some();
            seen.note(if taken { "took it" } else { "waited" });
        });
        behind(&lock, write_and(|lock| _ = write(lock)), [writer, watcher]);
        at_rest(&lock);
    });
    seen.must_be(&["took it", "waited"]);
}
