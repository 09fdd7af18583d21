//! Snapshots that fail at each of their steps, and snapshots that are damaged.

use crate::failing::FailAt;
use crate::{entries, segments, snapshots};
use lhash::Map;
use lhash::redo::{self, LoggedMap, Opened, Options, RedoError, SeededState, Standby};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Log = LoggedMap<u64, String>;

fn open(path: &Path) -> Result<Opened<u64, String, Map, SeededState>, RedoError> {
    redo::open(path)
}

/// Fills some segments.
fn fill(map: &Log, with: &str) {
    for first in (0..400).step_by(50) {
        (first..first + 50).for_each(|n| _ = map.pin().insert(n, format!("{with} {n}")).expect("logged"));
        map.flush().expect("flushed");
    }
}

/// A map of some segments.
fn some_map(path: &Path) -> Log {
    let map: Log = Options::new().seed(3).create(path).expect("created");
    map.cut_segments_at(1 << 12);
    fill(&map, "first");
    map
}

fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let all = fs::read_dir(dir).expect("a folder").map(|file| file.expect("a file").path());
    all.filter(|path| path.is_file()).map(|path| (path.clone(), fs::read(path).expect("read"))).collect()
}

/// The same files in another folder.
fn image(dir: &Path) -> tempfile::TempDir {
    let image = tempfile::tempdir().expect("a folder");
    for (path, bytes) in files(dir) {
        fs::write(image.path().join(path.file_name().expect("a name")), bytes).expect("written");
    }
    image
}

#[test]
fn a_snapshot_that_fails_at_any_step_leaves_a_log_that_recovers() {
    for some_bytes in [false, true] {
        let mut failed = 0;
        loop {
            let dir = tempfile::tempdir().expect("a folder");
            let map = some_map(dir.path());
            map.snapshot().expect("written");
            fill(&map, "second");
            let (all, calls) = (entries(&map), Arc::new(FailAt::new(failed, some_bytes)));
            map.inject_faults(calls.clone());
            let snapshot = map.snapshot();
            // What a crash there would leave.
            let crashed = image(dir.path());
            let (again, recovery) = open(crashed.path()).expect("it recovers");
            assert_eq!((entries(&again), again.validate()), (all.clone(), Ok(())), "call {failed}");
            assert_eq!(recovery.damaged_snapshots, [""; 0], "call {failed}");
            let unfinished =
                files(crashed.path()).into_iter().any(|(path, _)| path.extension() == Some("tmp".as_ref()));
            assert!(!unfinished, "call {failed}");
            let Err(error) = snapshot else {
                assert_eq!(calls.calls(), failed, "every call was let fail once");
                break;
            };
            assert!(matches!(error, RedoError::Io { .. }), "call {failed}: {error}");
            // The map goes on, and so does the next snapshot.
            map.inject_faults(Arc::new(FailAt::new(u64::MAX, false)));
            map.pin().insert(7, "after".to_owned()).expect("a failed snapshot is no failure of the log");
            let snapshot = map.snapshot().expect("written");
            let all = entries(&map);
            drop(map);
            assert_eq!((snapshots(dir.path()).len(), segments(dir.path()).len()), (1, 1), "call {failed}");
            let (map, recovery) = open(dir.path()).expect("opened");
            assert_eq!((recovery.snapshot, entries(&map)), (Some(snapshot.lsn), all));
            failed += 1;
        }
        // Made, written, brought to the disk, named, the folder; removed each, the folder.
        assert!(failed > 10, "{failed} calls");
    }
}

#[test]
fn what_was_left_of_snapshots_that_were_not_finished_is_removed_and_read_by_nobody() {
    let dir = tempfile::tempdir().expect("a folder");
    let map = some_map(dir.path());
    let snapshot = map.snapshot().expect("written");
    let all = entries(&map);
    let whole = fs::read(&snapshots(dir.path())[0]).expect("read");
    let leave = |lsn: u64, bytes: &[u8]| {
        let path = dir.path().join(format!("snapshot-{lsn:016x}.tmp"));
        fs::write(&path, bytes).expect("written");
        path
    };
    let left =
        [leave(snapshot.lsn + 8, b"garbage"), leave(8, b""), leave(snapshot.lsn, &whole[..whole.len() / 2])];
    let standby = Standby::<u64, String, Map>::follow(dir.path()).expect("followed");
    assert_eq!(entries(standby.map()), all);
    fill(&map, "more");
    map.snapshot().expect("written");
    assert!(left.iter().all(|path| !path.exists()), "the next snapshot removes them");
    let all = entries(&map);
    drop(map);
    let left = leave(1 << 30, &whole);
    let (map, recovery) = open(dir.path()).expect("opened");
    assert_eq!((entries(&map), recovery.damaged_snapshots.len(), left.exists()), (all, 0, false));
}

