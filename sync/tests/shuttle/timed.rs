//! Timed waits that race wakes and hand-overs: whoever gives up leaves neither a hold nor a promise behind.

use crate::{
    Answers, Lock, Task, Twins, at_rest, below, explore, pause, read, task, together, together_with, write,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sync::LwLock;
use sync::prim::lose_patience;

const SOME_TIME: Duration = Duration::from_millis(1);

/// A timed try; whether it came in.
fn write_for(lock: &LwLock<Twins>, time: Duration) -> bool {
    lock.try_write_for(time).map(|mut guard| write(&mut guard)).is_some()
}

fn read_for(lock: &LwLock<Twins>, time: Duration) -> bool {
    lock.try_read_for(time).map(|guard| read(&guard)).is_some()
}

#[test]
fn four_timed_writers_lose_no_section_and_leave_the_lock_free() {
    let seen = explore(36_000, |seen| {
        let (lock, sections) = (Lock::default(), Arc::<AtomicU64>::default());
        let one = || {
            let sections = sections.clone();
            task(&lock, seen, move |lock, seen| {
                for _ in 0..3 {
                    let came_in = write_for(lock, SOME_TIME);
                    sections.fetch_add(u64::from(came_in), Ordering::Relaxed);
                    seen.note(if came_in { "came in" } else { "gave up" });
                }
            })
        };
        together((0..4).map(|_| one()));
        at_rest(&lock, sections.load(Ordering::Relaxed));
    });
    seen.must_have(&["came in", "gave up"]);
}

/// Timed tries among waiters that have all the time: a wake that meets one who gives up goes on to the others.
fn timed_among_patient(impatience: u32) {
    let seen = explore(36_000, move |seen| {
        lose_patience(impatience);
        let (lock, sections) = (Lock::default(), Arc::<AtomicU64>::default());
        let timed = |mode: fn(&LwLock<Twins>, Duration) -> bool, exclusive: u64, name: &'static str| {
            let sections = sections.clone();
            task(&lock, seen, move |lock, seen| {
                for _ in 0..3 {
                    let came_in = mode(lock, SOME_TIME);
                    sections.fetch_add(exclusive * u64::from(came_in), Ordering::Relaxed);
                    seen.note(format!("{name} {}", if came_in { "came in" } else { "gave up" }));
                }
            })
        };
        let patient =
            |work: fn(&LwLock<Twins>)| task(&lock, seen, move |lock, _| (0..2).for_each(|_| work(lock)));
        together([
            patient(|lock| {
                let mut guard = lock.write();
                (0..below(6)).for_each(|_| pause());
                write(&mut guard);
            }),
            patient(|lock| write(&mut lock.write())),
            patient(|lock| _ = read(&lock.read())),
            timed(write_for, 1, "writer"),
            timed(read_for, 0, "reader"),
        ]);
        at_rest(&lock, 4 + sections.load(Ordering::Relaxed));
    });
    seen.must_have(&["writer came in", "writer gave up", "reader came in", "reader gave up"]);
}

#[test]
fn a_wake_that_meets_one_who_gives_up_goes_on_to_the_next() {
    timed_among_patient(0);
}

#[test]
fn a_hand_over_that_meets_one_who_gives_up_is_taken() {
    timed_among_patient(8);
}

#[test]
fn an_endless_timed_try_comes_in() {
    explore(18_000, |seen| {
        let lock = Lock::default();
        let twice = |work: fn(&LwLock<Twins>)| -> Task {
            task(&lock, seen, move |lock, _| (0..2).for_each(|_| work(lock)))
        };
        together([
            twice(|lock| write(&mut lock.write())),
            twice(|lock| assert!(write_for(lock, Duration::MAX))),
            twice(|lock| assert!(read_for(lock, Duration::MAX))),
            twice(|lock| drop(lock.try_write_for(SOME_TIME))),
        ]);
        at_rest(&lock, 4);
    });
}

#[test]
fn readers_behind_a_writer_that_gave_up_come_in_beside_those_who_read() {
    let seen = explore(30_000, |seen| {
        lose_patience(4);
        let (lock, answers) = (Lock::default(), Answers::new());
        let shared = lock.read();
        let reader = |_| {
            let answers = answers.clone();
            task(&lock, seen, move |lock, seen| {
                seen.note(if lock.try_read().is_some() { "passed" } else { "had to queue" });
                read(&lock.read());
                answers.give();
            })
        };
        // Forbids passing once it has lost patience, and then gives up.
        let writer = task(&lock, seen, |lock, seen| {
            assert!(!write_for(lock, SOME_TIME), "a writer came in beside a reader");
            seen.note("gave up");
        });
        together_with((0..2).map(reader).chain([writer]), || {
            answers.wait_for(2);
        });
        drop(shared);
        at_rest(&lock, 0);
    });
    seen.must_have(&["passed", "had to queue", "gave up"]);
}
