//! A flat-array table from a key to the number of a slot in an array that you own.
//!
//! ```
//! use flatmap::{BufferTag, FlatMap, PinWord};
//!
//! // A page cache: frame x of `frames` holds the page whose tag the table maps to x, `pins[x]` keeps it there.
//! let frames = vec![[0_u8; 8192]; 1024];
//! let pins: Vec<PinWord> = (0..1024).map(|_| PinWord::new()).collect();
//! let table: FlatMap<BufferTag> = FlatMap::with_slots(1024);
//!
//! let tag = BufferTag { spc_oid: 1663, db_oid: 5, rel_number: 16384, fork_number: 0, block_number: 7 };
//! table.insert(tag, 42)?;
//! let (frame, pin) = table.pin_with(&tag, |frame| pins[frame as usize].pin()).expect("just inserted");
//! assert_eq!(frames[frame as usize].len(), 8192); // no lock was taken; the page stays while `pin` lives
//! drop(pin);
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
//! (but for threads that wait for a lock or wake one, and for splits), and what a slot
//! holds is found without a search. A table of 20-byte keys takes 40 bytes a slot, and 32 KiB
//! for 128 partitions.
//!
//! # More and fewer slots and buckets
//!
//! ```
//! use flatmap::FlatMap;
//!
//! // 1 GiB of pages now, up to 1 TiB later: only addresses are reserved for the rest.
//! let table: FlatMap<u64> = FlatMap::builder().slots(131_072).max_slots(134_217_728).build()?;
//! table.set_slots(200_000)?; // at once; buckets follow, one with each insert and remove
//! while table.maintain(1000)? > 0 {} // or now, in portions; lookups go on meanwhile
//! table.set_slots(65_536)?; // the upper ones are not mapped, so their memory goes back
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it promises
//!
//! * [`get`](FlatMap::get), [`holds`](FlatMap::holds) and [`key_of`](FlatMap::key_of) take no lock, unless their chain
//!   changes during four tries in a row; then they take the partition's, shared. A lookup settled by its first try
//!   writes no shared memory. Hits *and misses* are linearizable (FM-1, FM-3), and a key that stays is never missed (FM-6).
//! * Inserts and removes take one partition's lock exclusively, never two (FM-2); they allocate nothing (FM-7).
//! * No user code runs under a lock, but for [`FlatMap::partition`]'s guard and a chain that never rests (FM-8).
//! * Misuse is an error, a panic or a wait, never undefined behaviour (FM-9).
//! * Buckets are split and merged one at a time, and lookups stay what they are (FM-10); memory comes when it is
//!   used and goes back when slots are taken away (FM-11).
//! * It works in thread-local destructors and in the child of a `fork` (FM-12).
//!
//! The labels name promises in the repository's GUARANTEES.md, each with its test or model.
//!
//! # A miss in a buffer pool
//!
//! ```
//! use flatmap::{FlatMap, InsertError, PinWord};
//!
//! /// Loads `page` into `victim`, a frame that holds `old`; returns the frame that has it afterwards.
//! fn load(table: &FlatMap<u64>, pins: &[PinWord], page: u64, victim: u32, old: u64) -> Option<u32> {
//!     let word = &pins[victim as usize];
//!     if !word.try_evict() {
//!         return None; // pinned: choose another victim
//!     }
//!     // ... write the old page back here, if it was changed ...
//!     table.remove_if(&old, victim);
//!     let frame = match table.insert(page, victim) {
//!         // ... read the page into the frame here: it can be found but not pinned. Read before the insert, it
//!         // could be the version from before another thread wrote it back ...
//!         Ok(()) => victim,
//!         Err(InsertError::KeyExists { slot }) => slot, // another thread was faster; the victim is free
//!         Err(error) => panic!("{error}"),
//!     };
//!     word.finish();
//!     Some(frame)
//! }
//!
//! let table = FlatMap::with_slots(2);
//! let pins = [PinWord::new(), PinWord::new()];
//! table.insert(1, 0).expect("a free slot");
//! assert_eq!(load(&table, &pins, 7, 0, 1), Some(0));
//! assert_eq!((table.get(&7), table.get(&1)), (Some(0), None));
//! ```
//!
//! [`pin_with`](FlatMap::pin_with) also returns `None` while the page's frame is being evicted: look it up again, or
//! load it and meet `KeyExists`.
//!
//! # From `DashMap<PageId, FrameId>`
//!
//! You choose the slot: `insert` maps a key to a free slot and never replaces. A slot has one key at a time. There are
//! no guards to values: pin the slot instead. Keys are plain data (see [`Key`]); values are slot numbers, `u32`.
//!
//! # Features
//!
//! `stats` counts every lookup ([`Stats`]); `loom` builds the crate for models, together with `--cfg loom`.
//!
//! The package is `latchfree-flatmap`, the library is `flatmap`.
#![deny(unsafe_code)]

mod batch;
mod bucket;
mod change;
mod config;
mod entry;
mod error;
mod geometry;
mod iter;
mod key;
mod memory;
mod partition;
mod pin;
mod resize;
mod stats;
mod table;
mod validate;

pub use config::{Builder, MissPolicy};
pub use error::{ConfigError, InsertError, OtherPartition, ResizeError};
pub use iter::Iter;
pub use key::{BufferTag, Key};
pub use partition::PartitionGuard;
pub use pin::{PinWord, Pinned};
pub use stats::Stats;
pub use table::{DefaultHashBuilder, FlatMap};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
