//! Pending counts, in slots that a lock or a counter owns. A thread adds to the slot that its number names;
//! nothing is lost with a thread, because nothing is kept with it.

use crate::prim::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use crate::prim::{SLOTS, thread_number};
use crossbeam_utils::CachePadded;

/// One slot's count, and how often its threads have passed the lock by.
#[derive(Debug)]
pub(crate) struct Slot {
    pending: AtomicI64,
    passed: AtomicU32,
}

/// What became of a count that was to be left in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It is pending.
    Pending,
    /// The slot would exceed its cap.
    AtCap,
}

impl Slot {
    fn new() -> Self {
        Self { pending: AtomicI64::new(0), passed: AtomicU32::new(0) }
    }

    pub(crate) fn pending(&self) -> i64 {
        // Relaxed: a glance; exact sums are taken by the holder of the lock with `take`.
        self.pending.load(Ordering::Relaxed)
    }

    /// Takes the pending count out.
    pub(crate) fn take(&self) -> i64 {
        // Relaxed: a count, which publishes nothing else.
        self.pending.swap(0, Ordering::Relaxed)
    }

    /// Adds to the slot whatever it holds; returns what it holds then.
    pub(crate) fn add(&self, n: i64) -> i64 {
        // Relaxed: as in `take`.
        self.pending.fetch_add(n, Ordering::Relaxed).wrapping_add(n)
    }

    /// Whether a thread that met the lock busy may pass it by once more: every `cap`-th time it may not.
    pub(crate) fn passes(&self, cap: u32) -> bool {
        // Relaxed: threads that share a slot only disturb each other's rhythm.
        let passed = self.passed.load(Ordering::Relaxed);
        if passed == 0 || passed >= cap {
            return false;
        }
        self.passed.store(passed + 1, Ordering::Relaxed);
        true
    }

    /// Notes whether the lock was found busy: then the slot's threads begin to pass it by.
    pub(crate) fn met(&self, busy: bool) {
        // Relaxed: as in `passes`.
        self.passed.store(u32::from(busy), Ordering::Relaxed);
    }
}

/// All slots, and which of them have something pending.
///
/// A thread that takes a slot from 0 marks it afterwards. So a marked slot may be empty, and a slot with
/// something pending may be unmarked, but only until the thread that took it from 0 returns.
#[derive(Debug)]
pub(crate) struct Slots {
    slots: Box<[CachePadded<Slot>]>,
    marks: CachePadded<AtomicU64>,
}

impl Slots {
    pub(crate) fn new() -> Self {
        Self {
            slots: (0..SLOTS).map(|_| CachePadded::new(Slot::new())).collect(),
            marks: CachePadded::new(AtomicU64::new(0)),
        }
    }

    fn index() -> usize {
        thread_number() as usize % SLOTS
    }

    /// The calling thread's slot.
    pub(crate) fn mine(&self) -> &Slot {
        &self.slots[Self::index()]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().map(|slot| &**slot)
    }

    /// Leaves `n` pending in the thread's slot, unless it would then exceed `cap` either way.
    pub(crate) fn leave(&self, n: i64, cap: u32) -> Left {
        let index = Self::index();
        let slot = &self.slots[index];
        let mut pending = slot.pending();
        loop {
            let sum = pending.saturating_add(n);
            if sum.unsigned_abs() > u64::from(cap) {
                return Left::AtCap;
            }
            // Relaxed: as in `take`.
            match slot.pending.compare_exchange(pending, sum, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => break,
                Err(seen) => pending = seen,
            }
        }
        if pending == 0 && n != 0 {
            self.mark(index);
        }
        Left::Pending
    }

    /// Leaves `n` pending whatever the cap: it was taken and could not be used.
    pub(crate) fn put_back(&self, n: i64) {
        let index = Self::index();
        self.slots[index].add(n);
        self.mark(index);
    }

    fn mark(&self, index: usize) {
        // ORD(SY-MARK rel): the count that we left, for the holder who finds the mark.
        self.marks.fetch_or(1 << index, Ordering::Release);
    }

    /// Takes what is pending in the marked slots. Only the holder of the lock may.
    #[inline]
    pub(crate) fn take_marked(&self) -> i64 {
        // Relaxed: a glance, which spares the line when nothing was deferred.
        if self.marks.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        self.take_marked_slowly()
    }

    #[cold]
    fn take_marked_slowly(&self) -> i64 {
        let mut marks = self.take_marks();
        let mut sum = 0;
        while marks != 0 {
            sum += self.slots[marks.trailing_zeros() as usize].take();
            marks &= marks - 1;
        }
        sum
    }

    /// Takes what is pending in all slots. Only the holder of the lock may.
    pub(crate) fn take_all(&self) -> i64 {
        // First the marks: a count left after its slot was emptied keeps its mark.
        self.take_marks();
        self.iter().map(Slot::take).fold(0, i64::wrapping_add)
    }

    fn take_marks(&self) -> u64 {
        // ORD(SY-MARK acq): the counts under the marks.
        self.marks.swap(0, Ordering::Acquire)
    }

    /// What is pending, while others add and take.
    pub(crate) fn pending(&self) -> i64 {
        self.iter().map(Slot::pending).fold(0, i64::wrapping_add)
    }
}
