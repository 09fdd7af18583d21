//! [`CondLock`]: get the lock, or leave your count behind.

mod absorb;
mod guard;

use crate::inject::{self, Point};
use crate::lwlock::{LwLock, WriteGuard};
use crate::prim::SLOTS;
use crate::slots::{Left, Slots};
pub use absorb::Absorb;
use core::fmt;
use crossbeam_utils::CachePadded;
pub use guard::CondGuard;

/// A lock for work that counts and sometimes acts on the count, and whose callers would rather count later
/// than wait.
///
/// [`update`](Self::update) takes the lock if it is free; then it adds its own count and all that others have
/// left, and runs the closure. If the lock is busy, it *defers*: it leaves its count *pending* and returns `None` at
/// once. The next holder *folds* it in.
///
/// * **Nothing is lost**, whatever ends a thread: pending counts are kept in 32 slots that the lock owns (SY-9).
/// * **Bounded lag.** A slot holds at most `cap`, also when threads share it; at the cap an update waits for
///   the lock. So the value lags by at most [`max_lag`](Self::max_lag) = `cap` x 32, plus the updates under way
///   (SY-10).
/// * **Alone, exact.** A holder folds in every slot that has something pending, so a thread that finds the
///   lock free each time sees exact values, also after contention (SY-11).
/// * A busy lock is noticed by a load: who defers writes one line, its slot's, and seldom a second, and never the
///   lock's.
///
/// Progress: below the cap `update` does not wait for a holder; everything else is blocking, unless it says otherwise.
/// The lock is an [`LwLock`]: what that says of fairness, recursion and panics holds here too.
///
/// Memory: 512 bytes or a little more for the lock with a small value, and 4 KiB for the slots, allocated by `new`
/// and by nothing else (cache lines of 128 bytes, as on 64-bit x86 and ARM). After PostgreSQL's deferred counting of
/// hash index tuples, whose pending counts end with their session; these do not.
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

/// How often in a row a quiet thread finds the lock free before it tries at every update again. With 1 it would be
/// back in the contention that it has just left: two threads in a loop do not stay out of step for long.
const FREES_IN_A_ROW: u32 = 8;

impl<T: Absorb> CondLock<T> {
    /// A free lock whose slots hold at most `cap` each; with 0, nothing is ever deferred.
    ///
    /// ```
    /// let count = sync::CondLock::new(0_i64, 32);
    /// assert_eq!(count.update(3, |n| *n), Some(3)); // the lock was free
    /// ```
    pub fn new(value: T, cap: u32) -> Self {
        Self { lock: CachePadded::new(LwLock::new(value)), slots: Slots::new(), cap, manner: Manner::Steady }
    }

    /// A lock whose threads, once they have met it busy, look at it only at every `cap`-th update, until they have
    /// found it free 8 times in a row. A thread folds in its own count alone, so between two looks it writes no
    /// line but its slot's. This promises [`max_lag`](Self::max_lag) and not "alone, exact": after contention a
    /// thread's counts stay pending for up to `cap` updates, and those of a thread that has left until
    /// [`force`](Self::force) or [`lock`](Self::lock).
    ///
    /// ```
    /// let hits = sync::CondLock::quiet(0_i64, 100);
    /// assert_eq!(hits.update(1, |n| *n), Some(1)); // it has not met the lock busy
    /// ```
    pub fn quiet(value: T, cap: u32) -> Self {
        Self { manner: Manner::Quiet, ..Self::new(value, cap) }
    }

    /// Counts `delta`. If the lock is free, folds in what is pending and runs `f` on the value; if it is busy,
    /// leaves `delta` pending and returns `None`: `f` is not run then. Waits for the lock if the slot is at its cap.
    ///
    /// A panic in `f` loses no count (SY-9). `f` should not use this lock: below the cap an `update` in it defers; at
    /// the cap, and in `force` and `lock`, it would wait for itself.
    ///
    /// Lock-free below the cap, but for `f`, `absorb` and waking those who wait; blocking at the cap.
    ///
    /// # Panics
    /// In debug builds, if it would wait for a lock that this thread holds; and as `f` and `absorb` do.
    ///
    /// ```
    /// let count = sync::CondLock::new(0_i64, 32);
    /// let holder = count.lock();
    /// assert_eq!(count.update(2, |n| *n), None); // deferred
    /// drop(holder);
    /// assert_eq!(count.update(1, |n| *n), Some(3)); // both counted
    /// ```
    #[inline]
    pub fn update<R>(&self, delta: i32, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        let delta = i64::from(delta);
        if self.manner == Manner::Quiet {
            return self.update_quietly(delta, f);
        }
        match self.try_lock() {
            Some(guard) => Some(self.run(guard, self.slots.take_marked() + delta, f)),
            None if self.slots.leave(delta, self.cap) == Left::Pending => None,
            None => Some(self.run_at_cap(delta, f)),
        }
    }

    #[inline]
    fn update_quietly<R>(&self, delta: i64, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mine = self.slots.mine();
        if mine.passes(self.cap) && mine.leave(delta, self.cap).is_ok() {
            return None;
        }
        let Some(guard) = self.try_lock() else {
            mine.met_busy(FREES_IN_A_ROW);
            return match mine.leave(delta, self.cap) {
                Ok(_) => None,
                Err(_) => Some(self.run_at_cap(delta, f)),
            };
        };
        mine.met_free();
        // The other threads fold in their own, so that nobody waits for the line of a slot.
        Some(self.run(guard, mine.take() + delta, f))
    }

