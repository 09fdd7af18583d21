//! The tests with one mutant on: those that reach it, the quick ones of each binary together, until one fails.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use super::baseline::{self, Test};
use super::copy::Scratch;
use super::process::{self, Outcome};
use super::switch;
use crate::shell::Failure;

/// Tests that take less are run together.
const QUICK_SECONDS: f64 = 0.3;

/// The words of mutants for which models are left.
pub(super) const SURVIVED: &str = "SURVIVED";
pub(super) const NOT_REACHED: &str = "NOT-REACHED";
/// That of mutants that survived the models too.
pub(super) const NOT_BY_MODELS: &str = "NOT-BY-MODELS";

/// What became of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// This test failed.
    Caught(String),
    TimedOut(String),
    OutOfMemory(String),
    /// So many tests reach it, and all passed.
    Survived(usize),
    /// No test reaches it.
    NotReached,
    /// No test sees it, but this model fails.
    ByModel(String),
    /// No test sees it and no model.
    Nowhere(usize),
    /// The compiler refuses it.
    NoBuild,
}

impl Verdict {
    pub(super) const WORDS: [&str; 8] =
        ["caught", "timeout", "memory", SURVIVED, NOT_REACHED, "by-model", NOT_BY_MODELS, "no-build"];

    pub(super) fn word(&self) -> &'static str {
        Self::WORDS[match self {
            Self::Caught(_) => 0,
            Self::TimedOut(_) => 1,
            Self::OutOfMemory(_) => 2,
            Self::Survived(_) => 3,
            Self::NotReached => 4,
            Self::ByModel(_) => 5,
            Self::Nowhere(_) => 6,
            Self::NoBuild => 7,
        }]
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByModel(by) | Self::Caught(by) | Self::TimedOut(by) | Self::OutOfMemory(by) => {
                f.write_str(by)
            }
            Self::Survived(tests) => write!(f, "{tests} tests passed"),
            Self::Nowhere(models) => write!(f, "{models} models passed"),
            Self::NotReached | Self::NoBuild => f.write_str("-"),
        }
    }
}

/// Runs the models that reach mutant `number`, which no test has caught.
pub(super) fn by_models(
    copy: &Scratch,
    models: &[Test],
    number: u32,
    limit: Duration,
) -> Result<(Verdict, f64), Failure> {
    let (verdict, seconds) = run(copy, models, number, limit)?;
    let verdict = match verdict {
        Verdict::Caught(by) | Verdict::TimedOut(by) | Verdict::OutOfMemory(by) => Verdict::ByModel(by),
        Verdict::Survived(models) => Verdict::Nowhere(models),
        _ => Verdict::Nowhere(0),
    };
    Ok((verdict, seconds))
}

/// Tests of one binary that run together.
#[derive(Debug)]
struct Batch<'a> {
    binary: &'a Path,
    names: Vec<&'a str>,
    seconds: f64,
}

/// Runs the tests that reach mutant `number`; a run may take `limit`, or five times as long as without a mutant.
pub(super) fn run(
    copy: &Scratch,
    tests: &[Test],
    number: u32,
    limit: Duration,
) -> Result<(Verdict, f64), Failure> {
    let batches = batches(tests.iter().filter(|test| test.reached.contains(&number)));
    let count = batches.iter().map(|batch| batch.names.len()).sum();
    if count == 0 {
        return Ok((Verdict::NotReached, 0.0));
    }
    let mut total = 0.0;
    for batch in batches {
        let mut command = baseline::command(copy, batch.binary);
        command.arg("--exact").args(&batch.names).env(switch::MUTANT, number.to_string());
        let limit = limit.max(Duration::from_secs_f64(batch.seconds * 5.0));
        let (outcome, seconds) = process::run(&mut command, limit)?;
        total += seconds;
        match outcome {
            Outcome::Passed => {}
            Outcome::Failed(by) => return Ok((Verdict::Caught(by), total)),
            Outcome::TimedOut => return Ok((Verdict::TimedOut(batch.label()), total)),
            Outcome::OutOfMemory => return Ok((Verdict::OutOfMemory(batch.label()), total)),
        }
    }
    Ok((Verdict::Survived(count), total))
}

/// The quick tests of each binary in one batch, each slow test in its own; the quickest first.
fn batches<'a>(tests: impl Iterator<Item = &'a Test>) -> Vec<Batch<'a>> {
    let mut batches: Vec<Batch<'a>> = Vec::new();
    for test in tests {
        let is_quick = test.seconds < QUICK_SECONDS;
        let joined = batches.iter_mut().find(|batch| is_quick && batch.binary == test.binary);
        match joined {
            Some(batch) => {
                batch.names.push(&test.name);
                batch.seconds += test.seconds;
            }
            None => {
                batches.push(Batch { binary: &test.binary, names: vec![&test.name], seconds: test.seconds })
            }
        }
    }
    batches.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    batches
}

impl Batch<'_> {
    fn label(&self) -> String {
        match self.names[..] {
            [name] => name.to_owned(),
            _ => {
                let binary = self.binary.file_stem().unwrap_or_default().to_string_lossy();
                let target = binary.rsplit_once('-').map_or(&*binary, |(target, _)| target);
                format!("{} quick tests of {target}", self.names.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn quick_tests_of_a_binary_run_together_and_before_slow_ones() {
        let test = |binary: &str, name: &str, seconds| Test {
            binary: PathBuf::from(binary),
            name: name.to_owned(),
            seconds,
            reached: BTreeSet::new(),
        };
        let tests = [test("api-1", "a", 0.01), test("api-1", "b", 0.02), test("stress-1", "c", 0.005)];
        let slow = [test("api-1", "d", 2.0), test("api-1", "e", 1.0)];
        let batches = batches(tests.iter().chain(&slow));
        let names: Vec<_> = batches.iter().map(|batch| batch.names.join(" ")).collect();
        assert_eq!(names, ["c", "a b", "e", "d"]);
        assert_eq!(batches[1].label(), "2 quick tests of api");
    }
}
