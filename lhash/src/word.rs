//! The words of a page: what they say, in types. Next: `page.rs`.

use crate::nodes::NodeId;
use crate::page::PageId;

/// The head of a bucket's primary page, which covers the whole chain.
///
/// ```text
///  63..32  31..2                     1       0
///  stamp   first overflow page + 1   MOVING  LOCKED
/// ```
///
/// * `stamp`: raised by every unlocking after a change.
/// * `LOCKED`: one writer has the bucket. It alone stores to the chain.
/// * `MOVING`: that writer moves entries, within the chain or between two buckets. Each is published where it goes
///   before it is cleared where it was, and moves at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Control(u64);

impl Control {
    const LOCKED: u64 = 1;
    const MOVING: u64 = 2;

    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    pub(crate) const fn is_locked(self) -> bool {
        self.0 & Self::LOCKED != 0
    }

    pub(crate) const fn is_moving(self) -> bool {
        self.0 & Self::MOVING != 0
    }

    pub(crate) const fn overflow(self) -> Option<PageId> {
        PageId::from_link((self.0 as u32) >> 2)
    }

    #[must_use]
    pub(crate) const fn locked(self) -> Self {
        Self(self.0 | Self::LOCKED)
    }

    #[must_use]
    pub(crate) const fn moving(self) -> Self {
        Self(self.0 | Self::MOVING)
    }

    /// As before it was locked.
    #[must_use]
    pub(crate) const fn untouched(self) -> Self {
        Self(self.0 & !(Self::LOCKED | Self::MOVING))
    }

    /// Unlocked after a change.
    #[must_use]
    pub(crate) const fn changed(self) -> Self {
        let stamp = (self.0 >> 32).wrapping_add(1);
        Self(stamp << 32 | self.untouched().0 & 0xffff_ffff)
    }

    #[must_use]
    pub(crate) const fn with_overflow(self, page: Option<PageId>) -> Self {
        Self(self.0 & !0xffff_fffc | (PageId::to_link(page) as u64) << 2)
    }

    /// Whether nothing has moved or come and gone since this was seen. A writer that has only locked the bucket, or
    /// stored one slot, is no change: what it does happens after the moment that the lookup speaks of.
    #[inline]
    pub(crate) const fn is_same_version(self, now: Self) -> bool {
        self.0 | Self::LOCKED == now.0 | Self::LOCKED
    }
}

/// A slot of a page: empty (0), or an entry's hash and the number of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlotWord(u64);

impl SlotWord {
    pub(crate) const EMPTY: Self = Self(0);

    pub(crate) const fn new(hash: u32, node: NodeId) -> Self {
        Self(((hash as u64) << 32) | (node.number() as u64 + 1))
    }

    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn hash(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The node, if the slot holds an entry of that hash.
    #[inline]
    pub(crate) const fn node_if(self, hash: u32) -> Option<NodeId> {
        if self.hash() == hash { self.node() } else { None }
    }

    #[inline]
    pub(crate) const fn node(self) -> Option<NodeId> {
        match (self.0 as u32).checked_sub(1) {
            Some(number) => Some(NodeId::from_number(number)),
            None => None,
        }
    }
}

/// The head of an overflow page: the next page of the chain, and for the first of them a hint.
///
/// ```text
///  63..32            31..0
///  hint's page + 1   next page + 1
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link(u64);

impl Link {
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    pub(crate) const fn next(self) -> Option<PageId> {
        PageId::from_link(self.0 as u32)
    }

    /// All pages before this one are full.
    pub(crate) const fn hint(self) -> Option<PageId> {
        PageId::from_link((self.0 >> 32) as u32)
    }

    #[must_use]
    pub(crate) const fn with_next(self, page: Option<PageId>) -> Self {
        Self(self.0 & !0xffff_ffff | PageId::to_link(page) as u64)
    }

    #[must_use]
    pub(crate) const fn with_hint(self, page: Option<PageId>) -> Self {
        Self(self.0 & 0xffff_ffff | (PageId::to_link(page) as u64) << 32)
    }
}

#[cfg(test)]
mod tests {
    use super::{Control, Link, SlotWord};
    use crate::nodes::NodeId;
    use crate::page::PageId;

    #[test]
    fn zero_memory_is_an_empty_bucket() {
        let control = Control::from_bits(0);
        assert!(!control.is_locked() && !control.is_moving() && control.overflow().is_none());
        assert!(SlotWord::from_bits(0).is_empty() && SlotWord::from_bits(0).node_if(0).is_none());
        assert_eq!((Link::from_bits(0).next(), Link::from_bits(0).hint()), (None, None));
    }

    #[test]
    fn the_parts_of_a_control_word_do_not_touch_each_other() {
        let page = PageId::from_number(PageId::MAX);
        let control =
            Control::from_bits(u64::from(u32::MAX) << 32).with_overflow(Some(page)).locked().moving();
        assert_eq!(control.overflow(), Some(page));
        let changed = control.changed();
        assert_eq!(changed.bits() >> 32, 0, "the stamp comes round");
        assert_eq!(changed.overflow(), Some(page));
        assert!(!changed.is_locked() && !changed.is_moving());
        assert_eq!(changed.with_overflow(None).bits(), 0);
        assert!(control.untouched().is_same_version(control.untouched().locked()));
        assert!(!control.untouched().is_same_version(control));
        assert!(!control.untouched().is_same_version(changed));
    }

    #[test]
    fn a_slot_word_keeps_hash_and_node() {
        for (hash, number) in [(0, 0), (u32::MAX, u32::MAX - 1), (7, 1)] {
            let word = SlotWord::new(hash, NodeId::from_number(number));
            assert!(!word.is_empty());
            assert_eq!((word.hash(), word.node()), (hash, Some(NodeId::from_number(number))));
            assert_eq!(word.node_if(hash), word.node());
            assert_eq!(word.node_if(hash ^ 1), None);
        }
    }

    #[test]
    fn a_link_keeps_next_and_hint() {
        let (a, b) = (PageId::from_number(3), PageId::from_number(PageId::MAX));
        let link = Link::from_bits(0).with_next(Some(a)).with_hint(Some(b));
        assert_eq!((link.next(), link.hint()), (Some(a), Some(b)));
        assert_eq!((link.with_next(None).hint(), link.with_hint(None).next()), (Some(b), Some(a)));
    }
}
