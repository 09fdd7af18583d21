//! Pages: a head and slots. A bucket is a primary page and a chain of overflow pages. Next: `chain.rs`, the walk.

use crate::chunks::{Chunks, Element, Segment};
use crate::error::OutOfMemory;
use crate::ids::{Ids, Unused};
use crate::nodes::NodeId;
use crate::reclaim::Pin;
use crate::word::{Control, Link, Match, SlotWord, Sought};
use sync::prim::atomic::{AtomicU64, Ordering};

/// The number of an overflow page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageId(u32);

impl PageId {
    /// A link to a page is its number + 1, in 30 bits.
    pub(crate) const MAX: u32 = (1 << 30) - 2;

    #[cfg(test)]
    pub(crate) const fn from_number(number: u32) -> Self {
        Self(number)
    }

    pub(crate) const fn from_link(link: u32) -> Option<Self> {
        match link.checked_sub(1) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    pub(crate) const fn to_link(page: Option<Self>) -> u32 {
        match page {
            Some(page) => page.0 + 1,
            None => 0,
        }
    }
}

/// A page of `N` slots; with 7 it is a cache line. All-zero memory is an empty page.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Page<const N: usize> {
    /// A primary page's `Control`, an overflow page's `Link`.
    head: AtomicU64,
    pub(crate) slots: [Slot; N],
}

/// So many slots are looked at without a branch for each: which of them has the hash can't be predicted.
const GROUP: usize = 8;

#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Slot(AtomicU64);

impl Slot {
    #[inline]
    pub(crate) fn load(&self) -> SlotWord {
        // ORD(LH-SLOT acq): the node's key and value; and, where an entry was moved away, that it is somewhere else.
        SlotWord::from_bits(self.0.load(Ordering::Acquire))
    }

    /// Only the bucket's holder stores.
    #[inline]
    pub(crate) fn store(&self, word: SlotWord) {
        // ORD(LH-SLOT rel): the node's key and value; and, where an entry is moved away, the copy and the MOVING flag.
        self.0.store(word.bits(), Ordering::Release);
    }

    /// For the bucket's holder, who alone stores.
    #[inline]
    pub(crate) fn load_held(&self) -> SlotWord {
        // Relaxed: the lock ordered all earlier stores.
        SlotWord::from_bits(self.0.load(Ordering::Relaxed))
    }
}

impl<const N: usize> Page<N> {
    /// A node of that hash, if there is one.
    #[inline]
    pub(crate) fn node_of(&self, hash: u32) -> Option<NodeId> {
        let sought = Sought::new(hash);
        let in_group =
            |slots: &[Slot]| slots.iter().fold(Match::NONE, |found, slot| found.or(slot.load(), sought));
        self.slots.chunks(GROUP).find_map(|slots| in_group(slots).node())
    }

    /// The slots that have that hash and are not empty, in order, with their words.
    #[inline]
    pub(crate) fn slots_of(&self, hash: u32) -> impl Iterator<Item = (&Slot, SlotWord, NodeId)> {
        self.slots.chunks(GROUP).flat_map(move |slots| {
            let mut words = [SlotWord::EMPTY; GROUP];
            let mut matches = 0_u32;
            for (at, (slot, word)) in slots.iter().zip(&mut words).enumerate() {
                *word = slot.load();
                matches |= u32::from(word.hash() == hash) << at;
            }
            core::iter::from_fn(move || {
                let at = matches.trailing_zeros() as usize;
                matches &= matches.checked_sub(1)?;
                Some((&slots[at], words[at]))
            })
            .filter_map(|(slot, word)| Some((slot, word, word.node()?)))
        })
    }

    #[inline]
    pub(crate) fn control(&self) -> Control {
        // ORD(LH-LOCK acq): all changes of the bucket up to this version.
        Control::from_bits(self.head.load(Ordering::Acquire))
    }

