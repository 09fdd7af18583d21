//! No memory for an array of buckets, pages or nodes: `build` and `try_reserve` say so, an insert panics, and the map
//! is as it was. (What is small, a list of a few numbers, ends the process as everywhere in std.)
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

use lhash::{ConfigError, CountPolicy, LHashMap, LHashMultiMap, ReserveError};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::thread;

/// Allocations of that size and more can fail, and all that are to be zeroed: those of arrays. (Not the table itself and
/// its counters, which are aligned to a cache line.)
const LARGE: usize = 4096;

thread_local! {
    /// Which of the next large allocations on this thread fails; 0: none.
    static FAILS: Cell<u32> = const { Cell::new(0) };
}

/// The system's allocator, which sometimes has no memory.
struct Scarce;

fn fails(large: bool) -> bool {
    let left = FAILS.get();
    if !large || left == 0 {
        return false;
    }
    FAILS.set(left - 1);
    left == 1
}

// SAFETY: what doesn't fail is passed on as it comes; the count allocates nothing.
unsafe impl GlobalAlloc for Scarce {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if fails(layout.size() >= LARGE && layout.align() <= 16) {
            return null_mut();
        }
        // SAFETY: the caller keeps the same promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the same promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if fails(true) {
            return null_mut();
        }
        // SAFETY: the caller keeps the same promises.
        unsafe { System.alloc_zeroed(layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Scarce = Scarce;

/// Wide, so that even the first arrays of nodes are large.
type Value = [u64; 64];

type Map = LHashMap<u64, Value>;
type Multi = LHashMultiMap<u64, Value>;

/// Lets the n-th large allocation fail in `work`, for every n until none fails; `check` is told how it ended.
fn at_every_allocation<T, R>(
    new: impl Fn() -> T,
    work: impl Fn(&T) -> R,
    check: impl Fn(T, thread::Result<R>, bool),
) -> u32 {
    for n in 1.. {
        let table = new();
        FAILS.set(n);
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&table)));
        let has_failed = FAILS.replace(0) == 0;
        check(table, outcome, has_failed);
        if !has_failed {
            return n - 1;
        }
    }
    unreachable!("the work ends")
}

#[track_caller]
fn is_whole(map: &Map, entries: usize) {
    assert_eq!(map.validate(), Ok(()));
    assert_eq!((map.exact_len(), map.pin().iter().count()), (entries, entries));
    thread::scope(|s| _ = s.spawn(|| _ = map.pin().insert(1 << 40, [7; 64])));
    assert_eq!(map.pin().get(&(1 << 40)), Some(&[7; 64]));
    assert_eq!(map.validate(), Ok(()));
}

#[test]
fn a_map_that_has_no_memory_for_its_buckets_is_not_built() {
    let build = |(): &()| LHashMap::<u64, Value>::builder().capacity(3000).build();
    let failed = at_every_allocation(
        || (),
        build,
        |(), built, has_failed| match built.expect("no panic") {
            Err(error) => assert_eq!((error, has_failed), (ConfigError::OutOfMemory, true)),
            Ok(map) => {
                assert!(!has_failed);
                is_whole(&map, 0);
            }
        },
    );
    assert!(failed > 10, "{failed} segments");
    let build = |(): &()| LHashMultiMap::<u64, Value>::builder().capacity(300).build().is_err();
    assert!(
        at_every_allocation(
            || (),
            build,
            |(), is_err, has_failed| assert_eq!(is_err.expect("no panic"), has_failed)
        ) > 3
    );
}

/// A map with so many entries; its buckets are full, so that a split needs overflow pages.
fn filled(entries: u64) -> Map {
    let map = LHashMap::builder().fill_factor(20).count_policy(CountPolicy::Exact).build().expect("valid");
    (0..entries).for_each(|n| _ = map.pin().insert(n, [n; 64]));
    map
}

#[test]
fn a_reservation_that_finds_no_memory_is_an_error_and_takes_nothing_away() {
    const ENTRIES: usize = 500;
    let failed = at_every_allocation(
        || filled(ENTRIES as u64),
        |map| map.pin().try_reserve(20_000),
        |map, reserved, has_failed| {
            let expected = if has_failed { Err(ReserveError { additional: 20_000 }) } else { Ok(()) };
            assert_eq!(reserved.expect("no panic"), expected);
            is_whole(&map, ENTRIES);
            assert_eq!(map.pin().try_reserve(20_000), Ok(()), "there is memory again");
            assert!((0..ENTRIES as u64).all(|n| map.pin().get(&n) == Some(&[n; 64])));
            assert_eq!(map.validate(), Ok(()));
        },
    );
    assert!(failed > 10, "{failed} arrays");
}

/// Whether an insert panicked with the right words.
#[track_caller]
fn says_why<R>(outcome: thread::Result<R>, has_failed: bool) {
    if let Err(panic) = outcome {
        assert!(has_failed, "it panics of itself");
        let why = panic.downcast::<String>().expect("a formatted message");
        assert!(why.contains("out of memory"), "{why}");
    }
}

#[test]
fn an_insert_that_finds_no_memory_panics_and_leaves_the_map_whole() {
    let failed = at_every_allocation(
        || filled(10),
        |map| (10..2000).for_each(|n| _ = map.pin().insert(n, [n; 64])),
        |map, inserted, has_failed| {
            says_why(inserted, has_failed);
            // A split that finds no memory is given up, and the insert goes on.
            let entries = map.pin().iter().count();
            assert!((0..entries as u64).all(|n| map.pin().get(&n) == Some(&[n; 64])));
            is_whole(&map, entries);
            (0..2000).for_each(|n| _ = map.pin().insert(n, [n; 64]));
            assert_eq!((map.exact_len(), map.validate()), (2001, Ok(())));
        },
    );
    assert!(failed > 20, "{failed} arrays");
}

#[test]
fn other_operations_that_find_no_memory_panic_and_leave_the_map_whole() {
    type Work = fn(&Map);
    let works: [Work; 5] = [
        |map| (10..300).for_each(|n| _ = map.pin().try_insert(n, [n; 64]).is_ok()),
        |map| (10..300).for_each(|n| _ = map.pin().get_or_insert(n, [n; 64])),
        |map| (0..300).for_each(|n| _ = map.pin().update(n % 10, |old| old.map(|word| word + 1))),
        |map| _ = map.pin().extend((10..300).map(|n| (n, [n; 64]))),
        |map| drop(map.clone()),
    ];
    for work in works {
        let failed = at_every_allocation(
            || filled(10),
            work,
            |map, done, has_failed| {
                says_why(done, has_failed);
                is_whole(&map, map.pin().iter().count());
            },
        );
        assert!(failed > 0);
    }
}

#[test]
fn a_multimap_that_finds_no_memory_panics_and_is_left_whole() {
    let failed = at_every_allocation(
        || Multi::builder().fill_factor(20).build().expect("valid"),
        |map| (0..1000).for_each(|n| map.pin().insert(n % 9, [n; 64])),
        |map, inserted, has_failed| {
            says_why(inserted, has_failed);
            let entries = map.pin().iter().count();
            assert_eq!((map.exact_len(), map.validate()), (entries, Ok(())));
            let kept = map.pin().vacuum(|_, value| value[0] % 2 == 0).live;
            assert_eq!((map.exact_len() as u64, map.validate()), (kept, Ok(())));
        },
    );
    assert!(failed > 10, "{failed} arrays");
}
