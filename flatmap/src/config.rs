//! The builder.

use crate::bucket::{Chains, Extent};
use crate::entry::MAX_SLOTS;
use crate::error::ConfigError;
use crate::geometry::Geometry;
use crate::key::Key;
use crate::partition::Partitions;
use crate::resize::{Resizing, buckets_for};
use crate::table::{DefaultHashBuilder, FlatMap};
use core::marker::PhantomData;

/// What a lookup does when it finds nothing and no change of the chain either.
///
/// ```
/// use flatmap::{FlatMap, MissPolicy};
///
/// let table: FlatMap<u64> = FlatMap::builder().slots(8).miss(MissPolicy::Locked).build()?;
/// assert_eq!(table.get(&7), None); // asked again under the lock
/// # Ok::<(), flatmap::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissPolicy {
    /// Trusts the validated miss.
    #[default]
    Validated,
    /// Looks again under the shared lock of the partition, as the fourth version of PostgreSQL's patch does.
    /// It finds the same; it is here for comparison.
    Locked,
}

/// Makes a [`FlatMap`]; see [`FlatMap::builder`].
///
/// ```
/// use flatmap::{BufferTag, ConfigError, FlatMap};
///
/// let pages: FlatMap<BufferTag> = FlatMap::builder().slots(16_384).partitions(64).build()?;
/// assert_eq!(pages.buckets(), 32_768);
/// # Ok::<(), ConfigError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until build() is called"]
pub struct Builder<K, S = DefaultHashBuilder> {
    slots: u32,
    max_slots: Option<u32>,
    buckets: Option<u32>,
    max_buckets: Option<u32>,
    buckets_follow: Option<bool>,
    partitions: Option<u32>,
    huge_pages: bool,
    optimistic_tries: u32,
    miss: MissPolicy,
    hasher: S,
    key: PhantomData<fn(K) -> K>,
}

/// PostgreSQL's number of buffer mapping partitions.
const DEFAULT_PARTITIONS: u32 = 128;
const MAX_PARTITIONS: u32 = 1 << 16;
const DEFAULT_TRIES: u32 = 4;

impl<K> Builder<K> {
    pub(crate) fn new() -> Self {
        Self {
            slots: 1024,
            max_slots: None,
            buckets: None,
            max_buckets: None,
            buckets_follow: None,
            partitions: None,
            huge_pages: false,
            optimistic_tries: DEFAULT_TRIES,
            miss: MissPolicy::default(),
            hasher: DefaultHashBuilder::default(),
            key: PhantomData,
        }
    }
}

impl<K, S> Builder<K, S> {
    /// How many slots the caller's array has: 1 to 1,073,741,822. Default: 1024.
    ///
    /// ```
    /// let table = flatmap::FlatMap::<u64>::builder().slots(8).build()?;
    /// assert_eq!(table.slots(), 8);
    /// # Ok::<(), flatmap::ConfigError>(())
    /// ```
    pub fn slots(self, slots: u32) -> Self {
        Self { slots, ..self }
    }

    /// How many slots the caller's array may ever have, up to 1,073,741,822: see [`FlatMap::set_slots`]. Default: as many as
    /// at first. On 64-bit Unix systems only address space is reserved for the others, 40 bytes a slot with 20-byte keys,
    /// and costs nothing until it is used; elsewhere memory is allocated when there are more.
    ///
    /// ```
    /// let table = flatmap::FlatMap::<u64>::builder().slots(8).max_slots(1000).build()?;
    /// assert_eq!((table.slots(), table.max_slots()), (8, 1000));
    /// # Ok::<(), flatmap::ConfigError>(())
    /// ```
    pub fn max_slots(self, max_slots: u32) -> Self {
        Self { max_slots: Some(max_slots), ..self }
    }

