//! Concurrent linear hashing: a map and a multimap that grow *and shrink* one bucket at a time.
//!
//! ```
//! use lhash::LHashMap;
//!
//! let sessions: LHashMap<String, u64> = LHashMap::new();
//! std::thread::scope(|s| {
//!     for thread in 0..4 {
//!         let sessions = &sessions;
//!         s.spawn(move || {
//!             let sessions = sessions.pin();
//!             sessions.insert(format!("session {thread}"), thread);
//!         });
//!     }
//! });
//! let pin = sessions.pin();
//! assert_eq!(pin.get("session 3"), Some(&3)); // took no lock; the reference lives as long as the pin
//! assert_eq!(pin.remove("session 3"), Some(&3));
//! assert_eq!(sessions.len(), 3);
//! ```
//!
//! | you want | use |
//! |---|---|
//! | a map that many threads read and write | [`LHashMap`] |
//! | several values for a key, bulk deletes | [`LHashMultiMap`] |
//! | to choose how entries are counted, when buckets are split and merged | [`LHashMap::builder`], [`CountPolicy`], [`ShrinkPolicy`] |
//!
//! # Layout
//!
//! ```text
//! directory   segments of buckets, four to a doubling; they are added and given back, never moved
//!                 |
//! bucket      [ control | slot | slot | slot | slot | slot | slot | slot ]        64 bytes
//!                 |         |
//!                 |         +--> node  [ key | value ]    never moves; freed when no pin can see it
//!                 |
//! overflow    [ link    | slot | slot | slot | slot | slot | slot | slot ]        64 bytes
//!
//! control     stamp, first overflow page, MOVING, LOCKED
//! slot        32 bits of the hash, the node's number
//! ```
//!
//! With more than `fill_factor` entries a bucket on average, the next bucket in line is split: of its entries, half move
//! to a new bucket at the end. Below a share of that, the last bucket is merged back. There is no moment when the
//! whole table moves, and a split needs no hash: the slot has it. Linear hashing is W. Litwin's (*Linear
//! hashing: a new tool for file and table addressing*, 1980); the names are those of PostgreSQL's hash index.
//!
//! # What it promises
//!
//! * Lookups take no lock and are linearizable, hits *and misses*, also during splits and merges (LH-1); so are changes of one
//!   key (LH-2, of a multimap LH-9).
//! * References live as long as the [`pin`](LHashMap::pin) under which they were found; nothing has to be cloned (LH-3).
//! * No user code runs under a lock: closures, `Hash`, `Eq` and `Drop` may use the same map, and may panic (LH-4).
//! * One bucket at a time is split or merged, and nobody waits for more than a move of their own bucket (LH-5).
//! * Iteration meets each entry that is there throughout exactly once, and says so of no other (LH-7).
//! * The count loses nothing, and [`CountPolicy`] says how far it may lag (LH-6).
//! * Memory comes back (LH-8); a map that was sized makes no split for what it was sized for (LH-10).
//! * It works in thread-local destructors and in the child of a `fork` (LH-11).
//! * With feature `redo`, every change is logged, and a map is rebuilt or followed from the log and its snapshots (LH-12,
//!   LH-13, LH-14, LH-15, LH-16, LH-17, LH-18: module `redo`).
//!
//! The labels name promises in the repository's GUARANTEES.md, each with its test or model.
//!
//! # Costs
//!
//! * A pin that is kept keeps everything in memory that is removed meanwhile, in every map of the process.
//! * An entry is behind its bucket, two cache misses away in a large map.
//! * Keys and values must be `Send + 'static` for what removes or replaces them: they may be dropped later, elsewhere.
//! * All keys whose hashes agree in 32 bits share a chain.
//!
//! # When, and when not
//!
//! Take it for a map that grows and shrinks while threads must not wait for it (sessions, an index in memory), for bounded
//! memory, for duplicates, or for a count that says what it is worth. What others do better:
//!
//! * Lookups of a map that seldom changes: `papaya`, or an `ArcSwap<HashMap>`.
//! * Many writers, and a pause at a resize does no harm: `dashmap` and `scc` are 1.1 to 1.7 times as fast in changes and misses.
//! * Values that are not `Send + 'static`, or that must be changed in place by `&mut`: `dashmap`'s guards.
//! * One thread, or a lock that is never contended: a `Mutex<HashMap>`.
//!
//! # Coming from elsewhere
//!
//! | `DashMap` | `RwLock<HashMap>` | here, with `let map = map.pin();` |
//! |---|---|---|
//! | `get(&k)`, a guard | `read().get(&k)` | [`map.get(&k)`](Pinned::get), a reference as long as the pin; [`get_cloned`](LHashMap::get_cloned) without one |
//! | `insert(k, v)` | `write().insert(k, v)` | [`map.insert(k, v)`](Pinned::insert): returns a reference to the old value |
//! | `get_mut(&k)`, `alter` | `write().get_mut(&k)` | [`map.update(k, f)`](Pinned::update): the new value is made from the old one |
//! | `entry(k).or_insert_with(f)` | the same | [`map.get_or_insert_with(k, f)`](Pinned::get_or_insert_with) |
//! | `entry(k)` and a match | the same | [`map.compute(k, f)`](Pinned::compute) |
//! | `remove(&k)`, `remove_if` | `write().remove(&k)` | [`map.remove(&k)`](Pinned::remove), [`map.remove_if`](Pinned::remove_if) |
//! | `retain`, `clear` | the same | [`map.retain`](Pinned::retain), [`map.clear`](Pinned::clear) |
//! | `iter()` locks a shard | `read().iter()` | [`map.iter()`](Pinned::iter): no lock, may run for minutes |
//! | `len()` sums over shards | `read().len()` | [`map.len()`](Pinned::len), as the [`CountPolicy`] says; [`exact_len`](LHashMap::exact_len) |
//! | `shrink_to_fit` by hand, all at once | the same | by itself, a bucket at a time; [`ShrinkPolicy`] |
//! | `DashMap<K, Vec<V>>` | the same | [`LHashMultiMap`] |
//!
//! A guard of `dashmap` held over another call can hang; a pin can't, it only keeps memory. Where a `parking_lot` lock was held to
//! change two keys together, it is still needed: operations here are of one key.
//!
//! # Limits
//!
//! 2^32 - 1 entries, 2^32 buckets, 2^30 - 1 overflow pages; 32 bits of each hash are kept. A fill factor of 1 to 1,048,576, pages of 1 to 65,536
//! slots (7 by default, a cache line). What exceeds them is an error of `build` or `try_reserve`, and a panic of an insert that
//! changes nothing.
//!
//! # Performance
//!
//! A hit waits for two cache lines, the bucket's and the node's, a miss for one; neither writes anything but the pin. An insert takes
//! about six locked instructions, a split moves half a bucket (3 or 4 entries) and is paid by one insert in five. Figures, with those
//! where others are faster: DESIGN.md in the repository, "Where `lhash` loses".
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `serde` | `Serialize` and `Deserialize`: a map is a map, a multimap a sequence of pairs |
//! | `rayon` | `LHashMap::par_map` and `par_for_each`, over families of buckets |
//! | `stats` | [`Stats::counted`], [`waited`](Stats::waited), [`deferred`](Stats::deferred) and [`folded`](Stats::folded), counted at every insert; [`Stats::max_overflow_pages`] |
//! | `redo` | [`redo`]: maps whose changes are in a log, snapshots, recovery, and a standby that follows it |
//! | `loom` | the crate on loom's primitives; only together with `--cfg loom` |

