//! The records of one operation: their places in the log are taken while the buckets are held, and filled afterwards.
//! Next: `log.rs`, the places.
//!
//! A place that is taken must be filled, whatever happens, or the log ends there: so dropping a [`Telling`] fills them.

use super::error::RedoError;
use super::log::{Log, Permit, Place};
use super::logger::Logger;
use super::record::{Ntuples, Record};
use super::stored::{Row, digest_of_all};
use crate::clear::MOST_MERGES;
use crate::observe::Observer;
use crate::word::SlotWord;
use core::cell::{Cell, RefCell};

/// As many splits or merges one insert or remove does at most, and one more.
const MOVES: usize = 5;

/// A change of one entry, as it will be in the log.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) kind: ChangeKind,
    pub(crate) hash: u32,
    /// The key, and after it the value.
    pub(crate) bytes: Vec<u8>,
    pub(crate) key_len: usize,
    pub(crate) word: SlotWord,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Insert,
    Replace,
    Remove,
}

impl Change {
    fn record(&self, bucket: u32, ntuples: Ntuples, digest: Option<u64>) -> Record<'_> {
        let (key, value) = self.bytes.split_at(self.key_len);
        let hash = self.hash;
        match self.kind {
            ChangeKind::Insert => Record::Insert { bucket, hash, key, value, ntuples, digest },
            ChangeKind::Replace => Record::Replace { bucket, hash, key, value, digest },
            ChangeKind::Remove => Record::Remove { bucket, hash, key, value, ntuples, digest },
        }
    }
}

/// What a place was taken for.
#[derive(Clone, Copy, Debug)]
enum What {
    AddPage { bucket: u32 },
    Change { bucket: u32, index: usize, digest: Option<u64> },
    Split { from: u32, to: u32, digests: Option<(u64, u64)> },
    Merge { from: u32, to: u32, digest: Option<u64> },
    Squeeze { bucket: u32, digest: Option<u64> },
    Clear { bucket: u32, removed: u32, digest: Option<u64> },
}

impl What {
    /// By how much it changes the number of entries.
    fn own(&self, changes: &[Change]) -> i64 {
        match *self {
            Self::Change { index, .. } => match changes[index].kind {
                ChangeKind::Insert => 1,
                ChangeKind::Replace => 0,
                ChangeKind::Remove => -1,
            },
            Self::Clear { removed, .. } => -i64::from(removed),
            _ => 0,
        }
    }
}

/// The changes of one operation, and the places taken for them.
pub(crate) struct Telling<'a> {
    logger: &'a Logger,
    log: &'a Log,
    permit: RefCell<Permit<'a>>,
    /// In the order of their words, if they are several.
    changes: Vec<Change>,
    frames: RefCell<Vec<(Place<'a>, What)>>,
    /// How many buckets may still be squeezed.
    squeezes: Cell<usize>,
    /// What the metapage took, if it was asked.
    counted: Cell<Option<i64>>,
    lsn: Cell<u64>,
}

impl<'a> Telling<'a> {
    /// Prepares for one of these changes, or for several removes; `squeezes` is how many buckets may be squeezed. Waits for
    /// room in the log; must not be called with a lock held or a place taken.
    pub(crate) fn new(
        logger: &'a Logger,
        mut changes: Vec<Change>,
        squeezes: usize,
    ) -> Result<Self, RedoError> {
        changes.sort_unstable_by_key(|change| change.word);
        let log = logger.log()?;
        let digest = logger.verify.then_some(0);
        let record = |change: &Change| log.frame_len(&change.record(0, Ntuples::Nothing, digest));
        let digests = digest.map(|digest| (digest, digest));
        let move_len = log.frame_len(&Record::Split { from: 0, to: 0, digests });
        let squeeze_len = log.frame_len(&Record::Squeeze { bucket: 0, digest });
        let bytes = changes.iter().map(record).sum::<usize>()
            + log.frame_len(&Record::AddPage { bucket: 0 })
            + MOVES * changes.len().max(1) * move_len
            + squeezes * squeeze_len;
        let permit = RefCell::new(log.permit(bytes)?);
        let frames = RefCell::new(Vec::with_capacity(1 + MOVES + squeezes + changes.len()));
        let squeezes = Cell::new(squeezes);
        let (counted, lsn) = (Cell::new(None), Cell::new(0));
        Ok(Self { logger, log, permit, changes, frames, squeezes, counted, lsn })
    }

    /// Prepares for so many buckets to be cleared, as `new`.
    pub(crate) fn clearing(logger: &'a Logger, buckets: usize) -> Result<Self, RedoError> {
        let log = logger.log()?;
        let digest = logger.verify.then_some(0);
        let clear = Record::Clear { bucket: 0, removed: 0, ntuples: Ntuples::Nothing, digest };
        let merge = Record::Merge { from: 0, to: 0, digest };
        let bytes = buckets * log.frame_len(&clear) + MOST_MERGES * log.frame_len(&merge);
        let permit = RefCell::new(log.permit(bytes)?);
        let frames = RefCell::new(Vec::with_capacity(buckets + MOST_MERGES));
        let (squeezes, counted, lsn) = (Cell::new(0), Cell::new(None), Cell::new(0));
        Ok(Self { logger, log, permit, changes: Vec::new(), frames, squeezes, counted, lsn })
    }

