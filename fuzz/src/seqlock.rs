//! `SeqLock` and `Stamp` on one thread: what is read is what was published last, whatever a writer has in hand, however
//! its guard ends, and whatever reads are torn.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use sync::inject::{self, Point};
use sync::{Seen, SeqLock, SeqLockGuard, Stamp};

/// Three words, so that a value that is half published shows.
type Value = [u64; 3];

fn value(byte: u8) -> Value {
    [1, 2, 3].map(|word| word * u64::from(byte))
}

/// One step. A record is `[op, value, -, -]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `read`.
    Read,
    /// `try_read`.
    TryRead,
    /// The next reads are torn, as the bits say, eight times each.
    Tear(u8),
    /// `write`, if there is no writer.
    Write,
    /// `try_write`.
    TryWrite,
    /// Changes the writer's copy.
    Edit(u8),
    /// `publish`.
    Publish,
    /// The writer ends, and publishes.
    Finish,
    /// The writer ends by a panic, and publishes nothing.
    Panic,
    /// The writer is forgotten: no other comes after it.
    Forget,
    /// Changes the value through `get_mut`.
    GetMut(u8),
    /// Takes the value out, and begins again with a new lock.
    Renew(u8),
    /// `Stamp::read`, and whether the last one seen is still valid.
    Look,
    /// `Stamp::open` or `close`, whichever is due.
    Turn,
}

impl Op {
    /// How many kinds there are.
    pub(crate) const KINDS: u8 = 14;

    /// The operation that a record stands for.
    pub(crate) fn decode([kind, byte, ..]: [u8; 4]) -> Self {
        match kind % Self::KINDS {
            0 => Self::Read,
            1 => Self::TryRead,
            2 => Self::Tear(byte),
            3 => Self::Write,
            4 => Self::TryWrite,
            5 => Self::Edit(byte),
            6 => Self::Publish,
            7 => Self::Finish,
            8 => Self::Panic,
            9 => Self::Forget,
            10 => Self::GetMut(byte),
            11 => Self::Renew(byte),
            12 => Self::Look,
            _ => Self::Turn,
        }
    }

    /// A record that stands for this operation.
    #[cfg(test)]
    pub(crate) fn encode(self) -> [u8; 4] {
        let (kind, byte) = match self {
            Self::Read => (0, 0),
            Self::TryRead => (1, 0),
            Self::Tear(byte) => (2, byte),
            Self::Write => (3, 0),
            Self::TryWrite => (4, 0),
            Self::Edit(byte) => (5, byte),
            Self::Publish => (6, 0),
            Self::Finish => (7, 0),
            Self::Panic => (8, 0),
            Self::Forget => (9, 0),
            Self::GetMut(byte) => (10, byte),
            Self::Renew(byte) => (11, byte),
            Self::Look => (12, 0),
            Self::Turn => (13, 0),
        };
        [kind, byte, 0, 0]
    }
}

/// Does what `input` says and panics where the lock does not do what the model says.
pub fn run(input: &[u8]) {
    let ops: Vec<Op> = crate::records(input).map(Op::decode).collect();
    if ops.contains(&Op::Forget) {
        // Debug builds list the locks that a thread holds; those of forgotten guards would pile up.
        let thread = std::thread::spawn(move || run_ops(&ops));
        thread.join().unwrap_or_else(|panic| resume_unwind(panic));
    } else {
        run_ops(&ops);
    }
}

fn run_ops(ops: &[Op]) {
    let mut lock = SeqLock::new(value(0));
    let mut model =
        Model { published: value(0), forgotten: false, stamp: Stamp::new(), seen: None, turns: 0 };
    let mut rest = ops;
    while !rest.is_empty() {
        let done = model.with_writers(&lock, rest);
        let last = rest[done - 1];
        rest = &rest[done..];
        match last {
            Op::GetMut(byte) => {
                assert_eq!(*lock.get_mut(), model.published);
                *lock.get_mut() = value(byte);
                model.published = value(byte);
            }
            Op::Renew(byte) => {
                let before = mem::replace(&mut lock, SeqLock::new(value(byte)));
                assert_eq!(before.into_inner(), model.published);
                model = Model { published: value(byte), forgotten: false, ..model };
            }
            _ => {}
        }
    }
    assert_eq!(lock.read(), model.published);
}

