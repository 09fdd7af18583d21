//! [`CondLock`]: get the lock, or leave your count behind.

use crate::inject::{self, Point};
use crate::lwlock::{LwLock, WriteGuard};
use crate::prim::SLOTS;
use crate::slots::{Left, Slots};
use core::fmt;
use core::ops::{Deref, DerefMut};
use crossbeam_utils::CachePadded;

/// A value that pending counts are added to.
pub trait Absorb {
    /// Adds `n`. Runs under the lock; must not use the lock. If it panics, `n` stays pending.
    fn absorb(&mut self, n: i64);
}

impl Absorb for i64 {
    /// Adds, and stays within the type's bounds.
    fn absorb(&mut self, n: i64) {
        *self = self.saturating_add(n);
    }
}

impl Absorb for u64 {
    /// Adds, and stays within the type's bounds: a count that would fall below 0 is lost. Where removals may
    /// be counted before the insertions they belong to, count in `i64` and clamp what you show.
    fn absorb(&mut self, n: i64) {
        *self = self.saturating_add_signed(n);
    }
}

/// A lock for work that counts and sometimes acts on the count, and whose callers would rather count later
/// than wait.
///
/// [`update`](Self::update) takes the lock if it is free; then it adds its own count and all that others have
/// left, and runs the closure. If the lock is busy, it leaves its count *pending* and returns `None` at once.
/// The next holder folds it in.
///
/// * **Nothing is lost**, whatever ends a thread: pending counts are kept in 32 slots that the lock owns.
/// * **Bounded lag.** A slot holds at most `cap`, also when threads share it; at the cap an update waits for
///   the lock. So the value lags by at most [`max_lag`](Self::max_lag) = `cap` x 32, plus the updates under way.
/// * **Alone, exact.** A holder folds in every slot that has something pending, so a thread that finds the
///   lock free each time sees exact values, also after contention.
/// * A busy lock is noticed by a load: who defers writes one line, its slot's, and seldom a second.
///
/// Progress: below the cap `update` does not wait for a holder; everything else is blocking.
///
/// Memory: about 4 KiB beside the value. After PostgreSQL's deferred counting of hash index tuples, whose pending
/// counts end with their session; these do not.
///
/// ```
/// use sync::CondLock;
///
/// // A counter that splits something at every hundredth.
/// let tuples = CondLock::new(0_i64, 32);
/// for _ in 0..250 {
///     if let Some(split) = tuples.update(1, |count| *count % 100 == 0) {
///         assert_eq!(split, *tuples.lock() % 100 == 0); // alone: exact at every step
///     }
/// }
/// assert_eq!(*tuples.lock(), 250);
/// ```
pub struct CondLock<T> {
    slots: Slots,
    cap: u32,
    manner: Manner,
    /// Away from the marks: those who defer write them while a holder works.
    lock: CachePadded<LwLock<T>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Tries at every update.
    Steady,
    /// Once it has met contention, tries at every `cap`-th.
    Quiet,
}

impl<T: Absorb> CondLock<T> {
    /// A free lock whose slots hold at most `cap` each; with 0, nothing is ever deferred.
    pub fn new(value: T, cap: u32) -> Self {
        Self { lock: CachePadded::new(LwLock::new(value)), slots: Slots::new(), cap, manner: Manner::Steady }
    }

    /// A lock whose threads, once they have met it busy, look at it only at every `cap`-th update, until they
    /// find it free. The others write no line but their slot's, and the marks' once after each fold. It promises
    /// [`max_lag`](Self::max_lag) and not "alone, exact": after contention a thread's counts stay pending for up to
    /// `cap` updates.
    pub fn quiet(value: T, cap: u32) -> Self {
        Self { manner: Manner::Quiet, ..Self::new(value, cap) }
    }

