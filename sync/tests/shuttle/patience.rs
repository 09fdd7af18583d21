//! Waiters that lose patience at any moment, and so the lock handed over among four or five threads.

use crate::{Lock, Seen, Task, Twins, at_rest, explore, read, task, together, write};
use sync::LwLock;
use sync::prim::lose_patience;

/// A thread that does `work` three times.
fn thrice(lock: &Lock, seen: &Seen, work: fn(&LwLock<Twins>)) -> Task {
    task(lock, seen, move |lock, _| (0..3).for_each(|_| work(lock)))
}

fn writes(lock: &LwLock<Twins>) {
    write(&mut lock.write());
}

fn reads(lock: &LwLock<Twins>) {
    read(&lock.read());
}

fn downgrades(lock: &LwLock<Twins>) {
    let mut guard = lock.write();
    write(&mut guard);
    read(&guard.downgrade());
}

#[test]
fn impatient_writers_are_handed_the_lock_and_none_is_left() {
    explore(30_000, |seen| {
        lose_patience(12);
        let lock = Lock::default();
        together((0..4).map(|_| thrice(&lock, seen, writes)));
        at_rest(&lock, 12);
    });
}

#[test]
fn impatient_readers_writers_and_downgrades_are_all_served() {
    explore(36_000, |seen| {
        lose_patience(12);
        let lock = Lock::default();
        let works: [fn(&LwLock<Twins>); 5] = [writes, writes, reads, reads, downgrades];
        together(works.map(|work| thrice(&lock, seen, work)));
        at_rest(&lock, 9);
    });
}

#[test]
fn a_release_is_told_also_where_the_lock_is_handed_over() {
    let seen = explore(30_000, |seen| {
        lose_patience(8);
        let lock = Lock::default();
        let watch = || {
            task(&lock, seen, |lock, seen| {
                for _ in 0..3 {
                    let taken = lock.write_or_wait().is_some();
                    seen.note(if taken { "took it" } else { "waited" });
                }
            })
        };
        let [one, two] = [writes, downgrades].map(|work| thrice(&lock, seen, work));
        together([one, two, thrice(&lock, seen, reads), watch(), watch()]);
        at_rest(&lock, 6);
    });
    seen.must_have(&["took it", "waited"]);
}