/// What must be true.
struct Model {
    published: Value,
    forgotten: bool,
    stamp: Stamp,
    /// What a look at the stamp gave, and how often it had been turned then.
    seen: Option<(Seen, u32)>,
    turns: u32,
}

impl Model {
    /// Runs until an operation needs the lock for itself; returns how many were done.
    fn with_writers(&mut self, lock: &SeqLock<Value>, ops: &[Op]) -> usize {
        let mut writer: Option<SeqLockGuard<'_, Value>> = None;
        let mut script: Option<(inject::Forced, u8)> = None;
        for (at, &op) in ops.iter().enumerate() {
            match op {
                Op::GetMut(_) | Op::Renew(_) => {
                    self.finish(writer);
                    return at + 1;
                }
                Op::Tear(outcomes) => {
                    drop(script.take());
                    script = Some((inject::force(Point::TornRead, u64::from(outcomes)), outcomes));
                }
                Op::Read => assert_eq!(lock.read(), self.published),
                Op::TryRead => {
                    let torn = script.as_ref().is_some_and(|(forced, outcomes)| {
                        u64::from(*outcomes).checked_shr(forced.passes() as u32).unwrap_or(0) & 1 != 0
                    });
                    assert_eq!(lock.try_read(), (!torn).then_some(self.published));
                }
                Op::Look | Op::Turn => self.look(op),
                _ => writer = self.write(lock, op, writer),
            }
        }
        self.finish(writer);
        ops.len()
    }

    /// A writer that ends publishes its copy.
    fn finish(&mut self, writer: Option<SeqLockGuard<'_, Value>>) {
        if let Some(writer) = writer {
            self.published = *writer;
        }
    }

    fn write<'a>(
        &mut self,
        lock: &'a SeqLock<Value>,
        op: Op,
        writer: Option<SeqLockGuard<'a, Value>>,
    ) -> Option<SeqLockGuard<'a, Value>> {
        let is_free = writer.is_none() && !self.forgotten;
        match (op, writer) {
            (Op::Write, None) if is_free => Some(lock.write()),
            (Op::TryWrite, writer) => {
                let other = lock.try_write();
                assert_eq!(other.is_some(), is_free);
                other.or(writer)
            }
            (Op::Edit(byte), Some(mut writer)) => {
                *writer = value(byte);
                Some(writer)
            }
            (Op::Publish, Some(mut writer)) => {
                writer.publish();
                self.published = *writer;
                Some(writer)
            }
            (Op::Finish, writer) => {
                self.finish(writer);
                None
            }
            (Op::Panic, Some(writer)) => {
                let writer = AssertUnwindSafe(writer);
                let panics = move || {
                    let _writer = writer;
                    resume_unwind(Box::new("the writer ends"))
                };
                assert!(catch_unwind::<_, ()>(panics).is_err());
                None
            }
            (Op::Forget, Some(writer)) => {
                mem::forget(writer);
                self.forgotten = true;
                None
            }
            (_, writer) => writer,
        }
    }

    fn look(&mut self, op: Op) {
        let is_open = self.turns % 2 == 1;
        if op == Op::Turn {
            if is_open {
                self.stamp.close()
            } else {
                self.stamp.open()
            }
            self.turns += 1;
        }
        if let Some((seen, turns)) = self.seen {
            assert_eq!(self.stamp.validate(seen), turns == self.turns);
        }
        let now = self.stamp.read();
        assert_eq!(now.is_none(), self.turns % 2 == 1, "a stamp that is open shows nothing");
        self.seen = now.map(|seen| (seen, self.turns)).or(self.seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "left == right")]
    fn a_value_that_was_not_published_is_noticed() {
        let lock = SeqLock::new(value(1));
        let mut model =
            Model { published: value(2), forgotten: false, stamp: Stamp::new(), seen: None, turns: 0 };
        model.with_writers(&lock, &[Op::Read]);
    }

    #[test]
    fn every_kind_is_decoded_from_what_it_is_encoded_as() {
        for kind in 0..Op::KINDS {
            let op = Op::decode([kind, 3, 0, 0]);
            assert_eq!(op.encode()[0], kind);
            assert_eq!(Op::decode(op.encode()), op);
        }
    }
}
