//! Maps whose lookups take a lock: of a bucket, of a shard, or of all.

use hashbrown::hash_map::Entry;
use parking_lot::RwLock;

use super::{Batch, ConcurrentMap};
use crate::lhash::Policy;
use crate::lhash::keys::{Key, VERSION};

/// How many guards come and go so that `scc`'s collector frees what is retired.
const GUARDS: usize = 256;

impl<K: Key> ConcurrentMap<K> for scc::HashMap<K, u64> {
    const NAME: &'static str = "scc";

    type Batch<'a> = &'a Self;

    fn empty(_: Policy) -> Self {
        Self::new()
    }

    #[inline]
    fn batch(&self) -> &Self {
        self
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn settle(&mut self) {
        (0..GUARDS).for_each(|_| drop(scc::Guard::new()));
    }
}

impl<K: Key> Batch<K> for &scc::HashMap<K, u64> {
    #[inline]
    fn get(&self, key: &K::Form) -> Option<u64> {
        self.read_sync(key, |_, value| *value)
    }

    #[inline]
    fn insert(&self, key: K, value: u64) -> bool {
        self.insert_sync(key, value).is_ok()
    }

    #[inline]
    fn update(&self, key: &K::Form) -> bool {
        self.update_sync(key, |_, value| *value += VERSION).is_some()
    }

    #[inline]
    fn remove(&self, key: &K::Form) -> bool {
        self.remove_sync(key).is_some()
    }
}

impl<K: Key> ConcurrentMap<K> for dashmap::DashMap<K, u64> {
    const NAME: &'static str = "dashmap";

    type Batch<'a> = &'a Self;

    fn empty(_: Policy) -> Self {
        Self::new()
    }

    #[inline]
    fn batch(&self) -> &Self {
        self
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn settle(&mut self) {
        self.shrink_to_fit();
    }
}

impl<K: Key> Batch<K> for &dashmap::DashMap<K, u64> {
    #[inline]
    fn get(&self, key: &K::Form) -> Option<u64> {
        dashmap::DashMap::get(self, key).map(|value| *value)
    }

    #[inline]
    fn insert(&self, key: K, value: u64) -> bool {
        match self.entry(key) {
            dashmap::Entry::Occupied(_) => false,
            dashmap::Entry::Vacant(entry) => {
                entry.insert(value);
                true
            }
        }
    }

    #[inline]
    fn update(&self, key: &K::Form) -> bool {
        self.get_mut(key).map(|mut value| *value += VERSION).is_some()
    }

    #[inline]
    fn remove(&self, key: &K::Form) -> bool {
        dashmap::DashMap::remove(self, key).is_some()
    }
}

/// A [`hashbrown::HashMap`] under a [`parking_lot::RwLock`]: what people write first.
#[derive(Debug)]
pub struct RwLockHashbrown<K: Key>(RwLock<hashbrown::HashMap<K, u64>>);

impl<K: Key> ConcurrentMap<K> for RwLockHashbrown<K> {
    const NAME: &'static str = "rwlock-hashbrown";

    type Batch<'a> = &'a Self;

    fn empty(_: Policy) -> Self {
        Self(RwLock::new(hashbrown::HashMap::new()))
    }

    #[inline]
    fn batch(&self) -> &Self {
        self
    }

    fn count(&self) -> usize {
        self.0.read().len()
    }

    fn settle(&mut self) {
        self.0.get_mut().shrink_to_fit();
    }
}

/// The lock is taken for each operation: a guard kept for a batch would keep others out.
impl<K: Key> Batch<K> for &RwLockHashbrown<K> {
    #[inline]
    fn get(&self, key: &K::Form) -> Option<u64> {
        self.0.read().get(key).copied()
    }

    #[inline]
    fn insert(&self, key: K, value: u64) -> bool {
        match self.0.write().entry(key) {
            Entry::Occupied(_) => false,
            Entry::Vacant(entry) => {
                entry.insert(value);
                true
            }
        }
    }

    #[inline]
    fn update(&self, key: &K::Form) -> bool {
        self.0.write().get_mut(key).map(|value| *value += VERSION).is_some()
    }

    #[inline]
    fn remove(&self, key: &K::Form) -> bool {
        self.0.write().remove(key).is_some()
    }
}
