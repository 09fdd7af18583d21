//! Errors.

use core::fmt;

/// There is no memory for another node, page or segment, or there are no numbers left for them.
///
/// ```
/// assert_eq!(lhash::OutOfMemory.to_string(), "out of memory for a hash table's entries or pages");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of memory for a hash table's entries or pages")
    }
}

impl std::error::Error for OutOfMemory {}

/// Why there is no room for more entries.
///
/// ```
/// let map = lhash::LHashMap::<u64, u64>::new();
/// let error = map.pin().try_reserve(usize::MAX).unwrap_err();
/// assert_eq!(error.additional, usize::MAX);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReserveError {
    /// How many more there should have been room for.
    pub additional: usize,
}

impl fmt::Display for ReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { additional } = self;
        write!(f, "no room for {additional} more entries: out of memory, or more than 2^32 buckets")
    }
}

impl std::error::Error for ReserveError {}

/// Why [`Builder::build`](crate::Builder::build) makes no table.
///
/// ```
/// let error = lhash::LHashMap::<u64, u64>::builder().fill_factor(0).build().unwrap_err();
/// assert_eq!(error.to_string(), "fill_factor must be 1 to 1048576 entries a bucket, but is 0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// `fill_factor` is 0 or above the maximum.
    FillFactor {
        /// What was asked for.
        value: u32,
        /// The most there can be.
        max: u32,
    },
    /// `min_buckets` is 0 or above the maximum.
    MinBuckets {
        /// What was asked for.
        value: u32,
        /// The most there can be.
        max: u32,
    },
    /// `capacity` needs more buckets than there can be.
    Capacity {
        /// What was asked for.
        value: usize,
        /// The most there can be, with this fill factor.
        max: usize,
    },
    /// The cap of a count policy is 0 or above the maximum.
    Cap {
        /// What was asked for.
        value: u32,
        /// The most there can be.
        max: u32,
    },
    /// The percentage of a shrink policy is above the maximum.
    ShrinkPercent {
        /// What was asked for.
        value: u8,
        /// The most there can be.
        max: u8,
    },
    /// There is no memory for the buckets.
    OutOfMemory,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FillFactor { value, max } => {
                write!(f, "fill_factor must be 1 to {max} entries a bucket, but is {value}")
            }
            Self::MinBuckets { value, max } => write!(f, "min_buckets must be 1 to {max}, but is {value}"),
            Self::Capacity { value, max } => {
                write!(f, "capacity must be at most {max} entries, but is {value}")
            }
            Self::Cap { value, max } => {
                write!(f, "the cap of a count policy must be 1 to {max}, but is {value}")
            }
            Self::ShrinkPercent { value, max } => {
                write!(f, "the percentage of a shrink policy must be at most {max}, but is {value}")
            }
            Self::OutOfMemory => f.write_str("out of memory for the buckets"),
        }
    }
}

impl std::error::Error for ConfigError {}
