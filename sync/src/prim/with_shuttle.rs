//! The `shuttle` side of the facade, for schedules too long for loom: shuttle picks them at random, one after the
//! other. Its memory is sequentially consistent, whatever the orderings say, so about those loom alone has a say.
//!
//! It differs from the `std` side where shuttle needs it: time is a clock that goes on by one whenever somebody looks
//! at it, a deadline is a random number of such ticks away, and cells report accesses that overlap.

use atomic::AtomicU64;
use core::cell::Cell;
use core::fmt;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub use ::shuttle;
pub use ::shuttle::hint::spin_loop;
pub use ::shuttle::thread::yield_now;
use ::shuttle::{rand::RngCore, sync as model, thread};

/// Integer atomics, fences and their orderings, which shuttle all takes for the strongest.
pub mod atomic {
    pub use ::shuttle::sync::atomic::{
        AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// A cell that panics when accesses to it overlap and one of them is exclusive.
#[derive(Debug, Default)]
pub struct UnsafeCell<T: ?Sized> {
    /// Not an atomic of the model's, so that looking at it adds no schedules.
    accesses: OnceLock<Arc<Accesses>>,
    value: core::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// A cell that holds `value`.
    pub const fn new(value: T) -> Self {
        Self { accesses: OnceLock::new(), value: core::cell::UnsafeCell::new(value) }
    }

    /// The value, out of the cell.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// A shared access that lasts as long as the pointer.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        ConstPtr { value: self.value.get().cast_const(), _access: self.begin(Access::Shared) }
    }

    /// An exclusive access that lasts as long as the pointer.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        MutPtr { value: self.value.get(), _access: self.begin(Access::Exclusive) }
    }

    /// The value, borrowed through the exclusive reference.
    pub fn exclusive(&mut self) -> &mut T {
        self.value.get_mut()
    }

    #[track_caller]
    fn begin(&self, access: Access) -> AccessEnds {
        let accesses = Arc::clone(self.accesses.get_or_init(Arc::default));
        let overlaps = accesses.change(|now| {
            let overlaps = now.exclusive != 0 || access == Access::Exclusive && now.shared != 0;
            *now.of(access) += u32::from(!overlaps);
            overlaps
        });
        assert!(!overlaps, "an access to a cell overlaps another");
        AccessEnds { accesses, access }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Shared,
    Exclusive,
}

#[derive(Debug, Default)]
struct Counts {
    shared: u32,
    exclusive: u32,
}

impl Counts {
    fn of(&mut self, access: Access) -> &mut u32 {
        match access {
            Access::Shared => &mut self.shared,
            Access::Exclusive => &mut self.exclusive,
        }
    }
}

/// The accesses to one cell at this moment.
#[derive(Debug, Default)]
struct Accesses(std::sync::Mutex<Counts>);

impl Accesses {
    fn change<R>(&self, how: impl FnOnce(&mut Counts) -> R) -> R {
        how(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An access; dropping it ends it.
#[derive(Debug)]
struct AccessEnds {
    accesses: Arc<Accesses>,
    access: Access,
}

impl Drop for AccessEnds {
    fn drop(&mut self) {
        self.accesses.change(|now| *now.of(self.access) -= 1);
    }
}

/// A shared access to an [`UnsafeCell`].
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized> {
    value: *const T,
    _access: AccessEnds,
}

impl<T: ?Sized> ConstPtr<T> {
    /// # Safety
    /// Nobody may have exclusive access to the cell while the reference lives.
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: the pointer comes from a live cell; the caller keeps writers away.
        unsafe { &*self.value }
    }
}

/// An exclusive access to an [`UnsafeCell`].
#[derive(Debug)]
pub struct MutPtr<T: ?Sized> {
    value: *mut T,
    _access: AccessEnds,
}

impl<T: ?Sized> MutPtr<T> {
    /// # Safety
    /// Nobody else may have any access to the cell while the reference lives.
    #[expect(
        clippy::mut_from_ref,
        reason = "mirrors loom's pointer; the exclusive access is the caller's promise"
    )]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: the pointer comes from a live cell; the caller keeps everybody else away.
        unsafe { &mut *self.value }
    }
}

