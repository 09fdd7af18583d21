//! Hashers that a log can name: by a seed.

use core::hash::BuildHasher;
use foldhash::fast::{FixedState, FoldHasher};

/// A hasher that is made from a seed. The log keeps the seed, so that a map that is rebuilt finds what the first one
/// put in; so equal seeds must hash alike in every process.
pub trait SeededHasher: BuildHasher {
    /// The hasher of that seed.
    fn from_seed(seed: u64) -> Self;
}

/// The default hasher of logged maps: foldhash with the log's seed.
#[derive(Clone, Debug)]
pub struct SeededState(FixedState);

impl BuildHasher for SeededState {
    type Hasher = FoldHasher<'static>;

    #[inline]
    fn build_hasher(&self) -> Self::Hasher {
        self.0.build_hasher()
    }
}

impl SeededHasher for SeededState {
    fn from_seed(seed: u64) -> Self {
        Self(FixedState::with_seed(seed))
    }
}
