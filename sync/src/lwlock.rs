//! [`LwLock`]: the lock with its data. Next: `lwlock/raw.rs`, the fast paths.

mod guard;
mod queue;
mod raw;
mod state;
mod wait;
mod watch;

use crate::prim::{Deadline, UnsafeCell};
use crate::tranche::{Membership, Tranche};
use core::fmt;
pub use guard::{ReadGuard, WriteGuard};
pub(crate) use raw::RawLwLock;
pub(crate) use state::Mode;
use std::time::Duration;

/// A reader-writer lock in the manner of PostgreSQL's LWLock.
///
/// * **Exclusion.** One exclusive hold, or any number of shared ones. Each hold happens after those before it that it
///   excludes (SY-1), and no wake is lost (SY-2).
/// * **Fairness.** A woken waiter tries again and newcomers may pass it, until it has lost 8 races or waited
///   for 1 ms; then nobody passes any more and the next release hands the lock to whoever is first in the
///   queue. Neither readers nor writers starve (SY-3).
/// * **Waiting** parks the thread after a short, bounded spin. A try that fails writes no shared memory (SY-4).
/// * **Panics** during a hold release the lock; there is no poisoning (SY-7).
/// * **Recursion.** A thread that takes a lock which it holds waits for itself; also a second
///   [`read`](Self::read), if a writer has queued meanwhile. Debug builds panic instead (SY-8).
/// * **Size**: 24 bytes beside the data on 64-bit targets, 32 in debug builds, 8 more with feature `stats`, and some 120
///   for the queue once a thread has waited. No table is shared between locks.
/// * **Limit**: 16,777,215 readers (2^24 - 1) at one time. One more panics, and changes nothing (SY-7).
/// * **Allocation** (SY-15). Only a wait allocates, and who ends it: at most 4 times together for a wait that loses no
///   race, a few times more for each race, and once more for the lock's first wait. The lock keeps at most 1 KiB of it until it is dropped, if at most 8
///   threads wait at one time. So the lock must not be used inside the global allocator.
///
/// It must outlive the release, as it does behind any reference: a release may still look at the queue after the next
/// holder has come in.
///
/// ```
/// use sync::LwLock;
///
/// let lock = LwLock::new(1);
/// {
///     let one = lock.read();
///     let two = lock.try_read().expect("readers share");
///     assert_eq!(*one + *two, 2);
///     assert!(lock.try_write().is_none());
/// }
/// let mut guard = lock.write();
/// *guard += 1;
/// let shared = guard.downgrade();
/// assert_eq!(*shared, 2);
/// ```
#[repr(C)]
pub struct LwLock<T: ?Sized> {
    raw: RawLwLock,
    data: UnsafeCell<T>,
}

// SAFETY: I1 of raw.rs: threads take turns with an exclusive reference, so the value must be `Send`.
unsafe impl<T: ?Sized + Send> Send for LwLock<T> {}
// SAFETY: I1 of raw.rs: as above, and readers share references, so the value must be `Sync` too.
unsafe impl<T: ?Sized + Send + Sync> Sync for LwLock<T> {}

impl<T> LwLock<T> {
    /// A free lock that guards `value`. `const`, except under loom: a lock can be a `static`.
    ///
    /// ```
    /// use sync::LwLock;
    ///
    /// static NAMES: LwLock<Vec<&str>> = LwLock::new(Vec::new());
    /// NAMES.write().push("one");
    /// assert_eq!(NAMES.read().len(), 1);
    /// ```
    #[cfg(not(all(loom, feature = "loom")))]
    pub const fn new(value: T) -> Self {
        Self { raw: RawLwLock::new(Membership::NONE), data: UnsafeCell::new(value) }
    }

    /// A free lock that guards `value`.
    #[cfg(all(loom, feature = "loom"))]
    pub fn new(value: T) -> Self {
        Self { raw: RawLwLock::new(Membership::NONE), data: UnsafeCell::new(value) }
    }

    /// A free lock that belongs to `tranche`, which records its use if the crate has feature `stats`.
    ///
    /// ```
    /// use sync::{LwLock, Tranche};
    ///
    /// static TRANCHE: Tranche = Tranche::new("sessions");
    /// let lock = LwLock::in_tranche(3, &TRANCHE);
    /// assert_eq!(*lock.read(), 3);
    /// ```
    #[cfg(not(all(loom, feature = "loom")))]
    pub const fn in_tranche(value: T, tranche: &'static Tranche) -> Self {
        Self { raw: RawLwLock::new(Membership::of(tranche)), data: UnsafeCell::new(value) }
    }

