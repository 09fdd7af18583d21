//! What can go wrong, one type per operation.

use core::error::Error;
use core::fmt;

/// Why a table could not be built. Each names the field, its value and the bound.
///
/// ```
/// let error = flatmap::FlatMap::<u64>::builder().slots(8).partitions(3).build().unwrap_err();
/// assert_eq!(error.to_string(), "partitions is 3; it must be a power of two from 1 to 65536");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The number of slots is 0 or too large.
    Slots {
        /// What was asked for.
        value: u32,
        /// The most slots a table can have.
        max: u32,
    },
    /// The most slots are fewer than the slots, or too many.
    MaxSlots {
        /// What was asked for.
        value: u32,
        /// As many as at first.
        min: u32,
        /// The most slots a table can have.
        max: u32,
    },
    /// The number of partitions is not a power of two, or too large.
    Partitions {
        /// What was asked for.
        value: u32,
        /// The most partitions a table can have.
        max: u32,
    },
    /// There are fewer buckets than partitions, or too many.
    Buckets {
        /// What was asked for.
        value: u32,
        /// One bucket for each partition.
        min: u32,
        /// The most buckets a table can have.
        max: u32,
    },
    /// The most buckets are fewer than the buckets, or too many.
    MaxBuckets {
        /// What was asked for.
        value: u32,
        /// As many as at first.
        min: u32,
        /// The most buckets a table can have.
        max: u32,
    },
    /// The number of optimistic tries is 0.
    OptimisticTries,
    /// The allocator has no memory for the table.
    OutOfMemory {
        /// The size of its arrays in bytes; `None` if it can't be expressed.
        bytes: Option<usize>,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Slots { value, max } => write!(f, "slots is {value}; a table has 1 to {max} slots"),
            Self::Partitions { value, max } => {
                write!(f, "partitions is {value}; it must be a power of two from 1 to {max}")
            }
            Self::Buckets { value, min, max } => {
                write!(f, "buckets is {value}; with {min} partitions it must be {min} to {max}")
            }
            Self::MaxSlots { value, min, max } => {
                write!(f, "max_slots is {value}; with {min} slots it must be {min} to {max}")
            }
            Self::MaxBuckets { value, min, max } => {
                write!(f, "max_buckets is {value}; with {min} buckets it must be {min} to {max}")
            }
            Self::OptimisticTries => f.write_str("optimistic_tries is 0; a lookup makes at least 1 try"),
            Self::OutOfMemory { bytes: Some(bytes) } => write!(f, "no memory for a table of {bytes} bytes"),
            Self::OutOfMemory { bytes: None } => {
                f.write_str("a table of this size exceeds the address space")
            }
        }
    }
}

impl Error for ConfigError {}

/// Why a key was not mapped. Nothing was changed.
///
/// ```
/// use flatmap::{FlatMap, InsertError};
///
/// let table: FlatMap<u64> = FlatMap::with_slots(2);
/// table.insert(7, 1)?;
/// match table.insert(7, 0) {
///     Err(InsertError::KeyExists { slot }) => assert_eq!(slot, 1), // somebody was faster: use that slot
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), InsertError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InsertError {
    /// There is no such slot; or it is being taken away by [`set_slots`](crate::FlatMap::set_slots).
    SlotOutOfRange {
        /// The slot asked for.
        slot: u32,
        /// How many slots the table has.
        slots: u32,
    },
    /// The key is mapped already.
    KeyExists {
        /// The slot it is mapped to.
        slot: u32,
    },
    /// The slot is mapped to another key, or an insert or remove of it has not returned yet.
    SlotOccupied {
        /// The slot asked for.
        slot: u32,
    },
    /// The key belongs to another partition than the one locked. Only a
    /// [`PartitionGuard`](crate::PartitionGuard) says this.
    OtherPartition(OtherPartition),
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::SlotOutOfRange { slot, slots } => {
                write!(f, "slot {slot} is out of range; the table has slots 0 to {}", slots.saturating_sub(1))
            }
            Self::KeyExists { slot } => write!(f, "the key is mapped already, to slot {slot}"),
            Self::SlotOccupied { slot } => write!(f, "slot {slot} is occupied by another key"),
            Self::OtherPartition(ref error) => error.fmt(f),
        }
    }
}

impl Error for InsertError {}

impl From<OtherPartition> for InsertError {
    fn from(error: OtherPartition) -> Self {
        Self::OtherPartition(error)
    }
}

/// Why a table was not resized. Nothing was changed, unless it says so.
///
/// ```
/// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(8);
/// let error = table.set_slots(9).unwrap_err();
/// assert_eq!(error.to_string(), "slots is 9; the table was built for 1 to 8 (max_slots)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResizeError {
    /// The number of slots is 0, or more than the table was made for.
    Slots {
        /// What was asked for.
        value: u32,
        /// The builder's `max_slots`.
        max: u32,
    },
    /// Slots that were to be taken away are mapped, or an insert or remove of them has not returned yet.
    SlotsInUse {
        /// How many slots were to be left.
        slots: u32,
        /// How many of the others are in use.
        in_use: u32,
    },
    /// There would be fewer buckets than partitions, or more than the table was made for.
    Buckets {
        /// What was asked for.
        value: u32,
        /// One bucket for each partition.
        min: u32,
        /// The builder's `max_buckets`.
        max: u32,
    },
    /// There is no memory. Some of the buckets that were asked for may be there.
    OutOfMemory,
}

impl fmt::Display for ResizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Slots { value, max } => {
                write!(f, "slots is {value}; the table was built for 1 to {max} (max_slots)")
            }
            Self::SlotsInUse { slots, in_use } => {
                write!(f, "{in_use} of the slots from {slots} on are in use; they must be unmapped first")
            }
            Self::Buckets { value, min, max } => {
                write!(
                    f,
                    "buckets is {value}; the table was built for {min} (partitions) to {max} (max_buckets)"
                )
            }
            Self::OutOfMemory => f.write_str("no memory for more slots or buckets"),
        }
    }
}

impl Error for ResizeError {}

/// A key was given to the guard of a partition that it doesn't belong to.
///
/// ```
/// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(1000);
/// let mine = table.partition(&0);
/// let strangers = (1..100).filter(|key| mine.get(key).is_err()).count();
/// assert!(strangers > 90); // of 128 partitions a guard holds one
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherPartition {
    /// The partition that the guard holds.
    pub held: u32,
    /// The partition of the key.
    pub of_key: u32,
}

impl fmt::Display for OtherPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key belongs to partition {}, the guard holds partition {}", self.of_key, self.held)
    }
}

impl Error for OtherPartition {}
