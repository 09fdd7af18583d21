//! Hashers that a log can name: by a seed.

use core::hash::BuildHasher;
use foldhash::fast::{FixedState, FoldHasher};

/// A hasher that is made from a seed. The log keeps the seed, so that a map that is rebuilt finds what the first one
/// put in; so equal seeds must hash alike in every process.
///
/// ```
/// use lhash::redo::{SeededHasher, SeededState};
/// use std::hash::BuildHasher;
///
/// // The log keeps the seed, so that a map is rebuilt with the same buckets.
/// assert_eq!(SeededState::from_seed(7).hash_one(1_u64), SeededState::from_seed(7).hash_one(1_u64));
/// ```
pub trait SeededHasher: BuildHasher {
    /// The hasher of that seed.
    fn from_seed(seed: u64) -> Self;
}

/// The default hasher of logged maps: foldhash with the log's seed.
///
/// ```
/// use lhash::redo::{SeededHasher, SeededState};
/// use std::hash::BuildHasher;
///
/// assert_ne!(SeededState::from_seed(7).hash_one(1_u64), SeededState::from_seed(8).hash_one(1_u64));
/// ```
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
