//! [`CondGuard`]: a hold that others don't defer to.

use crate::lwlock::WriteGuard;
use core::ops::{Deref, DerefMut};

/// A hold of a [`CondLock`](crate::CondLock), with everything folded in that was pending when it began; dropping the guard releases the
/// lock. What others defer meanwhile is not seen through it.
///
/// ```
/// let count = sync::CondLock::new(0_i64, 32);
/// let mut guard = count.lock();
/// count.update(1, |_| ()); // deferred
/// assert_eq!(*guard, 0);
/// *guard = 10;
/// drop(guard);
/// assert_eq!(count.into_inner(), 11);
/// ```
#[derive(Debug)]
#[must_use = "the lock is let go at once if the guard is not kept"]
pub struct CondGuard<'a, T>(pub(super) WriteGuard<'a, T>);

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
