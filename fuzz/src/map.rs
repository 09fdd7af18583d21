//! `FlatMap` on one thread: every call must return what std's map returns, errors with all they say.
//!
//! An input is a header of eight bytes (`map/setup.rs`) and then operations. Keys are few and hash badly, slots
//! are few and partly out of range, so that full tables and long chains are common.
//!
//! Next: `map/run.rs`, which does the operations; `map/model.rs`, what they must return.

pub(crate) mod key;
mod model;
mod run;
mod setup;

use flatmap::BufferTag;
pub(crate) use key::{FuzzHasher, Hashing};
pub(crate) use setup::Setup;

/// One step. A record is `[op, key, slot, -]`; `which` stands in the place of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `get`.
    Get { key: u8 },
    /// `insert`.
    Insert { key: u8, slot: u8 },
    /// `remove`.
    Remove { key: u8 },
    /// `remove_slot`.
    RemoveSlot { slot: u8 },
    /// `remove_if`.
    RemoveIf { key: u8, slot: u8 },
    /// `key_of`.
    KeyOf { slot: u8 },
    /// `holds`.
    Holds { key: u8, slot: u8 },
    /// `pin_with`, refusing to pin.
    PinRefused { key: u8 },
    /// `pin_with` and the slot's `PinWord`; the pin is kept.
    Pin { key: u8 },
    /// Drops one of the pins that are kept.
    Unpin { which: u8 },
    /// `PinWord::try_evict`.
    Evict { slot: u8 },
    /// `PinWord::finish`, if an eviction was begun.
    Finish { slot: u8 },
    /// Compares everything the iterator yields.
    Iterate,
    /// Compares `len`, `is_empty`, `memory_bytes`, `stats` and the like.
    Shape,
    /// `partition`: the next `steps` operations go through the guard.
    Enter { key: u8, steps: u8 },
    /// `set_buckets`.
    SetBuckets { buckets: u8 },
    /// `set_slots`.
    SetSlots { slots: u8 },
    /// `maintain`.
    Maintain { budget: u8 },
    /// `get_many` of so many keys from this one on.
    GetMany { key: u8, count: u8 },
}

impl Op {
    /// How many kinds there are.
    pub(crate) const KINDS: u8 = 19;

    /// The operation that a record stands for.
    pub(crate) fn decode([kind, key, slot, _]: [u8; 4]) -> Self {
        match kind % Self::KINDS {
            0 => Self::Get { key },
            1 => Self::Insert { key, slot },
            2 => Self::Remove { key },
            3 => Self::RemoveSlot { slot },
            4 => Self::RemoveIf { key, slot },
            5 => Self::KeyOf { slot },
            6 => Self::Holds { key, slot },
            7 => Self::PinRefused { key },
            8 => Self::Pin { key },
            9 => Self::Unpin { which: key },
            10 => Self::Evict { slot },
            11 => Self::Finish { slot },
            12 => Self::Iterate,
            13 => Self::Shape,
            14 => Self::Enter { key, steps: slot },
            15 => Self::SetBuckets { buckets: key },
            16 => Self::SetSlots { slots: slot },
            17 => Self::Maintain { budget: key },
            _ => Self::GetMany { key, count: slot },
        }
    }

    /// A record that stands for this operation.
    #[cfg(test)]
    pub(crate) fn encode(self) -> [u8; 4] {
        let (kind, key, slot) = match self {
            Self::Get { key } => (0, key, 0),
            Self::Insert { key, slot } => (1, key, slot),
            Self::Remove { key } => (2, key, 0),
            Self::RemoveSlot { slot } => (3, 0, slot),
            Self::RemoveIf { key, slot } => (4, key, slot),
            Self::KeyOf { slot } => (5, 0, slot),
            Self::Holds { key, slot } => (6, key, slot),
            Self::PinRefused { key } => (7, key, 0),
            Self::Pin { key } => (8, key, 0),
            Self::Unpin { which } => (9, which, 0),
            Self::Evict { slot } => (10, 0, slot),
            Self::Finish { slot } => (11, 0, slot),
            Self::Iterate => (12, 0, 0),
            Self::Shape => (13, 0, 0),
            Self::Enter { key, steps } => (14, key, steps),
            Self::SetBuckets { buckets } => (15, buckets, 0),
            Self::SetSlots { slots } => (16, 0, slots),
            Self::Maintain { budget } => (17, budget, 0),
            Self::GetMany { key, count } => (18, key, count),
        };
        [kind, key, slot, 0]
    }
}

/// The setup and the operations that an input stands for; `None` if it ends within the header.
pub(crate) fn decode(input: &[u8]) -> Option<(Setup, Vec<Op>)> {
    let (header, rest) = input.split_first_chunk()?;
    Some((Setup::decode(*header), crate::records(rest).map(Op::decode).collect()))
}

/// Does what `input` says and panics where the table and the model differ.
pub fn run(input: &[u8]) {
    let Some((setup, ops)) = decode(input) else { return };
    if setup.tags {
        run::run::<BufferTag>(&setup, &ops);
    } else {
        run::run::<u64>(&setup, &ops);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_decoded_from_what_it_is_encoded_as() {
        for kind in 0..Op::KINDS {
            let op = Op::decode([kind, 3, 5, 0]);
            assert_eq!(op.encode()[0], kind);
            assert_eq!(Op::decode(op.encode()), op);
        }
    }
}
