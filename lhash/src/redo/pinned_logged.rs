//! [`PinnedLogged`]: a logged table with a pin; what both kinds do. Next: `logged_map.rs` and `logged_multi.rs`, what each does.

use super::codec::Codec;
use super::error::RedoError;
use super::hasher::{SeededHasher, SeededState};
use super::logged::Logged;
use super::rows::Rows;
use super::stored::Row;
use super::writing::Writing;
use crate::family::Entries;
use crate::iter::Iter;
use crate::reclaim::Pin;
use crate::table::Table;
use core::fmt;
use core::hash::Hash;

/// A logged map or multimap with a pin; see [`Pinned`](crate::Pinned). Its operations are those of [`Logged`]'s kind.
///
/// ```
/// use lhash::redo::{LoggedMap, Options};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("log");
/// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
/// let pin = map.pin();
/// pin.insert(1, "one".to_owned())?;
/// assert!(pin.contains_key(&1)); // and what is found lives as long as the pin
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
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
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let mut pin = map.pin();
    /// pin.insert(1, "one".to_owned())?;
    /// pin.remove(&1)?;
    /// pin.repin(); // what was removed may be dropped now
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn repin(&mut self) {
        self.pin.repin();
    }

    /// All entries; see [`Pinned::iter`](crate::Pinned::iter).
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let pin = map.pin();
    /// pin.insert(1, "one".to_owned())?;
    /// assert_eq!(pin.iter().count(), 1);
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
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
    /// Removes all entries that there are when it begins, a bucket at a time, with one record for each bucket that has any.
    /// What others insert meanwhile may go too.
    ///
    /// # Errors
    /// If the log can't be written, now or earlier. Some may be removed then and others not.
    ///
    /// ```
    /// use lhash::redo::{LoggedMap, Options};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("log");
    /// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
    /// let pin = map.pin();
    /// pin.insert(1, "one".to_owned())?;
    /// pin.clear()?;
    /// assert!(map.is_empty());
    /// # Ok::<(), lhash::redo::RedoError>(())
    /// ```
    pub fn clear(&self) -> Result<(), RedoError> {
        self.writing().clear()
    }
}
