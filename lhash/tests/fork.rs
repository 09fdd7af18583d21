//! A child after `fork`: if no other thread is in the middle of a call, it has maps of its own, whole and usable.
#![cfg(all(unix, not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle")))))]

#[path = "common/child.rs"]
mod child;

use child::in_a_child;
use lhash::{CountPolicy, LHashMap, LHashMultiMap};

#[test]
fn a_child_has_a_map_of_its_own() {
    let policies = [
        CountPolicy::Exact,
        CountPolicy::Deferred { cap: 8 },
        CountPolicy::Quiet { cap: 8 },
        CountPolicy::Sharded,
        CountPolicy::OverflowSignal,
    ];
    for policy in policies {
        let map: LHashMap<u64, String> = LHashMap::builder().count_policy(policy).build().expect("valid");
        let multi: LHashMultiMap<u64, u64> = LHashMultiMap::new();
        // Another thread has used them, and rests.
        std::thread::scope(|s| {
            s.spawn(|| {
                (0..300).for_each(|n| _ = map.pin().insert(n, n.to_string()));
                (0..300).for_each(|n| multi.pin().insert(n % 7, n));
            });
        });
        let child = || {
            assert_eq!((map.validate(), multi.validate()), (Ok(()), Ok(())));
            assert_eq!(map.get_cloned(&77).as_deref(), Some("77"));
            (0..1000).for_each(|n| _ = map.pin().insert(n, "child".to_owned()));
            map.pin().retain(|key, _| key % 3 == 0);
            map.pin().shrink_to_fit();
            assert_eq!(multi.pin().remove_all(&3), 43);
            std::thread::scope(|s| _ = s.spawn(|| _ = map.pin().insert(1, "its thread".to_owned())));
            assert_eq!((map.validate(), map.pin().iter().count()), (Ok(()), 335));
        };
        assert_eq!(in_a_child(child), 0, "{policy:?}");
        assert_eq!(in_a_child(|| panic!("a child may fail")), 101);
        assert_eq!((map.validate(), map.pin().iter().count()), (Ok(()), 300), "the parent's is as it was");
        assert!(map.pin().values().all(|value| value != "child"));
        assert_eq!(multi.pin().count(&3), 43);
    }
}
