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

/// Runs `$with` for each word of `$self` and the bytes of `$bytes` that belong to it.
macro_rules! each_word {
    ($self:ident, $bytes:expr, $atomic:ty, $int:ty, |$word:ident, $chunk:ident| $with:expr) => {
        for (at, $chunk) in $bytes.enumerate() {
            // SAFETY: chunk `at` lies within the value.
            let pointer = unsafe { $self.0.get().cast::<$int>().add(at) };
            // SAFETY: the pointer is valid as long as `self`; it is aligned, since the value is aligned to 8 and
            // the words have one size; and all shared accesses of a `T` use that size.
            let $word = unsafe { <$atomic>::from_ptr(pointer) };
            $with;
        }
    };
}

impl<T: NoUninit + AnyBitPattern> Words<T> {
    /// Reads all words, relaxed.
    #[inline]
    pub fn load(&self) -> T {
        let mut value = T::zeroed();
        let bytes = bytemuck::bytes_of_mut(&mut value);
        // Relaxed, in all four: the caller's stamp orders them.
        match size_of::<T>() {
            size if size % 8 == 0 => {
                each_word!(self, bytes.chunks_exact_mut(8), AtomicU64, u64, |word, chunk| {
                    chunk.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes())
                })
            }
            size if size % 4 == 0 => {
                each_word!(self, bytes.chunks_exact_mut(4), AtomicU32, u32, |word, chunk| {
                    chunk.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes())
                })
            }
            size if size % 2 == 0 => {
                each_word!(self, bytes.chunks_exact_mut(2), AtomicU16, u16, |word, chunk| {
                    chunk.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes())
                })
            }
            _ => each_word!(self, bytes.iter_mut(), AtomicU8, u8, |word, byte| {
                *byte = word.load(Ordering::Relaxed)
            }),
        }
        value
    }

    /// Writes all words, relaxed.
    #[inline]
    pub fn store(&self, value: &T) {
        let bytes = bytemuck::bytes_of(value);
        // Relaxed, in all four: the caller's stamp orders them.
        match size_of::<T>() {
            size if size % 8 == 0 => {
                each_word!(self, bytes.chunks_exact(8), AtomicU64, u64, |word, chunk| {
                    word.store(u64::from_ne_bytes(chunk.try_into().expect("8 bytes")), Ordering::Relaxed)
                })
            }
            size if size % 4 == 0 => {
                each_word!(self, bytes.chunks_exact(4), AtomicU32, u32, |word, chunk| {
                    word.store(u32::from_ne_bytes(chunk.try_into().expect("4 bytes")), Ordering::Relaxed)
                })
            }
            size if size % 2 == 0 => {
                each_word!(self, bytes.chunks_exact(2), AtomicU16, u16, |word, chunk| {
                    word.store(u16::from_ne_bytes(chunk.try_into().expect("2 bytes")), Ordering::Relaxed)
                })
            }
            _ => each_word!(self, bytes.iter(), AtomicU8, u8, |word, byte| {
                word.store(*byte, Ordering::Relaxed)
            }),
        }
    }
}

impl<T> fmt::Debug for Words<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Words")
    }
}