mod addr;
mod bulk;
mod chain;
mod change;
mod chunks;
#[cfg(feature = "redo")]
mod clear;
mod compute;
mod config;
mod draft;
mod entry;
mod error;
mod family;
mod ids;
#[doc(hidden)]
pub mod internals;
mod iter;
mod lookup;
mod map;
mod meta;
#[cfg(doctest)]
mod misuse;
mod multimap;
mod nodes;
mod observe;
mod outcome;
mod page;
#[cfg(feature = "rayon")]
mod par;
mod pinned;
mod pinned_multi;
mod policy;
mod reclaim;
#[cfg(feature = "redo")]
pub mod redo;
mod resize;
mod retire;
mod split;
mod stats;
mod table;
mod tally;
mod validate;
#[cfg(feature = "serde")]
mod with_serde;
mod word;

pub use config::{Builder, DefaultHashBuilder, Map, MultiMap};
pub use error::{ConfigError, OutOfMemory, ReserveError};
pub use iter::{IntoIter, Iter};
pub use map::LHashMap;
pub use multimap::LHashMultiMap;
pub use outcome::{Computed, OccupiedError, Operation};
pub use pinned::Pinned;
pub use pinned_multi::{PinnedMulti, Vacuumed};
pub use policy::{CountPolicy, ShrinkPolicy};
pub use stats::Stats;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
