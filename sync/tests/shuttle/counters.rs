//! The counters on top: what they promise while others add, and that nothing ends with a thread.

use crate::{Seen, Task, explore, pause, together};
use std::cell::RefCell;
use std::sync::Arc;
use sync::prim::atomic::{AtomicI64, Ordering};
use sync::prim::shuttle;
use sync::{Counted, DeferredCounter, ShardedCounter};

/// How much has begun to be added, and how much has been.
#[derive(Debug, Default)]
struct Known {
    begun: AtomicI64,
    returned: AtomicI64,
}

impl Known {
    fn adding<R>(&self, n: i64, add: impl FnOnce() -> R) -> R {
        self.begun.fetch_add(n, Ordering::AcqRel);
        let result = add();
        self.returned.fetch_add(n, Ordering::AcqRel);
        result
    }

    /// What `look` returns lies between what had returned before and what had begun after, but for `lag`.
    fn within(&self, lag: i64, look: impl FnOnce() -> i64) -> i64 {
        let returned = self.returned.load(Ordering::Acquire);
        let found = look();
        let begun = self.begun.load(Ordering::Acquire);
        assert!((returned - lag..=begun).contains(&found), "{found}, not {returned} - {lag} to {begun}");
        found
    }
}

type Shared<C> = Arc<(C, Known)>;

fn times<C: Send + Sync + 'static>(of: &Shared<C>, seen: &Seen, n: u32, work: fn(&C, &Known, &Seen)) -> Task {
    let (of, seen) = (of.clone(), seen.clone());
    Box::new(move || (0..n).for_each(|_| work(&of.0, &of.1, &seen)))
}

fn add(counter: &DeferredCounter, known: &Known, seen: &Seen) {
    match known.adding(1, || counter.add(1)) {
        Counted::Now(_) => seen.note("now"),
        Counted::Later => seen.note("later"),
    }
}

fn deferred(cap: u32) -> Shared<DeferredCounter> {
    Arc::new((DeferredCounter::with_cap(cap), Known::default()))
}

#[test]
fn a_deferred_counter_lags_by_no_more_than_it_says_and_is_exact_when_asked() {
    let seen = explore(30_000, |seen| {
        let counter = deferred(1);
        let mut tasks: Vec<Task> = (0..3).map(|_| times(&counter, seen, 4, add)).collect();
        tasks.push(times(&counter, seen, 6, |counter, known, seen| {
            let lag = i64::try_from(counter.max_lag()).expect("a model's cap is small");
            let returned = known.returned.load(Ordering::Acquire);
            if known.within(lag, || counter.approx()) < returned {
                seen.note("lagged");
            }
        }));
        tasks.push(times(&counter, seen, 2, |counter, known, _| _ = known.within(0, || counter.exact())));
        together(tasks);
        assert_eq!((counter.0.exact(), counter.0.approx()), (12, 12));
    });
    seen.must_have(&["now", "later", "lagged"]);
}

shuttle::thread_local! {
    /// What a thread counts as it ends.
    static LAST_WORDS: RefCell<Option<LastWords>> = RefCell::new(None);
}

struct LastWords(Shared<DeferredCounter>, Seen);

impl Drop for LastWords {
    fn drop(&mut self) {
        add(&self.0.0, &self.0.1, &self.1);
    }
}

#[test]
fn counts_survive_the_threads_that_left_them_and_those_left_as_a_thread_ends_count() {
    let seen = explore(30_000, |seen| {
        let counter = deferred(4);
        let ends = || -> Task {
            let (counter, seen) = (counter.clone(), seen.clone());
            Box::new(move || {
                LAST_WORDS.with(|words| *words.borrow_mut() = Some(LastWords(counter.clone(), seen.clone())));
                (0..2).for_each(|_| add(&counter.0, &counter.1, &seen));
            })
        };
        let holds = times(&counter, seen, 3, |counter, known, _| {
            known.within(0, || counter.exact());
        });
        together([ends(), ends(), ends(), holds]);
        // The threads' last words come after their ends, as `join` sees them.
        while counter.1.returned.load(Ordering::Acquire) < 9 {
            shuttle::thread::yield_now();
        }
        assert_eq!(counter.0.exact(), 9);
        assert_eq!(counter.0.add(1), Counted::Now(10), "alone, exact");
    });
    seen.must_have(&["now", "later"]);
}

#[test]
fn a_sum_beside_threads_that_fold_is_neither_early_nor_late() {
    let seen = explore(30_000, |seen| {
        let counter: Shared<ShardedCounter> = Arc::default();
        let add = |counter: &ShardedCounter, known: &Known, _: &Seen| known.adding(300, || counter.add(300));
        let mut tasks: Vec<Task> = (0..3).map(|_| times(&counter, seen, 3, add)).collect();
        tasks.push(times(&counter, seen, 3, |counter, known, seen| {
            let sum = known.within(0, || counter.sum());
            seen.note(format!("sum {sum}"));
        }));
        tasks.push(times(&counter, seen, 3, |counter, known, _| {
            known.within(2 * 256 * 3, || counter.approx());
            pause();
        }));
        together(tasks);
        assert_eq!(counter.0.sum(), 2700);
    });
    seen.must_have(&["sum 0", "sum 300", "sum 2700"]);
}

/// An update that waits at the cap must not fold its slot in twice, with what was left there meanwhile.
#[test]
fn updates_that_wait_at_the_cap_keep_the_lag_within_it() {
    let seen = explore(60_000, |seen| {
        let counter = deferred(1);
        let mut tasks: Vec<Task> = (0..4).map(|_| times(&counter, seen, 3, add)).collect();
        tasks.push(times(&counter, seen, 8, |counter, known, _| {
            let lag = i64::try_from(counter.max_lag()).expect("a model's cap is small");
            known.within(lag, || counter.approx());
        }));
        together(tasks);
        assert_eq!((counter.0.exact(), counter.0.approx()), (12, 12));
    });
    seen.must_have(&["now", "later"]);
}
