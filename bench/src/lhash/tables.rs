//! What a map has to offer to take part, and the list of those that do.
//!
//! Each map hashes with its own default hasher, is created empty, and is used in batches under one pin or guard where
//! it has such a thing. Next: `tables/pinned.rs` and `tables/locked.rs`, the maps.

pub mod locked;
pub mod pinned;

use super::Policy;
use super::keys::Key;
use super::life::{self, Entrant};

/// A concurrent map of values that are words.
pub trait ConcurrentMap<K: Key>: Send + Sync + Sized + 'static {
    /// The name on the command line and in the output.
    const NAME: &'static str;

    /// What a batch of operations is done with.
    type Batch<'a>: Batch<K>;

    /// An empty map; what counts its entries, where that can be chosen.
    fn empty(policy: Policy) -> Self;

    /// Begins a batch.
    fn batch(&self) -> Self::Batch<'_>;

    /// The number of entries, while nobody writes.
    fn count(&self) -> usize;

    /// Gives back all memory that it can, while nobody else has the map.
    fn settle(&mut self);
}

/// A map's operations, each atomic.
pub trait Batch<K: Key> {
    /// The value of a key.
    fn get(&self, key: &K::Form) -> Option<u64>;

    /// Inserts an entry unless there is one of that key; whether there was none.
    fn insert(&self, key: K, value: u64) -> bool;

    /// Raises the version of a key's value; whether there was such a key.
    fn update(&self, key: &K::Form) -> bool;

    /// Removes a key; whether there was such a key.
    fn remove(&self, key: &K::Form) -> bool;
}

/// The names of all maps, in the order of the output.
pub const NAMES: [&str; 7] = ["lhash", "papaya", "scc", "scc-index", "dashmap", "flurry", "rwlock-hashbrown"];

/// The map that the others are compared with.
pub const OURS: &str = NAMES[0];

/// A map under one lock: shown, and not a peer that the aims speak of.
pub const ONE_LOCK: &str = NAMES[6];

/// The maps of that key, some or, if none is named, all.
#[must_use]
pub fn entrants<K: Key>(names: &[&str]) -> Vec<Entrant> {
    let mut all = vec![
        life::entrant::<::lhash::LHashMap<K, u64>, K>(),
        life::entrant::<papaya::HashMap<K, u64>, K>(),
        life::entrant::<scc::HashMap<K, u64>, K>(),
        life::entrant::<pinned::Index<K>, K>(),
        life::entrant::<dashmap::DashMap<K, u64>, K>(),
        life::entrant::<flurry::HashMap<K, u64>, K>(),
        life::entrant::<locked::RwLockHashbrown<K>, K>(),
    ];
    all.retain(|entrant| names.is_empty() || names.contains(&entrant.name));
    all
}

#[cfg(test)]
mod tests {
    use super::{Batch, ConcurrentMap, NAMES, entrants};
    use crate::lhash::Policy;
    use crate::lhash::keys::{Key, VERSION};

    fn is_a_map<M: ConcurrentMap<K>, K: Key>() {
        let mut map = M::empty(Policy::Deferred);
        let batch = map.batch();
        K::with(1, |key| {
            assert!(!batch.update(key) && !batch.remove(key) && batch.get(key).is_none(), "{}", M::NAME);
            assert!(batch.insert(key.to_owned(), 7) && !batch.insert(key.to_owned(), 8), "{}", M::NAME);
            assert_eq!(batch.get(key), Some(7), "{}", M::NAME);
            assert!(batch.update(key), "{}", M::NAME);
            assert_eq!(batch.get(key), Some(7 + VERSION), "{}", M::NAME);
        });
        drop(batch);
        assert_eq!(map.count(), 1, "{}", M::NAME);
        let batch = map.batch();
        K::with(1, |key| assert!(batch.remove(key) && batch.get(key).is_none(), "{}", M::NAME));
        drop(batch);
        map.settle();
        assert_eq!(map.count(), 0, "{}", M::NAME);
    }

    fn all_are_maps<K: Key>() {
        is_a_map::<::lhash::LHashMap<K, u64>, K>();
        is_a_map::<papaya::HashMap<K, u64>, K>();
        is_a_map::<scc::HashMap<K, u64>, K>();
        is_a_map::<super::pinned::Index<K>, K>();
        is_a_map::<dashmap::DashMap<K, u64>, K>();
        is_a_map::<flurry::HashMap<K, u64>, K>();
        is_a_map::<super::locked::RwLockHashbrown<K>, K>();
    }

    #[test]
    fn every_map_does_what_it_is_asked() {
        all_are_maps::<u64>();
        all_are_maps::<String>();
    }

    #[test]
    fn the_names_are_those_of_the_maps() {
        assert!(entrants::<u64>(&[]).iter().map(|entrant| entrant.name).eq(NAMES));
        assert!(entrants::<String>(&["scc"]).iter().map(|entrant| entrant.name).eq(["scc"]));
    }
}
