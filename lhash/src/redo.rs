//! Feature `redo`: a log of every change, from which a map is rebuilt and which a standby follows.
//!
//! # The log
//!
//! A [`LoggedMap`] or [`LoggedMultiMap`] keeps a log in a folder: segments of 16 MiB that are allocated beforehand, readable by
//! their owner alone. Each has a header (version, the hasher's seed, the table's settings) and then records: length, CRC-32C,
//! kind and payload, little-endian, padded to 8 bytes. A position in the log (LSN) counts the bytes of records.
//!
//! `clear` goes bucket by bucket while others write, and has one record for each bucket that had any entry.
//!
//! Keys and values are encoded ([`Codec`]) before any lock is taken. A change takes its place in the log while it holds its
//! bucket, and fills the place after it has let go; a split or merge, which holds two buckets, likewise: so the
//! order in the log is the order in every bucket. [`Durability`] says when a change's call returns; one thread writes and
//! fsyncs for all who wait.
//!
//! # Counts
//!
//! A record of an insert or remove says what the metapage took when the change was counted: nothing, the change itself, or
//! another number with what others had left pending (`ntuples +N` in a dump). The first two leave no number in the
//! record. Whoever replays the log changes the count by these numbers alone, and splits and merges by records of splits
//! and merges. What no record has counted at the log's end is counted then, so that no count is lost with a process.
//!
//! # Recovery, standby
//!
//! [`open`] rebuilds a map and goes on with its log. A crash may leave a record that is not whole: the log ends before it, and
//! [`Recovery::torn_bytes`] tells of it. Damage before valid records is an error. [`Standby`] follows a log that grows. With
//! [`Options::verify`], the log carries the digest of each bucket that a record changes.
//!
//! # Snapshots
//!
//! [`Logged::snapshot`] writes the map as it is at one position beside the log (`snapshot-<position>`), while others write on, and
//! removes the segments that lie before that position. [`open`] and [`Standby::follow`] begin with the newest snapshot, and go on
//! with the log from its position. A snapshot is there as a whole or not at all, whatever ends the process. One that is damaged
//! is an error, unless an older one or the log's beginning is still there with all that follows it: then the map is
//! rebuilt from that, and [`Recovery::damaged_snapshots`] tells of it. A snapshot keeps entries, count and buckets, but no
//! empty slots: a map that is rebuilt from one may have fewer overflow pages.
//!
//! # Limits
//!
//! * Pages have 7 slots.
//! * Hashers are made from a seed ([`SeededHasher`]), which is in the log.
//! * One operation's records are at most 1 MiB.
//! * The log grows until [`Logged::snapshot`] is called: nothing calls it by itself.
//! * One map at a time has a log open to write, and a second one is refused ([`RedoError::Locked`]), also one of another
//!   process; on systems other than Unix, and on file systems whose locks other machines don't see, nothing prevents it.

mod apply;
mod base;
mod calls;
mod codec;
pub(crate) mod commit;
mod error;
mod feed;
mod files;
mod following;
mod frame;
mod hasher;
mod header;
mod lock;
mod log;
mod logged;
mod logged_map;
mod logged_multi;
mod logger;
mod options;
mod pinned_logged;
mod reader;
mod record;
mod recover;
pub(crate) mod ring;
mod rows;
mod snapshot;
mod snapshots;
mod standby;
mod stored;
mod telling;
mod writing;

#[doc(hidden)]
pub use calls::{Call, Faults};
#[cfg(feature = "serde")]
pub use codec::Serde;
pub use codec::{Codec, DecodeError};
pub use error::RedoError;
pub use hasher::{SeededHasher, SeededState};
pub use logged::{Logged, LoggedMap, LoggedMultiMap};
pub use options::{Kind, Options};
pub use pinned_logged::PinnedLogged;
pub use reader::Reader;
pub use record::{Ntuples, Record};
pub use recover::{OpenOptions, Opened, Recovery, open};
pub use rows::Rows;
pub use snapshots::Snapshot;
pub use standby::Standby;

/// When a change's call returns.
///
/// ```
/// use lhash::redo::{Durability, LoggedMap, Options};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("log");
/// let map: LoggedMap<u64, u64> = Options::new().durability(Durability::Sync).create(&path)?;
/// map.pin().insert(1, 2)?; // on the disk when it returns
/// assert_eq!(map.fsyncs(), 1);
/// # Ok::<(), lhash::redo::RedoError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When the change is in memory and its record in the log's buffer: a crash may lose the last changes, in the
    /// order of the log.
    #[default]
    Buffered,
    /// When the record is on the disk.
    Sync,
}
