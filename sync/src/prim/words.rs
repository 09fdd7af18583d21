//! A value as racing words: read and written piece by piece, each piece an atomic.

use bytemuck::{AnyBitPattern, NoUninit};
use core::cell::UnsafeCell;
use core::fmt;
use core::mem::MaybeUninit;
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
            #[cfg(all(shuttle, feature = "shuttle"))]
            super::before_a_word();
            // SAFETY: word `at` lies within the value.
            let pointer = unsafe { $words.0.get().cast::<$int>().add(at) };
            // SAFETY: the pointer is valid as long as `$words`; it is aligned, since the value is aligned to 8 and
            // the words have one size; and all shared accesses of a `T` use that size.
            unsafe { <$atomic>::from_ptr(pointer) }
        })
    };
}

impl<T: NoUninit + AnyBitPattern> Words<T> {
    /// Reads all words, relaxed.
    #[inline]
    pub fn load(&self) -> T {
        let mut value = MaybeUninit::<T>::uninit();
        let to = value.as_mut_ptr();
        macro_rules! load {
            ($atomic:ty, $int:ty) => {
                for (at, word) in atomics!(self, $atomic, $int).enumerate() {
                    // Relaxed: the caller's stamp orders it.
                    let of_value = word.load(Ordering::Relaxed);
                    // SAFETY: word `at` lies within the value, which may be aligned to less.
                    unsafe { to.cast::<$int>().add(at).write_unaligned(of_value) };
                }
            };
        }
        match size_of::<T>() {
            size if size % 8 == 0 => load!(AtomicU64, u64),
            size if size % 4 == 0 => load!(AtomicU32, u32),
            size if size % 2 == 0 => load!(AtomicU16, u16),
            _ => load!(AtomicU8, u8),
        }
        // SAFETY: every byte was written, and any bytes are a `T`.
        unsafe { value.assume_init() }
    }

    /// Writes all words, relaxed.
    #[inline]
    pub fn store(&self, value: &T) {
        let from = core::ptr::from_ref(value);
        macro_rules! store {
            ($atomic:ty, $int:ty) => {
                for (at, word) in atomics!(self, $atomic, $int).enumerate() {
                    // SAFETY: word `at` lies within the value, which has no padding and may be aligned to less.
                    let of_value = unsafe { from.cast::<$int>().add(at).read_unaligned() };
                    // Relaxed: the caller's stamp orders it.
                    word.store(of_value, Ordering::Relaxed);
                }
            };
        }
        match size_of::<T>() {
            size if size % 8 == 0 => store!(AtomicU64, u64),
            size if size % 4 == 0 => store!(AtomicU32, u32),
            size if size % 2 == 0 => store!(AtomicU16, u16),
            _ => store!(AtomicU8, u8),
        }
    }
}

impl<T> fmt::Debug for Words<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Words")
    }
}
