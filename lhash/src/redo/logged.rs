//! [`LoggedMap`] and [`LoggedMultiMap`]: tables whose changes are in a redo log; what both have. Next: `logged_map.rs` and
//! `logged_multi.rs`, what each does; `writing.rs`, one change; `telling.rs`, its records.

use super::Durability;
use super::codec::Codec;
use super::error::RedoError;
use super::hasher::{SeededHasher, SeededState};
use super::stored::{Row, Stored};
use super::telling::Logger;
use super::writing::Writing;
use crate::Stats;
use crate::config::{Map, MultiMap};
use crate::entry::fold;
use crate::family::Entries;
use crate::iter::Iter;
use crate::reclaim::Pin;
use crate::retire::Owner;
use crate::table::Table;
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
pub type LoggedMultiMap<K, V, S = SeededState> = Logged<K, V, MultiMap, S>;

/// A map or multimap whose every change is in a redo log: with [`Durability::Sync`] on the disk before the change's call
/// returns, with [`Durability::Buffered`] after the next [`flush`](Self::flush). Made by
/// [`Options::create`](super::Options::create) and [`open`](super::open).
pub struct Logged<K, V, M, S = SeededState> {
    pub(crate) table: Owner<Row<K, V>, 7>,
    pub(crate) hasher: S,
    pub(crate) logger: Logger,
    pub(crate) kind: PhantomData<fn() -> M>,
}

impl<K, V, M, S> Logged<K, V, M, S> {
    /// Pins the map for this thread; see [`LHashMap::pin`](crate::LHashMap::pin).
    pub fn pin(&self) -> PinnedLogged<'_, K, V, M, S> {
        PinnedLogged { map: self, pin: Pin::new() }
    }

    /// The number of entries; see [`LHashMap::len`](crate::LHashMap::len).
    pub fn len(&self) -> usize {
        usize::try_from(self.table.meta.approx().max(0)).unwrap_or(usize::MAX)
    }

    /// Whether [`len`](Self::len) is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Figures of the table.
    pub fn stats(&self) -> Stats {
        self.table.stats()
    }

    /// Waits until all changes that were made before this call are on the disk.
    ///
    /// # Errors
    /// If they could not be written, now or earlier.
    pub fn flush(&self) -> Result<(), RedoError> {
        self.logger.flush()
    }

    /// The position in the log after the last record that has a place, in bytes.
    pub fn lsn(&self) -> u64 {
        self.logger.lsn()
    }

    /// How many records were given a place since the map was made or opened.
    pub fn records(&self) -> u64 {
        self.logger.records()
    }

    /// How often the log was brought to the disk since then.
    pub fn fsyncs(&self) -> u64 {
        self.logger.fsyncs()
    }

    /// Lets calls of the system fail. For tests.
    #[doc(hidden)]
    pub fn inject_faults(&self, faults: std::sync::Arc<dyn super::Faults>) {
        self.logger.set_faults(faults);
    }

    /// When a change's call returns.
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

/// A logged map or multimap with a pin; see [`Pinned`](crate::Pinned). Its operations are those of [`Logged`]'s kind.
pub struct PinnedLogged<'a, K, V, M, S = SeededState> {
    pub(crate) map: &'a Logged<K, V, M, S>,
    pub(crate) pin: Pin,
}

impl<K, V, M, S> fmt::Debug for PinnedLogged<'_, K, V, M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedLogged").field("len", &self.map.len()).finish_non_exhaustive()
    }
}

impl<K, V, M, S> PinnedLogged<'_, K, V, M, S> {
    pub(crate) fn table(&self) -> &Table<Row<K, V>, 7> {
        &self.map.table
    }

    pub(crate) fn writing(&self) -> Writing<'_, K, V> {
        Writing { table: self.table(), pin: &self.pin, logger: &self.map.logger }
    }

    /// Lets go of all that was found under this pin, and pins anew.
    pub fn repin(&mut self) {
        self.pin.repin();
    }

    /// All entries; see [`Pinned::iter`](crate::Pinned::iter).
    pub fn iter(&self) -> Rows<'_, K, V> {
        Rows(Iter(Entries::new(self.table(), &self.pin)))
    }
}

impl<K, V, M, S> PinnedLogged<'_, K, V, M, S>
where
    K: Codec + Hash + Eq + Send + 'static,
    V: Codec + Send + 'static,
    S: SeededHasher,
{
    /// Removes all entries that [`iter`](Self::iter) meets.
    ///
    /// # Errors
    /// If the log can't be written, now or earlier. Some may be removed then and others not.
    pub fn clear(&self) -> Result<(), RedoError> {
        self.writing().remove_where(|_, _| true).map(drop)
    }
}

/// The entries of a logged map, in no order.
pub struct Rows<'p, K, V>(Iter<'p, K, Stored<V>>);

impl<K, V> fmt::Debug for Rows<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rows")
    }
}

impl<'p, K, V> Iterator for Rows<'p, K, V> {
    type Item = (&'p K, &'p V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, stored)| (key, &stored.value))
    }
}
