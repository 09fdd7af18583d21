//! The reader-writer locks that take part, and the control that shows what the scheduler alone does.
//!
//! Next: `contended.rs`.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use crate::latency::{Gaps, Keeping, Stopwatch, Timed};

/// The name of the control.
pub const CONTROL: &str = "control";

/// How many words a lock guards.
pub const WORDS: usize = 4;

/// What a lock guards: words that are always equal.
pub type Words = [u64; WORDS];

/// Whether words are not all equal.
#[inline]
#[must_use]
pub fn are_torn(words: Words) -> bool {
    // Word by word: comparing arrays goes through memory, which takes longer than some of the reads.
    words.into_iter().fold(0, |difference, word| difference | (word ^ words[0])) != 0
}

/// A reader-writer lock with its words.
pub trait Lock: Sync + 'static {
    /// The name on the command line and in the output.
    const NAME: &'static str;

    /// What times its acquisitions.
    type Watch: Keeping;

    /// A free lock with all words 0.
    fn new() -> Self;

    /// Takes the lock shared and lets go.
    fn pair_read(&self);

    /// Takes the lock exclusively and lets go.
    fn pair_write(&self);

    /// Copies the words out; `watch` times the acquisition.
    fn read(&self, watch: &mut impl Stopwatch) -> Words;

    /// Adds 1 to each word; `watch` times the acquisition.
    fn raise(&self, watch: &mut impl Stopwatch);
}

macro_rules! lock {
    ($doc:literal, $name:ident = $text:literal, $type:ty, $lock:ident => $read:expr, $write:expr) => {
        #[doc = $doc]
        #[derive(Debug)]
        pub struct $name(CachePadded<$type>);

        impl Lock for $name {
            const NAME: &'static str = $text;

            type Watch = Timed;

            fn new() -> Self {
                Self(CachePadded::new(<$type>::new([0; WORDS])))
            }

            #[inline]
            fn pair_read(&self) {
                let $lock = &*self.0;
                let _guard = $read;
            }

            #[inline]
            fn pair_write(&self) {
                let $lock = &*self.0;
                let _guard = $write;
            }

            #[inline]
            fn read(&self, watch: &mut impl Stopwatch) -> Words {
                let $lock = &*self.0;
                let guard = watch.time(|| $read);
                *guard
            }

            #[inline]
            fn raise(&self, watch: &mut impl Stopwatch) {
                let $lock = &*self.0;
                let mut guard = watch.time(|| $write);
                for word in &mut *guard {
                    *word += 1;
                }
            }
        }
    };
}

lock!("`latchfree-sync`'s.", Latchfree = "latchfree", ::sync::LwLock<Words>, lock => lock.read(), lock.write());
lock!(
    "The standard library's.",
    Std = "std",
    std::sync::RwLock<Words>,
    lock => lock.read().unwrap(),
    lock.write().unwrap()
);
lock!(
    "`parking_lot`'s.",
    ParkingLot = "parking_lot",
    parking_lot::RwLock<Words>,
    lock => lock.read(),
    lock.write()
);
lock!("`spin`'s.", Spin = "spin", spin::RwLock<Words>, lock => lock.read(), lock.write());

/// No lock: all words are one atomic. Its waits are the gaps between two operations, all of them, so the
/// longest is what a thread waits for the scheduler alone.
#[derive(Debug)]
pub struct Control(CachePadded<AtomicU64>);

impl Lock for Control {
    const NAME: &'static str = CONTROL;

    type Watch = Gaps;

    fn new() -> Self {
        Self(CachePadded::new(AtomicU64::new(0)))
    }

    #[inline]
    fn pair_read(&self) {
        black_box(self.0.load(Ordering::Acquire));
    }

    #[inline]
    fn pair_write(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    #[inline]
    fn read(&self, watch: &mut impl Stopwatch) -> Words {
        [watch.time(|| self.0.load(Ordering::Acquire)); WORDS]
    }

    #[inline]
    fn raise(&self, watch: &mut impl Stopwatch) {
        watch.time(|| self.0.fetch_add(1, Ordering::AcqRel));
    }
}