    /// How many buckets: at least one for each partition, at most 2^31. Default: two for each slot, and
    /// no fewer than there are partitions.
    ///
    /// ```
    /// let table = flatmap::FlatMap::<u64>::builder().slots(8).partitions(4).buckets(9).build()?;
    /// assert_eq!(table.buckets(), 9); // any number will do
    /// # Ok::<(), flatmap::ConfigError>(())
    /// ```
    pub fn buckets(self, buckets: u32) -> Self {
        Self { buckets: Some(buckets), ..self }
    }

    /// How many buckets there may ever be, up to 2^31: see [`FlatMap::set_buckets`]. Default: two for each of the most slots, or
    /// as many as at first if that is more.
    ///
    /// ```
    /// let table = flatmap::FlatMap::<u64>::builder().slots(8).partitions(4).buckets(8).max_buckets(100).build()?;
    /// assert_eq!(table.max_buckets(), 100);
    /// # Ok::<(), flatmap::ConfigError>(())
    /// ```
    pub fn max_buckets(self, max_buckets: u32) -> Self {
        Self { max_buckets: Some(max_buckets), ..self }
    }

    /// Whether the number of buckets follows the number of slots, two for each: [`FlatMap::set_slots`] then makes splits or
    /// merges due, and each insert and remove does one of them if that needs no wait. Default: unless [`buckets`](Self::buckets) is given.
    ///
    /// ```
    /// let table = flatmap::FlatMap::<u64>::builder().slots(8).max_slots(100).buckets_follow(false).build()?;
    /// let before = table.buckets();
    /// table.set_slots(100).expect("up to the most");
    /// assert_eq!(table.maintain(1000), Ok(0)); // nothing is due
    /// assert_eq!(table.buckets(), before);
    /// # Ok::<(), flatmap::ConfigError>(())
    /// ```
    pub fn buckets_follow(self, follow: bool) -> Self {
        Self { buckets_follow: Some(follow), ..self }
    }

    /// Whether the system is asked for huge pages (Linux: `madvise`). [`Stats::huge_page_bytes`](crate::Stats) says what it
    /// gave. Default: no.
    ///
    /// ```
    /// let table = flatmap::FlatMap::<u64>::builder().slots(1 << 20).huge_pages(true).build()?;
    /// let got = table.stats().huge_page_bytes; // what the system gave, where it says so
    /// assert!(got.is_none_or(|bytes| bytes <= table.memory_bytes() as u64 + (4 << 20)));
    /// # Ok::<(), flatmap::ConfigError>(())
    /// ```
    pub fn huge_pages(self, ask: bool) -> Self {
        Self { huge_pages: ask, ..self }
    }

    /// How many partitions, each with a lock for inserts and removes: a power of two up to 65,536. Default:
    /// 128, or fewer if there are, or may be, fewer buckets.
    ///
    /// ```
    /// let table = flatmap::FlatMap::<u64>::builder().slots(8).partitions(4).build()?;
    /// assert_eq!(table.partitions(), 4);
    /// # Ok::<(), flatmap::ConfigError>(())
    /// ```
    pub fn partitions(self, partitions: u32) -> Self {
        Self { partitions: Some(partitions), ..self }
    }

    /// How often a lookup tries without a lock before it takes the partition's: at least 1. Default: 4.
    ///
    /// ```
    /// let table = flatmap::FlatMap::<u64>::builder().slots(8).optimistic_tries(1).build()?; // one try, then the lock
    /// assert_eq!(table.get(&7), None);
    /// # Ok::<(), flatmap::ConfigError>(())
    /// ```
    pub fn optimistic_tries(self, tries: u32) -> Self {
        Self { optimistic_tries: tries, ..self }
    }

    /// What a lookup does when it finds nothing. Default: it trusts the validated miss.
    ///
    /// ```
    /// use flatmap::MissPolicy;
    ///
    /// let table = flatmap::FlatMap::<u64>::builder().slots(8).miss(MissPolicy::Validated).build()?;
    /// assert_eq!(table.get(&7), None);
    /// # Ok::<(), flatmap::ConfigError>(())
    /// ```
    pub fn miss(self, miss: MissPolicy) -> Self {
        Self { miss, ..self }
    }

