//! Keys as words: a racing key is read and written word by word, each an atomic.

use bytemuck::{AnyBitPattern, NoUninit, Pod, Zeroable};
use core::hash::{Hash, Hasher};

/// What a [`FlatMap`](crate::FlatMap) can have as its key: plain data without padding.
///
/// Two keys are equal when their bytes are; `Hash` must agree with that, and must not panic for any bytes: it may
/// be asked about a mix of two keys. Every type that meets the bounds is a key.
///
/// With the crate `bytemuck` (1.25, features `derive`) a type of yours is one:
///
/// ```
/// use bytemuck::{Pod, Zeroable};
///
/// #[derive(Clone, Copy, PartialEq, Eq, Hash, Pod, Zeroable)]
/// #[repr(C)] // and no padding: a `u32` beside a `u64` would need some
/// struct PageId {
///     file: u32,
///     page: u32,
/// }
///
/// let table = flatmap::FlatMap::<PageId>::with_slots(8);
/// assert_eq!(table.get(&PageId { file: 1, page: 2 }), None);
///
/// fn is_key<K: flatmap::Key>() {}
/// is_key::<u64>();
/// is_key::<[u16; 3]>();
/// is_key::<flatmap::BufferTag>();
/// ```
pub trait Key: Copy + Hash + NoUninit + AnyBitPattern {}

impl<K: Copy + Hash + NoUninit + AnyBitPattern> Key for K {}

/// The part of a key that shares a word with the entry's `next`.
const FIRST_BYTES: usize = size_of::<u32>();

/// How many double words a key fills beside its first word; the last one is padded with zeros.
pub(crate) const fn rest_words<K>() -> usize {
    size_of::<K>().saturating_sub(FIRST_BYTES).div_ceil(size_of::<u64>())
}

/// The first word of `key`.
#[inline]
pub(crate) fn first<K: Key>(key: &K) -> u32 {
    let bytes = bytemuck::bytes_of(key);
    let mut word = [0; FIRST_BYTES];
    let length = bytes.len().min(FIRST_BYTES);
    word[..length].copy_from_slice(&bytes[..length]);
    u32::from_ne_bytes(word)
}

/// The double words of `key` after its first word.
#[inline]
pub(crate) fn rest<K: Key>(key: &K) -> impl Iterator<Item = u64> + '_ {
    let bytes = bytemuck::bytes_of(key);
    bytes[bytes.len().min(FIRST_BYTES)..].chunks(size_of::<u64>()).map(|bytes| {
        let mut word = [0; size_of::<u64>()];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_ne_bytes(word)
    })
}

/// The key with these words. Any words make a key, though perhaps not one that was ever stored.
pub(crate) fn from_words<K: Key>(first: u32, rest: impl Iterator<Item = u64>) -> K {
    let mut key = K::zeroed();
    let (head, tail) = bytemuck::bytes_of_mut(&mut key).split_at_mut(size_of::<K>().min(FIRST_BYTES));
    head.copy_from_slice(&first.to_ne_bytes()[..head.len()]);
    for (bytes, word) in tail.chunks_mut(size_of::<u64>()).zip(rest) {
        bytes.copy_from_slice(&word.to_ne_bytes()[..bytes.len()]);
    }
    key
}

/// The identity of a page: PostgreSQL's buffer tag, 20 bytes.
///
/// ```
/// use flatmap::BufferTag;
///
/// let tag = BufferTag { spc_oid: 1663, db_oid: 5, rel_number: 16384, fork_number: 0, block_number: 7 };
/// assert_eq!(size_of_val(&tag), 20);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct BufferTag {
    /// The tablespace.
    pub spc_oid: u32,
    /// The database.
    pub db_oid: u32,
    /// The relation's file number.
    pub rel_number: u32,
    /// The fork: main, free-space map, visibility map, init.
    pub fork_number: u32,
    /// The page's number within the fork.
    pub block_number: u32,
}

impl Hash for BufferTag {
    /// Feeds two double words and one word: half as many steps as field by field.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        state.write_u64(pair(self.spc_oid, self.db_oid));
        state.write_u64(pair(self.rel_number, self.block_number));
        state.write_u32(self.fork_number);
    }
}

#[cfg(test)]
mod tests {
    use super::BufferTag;
    use core::hash::{BuildHasher, BuildHasherDefault};
    use std::collections::HashSet;
    use std::hash::DefaultHasher;

    #[test]
    fn each_field_of_a_tag_counts_in_its_hash_and_so_does_its_place() {
        let tag = |[spc_oid, db_oid, rel_number, fork_number, block_number]: [u32; 5]| BufferTag {
            spc_oid,
            db_oid,
            rel_number,
            fork_number,
            block_number,
        };
        let mut fields = vec![[0; 5], [u32::MAX; 5]];
        for field in 0..5 {
            for bit in 0..32 {
                let only = |at| if at == field { 1 << bit } else { 0 };
                fields.push(core::array::from_fn(only));
                fields.push(core::array::from_fn(|at| !only(at)));
            }
        }
        let hasher = BuildHasherDefault::<DefaultHasher>::new();
        let hashes: HashSet<u64> = fields.iter().map(|&fields| hasher.hash_one(tag(fields))).collect();
        assert_eq!(hashes.len(), fields.len());
    }
}
