//! Everything that can be wrong with a trace.

use std::io;

/// Why a trace could not be read. Record numbers count from 0.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file could not be opened or read.
    #[error("the trace can't be read: {0}")]
    Io(#[source] io::Error),
    /// The file is not a zstd frame.
    #[error(
        "not a zstd file: it starts with \"{found}\" instead of \"(\\xb5/\\xfd\"; traces are compressed with zstd"
    )]
    NotZstd {
        /// The first bytes, escaped.
        found: String,
    },
    /// The compressed file ends in the middle of a frame.
    #[error(
        "the compressed trace is truncated: it ends within a zstd frame, after {unpacked_bytes} unpacked bytes"
    )]
    TruncatedFrame {
        /// How much could be unpacked.
        unpacked_bytes: usize,
    },
    /// The compressed data is damaged.
    #[error("the compressed trace is damaged after {unpacked_bytes} unpacked bytes: {source}")]
    Corrupt {
        /// How much could be unpacked.
        unpacked_bytes: usize,
        /// What zstd says about it.
        source: io::Error,
    },
    /// The unpacked bytes are not a trace.
    #[error("not a buffer trace: it starts with \"{found}\" instead of \"PGBT0001\"")]
    WrongMagic {
        /// The first bytes, escaped.
        found: String,
    },
    /// The trace ends too early for what its header promises.
    #[error(
        "the trace is truncated within {what}: it needs at least {needed_bytes} bytes and has {present_bytes}"
    )]
    Truncated {
        /// The part that is cut.
        what: &'static str,
        /// How many bytes there would have to be.
        needed_bytes: u128,
        /// How many there are.
        present_bytes: usize,
    },
    /// The header claims more records than this program takes.
    #[error("the trace's header claims {records} records; at most {max} are read")]
    TooManyRecords {
        /// The claim.
        records: u64,
        /// The limit.
        max: u64,
    },
    /// The header's number of slots is zero or too large.
    #[error("the trace's header claims {slots} slots; it must be 1 to {max}")]
    SlotCount {
        /// The claim.
        slots: u32,
        /// The limit.
        max: u32,
    },
    /// A record names a relation that the trace does not list.
    #[error("record {record} names relation {index}, but the trace lists {relations}, numbered from 0")]
    RelationOutOfRange {
        /// The record.
        record: usize,
        /// The relation that it names.
        index: u16,
        /// How many there are.
        relations: usize,
    },
    /// An insert names a slot that the recorded table did not have.
    #[error("record {record} inserts into slot {slot}, but the trace has {slots} slots, numbered from 0")]
    SlotOutOfRange {
        /// The record.
        record: usize,
        /// The slot that it names.
        slot: u32,
        /// How many there are.
        slots: u32,
    },
    /// A record's operation is none of lookup, insert and delete.
    #[error("record {record} has operation {op}; known are 0 (lookup), 1 (insert) and 2 (delete)")]
    UnknownOp {
        /// The record.
        record: usize,
        /// Its operation.
        op: u8,
    },
    /// There is more in the file than the header promises.
    #[error("the trace ends after {used_bytes} bytes, but at least {trailing_bytes} more follow")]
    TrailingBytes {
        /// What follows.
        trailing_bytes: usize,
        /// What the trace takes.
        used_bytes: usize,
    },
    /// A tag is inserted into a slot that still belongs to another one, so no table of slots can replay it.
    #[error("record {record} inserts into slot {slot}, which still holds another page")]
    SlotOccupied {
        /// The record.
        record: usize,
        /// The slot.
        slot: u32,
    },
    /// The trace is sound, but has nothing for this mode.
    #[error("the trace holds no {what}, so there is nothing to replay")]
    NothingToReplay {
        /// What is missing.
        what: &'static str,
    },
}
