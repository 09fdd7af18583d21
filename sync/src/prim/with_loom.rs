//! The `loom` side of the facade. It differs from the `std` side only where loom needs it: no `const`
//! constructors, time as a choice of the scheduler, and a parker made of a mutex and a condition variable
//! (loom's own `park` may be woken while it waits for another object, which its mutex does not expect).

use ::loom::sync as model;
use core::fmt;
use core::time::Duration;

pub use ::loom;
pub use ::loom::hint::spin_loop;
pub use ::loom::thread::yield_now;

/// Integer atomics, fences and their orderings.
pub mod atomic {
    pub use ::loom::sync::atomic::{
        AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

use atomic::{AtomicU64, Ordering};
use bytemuck::{AnyBitPattern, NoUninit};

/// A cell whose accesses loom checks.
#[derive(Debug, Default)]
pub struct UnsafeCell<T: ?Sized>(::loom::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell that holds `value`.
    pub fn new(value: T) -> Self {
        Self(::loom::cell::UnsafeCell::new(value))
    }

    /// The value, out of the cell.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// A shared access that lasts as long as the pointer.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        ConstPtr(self.0.get())
    }

    /// An exclusive access that lasts as long as the pointer.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        MutPtr(self.0.get_mut())
    }

    /// The value, borrowed through the exclusive reference.
    pub fn exclusive(&mut self) -> &mut T {
        let access = self.0.get_mut();
        // SAFETY: `&mut self` proves that nobody else has access while the reference lives.
        let value: *mut T = unsafe { access.deref() };
        // SAFETY: as above; the borrow is tied to `self` instead of to loom's short-lived access.
        unsafe { &mut *value }
    }
}

/// A shared access to an [`UnsafeCell`].
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized>(::loom::cell::ConstPtr<T>);

impl<T: ?Sized> ConstPtr<T> {
    /// # Safety
    /// Nobody may have exclusive access to the cell while the reference lives.
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: the caller's promise; loom checks it.
        unsafe { self.0.deref() }
    }
}

/// An exclusive access to an [`UnsafeCell`].
#[derive(Debug)]
pub struct MutPtr<T: ?Sized>(::loom::cell::MutPtr<T>);

impl<T: ?Sized> MutPtr<T> {
    /// # Safety
    /// Nobody else may have any access to the cell while the reference lives.
    #[expect(
        clippy::mut_from_ref,
        reason = "mirrors loom's pointer; the exclusive access is the caller's promise"
    )]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: the caller's promise; loom checks it.
        unsafe { self.0.deref() }
    }
}

/// A mutex for cold paths.
#[derive(Default)]
pub struct Mutex<T>(model::Mutex<T>);

impl<T> Mutex<T> {
    /// A free mutex that holds `value`.
    pub fn new(value: T) -> Self {
        Self(model::Mutex::new(value))
    }

    /// Waits for the mutex.
    pub fn lock(&self) -> model::MutexGuard<'_, T> {
        self.0.lock().expect("a model ends at its first panic")
    }
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mutex")
    }
}

/// One thread sleeps here, any other may wake it.
#[derive(Debug, Default)]
pub struct Parker {
    token: Mutex<bool>,
    wake: model::Condvar,
}

impl Parker {
    /// A parker for the calling thread.
    pub fn for_this_thread() -> Self {
        Self::default()
    }

    /// Sleeps until woken. With a deadline it only lets the others run: how far they get before the
    /// deadline passes is the scheduler's choice.
    pub fn park(&self, deadline: Deadline) {
        if deadline.0 {
            return yield_now();
        }
        let mut token = self.token.lock();
        while !*token {
            token = self.wake.wait(token).expect("a model ends at its first panic");
        }
        *token = false;
    }

    /// Wakes the sleeper; if it does not sleep yet, its next sleep ends at once.
    pub fn unpark(&self) {
        *self.token.lock() = true;
        self.wake.notify_one();
    }
}

/// Whether a wait is bounded; a bounded one is over as soon as the scheduler runs the waiter again.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(bool);

impl Deadline {
    /// A deadline that never comes.
    pub const NEVER: Self = Self(false);

    /// A deadline that comes at a moment of the scheduler's choice; `Duration::MAX` never comes.
    pub fn after(timeout: Duration) -> Self {
        Self(timeout != Duration::MAX)
    }

    /// Whether it never comes.
    pub fn is_never(self) -> bool {
        !self.0
    }

    /// Whether it has come.
    pub fn has_passed(self) -> bool {
        self.0
    }

    /// The earlier of this and `other`.
    #[must_use]
    pub fn or_earlier(self, other: Self) -> Self {
        Self(self.0 || other.0)
    }
}

/// A model does not spin: every round would be a branch of its own.
pub const SPIN_ROUNDS: u32 = 0;

/// A model's reader is torn once before it waits for the writer.
pub const SEQLOCK_TRIES: u32 = 1;

/// One lost race ends the patience of a model's waiter.
pub const LOST_RACES: u32 = 1;

std::thread_local! {
    // The threads of a model share one thread of the system, so this is the model's.
    static IMPATIENCE: core::cell::Cell<u32> = const { core::cell::Cell::new(0) };
}

/// Ends patience at once for the next `times` occasions; a model that wants it says so first of all.
pub fn lose_patience(times: u32) {
    IMPATIENCE.set(times);
}

/// In a model, patience ends by lost races alone, unless [`lose_patience`] was called.
pub fn patience(_timeout: Duration) -> Deadline {
    let left = IMPATIENCE.get();
    IMPATIENCE.set(left.saturating_sub(1));
    Deadline(left > 0)
}

/// Makes `len` zeroed words.
pub fn zeroed_u64(len: usize) -> Option<Box<[AtomicU64]>> {
    Some((0..len).map(|_| AtomicU64::new(0)).collect())
}

/// A `T` in atomic words, which loom may tear.
pub struct Words<T> {
    words: Box<[AtomicU64]>,
    value: core::marker::PhantomData<T>,
}

impl<T: NoUninit + AnyBitPattern> Words<T> {
    /// The words of `value`.
    pub fn new(value: T) -> Self {
        let words = words_of(&value).map(AtomicU64::new).collect();
        Self { words, value: core::marker::PhantomData }
    }

    /// Reads all words, relaxed.
    pub fn load(&self) -> T {
        let mut value = T::zeroed();
        // Relaxed: the caller's stamp orders it.
        let words = self.words.iter().map(|word| word.load(Ordering::Relaxed));
        for (bytes, word) in bytemuck::bytes_of_mut(&mut value).chunks_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes()[..bytes.len()]);
        }
        value
    }

    /// Writes all words, relaxed.
    pub fn store(&self, value: &T) {
        for (word, of_value) in self.words.iter().zip(words_of(value)) {
            // Relaxed: the caller's stamp orders it.
            word.store(of_value, Ordering::Relaxed);
        }
    }
}

fn words_of<T: NoUninit>(value: &T) -> impl Iterator<Item = u64> + '_ {
    bytemuck::bytes_of(value).chunks(8).map(|bytes| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_ne_bytes(word)
    })
}

impl<T> fmt::Debug for Words<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Words")
    }
}

/// How many slots there are for pending counts: enough that threads share some and not others.
pub const SLOTS: usize = 2;

/// The calling thread's number, by which it is spread over slots.
pub fn thread_number() -> u32 {
    let id = format!("{:?}", ::loom::thread::current().id());
    let digits = id.trim_matches(|c: char| !c.is_ascii_digit());
    digits.parse().expect("loom numbers its threads")
}
