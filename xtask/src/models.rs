//! The models: which crates have some, how they are built, and running them under loom or shuttle.
//!
//! A crate's models are its test targets whose name begins with the checker's. They are built with `--cfg loom` or
//! `--cfg shuttle`, which changes every crate, so each checker has a build folder of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{self, Failure};
use crate::tree::Tree;

/// How many times a loom model may switch threads where it need not, unless the environment says otherwise.
const PREEMPTIONS: &str = "3";
const PREEMPTIONS_VARIABLE: &str = "LOOM_MAX_PREEMPTIONS";

/// A program that runs models: its name is also that of the cfg, the feature, the profile and the test target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checker(&'static str);

/// Every interleaving, with every ordering.
pub(crate) const LOOM: Checker = Checker("loom");
/// Random interleavings of longer programs.
pub(crate) const SHUTTLE: Checker = Checker("shuttle");

/// What `cargo xtask loom` or `shuttle` was asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) package: Option<String>,
    pub(crate) filter: Option<String>,
}

impl Checker {
    /// The files with the models of a crate.
    pub(crate) fn model_files(self, tree: &Tree, krate: &str) -> Result<Vec<String>, Failure> {
        let prefix = format!("{krate}/tests/{}", self.0);
        let files = tree.rust_files(&format!("{krate}/tests"))?;
        Ok(files.into_iter().filter(|path| path.starts_with(&prefix)).collect())
    }

    /// The test targets with the models of a crate: `tests/loom.rs`, `tests/loom/main.rs`, `tests/loom_slow.rs`.
    fn targets(self, tree: &Tree, krate: &str) -> Result<Vec<String>, Failure> {
        let folder = format!("{krate}/tests/");
        let mut targets = Vec::new();
        for path in self.model_files(tree, krate)? {
            let stem = path.trim_start_matches(&folder).trim_end_matches(".rs");
            match stem.split_once('/') {
                None => targets.push(stem.to_owned()),
                Some((target, "main")) => targets.push(target.to_owned()),
                Some(_) => {}
            }
        }
        Ok(targets)
    }

    /// The crates that have models.
    fn crates(self, tree: &Tree) -> Result<Vec<&'static str>, Failure> {
        let mut crates = Vec::new();
        for krate in tree.product() {
            if !self.targets(tree, krate)?.is_empty() {
                crates.push(krate);
            }
        }
        Ok(crates)
    }

    /// The command that builds a crate's models and reports the binaries, one JSON object a line.
    pub(crate) fn build_command(self, tree: &Tree, krate: &str) -> Result<Command, Failure> {
        let mut command = shell::cargo();
        command.current_dir(&tree.root);
        command.env("RUSTFLAGS", shell::rustflags(&format!("--cfg {}", self.0)));
        command.env("CARGO_TARGET_DIR", tree.target.join(self.0));
        command.args(["test", "--profile", self.0, "--features", self.0]);
        command.args(["--no-run", "--message-format", "json-render-diagnostics"]);
        command.args(["-p", &tree.package(krate)?]);
        for target in self.targets(tree, krate)? {
            command.args(["--test", &target]);
        }
        Ok(command)
    }

    /// A test binary of models, ready to run; under loom, with the usual bound on preemptions.
    pub(crate) fn test_command(self, tree: &Tree, krate: &str, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        command.current_dir(tree.root.join(krate));
        if self == LOOM && std::env::var_os(PREEMPTIONS_VARIABLE).is_none() {
            command.env(PREEMPTIONS_VARIABLE, PREEMPTIONS);
        }
        command
    }

    /// The full names of the tests in a binary, without those marked `#[ignore]`.
    pub(crate) fn list(self, tree: &Tree, krate: &str, binary: &Path) -> Result<Vec<String>, Failure> {
        let names = |more: &[&str]| -> Result<Vec<String>, Failure> {
            let mut command = self.test_command(tree, krate, binary);
            let output = command.args(["--list", "--format", "terse"]).args(more).output()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
        };
        let ignored = names(&["--ignored"])?;
        Ok(names(&[])?.into_iter().filter(|name| !ignored.contains(name)).collect())
    }

    pub(crate) fn run(self, tree: &Tree, options: &Options) -> Result<(), Failure> {
        let mut crates = self.crates(tree)?;
        if let Some(package) = &options.package {
            let wanted = package.strip_prefix("latchfree-").unwrap_or(package);
            crates.retain(|krate| *krate == wanted);
        }
        let mut ran = Vec::new();
        for krate in crates {
            let mut build = self.build_command(tree, krate)?;
            eprintln!("$ {}", shell::show(&build));
            let output = build.stderr(std::process::Stdio::inherit()).output()?;
            if !output.status.success() {
                return Err(Failure::new(format!("the models of {krate} do not build")));
            }
            for binary in binaries(&String::from_utf8_lossy(&output.stdout)) {
                let filter = options.filter.as_deref().unwrap_or("");
                let names = self.list(tree, krate, &binary)?;
                let chosen = names.into_iter().filter(|name| name.contains(filter));
                let before = ran.len();
                ran.extend(chosen.map(|name| format!("{krate} {name}")));
                if ran.len() > before {
                    shell::run(self.test_command(tree, krate, &binary).args(options.filter.as_slice()))?;
                }
            }
        }
        if ran.is_empty() {
            return Err(Failure::new(format!("no {} model ran", self.0)));
        }
        println!("{}: {} models passed: {}", self.0, ran.len(), ran.join(", "));
        Ok(())
    }
}

