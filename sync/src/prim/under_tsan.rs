//! What the thread sanitizer can see through, in the place of std's mutex and parking: std comes built without it, so
//! that what happens on its slow paths would be reported as races. Only for builds with `--cfg sanitize_thread`.
//!
//! Fences stay as they are, though the sanitizer takes no notice of them: all of ours are between accesses of atomics,
//! which it does not report.

use super::Deadline;
use core::fmt;
use parking_lot::Condvar;
use std::sync::Arc;

/// A mutex for cold paths; a panic while it is held does not poison it.
#[derive(Default)]
pub struct Mutex<T>(parking_lot::Mutex<T>);

impl<T> Mutex<T> {
    /// A free mutex that holds `value`.
    pub const fn new(value: T) -> Self {
        Self(parking_lot::Mutex::new(value))
    }

    /// Waits for the mutex.
    pub fn lock(&self) -> parking_lot::MutexGuard<'_, T> {
        self.0.lock()
    }
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mutex")
    }
}

/// One thread sleeps here, any other may wake it.
#[derive(Clone, Debug, Default)]
pub struct Parker(Arc<(parking_lot::Mutex<bool>, Condvar)>);

impl Parker {
    /// A parker for the calling thread.
    pub fn for_this_thread() -> Self {
        Self::default()
    }

    /// Sleeps until woken, or until `deadline`.
    pub fn park(&self, deadline: Deadline) {
        let (woken, changed) = &*self.0;
        let mut woken = woken.lock();
        while !*woken && !deadline.has_passed() {
            match deadline.moment() {
                None => changed.wait(&mut woken),
                Some(at) => _ = changed.wait_until(&mut woken, at),
            }
        }
        *woken = false;
    }

    /// Wakes the sleeper; if it does not sleep yet, its next sleep ends at once.
    pub fn unpark(&self) {
        *self.0.0.lock() = true;
        self.0.1.notify_one();
    }
}
