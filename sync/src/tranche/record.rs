//! What a tranche records: a histogram of times for each mode, apart by whether the acquisition had to sleep.

use super::Waited;
use crate::lwlock::Mode;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

/// How a tranche's locks were used, per mode and apart by whether the acquisition had to sleep. Printed, it is a table.
///
/// ```
/// static TRANCHE: sync::Tranche = sync::Tranche::new("example");
/// let stats = TRANCHE.stats();
/// assert_eq!(stats.shared.count + stats.shared_waited.count, 0);
/// assert!(stats.to_string().starts_with("op         wait       avg ns"));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TrancheStats {
    /// Shared acquisitions that did not sleep.
    pub shared: OpSummary,
    /// Shared acquisitions that slept.
    pub shared_waited: OpSummary,
    /// Exclusive acquisitions that did not sleep.
    pub exclusive: OpSummary,
    /// Exclusive acquisitions that slept.
    pub exclusive_waited: OpSummary,
}

/// Times of one kind of acquisition, in ns from call to return. The quartiles are exact to 1/16, never too low.
///
/// ```
/// let none = sync::OpSummary::default();
/// assert_eq!((none.count, none.avg_ns, none.median_ns), (0, 0.0, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct OpSummary {
    /// How many there were.
    pub count: u64,
    /// Their mean.
    pub avg_ns: f64,
    /// A quarter took at most this.
    pub q1_ns: u64,
    /// Half took at most this.
    pub median_ns: u64,
    /// Three quarters took at most this.
    pub q3_ns: u64,
}

impl fmt::Display for TrancheStats {
    /// A table in the manner of PostgreSQL's: operation, wait, avg, q1, median, q3, count.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<10} {:>4} {:>12} {:>12} {:>12} {:>12} {:>12}",
            "op", "wait", "avg ns", "q1", "median", "q3", "count"
        )?;
        let rows = [
            ("shared", 0, &self.shared),
            ("shared", 1, &self.shared_waited),
            ("exclusive", 0, &self.exclusive),
            ("exclusive", 1, &self.exclusive_waited),
        ];
        for (op, wait, of) in rows {
            let OpSummary { count, avg_ns, q1_ns, median_ns, q3_ns } = of;
            writeln!(
                f,
                "{op:<10} {wait:>4} {avg_ns:>12.1} {q1_ns:>12} {median_ns:>12} {q3_ns:>12} {count:>12}"
            )?;
        }
        Ok(())
    }
}

/// One histogram for each mode and wait.
#[derive(Debug)]
pub(super) struct Records([Histogram; 4]);

impl Records {
    pub(super) const fn new() -> Self {
        Self([const { Histogram::new() }; 4])
    }

    fn of(&self, mode: Mode, waited: Waited) -> &Histogram {
        &self.0[2 * usize::from(mode == Mode::Exclusive) + usize::from(waited == Waited::Yes)]
    }

    pub(super) fn add(&self, mode: Mode, waited: Waited, took: Duration) {
        self.of(mode, waited).add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    pub(super) fn summarise(&self) -> TrancheStats {
        TrancheStats {
            shared: self.of(Mode::Shared, Waited::No).summarise(),
            shared_waited: self.of(Mode::Shared, Waited::Yes).summarise(),
            exclusive: self.of(Mode::Exclusive, Waited::No).summarise(),
            exclusive_waited: self.of(Mode::Exclusive, Waited::Yes).summarise(),
        }
    }
}

/// Sixteen steps for each power of two.
const STEP_BITS: u32 = 4;
const STEPS: usize = 1 << STEP_BITS;
const BUCKETS: usize = (64 - STEP_BITS as usize + 1) * STEPS;

/// A histogram that any thread may add to without waiting: a bucket of its own for each value up to 31, then
/// sixteen for each power of two.
struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    sum: AtomicU64,
}

impl Histogram {
    const fn new() -> Self {
        Self { buckets: [const { AtomicU64::new(0) }; BUCKETS], sum: AtomicU64::new(0) }
    }

    fn bucket(value: u64) -> usize {
        let shift = (64 - value.leading_zeros()).saturating_sub(STEP_BITS + 1);
        shift as usize * STEPS + (value >> shift) as usize
    }

    /// The largest value of a bucket.
    fn upper(bucket: usize) -> u64 {
        let shift = (bucket / STEPS).saturating_sub(1);
        let step = (bucket - shift * STEPS) as u64;
        (((u128::from(step) + 1) << shift) - 1) as u64
    }

    fn add(&self, value: u64) {
        // Relaxed: plain counters.
        self.buckets[Self::bucket(value)].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    fn summarise(&self) -> OpSummary {
        // Relaxed: plain counters.
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect();
        let sum = self.sum.load(Ordering::Relaxed);
        let count: u64 = counts.iter().sum();
        let quartile = |nth: u64| {
            let mut left = (count * nth).div_ceil(4);
            let bucket = counts.iter().position(|&n| {
                left = left.saturating_sub(n);
                left == 0
            });
            if count == 0 { 0 } else { bucket.map_or(0, Self::upper) }
        };
        OpSummary {
            count,
            avg_ns: if count == 0 { 0.0 } else { sum as f64 / count as f64 },
            q1_ns: quartile(1),
            median_ns: quartile(2),
            q3_ns: quartile(3),
        }
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summarise().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Histogram;

    #[test]
    fn every_value_lies_in_its_bucket_and_the_buckets_are_in_order() {
        let around = |n: u64| [n.saturating_sub(1), n, n.saturating_add(1)];
        let values = (0..64).flat_map(|bit| around(1 << bit)).chain(0..5000).chain([u64::MAX]);
        for value in values {
            let bucket = Histogram::bucket(value);
            assert!(value <= Histogram::upper(bucket), "{value} above bucket {bucket}");
            assert!(bucket == 0 || value > Histogram::upper(bucket - 1), "{value} below bucket {bucket}");
        }
    }

    #[test]
    fn quartiles_are_exact_to_a_sixteenth() {
        let histogram = Histogram::new();
        (1..=1000).for_each(|value| histogram.add(value));
        let summary = histogram.summarise();
        assert_eq!((summary.count, summary.avg_ns), (1000, 500.5));
        for (found, exact) in [(summary.q1_ns, 250), (summary.median_ns, 500), (summary.q3_ns, 750)] {
            assert!(found >= exact && found - exact <= exact / 16, "{found} for {exact}");
        }
    }
}
