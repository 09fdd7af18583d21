//! `bench` as it is called from a shell.

use std::process::{Command, Output};

/// What a call of `bench` with a command and its arguments comes to.
pub(crate) fn bench(command: &str, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bench")).arg(command).args(args).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The one line on standard error of a call that must end with status 2.
pub(crate) fn mistake(command: &str, args: &[&str]) -> String {
    let output = bench(command, args);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(said.starts_with("error: ") && said.lines().count() == 1, "{args:?}: {said}");
    assert!(output.stdout.is_empty(), "{args:?}");
    said.trim_end().to_owned()
}
