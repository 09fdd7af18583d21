//! Splits and merges: one bucket at a time, under the metapage's lock, with both buckets held. They move words of
//! slots, look at no entry and call no user code. Next: `meta.rs`, which decides when.
//!
//! Entries are copied first and cleared afterwards, so that a lookup finds each in one place or the other; pages are
//! taken before anything is moved, so that nothing has to be undone.

use crate::addr::{Geometry, parent};
use crate::chain::ChainPage;
use crate::chunks::Segment;
use crate::error::OutOfMemory;
use crate::observe::Observer;
use crate::page::{Page, PageId, Slot};
use crate::reclaim::Pin;
use crate::table::Table;
use crate::word::{Control, SlotWord};

/// What came of a split or a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    Done,
    /// One of the buckets is held by a writer: a later insert or remove asks again.
    Busy,
    OutOfMemory,
    /// There can't be more buckets, or fewer.
    AtLimit,
}

/// Pages that were taken out of chains: to be retired when no lock is held.
pub(crate) type Leftovers = Vec<PageId>;

/// A bucket that this thread holds.
pub(crate) struct Held<'p, const N: usize> {
    page: &'p Page<N>,
    pub(crate) control: Control,
}

impl<const N: usize> Held<'_, N> {
    pub(crate) fn set(&mut self, control: Control) {
        self.control = control;
        self.page.set_control(control);
    }

    pub(crate) fn release(self) {
        self.page.set_control(self.control.changed());
    }

    pub(crate) fn release_untouched(self) {
        self.page.set_control(self.control.untouched());
    }
}

