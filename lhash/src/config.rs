//! The builder. Next: `policy.rs`, what it chooses between.

use crate::entry::Entry;
use crate::error::ConfigError;
use crate::map::LHashMap;
use crate::meta::Meta;
use crate::multimap::LHashMultiMap;
use crate::policy::{CountPolicy, ShrinkPolicy};
use crate::table::Table;
use core::marker::PhantomData;
use std::sync::Arc;

/// The default hasher: foldhash, seeded for each table.
///
/// ```
/// use std::hash::BuildHasher;
///
/// let seeded = lhash::DefaultHashBuilder::default();
/// assert_eq!(seeded.hash_one(7_u64), seeded.hash_one(7_u64)); // other maps have other seeds
/// ```
pub type DefaultHashBuilder = foldhash::fast::RandomState;

/// Says of a [`Builder`] that it makes a map.
///
/// ```
/// use lhash::{Builder, Map};
///
/// let builder: Builder<u64, u64, Map> = lhash::LHashMap::builder();
/// assert!(builder.build().is_ok());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Map;

/// Says of a [`Builder`] that it makes a multimap.
///
/// ```
/// use lhash::{Builder, MultiMap};
///
/// let builder: Builder<u64, u64, MultiMap> = lhash::LHashMultiMap::builder();
/// assert!(builder.build().is_ok());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MultiMap;

/// Makes a map or a multimap; see [`LHashMap::builder`] and [`LHashMultiMap::builder`]. `N` is the number of slots of a
/// page: with 7, a page is a cache line of 64 bytes.
///
/// ```
/// use lhash::{ConfigError, CountPolicy, LHashMap};
///
/// let map: LHashMap<u64, String> = LHashMap::builder().capacity(10_000).count_policy(CountPolicy::Exact).build()?;
/// assert_eq!(map.len(), 0);
/// # Ok::<(), ConfigError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until build() is called"]
pub struct Builder<K, V, M, S = DefaultHashBuilder, const N: usize = 7> {
    hasher: S,
    settings: Settings,
    #[expect(clippy::type_complexity, reason = "owns nothing of these types")]
    kind: PhantomData<fn() -> (K, V, M)>,
}

/// What a table goes by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) fill_factor: u32,
    pub(crate) min_buckets: u32,
    pub(crate) capacity: usize,
    pub(crate) count_policy: CountPolicy,
    pub(crate) shrink: ShrinkPolicy,
}

/// With fewer, a bucket could be the parent of the last and of the next one, and a lookup would not know which of
/// them moves.
const LEAST_BUCKETS: u32 = 4;
const MAX_MIN_BUCKETS: u32 = 1 << 31;
const MAX_FILL_FACTOR: u32 = 1 << 20;
const MAX_CAP: u32 = 1 << 24;
const MAX_PERCENT: u8 = 90;

/// PostgreSQL's figures for 4-byte keys and pages of 8 KiB.
const POSTGRES_PAGE_SLOTS: usize = 407;
const POSTGRES_FILL_FACTOR: u32 = 307;
const POSTGRES_MIN_BUCKETS: u32 = 8;

impl<K, V, M> Builder<K, V, M> {
    pub(crate) fn new() -> Self {
        let settings = Settings {
            fill_factor: Settings::fill_factor_of(7),
            min_buckets: LEAST_BUCKETS,
            capacity: 0,
            count_policy: CountPolicy::default(),
            shrink: ShrinkPolicy::default(),
        };
        Self { hasher: DefaultHashBuilder::default(), settings, kind: PhantomData }
    }
}

impl<K, V, M, S, const N: usize> Builder<K, V, M, S, N> {
    /// How many entries a bucket has on average before one is split: 1 to 1,048,576. Default: 5, of 7 slots in a page.
    ///
    /// ```
    /// let map = lhash::LHashMap::<u64, u64>::builder().fill_factor(20).build()?;
    /// assert_eq!(map.stats().fill_factor, 20);
    /// # Ok::<(), lhash::ConfigError>(())
    /// ```
    pub fn fill_factor(mut self, entries: u32) -> Self {
        self.settings.fill_factor = entries;
        self
    }

