//! What the tables are compared with that is no table to share: the same operations on a table without any lock, and
//! loads from memory of the same size, which depend on each other or don't.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::keys::tag;
use super::stage::{Drive, Pass, Stage, Turns, alone, change, dispatch, restore};
use super::steps::{Floor, Hand, Step};
use super::{Task, Work};
use crate::crew::{self, Stop};
use crate::sync::{Sample, SyncError, check};
use crate::table::TagHasher;

/// The names of what is no shared table.
pub const UNSHARED: &str = "hashbrown";
/// Loads each of which depends on the one before.
pub const MEMORY_CHAIN: &str = "memory_chain";
/// Loads that don't depend on each other.
pub const MEMORY_INDEPENDENT: &str = "memory_independent";

/// A table of one thread.
#[derive(Debug)]
pub(super) struct Unshared {
    table: Floor,
    replaced: Vec<AtomicBool>,
    passes: u64,
}

impl Unshared {
    pub(super) fn new(slots: u32) -> Self {
        let replaced: Vec<AtomicBool> = (0..slots).map(|_| AtomicBool::new(false)).collect();
        let mut table = Floor::with_capacity_and_hasher(slots as usize, TagHasher::default());
        let hand = Hand::new(&replaced, 0, 1, 0);
        table.extend((0..u64::from(slots)).map(|index| (tag(index), hand.slot(index))));
        Self { table, replaced, passes: 0 }
    }
}

impl Drive for Unshared {
    fn drive<S: Step>(&mut self, step: &S, _: Work, slice: Duration) -> Result<Sample, SyncError> {
        let mut hand = Hand::new(&self.replaced, 0, 1, self.passes);
        let sample = alone(slice, step.operations(), || step.once(&mut hand, &mut self.table));
        check(UNSHARED, &[("wrong answers", hand.wrong, 0)])?;
        Ok(sample)
    }

    fn change(&mut self, _: Work, slice: Duration) -> Result<Pass, SyncError> {
        let mut hand = Hand::new(&self.replaced, 0, 1, self.passes);
        Turns::all(UNSHARED, 1, &[change(&mut hand, &mut self.table, slice)])
    }
}

impl Stage for Unshared {
    fn name(&self) -> &'static str {
        UNSHARED
    }

    fn run(&mut self, work: Work, slice: Duration) -> Result<Pass, SyncError> {
        self.passes += 1;
        dispatch(self, work, slice)
    }

    fn restore(&mut self) -> Result<(), SyncError> {
        restore(UNSHARED, &Hand::new(&self.replaced, 0, 1, 0), &mut self.table)
    }

    fn bytes_per_slot(&self) -> Option<f64> {
        Some(self.table.allocation_size() as f64 / self.replaced.len() as f64)
    }
}

/// A cache line that holds its own index.
#[derive(Debug)]
#[repr(align(64))]
struct Line(u64);

/// As much memory as flatmap takes.
#[derive(Debug)]
pub(super) struct Memory {
    lines: Box<[Line]>,
    passes: u64,
}

impl Memory {
    /// So many bytes, rounded up to a line.
    pub(super) fn new(bytes: usize) -> Self {
        let lines = bytes.div_ceil(size_of::<Line>()).max(1) as u64;
        Self { lines: (0..lines).map(Line).collect(), passes: 0 }
    }

    /// A load; `carry`, which is 0, is what the last one differed by from the right one.
    #[inline]
    fn load(&self, dice: &mut fastrand::Rng, carry: u64) -> u64 {
        let index = (((dice.u64(..) >> 32) * self.lines.len() as u64) >> 32) + carry;
        std::hint::black_box(self.lines[index as usize].0) ^ index
    }

    fn loads(&self, work: Work, slice: Duration) -> Result<Sample, SyncError> {
        let chained = work.task == Task::HitChain;
        let hand = |thread| fastrand::Rng::with_seed((self.passes << 16) + u64::from(thread));
        let load = |dice: &mut fastrand::Rng, carry: &mut u64, wrong: &mut u64| {
            let differs = self.load(dice, if chained { *carry } else { 0 });
            *carry = differs;
            *wrong += differs;
        };
        if work.threads == 1 {
            let (mut dice, mut carry, mut wrong) = (hand(0), 0, 0);
            let sample = alone(slice, 1, || load(&mut dice, &mut carry, &mut wrong));
            check(self.name_of(work), &[("wrong words", wrong, 0)])?;
            return Ok(sample);
        }
        let shift = crew::shift(work.threads, slice, |thread, stop: &Stop| {
            let (mut dice, mut carry, mut wrong) = (hand(thread), 0, 0);
            (stop.repeat_until_asked(|| load(&mut dice, &mut carry, &mut wrong)), wrong)
        })?;
        check(self.name_of(work), &[("wrong words", shift.parts.iter().map(|part| part.1).sum(), 0)])?;
        Ok(Sample::of_workers(work.threads, shift.wall_ns, shift.parts.iter().map(|part| part.0).sum()))
    }

    fn name_of(&self, work: Work) -> &'static str {
        if work.task == Task::HitChain { MEMORY_CHAIN } else { MEMORY_INDEPENDENT }
    }
}

impl Stage for Memory {
    fn name(&self) -> &'static str {
        MEMORY_INDEPENDENT
    }

    /// Of the lookups there are only those in a chain and those that don't depend on each other.
    fn run(&mut self, work: Work, slice: Duration) -> Result<Pass, SyncError> {
        self.passes += 1;
        self.loads(work, slice).map(Pass::Of)
    }

    fn restore(&mut self) -> Result<(), SyncError> {
        Ok(())
    }

    fn bytes_per_slot(&self) -> Option<f64> {
        None
    }
}
