//! Every constructor and operation with a wrong argument: what its user reads names the field, the value and the bound.
#![cfg(not(all(loom, feature = "loom")))]

use flatmap::{Builder, FlatMap, PinWord};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[track_caller]
fn build(expected: &str, set: impl FnOnce(Builder<u64>) -> Builder<u64>) {
    let error = set(FlatMap::builder()).build().expect_err("the setting is wrong");
    assert_eq!(error.to_string(), expected);
}

#[track_caller]
fn panics(expected: &str, f: impl FnOnce()) {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("the argument is wrong");
    let said =
        payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
    assert_eq!(said, Some(expected));
}

#[test]
fn settings() {
    build("slots is 0; a table has 1 to 1073741822 slots", |b| b.slots(0));
    build("slots is 4294967295; a table has 1 to 1073741822 slots", |b| b.slots(u32::MAX));
    build("max_slots is 9; with 10 slots it must be 10 to 1073741822", |b| b.slots(10).max_slots(9));
    build("partitions is 3; it must be a power of two from 1 to 65536", |b| b.slots(10).partitions(3));
    build("partitions is 0; it must be a power of two from 1 to 65536", |b| b.slots(10).partitions(0));
    build("buckets is 3; with 4 partitions it must be 4 to 2147483648", |b| {
        b.slots(10).partitions(4).buckets(3)
    });
    build("max_buckets is 7; with 8 buckets it must be 8 to 2147483648", |b| {
        b.slots(10).partitions(4).buckets(8).max_buckets(7)
    });
    build("optimistic_tries is 0; a lookup makes at least 1 try", |b| b.slots(10).optimistic_tries(0));
    panics("FlatMap::with_slots: slots is 0; a table has 1 to 1073741822 slots", || {
        drop(FlatMap::<u64>::with_slots(0));
    });
}

#[test]
fn operations() {
    let table: FlatMap<u64> = FlatMap::builder().slots(4).max_slots(8).partitions(2).build().expect("valid");
    table.insert(7, 3).expect("free");
    let insert = |key, slot| table.insert(key, slot).expect_err("wrong").to_string();
    assert_eq!(insert(8, 4), "slot 4 is out of range; the table has slots 0 to 3");
    assert_eq!(insert(7, 1), "the key is mapped already, to slot 3");
    assert_eq!(insert(8, 3), "slot 3 is occupied by another key");
    let set_slots = |slots| table.set_slots(slots).expect_err("wrong").to_string();
    assert_eq!(set_slots(0), "slots is 0; the table was built for 1 to 8 (max_slots)");
    assert_eq!(set_slots(9), "slots is 9; the table was built for 1 to 8 (max_slots)");
    assert_eq!(set_slots(2), "1 of the slots from 2 on are in use; they must be unmapped first");
    let set_buckets = |buckets| table.set_buckets(buckets).expect_err("wrong").to_string();
    assert_eq!(set_buckets(1), "buckets is 1; the table was built for 2 (partitions) to 16 (max_buckets)");
    assert_eq!(set_buckets(17), "buckets is 17; the table was built for 2 (partitions) to 16 (max_buckets)");
    panics("FlatMap::get_many: 2 keys, but room for 1 answers", || table.get_many(&[1, 2], &mut [None]));
    let key_of =
        |partition| (0..).find(|key| table.partition(key).index() == partition).expect("one of many");
    let (here, elsewhere) = (key_of(0), key_of(1));
    let error = table.partition(&here).get(&elsewhere).expect_err("wrong");
    assert_eq!(error.to_string(), "the key belongs to partition 1, the guard holds partition 0");
}

#[test]
fn pins() {
    panics("unpin of a slot that has no pins", || PinWord::new().unpin());
    panics("finish of an eviction that was not begun", || PinWord::new().finish());
}
