//! The header of a segment: what a table is made like, and where the segment begins. 64 bytes, little-endian:
//!
//! ```text
//! magic 8, version 4, fill factor 4, seed 8, start 8, page slots 4, least buckets 4, policy 4, cap 4, shrink 4,
//! flags 4, zeros 4, CRC-32C of all before it 4
//! ```

use super::frame::{Reading, put};

/// As a frame's first word it would be a length beyond the longest.
pub(crate) const MAGIC: [u8; 8] = *b"LHASHLOG";
/// A snapshot's file begins with a header too, whose `start` is its position.
pub(crate) const SNAPSHOT_MAGIC: [u8; 8] = *b"LHASHSNP";
pub(crate) const VERSION: u32 = 1;
/// No position is higher.
const LONGEST: u64 = 1 << 62;
pub(crate) const HEADER: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) fill_factor: u32,
    pub(crate) seed: u64,
    /// The position of the segment's first record.
    pub(crate) start: u64,
    pub(crate) page_slots: u32,
    pub(crate) min_buckets: u32,
    pub(crate) policy: u32,
    pub(crate) cap: u32,
    pub(crate) shrink: u32,
    pub(crate) flags: u32,
}

impl Header {
    pub(crate) fn encode(&self, magic: [u8; 8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER);
        out.extend_from_slice(&magic);
        put::words(&mut out, &[VERSION, self.fill_factor]);
        put::longs(&mut out, &[self.seed, self.start]);
        put::words(
            &mut out,
            &[self.page_slots, self.min_buckets, self.policy, self.cap, self.shrink, self.flags, 0],
        );
        let crc = crc32c::crc32c(&out);
        put::words(&mut out, &[crc]);
        out
    }

    /// Whether both are of one log.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        Self { start: 0, ..*self } == Self { start: 0, ..*other }
    }

    /// Reads a segment's; if it is none, says why.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, String> {
        Self::decode_as(MAGIC, bytes)
    }

    /// Reads one that begins so.
    pub(crate) fn decode_as(magic: [u8; 8], bytes: &[u8]) -> Result<Self, String> {
        let bytes =
            bytes.get(..HEADER).ok_or_else(|| format!("{} bytes where a header has 64", bytes.len()))?;
        let mut rest = Reading(&bytes[MAGIC.len()..]);
        if !bytes.starts_with(&magic) {
            let what = if magic == MAGIC { "redo log" } else { "snapshot" };
            return Err(format!("it does not begin as a {what} does"));
        }
        let read = |rest: &mut Reading<'_>| {
            let (version, fill_factor) = (rest.word()?, rest.word()?);
            let (seed, start) = (rest.long()?, rest.long()?);
            let mut words = [0; 8];
            for word in &mut words {
                *word = rest.word()?;
            }
            let [page_slots, min_buckets, policy, cap, shrink, flags, _, crc] = words;
            let header =
                Self { fill_factor, seed, start, page_slots, min_buckets, policy, cap, shrink, flags };
            Some((version, crc, header))
        };
        let (version, crc, header) = read(&mut rest).ok_or_else(|| "its header is too short".to_owned())?;
        if version != VERSION {
            return Err(format!("its version is {version}, and {VERSION} is known"));
        }
        if crc32c::crc32c(&bytes[..HEADER - 4]) != crc {
            return Err("its header has a wrong checksum".to_owned());
        }
        if header.start > LONGEST {
            return Err(format!("it begins at {}, and no log is so long", header.start));
        }
        Ok(header)
    }
}
