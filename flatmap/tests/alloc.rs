//! A table allocates when it is built, what `memory_bytes` says but for its arrays where those are mapped, and never
//! again unless it is resized.
#![cfg(not(all(loom, feature = "loom")))]

use flatmap::{BufferTag, FlatMap, Key};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, counting what the calling thread asks of it.
struct Counting;

fn count(calls: usize, bytes: isize) {
    CALLS.set(CALLS.get() + calls);
    BYTES.set(BYTES.get() + bytes);
}

// SAFETY: all calls are passed on as they come; the counters allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as isize);
        // SAFETY: the caller keeps the same promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(0, -(layout.size() as isize));
        // SAFETY: the caller keeps the same promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as isize);
        // SAFETY: the caller keeps the same promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(1, new_size as isize - layout.size() as isize);
        // SAFETY: the caller keeps the same promises.
        unsafe { System.realloc(block, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `work` allocates: calls, and bytes not given back.
fn measure<R>(work: impl FnOnce() -> R) -> (usize, isize, R) {
    let (calls, bytes) = (CALLS.get(), BYTES.get());
    let result = work();
    (CALLS.get() - calls, BYTES.get() - bytes, result)
}

fn use_everything(table: &FlatMap<u64>) {
    for key in 0..200 {
        let slot = key as u32 % 128;
        let _ = table.insert(key, slot);
        table.get(&key);
        table.get(&(key + 1_000));
        table.holds(slot, &key);
        table.key_of(slot);
        assert!(table.pin_with(&key, Some).is_none_or(|(slot, pin)| slot == pin));
    }
    assert_eq!(table.iter().count(), 128);
    let mut guard = table.partition(&3);
    guard.remove(&3).expect("its partition");
    guard.insert(3, 3).expect("free");
    drop(guard);
    assert!(table.remove(&0).is_some());
    assert!(table.remove_if(&1, 1));
    for slot in 2..128 {
        assert!(table.remove_slot(slot).is_some());
    }
    assert!(table.is_empty() && table.stats().retried == 0);
}

#[test]
fn nothing_is_allocated_after_construction() {
    let table = FlatMap::with_slots(128);
    // Debug builds keep a list of held locks for each thread, which grows at its first use.
    use_everything(&table);
    let (calls, bytes, ()) = measure(|| use_everything(&table));
    assert_eq!((calls, bytes), (0, 0));
}

#[test]
fn growing_beforehand_grows_all_that_inserts_need() {
    let builder = FlatMap::<u64>::builder().slots(1).max_slots(2000).partitions(1);
    let table = builder.build().expect("valid");
    table.set_slots(2000).expect("up to the most");
    assert_eq!(table.maintain(u32::MAX), Ok(0));
    table.insert(0, 0).expect("free");
    let (calls, bytes, ()) =
        measure(|| (1..2000).for_each(|slot| table.insert(u64::from(slot), slot).expect("free")));
    assert_eq!((calls, bytes), (0, 0));
}

#[track_caller]
fn weighs_what_it_says<K: Key>(slots: u32, partitions: u32) {
    // Seeds the hashers, once for all.
    drop(FlatMap::<K>::with_slots(1));
    let build = || FlatMap::<K>::builder().slots(slots).partitions(partitions).build();
    let (_, bytes, table) = measure(|| build().expect("valid"));
    let entry = 8 + (size_of::<K>().saturating_sub(4)).next_multiple_of(8);
    let arrays = slots as usize * entry + table.buckets() as usize * 8;
    let allocated = bytes as usize + size_of_val(&table);
    if cfg!(all(unix, target_pointer_width = "64", not(miri))) {
        assert_eq!(table.memory_bytes(), arrays + allocated, "{slots} slots");
    } else {
        assert!((arrays..=allocated).contains(&table.memory_bytes()), "{slots} slots");
    }
    let (_, given_back, ()) = measure(|| drop(table));
    assert_eq!(given_back, -bytes, "{slots} slots");
}

#[test]
fn memory_bytes_is_what_the_system_gave() {
    weighs_what_it_says::<u64>(1, 1);
    weighs_what_it_says::<u64>(1000, 128);
    weighs_what_it_says::<[u8; 3]>(77, 16);
    weighs_what_it_says::<BufferTag>(524_288, 128);
}

#[test]
fn a_build_that_fails_leaves_nothing_behind() {
    let (_, bytes, result) =
        measure(|| FlatMap::<u64>::builder().slots(100).optimistic_tries(0).build().is_err());
    assert!(result);
    assert_eq!(bytes, 0);
}