    /// There are never fewer buckets: 1 to 2^31; fewer than 4 means 4. Default: 4.
    ///
    /// ```
    /// let map = lhash::LHashMap::<u64, u64>::builder().min_buckets(64).build()?;
    /// assert_eq!(map.stats().max_bucket, 63);
    /// # Ok::<(), lhash::ConfigError>(())
    /// ```
    pub fn min_buckets(mut self, buckets: u32) -> Self {
        self.settings.min_buckets = buckets;
        self
    }

    /// As many entries fit in before the first split, and the room for them stays until `shrink_to_fit`. Default: 0.
    ///
    /// ```
    /// let map = lhash::LHashMap::<u64, u64>::builder().capacity(1000).build()?;
    /// map.pin().extend((0..1000).map(|key| (key, key)));
    /// assert_eq!(map.stats().splits, 0);
    /// # Ok::<(), lhash::ConfigError>(())
    /// ```
    pub fn capacity(mut self, entries: usize) -> Self {
        self.settings.capacity = entries;
        self
    }

    /// How entries are counted. Default: [`CountPolicy::Deferred`] with a cap of 32.
    ///
    /// ```
    /// use lhash::CountPolicy;
    ///
    /// let map = lhash::LHashMap::<u64, u64>::builder().count_policy(CountPolicy::Sharded).build()?;
    /// map.pin().insert(1, 1);
    /// assert_eq!(map.len(), 1);
    /// # Ok::<(), lhash::ConfigError>(())
    /// ```
    pub fn count_policy(mut self, policy: CountPolicy) -> Self {
        self.settings.count_policy = policy;
        self
    }

    /// When buckets are given back. Default: below 40 percent.
    ///
    /// ```
    /// use lhash::ShrinkPolicy;
    ///
    /// let map = lhash::LHashMap::<u64, u64>::builder().shrink(ShrinkPolicy::Never).build()?;
    /// map.pin().extend((0..1000).map(|key| (key, key)));
    /// map.pin().clear();
    /// assert_eq!(map.stats().merges, 0);
    /// # Ok::<(), lhash::ConfigError>(())
    /// ```
    pub fn shrink(mut self, policy: ShrinkPolicy) -> Self {
        self.settings.shrink = policy;
        self
    }

    /// The hasher. Bits 0 to 31 of a hash, xor-ed with bits 32 to 63, choose the bucket, the lowest first.
    ///
    /// ```
    /// let map = lhash::LHashMap::<u64, u64>::builder()
    ///     .hasher(std::hash::RandomState::new())
    ///     .build()?;
    /// assert!(map.is_empty());
    /// # Ok::<(), lhash::ConfigError>(())
    /// ```
    pub fn hasher<H>(self, hasher: H) -> Builder<K, V, M, H, N> {
        Builder { hasher, settings: self.settings, kind: PhantomData }
    }

    /// How many slots a page has, as a constant: with more of them a bucket holds more before it needs an overflow
    /// page, and a lookup that misses looks at more. Sets the fill factor to three quarters of it.
    ///
    /// ```
    /// let map = lhash::LHashMap::<u64, u64>::builder().page_slots::<15>().build()?; // two cache lines a page
    /// assert!(map.is_empty());
    /// # Ok::<(), lhash::ConfigError>(())
    /// ```
    pub fn page_slots<const SLOTS: usize>(self) -> Builder<K, V, M, S, SLOTS> {
        const { assert!(SLOTS > 0 && SLOTS <= 1 << 16, "a page has 1 to 65,536 slots") };
        let settings = Settings { fill_factor: Settings::fill_factor_of(SLOTS), ..self.settings };
        Builder { hasher: self.hasher, settings, kind: PhantomData }
    }

    /// PostgreSQL's hash index on 4-byte keys: pages of 407 slots, fill factor 307, 8 buckets at the start, no
    /// shrinking.
    ///
    /// ```
    /// let index = lhash::LHashMultiMap::<u32, u64>::builder().postgres().build()?;
    /// assert_eq!((index.stats().fill_factor, index.stats().max_bucket), (307, 7));
    /// # Ok::<(), lhash::ConfigError>(())
    /// ```
    pub fn postgres(self) -> Builder<K, V, M, S, POSTGRES_PAGE_SLOTS> {
        let settings = Settings {
            fill_factor: POSTGRES_FILL_FACTOR,
            min_buckets: POSTGRES_MIN_BUCKETS,
            shrink: ShrinkPolicy::Never,
            ..self.settings
        };
        Builder { hasher: self.hasher, settings, kind: PhantomData }
    }

