//! Iteration. The entries whose hashes agree in the low bits of the table's level at the start are a *family*:
//! whatever splits and merges run, they stay together in a few buckets that hold nothing else, or in one. A family is
//! collected as it is at one moment, bucket by bucket under one geometry, and handed out afterwards.

use crate::addr::Geometry;
use crate::nodes::NodeId;
use crate::page::Page;
use crate::reclaim::Pin;
use crate::table::Table;
use crate::word::SlotWord;

/// How often a bucket or a family is collected in vain before it is locked.
const TRIES: u32 = 4;

/// The families of a table, as its level was at the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Families {
    mask: u32,
    next: Option<u32>,
}

impl Families {
    pub(crate) fn of(geometry: Geometry) -> Self {
        Self { mask: geometry.low_mask(), next: Some(0) }
    }

    pub(crate) fn mask(self) -> u32 {
        self.mask
    }

    /// The buckets of a family under another geometry. If the table has shrunk, it is one, which it shares with others.
    pub(crate) fn buckets(geometry: Geometry, family: u32, mask: u32) -> impl Iterator<Item = u32> {
        let shared = geometry.high_mask() <= mask;
        let first = if shared { geometry.address(family) } else { family };
        let last = if shared { first } else { geometry.max_bucket() };
        // As u64: with all bits in the mask, the step is 2^32.
        (u64::from(first)..=u64::from(last))
            .step_by(mask.min(u32::MAX - 1) as usize + 1)
            .map(|number| number as u32)
    }
}

impl Iterator for Families {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let family = self.next?;
        self.next = (family < self.mask).then(|| family + 1);
        Some(family)
    }
}

impl<T, const N: usize> Table<T, N> {
    /// Appends the family's entries to `words`: each that was there throughout once, each other one at most once.
    pub(crate) fn collect_family(&self, family: u32, mask: u32, words: &mut Vec<SlotWord>, pin: &Pin) {
        let before = words.len();
        for _ in 0..TRIES {
            let geometry = self.geometry();
            if self.collect_under(geometry, family, mask, words, pin) && self.is_still(geometry) {
                return;
            }
            words.truncate(before);
        }
        let _geometry_stays = self.meta.hold();
        let all = self.collect_under(self.geometry(), family, mask, words, pin);
        debug_assert!(all, "the buckets of the present geometry are there");
    }

    fn collect_under(
        &self,
        geometry: Geometry,
        family: u32,
        mask: u32,
        words: &mut Vec<SlotWord>,
        pin: &Pin,
    ) -> bool {
        Families::buckets(geometry, family, mask)
            .all(|number| self.collect_bucket(number, family, mask, words, pin))
    }

    /// Appends a bucket's entries of the family, as they were in one version of it; `false` if there is no such bucket.
    fn collect_bucket(
        &self,
        number: u32,
        family: u32,
        mask: u32,
        words: &mut Vec<SlotWord>,
        pin: &Pin,
    ) -> bool {
        let Some(page) = self.buckets.get(number, pin) else { return false };
        let before = words.len();
        for _ in 0..TRIES {
            let seen = page.control();
            if seen.is_moving() {
                self.wait_for(number, page);
                continue;
            }
            let found = self.slots(page, seen, pin).map(|slot| slot.load());
            words.extend(found.filter(|word| !word.is_empty() && word.hash() & mask == family));
            if seen.is_same_version(page.control_again()) {
                return true;
            }
            words.truncate(before);
        }
        let held = self.hold_page(number, page);
        let found = self.slots(page, held, pin).map(|slot| slot.load());
        words.extend(found.filter(|word| !word.is_empty() && word.hash() & mask == family));
        page.set_control(held.untouched());
        true
    }

    fn hold_page(&self, number: u32, page: &Page<N>) -> crate::word::Control {
        loop {
            let seen = page.control();
            match page.lock(seen) {
                Some(held) => return held,
                None if seen.is_locked() => self.wait_for(number, page),
                None => {}
            }
        }
    }

    /// The words of a hash's entries, as they were at one moment.
    pub(crate) fn collect_hash(&self, hash: u32, words: &mut Vec<SlotWord>, pin: &Pin) {
        self.collect_family(hash, u32::MAX, words, pin);
    }
}

/// The entries of a table, family by family.
pub(crate) struct Entries<'p, T, const N: usize> {
    table: &'p Table<T, N>,
    pin: &'p Pin,
    families: Families,
    words: Vec<SlotWord>,
}

impl<'p, T, const N: usize> Entries<'p, T, N> {
    pub(crate) fn new(table: &'p Table<T, N>, pin: &'p Pin) -> Self {
        Self { table, pin, families: Families::of(table.geometry()), words: Vec::new() }
    }
}

impl<'p, T, const N: usize> Iterator for Entries<'p, T, N> {
    type Item = (SlotWord, &'p T);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((word, node)) = self.words.pop().and_then(|word| Some((word, word.node()?))) {
                return Some((word, self.table.entry(node, self.pin)));
            }
            let family = self.families.next()?;
            self.table.collect_family(family, self.families.mask(), &mut self.words, self.pin);
        }
    }
}

impl<T, const N: usize> Table<T, N> {
    /// The entry of a node that was collected under the pin.
    pub(crate) fn entry<'p>(&'p self, node: NodeId, pin: &'p Pin) -> &'p T {
        // SAFETY: it was loaded, with acquire ordering and under the pin, from a slot that linked it.
        unsafe { self.nodes.get(node, pin) }
    }
}
