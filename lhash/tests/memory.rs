//! Memory comes back. One test, alone in its process: other tests' pins would keep what it waits for.

use lhash::LHashMap;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};

struct Counting;

static HELD: AtomicI64 = AtomicI64::new(0);

// SAFETY: all calls go to the system's allocator; the counter says nothing about them.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn held() -> i64 {
    HELD.load(Ordering::Relaxed)
}

#[test]
fn memory_comes_back_after_removes_and_churn_of_one_key_takes_none() {
    const ENTRIES: u64 = 200_000;
    let before = held();
    let map = LHashMap::new();
    let empty = held() - before;
    assert!(empty < 13_000, "an empty map takes {empty} bytes");
    for _ in 0..2 {
        let mut pin = map.pin();
        for key in 0..ENTRIES {
            pin.insert(key, key);
        }
        let full = held() - before;
        assert!(full < 45 * ENTRIES as i64, "{} bytes an entry", full as u64 / ENTRIES);
        for key in 0..ENTRIES {
            pin.remove(&key);
            if key % 1000 == 0 {
                pin.repin();
            }
        }
        pin.shrink_to_fit();
        drop(pin);
        let left = held() - before;
        assert!(left < full / 10, "{left} bytes of {full} are left");
    }

    // One live key.
    let churn = |rounds: u32| {
        for round in 0..rounds {
            let pin = map.pin();
            pin.insert(7, u64::from(round));
            pin.remove(&7);
        }
    };
    churn(100_000);
    let (held_before, pages) = (held(), map.stats().overflow_pages);
    let rounds = if std::env::var_os("LHASH_LONG").is_some() { 100_000_000 } else { 1_000_000 };
    churn(rounds);
    let grown = held() - held_before;
    assert!(grown < 20_000, "{grown} bytes more after {rounds} rounds");
    assert_eq!((map.len(), map.stats().overflow_pages), (0, pages));
    assert_eq!(map.stats().max_bucket, 3);
}
