//! [`Rows`]: iteration over a logged map.

use super::stored::Stored;
use crate::iter::Iter;
use core::fmt;

/// The entries of a logged map, in no order.
///
/// ```
/// use lhash::redo::{LoggedMap, Options};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("log");
/// let map: LoggedMap<u64, String> = Options::new().create(&path)?;
/// let pin = map.pin();
/// pin.insert(1, "one".to_owned())?;
/// assert!(pin.iter().eq([(&1, &"one".to_owned())]));
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
pub struct Rows<'p, K, V>(pub(super) Iter<'p, K, Stored<V>>);

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
