//! A value as racing words: read and written piece by piece, each piece an atomic.

use bytemuck::{AnyBitPattern, NoUninit};
use core::cell::UnsafeCell;
use core::fmt;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// A `T` in atomic words of the largest size that divides its own. A load beside a store may mix two values:
/// every mix is a `T`, but only a caller who validates knows whether it is one that was stored.
#[repr(C, align(8))]
pub struct Words<T>(UnsafeCell<T>);

// SAFETY: all shared access is atomic.
unsafe impl<T: Send> Sync for Words<T> {}

impl<T> Words<T> {
    /// The words of `value`.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// The value, through the exclusive reference.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

/// The atomics of type `$atomic`, each an `$int`, that make up `$words`.
macro_rules! atomics {
    ($words:ident, $atomic:ty, $int:ty) => {
        (0..size_of::<T>() / size_of::<$int>()).map(|at| {
            // SAFETY: word `at` lies within the value.
            let pointer = unsafe { $words.0.get().cast::<$int>().add(at) };
            // SAFETY: the pointer is valid as long as `$words`; it is aligned, since the value is aligned to 8 and
            // the words have one size; and all shared accesses of a `T` use that size.
            unsafe { <$atomic>::from_ptr(pointer) }
        })
    };
}

macro_rules! load {
    ($words:ident, $bytes:ident, $atomic:ty, $int:ty) => {
        for (chunk, word) in $bytes.chunks_exact_mut(size_of::<$int>()).zip(atomics!($words, $atomic, $int)) {
            // Relaxed: the caller's stamp orders it.
            chunk.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
        }
    };
}

macro_rules! store {
    ($words:ident, $bytes:ident, $atomic:ty, $int:ty) => {
        for (chunk, word) in $bytes.chunks_exact(size_of::<$int>()).zip(atomics!($words, $atomic, $int)) {
            let of_value = <$int>::from_ne_bytes(chunk.try_into().expect("chunks of that size"));
            // Relaxed: the caller's stamp orders it.
            word.store(of_value, Ordering::Relaxed);
        }
    };
}

impl<T: NoUninit + AnyBitPattern> Words<T> {
    /// Reads all words, relaxed.
    #[inline]
    pub fn load(&self) -> T {
        let mut value = T::zeroed();
        let bytes = bytemuck::bytes_of_mut(&mut value);
        match size_of::<T>() {
            size if size % 8 == 0 => load!(self, bytes, AtomicU64, u64),
            size if size % 4 == 0 => load!(self, bytes, AtomicU32, u32),
            size if size % 2 == 0 => load!(self, bytes, AtomicU16, u16),
            _ => load!(self, bytes, AtomicU8, u8),
        }
        value
    }

    /// Writes all words, relaxed.
    #[inline]
    pub fn store(&self, value: &T) {
        let bytes = bytemuck::bytes_of(value);
        match size_of::<T>() {
            size if size % 8 == 0 => store!(self, bytes, AtomicU64, u64),
            size if size % 4 == 0 => store!(self, bytes, AtomicU32, u32),
            size if size % 2 == 0 => store!(self, bytes, AtomicU16, u16),
            _ => store!(self, bytes, AtomicU8, u8),
        }
    }
}

impl<T> fmt::Debug for Words<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Words")
    }
}
