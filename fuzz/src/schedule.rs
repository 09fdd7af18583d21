//! Two or three threads on one table, in the order that the input says: they change hands before every operation, and
//! inside operations wherever the table runs user code, which it does without a lock. What they
//! saw must be linearizable.
//!
//! An input is a header of eight bytes, whose seventh is the length of the schedule, the schedule, and then operations.
//! Beyond the schedule's end threads run one after the other.
//!
//! Next: `stage.rs`, the threads that take turns; `schedule/flat.rs` and `schedule/hash.rs`, the tables.

pub mod flat;
pub mod hash;

use std::hash::BuildHasher;

use crate::map::{FuzzHasher, Hashing};
use crate::stage;

/// How many threads there can be.
const MAX_THREADS: u8 = 3;

/// The most operations of one input: a history that is checked as a whole must be short.
const MAX_OPS: usize = 24;

/// The header, the schedule, and the operations of each thread.
pub(crate) struct Script<Op> {
    header: [u8; 8],
    schedule: Vec<u8>,
    /// In each record, the last byte names the thread.
    threads: Vec<Vec<Op>>,
}

impl<Op: Copy> Script<Op> {
    /// What an input stands for; `None` if it ends within the header.
    pub(crate) fn decode(input: &[u8], decode: impl Fn([u8; 4]) -> Op) -> Option<Self> {
        let (header, rest) = input.split_first_chunk::<8>()?;
        let (schedule, rest) = rest.split_at(usize::from(header[6]).min(rest.len()));
        let mut threads = vec![Vec::new(); usize::from(2 + header[7] % (MAX_THREADS - 1))];
        for record in crate::records(rest).take(MAX_OPS) {
            let of = usize::from(record[3]) % threads.len();
            threads[of].push(decode(record));
        }
        Some(Self { header: *header, schedule: schedule.to_vec(), threads })
    }

    /// The operations of all threads.
    #[cfg(test)]
    pub(crate) fn ops(&self) -> impl Iterator<Item = Op> + '_ {
        self.threads.iter().flatten().copied()
    }
}

/// What an input stands for, written by hand.
#[cfg(test)]
pub(crate) fn encode(mut header: [u8; 8], schedule: &[u8], records: &[[u8; 4]]) -> Vec<u8> {
    header[6] = u8::try_from(schedule.len()).expect("a short schedule");
    header.iter().chain(schedule).copied().chain(records.iter().flatten().copied()).collect()
}

/// Hashes as [`Hashing`] does, and lets others go on meanwhile.
#[derive(Debug, Clone, Copy)]
struct Yielding(Hashing);

impl BuildHasher for Yielding {
    type Hasher = FuzzHasher;

    fn build_hasher(&self) -> FuzzHasher {
        stage::point();
        self.0.build_hasher()
    }
}
