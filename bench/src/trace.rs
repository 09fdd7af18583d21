//! The recorded trace: what one record is, and how the bytes of a trace are decoded.
//!
//! Layout, little-endian: `PGBT0001`, u64 records, u32 relations, u32 slots, the relations (four u32
//! each), then planes: one op byte a record, one u16 relation index a record, the four bytes of the block
//! numbers (lowest first, one plane each), and a u32 slot for each insert, in order.
//!
//! Nothing is allocated for a size that a header merely claims: every plane is cut out of bytes that are
//! really there before anything is built from it.
//!
//! Next: `trace/file.rs`, which unpacks a file for this decoder.

mod error;
mod file;

pub use error::TraceError;
pub use file::{default_path, read_file};

use crate::table::{BufferTag, MAX_SLOTS};

/// The first eight bytes of a trace, after decompression.
pub const MAGIC: [u8; 8] = *b"PGBT0001";

/// The most records that a trace may claim: 2^26, which decode to about 2 GiB.
pub const MAX_RECORDS: u64 = 1 << 26;

const HEADER_BYTES: usize = 24;
const RELATION_BYTES: u128 = 16;
/// Op byte, relation index and four block bytes.
const RECORD_BYTES: u128 = 7;
const SLOT_BYTES: usize = 4;

/// What a backend did to the mapping table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Asked for the slot of a tag.
    Lookup,
    /// Mapped a tag to a slot.
    Insert {
        /// The slot that the backend had chosen for the page.
        slot: u32,
    },
    /// Took a tag's mapping away.
    Delete,
}

/// One recorded operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The page.
    pub tag: BufferTag,
    /// What was done.
    pub op: Op,
    /// The number of the backend that did it, below 64.
    pub client: u8,
}

/// A decoded trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// How many slots the recorded table had; every recorded slot is below it.
    pub slots: u32,
    /// The operations, in the order in which they happened.
    pub records: Vec<Record>,
}

/// How many operations of each kind there are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct OpCounts {
    /// Lookups.
    pub lookups: u64,
    /// Inserts.
    pub inserts: u64,
    /// Deletes.
    pub deletes: u64,
}

impl Trace {
    /// Counts the operations of each kind.
    #[must_use]
    pub fn op_counts(&self) -> OpCounts {
        let mut counts = OpCounts::default();
        for record in &self.records {
            match record.op {
                Op::Lookup => counts.lookups += 1,
                Op::Insert { .. } => counts.inserts += 1,
                Op::Delete => counts.deletes += 1,
            }
        }
        counts
    }

    /// The tags that were looked up, in order.
    #[must_use]
    pub fn lookups(&self) -> Vec<BufferTag> {
        self.records.iter().filter(|r| r.op == Op::Lookup).map(|r| r.tag).collect()
    }
}

/// The fixed part at the start of a trace, checked as far as it can be on its own.
#[derive(Debug, Clone, Copy)]
struct Header {
    records: u64,
    relations: u32,
    slots: u32,
}

impl Header {
    fn parse(bytes: &[u8]) -> Result<Self, TraceError> {
        let mut input = Input { bytes, taken: 0 };
        let magic_bytes = &bytes[..bytes.len().min(MAGIC.len())];
        if !MAGIC.starts_with(magic_bytes) {
            return Err(TraceError::WrongMagic { found: magic_bytes.escape_ascii().to_string() });
        }
        input.take(MAGIC.len(), "the magic")?;
        let header = Self {
            records: u64::from_le_bytes(input.array("the number of records")?),
            relations: u32::from_le_bytes(input.array("the number of relations")?),
            slots: u32::from_le_bytes(input.array("the number of slots")?),
        };
        if header.records > MAX_RECORDS {
            return Err(TraceError::TooManyRecords { records: header.records, max: MAX_RECORDS });
        }
        if header.slots == 0 || header.slots > MAX_SLOTS {
            return Err(TraceError::SlotCount { slots: header.slots, max: MAX_SLOTS });
        }
        Ok(header)
    }

    /// The size of a whole trace with this header, if it holds no inserts. It can't overflow in 128 bits.
    fn min_bytes(&self) -> u128 {
        HEADER_BYTES as u128
            + RELATION_BYTES * u128::from(self.relations)
            + RECORD_BYTES * u128::from(self.records)
    }

    /// The size of a whole trace with this header, if every record is an insert.
    fn max_bytes(&self) -> u128 {
        self.min_bytes() + SLOT_BYTES as u128 * u128::from(self.records)
    }
}

