//! From exclusive to shared, with nobody in between.

use crate::{Seen, explore, new_lock, read, task, together, write};
use std::sync::Arc;
use sync::LwLock;
use sync::prim::loom::sync::Notify;

#[test]
fn no_writer_gets_in_before_a_downgraded_hold_ends() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, seen| {
                let mut guard = lock.write();
                let before = *guard;
                *guard += 1;
                let guard = guard.downgrade();
                assert_eq!(*guard, before + 1, "somebody wrote between");
                seen.note(before.to_string());
            }),
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
            task(&lock, seen, |lock, _| {
                read(lock);
            }),
        ]);
    });
    seen.must_be(&["0", "1"]);
}

/// Writes, downgrades, and stays until as many readers have come as there are notices.
fn let_in(notices: Vec<Arc<Notify>>) -> impl FnOnce(&LwLock<u32>, &Seen) {
    move |lock, _| {
        let mut guard = lock.write();
        *guard += 1;
        let guard = guard.downgrade();
        for notice in notices {
            notice.wait();
        }
        drop(guard);
    }
}

fn come_in(notice: Arc<Notify>) -> impl FnOnce(&LwLock<u32>, &Seen) {
    move |lock, seen| {
        let value = read(lock);
        notice.notify();
        seen.note(value.to_string());
    }
}

#[test]
fn a_downgrade_lets_a_queued_reader_in() {
    let seen = explore(|seen| {
        let lock = new_lock();
        let notice = Arc::new(Notify::new());
        together([task(&lock, seen, let_in(vec![notice.clone()])), task(&lock, seen, come_in(notice))]);
    });
    seen.must_be(&["0", "1"]);
}

#[test]
fn a_downgrade_lets_two_queued_readers_in() {
    let seen = explore(|seen| {
        let lock = new_lock();
        let (one, two) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        together([
            task(&lock, seen, let_in(vec![one.clone(), two.clone()])),
            task(&lock, seen, come_in(one)),
            task(&lock, seen, come_in(two)),
        ]);
    });
    seen.must_be(&["0", "1"]);
}

#[test]
fn a_downgrade_lets_readers_in_while_another_is_on_its_way() {
    let seen = explore(|seen| {
        let lock = new_lock();
        let (one, two) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let notices = vec![one.clone(), two.clone()];
        together([
            task(&lock, seen, |lock, seen| {
                write(lock);
                let_in(notices)(lock, seen);
            }),
            task(&lock, seen, come_in(one)),
            task(&lock, seen, come_in(two)),
        ]);
    });
    seen.must_be(&["0", "1", "2"]);
}

#[test]
fn a_downgrade_that_wakes_watchers_publishes_the_section_to_passers_by() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                let mut guard = lock.write();
                *guard += 1;
                drop(guard.downgrade());
            }),
            task(&lock, seen, |lock, seen| {
                let taken = lock.write_or_wait().is_some();
                seen.note(if taken { "took it" } else { "waited" });
            }),
            task(&lock, seen, |lock, seen| {
                if let Some(guard) = lock.try_read() {
                    seen.note(format!("read {}", *guard));
                }
            }),
        ]);
    });
    seen.must_be(&["read 0", "read 1", "took it", "waited"]);
}

#[test]
fn a_downgrade_ends_the_hold_for_those_who_wait_for_that() {
    let seen = explore(|seen| {
        let lock = new_lock();
        let notice = Arc::new(Notify::new());
        together([
            task(&lock, seen, let_in(vec![notice.clone()])),
            task(&lock, seen, move |lock, seen| {
                let taken = lock.write_or_wait().is_some();
                notice.notify();
                seen.note(if taken { "took it" } else { "waited" });
            }),
        ]);
    });
    seen.must_be(&["took it", "waited"]);
}
