//! The redo log: what a map that is rebuilt from it, or follows it, has in common with the first one.
#![cfg(all(feature = "redo", not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle")))))]

mod killed;
mod recovery;
mod standby;

use lhash::Stats;
use lhash::redo::{Kind, Logged};
use std::collections::BTreeMap;

/// All entries, with how often each is there.
fn entries<M: Kind>(map: &Logged<u64, String, M>) -> BTreeMap<(u64, String), usize> {
    let mut all = BTreeMap::new();
    for (key, value) in map.pin().iter() {
        *all.entry((*key, value.clone())).or_insert(0) += 1;
    }
    all
}

/// What must agree of two tables' figures.
fn figures(stats: &Stats) -> (u64, u32, u64) {
    (stats.ntuples, stats.max_bucket, stats.overflow_pages)
}
