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
mod patience;
mod progress;
mod seqlock;
mod timed;

use std::collections::BTreeMap;
use std::env;
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use sync::LwLock;
use sync::prim::atomic::{AtomicU64, Ordering};
use sync::prim::shuttle::rand::{RngCore, thread_rng};
use sync::prim::shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Scheduler};
use sync::prim::shuttle::{self, Config, Runner};
use sync::prim::{Deadline, Parker, lose_patience};

/// How often priorities change in a schedule of PCT: each finds faults that need so many switches.
const DEPTHS: [usize; 3] = [2, 3, 5];

/// What the schedules of one model came to, and how often.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<BTreeMap<String, u64>>>);

impl Seen {
    fn note(&self, outcome: impl Into<String>) {
        *self.0.lock().expect("no holder panics").entry(outcome.into()).or_default() += 1;
    }

    /// Demands that these outcomes occurred, unless it was asked for other schedules than the model's own.
    #[track_caller]
    fn must_have(&self, outcomes: &[&str]) {
        if env::var_os("SHUTTLE_ITERATIONS").is_some() || env::var_os("SHUTTLE_SCHEDULE").is_some() {
            return;
        }
        let seen = self.0.lock().expect("no holder panics");
        for &outcome in outcomes {
            assert!(seen.contains_key(outcome), "never came to `{outcome}`, only to {seen:?}");
        }
    }
}

/// Runs `program` in `schedules` schedules, half of them uniformly random, half of them by PCT.
fn explore(schedules: usize, program: impl Fn(&Seen) + Send + Sync + 'static) -> Seen {
    let seen = Seen::default();
    let model = {
        let (seen, program) = (seen.clone(), Arc::new(program));
        move || {
            lose_patience(0);
            program(&seen);
        }
    };
    if let Ok(schedule) = env::var("SHUTTLE_SCHEDULE") {
        run(ReplayScheduler::new_from_encoded(schedule.trim()), model);
        return seen;
    }
    let schedules = env::var("SHUTTLE_ITERATIONS").map_or(schedules, |text| text.parse().expect("a number"));
    let started = Instant::now();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let seed = now.as_secs() ^ u64::from(now.subsec_nanos());
    let seed = env::var("SHUTTLE_RANDOM_SEED").map_or(seed, |text| text.parse().expect("a number"));
    println!("SHUTTLE_RANDOM_SEED={seed}");
    run(RandomScheduler::new_from_seed(seed, schedules.div_ceil(2)), model.clone());
    for depth in DEPTHS {
        println!("PCT with {depth} changes");
        run(PctScheduler::new_from_seed(seed, depth, schedules.div_ceil(2 * DEPTHS.len())), model.clone());
    }
    println!("{schedules} schedules in {:.1} s: {:?}", started.elapsed().as_secs_f32(), seen.0);
    seen
}

fn run(scheduler: impl Scheduler + 'static, model: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    // Of memory orderings: said above.
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(model);
}

/// A participant of a model.
type Task = Box<dyn FnOnce() + Send>;

/// Runs the participants at the same time, until all have ended.
fn together(tasks: impl IntoIterator<Item = Task>) {
    together_with(tasks, || ());
}

/// As [`together`], with the calling thread as one of them.
fn together_with(tasks: impl IntoIterator<Item = Task>, mine: impl FnOnce()) {
    let threads: Vec<_> = tasks.into_iter().map(shuttle::thread::spawn).collect();
    mine();
    for thread in threads {
        thread.join().expect("a model ends at its first panic");
    }
}

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
