//! One run of a test binary: a process group of its own, ended at the first failing test, at a time limit, or when it takes
//! too much memory.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// More memory than this is a mutant that allocates without end.
const MAX_KIB: u64 = 3 << 20;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    /// This test failed, or the process died.
    Failed(String),
    TimedOut,
    OutOfMemory,
}

/// Runs `command` and says how it ended and after how many seconds.
pub(super) fn run(command: &mut Command, limit: Duration) -> io::Result<(Outcome, f64)> {
    let start = Instant::now();
    own_group(command);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let (send, failed) = mpsc::channel();
    if let Some(pipe) = child.stdout.take() {
        // It ends when the last process of the group has closed the pipe.
        thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                if let Some(name) = failing(&line) {
                    // Nobody listens any more once the run is over.
                    let _ = send.send(name.to_owned());
                }
            }
        });
    }
    let outcome = watch(&mut child, &failed, start + limit)?;
    if outcome != Outcome::Passed {
        end_group(&mut child)?;
    }
    Ok((outcome, start.elapsed().as_secs_f64()))
}

/// The test that a line of libtest's output says has failed.
fn failing(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?
        .strip_suffix(" ... FAILED")
        .map(|name| name.trim_end_matches(" - should panic"))
}

fn watch(child: &mut Child, failed: &mpsc::Receiver<String>, deadline: Instant) -> io::Result<Outcome> {
    let mut pause = Duration::from_millis(1);
    loop {
        match failed.recv_timeout(pause) {
            Ok(name) => return Ok(Outcome::Failed(name)),
            Err(RecvTimeoutError::Timeout) => {}
            // All output is read: what is left is to end.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(Duration::from_millis(1)),
        }
        if let Some(status) = child.try_wait()? {
            let late = failed.recv_timeout(Duration::from_millis(20)).ok();
            return Ok(match late {
                Some(name) => Outcome::Failed(name),
                None if status.success() => Outcome::Passed,
                None => Outcome::Failed(status.to_string()),
            });
        }
        if Instant::now() >= deadline {
            return Ok(Outcome::TimedOut);
        }
        if resident_kib(child.id()) > MAX_KIB {
            return Ok(Outcome::OutOfMemory);
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// The memory that a process has in use; 0 where the system does not say.
fn resident_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Ends the process and whatever it started.
fn end_group(child: &mut Child) -> io::Result<()> {
    if cfg!(unix) {
        let group = format!("-{}", child.id());
        Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status()?;
    }
    child.kill()?;
    child.wait()?;
    Ok(())
}
