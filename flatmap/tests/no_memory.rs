//! No memory for an array: `build` says so and leaves nothing behind. (What is small ends the process, as everywhere in
//! std.)
#![cfg(not(all(loom, feature = "loom")))]

use flatmap::{ConfigError, FlatMap};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;

thread_local! {
    /// Which of the next arrays on this thread finds no memory; 0: none.
    static FAILS: Cell<u32> = const { Cell::new(0) };
    static BYTES: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, which sometimes has no memory for what is to be zeroed: arrays.
struct Scarce;

// SAFETY: what doesn't fail is passed on as it comes; the counts allocate nothing.
unsafe impl GlobalAlloc for Scarce {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get() + layout.size() as isize);
        // SAFETY: the caller keeps the same promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get() - layout.size() as isize);
        // SAFETY: the caller keeps the same promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let left = FAILS.get();
        FAILS.set(left.saturating_sub(1));
        if left == 1 {
            return null_mut();
        }
        BYTES.set(BYTES.get() + layout.size() as isize);
        // SAFETY: the caller keeps the same promises.
        unsafe { System.alloc_zeroed(layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Scarce = Scarce;

/// Where arrays are allocated: each of them in turn finds no memory.
#[cfg(not(all(unix, target_pointer_width = "64", not(miri))))]
#[test]
fn a_table_that_has_no_memory_for_an_array_is_not_built() {
    let build = || FlatMap::<u64>::builder().slots(1000).build();
    drop(build()); // seeds the hashers, once for all
    for n in 1.. {
        let before = BYTES.get();
        FAILS.set(n);
        let built = build();
        if FAILS.replace(0) > 0 {
            assert_eq!(built.expect("nothing fails").validate(), Ok(()));
            assert!(n > 2, "heads and entries are arrays");
            return;
        }
        assert!(matches!(built.expect_err("an array is missing"), ConfigError::OutOfMemory { .. }));
        assert_eq!(BYTES.get(), before, "something is left behind");
    }
}

/// Where arrays are mapped: the process may have only so many addresses, first too few for the heads, then for the entries.
#[cfg(all(unix, target_pointer_width = "64", not(miri)))]
#[test]
fn a_table_that_has_no_memory_for_an_array_is_not_built() {
    const GIB: libc::rlim_t = 1 << 30;
    const SLOTS: u32 = 1 << 27;
    let build = || FlatMap::<u64>::builder().slots(SLOTS).build();
    drop(build()); // seeds the hashers, once for all
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is there to be written.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) }, 0);
    let with_addresses = |bytes| {
        let less = libc::rlimit { rlim_cur: bytes, ..limit };
        // SAFETY: a limit is read; another thread of this process that meets it ends with an error.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const less) }, 0);
        let (before, built) = (BYTES.get(), build());
        // SAFETY: as above.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
        (built, BYTES.get() - before)
    };
    // 2 GiB of heads and 2 GiB of entries.
    for gib in [1, 3] {
        let (built, left) = with_addresses(gib * GIB);
        let bytes = Some(8 * 2 * SLOTS as usize + 16 * SLOTS as usize);
        assert_eq!(built.expect_err("an array is missing"), ConfigError::OutOfMemory { bytes });
        assert_eq!(left, 0, "something is left behind");
    }
    let table = build().expect("no limit");
    table.insert(1, SLOTS - 1).expect("free");
    assert_eq!(table.get(&1), Some(SLOTS - 1));
}
