//! Random schedules of programs that are too long for loom: more threads, several rounds, threads that end.
//!
//! Run with `RUSTFLAGS="--cfg shuttle" cargo test --profile shuttle -p latchfree-sync --features shuttle --test shuttle`,
//! or with `cargo xtask shuttle [FILTER]`.
//!
//! The rules of these models: each notes the outcomes it reached, and the test demands those it was written for. A
//! deadlock, a lost wake-up among them, is reported by shuttle itself, and accesses to a lock's data that overlap by
//! `sync::prim`. Shuttle's memory is sequentially consistent: about orderings these models say nothing, loom's do.
//!
//! What a failure prints is enough to see it again, with the name of the model as the filter:
//! * `SHUTTLE_RANDOM_SEED=..` repeats a run;
//! * `SHUTTLE_SCHEDULE=..` repeats the one schedule that failed.
//!
//! `SHUTTLE_ITERATIONS` is the number of schedules for each model, instead of its own.
//!
//! Next: `classes.rs`.
#![cfg(all(shuttle, feature = "shuttle"))]

mod classes;
mod commit;
mod counters;
mod counts;
mod explore;
mod patience;
mod progress;
mod seqlock;
mod timed;

use explore::{Seen, Task, explore, together, together_with};
use std::sync::Arc;
use sync::LwLock;
use sync::prim::atomic::{AtomicU64, Ordering};
use sync::prim::shuttle;
use sync::prim::shuttle::rand::{RngCore, thread_rng};
use sync::prim::{Deadline, Parker};

/// A random number below `limit`, the same when the schedule is repeated.
fn below(limit: u64) -> u64 {
    thread_rng().next_u64() % limit
}

/// Lets the others run, if shuttle likes.
fn pause() {
    shuttle::thread::sleep(std::time::Duration::ZERO);
}

/// Several threads answer, one waits until so many have.
struct Answers {
    given: AtomicU64,
    parker: Parker,
}

impl Answers {
    /// For the calling thread to wait for.
    fn new() -> Arc<Self> {
        Arc::new(Self { given: AtomicU64::new(0), parker: Parker::for_this_thread() })
    }

    fn give(&self) {
        self.given.fetch_add(1, Ordering::AcqRel);
        self.parker.unpark();
    }

    fn wait_for(&self, many: u64) {
        while self.given.load(Ordering::Acquire) < many {
            self.parker.park(Deadline::NEVER);
        }
    }
}

/// What the locks guard: two numbers that are equal except within an exclusive section, and count those.
#[derive(Debug, Default)]
struct Twins(u64, u64);

type Lock = Arc<LwLock<Twins>>;

/// A participant that works on `lock`.
fn task(lock: &Lock, seen: &Seen, work: impl FnOnce(&LwLock<Twins>, &Seen) + Send + 'static) -> Task {
    let (lock, seen) = (lock.clone(), seen.clone());
    Box::new(move || work(&lock, &seen))
}

/// An exclusive section: others could see it half done.
fn write(twins: &mut Twins) {
    assert_eq!(twins.0, twins.1, "another exclusive section is half done");
    twins.0 += 1;
    pause();
    twins.1 += 1;
}

/// A shared section; returns how many exclusive ones went before.
fn read(twins: &Twins) -> u64 {
    let before = twins.0;
    pause();
    assert_eq!((twins.0, twins.1), (before, before), "an exclusive section overlaps");
    before
}

/// Nobody uses the lock any more: it is free, nothing that was left behind keeps anybody out, and `sections` were
/// exclusive.
fn at_rest(lock: &Lock, sections: u64) {
    assert!(!lock.is_locked(), "somebody holds the lock still");
    assert!(lock.try_read().is_some(), "a free lock refuses a reader");
    let guard = lock.try_write().expect("a free lock refuses a writer");
    assert_eq!((guard.0, guard.1), (sections, sections), "exclusive sections");
}
