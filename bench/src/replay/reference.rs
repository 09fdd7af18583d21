//! What is right: both modes on the standard library's hash map, as plainly as can be.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::ops::{Answer, Tally};
use super::{Answers, ops};
use crate::pool::MAX_USAGE;
use crate::table::{BufferTag, Mapped};
use crate::trace::{Op, Trace, TraceError};

/// The right answers to the recorded operations.
///
/// # Errors
///
/// [`TraceError::SlotOccupied`] if the trace puts two tags into one slot.
pub fn ops(trace: &Trace) -> Result<ops::Input<'_>, TraceError> {
    let mut slot_of = HashMap::new();
    let mut taken = vec![false; trace.slots as usize];
    let mut tally = Tally::default();
    let mut right = Vec::with_capacity(trace.records.len());
    for (record, &crate::trace::Record { tag, op, .. }) in trace.records.iter().enumerate() {
        let slot = match op {
            Op::Lookup => slot_of.get(&tag).copied(),
            Op::Delete => slot_of.remove(&tag).inspect(|&slot: &u32| taken[slot as usize] = false),
            Op::Insert { slot } => match slot_of.entry(tag) {
                Entry::Occupied(entry) => Some(*entry.get()),
                Entry::Vacant(_) if taken[slot as usize] => {
                    return Err(TraceError::SlotOccupied { record, slot });
                }
                Entry::Vacant(entry) => {
                    entry.insert(slot);
                    taken[slot as usize] = true;
                    None
                }
            },
        };
        let answer = slot.map_or(Answer::Absent, Answer::Slot);
        tally.add(op, answer);
        right.push(answer);
    }
    let mapped = Mapped::of(slot_of.into_iter().map(|(tag, slot)| (slot, tag)).collect());
    Ok(ops::Input { trace, right, right_answers: tally.answers(mapped) })
}

/// A frame of the reference's pool.
struct Frame {
    page: BufferTag,
    usage: u8,
}

/// What one thread must come to when it looks `lookups` up through a pool of `frames` frames, at least 1.
#[must_use]
pub fn pool(lookups: &[BufferTag], frames: u32) -> Answers {
    let mut frame_of: HashMap<BufferTag, usize> = HashMap::new();
    let mut pool: Vec<Frame> = Vec::new();
    let mut hand = 0;
    let (mut hits, mut misses, mut evictions) = (0, 0, 0);
    for &page in lookups {
        if let Some(&frame) = frame_of.get(&page) {
            hits += 1;
            pool[frame].usage = MAX_USAGE.min(pool[frame].usage + 1);
            continue;
        }
        misses += 1;
        let loaded = Frame { page, usage: 1 };
        if pool.len() < frames as usize {
            frame_of.insert(page, pool.len());
            pool.push(loaded);
            continue;
        }
        while pool[hand].usage > 0 {
            pool[hand].usage -= 1;
            hand = (hand + 1) % pool.len();
        }
        evictions += 1;
        frame_of.remove(&pool[hand].page);
        frame_of.insert(page, hand);
        pool[hand] = loaded;
        hand = (hand + 1) % pool.len();
    }
    let mapped = Mapped::of(frame_of.into_iter().map(|(page, frame)| (frame as u32, page)).collect());
    Answers { hits, misses, evictions, insert_exists: 0, delete_absent: 0, digest: 0, mapped }
}
