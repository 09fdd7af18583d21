//! Snapshots: what is rebuilt from one and the log after it is what was there, and what is older goes.

use crate::{Stop, entries, segments, snapshots};
use lhash::redo::{
    self, Codec, DecodeError, Kind, Logged, LoggedMap, LoggedMultiMap, Opened, Options, Reader, RedoError,
    SeededState, Standby,
};
use lhash::{CountPolicy, Map, MultiMap, ShrinkPolicy};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

type Log = LoggedMap<u64, String>;

const POLICIES: [CountPolicy; 5] = [
    CountPolicy::Exact,
    CountPolicy::Deferred { cap: 32 },
    CountPolicy::Quiet { cap: 32 },
    CountPolicy::Sharded,
    CountPolicy::OverflowSignal,
];

fn open<M: Kind>(path: &Path) -> Opened<u64, String, M, SeededState> {
    redo::open(path).expect("opened")
}

fn bytes_in(dir: &Path) -> u64 {
    fs::read_dir(dir)
        .expect("a folder")
        .map(|file| file.expect("a file").metadata().expect("its length").len())
        .sum()
}

fn copy(from: &Path, to: &Path, is_wanted: impl Fn(&str) -> bool) {
    fs::create_dir_all(to).expect("a folder");
    for file in fs::read_dir(from).expect("a folder").map(|file| file.expect("a file")) {
        if is_wanted(file.file_name().to_str().expect("a plain name")) {
            fs::copy(file.path(), to.join(file.file_name())).expect("copied");
        }
    }
}

/// What must agree of two maps, but for the chains: a snapshot keeps no empty slots.
fn told<M: Kind>(map: &Logged<u64, String, M>) -> (u64, u32) {
    (map.stats().ntuples, map.stats().max_bucket)
}

#[test]
fn snapshots_while_four_threads_write_are_of_one_moment_and_hold_nobody_up() {
    let dir = tempfile::tempdir().expect("a folder");
    for (at, policy) in POLICIES.into_iter().enumerate() {
        let path = dir.path().join(at.to_string());
        let options = Options::new().count_policy(policy).shrink(ShrinkPolicy::Below { percent: 80 });
        let map: LoggedMultiMap<u64, String> = options.verify(at == 0).create(&path).expect("created");
        map.cut_segments_at(1 << 12);
        let stop = AtomicBool::new(false);
        let (mut last, mut wrote) = (0, 0);
        thread::scope(|s| {
            let (map, stop) = (&map, &stop);
            for thread in 0..4_u64 {
                s.spawn(move || {
                    for n in 0.. {
                        map.pin().insert(n % 300, format!("{thread} {n}")).expect("logged");
                        if n % 3 == 0 {
                            map.pin().remove_all(&(n % 290)).expect("logged");
                            // So that the files have records after the snapshot's position.
                            map.flush().expect("flushed");
                        }
                        if thread == 0 && n % 400 == 399 {
                            map.pin().clear().expect("logged");
                        }
                        if n > 100 && stop.load(Ordering::Relaxed) {
                            return;
                        }
                    }
                });
            }
            let _stop = Stop(stop);
            for _ in 0..3 {
                let before = map.records();
                let snapshot = map.snapshot().expect("written");
                assert!(snapshot.lsn >= last);
                wrote += map.records() - before;
                last = snapshot.lsn;
            }
        });
        assert!(wrote > 0, "nobody wrote meanwhile");
        map.flush().expect("flushed");
        let (all, told_before, records) = (entries(&map), told(&map), map.records());
        drop(map);
        let (map, recovery) = open::<MultiMap>(&path);
        assert_eq!((recovery.snapshot, recovery.torn_bytes), (Some(last), 0));
        assert!(recovery.records < records, "{recovery:?} of {records}");
        assert_eq!((entries(&map), map.validate()), (all, Ok(())), "{policy:?}");
        assert_eq!(told(&map), told_before, "{policy:?}");
    }
}

/// Changes of every kind, other ones with another seed.
fn change(map: &Log, seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    for n in 0..1500 {
        let key = rng.u64(..500);
        match rng.u32(..10) {
            0..=5 => _ = map.pin().insert(key, format!("{seed} {n}")).expect("logged"),
            _ => _ = map.pin().remove(&key).expect("logged"),
        }
    }
    if seed % 2 == 1 {
        map.pin().clear().expect("logged");
        (0..40).for_each(|n| _ = map.pin().insert(n, n.to_string()).expect("logged"));
    }
}

