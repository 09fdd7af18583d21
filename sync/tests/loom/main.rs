//! Every interleaving, within a bound on preemptions, of small programs that use the crate.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --profile loom -p latchfree-sync --features loom --test loom`.
//!
//! The rules of these models: the main thread only starts the others and waits for their ends; none begins
//! with `yield_now`; each notes the outcomes it reached, outside of loom's view, and the test demands those it
//! was written for. A deadlock, a lost wake-up among them, is reported by loom itself, and so are accesses to
//! a lock's data that overlap, or that no ordering puts one after the other.
//!
//! Next: `exclusion.rs`.
#![cfg(all(loom, feature = "loom"))]

mod classes;
mod downgrade;
mod exclusion;
mod handover;
mod or_wait;
mod timed;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use sync::LwLock;
use sync::prim::loom;

/// The lock of most models: its number counts the exclusive sections that went before.
type Lock = Arc<LwLock<u32>>;

fn new_lock() -> Lock {
    Arc::new(LwLock::new(0))
}

/// What the executions of one model came to.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<BTreeSet<String>>>);

impl Seen {
    fn note(&self, outcome: impl Into<String>) {
        self.0.lock().expect("no holder panics").insert(outcome.into());
    }

    #[track_caller]
    fn must_have(&self, outcomes: &[&str]) {
        let seen = self.0.lock().expect("no holder panics");
        for &outcome in outcomes {
            assert!(seen.contains(outcome), "never came to `{outcome}`, only to {seen:?}");
        }
    }

    #[track_caller]
    fn must_be(&self, outcomes: &[&str]) {
        self.must_have(outcomes);
        assert_eq!(self.0.lock().expect("no holder panics").len(), outcomes.len(), "{:?}", self.0);
    }
}

/// Explores `program`, with at most 3 preemptions unless `LOOM_MAX_PREEMPTIONS` says otherwise.
fn explore(program: impl Fn(&Seen) + Send + Sync + 'static) -> Seen {
    let seen = Seen::default();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    let executions = Arc::new(Mutex::new(0_u32));
    let started = Instant::now();
    builder.check({
        let (seen, executions) = (seen.clone(), executions.clone());
        move || {
            *executions.lock().expect("no holder panics") += 1;
            program(&seen);
        }
    });
    let executions = executions.lock().expect("no holder panics");
    println!("{executions} executions in {:.1} s", started.elapsed().as_secs_f32());
    seen
}

/// A participant of a model.
type Task = Box<dyn FnOnce()>;

/// A participant that works on `lock`.
fn task(lock: &Lock, seen: &Seen, work: impl FnOnce(&LwLock<u32>, &Seen) + 'static) -> Task {
    let (lock, seen) = (lock.clone(), seen.clone());
    Box::new(move || work(&lock, &seen))
}

/// Runs the participants at the same time, until all have ended.
fn together<const N: usize>(tasks: [Task; N]) {
    let threads = tasks.map(loom::thread::spawn);
    for thread in threads {
        thread.join().expect("a model ends at its first panic");
    }
}

/// An exclusive section; returns how many went before.
fn write(lock: &LwLock<u32>) -> u32 {
    let mut guard = lock.write();
    let before = *guard;
    *guard = before + 1;
    before
}

/// A shared section; returns how many exclusive ones went before.
fn read(lock: &LwLock<u32>) -> u32 {
    *lock.read()
}
