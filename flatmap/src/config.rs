//! The builder.

use crate::bucket::Chains;
use crate::entry::MAX_SLOTS;
use crate::error::ConfigError;
use crate::geometry::Geometry;
use crate::key::Key;
use crate::partition::Partitions;
use crate::table::{DefaultHashBuilder, FlatMap};
use core::marker::PhantomData;

/// What a lookup does when it finds nothing and no change of the chain either.
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
    buckets: Option<u32>,
    partitions: Option<u32>,
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
            buckets: None,
            partitions: None,
            optimistic_tries: DEFAULT_TRIES,
            miss: MissPolicy::default(),
            hasher: DefaultHashBuilder::default(),
            key: PhantomData,
        }
    }
}

impl<K, S> Builder<K, S> {
    /// How many slots the caller's array has: 1 to 1,073,741,822. Default: 1024.
    pub fn slots(self, slots: u32) -> Self {
        Self { slots, ..self }
    }

    /// How many buckets: at least one for each partition, at most 2^31. Default: two for each slot, and
    /// no fewer than there are partitions.
    pub fn buckets(self, buckets: u32) -> Self {
        Self { buckets: Some(buckets), ..self }
    }

    /// How many partitions, each with a lock for inserts and removes: a power of two up to 65,536. Default:
    /// 128, or fewer if there are fewer buckets.
    pub fn partitions(self, partitions: u32) -> Self {
        Self { partitions: Some(partitions), ..self }
    }

    /// How often a lookup tries without a lock before it takes the partition's: at least 1. Default: 4.
    pub fn optimistic_tries(self, tries: u32) -> Self {
        Self { optimistic_tries: tries, ..self }
    }

    /// What a lookup does when it finds nothing. Default: it trusts the validated miss.
    pub fn miss(self, miss: MissPolicy) -> Self {
        Self { miss, ..self }
    }

    /// The hasher. Default: foldhash, seeded for each table. The low 32 bits of a hash choose the bucket, the lowest
    /// of them the partition; keys that agree in them share a chain.
    pub fn hasher<T>(self, hasher: T) -> Builder<K, T> {
        let Self { slots, buckets, partitions, optimistic_tries, miss, key, .. } = self;
        Builder { slots, buckets, partitions, optimistic_tries, miss, hasher, key }
    }
}

impl<K: Key, S> Builder<K, S> {
    /// The table.
    ///
    /// # Errors
    /// If a field is out of bounds, or if there is no memory.
    pub fn build(self) -> Result<FlatMap<K, S>, ConfigError> {
        let Self { slots, optimistic_tries, .. } = self;
        if !(1..=MAX_SLOTS).contains(&slots) {
            return Err(ConfigError::Slots { value: slots, max: MAX_SLOTS });
        }
        let partitions = self.partitions.unwrap_or_else(|| {
            let buckets = self.buckets.unwrap_or(DEFAULT_PARTITIONS).max(1);
            DEFAULT_PARTITIONS.min(1 << buckets.ilog2())
        });
        if !partitions.is_power_of_two() || partitions > MAX_PARTITIONS {
            return Err(ConfigError::Partitions { value: partitions, max: MAX_PARTITIONS });
        }
        let buckets = self.buckets.unwrap_or_else(|| partitions.max(2 * slots));
        if !(partitions..=Geometry::MAX_BUCKETS).contains(&buckets) {
            return Err(ConfigError::Buckets { value: buckets, min: partitions, max: Geometry::MAX_BUCKETS });
        }
        if optimistic_tries == 0 {
            return Err(ConfigError::OptimisticTries);
        }
        let chains = Chains::new(slots, buckets)
            .ok_or_else(|| ConfigError::OutOfMemory { bytes: Chains::<K>::bytes_for(slots, buckets) })?;
        let policy = Policy { optimistic_tries, miss: self.miss };
        Ok(FlatMap::from_parts(
            chains,
            Geometry::new(buckets),
            Partitions::new(partitions),
            policy,
            self.hasher,
        ))
    }
}

/// How lookups proceed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) optimistic_tries: u32,
    pub(crate) miss: MissPolicy,
}
