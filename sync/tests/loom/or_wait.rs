//! `write_or_wait`: the lock, or news that a hold has ended.

use crate::{explore, new_lock, read, task, together, write};
use std::sync::Arc;
use sync::LwLock;
use sync::prim::atomic::{AtomicU32, Ordering};
use sync::prim::{Deadline, Parker};

#[test]
fn who_has_waited_sees_what_the_holder_did() {
    let seen = explore(|seen| {
        let lock = new_lock();
        let done = Arc::new(AtomicU32::new(0));
        let flushed = done.clone();
        together([
            task(&lock, seen, move |lock, _| {
                let mut guard = lock.write();
                *guard += 1;
                flushed.fetch_add(1, Ordering::Relaxed);
            }),
            task(&lock, seen, move |lock, seen| match lock.write_or_wait() {
                Some(guard) => seen.note(format!("took it at {}", *guard)),
                None => {
                    assert_eq!(done.load(Ordering::Relaxed), 1, "the hold has ended");
                    seen.note("waited");
                }
            }),
        ]);
    });
    seen.must_be(&["took it at 0", "took it at 1", "waited"]);
}

#[test]
fn who_has_waited_for_readers_sees_that_all_have_left() {
    let seen = explore(|seen| {
        let lock = new_lock();
        let left = Arc::new(AtomicU32::new(0));
        let reader = |left: Arc<AtomicU32>| {
            move |lock: &LwLock<u32>, _: &_| {
                let guard = lock.read();
                left.fetch_add(1, Ordering::Relaxed);
                drop(guard);
            }
        };
        together([
            task(&lock, seen, reader(left.clone())),
            task(&lock, seen, reader(left.clone())),
            task(&lock, seen, move |lock, seen| {
                let taken = lock.write_or_wait().is_some();
                let left = left.load(Ordering::Relaxed);
                assert!(taken || left > 0, "waited for nobody");
                seen.note(if taken { format!("took it after {left}") } else { format!("waited for {left}") });
            }),
        ]);
    });
    seen.must_be(&["took it after 0", "took it after 1", "took it after 2", "waited for 1", "waited for 2"]);
}

#[test]
fn a_release_that_wakes_watchers_publishes_the_section_to_passers_by() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
            task(&lock, seen, |lock, seen| {
                let taken = lock.write_or_wait().is_some();
                seen.note(if taken { "took it" } else { "waited" });
            }),
            task(&lock, seen, |lock, seen| {
                if let Some(guard) = lock.try_write() {
                    seen.note(format!("passed at {}", *guard));
                }
            }),
        ]);
    });
    seen.must_be(&["passed at 0", "passed at 1", "took it", "waited"]);
}

#[test]
fn all_who_wait_for_one_release_learn_of_it() {
    let seen = explore(|seen| {
        let lock = new_lock();
        let watcher = |lock: &LwLock<u32>, seen: &crate::Seen| {
            let taken = lock.write_or_wait().is_some();
            seen.note(if taken { "took it" } else { "waited" });
        };
        together([
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
            task(&lock, seen, watcher),
            task(&lock, seen, watcher),
        ]);
    });
    seen.must_be(&["took it", "waited"]);
}

#[test]
fn who_waits_for_a_release_keeps_no_reader_out() {
    let seen = explore(|seen| {
        let lock = new_lock();
        let met = Arc::new(Parker::for_this_thread());
        let arrived = met.clone();
        together([
            task(&lock, seen, move |lock, _| {
                let guard = lock.read();
                met.park(Deadline::NEVER);
                drop(guard);
            }),
            task(&lock, seen, move |lock, seen| {
                read(lock);
                arrived.unpark();
                seen.note("read");
            }),
            task(&lock, seen, |lock, seen| {
                let taken = lock.write_or_wait().is_some();
                seen.note(if taken { "took it" } else { "waited" });
            }),
        ]);
    });
    seen.must_be(&["read", "took it", "waited"]);
}
