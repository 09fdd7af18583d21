//! The metapage: the count of entries, and the decision to split or merge. Next: `resize.rs`, moves that somebody asked
//! for; `stats.rs`, what is told of it.

use crate::config::Settings;
use crate::observe::Observer;
use crate::policy::{CountPolicy, ShrinkPolicy};
use crate::reclaim::Pin;
use crate::split::{Leftovers, Moved};
use crate::stats::{HighCount, RelaxedCount};
use crate::table::Table;
use crate::tally::{Met, Tally};
use core::cell::RefCell;
use std::collections::HashMap;
use sync::{Absorb, CondGuard, CondLock, ShardedCounter};

/// How many splits or merges one insert or remove does at most: more than one where several are due at once, since
/// others have left their counts pending, or have met a busy bucket. Where nothing is left pending it is one, as in
/// PostgreSQL.
const MOVES: u32 = 4;

/// With `Sharded`, one insert in so many compares the count with the threshold.
const COMPARE_EVERY: u32 = 8;

/// What the metapage's lock covers, beside the geometry.
#[derive(Debug)]
pub(crate) struct Metapage {
    pub(crate) ntuples: i64,
    met: Met,
}

impl Absorb for Metapage {
    fn absorb(&mut self, n: i64) {
        self.ntuples += n;
        self.met.absorb(n);
    }

    fn waited(&mut self) {
        self.met.wait();
    }
}

#[derive(Debug)]
pub(crate) struct Meta {
    pub(crate) settings: Settings,
    page: CondLock<Metapage>,
    /// There shall not be fewer buckets: at least `min_buckets`, and what was reserved.
    floor: RelaxedCount,
    /// The metapage's count, for those who don't hold it.
    pub(crate) published: RelaxedCount,
    pub(crate) shards: Option<ShardedCounter>,
    /// Under which `OverflowSignal` keeps a thread's private count.
    id: u64,
    pub(crate) overflow_pages: HighCount,
    pub(crate) splits: RelaxedCount,
    pub(crate) merges: RelaxedCount,
    pub(crate) split_declined: RelaxedCount,
    pub(crate) tally: Tally,
    pub(crate) flushed: RelaxedCount,
}

thread_local! {
    /// The counts that this thread has told nobody yet, by table. They end with it: that is the prototype's hole.
    static PRIVATE: RefCell<HashMap<u64, i64>> = RefCell::new(HashMap::new());
}

/// Numbers tables for `PRIVATE`.
static TABLES: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(0);

impl Meta {
    /// Of a table that keeps at least `floor` buckets.
    pub(crate) fn new(settings: Settings, floor: u32) -> Self {
        let page = Metapage { ntuples: 0, met: Met::default() };
        let meta = Self {
            settings,
            page: match settings.count_policy {
                CountPolicy::Deferred { cap } => CondLock::new(page, cap),
                CountPolicy::Quiet { cap } => CondLock::quiet(page, cap),
                CountPolicy::Exact | CountPolicy::Sharded | CountPolicy::OverflowSignal => {
                    CondLock::new(page, 0)
                }
            },
            floor: RelaxedCount::default(),
            published: RelaxedCount::default(),
            shards: (settings.count_policy == CountPolicy::Sharded).then(ShardedCounter::new),
            // Relaxed: a number of its own is all that is asked for.
            id: TABLES.fetch_add(1, core::sync::atomic::Ordering::Relaxed),
            overflow_pages: HighCount::default(),
            splits: RelaxedCount::default(),
            merges: RelaxedCount::default(),
            split_declined: RelaxedCount::default(),
            tally: Tally::new(),
            flushed: RelaxedCount::default(),
        };
        meta.set_floor(floor);
        meta
    }

    /// The count without a lock: what the metapage says, and what is pending.
    pub(crate) fn approx(&self) -> i64 {
        match &self.shards {
            Some(shards) => shards.sum(),
            None => self.published.get() + self.page.pending(),
        }
    }

    pub(crate) fn pending(&self) -> i64 {
        self.page.pending()
    }

    pub(crate) fn is_held(&self) -> bool {
        self.page.is_locked()
    }

    /// The most that the metapage's count can lag behind; `None` if there is no bound.
    pub(crate) fn max_lag(&self) -> Option<u64> {
        match self.settings.count_policy {
            CountPolicy::OverflowSignal => None,
            CountPolicy::Sharded => Some(ShardedCounter::MAX_LAG),
            CountPolicy::Exact | CountPolicy::Deferred { .. } | CountPolicy::Quiet { .. } => {
                Some(self.page.max_lag())
            }
        }
    }

    /// Holds the metapage: the geometry stays as it is, and the count is exact but for the operations under way.
    pub(crate) fn hold(&self) -> CondGuard<'_, Metapage> {
        let mut page = self.page.lock();
        page.met = Met::default();
        if let Some(shards) = &self.shards {
            page.ntuples = shards.sum();
        }
        self.published.set(page.ntuples);
        page
    }

    /// From now on there shall not be fewer buckets than that, nor than `min_buckets`.
    pub(crate) fn set_floor(&self, buckets: u32) {
        self.floor.set(i64::from(buckets.max(self.settings.min_buckets)));
    }

    fn moves(&self) -> u32 {
        match self.settings.count_policy {
            CountPolicy::Exact | CountPolicy::OverflowSignal => 1,
            _ => MOVES,
        }
    }

    /// For the holder of the metapage: there shall not be fewer buckets than that either.
    pub(crate) fn raise_floor(&self, buckets: u32) {
        self.floor.set(self.floor.get().max(i64::from(buckets)));
    }

    pub(crate) fn floor(&self) -> u32 {
        self.floor.get() as u32
    }

    /// What a private count comes to with `n`; takes it if it shall be told.
    pub(crate) fn private(&self, n: i64, tell: bool) -> i64 {
        let count = PRIVATE.try_with(|counts| {
            let mut counts = counts.borrow_mut();
            let count = counts.entry(self.id).or_insert(0);
            *count += n;
            let count = *count;
            if tell {
                counts.remove(&self.id);
            }
            count
        });
        // While thread-locals are torn down, nothing can be kept.
        count.unwrap_or(n)
    }
}

