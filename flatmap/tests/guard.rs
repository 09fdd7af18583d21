//! What is handed out: the guard of a partition, pins, and which threads may have what.
#![cfg(not(all(loom, feature = "loom")))]

mod common;

use common::{IDENTITY, Masked, validate};
use flatmap::{FlatMap, InsertError, Iter, PartitionGuard, PinWord, Pinned};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

type Table = FlatMap<u64, Masked>;

/// Key k belongs to partition k % 4.
fn numbers(slots: u32) -> Table {
    FlatMap::builder().slots(slots).buckets(8).partitions(4).hasher(IDENTITY).build().expect("valid")
}

#[test]
fn a_guard_does_several_steps_under_one_hold() {
    let table = numbers(4);
    let mut guard = table.partition(&5);
    assert_eq!((guard.index(), guard.len(), guard.is_empty()), (1, 0, true));
    assert_eq!(guard.get(&5), Ok(None));
    assert_eq!(guard.insert(5, 3), Ok(()));
    assert_eq!(guard.insert(9, 2), Ok(()));
    assert_eq!((guard.len(), guard.is_empty()), (2, false));
    assert_eq!(guard.get(&5), Ok(Some(3)));
    assert_eq!(guard.remove(&5), Ok(Some(3)));
    assert_eq!(guard.remove(&5), Ok(None));
    assert_eq!(format!("{guard:?}"), "PartitionGuard { index: 1, .. }");
    drop(guard);
    assert_eq!((table.get(&5), table.get(&9), table.len()), (None, Some(2), 1));
    validate(&table);
}

#[test]
fn a_guard_refuses_keys_of_other_partitions_before_anything_else() {
    let table = numbers(4);
    table.insert(6, 0).expect("free");
    let mut guard = table.partition(&5);
    let refused = guard.get(&6).expect_err("6 is of partition 2");
    assert_eq!((refused.held, refused.of_key), (1, 2));
    assert_eq!(refused.to_string(), "the key belongs to partition 2, the guard holds partition 1");
    assert_eq!(guard.remove(&6), Err(refused));
    // The slot is out of range, and the key is mapped.
    let error = guard.insert(6, 99).expect_err("6 is of partition 2");
    assert_eq!(error, InsertError::OtherPartition(refused));
    assert_eq!(error, InsertError::from(refused));
    assert_eq!(error.to_string(), refused.to_string());
    drop(guard);
    assert_eq!(table.get(&6), Some(0));
}

#[test]
fn a_guard_names_the_same_errors_in_the_same_order_as_insert() {
    let table = numbers(2);
    let mut guard = table.partition(&1);
    guard.insert(1, 0).expect("free");
    guard.insert(5, 1).expect("free");
    assert_eq!(guard.insert(1, 2), Err(InsertError::SlotOutOfRange { slot: 2, slots: 2 }));
    assert_eq!(guard.insert(1, 1), Err(InsertError::KeyExists { slot: 0 }));
    assert_eq!(guard.insert(9, 1), Err(InsertError::SlotOccupied { slot: 1 }));
    assert_eq!(guard.len(), 2);
}

#[test]
fn others_look_up_and_change_other_partitions_beside_a_guard() {
    let table = numbers(4);
    let mut guard = table.partition(&1);
    guard.insert(1, 0).expect("free");
    let other = || {
        assert_eq!((table.get(&1), table.get(&5), table.key_of(0)), (Some(0), None, Some(1)));
        table.insert(2, 1).expect("partition 2 is not held");
        assert_eq!(table.remove(&2), Some(1));
        assert_eq!(table.iter().count(), 1);
    };
    thread::scope(|s| s.spawn(other).join()).expect("nothing waits");
    drop(guard);
}

#[test]
fn a_removed_slot_is_free_for_another_partition_while_the_guard_lives() {
    let table = numbers(1);
    table.insert(1, 0).expect("free");
    let mut guard = table.partition(&1);
    guard.remove(&1).expect("its partition");
    thread::scope(|s| s.spawn(|| table.insert(2, 0)).join()).expect("no panic").expect("free");
    assert_eq!(guard.insert(1, 0), Err(InsertError::SlotOccupied { slot: 0 }));
    drop(guard);
    validate(&table);
}

