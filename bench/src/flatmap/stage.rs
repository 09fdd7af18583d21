//! A full table, for one operation after the other, on one or several threads.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::keys::tag;
use super::resizer::beside;
use super::steps::{Batch, Chain, Hand, Handle, Hit, Hot, Miss, Mix, Shared, Step};
use super::{Task, Work};
use crate::counting::Count;
use crate::crew::{self, Alone, Stop};
use crate::rounds::Outcome;
use crate::sync::{Sample, SyncError, check};
use crate::table::{Inserted, Table};

/// How many steps of one thread are timed as one.
const CHUNK: u64 = 256;
/// At most so many keys of a thread are removed before they are inserted again, and at most a quarter of its own.
const CHANGED: u64 = 65_536;

/// Something that can be measured.
pub trait Stage {
    /// The name in the output.
    fn name(&self) -> &'static str;

    /// Does the work for about as long as that, and checks every answer.
    ///
    /// # Errors
    ///
    /// If an answer was wrong.
    fn run(&mut self, work: Work, slice: Duration) -> Result<Pass, SyncError>;

    /// Puts the first keys back where others have taken slots over.
    ///
    /// # Errors
    ///
    /// If one is not there.
    fn restore(&mut self) -> Result<(), SyncError>;

    /// Bytes for each slot, where the table can tell.
    fn bytes_per_slot(&self) -> Option<f64>;
}

/// What came out of a pass.
#[derive(Debug)]
pub enum Pass {
    /// One operation.
    Of(Sample),
    /// Two that take turns.
    Change {
        /// Inserts.
        inserts: Sample,
        /// Removes.
        removes: Sample,
    },
}

/// Two that take turns are judged apart.
impl Outcome for Pass {
    fn time_ns(&self) -> f64 {
        match self {
            Self::Of(sample) => sample.time_ns(),
            Self::Change { inserts, removes } => inserts.time_ns() + removes.time_ns(),
        }
    }

    fn latency(&self) -> Option<&hdrhistogram::Histogram<u64>> {
        None
    }
}

/// Lets hands repeat a step.
pub(super) trait Drive {
    fn drive<S: Step>(&mut self, step: &S, work: Work, slice: Duration) -> Result<Sample, SyncError>;

    fn change(&mut self, work: Work, slice: Duration) -> Result<Pass, SyncError>;
}

pub(super) fn dispatch(driver: &mut impl Drive, work: Work, slice: Duration) -> Result<Pass, SyncError> {
    let sample = match work.task {
        Task::Hit => driver.drive(&Hit, work, slice),
        Task::HitChain => driver.drive(&Chain, work, slice),
        Task::Miss => driver.drive(&Miss, work, slice),
        Task::Hot => driver.drive(&Hot, work, slice),
        Task::HitBatch(batch) => driver.drive(&Batch(batch as usize), work, slice),
        Task::Mix => driver.drive(&Mix, work, slice),
        Task::Change => return driver.change(work, slice),
    };
    sample.map(Pass::Of)
}

/// One thread, which repeats a step; a time without what the scheduler gives to others.
pub(super) fn alone(slice: Duration, operations: u64, once: impl FnMut()) -> Sample {
    let Alone { chunk, chunk_ns, .. } = crew::alone_in_chunks(CHUNK, slice, once);
    Sample::of_workers(1, chunk_ns, chunk * operations)
}

/// A table that threads share.
#[derive(Debug)]
pub(super) struct Full<T> {
    table: T,
    replaced: Vec<AtomicBool>,
    passes: u64,
    /// What the filled table takes: what it says itself, else what was requested for it.
    bytes: Option<f64>,
}

impl<T: Table> Full<T> {
    pub(super) fn new(slots: u32) -> Result<Self, SyncError> {
        let replaced = (0..slots).map(|_| AtomicBool::new(false)).collect();
        let count = Count::begin();
        let mut full = Self { table: T::with_slots(slots), replaced, passes: 0, bytes: None };
        let hand = full.hand(0, 1);
        let refused = |index: &u64| full.table.insert(&tag(*index), hand.slot(*index)) != Inserted::New;
        let refused = (0..u64::from(slots)).filter(refused).count();
        check(T::NAME, &[("refused inserts", refused as u64, 0)])?;
        let told = full.table.memory_bytes().map(|bytes| bytes as f64);
        full.bytes = told.or(count.held_bytes().map(|bytes| bytes as f64));
        Ok(full)
    }

    pub(super) fn table(&self) -> &T {
        &self.table
    }

    pub(super) fn hand(&self, thread: u32, threads: u32) -> Hand<'_> {
        Hand::new(&self.replaced, thread, threads, self.passes)
    }
}

