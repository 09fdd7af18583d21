//! Everything that continuous integration runs, as named steps in one order: the cheap ones first.
//!
//! The public workflow and a person at a terminal run the same list, whole or by name.

use std::process::Command;
use std::time::Instant;

use crate::shell::{self, Failure};
use crate::tree::Tree;
use crate::{api, broken, features, fuzz, ledger, lines, models, package, weaken};

/// The command that the README gives for running the tests.
const README_TEST: &str = "cargo test --workspace";

/// What `cargo xtask ci` was asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Only these steps; all if empty.
    pub(crate) steps: Vec<String>,
    /// Run the steps after a failure too.
    pub(crate) keep_going: bool,
    pub(crate) list: bool,
}

/// One check.
struct Step {
    name: &'static str,
    /// What it checks, for `--list`.
    about: &'static str,
    run: fn(&Tree) -> Result<(), Failure>,
}

const STEPS: [Step; 19] = [
    Step { name: "fmt", about: "formatting", run: |tree| cargo(tree, "fmt --all --check") },
    Step { name: "lines", about: "the limit on the length of a file", run: lines::run },
    Step { name: "ledger", about: "ORDERINGS.md against the code", run: |tree| ledger::run(tree, false) },
    Step {
        name: "clippy",
        about: "lints, all features, warnings denied",
        run: |tree| cargo(tree, "clippy --workspace --all-targets --all-features -- -D warnings"),
    },
    Step { name: "test", about: "the README's test command", run: readme_test },
    Step {
        name: "stats",
        about: "flatmap's tests with every lookup counted",
        run: |tree| cargo(tree, "test -p latchfree-flatmap --features stats"),
    },
    Step {
        name: "features",
        about: "sync's tests with all its features, lhash's of its own",
        run: |tree| {
            cargo(tree, "test -p latchfree-sync --all-features")?;
            cargo(tree, "test -p latchfree-lhash --features serde,rayon,stats --test features")?;
            cargo(tree, "test -p latchfree-lhash --features redo,serde --test redo")
        },
    },
    Step { name: "docs", about: "documentation, warnings denied", run: docs },
    Step {
        name: "fuzz-fmt",
        about: "formatting of the fuzz workspace",
        run: |tree| fuzz_workspace(tree, "fmt --all --check"),
    },
    Step {
        name: "fuzz-clippy",
        about: "lints of the fuzz workspace, warnings denied",
        run: |tree| fuzz_workspace(tree, "clippy --all-targets --no-default-features -- -D warnings"),
    },
    Step {
        name: "fuzz-test",
        about: "the fuzz models against themselves and the committed corpus",
        run: |tree| fuzz_workspace(tree, "test --lib --no-default-features"),
    },
    Step {
        name: "api",
        about: "the public interfaces against their lists",
        run: |tree| api::run(tree, false),
    },
    Step {
        name: "sets",
        about: "each product crate with no, each and all features",
        run: |tree| features::run(tree, &features::Options::default()),
    },
    Step {
        name: "package",
        about: "the packages, built and tested outside the workspace",
        run: |tree| package::run(tree, &package::Options::default()),
    },
    Step {
        name: "loom",
        about: "the loom models: every interleaving of small programs",
        run: |tree| models::LOOM.run(tree, &models::Options::default()),
    },
    Step {
        name: "shuttle",
        about: "the shuttle models: random schedules of longer programs",
        run: |tree| models::SHUTTLE.run(tree, &models::Options::default()),
    },
    Step {
        name: "weaken",
        about: "every tagged ordering weakened; a model must fail",
        run: |tree| weaken::run(tree, &weaken::Options::default()),
    },
    Step {
        name: "break",
        about: "each protocol broken on purpose; a model must fail",
        run: |tree| broken::run(tree, &broken::Options::default()),
    },
    Step {
        name: "fuzz",
        about: "20 seconds of each fuzz target",
        run: |tree| fuzz::run(tree, &fuzz::Options::default()),
    },
];

