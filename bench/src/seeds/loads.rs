//! The loads: what is inserted, deleted and vacuumed, by how many threads.
//!
//! Next: `seeds/crowd.rs`, where there are many; `seeds/probes.rs`, how the result is checked.

use std::ops::RangeInclusive;
use std::time::Instant;

use lhash::Stats;

use super::{Index, Policy, Row, Scenario, SeedError, crowd, probes};
use crate::crew;

/// The sessions of the scenario of short ones under the policies of which no figures are known: a thread each.
const FEWER_SESSIONS: u32 = 20_000;

/// A load to be run.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// What is done.
    pub scenario: Scenario,
    /// How tuples are counted.
    pub policy: Policy,
    /// How many threads do it, where the scenario doesn't say: 1 or more.
    pub writers: u32,
    /// What all row counts are divided by.
    pub divide: u32,
}

/// What a load came to.
#[derive(Debug)]
pub struct Loaded {
    /// The index.
    pub index: Index,
    /// The rows that ought to be in it, sorted.
    pub rows: Vec<u64>,
}

impl Load {
    /// Runs it, compares probes with a scan, and says what the index came to.
    ///
    /// # Errors
    ///
    /// If a row is missing or wrong, or if there is no memory or no thread.
    pub fn row(&self) -> Result<Row, SeedError> {
        let begin = Instant::now();
        let Loaded { index, rows } = self.run()?;
        let stats = self.settled(&index);
        probes::compare(self.scenario.name(), self.policy, &index, &rows)?;
        Ok(Row::new(self.scenario, self.policy, self.divide, &stats, begin.elapsed().as_secs_f64()))
    }

    /// The figures once nothing is pending. One thread alone leaves nothing, so there is nothing to fold in for it.
    fn settled(&self, index: &Index) -> Stats {
        if matches!(self.scenario, Scenario::ShortSessions | Scenario::Mixed) && self.policy.is_lossless() {
            index.exact_len();
        }
        index.stats()
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// If there is no memory or no thread.
    pub fn run(&self) -> Result<Loaded, SeedError> {
        let index = self.policy.index()?;
        let (first, second) = (1..=self.part(2_000_000), 3_000_001..=3_000_000 + self.part(2_000_000));
        let own_key = |g| g;
        match self.scenario {
            Scenario::OneKey => {
                let all = 1..=self.part(500_000);
                self.insert(&index, all.clone(), |_| 7)?;
                Ok(Loaded::new(index, rows(all, |_| 7)))
            }
            Scenario::HighDuplicate => {
                self.insert(&index, first.clone(), |g| g % 50)?;
                Ok(Loaded::new(index, rows(first, |g| g % 50)))
            }
            Scenario::DeleteHeavyVacuum => {
                self.insert(&index, first.clone(), own_key)?;
                index.pin().vacuum(|key, _| key % 10 != 0);
                self.insert(&index, second.clone(), own_key)?;
                let kept = rows(first, own_key).filter(|row| (row >> 32) % 10 == 0);
                Ok(Loaded::new(index, kept.chain(rows(second, own_key))))
            }
            Scenario::DeleteHeavy => {
                self.insert(&index, first.clone(), own_key)?;
                self.insert(&index, second.clone(), own_key)?;
                Ok(Loaded::new(index, rows(first.chain(second), own_key)))
            }
            Scenario::ShortSessions => {
                let fewer = self.policy >= Policy::Quiet;
                let sessions = self.part(if fewer { FEWER_SESSIONS } else { 200_000 });
                let sessions = crowd::Sessions { at_a_time: 8, sessions, inserts: 1 };
                sessions.run(&index)?;
                Ok(Loaded::new(index, sessions.rows()))
            }
            Scenario::Mixed => crowd::mixed(index, self.part(400_000)),
        }
    }

    fn part(&self, rows: u32) -> u32 {
        (rows / self.divide).max(1)
    }

    /// Inserts rows, by one thread in their order, by several in turns.
    fn insert(
        &self,
        index: &Index,
        tuples: RangeInclusive<u32>,
        key: impl Fn(u32) -> u32 + Sync,
    ) -> Result<(), SeedError> {
        if self.writers == 1 {
            tuples.for_each(|g| index.pin().insert(key(g), g));
            return Ok(());
        }
        let part = |writer| {
            let own = tuples.clone().skip(writer as usize).step_by(self.writers as usize);
            own.for_each(|g| index.pin().insert(key(g), g));
        };
        crew::run(self.writers, part, || ())?;
        Ok(())
    }
}

/// The rows that were inserted.
fn rows(tuples: impl Iterator<Item = u32>, key: impl Fn(u32) -> u32) -> impl Iterator<Item = u64> {
    tuples.map(move |g| probes::row(key(g), g))
}

impl Loaded {
    pub(super) fn new(index: Index, rows: impl Iterator<Item = u64>) -> Self {
        let mut rows: Vec<u64> = rows.collect();
        rows.sort_unstable();
        Self { index, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::Load;
    use crate::seeds::{Policy, Scenario, agree, buckets_due};

    #[test]
    fn small_loads_have_the_buckets_that_their_rows_demand() {
        for (scenario, rows) in [
            (Scenario::OneKey, 5000),
            (Scenario::HighDuplicate, 20_000),
            (Scenario::DeleteHeavy, 40_000),
            (Scenario::DeleteHeavyVacuum, 22_000),
        ] {
            let row = |policy| Load { scenario, policy, writers: 1, divide: 100 }.row().unwrap();
            for policy in [Policy::Exact, Policy::Deferred, Policy::Quiet] {
                let row = row(policy);
                assert_eq!((row.ntuples, row.buckets), (rows, buckets_due(rows)), "{row:?}");
            }
            assert_eq!(row(Policy::Sharded).ntuples, rows);
            let told = row(Policy::OverflowSignal);
            assert!(told.ntuples <= rows && told.buckets <= buckets_due(rows), "{told:?}");
        }
    }

    #[test]
    fn short_sessions_lose_their_counts_under_the_prototype_alone() {
        for policy in Policy::ALL {
            let row =
                Load { scenario: Scenario::ShortSessions, policy, writers: 1, divide: 100 }.row().unwrap();
            let sessions = if policy >= Policy::Quiet { 200 } else { 2000 };
            let counted = if policy.is_lossless() { sessions } else { row.overflow_pages };
            assert_eq!(row.ntuples, counted, "{row:?}");
        }
    }

    #[test]
    fn the_mixed_load_comes_to_the_same_whoever_counts() {
        let row = |policy| Load { scenario: Scenario::Mixed, policy, writers: 1, divide: 20 }.row().unwrap();
        let rows: Vec<_> = Policy::ALL.map(row).into();
        agree(&rows).unwrap();
        let mut wrong = rows;
        wrong[2].max_bucket += 1;
        let error = agree(&wrong).unwrap_err().to_string();
        assert!(error.starts_with("mixed, deferred: max_bucket is "), "{error}");
    }
}
