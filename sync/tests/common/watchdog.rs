//! A test that would hang ends the process instead, and says which one it was.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// While it lives, the clock runs.
pub(crate) struct Watchdog {
    _alive: Sender<()>,
}

/// Allows a minute for `what`: so much that only a hang takes longer.
pub(crate) fn watch(what: &'static str) -> Watchdog {
    let (alive, gone) = channel();
    thread::spawn(move || {
        if gone.recv_timeout(Duration::from_secs(60)) == Err(RecvTimeoutError::Timeout) {
            eprintln!("`{what}` hangs");
            std::process::abort();
        }
    });
    Watchdog { _alive: alive }
}