    /// A free lock that belongs to `tranche`, which records its use if the crate has feature `stats`.
    #[cfg(all(loom, feature = "loom"))]
    pub fn in_tranche(value: T, tranche: &'static Tranche) -> Self {
        Self { raw: RawLwLock::new(Membership::of(tranche)), data: UnsafeCell::new(value) }
    }

    /// The value, out of the lock. Nobody uses the lock any more, though a guard may have been forgotten.
    ///
    /// ```
    /// let lock = sync::LwLock::new(vec![1]);
    /// lock.write().push(2);
    /// assert_eq!(lock.into_inner(), [1, 2]);
    /// ```
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> LwLock<T> {
    /// Takes the lock shared, waiting while a writer holds it, and behind those who have waited too long already.
    ///
    /// Blocking (SY-1, SY-3).
    ///
    /// # Panics
    /// In debug builds, if this thread holds the lock; always, with 16,777,215 readers present.
    ///
    /// ```
    /// let lock = sync::LwLock::new([1, 2]);
    /// let [first, second] = *lock.read(); // released at the semicolon
    /// assert_eq!(first + second, 3);
    /// ```
    #[inline]
    #[track_caller]
    pub fn read(&self) -> ReadGuard<'_, T> {
        self.raw.id.assert_not_held("read");
        self.raw.lock(Mode::Shared);
        ReadGuard::new(self)
    }

