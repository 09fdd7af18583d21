//! `ProgressLock`: no news is missed, by a release, a change or a hand-over.

use crate::{Task, explore, join, start};
use std::sync::Arc;
use sync::prim::atomic::{AtomicU32, Ordering};
use sync::prim::{Deadline, Parker};
use sync::{Progress, ProgressLock};

fn run<const N: usize>(tasks: [Task; N]) {
    start(tasks).into_iter().for_each(join);
}

#[test]
fn a_change_is_not_missed_while_the_holder_keeps_the_lock() {
    let seen = explore(|seen| {
        let lock = Arc::new(ProgressLock::new(()));
        let sign = Arc::new(AtomicU32::new(0));
        let (lock, seen) = (lock.clone(), seen.clone());
        let holder = loom_thread(move || {
            let mut guard = lock.write();
            let answered = Arc::new(AnswerOnce::new());
            let waiter = {
                let (lock, sign, seen, answered) =
                    (lock.clone(), sign.clone(), seen.clone(), answered.clone());
                loom_thread(move || {
                    assert_eq!(lock.wait_past(0), Progress::Changed(1), "the holder does not let go before");
                    assert_eq!(sign.load(Ordering::Relaxed), 1, "what the holder did before");
                    seen.note("told");
                    answered.give();
                })
            };
            sign.store(1, Ordering::Relaxed);
            guard.set_progress(1);
            answered.wait(); // deadlocks if the waiter missed the change
            drop(guard);
            join(waiter);
        });
        join(holder);
    });
    seen.must_be(&["told"]);
}

#[test]
fn a_release_ends_the_wait_and_shows_what_the_holder_did() {
    let seen = explore(|seen| {
        let lock = Arc::new(ProgressLock::new(()));
        let signs = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let (holds, waits, sets, seen) = (lock.clone(), lock.clone(), signs.clone(), seen.clone());
        run([
            Box::new(move || {
                let mut guard = holds.write();
                sets[0].store(1, Ordering::Relaxed);
                guard.set_progress(1);
                sets[1].store(1, Ordering::Relaxed);
                drop(guard);
            }),
            Box::new(move || {
                if waits.progress() == 0 {
                    return seen.note("too early");
                }
                assert_eq!(signs[0].load(Ordering::Relaxed), 1, "what came before the number");
                assert_eq!(waits.wait_past(1), Progress::Released);
                assert_eq!(signs[1].load(Ordering::Relaxed), 1, "what came before the release");
                seen.note("released");
            }),
        ]);
    });
    seen.must_be(&["too early", "released"]);
}

#[test]
fn who_waits_for_the_number_that_is_there_sleeps_on_until_the_release() {
    let seen = explore(|seen| {
        let lock = Arc::new(ProgressLock::new(()));
        let (holds, waits, seen) = (lock.clone(), lock.clone(), seen.clone());
        run([
            Box::new(move || {
                let mut guard = holds.write();
                guard.set_progress(1);
            }),
            Box::new(move || match waits.wait_past(1) {
                Progress::Changed(now) => {
                    assert_eq!(now, 0, "before the holder came");
                    seen.note("before");
                }
                Progress::Released => seen.note("released"),
            }),
        ]);
    });
    seen.must_have(&["released"]);
}

/// A number that stays the same over several holds: each wait ends with the hold it met, at the latest.
fn holds_that_follow_each_other(writers: [u32; 2]) {
    let seen = explore(move |seen| {
        let lock = Arc::new(ProgressLock::new(()));
        let holder = |times: u32| -> Task {
            let lock = lock.clone();
            Box::new(move || (0..times).for_each(|_| drop(lock.write())))
        };
        let (waits, seen) = (lock.clone(), seen.clone());
        let waiter: Task = Box::new(move || {
            assert_eq!(waits.wait_past(0), Progress::Released);
            seen.note("released");
        });
        run([holder(writers[0]), holder(writers[1]), waiter]);
    });
    seen.must_be(&["released"]);
}

#[test]
fn who_meets_the_first_of_two_writers_is_not_forgotten_when_the_second_comes() {
    holds_that_follow_each_other([1, 1]);
}

#[test]
fn who_meets_the_first_of_two_holds_of_one_writer_is_not_forgotten_in_the_second() {
    holds_that_follow_each_other([2, 0]);
}

/// One thread gives an answer, another waits for it.
struct AnswerOnce {
    given: AtomicU32,
    parker: Parker,
}

impl AnswerOnce {
    fn new() -> Self {
        Self { given: AtomicU32::new(0), parker: Parker::for_this_thread() }
    }

    fn give(&self) {
        self.given.fetch_add(1, Ordering::Release);
        self.parker.unpark();
    }

    fn wait(&self) {
        while self.given.fetch_add(0, Ordering::Acquire) == 0 {
            self.parker.park(Deadline::NEVER);
        }
    }
}

fn loom_thread(body: impl FnOnce() + 'static) -> sync::prim::loom::thread::JoinHandle<()> {
    sync::prim::loom::thread::spawn(body)
}
