//! `write_or_wait`: group commit, and that nobody is told of a release that came before.

use crate::{Seen, Task, below, explore, pause, together};
use std::sync::Arc;
use sync::LwLock;
use sync::prim::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
struct Log {
    lock: LwLock<()>,
    asked: AtomicU64,
    flushed: AtomicU64,
}

#[test]
fn group_commit_flushes_for_all_and_nobody_sleeps_through_the_last() {
    let seen = explore(36_000, |seen| {
        let log = Arc::new(Log::default());
        let commit = || -> Task {
            let (log, seen) = (log.clone(), seen.clone());
            Box::new(move || (0..2).for_each(|_| commit(&log, &seen)))
        };
        together((0..4).map(|_| commit()));
        assert_eq!(log.flushed.load(Ordering::Acquire), 8, "some commits were not flushed");
        assert!(!log.lock.is_locked(), "somebody holds the lock still");
    });
    seen.must_have(&["flushed", "was flushed for", "waited"]);
}

fn commit(log: &Log, seen: &Seen) {
    let mine = log.asked.fetch_add(1, Ordering::AcqRel) + 1;
    let mut flushes = 0;
    while log.flushed.load(Ordering::Acquire) < mine {
        match log.lock.write_or_wait() {
            Some(_leader) => {
                let all = log.asked.load(Ordering::Acquire);
                pause();
                log.flushed.fetch_max(all, Ordering::AcqRel);
                flushes += 1;
            }
            None => seen.note("waited"),
        }
    }
    assert!(flushes <= 1, "a flush was forgotten");
    seen.note(if flushes == 0 { "was flushed for" } else { "flushed" });
}

/// How many holds there have been, by the count of their holders.
#[derive(Debug, Default)]
struct Holds {
    lock: LwLock<()>,
    /// Holds that have ended or are about to.
    leaving: AtomicU64,
    /// Holds that have ended for certain.
    ended: AtomicU64,
}

impl Holds {
    fn exclusive(&self) {
        let guard = self.lock.write();
        (0..below(6)).for_each(|_| pause());
        self.leaving.fetch_add(1, Ordering::AcqRel);
        drop(guard);
        self.ended.fetch_add(1, Ordering::AcqRel);
    }

    fn shared(&self) {
        let guard = self.lock.read();
        pause();
        self.leaving.fetch_add(1, Ordering::AcqRel);
        drop(guard);
        self.ended.fetch_add(1, Ordering::AcqRel);
    }

    fn watch(&self, seen: &Seen) {
        let ended_before = self.ended.load(Ordering::Acquire);
        match self.lock.write_or_wait() {
            Some(_guard) => {
                self.leaving.fetch_add(1, Ordering::AcqRel);
                seen.note("took it");
            }
            None => {
                let left = self.leaving.load(Ordering::Acquire);
                assert!(left > ended_before, "told of a release that came before");
                return seen.note("waited");
            }
        }
        self.ended.fetch_add(1, Ordering::AcqRel);
    }
}

#[test]
fn who_waits_for_a_release_is_not_told_of_one_that_came_before() {
    let seen = explore(36_000, |seen| {
        let holds = Arc::new(Holds::default());
        let twice = |work: fn(&Holds, &Seen)| -> Task {
            let (holds, seen) = (holds.clone(), seen.clone());
            Box::new(move || (0..2).for_each(|_| work(&holds, &seen)))
        };
        let works: [fn(&Holds, &Seen); 4] =
            [|holds, _| holds.exclusive(), |holds, _| holds.shared(), Holds::watch, Holds::watch];
        together(works.map(twice));
        assert!(!holds.lock.is_locked(), "somebody holds the lock still");
    });
    seen.must_have(&["took it", "waited"]);
}
