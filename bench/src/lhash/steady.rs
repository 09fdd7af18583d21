//! Operations on a map that stays full, or half full of twice as many keys: lookups, updates, mixes.
//!
//! Lookups are checked one by one. Updates raise a version in the value, and in the end the versions add up to the
//! number of updates. In a mix, what the inserts and removes said adds up to the number of entries in the end.

use std::marker::PhantomData;
use std::time::Duration;

use super::keys::{Key, Picker, difference, value_of};
use super::life::{audit, grow};
use super::tables::{Batch, ConcurrentMap};
use super::{BATCH, Case, How, Steady};
use crate::crew::{self, Alone, Stop};
use crate::sync::{Sample, SyncError, check};

/// How many batches of one thread are timed as one.
const CHUNK: u64 = 4096 / BATCH;

/// A full map, for one operation after the other.
pub trait Stage {
    /// Measures one operation for about as long as that, and checks what can be checked at once.
    ///
    /// # Errors
    ///
    /// If an answer was wrong.
    fn run(&mut self, steady: Steady, slice: Duration) -> Result<Sample, SyncError>;

    /// Checks what is in the map after all passes of an operation or of several.
    ///
    /// # Errors
    ///
    /// If it is not what it should be.
    fn audit(&mut self) -> Result<(), SyncError>;
}

/// A map of the even halves of all keys: the entries' keys are those below their number.
#[derive(Debug)]
pub(super) struct Filled<M, K> {
    map: M,
    case: Case,
    passes: u64,
    present: u64,
    /// `None` once entries were removed, whose versions are lost.
    versions: Option<u64>,
    key: PhantomData<fn(K)>,
}

/// What one thread does it with, and what it saw.
struct Hand<'a> {
    picker: Picker<'a>,
    entries: u64,
    /// Where a chain went last, and in what the value differed from that: 0.
    carry: u64,
    tally: Tally,
}

#[derive(Default, Clone, Copy)]
struct Tally {
    wrong: u64,
    inserted: u64,
    removed: u64,
    updated: u64,
}

impl<M: ConcurrentMap<K>, K: Key> Filled<M, K> {
    pub(super) fn new(case: &Case) -> Result<Self, SyncError> {
        let map = M::empty(case.policy);
        grow::<M, K>(&map, case)?;
        Ok(Self {
            map,
            case: case.clone(),
            passes: 0,
            present: case.entries.into(),
            versions: Some(0),
            key: PhantomData,
        })
    }

