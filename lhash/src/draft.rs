//! Entries that are in a node and not linked yet.

use crate::error::OutOfMemory;
use crate::nodes::NodeId;
use crate::reclaim::Pin;
use crate::table::Table;
use crate::word::SlotWord;
use core::mem::ManuallyDrop;

/// An entry in a node of its own. Dropped with it, unless it is linked or taken out again.
pub(crate) struct Draft<'p, T, const N: usize> {
    table: &'p Table<T, N>,
    pin: &'p Pin,
    node: NodeId,
}

impl<'p, T, const N: usize> Draft<'p, T, N> {
    /// Puts an entry into a node.
    pub(crate) fn new(table: &'p Table<T, N>, entry: T, pin: &'p Pin) -> Result<Self, (OutOfMemory, T)> {
        let node = table.nodes.place(entry, pin)?;
        Ok(Self { table, pin, node })
    }

    /// As `new`, where the caller has no way to tell that there is no memory.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn new_or_panic(table: &'p Table<T, N>, entry: T, pin: &'p Pin) -> Self {
        match Self::new(table, entry, pin) {
            Ok(draft) => draft,
            Err((error, _)) => panic!("{error}"),
        }
    }

    #[inline]
    pub(crate) fn entry(&self) -> &T {
        // SAFETY: the node belongs to the draft.
        unsafe { self.table.nodes.get(self.node, self.pin) }
    }

    #[inline]
    pub(crate) fn word(&self, hash: u32) -> SlotWord {
        SlotWord::new(hash, self.node)
    }

    /// The entry is linked: it belongs to the table.
    #[inline]
    pub(crate) fn linked(self) -> &'p T {
        let draft = ManuallyDrop::new(self);
        // SAFETY: linked just now, under the pin: its cell is not reused as long as the pin lives.
        unsafe { draft.table.nodes.get(draft.node, draft.pin) }
    }

    /// Takes the entry back.
    pub(crate) fn take(self) -> T {
        let draft = ManuallyDrop::new(self);
        // SAFETY: the node belongs to the draft and was never linked.
        unsafe { draft.table.nodes.take(draft.node) }
    }
}

impl<T, const N: usize> Drop for Draft<'_, T, N> {
    fn drop(&mut self) {
        // SAFETY: as in `take`; a draft is dropped once.
        drop(unsafe { self.table.nodes.take(self.node) });
    }
}