    fn check(&self) -> Result<(), ConfigError> {
        let Settings { fill_factor, min_buckets, count_policy, shrink, .. } = self.settings;
        if !(1..=MAX_FILL_FACTOR).contains(&fill_factor) {
            return Err(ConfigError::FillFactor { value: fill_factor, max: MAX_FILL_FACTOR });
        }
        if !(1..=MAX_MIN_BUCKETS).contains(&min_buckets) {
            return Err(ConfigError::MinBuckets { value: min_buckets, max: MAX_MIN_BUCKETS });
        }
        match shrink {
            ShrinkPolicy::Below { percent } if percent > MAX_PERCENT => {
                return Err(ConfigError::ShrinkPercent { value: percent, max: MAX_PERCENT });
            }
            _ => {}
        }
        match count_policy {
            CountPolicy::Deferred { cap } | CountPolicy::Quiet { cap } if !(1..=MAX_CAP).contains(&cap) => {
                Err(ConfigError::Cap { value: cap, max: MAX_CAP })
            }
            _ => Ok(()),
        }
    }

    /// The settings, if they are within bounds.
    #[cfg(feature = "redo")]
    pub(crate) fn checked(&self) -> Result<Settings, ConfigError> {
        self.check()?;
        Ok(Settings { min_buckets: self.settings.min_buckets.max(LEAST_BUCKETS), ..self.settings })
    }

    fn build_table(&self) -> Result<Arc<Table<Entry<K, V>, N>>, ConfigError> {
        self.check()?;
        let settings =
            Settings { min_buckets: self.settings.min_buckets.max(LEAST_BUCKETS), ..self.settings };
        let buckets = settings.buckets_for(settings.capacity).ok_or(ConfigError::Capacity {
            value: settings.capacity,
            max: (u64::from(settings.fill_factor) * u64::from(u32::MAX)).try_into().unwrap_or(usize::MAX),
        })?;
        let buckets = buckets.max(settings.min_buckets);
        Table::new(buckets, Meta::new(settings, buckets)).map_err(|_| ConfigError::OutOfMemory)
    }
}

impl Settings {
    /// Three quarters of a page, rounded down: the buckets that wait for their split have up to twice as many.
    fn fill_factor_of(page_slots: usize) -> u32 {
        (page_slots as u32 * 3 / 4).max(1)
    }

    /// How many buckets hold so many entries without a split.
    pub(crate) fn buckets_for(&self, entries: usize) -> Option<u32> {
        u32::try_from(entries.div_ceil(self.fill_factor as usize)).ok()
    }
}

impl<K, V, S, const N: usize> Builder<K, V, Map, S, N> {
    /// The map.
    ///
    /// # Errors
    /// If a field is out of bounds, or if there is no memory.
    ///
    /// ```
    /// let map = lhash::LHashMap::<u64, u64>::builder().capacity(100).build()?;
    /// assert_eq!(map.len(), 0);
    /// # Ok::<(), lhash::ConfigError>(())
    /// ```
    pub fn build(self) -> Result<LHashMap<K, V, S, N>, ConfigError> {
        Ok(LHashMap::from_parts(self.build_table()?, self.hasher))
    }
}

impl<K, V, S, const N: usize> Builder<K, V, MultiMap, S, N> {
    /// The multimap.
    ///
    /// # Errors
    /// If a field is out of bounds, or if there is no memory.
    ///
    /// ```
    /// let index = lhash::LHashMultiMap::<u64, u64>::builder().capacity(100).build()?;
    /// assert_eq!(index.len(), 0);
    /// # Ok::<(), lhash::ConfigError>(())
    /// ```
    pub fn build(self) -> Result<LHashMultiMap<K, V, S, N>, ConfigError> {
        Ok(LHashMultiMap::from_parts(self.build_table()?, self.hasher))
    }
}