impl<T: Send + 'static, const N: usize> Table<T, N> {
    /// Counts an insert (`1`) or a remove (`-1`), and splits or merges if that is due. Must not be called with a
    /// lock held. `signal` is whether the insert took another overflow page.
    #[inline]
    pub(crate) fn count(&self, n: i32, signal: bool, hash: u32, observer: &impl Observer<T>, pin: &Pin) {
        let meta = &*self.meta;
        if signal {
            meta.flushed.add(1);
        }
        let left = match (&meta.settings.count_policy, &meta.shards) {
            (CountPolicy::OverflowSignal, _) => {
                let told = meta.private(i64::from(n), signal);
                if !signal {
                    return;
                }
                meta.tally.note_force(|| meta.page.is_locked());
                meta.page.force(0, |page| {
                    page.ntuples += told;
                    self.adjust(n, page, observer, pin)
                })
            }
            (_, Some(shards)) => {
                shards.add(i64::from(n));
                // Not the bits that choose the bucket, nor those that choose between two.
                if !signal && (hash >> 29) % COMPARE_EVERY != 0 {
                    return;
                }
                match meta.page.update(0, |page| {
                    page.ntuples = shards.sum();
                    self.adjust(n, page, observer, pin)
                }) {
                    Some(left) => left,
                    None => return,
                }
            }
            _ if signal => {
                meta.tally.note_force(|| meta.page.is_locked());
                meta.page.force(n, |page| self.adjust(n, page, observer, pin))
            }
            _ => match meta.page.update(n, |page| self.adjust(n, page, observer, pin)) {
                Some(left) => left,
                None => return meta.tally.note_deferral(),
            },
        };
        self.retire_pages(left, pin);
    }

    pub(crate) fn retire_pages(&self, left: Leftovers, pin: &Pin) {
        for page in left {
            self.retire_page(Some(page), pin);
        }
    }

    /// For a table that is rebuilt from a log, of an insert (`1`) or a remove (`-1`): what the metapage took. Returns how
    /// many entries that leaves uncounted.
    #[cfg(feature = "redo")]
    pub(crate) fn redo_count(&self, own: i64, counted: i64) -> i64 {
        let meta = &*self.meta;
        if let Some(shards) = &meta.shards {
            shards.add(own);
            return 0;
        }
        if counted != 0 {
            meta.page.force(0, |page| {
                page.ntuples += counted;
                meta.published.set(page.ntuples);
            });
        }
        match meta.settings.count_policy {
            CountPolicy::OverflowSignal => 0,
            _ => own - counted,
        }
    }

    /// At the end of such a log: counts what no record has counted. Returns the metapage's count.
    #[cfg(feature = "redo")]
    pub(crate) fn redo_rest(&self, uncounted: i64) -> i64 {
        let mut page = self.meta.hold();
        page.ntuples += uncounted;
        self.meta.published.set(page.ntuples);
        page.ntuples
    }

    /// Splits, or after a remove merges, as the count demands. For the holder of the metapage. Returns pages to retire
    /// when no lock is held.
    #[inline]
    fn adjust(&self, n: i32, page: &mut Metapage, observer: &impl Observer<T>, pin: &Pin) -> Leftovers {
        let (meta, ntuples) = (&*self.meta, page.ntuples);
        meta.published.set(ntuples);
        observer.counted(ntuples);
        meta.tally.note_hold(core::mem::take(&mut page.met), n);
        let mut left = Leftovers::new();
        if ntuples > self.threshold() {
            self.split_while_due(ntuples, meta.moves(), observer, pin, &mut left);
        } else if n < 0 && ntuples < self.merge_threshold() {
            self.merge_while_due(ntuples, meta.moves(), observer, pin, &mut left);
        }
        left
    }

    /// With more entries than that, a bucket is split.
    pub(crate) fn threshold(&self) -> i64 {
        i64::from(self.meta.settings.fill_factor) * (i64::from(self.geometry().max_bucket()) + 1)
    }

    /// With fewer entries than that, a bucket is merged.
    pub(crate) fn merge_threshold(&self) -> i64 {
        let max_bucket = self.geometry().max_bucket();
        match self.meta.settings.shrink {
            ShrinkPolicy::Below { percent } if max_bucket >= self.meta.floor() => {
                i64::from(self.meta.settings.fill_factor) * i64::from(max_bucket) * i64::from(percent) / 100
            }
            _ => i64::MIN,
        }
    }

    #[cold]
    fn split_while_due(
        &self,
        ntuples: i64,
        most: u32,
        observer: &impl Observer<T>,
        pin: &Pin,
        left: &mut Leftovers,
    ) {
        for _ in 0..most {
            match self.split(observer, pin, left) {
                Moved::Done if ntuples > self.threshold() => {}
                Moved::Done | Moved::AtLimit => return,
                Moved::Busy | Moved::OutOfMemory => return self.meta.split_declined.add(1),
            }
        }
    }

    #[cold]
    fn merge_while_due(
        &self,
        ntuples: i64,
        most: u32,
        observer: &impl Observer<T>,
        pin: &Pin,
        left: &mut Leftovers,
    ) {
        for _ in 0..most {
            match self.merge(self.meta.floor(), observer, pin, left) {
                Moved::Done if ntuples < self.merge_threshold() => {}
                _ => return,
            }
        }
    }
}
