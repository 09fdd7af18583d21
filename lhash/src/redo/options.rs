//! How a logged map is made, and what the header of its log says of it. Next: `logged.rs`.

use super::Durability;
use super::codec::Codec;
use super::error::RedoError;
use super::hasher::SeededHasher;
use super::header::Header;
use super::log::Log;
use super::logged::Logged;
use super::logger::Logger;
use crate::config::{Map, MultiMap, Settings};
use crate::meta::Meta;
use crate::retire::Owner;
use crate::table::Table;
use crate::{Builder, ConfigError, CountPolicy, ShrinkPolicy};
use core::hash::{BuildHasher, Hash};
use core::marker::PhantomData;
use std::path::Path;

/// Says whether a key has one value: [`Map`], or any number: [`MultiMap`].
///
/// ```
/// use lhash::redo::Kind;
///
/// assert!(lhash::Map::UNIQUE && !lhash::MultiMap::UNIQUE);
/// ```
pub trait Kind: sealed::Sealed {
    #[doc(hidden)]
    const UNIQUE: bool;
}

impl Kind for Map {
    const UNIQUE: bool = true;
}

impl Kind for MultiMap {
    const UNIQUE: bool = false;
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Map {}
    impl Sealed for super::MultiMap {}
}

/// How a logged map is made.
///
/// ```no_run
/// use lhash::CountPolicy;
/// use lhash::redo::{Durability, LoggedMultiMap, Options};
///
/// let options = Options::new().durability(Durability::Sync).count_policy(CountPolicy::Exact);
/// let index: LoggedMultiMap<String, u64> = options.create("/var/lib/app/index")?;
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "options do nothing until create() is called"]
pub struct Options {
    settings: Builder<(), (), Map>,
    seed: Option<u64>,
    durability: Durability,
    verify: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// Those of [`LHashMap::builder`](crate::LHashMap::builder), `Buffered`, no digests and a random seed.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// assert!(map.is_empty());
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn new() -> Self {
        Self { settings: Builder::new(), seed: None, durability: Durability::Buffered, verify: false }
    }

    /// How many entries a bucket has on average before one is split; see [`Builder::fill_factor`].
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().fill_factor(6).create(&path)?;
    /// assert_eq!(map.stats().fill_factor, 6);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn fill_factor(mut self, entries: u32) -> Self {
        self.settings = self.settings.fill_factor(entries);
        self
    }

    /// There are never fewer buckets; see [`Builder::min_buckets`].
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().min_buckets(64).create(&path)?;
    /// assert_eq!(map.stats().max_bucket, 63);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn min_buckets(mut self, buckets: u32) -> Self {
        self.settings = self.settings.min_buckets(buckets);
        self
    }

    /// How entries are counted; see [`Builder::count_policy`].
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().count_policy(lhash::CountPolicy::Exact).create(&path)?;
    /// map.pin().insert(1, 2)?;
    /// assert_eq!(map.len(), 1);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn count_policy(mut self, policy: CountPolicy) -> Self {
        self.settings = self.settings.count_policy(policy);
        self
    }

    /// When buckets are given back; see [`Builder::shrink`].
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().shrink(lhash::ShrinkPolicy::Never).create(&path)?;
    /// assert!(map.is_empty());
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn shrink(mut self, policy: ShrinkPolicy) -> Self {
        self.settings = self.settings.shrink(policy);
        self
    }

    /// When a change's call returns. Default: [`Durability::Buffered`].
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().durability(lhash::redo::Durability::Sync).create(&path)?;
    /// map.pin().insert(1, 2)?; // on the disk when it returns
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Whether the log carries digests, 8 bytes a record and more, so that a standby finds the record at which it came to
    /// differ. Each change looks at all entries of its bucket then. Default: no.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().verify(true).create(&path)?;
    /// map.pin().insert(1, 2)?; // its record has a digest of the bucket
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn verify(mut self, digests: bool) -> Self {
        self.verify = digests;
        self
    }

    /// The hasher's seed. Default: a random one. The log keeps it; who can read the log can find keys that collide.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().seed(7).create(&path)?;
    /// assert!(map.is_empty()); // the same buckets each time: for tests
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }
}

