use crate::{entries, figures, log_bytes};
use lhash::redo::{Durability, LoggedMap, LoggedMultiMap, Options, RedoError, Standby};
use lhash::{CountPolicy, Map, MultiMap};
use std::thread;

const INSERTERS: u64 = 8;
const EACH: u64 = 1500;

/// Eight threads insert, four of them through one-shot threads; two more remove; and one vacuums.
fn crowd(map: &LoggedMultiMap<u64, String>) {
    thread::scope(|s| {
        for number in 0..INSERTERS {
            s.spawn(move || {
                let insert = |n: u64| map.pin().insert(n % 997, format!("{number} {n}")).expect("logged");
                if number % 2 == 0 {
                    (0..EACH).for_each(insert);
                } else {
                    for first in (0..EACH).step_by(100) {
                        thread::scope(|s| _ = s.spawn(move || (first..first + 100).for_each(insert)));
                    }
                }
            });
        }
        s.spawn(|| {
            (0..EACH).for_each(|n| _ = map.pin().remove_one(&(n % 997), &format!("0 {n}")).expect("logged"))
        });
        s.spawn(|| (0..200).for_each(|n| _ = map.pin().remove_all(&(n * 3)).expect("logged")));
        s.spawn(|| {
            map.pin().vacuum(|key, value| key % 5 == 0 && value.starts_with('1')).expect("logged");
        });
    });
}

#[test]
fn standbys_from_the_start_and_from_later_end_as_the_primary() {
    let dir = tempfile::tempdir().expect("a folder");
    let policies = [
        CountPolicy::Exact,
        CountPolicy::Deferred { cap: 32 },
        CountPolicy::Quiet { cap: 32 },
        CountPolicy::Sharded,
    ];
    for (at, policy) in policies.into_iter().enumerate() {
        let path = dir.path().join(at.to_string());
        let map: LoggedMultiMap<u64, String> =
            Options::new().count_policy(policy).verify(true).create(&path).expect("created");
        let early = Standby::<u64, String, MultiMap>::follow(&path).expect("followed");
        crowd(&map);
        let late = Standby::<u64, String, MultiMap>::follow(&path).expect("followed");
        crowd(&map);
        assert!(map.stats().splits > 100);
        map.flush().expect("flushed");
        let all = entries(&map);
        for mut standby in [early, late] {
            standby.wait_for(map.lsn()).expect("it verifies");
            assert_eq!(entries(standby.map()), all);
            assert_eq!(figures(&standby.stats()), figures(&map.stats()), "{policy:?}");
            assert_eq!((standby.lsn(), standby.lag()), (map.lsn(), 0));
            standby.stop().expect("it verifies");
        }
        assert_eq!(map.validate(), Ok(()));
    }
}

#[test]
fn a_standby_answers_while_it_applies_and_refuses_changes() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("log");
    let map: LoggedMap<u64, String> =
        Options::new().durability(Durability::Sync).create(&path).expect("created");
    let standby = Standby::<u64, String, Map>::follow(&path).expect("followed");
    for n in 0..200 {
        map.pin().insert(n, n.to_string()).expect("logged");
        if n % 20 == 0 {
            standby.wait_for(map.lsn()).expect("applied");
            assert_eq!(standby.pin().get(&n), Some(&n.to_string()));
            assert_eq!((standby.len() as u64, standby.pin().iter().count() as u64), (n + 1, n + 1));
        }
    }
    let pin = standby.pin();
    let refused = pin.insert(1000, String::new());
    assert!(matches!(refused, Err(RedoError::ReadOnly)), "{refused:?}");
    assert!(standby.is_following());
    let bytes = log_bytes(&path);
    let from_bytes = Standby::<u64, String, Map>::follow_read(std::io::Cursor::new(bytes)).expect("followed");
    from_bytes.wait_for(map.lsn()).expect("applied");
    assert_eq!(entries(from_bytes.map()), entries(&map));
    let ended = from_bytes.wait_for(map.lsn() + 1);
    assert!(matches!(ended, Err(RedoError::Ended { lsn }) if lsn == map.lsn()), "{ended:?}");
}
