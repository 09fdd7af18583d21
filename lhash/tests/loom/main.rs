//! Models of the table under loom: `cargo xtask loom -p latchfree-lhash`. Nothing is given back before a model ends, so
//! epochs play no part in them; every access of a node is one that loom checks.
//!
//! In every model the main thread only spawns and joins, so that loom tries every thread first; each model names
//! the outcomes that it must have reached, so that one which explores nothing fails. Which orderings a model
//! guards is written in ORDERINGS.md; `cargo xtask weaken` shows that it does.
#![cfg(all(loom, feature = "loom"))]

mod commit;
mod counts;
mod entries;
mod merges;
mod pages;
mod ring;
mod splits;

use core::hash::{BuildHasherDefault, Hasher};
use lhash::{Builder, CountPolicy, LHashMap, Map, ShrinkPolicy};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use sync::prim::atomic::{AtomicU32, Ordering};
use sync::prim::loom;

use loom::thread::spawn;

/// Hashes a `u32` to itself.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys of these models write one u32")
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = u64::from(value);
    }
}

type BuildIdentity = BuildHasherDefault<Identity>;

/// A map with pages of one slot: two entries of a bucket are two pages.
type Small = LHashMap<u32, u32, BuildIdentity, 1>;

/// A map with pages of two slots.
type Pairs = LHashMap<u32, u32, BuildIdentity, 2>;

/// Four buckets, each for one entry before a split; merged below nine tenths.
fn builder<const N: usize>() -> Builder<u32, u32, Map, BuildIdentity, N> {
    let builder = LHashMap::builder().hasher(BuildIdentity::default()).page_slots::<N>().fill_factor(1);
    builder.count_policy(CountPolicy::Exact).shrink(ShrinkPolicy::Below { percent: 90 })
}

/// A map where each of these keys has itself as its value.
fn map<const N: usize>(keys: &[u32]) -> Arc<LHashMap<u32, u32, BuildIdentity, N>> {
    filled(builder().build().expect("a small map"), keys)
}

fn filled<const N: usize>(
    map: LHashMap<u32, u32, BuildIdentity, N>,
    keys: &[u32],
) -> Arc<LHashMap<u32, u32, BuildIdentity, N>> {
    for &key in keys {
        assert_eq!(map.pin().insert(key, key), None);
    }
    Arc::new(map)
}

/// Set before an operation, to be seen by whoever sees the operation. Relaxed: it must not help.
#[derive(Default)]
struct Sign(AtomicU32);

impl Sign {
    fn set(&self) {
        self.0.store(1, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 1
    }
}

/// Runs `body` in every execution that loom finds; it returns what came out, and `expected` must all occur.
fn model(expected: &[&str], body: impl Fn() -> String + Sync + Send + 'static) {
    model_within(usize::MAX, expected, body);
}

/// As `model`, with at most so many preemptions where the environment allows more: for long bodies.
fn model_within(preemptions: usize, expected: &[&str], body: impl Fn() -> String + Sync + Send + 'static) {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3)).map(|most| most.min(preemptions));
    builder.max_branches = 10_000;
    let record = Arc::clone(&seen);
    builder.check(move || {
        let outcome = body();
        record.lock().unwrap().insert(outcome);
    });
    let seen = seen.lock().unwrap();
    for outcome in expected {
        assert!(seen.contains(*outcome), "{outcome:?} never came out, only {seen:?}");
    }
}
