//! The loom models: which crates have some, how they are built, and running them.
//!
//! A crate's models are its test targets whose name begins with `loom`. They are built with `--cfg loom`, which
//! changes every crate, so they have a build folder of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{self, Failure};
use crate::tree::Tree;

/// How many times a model may switch threads where it need not, unless the environment says otherwise.
const PREEMPTIONS: &str = "3";
const PREEMPTIONS_VARIABLE: &str = "LOOM_MAX_PREEMPTIONS";

/// What `cargo xtask loom` was asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) package: Option<String>,
    pub(crate) filter: Option<String>,
}

/// The files with the models of a crate.
pub(crate) fn model_files(tree: &Tree, krate: &str) -> Result<Vec<String>, Failure> {
    let prefix = format!("{krate}/tests/loom");
    let files = tree.rust_files(&format!("{krate}/tests"))?;
    Ok(files.into_iter().filter(|path| path.starts_with(&prefix)).collect())
}

/// The test targets with the models of a crate: `tests/loom.rs`, `tests/loom/main.rs`, `tests/loom_slow.rs`.
fn targets(tree: &Tree, krate: &str) -> Result<Vec<String>, Failure> {
    let folder = format!("{krate}/tests/");
    let mut targets = Vec::new();
    for path in model_files(tree, krate)? {
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
pub(crate) fn crates(tree: &Tree) -> Result<Vec<&'static str>, Failure> {
    let mut crates = Vec::new();
    for krate in tree.product() {
        if !targets(tree, krate)?.is_empty() {
            crates.push(krate);
        }
    }
    Ok(crates)
}

/// The command that builds a crate's models and reports the binaries, one JSON object a line.
pub(crate) fn build_command(tree: &Tree, krate: &str) -> Result<Command, Failure> {
    let mut command = shell::cargo();
    command.current_dir(&tree.root);
    command.env("RUSTFLAGS", shell::rustflags("--cfg loom"));
    command.env("CARGO_TARGET_DIR", tree.target.join("loom"));
    command.args(["test", "--profile", "loom", "--features", "loom"]);
    command.args(["--no-run", "--message-format", "json-render-diagnostics"]);
    command.args(["-p", &tree.package(krate)?]);
    for target in targets(tree, krate)? {
        command.args(["--test", &target]);
    }
    Ok(command)
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

/// A test binary of models, ready to run with the usual bound on preemptions.
pub(crate) fn test_command(tree: &Tree, krate: &str, binary: &Path) -> Command {
    let mut command = Command::new(binary);
    command.current_dir(tree.root.join(krate));
    if std::env::var_os(PREEMPTIONS_VARIABLE).is_none() {
        command.env(PREEMPTIONS_VARIABLE, PREEMPTIONS);
    }
    command
}

/// The full names of the tests in a binary, without those marked `#[ignore]`.
pub(crate) fn list(tree: &Tree, krate: &str, binary: &Path) -> Result<Vec<String>, Failure> {
    let names = |more: &[&str]| -> Result<Vec<String>, Failure> {
        let mut command = test_command(tree, krate, binary);
        let output = command.args(["--list", "--format", "terse"]).args(more).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    };
    let ignored = names(&["--ignored"])?;
    Ok(names(&[])?.into_iter().filter(|name| !ignored.contains(name)).collect())
}

pub(crate) fn run(tree: &Tree, options: &Options) -> Result<(), Failure> {
    let mut crates = crates(tree)?;
    if let Some(package) = &options.package {
        let wanted = package.strip_prefix("latchfree-").unwrap_or(package);
        crates.retain(|krate| *krate == wanted);
    }
    let mut ran = Vec::new();
    for krate in crates {
        let mut build = build_command(tree, krate)?;
        eprintln!("$ {}", shell::show(&build));
        let output = build.stderr(std::process::Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(Failure::new(format!("the models of {krate} do not build")));
        }
        for binary in binaries(&String::from_utf8_lossy(&output.stdout)) {
            let filter = options.filter.as_deref().unwrap_or("");
            let names = list(tree, krate, &binary)?;
            let chosen = names.into_iter().filter(|name| name.contains(filter));
            let before = ran.len();
            ran.extend(chosen.map(|name| format!("{krate} {name}")));
            if ran.len() > before {
                shell::run(test_command(tree, krate, &binary).args(options.filter.as_slice()))?;
            }
        }
    }
    if ran.is_empty() {
        return Err(Failure::new("no loom model ran"));
    }
    println!("loom: {} models passed: {}", ran.len(), ran.join(", "));
    Ok(())
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
        assert_eq!(targets(&sample.tree, "sync").expect("readable"), ["loom", "loom_slow"]);
        assert_eq!(targets(&sample.tree, "flatmap").expect("readable"), ["loom"]);
        assert_eq!(crates(&sample.tree).expect("readable"), ["sync", "flatmap"]);
        let files = model_files(&sample.tree, "flatmap").expect("readable");
        assert_eq!(files, ["flatmap/tests/loom/chain.rs", "flatmap/tests/loom/main.rs"]);
    }

    #[test]
    fn the_build_names_package_and_targets() {
        let sample = Sample::new("loom-build").file("sync/tests/loom.rs", "");
        let command = build_command(&sample.tree, "sync").expect("readable");
        let shown = shell::show(&command);
        assert!(shown.contains("--cfg loom"), "{shown}");
        assert!(shown.ends_with("-p latchfree-sync --test loom"), "{shown}");
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
