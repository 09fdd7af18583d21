//! Instructions of the hot operations, counted by valgrind's callgrind through gungraun, against the record in
//! `bench/insns.txt`: a regression shows on a machine that is too noisy for times. Compilers differ, so the record names its
//! own, and `ci` does not run this.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::shell::{self, Failure};
use crate::tree::Tree;

const RECORD: &str = "bench/insns.txt";
/// How often the benchmark does each operation: `TIMES` in `bench/benches/insns.rs`.
const TIMES: f64 = 1000.0;
/// More of both than this is a change.
const MOST_SHARE: f64 = 0.03;
const MOST: f64 = 2.0;

/// Instructions of each operation.
type Counts = BTreeMap<String, f64>;

pub(crate) fn run(tree: &Tree, record: bool) -> Result<(), Failure> {
    let found = counts(&output(tree)?);
    if found.is_empty() {
        return Err(Failure::new("gungraun told no count: has the form of its output changed?"));
    }
    if record {
        fs::write(tree.root.join(RECORD), written(&compiler()?, &found))?;
        println!("insns: {} operations recorded in {RECORD}", found.len());
        return Ok(());
    }
    let text = tree.read(RECORD)?;
    let recorded = read(&text)?;
    if let Some(other) = text.lines().next().filter(|line| !line.contains(&compiler().unwrap_or_default())) {
        println!("another compiler than the record's: {other}");
    }
    let changed = compare(&recorded, &found);
    if changed.is_empty() {
        println!("insns: {} operations as recorded", found.len());
        Ok(())
    } else {
        Err(Failure::new(format!(
            "changed: {}; `cargo xtask insns --record` if that is meant",
            changed.join(", ")
        )))
    }
}

/// What the benchmark prints: a line of JSON an operation.
fn output(tree: &Tree) -> Result<String, Failure> {
    let valgrind =
        Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !valgrind.is_ok_and(|status| status.success()) {
        return Err(Failure::new("valgrind is not here; it counts the instructions, on Linux only"));
    }
    let runner = runner(tree)?;
    // Without a run before there is one number for each count.
    let before = tree.target.join("gungraun");
    if before.exists() {
        fs::remove_dir_all(before)?;
    }
    let mut command = shell::cargo();
    command.current_dir(&tree.root).env("GUNGRAUN_RUNNER", runner);
    command.args(["bench", "-p", "bench", "--bench", "insns", "--", "--output-format=json"]);
    eprintln!("$ {}", shell::show(&command));
    let output = command.stderr(Stdio::inherit()).output()?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(Failure::new(format!("the benchmark failed: {}", output.status)))
    }
}

/// The program that runs the benchmarks, of the version of the library in the lock file; installed if it is not there.
fn runner(tree: &Tree) -> Result<PathBuf, Failure> {
    let lock = tree.read("Cargo.lock")?;
    let version = locked(&lock, "gungraun").ok_or_else(|| Failure::new("Cargo.lock names no gungraun"))?;
    let root = tree.target.join("tools").join(&version);
    let runner = root.join("bin/gungraun-runner");
    if !runner.is_file() {
        let mut command = shell::cargo();
        command
            .args(["install", "--locked", "--quiet", "--version", &version, "gungraun-runner", "--root"])
            .arg(&root);
        shell::run(&mut command)?;
    }
    Ok(runner)
}

fn locked(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"\nversion = \"");
    Some(lock.split_once(&name)?.1.split_once('"')?.0.to_owned())
}

fn compiler() -> Result<String, Failure> {
    let output = Command::new("rustc").arg("--version").output()?;
    Ok(format!("{}, {}", String::from_utf8_lossy(&output.stdout).trim(), shell::host()?))
}

/// The counts in gungraun's JSON: of each line the function's name, and the first number after `"Ir"`.
fn counts(output: &str) -> Counts {
    let count = |line: &str| {
        let name = line.split_once("\"function_name\":\"")?.1.split_once('"')?.0;
        let after = line.split_once("\"Ir\":")?.1;
        let digits = after.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        Some((name.to_owned(), digits[..end].parse::<f64>().ok()? / TIMES))
    };
    output.lines().filter_map(count).collect()
}

fn written(compiler: &str, counts: &Counts) -> String {
    let rows: String = counts.iter().map(|(name, count)| format!("{name:<24} {count:>8.1}\n")).collect();
    format!("# Instructions an operation, {compiler}. Written by `cargo xtask insns --record`.\n{rows}")
}

fn read(text: &str) -> Result<Counts, Failure> {
    let rows = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    rows.map(|(index, line)| {
        let parts = line.split_once(' ').and_then(|(name, count)| Some((name, count.trim().parse().ok()?)));
        let (name, count) = parts.ok_or_else(|| {
            Failure::new(format!("{RECORD}:{}: {line:?} is not a name and a number", index + 1))
        })?;
        Ok((name.to_owned(), count))
    })
    .collect()
}

/// Prints all, and returns what has changed, come or gone.
fn compare(recorded: &Counts, found: &Counts) -> Vec<String> {
    println!("{:<24} {:>8} {:>8} {:>8}", "operation", "recorded", "found", "change");
    let mut changed = Vec::new();
    for (name, now) in found {
        let Some(before) = recorded.get(name) else {
            println!("{name:<24} {:>8} {now:>8.1}", "-");
            changed.push(format!("{name} (not recorded)"));
            continue;
        };
        let share = now / before - 1.0;
        println!("{name:<24} {before:>8.1} {now:>8.1} {:>+7.1}%", 100.0 * share);
        if (now - before).abs() > MOST.max(MOST_SHARE * before) {
            changed.push(name.clone());
        }
    }
    changed.extend(
        recorded.keys().filter(|name| !found.contains_key(*name)).map(|name| format!("{name} (gone)")),
    );
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[(&str, f64)]) -> Counts {
        rows.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn counts_are_read_from_what_gungraun_prints() {
        let line =
            r#"{"function_name":"get","id":"op","metrics":{"Callgrind":{"Ir":{"Left":{"Int":73500}}}}}"#;
        assert_eq!(counts(&format!("noise\n{line}\n")), of(&[("get", 73.5)]));
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let counts = of(&[("get", 73.5), ("insert", 210.0)]);
        assert_eq!(read(&written("rustc 1.95.0", &counts)).unwrap(), counts);
        assert!(read("get many\n").unwrap_err().to_string().contains("insns.txt:1"));
    }

    #[test]
    fn small_changes_pass_and_others_do_not() {
        let recorded = of(&[("get", 100.0), ("small", 10.0), ("old", 5.0)]);
        assert_eq!(
            compare(&recorded, &of(&[("get", 103.0), ("small", 12.0), ("old", 5.0)])),
            Vec::<String>::new()
        );
        let found = of(&[("get", 103.5), ("small", 12.5), ("new", 1.0)]);
        assert_eq!(compare(&recorded, &found), ["get", "new (not recorded)", "small", "old (gone)"]);
    }

    #[test]
    fn the_runner_has_the_librarys_version() {
        let lock = "[[package]]\nname = \"gungraun-macros\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"gungraun\"\nversion = \"0.19.1\"\n";
        assert_eq!(locked(lock, "gungraun").as_deref(), Some("0.19.1"));
    }
}
