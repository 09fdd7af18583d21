//! Ops mode: the recorded operations with the recorded slots, on one thread.

use std::fmt;
use std::time::Instant;

use super::{Answers, Pass, ReplayError, Run};
use crate::latency::{Stopwatch, Timed, Untimed};
use crate::table::{Inserted, Mapped, Table};
use crate::trace::{Op, Record, Trace};

/// What every pass of ops mode needs.
#[derive(Debug)]
pub struct Input<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// The right answer to each record.
    pub right: Vec<Answer>,
    /// What the right answers come to.
    pub right_answers: Answers,
}

/// What a table answered to one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The tag is not there (lookup, delete), or was not and is now (insert).
    Absent,
    /// The tag has, or had until this delete, this slot.
    Slot(u32),
    /// The table would not take the slot.
    Refused,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("no slot"),
            Self::Slot(slot) => write!(f, "slot {slot}"),
            Self::Refused => f.write_str("a refusal"),
        }
    }
}

/// Counts answers, and digests them in order.
#[derive(Debug, Default, Clone, Copy)]
pub struct Tally {
    hits: u64,
    misses: u64,
    insert_exists: u64,
    delete_absent: u64,
    digest: u64,
}

impl Tally {
    /// Takes the answer to one record in.
    #[inline]
    pub fn add(&mut self, op: Op, answer: Answer) {
        let found = matches!(answer, Answer::Slot(_));
        match op {
            Op::Lookup if found => self.hits += 1,
            Op::Lookup => self.misses += 1,
            Op::Insert { .. } => self.insert_exists += u64::from(found),
            Op::Delete => self.delete_absent += u64::from(!found),
        }
        let code = match answer {
            Answer::Absent => 0,
            Answer::Slot(slot) => u64::from(slot) + 1,
            Answer::Refused => u64::MAX,
        };
        self.digest = self.digest.rotate_left(7) ^ code;
    }

    /// The sum, with what is mapped at the end.
    #[must_use]
    pub fn answers(self, mapped: Mapped) -> Answers {
        let Self { hits, misses, insert_exists, delete_absent, digest } = self;
        Answers { hits, misses, evictions: 0, insert_exists, delete_absent, digest, mapped }
    }
}

/// One pass of a table over the trace, checked against the right answers.
///
/// # Errors
///
/// [`ReplayError::WrongAnswer`] for the first record in a [`Pass::Check`], [`ReplayError::Disagrees`] after
/// the other passes.
pub fn pass<T: Table>(input: &Input<'_>, pass: Pass) -> Result<Run, ReplayError> {
    let run = match pass {
        Pass::Check => {
            check::<T>(input)?;
            run::<T>(input.trace, Untimed)
        }
        Pass::Throughput => run::<T>(input.trace, Untimed),
        Pass::Latency { clock_cost_ns } => run::<T>(input.trace, Timed::new(clock_cost_ns)),
    };
    run.answers.expect(T::NAME, &input.right_answers)?;
    Ok(run)
}

fn run<T: Table>(trace: &Trace, mut watch: impl Stopwatch) -> Run {
    let table = T::with_slots(trace.slots);
    let mut tally = Tally::default();
    let start = Instant::now();
    for record in &trace.records {
        let answer = watch.time(|| apply(&table, record));
        tally.add(record.op, answer);
    }
    let wall_ns = start.elapsed().as_nanos() as u64;
    Run {
        wall_ns,
        lookup_counts: table.lookup_counts(),
        memory_bytes: table.memory_bytes(),
        answers: tally.answers(Mapped::of(table.mappings())),
        latency: watch.into_histogram(),
    }
}

/// Compares the answer to each record.
fn check<T: Table>(input: &Input<'_>) -> Result<(), ReplayError> {
    let table = T::with_slots(input.trace.slots);
    for (index, (record, &expected)) in input.trace.records.iter().zip(&input.right).enumerate() {
        let found = apply(&table, record);
        if found != expected {
            let operation = match record.op {
                Op::Lookup => "a lookup",
                Op::Insert { .. } => "an insert",
                Op::Delete => "a delete",
            };
            return Err(ReplayError::WrongAnswer {
                table: T::NAME,
                record: index,
                operation,
                found,
                expected,
            });
        }
    }
    Ok(())
}

#[inline]
fn apply<T: Table>(table: &T, record: &Record) -> Answer {
    let slot = match record.op {
        Op::Lookup => table.get(&record.tag),
        Op::Delete => table.remove(&record.tag),
        Op::Insert { slot } => match table.insert(&record.tag, slot) {
            Inserted::New => None,
            Inserted::Present(slot) => Some(slot),
            Inserted::Refused => return Answer::Refused,
        },
    };
    slot.map_or(Answer::Absent, Answer::Slot)
}
