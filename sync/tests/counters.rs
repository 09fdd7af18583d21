//! Conditional locks and counters: nothing is lost, nothing exceeds its bound, and alone everything is exact.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc;
use std::thread;
use sync::{Absorb, CondLock, Counted, DeferredCounter, ShardedCounter};

/// Runs `busy` while another thread holds the lock.
fn while_held<T: Absorb + Send + Sync, R>(lock: &CondLock<T>, busy: impl FnOnce() -> R) -> R {
    let (held, is_held) = mpsc::channel();
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|s| {
        s.spawn(move || {
            let guard = lock.lock();
            held.send(()).unwrap();
            let _ = is_done.recv();
            drop(guard);
        });
        is_held.recv().unwrap();
        let outcome = busy();
        drop(done);
        outcome
    })
}

#[test]
fn alone_every_update_is_exact_also_after_contention() {
    let lock = CondLock::new(0_i64, 32);
    assert_eq!(lock.update(1, |n| *n), Some(1));
    while_held(&lock, || {
        assert_eq!(lock.update(2, |n| *n), None);
        assert_eq!(lock.update(-1, |n| *n), None);
        assert_eq!(lock.pending(), 1);
    });
    for n in 3..200 {
        assert_eq!(lock.update(1, |n| *n), Some(n), "exact at every step");
        assert_eq!(lock.pending(), 0);
    }
}

#[test]
fn deferred_and_exact_counting_agree_after_every_operation_of_one_thread() {
    let (exact, deferred, quiet) =
        (CondLock::new(0_i64, 0), CondLock::new(0_i64, 32), CondLock::quiet(0_i64, 32));
    let mut random = 0x9e37_79b9_u64; // the seed: fixed, the sequence is what matters
    for _ in 0..10_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let delta = (random >> 33) as i32 % 100;
        let of_exact = exact.update(delta, |n| *n);
        assert!(of_exact.is_some());
        assert_eq!(of_exact, deferred.update(delta, |n| *n));
        assert_eq!(of_exact, quiet.update(delta, |n| *n));
    }
}

#[test]
fn a_slot_stops_at_its_cap_in_both_directions_and_then_its_thread_waits() {
    for sign in [1, -1] {
        let lock = Arc::new(CondLock::new(0_i64, 4));
        let waited = Arc::new(AtomicBool::new(false));
        let adder = while_held(&lock, || {
            let (adds, waits) = (lock.clone(), waited.clone());
            let (at_cap, is_at_cap) = mpsc::channel();
            let adder = thread::spawn(move || {
                for _ in 0..4 {
                    assert_eq!(adds.update(sign, |n| *n), None);
                }
                at_cap.send(()).unwrap();
                let total = adds.update(sign, |n| *n);
                waits.store(true, Ordering::Release);
                assert_eq!(total, Some(5 * i64::from(sign)));
            });
            is_at_cap.recv().unwrap();
            thread::yield_now();
            assert!(!waited.load(Ordering::Acquire), "the fifth must wait for the lock");
            assert_eq!(lock.pending(), 4 * i64::from(sign));
            adder
        });
        adder.join().unwrap();
        assert!(waited.load(Ordering::Acquire));
    }
}

#[test]
fn one_update_beyond_the_cap_waits_instead_of_breaking_the_bound() {
    let lock = Arc::new(CondLock::new(0_i64, 32));
    let adder = while_held(&lock, || {
        let adds = lock.clone();
        let adder = thread::spawn(move || adds.update(1000, |n| *n));
        for _ in 0..100 {
            assert_eq!(lock.pending(), 0, "1000 exceeds the cap");
            thread::yield_now();
        }
        adder
    });
    assert_eq!(adder.join().unwrap(), Some(1000));
}

