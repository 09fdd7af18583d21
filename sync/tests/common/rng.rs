//! Random numbers for tests, from a seed that is printed. `TEST_SEED` repeats a run.

use std::time::{SystemTime, UNIX_EPOCH};

/// Xorshift, Marsaglia 2003.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % limit
    }
}

/// The seed of this run.
pub(crate) fn seed() -> u64 {
    let seed = match std::env::var("TEST_SEED") {
        Ok(text) => text.parse().expect("TEST_SEED is a number"),
        Err(_) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
            now.as_secs() ^ u64::from(now.subsec_nanos())
        }
    };
    println!("TEST_SEED={seed}");
    seed
}