    #[inline]
    fn try_lock(&self) -> Option<WriteGuard<'_, T>> {
        if inject::fires(Point::CondBusy) { None } else { self.lock.try_write() }
    }

    /// Waits for the lock and sees to it that the thread's own slot is folded in: who took it from 0 may not have
    /// marked it yet. Emptied here it would be emptied twice, and then hold more than its cap unpublished.
    #[cold]
    fn run_at_cap<R>(&self, delta: i64, f: impl FnOnce(&mut T) -> R) -> R {
        let guard = self.lock.write();
        self.slots.mark_mine();
        let f = |value: &mut T| {
            value.waited();
            f(value)
        };
        self.run(guard, self.take_pending() + delta, f)
    }

    /// Counts `delta` and runs `f` on the value with what is pending folded in; waits for the lock. For work that can't be
    /// left to the next holder.
    ///
    /// What shares a slot with an update under way may stay pending, as in [`update`](Self::update);
    /// [`lock`](Self::lock) takes that too.
    ///
    /// Blocking.
    ///
    /// # Panics
    /// In debug builds, if this thread holds the lock; and as `f` and `absorb` do.
    ///
    /// ```
    /// let count = sync::CondLock::new(0_i64, 32);
    /// assert_eq!(count.force(5, |n| *n), 5);
    /// ```
    #[track_caller]
    pub fn force<R>(&self, delta: i32, f: impl FnOnce(&mut T) -> R) -> R {
        let guard = self.lock.write();
        self.run(guard, self.take_pending() + i64::from(delta), f)
    }

    /// What is marked as pending; in the quiet manner nothing is marked.
    fn take_pending(&self) -> i64 {
        match self.manner {
            Manner::Steady => self.slots.take_marked(),
            Manner::Quiet => self.slots.take_all(),
        }
    }

    fn run<R>(&self, mut guard: WriteGuard<'_, T>, n: i64, f: impl FnOnce(&mut T) -> R) -> R {
        self.absorb(&mut guard, n);
        f(&mut guard)
    }

    fn absorb(&self, value: &mut T, n: i64) {
        if n != 0 {
            let unless_absorbed = PutBack { slots: &self.slots, n };
            value.absorb(n);
            core::mem::forget(unless_absorbed);
        }
    }

    /// Waits for the lock and folds in all that is pending: every update that happens before the call, and no other
    /// than those under way.
    ///
    /// Blocking.
    ///
    /// # Panics
    /// In debug builds, if this thread holds the lock; and as `absorb` does.
    ///
    /// ```
    /// let count = sync::CondLock::new(0_i64, 32);
    /// let guard = count.lock();
    /// count.update(3, |_| ()); // deferred
    /// drop(guard);
    /// assert_eq!(*count.lock(), 3);
    /// ```
    #[track_caller]
    pub fn lock(&self) -> CondGuard<'_, T> {
        let mut guard = self.lock.write();
        self.absorb(&mut guard, self.slots.take_all());
        CondGuard(guard)
    }

    /// What is pending, without the lock: within the updates and folds under way. Wait-free: 32 loads.
    ///
    /// ```
    /// let count = sync::CondLock::new(0_i64, 32);
    /// let guard = count.lock();
    /// count.update(3, |_| ());
    /// assert_eq!((*guard, count.pending()), (0, 3));
    /// ```
    pub fn pending(&self) -> i64 {
        self.slots.pending()
    }

    /// The most that can be pending at one time, in either direction: `cap` x 32 (beside what a panicking `absorb`
    /// gave back) (SY-10).
    ///
    /// ```
    /// assert_eq!(sync::CondLock::new(0_i64, 32).max_lag(), 1024);
    /// ```
    pub fn max_lag(&self) -> u64 {
        u64::from(self.cap) * SLOTS as u64
    }

    /// The most that one slot holds.
    ///
    /// ```
    /// assert_eq!(sync::CondLock::new(0_i64, 32).cap(), 32);
    /// ```
    pub fn cap(&self) -> u32 {
        self.cap
    }

    /// Whether somebody held the lock a moment ago. A hint, as [`LwLock::is_locked`].
    ///
    /// ```
    /// let count = sync::CondLock::new(0_i64, 32);
    /// assert!(!count.is_locked());
    /// ```
    pub fn is_locked(&self) -> bool {
        self.lock.is_locked()
    }

    /// The value with everything folded in, through the exclusive reference: needs no lock.
    ///
    /// # Panics
    /// As `absorb` does.
    ///
    /// ```
    /// let mut count = sync::CondLock::new(0_i64, 32);
    /// *count.get_mut() += 1;
    /// assert_eq!(*count.lock(), 1);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        let pending = self.slots.take_all();
        if pending != 0 {
            let unless_absorbed = PutBack { slots: &self.slots, n: pending };
            self.lock.get_mut().absorb(pending);
            core::mem::forget(unless_absorbed);
        }
        self.lock.get_mut()
    }

    /// The value with everything folded in, out of the lock.
    ///
    /// # Panics
    /// As `absorb` does.
    ///
    /// ```
    /// let count = sync::CondLock::new(0_i64, 32);
    /// count.update(3, |_| ());
    /// assert_eq!(count.into_inner(), 3);
    /// ```
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

#[cfg(all(test, feature = "inject"))]
mod tests;
