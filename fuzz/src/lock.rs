//! `LwLock` on one thread: every try must succeed or fail as a count of the holders says, in whatever order
//! guards are taken, downgraded, dropped and forgotten. Nothing waits, but for the timed tries.

use std::mem;
use std::thread;
use std::time::Duration;

use sync::{LwLock, ReadGuard, WriteGuard};

/// One step. A record is `[op, which, -, -]`; `which` picks one of the guards held, modulo their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `try_read`.
    TryRead,
    /// `try_write`.
    TryWrite,
    /// `try_read_for` a time too short to matter, or none.
    TryReadFor(u8),
    /// `try_write_for` a time too short to matter, or none.
    TryWriteFor(u8),
    /// `read`, if that would not wait.
    Read,
    /// `write`, if that would not wait.
    Write,
    /// `write_or_wait`, if that would not wait.
    WriteOrWait,
    /// Drops a guard.
    Drop(u8),
    /// Forgets a guard: its hold stays for as long as the lock.
    Forget(u8),
    /// Downgrades a guard, if it is exclusive.
    Downgrade(u8),
    /// Adds one to the value through a guard, if it is exclusive.
    Add(u8),
    /// Drops all guards and reads the value through `get_mut`.
    GetMut,
    /// Drops all guards, takes the value out, and begins again with a new lock.
    Renew,
}

impl Op {
    /// How many kinds there are.
    pub(crate) const KINDS: u8 = 13;

    /// The operation that a record stands for.
    pub(crate) fn decode([kind, which, ..]: [u8; 4]) -> Self {
        match kind % Self::KINDS {
            0 => Self::TryRead,
            1 => Self::TryWrite,
            2 => Self::TryReadFor(which),
            3 => Self::TryWriteFor(which),
            4 => Self::Read,
            5 => Self::Write,
            6 => Self::WriteOrWait,
            7 => Self::Drop(which),
            8 => Self::Forget(which),
            9 => Self::Downgrade(which),
            10 => Self::Add(which),
            11 => Self::GetMut,
            _ => Self::Renew,
        }
    }

    /// A record that stands for this operation.
    #[cfg(test)]
    pub(crate) fn encode(self) -> [u8; 4] {
        let (kind, which) = match self {
            Self::TryRead => (0, 0),
            Self::TryWrite => (1, 0),
            Self::TryReadFor(time) => (2, time),
            Self::TryWriteFor(time) => (3, time),
            Self::Read => (4, 0),
            Self::Write => (5, 0),
            Self::WriteOrWait => (6, 0),
            Self::Drop(which) => (7, which),
            Self::Forget(which) => (8, which),
            Self::Downgrade(which) => (9, which),
            Self::Add(which) => (10, which),
            Self::GetMut => (11, 0),
            Self::Renew => (12, 0),
        };
        [kind, which, 0, 0]
    }
}

/// Does what `input` says and panics where the lock does not do what the count of its holders says.
pub fn run(input: &[u8]) {
    let ops: Vec<Op> = crate::records(input).map(Op::decode).collect();
    if ops.iter().any(|op| matches!(op, Op::Forget(_))) {
        // Debug builds list the locks that a thread holds; those of forgotten guards would pile up.
        let thread = thread::spawn(move || run_ops(&ops));
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    } else {
        run_ops(&ops);
    }
}

fn run_ops(ops: &[Op]) {
    let mut lock = LwLock::new(0);
    let mut model = Model::default();
    let mut rest = ops;
    while !rest.is_empty() {
        let done = run_until_renewal(&lock, &mut model, rest);
        let last = rest[done - 1];
        rest = &rest[done..];
        model.readers_held = 0;
        model.writer_held = false;
        assert_eq!(*lock.get_mut(), model.value);
        if last == Op::Renew {
            assert_eq!(mem::take(&mut lock).into_inner(), model.value);
            model = Model::default();
        }
    }
}

/// What must be true of the lock.
#[derive(Debug, Default)]
struct Model {
    readers_held: usize,
    writer_held: bool,
    readers_forgotten: usize,
    writer_forgotten: bool,
    value: u64,
}

impl Model {
    fn write_locked(&self) -> bool {
        self.writer_held || self.writer_forgotten
    }

    fn locked(&self) -> bool {
        self.write_locked() || self.readers_held + self.readers_forgotten > 0
    }
}

