//! Measuring single calls: a stopwatch that costs nothing, and one that fills a histogram.
//!
//! The clock's own cost is measured first and taken off every call, down to 0.

use std::time::Instant;

use hdrhistogram::Histogram;

/// The longest call that is told apart from longer ones: 100 seconds.
const MAX_NS: u64 = 100_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// Times calls, or doesn't.
pub trait Stopwatch: Clone + Send + Sync {
    /// Runs `call`.
    fn time<R>(&mut self, call: impl FnOnce() -> R) -> R;

    /// The times so far, for a stopwatch that keeps any.
    fn into_histogram(self) -> Option<Histogram<u64>>;
}

/// A stopwatch that keeps times.
pub trait Keeping: Stopwatch {
    /// A stopwatch without any times, on a clock that takes `clock_cost_ns` to read.
    #[must_use]
    fn on_clock(clock_cost_ns: u64) -> Self;
}

/// Runs calls without looking at the clock.
#[derive(Debug, Clone, Copy)]
pub struct Untimed;

impl Stopwatch for Untimed {
    #[inline]
    fn time<R>(&mut self, call: impl FnOnce() -> R) -> R {
        call()
    }

    fn into_histogram(self) -> Option<Histogram<u64>> {
        None
    }
}

/// Counts how long each call took.
#[derive(Debug, Clone)]
pub struct Timed {
    clock_cost_ns: u64,
    histogram: Histogram<u64>,
}

impl Timed {
    /// A stopwatch without any times, on a clock that takes `clock_cost_ns` to read.
    #[must_use]
    pub fn new(clock_cost_ns: u64) -> Self {
        Self { clock_cost_ns, histogram: empty_histogram() }
    }
}

impl Stopwatch for Timed {
    #[inline]
    fn time<R>(&mut self, call: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = call();
        let elapsed_ns = start.elapsed().as_nanos() as u64;
        self.histogram.saturating_record(elapsed_ns.saturating_sub(self.clock_cost_ns));
        result
    }

    fn into_histogram(self) -> Option<Histogram<u64>> {
        Some(self.histogram)
    }
}

impl Keeping for Timed {
    fn on_clock(clock_cost_ns: u64) -> Self {
        Self::new(clock_cost_ns)
    }
}

/// Counts how long it was from the end of one call to the end of the next: nothing falls between.
#[derive(Debug, Clone)]
pub struct Gaps {
    clock_cost_ns: u64,
    last_end: Option<Instant>,
    histogram: Histogram<u64>,
}

impl Keeping for Gaps {
    fn on_clock(clock_cost_ns: u64) -> Self {
        Self { clock_cost_ns, last_end: None, histogram: empty_histogram() }
    }
}

impl Stopwatch for Gaps {
    #[inline]
    fn time<R>(&mut self, call: impl FnOnce() -> R) -> R {
        let result = call();
        let end = Instant::now();
        if let Some(last_end) = self.last_end.replace(end) {
            let gap_ns = (end - last_end).as_nanos() as u64;
            self.histogram.saturating_record(gap_ns.saturating_sub(self.clock_cost_ns));
        }
        result
    }

    fn into_histogram(self) -> Option<Histogram<u64>> {
        Some(self.histogram)
    }
}

/// A histogram without any times.
///
/// # Panics
///
/// Never: its bounds are constants that the library accepts.
#[must_use]
pub fn empty_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, MAX_NS, SIGNIFICANT_DIGITS).expect("the bounds are in order")
}

/// The median time between two readings of the clock with nothing in between, in nanoseconds.
#[must_use]
pub fn clock_cost_ns() -> u64 {
    let mut watch = Timed::new(0);
    for _ in 0..20_000 {
        watch.time(|| std::hint::black_box(()));
    }
    watch.histogram.value_at_quantile(0.5)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Gaps, Keeping, Stopwatch, Timed, clock_cost_ns};

    #[test]
    fn a_call_is_timed_without_the_clock() {
        let mut watch = Timed::new(clock_cost_ns());
        watch.time(|| std::thread::sleep(Duration::from_millis(2)));
        watch.time(|| ());
        let times = watch.into_histogram().unwrap();
        assert_eq!(times.len(), 2);
        assert!(times.max() >= 2_000_000 - clock_cost_ns(), "{} ns", times.max());
    }

    #[test]
    fn nothing_falls_between_gaps() {
        let mut watch = Gaps::on_clock(0);
        watch.time(|| ());
        std::thread::sleep(Duration::from_millis(2));
        watch.time(|| ());
        let gaps = watch.into_histogram().unwrap();
        assert_eq!(gaps.len(), 1);
        assert!(gaps.max() >= 2_000_000, "{} ns", gaps.max());
    }
}
