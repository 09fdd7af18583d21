//! Maps whose entries stay in memory while a pin or a guard lives: ours, `papaya`'s, `flurry`'s and `scc`'s index.

use std::hash::RandomState;

use ::lhash::{CountPolicy, DefaultHashBuilder, LHashMap, Pinned};
use scc::{Guard, HashIndex};

use super::{Batch, ConcurrentMap};
use crate::lhash::Policy;
use crate::lhash::keys::{Key, VERSION};

/// How many pins come and go so that a collector sees that nobody is there any more.
const PINS: usize = 256;

/// Ours, pinned.
type OurPin<'a, K> = Pinned<'a, K, u64, DefaultHashBuilder>;

/// `papaya`'s, pinned.
type PapayaPin<'a, K> = papaya::HashMapRef<'a, K, u64, RandomState, papaya::LocalGuard<'a>>;

impl<K: Key> ConcurrentMap<K> for LHashMap<K, u64> {
    const NAME: &'static str = "lhash";

    type Batch<'a> = OurPin<'a, K>;

    /// # Panics
    ///
    /// If there is no memory for an empty map.
    fn empty(policy: Policy) -> Self {
        let policy = match policy {
            Policy::Deferred => CountPolicy::default(),
            Policy::Exact => CountPolicy::Exact,
            Policy::Quiet => CountPolicy::Quiet { cap: 32 },
            Policy::Sharded => CountPolicy::Sharded,
            Policy::OverflowSignal => CountPolicy::OverflowSignal,
        };
        let map = Self::builder().count_policy(policy).build();
        map.unwrap_or_else(|error| panic!("{error}"))
    }

    #[inline]
    fn batch(&self) -> OurPin<'_, K> {
        self.pin()
    }

    /// Met one by one: one of the policies loses counts.
    fn count(&self) -> usize {
        self.pin().iter().count()
    }

    fn settle(&mut self) {
        self.pin().shrink_to_fit();
        (0..PINS).for_each(|_| drop(self.pin()));
    }
}

impl<K: Key> Batch<K> for OurPin<'_, K> {
    #[inline]
    fn get(&self, key: &K::Form) -> Option<u64> {
        self.get(key).copied()
    }

    #[inline]
    fn insert(&self, key: K, value: u64) -> bool {
        self.try_insert(key, value).is_ok()
    }

    #[inline]
    fn update(&self, key: &K::Form) -> bool {
        self.update(key.to_owned(), |value| value + VERSION).is_some()
    }

    #[inline]
    fn remove(&self, key: &K::Form) -> bool {
        self.remove(key).is_some()
    }
}

impl<K: Key> ConcurrentMap<K> for papaya::HashMap<K, u64> {
    const NAME: &'static str = "papaya";

    type Batch<'a> = PapayaPin<'a, K>;

    fn empty(_: Policy) -> Self {
        Self::new()
    }

    #[inline]
    fn batch(&self) -> Self::Batch<'_> {
        self.pin()
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn settle(&mut self) {
        use papaya::Guard as _;
        (0..PINS).for_each(|_| self.guard().flush());
    }
}

impl<K: Key> Batch<K> for PapayaPin<'_, K> {
    #[inline]
    fn get(&self, key: &K::Form) -> Option<u64> {
        self.get(key).copied()
    }

    #[inline]
    fn insert(&self, key: K, value: u64) -> bool {
        self.try_insert(key, value).is_ok()
    }

    #[inline]
    fn update(&self, key: &K::Form) -> bool {
        self.update(key.to_owned(), |value| value + VERSION).is_some()
    }

    #[inline]
    fn remove(&self, key: &K::Form) -> bool {
        self.remove(key).is_some()
    }
}

impl<K: Key> ConcurrentMap<K> for flurry::HashMap<K, u64> {
    const NAME: &'static str = "flurry";

    type Batch<'a> = flurry::HashMapRef<'a, K, u64>;

    fn empty(_: Policy) -> Self {
        Self::new()
    }

    #[inline]
    fn batch(&self) -> Self::Batch<'_> {
        self.pin()
    }

    fn count(&self) -> usize {
        self.pin().len()
    }

    fn settle(&mut self) {
        (0..PINS).for_each(|_| self.guard().flush());
    }
}

impl<K: Key> Batch<K> for flurry::HashMapRef<'_, K, u64> {
    #[inline]
    fn get(&self, key: &K::Form) -> Option<u64> {
        self.get(key).copied()
    }

    #[inline]
    fn insert(&self, key: K, value: u64) -> bool {
        self.try_insert(key, value).is_ok()
    }

    #[inline]
    fn update(&self, key: &K::Form) -> bool {
        self.compute_if_present(key, |_, value| Some(value + VERSION)).is_some()
    }

    #[inline]
    fn remove(&self, key: &K::Form) -> bool {
        self.remove(key).is_some()
    }
}

/// A [`HashIndex`]: its lookups take no lock, under a guard.
#[derive(Debug)]
pub struct Index<K: Key>(HashIndex<K, u64>);

/// An index with a guard.
#[derive(Debug)]
pub struct GuardedIndex<'a, K: Key> {
    index: &'a HashIndex<K, u64>,
    guard: Guard,
}

impl<K: Key> ConcurrentMap<K> for Index<K> {
    const NAME: &'static str = "scc-index";

    type Batch<'a> = GuardedIndex<'a, K>;

    fn empty(_: Policy) -> Self {
        Self(HashIndex::new())
    }

    #[inline]
    fn batch(&self) -> GuardedIndex<'_, K> {
        GuardedIndex { index: &self.0, guard: Guard::new() }
    }

    /// Met one by one: `len` may count some that are gone.
    fn count(&self) -> usize {
        let mut count = 0;
        self.0.iter_sync(|_, _| {
            count += 1;
            true
        });
        count
    }

    fn settle(&mut self) {
        (0..PINS).for_each(|_| drop(Guard::new()));
    }
}

impl<K: Key> Batch<K> for GuardedIndex<'_, K> {
    #[inline]
    fn get(&self, key: &K::Form) -> Option<u64> {
        self.index.peek(key, &self.guard).copied()
    }

    #[inline]
    fn insert(&self, key: K, value: u64) -> bool {
        self.index.insert_sync(key, value).is_ok()
    }

    #[inline]
    fn update(&self, key: &K::Form) -> bool {
        let Some(mut entry) = self.index.get_sync(key) else { return false };
        let value = entry.get() + VERSION;
        entry.update(value);
        true
    }

    #[inline]
    fn remove(&self, key: &K::Form) -> bool {
        self.index.remove_sync(key)
    }
}
