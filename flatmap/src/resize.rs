//! More and fewer buckets and slots, online. Next: `bucket.rs`, how two buckets are split and merged.
//!
//! The order of locks: `Resizing`, then one partition. Hashes are computed before, from a copy of the chain; if the chain has
//! changed meanwhile, again. One bucket is split or merged at a time, always the last one, so a split never overtakes that
//! of its parent.

use crate::bucket::Member;
use crate::error::ResizeError;
use crate::geometry::Geometry;
use crate::key::Key;
use crate::partition::{Hold, RelaxedCounter};
use crate::table::FlatMap;
use core::hash::BuildHasher;
use sync::prim::atomic::{AtomicU32, Ordering};
use sync::{LwLock, WriteGuard};

/// So often a split hashes a chain without its lock; after that, a chain that always changes is hashed under it.
const TRIES: u32 = if cfg!(all(loom, feature = "loom")) { 1 } else { 8 };

/// Which bounds a table is resized within, and how far that has come.
#[derive(Debug)]
pub(crate) struct Resizing {
    lock: LwLock<()>,
    /// The number of buckets to come to, by whoever does a step.
    target: AtomicU32,
    pub(crate) max_buckets: u32,
    /// Whether the target follows the number of slots.
    follows: bool,
    pub(crate) splits: RelaxedCounter,
    pub(crate) merges: RelaxedCounter,
}

impl Resizing {
    pub(crate) fn new(buckets: u32, max_buckets: u32, follows: bool) -> Self {
        Self {
            lock: LwLock::new(()),
            target: AtomicU32::new(buckets),
            max_buckets,
            follows,
            splits: RelaxedCounter::new(),
            merges: RelaxedCounter::new(),
        }
    }

    #[inline]
    fn target(&self) -> u32 {
        // Relaxed: a wish; what is done is decided under locks.
        self.target.load(Ordering::Relaxed)
    }

    fn set_target(&self, buckets: u32) {
        // Relaxed: as above.
        self.target.store(buckets, Ordering::Relaxed);
    }
}

/// Whether a step waits for its locks.
#[derive(Clone, Copy, Debug)]
enum Patience {
    Waits,
    Never,
}

/// A chain that is about to be split; kept from step to step for its memory.
struct Scratch<K> {
    chain: Vec<(u32, K)>,
    members: Vec<Member>,
}

impl<K> Default for Scratch<K> {
    fn default() -> Self {
        Self { chain: Vec::new(), members: Vec::new() }
    }
}

/// The number of buckets for so many slots.
pub(crate) fn buckets_for(slots: u32, partitions: u32, max_buckets: u32) -> u32 {
    (2 * slots).clamp(partitions, max_buckets)
}

