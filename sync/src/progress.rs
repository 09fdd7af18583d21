//! [`ProgressLock`]: a lock whose holder tells how far it has come.

use crate::lwlock::{LwLock, ReadGuard, WriteGuard};
use crate::prim::atomic::{AtomicU64, Ordering};
use core::fmt;
use core::ops::{Deref, DerefMut};

/// What ended a [`wait_past`](ProgressLock::wait_past).
///
/// ```
/// use sync::{Progress, ProgressLock};
///
/// let lock = ProgressLock::new(());
/// let shown = match lock.wait_past(7) {
///     Progress::Released => "no writer is at work".to_owned(),
///     Progress::Changed(to) => format!("a writer has come to {to}"),
/// };
/// assert_eq!(shown, "no writer is at work");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// No writer holds the lock, or the exclusive hold that was met has ended.
    Released,
    /// The progress is this now, or was when the wait ended.
    Changed(u64),
}

/// An [`LwLock`] with a `u64`, its progress, which its exclusive holder publishes while it works and others wait for.
///
/// It is PostgreSQL's wait-for-variable: a thread that needs to know that a writer got past some point waits for
/// that, not for the lock. Such waiters hold nobody back, miss neither a change nor the end of the hold, and see what
/// the holder did before it (SY-13). The progress stays when the lock is released, unless by
/// [`release_clearing`](ProgressGuard::release_clearing).
///
/// What [`LwLock`] says of exclusion, fairness, recursion and allocation holds here too. Size: 8 bytes more than an
/// `LwLock`.
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
    /// A free lock that guards `value`; its progress is 0.
    ///
    /// ```
    /// let lock = sync::ProgressLock::new(vec![1]);
    /// assert_eq!((lock.progress(), lock.read().len()), (0, 1));
    /// ```
    #[cfg(not(all(loom, feature = "loom")))]
    pub const fn new(value: T) -> Self {
        Self { progress: AtomicU64::new(0), lock: LwLock::new(value) }
    }

    /// A free lock that guards `value`; its progress is 0.
    #[cfg(all(loom, feature = "loom"))]
    pub fn new(value: T) -> Self {
        Self { progress: AtomicU64::new(0), lock: LwLock::new(value) }
    }

    /// The value, out of the lock.
    ///
    /// ```
    /// let lock = sync::ProgressLock::new(vec![1]);
    /// assert_eq!(lock.into_inner(), [1]);
    /// ```
    pub fn into_inner(self) -> T {
        self.lock.into_inner()
    }
}

