//! Who hears of changes while the buckets concerned are held: the redo log, which takes places for its records then, so that
//! their order is the order of the changes in every bucket. `()` hears nothing and costs nothing.

use crate::word::SlotWord;

/// Hears of a change once it is made and before it is unlocked. Must not wait, allocate or run user code.
/// `entries` are those of the bucket after the change.
#[expect(unused_variables, reason = "the names say what is told")]
pub(crate) trait Observer<T> {
    /// A change of one entry, the one that the caller has told the observer of beforehand. `added_page` is whether it
    /// took another overflow page.
    #[inline]
    fn changed<'e>(&self, bucket: u32, added_page: bool, entries: impl Iterator<Item = &'e T>)
    where
        T: 'e,
    {
    }

    /// Bucket `to` was split off from bucket `from`.
    #[inline]
    fn split<'e>(&self, from: (u32, impl Iterator<Item = &'e T>), to: (u32, impl Iterator<Item = &'e T>))
    where
        T: 'e,
    {
    }

    /// Bucket `from` was merged into bucket `to`.
    #[inline]
    fn merged<'e>(&self, from: u32, to: (u32, impl Iterator<Item = &'e T>))
    where
        T: 'e,
    {
    }

    /// An entry was taken out of a bucket that will be `squeezed`.
    #[inline]
    fn removed(&self, bucket: u32, word: SlotWord) {}

    /// A bucket's chain was squeezed, after all that was `removed` from it.
    #[inline]
    fn squeezed<'e>(&self, bucket: u32, entries: impl Iterator<Item = &'e T>)
    where
        T: 'e,
    {
    }

    /// A bucket was emptied; `entries` are those that went, so many.
    #[cfg(feature = "redo")]
    #[inline]
    fn cleared<'e>(&self, bucket: u32, removed: usize, entries: impl Iterator<Item = &'e T>)
    where
        T: 'e,
    {
    }

    /// The metapage is held, and says so.
    #[inline]
    fn counted(&self, ntuples: i64) {}
}

impl<T> Observer<T> for () {}
