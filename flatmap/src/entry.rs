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
use crate::memory::Words;
use core::marker::PhantomData;
use sync::prim::atomic::{AtomicU32, AtomicU64, Ordering};

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

    pub(crate) fn is_free(self) -> bool {
        self == Self::FREE
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
    pub(crate) fn first(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// 0 if the entry is linked and its key's first word is `first`.
    #[inline]
    fn differing(self, first: u32) -> u64 {
        (self.0 ^ Self::new(first, Next(Next::LINKED)).0) & !u64::from(Next::LINKED - 1)
    }
}

/// The array of entries. Addresses for the most that there may be are reserved; what is bounds-checked is the reservation.
///
/// * I6: entries from `slots` on are free, except while `set_slots` tries whether they are.
/// * I7: entries from `touched` on are free.
#[derive(Debug)]
pub(crate) struct Entries<K> {
    words: Words,
    most: u32,
    /// How many slots there are now.
    slots: AtomicU32,
    touched: AtomicU32,
    key: PhantomData<fn(K) -> K>,
}

impl<K: Key> Entries<K> {
    /// Double words an entry takes.
    const STRIDE: usize = 1 + key::rest_words::<K>();

    /// The size of `slots` entries, if it can be expressed.
    pub(crate) fn bytes_for(slots: u32) -> Option<usize> {
        (slots as usize).checked_mul(Self::STRIDE)?.checked_mul(size_of::<u64>())
    }

    /// `slots` free entries, and room for `most`; `None` if there is no memory for them.
    pub(crate) fn new(slots: u32, most: u32, huge: bool) -> Option<Self> {
        let words = Words::reserve(Self::STRIDE, slots, most, huge)?;
        let (slots, touched) = (AtomicU32::new(slots), AtomicU32::new(0));
        Some(Self { words, most, slots, touched, key: PhantomData })
    }

    #[inline]
    pub(crate) fn slots(&self) -> u32 {
        // ORD(FM-SLOTS acq): the memory of new slots. A lower number is seen in time without: an insert looks under its
        // partition's lock, which whoever lowers the number takes afterwards.
        self.slots.load(Ordering::Acquire)
    }

    /// No slot from this on is mapped, also while `set_slots` tries a lower number.
    pub(crate) fn bound(&self) -> u32 {
        // Relaxed: an insert that happens before has raised it.
        self.slots().max(self.touched.load(Ordering::Relaxed))
    }

    pub(crate) fn most(&self) -> u32 {
        self.most
    }

    /// How many slots there are from now on. One caller at a time.
    pub(crate) fn set_slots(&self, slots: u32) {
        // ORD(FM-SLOTS rel): the memory of new slots, to who maps them.
        self.slots.store(slots, Ordering::Release);
    }

    /// Sees to it that there is memory for so many; false if there is none. One caller at a time.
    pub(crate) fn grow(&self, slots: u32) -> bool {
        self.words.grow(slots)
    }

    /// How many slots from `first` on are not free.
    pub(crate) fn taken_from(&self, first: u32) -> u32 {
        // Relaxed: a claim before the caller's pass over the partitions has raised it.
        let touched = self.touched.load(Ordering::Relaxed);
        let is_taken = |&slot: &u32| self.get(slot).is_some_and(|entry| entry.link().next() != Next::FREE);
        (first..touched).filter(is_taken).count() as u32
    }

    /// Gives the memory of entries from `first` on back. They must be free, and nobody may be able to claim them.
    pub(crate) fn discard_from(&self, first: u32) {
        // Relaxed: one caller at a time, and nobody claims from `first` on.
        let touched = self.touched.load(Ordering::Relaxed);
        if first < touched {
            // To a lookup that is still there they read as they were or as free; either way it finds the head changed.
            self.words.discard(first..touched);
            // Relaxed: as above.
            self.touched.fetch_min(first, Ordering::Relaxed);
        }
    }

    /// Before a claim.
    #[inline]
    pub(crate) fn touch(&self, slot: u32) {
        // Relaxed: read by `set_slots` after it has passed all partitions.
        if self.touched.load(Ordering::Relaxed) <= slot {
            // Relaxed: as above.
            self.touched.fetch_max(slot + 1, Ordering::Relaxed);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        Self::bytes_for(self.slots()).unwrap_or(usize::MAX)
    }

    pub(crate) fn words(&self) -> &Words {
        &self.words
    }

    /// The entry of `slot`; `None` if there can be no such slot.
    #[inline]
    pub(crate) fn get(&self, slot: u32) -> Option<Entry<'_, K>> {
        let (link, rest) = self.words.get(slot, Self::STRIDE)?.split_first()?;
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

    /// The first and the last double word: no entry lies on more than these two's cache lines, if its key is not longer
    /// than a line.
    pub(crate) fn ends(&self) -> (&AtomicU64, &AtomicU64) {
        (self.link, self.rest.last().unwrap_or(self.link))
    }

    /// Whether the slot, whose first double word is `link`, is mapped to `key`. Without a lock or a pin the answer counts only
    /// once the walk has been validated. All words are compared and one branch taken: which one differs can't be guessed.
    #[inline]
    pub(crate) fn holds(&self, link: Link, key: &K) -> bool {
        let mut differing = link.differing(key::first(key));
        for (word, of_key) in self.rest.iter().zip(key::rest(key)) {
            // Relaxed: ordered by the load of the head before and by the walk's fence after.
            differing |= word.load(Ordering::Relaxed) ^ of_key;
        }
        differing == 0
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

    /// Leads the entry's chain to another successor.
    pub(crate) fn lead_to(&self, successor: Option<u32>) {
        let next = self.link().next();
        if next.successor() != successor {
            self.set_next(next.with_successor(successor));
        }
    }

    /// Gives the slot back, last of all.
    pub(crate) fn free(&self) {
        let link = Link::new(0, Next::FREE);
        // ORD(FM-FREE rel): the stamp that says that the slot has left its chain.
        self.link.store(link.0, Ordering::Release);
    }
}
