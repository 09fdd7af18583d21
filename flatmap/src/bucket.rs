//! Buckets: a stamped head each, and the walk along the chain. Next on a lookup's path: `entry.rs`.
//!
//! ```text
//!  63..32  31..2           1..0
//!  stamp   first slot + 1  reserved, 0
//! ```
//!
//! * I4: every change of a chain raises its head's stamp, at the latest before a slot that left it is freed.
//!   A walk that could have left its chain therefore finds another head when it validates.
//! * I5: a head changes only under the lock of its partition.

use crate::entry::{Entries, Entry};
use crate::key::Key;
use sync::prim;
use sync::prim::atomic::{AtomicU64, Ordering, fence};

/// One value of a bucket's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head(u64);

impl Head {
    const STAMP_SHIFT: u32 = 32;
    const FIRST_SHIFT: u32 = 2;
    const FIRST: u64 = (1 << 30) - 1;

    #[inline]
    fn first(self) -> Option<u32> {
        let first = (self.0 >> Self::FIRST_SHIFT & Self::FIRST) as u32;
        first.checked_sub(1)
    }

    /// The next head: a new stamp, and `first` as the chain's first slot. The stamp wraps after 2^32 changes
    /// of one bucket; a walk would have to sleep through all of them, and through no other number.
    fn followed_by(self, first: Option<u32>) -> Self {
        let stamp = ((self.0 >> Self::STAMP_SHIFT) as u32).wrapping_add(1);
        let first = first.map_or(0, |slot| u64::from(slot) + 1);
        Self(u64::from(stamp) << Self::STAMP_SHIFT | first << Self::FIRST_SHIFT)
    }
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    /// The key is mapped to this slot.
    Hit(u32),
    /// The key is not mapped.
    Miss,
    /// The chain changed meanwhile; nothing is known.
    Torn,
}

/// Where a key's entry is in its chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) slot: u32,
    predecessor: Option<u32>,
}

/// All heads and all entries.
#[derive(Debug)]
pub(crate) struct Chains<K> {
    heads: Box<[AtomicU64]>,
    entries: Entries<K>,
}

impl<K: Key> Chains<K> {
    /// The size of the arrays, if it can be expressed.
    pub(crate) fn bytes_for(slots: u32, buckets: u32) -> Option<usize> {
        (buckets as usize).checked_mul(size_of::<AtomicU64>())?.checked_add(Entries::<K>::bytes_for(slots)?)
    }

    /// Empty chains; `None` if there is no memory for them.
    pub(crate) fn new(slots: u32, buckets: u32) -> Option<Self> {
        Some(Self { heads: prim::zeroed_u64(buckets as usize)?, entries: Entries::new(slots)? })
    }

    pub(crate) fn entries(&self) -> &Entries<K> {
        &self.entries
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.heads) + self.entries.bytes()
    }

    /// Looks `key` up in its bucket, with or without the partition's lock. With it, the walk is never torn.
    #[inline]
    pub(crate) fn walk(&self, bucket: usize, key: &K) -> Walk {
        self.walk_from(bucket, key).0
    }

    /// As `walk`; also tells from which head it began.
    #[inline]
    pub(crate) fn walk_from(&self, bucket: usize, key: &K) -> (Walk, Head) {
        // ORD(FM-HEAD acq): the entries that the head leads to.
        let head = Head(self.heads[bucket].load(Ordering::Acquire));
        let end = self.follow(head.first(), key);
        // ORD(FM-STAMP acq): whoever wrote a word that we read had seen the stamp that our next load must see.
        // ORD(FM-FREE acq): so had whoever freed an entry that we read.
        // ORD(FM-LINK acq): what a remover did before the remove that makes us miss.
        fence(Ordering::Acquire);
        (if self.is_unchanged(bucket, head) { end } else { Walk::Torn }, head)
    }

    /// Whether the bucket's head is still `head`. What that says depends on what the caller acquired before.
    #[inline]
    pub(crate) fn is_unchanged(&self, bucket: usize, head: Head) -> bool {
        // Relaxed: ordered by the walk's fence, or by the pin.
        self.heads[bucket].load(Ordering::Relaxed) == head.0
    }

    /// Follows a chain to the key or to its end. A chain has no more entries than there are slots: a walk
    /// that has met more has been led from chain to chain.
    #[inline]
    fn follow(&self, first: Option<u32>, key: &K) -> Walk {
        let mut at = first;
        let mut steps_left = self.entries.slots();
        while let Some(slot) = at {
            let Some(entry) = self.entries.get(slot) else { return Walk::Torn };
            let link = entry.link();
            let next = link.next();
            if next.is_linked() && entry.matches(link, key) {
                return Walk::Hit(slot);
            }
            if steps_left == 0 {
                return Walk::Torn;
            }
            steps_left -= 1;
            at = next.successor();
        }
        Walk::Miss
    }

    /// Finds `key` for a change. The partition must be locked.
    pub(crate) fn find(&self, bucket: usize, key: &K) -> Option<Place> {
        let mut predecessor = None;
        let mut at = self.head_locked(bucket).first();
        while let Some(slot) = at {
            let entry = self.entry(slot);
            let link = entry.link();
            if entry.matches(link, key) {
                return Some(Place { slot, predecessor });
            }
            predecessor = at;
            at = link.next().successor();
        }
        None
    }

    /// Maps `key` to `slot`; false if the slot is taken. The partition must be locked and the key absent.
    pub(crate) fn link(&self, bucket: usize, key: &K, slot: u32) -> bool {
        let entry = self.entry(slot);
        if !entry.claim() {
            return false;
        }
        // ORD(FM-STAMP rel): the stamp of the chain that the slot left, before any new word of it.
        fence(Ordering::Release);
        let head = self.head_locked(bucket);
        entry.prepare(key, head.first());
        self.set_head(bucket, head.followed_by(Some(slot)));
        entry.set_next(entry.link().next().linked());
        true
    }

    /// Unmaps what `find` found under the same hold of the partition's lock.
    pub(crate) fn unlink(&self, bucket: usize, place: Place) {
        let entry = self.entry(place.slot);
        let next = entry.link().next().unlinked();
        entry.set_next(next);
        let head = self.head_locked(bucket);
        let first = match place.predecessor {
            None => next.successor(),
            Some(predecessor) => {
                let predecessor = self.entry(predecessor);
                predecessor.set_next(predecessor.link().next().with_successor(next.successor()));
                head.first()
            }
        };
        self.set_head(bucket, head.followed_by(first));
        entry.free();
    }

    fn head_locked(&self, bucket: usize) -> Head {
        // Relaxed: only holders of the partition lock store to its heads.
        Head(self.heads[bucket].load(Ordering::Relaxed))
    }

    fn set_head(&self, bucket: usize, head: Head) {
        // ORD(FM-HEAD rel): the entry that the head leads to; or that a removed one is unlinked.
        self.heads[bucket].store(head.0, Ordering::Release);
    }

    fn entry(&self, slot: u32) -> Entry<'_, K> {
        self.entries.get(slot).expect("a chain leads only to slots of the table")
    }
}
