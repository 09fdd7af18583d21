//! Logs that are damaged, cut or can't be written.

use crate::failing::FailAt;
use crate::{entries, segments};
use lhash::redo::{self, Durability, LoggedMap, Options, Reader, RedoError, Standby};
use lhash::{CountPolicy, Map};
use std::fs;
use std::path::Path;
use std::sync::Arc;

type Log = LoggedMap<u64, String>;

/// A log of some records, in one segment that ends with them.
fn small_log(dir: &Path) -> Vec<u8> {
    let map: Log = Options::new().verify(true).create(dir).expect("created");
    for n in 0..12 {
        map.pin().insert(n, n.to_string()).expect("logged");
    }
    map.pin().remove(&3).expect("logged");
    map.pin().insert(5, "five".to_owned()).expect("logged");
    map.flush().expect("flushed");
    let end = 64 + map.lsn() as usize;
    drop(map);
    let path = &segments(dir)[0];
    let mut bytes = fs::read(path).expect("the log");
    bytes.truncate(end);
    fs::write(path, &bytes).expect("written");
    bytes
}

/// All records of a log, in words, and how it ends.
fn read(path: &Path) -> (Vec<String>, Result<u64, RedoError>) {
    let mut records = Vec::new();
    let mut reader = match Reader::open(path) {
        Ok(reader) => reader,
        Err(error) => return (records, Err(error)),
    };
    loop {
        match reader.read() {
            Ok(Some((lsn, record))) => records.push(format!("{lsn} {record:?}")),
            Ok(None) => return (records, Ok(reader.torn_bytes())),
            Err(error) => return (records, Err(error)),
        }
    }
}

#[test]
fn no_flipped_byte_is_taken_for_a_record() {
    let dir = tempfile::tempdir().expect("a folder");
    let bytes = small_log(dir.path());
    let path = &segments(dir.path())[0];
    let (all, end) = read(path);
    assert!(all.len() >= 14 && matches!(end, Ok(0)), "{all:?} {end:?}");
    for at in 0..bytes.len() {
        for bit in [1, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= bit;
            fs::write(path, &damaged).expect("written");
            let (some, end) = read(path);
            assert!(all.starts_with(&some), "byte {at}: {some:?}");
            match end {
                // The last record: it may as well be torn.
                Ok(torn) => assert!(torn > 0 && some.len() + 1 == all.len(), "byte {at}: {torn}"),
                Err(RedoError::Damaged { path: named, offset, .. }) => {
                    assert!(named == *path && offset <= at as u64, "byte {at}: {offset}");
                }
                Err(error) => panic!("byte {at}: {error}"),
            }
        }
    }
}

#[test]
fn a_log_that_is_cut_anywhere_ends_at_its_last_whole_record() {
    let dir = tempfile::tempdir().expect("a folder");
    let bytes = small_log(dir.path());
    let path = &segments(dir.path())[0];
    let (all, _) = read(path);
    let mut reached = 0;
    for len in 0..=bytes.len() {
        fs::write(path, &bytes[..len]).expect("written");
        let (some, end) = read(path);
        assert!(all.starts_with(&some) && some.len() >= reached, "{len} bytes");
        reached = some.len();
        if len < 64 {
            assert!(matches!(end, Err(RedoError::Damaged { offset: 0, .. })), "{len} bytes: {end:?}");
            continue;
        }
        assert!(end.is_ok(), "{len} bytes: {end:?}");
        let (map, recovery): (Log, _) = redo::open(dir.path()).expect("opened");
        assert_eq!(recovery.records as usize, some.len());
        assert_eq!(map.validate(), Ok(()), "{len} bytes");
    }
    assert_eq!(reached, all.len());
}

#[test]
fn a_standby_that_was_tampered_with_is_found_at_the_record() {
    let dir = tempfile::tempdir().expect("a folder");
    let map: Log =
        Options::new().durability(Durability::Sync).verify(true).create(dir.path()).expect("created");
    let standby = Standby::<u64, String, Map>::follow(dir.path()).expect("followed");
    for n in 0..100 {
        map.pin().insert(n, n.to_string()).expect("logged");
    }
    standby.wait_for(map.lsn()).expect("it is the same");
    standby.map().tamper(&42, "forty-three".to_owned());
    let before = map.lsn();
    // Others' buckets are as they were.
    for n in (0..100).filter(|&n| map.bucket_of(&n) != map.bucket_of(&42)) {
        map.pin().insert(n, "again".to_owned()).expect("logged");
    }
    standby.wait_for(map.lsn()).expect("those buckets are the same");
    assert!(map.lsn() > before);
    map.pin().insert(42, "again".to_owned()).expect("logged");
    map.pin().insert(42, "and again".to_owned()).expect("logged");
    standby.wait_for(map.lsn()).expect("the wrong value went");
    standby.map().tamper(&42, "wrong".to_owned());
    let neighbour = (1000..).find(|key| map.bucket_of(key) == map.bucket_of(&42)).expect("one");
    map.pin().insert(neighbour, "new".to_owned()).expect("logged");
    let found = standby.wait_for(map.lsn());
    assert!(matches!(&found, Err(RedoError::Diverged { lsn, .. }) if *lsn <= map.lsn()), "{found:?}");
    assert!(!standby.is_following());
}

#[test]
fn a_failed_write_or_fsync_is_told_and_ends_the_logging() {
    for at in 0..30 {
        for some_bytes in [false, true] {
            let dir = tempfile::tempdir().expect("a folder");
            let options = Options::new().durability(Durability::Sync).count_policy(CountPolicy::Exact);
            let map: Log = options.create(dir.path()).expect("created");
            map.inject_faults(Arc::new(FailAt::new(at, some_bytes)));
            let told = (0..40_u64).take_while(|&n| map.pin().insert(n, n.to_string()).is_ok()).count() as u64;
            assert!(told < 40, "it never failed");
            let pin = map.pin();
            for refused in [pin.insert(99, String::new()).map(drop), pin.remove(&0).map(drop), map.flush()] {
                assert!(matches!(refused, Err(RedoError::Io { .. })), "{refused:?}");
            }
            // Reads go on.
            assert!((0..told).all(|n| pin.get(&n) == Some(&n.to_string())));
            assert_eq!(pin.get(&99), None, "refused before it was made");
            drop(pin);
            drop(map);
            let (map, _): (Log, _) = redo::open(dir.path()).expect("opened");
            let all = entries(&map);
            assert!((0..told).all(|n| all.contains_key(&(n, n.to_string()))), "{told} were told, {all:?}");
            assert!(all.len() as u64 <= told + 1, "{told} were told, {all:?}");
            assert_eq!(map.validate(), Ok(()));
        }
    }
}

#[test]
fn a_log_of_another_kind_or_no_log_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    small_log(dir.path());
    let refused = redo::open::<u64, String, lhash::MultiMap, redo::SeededState>(dir.path());
    assert!(matches!(refused, Err(RedoError::Mismatch { .. })), "{:?}", refused.err());
    let refused = Options::new().create::<u64, String, Map, redo::SeededState>(dir.path());
    assert!(matches!(refused, Err(RedoError::Io { .. })), "{:?}", refused.err());
    let empty = tempfile::tempdir().expect("a folder");
    let refused = redo::open::<u64, String, Map, redo::SeededState>(empty.path());
    assert!(matches!(refused, Err(RedoError::Damaged { .. })), "{:?}", refused.err());
}
