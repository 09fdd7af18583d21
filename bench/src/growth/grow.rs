//! What a map goes through: all inserts at the rate while another thread reads at the same, then all removes at the
//! rate, then it gives back what it can.
//!
//! Every insert and remove has to say that it did something, every read has to find the right value, and the full map is
//! audited. Bytes are counted from before the map is made.

use std::marker::PhantomData;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};

use crossbeam_utils::CachePadded;
use fastrand::Rng;

use super::Plan;
use super::memory;
use super::pace::{Pace, Record, Watch};
use crate::counting::Count;
use crate::crew;
use crate::lhash::Policy;
use crate::lhash::keys::{Key, Order, difference, value_of};
use crate::lhash::life::audit;
use crate::lhash::tables::{Batch, ConcurrentMap};
use crate::sync::{SyncError, check};

/// How often a map is asked to give back what it can: what a collector freed of a thread that ended, it frees late.
const SETTLES: usize = 8;

/// What came out of one map.
#[derive(Debug)]
pub struct Grown {
    /// The inserts.
    pub inserts: Record,
    /// The reads meanwhile.
    pub reads: Record,
    /// The removes after them.
    pub removes: Record,
    /// What the map held.
    pub bytes: Bytes,
    /// The resident memory of the process before there was a map.
    pub rss_before_bytes: Option<u64>,
    /// The same when it was emptied, had given back what it can, and so had the allocator.
    pub rss_after_bytes: Option<u64>,
}

/// What a map held, in bytes that were requested; `None` in a program with another allocator.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bytes {
    /// When it was made.
    pub start: Option<i64>,
    /// At most, until it was full.
    pub peak: Option<i64>,
    /// When it was full.
    pub full: Option<i64>,
    /// When it was emptied and had given back what it can.
    pub emptied: Option<i64>,
}

pub(crate) fn grow<M: ConcurrentMap<K>, K: Key>(plan: &Plan, tick: &dyn Fn()) -> Result<Grown, SyncError> {
    let entries = u64::from(plan.entries);
    let pace = Pace { rate: plan.rate };
    let (inserts, reads, removes) = (pace.record(entries), pace.record(entries), pace.record(entries));
    memory::trim();
    let rss_before_bytes = memory::resident_bytes();
    let count = Count::begin();
    let mut map = M::empty(Policy::Deferred);
    let start = count.held_bytes();
    let stage = Stage { map: &map, key: PhantomData::<fn(K)>, entries, pace, count: &count };
    let (inserts, reads) = stage.insert(inserts, reads)?;
    let (full, peak) = (count.held_bytes(), count.peak_bytes());
    stage.check_full()?;
    tick();
    let removes = stage.remove(removes)?;
    check(M::NAME, &[("entries when empty", map.count() as u64, 0)])?;
    (0..SETTLES).for_each(|_| map.settle());
    let emptied = count.held_bytes();
    memory::trim();
    let rss_after_bytes = memory::resident_bytes();
    tick();
    let bytes = Bytes { start, peak, full, emptied };
    Ok(Grown { inserts, reads, removes, bytes, rss_before_bytes, rss_after_bytes })
}

/// A map, and what is done with it.
struct Stage<'a, M, K> {
    map: &'a M,
    key: PhantomData<fn(K)>,
    entries: u64,
    pace: Pace,
    count: &'a Count,
}

impl<M: ConcurrentMap<K>, K: Key> Stage<'_, M, K> {
    fn held_bytes(&self) -> i64 {
        self.count.held_bytes().unwrap_or_default()
    }

    fn insert(&self, inserts: Record, reads: Record) -> Result<(Record, Record), SyncError> {
        let inserted = CachePadded::new(AtomicU64::new(0));
        let work = |thread, mut record| {
            let done = if thread == 0 {
                self.inserter(&inserted, &mut record)
            } else {
                self.reader(&inserted, &mut record)
            };
            (record, done)
        };
        let mut parts = crew::run_each(vec![inserts, reads], work)?.into_iter();
        let (Some((inserts, done)), Some((reads, right))) = (parts.next(), parts.next()) else {
            unreachable!("a crew of two has two parts");
        };
        check(M::NAME, &[("inserts", done, self.entries), ("right answers", right, self.entries)])?;
        Ok((inserts, reads))
    }

    fn inserter(&self, inserted: &AtomicU64, record: &mut Record) -> u64 {
        let (order, mut done) = (Order::new(self.entries), 0);
        let insert = |position| {
            let index = order.at(position);
            done += u64::from(self.map.batch().insert(K::with(index, |key| key.to_owned()), value_of(index)));
            // Release: who reads this number finds all entries below it.
            inserted.store(position + 1, Release);
        };
        self.pace.drive(&mut Watch::start(), self.entries, record, insert, || self.held_bytes());
        done
    }

    fn reader(&self, inserted: &AtomicU64, record: &mut Record) -> u64 {
        let (order, mut dice, mut right) = (Order::new(self.entries), Rng::with_seed(self.entries), 0);
        while inserted.load(Acquire) == 0 {
            std::thread::yield_now();
        }
        let read = |_| {
            // Acquire: pairs with the inserter's store.
            let index = order.at(dice.u64(..inserted.load(Acquire)));
            let value = K::with(index, |key| self.map.batch().get(key));
            right += u64::from(value.is_some_and(|value| difference(value, index) == 0));
        };
        self.pace.drive(&mut Watch::start(), self.entries, record, read, || 0);
        right
    }

    fn check_full(&self) -> Result<(), SyncError> {
        let found = audit::<M, K>(self.map, 2 * self.entries);
        let count = self.map.count() as u64;
        let entries = self.entries;
        check(
            M::NAME,
            &[
                ("entries when full", count, entries),
                ("keys", found.present, entries),
                ("wrong values", found.wrong, 0),
            ],
        )
    }

    /// In another order than that of the inserts.
    fn remove(&self, record: Record) -> Result<Record, SyncError> {
        let work = |_, mut record| {
            let mut done = 0;
            let remove = |index| done += u64::from(K::with(index, |key| self.map.batch().remove(key)));
            self.pace.drive(&mut Watch::start(), self.entries, &mut record, remove, || self.held_bytes());
            (record, done)
        };
        let mut parts = crew::run_each(vec![record], work)?;
        let Some((record, done)) = parts.pop() else { unreachable!("a crew of one has a part") };
        check(M::NAME, &[("removes", done, self.entries)])?;
        Ok(record)
    }
}
