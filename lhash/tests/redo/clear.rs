//! `clear` in the log: one record for each bucket that had any entry, in the order of that bucket's changes.

use crate::{Stop, entries, figures};
use lhash::redo::{
    self, Durability, Kind, Logged, LoggedMap, LoggedMultiMap, Ntuples, Options, Reader, Record, RedoError,
    Standby,
};
use lhash::{CountPolicy, Map, MultiMap, ShrinkPolicy};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const POLICIES: [CountPolicy; 5] = [
    CountPolicy::Exact,
    CountPolicy::Deferred { cap: 32 },
    CountPolicy::Quiet { cap: 32 },
    CountPolicy::Sharded,
    CountPolicy::OverflowSignal,
];

/// How many records of each kind a log has from a position on, and how many entries were cleared.
fn records(dir: &Path, from: u64) -> (BTreeMap<&'static str, usize>, u64) {
    let (mut reader, mut kinds, mut removed) = (Reader::open(dir).expect("a log"), BTreeMap::new(), 0);
    while let Some((lsn, record)) = reader.read().expect("nothing is wrong with it") {
        if lsn > from {
            *kinds.entry(record.kind()).or_insert(0) += 1;
            if let Record::Clear { removed: some, .. } = record {
                removed += u64::from(some);
            }
        }
    }
    (kinds, removed)
}

fn is_cleared_and_rebuilt<M: Kind>(
    map: Logged<u64, String, M>,
    path: &Path,
    refill: impl Fn(&Logged<u64, String, M>),
) {
    refill(&map);
    let (before, entries_before) = (map.lsn(), map.pin().iter().count() as u64);
    let buckets = map.stats().max_bucket as usize + 1;
    map.pin().clear().expect("logged");
    map.flush().expect("flushed");
    assert_eq!((map.pin().iter().count(), map.validate()), (0, Ok(())));
    let (kinds, removed) = records(path, before);
    let clears = kinds["clear"];
    assert_eq!(removed, entries_before);
    assert!(clears > buckets / 2 && clears <= buckets, "{clears} records for {buckets} buckets");
    assert!(kinds.keys().all(|kind| ["clear", "merge"].contains(kind)), "{kinds:?}");
    refill(&map);
    map.flush().expect("flushed");
    let (all, figures_before) = (entries(&map), figures(&map.stats()));
    drop(map);
    let (map, recovery) = redo::open::<u64, String, M, redo::SeededState>(path).expect("opened");
    assert_eq!((entries(&map), recovery.torn_bytes, map.validate()), (all, 0, Ok(())));
    assert_eq!(figures(&map.stats()), figures_before);
}

#[test]
fn a_cleared_map_has_a_record_a_bucket_and_is_rebuilt() {
    let dir = tempfile::tempdir().expect("a folder");
    for (at, policy) in POLICIES.into_iter().enumerate() {
        let path = dir.path().join(at.to_string());
        let map: LoggedMap<u64, String> =
            Options::new().count_policy(policy).verify(at % 2 == 0).create(&path).expect("created");
        is_cleared_and_rebuilt(map, &path, |map| {
            (0..2000).for_each(|n| _ = map.pin().insert(n, n.to_string()).expect("logged"));
        });
    }
}

#[test]
fn a_cleared_multimap_has_a_record_a_bucket_and_is_rebuilt() {
    let dir = tempfile::tempdir().expect("a folder");
    for (at, policy) in POLICIES.into_iter().enumerate() {
        let path = dir.path().join(at.to_string());
        let map: LoggedMultiMap<u64, String> =
            Options::new().count_policy(policy).verify(at % 2 == 0).create(&path).expect("created");
        is_cleared_and_rebuilt(map, &path, |map| {
            (0..1500).for_each(|n| map.pin().insert(n, n.to_string()).expect("logged"));
            (0..500).for_each(|n| map.pin().insert(7, n.to_string()).expect("logged"));
        });
    }
}

