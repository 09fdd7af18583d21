//! [`open`]: a map is rebuilt from its log. Next: `apply.rs`, what a record does.

use super::Durability;
use super::apply::{Applying, Diverged};
use super::base::Base;
use super::codec::Codec;
use super::error::RedoError;
use super::files::segments;
use super::hasher::SeededHasher;
use super::lock::FolderLock;
use super::log::Log;
use super::logged::Logged;
use super::logger::Logger;
use super::options::{Kind, has_digests, has_room};
use super::record::Record;
use crate::reclaim::Pin;
use core::hash::Hash;
use std::path::Path;

/// What was found in a log that was opened.
///
/// ```
/// use lhash::redo::{self, LoggedMap, OpenOptions, Options};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("log");
/// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
/// map.pin().insert(1, 2)?;
/// drop(map);
/// let (map, recovery): (LoggedMap<u64, u64>, _) = redo::open(&path)?;
/// assert_eq!((recovery.records, recovery.torn_bytes, map.len()), (1, 0, 1));
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// The position of the snapshot that it began with; `None` if with an empty map.
    pub snapshot: Option<u64>,
    /// What was wrong with newer snapshots, which were passed over: file, offset and reason. Nothing is lost by that.
    pub damaged_snapshots: Vec<String>,
    /// Records that were applied.
    pub records: u64,
    /// The position after the last of them, in bytes.
    pub lsn: u64,
    /// Bytes after it that are no whole record, as a crash in the middle of a write leaves them.
    pub torn_bytes: u64,
}

/// A map that was rebuilt, and what was found.
///
/// ```
/// use lhash::redo::{self, LoggedMap, Opened, Options, SeededState};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("log");
/// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
/// map.pin().insert(1, 2)?;
/// drop(map);
/// let (map, _): Opened<u64, u64, lhash::Map, SeededState> = redo::open(&path)?;
/// assert_eq!(map.len(), 1);
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
pub type Opened<K, V, M, S> = (Logged<K, V, M, S>, Recovery);

/// How a log is opened.
///
/// ```
/// use lhash::redo::{LoggedMap, OpenOptions, Options};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("log");
/// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
/// map.pin().insert(1, 2)?;
/// drop(map);
/// let (map, _): (LoggedMap<u64, u64>, _) = OpenOptions::new().open(&path)?;
/// assert_eq!(map.len(), 1);
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[must_use = "nothing is opened until open() is called"]
pub struct OpenOptions {
    durability: Durability,
}

impl OpenOptions {
    /// With [`Durability::Buffered`].
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, OpenOptions, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// map.pin().insert(1, 2)?;
    /// drop(map);
    /// let (map, _): (LoggedMap<u64, u64>, _) = OpenOptions::new().open(&path)?;
    /// assert_eq!(map.durability(), lhash::redo::Durability::Buffered);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// When a change's call returns, from now on.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, OpenOptions, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// map.pin().insert(1, 2)?;
    /// drop(map);
    /// let options = OpenOptions::new().durability(lhash::redo::Durability::Sync);
    /// let (map, _): (LoggedMap<u64, u64>, _) = options.open(&path)?;
    /// map.pin().insert(3, 4)?; // on the disk when it returns
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Rebuilds the map; see [`open`].
    ///
    /// # Errors
    /// As [`open`].
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, OpenOptions, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
    /// map.pin().insert(1, 2)?;
    /// drop(map);
    /// let (map, recovery): (LoggedMap<u64, u64>, _) = OpenOptions::new().open(&path)?;
    /// assert_eq!((map.len(), recovery.records), (1, 1));
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn open<K, V, M, S>(self, path: impl AsRef<Path>) -> Result<Opened<K, V, M, S>, RedoError>
    where
        K: Codec + Hash + Eq + Send + 'static,
        V: Codec + Send + 'static,
        M: Kind,
        S: SeededHasher,
    {
        let path = path.as_ref();
        if segments(path)?.is_empty() {
            return Err(RedoError::no_log(path));
        }
        let lock = FolderLock::take(path)?;
        let mut base = Base::<K, V, M, S>::newest(path, u64::MAX)?;
        let mut reader = base.reader(path)?;
        let header = *reader.header();
        let records = base.replay(&mut reader, u64::MAX)?;
        let Base { mut map, replay, snapshot, damaged, .. } = base;
        let (lsn, torn_bytes) = (reader.lsn(), reader.torn_bytes());
        let damaged_snapshots = damaged.iter().map(RedoError::to_string).collect();
        let recovery = Recovery { snapshot, damaged_snapshots, records, lsn, torn_bytes };
        let ntuples = map.table.redo_rest(replay.behind);
        let log = Log::resume(path, *reader.header(), reader.lsn(), has_room(&header), lock)?;
        map.logger = Logger::new(log, ntuples, has_digests(&header), self.durability);
        Ok((map, recovery))
    }
}

/// Rebuilds a map from its newest snapshot and its log, and goes on with that log. A crash may have torn the last record: it
/// ends there, and what is left out is reported. A snapshot that is damaged is passed over and reported, if an older one, or the
/// log's beginning, is there with all that follows it.
///
/// # Errors
/// If the log can't be read, if it is of another kind of map, if another map has it open ([`RedoError::Locked`]), and if it is
/// damaged: then the error names the file, the offset and the reason.
///
/// ```
/// use lhash::redo::{self, LoggedMap, Options};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("log");
/// let map: LoggedMap<u64, u64> = Options::new().create(&path)?;
/// map.pin().insert(1, 2)?;
/// drop(map);
/// let (map, _): (LoggedMap<u64, u64>, _) = redo::open(&path)?;
/// assert_eq!(map.pin().get(&1), Some(&2));
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
pub fn open<K, V, M, S>(path: impl AsRef<Path>) -> Result<Opened<K, V, M, S>, RedoError>
where
    K: Codec + Hash + Eq + Send + 'static,
    V: Codec + Send + 'static,
    M: Kind,
    S: SeededHasher,
{
    OpenOptions::new().open(path)
}

/// A table on its way through the records.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    /// Entries that no record has counted yet.
    pub(crate) behind: i64,
}

impl Replay {
    /// What applies records to a map.
    pub(crate) fn applying<'a, K, V, M, S>(
        map: &'a Logged<K, V, M, S>,
    ) -> Applying<'a, K, V, impl Fn(&K) -> u32 + 'a>
    where
        K: Codec + Hash + Eq + Send + 'static,
        V: Codec + Send + 'static,
        M: Kind,
        S: SeededHasher,
    {
        let hash = |key: &K| map.hash(key);
        Applying { table: &map.table, hash, unique: M::UNIQUE, verify: map.logger.verify }
    }

    pub(crate) fn apply<K, V, M, S>(
        &mut self,
        map: &Logged<K, V, M, S>,
        lsn: u64,
        record: &Record<'_>,
        pin: &Pin,
    ) -> Result<(), RedoError>
    where
        K: Codec + Hash + Eq + Send + 'static,
        V: Codec + Send + 'static,
        M: Kind,
        S: SeededHasher,
    {
        match Self::applying(map).apply(record, pin) {
            Ok(behind) => self.behind += behind,
            Err(Diverged(why)) => return Err(RedoError::Diverged { lsn, why }),
        }
        Ok(())
    }
}
