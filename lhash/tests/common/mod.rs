//! What the tests share, beside the tools of other crates' tests: threads that start together, values that count
//! their drops, keys that call back, and the check that all views of a map agree.
#![allow(dead_code, unused_imports, reason = "each test file uses the part it needs")]

mod counted;
mod hooked;
mod tools;

pub(crate) use counted::{Counted, Tally};
pub(crate) use hooked::{Hooked, at_next_comparison};
use lhash::{CountPolicy, LHashMap, Stats};
use std::collections::HashSet;
use std::env;
use std::fmt::Debug;
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;
pub(crate) use tools::*;

/// Repeats a random test.
const SEED: &str = "LHASH_SEED";

/// The policies that lose no count.
pub(crate) const POLICIES: [CountPolicy; 4] = [
    CountPolicy::Exact,
    CountPolicy::Deferred { cap: 32 },
    CountPolicy::Quiet { cap: 32 },
    CountPolicy::Sharded,
];

/// Whether the long variants of the tests are asked for, with `LHASH_LONG`.
pub(crate) fn is_long() -> bool {
    env::var_os("LHASH_LONG").is_some()
}

/// Runs `work` on so many threads that start together. Each has its number and a generator of its own.
pub(crate) fn together(threads: usize, rng: &mut Rng, work: impl Fn(usize, &mut Rng) + Sync) {
    let line = StartLine::new(threads);
    thread::scope(|s| {
        for number in 0..threads {
            let (mut rng, line, work) = (rng.split(), &line, &work);
            s.spawn(move || {
                line.wait();
                work(number, &mut rng);
            });
        }
    });
}

/// Runs `look`, and meanwhile `busy` over and over on a thread of its own.
pub(crate) fn beside<R>(busy: impl Fn() + Sync, look: impl FnOnce() -> R) -> R {
    let stop = AtomicBool::new(false);
    thread::scope(|s| {
        s.spawn(|| {
            let _stop = StopAll(&stop); // also when this thread panics
            while !stop.load(Ordering::Relaxed) {
                busy();
            }
        });
        let _stop = StopAll(&stop);
        look()
    })
}

/// Does something over and over until it has met what it is for.
#[track_caller]
pub(crate) fn until(met: impl Fn() -> bool, mut step: impl FnMut()) {
    let start = Instant::now();
    while !met() {
        step();
        assert!(start.elapsed() < PATIENCE, "the threads do not meet");
    }
}

/// At rest: buckets, counts and figures tell the same story.
#[track_caller]
pub(crate) fn validate<K, V, S, const N: usize>(map: &LHashMap<K, V, S, N>)
where
    K: Hash + Eq + Debug + Send + 'static,
    V: Send + 'static,
    S: BuildHasher,
{
    let listed = each_once(map);
    assert_eq!((map.len(), map.exact_len()), (listed, listed), "buckets and counts");
    assert_eq!(map.is_empty(), listed == 0);
    let stats = map.stats();
    assert_eq!((stats.ntuples, stats.pending), (listed as u64, 0), "the figures");
    check_geometry(&stats);
    assert_eq!(map.validate(), Ok(()));
}

/// As `validate`, for a map that does not count well.
#[track_caller]
pub(crate) fn each_once<K, V, S, const N: usize>(map: &LHashMap<K, V, S, N>) -> usize
where
    K: Hash + Eq + Debug + Send + 'static,
    V: Send + 'static,
    S: BuildHasher,
{
    let pin = map.pin();
    let mut keys = HashSet::new();
    for (key, value) in pin.iter() {
        let (found, its_value) = pin.get_key_value(key).expect("what is listed is found");
        assert!(std::ptr::eq(found, key) && std::ptr::eq(its_value, value), "{key:?} is there twice");
        assert!(keys.insert(key), "{key:?} is listed twice");
    }
    keys.len()
}

#[track_caller]
pub(crate) fn check_geometry(stats: &Stats) {
    let mask = (stats.max_bucket + 1).next_power_of_two() - 1;
    assert_eq!((stats.high_mask, stats.low_mask), (mask, mask >> 1));
    assert_eq!(stats.primary_pages, u64::from(stats.max_bucket) + 1);
    // A page has at least one entry, so there is no more than one page to each.
    assert!(stats.overflow_pages <= stats.ntuples, "{stats:?}");
}
