//! The `std` side of the facade.

use std::time::{Duration, Instant};

pub use core::hint::spin_loop;
pub use std::thread::yield_now;

/// Integer atomics, fences and their orderings.
pub mod atomic {
    pub use core::sync::atomic::{
        AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

use atomic::{AtomicU32, AtomicU64};

/// A cell whose accesses loom can check; here it is the plain one.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(core::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell that holds `value`.
    pub const fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    /// The value, out of the cell.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// A shared access that lasts as long as the pointer.
    pub const fn get(&self) -> ConstPtr<T> {
        ConstPtr(self.0.get().cast_const())
    }

    /// An exclusive access that lasts as long as the pointer.
    pub const fn get_mut(&self) -> MutPtr<T> {
        MutPtr(self.0.get())
    }

    /// The value, borrowed through the exclusive reference.
    pub fn exclusive(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

/// A shared access to an [`UnsafeCell`].
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized>(*const T);

impl<T: ?Sized> ConstPtr<T> {
    /// # Safety
    /// Nobody may have exclusive access to the cell while the reference lives.
    pub const unsafe fn deref(&self) -> &T {
        // SAFETY: the pointer comes from a live cell; the caller keeps writers away.
        unsafe { &*self.0 }
    }
}

/// An exclusive access to an [`UnsafeCell`].
#[derive(Debug)]
pub struct MutPtr<T: ?Sized>(*mut T);

impl<T: ?Sized> MutPtr<T> {
    /// # Safety
    /// Nobody else may have any access to the cell while the reference lives.
    #[expect(
        clippy::mut_from_ref,
        reason = "mirrors loom's pointer; the exclusive access is the caller's promise"
    )]
    pub const unsafe fn deref(&self) -> &mut T {
        // SAFETY: the pointer comes from a live cell; the caller keeps everybody else away.
        unsafe { &mut *self.0 }
    }
}

/// A point in time, or never.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// A deadline that never comes.
    pub const NEVER: Self = Self(None);

    /// `timeout` from now; one that the clock can't express never comes.
    pub fn after(timeout: Duration) -> Self {
        Self(Instant::now().checked_add(timeout))
    }

    /// That moment.
    pub fn at(moment: Instant) -> Self {
        Self(Some(moment))
    }

    /// The moment, unless it never comes.
    pub(super) fn moment(self) -> Option<Instant> {
        self.0
    }

    /// Whether it never comes.
    pub fn is_never(self) -> bool {
        self.0.is_none()
    }

    /// Whether it has come.
    pub fn has_passed(self) -> bool {
        self.0.is_some_and(|at| Instant::now() >= at)
    }

    /// The earlier of this and `other`.
    #[must_use]
    pub fn or_earlier(self, other: Self) -> Self {
        match (self.0, other.0) {
            (Some(a), Some(b)) => Self(Some(a.min(b))),
            (a, b) => Self(a.or(b)),
        }
    }
}

/// How often a lock's slow path looks again before it sleeps; each round pauses twice as long as the last.
pub const SPIN_ROUNDS: u32 = 11;

/// How often a reader of a sequence lock tries before it waits for the writer that is just publishing.
pub const SEQLOCK_TRIES: u32 = 16;

/// How many races a woken waiter loses before the lock is handed over.
pub const LOST_RACES: u32 = 8;

/// How long a waiter is patient before it asks to be served next; loom has no such clock.
pub fn patience(timeout: Duration) -> Deadline {
    Deadline::after(timeout)
}

/// Allocates `len` zeroed words without touching their pages; `None` if the allocator has no memory.
pub fn zeroed_u64(len: usize) -> Option<Box<[AtomicU64]>> {
    bytemuck::allocation::try_zeroed_slice_box(len).ok()
}

/// How many slots there are for pending counts; more threads share them.
pub const SLOTS: usize = 32;

/// The calling thread's number, by which it is spread over slots. Works also while thread-locals are torn down.
#[inline]
pub fn thread_number() -> u32 {
    use core::cell::Cell;
    use core::num::NonZeroU32;
    use core::sync::atomic::Ordering;

    static NEXT: AtomicU32 = AtomicU32::new(0);
    thread_local! {
        // Has no destructor, so that other destructors can use it.
        static NUMBER: Cell<Option<NonZeroU32>> = const { Cell::new(None) };
    }
    let number = NUMBER.try_with(|number| {
        number.get().unwrap_or_else(|| {
            // Relaxed: threads only have to be spread; the count may come round.
            let fresh = NonZeroU32::MIN.saturating_add(NEXT.fetch_add(1, Ordering::Relaxed));
            number.set(Some(fresh));
            fresh
        })
    });
    number.map_or(0, NonZeroU32::get)
}

#[cfg(test)]
mod tests {
    use super::atomic::Ordering;
    use super::zeroed_u64;

    #[test]
    fn zeroed_words_are_as_many_as_asked_for_or_none() {
        for len in [0, 1, 5000] {
            let words = zeroed_u64(len).expect("there is memory");
            assert_eq!(words.len(), len);
            assert!(words.iter().all(|word| word.load(Ordering::Relaxed) == 0));
        }
        assert!(zeroed_u64(usize::MAX / 8).is_none(), "no machine has that");
    }
}
