//! The caller's half of [`FlatMap::pin_with`](crate::FlatMap::pin_with).

use core::fmt;
use sync::prim::atomic::{AtomicU32, Ordering};

/// Pins and eviction of one slot, in one atomic word.
///
/// A lookup only says where a page was a moment ago. To use the slot, pin it and look again; to give the slot
/// to another page, evict it first:
///
/// * **Pin**: [`pin`](Self::pin) fails while the slot is being evicted. `FlatMap::pin_with` pins and makes
///   sure that the page is still there.
/// * **Evict**: [`try_evict`](Self::try_evict) succeeds only without pins, and keeps new ones out. Then remove
///   the old key, insert the new one, and [`finish`](Self::finish). Evict *before* you remove: "no pins, so
///   remove" and "remove, then look at the pins" both end with a reader pinned to the wrong page.
///
/// ```
/// use flatmap::{FlatMap, PinWord};
///
/// let table: FlatMap<u64> = FlatMap::with_slots(1);
/// let slot = PinWord::new();
/// table.insert(1, 0)?;
///
/// let (_, pinned) = table.pin_with(&1, |_| slot.pin()).expect("1 is mapped");
/// assert!(!slot.try_evict(), "a pinned slot stays");
/// drop(pinned);
///
/// assert!(slot.try_evict());
/// table.remove(&1);
/// table.insert(2, 0)?;
/// slot.finish();
/// # Ok::<(), flatmap::InsertError>(())
/// ```
#[derive(Default)]
pub struct PinWord(AtomicU32);

impl PinWord {
    const EVICTING: u32 = 1 << 31;
    const MAX_PINS: u32 = Self::EVICTING - 1;

    /// No pins, and not being evicted.
    ///
    /// ```
    /// let word = flatmap::PinWord::new();
    /// assert_eq!(word.pins(), 0);
    /// ```
    #[cfg(not(all(loom, feature = "loom")))]
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// No pins, and not being evicted.
    #[cfg(all(loom, feature = "loom"))]
    pub fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    #[inline]
    fn get(&self) -> u32 {
        // Relaxed: a guess that the read-modify-write confirms.
        self.0.load(Ordering::Relaxed)
    }

    /// Pins the slot until the value returned is dropped; `None` while it is being evicted.
    ///
    /// # Panics
    /// With 2^31 - 1 pins present.
    ///
    /// ```
    /// let word = flatmap::PinWord::new();
    /// let pinned = word.pin();
    /// assert!(pinned.is_some() && word.pins() == 1); // until it is dropped
    /// ```
    #[inline]
    pub fn pin(&self) -> Option<Pinned<'_>> {
        self.try_pin().then(|| Pinned(self))
    }

    /// As [`pin`](Self::pin), for callers that keep count themselves: each `true` is owed one
    /// [`unpin`](Self::unpin).
    ///
    /// # Panics
    /// With 2^31 - 1 pins present.
    ///
    /// ```
    /// let word = flatmap::PinWord::new();
    /// assert!(word.try_pin());
    /// assert!(!word.try_evict());
    /// word.unpin();
    /// ```
    #[inline]
    pub fn try_pin(&self) -> bool {
        let mut word = self.get();
        while word & Self::EVICTING == 0 {
            assert!(word < Self::MAX_PINS, "more than {} pins of one slot", Self::MAX_PINS);
            // ORD(FM-PIN acq): what the evictor that finished before us did to the slot.
            // Relaxed: a failure only yields the next guess.
            match self.0.compare_exchange(word, word + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) => word = seen,
            }
        }
        false
    }

    /// Gives back a pin got by [`try_pin`](Self::try_pin).
    ///
    /// # Panics
    /// Without a pin; nothing is changed then.
    ///
    /// ```
    /// let word = flatmap::PinWord::new();
    /// assert!(word.try_pin());
    /// word.unpin();
    /// assert_eq!(word.pins(), 0);
    /// ```
    #[inline]
    pub fn unpin(&self) {
        let mut word = self.get();
        loop {
            assert!(word & Self::MAX_PINS != 0, "unpin of a slot that has no pins");
            // ORD(FM-PIN rel): our use of the slot, before the next evictor's.
            // Relaxed: a failure only yields the next guess.
            match self.0.compare_exchange(word, word - 1, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(seen) => word = seen,
            }
        }
    }

    /// Begins an eviction; false if the slot is pinned or being evicted. A `true` is owed one
    /// [`finish`](Self::finish).
    ///
    /// ```
    /// let word = flatmap::PinWord::new();
    /// assert!(word.try_evict());
    /// assert!(word.pin().is_none()); // whoever comes now looks the key up again
    /// word.finish();
    /// ```
    #[inline]
    pub fn try_evict(&self) -> bool {
        self.get() == 0
            // ORD(FM-PIN acq): the uses of the slot by all who pinned it.
            // Relaxed: a failure leads nowhere.
            && self.0.compare_exchange(0, Self::EVICTING, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Ends the eviction: the new key is mapped, or the slot is left empty.
    ///
    /// # Panics
    /// If the slot is not being evicted; nothing is changed then.
    ///
    /// ```
    /// let word = flatmap::PinWord::new();
    /// assert!(word.try_evict());
    /// word.finish();
    /// assert!(word.pin().is_some());
    /// ```
    #[inline]
    pub fn finish(&self) {
        // ORD(FM-PIN rel): what the evictor did to the slot, before the next pin.
        // Relaxed: a failure panics.
        let was = self.0.compare_exchange(Self::EVICTING, 0, Ordering::Release, Ordering::Relaxed);
        assert!(was.is_ok(), "finish of an eviction that was not begun");
    }

    /// How many pins there were a moment ago.
    ///
    /// ```
    /// let word = flatmap::PinWord::new();
    /// let (_one, _two) = (word.pin(), word.pin());
    /// assert_eq!(word.pins(), 2);
    /// ```
    pub fn pins(&self) -> u32 {
        self.get() & Self::MAX_PINS
    }

    /// Whether the slot was being evicted a moment ago.
    ///
    /// ```
    /// let word = flatmap::PinWord::new();
    /// assert!(word.try_evict() && word.is_evicting());
    /// ```
    pub fn is_evicting(&self) -> bool {
        self.get() & Self::EVICTING != 0
    }
}

impl fmt::Debug for PinWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinWord").field("pins", &self.pins()).field("evicting", &self.is_evicting()).finish()
    }
}

/// A pin; dropping it unpins. A forgotten one keeps the slot from being evicted for ever.
///
/// ```
/// let word = flatmap::PinWord::new();
/// let pinned = word.pin().expect("it is not being evicted");
/// assert_eq!(word.pins(), 1);
/// drop(pinned);
/// assert_eq!(word.pins(), 0);
/// ```
#[derive(Debug)]
#[must_use = "the slot is unpinned at once if the pin is not kept"]
pub struct Pinned<'a>(&'a PinWord);

impl Drop for Pinned<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.unpin();
    }
}
