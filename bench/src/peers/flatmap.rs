//! `flatmap`: the table that this repository is about, under both of its policies for misses.

use flatmap::{FlatMap, InsertError, MissPolicy};

use crate::table::{BufferTag, Inserted, Lookup, LookupCounts, Table, TagHasher};

/// As many as `dynahash` has.
pub const PARTITIONS: u32 = 128;

/// A [`FlatMap`] with [`PARTITIONS`].
///
/// With `LOCKED_MISS`, every miss is looked up again under the partition's lock, as the fourth version of
/// the patch to PostgreSQL does that flatmap descends from.
#[derive(Debug)]
pub struct Flatmap<const LOCKED_MISS: bool> {
    map: FlatMap<BufferTag, TagHasher>,
}

impl<const LOCKED_MISS: bool> Table for Flatmap<LOCKED_MISS> {
    const NAME: &'static str = if LOCKED_MISS { "flatmap-locked-miss" } else { "flatmap" };

    fn with_slots(slots: u32) -> Self {
        let miss = if LOCKED_MISS { MissPolicy::Locked } else { MissPolicy::Validated };
        let builder = FlatMap::builder().slots(slots).partitions(PARTITIONS).miss(miss);
        match builder.hasher(TagHasher::default()).build() {
            Ok(map) => Self { map },
            Err(error) => panic!("a table of {slots} slots: {error}"),
        }
    }

    fn get(&self, tag: &BufferTag) -> Option<u32> {
        self.map.get(tag)
    }

    fn insert(&self, tag: &BufferTag, slot: u32) -> Inserted {
        match self.map.insert(*tag, slot) {
            Ok(()) => Inserted::New,
            Err(InsertError::KeyExists { slot }) => Inserted::Present(slot),
            Err(_) => Inserted::Refused,
        }
    }

    fn remove(&self, tag: &BufferTag) -> Option<u32> {
        self.map.remove(tag)
    }

    fn get_many(&self, tags: &[BufferTag], found: &mut [Option<u32>]) {
        self.map.get_many(tags, found);
    }

    fn set_buckets(&self, buckets: u32) -> bool {
        self.map.set_buckets(buckets).is_ok()
    }

    /// Lookup, pin, and the look again are flatmap's own.
    fn lookup_and_pin<P>(&self, tag: &BufferTag, mut pin: impl FnMut(u32) -> Option<P>) -> Lookup<P> {
        let mut refused = false;
        let found = self.map.pin_with(tag, |slot| {
            let pinned = pin(slot);
            refused = pinned.is_none();
            pinned
        });
        match found {
            Some((slot, pinned)) => Lookup::Pinned(slot, pinned),
            None if refused => Lookup::Refused,
            None => Lookup::Missing,
        }
    }

    fn mappings(&self) -> Vec<(u32, BufferTag)> {
        self.map.iter().collect()
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.map.memory_bytes())
    }

    fn lookup_counts(&self) -> Option<LookupCounts> {
        let stats = self.map.stats();
        Some(LookupCounts { retried: stats.retried, fallback: stats.fallbacks })
    }
}