    /// Takes the lock exclusively, waiting while anybody holds it.
    ///
    /// Blocking (SY-1, SY-3).
    ///
    /// # Panics
    /// In debug builds, if this thread holds the lock.
    ///
    /// ```
    /// let lock = sync::LwLock::new(vec![1]);
    /// lock.write().push(2);
    /// assert_eq!(lock.into_inner(), [1, 2]);
    /// ```
    #[inline]
    #[track_caller]
    pub fn write(&self) -> WriteGuard<'_, T> {
        self.raw.id.assert_not_held("write");
        self.raw.lock(Mode::Exclusive);
        WriteGuard::new(self)
    }

    /// Takes the lock shared if that needs no wait. `None` while a writer holds it, or while the lock is
    /// about to be handed to a waiter.
    ///
    /// Lock-free; a try that fails writes no shared memory (SY-4).
    ///
    /// # Panics
    /// With 16,777,215 readers present.
    ///
    /// ```
    /// let lock = sync::LwLock::new(());
    /// let writer = lock.write();
    /// assert!(lock.try_read().is_none());
    /// drop(writer);
    /// assert!(lock.try_read().is_some());
    /// ```
    #[inline]
    pub fn try_read(&self) -> Option<ReadGuard<'_, T>> {
        self.raw.lock_at_once(Mode::Shared).then(|| ReadGuard::new(self))
    }

    /// Takes the lock exclusively if that needs no wait. `None` while anybody holds it, this thread too, or while
    /// the lock is about to be handed to a waiter.
    ///
    /// Lock-free; a try that fails writes no shared memory (SY-4).
    ///
    /// ```
    /// let lock = sync::LwLock::new(());
    /// let reader = lock.read();
    /// assert!(lock.try_write().is_none());
    /// drop(reader);
    /// assert!(lock.try_write().is_some());
    /// ```
    #[inline]
    pub fn try_write(&self) -> Option<WriteGuard<'_, T>> {
        self.raw.lock_at_once(Mode::Exclusive).then(|| WriteGuard::new(self))
    }

    /// As [`read`](Self::read), but waits for at most `timeout`; `None` if it has passed. Zero is a
    /// [`try_read`](Self::try_read); `Duration::MAX`, and any other time that the clock can't express, waits for ever.
    ///
    /// Blocking until its deadline (SY-4).
    ///
    /// # Panics
    /// With 16,777,215 readers present; in debug builds, if it would wait for ever for a lock that this thread holds.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let lock = sync::LwLock::new(7);
    /// let seen = lock.try_read_for(Duration::from_millis(1)).map(|value| *value);
    /// assert_eq!(seen, Some(7));
    /// ```
    pub fn try_read_for(&self, timeout: Duration) -> Option<ReadGuard<'_, T>> {
        self.lock_for(Mode::Shared, timeout).then(|| ReadGuard::new(self))
    }

    /// As [`write`](Self::write), but waits for at most `timeout`; `None` if it has passed. Zero is a
    /// [`try_write`](Self::try_write); `Duration::MAX`, and any other time that the clock can't express, waits for
    /// ever.
    ///
    /// Blocking until its deadline (SY-4).
    ///
    /// # Panics
    /// In debug builds, if it would wait for ever for a lock that this thread holds.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let lock = sync::LwLock::new(());
    /// let reader = lock.read();
    /// assert!(lock.try_write_for(Duration::from_millis(1)).is_none());
    /// drop(reader);
    /// assert!(lock.try_write_for(Duration::MAX).is_some());
    /// ```
    pub fn try_write_for(&self, timeout: Duration) -> Option<WriteGuard<'_, T>> {
        self.lock_for(Mode::Exclusive, timeout).then(|| WriteGuard::new(self))
    }

    fn lock_for(&self, mode: Mode, timeout: Duration) -> bool {
        if timeout.is_zero() {
            return self.raw.lock_at_once(mode);
        }
        self.raw.lock_by(mode, Deadline::after(timeout))
    }

    /// Takes the lock exclusively if it is free. If somebody holds it, waits until that hold has ended and
    /// returns `None`: the work that the caller wanted to do may have been done meanwhile.
    ///
    /// This is group commit's acquire-or-wait: one thread flushes for all who wait, and they look afterwards
    /// whether they still have to. A [`downgrade`](WriteGuard::downgrade) ends an exclusive hold, and so does
    /// handing the lock to a waiter. Shared holds end together, when the last of them does; one that begins
    /// before that prolongs them. A thread that waits here holds nobody back, so readers that overlap without
    /// end can keep it.
    ///
    /// What was done during that hold happens before the return. Blocking (SY-5).
    ///
    /// # Panics
    /// In debug builds, if this thread holds the lock.
    ///
    /// ```
    /// # use std::{sync::atomic::{AtomicU32, Ordering}, thread};
    /// use sync::LwLock;
    ///
    /// let flushed = AtomicU32::new(0);
    /// let flush = LwLock::new(());
    /// thread::scope(|s| {
    ///     for mine in 1..=4 {
    ///         let (flushed, flush) = (&flushed, &flush);
    ///         s.spawn(move || {
    ///             while flushed.load(Ordering::Acquire) < mine {
    ///                 if let Some(_leader) = flush.write_or_wait() {
    ///                     flushed.fetch_max(4, Ordering::Release); // for all four
    ///                 }
    ///             }
    ///         });
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn write_or_wait(&self) -> Option<WriteGuard<'_, T>> {
        self.raw.id.assert_not_held("write_or_wait");
        self.raw.lock_or_wait().then(|| WriteGuard::new(self))
    }

    pub(crate) fn raw(&self) -> &RawLwLock {
        &self.raw
    }

    /// Whether anybody held the lock a moment ago. A hint: it says nothing about now, and orders nothing.
    ///
    /// Wait-free: one load.
    ///
    /// ```
    /// let lock = sync::LwLock::new(());
    /// let reader = lock.read();
    /// assert!(lock.is_locked() && !lock.is_write_locked());
    /// ```
    pub fn is_locked(&self) -> bool {
        self.raw.state().is_locked()
    }

    #[cfg(test)]
    pub(crate) fn has_waiters(&self) -> bool {
        self.raw.state().has_waiters()
    }

    /// Whether a writer held the lock a moment ago. A hint, as [`is_locked`](Self::is_locked). Wait-free.
    ///
    /// ```
    /// let lock = sync::LwLock::new(());
    /// let writer = lock.write();
    /// assert!(lock.is_write_locked());
    /// ```
    pub fn is_write_locked(&self) -> bool {
        self.raw.state().is_write_locked()
    }

    /// The value: a unique reference needs no lock, also if a guard was forgotten.
    ///
    /// ```
    /// let mut lock = sync::LwLock::new(1);
    /// *lock.get_mut() += 1;
    /// assert_eq!(*lock.read(), 2);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.data.exclusive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for LwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("LwLock");
        match self.try_read() {
            Some(guard) => out.field("data", &&*guard).finish(),
            None => out.field("data", &format_args!("<locked>")).finish(),
        }
    }
}

impl<T: Default> Default for LwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for LwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
