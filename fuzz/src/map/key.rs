//! Keys that are few, and hashes that are bad: the ways in which chains get long and partitions uneven.

use std::fmt::Debug;
use std::hash::{BuildHasher, Hash, Hasher};

use flatmap::{BufferTag, Key};

/// How many different keys there are: more than slots.
const KEYS: u8 = 24;

/// A key made from a byte.
pub(super) trait FuzzKey: Key + Eq + Hash + Debug {
    fn nth(n: u8) -> Self;
}

impl FuzzKey for u64 {
    /// Three low bits, and some that only a hash of all bits tells apart.
    fn nth(n: u8) -> Self {
        let n = Self::from(n % KEYS);
        n & 7 | (n >> 3) << 40
    }
}

impl FuzzKey for BufferTag {
    fn nth(n: u8) -> Self {
        let n = u32::from(n % KEYS);
        Self { spc_oid: 1663, db_oid: 5, rel_number: n >> 3, fork_number: n & 1, block_number: n & 6 }
    }
}

/// How keys are hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hashing {
    /// All keys to one value: one chain, one partition.
    Constant,
    /// The words of the key, one over the other.
    Identity,
    /// As the identity, but in the upper half only: one partition, whatever the number.
    Upper,
    /// Well spread.
    Mixed,
}

impl Hashing {
    /// From the two lowest bits of a byte.
    pub(crate) fn decode(byte: u8) -> Self {
        match byte & 3 {
            0 => Self::Constant,
            1 => Self::Identity,
            2 => Self::Upper,
            _ => Self::Mixed,
        }
    }
}

impl BuildHasher for Hashing {
    type Hasher = FuzzHasher;

    fn build_hasher(&self) -> FuzzHasher {
        FuzzHasher { hashing: *self, state: 0 }
    }
}

/// The hasher of [`Hashing`].
#[derive(Debug)]
pub(crate) struct FuzzHasher {
    hashing: Hashing,
    state: u64,
}

impl Hasher for FuzzHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.state = self.state.rotate_left(3) ^ u64::from_le_bytes(word);
        }
    }

    fn finish(&self) -> u64 {
        /// The golden ratio's digits: odd, and without a pattern.
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        match self.hashing {
            Hashing::Constant => 5,
            Hashing::Identity => self.state,
            Hashing::Upper => self.state << 32,
            Hashing::Mixed => (self.state.wrapping_mul(SPREAD)).rotate_left(29),
        }
    }
}
