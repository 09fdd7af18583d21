//! The operations on an `LHashMultiMap`.

use super::setup::PageSlots;
use super::{Setup, run_multi};

/// One step. A record is `[op, a, b, c]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `get_all`, `count`, `contains`.
    Get { key: u8 },
    /// `insert`.
    Insert { key: u8, value: u8 },
    /// `remove_one`.
    RemoveOne { key: u8, value: u8 },
    /// `remove_all`.
    RemoveAll { key: u8 },
    /// `vacuum`: values that leave this rest go.
    Vacuum { modulus: u8, rest: u8 },
    /// `extend` with so many values of one key, or of keys from it on.
    Extend { first: u8, count: u8, spread: u8 },
    /// `shrink_to_fit`, under another pin or under none.
    Shrink { pinned: u8 },
    /// Compares everything that the iterator yields.
    Iterate,
    /// Takes all entries out of the multimap, and begins again with a new one.
    Renew { some: u8 },
    /// Looks at all references that were found since the last pin, and pins anew.
    Repin,
    /// `exact_len`.
    ExactLen,
    /// Compares `len`, `stats` and the like, and validates.
    Shape,
    /// From now on tries of the metapage fail, as the bits say.
    Busy { point: u8, outcomes: u8 },
    /// The next operations are done on another thread, which ends then.
    Elsewhere { steps: u8 },
}

impl Op {
    /// How many kinds there are.
    pub(crate) const KINDS: u8 = 14;

    /// The operation that a record stands for.
    pub(crate) fn decode([kind, a, b, c]: [u8; 4]) -> Self {
        match kind % Self::KINDS {
            0 => Self::Get { key: a },
            1 => Self::Insert { key: a, value: b },
            2 => Self::RemoveOne { key: a, value: b },
            3 => Self::RemoveAll { key: a },
            4 => Self::Vacuum { modulus: a, rest: b },
            5 => Self::Extend { first: a, count: b, spread: c },
            6 => Self::Shrink { pinned: a },
            7 => Self::Iterate,
            8 => Self::Renew { some: a },
            9 => Self::Repin,
            10 => Self::ExactLen,
            11 => Self::Shape,
            12 => Self::Busy { point: a, outcomes: b },
            _ => Self::Elsewhere { steps: a },
        }
    }

    /// A record that stands for this operation.
    #[cfg(test)]
    pub(crate) fn encode(self) -> [u8; 4] {
        match self {
            Self::Get { key } => [0, key, 0, 0],
            Self::Insert { key, value } => [1, key, value, 0],
            Self::RemoveOne { key, value } => [2, key, value, 0],
            Self::RemoveAll { key } => [3, key, 0, 0],
            Self::Vacuum { modulus, rest } => [4, modulus, rest, 0],
            Self::Extend { first, count, spread } => [5, first, count, spread],
            Self::Shrink { pinned } => [6, pinned, 0, 0],
            Self::Iterate => [7, 0, 0, 0],
            Self::Renew { some } => [8, some, 0, 0],
            Self::Repin => [9, 0, 0, 0],
            Self::ExactLen => [10, 0, 0, 0],
            Self::Shape => [11, 0, 0, 0],
            Self::Busy { point, outcomes } => [12, point, outcomes, 0],
            Self::Elsewhere { steps } => [13, steps, 0, 0],
        }
    }
}

/// The setup and the operations that an input stands for; `None` if it ends within the header.
pub(crate) fn decode(input: &[u8]) -> Option<(Setup, Vec<Op>)> {
    let (header, rest) = input.split_first_chunk()?;
    Some((Setup::decode(*header), crate::records(rest).map(Op::decode).collect()))
}

/// Does what `input` says and panics where the multimap and the model differ.
pub fn run(input: &[u8]) {
    let Some((setup, ops)) = decode(input) else { return };
    match setup.page_slots {
        PageSlots::One => run_multi::run::<1>(&setup, &ops),
        PageSlots::Two => run_multi::run::<2>(&setup, &ops),
        PageSlots::Seven => run_multi::run::<7>(&setup, &ops),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_decoded_from_what_it_is_encoded_as() {
        for kind in 0..Op::KINDS {
            let op = Op::decode([kind, 3, 5, 7]);
            assert_eq!(op.encode()[0], kind);
            assert_eq!(Op::decode(op.encode()), op);
        }
    }
}
