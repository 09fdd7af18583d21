//! The numbers of nodes and pages that are free, and those whose readers may not have gone yet. Threads keep a few
//! in their shard; the rest are common. Next: `nodes.rs`, `page.rs`, which number their elements with it.

use crate::chunks::Segment;
use crate::error::OutOfMemory;
use crossbeam_utils::CachePadded;
use sync::prim::{Mutex, thread_number};

const SMALL: bool = crate::reclaim::IN_A_MODEL;
/// How many numbers a shard fetches at a time; it keeps at most twice as many.
const BATCH: usize = if SMALL { 1 } else { 32 };

/// How many retired numbers a shard collects before they wait for their readers together.
const RETIRED: usize = 64;

#[derive(Debug)]
pub(crate) struct Ids {
    shards: Box<[CachePadded<Mutex<Shard>>]>,
    common: Mutex<Common>,
    limit: u32,
}

#[derive(Debug, Default)]
struct Shard {
    free: Vec<u32>,
    /// Unlinked; readers may still be there.
    retired: Vec<u32>,
}

#[derive(Debug, Default)]
struct Common {
    free: Vec<u32>,
    /// Numbers from here on were never handed out.
    fresh: u32,
    /// Segments whose numbers were all free and that were given back.
    returned: Vec<Segment>,
}

/// What `Ids` knows of numbers that are not in use.
#[derive(Debug)]
pub(crate) struct Unused {
    pub(crate) free: Vec<u32>,
    pub(crate) retired: Vec<u32>,
    /// Numbers from here on were never handed out.
    pub(crate) fresh: u32,
}

impl Ids {
    /// For numbers below `limit`, in so many shards.
    pub(crate) fn new(limit: u32, shards: usize) -> Self {
        let shards = if SMALL { 1 } else { shards };
        Self {
            shards: (0..shards).map(|_| CachePadded::default()).collect(),
            common: Mutex::new(Common::default()),
            limit,
        }
    }

    fn mine(&self) -> &Mutex<Shard> {
        &self.shards[thread_number() as usize % self.shards.len()]
    }

    /// A number whose segment is there; `add` adds one.
    pub(crate) fn take(
        &self,
        add: impl FnMut(Segment) -> Result<(), OutOfMemory>,
    ) -> Result<u32, OutOfMemory> {
        let mut shard = self.mine().lock();
        match shard.free.pop() {
            Some(number) => Ok(number),
            None => self.fetch(&mut shard.free, add),
        }
    }

    #[cold]
    fn fetch(
        &self,
        free: &mut Vec<u32>,
        mut add: impl FnMut(Segment) -> Result<(), OutOfMemory>,
    ) -> Result<u32, OutOfMemory> {
        let mut common = self.common.lock();
        if common.free.is_empty() {
            if let Some(&segment) = common.returned.last() {
                add(segment)?;
                common.returned.pop();
                let numbers = segment.first()..segment.first() + segment.len() as u64;
                common.free.extend(numbers.rev().map(|number| number as u32));
            }
        }
        let known = common.free.len();
        if known == 0 {
            let fresh = common.fresh;
            let last = fresh.saturating_add(BATCH as u32).min(self.limit);
            let (segment, _) = Segment::of(fresh);
            if fresh >= last {
                return Err(OutOfMemory);
            }
            add(segment)?;
            let end = last.min((segment.first() + segment.len() as u64).min(u64::from(u32::MAX)) as u32);
            common.fresh = end;
            free.extend((fresh..end).rev());
        } else {
            free.extend(common.free.drain(known.saturating_sub(BATCH)..));
        }
        free.pop().ok_or(OutOfMemory)
    }

    /// Gives back numbers that nobody uses.
    pub(crate) fn give_back(&self, numbers: &[u32]) {
        let mut shard = self.mine().lock();
        shard.free.extend_from_slice(numbers);
        if shard.free.len() > 2 * BATCH {
            self.common.lock().free.extend(shard.free.drain(BATCH..));
        }
    }

    /// Notes that nobody finds `number` any more. Now and then returns those that shall wait for their readers.
    #[must_use]
    pub(crate) fn retire(&self, number: u32) -> Option<Vec<u32>> {
        let mut shard = self.mine().lock();
        shard.retired.push(number);
        // The next ones get their room at once, not in doublings under the lock.
        (shard.retired.len() >= RETIRED)
            .then(|| core::mem::replace(&mut shard.retired, Vec::with_capacity(RETIRED)))
    }

    /// All that is retired and does not wait yet.
    #[must_use]
    pub(crate) fn take_retired(&self) -> Vec<u32> {
        self.shards.iter().flat_map(|shard| core::mem::take(&mut shard.lock().retired)).collect()
    }

