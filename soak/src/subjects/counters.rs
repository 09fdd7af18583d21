//! Counters: each beside a count that is exact.

use super::{Subject, Work, ensure};
use std::sync::atomic::{AtomicI64, Ordering};
use sync::{CondLock, DeferredCounter, ShardedCounter};

/// One of each; all count the same additions of one.
pub(crate) struct Counters {
    steady: CondLock<i64>,
    quiet: CondLock<i64>,
    deferred: DeferredCounter,
    sharded: ShardedCounter,
    /// Additions that have begun, and those that have ended.
    begun: AtomicI64,
    ended: AtomicI64,
}

const BATCH: i64 = 128;

impl Counters {
    pub(crate) fn new() -> Self {
        Self {
            steady: CondLock::new(0, 32),
            quiet: CondLock::quiet(0, 32),
            deferred: DeferredCounter::new(),
            sharded: ShardedCounter::new(),
            begun: AtomicI64::new(0),
            ended: AtomicI64::new(0),
        }
    }

    /// What `count` gives lies between what had ended before and what has begun by now, but for `lag`.
    fn between(&self, what: &str, lag: u64, count: impl FnOnce() -> i64) -> Result<(), String> {
        let lag = i64::try_from(lag).unwrap_or(i64::MAX);
        let ended = self.ended.load(Ordering::SeqCst);
        let count = count();
        let begun = self.begun.load(Ordering::SeqCst);
        ensure(ended - lag <= count && count <= begun + lag, || {
            format!("{what} gives {count}; {ended} had ended, {begun} have begun, the lag is {lag}")
        })
    }
}

impl Subject for Counters {
    fn name(&self) -> &str {
        "counters"
    }

    fn churn(&self, work: Work<'_>) -> Result<u64, String> {
        self.begun.fetch_add(BATCH, Ordering::SeqCst);
        for _ in 0..BATCH {
            self.steady.update(1, |_| ());
            self.quiet.update(1, |_| ());
            self.deferred.add(1);
            self.sharded.add(1);
        }
        self.ended.fetch_add(BATCH, Ordering::SeqCst);
        if work.rng.u8(0..16) == 0 {
            self.look()?;
        }
        Ok(4 * BATCH.unsigned_abs())
    }

    fn look(&self) -> Result<(), String> {
        self.between("CondLock::lock", 0, || *self.steady.lock())?;
        self.between("CondLock::lock, quiet,", 0, || *self.quiet.lock())?;
        self.between("DeferredCounter::exact", 0, || self.deferred.exact())?;
        self.between("DeferredCounter::approx", self.deferred.max_lag(), || self.deferred.approx())?;
        self.between("ShardedCounter::sum", 0, || self.sharded.sum())?;
        self.between("ShardedCounter::approx", ShardedCounter::MAX_LAG, || self.sharded.approx())?;
        for lock in [&self.steady, &self.quiet] {
            let (pending, lag) = (lock.pending().unsigned_abs(), lock.max_lag());
            ensure(pending <= lag, || format!("{pending} are pending, {lag} at most"))?;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        let is_free = !self.steady.is_locked() && !self.quiet.is_locked();
        ensure(is_free, || "a lock is held".to_owned())?;
        self.look()
    }
}
