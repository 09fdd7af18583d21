//! Locks for storage engines, with their promises stated.
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
//! # Which type
//!
//! | what you have | what to take |
//! |---|---|
//! | data that some read and some write | [`LwLock`]: a reader-writer lock in the manner of PostgreSQL's LWLock, with tries, timed tries and downgrade; nobody who waits for it starves |
//! | work that one thread does for all who come meanwhile, as in group commit | [`LwLock::write_or_wait`] |
//! | threads that need to know that a writer got past some point, and not the lock | [`ProgressLock`] |
//! | plain data without padding, up to a few cache lines, read far more often than written | [`SeqLock`]: readers copy it out, as a rule without writing anything |
//! | the same in your own atomic words, with a lock of your own for the writers | [`Stamp`] |
//! | a count that decides what happens next, and threads that would rather count later than wait | [`CondLock`]: get the lock, or leave your count behind; bounded lag, nothing lost |
//! | a count that is often read, and exact as long as one thread counts | [`DeferredCounter`] |
//! | a count that is seldom read, or only compared with a limit | [`ShardedCounter`] |
//! | many locks of one kind, and the question how long they are waited for | [`Tranche`] |
//!
//! # Promises
//!
//! A label such as SY-4 names a promise in the repository's `GUARANTEES.md`, which names the test or model of each.
//! *Wait-free* means that the call ends after a bounded number of its own steps, *lock-free* that some thread's call
//! does, and *blocking* that a sleeping thread can make others wait.
//!
//! | call | progress |
//! |---|---|
//! | `try_read`, `try_write` of any lock here | lock-free; one that fails writes no shared memory |
//! | [`SeqLock::try_read`], [`Stamp`], `approx`, `pending`, `progress`, `is_locked` | wait-free |
//! | [`SeqLock::read`] | wait-free for 16 tries, then blocking for one publication |
//! | [`CondLock::update`], [`DeferredCounter::add`] | below the cap they wait for no holder, at it they are blocking |
//! | [`ShardedCounter::add`] | wait-free as long as the shard holds less than 256 |
//! | all others that take a lock or wait | blocking; a wait parks the thread after a short, bounded spin |
//!
//! Nothing allocates but constructors, waits and those who end a wait (SY-15). All of it works in thread-local
//! destructors and in the child of a `fork` (SY-16). Debug builds panic where a thread would
//! wait for ever for a lock that it holds. They keep a list of the locks that each thread holds, which allocates.
//!
//! # Layout
//!
//! ```text
//! LwLock      [ word | queue | id | tranche | your data ]      24 bytes and the data; the word first
//! word        readers, WRITER, HAS_WAITERS, WAKING, NO_BARGING, HAS_WATCHERS      32 bits, all decisions
//! CondLock    [ LwLock + value ]   [ marks ]   [ slot ][ slot ] ... 32 of them, a cache line each
//! SeqLock     [ stamp | your words ]   [ writers' LwLock ]   [ publication's mutex ]
//! ```
//!
//! # When, and when not
//!
//! * A critical section of a few instructions without readers: `parking_lot::Mutex` or std's is smaller and as fast.
//! * A lock held over an `.await`: guards here are not `Send`; take an asynchronous lock.
//! * Data behind a pointer that is replaced as a whole: `arc-swap`.
//! * An uncontended lock of the least size: `parking_lot`'s has one byte or eight, an [`LwLock`] 24.
//!
//! # Coming from elsewhere
//!
//! | std, parking_lot | here |
//! |---|---|
//! | `RwLock::read`, `write`, `try_read`, `try_write` | the same of [`LwLock`], without poisoning |
//! | `try_read_for`, `try_write_for` | the same |
//! | `RwLockWriteGuard::downgrade` | [`WriteGuard::downgrade`] |
//! | `RwLockUpgradableReadGuard` | none: [`LwLock::write`], then look again |
//! | `Mutex` and `Condvar` for "somebody did it meanwhile" | [`LwLock::write_or_wait`] |
//! | `Mutex<u64>` and `Condvar` for "has it got past n?" | [`ProgressLock::wait_past`] |
//! | `AtomicI64` that all threads add to | [`DeferredCounter`], [`ShardedCounter`] |
//! | `seqlock::SeqLock` | [`SeqLock`], without undefined behaviour by its readers' races |
//! | `Mutex<State>` and `try_lock`, else drop the work | [`CondLock::update`]: the count is kept for the next holder |
//!
//! # Limits and performance
//!
//! 16,777,215 readers of a lock, and one more panics; counts have 32 slots a counter and caps of up to 2^32 - 1, 16 tries of a
//! [`SeqLock::read`]. A free lock is one exchange each way; who has to wait spins for at most 30 pauses and seven yields, then
//! parks. Under contention a lock that starves nobody hands over where others let the fastest barge: DESIGN.md in the repository, "Where `sync`
//! loses", has the figures.
//!
//! # Features
//!
//! None is on by default.
//!
//! | feature | what it adds |
//! |---|---|
//! | `stats` | each [`Tranche`] records how often and for how long its locks were taken: `Tranche::stats` |
//! | `inject` | the module `inject`: tests force rare outcomes, one by one, on one thread |
//! | `lock_api` | `RawLwLock`, for the types of the crate `lock_api` 0.5; needs Rust 1.95 |
//! | `loom` | together with `--cfg loom`, the locks run on loom's primitives, for models of your own. With `--cfg loom` alone they stay as they are, `const` constructors and all |
//!
//! Rust 1.85 or later; edition 2024. It needs `std`.
//!
//! # The name
//!
//! The package is `latchfree-sync`, the library is `sync`. Beside `use std::sync`, rename it in your
//! manifest: `locks = { package = "latchfree-sync", version = "0.1" }`.

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