#[test]
fn lookups_by_others_go_on_beside_a_forgotten_guard() {
    let table = numbers(4);
    table.insert(1, 0).expect("free");
    let forgetful = || mem::forget(table.partition(&1));
    thread::scope(|s| s.spawn(forgetful).join()).expect("no panic");
    assert_eq!((table.get(&1), table.get(&5), table.key_of(0)), (Some(0), None, Some(1)));
    assert_eq!(table.pin_with(&1, Some), Some((0, 0)));
    assert_eq!(table.iter().collect::<Vec<_>>(), [(0, 1)]);
    table.insert(2, 1).expect("another partition");
    assert_eq!(table.len(), 2);
}

#[test]
fn a_panic_lets_go_of_the_partition() {
    let table = numbers(4);
    let panics = || {
        let mut guard = table.partition(&1);
        guard.insert(1, 0).expect("free");
        panic!("on purpose");
    };
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    table.insert(5, 1).expect("the same partition is free again");
    assert_eq!(table.get(&1), Some(0));
    validate(&table);
}

#[cfg(debug_assertions)]
mod re_entry {
    use super::*;

    #[track_caller]
    fn panics<R>(use_of_the_table: impl FnOnce() -> R) {
        let panic = catch_unwind(AssertUnwindSafe(use_of_the_table)).err().expect("a panic");
        let message = panic.downcast_ref::<String>().expect("a formatted message");
        assert!(message.contains("use of a FlatMap beside a PartitionGuard of it"), "{message}");
    }

    #[test]
    fn using_the_table_beside_a_guard_panics_instead_of_hanging() {
        let table = numbers(4);
        table.insert(1, 0).expect("free");
        let guard = table.partition(&1);
        panics(|| table.get(&1));
        panics(|| table.get(&2));
        panics(|| table.holds(0, &1));
        panics(|| table.key_of(0));
        panics(|| table.iter().count());
        panics(|| table.insert(2, 1));
        panics(|| table.insert(2, 99));
        panics(|| table.remove(&2));
        panics(|| table.remove_if(&2, 1));
        panics(|| table.remove_slot(0));
        panics(|| table.pin_with(&1, Some));
        panics(|| table.partition(&2).len());
        panics(|| table.partition(&1).len());
        drop(guard);
        assert_eq!((table.get(&1), table.len()), (Some(0), 1));
        table.insert(5, 1).expect("the partition is free");
    }

    #[test]
    fn resizing_the_table_beside_a_guard_panics_and_changes_nothing() {
        let table: FlatMap<u64> = FlatMap::builder().slots(8).max_slots(64).build().expect("valid");
        let buckets = table.buckets();
        let guard = table.partition(&1);
        panics(|| table.set_buckets(buckets));
        panics(|| table.set_buckets(buckets + 1));
        panics(|| table.set_slots(8));
        panics(|| table.set_slots(64));
        panics(|| table.maintain(0));
        drop(guard);
        assert_eq!((table.slots(), table.buckets(), table.maintain(10)), (8, buckets, Ok(0)));
    }

    #[test]
    fn asking_for_the_key_of_an_empty_slot_beside_a_guard_panics_too() {
        let table = numbers(4);
        let _guard = table.partition(&1);
        panics(|| table.key_of(0));
        panics(|| table.remove_slot(0));
    }

    #[test]
    fn a_guard_of_another_table_is_no_re_entry() {
        let (one, two) = (numbers(4), numbers(4));
        let mut guard = one.partition(&1);
        two.insert(1, 2).expect("free");
        let mut other = two.partition(&1);
        guard.insert(1, 0).expect("free");
        other.remove(&1).expect("its partition");
        drop(guard);
        assert_eq!(one.get(&1), Some(0));
        panics(|| two.get(&1));
        drop(other);
        assert_eq!(two.get(&1), None);
    }

    #[test]
    fn sizes_and_counts_may_be_read_beside_a_guard() {
        let table = numbers(4);
        let mut guard = table.partition(&1);
        guard.insert(1, 0).expect("free");
        assert_eq!((table.len(), table.is_empty(), table.slots()), (1, false, 4));
        assert_eq!(table.stats().fallbacks, 0);
        assert!(format!("{table:?}").contains("len: 1"));
    }
}

