//! Clearing for a logged table: a bucket at a time, each with one record. (A plain table's `clear` removes entry by entry.)
//!
//! There is no moment at which the whole table is held, and none at which all of it is empty, if others write meanwhile. So
//! what is told is a bucket, while it is held: the order of the records is the order in every bucket, as for any change.

use crate::observe::Observer;
use crate::policy::CountPolicy;
use crate::reclaim::Pin;
use crate::split::{Leftovers, Moved};
use crate::table::Table;
use crate::word::SlotWord;

/// So many buckets are merged at most when what was cleared is counted: their records must have room in the log.
pub(crate) const MOST_MERGES: usize = 32;

impl<T: Send + 'static, const N: usize> Table<T, N> {
    /// Empties a bucket, whatever it has. Waits for its holder. Appends the words to `words`: the caller retires them.
    pub(crate) fn clear_bucket(
        &self,
        number: u32,
        observer: &impl Observer<T>,
        pin: &Pin,
        left: &mut Leftovers,
        words: &mut Vec<SlotWord>,
    ) {
        let Some(mut held) = self.hold_waiting(number, pin) else { return };
        let before = words.len();
        words
            .extend(self.held_slots(&held, pin).map(|slot| slot.load_held()).filter(|word| !word.is_empty()));
        let dead = &words[before..];
        if dead.is_empty() {
            return held.release_untouched();
        }
        // Already now: without the flag a holder changes one entry (I6), and who collects the bucket relies on it.
        held.set(held.control.moving());
        for slot in self.held_slots(&held, pin) {
            if !slot.load_held().is_empty() {
                slot.store(SlotWord::EMPTY);
            }
        }
        self.set_hint(held.control, None, pin);
        self.cut_after(None, &mut held, left, pin);
        let entries = dead.iter().filter_map(|word| Some(self.entry(word.node()?, pin)));
        observer.cleared(number, dead.len(), entries);
        held.release();
    }

    /// Counts that so many entries went with their buckets, and merges as that demands. Waits for the metapage; must not be
    /// called with a lock held.
    pub(crate) fn count_cleared(&self, entries: usize, observer: &impl Observer<T>, pin: &Pin) {
        let (meta, entries) = (&*self.meta, entries as i64);
        if meta.settings.count_policy == CountPolicy::OverflowSignal {
            // As a remove: it is told when the thread takes an overflow page.
            meta.private(-entries, false);
            return;
        }
        if let Some(shards) = &meta.shards {
            shards.add(-entries);
        }
        let mut left = Leftovers::new();
        let mut page = meta.hold();
        if meta.shards.is_none() {
            page.ntuples -= entries;
            meta.published.set(page.ntuples);
        }
        observer.counted(page.ntuples);
        for _ in 0..MOST_MERGES {
            if page.ntuples >= self.merge_threshold()
                || self.merge(meta.floor(), observer, pin, &mut left) != Moved::Done
            {
                break;
            }
        }
        drop(page);
        self.retire_pages(left, pin);
    }
}
