//! The guards. In each, the access to the data is dropped before the hold that protects it.

use super::LwLock;
use crate::prim::{ConstPtr, MutPtr};
use core::fmt;
use core::marker::PhantomData;
use core::mem;
use core::ops::{Deref, DerefMut};

/// Makes a guard `!Send`: the thread that took the lock releases it.
type NotSend = PhantomData<*const ()>;

struct SharedHold<'a, T: ?Sized>(&'a LwLock<T>);

impl<T: ?Sized> Drop for SharedHold<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.raw.unlock_shared();
    }
}

struct ExclusiveHold<'a, T: ?Sized>(&'a LwLock<T>);

impl<T: ?Sized> Drop for ExclusiveHold<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.raw.unlock_exclusive();
    }
}

/// A shared hold of an [`LwLock`]; dropping the guard releases the lock. A forgotten guard keeps writers out for
/// ever, and does no other harm (SY-7).
///
/// The guard stays with its thread: it is not `Send`. Two words: 16 bytes on 64-bit targets.
///
/// ```
/// use sync::{LwLock, ReadGuard};
///
/// fn first<'a>(guard: &'a ReadGuard<'_, Vec<u8>>) -> &'a u8 {
///     &guard[0]
/// }
/// let lock = LwLock::new(vec![7]);
/// assert_eq!(*first(&lock.read()), 7);
/// ```
#[must_use = "the lock is released at once if the guard is not kept"]
pub struct ReadGuard<'a, T: ?Sized> {
    data: ConstPtr<T>,
    _hold: SharedHold<'a, T>,
    _not_send: NotSend,
}

// SAFETY: the guard gives out `&T` only.
unsafe impl<T: ?Sized + Sync> Sync for ReadGuard<'_, T> {}

impl<'a, T: ?Sized> ReadGuard<'a, T> {
    /// A guard for a shared hold that the calling thread has just taken.
    #[inline]
    pub(super) fn new(lock: &'a LwLock<T>) -> Self {
        Self { data: lock.data.get(), _hold: SharedHold(lock), _not_send: PhantomData }
    }
}

impl<T: ?Sized> Deref for ReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: I1 of raw.rs: while the hold lasts there is no writer.
        unsafe { self.data.deref() }
    }
}

/// An exclusive hold of an [`LwLock`]; dropping the guard releases the lock. A forgotten guard keeps everybody out
/// for ever, and does no other harm (SY-7).
///
/// The guard stays with its thread: it is not `Send`. Two words: 16 bytes on 64-bit targets.
///
/// ```
/// let lock = sync::LwLock::new(1);
/// let mut guard = lock.write();
/// *guard += 1;
/// drop(guard);
/// assert_eq!(*lock.read(), 2);
/// ```
#[must_use = "the lock is released at once if the guard is not kept"]
pub struct WriteGuard<'a, T: ?Sized> {
    data: MutPtr<T>,
    hold: ExclusiveHold<'a, T>,
    _not_send: NotSend,
}

// SAFETY: a shared reference to the guard gives out `&T` only.
unsafe impl<T: ?Sized + Sync> Sync for WriteGuard<'_, T> {}

impl<'a, T: ?Sized> WriteGuard<'a, T> {
    /// A guard for an exclusive hold that the calling thread has just taken.
    #[inline]
    pub(super) fn new(lock: &'a LwLock<T>) -> Self {
        Self { data: lock.data.get_mut(), hold: ExclusiveHold(lock), _not_send: PhantomData }
    }

    /// Turns the exclusive hold into a shared one. No writer gets in between: what this guard wrote is what the new
    /// one reads (SY-6). Waits for no holder.
    ///
    /// ```
    /// let lock = sync::LwLock::new(1);
    /// let mut guard = lock.write();
    /// *guard = 2;
    /// let guard = guard.downgrade();
    /// assert_eq!((*guard, *lock.try_read().expect("readers share")), (2, 2));
    /// ```
    pub fn downgrade(self) -> ReadGuard<'a, T> {
        let Self { data, hold, .. } = self;
        let lock = hold.0;
        {
            let _access_ends_here = data;
        }
        mem::forget(hold);
        lock.raw.downgrade();
        ReadGuard::new(lock)
    }
}

impl<T: ?Sized> Deref for WriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: I1 of raw.rs: while the hold lasts nobody else has access.
        unsafe { self.data.deref() }
    }
}

impl<T: ?Sized> DerefMut for WriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `&mut self` is the only reference to the guard.
        unsafe { self.data.deref() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for WriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for ReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for WriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
