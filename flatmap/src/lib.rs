//! A flat-array table from a key to the number of a slot in an array that you own.
//!
//! ```
//! use flatmap::{BufferTag, FlatMap};
//!
//! // A page cache: frame x of `frames` holds the page whose tag the table maps to x.
//! let frames = vec![[0_u8; 8192]; 1024];
//! let table: FlatMap<BufferTag> = FlatMap::with_slots(1024);
//!
//! let tag = BufferTag { spc_oid: 1663, db_oid: 5, rel_number: 16384, fork_number: 0, block_number: 7 };
//! table.insert(tag, 42)?;
//! let frame = table.get(&tag).expect("just inserted"); // no lock, no shared write
//! assert_eq!(frames[frame as usize].len(), 8192);
//! assert_eq!(table.key_of(42), Some(tag));
//! assert_eq!(table.remove(&tag), Some(42));
//! # Ok::<(), flatmap::InsertError>(())
//! ```
//!
//! # Layout
//!
//! ```text
//! heads    [ stamp | first ] [ stamp | first ] ...        8 bytes a bucket, 2 buckets a slot
//!                      |
//!                      v
//! entries  [ next | key ] [ next | key ] [ next | key ]   4 bytes + the key, rounded up to 8, a slot
//!              |                             ^
//!              +-----------------------------+
//! slots    [ your page  ] [ your page  ] [ your page  ]   yours
//! ```
//!
//! Entry x describes slot x and nothing else; so nothing is allocated after construction
//! (but for a thread that has to wait for a lock), and [`key_of`](FlatMap::key_of) is one array access. A table of 20-byte keys takes 40 bytes a slot, and 32 KiB
//! for 128 partitions.
//!
//! # What it promises
//!
//! * [`get`](FlatMap::get), [`holds`](FlatMap::holds) and [`key_of`](FlatMap::key_of) take no lock and write
//!   no shared memory; hits *and misses* are linearizable. After a few torn tries they fall back to the
//!   partition's lock, shared. See GUARANTEES.md in the repository: FM-1 to FM-8.
//! * Inserts and removes take one partition's lock exclusively, never two.
//! * No user code runs under a lock, but for [`FlatMap::partition`]'s guard.
//! * This crate contains no `unsafe`.
//!
//! The package is `latchfree-flatmap`, the library is `flatmap`.
#![forbid(unsafe_code)]

mod bucket;
mod change;
mod config;
mod entry;
mod error;
mod geometry;
mod iter;
mod key;
mod partition;
mod pin;
mod stats;
mod table;

pub use config::{Builder, MissPolicy};
pub use error::{ConfigError, InsertError, OtherPartition};
pub use iter::Iter;
pub use key::{BufferTag, Key};
pub use partition::PartitionGuard;
pub use pin::{PinWord, Pinned};
pub use stats::Stats;
pub use table::{DefaultHashBuilder, FlatMap};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