#[test]
fn a_pin_word_counts_pins_and_refuses_them_while_it_evicts() {
    let word = PinWord::new();
    assert_eq!((word.pins(), word.is_evicting()), (0, false));
    let one = word.pin().expect("not evicting");
    let two = word.pin().expect("pins are shared");
    assert!(word.try_pin());
    assert_eq!(word.pins(), 3);
    assert!(!word.try_evict());
    drop(one);
    word.unpin();
    assert!(!word.try_evict());
    drop(two);
    assert!(word.try_evict());
    assert_eq!((word.pins(), word.is_evicting()), (0, true));
    assert!(!word.try_evict(), "once is enough");
    assert!(word.pin().is_none());
    assert!(!word.try_pin());
    word.finish();
    assert!(word.pin().is_some());
    assert_eq!(format!("{word:?}"), "PinWord { pins: 0, evicting: false }");
    assert_eq!(format!("{:?}", PinWord::default()), format!("{word:?}"));
    assert_eq!(size_of::<PinWord>(), 4);
}

#[track_caller]
fn panics_with(message: &str, misuse: impl FnOnce()) {
    let panic = catch_unwind(AssertUnwindSafe(misuse)).expect_err("a panic");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&message));
}

#[test]
fn misuse_of_a_pin_word_panics_and_changes_nothing() {
    let word = PinWord::new();
    panics_with("unpin of a slot that has no pins", || word.unpin());
    panics_with("finish of an eviction that was not begun", || word.finish());
    assert_eq!((word.pins(), word.is_evicting()), (0, false));
    assert!(word.try_evict());
    panics_with("unpin of a slot that has no pins", || word.unpin());
    assert_eq!((word.pins(), word.is_evicting()), (0, true));
    word.finish();
    panics_with("finish of an eviction that was not begun", || word.finish());
    let pin = word.pin();
    panics_with("finish of an eviction that was not begun", || word.finish());
    assert_eq!((word.pins(), word.is_evicting()), (1, false));
    drop(pin);
}

#[test]
fn a_forgotten_pin_keeps_its_slot() {
    let word = PinWord::new();
    mem::forget(word.pin());
    assert!(!word.try_evict());
    assert_eq!(word.pins(), 1);
}

/// Whether a type has a trait, asked in a way that compiles either way: the constant of the type itself wins
/// if its bound holds, that of the trait stands in otherwise.
macro_rules! has_trait {
    ($bound:path, $type:ty) => {{
        struct Probe<T: ?Sized>(std::marker::PhantomData<T>);
        #[allow(dead_code, reason = "unused when the bound holds")]
        trait Otherwise {
            const HOLDS: bool = false;
        }
        impl<T: ?Sized> Otherwise for Probe<T> {}
        #[allow(dead_code, reason = "unused when the bound does not hold")]
        impl<T: ?Sized + $bound> Probe<T> {
            const HOLDS: bool = true;
        }
        <Probe<$type>>::HOLDS
    }};
}

#[test]
fn tables_pins_and_iterators_are_for_all_threads_and_guards_for_one() {
    assert!(has_trait!(Send, Table) && has_trait!(Sync, Table));
    assert!(has_trait!(Send, FlatMap<[u32; 5]>) && has_trait!(Sync, FlatMap<[u32; 5]>));
    assert!(!has_trait!(Sync, FlatMap<u64, std::cell::Cell<u8>>), "threads share the hasher");
    assert!(!has_trait!(Send, FlatMap<u64, std::rc::Rc<u8>>));
    assert!(has_trait!(Send, PinWord) && has_trait!(Sync, PinWord));
    assert!(has_trait!(Send, Pinned<'static>) && has_trait!(Send, Iter<'static, u64, Masked>));
    assert!(!has_trait!(Send, PartitionGuard<'static, u64, Masked>));
}

#[test]
fn a_table_is_not_copied_by_accident() {
    assert!(!has_trait!(Clone, Table) && !has_trait!(Copy, Table));
    assert!(!has_trait!(Clone, PinWord) && !has_trait!(Clone, Pinned<'static>));
    assert!(has_trait!(Clone, flatmap::Stats), "the probe itself works");
}
