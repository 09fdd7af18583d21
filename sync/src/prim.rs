//! The one place that chooses between `std` and `loom`. Not part of the public API: it may change in any
//! release, which is why the sibling crates depend on exactly one version of this one.
//!
//! The switch is `cfg(all(loom, feature = "loom"))`: a user's own `--cfg loom` build keeps our `const fn`s.
//! Both sides offer the same names:
//!
//! * `atomic`: integer atomics, `fence` and `Ordering`;
//! * `UnsafeCell` with `ConstPtr` and `MutPtr`, which loom checks for overlapping accesses;
//! * `Mutex` without poisoning, for cold paths;
//! * `Parker`: one thread sleeps, others wake it; a wake before the sleep is not lost;
//! * `Deadline` and `patience`: time, which loom replaces by an explicit choice;
//! * `Words`: a value in atomic words;
//! * `zeroed_u64`: an array that costs nothing until it is written;
//! * `spin_loop`, `yield_now`;
//! * `held`: which locks the thread holds, in debug builds.

#[cfg(all(loom, feature = "loom"))]
mod with_loom;
#[cfg(not(all(loom, feature = "loom")))]
mod with_std;
#[cfg(not(all(loom, feature = "loom")))]
mod words;

#[cfg(all(loom, feature = "loom"))]
pub use with_loom::*;
#[cfg(not(all(loom, feature = "loom")))]
pub use with_std::*;
#[cfg(not(all(loom, feature = "loom")))]
pub use words::Words;

pub mod held;
