//! The redo log: what a map that is rebuilt from it, or follows it, has in common with the first one.
#![cfg(all(feature = "redo", not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle")))))]

mod clear;
mod damage;
mod failing;
mod flips;
mod killed;
mod lock;
mod recovery;
mod snapshot;
mod snapshot_damage;

mod standby;

use lhash::Stats;
use lhash::redo::{Kind, Logged};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// All entries, with how often each is there.
fn entries<M: Kind>(map: &Logged<u64, String, M>) -> BTreeMap<(u64, String), usize> {
    let mut all = BTreeMap::new();
    for (key, value) in map.pin().iter() {
        *all.entry((*key, value.clone())).or_insert(0) += 1;
    }
    all
}

/// Tells threads to stop when it is dropped, so that a test that fails ends.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What must agree of two tables' figures.
fn figures(stats: &Stats) -> (u64, u32, u64) {
    (stats.ntuples, stats.max_bucket, stats.overflow_pages)
}

/// The segments of a log, in order.
fn segments(dir: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
    all.retain(|path| path.extension().is_some_and(|extension| extension == "redo"));
    all.sort();
    all
}

/// The bytes of a log's files, one after the other.
fn log_bytes(dir: &Path) -> Vec<u8> {
    segments(dir).iter().flat_map(|path| std::fs::read(path).expect("a segment")).collect()
}

/// The snapshots of a log, in order.
fn snapshots(dir: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("a file").path());
    let mut all: Vec<PathBuf> = files.filter(|path| path.to_string_lossy().contains("snapshot-")).collect();
    all.sort();
    all
}
