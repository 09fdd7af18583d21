//! The log's buffer: a ring of words. Places are taken by raising a number, filled by many threads at a time, and emptied in
//! order by one.
//!
//! Invariants:
//! * L1: words between the last position that was emptied and `next` belong to the threads that took those places;
//!   all others are 0.
//! * L2: the first word of a frame is stored last, and is not 0: so whoever finds it has the whole frame.
//! * L3: `used` is at least what was permitted and not emptied, and at most the ring: so no place is taken twice.

use crossbeam_utils::CachePadded;
use sync::prim::atomic::{AtomicU64, Ordering};
use sync::prim::{spin_loop, yield_now};

#[derive(Debug)]
pub(crate) struct Ring {
    words: Box<[AtomicU64]>,
    /// The position of the next place, in bytes.
    next: CachePadded<AtomicU64>,
    /// Bytes that were permitted and are not empty again.
    used: CachePadded<AtomicU64>,
}

impl Ring {
    /// An empty ring of so many bytes, a power of 2 and at least 8, whose first place is at `start`.
    pub(crate) fn new(bytes: usize, start: u64) -> Self {
        assert!(bytes.is_power_of_two() && bytes >= 8, "{bytes} bytes are no ring");
        Self {
            words: (0..bytes / 8).map(|_| AtomicU64::new(0)).collect(),
            next: CachePadded::new(AtomicU64::new(start)),
            used: CachePadded::new(AtomicU64::new(0)),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.words.len() * 8
    }

    /// The position after the last place that was taken.
    pub(crate) fn next(&self) -> u64 {
        // Relaxed: what was taken before this call, on this thread or ordered before it, is in it.
        self.next.load(Ordering::Relaxed)
    }

    /// Permits to take places of so many bytes; `false` if there is no room now.
    pub(crate) fn permit(&self, bytes: u64) -> bool {
        let most = self.bytes() as u64;
        // ORD(LH-LOGROOM acq): the words that were emptied.
        let before = self.used.fetch_add(bytes, Ordering::Acquire);
        if before + bytes <= most {
            return true;
        }
        self.give_back(bytes);
        false
    }

    /// Gives permitted bytes back that were not taken.
    pub(crate) fn give_back(&self, bytes: u64) {
        if bytes > 0 {
            // Relaxed: they were not touched.
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// Takes a place of so many bytes, which were permitted.
    pub(crate) fn reserve(&self, bytes: u64) -> u64 {
        // ORD(LH-LOGPLACE rel): that the words before this place were emptied, as our permit has seen.
        // ORD(LH-LOGPLACE acq): the same of those who took places before us, and were permitted to after us.
        self.next.fetch_add(bytes, Ordering::AcqRel)
    }

    fn word(&self, position: u64) -> &AtomicU64 {
        // A mask, not a division: their number is a power of 2.
        &self.words[(position / 8) as usize & (self.words.len() - 1)]
    }

    /// Fills a place.
    pub(crate) fn fill(&self, position: u64, frame: &[u8]) {
        let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        for (at, bytes) in frame.chunks_exact(8).enumerate().skip(1) {
            // Relaxed: the first word comes after them.
            self.word(position + at as u64 * 8).store(word(bytes), Ordering::Relaxed);
        }
        // ORD(LH-LOGFRAME rel): the rest of the frame.
        self.word(position).store(word(frame), Ordering::Release);
    }

    /// Appends the frames from `from` on to `out`, all that were taken when it began. Waits for those that are being filled.
    /// For one thread at a time.
    pub(crate) fn read(&self, from: u64, out: &mut Vec<u8>) {
        let end = self.next();
        let mut position = from;
        while position < end {
            let first = self.first_word(position);
            let len = super::frame::padded(super::frame::FRAME_HEAD + first as u32 as usize) as u64;
            out.extend_from_slice(&first.to_le_bytes());
            for at in (8..len).step_by(8) {
                // Relaxed: the first word was acquired.
                out.extend_from_slice(&self.word(position + at).load(Ordering::Relaxed).to_le_bytes());
            }
            position += len;
        }
    }

    fn first_word(&self, position: u64) -> u64 {
        let mut rounds = 0_u32;
        loop {
            // ORD(LH-LOGFRAME acq): the rest of the frame.
            let word = self.word(position).load(Ordering::Acquire);
            if word != 0 {
                return word;
            }
            rounds += 1;
            if rounds < 64 { spin_loop() } else { yield_now() }
        }
    }

    /// Empties what was read.
    pub(crate) fn empty(&self, from: u64, to: u64) {
        for position in (from..to).step_by(8) {
            // Relaxed: `used` comes after it.
            self.word(position).store(0, Ordering::Relaxed);
        }
        // ORD(LH-LOGROOM rel): the empty words.
        self.used.fetch_sub(to - from, Ordering::Release);
    }
}