    /// The version after a walk; the walk's acquire loads come before it.
    #[inline]
    pub(crate) fn control_again(&self) -> Control {
        // Relaxed: whoever cleared or filled a slot that we loaded with acquire had locked the bucket before.
        Control::from_bits(self.head.load(Ordering::Relaxed))
    }

    /// Locks the bucket if it is as it was `seen`, by `control`, and free; returns the locked control.
    #[inline]
    pub(crate) fn lock(&self, seen: Control) -> Option<Control> {
        if seen.is_locked() {
            return None;
        }
        let (from, to) = (seen.bits(), seen.locked());
        // Relaxed, both: `control` acquired this very version; whoever put the same word back since has changed
        // nothing.
        self.head
            .compare_exchange(from, to.bits(), Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
            .then_some(to)
    }

    /// The holder's new control word: a flag, a link, or the unlocking.
    #[inline]
    pub(crate) fn set_control(&self, control: Control) {
        // ORD(LH-LOCK rel): the holder's stores to the chain. (A read-modify-write, as all stores to a lock word.)
        self.head.swap(control.bits(), Ordering::Release);
    }

    #[inline]
    pub(crate) fn link(&self) -> Link {
        // ORD(LH-LINK acq): the next page's slots.
        Link::from_bits(self.head.load(Ordering::Acquire))
    }

    pub(crate) fn set_link(&self, link: Link) {
        // ORD(LH-LINK rel): the next page's slots.
        self.head.store(link.bits(), Ordering::Release);
    }
}

#[cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]
mod zeroed {
    use super::{Element, Page};

    // SAFETY: a page is atomics of integers and nothing else.
    unsafe impl<const N: usize> bytemuck::Zeroable for Page<N> {}

    impl<const N: usize> Element for Page<N> {
        fn segment(len: usize) -> Option<Box<[Self]>> {
            bytemuck::allocation::try_zeroed_slice_box(len).ok()
        }
    }
}

#[cfg(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle")))]
impl<const N: usize> Element for Page<N> {
    fn segment(len: usize) -> Option<Box<[Self]>> {
        let page =
            || Self { head: AtomicU64::new(0), slots: core::array::from_fn(|_| Slot(AtomicU64::new(0))) };
        Some((0..len).map(|_| page()).collect())
    }
}

/// The overflow pages of a table.
#[derive(Debug)]
pub(crate) struct OverflowPages<const N: usize> {
    pages: Chunks<Page<N>>,
    ids: Ids,
}

impl<const N: usize> OverflowPages<N> {
    pub(crate) fn new() -> Self {
        Self { pages: Chunks::new(), ids: Ids::new(PageId::MAX, 1) }
    }

    /// An empty page that nobody else knows.
    pub(crate) fn take(&self, pin: &Pin) -> Result<PageId, OutOfMemory> {
        let page = PageId(self.ids.take(|segment| self.pages.add(segment))?);
        self.get(page, pin).set_link(Link::from_bits(0));
        Ok(page)
    }

    #[inline]
    pub(crate) fn get<'p>(&'p self, page: PageId, pin: &'p Pin) -> &'p Page<N> {
        self.pages.get(page.0, pin).expect("the segment of a page in use is there")
    }

    /// Gives back a page that was never linked.
    pub(crate) fn give_back(&self, page: PageId) {
        self.ids.give_back(&[page.0]);
    }

    /// Gives back pages that nobody can be on any more; they are empty.
    pub(crate) fn give_back_all(&self, numbers: &[u32]) {
        self.ids.give_back(numbers);
    }

    /// Notes that an empty page was unlinked. Its link stays: readers may be on it.
    pub(crate) fn retire(&self, page: PageId) -> Option<Vec<u32>> {
        self.ids.retire(page.0)
    }

    pub(crate) fn take_retired(&self) -> Vec<u32> {
        self.ids.take_retired()
    }

    pub(crate) fn trim(&self, pin: &Pin) {
        self.ids.take_free_segments(|segment: Segment| self.pages.retire(segment, pin));
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pages.bytes()
    }

    pub(crate) fn unused(&self) -> Unused {
        self.ids.unused()
    }
}
