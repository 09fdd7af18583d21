//! Values that count how often they were dropped.

use super::PATIENCE;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// What became of a test's values. It is never freed, so that a value that is dropped twice can say so.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    made: AtomicU64,
    dropped: AtomicU64,
    twice: AtomicU64,
    /// A value panics in its `Drop` when this comes down to 0.
    fuse: AtomicU64,
}

impl Tally {
    pub(crate) fn new() -> &'static Self {
        Box::leak(Box::default())
    }

    pub(crate) fn live(&self) -> u64 {
        self.made.load(Ordering::SeqCst) - self.dropped.load(Ordering::SeqCst)
    }

    /// The `n`-th drop from now on panics.
    pub(crate) fn panic_at_drop(&self, n: u64) {
        self.fuse.store(n, Ordering::SeqCst);
    }

    /// Lets the collector run until so many values are left, and looks whether any was dropped twice.
    #[track_caller]
    pub(crate) fn settle(&self, left: u64) {
        let start = Instant::now();
        while self.live() != left {
            assert!(start.elapsed() < PATIENCE, "{} values are left, not {left}: {self:?}", self.live());
            crossbeam_epoch::pin().flush();
            thread::yield_now();
        }
        assert_eq!(self.twice.load(Ordering::SeqCst), 0, "values were dropped twice");
    }
}

const ALIVE: u32 = 0x600d_600d;
const DEAD: u32 = 0xdead_dead;

/// A value, or a key, that is counted.
pub(crate) struct Counted {
    pub(crate) number: u64,
    state: AtomicU32,
    tally: &'static Tally,
}

impl Counted {
    pub(crate) fn new(number: u64, tally: &'static Tally) -> Self {
        tally.made.fetch_add(1, Ordering::SeqCst);
        Self { number, state: AtomicU32::new(ALIVE), tally }
    }

    /// The number of a value that is alive.
    #[track_caller]
    pub(crate) fn read(&self) -> u64 {
        assert_eq!(self.state.load(Ordering::SeqCst), ALIVE, "a value is read after its drop");
        self.number
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Self::new(self.read(), self.tally)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.state.swap(DEAD, Ordering::SeqCst) != ALIVE {
            self.tally.twice.fetch_add(1, Ordering::SeqCst);
            return;
        }
        self.tally.dropped.fetch_add(1, Ordering::SeqCst);
        let less = |n: u64| n.checked_sub(1);
        if self.tally.fuse.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less) == Ok(1) {
            panic!("this drop was told to panic");
        }
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.read() == other.read()
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.read().hash(state);
    }
}

impl fmt::Debug for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number)
    }
}