/// A mutex for cold paths; a panic while it is held does not poison it.
#[derive(Default)]
pub struct Mutex<T>(model::Mutex<T>);

impl<T> Mutex<T> {
    /// A free mutex that holds `value`.
    pub const fn new(value: T) -> Self {
        Self(model::Mutex::new(value))
    }

    /// Waits for the mutex.
    pub fn lock(&self) -> model::MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mutex")
    }
}

/// One thread sleeps here, any other may wake it. It belongs to the thread that made it.
#[derive(Debug)]
pub struct Parker(thread::Thread);

impl Parker {
    /// A parker for the calling thread.
    pub fn for_this_thread() -> Self {
        Self(thread::current())
    }

    /// Sleeps until woken; shuttle also ends a sleep early, now and then. With a deadline it only lets the others
    /// run: shuttle has no sleep that ends by itself, and without a wake the caller looks at the clock again.
    pub fn park(&self, deadline: Deadline) {
        if deadline.is_never() { thread::park() } else { yield_now() }
    }

    /// Wakes the sleeper; if it does not sleep yet, its next sleep ends at once.
    pub fn unpark(&self) {
        self.0.unpark();
    }
}

/// A deadline is at most so many ticks away.
const MOST_TICKS: u64 = 16;

std::thread_local! {
    // The threads of a model share one thread of the system, so these are the model's.
    static CLOCK: Cell<u64> = const { Cell::new(0) };
    static IMPATIENCE: Cell<u32> = const { Cell::new(0) };
}

/// A tick of the model's clock, or never.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Option<u64>);

impl Deadline {
    /// A deadline that never comes.
    pub const NEVER: Self = Self(None);

    /// A deadline that comes at a moment of shuttle's choice; `Duration::MAX` never comes.
    pub fn after(timeout: Duration) -> Self {
        let ticks = || 1 + ::shuttle::rand::thread_rng().next_u64() % MOST_TICKS;
        Self((timeout != Duration::MAX).then(|| CLOCK.get() + ticks()))
    }

    /// A deadline that comes at a moment of shuttle's choice, as any other.
    pub fn at(_moment: Instant) -> Self {
        Self::after(Duration::ZERO)
    }

    /// Whether it never comes.
    pub fn is_never(self) -> bool {
        self.0.is_none()
    }

    /// Whether it has come.
    pub fn has_passed(self) -> bool {
        self.0.is_some_and(|at| {
            CLOCK.set(CLOCK.get() + 1);
            CLOCK.get() >= at
        })
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

/// A model does not spin: every round would only make its schedules longer.
pub const SPIN_ROUNDS: u32 = 0;

/// A model's reader is torn twice before it waits for the writer.
pub const SEQLOCK_TRIES: u32 = 2;

/// A model's waiter is passed twice before the lock is handed over.
pub const LOST_RACES: u32 = 2;

/// Gives patience an end for the next `times` occasions; a model that wants it says so first of all.
pub fn lose_patience(times: u32) {
    IMPATIENCE.set(times);
}

/// In a model, patience ends by lost races alone, unless [`lose_patience`] was called.
pub fn patience(timeout: Duration) -> Deadline {
    let left = IMPATIENCE.get();
    IMPATIENCE.set(left.saturating_sub(1));
    if left > 0 { Deadline::after(timeout) } else { Deadline::NEVER }
}

/// Makes `len` zeroed words.
pub fn zeroed_u64(len: usize) -> Option<Box<[AtomicU64]>> {
    Some((0..len).map(|_| AtomicU64::new(0)).collect())
}

/// Lets the others run before one of [`Words`](super::Words) is touched: they are no atomics of shuttle's.
pub(super) fn before_a_word() {
    thread::sleep(Duration::ZERO);
}

/// How many slots there are for pending counts: enough that threads share some and not others.
pub const SLOTS: usize = 2;

/// The calling thread's number, by which it is spread over slots. Works also while thread-locals are torn down.
pub fn thread_number() -> u32 {
    u32::try_from(usize::from(thread::current().id())).expect("a model has few threads")
}
