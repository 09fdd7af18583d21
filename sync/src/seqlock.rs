//! [`SeqLock`]: small values that are read far more often than written. Readers write nothing; they check a
//! stamp before and after (H.-J. Boehm, *Can seqlocks get along with programming language memory models?*,
//! 2012), and every racing word is an atomic.

mod stamp;

pub use stamp::{Seen, Stamp};

use crate::inject::{self, Point};
use crate::lwlock::{LwLock, WriteGuard};
use crate::prim::{Mutex, SEQLOCK_TRIES, Words};
use bytemuck::{AnyBitPattern, NoUninit};
use core::fmt;
use core::ops::{Deref, DerefMut};

/// A value that readers copy out without a lock.
///
/// * [`read`](Self::read) writes no shared memory as long as no writer publishes at the same moment. After 16
///   torn tries it waits for the publication under way, asleep: readers never spin for ever.
/// * A writer edits a private copy; dropping its guard publishes it. A forgotten guard, or a panic while it is
///   held, leaves the last value readable; a forgotten one keeps other writers waiting for ever.
/// * `T` is plain data without padding, up to a few cache lines; its size is what a read costs.
///
/// ```
/// use sync::SeqLock;
///
/// static POSITION: SeqLock<[u64; 2]> = SeqLock::new([0, 0]);
///
/// {
///     let mut position = POSITION.write();
///     position[0] += 1;
///     position[1] += 1;
///     assert_eq!(POSITION.read(), [0, 0], "not published yet");
/// }
/// assert_eq!(POSITION.read(), [1, 1]);
/// ```
pub struct SeqLock<T> {
    stamp: Stamp,
    words: Words<T>,
    writers: LwLock<()>,
    /// Held while a value is published, by nobody else for longer: what a torn reader waits for.
    publication: Mutex<()>,
}

impl<T: NoUninit + AnyBitPattern> SeqLock<T> {
    /// A lock that holds `value`.
    #[cfg(not(all(loom, feature = "loom")))]
    pub const fn new(value: T) -> Self {
        Self {
            stamp: Stamp::new(),
            words: Words::new(value),
            writers: LwLock::new(()),
            publication: Mutex::new(()),
        }
    }

    /// A lock that holds `value`.
    #[cfg(all(loom, feature = "loom"))]
    pub fn new(value: T) -> Self {
        Self {
            stamp: Stamp::new(),
            words: Words::new(value),
            writers: LwLock::new(()),
            publication: Mutex::new(()),
        }
    }

    /// The value, as some writer published it. Waits at most for publications.
    #[inline]
    pub fn read(&self) -> T {
        match self.try_read() {
            Some(value) => value,
            None => self.read_again(),
        }
    }

    #[cold]
    fn read_again(&self) -> T {
        for _ in 1..SEQLOCK_TRIES {
            if let Some(value) = self.try_read() {
                return value;
            }
        }
        let _nobody_publishes = self.publication.lock();
        self.words.load()
    }

    /// The value, or `None` if a writer was publishing at the same moment. Wait-free.
    #[inline]
    pub fn try_read(&self) -> Option<T> {
        if inject::fires(Point::TornRead) {
            return None;
        }
        let seen = self.stamp.read()?;
        let value = self.words.load();
        self.stamp.validate(seen).then_some(value)
    }

    /// Waits for other writers; see [`SeqLockGuard`].
    ///
    /// # Panics
    /// In debug builds, if this thread has such a guard already.
    #[track_caller]
    pub fn write(&self) -> SeqLockGuard<'_, T> {
        let writer = self.writers.write();
        SeqLockGuard::new(self, writer)
    }

    /// As [`write`](Self::write), or `None` if there is another writer.
    pub fn try_write(&self) -> Option<SeqLockGuard<'_, T>> {
        let writer = self.writers.try_write()?;
        Some(SeqLockGuard::new(self, writer))
    }

    fn publish(&self, value: &T) {
        let _readers_wait = self.publication.lock();
        self.stamp.open();
        self.words.store(value);
        self.stamp.close();
    }
}

#[cfg(not(all(loom, feature = "loom")))]
impl<T> SeqLock<T> {
    /// The value, through the exclusive reference: needs no lock and raises no stamp.
    pub fn get_mut(&mut self) -> &mut T {
        self.words.get_mut()
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.words.into_inner()
    }
}

impl<T: NoUninit + AnyBitPattern + fmt::Debug> fmt::Debug for SeqLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeqLock").field("value", &self.read()).finish_non_exhaustive()
    }
}

impl<T: NoUninit + AnyBitPattern + Default> Default for SeqLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: NoUninit + AnyBitPattern> From<T> for SeqLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// A writer's private copy of a [`SeqLock`]'s value; dropping the guard publishes it.
#[must_use = "an unchanged copy is published at once if the guard is not kept"]
pub struct SeqLockGuard<'a, T: NoUninit + AnyBitPattern> {
    copy: T,
    lock: &'a SeqLock<T>,
    was_panicking: bool,
    _writer: WriteGuard<'a, ()>,
}

impl<'a, T: NoUninit + AnyBitPattern> SeqLockGuard<'a, T> {
    fn new(lock: &'a SeqLock<T>, writer: WriteGuard<'a, ()>) -> Self {
        Self { copy: lock.words.load(), lock, was_panicking: std::thread::panicking(), _writer: writer }
    }

    /// Publishes the copy as it is now and goes on as the writer.
    pub fn publish(&mut self) {
        self.lock.publish(&self.copy);
    }
}

impl<T: NoUninit + AnyBitPattern> Deref for SeqLockGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.copy
    }
}

impl<T: NoUninit + AnyBitPattern> DerefMut for SeqLockGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.copy
    }
}

impl<T: NoUninit + AnyBitPattern> Drop for SeqLockGuard<'_, T> {
    fn drop(&mut self) {
        // A half-edited copy is not published: the writer panicked in the middle.
        if self.was_panicking || !std::thread::panicking() {
            self.publish();
        }
    }
}

impl<T: NoUninit + AnyBitPattern + fmt::Debug> fmt::Debug for SeqLockGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.copy.fmt(f)
    }
}
