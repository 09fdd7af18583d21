//! Buckets: a stamped head each, and the walk along the chain. Next on a lookup's path: `entry.rs`.
//!
//! ```text
//!  63..32  31..2           1            0
//!  stamp   first slot + 1  reserved, 0  FILLING
//! ```
//!
//! * I4: every change of a chain raises its head's stamp, at the latest before a slot that left it is freed.
//!   A walk that could have left its chain therefore finds another head when it validates.
//! * I5: a head changes only under the lock of its partition, and is FILLING only while that is held: while entries are
//!   led from one of two buckets to the other. A walk that misses there knows nothing.

use crate::entry::{Entries, Entry, Link};
use crate::geometry::{Geometry, GeometryWord};
use crate::key::Key;
use crate::memory::Words;
use sync::prim::atomic::{AtomicU64, Ordering, fence};

/// One value of a bucket's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head(u64);

impl Head {
    const STAMP_SHIFT: u32 = 32;
    const FIRST_SHIFT: u32 = 2;
    const FIRST: u64 = (1 << 30) - 1;
    const FILLING: u64 = 1;

    #[inline]
    pub(crate) fn first(self) -> Option<u32> {
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

    /// The next head, with the same chain, of which entries are about to be led elsewhere.
    fn filling(self) -> Self {
        Self(self.followed_by(self.first()).0 | Self::FILLING)
    }

    #[inline]
    fn is_filling(self) -> bool {
        self.0 & Self::FILLING != 0
    }
}

/// From where a walk began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    bucket: u32,
    head: Head,
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
    geometry: GeometryWord,
    heads: Words,
    entries: Entries<K>,
}

/// How much there is of something, and how much there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) now: u32,
    pub(crate) most: u32,
}

impl<K: Key> Chains<K> {
    /// The size of the arrays, if it can be expressed.
    pub(crate) fn bytes_for(slots: u32, buckets: u32) -> Option<usize> {
        (buckets as usize).checked_mul(size_of::<AtomicU64>())?.checked_add(Entries::<K>::bytes_for(slots)?)
    }

    /// Empty chains; `None` if there is no memory for them.
    pub(crate) fn new(slots: Extent, buckets: Extent, huge: bool) -> Option<Self> {
        Some(Self {
            geometry: GeometryWord::new(buckets.now),
            heads: Words::reserve(1, buckets.now, buckets.most, huge)?,
            entries: Entries::new(slots.now, slots.most, huge)?,
        })
    }

    pub(crate) fn geometry(&self) -> &GeometryWord {
        &self.geometry
    }

    pub(crate) fn heads(&self) -> &Words {
        &self.heads
    }

    pub(crate) fn entries(&self) -> &Entries<K> {
        &self.entries
    }

    /// The bytes of the present heads and entries.
    pub(crate) fn bytes(&self) -> usize {
        self.geometry.load().buckets() as usize * size_of::<AtomicU64>() + self.entries.bytes()
    }

    /// Looks a key up without a lock.
    #[inline]
    pub(crate) fn walk(&self, hash: u64, key: &K) -> Walk {
        self.walk_from(hash, key).0
    }

    /// As `walk`; also tells from where it began.
    #[inline(always)]
    pub(crate) fn walk_from(&self, hash: u64, key: &K) -> (Walk, Start) {
        let geometry = self.geometry.load();
        let bucket = geometry.bucket(hash);
        // ORD(FM-HEAD acq): the entries that the head leads to.
        let head = Head(self.head(bucket).load(Ordering::Acquire));
        let end = self.follow(head.first(), key);
        // ORD(FM-STAMP acq): whoever wrote a word that we read had seen the stamp that our next load must see.
        // ORD(FM-FREE acq): so had whoever freed an entry that we read.
        // ORD(FM-LINK acq): what a remover did before the remove that makes us miss; the marks of who re-linked.
        fence(Ordering::Acquire);
        let start = Start { bucket, head };
        let is_final = match end {
            // The entry was mapped to the key at some moment, wherever it was then and is now.
            Walk::Hit(_) => self.is_unchanged(start),
            Walk::Miss => self.is_unchanged(start) && !head.is_filling() && self.geometry.is_still(geometry),
            Walk::Torn => false,
        };
        (if is_final { end } else { Walk::Torn }, start)
    }

    /// Whether the bucket's head is still the one that a walk began at. What that says depends on what the caller acquired
    /// before.
    #[inline]
    pub(crate) fn is_unchanged(&self, start: Start) -> bool {
        // Relaxed: ordered by the walk's fence, or by the pin.
        self.head(start.bucket).load(Ordering::Relaxed) == start.head.0
    }

    /// Follows a chain to the key or to its end. A chain has no more entries than there are slots: a walk
    /// that has met more than there may be has been led from chain to chain.
    #[inline(always)]
    fn follow(&self, first: Option<u32>, key: &K) -> Walk {
        let mut at = first;
        let mut steps_left = self.entries.most();
        while let Some(slot) = at {
            let Some(entry) = self.entries.get(slot) else { return Walk::Torn };
            let link = entry.link();
            if entry.holds(link, key) {
                return Walk::Hit(slot);
            }
            if steps_left == 0 {
                return Walk::Torn;
            }
            steps_left -= 1;
            at = link.next().successor();
        }
        Walk::Miss
    }

