//! The system's allocator, which counts the bytes that are requested while it is asked to.
//!
//! Otherwise it only looks at a flag that nobody writes, so that it does not stand between threads that are timed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

use parking_lot::{Mutex, MutexGuard};

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
static HELD: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);
static TURN: Mutex<()> = Mutex::new(());

/// [`System`], counted. A program installs it with `#[global_allocator]`.
#[derive(Debug)]
pub struct Counting;

impl Counting {
    #[inline]
    fn note(bytes: i64) {
        // Relaxed: a figure, read by the thread that turned the counting on.
        if IS_COUNTING.load(Relaxed) {
            let held = HELD.fetch_add(bytes, Relaxed) + bytes;
            if held > PEAK.load(Relaxed) {
                PEAK.fetch_max(held, Relaxed);
            }
        }
    }
}

// SAFETY: all is done by `System`, and counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::note(layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::note(layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        Self::note(-(layout.size() as i64));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        Self::note(new_size as i64 - layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(block, layout, new_size) }
    }
}

/// While it lives, bytes are counted; there is one at a time.
#[derive(Debug)]
pub struct Count {
    is_installed: bool,
    _turn: MutexGuard<'static, ()>,
}

impl Count {
    /// Begins at 0.
    #[must_use]
    pub fn begin() -> Self {
        let turn = TURN.lock();
        HELD.store(0, Relaxed);
        IS_COUNTING.store(true, Relaxed);
        let probe = black_box(Box::new(0_u64));
        let is_installed = HELD.load(Relaxed) != 0;
        drop(probe);
        HELD.store(0, Relaxed);
        PEAK.store(0, Relaxed);
        Self { is_installed, _turn: turn }
    }

    /// The bytes that were requested since then and not given back; `None` in a program with another allocator.
    #[must_use]
    pub fn held_bytes(&self) -> Option<i64> {
        self.is_installed.then(|| HELD.load(Relaxed))
    }

    /// The most that was held at any time since then; `None` in a program with another allocator.
    #[must_use]
    pub fn peak_bytes(&self) -> Option<i64> {
        self.is_installed.then(|| PEAK.load(Relaxed))
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        IS_COUNTING.store(false, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::{GlobalAlloc, Layout};

    use super::{Count, Counting, HELD, PEAK, Relaxed};

    #[test]
    fn all_that_is_requested_and_given_back_is_counted() {
        let count = Count::begin();
        assert_eq!(count.held_bytes(), None, "tests have the system's allocator");
        let (small, large) = (Layout::new::<[u64; 4]>(), Layout::new::<[u64; 16]>());
        // SAFETY: the layout is not empty.
        let first = unsafe { Counting.alloc_zeroed(small) };
        // SAFETY: as above.
        let second = unsafe { Counting.alloc(small) };
        assert_eq!(HELD.load(Relaxed), 64);
        // SAFETY: it was allocated with that layout, and the new size is not 0.
        let first = unsafe { Counting.realloc(first, small, large.size()) };
        assert_eq!(HELD.load(Relaxed), 128 + 32);
        // SAFETY: it was allocated with that layout.
        unsafe { Counting.dealloc(second, small) };
        // SAFETY: it was reallocated to that layout.
        unsafe { Counting.dealloc(first, large) };
        assert_eq!((HELD.load(Relaxed), PEAK.load(Relaxed)), (0, 160));
    }
}
