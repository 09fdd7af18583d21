//! Frames: length and checksum of a payload, the payload, and zeros up to a multiple of 8 bytes. A frame's first word is
//! never 0, so that what was never written is no frame.
//!
//! ```text
//! 0       4       8                          8 + length
//! | length | crc  | kind | body ...           | zeros |
//! ```

/// The most bytes of a payload.
pub(crate) const MAX_PAYLOAD: usize = 1 << 28;

/// Length and checksum.
pub(crate) const FRAME_HEAD: usize = 8;

pub(crate) fn padded(len: usize) -> usize {
    len.next_multiple_of(8)
}

/// Makes a frame of what follows the first [`FRAME_HEAD`] bytes of `frame`.
pub(crate) fn seal(frame: &mut Vec<u8>) {
    let payload = &frame[FRAME_HEAD..];
    let (len, crc) = (payload.len() as u32, checksum(payload));
    frame[..4].copy_from_slice(&len.to_le_bytes());
    frame[4..8].copy_from_slice(&crc.to_le_bytes());
    frame.resize(padded(frame.len()), 0);
}

/// CRC-32C over the length too, so that a changed length is no other frame.
fn checksum(payload: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&(payload.len() as u32).to_le_bytes()), payload)
}

/// What is at the beginning of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    /// A payload, and the bytes of its frame.
    Whole(&'a [u8], usize),
    /// Nothing was written here.
    Blank,
    /// The bytes end before the frame.
    Short,
    /// No frame, and why.
    Bad(&'static str),
}

pub(crate) fn frame_at(bytes: &[u8]) -> Frame<'_> {
    let mut head = Reading(bytes);
    let (Some(len), Some(crc)) = (head.word(), head.word()) else { return Frame::Short };
    if len == 0 {
        return if crc == 0 { Frame::Blank } else { Frame::Bad("a record without a length") };
    }
    let len = len as usize;
    if len > MAX_PAYLOAD {
        return Frame::Bad("a record that is too long");
    }
    let whole = padded(FRAME_HEAD + len);
    let Some(payload) = bytes.get(FRAME_HEAD..FRAME_HEAD + len) else { return Frame::Short };
    if checksum(payload) != crc {
        return Frame::Bad("a record with a wrong checksum");
    }
    match bytes.get(FRAME_HEAD + len..whole) {
        None => Frame::Short,
        Some(padding) if padding.iter().any(|&byte| byte != 0) => {
            Frame::Bad("a record with bytes after its end")
        }
        Some(_) => Frame::Whole(payload, whole),
    }
}

/// The bytes up to the last that is not 0. Most of a segment is zeros, so they are compared a page at a time.
pub(crate) fn used(bytes: &[u8]) -> usize {
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut end = bytes.len();
    while end >= ZEROS.len() && bytes[end - ZEROS.len()..end] == ZEROS {
        end -= ZEROS.len();
    }
    bytes[..end].iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)
}

pub(crate) fn varint_len(number: usize) -> usize {
    (usize::BITS - (number | 1).leading_zeros()).div_ceil(7) as usize
}

/// Bytes that are read from the front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a>(pub(crate) &'a [u8]);

impl<'a> Reading<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    pub(crate) fn word(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn long(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    /// A number, if there is one.
    pub(crate) fn long_if(&mut self, is_there: bool) -> Option<Option<u64>> {
        if is_there { self.long().map(Some) } else { Some(None) }
    }

    pub(crate) fn varint(&mut self) -> Option<usize> {
        let mut number = 0_usize;
        for shift in (0..35).step_by(7) {
            let [byte] = self.take()?;
            number |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

/// Bytes that are appended.
pub(crate) mod put {
    pub(crate) fn words(out: &mut Vec<u8>, words: &[u32]) {
        words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    }

    pub(crate) fn longs(out: &mut Vec<u8>, longs: &[u64]) {
        longs.iter().for_each(|long| out.extend_from_slice(&long.to_le_bytes()));
    }

    pub(crate) fn tagged(out: &mut Vec<u8>, tag: u8, words: &[u32], longs: &[u64]) {
        out.push(tag);
        self::words(out, words);
        self::longs(out, longs);
    }

    pub(crate) fn varint(out: &mut Vec<u8>, mut number: usize) {
        while number >= 0x80 {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
    }
}
