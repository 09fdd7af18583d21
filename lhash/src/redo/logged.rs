//! [`LoggedMap`] and [`LoggedMultiMap`]: tables whose changes are in a redo log; what both have. Next: `logged_map.rs` and
//! `logged_multi.rs`, what each does; `writing.rs`, one change; `telling.rs`, its records.

use super::Durability;
use super::error::RedoError;
use super::hasher::SeededState;
use super::logger::Logger;
use super::pinned_logged::PinnedLogged;
use super::stored::Row;
use crate::Stats;
use crate::config::{Map, MultiMap};
use crate::entry::fold;
use crate::reclaim::Pin;
use crate::retire::Owner;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::marker::PhantomData;

/// A map whose every change is in a redo log: a [`Logged`].
///
/// ```
/// use lhash::redo::{self, LoggedMap, Options};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("sessions");
/// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
/// map.pin().insert(1, "one".to_owned())?;
/// map.flush()?;
/// drop(map);
/// let (map, recovery): (LoggedMap<u64, String>, _) = redo::open(&path)?;
/// assert_eq!(map.pin().get(&1).map(String::as_str), Some("one"));
/// assert_eq!(recovery.torn_bytes, 0);
/// # Ok(())
/// # }
/// ```
pub type LoggedMap<K, V, S = SeededState> = Logged<K, V, Map, S>;

/// A multimap whose every change is in a redo log: a [`Logged`].
///
/// ```
/// use lhash::redo::{LoggedMultiMap, Options};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("log");
/// let index: LoggedMultiMap<u64, u64> = Options::new().create(&path)?;
/// let pin = index.pin();
/// pin.insert(1, 10)?;
/// pin.insert(1, 11)?;
/// assert_eq!(pin.count(&1), 2);
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
pub type LoggedMultiMap<K, V, S = SeededState> = Logged<K, V, MultiMap, S>;

/// A map or multimap whose every change is in a redo log: with [`Durability::Sync`] on the disk before the change's call
/// returns, with [`Durability::Buffered`] after the next [`flush`](Self::flush). Made by
/// [`Options::create`](super::Options::create) and [`open`](super::open).
///
/// ```
/// use lhash::redo::{LoggedMap, Options};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("log");
/// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
/// let pin = map.pin();
/// pin.insert(1, "one".to_owned())?;
/// map.flush()?; // all of it is on the disk
/// assert_eq!(pin.get(&1).map(String::as_str), Some("one"));
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
pub struct Logged<K, V, M, S = SeededState> {
    pub(crate) table: Owner<Row<K, V>, 7>,
    pub(crate) hasher: S,
    pub(crate) logger: Logger,
    pub(crate) kind: PhantomData<fn() -> M>,
}

impl<K, V, M, S> Logged<K, V, M, S> {
    /// Pins the map for this thread; see [`LHashMap::pin`](crate::LHashMap::pin).
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// assert!(map.pin().insert(1, "one".to_owned())?.is_none());
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn pin(&self) -> PinnedLogged<'_, K, V, M, S> {
        PinnedLogged { map: self, pin: Pin::new() }
    }

    /// The number of entries; see [`LHashMap::len`](crate::LHashMap::len).
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let pin = map.pin();
    /// pin.insert(1, "one".to_owned())?;
    /// assert_eq!((map.len(), map.is_empty()), (1, false));
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn len(&self) -> usize {
        usize::try_from(self.table.meta.approx().max(0)).unwrap_or(usize::MAX)
    }

    /// Whether [`len`](Self::len) is 0.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// assert!(map.is_empty());
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Figures of the table.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let pin = map.pin();
    /// pin.insert(1, "one".to_owned())?;
    /// assert_eq!(map.stats().ntuples, 1);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn stats(&self) -> Stats {
        self.table.stats()
    }

    /// Waits until all changes that were made before this call are on the disk.
    ///
    /// # Errors
    /// If they could not be written, now or earlier.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let pin = map.pin();
    /// pin.insert(1, "one".to_owned())?;
    /// map.flush()?;
    /// assert!(map.fsyncs() >= 1);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn flush(&self) -> Result<(), RedoError> {
        self.logger.flush()
    }

    /// The position in the log after the last record that has a place, in bytes.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let before = map.lsn();
    /// map.pin().insert(1, "one".to_owned())?;
    /// assert!(map.lsn() > before); // by the bytes of its record
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn lsn(&self) -> u64 {
        self.logger.lsn()
    }

    /// How many records were given a place since the map was made or opened.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let pin = map.pin();
    /// pin.insert(1, "one".to_owned())?;
    /// assert_eq!(map.records(), 1);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn records(&self) -> u64 {
        self.logger.records()
    }

    /// How often the log was brought to the disk since then.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let pin = map.pin();
    /// pin.insert(1, "one".to_owned())?;
    /// assert_eq!(map.fsyncs(), 0); // buffered
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn fsyncs(&self) -> u64 {
        self.logger.fsyncs()
    }

    /// Lets calls of the system fail. For tests.
    #[doc(hidden)]
    pub fn inject_faults(&self, faults: std::sync::Arc<dyn super::Faults>) {
        self.logger.set_faults(faults);
    }

    /// Lets a segment end before it has so many bytes. For tests.
    #[doc(hidden)]
    pub fn cut_segments_at(&self, bytes: u64) {
        self.logger.set_segment_bytes(bytes);
    }

    /// When a change's call returns.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// assert_eq!(map.durability(), lhash::redo::Durability::Buffered);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn durability(&self) -> Durability {
        self.logger.durability
    }
}

impl<K, V, M, S: BuildHasher> Logged<K, V, M, S> {
    pub(crate) fn hash<Q: Hash + ?Sized>(&self, key: &Q) -> u32 {
        fold(self.hasher.hash_one(key))
    }
}

impl<K: fmt::Debug, V: fmt::Debug, M, S> fmt::Debug for Logged<K, V, M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.pin().iter()).finish()
    }
}
