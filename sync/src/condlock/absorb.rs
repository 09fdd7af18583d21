//! [`Absorb`]: what counts are folded into.

/// A value that pending counts are folded into: `i64`, `u64`, or your own.
///
/// ```
/// use sync::{Absorb, CondLock};
///
/// struct Meta { tuples: i64, splits: u32 }
///
/// impl Absorb for Meta {
///     fn absorb(&mut self, n: i64) {
///         self.tuples += n;
///     }
/// }
/// let meta = CondLock::new(Meta { tuples: 0, splits: 0 }, 32);
/// meta.update(1, |meta| meta.splits += u32::from(meta.tuples > 100));
/// assert_eq!(meta.lock().tuples, 1);
/// ```
pub trait Absorb {
    /// Adds `n`. Runs while the lock is held; must not use the lock. If it panics, `n` stays pending (SY-9).
    fn absorb(&mut self, n: i64);

    /// Hears of an [`update`](crate::CondLock::update) that met the lock busy and waited for it, its slot being at the cap.
    /// Runs after `absorb`, while the lock is held; must not use the lock. Does nothing unless you count such waits.
    fn waited(&mut self) {}
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