    /// Lets the threads repeat a step, in batches.
    fn drive(
        &self,
        slice: Duration,
        step: impl Fn(&mut Hand<'_>, &M::Batch<'_>) + Sync,
    ) -> Result<(Sample, Tally), SyncError> {
        let Case { threads, entries, ref draws, .. } = self.case;
        let hand = |thread: u32| Hand {
            picker: Picker::new(entries.into(), draws, (self.passes << 16) + u64::from(thread)),
            entries: entries.into(),
            carry: 0,
            tally: Tally::default(),
        };
        let batch = |hand: &mut Hand<'_>| {
            let batch = self.map.batch();
            (0..BATCH).for_each(|_| step(hand, &batch));
        };
        if threads == 1 {
            let mut hand = hand(0);
            let Alone { chunk, chunk_ns, .. } = crew::alone_in_chunks(CHUNK, slice, || batch(&mut hand));
            return Ok((Sample::of_workers(1, chunk_ns, chunk * BATCH), hand.tally));
        }
        let work = |thread, stop: &Stop| {
            let (mut hand, mut operations) = (hand(thread), 0);
            while operations == 0 || !stop.is_asked() {
                batch(&mut hand);
                operations += BATCH;
            }
            (operations, hand.tally)
        };
        let shift = crew::shift(threads, slice, work)?;
        let operations = shift.parts.iter().map(|part| part.0).sum();
        let tally = shift.parts.iter().fold(Tally::default(), |all, part| all.plus(part.1));
        Ok((Sample::of_workers(threads, shift.wall_ns, operations), tally))
    }

    fn drive_mix(
        &self,
        slice: Duration,
        read_pct: u64,
        insert_pct: u64,
    ) -> Result<(Sample, Tally), SyncError> {
        self.drive(slice, |hand, batch| {
            let dice = hand.picker.dice.u64(..);
            // Half of the keys are there at first, and about as many later.
            let index = hand.picker.pick() + if dice & 1 == 0 { 0 } else { hand.entries };
            let pct = ((dice >> 32) * 100) >> 32;
            K::with(index, |key| {
                if pct < read_pct {
                    hand.tally.wrong +=
                        u64::from(batch.get(key).is_some_and(|value| difference(value, index) != 0));
                } else if pct < read_pct + insert_pct {
                    hand.tally.inserted += u64::from(batch.insert(key.to_owned(), value_of(index)));
                } else if pct < read_pct + 2 * insert_pct {
                    hand.tally.removed += u64::from(batch.remove(key));
                } else {
                    batch.update(key);
                }
            });
        })
    }

    fn drive_hits(&self, how: How, slice: Duration) -> Result<(Sample, Tally), SyncError> {
        match how {
            How::Loop => self.drive(slice, |hand, batch| {
                let index = hand.picker.pick();
                let value = K::with(index, |key| batch.get(key));
                hand.tally.wrong += u64::from(value.is_none_or(|value| difference(value, index) != 0));
            }),
            How::Chain => self.drive(slice, |hand, batch| {
                // Nothing is added, but the processor has to wait for the value to know that.
                let index = hand.picker.pick() + hand.carry;
                let value = K::with(index, |key| batch.get(key));
                hand.carry = value.map_or(0, |value| difference(value, index));
                hand.tally.wrong += u64::from(value.is_none()) + hand.carry;
            }),
        }
    }

    fn drive_updates(&self, slice: Duration) -> Result<(Sample, Tally), SyncError> {
        self.drive(slice, |hand, batch| {
            let is_there = K::with(hand.picker.pick(), |key| batch.update(key));
            hand.tally.updated += u64::from(is_there);
            hand.tally.wrong += u64::from(!is_there);
        })
    }
}

impl Tally {
    fn plus(self, other: Self) -> Self {
        Self {
            wrong: self.wrong + other.wrong,
            inserted: self.inserted + other.inserted,
            removed: self.removed + other.removed,
            updated: self.updated + other.updated,
        }
    }
}

impl<M: ConcurrentMap<K>, K: Key> Stage for Filled<M, K> {
    fn run(&mut self, steady: Steady, slice: Duration) -> Result<Sample, SyncError> {
        self.passes += 1;
        let (sample, tally) = match steady {
            Steady::Hit(how) => self.drive_hits(how, slice),
            Steady::Miss => self.drive(slice, |hand, batch| {
                let index = hand.picker.pick() + hand.entries;
                hand.tally.wrong += u64::from(K::with(index, |key| batch.get(key)).is_some());
            }),
            Steady::Update => self.drive_updates(slice),
            Steady::Mix { read_pct, insert_pct } => self.drive_mix(slice, read_pct, insert_pct),
        }?;
        if let Steady::Mix { .. } = steady {
            self.versions = None;
        }
        self.versions = self.versions.map(|versions| versions + tally.updated);
        // A map that said it removed more than there was has no such number of entries.
        self.present = (self.present + tally.inserted).saturating_sub(tally.removed);
        check(M::NAME, &[("wrong answers", tally.wrong, 0)])?;
        Ok(sample)
    }

    fn audit(&mut self) -> Result<(), SyncError> {
        let found = audit(&self.map, 2 * u64::from(self.case.entries));
        let mut figures = vec![
            ("keys", found.present, self.present),
            ("entries", self.map.count() as u64, self.present),
            ("wrong values", found.wrong, 0),
        ];
        figures.extend(self.versions.map(|updates| ("updates", found.versions, updates)));
        check(M::NAME, &figures)
    }
}
