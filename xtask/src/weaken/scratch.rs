//! A scratch copy of the workspace: one file is changed, the models are built and run, the file is restored.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::ledger::Model;
use crate::models::{self, LOOM};
use crate::shell::{self, End, Ended, Failure};
use crate::tree::Tree;

/// How long a build may take: it waits for the other copies' builds.
const BUILD_LIMIT: Duration = Duration::from_secs(900);

/// A copy of the workspace, for one mutant at a time.
#[derive(Debug)]
pub(crate) struct Scratch {
    tree: Tree,
    limit: Duration,
}

/// What became of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It failed, with these words.
    Caught(String),
    /// It passed.
    Survived,
    TimedOut,
    /// The changed code does not compile.
    NoBuild(String),
    /// It was not exactly this model that ran, or it was killed.
    NotRun(String),
}

impl Verdict {
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Caught(_) => "caught",
            Self::Survived => "passed",
            Self::TimedOut => "TIMEOUT",
            Self::NoBuild(_) => "NO BUILD",
            Self::NotRun(_) => "NOT RUN",
        }
    }

    pub(crate) fn detail(&self) -> &str {
        match self {
            Self::Caught(text) | Self::NoBuild(text) | Self::NotRun(text) => text,
            Self::Survived => "nothing failed",
            Self::TimedOut => "the model ran out of time",
        }
    }
}

impl Scratch {
    pub(crate) fn new(tree: &Tree, number: usize, limit: Duration) -> Result<Self, Failure> {
        let place = tree.target.join("weaken").join(number.to_string());
        Ok(Self { tree: tree.copy_to(&place)?, limit })
    }

    /// Builds a crate's models; the error is what the compiler said.
    pub(crate) fn build(&self, krate: &str) -> Result<Vec<PathBuf>, String> {
        let mut command = LOOM.build_command(&self.tree, krate).map_err(|failure| failure.to_string())?;
        let ended = shell::limited(&mut command, BUILD_LIMIT).map_err(|error| error.to_string())?;
        if ended.end == End::Exit(0) {
            Ok(models::binaries(&ended.output))
        } else {
            let errors: Vec<_> = ended.output.lines().filter(|line| !line.starts_with('{')).collect();
            Err(errors.join("\n"))
        }
    }

    /// Runs one model from the binaries of its crate.
    pub(crate) fn run(&self, model: &Model, binaries: &[PathBuf]) -> Result<(Verdict, f64), Failure> {
        for binary in binaries {
            let tests = LOOM.list(&self.tree, &model.krate, binary)?;
            if let Some(test) = tests.iter().find(|test| model.is(test)) {
                let mut command = LOOM.test_command(&self.tree, &model.krate, binary);
                command.args([test.as_str(), "--exact", "--test-threads", "1"]);
                let ended = shell::limited(&mut command, self.limit)?;
                return Ok((judge(&ended), ended.seconds));
            }
        }
        Ok((Verdict::NotRun("no test binary holds it".to_owned()), 0.0))
    }

    /// Changes the file at `path` from `text` to `changed` and runs models until one fails. The verdict is the last
    /// model's; the seconds are those of all runs.
    pub(crate) fn change(
        &self,
        path: &str,
        text: &str,
        changed: &str,
        models: &[Model],
    ) -> Result<(Model, Verdict, f64), Failure> {
        let place = self.tree.root.join(path);
        fs::write(&place, changed)?;
        let outcome = self.run_all(models);
        fs::write(&place, text)?;
        outcome
    }

    fn run_all(&self, models: &[Model]) -> Result<(Model, Verdict, f64), Failure> {
        let mut built: Option<(&str, Vec<PathBuf>)> = None;
        let mut last = Err(Failure::new("no model is named"));
        let mut total = 0.0;
        for model in models {
            if built.as_ref().is_none_or(|(krate, _)| *krate != model.krate) {
                match self.build(&model.krate) {
                    Ok(binaries) => built = Some((&model.krate, binaries)),
                    Err(text) => return Ok((model.clone(), Verdict::NoBuild(text), total)),
                }
            }
            let binaries = built.as_ref().map_or(&[][..], |(_, binaries)| binaries);
            let (verdict, seconds) = self.run(model, binaries)?;
            total += seconds;
            let done = verdict != Verdict::Survived;
            last = Ok((model.clone(), verdict, total));
            if done {
                break;
            }
        }
        last
    }
}

/// What the output of a test binary that should run one model says.
fn judge(ended: &Ended) -> Verdict {
    let ran_one = ended.output.contains("running 1 test\n");
    match ended.end {
        End::TimedOut => Verdict::TimedOut,
        End::Killed => Verdict::NotRun("it was killed: out of memory?".to_owned()),
        _ if !ran_one => Verdict::NotRun("not exactly one test ran".to_owned()),
        End::Exit(0) if ended.output.contains("1 passed") => Verdict::Survived,
        End::Exit(0) => Verdict::NotRun("it is ignored".to_owned()),
        // A panic while another unwinds, as loom's objects do in their drop, aborts.
        End::Signal | End::Exit(_) => Verdict::Caught(panic_message(&ended.output)),
    }
}

/// The first panic's message, in one short line.
fn panic_message(output: &str) -> String {
    const MAX_CHARS: usize = 70;
    let mut lines = output.lines().skip_while(|line| !line.contains("panicked at")).skip(1);
    let line = lines.find(|line| !line.trim().is_empty()).unwrap_or("it failed without a message");
    line.trim().chars().take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(end: End, output: &str) -> Ended {
        Ended { end, output: output.to_owned(), seconds: 0.0 }
    }

    #[test]
    fn only_a_failure_of_exactly_one_test_is_a_catch() {
        let failed =
            "running 1 test\ntest m ... FAILED\n\nthread 'm' panicked at x.rs:1:1:\ntorn read\n1 failed;";
        assert_eq!(judge(&ended(End::Exit(101), failed)), Verdict::Caught("torn read".to_owned()));
        assert!(matches!(judge(&ended(End::Signal, failed)), Verdict::Caught(_)));
        let passed = "running 1 test\ntest m ... ok\ntest result: ok. 1 passed; 0 failed;";
        assert_eq!(judge(&ended(End::Exit(0), passed)), Verdict::Survived);
        assert_eq!(judge(&ended(End::TimedOut, "running 1 test\n")), Verdict::TimedOut);
        assert!(matches!(judge(&ended(End::Killed, failed)), Verdict::NotRun(_)));
        assert!(matches!(judge(&ended(End::Exit(0), "running 0 tests\n0 passed")), Verdict::NotRun(_)));
        assert!(matches!(judge(&ended(End::Exit(101), "running 2 tests\n")), Verdict::NotRun(_)));
        let ignored = "running 1 test\ntest m ... ignored\n0 passed; 0 failed; 1 ignored";
        assert!(matches!(judge(&ended(End::Exit(0), ignored)), Verdict::NotRun(_)));
    }
}