    /// Gives `retire` the segments whose numbers are all free.
    pub(crate) fn take_free_segments(&self, retire: impl FnMut(Segment)) {
        // Nobody takes a number, or adds a segment, until all is done.
        let mut shards: Vec<_> = self.shards.iter().map(|shard| shard.lock()).collect();
        let mut common = self.common.lock();
        let mut free = core::mem::take(&mut common.free);
        for shard in &mut shards {
            free.append(&mut shard.free);
        }
        free.sort_unstable();
        let mut segments = Vec::new();
        let mut kept = Vec::new();
        for numbers in free.chunk_by(|&a, &b| Segment::of(a).0 == Segment::of(b).0) {
            let (segment, _) = Segment::of(numbers[0]);
            let handed_out = (u64::from(common.fresh) - segment.first()).min(segment.len() as u64);
            if (numbers.len() as u64) < handed_out {
                kept.extend_from_slice(numbers);
            } else if numbers.len() < segment.len() {
                // The last one, of which not all were handed out yet.
                common.fresh = segment.first() as u32;
                segments.push(segment);
            } else {
                common.returned.push(segment);
                segments.push(segment);
            }
        }
        kept.reverse();
        common.free = kept;
        segments.into_iter().for_each(retire);
    }

    /// The numbers that nobody uses, and those that wait to be free, but for those that wait for their readers.
    pub(crate) fn unused(&self) -> Unused {
        let shards: Vec<_> = self.shards.iter().map(|shard| shard.lock()).collect();
        let common = self.common.lock();
        let returned = common.returned.iter().flat_map(|segment| {
            let first = segment.first() as u32;
            first..first + segment.len() as u32
        });
        let of_shards = shards.iter().flat_map(|shard| shard.free.iter().copied());
        Unused {
            free: common.free.iter().copied().chain(returned).chain(of_shards).collect(),
            retired: shards.iter().flat_map(|shard| shard.retired.iter().copied()).collect(),
            fresh: common.fresh,
        }
    }

    /// Which numbers below the highest that was handed out are in use, retired or not.
    pub(crate) fn in_use(&mut self) -> impl Iterator<Item = u32> + use<> {
        let common = self.common.lock();
        let mut used = vec![true; common.fresh as usize];
        let mut unused = |number: u32| used[number as usize] = false;
        common.free.iter().copied().for_each(&mut unused);
        for segment in &common.returned {
            (segment.first()..segment.first() + segment.len() as u64).for_each(|n| unused(n as u32));
        }
        for shard in &self.shards {
            shard.lock().free.iter().copied().for_each(&mut unused);
        }
        (0..).zip(used).filter_map(|(number, used)| used.then_some(number))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{BATCH, Ids, Segment};
    use crate::error::OutOfMemory;
    use std::collections::BTreeSet;

    #[test]
    fn numbers_are_handed_out_once_until_they_are_given_back() {
        let mut ids = Ids::new(1000, 16);
        let all: BTreeSet<u32> = (0..1000).map(|_| ids.take(|_| Ok(())).unwrap()).collect();
        assert_eq!((all.len(), all.last()), (1000, Some(&999)));
        assert_eq!(ids.take(|_| Ok(())), Err(OutOfMemory), "the limit");
        assert_eq!(ids.in_use().count(), 1000);
        ids.give_back(&[5, 700]);
        let again = BTreeSet::from([ids.take(|_| Ok(())).unwrap(), ids.take(|_| Ok(())).unwrap()]);
        assert_eq!(again, BTreeSet::from([5, 700]));
    }

    #[test]
    fn free_segments_are_given_back_and_come_again() {
        let ids = Ids::new(u32::MAX, 16);
        let all: Vec<u32> = (0..1000).map(|_| ids.take(|_| Ok(())).unwrap()).collect();
        ids.give_back(&all[1..]);
        let mut segments = Vec::new();
        ids.take_free_segments(|segment| segments.push(segment));
        assert!(segments.len() > 10);
        assert!(segments.iter().all(|segment| segment.first() > 0), "number 0 is in use");
        let mut added = BTreeSet::new();
        let again: BTreeSet<u32> = (0..999)
            .map(|_| {
                let number = ids.take(|segment| {
                    added.insert(segment);
                    Ok(())
                });
                number.unwrap()
            })
            .collect();
        assert_eq!(again.len(), 999);
        assert!(!again.contains(&0) && added.len() > 10);
        let lacks_its_segment = |&number: &u32| {
            let (segment, _) = Segment::of(number);
            segments.contains(&segment) && !added.contains(&segment)
        };
        assert!(!again.iter().any(lacks_its_segment));
    }

    #[test]
    fn what_one_thread_gives_back_another_one_gets() {
        let ids = Ids::new(u32::MAX, 16);
        for _ in 0..100 {
            let taken: Vec<u32> = (0..100).map(|_| ids.take(|_| Ok(())).unwrap()).collect();
            std::thread::scope(|s| _ = s.spawn(|| ids.give_back(&taken)));
        }
        let highest = ids.take(|_| Ok(())).unwrap();
        assert!(highest < 100 + 16 * 2 * BATCH as u32 + 100, "{highest}");
    }

    #[test]
    fn no_memory_leaves_everything_as_it_was() {
        let ids = Ids::new(u32::MAX, 16);
        assert_eq!(ids.take(|_| Err(OutOfMemory)), Err(OutOfMemory));
        assert_eq!(ids.take(|_| Ok(())), Ok(0));
    }
}
