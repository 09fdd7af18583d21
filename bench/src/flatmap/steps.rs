//! The operations that are measured, each written once for every table, and how an answer is checked.
//!
//! A key's index below the number of slots is that of a mapping; `index + slots` replaces it in the same slot, and
//! from twice that on nothing is mapped.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use hashbrown::HashMap;

use super::keys::{Shuffle, tag};
use crate::table::{BufferTag, Inserted, Table, TagHasher};

/// The most keys of one batch.
pub const MAX_BATCH: usize = 64;
/// The key that everybody looks up where there is only one.
const HOT: u64 = 0;

/// What a step does its work with: a shared table, or one that belongs to the only thread.
pub trait Handle {
    /// The slot of a tag.
    fn get(&mut self, tag: &BufferTag) -> Option<u32>;
    /// The slots of some tags.
    fn get_many(&mut self, tags: &[BufferTag], found: &mut [Option<u32>]);
    /// Maps a tag.
    fn insert(&mut self, tag: &BufferTag, slot: u32) -> Inserted;
    /// Unmaps a tag.
    fn remove(&mut self, tag: &BufferTag) -> Option<u32>;
}

/// A table that others use too.
#[derive(Debug)]
pub struct Shared<'a, T>(pub &'a T);

impl<T: Table> Handle for Shared<'_, T> {
    #[inline]
    fn get(&mut self, tag: &BufferTag) -> Option<u32> {
        self.0.get(tag)
    }

    #[inline]
    fn get_many(&mut self, tags: &[BufferTag], found: &mut [Option<u32>]) {
        self.0.get_many(tags, found);
    }

    #[inline]
    fn insert(&mut self, tag: &BufferTag, slot: u32) -> Inserted {
        self.0.insert(tag, slot)
    }

    #[inline]
    fn remove(&mut self, tag: &BufferTag) -> Option<u32> {
        self.0.remove(tag)
    }
}

/// The floor: a table without any lock, for one thread.
pub type Floor = HashMap<BufferTag, u32, TagHasher>;

impl Handle for Floor {
    #[inline]
    fn get(&mut self, tag: &BufferTag) -> Option<u32> {
        HashMap::get(self, tag).copied()
    }

    #[inline]
    fn get_many(&mut self, tags: &[BufferTag], found: &mut [Option<u32>]) {
        for (tag, found) in tags.iter().zip(found) {
            *found = HashMap::get(self, tag).copied();
        }
    }

    #[inline]
    fn insert(&mut self, tag: &BufferTag, slot: u32) -> Inserted {
        HashMap::insert(self, *tag, slot).map_or(Inserted::New, Inserted::Present)
    }

    #[inline]
    fn remove(&mut self, tag: &BufferTag) -> Option<u32> {
        HashMap::remove(self, tag)
    }
}

/// What one thread has to work with.
#[derive(Debug)]
pub struct Hand<'a> {
    /// Which mappings are replaced.
    pub replaced: &'a [AtomicBool],
    /// The indices that this thread alone replaces: from the first on, so many.
    pub own: (u64, u64),
    shuffle: Shuffle,
    dice: fastrand::Rng,
    slots: u64,
    /// What the last answer differed by from the right one: 0.
    carry: u64,
    /// Wrong answers.
    pub wrong: u64,
}

impl<'a> Hand<'a> {
    /// For one of several threads, at the start of a pass.
    #[must_use]
    pub fn new(replaced: &'a [AtomicBool], thread: u32, threads: u32, pass: u64) -> Self {
        let slots = replaced.len() as u64;
        let bound = |thread: u32| slots * u64::from(thread) / u64::from(threads);
        Self {
            replaced,
            own: (bound(thread), bound(thread + 1) - bound(thread)),
            shuffle: Shuffle::new(slots as u32),
            dice: fastrand::Rng::with_seed((pass << 16) + u64::from(thread)),
            slots,
            carry: 0,
            wrong: 0,
        }
    }

    /// An index below `end`, which is below 2^32.
    #[inline]
    pub fn draw(&mut self, end: u64) -> u64 {
        ((self.dice.u64(..) >> 32) * end) >> 32
    }

    #[inline]
    fn expect(&mut self, found: Option<u32>, index: u64) {
        self.wrong += u64::from(found != Some(self.shuffle.slot(index)));
    }

    /// The slot of the index.
    #[inline]
    #[must_use]
    pub fn slot(&self, index: u64) -> u32 {
        self.shuffle.slot(index)
    }
}

/// An operation, or several, and what was found.
pub trait Step: Sync {
    /// How many operations it is.
    fn operations(&self) -> u64 {
        1
    }

