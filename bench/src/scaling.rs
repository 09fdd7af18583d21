//! The `scaling` command: what an operation writes that other cores need too, counted instruction by instruction.
//!
//! A shared cache line that two cores pass to and fro looks harmless, and stops sixty-four. So each operation runs on two
//! threads of a program of its own, one after the other on the same keys, under a tracer that executes one instruction at
//! a time and notes what each writes. Nothing is timed, and the counts are the same on every machine of that kind.
//!
//! Next: `scaling/contestants.rs`, who takes part; `scaling/work.rs`, what is traced; `scaling/tracer.rs`, how;
//! `scaling/count.rs`, what is made of it.

pub mod contestants;
pub mod count;
pub mod report;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod steps;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod tracer;
pub mod work;

use std::io;

use clap::ValueEnum;
use serde::Serialize;

use contestants::{CONTESTANTS, Contestant};
use count::Counts;

/// The cores of the machine that [`Row::in_the_way`] speaks of.
pub const CORES: u32 = 64;

/// Which tables are compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// From page tags to slots, as in `bench flatmap`.
    Flatmap,
    /// Maps of words, as in `bench lhash`.
    Lhash,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Nothing but the pin or guard that all operations of a map take.
    Pin,
    /// A lookup of a key that is there.
    Hit,
    /// A lookup of one that is not.
    Miss,
    /// A change of a value.
    Update,
    /// An insert of a new key.
    Insert,
    /// A remove of a key that is there.
    Remove,
}

/// An operation of a table.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// The table.
    pub contestant: &'static Contestant,
    /// The operation.
    pub op: Op,
    /// How often each of two threads does it: 2 to [`work::MAX_OPS`].
    pub ops: u32,
}

/// What it came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// `scaling`.
    pub cmd: &'static str,
    /// Which tables it is compared with.
    pub family: Family,
    /// The table.
    pub table: &'static str,
    /// The operation.
    pub op: Op,
    /// How often each of two threads did it.
    pub ops: u32,
    /// What one operation does, on average.
    #[serde(flatten)]
    pub counts: Counts,
    /// With [`CORES`] cores that all do this with keys drawn evenly from those counted: how many of the others' operations
    /// under way write a cache line that this one writes. Below 1 they seldom meet; at 63 all stand in one line.
    pub in_the_way: f64,
}

/// Why nothing could be counted.
#[derive(Debug, thiserror::Error)]
pub enum ScalingError {
    /// There is no tracer for this system.
    #[error(
        "operations are counted on Linux on x86-64 only, not on {} on {}",
        std::env::consts::OS,
        std::env::consts::ARCH
    )]
    Unsupported,
    /// The system lets nobody trace.
    #[error(
        "{doing} failed: {error}; counting needs the right to trace a process of one's own by ptrace, which some \
         containers take away"
    )]
    Trace {
        /// What failed.
        doing: &'static str,
        /// Why.
        error: io::Error,
    },
    /// The traced program failed.
    #[error("the traced program of {table} {op:?} {what}")]
    Ended {
        /// The table.
        table: &'static str,
        /// The operation.
        op: Op,
        /// How it ended.
        what: String,
    },
    /// An answer was wrong.
    #[error("{table}: a wrong answer of {op:?}")]
    WrongAnswer {
        /// The table.
        table: &'static str,
        /// The operation.
        op: Op,
    },
}

impl Case {
    /// All operations of those tables, of all if none is named.
    #[must_use]
    pub fn all(names: &[&str], ops: u32) -> Vec<Self> {
        let asked = CONTESTANTS.iter().filter(|table| names.is_empty() || names.contains(&table.name));
        let cases = |contestant: &'static Contestant| {
            contestant.ops().iter().map(move |&op| Self { contestant, op, ops })
        };
        asked.flat_map(cases).collect()
    }

    /// Counts it.
    ///
    /// # Errors
    ///
    /// If it can't be traced here, or an answer was wrong.
    pub fn run(self) -> Result<Row, ScalingError> {
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        let counts = Counts::of(&tracer::trace(self)?);
        #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
        let counts = return Err(ScalingError::Unsupported);
        let in_the_way = f64::from(CORES - 1) * counts.same_line;
        Ok(Row {
            cmd: "scaling",
            family: self.contestant.family,
            table: self.contestant.name,
            op: self.op,
            ops: self.ops,
            counts,
            in_the_way: (in_the_way * 100.0).round() / 100.0,
        })
    }
}
