//! Concurrent linear hashing: a map and a multimap that grow *and shrink* one bucket at a time.

mod addr;
mod chain;
mod chunks;
mod config;
mod draft;
mod entry;
mod error;
mod family;
mod ids;
mod iter;
mod map;
mod meta;
mod multimap;
mod nodes;
mod outcome;
mod page;
#[cfg(feature = "rayon")]
mod par;
mod pinned;
mod reclaim;
mod split;
mod stats;
mod table;
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
