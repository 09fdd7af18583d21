//! `LHashMap` and `LHashMultiMap` on one thread at a time: every call must return what a model of std's maps returns, and
//! counts, figures and [`validate`](lhash::LHashMap::validate) must agree with it.
//!
//! An input is a header of eight bytes (`hash/setup.rs`) and then operations. Pages and fill factors are small and keys
//! hash badly, so that splits, merges and overflow pages are common. Counts meet a busy metapage where the input
//! says so, and some operations are done on threads that end.
//!
//! Next: `hash/map.rs` and `hash/multi.rs`, the operations; `hash/run_map.rs` and `hash/run_multi.rs`, which do them.

pub mod map;
pub mod multi;
mod run_map;
mod run_multi;
mod setup;

use lhash::{CountPolicy, Stats};
pub(crate) use setup::Setup;
use sync::inject::{self, Forced, Point};

/// How many different keys there are.
const KEYS: u8 = 48;

/// A key from a byte: low bits, and some that only a hash of all bits tells apart.
fn key(byte: u8) -> u64 {
    let n = u64::from(byte % KEYS);
    n & 15 | (n >> 4) << 40
}

/// Lets the next tries of a lock on this thread fail, as bits say: of the metapage, or of any lock.
fn busy(point: u8, outcomes: u8) -> Forced {
    let point = if point & 1 == 0 { Point::CondBusy } else { Point::TryLock };
    inject::force(point, u64::from(outcomes))
}

/// What must be true of the figures of a table that has `entries` entries and began with so many buckets.
fn check_stats(setup: &Setup, stats: &Stats, entries: usize, start: u64) {
    let buckets = u64::from(stats.max_bucket) + 1;
    let mask = u32::try_from(buckets.next_power_of_two() - 1).expect("few buckets");
    assert_eq!((stats.high_mask, stats.low_mask), (mask, mask >> 1), "{stats:?}");
    assert_eq!((stats.primary_pages, stats.fill_factor), (buckets, setup.fill_factor), "{stats:?}");
    assert_eq!(stats.splits + start, stats.merges + buckets, "{stats:?}");
    assert!(stats.overflow_pages <= entries as u64, "an overflow page has entries: {stats:?}");
    assert!(buckets >= u64::from(setup.min_buckets.max(4)), "{stats:?}");
    match setup.policy {
        CountPolicy::OverflowSignal => assert_eq!(stats.max_lag, None),
        _ => {
            assert_eq!(stats.ntuples, entries as u64, "{stats:?}");
            assert!(stats.max_lag.is_some_and(|lag| stats.pending.unsigned_abs() <= lag), "{stats:?}");
        }
    }
    if setup.policy == CountPolicy::Exact {
        assert_eq!((stats.max_lag, stats.pending), (Some(0), 0));
        assert!(entries as u64 <= u64::from(setup.fill_factor) * buckets, "a split is due: {stats:?}");
    }
}

/// The most buckets that are left when a table with so many entries was told to shrink.
fn most_after_shrinking(setup: &Setup, entries: usize) -> u64 {
    let needed = (entries as u64).div_ceil(u64::from(setup.fill_factor));
    needed.max(u64::from(setup.min_buckets.max(4)))
}