/// A folder with one small snapshot, no segment before it, and a few records after it.
fn small(dir: &Path) -> (PathBuf, Vec<u8>) {
    let map: Log = Options::new().seed(3).create(dir).expect("created");
    map.cut_segments_at(1 << 10);
    for n in 0..60 {
        map.pin().insert(n % 12, n.to_string()).expect("logged");
        map.flush().expect("flushed");
    }
    assert!(map.snapshot().expect("written").segments_removed > 0);
    map.pin().insert(3, "after".to_owned()).expect("logged");
    drop(map);
    let path = snapshots(dir).remove(0);
    let bytes = fs::read(&path).expect("read");
    (path, bytes)
}

/// An error that names the file, an offset up to the damage, and a reason.
#[track_caller]
fn is_located(opened: Result<Opened<u64, String, Map, SeededState>, RedoError>, file: &Path, damage: usize) {
    let error = opened.map(|(map, recovery)| (entries(&map), recovery)).expect_err("it is damaged");
    let RedoError::Damaged { path, offset, why } = &error else { panic!("byte {damage}: {error}") };
    assert!(path == file && *offset <= damage as u64 && !why.is_empty(), "byte {damage}: {error}");
}

#[test]
fn a_damaged_snapshot_is_an_error_where_nothing_older_is_left() {
    let dir = tempfile::tempdir().expect("a folder");
    let (path, whole) = small(dir.path());
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at * 5 % 8);
        fs::write(&path, &bytes).expect("written");
        is_located(open(dir.path()), &path, at);
        fs::write(&path, &whole[..at]).expect("written");
        is_located(open(dir.path()), &path, at);
    }
    fs::write(&path, [&whole[..], &[0; 8]].concat()).expect("written");
    is_located(open(dir.path()), &path, whole.len());
    // Rows in another order, each of them whole.
    let len = |at: usize| {
        8 + u32::from_le_bytes(whole[at..at + 4].try_into().expect("4 bytes")).next_multiple_of(8) as usize
    };
    let first = 64 + len(64);
    let second = first + len(first);
    let third = second + len(second);
    let swapped = [&whole[..first], &whole[second..third], &whole[first..second], &whole[third..]].concat();
    assert_ne!(swapped, whole);
    fs::write(&path, swapped).expect("written");
    is_located(open(dir.path()), &path, whole.len());
    let standby = Standby::<u64, String, Map>::follow(dir.path());
    assert!(matches!(standby, Err(RedoError::Damaged { .. })), "a standby begins with nothing else");
    fs::write(&path, &whole).expect("written");
    let (map, recovery) = open(dir.path()).expect("opened");
    assert_eq!((recovery.records, map.pin().get(&3).map(String::as_str)), (1, Some("after")));
}

#[test]
fn a_damaged_snapshot_is_passed_over_and_told_where_an_older_one_is_left() {
    let dir = tempfile::tempdir().expect("a folder");
    let map: Log = Options::new().create(dir.path()).expect("created");
    fill(&map, "first");
    let first = map.snapshot().expect("written");
    let old = fs::read(&snapshots(dir.path())[0]).expect("read");
    fill(&map, "second");
    let second = map.snapshot().expect("written");
    fill(&map, "third");
    let all = entries(&map);
    drop(map);
    let newest = snapshots(dir.path()).remove(0);
    let mut bytes = fs::read(&newest).expect("read");
    bytes[100] ^= 1;
    fs::write(&newest, bytes).expect("written");
    // The log's beginning is there still.
    let (map, recovery) = open(dir.path()).expect("opened");
    assert_eq!((recovery.snapshot, entries(&map)), (None, all.clone()));
    let [told] = &recovery.damaged_snapshots[..] else { panic!("{recovery:?}") };
    assert!(told.contains(&newest.display().to_string()) && told.contains("at byte 96"), "{told}");
    drop(map);
    fs::write(dir.path().join(format!("snapshot-{:016x}", first.lsn)), old).expect("written");
    let (map, recovery) = open(dir.path()).expect("opened");
    assert_eq!((recovery.snapshot, recovery.damaged_snapshots.len()), (Some(first.lsn), 1));
    assert_eq!(entries(&map), all);
    // The next one removes both.
    let third = map.snapshot().expect("written");
    assert!(third.lsn > second.lsn && snapshots(dir.path()).len() == 1);
}

#[test]
fn a_log_without_what_a_snapshot_needs_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let (path, _) = small(dir.path());
    let last = segments(dir.path()).remove(0);
    let unlinked = image(dir.path());
    let copy = |path: &Path| unlinked.path().join(path.file_name().expect("a name"));
    fs::remove_file(copy(&path)).expect("removed");
    // The log's beginning is gone, and no snapshot is there.
    is_located(open(unlinked.path()), &copy(&last), 0);
    let cut = image(dir.path());
    let bytes = fs::read(&last).expect("read");
    let shorter = cut.path().join(last.file_name().expect("a name"));
    fs::write(&shorter, &bytes[..64]).expect("written");
    // The log ends before the snapshot.
    is_located(open(cut.path()), &shorter, 64);
    let other = tempfile::tempdir().expect("a folder");
    drop(Options::new().seed(4).create::<u64, String, Map, SeededState>(other.path()).expect("created"));
    fs::copy(segments(other.path()).remove(0), &shorter).expect("copied");
    // A segment of another log under that name.
    is_located(open(cut.path()), &shorter, 0);
}