    /// Counts `delta`. If the lock is free, folds in what is pending and runs `f` on the value; if it is busy,
    /// leaves `delta` pending and returns `None`. Waits for the lock if the slot is at its cap.
    ///
    /// A panic in `f` loses no count. `f` should not use this lock: below the cap an `update` in it defers; at the
    /// cap, and in `force` and `lock`, it would wait for itself, and debug builds panic.
    #[inline]
    pub fn update<R>(&self, delta: i32, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        let delta = i64::from(delta);
        let quiet = self.manner == Manner::Quiet;
        if quiet && self.slots.mine().passes(self.cap) && self.slots.leave(delta, self.cap) == Left::Pending {
            return None;
        }
        let free = if inject::fires(Point::CondBusy) { None } else { self.lock.try_write() };
        if quiet {
            self.slots.mine().met(free.is_none());
        }
        match free {
            Some(guard) => Some(self.run(guard, delta, f)),
            None if self.slots.leave(delta, self.cap) == Left::Pending => None,
            None => Some(self.run_at_cap(delta, f)),
        }
    }

    /// Waits for the lock and empties the thread's own slot too: who took it from 0 may not have marked it yet.
    #[cold]
    fn run_at_cap<R>(&self, delta: i64, f: impl FnOnce(&mut T) -> R) -> R {
        let guard = self.lock.write();
        let own = self.slots.mine().take();
        self.run(guard, own + delta, f)
    }

    /// Counts `delta` and runs `f` on the value with everything marked as pending folded in; waits for the lock.
    #[track_caller]
    pub fn force<R>(&self, delta: i32, f: impl FnOnce(&mut T) -> R) -> R {
        self.run(self.lock.write(), i64::from(delta), f)
    }

    fn run<R>(&self, mut guard: WriteGuard<'_, T>, delta: i64, f: impl FnOnce(&mut T) -> R) -> R {
        self.absorb(&mut guard, self.slots.take_marked() + delta);
        f(&mut guard)
    }

    fn absorb(&self, value: &mut T, n: i64) {
        if n != 0 {
            let unless_absorbed = PutBack { slots: &self.slots, n };
            value.absorb(n);
            core::mem::forget(unless_absorbed);
        }
    }

    /// Waits for the lock and folds in all that is pending: the value is exact but for the updates under way.
    #[track_caller]
    pub fn lock(&self) -> CondGuard<'_, T> {
        let mut guard = self.lock.write();
        self.absorb(&mut guard, self.slots.take_all());
        CondGuard(guard)
    }

    /// What is pending, without a lock: within the updates and folds under way.
    pub fn pending(&self) -> i64 {
        self.slots.pending()
    }

    /// The most that can be pending at one time, in either direction (beside what a panicking `absorb` gave back).
    pub fn max_lag(&self) -> u64 {
        u64::from(self.cap) * SLOTS as u64
    }

    /// The most that one slot holds.
    pub fn cap(&self) -> u32 {
        self.cap
    }

    /// Whether somebody held the lock a moment ago.
    pub fn is_locked(&self) -> bool {
        self.lock.is_locked()
    }

    /// The value with everything folded in, through the exclusive reference.
    pub fn get_mut(&mut self) -> &mut T {
        let pending = self.slots.take_all();
        if pending != 0 {
            let unless_absorbed = PutBack { slots: &self.slots, n: pending };
            self.lock.get_mut().absorb(pending);
            core::mem::forget(unless_absorbed);
        }
        self.lock.get_mut()
    }

    /// The value with everything folded in.
    pub fn into_inner(mut self) -> T {
        self.get_mut();
        self.lock.into_inner().into_inner()
    }
}

/// Puts a count back when `Absorb::absorb` panics.
struct PutBack<'a> {
    slots: &'a Slots,
    n: i64,
}

impl Drop for PutBack<'_> {
    fn drop(&mut self) {
        self.slots.put_back(self.n);
    }
}

impl<T: fmt::Debug> fmt::Debug for CondLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CondLock")
            .field("value", &*self.lock)
            .field("pending", &self.slots.pending())
            .field("cap", &self.cap)
            .finish_non_exhaustive()
    }
}

/// A hold of a [`CondLock`], with everything folded in that was pending when it began.
#[derive(Debug)]
#[must_use = "the lock is let go at once if the guard is not kept"]
pub struct CondGuard<'a, T>(WriteGuard<'a, T>);

impl<T> Deref for CondGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for CondGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
