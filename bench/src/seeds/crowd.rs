//! Loads of many threads: short sessions, the mixed load, and the others with eight writers.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

use super::loads::{Load, Loaded};
use super::{CAP, Index, Policy, Scenario, SeedError, buckets_due, check, probes};
use crate::crew;

/// The writers of the mixed load.
pub const WRITERS: u32 = 8;

/// The key of the mixed load that many rows have.
const HEAVY: u32 = 0;

/// Sessions, each a thread of its own, that insert a few rows and end.
#[derive(Debug, Clone, Copy)]
pub struct Sessions {
    /// How many there are at a time.
    pub at_a_time: u32,
    /// How many there are in all.
    pub sessions: u32,
    /// How many rows each inserts.
    pub inserts: u32,
}

impl Sessions {
    /// Runs them.
    ///
    /// # Errors
    ///
    /// If there are not enough threads.
    pub fn run(self, index: &Index) -> Result<(), SeedError> {
        let next = AtomicU32::new(0);
        // Relaxed: shares out numbers, and nothing else.
        let take = || Some(next.fetch_add(1, Relaxed)).filter(|&session| session < self.sessions);
        let one_after_the_other = |_| {
            while let Some(session) = take() {
                let first = session * self.inserts;
                let insert = || (first..first + self.inserts).for_each(|g| index.pin().insert(g, g));
                thread::scope(|scope| thread::Builder::new().spawn_scoped(scope, insert).map(drop))?;
            }
            Ok(())
        };
        let ends: Vec<std::io::Result<()>> = crew::run(self.at_a_time, one_after_the_other, || ())?;
        Ok(ends.into_iter().collect::<Result<(), _>>()?)
    }

    /// The rows that they inserted.
    pub fn rows(self) -> impl Iterator<Item = u64> {
        (0..self.sessions * self.inserts).map(|g| probes::row(g, g))
    }
}

/// What becomes of a row of the mixed load's first half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    /// A writer removes it.
    Removed,
    /// The vacuum does.
    Vacuumed,
}

/// The mixed load's keys: a fifth of the rows have one key, the others a key of their own.
fn mixed_key(tuple: u32) -> u32 {
    if tuple.is_multiple_of(5) { HEAVY } else { tuple }
}

fn fate(tuple: u32) -> Fate {
    if !tuple.is_multiple_of(3) {
        Fate::Stays
    } else if tuple.is_multiple_of(2) && mixed_key(tuple) != HEAVY {
        Fate::Removed
    } else {
        Fate::Vacuumed
    }
}

/// Eight writers insert so many rows, remove some; a vacuum removes more, a third in all; and they insert as many again.
pub(super) fn mixed(index: Index, half: u32) -> Result<Loaded, SeedError> {
    let parts = |first: u32, each: &(dyn Fn(u32) + Sync)| {
        let own = |writer| (first + writer..first + half).step_by(WRITERS as usize).for_each(each);
        crew::run(WRITERS, own, || ()).map(drop)
    };
    let insert = |tuple| index.pin().insert(mixed_key(tuple), tuple);
    parts(1, &insert)?;
    parts(1, &|tuple| {
        if fate(tuple) == Fate::Removed {
            index.pin().remove_one(&mixed_key(tuple), &tuple);
        }
    })?;
    index.pin().vacuum(|_, &tuple| fate(tuple) == Fate::Vacuumed);
    parts(1 + half, &insert)?;
    let stays = |&tuple: &u32| tuple > half || fate(tuple) == Fate::Stays;
    let rows = (1..=2 * half).filter(stays).map(|tuple| probes::row(mixed_key(tuple), tuple));
    Ok(Loaded::new(index, rows))
}

/// What a load came to with eight writers that defer: once when they ended, and once with all counts folded in.
#[derive(Debug, Clone, Copy)]
pub struct Crowd {
    /// The load.
    pub scenario: Scenario,
    /// The rows of a scan.
    pub rows: u64,
    /// The counts that were pending when the writers ended.
    pub pending: i64,
    /// The number of the highest bucket then.
    pub max_bucket_before: u32,
    /// Splits that were due and met a busy bucket, all in all.
    pub declined: u64,
    /// The count of tuples, with all counts folded in.
    pub ntuples: u64,
    /// The number of the highest bucket, with all splits done that were due.
    pub max_bucket: u32,
}

impl Crowd {
    /// Runs it, and compares it with what one thread comes to.
    ///
    /// # Errors
    ///
    /// If a row is missing, if more is pending than may be, or if a figure isn't exact in the end.
    pub fn run(scenario: Scenario, divide: u32) -> Result<Self, SeedError> {
        let policy = Policy::Deferred;
        let Loaded { index, rows } = Load { scenario, policy, writers: WRITERS, divide }.run()?;
        let before = index.stats();
        index.exact_len();
        let after = index.stats();
        probes::compare(scenario.name(), policy, &index, &rows)?;
        let max_lag = u64::from(CAP) * u64::from(WRITERS);
        // There never were more rows than in the end.
        let behind = |lag: u64| buckets_due((rows.len() as u64).saturating_sub(lag)) - 1;
        // Buckets that were not split because their parent was busy are not the count's lag.
        let too_far_behind =
            behind(max_lag).saturating_sub(u64::from(before.max_bucket) + before.split_declined);
        let figures = [
            ("the count, folded in,", after.ntuples, rows.len() as u64),
            ("max_bucket, folded in,", after.max_bucket.into(), behind(0)),
            ("what is pending beyond 32 a writer", before.pending.unsigned_abs().saturating_sub(max_lag), 0),
            ("what max_bucket lags beyond that", too_far_behind, 0),
        ];
        check(scenario.name(), policy, &figures)?;
        Ok(Self {
            scenario,
            rows: rows.len() as u64,
            pending: before.pending,
            max_bucket_before: before.max_bucket,
            declined: before.split_declined,
            ntuples: after.ntuples,
            max_bucket: after.max_bucket,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Crowd, Fate, Sessions, fate};
    use crate::seeds::{Policy, Scenario, probes};

    #[test]
    fn a_third_of_the_mixed_load_goes() {
        let gone = (1..=3000).filter(|&tuple| fate(tuple) != Fate::Stays).count();
        let removed = (1..=3000).filter(|&tuple| fate(tuple) == Fate::Removed).count();
        assert_eq!((gone, removed), (1000, 400));
    }

    #[test]
    fn every_session_inserts_its_rows() {
        let index = Policy::Deferred.index().unwrap();
        let sessions = Sessions { at_a_time: 5, sessions: 33, inserts: 7 };
        sessions.run(&index).unwrap();
        assert!(probes::scanned(&index).into_iter().eq(sessions.rows()));
        assert_eq!(index.exact_len(), 231);
    }

    #[test]
    fn eight_writers_come_to_what_one_comes_to() {
        for scenario in [Scenario::OneKey, Scenario::HighDuplicate, Scenario::DeleteHeavyVacuum] {
            let crowd = Crowd::run(scenario, 100).unwrap();
            assert_eq!(crowd.ntuples, crowd.rows, "{crowd:?}");
        }
    }
}