impl<T: 'static, const N: usize> Table<T, N> {
    fn hold<'p>(&'p self, number: u32, pin: &'p Pin) -> Option<Held<'p, N>> {
        let page = self.buckets.get(number, pin)?;
        let control = page.lock(page.control())?;
        Some(Held { page, control })
    }

    /// Holds both or none.
    fn hold_both<'p>(&'p self, a: u32, b: u32, pin: &'p Pin) -> Option<(Held<'p, N>, Held<'p, N>)> {
        let a = self.hold(a, pin)?;
        match self.hold(b, pin) {
            Some(b) => Some((a, b)),
            None => {
                a.release_untouched();
                None
            }
        }
    }

    pub(crate) fn held_slots<'p>(
        &'p self,
        held: &Held<'p, N>,
        pin: &'p Pin,
    ) -> impl Iterator<Item = &'p Slot> {
        self.slots(held.page, held.control, pin)
    }

    /// As many empty pages as that.
    fn spare_pages(&self, count: usize, pin: &Pin) -> Result<Vec<PageId>, OutOfMemory> {
        let mut pages = Vec::new();
        pages.try_reserve_exact(count).map_err(|_| OutOfMemory)?;
        for _ in 0..count {
            match self.overflow.take(pin) {
                Ok(page) => pages.push(page),
                Err(error) => {
                    pages.into_iter().for_each(|page| self.overflow.give_back(page));
                    return Err(error);
                }
            }
        }
        Ok(pages)
    }

    /// Splits the next bucket's parent. For the holder of the metapage.
    pub(crate) fn split(&self, observer: &impl Observer<T>, pin: &Pin, left: &mut Leftovers) -> Moved {
        let geometry = self.geometry();
        let Some(number) = geometry.max_bucket().checked_add(1) else { return Moved::AtLimit };
        if self.buckets.add(Segment::of(number).0).is_err() {
            return Moved::OutOfMemory;
        }
        let Some((from, to)) = self.hold_both(parent(number), number, pin) else { return Moved::Busy };
        let after = geometry.changed_to(number);
        let goes = |word: SlotWord| !word.is_empty() && after.address(word.hash()) == number;
        let count = self.held_slots(&from, pin).filter(|slot| goes(slot.load_held())).count();
        match self.spare_pages(count.saturating_sub(1) / N, pin) {
            Ok(spare) => self.split_held(after, from, to, goes, spare, observer, pin, left),
            Err(OutOfMemory) => {
                from.release_untouched();
                to.release_untouched();
                return Moved::OutOfMemory;
            }
        }
        self.meta.splits.add(1);
        Moved::Done
    }

    #[expect(clippy::too_many_arguments, reason = "the second half of `split`, from where nothing can fail")]
    fn split_held(
        &self,
        after: Geometry,
        mut from: Held<'_, N>,
        mut to: Held<'_, N>,
        goes: impl Fn(SlotWord) -> bool,
        spare: Vec<PageId>,
        observer: &impl Observer<T>,
        pin: &Pin,
        left: &mut Leftovers,
    ) {
        from.set(from.control.moving());
        to.set(to.control.moving());
        self.append_pages(&mut to, spare, pin);
        let moving = self.held_slots(&from, pin).map(Slot::load_held).filter(|&word| goes(word));
        self.fill(&to, moving, pin);
        for slot in self.held_slots(&from, pin) {
            if goes(slot.load_held()) {
                slot.store(SlotWord::EMPTY);
            }
        }
        self.squeeze(&mut from, left, pin);
        self.set_geometry(after);
        let number = after.max_bucket();
        observer.split(
            (parent(number), self.held_entries(from.page, from.control, pin)),
            (number, self.held_entries(to.page, to.control, pin)),
        );
        to.release();
        from.release();
    }

    /// Merges the last bucket into its parent, unless there would be fewer than `min_buckets`. For the holder of the
    /// metapage.
    pub(crate) fn merge(
        &self,
        min_buckets: u32,
        observer: &impl Observer<T>,
        pin: &Pin,
        left: &mut Leftovers,
    ) -> Moved {
        let geometry = self.geometry();
        let number = geometry.max_bucket();
        if number < min_buckets || number == 0 {
            return Moved::AtLimit;
        }
        let Some((from, to)) = self.hold_both(number, parent(number), pin) else { return Moved::Busy };
        let count = self.held_slots(&from, pin).filter(|slot| !slot.load_held().is_empty()).count();
        let room = self.held_slots(&to, pin).filter(|slot| slot.load_held().is_empty()).count();
        match self.spare_pages(count.saturating_sub(room).div_ceil(N), pin) {
            Ok(spare) => {
                self.merge_held(geometry.changed_to(number - 1), from, to, spare, observer, pin, left)
            }
            Err(OutOfMemory) => {
                from.release_untouched();
                to.release_untouched();
                return Moved::OutOfMemory;
            }
        }
        let (segment, offset) = Segment::of(number);
        if offset == 0 {
            self.buckets.retire(segment, pin);
        }
        self.meta.merges.add(1);
        Moved::Done
    }

    #[expect(clippy::too_many_arguments, reason = "the second half of `merge`, from where nothing can fail")]
    fn merge_held(
        &self,
        after: Geometry,
        mut from: Held<'_, N>,
        mut to: Held<'_, N>,
        spare: Vec<PageId>,
        observer: &impl Observer<T>,
        pin: &Pin,
        left: &mut Leftovers,
    ) {
        from.set(from.control.moving());
        to.set(to.control.moving());
        self.append_pages(&mut to, spare, pin);
        self.set_hint(to.control, None, pin);
        let moving = self.held_slots(&from, pin).map(Slot::load_held).filter(|word| !word.is_empty());
        self.fill(&to, moving, pin);
        for slot in self.held_slots(&from, pin) {
            if !slot.load_held().is_empty() {
                slot.store(SlotWord::EMPTY);
            }
        }
        self.set_geometry(after);
        self.cut_after(None, &mut from, left, pin);
        let number = after.max_bucket() + 1;
        observer.merged(number, (parent(number), self.held_entries(to.page, to.control, pin)));
        to.release();
        from.release();
    }

    /// Links empty pages at the end of a chain.
    fn append_pages(&self, held: &mut Held<'_, N>, spare: Vec<PageId>, pin: &Pin) {
        if spare.is_empty() {
            return;
        }
        self.meta.overflow_pages.add(spare.len() as i64);
        let mut last: ChainPage<'_, N> = (None, held.page);
        for page in self.pages(held.page, held.control, pin) {
            last = page;
        }
        for number in spare {
            let control = self.append_page(last, held.control, number);
            if control != held.control {
                held.set(control);
            }
            last = (Some(number), self.overflow.get(number, pin));
        }
    }

    /// Puts words into a chain's free slots, in order.
    fn fill(&self, held: &Held<'_, N>, words: impl Iterator<Item = SlotWord>, pin: &Pin) {
        let mut free = self.held_slots(held, pin).filter(|slot| slot.load_held().is_empty());
        for word in words {
            free.next().expect("there are pages for all").store(word);
        }
    }

    /// Moves the last entries of a chain into the free slots before them, and takes out the pages that are empty then.
    fn squeeze(&self, held: &mut Held<'_, N>, left: &mut Leftovers, pin: &Pin) {
        if held.control.overflow().is_none() {
            return;
        }
        let pages: Vec<ChainPage<'_, N>> = self.pages(held.page, held.control, pin).collect();
        let slot = |index: usize| &pages[index / N].1.slots[index % N];
        let (mut first_free, mut end) = (0, pages.len() * N);
        loop {
            while first_free < end && !slot(first_free).load_held().is_empty() {
                first_free += 1;
            }
            while first_free < end && slot(end - 1).load_held().is_empty() {
                end -= 1;
            }
            if first_free >= end {
                break;
            }
            slot(first_free).store(slot(end - 1).load_held());
            slot(end - 1).store(SlotWord::EMPTY);
        }
        let last = end.saturating_sub(1) / N;
        let keep = pages[last];
        self.set_hint(held.control, None, pin);
        self.cut_after(keep.0, held, left, pin);
    }

    /// Takes the pages after `last`, which are empty, out of a chain.
    pub(crate) fn cut_after(
        &self,
        last: Option<PageId>,
        held: &mut Held<'_, N>,
        left: &mut Leftovers,
        pin: &Pin,
    ) {
        let mut cut: Vec<PageId> =
            self.pages(held.page, held.control, pin).filter_map(|(page, _)| page).collect();
        if let Some(last) = last {
            let kept = cut.iter().position(|&page| page == last).map_or(0, |at| at + 1);
            cut.drain(..kept);
            let page = self.overflow.get(last, pin);
            page.set_link(page.link().with_next(None));
        } else {
            held.control = held.control.with_overflow(None);
        }
        self.meta.overflow_pages.add(-(cut.len() as i64));
        left.append(&mut cut);
    }

    /// Removes the entries whose words are in `dead` (sorted) from a bucket, and squeezes its chain. Waits for the
    /// bucket's holder. Hands the words it removed to `removed`.
    pub(crate) fn remove_and_squeeze(
        &self,
        number: u32,
        dead: &[SlotWord],
        observer: &impl Observer<T>,
        pin: &Pin,
        left: &mut Leftovers,
        mut removed: impl FnMut(SlotWord),
    ) {
        let Some(mut held) = self.hold_waiting(number, pin) else { return };
        let is_dead = |slot: &Slot| dead.binary_search(&slot.load_held()).is_ok();
        let slots = self.held_slots(&held, pin).count();
        let stay = self.held_slots(&held, pin).filter(|slot| !slot.load_held().is_empty() && !is_dead(slot));
        let least = stay.count().div_ceil(N).max(1) * N;
        if slots == least && !self.held_slots(&held, pin).any(is_dead) {
            return held.release_untouched();
        }
        // Already now: without the flag a holder changes one entry (I6), and who collects the bucket relies on it.
        held.set(held.control.moving());
        for slot in self.held_slots(&held, pin) {
            if is_dead(slot) {
                removed(slot.load_held());
                observer.removed(number, slot.load_held());
                slot.store(SlotWord::EMPTY);
            }
        }
        self.squeeze(&mut held, left, pin);
        observer.squeezed(number, self.held_entries(held.page, held.control, pin));
        held.release();
    }

    pub(crate) fn hold_waiting<'p>(&'p self, number: u32, pin: &'p Pin) -> Option<Held<'p, N>> {
        loop {
            let page = self.buckets.get(number, pin)?;
            let seen = page.control();
            match page.lock(seen) {
                Some(control) => return Some(Held { page, control }),
                None if seen.is_locked() => self.wait_for(number, page),
                None => {}
            }
        }
    }
}
