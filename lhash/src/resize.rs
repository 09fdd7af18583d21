//! Splits and merges that somebody asked for, with the metapage held.

use crate::config::CountPolicy;
use crate::observe::Observer;
use crate::reclaim::Pin;
use crate::split::{Leftovers, Moved};
use crate::table::Table;

impl<T: Send + 'static, const N: usize> Table<T, N> {
    /// The exact count, but for the operations under way; does all splits that are due.
    pub(crate) fn exact(&self, observer: &impl Observer<T>, pin: &Pin) -> i64 {
        let mut left = Leftovers::new();
        let page = self.meta.hold();
        let ntuples = page.ntuples;
        observer.counted(ntuples);
        while ntuples > self.threshold() && self.split_patiently(observer, pin, &mut left) {}
        drop(page);
        self.retire_pages(left, pin);
        ntuples
    }

    /// Splits until so many entries fit in, and returns how many buckets that takes; `None` if there is no memory for
    /// them, or if there can't be so many. With `keep`, they stay.
    pub(crate) fn split_for(
        &self,
        entries: usize,
        keep: bool,
        observer: &impl Observer<T>,
        pin: &Pin,
    ) -> Option<u32> {
        let buckets = self.meta.settings.buckets_for(entries)?;
        let mut left = Leftovers::new();
        let page = self.meta.hold();
        let mut grown = true;
        while grown && self.geometry().max_bucket() < buckets.saturating_sub(1) {
            grown = self.split_patiently(observer, pin, &mut left);
        }
        if grown && keep {
            self.meta.raise_floor(buckets);
        }
        drop(page);
        self.retire_pages(left, pin);
        grown.then_some(buckets)
    }

    /// Merges as long as the fill factor allows, whatever was reserved.
    pub(crate) fn merge_all(&self, observer: &impl Observer<T>, pin: &Pin) {
        let mut left = Leftovers::new();
        let page = self.meta.hold();
        let least = self.meta.settings.min_buckets;
        self.meta.set_floor(least);
        loop {
            let fits = i64::from(self.meta.settings.fill_factor) * i64::from(self.geometry().max_bucket());
            if page.ntuples > fits {
                break;
            }
            match self.merge(least, observer, pin, &mut left) {
                Moved::Done => {}
                Moved::Busy => sync::prim::yield_now(),
                Moved::OutOfMemory | Moved::AtLimit => break,
            }
        }
        drop(page);
        self.retire_pages(left, pin);
    }

    /// Waits where a bucket is busy: its holder waits for nothing.
    fn split_patiently(&self, observer: &impl Observer<T>, pin: &Pin, left: &mut Leftovers) -> bool {
        loop {
            match self.split(observer, pin, left) {
                Moved::Done => return true,
                Moved::Busy => sync::prim::yield_now(),
                Moved::OutOfMemory | Moved::AtLimit => return false,
            }
        }
    }

    /// Puts the exact count back: what a vacuum counted, for a policy that may have lost some.
    pub(crate) fn correct_count(&self, live: i64, observer: &impl Observer<T>) {
        if self.meta.settings.count_policy == CountPolicy::OverflowSignal {
            self.meta.private(0, true);
            let mut page = self.meta.hold();
            page.ntuples = live;
            self.meta.published.set(live);
            observer.counted(live);
        }
    }
}
