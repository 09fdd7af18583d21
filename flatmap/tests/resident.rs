//! What the system says of a table's memory: it is taken when slots are used, and given back when they are taken away.
#![cfg(all(target_os = "linux", not(miri), not(all(loom, feature = "loom"))))]

use flatmap::{BufferTag, FlatMap};
use std::fs;

const MIB: usize = 1 << 20;

/// The process's resident memory in bytes.
fn resident() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: usize =
        statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number of pages");
    pages * 4096
}

fn tag(block_number: u32) -> BufferTag {
    BufferTag { block_number, ..BufferTag::default() }
}

/// One test, so that none sees the other's memory.
#[test]
fn the_memory_of_slots_comes_and_goes_with_their_use() {
    memory_is_taken_when_slots_are_used_and_given_back_when_they_are_taken_away();
    a_table_that_asks_for_huge_pages_tells_what_it_got();
}

fn memory_is_taken_when_slots_are_used_and_given_back_when_they_are_taken_away() {
    const MOST: u32 = (1 << 30) - 2;
    const USED: u32 = 400_000;
    let before = resident();
    // A kernel that never overcommits may refuse so many addresses.
    let Ok(table) = FlatMap::<BufferTag>::builder().slots(1000).max_slots(MOST).buckets(USED).build() else {
        return;
    };
    table.set_slots(MOST).expect("up to the most");
    assert!(resident() < before + MIB, "a table that is not used takes no memory");

    for _ in 0..2 {
        let empty = resident();
        table.set_slots(USED).expect("all are free");
        for slot in 0..USED {
            table.insert(tag(slot), slot).expect("free");
        }
        let full = resident();
        assert!(full > empty + 24 * USED as usize * 9 / 10, "{full} bytes, {empty} when empty");
        for slot in 1000..USED {
            table.remove(&tag(slot)).expect("mapped");
        }
        table.set_slots(1000).expect("the others are unmapped");
        let shrunk = resident();
        assert!(shrunk + 24 * USED as usize * 9 / 10 < full, "{shrunk} bytes, {full} when full");
        for slot in 0..1000 {
            assert_eq!((table.get(&tag(slot)), table.key_of(slot)), (Some(slot), Some(tag(slot))));
            table.remove(&tag(slot));
        }
    }
    let stats = table.stats();
    assert_eq!(stats.huge_page_bytes, None, "they were not asked for");
    drop(table);
    // The address sanitizer's own memory stays.
    let is_sanitized = std::env::var_os("ASAN_OPTIONS").is_some();
    assert!(is_sanitized || resident() < before + 4 * MIB, "heads are given back with the table");
}

fn a_table_that_asks_for_huge_pages_tells_what_it_got() {
    let table: FlatMap<u64> = FlatMap::builder().slots(1 << 20).huge_pages(true).build().expect("valid");
    for slot in 0..1 << 20 {
        table.insert(u64::from(slot), slot).expect("free");
    }
    let got = table.stats().huge_page_bytes.expect("Linux tells");
    assert!(got % (2 * MIB as u64) == 0 && got <= table.memory_bytes() as u64, "{got}");
}
