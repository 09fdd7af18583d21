//! The threads that keep the subjects busy, and the one that looks.

use crate::memory::{resident, shown};
use crate::subjects::{Subject, Work};
use fastrand::Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use sync::LwLock;

/// How often the subjects are looked at while they are busy.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// At every so manieth look they are brought to rest first.
const REST_EVERY: u32 = 3;
/// At every so manieth look a line is printed.
const TELL_EVERY: u32 = 10;

/// What was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) time: Duration,
    pub(crate) threads: usize,
    /// Only subjects whose name begins so.
    pub(crate) only: Vec<String>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) operations: u64,
    pub(crate) violations: u64,
    /// How often the subjects were brought to rest and found whole.
    pub(crate) rests: u32,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        // Who has looked at nothing has shown nothing.
        let is_good = outcome.violations == 0 && outcome.operations > 0 && outcome.rests > 0;
        if is_good { Self::SUCCESS } else { Self::FAILURE }
    }
}

/// What the threads share.
struct Scene {
    subjects: Vec<Box<dyn Subject>>,
    stop: AtomicBool,
    /// Held shared for each batch; who holds it exclusively finds all threads at rest.
    turn: LwLock<()>,
    operations: AtomicU64,
    violations: AtomicU64,
}

impl Scene {
    fn note(&self, name: &str, found: Result<(), String>) {
        if let Err(what) = found {
            // Relaxed: a count.
            self.violations.fetch_add(1, Ordering::Relaxed);
            eprintln!("VIOLATION {name}: {what}");
        }
    }

    /// One thread's work.
    fn work(&self, thread: usize) {
        let mut rng = Rng::with_seed(thread as u64 + 1);
        // Relaxed: a flag that says nothing else.
        while !self.stop.load(Ordering::Relaxed) {
            for subject in &self.subjects {
                let turn = self.turn.read();
                let work = Work { thread, rng: &mut rng };
                match guarded(|| subject.churn(work)) {
                    // Relaxed: a count.
                    Ok(operations) => _ = self.operations.fetch_add(operations, Ordering::Relaxed),
                    Err(what) => self.note(subject.name(), Err(what)),
                }
                drop(turn);
            }
        }
    }

    fn look(&self, is_at_rest: bool) {
        let rest = is_at_rest.then(|| self.turn.write());
        for subject in &self.subjects {
            self.note(subject.name(), guarded(|| subject.look()));
            if rest.is_some() {
                self.note(subject.name(), guarded(|| subject.check()));
            }
        }
    }

    fn tell(&self, start: Instant) {
        // Relaxed: counts.
        let (done, wrong) =
            (self.operations.load(Ordering::Relaxed), self.violations.load(Ordering::Relaxed));
        let memory = resident().map_or("unknown".to_owned(), |memory| shown(memory.now));
        println!("{:>6} s: {done} operations, {wrong} violations, {memory}", start.elapsed().as_secs());
    }
}

/// A panic is a violation too.
fn guarded<R>(look: impl FnOnce() -> Result<R, String>) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(look)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
        Err(format!("a panic: {text}"))
    })
}

/// Keeps `subjects` busy as `plan` says, and prints what was found.
pub(crate) fn run(mut subjects: Vec<Box<dyn Subject>>, plan: &Plan) -> Outcome {
    let is_wanted = |name: &str| plan.only.is_empty() || plan.only.iter().any(|only| name.starts_with(only));
    subjects.retain(|subject| is_wanted(subject.name()));
    let names: Vec<String> = subjects.iter().map(|subject| subject.name().to_owned()).collect();
    println!("{} threads, {} s: {}", plan.threads, plan.time.as_secs(), names.join(", "));
    let scene = Arc::new(Scene {
        subjects,
        stop: AtomicBool::new(names.is_empty()),
        turn: LwLock::new(()),
        operations: AtomicU64::new(0),
        violations: AtomicU64::new(0),
    });
    let start = Instant::now();
    let begin = |number| {
        let scene = Arc::clone(&scene);
        thread::spawn(move || scene.work(number))
    };
    let threads: Vec<_> = (0..plan.threads).map(begin).collect();
    let mut rests = 0;
    for look in 1.. {
        let left = plan.time.saturating_sub(start.elapsed());
        if left.is_zero() || names.is_empty() {
            break;
        }
        thread::sleep(LOOK_EVERY.min(left));
        scene.look(look % REST_EVERY == 0);
        rests += u32::from(look % REST_EVERY == 0);
        if look % TELL_EVERY == 0 {
            scene.tell(start);
        }
    }
    // Relaxed: a flag that says nothing else; the joins order the rest.
    scene.stop.store(true, Ordering::Relaxed);
    for thread in threads {
        let ended = thread.join().map_err(|_| "it panicked between its batches".to_owned());
        scene.note("a thread", ended);
    }
    scene.look(true);
    scene.tell(start);
    if let Some(memory) = resident() {
        println!("resident memory: at most {}, {} at the end", shown(memory.peak), shown(memory.now));
    }
    // Relaxed: counts, and no thread is left.
    let (operations, violations) =
        (scene.operations.load(Ordering::Relaxed), scene.violations.load(Ordering::Relaxed));
    let rests = rests + u32::from(!names.is_empty());
    println!("soak: {operations} operations, {violations} violations, {rests} times whole at rest");
    Outcome { operations, violations, rests }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(only: &[&str]) -> Plan {
        let only = only.iter().map(|&name| name.to_owned()).collect();
        Plan { time: Duration::from_millis(300), threads: 3, only }
    }

    /// Finds something wrong in each of its three ways.
    struct Wrong(&'static str);

    impl Subject for Wrong {
        fn name(&self) -> &str {
            self.0
        }

        fn churn(&self, work: Work<'_>) -> Result<u64, String> {
            match self.0 {
                "churn" => Err("always".to_owned()),
                "panic" => panic!("thread {}", work.thread),
                _ => Ok(1),
            }
        }

        fn look(&self) -> Result<(), String> {
            if self.0 == "look" { Err("always".to_owned()) } else { Ok(()) }
        }

        fn check(&self) -> Result<(), String> {
            if self.0 == "check" { Err("always".to_owned()) } else { Ok(()) }
        }
    }

    #[test]
    fn every_kind_of_violation_is_counted_and_ends_in_status_1() {
        for name in ["churn", "panic", "look", "check"] {
            let outcome = run(vec![Box::new(Wrong("right")), Box::new(Wrong(name))], &plan(&[]));
            assert!(outcome.violations > 0 && outcome.operations > 0, "{name}: {outcome:?}");
            assert_eq!(ExitCode::from(outcome), ExitCode::FAILURE);
        }
        let outcome = run(vec![Box::new(Wrong("right"))], &plan(&[]));
        assert_eq!(ExitCode::from(outcome), ExitCode::SUCCESS);
        assert_eq!(ExitCode::from(Outcome { rests: 0, ..outcome }), ExitCode::FAILURE);
    }

    #[test]
    fn nothing_to_do_is_no_success() {
        let outcome = run(vec![Box::new(Wrong("right"))], &plan(&["another"]));
        assert_eq!(ExitCode::from(outcome), ExitCode::FAILURE);
    }

    #[test]
    fn all_subjects_stay_whole_for_a_moment() {
        let outcome = run(crate::subjects::all(3), &plan(&[]));
        assert_eq!(outcome.violations, 0);
        assert!(outcome.operations > 0 && outcome.rests > 0, "{outcome:?}");
    }
}
