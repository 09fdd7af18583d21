//! Small traces, made for the tests.

#![allow(dead_code, reason = "each test file uses a part of this")]

use std::path::PathBuf;

/// The parts of a trace, to be written rightly or wrongly.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) magic: Vec<u8>,
    pub(crate) records: u64,
    pub(crate) relations: u32,
    pub(crate) slots: u32,
    pub(crate) relation_words: Vec<[u32; 4]>,
    pub(crate) ops: Vec<u8>,
    pub(crate) relation_indices: Vec<u16>,
    pub(crate) blocks: Vec<u32>,
    pub(crate) insert_slots: Vec<u32>,
}

pub(crate) const LOOKUP: u8 = 0;
pub(crate) const INSERT: u8 = 1;
pub(crate) const DELETE: u8 = 2;

impl Parts {
    /// A trace over one relation: each record an operation, a block and, for inserts, a slot.
    pub(crate) fn new(slots: u32, records: &[(u8, u32, u32)]) -> Self {
        Self {
            magic: b"PGBT0001".to_vec(),
            records: records.len() as u64,
            relations: 1,
            slots,
            relation_words: vec![[1663, 5, 16384, 0]],
            ops: records.iter().map(|r| r.0).collect(),
            relation_indices: vec![0; records.len()],
            blocks: records.iter().map(|r| r.1).collect(),
            insert_slots: records.iter().filter(|r| r.0 & 3 == INSERT).map(|r| r.2).collect(),
        }
    }

    /// Eight records on four slots; a lookup misses, one hits, an insert finds its tag present.
    pub(crate) fn small() -> Self {
        Self::new(
            4,
            &[
                (LOOKUP, 7, 0),
                (INSERT, 7, 2),
                (LOOKUP, 7, 0),
                (INSERT, 7, 3),
                (INSERT, 0x0403_0201, 0),
                (DELETE, 7, 0),
                (DELETE, 7, 0),
                (LOOKUP | 63 << 2, 0x0403_0201, 0),
            ],
        )
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.magic.clone();
        bytes.extend(self.records.to_le_bytes());
        bytes.extend(self.relations.to_le_bytes());
        bytes.extend(self.slots.to_le_bytes());
        bytes.extend(self.relation_words.as_flattened().iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(&self.ops);
        bytes.extend(self.relation_indices.iter().flat_map(|index| index.to_le_bytes()));
        for plane in 0..4 {
            bytes.extend(self.blocks.iter().map(|block| block.to_le_bytes()[plane]));
        }
        bytes.extend(self.insert_slots.iter().flat_map(|slot| slot.to_le_bytes()));
        bytes
    }

    pub(crate) fn packed(&self) -> Vec<u8> {
        zstd::encode_all(&self.bytes()[..], 1).unwrap()
    }
}

/// Writes a file that the test named by `name` may use alone.
pub(crate) fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// A generator of numbers that look random (splitmix64), the same for the same seed.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
