//! [`ProgressLock`]: a lock whose holder tells how far it has come.

use crate::lwlock::{LwLock, ReadGuard, WriteGuard};
use crate::prim::atomic::{AtomicU64, Ordering};
use core::fmt;
use core::ops::{Deref, DerefMut};

/// What ended a wait for progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// No writer holds the lock, or the hold that was met has ended.
    Released,
    /// The number is this now, or was when the wait ended.
    Changed(u64),
}

/// An [`LwLock`] with a number that its exclusive holder publishes while it works, and others wait for.
///
/// It is PostgreSQL's wait-for-variable: a thread that needs to know that a writer got past some point waits for
/// that, not for the lock. Such waiters hold nobody back. The number stays when the lock is released, unless it
/// is [released clearing](ProgressGuard::release_clearing).
///
/// ```
/// use std::thread;
/// use sync::{Progress, ProgressLock};
///
/// let log = ProgressLock::new(Vec::new());
/// let mut writer = log.write();
/// writer.set_progress(1); // before the reader is there, so that it has something to find
/// thread::scope(|s| {
///     let reader = s.spawn(|| {
///         let mut written = 0;
///         while written < 3 {
///             match log.wait_past(written) {
///                 Progress::Changed(now) => written = now,
///                 Progress::Released => break,
///             }
///         }
///     });
///     for record in 1..=3 {
///         writer.push(record);
///         writer.set_progress(record);
///     }
///     reader.join().unwrap(); // the writer still holds the lock
/// });
/// ```
pub struct ProgressLock<T: ?Sized> {
    progress: AtomicU64,
    lock: LwLock<T>,
}

impl<T> ProgressLock<T> {
    /// A free lock that guards `value`; its number is 0.
    #[cfg(not(all(loom, feature = "loom")))]
    pub const fn new(value: T) -> Self {
        Self { progress: AtomicU64::new(0), lock: LwLock::new(value) }
    }

    /// A free lock that guards `value`; its number is 0.
    #[cfg(all(loom, feature = "loom"))]
    pub fn new(value: T) -> Self {
        Self { progress: AtomicU64::new(0), lock: LwLock::new(value) }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.lock.into_inner()
    }
}

impl<T: ?Sized> ProgressLock<T> {
    /// As [`LwLock::read`].
    #[track_caller]
    pub fn read(&self) -> ReadGuard<'_, T> {
        self.lock.read()
    }

    /// As [`LwLock::try_read`].
    pub fn try_read(&self) -> Option<ReadGuard<'_, T>> {
        self.lock.try_read()
    }

    /// As [`LwLock::write`].
    #[track_caller]
    pub fn write(&self) -> ProgressGuard<'_, T> {
        ProgressGuard { guard: self.lock.write(), lock: self }
    }

    /// As [`LwLock::try_write`].
    pub fn try_write(&self) -> Option<ProgressGuard<'_, T>> {
        Some(ProgressGuard { guard: self.lock.try_write()?, lock: self })
    }

    /// As [`LwLock::write_or_wait`].
    #[track_caller]
    pub fn write_or_wait(&self) -> Option<ProgressGuard<'_, T>> {
        Some(ProgressGuard { guard: self.lock.write_or_wait()?, lock: self })
    }

    /// Waits until the exclusive holder has published another number than `old`, or has let go. Returns at once
    /// if it has already, or if there is none; shared holders do not count.
    ///
    /// What the holder did before it published that number, or before it let go, happens before the return.
    ///
    /// # Panics
    /// In debug builds, if this thread holds the lock exclusively and would wait for itself.
    #[track_caller]
    pub fn wait_past(&self, old: u64) -> Progress {
        self.lock.raw().wait_past(&self.progress, old)
    }

    /// The number published last.
    pub fn progress(&self) -> u64 {
        // ORD(SY-PROGRESS acq): what its publisher did before.
        self.progress.load(Ordering::Acquire)
    }

    /// The value: a unique reference needs no lock.
    pub fn get_mut(&mut self) -> &mut T {
        self.lock.get_mut()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ProgressLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgressLock").field("progress", &self.progress()).field("lock", &&self.lock).finish()
    }
}

impl<T: Default> Default for ProgressLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// An exclusive hold of a [`ProgressLock`].
#[must_use = "the lock is let go at once if the guard is not kept"]
pub struct ProgressGuard<'a, T: ?Sized> {
    guard: WriteGuard<'a, T>,
    lock: &'a ProgressLock<T>,
}

impl<'a, T: ?Sized> ProgressGuard<'a, T> {
    /// Publishes `progress` and wakes exactly those who wait for another number than theirs.
    pub fn set_progress(&mut self, progress: u64) {
        self.store(progress);
        self.lock.lock.raw().tell_progress(progress);
    }

    /// Sets the number back to 0 and lets go, in this order: a wait that begins in between may return
    /// `Changed(0)`. Those who wait already wake.
    pub fn release_clearing(self) {
        self.store(0);
    }

    /// As [`WriteGuard::downgrade`]: the exclusive hold ends.
    pub fn downgrade(self) -> ReadGuard<'a, T> {
        self.guard.downgrade()
    }

    fn store(&self, progress: u64) {
        // ORD(SY-PROGRESS rel): what we did before.
        self.lock.progress.store(progress, Ordering::Release);
    }
}

impl<T: ?Sized> Deref for ProgressGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T: ?Sized> DerefMut for ProgressGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ProgressGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.guard.fmt(f)
    }
}
