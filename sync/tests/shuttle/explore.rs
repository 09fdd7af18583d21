//! Running a program in many random schedules. Shared by the crates' shuttle models.

use std::collections::BTreeMap;
use std::env;
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use sync::prim::lose_patience;
use sync::prim::shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Scheduler};
use sync::prim::shuttle::{self, Config, Runner};

/// How often priorities change in a schedule of PCT: each finds faults that need so many switches.
const DEPTHS: [usize; 3] = [2, 3, 5];

/// What the schedules of one model came to, and how often.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<BTreeMap<String, u64>>>);

impl Seen {
    pub(crate) fn note(&self, outcome: impl Into<String>) {
        *self.0.lock().expect("no holder panics").entry(outcome.into()).or_default() += 1;
    }

    /// Demands that these outcomes occurred, unless it was asked for other schedules than the model's own.
    #[track_caller]
    pub(crate) fn must_have(&self, outcomes: &[&str]) {
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
pub(crate) fn explore(schedules: usize, program: impl Fn(&Seen) + Send + Sync + 'static) -> Seen {
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
pub(crate) type Task = Box<dyn FnOnce() + Send>;

/// Runs the participants at the same time, until all have ended.
pub(crate) fn together(tasks: impl IntoIterator<Item = Task>) {
    together_with(tasks, || ());
}

/// As [`together`], with the calling thread as one of them.
pub(crate) fn together_with(tasks: impl IntoIterator<Item = Task>, mine: impl FnOnce()) {
    let threads: Vec<_> = tasks.into_iter().map(shuttle::thread::spawn).collect();
    mine();
    for thread in threads {
        thread.join().expect("a model ends at its first panic");
    }
}
