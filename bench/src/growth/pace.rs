//! Arrivals at a fixed rate, and the accounting of an open loop.
//!
//! Operation `i` is due `i / rate` seconds after the start. It begins then, or as soon as those before it have ended,
//! and its latency runs from when it was due to when it ended. So one long operation makes all that arrive meanwhile
//! late, and each of these is counted, as each would have kept somebody waiting.

use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::latency::empty_histogram;

/// How long a slice of the time series is.
pub const SLICE_NS: u64 = 50_000_000;

/// So long before an operation is due a thread stops sleeping and begins to look at the clock.
const AWAKE_NS: u64 = 500_000;

/// Tells the time since a start, in nanoseconds.
pub trait Clock {
    /// The time.
    fn now_ns(&mut self) -> u64;

    /// Returns when it is that time, at once if it is later.
    fn wait_until(&mut self, due_ns: u64);
}

/// The machine's clock.
#[derive(Debug)]
pub struct Watch {
    start: Instant,
}

impl Watch {
    /// It is 0 now.
    #[must_use]
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for Watch {
    #[inline]
    fn now_ns(&mut self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    #[inline]
    fn wait_until(&mut self, due_ns: u64) {
        loop {
            let left_ns = due_ns.saturating_sub(self.now_ns());
            if left_ns == 0 {
                return;
            }
            if left_ns > 2 * AWAKE_NS {
                thread::sleep(Duration::from_nanos(left_ns - AWAKE_NS));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

/// What happened in a slice of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Slice {
    /// The latest operation of those that were due in it.
    pub max_ns: u64,
    /// The bytes held when the next slice's first operation began.
    pub bytes: i64,
}

/// What came of the operations of one thread.
#[derive(Debug, Clone)]
pub struct Record {
    /// From when each operation was due to when it ended.
    pub latency: Histogram<u64>,
    /// The longest time between the ends of two that followed each other.
    pub longest_gap_ns: u64,
    /// The slices of [`SLICE_NS`] each, by when operations were due.
    pub slices: Vec<Slice>,
    last_end_ns: Option<u64>,
}

/// So many operations a second.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How many: at least 1.
    pub rate: u32,
}

impl Pace {
    /// When an operation is due, after the start.
    #[inline]
    #[must_use]
    pub fn due_ns(self, operation: u64) -> u64 {
        operation * 1_000_000_000 / u64::from(self.rate)
    }

    /// An empty record for so many operations, which needs no more memory while they run.
    #[must_use]
    pub fn record(self, operations: u64) -> Record {
        let slices = self.due_ns(operations.saturating_sub(1)) / SLICE_NS + 1;
        Record {
            latency: empty_histogram(),
            longest_gap_ns: 0,
            slices: vec![Slice::default(); slices as usize],
            last_end_ns: None,
        }
    }

    /// Carries out so many operations, each when it is due or as soon as can be, and fills a record made for as many;
    /// `held_bytes` is asked once a slice.
    #[inline]
    pub fn drive(
        self,
        clock: &mut impl Clock,
        operations: u64,
        record: &mut Record,
        mut operation: impl FnMut(u64),
        held_bytes: impl Fn() -> i64,
    ) {
        let mut slice = 0;
        for number in 0..operations {
            let due_ns = self.due_ns(number);
            let in_slice = (due_ns / SLICE_NS) as usize;
            if in_slice != slice {
                record.slices[slice].bytes = held_bytes();
                slice = in_slice;
            }
            clock.wait_until(due_ns);
            operation(number);
            record.note(slice, due_ns, clock.now_ns());
        }
        record.slices[slice].bytes = held_bytes();
    }
}

impl Record {
    #[inline]
    fn note(&mut self, slice: usize, due_ns: u64, end_ns: u64) {
        let latency_ns = end_ns.saturating_sub(due_ns);
        self.latency.saturating_record(latency_ns);
        let slice = &mut self.slices[slice];
        slice.max_ns = slice.max_ns.max(latency_ns);
        if let Some(last_end_ns) = self.last_end_ns.replace(end_ns) {
            self.longest_gap_ns = self.longest_gap_ns.max(end_ns - last_end_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{Clock, Pace, SLICE_NS, Watch};

    /// A clock that only work moves.
    struct Made<'a>(&'a Cell<u64>);

    impl Clock for Made<'_> {
        fn now_ns(&mut self) -> u64 {
            self.0.get()
        }

        fn wait_until(&mut self, due_ns: u64) {
            self.0.set(self.0.get().max(due_ns));
        }
    }

    const PACE: Pace = Pace { rate: 1_000_000 };

    #[test]
    fn a_pause_is_charged_to_every_operation_that_it_delays() {
        let now = Cell::new(0);
        let mut record = PACE.record(1000);
        let operation = |number| now.set(now.get() + if number == 100 { 10_000 } else { 100 });
        PACE.drive(&mut Made(&now), 1000, &mut record, operation, || 7);
        // Number 100 is 10 us late; each after it ends 0.9 us less late than the one before: that makes ten more.
        let late = |above| record.latency.iter_recorded().filter(move |v| v.value_iterated_to() > above);
        assert_eq!(late(150).map(|v| v.count_at_value()).sum::<u64>(), 11);
        assert_eq!(record.latency.len(), 1000);
        assert!(record.latency.max().abs_diff(10_000) <= 10, "{}", record.latency.max());
        assert_eq!(record.longest_gap_ns, 10_000 + 900);
        assert_eq!((record.slices[0].max_ns, record.slices[0].bytes), (10_000, 7));
    }

    #[test]
    fn a_pause_is_seen_in_every_slice_in_which_operations_were_due() {
        let pace = Pace { rate: 1000 };
        let now = Cell::new(0);
        let mut record = pace.record(300);
        let operation = |number| now.set(now.get() + if number == 10 { 2 * SLICE_NS } else { 1 });
        pace.drive(&mut Made(&now), 300, &mut record, operation, || 0);
        let late: Vec<u64> = record.slices.iter().map(|slice| slice.max_ns).collect();
        assert_eq!(late.len(), 6);
        assert_eq!((late[0], late[1], late[2]), (2 * SLICE_NS, 60_000_040, 10_000_090));
        assert!(late[3..].iter().all(|&ns| ns == 1), "{late:?}");
    }

    #[test]
    fn nothing_is_late_that_is_done_in_time() {
        let now = Cell::new(0);
        let mut record = PACE.record(500);
        PACE.drive(&mut Made(&now), 500, &mut record, |_| now.set(now.get() + 300), || 0);
        assert_eq!((record.latency.min(), record.latency.max(), record.longest_gap_ns), (300, 300, 1000));
    }

    #[test]
    fn the_machines_clock_waits_as_long_as_it_is_told() {
        let mut watch = Watch::start();
        watch.wait_until(3_000_000);
        assert!(watch.now_ns() >= 3_000_000);
        watch.wait_until(1);
    }
}
