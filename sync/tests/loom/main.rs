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
mod counts;
mod downgrade;
mod exclusion;
mod handover;
mod or_wait;
mod patience;
mod progress;
mod seqlock;
mod timed;

use std::cell::Cell;
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
    explore_within(3, program)
}

/// As [`explore`], with at most `preemptions`, for models in which the first one or two would only lead to a
/// state that the model can also start from; `LOOM_MAX_PREEMPTIONS` can lower that.
fn explore_within(preemptions: usize, program: impl Fn(&Seen) + Send + Sync + 'static) -> Seen {
    let seen = Seen::default();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(builder.preemption_bound.map_or(preemptions, |n| n.min(preemptions)));
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
    start(tasks).into_iter().for_each(join);
}

fn start<const N: usize>(tasks: [Task; N]) -> [loom::thread::JoinHandle<()>; N] {
    tasks.map(loom::thread::spawn)
}

fn join(thread: loom::thread::JoinHandle<()>) {
    thread.join().expect("a model ends at its first panic");
}

/// Runs `first`, a participant too, which starts the others itself by its second argument: as a rule once it
/// holds the lock. That saves the preemptions which lead there.
fn behind<const N: usize>(
    lock: &Lock,
    first: impl FnOnce(&LwLock<u32>, &dyn Fn()) + 'static,
    others: [Task; N],
) {
    let lock = lock.clone();
    let first = loom::thread::spawn(move || {
        let waiting = Cell::new(Some(others));
        let running = Cell::new(None);
        first(&lock, &|| running.set(waiting.take().map(start)));
        running.take().expect("the first participant starts the others").into_iter().for_each(join);
    });
    join(first);
}

/// A lock that nobody uses any more is free, and nothing that was left behind keeps anybody out.
fn at_rest(lock: &Lock) {
    together([task(lock, &Seen::default(), |lock, _| {
        assert!(!lock.is_locked(), "somebody holds the lock still");
        assert!(lock.try_write().is_some(), "a free lock refuses a writer");
    })]);
}

/// An exclusive section; returns how many went before.
fn write(lock: &LwLock<u32>) -> u32 {
    let mut guard = lock.write();
    let before = *guard;
    *guard = before + 1;
    before
}

/// An exclusive section during which the others come; the first participant of [`behind`].
fn write_once(lock: &LwLock<u32>, start: &dyn Fn()) {
    let mut guard = lock.write();
    start();
    *guard += 1;
}

/// A shared section; returns how many exclusive ones went before.
fn read(lock: &LwLock<u32>) -> u32 {
    *lock.read()
}
