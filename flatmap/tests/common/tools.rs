//! What tests of several crates share: seeded numbers, hashers that collide on purpose, a watchdog, a start line.
//! Also part of lhash's tests, by a link to this file; the including module says with `SEED` which environment variable has the seed.

use super::SEED;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use std::{env, hint, process, thread};

/// A small generator of random numbers (splitmix64, G. Steele, D. Lea, C. Flood, 2014).
#[derive(Clone)]
pub(crate) struct Rng(u64);

impl Rng {
    /// Seeded by the environment variable that `SEED` names, or afresh; says which seed it is. The output is
    /// shown if the test fails.
    pub(crate) fn for_test(test: &str) -> Self {
        let seed = match env::var(SEED) {
            Ok(seed) => seed.parse().expect("the seed is a number"),
            Err(_) => RandomState::new().hash_one(test),
        };
        eprintln!("{test}: {SEED}={seed}");
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        (self.next() % u64::from(bound)) as u32
    }

    /// An independent generator, for a thread.
    pub(crate) fn split(&mut self) -> Self {
        Self(self.next())
    }
}

/// Hashes a key to its own words, of which only the bits of the mask count: `!0` is the identity on integers,
/// 0 puts all keys into one bucket, 1 into two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Masked(pub(crate) u64);

pub(crate) const IDENTITY: Masked = Masked(!0);
pub(crate) const CONSTANT: Masked = Masked(0);

impl BuildHasher for Masked {
    type Hasher = MaskedHasher;

    fn build_hasher(&self) -> MaskedHasher {
        MaskedHasher { mask: self.0, words: 0 }
    }
}

pub(crate) struct MaskedHasher {
    mask: u64,
    words: u64,
}

impl Hasher for MaskedHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.words = self.words.rotate_left(7) ^ word;
    }

    fn finish(&self) -> u64 {
        self.words & self.mask
    }
}

/// How long a test waits for what it is to meet before it fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `test`, which takes seconds, and ends the process if it hangs.
pub(crate) fn watched<R>(name: &'static str, test: impl FnOnce() -> R) -> R {
    watched_for(Duration::ZERO, name, test)
}

/// As `watched`, for a test that is to take so long.
pub(crate) fn watched_for<R>(expected: Duration, name: &'static str, test: impl FnOnce() -> R) -> R {
    let limit = expected + 5 * PATIENCE;
    let (running, ended) = channel::<()>();
    let watchdog = thread::spawn(move || {
        if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            eprintln!("{name}: hangs");
            process::abort();
        }
    });
    let result = test();
    drop(running);
    watchdog.join().expect("the watchdog does not panic");
    result
}

/// Where threads wait for one another, spinning, so that they leave together.
pub(crate) struct StartLine {
    threads: usize,
    arrived: AtomicUsize,
    /// A thread panicked, and will not come any more.
    broken: AtomicBool,
}

impl StartLine {
    pub(crate) fn new(threads: usize) -> Self {
        Self { threads, arrived: AtomicUsize::new(0), broken: AtomicBool::new(false) }
    }

    /// Waits until all threads have come for the same time.
    pub(crate) fn wait(&self) {
        let ticket = self.arrived.fetch_add(1, Ordering::AcqRel);
        let complete = (ticket / self.threads + 1) * self.threads;
        let mut rounds = 0_u32;
        while self.arrived.load(Ordering::Acquire) < complete {
            assert!(!self.broken.load(Ordering::Relaxed), "another thread panicked");
            rounds += 1;
            if rounds % 64 == 0 { thread::yield_now() } else { hint::spin_loop() }
        }
    }

    /// For a thread that comes more than once: lets the others go if it panics.
    pub(crate) fn break_on_panic(&self) -> impl Drop + '_ {
        struct Breaks<'a>(&'a StartLine);
        impl Drop for Breaks<'_> {
            fn drop(&mut self) {
                self.0.broken.fetch_or(thread::panicking(), Ordering::Relaxed);
            }
        }
        Breaks(self)
    }
}

/// Sets its flag when dropped, also by a panic, so that other threads do not go on for ever.
pub(crate) struct StopAll<'a>(pub(crate) &'a AtomicBool);

impl Drop for StopAll<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
