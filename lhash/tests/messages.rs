//! Every constructor and operation with a wrong argument: what its user reads names the field, the value and the bound.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

use lhash::{CountPolicy, LHashMap, LHashMultiMap, ShrinkPolicy};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A map and a multimap with the setting, which must be refused alike.
macro_rules! build {
    ($expected:expr, $($set:tt)*) => {
        let map = LHashMap::<u64, u64>::builder().$($set)*.build().expect_err("the setting is wrong");
        assert_eq!(map.to_string(), $expected);
        let multimap = LHashMultiMap::<u64, u64>::builder().$($set)*.build().expect_err("the setting is wrong");
        assert_eq!(multimap.to_string(), $expected);
    };
}

#[test]
fn settings() {
    build!("fill_factor must be 1 to 1048576 entries a bucket, but is 0", fill_factor(0));
    build!("min_buckets must be 1 to 2147483648, but is 0", min_buckets(0));
    build!(
        "the cap of a count policy must be 1 to 16777216, but is 0",
        count_policy(CountPolicy::Deferred { cap: 0 })
    );
    build!(
        "the percentage of a shrink policy must be at most 90, but is 101",
        shrink(ShrinkPolicy::Below { percent: 101 })
    );
    #[cfg(target_pointer_width = "64")]
    {
        let expected = format!("capacity must be at most 21474836475 entries, but is {}", usize::MAX);
        build!(expected, capacity(usize::MAX));
    }
}

#[test]
fn operations() {
    let map = LHashMap::<u64, u64>::new();
    let pin = map.pin();
    let error = pin.try_reserve(usize::MAX).expect_err("too many").to_string();
    let expected =
        format!("no room for {} more entries: out of memory, or more than 2^32 buckets", usize::MAX);
    assert_eq!(error, expected);
    let payload = catch_unwind(AssertUnwindSafe(|| pin.reserve(usize::MAX))).expect_err("too many");
    assert_eq!(payload.downcast_ref::<String>(), Some(&expected));
    pin.insert(1, 2);
    let error = pin.try_insert(1, 3).expect_err("it is there");
    assert_eq!(error.to_string(), "the key has the value 2 already; 3 was not inserted");
}
