//! The table under map and multimap: what an operation does with a bucket. Entries are opaque here; whether one is
//! the sought one is asked of the caller, never under a lock. Next: `lookup.rs` and `chain.rs`, the walk; beside
//! them `split.rs` and `retire.rs`.
//!
//! Invariants:
//! * I5: an entry of hash h is linked in the chain of bucket `address(h)`, and nowhere else; while a holder moves it
//!   (`MOVING`), in the chain of that bucket's partner too.
//! * I6: only the holder of a bucket stores to its chain. A holder changes one entry, or moves entries (each at most
//!   once), and unlocks with another stamp.
//! * I7: the geometry changes under the metapage's lock, while the two buckets concerned are held.

use crate::addr::Geometry;
use crate::chunks::{Chunks, Segment};
use crate::error::OutOfMemory;
use crate::meta::Meta;
use crate::nodes::Nodes;
use crate::observe::Observer;
use crate::page::{OverflowPages, Page, PageId, Slot};
use crate::reclaim::Pin;
use crate::word::{Control, SlotWord};
use crossbeam_utils::CachePadded;
use std::sync::{Arc, Weak};
use sync::LwLock;
use sync::prim::atomic::{AtomicU64, Ordering};
use sync::prim::{spin_loop, yield_now};

/// How often a writer looks at a locked bucket again before it queues; each time it pauses twice as long.
const SPIN_ROUNDS: u32 = if crate::reclaim::IN_A_MODEL { 0 } else { 8 };

/// Queues for locked buckets. Only the first of a queue looks; the others sleep.
const QUEUES: usize = 8;

#[derive(Debug)]
pub(crate) struct Table<T, const N: usize> {
    geometry: AtomicU64,
    pub(crate) buckets: Chunks<Page<N>>,
    pub(crate) overflow: OverflowPages<N>,
    pub(crate) nodes: Nodes<T>,
    pub(crate) meta: CachePadded<Meta>,
    queues: [LwLock<()>; QUEUES],
    /// For what is done later, elsewhere.
    pub(crate) this: Weak<Self>,
}

/// A bucket as a thread met it.
#[derive(Debug)]
pub(crate) struct Bucket<'p, const N: usize> {
    pub(crate) number: u32,
    pub(crate) page: &'p Page<N>,
    pub(crate) seen: Control,
    pub(crate) geometry: Geometry,
}

/// An entry where a thread found it.
#[derive(Debug)]
pub(crate) struct Hit<'p, T, const N: usize> {
    pub(crate) slot: &'p Slot,
    /// The overflow page it is on.
    pub(crate) page: Option<PageId>,
    pub(crate) word: SlotWord,
    pub(crate) entry: &'p T,
}

/// What a writer found: as it is in a version of an unlocked bucket.
pub(crate) enum Search<'p, T, const N: usize> {
    Hit(Bucket<'p, N>, Hit<'p, T, N>),
    Miss(Bucket<'p, N>),
}

/// Why a change was not made.
pub(crate) enum Refused {
    /// The bucket has changed since it was looked at: look again.
    Stale,
    OutOfMemory,
}

impl<T, const N: usize> Table<T, N> {
    pub(crate) fn new(buckets: u32, meta: Meta) -> Result<Arc<Self>, OutOfMemory> {
        let primary = Chunks::new();
        let mut segment = Segment::of(0).0;
        while segment.first() < u64::from(buckets) {
            primary.add(segment)?;
            segment = segment.next();
        }
        Ok(Arc::new_cyclic(|this| Self {
            geometry: AtomicU64::new(Geometry::new(buckets - 1).bits()),
            buckets: primary,
            overflow: OverflowPages::new(),
            nodes: Nodes::new(),
            meta: CachePadded::new(meta),
            queues: core::array::from_fn(|_| LwLock::new(())),
            this: this.clone(),
        }))
    }

    #[inline]
    pub(crate) fn geometry(&self) -> Geometry {
        // ORD(LH-GEO acq): the entries of a bucket that was split off, or merged into, before it has its address.
        Geometry::from_bits(self.geometry.load(Ordering::Acquire))
    }

    /// The geometry after a walk.
    #[inline]
    pub(crate) fn is_still(&self, geometry: Geometry) -> bool {
        // Relaxed: what a mover did to the buckets we walked comes after its flags, and is unlocked after its geometry.
        self.geometry.load(Ordering::Relaxed) == geometry.bits()
    }

    /// For the holder of the metapage and of both buckets (I7).
    pub(crate) fn set_geometry(&self, geometry: Geometry) {
        // ORD(LH-GEO rel): the entries, where they are now.
        self.geometry.store(geometry.bits(), Ordering::Release);
    }

    /// The bucket of a hash.
    #[inline]
    pub(crate) fn bucket<'p>(&'p self, hash: u32, pin: &'p Pin) -> Bucket<'p, N> {
        loop {
            let geometry = self.geometry();
            let number = geometry.address(hash);
            // A segment that is not there belonged to another geometry.
            if let Some(page) = self.buckets.get(number, pin) {
                return Bucket { number, page, seen: page.control(), geometry };
            }
        }
    }

    /// Whether a walk that found nothing speaks for the whole table at one moment.
    #[inline]
    pub(crate) fn is_current(&self, bucket: &Bucket<'_, N>) -> bool {
        bucket.seen.is_same_version(bucket.page.control_again()) && self.is_still(bucket.geometry)
    }

