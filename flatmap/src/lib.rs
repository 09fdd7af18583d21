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
//! holds is found without a search. A table of 20-byte keys takes 40 bytes a slot, and 16 KiB
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
//! # When, and when not
//!
//! Take it if there is an array of slots and many threads ask at every access which slot has a key: a buffer pool, a page or
//! block cache, a table of open files. What others do better:
//!
//! * A map whose values are more than a slot's number: `papaya` (lookups without a lock), `scc` or `dashmap` (many writers).
//! * Misses and single-threaded throughput of a table that lies in memory rather than in the caches: `dashmap` and a
//!   `Mutex<HashMap>` need one cache miss where this needs two (DESIGN.md, "Where `flatmap` loses").
//! * One thread, or a lock that is never contended: `Mutex<HashMap<K, u32>>`.
//!
//! # Coming from elsewhere
//!
//! | `DashMap<K, u32>` | `RwLock<HashMap<K, u32>>` | `FlatMap<K>` |
//! |---|---|---|
//! | `get(&k).map(\|r\| *r)` | `read().get(&k).copied()` | [`get(&k)`](FlatMap::get) |
//! | `contains_key(&k)` | `read().contains_key(&k)` | `get(&k).is_some()`, or [`holds(slot, &k)`](FlatMap::holds) |
//! | `insert(k, slot)` | `write().insert(k, slot)` | [`insert(k, slot)?`](FlatMap::insert): never replaces |
//! | `entry(k)` | `write().entry(k)` | `insert`, and on `KeyExists { slot }` that slot; or [`partition(&k)`](FlatMap::partition) |
//! | `remove(&k)` | `write().remove(&k)` | [`remove(&k)`](FlatMap::remove), [`remove_if(&k, slot)`](FlatMap::remove_if) |
//! | a guard that lives on | the lock held | [`pin_with`](FlatMap::pin_with): the slot is pinned, nothing is locked |
//! | a second map from slot to key | the same | [`key_of(slot)`](FlatMap::key_of), [`remove_slot(slot)`](FlatMap::remove_slot) |
//! | `iter()` | `read().iter()` | [`iter()`](FlatMap::iter), by slot, with no lock |
//! | `with_capacity(n)`, grows when full | the same | [`with_slots(n)`](FlatMap::with_slots), [`set_slots`](FlatMap::set_slots) |
//! | `len()`, sums over shards | `read().len()` | [`len()`](FlatMap::len), sums over partitions |
//!
//! You choose the slot, and a slot has one key at a time. Keys are plain data (see [`Key`]): no padding, no pointers.
//! `parking_lot`'s locks have no counterpart here: there is nothing to hold.
//!
//! # Limits
//!
//! 1 to 1,073,741,822 slots, up to 2,147,483,648 buckets, 1 to 65,536 partitions. A key of any size without padding. A chain has as
//! many entries as keys share a bucket: a hasher that maps all keys to one number makes a list of the table. A bucket's stamp has 32
//! bits: a lookup that sleeps through exactly 2^32 changes of one bucket could miss one. On 32-bit and non-Unix systems
//! the arrays are segments that double, and go back only with the table.
//!
//! # Performance
//!
//! A lookup waits for two cache lines one after the other, a bucket's head and an entry, and writes none; one hit in five waits
//! for one more, as its key is not the first of its chain. In a table larger than the caches, lookups that don't depend on each other overlap;
//! [`get_many`](FlatMap::get_many) makes sure of it, and is two to three times as fast there. In a small table it is slower than
//! single lookups. More buckets make chains shorter and cost 8 bytes each; [`huge_pages`](Builder::huge_pages) saves misses of the TLB,
//! 0 to 30 % by machine. The partition of an insert or remove is locked for two or three cache misses. Growing costs a lookup
//! a second try while its bucket is split: 0.7 of the speed at rest while a resizer runs without pause. Figures, also those where
//! others are faster: `cargo run --release -p bench -- flatmap` in the repository.
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
