//! The one place that chooses between `std`, `loom` and `shuttle`. Not part of the public API: it may change in any
//! release, which is why the sibling crates depend on exactly one version of this one.
//!
//! The switches are `cfg(all(loom, feature = "loom"))`, for every interleaving of small programs with every ordering
//! that their memory allows, and `cfg(all(shuttle, feature = "shuttle"))`, for random ones of longer programs, in
//! sequentially consistent memory. A user's own `--cfg loom` build keeps our `const fn`s.
//! All sides offer the same names:
//!
//! * `atomic`: integer atomics, `fence` and `Ordering`;
//! * `UnsafeCell` with `ConstPtr` and `MutPtr`, which loom and shuttle check for overlapping accesses;
//! * `Mutex` without poisoning, for cold paths;
//! * `Parker`: one thread sleeps, others wake it; a wake before the sleep is not lost;
//! * `Deadline` and `patience`: time, which loom and shuttle replace by an explicit choice;
//! * `Words`: a value in atomic words;
//! * `zeroed_u64`: an array that costs nothing until it is written;
//! * `spin_loop`, `yield_now`;
//! * `held`: which locks the thread holds, in debug builds.

#[cfg(all(loom, feature = "loom", shuttle, feature = "shuttle"))]
compile_error!("the crate is built for loom or for shuttle, not for both");

#[cfg(all(sanitize_thread, not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle")))))]
#[path = "prim/under_tsan.rs"]
mod waits;
#[cfg(not(any(sanitize_thread, all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]
mod waits;
#[cfg(all(loom, feature = "loom"))]
mod with_loom;
#[cfg(all(shuttle, feature = "shuttle"))]
mod with_shuttle;
#[cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]
mod with_std;
#[cfg(not(all(loom, feature = "loom")))]
mod words;

#[cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]
pub use waits::{Mutex, Parker};
#[cfg(all(loom, feature = "loom"))]
pub use with_loom::*;
#[cfg(all(shuttle, feature = "shuttle"))]
pub use with_shuttle::*;
#[cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]
pub use with_std::*;
#[cfg(not(all(loom, feature = "loom")))]
pub use words::Words;

pub mod held;