#[test]
fn a_map_from_a_snapshot_is_as_one_from_the_whole_log() {
    let dir = tempfile::tempdir().expect("a folder");
    for (at, policy) in POLICIES.into_iter().enumerate() {
        let path = dir.path().join(at.to_string());
        let options = Options::new().count_policy(policy).shrink(ShrinkPolicy::Below { percent: 50 });
        // One thread's counts of `OverflowSignal` are with it: the log has the others.
        let map: Log = options.verify(true).create(&path).expect("created");
        thread::scope(|s| {
            (0..3).for_each(|seed| {
                _ = s.spawn({
                    let map = &map;
                    move || change(map, seed)
                })
            })
        });
        let snapshot = map.snapshot().expect("written");
        assert_eq!(snapshot.entries, entries(&map).len() as u64);
        change(&map, 4);
        change(&map, 5);
        let all = entries(&map);
        drop(map);
        let whole = path.with_extension("whole");
        copy(&path, &whole, |name| name.ends_with(".redo"));
        let (from_log, recovery) = open::<Map>(&whole);
        assert_eq!(recovery.snapshot, None);
        let (from_snapshot, recovery) = open::<Map>(&path);
        assert_eq!(recovery.snapshot, Some(snapshot.lsn));
        assert_eq!((entries(&from_log) == all, entries(&from_snapshot) == all), (true, true), "{policy:?}");
        assert_eq!(told(&from_snapshot), told(&from_log), "{policy:?}");
        assert_eq!(from_snapshot.validate(), Ok(()));
    }
}

#[test]
fn what_lies_before_a_snapshot_is_gone_and_the_disk_has_fewer_bytes() {
    let dir = tempfile::tempdir().expect("a folder");
    let map: Log = Options::new().create(dir.path()).expect("created");
    map.cut_segments_at(1 << 14);
    for round in 0..20 {
        (0..100).for_each(|n| _ = map.pin().insert(n, format!("{round}")).expect("logged"));
        map.flush().expect("flushed");
    }
    let (before, bytes) = (segments(dir.path()).len(), bytes_in(dir.path()));
    let first = map.snapshot().expect("written");
    assert!(before > 3 && segments(dir.path()).len() == 1, "{before} segments");
    assert_eq!(first.segments_removed as usize, before - 1);
    assert!(bytes_in(dir.path()) < bytes / 2, "{} of {bytes}", bytes_in(dir.path()));
    assert_eq!(fs::metadata(&snapshots(dir.path())[0]).expect("there").len(), first.bytes);
    for first in (0..2000).step_by(100) {
        (first..first + 100).for_each(|n| _ = map.pin().insert(n, "again".to_owned()).expect("logged"));
        map.flush().expect("flushed");
    }
    let second = map.snapshot().expect("written");
    assert!(second.lsn > first.lsn && second.segments_removed > 0);
    assert_eq!((snapshots(dir.path()).len(), segments(dir.path()).len()), (1, 1), "the first one went");
    let third = map.snapshot().expect("there already");
    assert_eq!((third.lsn, third.entries, third.bytes), (second.lsn, second.entries, second.bytes));
    let all = entries(&map);
    drop(map);
    let mut reader = Reader::open(dir.path()).expect("it begins after what has gone");
    while reader.read().expect("whole").is_some() {}
    assert_eq!(reader.lsn(), second.lsn);
    let (map, recovery) = open::<Map>(dir.path());
    assert_eq!((recovery.records, recovery.snapshot, entries(&map)), (0, Some(second.lsn), all));
}

#[test]
fn a_snapshot_of_an_empty_map_is_one_and_a_standbys_map_makes_none() {
    let dir = tempfile::tempdir().expect("a folder");
    let map: Log = Options::new().min_buckets(20).create(dir.path()).expect("created");
    let snapshot = map.snapshot().expect("written");
    assert_eq!((snapshot.lsn, snapshot.entries, snapshots(dir.path()).len()), (0, 0, 1));
    let standby = Standby::<u64, String, Map>::follow(dir.path()).expect("followed");
    let refused = standby.map().snapshot();
    assert!(matches!(refused, Err(RedoError::ReadOnly)), "{refused:?}");
    drop(map);
    let (map, recovery) = open::<Map>(dir.path());
    assert_eq!((recovery.snapshot, told(&map), map.len()), (Some(0), (0, 19), 0));
    map.pin().insert(1, "one".to_owned()).expect("logged");
    map.pin().clear().expect("logged");
    assert_eq!(map.snapshot().expect("written").entries, 0);
    drop(map);
    let (map, recovery) = open::<Map>(dir.path());
    assert!(recovery.snapshot > Some(0) && map.is_empty());
    let elsewhere = dir.path().join("elsewhere");
    copy(dir.path(), &elsewhere, |name| name.starts_with("snapshot-"));
    let refused = Options::new().create::<u64, String, Map, SeededState>(&elsewhere);
    assert!(matches!(refused, Err(RedoError::Io { .. })), "{:?}", refused.err());
}