    /// Finds a key for a holder of its partition, shared or exclusive.
    pub(crate) fn find(&self, hash: u64, key: &K) -> (u32, Option<Place>) {
        let bucket = self.geometry.load_locked().bucket(hash);
        let mut predecessor = None;
        for (slot, link, entry) in self.chain_locked(bucket) {
            if entry.holds(link, key) {
                return (bucket, Some(Place { slot, predecessor }));
            }
            predecessor = Some(slot);
        }
        (bucket, None)
    }

    /// The entries of a bucket, for a holder of its partition.
    pub(crate) fn chain_locked(&self, bucket: u32) -> impl Iterator<Item = (u32, Link, Entry<'_, K>)> {
        let mut at = self.head_locked(bucket).first();
        core::iter::from_fn(move || {
            let slot = at?;
            let entry = self.entry(slot);
            let link = entry.link();
            at = link.next().successor();
            Some((slot, link, entry))
        })
    }

    /// Maps `key` to `slot`; false if the slot is taken. The partition must be locked, the key absent, the bucket its own.
    pub(crate) fn link(&self, bucket: u32, key: &K, slot: u32) -> bool {
        let entry = self.entry(slot);
        self.entries.touch(slot);
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
    pub(crate) fn unlink(&self, bucket: u32, place: Place) {
        let entry = self.entry(place.slot);
        let next = entry.link().next().unlinked();
        entry.set_next(next);
        let head = self.head_locked(bucket);
        let first = match place.predecessor {
            None => next.successor(),
            Some(predecessor) => {
                self.entry(predecessor).lead_to(next.successor());
                head.first()
            }
        };
        self.set_head(bucket, head.followed_by(first));
        entry.free();
    }

    pub(crate) fn head_locked(&self, bucket: u32) -> Head {
        // Relaxed: only holders of the partition lock store to its heads.
        Head(self.head(bucket).load(Ordering::Relaxed))
    }

    fn set_head(&self, bucket: u32, head: Head) {
        // ORD(FM-HEAD rel): the entry that the head leads to; or that a removed one is unlinked; or the geometry.
        self.head(bucket).store(head.0, Ordering::Release);
    }

    #[inline]
    pub(crate) fn head(&self, bucket: u32) -> &AtomicU64 {
        match self.heads.get(bucket, 1) {
            Some([head]) => head,
            _ => unreachable!("a geometry has only buckets that there is memory for"),
        }
    }

    fn entry(&self, slot: u32) -> Entry<'_, K> {
        self.entries.get(slot).expect("a chain leads only to slots of the table")
    }

    /// Splits `child`, the next bucket, off `parent`: leads the members of the parent's chain that belong there to
    /// it. For the exclusive holder of their partition who also keeps the geometry.
    pub(crate) fn split(&self, parent: u32, members: &[Member], after: Geometry) {
        let child = after.buckets() - 1;
        self.set_head(parent, self.head_locked(parent).filling());
        self.set_head(child, self.head_locked(child).filling());
        self.geometry.set(after);
        let (mut stay, mut go) = (Tail::default(), Tail::default());
        for member in members {
            let tail = if member.goes { &mut go } else { &mut stay };
            tail.push(self, member.slot);
        }
        stay.end(self);
        go.end(self);
        self.set_head(parent, self.head_locked(parent).followed_by(stay.first));
        self.set_head(child, self.head_locked(child).followed_by(go.first));
    }

    /// Merges `child`, the last bucket, into `parent`. For the same as above.
    pub(crate) fn merge(&self, parent: u32, child: u32, after: Geometry) {
        self.set_head(parent, self.head_locked(parent).filling());
        self.set_head(child, self.head_locked(child).filling());
        let (mut first, second) = (self.head_locked(parent).first(), self.head_locked(child).first());
        match self.chain_locked(parent).last() {
            Some((_, _, last)) if second.is_some() => last.lead_to(second),
            Some(_) => {}
            None => first = second,
        }
        self.geometry.set(after);
        self.set_head(parent, self.head_locked(parent).followed_by(first));
        self.set_head(child, self.head_locked(child).followed_by(None));
    }
}

/// An entry of a chain that is split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) slot: u32,
    /// To the new bucket.
    pub(crate) goes: bool,
}

/// The part of a chain that is in order already. Entries keep their order, so that a link never leads back.
#[derive(Debug, Default)]
struct Tail {
    first: Option<u32>,
    last: Option<u32>,
}

impl Tail {
    fn push<K: Key>(&mut self, chains: &Chains<K>, slot: u32) {
        match self.last.replace(slot) {
            None => self.first = Some(slot),
            Some(last) => chains.entry(last).lead_to(Some(slot)),
        }
    }

    fn end<K: Key>(&self, chains: &Chains<K>) {
        if let Some(last) = self.last {
            chains.entry(last).lead_to(None);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
