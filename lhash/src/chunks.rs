//! An array that grows and shrinks without moving: segments, four to each doubling, found through a fixed directory.
//! Elements are shared; what they hold is their own affair. Next: `nodes.rs` and `page.rs`, the elements.
//!
//! Invariants:
//! * I1: an entry of the directory is null, or points at a boxed slice of its segment's length.
//! * I2: a segment leaves the directory only through `retire`, and is freed when no pin of then is left. So a
//!   reference that was taken under a pin lives as long as the pin.

use crate::error::OutOfMemory;
use crate::reclaim::Pin;
use core::ptr::{self, NonNull};
use sync::prim::atomic::{AtomicPtr, Ordering};

/// Added to an index, so that the first segments are not smaller than a quarter of it.
const BASE_BITS: u32 = if crate::reclaim::IN_A_MODEL { 2 } else { 6 };
const BASE: u64 = 1 << BASE_BITS;

/// Segments for 2^32 elements; models get by with a few.
const SEGMENTS: usize = if crate::reclaim::IN_A_MODEL { 12 } else { (33 - BASE_BITS as usize) * 4 };

/// What segments are made of.
pub(crate) trait Element: Sized {
    /// `len` fresh elements; `None` if there is no memory.
    fn segment(len: usize) -> Option<Box<[Self]>>;
}

/// The number of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Segment(u32);

impl Segment {
    /// The segment of an index, and the place in it.
    #[inline]
    pub(crate) const fn of(index: u32) -> (Self, usize) {
        let index = index as u64 + BASE;
        // The logarithm, written so that it compiles to one instruction where that counts from below.
        let shift = (63 ^ index.leading_zeros()) - 2;
        // The top three bits of the index: 4 to 7.
        let top = index >> shift;
        let segment = shift * 4 + top as u32 - (BASE_BITS - 2) * 4 - 4;
        (Self(segment), (index ^ (top << shift)) as usize)
    }

    const fn shift(self) -> u32 {
        self.0 / 4 + BASE_BITS - 2
    }

    pub(crate) const fn len(self) -> usize {
        1 << self.shift()
    }

    /// The index of its first element.
    pub(crate) const fn first(self) -> u64 {
        ((4 + self.0 as u64 % 4) << self.shift()) - BASE
    }

    #[must_use]
    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

#[derive(Debug)]
pub(crate) struct Chunks<T> {
    directory: [AtomicPtr<T>; SEGMENTS],
}

// SAFETY: `Chunks` owns its elements and hands out only shared references, as `Box<[T]>` would.
unsafe impl<T: Send> Send for Chunks<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Chunks<T> {}

impl<T: Element> Chunks<T> {
    pub(crate) fn new() -> Self {
        Self { directory: core::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())) }
    }

    /// The element; `None` if its segment is not there.
    #[inline]
    pub(crate) fn get<'p>(&'p self, index: u32, _pin: &'p Pin) -> Option<&'p T> {
        // SAFETY: I2: the segment outlives the pin.
        unsafe { self.get_unpinned(index) }
    }

    /// The element, without a pin.
    ///
    /// # Safety
    /// The segment is not freed as long as the reference lives.
    #[inline]
    pub(crate) unsafe fn get_unpinned(&self, index: u32) -> Option<&T> {
        let (segment, offset) = Segment::of(index);
        // ORD(LH-SEG acq): the segment's elements, or why it is gone.
        let first = NonNull::new(self.directory[segment.0 as usize].load(Ordering::Acquire))?;
        // SAFETY: I1, and the offset is less than the segment's length.
        let element = unsafe { first.add(offset) };
        // SAFETY: the caller's promise.
        Some(unsafe { element.as_ref() })
    }

    /// Whether the segment is there.
    pub(crate) fn has(&self, segment: Segment) -> bool {
        // Relaxed: asked by those who add and retire segments, under a lock of theirs.
        !self.directory[segment.0 as usize].load(Ordering::Relaxed).is_null()
    }

    /// Adds the segment, unless it is there. Calls for one segment must not overlap.
    pub(crate) fn add(&self, segment: Segment) -> Result<(), OutOfMemory> {
        if self.has(segment) {
            return Ok(());
        }
        let elements = T::segment(segment.len()).ok_or(OutOfMemory)?;
        let first = Box::into_raw(elements).cast::<T>();
        // ORD(LH-SEG rel): the segment's elements.
        self.directory[segment.0 as usize].store(first, Ordering::Release);
        Ok(())
    }

    /// Takes the segment out of the directory and frees it when no pin of now is left; the elements are dropped
    /// then. Calls for one segment must not overlap with each other or with `add`.
    pub(crate) fn retire(&self, segment: Segment, pin: &Pin)
    where
        T: 'static,
    {
        // ORD(LH-SEG rel): to who finds the segment gone, the geometry that does without it.
        let first = self.directory[segment.0 as usize].swap(ptr::null_mut(), Ordering::Release);
        if let Some(first) = NonNull::new(first) {
            let owned = OwnedSegment { first, len: segment.len() };
            pin.defer(move || drop(owned));
        }
    }

    /// How many bytes the segments take.
    pub(crate) fn bytes(&self) -> usize {
        (0..SEGMENTS as u32)
            .map(Segment)
            .filter(|&segment| self.has(segment))
            .map(|segment| segment.len() * size_of::<T>())
            .sum()
    }
}

