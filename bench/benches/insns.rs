//! Instructions of the hot operations, counted by valgrind: `cargo xtask insns` runs this and compares with the record.
//! Each function does its operation [`TIMES`] times on what was prepared before, alone, on one thread.

#[cfg(target_os = "linux")]
mod counted {
    use std::hint::black_box;

    use flatmap::{BufferTag, FlatMap};
    use gungraun::{library_benchmark, library_benchmark_group};
    use lhash::{LHashMap, LHashMultiMap};
    use sync::{CondLock, DeferredCounter, LwLock, ProgressLock, SeqLock, ShardedCounter};

    /// How often an operation is done; `cargo xtask insns` divides by it.
    const TIMES: u32 = 1000;
    const ENTRIES: u32 = 4096;

    fn leaked<T>(value: T) -> &'static T {
        Box::leak(Box::new(value))
    }

    fn tag(block_number: u32) -> BufferTag {
        BufferTag { spc_oid: 1663, db_oid: 5, rel_number: 16384, fork_number: 0, block_number }
    }

    fn flat() -> &'static FlatMap<BufferTag, foldhash::fast::FixedState> {
        let builder = FlatMap::builder().slots(ENTRIES + TIMES).hasher(foldhash::fast::FixedState::default());
        let table = builder.build().expect("valid");
        for slot in 0..ENTRIES {
            table.insert(tag(slot), slot).expect("free");
        }
        leaked(table)
    }

    fn map() -> &'static LHashMap<u64, u64, foldhash::fast::FixedState> {
        let map = LHashMap::with_hasher(foldhash::fast::FixedState::default());
        map.pin().extend((0..u64::from(ENTRIES)).map(|key| (key, key)));
        leaked(map)
    }

    fn index() -> &'static LHashMultiMap<u64, u64, foldhash::fast::FixedState> {
        let index =
            LHashMultiMap::builder().hasher(foldhash::fast::FixedState::default()).build().expect("valid");
        index.pin().extend((0..u64::from(ENTRIES)).map(|key| (key, key)));
        leaked(index)
    }

    /// A benchmark: on what it is done, and what is done with each of the numbers below [`TIMES`].
    macro_rules! operation {
        ($name:ident, $subject:expr, $type:ty, |$on:ident, $i:ident| $body:expr) => {
            #[library_benchmark]
            #[bench::op($subject)]
            fn $name($on: &'static $type) {
                for $i in 0..TIMES {
                    let _ = black_box($body);
                }
            }
        };
    }

    type Flat = FlatMap<BufferTag, foldhash::fast::FixedState>;
    type Map = LHashMap<u64, u64, foldhash::fast::FixedState>;
    type Index = LHashMultiMap<u64, u64, foldhash::fast::FixedState>;

    operation!(flatmap_get_hit, flat(), Flat, |table, i| table.get(&tag(i)));
    operation!(flatmap_get_miss, flat(), Flat, |table, i| table.get(&tag(ENTRIES + i)));
    operation!(flatmap_get_many_32, flat(), Flat, |table, i| {
        let mut found = [None; 32];
        table.get_many(&std::array::from_fn::<_, 32, _>(|n| tag(i + n as u32)), &mut found);
        found
    });
    operation!(flatmap_insert, flat(), Flat, |table, i| table.insert(tag(ENTRIES + i), ENTRIES + i));
    operation!(flatmap_remove, flat(), Flat, |table, i| table.remove(&tag(i)));
    operation!(lhash_get_hit, map(), Map, |map, i| map.pin().get(&u64::from(i)).copied());
    operation!(lhash_get_miss, map(), Map, |map, i| map.pin().get(&u64::from(ENTRIES + i)).copied());
    operation!(lhash_insert, map(), Map, |map, i| map.pin().insert(u64::from(ENTRIES + i), 1).copied());
    operation!(lhash_update, map(), Map, |map, i| map.pin().update(u64::from(i), |n| n + 1).copied());
    operation!(lhash_remove, map(), Map, |map, i| map.pin().remove(&u64::from(i)).copied());
    operation!(lhash_multi_insert, index(), Index, |index, i| index.pin().insert(u64::from(i), 1));
    operation!(lhash_multi_count, index(), Index, |index, i| index.pin().count(&u64::from(i)));
    operation!(sync_read, leaked(LwLock::new(1_u64)), LwLock<u64>, |lock, _i| *lock.read());
    operation!(sync_write, leaked(LwLock::new(1_u64)), LwLock<u64>, |lock, i| *lock.write() += u64::from(i));
    operation!(sync_try_busy, busy(), LwLock<u64>, |lock, _i| lock.try_write().is_some());
    operation!(sync_cond_update, leaked(CondLock::new(0, 32)), CondLock<i64>, |lock, _i| lock
        .update(1, |n| *n));
    operation!(sync_deferred_add, leaked(DeferredCounter::new()), DeferredCounter, |count, _i| count.add(1));
    operation!(sync_sharded_add, leaked(ShardedCounter::new()), ShardedCounter, |count, _i| count.add(1));
    operation!(sync_seqlock_read, leaked(SeqLock::new([1_u64; 4])), SeqLock<[u64; 4]>, |lock, _i| lock
        .read());
    operation!(sync_progress, leaked(ProgressLock::new(())), ProgressLock<()>, |lock, _i| lock.progress());

    /// A lock that somebody holds for ever.
    fn busy() -> &'static LwLock<u64> {
        let lock = leaked(LwLock::new(1));
        std::mem::forget(lock.read());
        lock
    }

    library_benchmark_group!(
        name = all;
        benchmarks = flatmap_get_hit, flatmap_get_miss, flatmap_get_many_32, flatmap_insert, flatmap_remove,
            lhash_get_hit, lhash_get_miss, lhash_insert, lhash_update, lhash_remove, lhash_multi_insert,
            lhash_multi_count, sync_read, sync_write, sync_try_busy, sync_cond_update, sync_deferred_add,
            sync_sharded_add, sync_seqlock_read, sync_progress
    );
}

#[cfg(target_os = "linux")]
use counted::all;

#[cfg(target_os = "linux")]
gungraun::main!(library_benchmark_groups = all);

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("valgrind counts instructions on Linux only");
}