#[test]
fn the_lag_never_exceeds_its_bound_however_many_threads_come_and_go() {
    let lock = CondLock::new(0_i64, 8);
    let (started, returned) = (AtomicI64::new(0), AtomicI64::new(0));
    let mut deferred = 0;
    for _ in 0..20 {
        let of_round: i64 = thread::scope(|s| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    s.spawn(|| {
                        let mut deferred = 0;
                        for _ in 0..500 {
                            started.fetch_add(1, Ordering::SeqCst);
                            deferred += i64::from(lock.update(1, |_| thread::yield_now()).is_none());
                            returned.fetch_add(1, Ordering::SeqCst);
                        }
                        deferred
                    })
                })
                .collect();
            for _ in 0..50 {
                assert!(lock.pending().unsigned_abs() <= lock.max_lag());
                let before = returned.load(Ordering::SeqCst);
                let exact = *lock.lock();
                let after = started.load(Ordering::SeqCst);
                assert!((before..=after).contains(&exact), "{exact} outside {before}..={after}");
            }
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        deferred += of_round;
    }
    assert!(deferred > 0, "the threads never met");
    assert_eq!(*lock.lock(), 20 * 8 * 500);
}

#[test]
fn counts_of_ten_thousand_short_lived_threads_are_all_there() {
    let counter = DeferredCounter::new();
    for _ in 0..1250 {
        thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| counter.add(1));
            }
        });
    }
    assert_eq!(counter.exact(), 10_000);
}

#[test]
fn counts_left_in_a_scope_are_there_when_the_scope_returns() {
    let lock = CondLock::new(0_i64, 32);
    while_held(&lock, || {
        thread::scope(|s| {
            for _ in 0..64 {
                s.spawn(|| assert_eq!(lock.update(1, |n| *n), None));
            }
        });
        assert_eq!(
            lock.pending(),
            64,
            "no thread took its counts with it, and twice as many threads as slots"
        );
    });
    assert_eq!(*lock.lock(), 64);
}

static LATE: std::sync::LazyLock<(DeferredCounter, ShardedCounter)> =
    std::sync::LazyLock::new(Default::default);

struct CountsWhenDropped;

impl Drop for CountsWhenDropped {
    fn drop(&mut self) {
        LATE.0.add(1);
        LATE.1.add(1);
        LATE.0.exact();
    }
}

#[test]
fn counting_works_inside_another_thread_locals_destructor() {
    thread_local! {
        static LAST: RefCell<Option<CountsWhenDropped>> = const { RefCell::new(None) };
    }
    for _ in 0..100 {
        thread::spawn(|| LAST.with(|last| *last.borrow_mut() = Some(CountsWhenDropped))).join().unwrap();
    }
    // `join` may return before the destructors have run.
    while LATE.0.exact() < 100 || LATE.1.sum() < 100 {
        thread::yield_now();
    }
    assert_eq!((LATE.0.exact(), LATE.1.sum()), (100, 100));
}

#[test]
fn a_panic_in_the_closure_loses_no_count_and_frees_the_lock() {
    let lock = CondLock::new(0_i64, 32);
    let outcome = catch_unwind(AssertUnwindSafe(|| lock.update(3, |_| panic!("in the closure"))));
    assert!(outcome.is_err());
    assert_eq!(lock.update(1, |n| *n), Some(4));
}

#[test]
fn a_panic_in_absorb_leaves_the_count_pending() {
    struct PanicsOnce(i64, bool);
    impl Absorb for PanicsOnce {
        fn absorb(&mut self, n: i64) {
            assert!(core::mem::replace(&mut self.1, true), "the first time");
            self.0 += n;
        }
    }
    let lock = CondLock::new(PanicsOnce(0, false), 32);
    assert!(catch_unwind(AssertUnwindSafe(|| lock.update(3, |_| ()))).is_err());
    assert_eq!(lock.pending(), 3);
    assert_eq!(lock.update(1, |n| n.0), Some(4));
}

#[test]
fn an_update_from_inside_the_closure_defers_instead_of_hanging() {
    let lock = CondLock::new(0_i64, 32);
    let inner = lock.update(1, |_| lock.update(1, |n| *n));
    assert_eq!(inner, Some(None));
    assert_eq!(*lock.lock(), 2);
}