impl<T: ?Sized> ProgressLock<T> {
    /// As [`LwLock::read`], panics included.
    ///
    /// ```
    /// let lock = sync::ProgressLock::new(vec![1]);
    /// assert_eq!(*lock.read(), [1]);
    /// ```
    #[track_caller]
    pub fn read(&self) -> ReadGuard<'_, T> {
        self.lock.read()
    }

    /// As [`LwLock::try_read`]: `None` if it would have to wait.
    ///
    /// ```
    /// let lock = sync::ProgressLock::new(vec![1]);
    /// let writer = lock.write();
    /// assert!(lock.try_read().is_none());
    /// ```
    pub fn try_read(&self) -> Option<ReadGuard<'_, T>> {
        self.lock.try_read()
    }

    /// As [`LwLock::write`], panics included.
    ///
    /// ```
    /// let lock = sync::ProgressLock::new(vec![1]);
    /// let mut writer = lock.write();
    /// writer.push(2);
    /// writer.set_progress(2);
    /// assert_eq!(lock.progress(), 2); // while the lock is still held
    /// ```
    #[track_caller]
    pub fn write(&self) -> ProgressGuard<'_, T> {
        ProgressGuard { guard: self.lock.write(), lock: self }
    }

    /// As [`LwLock::try_write`]: `None` if it would have to wait.
    ///
    /// ```
    /// let lock = sync::ProgressLock::new(vec![1]);
    /// let reader = lock.read();
    /// assert!(lock.try_write().is_none());
    /// ```
    pub fn try_write(&self) -> Option<ProgressGuard<'_, T>> {
        Some(ProgressGuard { guard: self.lock.try_write()?, lock: self })
    }

    /// As [`LwLock::write_or_wait`], panics included.
    ///
    /// ```
    /// let lock = sync::ProgressLock::new(vec![1]);
    /// // Nobody else is at it, so this thread does the work.
    /// let mut writer = lock.write_or_wait().expect("the lock is free");
    /// writer.set_progress(1);
    /// ```
    #[track_caller]
    pub fn write_or_wait(&self) -> Option<ProgressGuard<'_, T>> {
        Some(ProgressGuard { guard: self.lock.write_or_wait()?, lock: self })
    }

    /// Waits until the exclusive holder has published another progress than `old`, or has released the lock. Returns
    /// at once if it has already, or if there is none; shared holders do not count.
    ///
    /// What the holder did before it published, or before it released the lock, happens before the return. Blocking;
    /// if it need not wait, wait-free and without a write (SY-13).
    ///
    /// # Panics
    /// In debug builds, if this thread holds the lock exclusively and would wait for itself.
    ///
    /// ```
    /// use sync::{Progress, ProgressLock};
    ///
    /// let lock = ProgressLock::new(());
    /// let mut writer = lock.write();
    /// writer.set_progress(8);
    /// assert_eq!(lock.wait_past(7), Progress::Changed(8));
    /// drop(writer);
    /// assert_eq!(lock.wait_past(8), Progress::Released);
    /// ```
    #[track_caller]
    pub fn wait_past(&self, old: u64) -> Progress {
        self.lock.raw().wait_past(&self.progress, old)
    }

    /// The progress published last, 0 at first. What its publisher did before happens before the return. Wait-free:
    /// one load.
    ///
    /// ```
    /// let lock = sync::ProgressLock::new(vec![1]);
    /// lock.write().set_progress(7);
    /// assert_eq!(lock.progress(), 7);
    /// ```
    pub fn progress(&self) -> u64 {
        // ORD(SY-PROGRESS acq): what its publisher did before.
        self.progress.load(Ordering::Acquire)
    }

    /// The value: a unique reference needs no lock.
    ///
    /// ```
    /// let mut lock = sync::ProgressLock::new(1);
    /// *lock.get_mut() += 1;
    /// assert_eq!(lock.into_inner(), 2);
    /// ```
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

/// An exclusive hold of a [`ProgressLock`]; dropping the guard releases the lock and leaves the progress as it is.
///
/// ```
/// let lock = sync::ProgressLock::new(vec![0]);
/// let mut writer = lock.write();
/// writer.push(1);
/// writer.set_progress(1);
/// drop(writer);
/// assert_eq!((lock.progress(), lock.into_inner().len()), (1, 2));
/// ```
#[must_use = "the lock is released at once if the guard is not kept"]
pub struct ProgressGuard<'a, T: ?Sized> {
    guard: WriteGuard<'a, T>,
    lock: &'a ProgressLock<T>,
}

impl<'a, T: ?Sized> ProgressGuard<'a, T> {
    /// Publishes `progress` and wakes exactly those for whom it is news: who wait for another than theirs (SY-13).
    ///
    /// Wait-free if nobody waits; else it takes the mutex of the lock's queue, which nobody holds for long.
    ///
    /// ```
    /// let lock = sync::ProgressLock::new(vec![1]);
    /// let mut writer = lock.write();
    /// writer.set_progress(3);
    /// assert_eq!(lock.wait_past(2), sync::Progress::Changed(3));
    /// ```
    pub fn set_progress(&mut self, progress: u64) {
        self.store(progress);
        self.lock.lock.raw().tell_progress(progress);
    }

    /// Sets the progress back to 0 and releases the lock, in this order: a wait that begins in between may return
    /// `Changed(0)`. Those who wait already get `Released`.
    ///
    /// ```
    /// let lock = sync::ProgressLock::new(());
    /// let mut writer = lock.write();
    /// writer.set_progress(5);
    /// writer.release_clearing();
    /// assert_eq!(lock.progress(), 0);
    /// ```
    pub fn release_clearing(self) {
        self.store(0);
    }

    /// As [`WriteGuard::downgrade`]: the exclusive hold ends, and with it every [`wait_past`](ProgressLock::wait_past).
    ///
    /// ```
    /// let lock = sync::ProgressLock::new(vec![1]);
    /// let reader = lock.write().downgrade();
    /// assert!(lock.try_read().is_some() && reader.len() == 1);
    /// ```
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