/// A segment that has left the directory.
struct OwnedSegment<T> {
    first: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its elements. Those of this crate are atomics, or cells that hold nothing when they are freed.
unsafe impl<T> Send for OwnedSegment<T> {}

impl<T> Drop for OwnedSegment<T> {
    fn drop(&mut self) {
        let elements = ptr::slice_from_raw_parts_mut(self.first.as_ptr(), self.len);
        // SAFETY: I1: it came out of a box of that length, and this is its only owner.
        drop(unsafe { Box::from_raw(elements) });
    }
}

impl<T> Drop for Chunks<T> {
    fn drop(&mut self) {
        for (number, entry) in (0..).zip(&self.directory) {
            // Relaxed: the exclusive reference came with everything that happened before.
            if let Some(first) = NonNull::new(entry.load(Ordering::Relaxed)) {
                drop(OwnedSegment { first, len: Segment(number).len() });
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{BASE, Chunks, Element, SEGMENTS, Segment};
    use crate::reclaim::Pin;

    #[test]
    fn every_index_has_one_place() {
        let mut expected = (Segment(0), 0);
        for index in 0..10_000 {
            assert_eq!(Segment::of(index), expected, "{index}");
            assert_eq!(expected.0.first() + expected.1 as u64, u64::from(index));
            expected.1 += 1;
            if expected.1 == expected.0.len() {
                expected = (expected.0.next(), 0);
            }
        }
        let (last, offset) = Segment::of(u32::MAX);
        assert!((last.0 as usize) < SEGMENTS && offset < last.len());
        assert_eq!(last.first() + offset as u64, u64::from(u32::MAX));
        assert_eq!(Segment(0).len() as u64, BASE / 4);
    }

    #[test]
    fn segments_come_and_go() {
        struct Seven(u8);
        impl Element for Seven {
            fn segment(len: usize) -> Option<Box<[Self]>> {
                Some((0..len).map(|_| Self(7)).collect())
            }
        }
        let chunks = Chunks::<Seven>::new();
        let pin = Pin::new();
        assert!(chunks.get(5, &pin).is_none());
        chunks.add(Segment::of(5).0).unwrap();
        let five = chunks.get(5, &pin).unwrap();
        chunks.retire(Segment::of(5).0, &pin);
        assert!(chunks.get(5, &pin).is_none());
        assert_eq!((five.0, chunks.bytes()), (7, 0), "the reference lives as long as the pin");
    }
}
