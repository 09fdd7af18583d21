//! `CondLock`: counts left behind are folded in once each, and the value lags by no more than it says.

use crate::{Seen, Task, below, explore, pause, together};
use std::sync::Arc;
use sync::CondLock;
use sync::prim::atomic::{AtomicI64, Ordering};

/// A lock, and what its users know of the true count.
#[derive(Debug)]
struct Counted {
    lock: CondLock<i64>,
    /// Updates that have begun.
    begun: AtomicI64,
    /// Updates that have returned.
    returned: AtomicI64,
}

impl Counted {
    fn new(lock: CondLock<i64>) -> Arc<Self> {
        Arc::new(Self { lock, begun: AtomicI64::new(0), returned: AtomicI64::new(0) })
    }

    fn count(&self, delta: i32, seen: &Seen) {
        self.begun.fetch_add(i64::from(delta), Ordering::AcqRel);
        let counted = self.lock.update(delta, |total| self.check(*total));
        self.returned.fetch_add(i64::from(delta), Ordering::AcqRel);
        seen.note(if counted.is_some() { "counted" } else { "deferred" });
    }

    /// What a holder sees: nothing that has not begun, and all but `max_lag` of what has returned.
    fn check(&self, total: i64) {
        pause();
        let returned = self.returned.load(Ordering::Acquire);
        let lag = returned - total;
        assert!(lag <= self.max_lag(), "the value lags by {lag}, {} allowed", self.max_lag());
        let begun = self.begun.load(Ordering::Acquire);
        assert!(total <= begun, "counted twice: {total} of {begun}");
    }

    /// What anybody sees.
    fn observe(&self, seen: &Seen) {
        let pending = self.lock.pending();
        assert!(pending.unsigned_abs() <= self.lock.max_lag(), "{pending} pending");
        if pending != 0 {
            seen.note("pending");
        }
        let cap = i64::from(self.lock.cap());
        if pending > cap {
            seen.note("pending in two slots");
        }
    }

    fn max_lag(&self) -> i64 {
        i64::try_from(self.lock.max_lag()).expect("a model's cap is small")
    }
}

fn times(count: &Arc<Counted>, seen: &Seen, n: u32, work: fn(&Counted, &Seen)) -> Task {
    let (count, seen) = (count.clone(), seen.clone());
    Box::new(move || (0..n).for_each(|_| work(&count, &seen)))
}

/// All have ended: the count is `total`, exactly, for the next one alone.
fn exact_at_the_end(count: &Counted, total: i64) {
    assert_eq!(count.lock.update(0, |value| *value), Some(total), "alone, exact");
    assert_eq!(count.lock.pending(), 0, "everything is folded in");
    assert_eq!(*count.lock.lock(), total);
}

#[test]
fn four_threads_beside_a_holder_count_all_and_once() {
    let seen = explore(30_000, |seen| {
        let count = Counted::new(CondLock::new(0, 4));
        let holder = times(&count, seen, 2, |count, _| {
            let returned = count.returned.load(Ordering::Acquire);
            let total = count.lock.lock();
            assert!(*total >= returned, "{} folded in, {returned} had returned", *total);
            (0..below(8)).for_each(|_| pause());
            count.check(*total);
        });
        let mut tasks = vec![holder];
        tasks.extend((0..3).map(|_| times(&count, seen, 4, |count, seen| count.count(1, seen))));
        tasks.push(times(&count, seen, 4, |count, seen| count.observe(seen)));
        together(tasks);
        exact_at_the_end(&count, 12);
    });
    seen.must_have(&["counted", "deferred", "pending", "pending in two slots"]);
}

#[test]
fn a_small_cap_makes_updates_wait_and_the_lag_stays_within_it() {
    let seen = explore(30_000, |seen| {
        let count = Counted::new(CondLock::new(0, 1));
        let mut tasks: Vec<Task> =
            (0..4).map(|_| times(&count, seen, 3, |count, seen| count.count(1, seen))).collect();
        tasks.push(times(&count, seen, 6, |count, seen| count.observe(seen)));
        together(tasks);
        exact_at_the_end(&count, 12);
    });
    seen.must_have(&["counted", "deferred", "pending", "pending in two slots"]);
}

#[test]
fn removals_beside_insertions_cancel() {
    let seen = explore(24_000, |seen| {
        let lock = Arc::new(CondLock::new(0_i64, 2));
        let adds = |delta: i32| -> Task {
            let (lock, seen) = (lock.clone(), seen.clone());
            Box::new(move || {
                for _ in 0..4 {
                    let counted = lock.update(delta, |_| pause()).is_some();
                    seen.note(if counted { "counted" } else { "deferred" });
                    assert!(lock.pending().unsigned_abs() <= lock.max_lag());
                }
            })
        };
        together([adds(1), adds(-1), adds(2), adds(-2)]);
        assert_eq!(lock.update(0, |value| *value), Some(0), "alone, exact");
        assert_eq!(lock.pending(), 0, "everything is folded in");
    });
    seen.must_have(&["counted", "deferred"]);
}

#[test]
fn a_quiet_lock_keeps_its_cap_and_loses_nothing() {
    let seen = explore(30_000, |seen| {
        let count = Counted::new(CondLock::quiet(0, 2));
        let mut tasks: Vec<Task> =
            (0..4).map(|_| times(&count, seen, 4, |count, seen| count.count(1, seen))).collect();
        tasks.push(times(&count, seen, 4, |count, seen| count.observe(seen)));
        together(tasks);
        assert_eq!(*count.lock.lock(), 16);
        assert_eq!(count.lock.pending(), 0, "everything is folded in");
    });
    seen.must_have(&["counted", "deferred", "pending"]);
}

#[test]
fn forced_updates_among_deferred_ones_lag_by_no_more_than_the_others() {
    let seen = explore(24_000, |seen| {
        let count = Counted::new(CondLock::new(0, 8));
        let forces = times(&count, seen, 3, |count, seen| {
            count.begun.fetch_add(1, Ordering::AcqRel);
            count.lock.force(1, |total| count.check(*total));
            count.returned.fetch_add(1, Ordering::AcqRel);
            seen.note("forced");
        });
        let mut tasks = vec![forces];
        tasks.extend((0..3).map(|_| times(&count, seen, 3, |count, seen| count.count(1, seen))));
        together(tasks);
        exact_at_the_end(&count, 12);
    });
    seen.must_have(&["forced", "counted", "deferred"]);
}
