//! The tests without a mutant: how long each takes, and which mutants it reaches at all.
//!
//! Next: `trial.rs`, the tests with a mutant.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use super::copy::{Purpose, Scratch};
use super::in_parallel;
use super::process::{self, Outcome};
use super::switch;
use crate::shell::Failure;

/// Threads meet by chance: what a test reaches is what it reached in any of so many runs.
const ROUNDS: usize = 3;
/// A test that takes this long alone is not run again.
const LONG_SECONDS: f64 = 3.0;
/// How often a model may switch threads where it need not, unless the environment says otherwise.
const PREEMPTIONS: &str = "2";
/// How long a test may take without a mutant.
const LIMIT: Duration = Duration::from_secs(300);

/// One test.
#[derive(Debug, Clone)]
pub(super) struct Test {
    pub(super) binary: PathBuf,
    pub(super) name: String,
    /// Of its slowest run.
    pub(super) seconds: f64,
    pub(super) reached: BTreeSet<u32>,
}

/// The tests of a crate that pass each time without a mutant, each time within `longest`; the quickest first.
pub(super) fn tests(
    copy: &Scratch,
    binaries: &[PathBuf],
    jobs: usize,
    longest: Option<Duration>,
) -> Result<Vec<Test>, Failure> {
    let mut queue = Vec::new();
    for binary in binaries {
        queue.extend(names(copy, binary)?.into_iter().map(|name| (binary.clone(), name)));
    }
    let steady = Mutex::new(Vec::new());
    in_parallel(jobs, queue, |worker, (binary, name)| {
        let record = copy.tree.target.join(format!("reached-{worker}"));
        let mut test = Test { binary, name, seconds: 0.0, reached: BTreeSet::new() };
        let rounds = if copy.purpose == Purpose::Models { 1 } else { ROUNDS };
        for _ in 0..rounds {
            if test.seconds > LONG_SECONDS {
                break;
            }
            let outcome = measure(copy, &mut test, &record, longest.unwrap_or(LIMIT))?;
            if outcome == Outcome::TimedOut && longest.is_some() {
                println!("left out: {}, which takes longer", test.name);
                return Ok(());
            }
            if outcome != Outcome::Passed {
                println!("left out: {}, which does not pass without a mutant: {outcome:?}", test.name);
                return Ok(());
            }
        }
        steady.lock().map_err(|_| Failure::new("a run panicked"))?.push(test);
        Ok(())
    })?;
    let mut steady = steady.into_inner().unwrap_or_default();
    if steady.is_empty() {
        return Err(Failure::new("nothing passes without a mutant"));
    }
    steady.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    Ok(steady)
}

/// A test binary, ready to run.
pub(super) fn command(copy: &Scratch, binary: &Path) -> Command {
    let mut command = Command::new(binary);
    command.current_dir(copy.tree.root.join(&copy.krate)).env("RUST_BACKTRACE", "0");
    if std::env::var_os("LOOM_MAX_PREEMPTIONS").is_none() {
        command.env("LOOM_MAX_PREEMPTIONS", PREEMPTIONS);
    }
    command
}

/// The tests in a binary, without those marked `#[ignore]`.
fn names(copy: &Scratch, binary: &Path) -> Result<Vec<String>, Failure> {
    let list = |more: &[&str]| -> Result<Vec<String>, Failure> {
        let output = command(copy, binary).args(["--list", "--format", "terse"]).args(more).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    };
    let ignored = list(&["--ignored"])?;
    Ok(list(&[])?.into_iter().filter(|name| !ignored.contains(name)).collect())
}

/// Runs a test alone, and adds what it reached and took.
fn measure(copy: &Scratch, test: &mut Test, record: &Path, limit: Duration) -> Result<Outcome, Failure> {
    fs::write(record, [])?;
    let mut command = command(copy, &test.binary);
    command.args([test.name.as_str(), "--exact"]).env(switch::REACHED, record);
    let (outcome, seconds) = process::run(&mut command, limit)?;
    test.seconds = test.seconds.max(seconds);
    let numbers = fs::read(record)?;
    test.reached.extend(numbers.chunks_exact(4).map(|n| u32::from_le_bytes([n[0], n[1], n[2], n[3]])));
    Ok(outcome)
}
