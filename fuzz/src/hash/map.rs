//! The operations on an `LHashMap`.

use super::setup::PageSlots;
use super::{Setup, run_map};

/// One step. A record is `[op, a, b, c]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `get`, `get_key_value`, `contains_key`, `get_cloned`.
    Get { key: u8 },
    /// `insert`.
    Insert { key: u8, value: u8 },
    /// `try_insert`.
    TryInsert { key: u8, value: u8 },
    /// `get_or_insert` or, if the value is odd, `get_or_insert_with`.
    GetOrInsert { key: u8, value: u8 },
    /// `remove`.
    Remove { key: u8 },
    /// `remove_if`, with this verdict on even or odd values.
    RemoveIf { key: u8, odd: u8 },
    /// `update`.
    Update { key: u8, add: u8 },
    /// `compute`: insert, remove or keep.
    Compute { key: u8, value: u8, what: u8 },
    /// `retain`: keys that leave this rest stay.
    Retain { modulus: u8, rest: u8 },
    /// `clear`.
    Clear,
    /// `extend` with so many keys from one on.
    Extend { first: u8, count: u8, value: u8 },
    /// `try_reserve`.
    Reserve { count: u8 },
    /// `shrink_to_fit`, under another pin or under none.
    Shrink { pinned: u8 },
    /// Compares everything that the iterators yield.
    Iterate,
    /// Compares the map with a clone, and with one that is made from its entries.
    Copy,
    /// Takes all entries out of the map, and begins again with a new one.
    Renew { some: u8 },
    /// Looks at all references that were found since the last pin, and pins anew.
    Repin,
    /// `exact_len`.
    ExactLen,
    /// Compares `len`, `stats`, `memory_bytes` and the like, and validates.
    Shape,
    /// From now on tries of the metapage fail, as the bits say.
    Busy { point: u8, outcomes: u8 },
    /// The next operations are done on another thread, which ends then.
    Elsewhere { steps: u8 },
}

impl Op {
    /// How many kinds there are.
    pub(crate) const KINDS: u8 = 21;

    /// The operation that a record stands for.
    pub(crate) fn decode([kind, a, b, c]: [u8; 4]) -> Self {
        match kind % Self::KINDS {
            0 => Self::Get { key: a },
            1 => Self::Insert { key: a, value: b },
            2 => Self::TryInsert { key: a, value: b },
            3 => Self::GetOrInsert { key: a, value: b },
            4 => Self::Remove { key: a },
            5 => Self::RemoveIf { key: a, odd: b },
            6 => Self::Update { key: a, add: b },
            7 => Self::Compute { key: a, value: b, what: c },
            8 => Self::Retain { modulus: a, rest: b },
            9 => Self::Clear,
            10 => Self::Extend { first: a, count: b, value: c },
            11 => Self::Reserve { count: a },
            12 => Self::Shrink { pinned: a },
            13 => Self::Iterate,
            14 => Self::Copy,
            15 => Self::Renew { some: a },
            16 => Self::Repin,
            17 => Self::ExactLen,
            18 => Self::Shape,
            19 => Self::Busy { point: a, outcomes: b },
            _ => Self::Elsewhere { steps: a },
        }
    }

    /// A record that stands for this operation.
    #[cfg(test)]
    pub(crate) fn encode(self) -> [u8; 4] {
        match self {
            Self::Get { key } => [0, key, 0, 0],
            Self::Insert { key, value } => [1, key, value, 0],
            Self::TryInsert { key, value } => [2, key, value, 0],
            Self::GetOrInsert { key, value } => [3, key, value, 0],
            Self::Remove { key } => [4, key, 0, 0],
            Self::RemoveIf { key, odd } => [5, key, odd, 0],
            Self::Update { key, add } => [6, key, add, 0],
            Self::Compute { key, value, what } => [7, key, value, what],
            Self::Retain { modulus, rest } => [8, modulus, rest, 0],
            Self::Clear => [9, 0, 0, 0],
            Self::Extend { first, count, value } => [10, first, count, value],
            Self::Reserve { count } => [11, count, 0, 0],
            Self::Shrink { pinned } => [12, pinned, 0, 0],
            Self::Iterate => [13, 0, 0, 0],
            Self::Copy => [14, 0, 0, 0],
            Self::Renew { some } => [15, some, 0, 0],
            Self::Repin => [16, 0, 0, 0],
            Self::ExactLen => [17, 0, 0, 0],
            Self::Shape => [18, 0, 0, 0],
            Self::Busy { point, outcomes } => [19, point, outcomes, 0],
            Self::Elsewhere { steps } => [20, steps, 0, 0],
        }
    }
}

/// The setup and the operations that an input stands for; `None` if it ends within the header.
pub(crate) fn decode(input: &[u8]) -> Option<(Setup, Vec<Op>)> {
    let (header, rest) = input.split_first_chunk()?;
    Some((Setup::decode(*header), crate::records(rest).map(Op::decode).collect()))
}

/// Does what `input` says and panics where the map and the model differ.
pub fn run(input: &[u8]) {
    let Some((setup, ops)) = decode(input) else { return };
    match setup.page_slots {
        PageSlots::One => run_map::run::<1>(&setup, &ops),
        PageSlots::Two => run_map::run::<2>(&setup, &ops),
        PageSlots::Seven => run_map::run::<7>(&setup, &ops),
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