    /// The hasher. Default: foldhash, seeded for each table. The low 32 bits of a hash choose the bucket, the lowest
    /// of them the partition; keys that agree in them share a chain.
    ///
    /// ```
    /// let table = flatmap::FlatMap::<u64>::builder().slots(8)
    ///     .hasher(std::hash::RandomState::new())
    ///     .build()?;
    /// assert!(table.is_empty());
    /// # Ok::<(), flatmap::ConfigError>(())
    /// ```
    pub fn hasher<T>(self, hasher: T) -> Builder<K, T> {
        let Self { slots, max_slots, buckets, max_buckets, buckets_follow, partitions, .. } = self;
        let Self { huge_pages, optimistic_tries, miss, key, .. } = self;
        Builder {
            slots,
            max_slots,
            buckets,
            max_buckets,
            buckets_follow,
            partitions,
            huge_pages,
            optimistic_tries,
            miss,
            hasher,
            key,
        }
    }
}

impl<K: Key, S> Builder<K, S> {
    /// The table.
    ///
    /// # Errors
    /// If a field is out of bounds, or if there is no memory.
    ///
    /// ```
    /// let error = flatmap::FlatMap::<u64>::builder().slots(0).build().unwrap_err();
    /// assert_eq!(error.to_string(), "slots is 0; a table has 1 to 1073741822 slots");
    /// ```
    pub fn build(self) -> Result<FlatMap<K, S>, ConfigError> {
        let Self { slots, optimistic_tries, .. } = self;
        if !(1..=MAX_SLOTS).contains(&slots) {
            return Err(ConfigError::Slots { value: slots, max: MAX_SLOTS });
        }
        let max_slots = self.max_slots.unwrap_or(slots);
        if !(slots..=MAX_SLOTS).contains(&max_slots) {
            return Err(ConfigError::MaxSlots { value: max_slots, min: slots, max: MAX_SLOTS });
        }
        let partitions = self.partitions.unwrap_or_else(|| {
            let buckets =
                [self.buckets, self.max_buckets].into_iter().flatten().fold(DEFAULT_PARTITIONS, u32::min);
            1 << buckets.max(1).ilog2()
        });
        if !partitions.is_power_of_two() || partitions > MAX_PARTITIONS {
            return Err(ConfigError::Partitions { value: partitions, max: MAX_PARTITIONS });
        }
        let slots = Extent { now: slots, most: max_slots };
        let buckets = self.bucket_extent(slots, partitions)?;
        if optimistic_tries == 0 {
            return Err(ConfigError::OptimisticTries);
        }
        let chains = Chains::new(slots, buckets, self.huge_pages).ok_or_else(|| {
            ConfigError::OutOfMemory { bytes: Chains::<K>::bytes_for(slots.most, buckets.most) }
        })?;
        let follow = self.buckets_follow.unwrap_or(self.buckets.is_none());
        Ok(FlatMap::from_parts(
            chains,
            Partitions::new(partitions),
            Resizing::new(buckets.now, buckets.most, follow),
            Policy { optimistic_tries, miss: self.miss },
            self.hasher,
        ))
    }

    fn bucket_extent(&self, slots: Extent, partitions: u32) -> Result<Extent, ConfigError> {
        let limit = Geometry::MAX_BUCKETS;
        let now = self.buckets.unwrap_or_else(|| {
            buckets_for(slots.now, partitions, self.max_buckets.unwrap_or(limit).max(partitions))
        });
        if !(partitions..=limit).contains(&now) {
            return Err(ConfigError::Buckets { value: now, min: partitions, max: limit });
        }
        let most = self.max_buckets.unwrap_or_else(|| now.max(buckets_for(slots.most, partitions, limit)));
        if !(now..=limit).contains(&most) {
            return Err(ConfigError::MaxBuckets { value: most, min: now, max: limit });
        }
        Ok(Extent { now, most })
    }
}

/// How lookups proceed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) optimistic_tries: u32,
    pub(crate) miss: MissPolicy,
}
