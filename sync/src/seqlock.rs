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
/// * A value read is one that was published, whole, and with what its writer did before (SY-14).
/// * [`read`](Self::read) writes no shared memory as long as no writer publishes at the same moment. After 16
///   torn tries it waits for the publication under way, asleep: readers never spin for ever.
/// * A writer edits a private copy; dropping its guard publishes it. A forgotten guard, or a panic while it
///   lives, leaves the last value readable; a forgotten one keeps other writers waiting for ever.
/// * `T` is plain data without padding (bytemuck's `NoUninit` and `AnyBitPattern`), up to a few cache lines; its size
///   is what a read costs.
/// * **Size**: 16 bytes more than an [`LwLock`] and the value, rounded up to 8. It allocates only where an `LwLock`
///   does: when a writer waits for another.
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
#[repr(C)] // The stamp and the words together: a read of a small value touches one line.
pub struct SeqLock<T> {
    stamp: Stamp,
    words: Words<T>,
    writers: LwLock<()>,
    /// Held while a value is published, by nobody else for longer: what a torn reader waits for.
    publication: Mutex<()>,
}

impl<T: NoUninit + AnyBitPattern> SeqLock<T> {
    /// A lock that holds `value`.
    ///
    /// ```
    /// let lock = sync::SeqLock::new([1_u64, 2]);
    /// assert_eq!(lock.read(), [1, 2]);
    /// ```
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

    /// A copy of the value, as some writer published it.
    ///
    /// Wait-free for 16 tries, each as [`try_read`](Self::try_read); then blocking, for one publication (SY-14).
    ///
    /// ```
    /// let lock = sync::SeqLock::new([1_u64, 2]);
    /// let [low, high] = lock.read(); // of one moment
    /// assert!(low < high);
    /// ```
    #[inline(always)] // A copy that is returned through memory costs more than the rest of the read.
    pub fn read(&self) -> T {
        let mut tries = 0;
        loop {
            if let Some(value) = self.try_read() {
                return value;
            }
            tries += 1;
            if Self::is_turned_away(tries) {
                break;
            }
        }
        let _nobody_publishes = self.publication.lock();
        self.words.load()
    }

    #[cold]
    #[inline(never)] // So that the loop in `read` is not unrolled.
    fn is_turned_away(tries: u32) -> bool {
        tries >= SEQLOCK_TRIES
    }

    /// A copy of the value, or `None` if a writer was publishing at the same moment.
    ///
    /// Wait-free: it loads the stamp twice and each word once, and writes nothing.
    ///
    /// ```
    /// let lock = sync::SeqLock::new([1_u32, 2]);
    /// let _writer = lock.write();
    /// assert_eq!(lock.try_read(), Some([1, 2])); // a writer that edits its copy is in nobody's way
    /// ```
    #[inline]
    pub fn try_read(&self) -> Option<T> {
        if inject::fires(Point::TornRead) {
            return None;
        }
        let seen = self.stamp.read()?;
        let value = self.words.load();
        self.stamp.validate(seen).then_some(value)
    }

    /// Becomes the writer, after waiting for another one; see [`SeqLockGuard`].
    ///
    /// Blocking; writers starve no more than those of an [`LwLock`] (SY-3).
    ///
    /// # Panics
    /// In debug builds, if this thread has such a guard already.
    ///
    /// ```
    /// let lock = sync::SeqLock::new(1_u64);
    /// *lock.write() += 1;
    /// assert_eq!(lock.read(), 2);
    /// ```
    #[track_caller]
    pub fn write(&self) -> SeqLockGuard<'_, T> {
        let writer = self.writers.write();
        SeqLockGuard::new(self, writer)
    }

    /// As [`write`](Self::write), or `None` if there is another writer. Lock-free.
    ///
    /// ```
    /// let lock = sync::SeqLock::new([1_u64, 2]);
    /// let writer = lock.try_write().expect("there is no other");
    /// assert!(std::thread::scope(|s| s.spawn(|| lock.try_write().is_none()).join().unwrap()));
    /// ```
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
    /// The value, through the exclusive reference: needs no lock and raises no stamp. Not under loom.
    ///
    /// ```
    /// let mut lock = sync::SeqLock::new([1_u64, 2]);
    /// lock.get_mut()[0] = 0;
    /// assert_eq!(lock.read(), [0, 2]);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.words.get_mut()
    }

    /// The value, out of the lock. Not under loom.
    ///
    /// ```
    /// let lock = sync::SeqLock::new([1_u64, 2]);
    /// assert_eq!(lock.into_inner(), [1, 2]);
    /// ```
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

/// A writer's private copy of a [`SeqLock`]'s value; dropping the guard publishes it and lets the next writer in.
///
/// Dropped by a panic that began while it lived, it publishes nothing: the copy may be half edited.
///
/// ```
/// let lock = sync::SeqLock::new([0_u64; 2]);
/// let mut writer = lock.write();
/// *writer = [1, 1];
/// writer.publish(); // readers see [1, 1], other writers still wait
/// *writer = [2, 2];
/// assert_eq!(lock.read(), [1, 1]);
/// drop(writer);
/// assert_eq!(lock.read(), [2, 2]);
/// ```
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

    /// Publishes the copy as it is now and goes on as the writer. Waits at most for a torn reader that is just copying.
    ///
    /// ```
    /// let lock = sync::SeqLock::new([1_u64, 2]);
    /// let mut writer = lock.write();
    /// *writer = [3, 4];
    /// assert_eq!(lock.read(), [1, 2]);
    /// writer.publish();
    /// assert_eq!(lock.read(), [3, 4]);
    /// ```
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
