//! Memory for arrays that grow and shrink without moving. Next: `memory/mapped.rs`, where the system can reserve
//! addresses without giving memory; elsewhere `memory/segments.rs`.
//!
//! A [`Words`] holds *elements*, each of so many double words. Address space for the most elements is reserved when it is
//! made; a page gets memory when it is first written, and all of it is zero until then.

#[cfg(any(test, not(all(unix, target_pointer_width = "64", not(miri), not(all(loom, feature = "loom"))))))]
mod segments;
#[cfg(not(all(unix, target_pointer_width = "64", not(miri), not(all(loom, feature = "loom")))))]
pub(crate) use segments::Words;

#[cfg(all(unix, target_pointer_width = "64", not(miri), not(all(loom, feature = "loom"))))]
#[allow(unsafe_code, reason = "the system calls that reserve memory and give it back")]
mod mapped;
#[cfg(all(unix, target_pointer_width = "64", not(miri), not(all(loom, feature = "loom"))))]
pub(crate) use mapped::Words;
