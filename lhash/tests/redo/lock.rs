//! One map at a time has a log open to write.
#![cfg(unix)]

use crate::entries;
use lhash::Map;
use lhash::redo::{self, LoggedMap, OpenOptions, Opened, Options, Reader, RedoError, SeededState, Standby};
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Names the log that the child holds.
const LOG: &str = "LHASH_REDO_HELD_LOG";

type Log = LoggedMap<u64, String>;

fn open(path: &Path) -> Result<Opened<u64, String, Map, SeededState>, RedoError> {
    OpenOptions::new().open(path)
}

#[track_caller]
fn is_refused(opened: Result<Opened<u64, String, Map, SeededState>, RedoError>, folder: &Path) {
    let error = opened.expect_err("another map has it");
    assert!(matches!(&error, RedoError::Locked { path } if path == folder), "{error:?}");
    let text = error.to_string();
    assert!(text.contains(&folder.display().to_string()) && text.contains("drop that one first"), "{text}");
}

#[test]
fn a_log_that_a_map_has_is_refused_to_a_second_one_and_spoils_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("log");
    let map: Log = Options::new().create(&path).expect("created");
    map.pin().insert(1, "one".to_owned()).expect("logged");
    map.flush().expect("flushed");
    is_refused(open(&path), &path);
    let again = Options::new().create::<u64, String, Map, SeededState>(&path);
    assert!(matches!(again, Err(RedoError::Io { .. })), "{:?}", again.err());
    map.pin().insert(2, "two".to_owned()).expect("logged");
    let all = entries(&map);
    drop(map);
    let (map, _): (Log, _) = redo::open(&path).expect("it is free");
    assert_eq!(entries(&map), all);
    is_refused(open(&path), &path);
}

#[test]
fn readers_take_no_lock_and_need_none() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("log");
    let map: Log = Options::new().create(&path).expect("created");
    map.pin().insert(1, "one".to_owned()).expect("logged");
    map.flush().expect("flushed");
    let standby = Standby::<u64, String, Map>::follow(&path).expect("followed");
    standby.wait_for(map.lsn()).expect("applied");
    assert!(Reader::open(&path).expect("read").read().expect("whole").is_some());
    drop(map);
    assert_eq!(open(&path).expect("a standby holds nothing").0.len(), standby.len());
}

#[test]
fn the_file_of_the_lock_is_its_owners_alone_and_is_not_made_where_there_is_no_log() {
    let dir = tempfile::tempdir().expect("a folder");
    let nothing = open(dir.path());
    assert!(matches!(nothing, Err(RedoError::Damaged { .. })), "{:?}", nothing.err());
    assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 0);
    let map: Log = Options::new().create(dir.path()).expect("created");
    let mode = fs::metadata(dir.path().join("lock")).expect("the lock").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(map);
}

/// The child: it holds the log until it is killed. In the parent's run of all tests it does nothing.
#[test]
fn child() {
    let Some(path) = env::var_os(LOG) else { return };
    let (map, _) = open(Path::new(&path)).expect("it is free");
    map.pin().insert(1, "child".to_owned()).expect("logged");
    map.flush().expect("flushed");
    std::io::stderr().write_all(b"held\n").expect("the parent listens");
    loop {
        std::thread::park();
    }
}

#[test]
fn a_process_that_is_killed_lets_go_of_its_log() {
    let dir = tempfile::tempdir().expect("a folder");
    drop::<Log>(Options::new().create(dir.path()).expect("created"));
    let mut child = Command::new(env::current_exe().expect("this program"))
        .args(["--exact", "lock::child", "--nocapture"])
        .env(LOG, dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child");
    let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let held = lines.map_while(Result::ok).any(|line| line == "held");
    let refused = open(dir.path());
    child.kill().expect("killed");
    child.wait().expect("it has ended");
    assert!(held, "the child did not get it");
    is_refused(refused, dir.path());
    let (map, _) = open(dir.path()).expect("it is free");
    assert_eq!(map.pin().get(&1).map(String::as_str), Some("child"));
}