    /// Finds an entry, or its absence, in a version of its bucket that can be locked.
    pub(crate) fn search<'p>(
        &'p self,
        hash: u32,
        pin: &'p Pin,
        mut is: impl FnMut(&T) -> bool,
    ) -> Search<'p, T, N> {
        loop {
            let bucket = self.unlocked_bucket(hash, pin);
            let found = self.find_in(bucket.page, bucket.seen, hash, pin, &mut is);
            if self.is_current(&bucket) {
                return match found {
                    Some(hit) => Search::Hit(bucket, hit),
                    None => Search::Miss(bucket),
                };
            }
        }
    }

    /// The bucket of a hash, once nobody holds it.
    #[inline]
    pub(crate) fn unlocked_bucket<'p>(&'p self, hash: u32, pin: &'p Pin) -> Bucket<'p, N> {
        loop {
            let bucket = self.bucket(hash, pin);
            if !bucket.seen.is_locked() {
                return bucket;
            }
            self.wait_for(bucket.number, bucket.page);
        }
    }

    /// Waits until a bucket is unlocked.
    #[cold]
    pub(crate) fn wait_for(&self, number: u32, page: &Page<N>) {
        for round in 0..SPIN_ROUNDS {
            (0..1 << round).for_each(|_| spin_loop());
            if !page.control_again().is_locked() {
                return;
            }
        }
        let _turn = self.queues[number as usize % QUEUES].write();
        while page.control_again().is_locked() {
            yield_now();
        }
    }

    /// Locks the bucket if it is as it was seen. The slot is looked at too: its node is not used again as long as the pin
    /// lives, so that no node is retired twice, also if a stamp has come round while user code ran.
    fn lock_hit(&self, bucket: &Bucket<'_, N>, hit: &Hit<'_, T, N>) -> Option<Control> {
        let held = bucket.page.lock(bucket.seen)?;
        if hit.slot.load_held() != hit.word {
            bucket.page.set_control(held.untouched());
            return None;
        }
        Some(held)
    }

    /// Puts another entry in the place of one.
    pub(crate) fn replace(
        &self,
        bucket: &Bucket<'_, N>,
        hit: &Hit<'_, T, N>,
        word: SlotWord,
        observer: &impl Observer<T>,
        pin: &Pin,
    ) -> Result<(), Refused> {
        let held = self.lock_hit(bucket, hit).ok_or(Refused::Stale)?;
        hit.slot.store(word);
        observer.changed(bucket.number, false, self.held_entries(bucket.page, held, pin));
        bucket.page.set_control(held.changed());
        Ok(())
    }

    /// Links an entry in; whether that took another overflow page.
    pub(crate) fn link(
        &self,
        bucket: &Bucket<'_, N>,
        word: SlotWord,
        observer: &impl Observer<T>,
        pin: &Pin,
    ) -> Result<bool, Refused> {
        let held = bucket.page.lock(bucket.seen).ok_or(Refused::Stale)?;
        match self.add_held(bucket.page, held, word, pin) {
            Ok((control, added_page)) => {
                observer.changed(bucket.number, added_page, self.held_entries(bucket.page, control, pin));
                bucket.page.set_control(control.changed());
                Ok(added_page)
            }
            Err(OutOfMemory) => {
                bucket.page.set_control(held.untouched());
                Err(Refused::OutOfMemory)
            }
        }
    }

    /// Links an entry in without having looked for it: a multimap's insert.
    pub(crate) fn link_blindly(
        &self,
        word: SlotWord,
        observer: &impl Observer<T>,
        pin: &Pin,
    ) -> Result<bool, OutOfMemory> {
        loop {
            let bucket = self.unlocked_bucket(word.hash(), pin);
            // A bucket that was split or merged between the two loads has another geometry by now; one that is split
            // or merged from here on gets another stamp.
            if !self.is_still(bucket.geometry) {
                continue;
            }
            match self.link(&bucket, word, observer, pin) {
                Ok(added_page) => return Ok(added_page),
                Err(Refused::Stale) => {}
                Err(Refused::OutOfMemory) => return Err(OutOfMemory),
            }
        }
    }
}

impl<T: Send + 'static, const N: usize> Table<T, N> {
    /// Takes an entry out; whether it was still there.
    pub(crate) fn unlink(
        &self,
        bucket: &Bucket<'_, N>,
        hit: &Hit<'_, T, N>,
        observer: &impl Observer<T>,
        pin: &Pin,
    ) -> bool {
        let Some(held) = self.lock_hit(bucket, hit) else { return false };
        hit.slot.store(SlotWord::EMPTY);
        let mut emptied = None;
        let control = match hit.page {
            Some(page) => self.squeeze_out(bucket.page, held, page, &mut emptied, pin),
            None => self.forget_hint(held, pin),
        };
        observer.changed(bucket.number, false, self.held_entries(bucket.page, control, pin));
        bucket.page.set_control(control.changed());
        self.retire_page(emptied, pin);
        self.retire_word(hit.word, pin);
        true
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Search;
    use crate::LHashMap;
    use crate::reclaim::Pin;

    #[test]
    fn an_entry_is_taken_out_once_though_the_stamp_comes_round() {
        let map = LHashMap::<u64, String>::new();
        map.pin().insert(1, "one".to_owned());
        let (table, pin) = (&*map.table, Pin::new());
        let Search::Hit(bucket, hit) = table.search(map.hash(&1_u64), &pin, |_| true) else {
            panic!("it is there")
        };
        assert!(table.unlink(&bucket, &hit, &(), &pin));
        // 2^32 changes later, all of which a closure of `remove_if` has made:
        bucket.page.set_control(bucket.seen);
        assert!(!table.unlink(&bucket, &hit, &(), &pin), "its node would be dropped twice");
    }
}