/// The test binaries that cargo's report names.
pub(crate) fn binaries(report: &str) -> Vec<PathBuf> {
    const FIELD: &str = "\"executable\":\"";
    report
        .lines()
        .filter(|line| line.contains("\"reason\":\"compiler-artifact\""))
        .filter_map(|line| {
            let value = &line[line.find(FIELD)? + FIELD.len()..];
            Some(PathBuf::from(value[..value.find('"')?].replace("\\\\", "\\")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sample;

    #[test]
    fn models_are_found_in_files_and_folders() {
        let sample = Sample::new("loom")
            .file("sync/tests/loom.rs", "")
            .file("sync/tests/loom_slow.rs", "")
            .file("sync/tests/api.rs", "")
            .file("flatmap/tests/loom/main.rs", "")
            .file("flatmap/tests/loom/chain.rs", "");
        assert_eq!(LOOM.targets(&sample.tree, "sync").expect("readable"), ["loom", "loom_slow"]);
        assert_eq!(LOOM.targets(&sample.tree, "flatmap").expect("readable"), ["loom"]);
        assert_eq!(LOOM.crates(&sample.tree).expect("readable"), ["sync", "flatmap"]);
        let files = LOOM.model_files(&sample.tree, "flatmap").expect("readable");
        assert_eq!(files, ["flatmap/tests/loom/chain.rs", "flatmap/tests/loom/main.rs"]);
    }

    #[test]
    fn the_build_names_package_and_targets() {
        let sample = Sample::new("loom-build").file("sync/tests/loom.rs", "");
        let command = LOOM.build_command(&sample.tree, "sync").expect("readable");
        let shown = shell::show(&command);
        assert!(shown.contains("--cfg loom"), "{shown}");
        assert!(shown.ends_with("-p latchfree-sync --test loom"), "{shown}");
    }

    #[test]
    fn each_checker_has_its_own_targets_and_build() {
        let sample =
            Sample::new("models").file("sync/tests/loom/main.rs", "").file("sync/tests/shuttle/main.rs", "");
        assert_eq!(LOOM.targets(&sample.tree, "sync").expect("readable"), ["loom"]);
        let command = SHUTTLE.build_command(&sample.tree, "sync").expect("readable");
        let shown = shell::show(&command);
        assert!(shown.contains("--cfg shuttle") && shown.contains("--profile shuttle"), "{shown}");
        assert!(shown.ends_with("-p latchfree-sync --test shuttle"), "{shown}");
        let failure =
            SHUTTLE.run(&sample.tree, &Options { package: Some("flatmap".to_owned()), filter: None });
        assert_eq!(failure.expect_err("flatmap has none").to_string(), "no shuttle model ran");
    }

    #[test]
    fn binaries_are_taken_from_the_report() {
        let report = concat!(
            "{\"reason\":\"compiler-artifact\",\"executable\":null}\n",
            "{\"reason\":\"compiler-artifact\",\"executable\":\"C:\\\\t\\\\loom-1.exe\",\"fresh\":true}\n",
            "{\"reason\":\"build-finished\",\"success\":true}\n",
        );
        assert_eq!(binaries(report), [PathBuf::from("C:\\t\\loom-1.exe")]);
    }
}