    /// Does it once.
    fn once<H: Handle>(&self, hand: &mut Hand<'_>, table: &mut H);
}

/// Looks up a key that is there.
#[derive(Debug)]
pub struct Hit;

impl Step for Hit {
    #[inline]
    fn once<H: Handle>(&self, hand: &mut Hand<'_>, table: &mut H) {
        let index = hand.draw(hand.slots);
        let found = table.get(&tag(index));
        hand.expect(found, index);
    }
}

/// Looks up a key that depends on the answer before.
#[derive(Debug)]
pub struct Chain;

impl Step for Chain {
    #[inline]
    fn once<H: Handle>(&self, hand: &mut Hand<'_>, table: &mut H) {
        // Nothing is added, but the processor has to wait for the answer to know that.
        let index = hand.draw(hand.slots) + hand.carry;
        let found = table.get(&tag(index));
        hand.carry = found.map_or(1, |slot| u64::from(slot ^ hand.shuffle.slot(index)));
        hand.wrong += hand.carry;
    }
}

/// Looks up a key that is not there.
#[derive(Debug)]
pub struct Miss;

impl Step for Miss {
    #[inline]
    fn once<H: Handle>(&self, hand: &mut Hand<'_>, table: &mut H) {
        let index = hand.draw(hand.slots) + 2 * hand.slots;
        hand.wrong += u64::from(table.get(&tag(index)).is_some());
    }
}

/// Looks up the same key, which is there.
#[derive(Debug)]
pub struct Hot;

impl Step for Hot {
    #[inline]
    fn once<H: Handle>(&self, hand: &mut Hand<'_>, table: &mut H) {
        let found = table.get(&tag(HOT));
        hand.expect(found, HOT);
    }
}

/// Looks up so many keys together, which are there; at most [`MAX_BATCH`].
#[derive(Debug)]
pub struct Batch(pub usize);

impl Step for Batch {
    fn operations(&self) -> u64 {
        self.0 as u64
    }

    #[inline]
    fn once<H: Handle>(&self, hand: &mut Hand<'_>, table: &mut H) {
        let indices: [u64; MAX_BATCH] =
            std::array::from_fn(|at| if at < self.0 { hand.draw(hand.slots) } else { 0 });
        let indices = &indices[..self.0];
        let mut tags = [tag(0); MAX_BATCH];
        tags.iter_mut().zip(indices).for_each(|(of, &index)| *of = tag(index));
        let mut found = [None; MAX_BATCH];
        table.get_many(&tags[..self.0], &mut found[..self.0]);
        found.iter().zip(indices).for_each(|(&found, &index)| hand.expect(found, index));
    }
}

/// 95 times of a hundred a lookup of a key that is there; otherwise another key takes a slot over.
#[derive(Debug)]
pub struct Mix;

impl Step for Mix {
    #[inline]
    fn once<H: Handle>(&self, hand: &mut Hand<'_>, table: &mut H) {
        let replaces = hand.draw(100) < 5 && hand.own.1 > 0;
        let index = if replaces { hand.own.0 + hand.draw(hand.own.1) } else { hand.draw(hand.slots) };
        let slot = hand.slot(index);
        // Relaxed: only the thread whose index it is writes, and the others may find it out of date.
        let is_replaced = hand.replaced[index as usize].load(Relaxed);
        let key = |is_replaced: bool| tag(index + if is_replaced { hand.slots } else { 0 });
        if replaces {
            let is_right = table.remove(&key(is_replaced)) == Some(slot)
                && table.insert(&key(!is_replaced), slot) == Inserted::New;
            // Relaxed: as above.
            hand.replaced[index as usize].store(!is_replaced, Relaxed);
            hand.wrong += u64::from(!is_right);
        } else {
            let found = table.get(&key(is_replaced));
            let is_own = index.wrapping_sub(hand.own.0) < hand.own.1;
            let is_right = found == Some(slot) || found.is_none() && !is_own;
            hand.wrong += u64::from(!is_right);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::{Batch, Chain, Floor, Hand, Handle, Hit, Hot, Miss, Mix, Step};
    use crate::flatmap::keys::{Shuffle, tag};

    fn full(slots: u32) -> (Floor, Vec<AtomicBool>) {
        let shuffle = Shuffle::new(slots);
        let table = (0..slots.into()).map(|index| (tag(index), shuffle.slot(index))).collect();
        (table, (0..slots).map(|_| AtomicBool::new(false)).collect())
    }

    fn wrong(step: &impl Step, table: &mut impl Handle, replaced: &[AtomicBool]) -> u64 {
        let mut hand = Hand::new(replaced, 0, 1, 7);
        (0..1000).for_each(|_| step.once(&mut hand, table));
        hand.wrong
    }

    #[test]
    fn a_right_table_passes_every_step() {
        for slots in [1, 100] {
            let (mut table, replaced) = full(slots);
            assert_eq!(wrong(&Hit, &mut table, &replaced), 0);
            assert_eq!(wrong(&Chain, &mut table, &replaced), 0);
            assert_eq!(wrong(&Miss, &mut table, &replaced), 0);
            assert_eq!(wrong(&Hot, &mut table, &replaced), 0);
            assert_eq!(wrong(&Batch(7), &mut table, &replaced), 0);
            assert_eq!(wrong(&Mix, &mut table, &replaced), 0);
            assert_eq!(table.len(), slots as usize);
        }
    }

    #[test]
    fn a_wrong_table_is_found_out() {
        let (mut table, replaced) = full(100);
        table.values_mut().for_each(|slot| *slot = 100);
        assert_eq!(wrong(&Hit, &mut table, &replaced), 1000);
        assert!(wrong(&Chain, &mut table, &replaced) >= 1000);
        assert_eq!(wrong(&Hot, &mut table, &replaced), 1000);
        assert_eq!(wrong(&Batch(7), &mut table, &replaced), 7000);
        assert!(wrong(&Mix, &mut table, &replaced) > 900);
        table.extend((0..300).map(|index| (tag(index), 0)));
        assert!(wrong(&Miss, &mut table, &replaced) > 900);
    }
}
