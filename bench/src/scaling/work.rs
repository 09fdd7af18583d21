//! What the traced program does: one operation of one table, on two threads, one after the other.
//!
//! Both threads live until the end, so that neither inherits what the other keeps for itself. They do the same to the
//! same keys; in between the main thread, which nobody traces, undoes what the first has changed.

use std::sync::Barrier;
use std::sync::mpsc;
use std::thread;

use super::{Case, Op, ScalingError};
use crate::flatmap::keys::{Shuffle, tag};
use crate::lhash::keys::{Key, difference, value_of};
use crate::lhash::tables::{Batch, ConcurrentMap};
use crate::table::{Inserted, Table};

/// How many keys are there before.
pub const FILLED: u64 = 16_384;
/// The most operations of a thread.
pub const MAX_OPS: u32 = 4096;
/// How many operations a thread does before those that count: what it sets up once does not.
const WARM_UPS: u64 = 16;

/// A table and what can be done to it.
pub trait Subject: Sync {
    /// Does an operation to the key with an index; whether the answer was right.
    fn act(&self, op: Op, index: u64) -> bool;
}

/// A table of page tags.
#[derive(Debug)]
pub struct Pages<T>(pub T);

/// A map.
#[derive(Debug)]
pub struct Maps<M>(pub M);

impl<T: Table> Subject for Pages<T> {
    #[inline]
    fn act(&self, op: Op, index: u64) -> bool {
        let tag = tag(index);
        let slot = || Shuffle::new(2 * FILLED as u32).slot(index);
        match op {
            Op::Hit => self.0.get(&tag) == Some(slot()),
            Op::Miss => self.0.get(&tag).is_none(),
            Op::Insert => self.0.insert(&tag, slot()) == Inserted::New,
            Op::Remove => self.0.remove(&tag) == Some(slot()),
            Op::Pin | Op::Update => false,
        }
    }
}

impl<M: ConcurrentMap<u64>> Subject for Maps<M> {
    #[inline]
    fn act(&self, op: Op, index: u64) -> bool {
        let batch = self.0.batch();
        u64::with(index, |key| match op {
            Op::Pin => true,
            Op::Hit => batch.get(key).is_some_and(|value| difference(value, index) == 0),
            Op::Miss => batch.get(key).is_none(),
            Op::Update => batch.update(key),
            Op::Insert => batch.insert(*key, value_of(index)),
            Op::Remove => batch.remove(key),
        })
    }
}

impl Op {
    /// What undoes it.
    fn undone_by(self) -> Option<Self> {
        match self {
            Self::Insert => Some(Self::Remove),
            Self::Remove => Some(Self::Insert),
            Self::Pin | Self::Hit | Self::Miss | Self::Update => None,
        }
    }

    /// The first index that it is done to.
    fn first(self) -> u64 {
        if matches!(self, Self::Miss | Self::Insert) { FILLED } else { 0 }
    }
}

/// Fills the table and does the work of a case, each thread once a tracer is there.
///
/// # Errors
///
/// If nobody can trace it, or an answer was wrong.
pub fn serve(subject: &impl Subject, case: Case) -> Result<(), ScalingError> {
    let mut is_right = (0..FILLED).all(|index| subject.act(Op::Insert, index));
    traced::wait_for_tracer()?;
    let (done, is_done) = mpsc::channel();
    let end = Barrier::new(3);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                // Fails only if the receiver has gone, which it has not before the barrier.
                let _ = done.send(traced::operations(subject, case));
                end.wait();
            });
            is_right &= is_done.recv() == Ok(true);
            is_right &= undone(subject, case);
        }
        end.wait();
    });
    if is_right {
        Ok(())
    } else {
        Err(ScalingError::WrongAnswer { table: case.contestant.name, op: case.op })
    }
}

/// Does the operation to some other keys, and undoes it.
fn warmed_up(subject: &impl Subject, case: Case) -> bool {
    let first = case.op.first() + u64::from(MAX_OPS);
    let ops = [Some(case.op), case.op.undone_by()];
    ops.into_iter().flatten().all(|op| (first..first + WARM_UPS).all(|index| subject.act(op, index)))
}

/// Takes back what the operations have changed.
fn undone(subject: &impl Subject, case: Case) -> bool {
    let first = case.op.first();
    let undo = case.op.undone_by();
    undo.is_none_or(|op| (first..first + u64::from(case.ops)).all(|index| subject.act(op, index)))
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(super) mod traced {
    //! The part that talks to the tracer: by signals, and by a function whose calls it sees.

    use std::hint::black_box;
    use std::io::{self, Write};

    use nix::sys::ptrace;
    use nix::sys::signal::{Signal, raise};

    use super::Subject;
    use crate::scaling::tracer::{Addresses, pinned};
    use crate::scaling::{Case, ScalingError};

    /// What [`mark`] is told when a thread's operations are over.
    pub(crate) const END: u64 = u64::MAX;

    /// Called before each operation with its number.
    #[inline(never)]
    pub(crate) extern "C" fn mark(number: u64) {
        black_box(number);
    }

    /// Lets the parent trace this process, and tells it where to look.
    pub(super) fn wait_for_tracer() -> Result<(), ScalingError> {
        let failed = |doing| move |error: io::Error| ScalingError::Trace { doing, error };
        ptrace::traceme().map_err(io::Error::from).map_err(failed("to be traced"))?;
        let mut out = io::stdout().lock();
        serde_json::to_writer(&mut out, &Addresses::of_this_process())
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out))
            .and_then(|()| out.flush())
            .map_err(failed("telling the tracer"))?;
        raise(Signal::SIGSTOP).map_err(io::Error::from).map_err(failed("stopping for the tracer"))
    }

    /// The operations of a thread, from a signal on that tells the tracer to take over.
    pub(super) fn operations(subject: &impl Subject, case: Case) -> bool {
        // With the tracer on one core it takes no other core to wake it.
        let _pinned = pinned(std::process::id());
        if raise(Signal::SIGUSR2).is_err() {
            return false;
        }
        // The tracer sees what is allocated meanwhile, and nothing else.
        let mut is_right = super::warmed_up(subject, case);
        for number in 0..u64::from(case.ops) {
            mark(number);
            is_right &= subject.act(case.op, case.op.first() + number);
        }
        mark(END);
        is_right
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod traced {
    use super::Subject;
    use crate::scaling::{Case, ScalingError};

    pub(super) fn wait_for_tracer() -> Result<(), ScalingError> {
        Err(ScalingError::Unsupported)
    }

    pub(super) fn operations(_: &impl Subject, _: Case) -> bool {
        false
    }
}
