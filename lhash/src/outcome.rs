//! What operations return, beside references.

use core::fmt;

/// What [`Pinned::compute`](crate::Pinned::compute) shall do.
///
/// ```
/// use lhash::{LHashMap, Operation};
///
/// let map = LHashMap::<&str, u32>::new();
/// let pin = map.pin();
/// let count = |n: Option<&u32>| Operation::Insert(n.map_or(1, |n| n + 1));
/// pin.compute("word", count);
/// pin.compute("word", count);
/// assert_eq!(pin.get("word"), Some(&2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<V> {
    /// Insert this value, or put it in the place of the one there is.
    Insert(V),
    /// Remove the key.
    Remove,
    /// Nothing.
    Keep,
}

/// What [`Pinned::compute`](crate::Pinned::compute) did.
///
/// ```
/// use lhash::{Computed, LHashMap, Operation};
///
/// let map = LHashMap::<u64, u64>::new();
/// let pin = map.pin();
/// let computed = pin.compute(1, |_| Operation::Insert(10));
/// assert_eq!(computed, Computed::Inserted(&10));
/// ```
#[derive(Debug, PartialEq, Eq)]
pub enum Computed<'p, V> {
    /// There was no such key; now it has this value.
    Inserted(&'p V),
    /// The key has another value.
    Updated {
        /// The value before.
        old: &'p V,
        /// The value now.
        new: &'p V,
    },
    /// The key had this value and is gone.
    Removed(&'p V),
    /// Nothing was done; this is the key's value.
    Unchanged(Option<&'p V>),
}

/// Why [`Pinned::try_insert`](crate::Pinned::try_insert) inserted nothing: there is such a key.
///
/// ```
/// let map = lhash::LHashMap::from([(1, "one"), (2, "two")]);
/// let pin = map.pin();
/// let error = pin.try_insert(1, "eins").expect_err("it is there");
/// assert_eq!((error.current, error.not_inserted), (&"one", "eins"));
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct OccupiedError<'p, V> {
    /// The key's value.
    pub current: &'p V,
    /// The value that was not inserted.
    pub not_inserted: V,
}

impl<V: fmt::Debug> fmt::Display for OccupiedError<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the key has the value {:?} already; {:?} was not inserted",
            self.current, self.not_inserted
        )
    }
}

impl<V: fmt::Debug> std::error::Error for OccupiedError<'_, V> {}
