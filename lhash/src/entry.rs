//! What a node holds.

/// A key and its value.
#[derive(Debug)]
pub(crate) struct Entry<K, V> {
    pub(crate) key: K,
    pub(crate) value: V,
}

/// The 32 bits of a hash that the table goes by.
#[inline]
pub(crate) const fn fold(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}
