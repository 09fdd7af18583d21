//! The trace decoder on any bytes: it must not panic, and it must accept exactly what a slow decoder accepts,
//! with the same result.

use bench::table::{MAX_SLOTS, tag_words};
use bench::trace::{MAGIC, MAX_RECORDS, Op, Trace, decode};

/// Decodes `input` twice and panics where the results differ.
pub fn run(input: &[u8]) {
    let found = decode(input);
    let expected = slow_decode(input);
    match (found, expected) {
        (Ok(trace), Some(expected)) => assert_eq!(flatten(&trace), expected),
        (Err(error), None) => assert!(!error.to_string().is_empty()),
        (Ok(trace), None) => panic!("accepted, but it is no trace: {trace:?}"),
        (Err(error), Some(expected)) => panic!("{error}, but it is a trace: {expected:?}"),
    }
}

/// One record: operation, client, the five words of the tag, the slot of an insert.
type Flat = (u8, u8, [u32; 5], Option<u32>);

fn flatten(trace: &Trace) -> (u32, Vec<Flat>) {
    let records = trace.records.iter().map(|record| {
        let (op, slot) = match record.op {
            Op::Lookup => (0, None),
            Op::Insert { slot } => (1, Some(slot)),
            Op::Delete => (2, None),
        };
        (op, record.client, tag_words(&record.tag), slot)
    });
    (trace.slots, records.collect())
}

/// Reads every field at its own offset, straight from the description of the format. `None`: it is no trace.
fn slow_decode(input: &[u8]) -> Option<(u32, Vec<Flat>)> {
    let byte = |at: usize| input.get(at).copied();
    let word = |at: usize| Some(u32::from_le_bytes(input.get(at..at.checked_add(4)?)?.try_into().ok()?));
    if input.get(..8)? != MAGIC {
        return None;
    }
    let n = u64::from(word(8)?) | u64::from(word(12)?) << 32;
    let (relations, slots) = (word(16)? as usize, word(20)?);
    if n > MAX_RECORDS || !(1..=MAX_SLOTS).contains(&slots) {
        return None;
    }
    let n = n as usize;
    let ops = 24 + 16 * relations;
    let blocks = ops + 3 * n;
    let mut end = blocks + 4 * n;
    let mut records = Vec::new();
    for i in 0..n {
        let op = byte(ops + i)?;
        let index = usize::from(byte(ops + n + 2 * i)?) | usize::from(byte(ops + n + 2 * i + 1)?) << 8;
        let mut tag = [0; 5];
        for (field, value) in tag[..4].iter_mut().enumerate() {
            *value = word(24 + 16 * index + 4 * field).filter(|_| index < relations)?;
        }
        for plane in 0..4 {
            tag[4] |= u32::from(byte(blocks + plane * n + i)?) << (8 * plane);
        }
        let mut slot = None;
        if op & 3 == 1 {
            slot = Some(word(end).filter(|slot| *slot < slots)?);
            end += 4;
        }
        records.push(((op & 3 != 3).then_some(op & 3)?, op >> 2, tag, slot));
    }
    (input.len() == end).then_some((slots, records))
}
