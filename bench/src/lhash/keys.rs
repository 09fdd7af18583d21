//! The keys and values of an index, and which index is next.
//!
//! Index `i` stands for the key that is `i`, mixed, and for a value that only `i` has by all likelihood; so every
//! value that is read can be checked without a second table. Keys are inserted in another order than their indices',
//! so that those drawn most do not lie together.

use std::borrow::Borrow;
use std::fmt::Debug;
use std::hash::Hash;

use fastrand::Rng;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand_distr::{Distribution, Zipf};

use super::Dist;

/// How unequal the draws of [`Dist::Zipf`] are.
const ZIPF_EXPONENT: f64 = 0.99;

/// How many draws are made beforehand, as they take longer than a lookup. A power of two.
const DRAWS: usize = 1 << 20;

/// What a version is raised by: it is above the part of a value that tells the index.
pub const VERSION: u64 = 1 << 32;

/// Spreads the bits of an index over a word; each index has its own.
#[inline]
#[must_use]
pub fn mix(index: u64) -> u64 {
    let z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z ^ (z >> 32)
}

/// The value that is inserted for an index, of version 0.
#[inline]
#[must_use]
pub fn value_of(index: u64) -> u64 {
    index.wrapping_add(1).wrapping_mul(0xa076_1d64_78bd_642f) >> 32
}

/// In what a value differs from those of an index, whatever its version; 0 if it is one of them.
#[inline]
#[must_use]
pub fn difference(value: u64, index: u64) -> u64 {
    (value ^ value_of(index)) & (VERSION - 1)
}

/// A key.
pub trait Key: Hash + Ord + Clone + Debug + Borrow<Self::Form> + Send + Sync + 'static {
    /// What a lookup has in hand.
    type Form: ?Sized + Hash + Ord + ToOwned<Owned = Self>;

    /// Calls `f` with the key of an index.
    fn with<R>(index: u64, f: impl FnOnce(&Self::Form) -> R) -> R;
}

impl Key for u64 {
    type Form = Self;

    #[inline]
    fn with<R>(index: u64, f: impl FnOnce(&Self) -> R) -> R {
        f(&mix(index))
    }
}

/// Sixteen hexadecimal digits: lookups write them to the stack, inserts to the heap.
impl Key for String {
    type Form = str;

    #[inline]
    fn with<R>(index: u64, f: impl FnOnce(&str) -> R) -> R {
        let mut digits = [0; 16];
        let key = mix(index);
        for (at, digit) in digits.iter_mut().enumerate() {
            *digit = b"0123456789abcdef"[(key >> (4 * at)) as usize & 15];
        }
        f(std::str::from_utf8(&digits).unwrap_or_default())
    }
}

/// The `position`th index to be inserted, of so many.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    entries: u64,
    stride: u64,
}

impl Order {
    /// For at least one entry.
    #[must_use]
    pub fn new(entries: u64) -> Self {
        // About the golden section, and coprime to the number: so the order meets each index once.
        let mut stride = (entries as f64 * 0.618) as u64 | 1;
        while gcd(stride, entries) != 1 {
            stride += 1;
        }
        Self { entries, stride }
    }

    /// The index at a position.
    #[inline]
    #[must_use]
    pub fn at(self, position: u64) -> u64 {
        position * self.stride % self.entries
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What is drawn beforehand for all threads; nothing, if draws are cheap.
#[must_use]
pub fn draws(dist: Dist, entries: u64) -> Vec<u32> {
    let zipf = match dist {
        Dist::Uniform => return Vec::new(),
        Dist::Zipf => Zipf::new(entries as f64, ZIPF_EXPONENT),
    };
    let mut dice = SmallRng::seed_from_u64(entries);
    // The parameters are in bounds: there is at least one entry.
    let Ok(zipf) = zipf else { return Vec::new() };
    (0..DRAWS).map(|_| (zipf.sample(&mut dice) as u64).clamp(1, entries) as u32 - 1).collect()
}

/// Draws indices for one thread.
#[derive(Debug)]
pub struct Picker<'a> {
    /// For all that is decided by chance.
    pub dice: Rng,
    entries: u64,
    draws: &'a [u32],
    at: usize,
}

impl<'a> Picker<'a> {
    /// Another `seed`, another sequence; `draws` are those of [`draws`].
    #[must_use]
    pub fn new(entries: u64, draws: &'a [u32], seed: u64) -> Self {
        let mut dice = Rng::with_seed(seed);
        let at = dice.usize(..DRAWS);
        Self { dice, entries, draws, at }
    }

    /// The next index.
    #[inline]
    pub fn pick(&mut self) -> u64 {
        self.at = self.at.wrapping_add(1) % DRAWS;
        match self.draws.get(self.at) {
            Some(&index) => index.into(),
            None => self.dice.u64(..self.entries),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{DRAWS, Key, Order, Picker, VERSION, difference, draws, value_of};
    use crate::lhash::Dist;

    #[test]
    fn every_index_has_a_key_and_a_value_of_its_own() {
        let strings: HashSet<String> = (0..5000).map(|i| String::with(i, str::to_owned)).collect();
        let words: HashSet<u64> = (0..5000).map(|i| u64::with(i, |key| *key)).collect();
        assert_eq!((strings.len(), words.len()), (5000, 5000));
        assert!(strings.iter().all(|key| key.len() == 16));
        for i in 0..5000 {
            assert_eq!(difference(value_of(i) + 3 * VERSION, i), 0);
            assert!((i + 1..5000).all(|other| difference(value_of(other), i) != 0), "{i}");
        }
    }

    #[test]
    fn an_order_meets_every_index_once() {
        for entries in [1, 2, 3, 10, 618, 1000, 1 << 10] {
            let met: HashSet<u64> = (0..entries).map(|position| Order::new(entries).at(position)).collect();
            assert!(met.len() as u64 == entries && met.iter().all(|&index| index < entries), "{entries}");
        }
    }

    #[test]
    fn zipf_prefers_the_first_and_uniform_nobody() {
        for (dist, share) in [(Dist::Uniform, 0.001), (Dist::Zipf, 0.13)] {
            let draws = draws(dist, 1000);
            let mut picker = Picker::new(1000, &draws, 7);
            let mut counts = [0_u32; 1000];
            (0..DRAWS).for_each(|_| counts[picker.pick() as usize] += 1);
            let found = f64::from(counts[0]) / DRAWS as f64;
            assert!((found / share - 1.0).abs() < 0.2, "{dist:?}: {found}");
            assert!(counts.iter().filter(|&&count| count > 0).count() > 900, "{dist:?}");
        }
    }
}