    fn reserve(&self, what: What) {
        let len = self.log.frame_len(&self.record(what, Ntuples::Nothing));
        let place = self.permit.borrow_mut().reserve(len);
        self.frames.borrow_mut().push((place, what));
    }

    fn record(&self, what: What, ntuples: Ntuples) -> Record<'_> {
        match what {
            What::AddPage { bucket } => Record::AddPage { bucket },
            What::Change { bucket, index, digest } => self.changes[index].record(bucket, ntuples, digest),
            What::Split { from, to, digests } => Record::Split { from, to, digests },
            What::Merge { from, to, digest } => Record::Merge { from, to, digest },
            What::Squeeze { bucket, digest } => Record::Squeeze { bucket, digest },
            What::Clear { bucket, removed, digest } => Record::Clear { bucket, removed, ntuples, digest },
        }
    }

    fn digest<'e, K: 'e, V: 'e>(&self, entries: impl Iterator<Item = &'e Row<K, V>>) -> Option<u64> {
        self.logger.verify.then(|| digest_of_all(entries))
    }

    /// Fills the places. The first change carries what the metapage took beyond each one's own.
    fn fill(&self) {
        let mut frames = self.frames.borrow_mut();
        let own: i64 = frames.iter().map(|(_, what)| what.own(&self.changes)).sum();
        let counted = self.counted.take();
        let (first, rest) = match counted {
            None => (Ntuples::Nothing, Ntuples::Nothing),
            Some(n) if n == own => (Ntuples::Itself, Ntuples::Itself),
            // What is beyond a record's number stays uncounted there.
            Some(n) => (i32::try_from(n).map_or(Ntuples::Nothing, Ntuples::By), Ntuples::Nothing),
        };
        let mut scratch = Vec::with_capacity(64);
        let mut ntuples = first;
        for (place, what) in frames.drain(..) {
            let record = match what {
                What::Change { .. } | What::Clear { .. } => {
                    self.record(what, core::mem::replace(&mut ntuples, rest))
                }
                _ => self.record(what, Ntuples::Nothing),
            };
            self.lsn.set(self.lsn.get().max(place.end()));
            place.fill(&record, &mut scratch);
        }
    }

    /// Fills the places and waits as the map's durability asks for.
    pub(crate) fn finish(self) -> Result<(), RedoError> {
        let logger = self.logger;
        logger.settle(self.fill_all())
    }

    /// Fills the places. Returns the position after the last, or 0.
    pub(crate) fn fill_all(self) -> u64 {
        self.fill();
        self.lsn.get()
    }
}

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        self.fill();
    }
}

impl<K, V> Observer<Row<K, V>> for Telling<'_> {
    fn changed<'e>(&self, bucket: u32, added_page: bool, entries: impl Iterator<Item = &'e Row<K, V>>)
    where
        Row<K, V>: 'e,
    {
        if added_page {
            self.reserve(What::AddPage { bucket });
        }
        self.reserve(What::Change { bucket, index: 0, digest: self.digest(entries) });
    }

    fn split<'e>(
        &self,
        (from, stay): (u32, impl Iterator<Item = &'e Row<K, V>>),
        (to, go): (u32, impl Iterator<Item = &'e Row<K, V>>),
    ) where
        Row<K, V>: 'e,
    {
        let digests = self.logger.verify.then(|| (digest_of_all(stay), digest_of_all(go)));
        self.reserve(What::Split { from, to, digests });
    }

    fn merged<'e>(&self, from: u32, (to, entries): (u32, impl Iterator<Item = &'e Row<K, V>>))
    where
        Row<K, V>: 'e,
    {
        self.reserve(What::Merge { from, to, digest: self.digest(entries) });
    }

    fn removed(&self, bucket: u32, word: SlotWord) {
        if let Ok(index) = self.changes.binary_search_by_key(&word, |change| change.word) {
            self.reserve(What::Change { bucket, index, digest: None });
        }
    }

    fn squeezed<'e>(&self, bucket: u32, entries: impl Iterator<Item = &'e Row<K, V>>)
    where
        Row<K, V>: 'e,
    {
        // A bucket that others have changed while it was squeezed may be squeezed again and again: without a record it is
        // longer there than here, and has the same entries.
        if let Some(left) = self.squeezes.get().checked_sub(1) {
            self.squeezes.set(left);
            self.reserve(What::Squeeze { bucket, digest: self.digest(entries) });
        }
    }

    fn cleared<'e>(&self, bucket: u32, removed: usize, entries: impl Iterator<Item = &'e Row<K, V>>)
    where
        Row<K, V>: 'e,
    {
        // There are never more nodes than that.
        self.reserve(What::Clear { bucket, removed: removed as u32, digest: self.digest(entries) });
    }

    fn counted(&self, ntuples: i64) {
        let taken = self.logger.tell(ntuples);
        self.counted.set(Some(self.counted.get().unwrap_or(0) + taken));
    }
}