/// A guard of either kind.
enum Guard<'a> {
    Read(ReadGuard<'a, u64>),
    Write(WriteGuard<'a, u64>),
}

/// The lock with the guards that are held.
struct Holder<'a, 'm> {
    lock: &'a LwLock<u64>,
    model: &'m mut Model,
    guards: Vec<Guard<'a>>,
}

/// Runs until an operation needs the lock for itself; returns how many were done.
fn run_until_renewal(lock: &LwLock<u64>, model: &mut Model, ops: &[Op]) -> usize {
    let mut holder = Holder { lock, model, guards: Vec::new() };
    for (done, &op) in ops.iter().enumerate() {
        match op {
            Op::GetMut | Op::Renew => return done + 1,
            Op::Drop(_) | Op::Forget(_) | Op::Downgrade(_) | Op::Add(_) => holder.change(op),
            _ => holder.acquire(op),
        }
        holder.check();
    }
    ops.len()
}

impl<'a> Holder<'a, '_> {
    fn acquire(&mut self, op: Op) {
        let lock = self.lock;
        match op {
            Op::TryRead => self.read(lock.try_read()),
            Op::TryWrite => self.write(lock.try_write()),
            Op::TryReadFor(time) => self.read(lock.try_read_for(timeout(time))),
            Op::TryWriteFor(time) => self.write(lock.try_write_for(timeout(time))),
            // The others would wait for this very thread.
            _ if self.model.locked() => {}
            Op::Read => self.read(Some(lock.read())),
            Op::Write => self.write(Some(lock.write())),
            _ => self.write(lock.write_or_wait()),
        }
    }

    fn read(&mut self, guard: Option<ReadGuard<'a, u64>>) {
        assert_eq!(guard.is_some(), !self.model.write_locked(), "{:?}", self.model);
        if let Some(guard) = guard {
            self.model.readers_held += 1;
            self.guards.push(Guard::Read(guard));
        }
    }

    fn write(&mut self, guard: Option<WriteGuard<'a, u64>>) {
        assert_eq!(guard.is_some(), !self.model.locked(), "{:?}", self.model);
        if let Some(guard) = guard {
            self.model.writer_held = true;
            self.guards.push(Guard::Write(guard));
        }
    }

    fn change(&mut self, op: Op) {
        let (Op::Drop(which) | Op::Forget(which) | Op::Downgrade(which) | Op::Add(which)) = op else {
            return;
        };
        if self.guards.is_empty() {
            return;
        }
        let guard = self.guards.swap_remove(usize::from(which) % self.guards.len());
        let writer = matches!(guard, Guard::Write(_));
        match (op, guard) {
            (Op::Drop(_), guard) => {
                self.gone(writer);
                drop(guard);
            }
            (Op::Forget(_), guard) => {
                self.gone(writer);
                self.model.writer_forgotten |= writer;
                self.model.readers_forgotten += usize::from(!writer);
                forget(guard);
            }
            (Op::Downgrade(_), Guard::Write(guard)) => {
                self.gone(true);
                self.model.readers_held += 1;
                self.guards.push(Guard::Read(guard.downgrade()));
            }
            (_, mut guard) => {
                if let (Op::Add(_), Guard::Write(guard)) = (op, &mut guard) {
                    **guard += 1;
                    self.model.value += 1;
                }
                self.guards.push(guard);
            }
        }
    }

    /// A guard is no longer held.
    fn gone(&mut self, writer: bool) {
        if writer {
            self.model.writer_held = false;
        } else {
            self.model.readers_held -= 1;
        }
    }

    fn check(&self) {
        assert_eq!(self.lock.is_locked(), self.model.locked(), "{:?}", self.model);
        assert_eq!(self.lock.is_write_locked(), self.model.write_locked(), "{:?}", self.model);
        for guard in &self.guards {
            let value = match guard {
                Guard::Read(guard) => **guard,
                Guard::Write(guard) => **guard,
            };
            assert_eq!(value, self.model.value);
        }
        let shown = format!("{:?}", self.lock);
        assert_eq!(shown.contains("<locked>"), self.model.write_locked(), "{shown}");
    }
}

fn forget(guard: Guard<'_>) {
    match guard {
        Guard::Read(guard) => mem::forget(guard),
        Guard::Write(guard) => mem::forget(guard),
    }
}

/// A time to wait in vain. Never one that waits for ever: nobody else is there to let go.
fn timeout(time: u8) -> Duration {
    Duration::from_nanos(u64::from(time % 4) * 500)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_decoded_from_what_it_is_encoded_as() {
        for kind in 0..Op::KINDS {
            let op = Op::decode([kind, 3, 0, 0]);
            assert_eq!(op.encode()[0], kind);
            assert_eq!(Op::decode(op.encode()), op);
        }
    }

    #[test]
    #[should_panic(expected = "readers_held: 1")]
    fn a_count_that_is_wrong_is_noticed() {
        let lock = LwLock::new(0);
        let mut model = Model { readers_held: 1, ..Model::default() };
        run_until_renewal(&lock, &mut model, &[Op::TryWrite]);
    }
}
