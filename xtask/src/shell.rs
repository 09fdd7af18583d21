//! Running programs: cargo with its output shown, or a test binary with a time limit and its output kept.
//!
//! Next: the command that sent you here.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Why a command of this tool failed, as one message for a person.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// The cargo that started this tool, so that a chosen toolchain stays chosen.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

/// The triple of this machine: naming it keeps the flags away from build scripts.
pub(crate) fn host() -> Result<String, Failure> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| Failure::new("rustc -vV names no host"))
}

/// The `RUSTFLAGS` of the environment with `more` after them.
pub(crate) fn rustflags(more: &str) -> String {
    match std::env::var("RUSTFLAGS") {
        Ok(given) if !given.trim().is_empty() => format!("{given} {more}"),
        _ => more.to_owned(),
    }
}

/// Runs `command` with its output shown, and fails unless it ends well.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let shown = show(command);
    eprintln!("$ {shown}");
    let status = command.status().map_err(|e| Failure::new(format!("{shown}: {e}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{shown}` failed: {status}"))) }
}

/// `command` as one would type it, with the variables that matter in front.
pub(crate) fn show(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!("{}={}", name.display(), quote(&value.to_string_lossy())));
        }
    }
    let program = command.get_program().to_string_lossy();
    words.push(program.rsplit(['/', '\\']).next().unwrap_or(&program).to_owned());
    words.extend(command.get_args().map(|a| quote(&a.to_string_lossy())));
    words.join(" ")
}

fn quote(word: &str) -> String {
    if word.contains([' ', ';', '"']) { format!("'{word}'") } else { word.to_owned() }
}

/// How a program with a time limit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exit(i32),
    /// A signal other than a kill: an abort, a fault.
    Signal,
    /// Killed from outside, for example because memory ran out.
    Killed,
    TimedOut,
}

/// What a program with a time limit left behind.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) end: End,
    /// Standard output, then standard error.
    pub(crate) output: String,
    pub(crate) seconds: f64,
}

/// Runs `command`, keeps what it prints, and kills it after `limit`.
pub(crate) fn limited(command: &mut Command, limit: Duration) -> io::Result<Ended> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let out = child.stdout.take().map(drain);
    let err = child.stderr.take().map(drain);
    let status = wait(&mut child, start + limit)?;
    let mut output = String::new();
    for reader in [out, err].into_iter().flatten() {
        output.push_str(&reader.join().unwrap_or_default());
    }
    let end = status.map_or(End::TimedOut, classify);
    Ok(Ended { end, output, seconds: start.elapsed().as_secs_f64() })
}

fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A broken pipe only means that the program is gone; what it wrote before is kept.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

fn classify(status: ExitStatus) -> End {
    match status.code() {
        Some(code) => End::Exit(code),
        None if killed(status) => End::Killed,
        None => End::Signal,
    }
}

#[cfg(unix)]
fn killed(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    const SIGKILL: i32 = 9;
    status.signal() == Some(SIGKILL)
}

#[cfg(not(unix))]
fn killed(_: ExitStatus) -> bool {
    false
}
