//! What becomes of entries and pages that were taken out; and the table's end.

use crate::family::Families;
use crate::page::PageId;
use crate::reclaim::{Pin, run_deferred};
use crate::table::Table;
use crate::word::SlotWord;
use core::ops::Deref;
use std::sync::{Arc, Weak};

impl<T: Send + 'static, const N: usize> Table<T, N> {
    /// Drops the node of an entry that was unlinked or replaced, once no reader can be there. Runs user code, and
    /// must not be called with a lock held.
    pub(crate) fn retire_word(&self, word: SlotWord, pin: &Pin) {
        if let Some(numbers) = word.node().and_then(|node| self.nodes.retire(node)) {
            self.drop_nodes_later(numbers, pin);
        }
    }

    /// As `retire_word`, for a page.
    pub(crate) fn retire_page(&self, page: Option<PageId>, pin: &Pin) {
        if let Some(numbers) = page.and_then(|page| self.overflow.retire(page)) {
            self.reuse_pages_later(numbers, pin);
        }
    }

    fn drop_nodes_later(&self, numbers: Vec<u32>, pin: &Pin) {
        // SAFETY: they were retired, and this runs when the pins of now are gone.
        self.later(pin, move |table| unsafe { table.nodes.drop_all(&numbers) });
    }

    fn reuse_pages_later(&self, numbers: Vec<u32>, pin: &Pin) {
        self.later(pin, move |table| table.overflow.give_back_all(&numbers));
    }

    fn later(&self, pin: &Pin, f: impl FnOnce(&Self) + Send + 'static) {
        let table = Elsewhere(self.this.clone());
        pin.defer(move || {
            let table = { table }.0.upgrade();
            // If this is the last owner, the table ends here; a panic in a `Drop` is reported and goes no further.
            run_deferred(move || _ = table.inspect(|table| f(table)));
        });
        pin.flush();
    }

    /// Gives back what nobody uses.
    pub(crate) fn trim(&self, pin: &mut Pin) {
        self.drop_nodes_later(self.nodes.take_retired(), pin);
        self.reuse_pages_later(self.overflow.take_retired(), pin);
        pin.let_deferred_run();
        self.nodes.trim(pin);
        self.overflow.trim(pin);
        pin.let_deferred_run();
    }
}

/// A table on its way to another thread, where what was retired is dropped.
struct Elsewhere<T, const N: usize>(Weak<Table<T, N>>);

// SAFETY: there it drops entries that nobody else can see, and perhaps the whole table: `T: Send` allows both. All
// else that it touches is atomics and mutexes.
unsafe impl<T: Send, const N: usize> Send for Elsewhere<T, N> {}

/// A map's hold of its table. All entries that are linked end with it, though another thread that is just dropping what
/// was retired may hold the table a little longer.
#[derive(Debug)]
pub(crate) struct Owner<T, const N: usize> {
    table: Arc<Table<T, N>>,
    /// Unless they were handed out.
    ends_entries: bool,
}

impl<T, const N: usize> Owner<T, N> {
    pub(crate) fn new(table: Arc<Table<T, N>>) -> Self {
        Self { table, ends_entries: core::mem::needs_drop::<T>() }
    }

    /// From now on the caller takes the entries out.
    pub(crate) fn hand_out(&mut self) {
        self.ends_entries = false;
    }
}

impl<T, const N: usize> Deref for Owner<T, N> {
    type Target = Table<T, N>;

    #[inline]
    fn deref(&self) -> &Table<T, N> {
        &self.table
    }
}

impl<T, const N: usize> Drop for Owner<T, N> {
    fn drop(&mut self) {
        if !self.ends_entries {
            return;
        }
        let pin = Pin::new();
        let families = Families::of(self.geometry());
        let (mut words, mut numbers) = (Vec::new(), Vec::new());
        for family in families {
            self.collect_family(family, families.mask(), &mut words, &pin);
            numbers.extend(words.drain(..).filter_map(|word| Some(word.node()?.number())));
        }
        drop(pin);
        // SAFETY: nobody else has the map, so nobody looks at its entries, and each is linked once.
        unsafe { self.nodes.end_all(&numbers) };
    }
}
