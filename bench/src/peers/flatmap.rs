//! `flatmap`: the table that this repository is about, in the ways that it can be set up.

use std::fmt;
use std::marker::PhantomData;

use flatmap::{FlatMap, InsertError, MissPolicy};

use crate::table::{BufferTag, Inserted, Lookup, LookupCounts, Table, TagHasher};

/// As many as `dynahash` has.
pub const PARTITIONS: u32 = 128;

/// How a [`Flatmap`] is set up.
pub trait Setup: fmt::Debug + Sync {
    /// The table's name with it.
    const NAME: &'static str;
    /// What is done about a miss.
    const MISS: MissPolicy = MissPolicy::Validated;
    /// Whether the system is asked for huge pages.
    const HUGE_PAGES: bool = false;
}

/// The defaults.
#[derive(Debug)]
pub struct Plain;

impl Setup for Plain {
    const NAME: &'static str = "flatmap";
}

/// Every miss is looked up again under the partition's lock, as the fourth version of the patch to PostgreSQL does
/// that flatmap descends from.
#[derive(Debug)]
pub struct LockedMiss;

impl Setup for LockedMiss {
    const NAME: &'static str = "flatmap-locked-miss";
    const MISS: MissPolicy = MissPolicy::Locked;
}

/// On huge pages, where the system has some.
#[derive(Debug)]
pub struct Huge;

impl Setup for Huge {
    const NAME: &'static str = "flatmap-huge";
    const HUGE_PAGES: bool = true;
}

/// A [`FlatMap`] with [`PARTITIONS`].
#[derive(Debug)]
pub struct Flatmap<S> {
    map: FlatMap<BufferTag, TagHasher>,
    setup: PhantomData<S>,
}

impl<S: Setup> Table for Flatmap<S> {
    const NAME: &'static str = S::NAME;

    fn with_slots(slots: u32) -> Self {
        let builder = FlatMap::builder().slots(slots).partitions(PARTITIONS).miss(S::MISS);
        match builder.huge_pages(S::HUGE_PAGES).hasher(TagHasher::default()).build() {
            Ok(map) => Self { map, setup: PhantomData },
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
