//! The stamp under a sequence lock.

use crate::prim::atomic::{AtomicU64, Ordering, fence};
use core::fmt;

/// A version that readers look at before and after: even while the data is stable, odd while it is written.
///
/// It protects data made of atomic words that the caller reads and writes relaxed. Writers must exclude each
/// other by other means. The stamp has 64 bits and does not come round. Size: 8 bytes. All methods are wait-free.
///
/// Who [validates](Self::validate) has read what the writes up to the stamp stored, and nothing of a later one; and
/// what the writer did before it closed that stamp happens before the read (SY-14).
///
/// ```
/// # use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use sync::Stamp;
///
/// let (stamp, low, high) = (Stamp::new(), AtomicU64::new(1), AtomicU64::new(2));
/// // The writer:
/// stamp.open();
/// low.store(3, Relaxed);
/// high.store(4, Relaxed);
/// stamp.close();
/// // A reader:
/// let seen = stamp.read().expect("nobody writes");
/// let pair = (low.load(Relaxed), high.load(Relaxed));
/// assert!(stamp.validate(seen));
/// assert_eq!(pair, (3, 4));
/// ```
#[derive(Default)]
pub struct Stamp(AtomicU64);

/// What [`Stamp::read`] saw: an even stamp, to [validate](Stamp::validate) against.
///
/// ```
/// let stamp = sync::Stamp::new();
/// let seen = stamp.read().expect("nobody writes");
/// stamp.open();
/// stamp.close();
/// assert!(!stamp.validate(seen), "a write came in between");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen(u64);

impl Stamp {
    /// A stamp for data that is stable.
    ///
    /// ```
    /// let stamp = sync::Stamp::new();
    /// assert!(stamp.read().is_some());
    /// ```
    #[cfg(not(all(loom, feature = "loom")))]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// A stamp for data that is stable.
    #[cfg(all(loom, feature = "loom"))]
    pub fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Begins a read; `None` between [`open`](Self::open) and [`close`](Self::close).
    ///
    /// ```
    /// let stamp = sync::Stamp::new();
    /// stamp.open();
    /// assert!(stamp.read().is_none()); // a write is under way
    /// ```
    #[inline]
    pub fn read(&self) -> Option<Seen> {
        // ORD(SY-STAMP acq): the data of the write that this stamp closed.
        let stamp = self.0.load(Ordering::Acquire);
        (stamp % 2 == 0).then_some(Seen(stamp))
    }

    /// Ends a read: whether all that was read since [`read`](Self::read) is of one version. If not, the read is torn,
    /// and what it copied must not be used.
    ///
    /// ```
    /// let stamp = sync::Stamp::new();
    /// let seen = stamp.read().expect("nobody writes");
    /// assert!(stamp.validate(seen));
    /// ```
    #[inline]
    #[must_use]
    pub fn validate(&self, seen: Seen) -> bool {
        // ORD(SY-SEQ acq): the odd stamp of a writer any of whose words we have read.
        fence(Ordering::Acquire);
        // Relaxed: ordered by the fence.
        self.0.load(Ordering::Relaxed) == seen.0
    }

    /// Begins a write: [`read`](Self::read) returns `None` until [`close`](Self::close).
    ///
    /// # Panics
    /// In debug builds, if the stamp is open already.
    ///
    /// ```
    /// let stamp = sync::Stamp::new();
    /// stamp.open();
    /// // ... the words are stored here, relaxed ...
    /// stamp.close();
    /// ```
    pub fn open(&self) {
        // Relaxed: only the one writer stores.
        let stamp = self.0.load(Ordering::Relaxed);
        debug_assert!(stamp % 2 == 0, "a second writer opened a stamp");
        // Relaxed: ordered by the fence.
        self.0.store(stamp | 1, Ordering::Relaxed);
        // ORD(SY-SEQ rel): the odd stamp before any new word.
        fence(Ordering::Release);
    }

    /// Ends a write and publishes its words. Closing a stamp that is not open turns readers away until it is closed
    /// again.
    ///
    /// # Panics
    /// In debug builds, if the stamp is not open.
    ///
    /// ```
    /// let stamp = sync::Stamp::new();
    /// stamp.open();
    /// stamp.close();
    /// assert!(stamp.read().is_some());
    /// ```
    pub fn close(&self) {
        // Relaxed: only the one writer stores.
        let stamp = self.0.load(Ordering::Relaxed);
        debug_assert!(stamp % 2 == 1, "a stamp was closed that was not open");
        // ORD(SY-STAMP rel): the new words.
        self.0.store(stamp.wrapping_add(1), Ordering::Release);
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Relaxed: a glance.
        f.debug_tuple("Stamp").field(&self.0.load(Ordering::Relaxed)).finish()
    }
}
