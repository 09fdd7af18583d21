//! A child after `fork`: locks and counters that nobody held are free there, with what they held; one that the parent held is
//! held, by nobody who could let go.
#![cfg(all(unix, not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle")))))]

#[path = "common/child.rs"]
mod child;

use child::in_a_child;
use std::time::Duration;
use sync::{CondLock, DeferredCounter, LwLock, Progress, ProgressLock, SeqLock, ShardedCounter};

#[test]
fn a_child_has_locks_and_counters_of_its_own() {
    let (free, held) = (LwLock::new(1), LwLock::new(2));
    let (seq, progress) = (SeqLock::new([1_u64, 2]), ProgressLock::new(()));
    let (cond, deferred, sharded) = (CondLock::new(0_i64, 4), DeferredCounter::new(), ShardedCounter::new());
    // Another thread has used them, and rests; it leaves counts pending.
    let busy = cond.lock();
    std::thread::scope(|s| {
        s.spawn(|| {
            *free.write() += 1;
            *seq.write() = [3, 4];
            assert_eq!(cond.update(3, |n| *n), None);
            deferred.add(5);
            sharded.add(6);
        });
    });
    drop(busy);
    let guard = held.read();
    let child = || {
        assert!(held.try_write_for(Duration::from_millis(1)).is_none(), "the parent's hold came along");
        assert!(held.try_read().is_some(), "a shared one");
        *free.write() += 1;
        *seq.write() = [5, 6];
        assert_eq!((*free.read(), seq.read()), (3, [5, 6]));
        assert_eq!((cond.pending(), *cond.lock()), (3, 3), "what was pending is here too");
        deferred.add(1);
        sharded.add(1);
        assert_eq!((deferred.exact(), sharded.sum()), (6, 7));
        // Its own threads wait for each other and wake each other.
        std::thread::scope(|s| {
            let mut published = 0;
            let mut writer = progress.write();
            let waiter = s.spawn(|| progress.wait_past(0));
            while !waiter.is_finished() {
                published += 1;
                writer.set_progress(published);
                std::thread::yield_now();
            }
            assert!(matches!(waiter.join().expect("no panic"), Progress::Changed(_)));
        });
    };
    assert_eq!(in_a_child(child), 0);
    assert_eq!(in_a_child(|| panic!("a child may fail")), 101);
    drop(guard);
    assert!(held.try_write().is_some());
    assert_eq!((*free.read(), seq.read(), *cond.lock()), (2, [3, 4], 3), "as they were");
    assert_eq!((deferred.exact(), sharded.sum()), (5, 6));
}