#[test]
fn a_clear_gives_buckets_back_and_its_merges_are_replayed() {
    let dir = tempfile::tempdir().expect("a folder");
    for (at, policy) in POLICIES.into_iter().take(4).enumerate() {
        let path = dir.path().join(at.to_string());
        let options = Options::new().count_policy(policy).shrink(ShrinkPolicy::Below { percent: 80 });
        let map: LoggedMap<u64, String> = options.verify(true).create(&path).expect("created");
        (0..3000).for_each(|n| _ = map.pin().insert(n, n.to_string()).expect("logged"));
        map.pin().clear().expect("logged");
        let stats = map.stats();
        assert_eq!((stats.ntuples, stats.max_bucket, stats.overflow_pages), (0, 3, 0), "{policy:?}");
        drop(map);
        let (map, _): (LoggedMap<u64, String>, _) = redo::open(&path).expect("opened");
        assert_eq!(figures(&map.stats()), figures(&stats), "{policy:?}");
    }
}

#[test]
fn a_clear_while_others_write_is_in_the_order_of_every_bucket() {
    let dir = tempfile::tempdir().expect("a folder");
    for (at, policy) in POLICIES.into_iter().take(4).enumerate() {
        let path = dir.path().join(at.to_string());
        let options = Options::new().count_policy(policy).shrink(ShrinkPolicy::Below { percent: 80 });
        let map: LoggedMultiMap<u64, String> = options.verify(true).create(&path).expect("created");
        (0..1000).for_each(|n| map.pin().insert(n << 32, "old".to_owned()).expect("logged"));
        let standby = Standby::<u64, String, MultiMap>::follow(&path).expect("followed");
        let stop = AtomicBool::new(false);
        thread::scope(|s| {
            let (map, stop) = (&map, &stop);
            for thread in 0..4_u64 {
                s.spawn(move || {
                    for n in 0.. {
                        map.pin().insert(n % 700, format!("{thread} {n}")).expect("logged");
                        if n % 3 == 0 {
                            map.pin().remove_all(&(n % 650)).expect("logged");
                        }
                        if n > 500 && stop.load(Ordering::Relaxed) {
                            return;
                        }
                    }
                });
            }
            let _stop = Stop(stop);
            for _ in 0..5 {
                map.pin().clear().expect("logged");
                assert!(map.pin().iter().all(|(_, value)| value != "old"));
            }
        });
        map.flush().expect("flushed");
        standby.wait_for(map.lsn()).expect("every bucket is the same");
        assert_eq!(entries(standby.map()), entries(&map), "{policy:?}");
        assert_eq!(figures(&standby.stats()), figures(&map.stats()), "{policy:?}");
        assert_eq!(map.validate(), Ok(()));
    }
}

#[test]
fn a_bucket_that_differs_is_found_when_it_is_cleared() {
    let dir = tempfile::tempdir().expect("a folder");
    let map: LoggedMap<u64, String> =
        Options::new().durability(Durability::Sync).verify(true).create(dir.path()).expect("created");
    let standby = Standby::<u64, String, Map>::follow(dir.path()).expect("followed");
    (0..20).for_each(|n| _ = map.pin().insert(n, n.to_string()).expect("logged"));
    standby.wait_for(map.lsn()).expect("it is the same");
    standby.map().tamper(&7, "eight".to_owned());
    map.pin().clear().expect("logged");
    let found = standby.wait_for(map.lsn());
    assert!(matches!(&found, Err(RedoError::Diverged { why, .. }) if why.contains("digest")), "{found:?}");
}

#[test]
fn a_clear_of_a_map_in_sync_waits_for_the_disk_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let map: LoggedMap<u64, String> =
        Options::new().count_policy(CountPolicy::Exact).create(dir.path()).expect("created");
    (0..300).for_each(|n| _ = map.pin().insert(n, n.to_string()).expect("logged"));
    drop(map);
    let (map, _): (LoggedMap<u64, String>, _) =
        redo::OpenOptions::new().durability(Durability::Sync).open(dir.path()).expect("opened");
    map.pin().clear().expect("logged");
    assert_eq!(map.fsyncs(), 1);
    map.pin().clear().expect("nothing to do");
    assert_eq!(map.fsyncs(), 1, "an empty map was logged");
    let mut reader = Reader::open(dir.path()).expect("a log");
    while let Some((_, record)) = reader.read().expect("whole") {
        if let Record::Clear { ntuples, digest, .. } = record {
            assert_eq!((ntuples, digest), (Ntuples::Itself, None), "alone, with `Exact`");
        }
    }
}
