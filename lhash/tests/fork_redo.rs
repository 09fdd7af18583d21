//! A child after `fork` that drops its copy of a logged map: the log is still its parent's.
#![cfg(all(
    unix,
    feature = "redo",
    not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle")))
))]

#[path = "common/child.rs"]
mod child;

use child::in_a_child;
use lhash::redo::{self, LoggedMap, Options, RedoError, SeededState};
use std::sync::Mutex;

#[test]
fn a_child_after_fork_does_not_let_go_of_its_parents_log() {
    let dir = tempfile::tempdir().expect("a folder");
    let map: LoggedMap<u64, u64> = Options::new().create(dir.path()).expect("created");
    map.pin().insert(1, 2).expect("logged");
    map.flush().expect("flushed");
    let map = Mutex::new(Some(map));
    assert_eq!(in_a_child(|| drop(map.lock().expect("nobody panics").take())), 0);
    let opened = redo::open::<u64, u64, lhash::Map, SeededState>(dir.path());
    assert!(matches!(opened, Err(RedoError::Locked { .. })), "{:?}", opened.err());
    drop(map);
    let (map, _): (LoggedMap<u64, u64>, _) = redo::open(dir.path()).expect("it is free");
    assert_eq!(map.pin().get(&1), Some(&2));
}
