//! Splits and merges that somebody asked for, with the metapage held; and the removal of many entries at once.

use crate::addr::Geometry;
use crate::observe::Observer;
use crate::policy::CountPolicy;
use crate::reclaim::Pin;
use crate::split::{Leftovers, Moved};
use crate::table::Table;
use crate::word::SlotWord;

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

    /// Whether a vacuum has to put the exact count back.
    pub(crate) fn corrects_count(&self) -> bool {
        self.meta.settings.count_policy == CountPolicy::OverflowSignal
    }

    /// Puts the exact count back: what a vacuum counted, for a policy that may have lost some.
    pub(crate) fn correct_count(&self, live: i64, observer: &impl Observer<T>) {
        if self.corrects_count() {
            self.meta.private(0, true);
            let mut page = self.meta.hold();
            page.ntuples = live;
            self.meta.published.set(live);
            observer.counted(live);
        }
    }

    /// Removes these entries from the buckets that `buckets` names under a geometry, and squeezes those. Returns how many
    /// entries were removed, and how many pages.
    pub(crate) fn remove_words<I: IntoIterator<Item = u32>>(
        &self,
        mut dead: Vec<SlotWord>,
        observer: &impl Observer<T>,
        buckets: impl Fn(Geometry) -> I,
        pin: &Pin,
    ) -> (u64, u64) {
        let (mut removed, mut left) = (Vec::new(), Leftovers::new());
        loop {
            let geometry = self.geometry();
            let address = |word: &SlotWord| geometry.address(word.hash());
            dead.sort_unstable_by_key(|word| (address(word), *word));
            for number in buckets(geometry) {
                let first = dead.partition_point(|word| address(word) < number);
                let end = dead.partition_point(|word| address(word) <= number);
                let dead = &dead[first..end];
                self.remove_and_squeeze(number, dead, observer, pin, &mut left, |word| removed.push(word));
            }
            // Split or merged meanwhile: some of them may be elsewhere.
            if self.is_still(geometry) {
                break;
            }
        }
        let pages = left.len() as u64;
        self.retire_pages(left, pin);
        for &word in &removed {
            self.retire_word(word, pin);
        }
        for &word in &removed {
            self.count(-1, false, word.hash(), observer, pin);
        }
        (removed.len() as u64, pages)
    }
}
