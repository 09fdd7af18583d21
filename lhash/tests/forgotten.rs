//! Pins and iterators that are forgotten. In a program of its own: what is removed after a pin was forgotten is never given
//! back, in any map, also when the pin's thread has ended.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

use lhash::{LHashMap, LHashMultiMap};
use std::mem::forget;
use std::sync::Arc;
use std::thread;

fn on_a_thread_that_forgets<'scope>(work: impl FnOnce() + Send + 'scope) {
    thread::scope(|s| s.spawn(work).join().expect("it does not panic"));
}

#[test]
fn a_forgotten_pin_keeps_a_lock_or_an_entry_from_others() {
    let map: LHashMap<u64, String> = LHashMap::new();
    let multi: LHashMultiMap<u64, String> = LHashMultiMap::new();
    (0..100).for_each(|n| _ = map.pin().insert(n, n.to_string()));
    (0..100).for_each(|n| multi.pin().insert(n % 7, n.to_string()));
    on_a_thread_that_forgets(|| {
        let pin = map.pin();
        let mut iter = pin.iter();
        assert!(pin.get(&5).is_some() && iter.next().is_some());
        forget(iter);
        forget(pin);
        let pin = multi.pin();
        let mut all = pin.get_all(&3);
        assert!(all.next().is_some());
        forget(all);
        forget(pin);
    });
    map.pin().retain(|key, _| key % 2 == 0);
    map.reserve(500);
    map.pin().shrink_to_fit();
    assert_eq!((map.exact_len(), map.validate()), (50, Ok(())));
    assert!(multi.pin().vacuum(|key, _| *key == 3).removed > 0);
    multi.pin().shrink_to_fit();
    assert_eq!((multi.exact_len(), multi.validate()), (86, Ok(())));
}

#[test]
fn a_forgotten_iterator_that_owns_the_entries_keeps_them_and_nothing_else() {
    let map: LHashMap<u64, Arc<()>> = LHashMap::new();
    let value = Arc::new(());
    (0..10).for_each(|n| _ = map.pin().insert(n, Arc::clone(&value)));
    let mut entries = map.into_iter();
    assert!(entries.next().is_some());
    forget(entries);
    assert_eq!(Arc::strong_count(&value), 10, "nine are leaked, as by any iterator that is forgotten");
}
