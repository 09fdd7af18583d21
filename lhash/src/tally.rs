//! What feature `stats` counts at every insert and remove: under the metapage's lock, or in a cell of the thread's own, so
//! that counting makes no thread wait for a line. Without the feature there is nothing here.

/// How the counts were brought to the metapage.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) counted: u64,
    pub(crate) waited: u64,
    pub(crate) deferred: u64,
    pub(crate) folded: u64,
}

#[cfg(feature = "stats")]
pub(crate) use counting::{Met, Tally};
#[cfg(not(feature = "stats"))]
pub(crate) use free::{Met, Tally};

#[cfg(feature = "stats")]
mod counting {
    use super::Totals;
    use crate::stats::RelaxedCount;
    use crossbeam_utils::CachePadded;
    use std::sync::OnceLock;
    use sync::prim::{SLOTS, thread_number};

    #[derive(Debug, Default)]
    pub(crate) struct Tally {
        // These three are changed by the holder of the metapage alone.
        counted: RelaxedCount,
        waited: RelaxedCount,
        folded: RelaxedCount,
        /// Those that met the lock busy and took an overflow page.
        waited_forced: RelaxedCount,
        /// Allocated by the first that defers: an empty table is as small as without the feature.
        deferred: OnceLock<Box<[CachePadded<RelaxedCount>]>>,
    }

    impl Tally {
        pub(crate) fn new() -> Self {
            Self::default()
        }

        /// The lock was got, and this met. For the holder of the metapage.
        #[inline]
        pub(crate) fn note_hold(&self, met: Met, own: i32) {
            let raise = |count: &RelaxedCount| count.set(count.get() + 1);
            raise(&self.counted);
            if met.waited {
                raise(&self.waited);
            }
            if met.absorbed != 0 && met.absorbed != i64::from(own) {
                raise(&self.folded);
            }
        }

        /// A count that can't be left pending is about to ask for the lock.
        pub(crate) fn note_force(&self, is_locked: impl FnOnce() -> bool) {
            if is_locked() {
                self.waited_forced.add(1);
            }
        }

        pub(crate) fn note_deferral(&self) {
            let cells = self.deferred.get_or_init(|| (0..SLOTS).map(|_| CachePadded::default()).collect());
            cells[thread_number() as usize % SLOTS].add(1);
        }

        pub(crate) fn totals(&self) -> Totals {
            let deferred = self.deferred.get().into_iter().flatten().map(|cell| cell.get()).sum();
            let [counted, waited, deferred, folded] = [
                self.counted.get(),
                self.waited.get() + self.waited_forced.get(),
                deferred,
                self.folded.get(),
            ]
            .map(|count: i64| count.max(0) as u64);
            Totals { counted, waited, deferred, folded }
        }
    }

    /// What a holder of the metapage met since it was last asked.
    #[derive(Clone, Copy, Debug, Default)]
    pub(crate) struct Met {
        absorbed: i64,
        waited: bool,
    }

    impl Met {
        pub(crate) fn absorb(&mut self, n: i64) {
            self.absorbed = n;
        }

        pub(crate) fn wait(&mut self) {
            self.waited = true;
        }
    }
}

#[cfg(not(feature = "stats"))]
mod free {
    use super::Totals;

    #[derive(Debug)]
    pub(crate) struct Tally;

    impl Tally {
        pub(crate) fn new() -> Self {
            Self
        }

        #[inline]
        pub(crate) fn note_hold(&self, _: Met, _: i32) {}

        #[inline]
        pub(crate) fn note_force(&self, _: impl FnOnce() -> bool) {}

        #[inline]
        pub(crate) fn note_deferral(&self) {}

        pub(crate) fn totals(&self) -> Totals {
            Totals::default()
        }
    }

    #[derive(Clone, Copy, Debug, Default)]
    pub(crate) struct Met {}

    impl Met {
        #[inline]
        pub(crate) fn absorb(&mut self, _: i64) {}

        #[inline]
        pub(crate) fn wait(&mut self) {}
    }
}
