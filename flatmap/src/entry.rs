//! Entries: entry x describes the caller's slot x, and nothing else ever does.
//!
//! An entry is the word `next` and the key; `next` shares a double word with the key's first word:
//!
//! ```text
//!  63..32            31      30       29..0           63..0                63..0
//!  key's first word  LINKED  CLAIMED  successor + 1   key's next 8 bytes   and so on
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
use sync::prim::atomic::{AtomicU64, Ordering};

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

/// The first double word of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link(u64);

impl Link {
    #[inline]
    fn new(first: u32, next: Next) -> Self {
        Self(u64::from(first) << 32 | u64::from(next.0))
    }

    #[inline]
    pub(crate) fn next(self) -> Next {
        Next(self.0 as u32)
    }

    /// The key's first word.
    #[inline]
    fn first(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// The array of entries.
#[derive(Debug)]
pub(crate) struct Entries<K> {
    words: Box<[AtomicU64]>,
    slots: u32,
    key: PhantomData<fn(K) -> K>,
}

impl<K: Key> Entries<K> {
    /// Double words an entry takes.
    const STRIDE: usize = 1 + key::rest_words::<K>();

    /// The size of `slots` entries, if it can be expressed.
    pub(crate) fn bytes_for(slots: u32) -> Option<usize> {
        (slots as usize).checked_mul(Self::STRIDE)?.checked_mul(size_of::<u64>())
    }

    /// `slots` free entries; `None` if there is no memory for them.
    pub(crate) fn new(slots: u32) -> Option<Self> {
        let words = prim::zeroed_u64((slots as usize).checked_mul(Self::STRIDE)?)?;
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
        let (link, rest) = words.split_first()?;
        Some(Entry { link, rest, key: PhantomData })
    }
}

/// One entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a, K> {
    link: &'a AtomicU64,
    rest: &'a [AtomicU64],
    key: PhantomData<fn(K) -> K>,
}

impl<K: Key> Entry<'_, K> {
    /// The first double word. A reader without the lock may see a value from after the slot has left the
    /// chain; then its validation fails.
    #[inline]
    pub(crate) fn link(&self) -> Link {
        // Relaxed: on a chain that validates, the head has published the entry; the walk's fence acquires the
        // rest. Holders of the partition lock are the only ones who store.
        Link(self.link.load(Ordering::Relaxed))
    }

    /// Whether the key, whose first word was read in `link`, is `key`. While others write it the answer may be
    /// wrong: it counts only once the walk has been validated.
    #[inline]
    pub(crate) fn matches(&self, link: Link, key: &K) -> bool {
        // Relaxed: ordered by the load of the head before and by the walk's fence after.
        let same = |(word, of_key): (&AtomicU64, u64)| word.load(Ordering::Relaxed) == of_key;
        (size_of::<K>() == 0 || link.first() == key::first(key))
            && self.rest.iter().zip(key::rest(key)).all(same)
    }

    /// Whether the slot is mapped to `key`, for a caller who has pinned it: nobody maps or unmaps it meanwhile.
    #[inline]
    pub(crate) fn holds_pinned(&self, key: &K) -> bool {
        let link = self.link();
        link.next().is_linked() && self.matches(link, key)
    }

    /// The key with the words found; a mix of two keys if it is replaced meanwhile.
    pub(crate) fn candidate(&self) -> K {
        // Relaxed: a candidate, which the caller confirms with a lookup.
        let rest = self.rest.iter().map(|word| word.load(Ordering::Relaxed));
        key::from_words(self.link().first(), rest)
    }

    /// Takes a free slot; false if it is not free.
    pub(crate) fn claim(&self) -> bool {
        let link = self.link();
        let claimed = Link::new(link.first(), Next::claimed(None));
        link.next() == Next::FREE
            // ORD(FM-FREE acq): that the slot has left its former chain, for those who see what we write next.
            // Relaxed: a failure leads to no access of the entry.
            && self.link.compare_exchange(link.0, claimed.0, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Writes the key of a claimed slot, still unlinked. The caller's release fence comes before.
    pub(crate) fn prepare(&self, key: &K, successor: Option<u32>) {
        for (word, of_key) in self.rest.iter().zip(key::rest(key)) {
            // Relaxed: published by the head.
            word.store(of_key, Ordering::Relaxed);
        }
        let link = Link::new(key::first(key), Next::claimed(successor));
        // Relaxed: as above.
        self.link.store(link.0, Ordering::Relaxed);
    }

    /// Links or unlinks the entry, or leads its chain past a successor.
    pub(crate) fn set_next(&self, next: Next) {
        let link = Link::new(self.link().first(), next);
        // ORD(FM-LINK rel): what the caller did before its insert or remove.
        self.link.store(link.0, Ordering::Release);
    }

    /// Gives the slot back, last of all.
    pub(crate) fn free(&self) {
        let link = Link::new(0, Next::FREE);
        // ORD(FM-FREE rel): the stamp that says that the slot has left its chain.
        self.link.store(link.0, Ordering::Release);
    }
}
