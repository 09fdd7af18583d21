//! Waiting in the manner of `std`: its mutex, and its way to park a thread.

use super::Deadline;
use core::fmt;
use std::time::Instant;

/// A mutex for cold paths; a panic while it is held does not poison it.
#[derive(Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A free mutex that holds `value`.
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Waits for the mutex.
    pub fn lock(&self) -> std::sync::MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mutex")
    }
}

/// One thread sleeps here, any other may wake it. It belongs to the thread that made it.
#[derive(Debug)]
pub struct Parker(std::thread::Thread);

impl Parker {
    /// A parker for the calling thread.
    pub fn for_this_thread() -> Self {
        Self(std::thread::current())
    }

    /// Sleeps until woken, or until `deadline`. May return early: callers test their own condition.
    pub fn park(&self, deadline: Deadline) {
        match deadline.moment() {
            None => std::thread::park(),
            Some(at) => std::thread::park_timeout(at.saturating_duration_since(Instant::now())),
        }
    }

    /// Wakes the sleeper; if it does not sleep yet, its next sleep ends at once.
    pub fn unpark(&self) {
        self.0.unpark();
    }
}