pub(crate) fn run(tree: &Tree, options: &Options) -> Result<(), Failure> {
    if options.list {
        STEPS.iter().for_each(|step| println!("{:<12} {}", step.name, step.about));
        return Ok(());
    }
    if let Some(unknown) = options.steps.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        return Err(Failure::new(format!("no step `{unknown}`; see `cargo xtask ci --list`")));
    }
    let chosen =
        STEPS.iter().filter(|step| options.steps.is_empty() || options.steps.iter().any(|n| n == step.name));
    let mut report = Vec::new();
    let mut failed = Vec::new();
    for step in chosen {
        eprintln!("\n==> {}: {}", step.name, step.about);
        let start = Instant::now();
        let outcome = (step.run)(tree);
        let seconds = start.elapsed().as_secs_f64();
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        report.push(format!("{:<12} {word:<6} {seconds:>7.1} s", step.name));
        if let Err(failure) = outcome {
            eprintln!("{}: {failure}", step.name);
            failed.push(step.name);
            if !options.keep_going {
                break;
            }
        }
    }
    println!("\n{}", report.join("\n"));
    if failed.is_empty() { Ok(()) } else { Err(Failure::new(format!("failed: {}", failed.join(", ")))) }
}

/// Runs cargo in the root with the words of `line`.
fn cargo(tree: &Tree, line: &str) -> Result<(), Failure> {
    shell::run(&mut cargo_command(tree, line))
}

fn cargo_command(tree: &Tree, line: &str) -> Command {
    let mut command = shell::cargo();
    command.current_dir(&tree.root).args(line.split_whitespace());
    command
}

/// Runs cargo in the fuzz workspace, where the root's build folder serves for the crates that both build.
fn fuzz_workspace(tree: &Tree, line: &str) -> Result<(), Failure> {
    let mut command = cargo_command(tree, line);
    shell::run(command.current_dir(tree.root.join("fuzz")).env("CARGO_TARGET_DIR", &tree.target))
}

/// Runs the README's test command, after looking that the README still gives it.
fn readme_test(tree: &Tree) -> Result<(), Failure> {
    if !tree.read("README.md")?.contains(README_TEST) {
        return Err(Failure::new(format!("README.md does not give the test command `{README_TEST}`")));
    }
    cargo(tree, README_TEST.trim_start_matches("cargo "))
}

fn docs(tree: &Tree) -> Result<(), Failure> {
    let mut command = cargo_command(tree, "doc --workspace --no-deps --all-features");
    shell::run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sample;

    #[test]
    fn step_names_are_distinct() {
        for (at, step) in STEPS.iter().enumerate() {
            assert!(STEPS[..at].iter().all(|other| other.name != step.name), "{}", step.name);
        }
    }

    #[test]
    fn an_unknown_step_is_refused_before_any_runs() {
        let sample = Sample::new("ci");
        let options = Options { steps: vec!["fmt".to_owned(), "nope".to_owned()], ..Options::default() };
        let failure = run(&sample.tree, &options).expect_err("nope is no step").to_string();
        assert_eq!(failure, "no step `nope`; see `cargo xtask ci --list`");
    }

    #[test]
    fn the_readme_has_to_give_the_test_command() {
        let sample = Sample::new("ci-readme").file("README.md", "run `cargo nextest`");
        let failure = readme_test(&sample.tree).expect_err("it does not").to_string();
        assert_eq!(failure, "README.md does not give the test command `cargo test --workspace`");
    }

    #[test]
    fn a_failing_step_stops_the_run_unless_told_otherwise() {
        let sample = Sample::new("ci-stop").file("flatmap/src/a.rs", &"\n".repeat(400));
        let options = Options { steps: vec!["lines".to_owned(), "ledger".to_owned()], ..Options::default() };
        let failure = run(&sample.tree, &options).expect_err("lines fails").to_string();
        assert_eq!(failure, "failed: lines");
        let failure = run(&sample.tree, &Options { keep_going: true, ..options }).expect_err("both fail");
        assert_eq!(failure.to_string(), "failed: lines, ledger");
    }
}
