//! Where the system can't reserve addresses without giving memory: segments, each twice as long as the one before, found
//! through a fixed table. They are freed with the array only.

use core::ops::Range;
use std::sync::OnceLock;
use sync::prim::{self, atomic::AtomicU64};

/// The first holds what is used at first, the others together 2^32 elements.
const SEGMENTS: usize = 33;

/// Elements of some double words each.
#[derive(Debug)]
pub(crate) struct Words {
    segments: Box<[OnceLock<Box<[AtomicU64]>>]>,
    /// The first segment has 2^shift elements.
    shift: u32,
    stride: usize,
    most: u32,
}

impl Words {
    /// Room for `most` elements of `stride` double words, `used` of them at once. `None` if there is no memory for those.
    pub(crate) fn reserve(stride: usize, used: u32, most: u32, _huge: bool) -> Option<Self> {
        let shift = used.max(1).checked_next_power_of_two()?.ilog2();
        let segments = (0..SEGMENTS - shift as usize).map(|_| OnceLock::new()).collect();
        let words = Self { segments, shift, stride, most };
        words.grow(used).then_some(words)
    }

    /// The segment of an element, and its place there.
    #[inline]
    fn place(&self, index: u32) -> (usize, usize) {
        match (index >> self.shift).checked_ilog2() {
            None => (0, index as usize),
            Some(log) => (log as usize + 1, (index - (1 << (log + self.shift))) as usize),
        }
    }

    /// How many elements a segment has.
    fn len(&self, segment: usize) -> usize {
        1 << (self.shift as usize + segment.saturating_sub(1))
    }

    /// The double words of an element; `None` if there is no such element.
    #[inline]
    pub(crate) fn get(&self, index: u32, stride: usize) -> Option<&[AtomicU64]> {
        let (segment, place) = self.place(index);
        let words = self.segments.get(segment)?.get()?;
        let at = place.checked_mul(stride)?;
        words.get(at..at.checked_add(stride)?)
    }

    /// Sees to it that there is memory for the first `used` elements; false if there is none. Calls must not overlap.
    pub(crate) fn grow(&self, used: u32) -> bool {
        let Some(last) = used.min(self.most).checked_sub(1) else { return true };
        (0..=self.place(last).0).all(|segment| self.segments[segment].get().is_some() || self.add(segment))
    }

    fn add(&self, segment: usize) -> bool {
        match self.len(segment).checked_mul(self.stride).and_then(prim::zeroed_u64) {
            Some(words) => self.segments[segment].set(words).is_ok(),
            None => false,
        }
    }

    /// Nothing is given back here.
    pub(crate) fn discard(&self, _elements: Range<u32>) {}

    /// There are none.
    pub(crate) fn huge_bytes(&self) -> Option<u64> {
        None
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Words;
    use sync::prim::atomic::Ordering;

    #[test]
    fn elements_stay_where_they_are_and_are_there_once_it_has_grown() {
        for used in [1, 2, 3, 4, 5, 7, 8, 9] {
            let words = Words::reserve(2, used, 1000, false).unwrap();
            let first = &words.get(0, 2).unwrap()[0];
            for more in [used, 10, 64, 65, 1000] {
                assert!(words.grow(more));
                for index in 0..more {
                    let element = words.get(index, 2).unwrap();
                    assert!(element.len() == 2);
                    element[1].store(u64::from(index), Ordering::Relaxed);
                }
                let value = |index| words.get(index, 2).unwrap()[1].load(Ordering::Relaxed);
                assert!((0..more).all(|index| value(index) == u64::from(index)));
            }
            assert!(core::ptr::eq(first, &raw const words.get(0, 2).unwrap()[0]));
            assert!(words.get(u32::MAX, 2).is_none());
            words.discard(0..1000);
            assert_eq!(words.huge_bytes(), None);
        }
        assert!(Words::reserve(1, 0, 0, false).unwrap().get(0, 1).is_none_or(|words| words.len() == 1));
        assert!(Words::reserve(usize::MAX / 2, 3, 4, false).is_none());
    }
}
