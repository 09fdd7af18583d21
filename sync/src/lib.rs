//! Locks for storage engines, with their promises stated.
//!
//! | | |
//! |---|---|
//! | [`LwLock`] | a reader-writer lock in the manner of PostgreSQL's LWLock: shared and exclusive modes, conditional and timed tries, [`write_or_wait`](LwLock::write_or_wait) for group commit, downgrade. Holders and flags are one word; waiting parks the thread; nobody who waits for it starves |
//! | [`ProgressLock`] | such a lock whose holder publishes how far it has come, for others to wait for |
//! | [`CondLock`] | get the lock, or leave your count behind: bounded lag, nothing lost |
//! | [`DeferredCounter`] | a counter that is exact alone and lags by a stated bound among many |
//! | [`ShardedCounter`] | a counter that is cheapest to add to, and to compare with a far value |
//! | [`SeqLock`], [`Stamp`] | small values that readers copy out, as a rule without writing anything |
//! | [`Tranche`] | a named family of locks; with feature `stats` it records how long they were waited for |
//!
//! ```
//! use sync::LwLock;
//!
//! static PAGES: LwLock<Vec<u32>> = LwLock::new(Vec::new());
//!
//! PAGES.write().push(7);
//! assert_eq!(*PAGES.read(), [7]);
//! ```
//!
//! The package is `latchfree-sync`, the library is `sync`. Beside `use std::sync`, rename it in your
//! manifest: `locks = { package = "latchfree-sync", version = "0.1" }`.
//!
//! # Tests of your own under loom
//!
//! With `--cfg loom` and this crate's feature `loom` the locks run on loom's primitives; with `--cfg loom`
//! alone they stay as they are, `const` constructors and all.

mod condlock;
mod counter;
#[cfg_attr(not(feature = "inject"), doc(hidden))]
pub mod inject;
#[cfg(all(feature = "lock_api", not(all(loom, feature = "loom"))))]
mod lock_api;
mod lwlock;
#[doc(hidden)]
pub mod prim;
mod progress;
mod seqlock;
mod slots;
mod tranche;

#[cfg(all(feature = "lock_api", not(all(loom, feature = "loom"))))]
pub use crate::lock_api::RawLwLock;
pub use condlock::{Absorb, CondGuard, CondLock};
pub use counter::{Counted, DeferredCounter, ShardedCounter};
pub use lwlock::{LwLock, ReadGuard, WriteGuard};
pub use progress::{Progress, ProgressGuard, ProgressLock};
pub use seqlock::{Seen, SeqLock, SeqLockGuard, Stamp};
pub use tranche::Tranche;
#[cfg(feature = "stats")]
pub use tranche::{OpSummary, TrancheStats};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
