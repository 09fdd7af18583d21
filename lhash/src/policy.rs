//! How a table counts its entries, and when it gives buckets back. Next: `meta.rs`, which does so.

/// How a table counts its entries; by that count it splits and merges.
///
/// | policy | lag of the count | alone | an insert's cost among many |
/// |---|---|---|---|
/// | `Exact` | none | exact | waits for the metapage's lock, every time |
/// | `Deferred` | cap x 32 | exact | a try of the lock; its thread's line if it is busy |
/// | `Quiet` | cap x 32 | exact until it met contention | its thread's line; the lock at every cap-th insert |
/// | `Sharded` | 16,896 | within its lag | its thread's line |
/// | `OverflowSignal` | unbounded: counts die with their thread | up to a page's entries | nothing shared |
///
/// ```
/// use lhash::{CountPolicy, LHashMap};
///
/// let map = LHashMap::<u64, u64>::builder().count_policy(CountPolicy::Exact).build()?;
/// map.pin().insert(1, 2);
/// assert_eq!(map.len(), 1);
/// # Ok::<(), lhash::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CountPolicy {
    /// Each insert and remove waits for the metapage's lock and counts. PostgreSQL's hash index does so.
    Exact,
    /// Counts when the lock is free; otherwise leaves the count in a slot, up to `cap`. An insert that took another
    /// overflow page waits. After PostgreSQL's proposed deferral, whose counts end with their session; these don't.
    Deferred {
        /// The most that a slot holds: 1 to 2^24.
        cap: u32,
    },
    /// As `Deferred`; and a thread that has met the lock busy looks at it only at every `cap`-th insert, until it was
    /// free a few times.
    Quiet {
        /// The most that a slot holds: 1 to 2^24.
        cap: u32,
    },
    /// Counts in shards, and compares with the threshold now and then.
    Sharded,
    /// Counts privately and tells the metapage only when an insert took another overflow page: the published prototype,
    /// kept for comparison. **It loses what a thread has not told when it ends**; `len` and the number of buckets
    /// suffer.
    OverflowSignal,
}

impl Default for CountPolicy {
    fn default() -> Self {
        Self::Deferred { cap: 32 }
    }
}

/// When a table gives buckets back.
///
/// ```
/// use lhash::{LHashMap, ShrinkPolicy};
///
/// // Merges buckets when less than 30 % of the fill factor is left.
/// let map = LHashMap::<u64, u64>::builder().shrink(ShrinkPolicy::Below { percent: 30 }).build()?;
/// assert!(map.is_empty());
/// # Ok::<(), lhash::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShrinkPolicy {
    /// Never by itself; `shrink_to_fit` does.
    Never,
    /// Merges the last bucket when there are fewer than that many hundredths of the entries that the fill factor
    /// allows: 0 to 90. The distance to 100 keeps inserts and removes from undoing each other's work.
    Below {
        /// Hundredths of the fill factor.
        percent: u8,
    },
}

impl Default for ShrinkPolicy {
    fn default() -> Self {
        Self::Below { percent: 40 }
    }
}
