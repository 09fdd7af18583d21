//! The counters that take part: adding on one thread and on many, reading alone and while others add.

use std::hint::black_box;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crossbeam_utils::CachePadded;
use fast_counter::ConcurrentCounter;

use super::{Entry, Kind, Sample, SyncError, check};
use crate::crew;

/// How much a slot of the deferring counters holds, their default.
const CAP: u32 = 32;

/// How many cells the peer has that is sharded: as many as our sharded counter.
const CELLS: usize = 32;

/// What a counter that is to be read begins with.
const BEGIN: u64 = 1000;

/// A counter.
pub trait Counter: Sync + 'static {
    /// The name on the command line and in the output.
    const NAME: &'static str;

    /// A counter at 0.
    fn new() -> Self;

    /// Counts one.
    fn add_one(&self);

    /// The count, but for additions under way.
    fn exact(&self) -> i64;
}

/// A counter that shows something cheaper than its count.
pub trait Approx: Counter {
    /// About the count.
    fn approx(&self) -> i64;
}

macro_rules! counter {
    (
        $doc:literal, $name:ident = $text:literal, $type:ty = $new:expr,
        $counter:ident => $add_one:expr, $exact:expr $(, approx: $approx:expr)?
    ) => {
        #[doc = $doc]
        #[derive(Debug)]
        pub struct $name(CachePadded<$type>);

        impl Counter for $name {
            const NAME: &'static str = $text;

            fn new() -> Self {
                Self(CachePadded::new($new))
            }

            #[inline]
            fn add_one(&self) {
                let $counter = &*self.0;
                $add_one;
            }

            #[inline]
            fn exact(&self) -> i64 {
                let $counter = &*self.0;
                $exact
            }
        }

        $(impl Approx for $name {
            #[inline]
            fn approx(&self) -> i64 {
                let $counter = &*self.0;
                $approx
            }
        })?
    };
}

counter!(
    "`latchfree-sync`'s, exact when alone, with a bounded lag.",
    Deferred = "latchfree-deferred",
    ::sync::DeferredCounter = ::sync::DeferredCounter::with_cap(CAP),
    counter => counter.add(1), counter.exact(), approx: counter.approx()
);
counter!(
    "`latchfree-sync`'s conditional lock with nothing to do but count.",
    Cond = "latchfree-cond",
    ::sync::CondLock<i64> = ::sync::CondLock::new(0, CAP),
    counter => counter.update(1, |_| ()), *counter.lock()
);
counter!(
    "`latchfree-sync`'s conditional lock in its quiet manner.",
    CondQuiet = "latchfree-cond-quiet",
    ::sync::CondLock<i64> = ::sync::CondLock::quiet(0, CAP),
    counter => counter.update(1, |_| ()), *counter.lock()
);
counter!(
    "`latchfree-sync`'s in shards.",
    Sharded = "latchfree-sharded",
    ::sync::ShardedCounter = ::sync::ShardedCounter::new(),
    counter => counter.add(1), counter.sum(), approx: counter.approx()
);
counter!(
    "One atomic.",
    Atomic = "atomic",
    AtomicI64 = AtomicI64::new(0),
    counter => counter.fetch_add(1, Ordering::Relaxed), counter.load(Ordering::Relaxed)
);
counter!(
    "A number under `parking_lot`'s mutex.",
    Mutex = "mutex",
    parking_lot::Mutex<i64> = parking_lot::Mutex::new(0),
    counter => *counter.lock() += 1, *counter.lock()
);
counter!(
    "A number under the standard library's mutex.",
    StdMutex = "mutex-std",
    std::sync::Mutex<i64> = std::sync::Mutex::new(0),
    counter => *counter.lock().unwrap() += 1, *counter.lock().unwrap()
);
counter!(
    "`fast-counter`'s, in shards.",
    FastCounter = "fastcounter",
    ConcurrentCounter = ConcurrentCounter::new(CELLS),
    counter => counter.add(1), counter.sum() as i64
);

