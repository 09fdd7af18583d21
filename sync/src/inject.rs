//! Named points where a test forces the rare outcome, on the calling thread and in a given order: feature
//! `inject`. Without the feature every point is a constant and costs nothing.
//!
//! What PostgreSQL's tests do with an injection point of its own for deferred counts, these do for every
//! outcome that otherwise takes a second thread at the right moment.

/// Where an outcome can be forced.
///
/// ```
/// # #[cfg(feature = "inject")] {
/// use sync::{LwLock, inject::{Point, force}};
///
/// let lock = LwLock::new(());
/// let script = force(Point::TryLock, 0b01);
/// assert!(lock.try_read().is_none()); // forced: nobody holds it
/// assert!(lock.try_read().is_some());
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Point {
    /// A try of an `LwLock` reports a busy lock: also those that `CondLock`, `SeqLock::try_write` and
    /// `ShardedCounter` make.
    TryLock,
    /// A woken waiter of an `LwLock` loses the race for it.
    LostRace,
    /// An optimistic read (`SeqLock::try_read`, a walk of `flatmap`) is torn.
    TornRead,
    /// `CondLock::update` meets a busy lock.
    CondBusy,
}

#[cfg(feature = "inject")]
mod on {
    use super::Point;
    use core::cell::Cell;
    use core::marker::PhantomData;

    const POINTS: usize = 4;

    /// What happens at the next passes of a point: bit 0 at the next one, bit 1 at the one after.
    #[derive(Clone, Copy)]
    struct Script {
        in_force: bool,
        outcomes: u64,
        passes: u64,
        fired: u64,
    }

    impl Script {
        const NONE: Self = Self { in_force: false, outcomes: 0, passes: 0, fired: 0 };
    }

    thread_local! {
        static SCRIPTS: [Cell<Script>; POINTS] =
            const { [const { Cell::new(Script::NONE) }; POINTS] };
    }

    fn with<R>(point: Point, f: impl FnOnce(&Cell<Script>) -> R) -> Option<R> {
        SCRIPTS.try_with(|scripts| f(&scripts[point as usize])).ok()
    }

    /// Forces outcomes at `point` on this thread until the value returned is dropped: at the n-th pass from
    /// now, if bit n of `outcomes` is set (counting from 0). From the 64th pass on nothing is forced.
    ///
    /// ```
    /// use sync::{CondLock, inject};
    ///
    /// let lock = CondLock::new(0_i64, 32);
    /// let script = inject::force(inject::Point::CondBusy, 0b01);
    /// assert_eq!(lock.update(1, |n| *n), None); // deferred, as if another thread held the lock
    /// assert_eq!(lock.update(1, |n| *n), Some(2)); // folded in
    /// assert_eq!(script.fired(), 1);
    /// ```
    ///
    /// # Panics
    /// If a script is in force at `point` on this thread already.
    pub fn force(point: Point, outcomes: u64) -> Forced {
        let before =
            with(point, |script| script.replace(Script { in_force: true, outcomes, passes: 0, fired: 0 }));
        assert!(!before.is_some_and(|before| before.in_force), "a script is in force at {point:?} already");
        Forced { point, this_thread: PhantomData }
    }

    /// A script in force; dropping it ends it. It is not `Send`: a script is its thread's.
    ///
    /// ```
    /// use sync::{SeqLock, inject::{Point, force}};
    ///
    /// let lock = SeqLock::new(5_u32);
    /// let script = force(Point::TornRead, 0b101);
    /// assert_eq!((lock.try_read(), lock.read()), (None, 5));
    /// assert_eq!((script.passes(), script.fired()), (2, 1));
    /// ```
    #[derive(Debug)]
    #[must_use = "the script ends at once if the value is not kept"]
    pub struct Forced {
        point: Point,
        this_thread: PhantomData<*const ()>,
    }

    impl Forced {
        /// How often the outcome was forced so far.
        ///
        /// ```
        /// use sync::inject::{Point, force};
        ///
        /// let script = force(Point::TryLock, 0b1);
        /// assert!(sync::LwLock::new(()).try_write().is_none());
        /// assert_eq!(script.fired(), 1);
        /// ```
        pub fn fired(&self) -> u64 {
            with(self.point, |script| script.get().fired).unwrap_or(0)
        }

        /// How often the point was passed so far.
        ///
        /// ```
        /// use sync::inject::{Point, force};
        ///
        /// let script = force(Point::TryLock, 0b10);
        /// assert!(sync::LwLock::new(()).try_write().is_some());
        /// assert_eq!((script.passes(), script.fired()), (1, 0));
        /// ```
        pub fn passes(&self) -> u64 {
            with(self.point, |script| script.get().passes).unwrap_or(0)
        }
    }

    impl Drop for Forced {
        fn drop(&mut self) {
            with(self.point, |script| script.set(Script::NONE));
        }
    }

    /// Passes `point`; whether its rare outcome is forced now.
    #[doc(hidden)]
    pub fn fires(point: Point) -> bool {
        with(point, |cell| {
            let mut script = cell.get();
            let fires = script.outcomes & 1 != 0;
            script.outcomes >>= 1;
            script.passes += 1;
            script.fired += u64::from(fires);
            cell.set(script);
            fires
        })
        .unwrap_or(false)
    }
}

#[cfg(feature = "inject")]
pub use on::{Forced, fires, force};

/// Passes `point`, where nothing is forced in this build.
#[cfg(not(feature = "inject"))]
#[doc(hidden)]
#[inline(always)]
pub fn fires(_: Point) -> bool {
    false
}
