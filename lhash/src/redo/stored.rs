//! What a logged map keeps beside a value, and the digest of a bucket. Next: `telling.rs`.

use crate::entry::Entry;
use core::hash::BuildHasher;
use foldhash::fast::FixedState;

/// The hash function of the digests: they are compared between processes, so its seed is part of the format.
const DIGESTS: FixedState = FixedState::with_seed(0x6469_6765_7374_0001);

/// A value, and the digest of its entry as it is in the log.
#[derive(Clone, Debug)]
pub(crate) struct Stored<V> {
    pub(crate) value: V,
    pub(crate) digest: u64,
}

/// An entry of a logged table.
pub(crate) type Row<K, V> = Entry<K, Stored<V>>;

/// The digest of an entry: of its hash, key and value as they are in the log.
pub(crate) fn digest_of(hash: u32, key: &[u8], value: &[u8]) -> u64 {
    DIGESTS.hash_one((hash, key, value))
}

/// The digest of a bucket, in whatever order its entries are.
pub(crate) fn digest_of_all<'e, K: 'e, V: 'e>(entries: impl Iterator<Item = &'e Row<K, V>>) -> u64 {
    entries.fold(0, |sum, entry| sum.wrapping_add(entry.value.digest))
}
