//! What is made of the writes of two threads: which lines are shared, and how often operations meet on one.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;

/// The bytes that caches pass on together.
pub const LINE_BYTES: u64 = 64;
const WORD_BYTES: u64 = 8;

/// A write to memory that is not the thread's own stack, nor allocated within the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// Where it begins; the tracer makes another place of a line that is allocated again.
    pub at: u64,
    /// Is it an atomic read-modify-write? Such a one counts even if it leaves the word as it is.
    pub is_rmw: bool,
}

/// What an operation did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// In their order.
    pub writes: Vec<Write>,
    /// How often memory was asked for.
    pub allocations: u32,
}

/// What one operation does, on average.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Counts {
    /// Writes to shared memory, read-modify-writes included.
    pub shared_writes: f64,
    /// Atomic read-modify-writes of shared memory.
    pub shared_rmws: f64,
    /// Lock acquisitions: shared words that a read-modify-write changes, and that are written again before the operation
    /// ends.
    pub locks: f64,
    /// Shared cache lines that are written.
    pub shared_lines: f64,
    /// Writes to what belongs to the thread: lines that several of its operations write and that no other thread does.
    pub own_writes: f64,
    /// Atomic read-modify-writes of what belongs to the thread.
    pub own_rmws: f64,
    /// Allocations.
    pub allocations: f64,
    /// How likely two operations of two threads, on different keys, write a line in common: 0 to 1.
    pub same_line: f64,
}

impl Counts {
    /// Counts what two threads did to the same keys in the same order.
    #[must_use]
    pub fn of(threads: &[Vec<Trace>; 2]) -> Self {
        let own = [own_lines(&threads[0], &threads[1]), own_lines(&threads[1], &threads[0])];
        let mut sum = Self::default();
        let mut lines: [Vec<BTreeSet<u64>>; 2] = Default::default();
        for (number, ops) in threads.iter().enumerate() {
            for op in ops {
                let (own, shared): (Vec<Write>, Vec<Write>) =
                    op.writes.iter().partition(|write| own[number].contains(&line(write.at)));
                let written: BTreeSet<u64> = shared.iter().map(|write| line(write.at)).collect();
                sum.shared_writes += shared.len() as f64;
                sum.shared_rmws += rmws(&shared);
                sum.locks += locks(&shared);
                sum.shared_lines += written.len() as f64;
                sum.own_writes += own.len() as f64;
                sum.own_rmws += rmws(&own);
                sum.allocations += f64::from(op.allocations);
                lines[number].push(written);
            }
        }
        let ops = threads.iter().map(Vec::len).sum::<usize>().max(1) as f64;
        sum.same_line = meetings(&lines[0], &lines[1]);
        let mean = |sum: f64| rounded(sum / ops);
        Self {
            shared_writes: mean(sum.shared_writes),
            shared_rmws: mean(sum.shared_rmws),
            locks: mean(sum.locks),
            shared_lines: mean(sum.shared_lines),
            own_writes: mean(sum.own_writes),
            own_rmws: mean(sum.own_rmws),
            allocations: mean(sum.allocations),
            same_line: sum.same_line,
        }
    }
}

fn line(address: u64) -> u64 {
    address / LINE_BYTES
}

fn rounded(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}

/// The lines that two operations or more of `ops` write, and none of the `others`.
fn own_lines(ops: &[Trace], others: &[Trace]) -> HashSet<u64> {
    let lines = |op: &Trace| op.writes.iter().map(|write| line(write.at)).collect::<BTreeSet<u64>>();
    let mut written: HashMap<u64, u32> = HashMap::new();
    ops.iter().flat_map(lines).for_each(|line| *written.entry(line).or_default() += 1);
    others.iter().flat_map(lines).for_each(|line| _ = written.remove(&line));
    written.into_iter().filter(|(_, ops)| *ops >= 2).map(|(line, _)| line).collect()
}

fn rmws(writes: &[Write]) -> f64 {
    writes.iter().filter(|write| write.is_rmw).count() as f64
}

/// How many words are changed by a read-modify-write and written again.
fn locks(writes: &[Write]) -> f64 {
    let word = |write: &Write| write.at / WORD_BYTES;
    let is_first = |index: usize| writes[..index].iter().all(|write| word(write) != word(&writes[index]));
    let is_lock = |&index: &usize| {
        let again = || writes[index + 1..].iter().any(|write| word(write) == word(&writes[index]));
        writes[index].is_rmw && is_first(index) && again()
    };
    (0..writes.len()).filter(is_lock).count() as f64
}

/// The share of pairs, one operation of each thread on different keys, that have a line in common.
fn meetings(ours: &[BTreeSet<u64>], theirs: &[BTreeSet<u64>]) -> f64 {
    let pairs = ours.iter().enumerate().flat_map(|(i, one)| {
        theirs.iter().enumerate().filter(move |(j, _)| i != *j).map(move |(_, other)| (one, other))
    });
    let (mut all, mut met) = (0_u64, 0_u64);
    for (one, other) in pairs {
        all += 1;
        met += u64::from(!one.is_disjoint(other));
    }
    (met as f64 / all.max(1) as f64 * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::{Counts, Trace, Write};

    fn trace(writes: &[(u64, bool)]) -> Trace {
        let writes = writes.iter().map(|&(at, is_rmw)| Write { at, is_rmw }).collect();
        Trace { writes, allocations: 1 }
    }

    /// A lock of all at 0, a line for each key, and a line of each thread.
    fn thread(own: u64, lock: u64) -> Vec<Trace> {
        let op = |key: u64| {
            trace(&[(lock, true), (6400 + 64 * key, false), (own, false), (own + 8, true), (lock, false)])
        };
        (0..4).map(op).collect()
    }

    #[test]
    fn a_lock_of_all_is_met_by_all_and_what_is_own_by_nobody() {
        let counts = Counts::of(&[thread(64_000, 0), thread(96_000, 0)]);
        let expected = Counts {
            shared_writes: 3.0,
            shared_rmws: 1.0,
            locks: 1.0,
            shared_lines: 2.0,
            own_writes: 2.0,
            own_rmws: 1.0,
            allocations: 1.0,
            same_line: 1.0,
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn lines_of_single_keys_are_shared_and_seldom_met() {
        let ops: Vec<Trace> = (0..4).map(|key| trace(&[(64 * key, true)])).collect();
        let counts = Counts::of(&[ops.clone(), ops]);
        assert_eq!((counts.shared_writes, counts.shared_rmws, counts.locks), (1.0, 1.0, 0.0));
        assert_eq!((counts.own_writes, counts.same_line), (0.0, 0.0));
    }

    #[test]
    fn two_locks_that_half_of_the_operations_take_each_are_met_by_half() {
        let ops: Vec<Trace> =
            (0..64).map(|key| trace(&[(64 * (key % 2), true), (64 * (key % 2), true)])).collect();
        let counts = Counts::of(&[ops.clone(), ops]);
        assert_eq!(counts.locks, 1.0);
        assert!((counts.same_line - 0.5).abs() < 0.01, "{counts:?}");
    }

    #[test]
    fn a_line_that_one_operation_of_one_thread_writes_is_not_its_own() {
        let counts = Counts::of(&[vec![trace(&[(0, false)]), trace(&[])], vec![trace(&[]), trace(&[])]]);
        assert_eq!((counts.shared_writes, counts.own_writes), (0.25, 0.0));
    }

    #[test]
    fn nothing_written_is_free() {
        let counts = Counts::of(&[vec![Trace::default(); 3], vec![Trace::default(); 3]]);
        assert_eq!(counts, Counts::default());
    }
}
