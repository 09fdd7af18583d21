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
//! * Lookups take no lock and are linearizable, hits *and misses*, also during splits and merges.
//! * References live as long as the [`pin`](LHashMap::pin) under which they were found; nothing has to be cloned.
//! * No user code runs under a lock: closures, `Hash`, `Eq` and `Drop` may use the same map, and may panic.
//! * Iteration meets each entry that is there throughout exactly once, and says so of no other.
//! * The count loses nothing, and [`CountPolicy`] says how far it may lag.
//! * Memory comes back.
//!
//! Each promise has a label and names its test in GUARANTEES.md in the repository: LH-1 to LH-15.
//!
//! # Costs
//!
//! * A pin that is kept keeps everything in memory that is removed meanwhile, in every map of the process.
//! * An entry is behind its bucket, two cache misses away in a large map.
//! * Keys and values must be `Send + 'static` for what removes or replaces them: they may be dropped later, elsewhere.
//! * All keys whose hashes agree in 32 bits share a chain.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `serde` | `Serialize` and `Deserialize`: a map is a map, a multimap a sequence of pairs |
//! | `rayon` | `LHashMap::par_map` and `par_for_each`, over families of buckets |
//! | `stats` | [`Stats::counted`], [`waited`](Stats::waited), [`deferred`](Stats::deferred) and [`folded`](Stats::folded), counted at every insert; [`Stats::max_overflow_pages`] |
//! | `redo` | [`redo`]: maps whose changes are in a log, recovery from it, and a standby that follows it |
//! | `loom` | the crate on loom's primitives; only together with `--cfg loom` |

mod addr;
mod bulk;
mod chain;
mod chunks;
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

pub use config::{Builder, CountPolicy, DefaultHashBuilder, Map, MultiMap, ShrinkPolicy};
pub use error::{ConfigError, OutOfMemory, ReserveError};
pub use iter::{IntoIter, Iter};
pub use map::LHashMap;
pub use multimap::{LHashMultiMap, PinnedMulti, Vacuumed};
pub use outcome::{Computed, OccupiedError, Operation};
pub use pinned::Pinned;
pub use stats::Stats;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
