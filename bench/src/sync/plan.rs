//! What is measured: the groups, in the order of the output.

use super::{Entry, Group, What, contended, counters, seqlocks};

/// The share of shared acquisitions in a hundred, one group after the other.
pub const READ_PCTS: [u32; 5] = [0, 50, 90, 99, 100];

const CONTENDED_THREADS: [u32; 4] = [2, 4, 8, 16];
const COUNTER_ADD_THREADS: [u32; 4] = [1, 2, 4, 16];
const COUNTER_READ_THREADS: [u32; 2] = [1, 2];
const MIXED_THREADS: [u32; 2] = [2, 4];

/// All groups, on the thread counts of each or on one, with all implementations or with some.
#[must_use]
pub fn groups(threads: Option<u32>, names: &[&str]) -> Vec<Group> {
    let mut plan = Plan { threads, names, groups: Vec::new() };
    plan.add(What::PairRead, 1, None, contended::pair_read_entries());
    plan.add(What::PairWrite, 1, None, contended::pair_write_entries());
    for threads in plan.threads_or(&CONTENDED_THREADS) {
        for read_pct in READ_PCTS {
            let mix = contended::Mix { threads, read_pct };
            plan.add(What::Contended, threads, Some(read_pct), contended::entries(mix));
        }
    }
    for threads in plan.threads_or(&COUNTER_ADD_THREADS) {
        plan.add(What::CounterAdd, threads, None, counters::add_entries(threads));
    }
    for threads in plan.threads_or(&COUNTER_READ_THREADS) {
        plan.add(What::CounterRead, threads, None, counters::read_entries(threads));
    }
    plan.add(What::SeqlockRead, 1, None, seqlocks::loop_entries());
    plan.add(What::SeqlockRead, 1, None, seqlocks::chain_entries());
    // A reader needs a writer.
    for threads in plan.threads_or(&MIXED_THREADS).into_iter().filter(|&threads| threads > 1) {
        plan.add(What::SeqlockMixed, threads, None, seqlocks::mixed_entries(threads));
    }
    plan.groups
}

/// The names of all implementations, each once, in the order of the output.
#[must_use]
pub fn names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for entry in groups(None, &[]).iter().flat_map(|group| &group.entries) {
        if !names.contains(&entry.name) {
            names.push(entry.name);
        }
    }
    names
}

struct Plan<'a> {
    threads: Option<u32>,
    names: &'a [&'a str],
    groups: Vec<Group>,
}

impl Plan<'_> {
    fn threads_or(&self, default: &[u32]) -> Vec<u32> {
        self.threads.map_or_else(|| default.to_vec(), |threads| vec![threads])
    }

    /// Adds a group of the entries that are wanted, if there is one.
    fn add(&mut self, what: What, threads: u32, read_pct: Option<u32>, mut entries: Vec<Entry>) {
        entries.retain(|entry| self.names.is_empty() || self.names.contains(&entry.name));
        if !entries.is_empty() {
            self.groups.push(Group { what, threads, read_pct, entries });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{groups, names};
    use crate::sync::What;

    #[test]
    fn a_group_without_entries_is_left_out() {
        assert!(groups(None, &["spin"]).iter().all(|group| group.entries.len() == 1));
        assert_eq!(groups(None, &["spin"]).len(), 2 + 4 * 5);
        let one_thread = groups(Some(1), &["rwlock"]);
        assert!(one_thread.iter().map(|group| group.what).eq([What::SeqlockRead, What::SeqlockRead]));
    }

    #[test]
    fn every_name_is_there_once() {
        let mut sorted = names();
        assert_eq!(sorted[0], "latchfree");
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), names().len());
    }
}