impl Options {
    /// Makes an empty map whose log is at `path`, where there must be none yet.
    ///
    /// # Errors
    /// If a setting is out of bounds, if there is a log already, or if it can't be made.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// map.pin().insert(1, 2)?;
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn create<K, V, M, S>(self, path: impl AsRef<Path>) -> Result<Logged<K, V, M, S>, RedoError>
    where
        K: Codec + Hash + Eq + Send + 'static,
        V: Codec + Send + 'static,
        M: Kind,
        S: SeededHasher,
    {
        let settings = self.settings.checked().map_err(RedoError::Config)?;
        let seed = self.seed.unwrap_or_else(|| crate::DefaultHashBuilder::default().hash_one(path.as_ref()));
        let header = header_of(&settings, M::UNIQUE, self.verify, seed);
        let log = Log::create(path.as_ref(), header, has_room(&header))?;
        let logger = Logger::new(log, 0, self.verify, self.durability);
        logged(&header, None, logger)
    }
}

const EXACT: u32 = 0;
const MULTI: u32 = 1;
const DIGESTS: u32 = 2;

fn header_of(settings: &Settings, unique: bool, verify: bool, seed: u64) -> Header {
    let (policy, cap) = match settings.count_policy {
        CountPolicy::Exact => (EXACT, 0),
        CountPolicy::Deferred { cap } => (1, cap),
        CountPolicy::Quiet { cap } => (2, cap),
        CountPolicy::Sharded => (3, 0),
        CountPolicy::OverflowSignal => (4, 0),
    };
    let shrink = match settings.shrink {
        ShrinkPolicy::Never => u32::MAX,
        ShrinkPolicy::Below { percent } => u32::from(percent),
    };
    Header {
        seed,
        fill_factor: settings.fill_factor,
        page_slots: 7,
        min_buckets: settings.min_buckets,
        policy,
        cap,
        flags: if unique { 0 } else { MULTI } | if verify { DIGESTS } else { 0 },
        shrink,
        start: 0,
    }
}

/// Whether entries' records have room for a count: with `Exact`, each counts itself.
pub(crate) fn has_room(header: &Header) -> bool {
    header.policy != EXACT
}

/// Whether the log of that header carries digests.
pub(crate) fn has_digests(header: &Header) -> bool {
    header.flags & DIGESTS != 0
}

fn settings_of(header: &Header) -> Result<Settings, RedoError> {
    let count_policy = match header.policy {
        EXACT => CountPolicy::Exact,
        1 => CountPolicy::Deferred { cap: header.cap },
        2 => CountPolicy::Quiet { cap: header.cap },
        3 => CountPolicy::Sharded,
        4 => CountPolicy::OverflowSignal,
        value => return Err(RedoError::Mismatch { why: format!("the header names count policy {value}") }),
    };
    let shrink = match u8::try_from(header.shrink) {
        Ok(percent) => ShrinkPolicy::Below { percent },
        Err(_) => ShrinkPolicy::Never,
    };
    let builder =
        Builder::<(), (), Map>::new().fill_factor(header.fill_factor).min_buckets(header.min_buckets);
    builder.count_policy(count_policy).shrink(shrink).checked().map_err(RedoError::Config)
}

/// An empty map as the header describes it, with buckets up to `max_bucket` or its least number of them.
pub(crate) fn logged<K, V, M, S>(
    header: &Header,
    max_bucket: Option<u32>,
    logger: Logger,
) -> Result<Logged<K, V, M, S>, RedoError>
where
    M: Kind,
    S: SeededHasher,
{
    let kind = |unique: bool| if unique { "map" } else { "multimap" };
    let unique = header.flags & MULTI == 0;
    if unique != M::UNIQUE {
        let why = format!("the log is of a {}, not of a {}", kind(unique), kind(M::UNIQUE));
        return Err(RedoError::Mismatch { why });
    }
    if header.page_slots != 7 {
        let why = format!("the log is of pages of {} slots, not 7", header.page_slots);
        return Err(RedoError::Mismatch { why });
    }
    let settings = settings_of(header)?;
    let buckets = max_bucket.map_or(settings.min_buckets, |last| last + 1).max(settings.min_buckets);
    let table = Table::new(buckets, Meta::new(settings, settings.min_buckets));
    let table = table.map_err(|_| RedoError::Config(ConfigError::OutOfMemory))?;
    Ok(Logged { table: Owner::new(table), hasher: S::from_seed(header.seed), logger, kind: PhantomData })
}
