//! What a key is when one operation runs at a time: there with a value, or not there. Next: `play.rs`, which records
//! what really happens.

use crate::checker::{applied, is_linearizable};
use todc_utils::specifications::Specification;

/// What `update` adds.
pub(crate) const STEP: u32 = 1000;

/// An operation on a key, and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Get(u32, Option<u32>),
    Has(u32, bool),
    /// The key, the value, and the one there was.
    Insert(u32, u32, Option<u32>),
    /// `try_insert` and `get_or_insert`: the key, the value, and the one that was in the way.
    TryInsert(u32, u32, Option<u32>),
    /// `remove`: the value there was.
    Removed(u32, Option<u32>),
    /// `update` by `STEP`: the value there is then.
    Update(u32, Option<u32>),
    /// `compute` that inserts this value where nothing is, and removes what is: the value there was.
    Toggle(u32, u32, Option<u32>),
}

impl Op {
    fn key(self) -> u32 {
        match self {
            Self::Get(key, _)
            | Self::Has(key, _)
            | Self::Insert(key, ..)
            | Self::TryInsert(key, ..)
            | Self::Removed(key, _)
            | Self::Update(key, _)
            | Self::Toggle(key, ..) => key,
        }
    }

    /// The key's value after the operation; the outer `None` if the result can't be.
    fn after(self, state: Option<u32>) -> Option<Option<u32>> {
        let (seen, after) = match self {
            Self::Get(_, seen) => (seen, state),
            Self::Has(_, seen) => return (seen == state.is_some()).then_some(state),
            Self::Insert(_, value, old) => (old, Some(value)),
            Self::TryInsert(_, value, current) => (current, state.or(Some(value))),
            Self::Removed(_, old) => (old, None),
            Self::Update(_, new) => {
                let after = state.map(|old| old + STEP);
                return (new == after).then_some(after);
            }
            Self::Toggle(_, value, old) => (old, if state.is_some() { None } else { Some(value) }),
        };
        (seen == state).then_some(after)
    }
}

/// An operation with the time of its call and of its return.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) op: Op,
    pub(crate) call: u64,
    pub(crate) end: u64,
}

struct OneKey;

impl Specification for OneKey {
    type State = Option<u32>;
    type Operation = Op;

    fn init() -> Option<u32> {
        None
    }

    fn apply(op: &Op, state: &Option<u32>) -> (bool, Option<u32>) {
        applied(op.after(*state), state)
    }
}

/// The first key whose history is not linearizable.
pub(crate) fn fault(history: &[Event], keys: u32) -> Option<u32> {
    (0..keys).find(|&key| {
        let of_key = history.iter().filter(|event| event.op.key() == key);
        let steps: Vec<_> = of_key.map(|&Event { op, call, end }| (op, call, end)).collect();
        !is_linearizable::<OneKey>(&steps)
    })
}
