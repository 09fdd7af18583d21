//! The fuzz targets, built for libFuzzer without cargo-fuzz, so that a stable toolchain is enough.
//!
//! What cargo-fuzz does is to pass the flags that make LLVM count edges and compares; libfuzzer-sys brings the
//! rest. With `--asan` the address sanitizer is added, which needs `RUSTC_BOOTSTRAP=1` on stable.
//!
//! New inputs are kept in a scratch corpus under the build folder; the committed one is only read.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::shell::{self, Failure};
use crate::tree::Tree;

/// The folder of the fuzz workspace.
const FOLDER: &str = "fuzz";
/// The largest amount of memory that a target may use.
const MEMORY_LIMIT_MIB: u32 = 2048;

/// What `cargo xtask fuzz` was asked for.
#[derive(Debug)]
pub(crate) struct Options {
    /// Only these targets; all if empty.
    pub(crate) targets: Vec<String>,
    pub(crate) seconds: u32,
    pub(crate) asan: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { targets: Vec::new(), seconds: 20, asan: false }
    }
}

/// The names of all targets, from the files in `fuzz_targets`.
pub(crate) fn targets(tree: &Tree) -> Result<Vec<String>, Failure> {
    let folder = format!("{FOLDER}/fuzz_targets/");
    let files = tree.rust_files(&folder)?;
    let names = files.iter().filter_map(|path| path.strip_prefix(&folder)?.strip_suffix(".rs"));
    Ok(names.map(str::to_owned).collect())
}

pub(crate) fn run(tree: &Tree, options: &Options) -> Result<(), Failure> {
    let all = targets(tree)?;
    if let Some(unknown) = options.targets.iter().find(|name| !all.contains(name)) {
        return Err(Failure::new(format!("no fuzz target `{unknown}`; there are: {}", all.join(", "))));
    }
    let chosen = if options.targets.is_empty() { &all } else { &options.targets };
    if chosen.is_empty() {
        return Err(Failure::new("there are no fuzz targets"));
    }
    let host = shell::host()?;
    let build_folder = tree.target.join(if options.asan { "fuzz-asan" } else { "fuzz" });
    shell::run(&mut build_command(tree, options, &host, &build_folder))?;
    let mut lines = Vec::new();
    for target in chosen {
        let binary = build_folder.join(&host).join("release").join(target);
        lines.push(run_target(tree, options, target, binary)?);
    }
    println!("fuzz: {}", lines.join("; "));
    Ok(())
}

/// The flags that cargo-fuzz passes, less those that only its sanitizers need.
fn flags(asan: bool) -> String {
    let mut flags = vec![
        "--cfg fuzzing",
        "-Cpasses=sancov-module",
        "-Cllvm-args=-sanitizer-coverage-level=4",
        "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
        "-Cllvm-args=-sanitizer-coverage-pc-table",
        "-Cllvm-args=-sanitizer-coverage-trace-compares",
        "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
        "-Cdebug-assertions",
        "-Coverflow-checks",
        "-Ccodegen-units=1",
    ];
    if cfg!(target_os = "linux") {
        flags.push("-Cllvm-args=-sanitizer-coverage-stack-depth");
    }
    if !cfg!(target_os = "macos") {
        flags.push("-Clink-dead-code");
    }
    if asan {
        flags.push("-Zsanitizer=address");
    }
    shell::rustflags(&flags.join(" "))
}

fn build_command(tree: &Tree, options: &Options, host: &str, build_folder: &PathBuf) -> Command {
    let mut command = shell::cargo();
    command.current_dir(tree.root.join(FOLDER));
    command.env("RUSTFLAGS", flags(options.asan)).env("CARGO_TARGET_DIR", build_folder);
    if options.asan {
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    command.args(["build", "--release", "--bins", "--target", host]);
    command
}

/// Runs one target and returns a line about it.
fn run_target(tree: &Tree, options: &Options, target: &str, binary: PathBuf) -> Result<String, Failure> {
    let scratch = tree.target.join("fuzz-corpus").join(target);
    let committed = tree.root.join(FOLDER).join("corpus").join(target);
    let artifacts = tree.root.join(FOLDER).join("artifacts").join(target);
    fs::create_dir_all(&scratch)?;
    fs::create_dir_all(&artifacts)?;
    if !committed.is_dir() {
        return Err(Failure::new(format!("{target} has no committed corpus")));
    }
    let log = tree.target.join("fuzz-corpus").join(format!("{target}.log"));
    let mut command = Command::new(binary);
    command.current_dir(&tree.root).stderr(fs::File::create(&log)?);
    command.args([
        // To libFuzzer a time of 0 is no limit.
        if options.seconds == 0 {
            "-runs=0".to_owned()
        } else {
            format!("-max_total_time={}", options.seconds)
        },
        format!("-rss_limit_mb={MEMORY_LIMIT_MIB}"),
        format!("-artifact_prefix={}/", artifacts.display()),
        "-timeout=10".to_owned(),
        "-print_final_stats=1".to_owned(),
    ]);
    command.args([&scratch, &committed]);
    let outcome = shell::run(&mut command);
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    if let Err(failure) = outcome {
        let tail: Vec<_> = text.lines().rev().take(60).collect();
        tail.iter().rev().for_each(|line| eprintln!("{line}"));
        return Err(failure);
    }
    summary(target, &text)
}

/// Reads libFuzzer's last words. A target that ran nothing has shown nothing.
fn summary(target: &str, log: &str) -> Result<String, Failure> {
    let number_after = |mark: &str| {
        let line = log.lines().rev().find_map(|line| line.split_once(mark))?;
        line.1.split_whitespace().next()?.parse::<u64>().ok()
    };
    let runs = number_after("stat::number_of_executed_units:").unwrap_or(0);
    let coverage = number_after(" cov: ").unwrap_or(0);
    let seed = number_after("INFO: Seed: ").unwrap_or(0);
    if runs == 0 || coverage == 0 {
        return Err(Failure::new(format!("{target}: {runs} runs, coverage {coverage}: nothing was fuzzed")));
    }
    Ok(format!("{target} {runs} runs, {coverage} edges, seed {seed}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sample;

    #[test]
    fn targets_are_the_files_of_fuzz_targets() {
        let sample = Sample::new("fuzz")
            .file("fuzz/fuzz_targets/a.rs", "")
            .file("fuzz/fuzz_targets/b.rs", "")
            .file("fuzz/src/lib.rs", "");
        assert_eq!(targets(&sample.tree).expect("readable"), ["a", "b"]);
        let options = Options { targets: vec!["c".to_owned()], ..Options::default() };
        let failure = run(&sample.tree, &options).expect_err("c is unknown").to_string();
        assert_eq!(failure, "no fuzz target `c`; there are: a, b");
    }

    #[test]
    fn the_summary_needs_runs_and_coverage() {
        let log = concat!(
            "INFO: Seed: 42\n",
            "#2\tINITED cov: 17 ft: 18 corp: 1/1b\n",
            "#9\tDONE   cov: 19 ft: 18 corp: 1/1b\n",
            "stat::number_of_executed_units: 9\n",
        );
        assert_eq!(summary("t", log).expect("it ran"), "t 9 runs, 19 edges, seed 42");
        assert!(summary("t", "INFO: Seed: 42\n").is_err());
    }
}
