//! Pending counts, in slots that a lock or a counter owns. A thread adds to the slot that its number names;
//! nothing is lost with a thread, because nothing is kept with it.

use crate::prim::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use crate::prim::{SLOTS, thread_number};
use crossbeam_utils::CachePadded;

/// One slot's count, and how its threads go about the lock.
#[derive(Debug)]
pub(crate) struct Slot {
    pending: AtomicI64,
    /// In the quiet manner: how many updates have passed the lock by since the last look at it; 0 where every
    /// update looks.
    passed: AtomicU32,
    /// How often the lock must still be found free before every update looks again.
    frees_to_go: AtomicU32,
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
        Self { pending: AtomicI64::new(0), passed: AtomicU32::new(0), frees_to_go: AtomicU32::new(0) }
    }

    #[inline]
    pub(crate) fn pending(&self) -> i64 {
        // Relaxed: a glance; exact sums are taken by the holder of the lock with `take`.
        self.pending.load(Ordering::Relaxed)
    }

    /// Takes the pending count out.
    #[inline]
    pub(crate) fn take(&self) -> i64 {
        if self.pending() == 0 {
            return 0;
        }
        // Relaxed: a count, which publishes nothing else.
        self.pending.swap(0, Ordering::Relaxed)
    }

    /// Adds to the slot whatever it holds; returns what it holds then.
    pub(crate) fn add(&self, n: i64) -> i64 {
        // Relaxed: as in `take`.
        self.pending.fetch_add(n, Ordering::Relaxed).wrapping_add(n)
    }

    /// Leaves `n` pending unless the slot would then exceed `cap` either way; returns what was pending before.
    #[inline]
    pub(crate) fn leave(&self, n: i64, cap: u32) -> Result<i64, Left> {
        let mut pending = self.pending();
        loop {
            let sum = pending.saturating_add(n);
            if sum.unsigned_abs() > u64::from(cap) {
                return Err(Left::AtCap);
            }
            // Relaxed: as in `take`.
            match self.pending.compare_exchange(pending, sum, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(before) => return Ok(before),
                Err(seen) => pending = seen,
            }
        }
    }

    /// Whether a thread that met the lock busy may pass it by once more: every `cap`-th time it may not.
    #[inline]
    pub(crate) fn passes(&self, cap: u32) -> bool {
        // Relaxed: threads that share a slot only disturb each other's rhythm.
        let passed = self.passed.load(Ordering::Relaxed);
        if passed == 0 || passed >= cap {
            return false;
        }
        // Relaxed: as above.
        self.passed.store(passed + 1, Ordering::Relaxed);
        true
    }

    /// Notes that the lock was found busy: the slot's threads begin to pass it by.
    pub(crate) fn met_busy(&self, frees_to_go: u32) {
        // Relaxed: as in `passes`.
        self.frees_to_go.store(frees_to_go, Ordering::Relaxed);
        // Relaxed: as in `passes`.
        self.passed.store(1, Ordering::Relaxed);
    }

    /// Notes that the lock was found free: often enough in a row, and every update looks at it again.
    #[inline]
    pub(crate) fn met_free(&self) {
        // Relaxed: as in `passes`.
        if self.passed.load(Ordering::Relaxed) == 0 {
            return;
        }
        // Relaxed: as in `passes`.
        let frees_to_go = self.frees_to_go.load(Ordering::Relaxed).saturating_sub(1);
        // Relaxed: as in `passes`.
        self.frees_to_go.store(frees_to_go, Ordering::Relaxed);
        // Relaxed: as in `passes`.
        self.passed.store(u32::from(frees_to_go != 0), Ordering::Relaxed);
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

    #[inline]
    fn index() -> usize {
        thread_number() as usize % SLOTS
    }

    /// The calling thread's slot.
    #[inline]
    pub(crate) fn mine(&self) -> &Slot {
        &self.slots[Self::index()]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().map(|slot| &**slot)
    }

    /// Leaves `n` pending in the thread's slot, unless it would then exceed `cap` either way.
    #[inline]
    pub(crate) fn leave(&self, n: i64, cap: u32) -> Left {
        let index = Self::index();
        match self.slots[index].leave(n, cap) {
            Ok(before) => {
                if before == 0 && n != 0 {
                    self.mark(index);
                }
                Left::Pending
            }
            Err(at_cap) => at_cap,
        }
    }

    /// Leaves `n` pending whatever the cap: it was taken and could not be used.
    pub(crate) fn put_back(&self, n: i64) {
        let index = Self::index();
        self.slots[index].add(n);
        self.mark(index);
    }

    /// Marks the calling thread's slot, whatever it holds.
    pub(crate) fn mark_mine(&self) {
        self.mark(Self::index());
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
