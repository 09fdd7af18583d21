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

    /// Whether there is no overflow page, and nothing moves.
    pub(crate) const fn is_one_page(self) -> bool {
        self.0 as u32 & !(Self::LOCKED as u32) == 0
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

    #[inline]
    pub(crate) const fn node(self) -> Option<NodeId> {
        match (self.0 as u32).checked_sub(1) {
            Some(number) => Some(NodeId::from_number(number)),
            None => None,
        }
    }
}

/// A hash as it is compared with the words of slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sought(u64);

impl Sought {
    #[inline]
    pub(crate) const fn new(hash: u32) -> Self {
        Self(SlotWord::new(hash, NodeId::from_number(0)).0)
    }
}

/// The difference between a word and the least one of a hash: the number of a node, if the word has that hash and
/// is not empty; otherwise at least `LIMIT`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match(u64);

impl Match {
    /// No node has that number.
    const LIMIT: u64 = u32::MAX as u64;
    pub(crate) const NONE: Self = Self(u64::MAX);

    /// The word's, if it is one.
    #[inline]
    #[must_use]
    pub(crate) fn or(self, word: SlotWord, sought: Sought) -> Self {
        Self(self.0.min(word.0.wrapping_sub(sought.0)))
    }

    #[inline]
    pub(crate) const fn node(self) -> Option<NodeId> {
        if self.0 < Self::LIMIT { Some(NodeId::from_number(self.0 as u32)) } else { None }
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
    use super::{Control, Link, Match, SlotWord, Sought};
    use crate::nodes::NodeId;
    use crate::page::PageId;

    #[test]
    fn zero_memory_is_an_empty_bucket() {
        let control = Control::from_bits(0);
        assert!(!control.is_locked() && !control.is_moving() && control.overflow().is_none());
        assert!(control.is_one_page() && SlotWord::from_bits(0).is_empty());
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
        }
    }

    #[test]
    fn a_word_matches_its_hash_alone_and_none_if_it_is_empty() {
        let hashes = [0, 1, 7, u32::MAX - 1, u32::MAX];
        for number in [0, 1, u32::MAX - 2] {
            for hash in hashes {
                let (word, node) =
                    (SlotWord::new(hash, NodeId::from_number(number)), NodeId::from_number(number));
                for sought in hashes {
                    let found = Match::NONE.or(word, Sought::new(sought));
                    assert_eq!(found.node(), (hash == sought).then_some(node), "{word:?} {sought}");
                    assert_eq!(found.or(SlotWord::EMPTY, Sought::new(sought)).node(), found.node());
                }
            }
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
