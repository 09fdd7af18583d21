//! Entries: entry x describes the caller's slot x, and nothing else ever does.
//!
//! An entry is the key's words and one word `next`:
//!
//! ```text
//!  31      30       29..0
//!  LINKED  CLAIMED  successor + 1
//! ```
//!
//! | `next` | the slot |
//! |---|---|
//! | 0 | is free |
//! | `CLAIMED` | is being mapped or unmapped; lookups pass over it |
//! | `LINKED`, `CLAIMED` | is mapped to the key's words |
//!
//! * I1: a mapping k -> x exists exactly while `next[x]` is linked and x's words are k.
//! * I2: a linked entry is on the chain of its key's bucket the whole time.
//! * I3: *free* is exactly 0, and every value from claim to free is claimed: "unlinked, end of the chain" is
//!   never mistaken for free.
//!
//! All-zero memory is a valid array of free entries. This is the last file of a lookup.

use crate::key::{self, Key};
use core::marker::PhantomData;
use sync::prim;
use sync::prim::atomic::{AtomicU32, Ordering};

/// The most slots a table can have: an index + 1 has 30 bits, and one value is kept in reserve.
pub(crate) const MAX_SLOTS: u32 = (1 << 30) - 2;

/// One value of an entry's `next`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next(u32);

impl Next {
    const FREE: Self = Self(0);
    const LINKED: u32 = 1 << 31;
    const CLAIMED: u32 = 1 << 30;
    const SUCCESSOR: u32 = Self::CLAIMED - 1;

    #[inline]
    fn claimed(successor: Option<u32>) -> Self {
        Self(Self::CLAIMED | successor.map_or(0, |slot| slot + 1))
    }

    #[inline]
    pub(crate) fn linked(self) -> Self {
        Self(self.0 | Self::LINKED)
    }

    #[inline]
    pub(crate) fn unlinked(self) -> Self {
        Self(self.0 & !Self::LINKED)
    }

    #[inline]
    pub(crate) fn is_linked(self) -> bool {
        self.0 & Self::LINKED != 0
    }

    #[inline]
    pub(crate) fn successor(self) -> Option<u32> {
        (self.0 & Self::SUCCESSOR).checked_sub(1)
    }

    #[inline]
    pub(crate) fn with_successor(self, successor: Option<u32>) -> Self {
        Self(self.0 & !Self::SUCCESSOR | successor.map_or(0, |slot| slot + 1))
    }
}

/// The array of entries.
#[derive(Debug)]
pub(crate) struct Entries<K> {
    words: Box<[AtomicU32]>,
    slots: u32,
    key: PhantomData<fn(K) -> K>,
}

impl<K: Key> Entries<K> {
    /// Words an entry takes: `next`, then the key.
    const STRIDE: usize = 1 + key::words_of::<K>();

    /// The size of `slots` entries, if it can be expressed.
    pub(crate) fn bytes_for(slots: u32) -> Option<usize> {
        (slots as usize).checked_mul(Self::STRIDE)?.checked_mul(size_of::<u32>())
    }

    /// `slots` free entries; `None` if there is no memory for them.
    pub(crate) fn new(slots: u32) -> Option<Self> {
        let words = prim::zeroed_u32((slots as usize).checked_mul(Self::STRIDE)?)?;
        Some(Self { words, slots, key: PhantomData })
    }

    #[inline]
    pub(crate) fn slots(&self) -> u32 {
        self.slots
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// The entry of `slot`; `None` if there is no such slot.
    #[inline]
    pub(crate) fn get(&self, slot: u32) -> Option<Entry<'_, K>> {
        let at = (slot as usize).checked_mul(Self::STRIDE)?;
        let words = self.words.get(at..at.checked_add(Self::STRIDE)?)?;
        let (next, words) = words.split_first()?;
        Some(Entry { next, words, key: PhantomData })
    }
}

/// One entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a, K> {
    next: &'a AtomicU32,
    words: &'a [AtomicU32],
    key: PhantomData<fn(K) -> K>,
}

impl<K: Key> Entry<'_, K> {
    /// `next`. A reader without the lock may see a value from after the slot has left the chain; then its
    /// validation fails.
    #[inline]
    pub(crate) fn next(&self) -> Next {
        // Relaxed: on a chain that validates, the head has published the entry; the walk's fence acquires the
        // rest. Holders of the partition lock are the only ones who store.
        Next(self.next.load(Ordering::Relaxed))
    }

    /// Whether the words are those of `key`. While others write them the answer may be wrong: it counts only
    /// once the walk has been validated.
    #[inline]
    pub(crate) fn matches(&self, key: &K) -> bool {
        // Relaxed: ordered by the load of `next` before and by the walk's fence after.
        let differences = self
            .words
            .iter()
            .zip(key::to_words(key))
            .map(|(word, of_key)| word.load(Ordering::Relaxed) ^ of_key);
        differences.fold(0, |all, difference| all | difference) == 0
    }

    /// Whether the slot is mapped to `key`, for a caller who has pinned it: nobody maps or unmaps it meanwhile.
    #[inline]
    pub(crate) fn holds_pinned(&self, key: &K) -> bool {
        self.next().is_linked() && self.matches(key)
    }

    /// The key with the words found; a mix of two keys if it is replaced meanwhile.
    pub(crate) fn candidate(&self) -> K {
        // Relaxed: a candidate, which the caller confirms with a lookup.
        key::from_words(self.words.iter().map(|word| word.load(Ordering::Relaxed)))
    }

    /// Takes a free slot; false if it is not free.
    pub(crate) fn claim(&self) -> bool {
        let claimed = Next::claimed(None);
        // ORD(FM-FREE acq): that the slot has left its former chain, for those who see what we write next.
        // Relaxed: a failure leads to no access of the entry.
        self.next.compare_exchange(Next::FREE.0, claimed.0, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Writes the key of a claimed slot, still unlinked. The caller's release fence comes before.
    pub(crate) fn prepare(&self, key: &K, successor: Option<u32>) -> Next {
        for (word, of_key) in self.words.iter().zip(key::to_words(key)) {
            // Relaxed: published by the head and by the link.
            word.store(of_key, Ordering::Relaxed);
        }
        let next = Next::claimed(successor);
        // Relaxed: as above.
        self.next.store(next.0, Ordering::Relaxed);
        next
    }

    /// Links or unlinks the entry, or leads its chain past a successor.
    pub(crate) fn set_next(&self, next: Next) {
        // ORD(FM-LINK rel): the entry's words, and what the caller did before its insert or remove.
        self.next.store(next.0, Ordering::Release);
    }

    /// Gives the slot back, last of all.
    pub(crate) fn free(&self) {
        // ORD(FM-FREE rel): the stamp that says that the slot has left its chain.
        self.next.store(Next::FREE.0, Ordering::Release);
    }
}