impl<T: Table> Drive for &Full<T> {
    fn drive<S: Step>(&mut self, step: &S, work: Work, slice: Duration) -> Result<Sample, SyncError> {
        if work.threads == 1 {
            let (mut hand, mut table) = (self.hand(0, 1), Shared(&self.table));
            let sample = alone(slice, step.operations(), || step.once(&mut hand, &mut table));
            check(T::NAME, &[("wrong answers", hand.wrong, 0)])?;
            return Ok(sample);
        }
        let shift = crew::shift(work.threads, slice, |thread, stop: &Stop| {
            let (mut hand, mut table) = (self.hand(thread, work.threads), Shared(&self.table));
            let steps = stop.repeat_until_asked(|| step.once(&mut hand, &mut table));
            (steps, hand.wrong)
        })?;
        check(T::NAME, &[("wrong answers", shift.parts.iter().map(|part| part.1).sum(), 0)])?;
        let steps: u64 = shift.parts.iter().map(|part| part.0).sum();
        Ok(Sample::of_workers(work.threads, shift.wall_ns, steps * step.operations()))
    }

    fn change(&mut self, work: Work, slice: Duration) -> Result<Pass, SyncError> {
        let turn = |thread| {
            let (mut hand, mut table) = (self.hand(thread, work.threads), Shared(&self.table));
            change(&mut hand, &mut table, slice)
        };
        let turns = if work.threads == 1 { vec![turn(0)] } else { crew::run(work.threads, turn, || ())? };
        Turns::all(T::NAME, work.threads, &turns)
    }
}

impl<T: Table> Stage for Full<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn run(&mut self, work: Work, slice: Duration) -> Result<Pass, SyncError> {
        self.passes += 1;
        let mut full = &*self;
        if work.resizing {
            beside(&full.table, full.replaced.len() as u32, || dispatch(&mut full, work, slice))?
        } else {
            dispatch(&mut full, work, slice)
        }
    }

    fn restore(&mut self) -> Result<(), SyncError> {
        let hand = self.hand(0, 1);
        restore(T::NAME, &hand, &mut Shared(&self.table))
    }

    fn bytes_per_slot(&self) -> Option<f64> {
        Some(self.bytes? / self.replaced.len() as f64)
    }
}

/// What the turns of one thread took.
#[derive(Debug, Default)]
pub(super) struct Turns {
    insert_ns: u64,
    remove_ns: u64,
    each: u64,
    wrong: u64,
}

impl Turns {
    pub(super) fn all(name: &'static str, threads: u32, turns: &[Self]) -> Result<Pass, SyncError> {
        let sum = |figure: fn(&Self) -> u64| turns.iter().map(figure).sum::<u64>();
        check(name, &[("wrong answers", sum(|turn| turn.wrong), 0)])?;
        let sample = |ns: u64| Sample::of_workers(threads, ns / u64::from(threads), sum(|turn| turn.each));
        Ok(Pass::Change {
            inserts: sample(sum(|turn| turn.insert_ns)),
            removes: sample(sum(|turn| turn.remove_ns)),
        })
    }
}

/// Removes some keys and inserts them again, in turns.
pub(super) fn change(hand: &mut Hand<'_>, table: &mut impl Handle, slice: Duration) -> Turns {
    let (first, own) = hand.own;
    let count = CHANGED.min(own.div_ceil(4));
    let mut turns = Turns::default();
    let begin = Instant::now();
    while count > 0 && (turns.each == 0 || begin.elapsed() < slice) {
        let from = first + hand.draw(own - count + 1);
        let start = Instant::now();
        let indices = from..from + count;
        let removed =
            indices.clone().filter(|&index| table.remove(&tag(index)) == Some(hand.slot(index))).count();
        let middle = Instant::now();
        let is_new = |index: &u64| table.insert(&tag(*index), hand.slot(*index)) == Inserted::New;
        let inserted = indices.filter(is_new).count();
        turns.insert_ns += middle.elapsed().as_nanos() as u64;
        turns.remove_ns += (middle - start).as_nanos() as u64;
        turns.wrong += 2 * count - (removed + inserted) as u64;
        turns.each += count;
    }
    turns
}

pub(super) fn restore(name: &'static str, hand: &Hand<'_>, table: &mut impl Handle) -> Result<(), SyncError> {
    let mut wrong = 0;
    for (index, replaced) in (0_u64..).zip(hand.replaced) {
        // Relaxed: the threads that replaced keys have ended.
        if replaced.swap(false, Relaxed) {
            let slot = hand.slot(index);
            let second = index + hand.replaced.len() as u64;
            let is_right =
                table.remove(&tag(second)) == Some(slot) && table.insert(&tag(index), slot) == Inserted::New;
            wrong += u64::from(!is_right);
        }
        wrong += u64::from(table.get(&tag(index)) != Some(hand.slot(index)));
    }
    check(name, &[("wrong mappings", wrong, 0)])
}
