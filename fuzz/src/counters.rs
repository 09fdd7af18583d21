//! `CondLock`, `DeferredCounter` and `ShardedCounter`, used by several threads one at a time: how far each value lags, to
//! the last count where that is promised, and within its bound otherwise.
//!
//! An input is a header of four bytes, `[manner and cap, -, -, -]`, and then operations. Each names the thread
//! that does it, which has a slot of its own; whether it meets the lock busy is forced, or another thread
//! really holds it.
//!
//! Next: `counters/run.rs`, which does the operations; `counters/crew.rs`, the threads.

mod crew;
mod run;

/// One step. A record is `[op, thread, count, busy]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `CondLock::update` with a count; how the lock is met.
    Update { thread: u8, count: i8, busy: bool },
    /// `CondLock::force`.
    Force { thread: u8, count: i8 },
    /// `CondLock::lock`, held until `Release`.
    Hold,
    /// Adds to the value through the guard.
    Add { count: i8 },
    /// Drops the guard.
    Release,
    /// `pending`, `max_lag`, `cap`, `is_locked`.
    Look,
    /// `get_mut`.
    GetMut,
    /// `DeferredCounter::add`; how the lock is met.
    Deferred { thread: u8, count: i8, busy: bool },
    /// `DeferredCounter::approx` and `exact`.
    Exact,
    /// `ShardedCounter::add` of so many hundreds; whether its fold meets the lock busy.
    Sharded { thread: u8, count: i8, busy: bool },
    /// `ShardedCounter::approx`, `sum` and `compare` with a value so far away.
    Compare { far: i8 },
    /// The thread ends, and another one comes in its place.
    Replace { thread: u8 },
}

impl Op {
    /// How many kinds there are.
    pub(crate) const KINDS: u8 = 12;

    /// The operation that a record stands for.
    pub(crate) fn decode([kind, thread, count, busy]: [u8; 4]) -> Self {
        let (count, busy) = (i8::from_le_bytes([count]), busy & 1 != 0);
        match kind % Self::KINDS {
            0 => Self::Update { thread, count, busy },
            1 => Self::Force { thread, count },
            2 => Self::Hold,
            3 => Self::Add { count },
            4 => Self::Release,
            5 => Self::Look,
            6 => Self::GetMut,
            7 => Self::Deferred { thread, count, busy },
            8 => Self::Exact,
            9 => Self::Sharded { thread, count, busy },
            10 => Self::Compare { far: count },
            _ => Self::Replace { thread },
        }
    }

    /// A record that stands for this operation.
    #[cfg(test)]
    pub(crate) fn encode(self) -> [u8; 4] {
        let (kind, thread, count, busy) = match self {
            Self::Update { thread, count, busy } => (0, thread, count, busy),
            Self::Force { thread, count } => (1, thread, count, false),
            Self::Hold => (2, 0, 0, false),
            Self::Add { count } => (3, 0, count, false),
            Self::Release => (4, 0, 0, false),
            Self::Look => (5, 0, 0, false),
            Self::GetMut => (6, 0, 0, false),
            Self::Deferred { thread, count, busy } => (7, thread, count, busy),
            Self::Exact => (8, 0, 0, false),
            Self::Sharded { thread, count, busy } => (9, thread, count, busy),
            Self::Compare { far } => (10, 0, far, false),
            Self::Replace { thread } => (11, thread, 0, false),
        };
        [kind, thread, count.to_le_bytes()[0], u8::from(busy)]
    }
}

/// What the header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setup {
    /// Whether the lock is `CondLock::quiet`.
    pub(crate) quiet: bool,
    /// The most that a slot holds.
    pub(crate) cap: u32,
}

/// The setup and the operations that an input stands for; `None` if it ends within the header.
pub(crate) fn decode(input: &[u8]) -> Option<(Setup, Vec<Op>)> {
    let ([first, ..], rest) = input.split_first_chunk::<4>()?;
    let setup = Setup { quiet: first & 1 != 0, cap: u32::from(first >> 1) % 64 };
    Some((setup, crate::records(rest).map(Op::decode).collect()))
}

/// Does what `input` says and panics where a count is lost, or lags by more than was promised.
pub fn run(input: &[u8]) {
    if let Some((setup, ops)) = decode(input) {
        run::run(setup, &ops);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_decoded_from_what_it_is_encoded_as() {
        for kind in 0..Op::KINDS {
            let op = Op::decode([kind, 3, 250, 1]);
            assert_eq!(op.encode()[0], kind);
            assert_eq!(Op::decode(op.encode()), op);
        }
    }
}
