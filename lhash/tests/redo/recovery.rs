use crate::{entries, figures};
use lhash::redo::{self, Durability, LoggedMap, LoggedMultiMap, OpenOptions, Options};
use lhash::{Computed, CountPolicy, Operation, ShrinkPolicy};

const POLICIES: [CountPolicy; 5] = [
    CountPolicy::Exact,
    CountPolicy::Deferred { cap: 32 },
    CountPolicy::Quiet { cap: 32 },
    CountPolicy::Sharded,
    CountPolicy::OverflowSignal,
];

#[test]
fn a_map_is_rebuilt_as_it_was() {
    let dir = tempfile::tempdir().expect("a folder");
    for (at, policy) in POLICIES.into_iter().enumerate() {
        let path = dir.path().join(at.to_string());
        let map: LoggedMap<u64, String> =
            Options::new().count_policy(policy).verify(true).create(&path).expect("created");
        {
            let map = map.pin();
            for n in 0..3000 {
                assert_eq!(map.insert(n, n.to_string()).expect("logged"), None);
            }
            for n in (0..3000).step_by(3) {
                assert_eq!(map.remove(&n).expect("logged"), Some(&n.to_string()));
            }
            assert_eq!(map.insert(1, "one".to_owned()).expect("logged"), Some(&"1".to_owned()));
            assert_eq!(map.update(2, |old| old.repeat(3)).expect("logged"), Some(&"222".to_owned()));
            let step = map.compute(4, |_| Operation::Remove).expect("logged");
            assert_eq!(step, Computed::Removed(&"4".to_owned()));
            assert_eq!(map.remove(&4).expect("logged"), None);
        }
        map.flush().expect("flushed");
        let (all, before) = (entries(&map), map.stats());
        drop(map);
        let (map, recovery) = redo::open::<u64, String, _, _>(&path).expect("opened");
        let map: LoggedMap<u64, String> = map;
        assert_eq!(recovery.torn_bytes, 0);
        assert_eq!(entries(&map), all, "{policy:?}");
        assert_eq!(figures(&map.stats()), figures(&before), "{policy:?}");
        assert_eq!(map.validate(), Ok(()));
        map.pin().insert(1 << 40, "after".to_owned()).expect("logged");
        map.flush().expect("flushed");
        let all = entries(&map);
        drop(map);
        let (map, _): (LoggedMap<u64, String>, _) = redo::open(&path).expect("opened again");
        assert_eq!(entries(&map), all);
        assert_eq!(map.validate(), Ok(()));
    }
}

#[test]
fn a_multimap_is_rebuilt_as_it_was() {
    let dir = tempfile::tempdir().expect("a folder");
    for (at, policy) in POLICIES.into_iter().enumerate() {
        let path = dir.path().join(at.to_string());
        let map: LoggedMultiMap<u64, String> =
            Options::new().count_policy(policy).verify(true).create(&path).expect("created");
        {
            let map = map.pin();
            for n in 0..4000_u64 {
                map.insert(n % 700, (n % 1400).to_string()).expect("logged");
            }
            assert_eq!(map.count(&7), 6);
            assert_eq!(map.remove_one(&7, &"7".to_owned()).expect("logged"), Some(&"7".to_owned()));
            assert_eq!(map.remove_all(&8).expect("logged"), 6);
            let vacuumed = map.vacuum(|key, _| key % 2 == 0).expect("logged");
            assert_eq!(vacuumed.removed as usize + map.iter().count(), 4000 - 7);
            (0..500).try_for_each(|n| map.insert(7, n.to_string())).expect("logged");
        }
        map.flush().expect("flushed");
        let (all, before) = (entries(&map), map.stats());
        drop(map);
        let (map, _): (LoggedMultiMap<u64, String>, _) =
            OpenOptions::new().durability(Durability::Sync).open(&path).expect("opened");
        assert_eq!(entries(&map), all, "{policy:?}");
        assert_eq!(figures(&map.stats()), figures(&before), "{policy:?}");
        assert_eq!(map.validate(), Ok(()));
        map.pin().clear().expect("logged");
        drop(map);
        let (map, recovery): (LoggedMultiMap<u64, String>, _) = redo::open(&path).expect("opened again");
        assert_eq!(
            (map.pin().iter().count(), map.validate(), recovery.torn_bytes),
            (0, Ok(()), 0),
            "{policy:?}"
        );
    }
}

#[test]
fn merges_are_replayed() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("log");
    let shrink = ShrinkPolicy::Below { percent: 80 };
    let map: LoggedMap<u64, String> =
        Options::new().shrink(shrink).verify(true).create(&path).expect("created");
    (0..2000).for_each(|n| _ = map.pin().insert(n, n.to_string()).expect("logged"));
    (0..1900).for_each(|n| _ = map.pin().remove(&n).expect("logged"));
    assert!(map.stats().merges > 100, "{:?}", map.stats());
    map.flush().expect("flushed");
    let (all, before) = (entries(&map), map.stats());
    drop(map);
    let (map, _): (LoggedMap<u64, String>, _) = redo::open(&path).expect("opened");
    assert_eq!((entries(&map), figures(&map.stats())), (all, figures(&before)));
}