#[test]
fn a_torn_tail_after_a_snapshot_is_left_out_as_any() {
    let dir = tempfile::tempdir().expect("a folder");
    let map: Log = Options::new().verify(true).create(dir.path()).expect("created");
    change(&map, 8);
    let snapshot = map.snapshot().expect("written");
    change(&map, 9);
    map.flush().expect("flushed");
    let before_last = map.lsn();
    let all = entries(&map);
    map.pin().insert(1 << 50, "torn".to_owned()).expect("logged");
    map.flush().expect("flushed");
    drop(map);
    let path = segments(dir.path()).remove(0);
    let whole = fs::read(&path).expect("the log");
    for cut in [1, 8, 15] {
        fs::write(&path, &whole[..64 + before_last as usize + cut]).expect("written");
        let (map, recovery) = open::<Map>(dir.path());
        assert_eq!((recovery.snapshot, recovery.lsn), (Some(snapshot.lsn), before_last));
        assert!(recovery.torn_bytes > 0 && recovery.torn_bytes <= cut as u64);
        assert_eq!((entries(&map), map.validate()), (all.clone(), Ok(())));
    }
}

#[test]
fn standbys_from_before_and_after_a_snapshot_end_as_the_primary() {
    let dir = tempfile::tempdir().expect("a folder");
    let map: Log =
        Options::new().count_policy(CountPolicy::Exact).verify(true).create(dir.path()).expect("created");
    map.cut_segments_at(1 << 14);
    let early = Standby::<u64, String, Map>::follow(dir.path()).expect("followed");
    let mut late = Vec::new();
    for seed in 0..4 {
        change(&map, seed);
        early
            .wait_for({
                map.flush().expect("flushed");
                map.lsn()
            })
            .expect("applied");
        let snapshot = map.snapshot().expect("written");
        let standby = Standby::<u64, String, Map>::follow(dir.path()).expect("followed");
        assert!(standby.lsn() >= snapshot.lsn, "it began with the snapshot");
        late.push(standby);
    }
    change(&map, 7);
    map.flush().expect("flushed");
    for standby in late.iter().chain([&early]) {
        standby.wait_for(map.lsn()).expect("it verifies");
        assert_eq!(entries(standby.map()), entries(&map));
        assert_eq!((standby.stats().ntuples, standby.stats().max_bucket), told(&map));
    }
    assert!(late[3].records() < early.records());
    let bytes = fs::read(segments(dir.path()).remove(0)).expect("read");
    let refused = Standby::<u64, String, Map>::follow_read(std::io::Cursor::new(bytes));
    assert!(matches!(refused, Err(RedoError::Mismatch { .. })), "a reader must begin where the log does");
}

/// A key that waits before it is read, while `WAIT` says so.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Slow(u64);

static WAIT: AtomicBool = AtomicBool::new(true);

impl Codec for Slow {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        while thread::current().name() == Some("lhash standby") && WAIT.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        u64::decode(bytes).map(Self)
    }
}

#[test]
fn a_standby_that_a_snapshot_has_overtaken_says_so() {
    let dir = tempfile::tempdir().expect("a folder");
    let map: LoggedMap<Slow, u64> = Options::new().create(dir.path()).expect("created");
    map.cut_segments_at(1 << 12);
    map.pin().insert(Slow(0), 0).expect("logged");
    map.flush().expect("flushed");
    let standby = Standby::<Slow, u64, Map>::follow(dir.path()).expect("followed");
    for n in 0..1000 {
        map.pin().insert(Slow(n), n).expect("logged");
        if n % 50 == 0 {
            map.flush().expect("flushed");
        }
    }
    assert!(map.snapshot().expect("written").segments_removed > 2);
    WAIT.store(false, Ordering::Relaxed);
    let ended = standby.wait_for(map.lsn());
    assert!(matches!(&ended, Err(RedoError::Pruned { .. })), "{ended:?}");
    assert!(ended.expect_err("it ended").to_string().contains("follow the log anew"));
    let again = Standby::<Slow, u64, Map>::follow(dir.path()).expect("followed");
    again.wait_for(map.lsn()).expect("it begins with the snapshot");
    assert_eq!(again.len(), map.len());
}

#[test]
fn snapshots_of_several_threads_follow_one_another() {
    let dir = tempfile::tempdir().expect("a folder");
    let map: Log = Options::new().create(dir.path()).expect("created");
    map.cut_segments_at(1 << 13);
    thread::scope(|s| {
        for thread in 0..3_u64 {
            let map = &map;
            s.spawn(move || {
                for round in 0..5 {
                    (0..50).for_each(|n| {
                        _ = map.pin().insert(thread << 32 | n, round.to_string()).expect("logged")
                    });
                    assert!(map.snapshot().expect("written").entries >= 50);
                }
            });
        }
    });
    let all = entries(&map);
    drop(map);
    assert_eq!(snapshots(dir.path()).len(), 1);
    assert_eq!(entries(&open::<Map>(dir.path()).0), all);
}
