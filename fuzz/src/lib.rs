//! What the fuzz targets do: the operations that an input stands for, the models that predict their results,
//! and the seeds from which fuzzing starts. The targets themselves only call `run`.
//!
//! An input is a header and then records of four bytes, one an operation; each module says what they mean. So
//! an input is easy to write by hand, and a mutated byte changes one operation, not all that follow.
//!
//! Next: `lock.rs`, a small one.
#![forbid(unsafe_code)]

pub mod addressing;
pub mod counters;
pub mod hash;
pub mod lock;
pub mod map;
pub mod redo;
pub mod schedule;
pub mod seqlock;
mod stage;
pub mod trace;

// The checker of histories and what it checks against, shared with the tests of the tables.
#[path = "../../flatmap/tests/linear/checker.rs"]
mod checker;
#[path = "../../flatmap/tests/linear/spec.rs"]
mod flatmap_spec;
#[path = "../../lhash/tests/linear/spec.rs"]
mod lhash_spec;

/// The whole records of `input`; what is left over at the end stands for nothing.
fn records(input: &[u8]) -> impl Iterator<Item = [u8; 4]> + '_ {
    input.as_chunks().0.iter().copied()
}

#[cfg(test)]
mod corpus;
