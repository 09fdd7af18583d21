//! The walk along a bucket's chain: for lookups, and for the bucket's holder. Next: `nodes.rs`, where an entry lies.

use crate::error::OutOfMemory;
use crate::page::{Page, PageId, Slot};
use crate::reclaim::Pin;
use crate::table::{Hit, Table};
use crate::word::{Control, SlotWord};

/// A page of a chain, and its number unless it is the primary page.
pub(crate) type ChainPage<'p, const N: usize> = (Option<PageId>, &'p Page<N>);

impl<T, const N: usize> Table<T, N> {
    /// Walks the chain for an entry of that hash which the caller says `is` the one.
    #[inline]
    pub(crate) fn find_in<'p>(
        &'p self,
        primary: &'p Page<N>,
        control: Control,
        hash: u32,
        pin: &'p Pin,
        is: &mut impl FnMut(&T) -> bool,
    ) -> Option<Hit<'p, T, N>> {
        let (mut number, mut page) = (None, primary);
        let mut next = control.overflow();
        loop {
            for (slot, word, node) in page.slots_of(hash) {
                // SAFETY: loaded with acquire ordering, under the pin, from a slot that linked it.
                let entry = unsafe { self.nodes.get(node, pin) };
                if is(entry) {
                    return Some(Hit { slot, page: number, word, entry });
                }
            }
            number = Some(next?);
            page = self.overflow.get(next?, pin);
            next = page.link().next();
        }
    }

    /// The pages of a chain.
    pub(crate) fn pages<'p>(
        &'p self,
        primary: &'p Page<N>,
        control: Control,
        pin: &'p Pin,
    ) -> impl Iterator<Item = ChainPage<'p, N>> {
        let first = (None, primary, control.overflow());
        core::iter::successors(Some(first), move |&(_, _, next)| {
            let page = self.overflow.get(next?, pin);
            Some((next, page, page.link().next()))
        })
        .map(|(number, page, _)| (number, page))
    }

    /// The slots of a chain.
    pub(crate) fn slots<'p>(
        &'p self,
        primary: &'p Page<N>,
        control: Control,
        pin: &'p Pin,
    ) -> impl Iterator<Item = &'p Slot> {
        self.pages(primary, control, pin).flat_map(|(_, page)| &page.slots)
    }

    /// For the bucket's holder: the entries of its chain.
    #[inline]
    pub(crate) fn held_entries<'p>(
        &'p self,
        primary: &'p Page<N>,
        held: Control,
        pin: &'p Pin,
    ) -> impl Iterator<Item = &'p T> {
        let words = self.slots(primary, held, pin).map(Slot::load_held);
        words.filter_map(|word| Some(self.entry(word.node()?, pin)))
    }

    /// For the bucket's holder: puts a word into the first slot that is free, if need be on a new page. Returns the
    /// control word that the bucket has then, and whether there is a new page.
    pub(crate) fn add_held(
        &self,
        primary: &Page<N>,
        held: Control,
        word: SlotWord,
        pin: &Pin,
    ) -> Result<(Control, bool), OutOfMemory> {
        let hint = held.overflow().and_then(|first| self.overflow.get(first, pin).link().hint());
        let (mut number, mut page) = match hint {
            Some(hint) => (Some(hint), self.overflow.get(hint, pin)),
            None => (None, primary),
        };
        loop {
            if let Some(slot) = page.slots.iter().find(|slot| slot.load_held().is_empty()) {
                slot.store(word);
                if number != hint {
                    self.set_hint(held, number, pin);
                }
                return Ok((held, false));
            }
            let next = if number.is_none() { held.overflow() } else { page.link().next() };
            let Some(next) = next else { break };
            (number, page) = (Some(next), self.overflow.get(next, pin));
        }
        let fresh = self.overflow.take(pin)?;
        self.overflow.get(fresh, pin).slots[0].store(word);
        let control = self.append_page((number, page), held, fresh);
        self.meta.overflow_pages.add(1);
        if number.is_some() {
            self.set_hint(control, Some(fresh), pin);
        }
        Ok((control, true))
    }

    /// Links `fresh` after the last page of a chain. Returns the bucket's control word.
    pub(crate) fn append_page(&self, last: ChainPage<'_, N>, held: Control, fresh: PageId) -> Control {
        match last {
            (None, _) => held.with_overflow(Some(fresh)),
            (Some(_), page) => {
                page.set_link(page.link().with_next(Some(fresh)));
                held
            }
        }
    }

    /// Notes that all pages before `page` are full; none, that there may be room anywhere.
    pub(crate) fn set_hint(&self, held: Control, page: Option<PageId>, pin: &Pin) {
        if let Some(first) = held.overflow() {
            let first = self.overflow.get(first, pin);
            if first.link().hint() != page {
                first.set_link(first.link().with_hint(page));
            }
        }
    }

    /// For the bucket's holder: a slot of the primary page is free now.
    pub(crate) fn forget_hint(&self, held: Control, pin: &Pin) -> Control {
        self.set_hint(held, None, pin);
        held
    }

    /// For the bucket's holder: a slot of overflow page `number` is free now. Takes the page out of the chain if
    /// nothing is left on it. Returns the bucket's control word.
    pub(crate) fn squeeze_out(
        &self,
        primary: &Page<N>,
        held: Control,
        number: PageId,
        emptied: &mut Option<PageId>,
        pin: &Pin,
    ) -> Control {
        self.set_hint(held, None, pin);
        let page = self.overflow.get(number, pin);
        if page.slots.iter().any(|slot| !slot.load_held().is_empty()) {
            return held;
        }
        let next = page.link().next();
        let before = self.pages(primary, held, pin).take_while(|&(at, _)| at != Some(number)).last();
        let control = match before {
            Some((Some(_), before)) => {
                before.set_link(before.link().with_next(next));
                held
            }
            _ => held.with_overflow(next),
        };
        *emptied = Some(number);
        self.meta.overflow_pages.add(-1);
        control
    }

    /// The entries of a bucket that nobody else changes, with their hashes.
    #[cfg(feature = "redo")]
    pub(crate) fn for_each_at_rest(&self, number: u32, pin: &Pin, mut f: impl FnMut(u32, &T)) {
        let Some(page) = self.buckets.get(number, pin) else { return };
        for slot in self.slots(page, page.control(), pin) {
            let word = slot.load();
            if let Some(node) = word.node() {
                f(word.hash(), self.entry(node, pin));
            }
        }
    }
}
