//! Maps that are used while thread-locals are torn down.

use super::Same;
use lhash::{CountPolicy, LHashMap, LHashMultiMap};
use std::cell::RefCell;
use std::sync::Arc;
use std::thread;

/// What a thread-local has, and does when its thread ends.
struct AtTheEnd {
    map: Arc<LHashMap<u64, String, Same>>,
    multi: Arc<LHashMultiMap<u64, String>>,
    thread: u64,
}

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        let (map, multi, key) = (&self.map, &self.multi, 1000 + self.thread);
        map.pin().insert(key, "the end".to_owned());
        assert_eq!(map.get_cloned(&key).as_deref(), Some("the end"));
        assert!(map.pin().remove(&self.thread).is_some());
        (0..200).for_each(|n| _ = map.pin().insert(key + n * 10_000, n.to_string()));
        map.pin().retain(|other, _| *other == key || other % 10_000 != key);
        map.pin().shrink_to_fit();
        multi.pin().insert(1000, "the end".to_owned());
        assert!(multi.pin().count(&1000) > 0);
        multi.pin().insert(self.thread, "gone at once".to_owned());
        assert!(multi.pin().vacuum(|key, _| *key == self.thread).removed == 1);
    }
}

thread_local! {
    static END: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) };
    /// Torn down after the other, or before it: what the table needs must be there in either case.
    static LATER: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) };
}

fn ends_on_many_threads(policy: CountPolicy) {
    const THREADS: u64 = 8;
    let map = LHashMap::builder().count_policy(policy).hasher(Same::default()).build().expect("valid");
    let (map, multi) = (Arc::new(map), Arc::new(LHashMultiMap::new()));
    thread::scope(|s| {
        for thread in 0..THREADS {
            let end = |thread| AtTheEnd { map: Arc::clone(&map), multi: Arc::clone(&multi), thread };
            let (first, second) = (end(thread), end(THREADS + thread));
            s.spawn(move || {
                LATER.set(Some(second));
                let map = LATER.with_borrow(|end| end.as_ref().map(|end| Arc::clone(&end.map)));
                let map = map.expect("it was set");
                map.pin().insert(thread, "at first".to_owned());
                map.pin().insert(THREADS + thread, "at first".to_owned());
                END.set(Some(first));
            });
        }
    });
    // A scope does not wait for the destructors of thread-locals.
    while Arc::strong_count(&map) > 1 || Arc::strong_count(&multi) > 1 {
        thread::yield_now();
    }
    assert_eq!(map.pin().iter().count() as u64, 2 * THREADS);
    assert_eq!((map.validate(), multi.validate()), (Ok(()), Ok(())));
    assert_eq!(multi.pin().count(&1000) as u64, 2 * THREADS);
    if policy != CountPolicy::OverflowSignal {
        assert_eq!(map.exact_len() as u64, 2 * THREADS);
    }
}

#[test]
fn a_map_is_used_while_thread_locals_are_torn_down() {
    for policy in [
        CountPolicy::Exact,
        CountPolicy::Deferred { cap: 4 },
        CountPolicy::Quiet { cap: 4 },
        CountPolicy::Sharded,
        CountPolicy::OverflowSignal,
    ] {
        ends_on_many_threads(policy);
    }
}