macro_rules! all_counters {
    ($entry:ident($($argument:expr),*)) => {
        vec![
            $entry::<Deferred>($($argument),*),
            $entry::<Cond>($($argument),*),
            $entry::<CondQuiet>($($argument),*),
            $entry::<Sharded>($($argument),*),
            $entry::<Atomic>($($argument),*),
            $entry::<Mutex>($($argument),*),
            $entry::<StdMutex>($($argument),*),
            $entry::<FastCounter>($($argument),*),
        ]
    };
}

/// The counters, each with so many threads that add.
#[must_use]
pub fn add_entries(threads: u32) -> Vec<Entry> {
    all_counters!(add_entry(threads))
}

/// The counters, each with one thread that reads and, of more threads, the others adding.
#[must_use]
pub fn read_entries(threads: u32) -> Vec<Entry> {
    let mut entries = vec![
        read_entry::<Deferred>(threads, Kind::Approx, Deferred::approx),
        read_entry::<Sharded>(threads, Kind::Approx, Sharded::approx),
    ];
    entries.extend(all_counters!(exact_entry(threads)));
    entries
}

fn add_entry<C: Counter>(threads: u32) -> Entry {
    Entry { name: C::NAME, kind: None, run: Box::new(move |_, slice| add::<C>(threads, slice)) }
}

fn exact_entry<C: Counter>(threads: u32) -> Entry {
    read_entry::<C>(threads, Kind::Exact, C::exact)
}

fn read_entry<C: Counter>(threads: u32, kind: Kind, read: impl Fn(&C) -> i64 + Sync + 'static) -> Entry {
    let run = move |_, slice| run_read(threads, slice, &read);
    Entry { name: C::NAME, kind: Some(kind), run: Box::new(run) }
}

fn add<C: Counter>(threads: u32, slice: Duration) -> Result<Sample, SyncError> {
    let counter = C::new();
    let (sample, added) = if threads == 1 {
        let alone = crew::alone(slice, || counter.add_one());
        (Sample::alone(&alone), alone.operations)
    } else {
        let shift = crew::shift(threads, slice, |_, stop| stop.repeat_until_asked(|| counter.add_one()))?;
        let added = shift.parts.iter().sum();
        (Sample::of_workers(threads, shift.wall_ns, added), added)
    };
    check(C::NAME, &[("the count", counter.exact() as u64, added)])?;
    Ok(sample)
}

fn run_read<C: Counter>(
    threads: u32,
    slice: Duration,
    read: &(impl Fn(&C) -> i64 + Sync),
) -> Result<Sample, SyncError> {
    let counter = C::new();
    (0..BEGIN).for_each(|_| counter.add_one());
    let read = || _ = black_box(read(black_box(&counter)));
    let (sample, added) = if threads == 1 {
        (Sample::alone(&crew::alone(slice, read)), 0)
    } else {
        let shift = crew::shift(threads, slice, |thread, stop| match thread {
            0 => stop.repeat_until_asked(read),
            _ => stop.repeat_until_asked(|| counter.add_one()),
        })?;
        let reads = shift.parts.first().copied().unwrap_or_default();
        (Sample::of_workers(1, shift.wall_ns, reads), shift.parts.iter().skip(1).sum())
    };
    check(C::NAME, &[("the count", counter.exact() as u64, BEGIN + added)])?;
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Atomic, Counter, add};
    use crate::sync::SyncError;

    struct Deaf(Atomic);

    impl Counter for Deaf {
        const NAME: &'static str = "deaf";

        fn new() -> Self {
            Self(Atomic::new())
        }

        fn add_one(&self) {
            if self.exact() < 10 {
                self.0.add_one();
            }
        }

        fn exact(&self) -> i64 {
            self.0.exact()
        }
    }

    #[test]
    fn a_counter_that_loses_counts_is_found_out() {
        let slice = Duration::from_millis(1);
        assert!(add::<Atomic>(2, slice).is_ok());
        let error = add::<Deaf>(1, slice).unwrap_err();
        assert!(matches!(error, SyncError::Disagrees { name: "deaf", found: 10, .. }), "{error}");
    }
}