/// The bytes of a trace, cut off from the front.
struct Input<'a> {
    bytes: &'a [u8],
    taken: usize,
}

impl<'a> Input<'a> {
    fn take(&mut self, n: usize, what: &'static str) -> Result<&'a [u8], TraceError> {
        let rest = &self.bytes[self.taken..];
        if rest.len() < n {
            let (needed_bytes, present_bytes) = (self.taken as u128 + n as u128, self.bytes.len());
            return Err(TraceError::Truncated { what, needed_bytes, present_bytes });
        }
        self.taken += n;
        Ok(&rest[..n])
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], TraceError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }
}

/// The part of a trace before the slots, cut into its planes; all of the same number of records.
struct Planes<'a> {
    ops: &'a [u8],
    relation_indices: &'a [[u8; 2]],
    blocks: [&'a [u8]; 4],
}

impl Planes<'_> {
    fn block_number(&self, record: usize) -> u32 {
        u32::from_le_bytes(self.blocks.map(|plane| plane[record]))
    }

    fn tag(&self, record: usize, relations: &[Relation]) -> Result<BufferTag, TraceError> {
        let index = u16::from_le_bytes(self.relation_indices[record]);
        let relation = relations.get(usize::from(index)).ok_or(TraceError::RelationOutOfRange {
            record,
            index,
            relations: relations.len(),
        })?;
        let [spc_oid, db_oid, rel_number, fork_number] = *relation;
        let block_number = self.block_number(record);
        Ok(BufferTag { spc_oid, db_oid, rel_number, fork_number, block_number })
    }
}

/// Tablespace, database, relation and fork.
type Relation = [u32; 4];

/// Decodes the bytes of a trace, already decompressed.
///
/// # Errors
///
/// Whatever the bytes are, the answer is a [`TraceError`] that says what is wrong with them, or a trace whose
/// every tag and slot is in range; never a panic, and never an allocation much larger than `bytes` itself.
pub fn decode(bytes: &[u8]) -> Result<Trace, TraceError> {
    let header = Header::parse(bytes)?;
    if (bytes.len() as u128) < header.min_bytes() {
        // From here on no size computed from the header exceeds the size of the input.
        let (needed_bytes, present_bytes) = (header.min_bytes(), bytes.len());
        return Err(TraceError::Truncated { what: "the records", needed_bytes, present_bytes });
    }
    let n = header.records as usize;
    let mut input = Input { bytes, taken: HEADER_BYTES };
    let relations = relations(&mut input, header.relations as usize)?;
    let planes = Planes {
        ops: input.take(n, "the operations")?,
        relation_indices: input.take(2 * n, "the relation indices")?.as_chunks().0,
        blocks: [
            input.take(n, "the block numbers")?,
            input.take(n, "the block numbers")?,
            input.take(n, "the block numbers")?,
            input.take(n, "the block numbers")?,
        ],
    };
    let records =
        (0..n).map(|i| record(i, &planes, &relations, header.slots, &mut input)).collect::<Result<_, _>>()?;
    match bytes.len() - input.taken {
        0 => Ok(Trace { slots: header.slots, records }),
        trailing_bytes => Err(TraceError::TrailingBytes { trailing_bytes, used_bytes: input.taken }),
    }
}

fn relations(input: &mut Input<'_>, count: usize) -> Result<Vec<Relation>, TraceError> {
    let bytes = input.take(count * RELATION_BYTES as usize, "the relations")?;
    let (words, _) = bytes.as_chunks::<4>();
    let (relations, _) = words.as_chunks::<4>();
    Ok(relations.iter().map(|relation| relation.map(u32::from_le_bytes)).collect())
}

fn record(
    record: usize,
    planes: &Planes<'_>,
    relations: &[Relation],
    slots: u32,
    input: &mut Input<'_>,
) -> Result<Record, TraceError> {
    let tag = planes.tag(record, relations)?;
    let client = planes.ops[record] >> 2;
    let op = match planes.ops[record] & 3 {
        0 => Op::Lookup,
        1 => {
            let slot = u32::from_le_bytes(input.array::<SLOT_BYTES>("the slots of the inserts")?);
            if slot >= slots {
                return Err(TraceError::SlotOutOfRange { record, slot, slots });
            }
            Op::Insert { slot }
        }
        2 => Op::Delete,
        op => return Err(TraceError::UnknownOp { record, op }),
    };
    Ok(Record { tag, op, client })
}
