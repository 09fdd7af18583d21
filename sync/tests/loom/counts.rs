//! Pending counts: none is lost or counted twice, whoever folds when.

use crate::{Seen, Task, explore, join, start};
use std::sync::Arc;
use sync::prim::atomic::{AtomicBool, Ordering};
use sync::{CondLock, Counted, DeferredCounter, ShardedCounter};

fn run<const N: usize>(tasks: [Task; N]) {
    start(tasks).into_iter().for_each(join);
}

fn note_kind(seen: &Seen, counted: Option<i64>) {
    seen.note(if counted.is_some() { "counted" } else { "deferred" });
}

fn update(lock: &Arc<CondLock<i64>>, seen: &Seen, n: i32) -> Task {
    let (lock, seen) = (lock.clone(), seen.clone());
    Box::new(move || note_kind(&seen, lock.update(n, |total| *total)))
}

#[test]
fn two_updates_count_both_and_the_next_one_alone_is_exact() {
    let seen = explore(|seen| {
        let lock = Arc::new(CondLock::new(0, 4));
        run([update(&lock, seen, 1), update(&lock, seen, 2)]);
        let alone = lock.clone();
        run([Box::new(move || {
            assert_eq!(alone.update(4, |total| *total), Some(7), "alone, exact");
            assert_eq!(alone.pending(), 0, "everything is folded in");
        })]);
    });
    seen.must_be(&["counted", "deferred"]);
}

#[test]
fn three_updates_of_two_slots_lose_nothing() {
    let seen = explore(|seen| {
        let lock = Arc::new(CondLock::new(0, 4));
        run([update(&lock, seen, 1), update(&lock, seen, 2), update(&lock, seen, 4)]);
        assert_eq!(*lock.lock(), 7);
    });
    seen.must_be(&["counted", "deferred"]);
}

#[test]
fn an_exact_read_finds_all_that_has_returned_and_nothing_that_has_not_begun() {
    let seen = explore(|seen| {
        let lock = Arc::new(CondLock::new(0, 4));
        let exact = {
            let (lock, seen) = (lock.clone(), seen.clone());
            Box::new(move || {
                lock.update(1, |_| ());
                let total = *lock.lock();
                assert!((1..=3).contains(&total) && total != 2, "{total}");
                seen.note(format!("exact {total}"));
            })
        };
        run([update(&lock, seen, 2), exact]);
        assert_eq!(*lock.lock(), 3);
    });
    seen.must_have(&["exact 1", "exact 3", "deferred"]);
}

#[test]
fn a_slot_at_its_cap_makes_its_thread_wait_and_not_exceed() {
    let seen = explore(|seen| {
        let lock = Arc::new(CondLock::new(0, 1));
        let twice = {
            let (lock, seen) = (lock.clone(), seen.clone());
            Box::new(move || {
                let first = lock.update(1, |total| *total);
                let second = lock.update(1, |total| *total);
                seen.note(format!("{} then {}", first.is_some(), second.is_some()));
                assert!(lock.pending().unsigned_abs() <= lock.max_lag());
            })
        };
        run([update(&lock, seen, 1), twice]);
        assert_eq!(*lock.lock(), 3);
    });
    seen.must_have(&["false then true", "true then false", "true then true"]);
}

#[test]
fn an_update_at_the_cap_waits_for_the_holder() {
    explore(|_| {
        let lock = Arc::new(CondLock::new(0_i64, 1));
        let leaves = Arc::new(AtomicBool::new(false));
        let held = lock.lock();
        let twice = {
            let (lock, leaves) = (lock.clone(), leaves.clone());
            start([Box::new(move || {
                lock.update(1, |_| ());
                lock.update(1, |_| ());
                // Relaxed: the lock orders it.
                assert!(leaves.load(Ordering::Relaxed), "a slot of one holds two");
            }) as Task])
        };
        // Relaxed: as above.
        leaves.store(true, Ordering::Relaxed);
        drop(held);
        twice.into_iter().for_each(join);
        assert_eq!(*lock.lock(), 2);
    });
}

#[test]
fn a_panic_in_the_closure_loses_no_count_and_frees_the_lock() {
    explore(|seen| {
        let lock = Arc::new(CondLock::new(0, 4));
        let panics = {
            let lock = lock.clone();
            Box::new(move || {
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    lock.update(2, |_| std::panic::resume_unwind(Box::new(())))
                }));
                drop(outcome);
            })
        };
        run([update(&lock, seen, 1), panics]);
        assert_eq!(*lock.lock(), 3);
    });
}

