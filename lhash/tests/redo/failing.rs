//! Calls of the system that fail.

use lhash::redo::{Call, Faults};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Fails the call of that number, and every later one; a write after some of its bytes.
#[derive(Debug)]
pub(crate) struct FailAt {
    at: u64,
    calls: AtomicU64,
    some_bytes: bool,
}

impl FailAt {
    pub(crate) fn new(at: u64, some_bytes: bool) -> Self {
        Self { at, calls: AtomicU64::new(0), some_bytes }
    }

    /// How many calls there were.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

impl Faults for FailAt {
    fn on(&self, call: Call) -> io::Result<usize> {
        if self.calls.fetch_add(1, Ordering::Relaxed) < self.at {
            return Ok(usize::MAX);
        }
        match call {
            Call::Write(bytes) if self.some_bytes => Ok(bytes / 2),
            _ => Err(io::Error::new(io::ErrorKind::StorageFull, "no space left")),
        }
    }
}
