//! `ProgressLock` with several waiters: each sees every change it waits for, or the end of the hold.

use crate::{Answers, Task, below, explore, pause, together, together_with};
use std::sync::Arc;
use sync::prim::atomic::{AtomicU64, Ordering};
use sync::{Progress, ProgressLock};

/// Follows the number from 0 until the hold ends; returns what it saw last.
fn follow(lock: &ProgressLock<()>, work: &AtomicU64, mut each: impl FnMut(u64)) -> u64 {
    let mut last = 0;
    loop {
        match lock.wait_past(last) {
            Progress::Released => return last,
            Progress::Changed(now) => {
                assert!(now > last, "{now} after {last}: no news");
                let done = work.load(Ordering::Acquire);
                assert!(done >= now, "{now} is published, {done} is done");
                last = now;
                each(now);
            }
        }
    }
}

#[test]
fn three_followers_are_told_of_each_step_while_the_hold_lasts() {
    const FOLLOWERS: u64 = 3;
    const STEPS: u64 = 3;
    explore(30_000, |_| {
        let lock = Arc::new(ProgressLock::new(()));
        let (work, answers) = (Arc::new(AtomicU64::new(0)), Answers::new());
        let mut guard = lock.write();
        let follower = |_| -> Task {
            let (lock, work, answers) = (lock.clone(), work.clone(), answers.clone());
            Box::new(move || {
                assert_eq!(follow(&lock, &work, |_| answers.give()), STEPS, "a step was missed");
            })
        };
        together_with((0..FOLLOWERS).map(follower), || {
            for step in 1..=STEPS {
                work.store(step, Ordering::Release);
                guard.set_progress(step);
                // Would wait for ever if one of them were not told.
                answers.wait_for(step * FOLLOWERS);
            }
            drop(guard);
        });
    });
}

#[test]
fn a_downgrade_ends_the_wait_though_the_holder_goes_on_reading() {
    explore(24_000, |_| {
        let lock = Arc::new(ProgressLock::new(()));
        let answers = Answers::new();
        let guard = lock.write();
        let waiter = |_| -> Task {
            let (lock, answers) = (lock.clone(), answers.clone());
            Box::new(move || {
                assert_eq!(lock.wait_past(0), Progress::Released);
                answers.give();
            })
        };
        together_with((0..3).map(waiter), || {
            let shared = guard.downgrade();
            answers.wait_for(3);
            drop(shared);
        });
    });
}

#[test]
fn followers_of_a_hurried_holder_see_steps_in_order_and_the_end() {
    let seen = explore(36_000, |seen| {
        let lock = Arc::new(ProgressLock::new(()));
        let work = Arc::new(AtomicU64::new(0));
        let (holds, does) = (lock.clone(), work.clone());
        let holder: Task = Box::new(move || {
            let mut guard = holds.write();
            for step in 1..=4 {
                does.store(step, Ordering::Release);
                guard.set_progress(step);
                pause();
            }
        });
        let follower = || -> Task {
            let (lock, work, seen) = (lock.clone(), work.clone(), seen.clone());
            Box::new(move || {
                let last = follow(&lock, &work, |_| ());
                seen.note(format!("last {last}"));
            })
        };
        together([holder, follower(), follower(), follower()]);
        assert_eq!(lock.wait_past(0), Progress::Released);
        assert_eq!(lock.progress(), 4);
    });
    seen.must_have(&["last 0", "last 1", "last 4"]);
}

/// Holds that follow each other, each longer than a step, beside who waits for the end of any.
#[test]
fn a_wait_ends_with_the_hold_that_it_met_whoever_comes_next() {
    let seen = explore(36_000, |seen| {
        let lock = Arc::new(ProgressLock::new(()));
        let holds = |clearing: bool| -> Task {
            let lock = lock.clone();
            Box::new(move || {
                for _ in 0..2 {
                    let mut guard = lock.write();
                    guard.set_progress(7);
                    (0..below(4)).for_each(|_| pause());
                    if clearing {
                        guard.release_clearing();
                    } else {
                        drop(guard.downgrade());
                    }
                }
            })
        };
        let waits = |old: u64| -> Task {
            let (lock, seen) = (lock.clone(), seen.clone());
            Box::new(move || {
                for _ in 0..2 {
                    match lock.wait_past(old) {
                        Progress::Released => seen.note("released"),
                        Progress::Changed(now) => {
                            assert_ne!(now, old, "no news");
                            assert!([0, 7].contains(&now), "nobody published {now}");
                            seen.note(format!("changed to {now}"));
                        }
                    }
                }
            })
        };
        together([holds(false), holds(true), waits(7), waits(7), waits(0)]);
        assert!(lock.try_write().is_some(), "a free lock refuses a writer");
    });
    seen.must_have(&["released", "changed to 0", "changed to 7"]);
}