#[test]
fn a_deferred_counter_lags_by_no_more_than_it_says() {
    let seen = explore(|seen| {
        let counter = Arc::new(DeferredCounter::with_cap(4));
        let add = |n: i32| -> Task {
            let (counter, seen) = (counter.clone(), seen.clone());
            Box::new(move || {
                counter.add(n);
                let lag = 3 - counter.approx();
                assert!((0..=3).contains(&lag));
                seen.note(format!("lag {lag}"));
            })
        };
        run([add(1), add(2)]);
        assert_eq!(counter.exact(), 3);
        assert_eq!(counter.approx(), 3);
    });
    seen.must_have(&["lag 0", "lag 1", "lag 2"]);
}

#[test]
fn a_sum_beside_a_fold_counts_nothing_twice() {
    let seen = explore(|seen| {
        let counter = Arc::new(ShardedCounter::new());
        let (adds, sums, seen) = (counter.clone(), counter.clone(), seen.clone());
        run([
            Box::new(move || adds.add(600)),
            Box::new(move || {
                let sum = sums.sum();
                assert!(sum == 0 || sum == 600, "{sum}");
                seen.note(sum.to_string());
            }),
        ]);
        assert_eq!((counter.sum(), counter.approx()), (600, 600));
    });
    seen.must_be(&["0", "600"]);
}

#[test]
fn folds_of_two_shards_keep_both() {
    explore(|_| {
        let counter = Arc::new(ShardedCounter::new());
        let add = |n: i64| -> Task {
            let counter = counter.clone();
            Box::new(move || counter.add(n))
        };
        run([add(600), add(-1000)]);
        assert_eq!((counter.sum(), counter.approx()), (-400, -400));
    });
}

/// Adds 1 to a counter, beside an addition of `other` to the same slot, and then raises a flag. A thread that has
/// seen the flag must count the 1: exactly once, with or without the other addition.
fn a_signalled_addition_is_counted<C: Default + 'static>(
    other: i32,
    add: fn(&C, i32) -> &'static str,
    exact: fn(&C) -> i64,
) -> Seen {
    explore(move |seen| {
        let shared = Arc::new((C::default(), AtomicBool::new(false)));
        let (first, looks, second) = (shared.clone(), shared.clone(), shared.clone());
        let (of_first, of_looks) = (seen.clone(), seen.clone());
        run([
            Box::new(move || {
                of_first.note(add(&first.0, 1));
                first.1.store(true, Ordering::Release);
            }),
            Box::new(move || {
                // Both others may leave their counts meanwhile, one before the other has marked the slot.
                exact(&looks.0);
                let signalled = looks.1.load(Ordering::Acquire);
                let total = exact(&looks.0);
                let possible = [0, 1, i64::from(other), i64::from(other) + 1];
                assert!(possible.contains(&total), "{total}");
                assert!(!signalled || total % 2 == 1, "the flag is up and the total {total}");
                of_looks.note(format!("signalled: {signalled}, {total}"));
            }),
            // The third to start, so that it shares a slot with the first.
            Box::new(move || {
                add(&second.0, other);
            }),
        ]);
        assert_eq!(exact(&shared.0), i64::from(other) + 1, "counted once");
    })
}

#[test]
fn an_exact_count_has_every_addition_that_happened_before_it() {
    let seen = a_signalled_addition_is_counted(
        2,
        |counter: &DeferredCounter, n| if counter.add(n) == Counted::Later { "deferred" } else { "counted" },
        DeferredCounter::exact,
    );
    seen.must_have(&["deferred", "counted", "signalled: true, 1", "signalled: true, 3"]);
    seen.must_have(&[
        "signalled: false, 0",
        "signalled: false, 1",
        "signalled: false, 2",
        "signalled: false, 3",
    ]);
}

#[test]
fn a_sum_has_every_addition_that_happened_before_it_beside_a_fold_of_the_same_shard() {
    let seen = a_signalled_addition_is_counted(
        600,
        |counter: &ShardedCounter, n| {
            counter.add(i64::from(n));
            "added"
        },
        ShardedCounter::sum,
    );
    seen.must_have(&["signalled: true, 1", "signalled: true, 601"]);
    seen.must_have(&["signalled: false, 0", "signalled: false, 600"]);
}
