//! Doing the operations, and what must come of them.

use std::cmp::Ordering;
use std::thread;

use sync::inject::{self, Point};
use sync::prim::SLOTS;
use sync::{CondGuard, CondLock, Counted, DeferredCounter, ShardedCounter};

use super::crew::Crew;
use super::{Op, Setup};

/// How many threads there are at a time. Each has a slot; who comes in another's place has another one.
const THREADS: usize = 3;

/// A lock or counter that defers, as it should be: a total, and what is pending in each slot.
#[derive(Debug, Clone, Copy)]
struct Deferring {
    cap: i64,
    all: i64,
    pending: [i64; SLOTS],
}

impl Deferring {
    fn new(cap: u32) -> Self {
        Self { cap: i64::from(cap), all: 0, pending: [0; SLOTS] }
    }

    /// A count by a thread that meets the lock busy or free: the total, if it is counted at once.
    fn count(&mut self, slot: usize, n: i64, busy: bool) -> Option<i64> {
        self.all += n;
        let pending = &mut self.pending[slot];
        if busy && (*pending + n).abs() <= self.cap {
            *pending += n;
            return None;
        }
        Some(self.fold())
    }

    /// A quiet count that was left pending.
    fn leave(&mut self, slot: usize, n: i64) -> Option<i64> {
        assert!(self.has_room(slot, n), "more than the cap is pending");
        self.all += n;
        self.pending[slot] += n;
        None
    }

    /// A quiet count that was not left pending: who finds the lock free folds in its own slot alone.
    fn count_quietly(&mut self, slot: usize, n: i64, busy: bool) -> i64 {
        self.all += n;
        if busy {
            return self.fold();
        }
        self.pending[slot] = 0;
        self.all - self.pending()
    }

    fn fold(&mut self) -> i64 {
        self.pending = [0; SLOTS];
        self.all
    }

    fn pending(&self) -> i64 {
        self.pending.iter().sum()
    }

    /// Whether a slot has room for another count.
    fn has_room(&self, slot: usize, n: i64) -> bool {
        (self.pending[slot] + n).abs() <= self.cap
    }
}

/// Does `ops` on counters of each kind.
pub(super) fn run(setup: Setup, ops: &[Op]) {
    let mut lock = if setup.quiet { CondLock::quiet(0, setup.cap) } else { CondLock::new(0_i64, setup.cap) };
    let mut model = Model {
        setup,
        lock: Deferring::new(setup.cap),
        held: 0,
        deferred: Deferring::new(setup.cap),
        sharded: 0,
    };
    let counters = (DeferredCounter::with_cap(setup.cap), ShardedCounter::new());
    let mut rest = ops;
    while !rest.is_empty() {
        let done = thread::scope(|scope| {
            let crew = Crew::new(scope, THREADS);
            Scene { lock: &lock, counters: &counters, crew, holder: None }.until_get_mut(&mut model, rest)
        });
        rest = &rest[done..];
        assert_eq!(*lock.get_mut(), model.lock.fold());
    }
    assert_eq!((counters.0.exact(), counters.1.sum()), (model.deferred.all, model.sharded));
    assert_eq!(lock.into_inner(), model.lock.all);
}

/// What must be true.
struct Model {
    setup: Setup,
    lock: Deferring,
    /// The value behind the guard, while there is one.
    held: i64,
    deferred: Deferring,
    sharded: i64,
}

/// The counters, the threads that use them, and the hold of this one.
struct Scene<'scope, 'env> {
    lock: &'env CondLock<i64>,
    counters: &'env (DeferredCounter, ShardedCounter),
    crew: Crew<'scope, 'env>,
    holder: Option<CondGuard<'env, i64>>,
}

/// Runs `f` with the next pass of a point forced or not.
fn with<R>(point: Point, busy: bool, f: impl FnOnce() -> R) -> R {
    let _script = inject::force(point, u64::from(busy));
    f()
}

impl Scene<'_, '_> {
    /// Runs until an operation needs the lock for itself; returns how many were done.
    fn until_get_mut(&mut self, model: &mut Model, ops: &[Op]) -> usize {
        for (at, &op) in ops.iter().enumerate() {
            match op {
                Op::GetMut => return at + 1,
                Op::Update { .. } | Op::Force { .. } => self.update(model, op),
                Op::Hold | Op::Add { .. } | Op::Release => self.hold(model, op),
                Op::Look => self.look(model),
                Op::Deferred { .. } | Op::Exact => self.deferred(model, op),
                Op::Sharded { .. } | Op::Compare { .. } => self.sharded(model, op),
                Op::Replace { thread } => _ = self.crew.replace::<()>(thread),
            }
        }
        ops.len()
    }