impl<K: Key, S: BuildHasher> FlatMap<K, S> {
    /// Splits or merges buckets, one at a time, until there are `buckets`. Lookups go on, and stay linearizable (FM-10);
    /// inserts and removes wait only for a step of their own partition. Beside another call that resizes, the last one
    /// to begin decides, and both do steps.
    ///
    /// Takes the time of rehashing: some 100 ns a bucket. [`maintain`](Self::maintain) does it in portions.
    /// The memory of heads is not given back; 8 bytes a bucket.
    ///
    /// # Errors
    /// If `buckets` is less than the number of partitions or more than the builder's `max_buckets`, or if there is no memory;
    /// in the last case some splits may be done.
    ///
    /// # Panics
    /// If a key's `Hash` does: the table is consistent then, between two steps. In debug builds, if this thread has a
    /// [`PartitionGuard`](crate::PartitionGuard) of this table.
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::builder().slots(8).partitions(1).max_buckets(64).build()?;
    /// table.insert(7, 3)?;
    /// table.set_buckets(64)?;
    /// assert_eq!((table.buckets(), table.get(&7)), (64, Some(3)));
    /// table.set_buckets(1)?;
    /// assert_eq!((table.buckets(), table.get(&7)), (1, Some(3)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_buckets(&self, buckets: u32) -> Result<(), ResizeError> {
        self.partitions.assert_not_entered();
        let (min, max) = (self.partitions(), self.resizing.max_buckets);
        if !(min..=max).contains(&buckets) {
            return Err(ResizeError::Buckets { value: buckets, min, max });
        }
        self.resizing.set_target(buckets);
        let mut scratch = Scratch::default();
        while self.step(&mut scratch, Patience::Waits)? {}
        Ok(())
    }

    /// Does up to `budget` splits or merges of those that are due, and returns how many are due still: after
    /// [`set_slots`](Self::set_slots) of a table whose buckets follow its slots. Inserts and removes do one step each
    /// too, if that needs no wait; so this is for a table that is only read, or to be done sooner.
    ///
    /// # Errors
    /// If there is no memory for another head; only where address space can't be reserved.
    ///
    /// # Panics
    /// As [`set_buckets`](Self::set_buckets).
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::builder().slots(100).max_slots(1000).build()?;
    /// table.set_slots(1000)?;
    /// assert_eq!(table.maintain(0)?, 1800);
    /// while table.maintain(100)? > 0 {
    ///     // Something else is done between two portions.
    /// }
    /// assert_eq!(table.buckets(), 2000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn maintain(&self, budget: u32) -> Result<u32, ResizeError> {
        self.partitions.assert_not_entered();
        let mut scratch = Scratch::default();
        for _ in 0..budget {
            if !self.step(&mut scratch, Patience::Waits)? {
                break;
            }
        }
        Ok(self.resizing.target().abs_diff(self.buckets()))
    }

    /// Before an insert or remove: does a step if one is due and nobody else is at it. Never waits: what it would wait for can be
    /// a guard of another partition. Before, and not after, so that a `Hash` that panics in the step leaves the table as it was.
    #[inline]
    pub(crate) fn help(&self) {
        if self.resizing.target() != self.chains.geometry().load_locked().buckets() {
            self.help_out();
        }
    }

    #[cold]
    fn help_out(&self) {
        if !self.resizing.lock.is_locked() {
            // Without memory for another head it stays at the heads there are.
            let _ = self.step(&mut Scratch::default(), Patience::Never);
        }
    }

    /// Splits or merges one bucket, if that is due; whether it was.
    fn step(&self, scratch: &mut Scratch<K>, patience: Patience) -> Result<bool, ResizeError> {
        let geometry = self.chains.geometry().load();
        match geometry.buckets() {
            now if now < self.resizing.target() => self.split_one(geometry, scratch, patience)?,
            now if now > self.resizing.target() => self.merge_one(geometry, patience),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Keeps the geometry as it was seen; `None` if it has changed, or without patience.
    fn keep(&self, seen: Geometry, patience: Patience) -> Option<WriteGuard<'_, ()>> {
        let kept = match patience {
            Patience::Waits => self.resizing.lock.write(),
            Patience::Never => self.resizing.lock.try_write()?,
        };
        (self.chains.geometry().load() == seen).then_some(kept)
    }

    /// The partition of `parent`; `None` only without patience.
    fn lock_for_step(&self, parent: u32, patience: Patience) -> Option<Hold<'_>> {
        match patience {
            Patience::Waits => Some(self.partitions.lock(parent.into())),
            Patience::Never => self.partitions.try_lock(parent.into()),
        }
    }

    fn split_one(
        &self,
        seen: Geometry,
        scratch: &mut Scratch<K>,
        patience: Patience,
    ) -> Result<(), ResizeError> {
        let child = seen.buckets();
        let parent = Geometry::parent_of(child);
        for attempt in 0.. {
            let head = {
                let shared = match patience {
                    Patience::Waits => Some(self.partitions.share(parent.into())),
                    Patience::Never => self.partitions.try_share(parent.into()),
                };
                let Some(_shared) = shared else { return Ok(()) };
                self.copy_chain(parent, scratch);
                self.chains.head_locked(parent)
            };
            self.sort(scratch, seen);
            let Some(_kept) = self.keep(seen, patience) else { return Ok(()) };
            self.grow_heads(child)?;
            let Some(_hold) = self.lock_for_step(parent, patience) else { return Ok(()) };
            if self.chains.head_locked(parent) != head {
                if attempt < TRIES {
                    continue;
                }
                let _entered = self.partitions.enter();
                self.copy_chain(parent, scratch);
                // All hashes before the first store: a panic changes nothing.
                self.sort(scratch, seen);
            }
            self.chains.split(parent, &scratch.members, seen.followed_by(child + 1));
            self.resizing.splits.add_one();
            break;
        }
        Ok(())
    }

    /// Finds out which entries of the copied chain go to the next bucket.
    fn sort(&self, scratch: &mut Scratch<K>, seen: Geometry) {
        let child = seen.buckets();
        let after = seen.followed_by(child + 1);
        let member =
            |&(slot, ref key): &(u32, K)| Member { slot, goes: after.bucket(self.hash(key)) == child };
        scratch.members.clear();
        scratch.members.extend(scratch.chain.iter().map(member));
    }

    fn copy_chain(&self, bucket: u32, scratch: &mut Scratch<K>) {
        scratch.chain.clear();
        scratch
            .chain
            .extend(self.chains.chain_locked(bucket).map(|(slot, _, entry)| (slot, entry.candidate())));
    }

    fn grow_heads(&self, child: u32) -> Result<(), ResizeError> {
        if self.chains.heads().grow(child + 1) {
            return Ok(());
        }
        self.resizing.set_target(child);
        Err(ResizeError::OutOfMemory)
    }

    fn merge_one(&self, seen: Geometry, patience: Patience) {
        let child = seen.buckets() - 1;
        let parent = Geometry::parent_of(child);
        let Some(_kept) = self.keep(seen, patience) else { return };
        let Some(_hold) = self.lock_for_step(parent, patience) else { return };
        self.chains.merge(parent, child, seen.followed_by(child));
        self.resizing.merges.add_one();
    }

    /// Changes how many slots there are: more at once, or fewer, if the upper ones are unmapped. In a table whose buckets
    /// follow its slots, later inserts and removes then split or merge buckets, and [`maintain`](Self::maintain) does.
    ///
    /// The memory of slots that are gone is given back where the system can take it (Linux); that of new ones is taken when
    /// they are first used. Nothing moves, and lookups go on. Taking slots away waits for the inserts and removes
    /// under way, and for every [`PartitionGuard`](crate::PartitionGuard).
    ///
    /// While a call that takes slots away is running, inserts to those may fail with
    /// [`SlotOutOfRange`](crate::InsertError::SlotOutOfRange), and [`slots`](Self::slots) may tell the lower number, even if it
    /// fails in the end. Such a call looks at every slot up to the last one that was ever used.
    ///
    /// # Errors
    /// If `slots` is 0 or more than the builder's `max_slots`, or if upper slots are mapped or are being mapped; they are
    /// counted, and nothing is changed. If there is no memory, where address space can't be reserved.
    ///
    /// # Panics
    /// In debug builds, if this thread has a [`PartitionGuard`](crate::PartitionGuard) of this table.
    ///
    /// ```
    /// use flatmap::{FlatMap, ResizeError};
    ///
    /// let table: FlatMap<u64> = FlatMap::builder().slots(10).max_slots(1000).build()?;
    /// table.set_slots(1000)?;
    /// table.insert(7, 999)?;
    /// assert_eq!(table.set_slots(10), Err(ResizeError::SlotsInUse { slots: 10, in_use: 1 }));
    /// table.remove(&7);
    /// table.set_slots(10)?;
    /// assert_eq!(table.slots(), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_slots(&self, slots: u32) -> Result<(), ResizeError> {
        self.partitions.assert_not_entered();
        let entries = self.chains.entries();
        if !(1..=entries.most()).contains(&slots) {
            return Err(ResizeError::Slots { value: slots, max: entries.most() });
        }
        let _kept = self.resizing.lock.write();
        let before = entries.slots();
        if !entries.grow(slots) {
            return Err(ResizeError::OutOfMemory);
        }
        entries.set_slots(slots);
        if slots < before {
            // Whoever inserts from here on sees the new number, and whoever saw the old one has done so.
            self.partitions.wait_for_all();
            let in_use = entries.taken_from(slots);
            if in_use > 0 {
                entries.set_slots(before);
                return Err(ResizeError::SlotsInUse { slots, in_use });
            }
            entries.discard_from(slots);
        }
        if self.resizing.follows {
            self.resizing.set_target(buckets_for(slots, self.partitions(), self.resizing.max_buckets));
        }
        Ok(())
    }
}