#[test]
fn an_unsigned_count_stays_within_its_bounds() {
    let mut lock = CondLock::new(2_u64, 32);
    assert_eq!(lock.update(-5, |n| *n), Some(0));
    *lock.get_mut() = u64::MAX - 1;
    assert_eq!(lock.update(7, |n| *n), Some(u64::MAX));
    assert_eq!(lock.into_inner(), u64::MAX);
}

#[test]
fn a_cap_of_zero_defers_nothing_and_the_largest_cap_is_a_bound_too() {
    assert_eq!(CondLock::new(0_i64, 0).max_lag(), 0);
    assert_eq!(DeferredCounter::with_cap(u32::MAX).max_lag(), 64 * u64::from(u32::MAX));
    let counter = DeferredCounter::with_cap(0);
    assert_eq!(counter.add(i32::MIN), Counted::Now(i64::from(i32::MIN)));
}

#[test]
fn sums_beside_adds_and_folds_stay_between_what_has_ended_and_what_has_begun() {
    let counter = ShardedCounter::new();
    let (started, returned) = (AtomicI64::new(0), AtomicI64::new(0));
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for n in 0..20_000 {
                    let n = 1 + n % 100;
                    started.fetch_add(n, Ordering::SeqCst);
                    counter.add(n);
                    returned.fetch_add(n, Ordering::SeqCst);
                }
            });
        }
        for _ in 0..200 {
            let before = returned.load(Ordering::SeqCst);
            let sum = counter.sum();
            let after = started.load(Ordering::SeqCst);
            assert!((before..=after).contains(&sum), "{sum} outside {before}..={after}");
        }
    });
    assert_eq!(counter.sum(), started.into_inner());
    assert!(counter.approx() > 0, "nothing was ever folded");
}

#[test]
fn a_sharded_count_that_was_removed_elsewhere_reads_as_what_it_is() {
    let counter = ShardedCounter::new();
    counter.add(100);
    thread::scope(|s| s.spawn(|| counter.add(-100)).join().unwrap());
    assert_eq!(counter.sum(), 0);
    counter.add(-1);
    assert_eq!(counter.sum(), -1, "and never as a huge number");
}

#[test]
fn a_comparison_is_exact_near_the_value_and_right_far_from_it() {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let counter = ShardedCounter::new();
    for (add, with, expected) in [
        (1_000_000, 999_999, Greater),
        (0, 1_000_000, Equal),
        (0, 1_000_001, Less),
        (0, i64::MIN, Greater),
        (0, i64::MAX, Less),
        (-2_000_000, -1_000_000, Equal),
    ] {
        counter.add(add);
        assert_eq!(counter.compare(with), expected, "with {with}");
    }
}

#[test]
fn counters_of_different_kinds_share_threads_without_sharing_slots() {
    let counters: Vec<_> = (0..10).map(|_| (DeferredCounter::with_cap(3), ShardedCounter::new())).collect();
    thread::scope(|s| {
        for _ in 0..100 {
            s.spawn(|| {
                for (deferred, sharded) in &counters {
                    deferred.add(1);
                    sharded.add(1);
                }
            });
        }
    });
    for (deferred, sharded) in &counters {
        assert_eq!((deferred.exact(), sharded.sum()), (100, 100));
    }
}

#[test]
fn a_panic_in_absorb_while_the_value_is_taken_out_leaves_the_count_pending() {
    struct Refuses;
    impl Absorb for Refuses {
        fn absorb(&mut self, _: i64) {
            panic!("refuses");
        }
    }
    let mut lock = CondLock::new(Refuses, 32);
    while_held(&lock, || assert!(lock.update(5, |_| ()).is_none()));
    assert!(
        catch_unwind(AssertUnwindSafe(|| {
            lock.get_mut();
        }))
        .is_err()
    );
    assert_eq!(lock.pending(), 5);
}

#[test]
fn sums_wrap_as_additions_do() {
    let counter = ShardedCounter::new();
    for n in [i64::MAX, 5, i64::MAX] {
        counter.add(n);
    }
    assert_eq!(counter.sum(), i64::MAX.wrapping_add(5).wrapping_add(i64::MAX));
}
