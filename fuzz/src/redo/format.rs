//! The format of the redo log, read and written slowly and straight from its description. Next: `../redo.rs`.

/// The bytes of a segment's header.
pub(crate) const HEADER: usize = 64;

/// CRC-32C, bit by bit.
fn crc(bytes: impl IntoIterator<Item = u8>) -> u32 {
    let step = |crc: u32, _| crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
    !bytes.into_iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(byte), step))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// The header of a log of a map with four buckets, entries of which are counted one by one or later.
pub(crate) fn header(is_multi: bool, policy: u32) -> Vec<u8> {
    let mut bytes = b"LHASHLOG".to_vec();
    let words = [1, 10, 5, 0, 0, 0, 7, 4, policy, 32, u32::MAX, u32::from(is_multi), 0];
    bytes.extend(words.into_iter().flat_map(u32::to_le_bytes));
    let sum = crc(bytes.iter().copied());
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// The frame of a payload, which is not empty.
pub(crate) fn frame(payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u32).to_le_bytes();
    let mut bytes = len.to_vec();
    bytes.extend(crc(len.iter().chain(payload).copied()).to_le_bytes());
    bytes.extend(payload);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// Whether a segment begins with a header that says it is the first one; and its least number of buckets.
pub(crate) fn min_buckets(bytes: &[u8]) -> Option<u32> {
    let head = bytes.get(..HEADER)?;
    let is_right = head.starts_with(b"LHASHLOG") && word(head, 8) == Some(1);
    let sum = crc(head[..HEADER - 4].iter().copied());
    let is_first = head[24..32] == [0; 8];
    word(head, 36).filter(|_| is_right && is_first && word(head, 60) == Some(sum))
}

/// The payload of a whole frame at a position, and the position after it.
fn whole(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let (len, sum) = (word(bytes, at)?, word(bytes, at + 4)?);
    let end = at + 8 + len as usize;
    let payload = bytes.get(at + 8..end)?;
    let padding = bytes.get(end..end.next_multiple_of(8))?;
    let is_whole = (1..=1 << 28).contains(&len)
        && crc(len.to_le_bytes().iter().chain(payload).copied()) == sum
        && padding.iter().all(|&byte| byte == 0);
    is_whole.then_some((payload, end.next_multiple_of(8)))
}

/// The highest count that a vacuum may put back, its highest byte first.
const MOST_ENTRIES: [u8; 8] = [0, 1, 0, 0, 0, 0, 0, 0];

/// Whether a payload is a record.
fn is_record(payload: &[u8]) -> bool {
    let (tag, body) = (payload[0], payload.len() - 1);
    let digest = if tag & 0x80 != 0 { 8 } else { 0 };
    match tag & 0x0f {
        1..=3 => is_entry(payload),
        4 => body == 4,
        5 => body == 8 + 2 * digest,
        6 => body == 8 + digest,
        8 => body == 8 + digest && payload[9..].iter().rev().copied().le(MOST_ENTRIES),
        7 => body == 4 + digest,
        9 => has_count(tag) && body == 8 + number(tag) + digest,
        _ => false,
    }
}

/// The bytes for the number by which the count changes.
fn number(tag: u8) -> usize {
    if tag & 0x40 != 0 { 4 } else { 0 }
}

/// Whether a tag says at most one thing of the count.
fn has_count(tag: u8) -> bool {
    match tag & 0x30 {
        0x30 => false,
        0x20 => tag & 0x40 != 0,
        _ => true,
    }
}

fn is_entry(payload: &[u8]) -> bool {
    let tag = payload[0];
    let mut at = 9 + number(tag) + if tag & 0x80 != 0 { 8 } else { 0 };
    let mut len = 0_usize;
    for shift in [0, 7, 14, 21, 28] {
        let Some(&byte) = payload.get(at) else { return false };
        at += 1;
        len |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return has_count(tag) && len <= payload.len() - at;
        }
    }
    false
}

/// How a log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// So many bytes are no whole record.
    Torn(u64),
    /// There is damage at this byte.
    Damaged(u64),
}

/// The positions after the records of a segment with a right header, their kinds, and how it ends.
pub(crate) fn read(bytes: &[u8]) -> (Vec<(u64, u8)>, End) {
    let (mut records, mut at) = (Vec::new(), HEADER);
    while let Some((payload, end)) = whole(bytes, at) {
        if !is_record(payload) {
            return (records, End::Damaged(at as u64));
        }
        records.push(((end - HEADER) as u64, payload[0] & 0x0f));
        at = end;
    }
    let last = bytes[at..].iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let follows = |at| whole(bytes, at).is_some_and(|(payload, _)| is_record(payload));
    let end = if (at + 8..at + last).step_by(8).any(follows) {
        End::Damaged(at as u64)
    } else {
        End::Torn(last as u64)
    };
    (records, end)
}