    fn update(&mut self, model: &mut Model, op: Op) {
        let (lock, held, quiet) = (self.lock, self.holder.is_some(), model.setup.quiet);
        match op {
            Op::Update { thread, count, busy } => {
                let slot = self.crew.slot(thread);
                if held && !model.lock.has_room(slot, count.into()) {
                    // It would wait for this thread.
                    return;
                }
                let update =
                    move || with(Point::CondBusy, busy, || lock.update(count.into(), |value| *value));
                let counted = self.crew.run(thread, update);
                let expected = match (quiet, counted) {
                    (false, _) => model.lock.count(slot, count.into(), busy || held),
                    (true, None) => model.lock.leave(slot, count.into()),
                    (true, Some(_)) => Some(model.lock.count_quietly(slot, count.into(), busy || held)),
                };
                assert_eq!(counted, expected);
            }
            Op::Force { .. } if held => {}
            Op::Force { thread, count } => {
                let forced = self.crew.run(thread, move || lock.force(count.into(), |value| *value));
                model.lock.all += i64::from(count);
                assert_eq!(forced, model.lock.fold(), "who waits sees everything");
            }
            other => unreachable!("{other:?} is no update"),
        }
    }

    fn hold(&mut self, model: &mut Model, op: Op) {
        match op {
            Op::Hold if self.holder.is_none() => {
                let guard = self.lock.lock();
                model.held = model.lock.fold();
                assert_eq!(*guard, model.held, "a hold sees everything");
                self.holder = Some(guard);
            }
            Op::Add { count } => {
                if let Some(guard) = &mut self.holder {
                    **guard += i64::from(count);
                    model.lock.all += i64::from(count);
                    model.held += i64::from(count);
                    assert_eq!(**guard, model.held, "what others defer is not seen through a guard");
                }
            }
            Op::Release => self.holder = None,
            _ => {}
        }
    }

    fn look(&self, model: &Model) {
        let (lock, setup) = (self.lock, model.setup);
        assert_eq!((lock.cap(), lock.max_lag()), (setup.cap, u64::from(setup.cap) * SLOTS as u64));
        assert_eq!(lock.is_locked(), self.holder.is_some());
        assert!(lock.pending().unsigned_abs() <= lock.max_lag());
        assert_eq!(lock.pending(), model.lock.pending());
        if let Some(guard) = &self.holder {
            assert_eq!(**guard + lock.pending(), model.lock.all, "nothing is lost or counted twice");
        }
    }

    fn deferred(&mut self, model: &mut Model, op: Op) {
        let counter = &self.counters.0;
        if let Op::Deferred { thread, count, busy } = op {
            let add = move || with(Point::CondBusy, busy, || counter.add(count.into()));
            let expected = match model.deferred.count(self.crew.slot(thread), count.into(), busy) {
                Some(total) => Counted::Now(total),
                None => Counted::Later,
            };
            assert_eq!(self.crew.run(thread, add), expected);
        } else {
            let lag = (counter.approx() - model.deferred.all).unsigned_abs();
            assert!(lag <= counter.max_lag(), "{lag} behind");
            assert_eq!(counter.approx(), model.deferred.all - model.deferred.pending());
            assert_eq!(counter.exact(), model.deferred.fold());
            assert_eq!(counter.approx(), model.deferred.all, "nothing is pending now");
        }
    }

    fn sharded(&mut self, model: &mut Model, op: Op) {
        let counter = &self.counters.1;
        match op {
            Op::Sharded { thread, count, busy } => {
                let n = i64::from(count) * 100;
                self.crew.run(thread, move || with(Point::TryLock, busy, || counter.add(n)));
                model.sharded += n;
            }
            Op::Compare { far } => {
                let lag = (counter.approx() - model.sharded).unsigned_abs();
                assert!(lag <= ShardedCounter::MAX_LAG, "{lag} behind");
                assert_eq!(counter.sum(), model.sharded);
                let far = i64::from(far);
                for value in [model.sharded + far, model.sharded + far * 1000] {
                    let expected: Ordering = model.sharded.cmp(&value);
                    assert_eq!(counter.compare(value), expected, "{far}");
                }
            }
            other => unreachable!("{other:?} is about another counter"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "left == right")]
    fn a_count_that_is_lost_is_noticed() {
        let setup = Setup { quiet: false, cap: 3 };
        let (lock, counters) = (CondLock::new(0, 3), (DeferredCounter::with_cap(3), ShardedCounter::new()));
        let one = Deferring { all: 1, ..Deferring::new(3) };
        let mut model = Model { setup, lock: one, held: 0, deferred: Deferring::new(3), sharded: 0 };
        thread::scope(|scope| {
            let crew = Crew::new(scope, THREADS);
            let mut scene = Scene { lock: &lock, counters: &counters, crew, holder: None };
            scene.until_get_mut(&mut model, &[Op::Force { thread: 0, count: 1 }])
        });
    }
}
