//! Locks at work: free pairs on one thread, and threads that read and write under one lock.
//!
//! The critical section copies four words out, which must be equal, or adds 1 to each; in the end they must
//! be the number of writes. Between two acquisitions there is nothing but the choice of the next one.

use std::time::Duration;

use fastrand::Rng;
use hdrhistogram::Histogram;

use super::locks::{Control, Latchfree, Lock, ParkingLot, Spin, Std, are_torn};
use super::{Entry, Sample, SyncError, check};
use crate::crew::{self, Shift, Stop};
use crate::latency::{Keeping, Stopwatch, Untimed};
use crate::rounds::Pass;

/// Who does what.
#[derive(Debug, Clone, Copy)]
pub struct Mix {
    /// The number of threads.
    pub threads: u32,
    /// How many of a hundred acquisitions are shared.
    pub read_pct: u32,
}

/// The locks, each reading alone.
#[must_use]
pub fn pair_read_entries() -> Vec<Entry> {
    fn entry<L: Lock>() -> Entry {
        pair_entry::<L>(L::pair_read)
    }
    vec![entry::<Latchfree>(), entry::<Std>(), entry::<ParkingLot>(), entry::<Spin>(), entry::<Control>()]
}

/// The locks, each writing alone.
#[must_use]
pub fn pair_write_entries() -> Vec<Entry> {
    fn entry<L: Lock>() -> Entry {
        pair_entry::<L>(L::pair_write)
    }
    vec![entry::<Latchfree>(), entry::<Std>(), entry::<ParkingLot>(), entry::<Spin>(), entry::<Control>()]
}

/// The locks in a mix.
#[must_use]
pub fn entries(mix: Mix) -> Vec<Entry> {
    fn entry<L: Lock>(mix: Mix) -> Entry {
        Entry { name: L::NAME, kind: None, run: Box::new(move |pass, slice| mixed::<L>(mix, pass, slice)) }
    }
    vec![
        entry::<Latchfree>(mix),
        entry::<Std>(mix),
        entry::<ParkingLot>(mix),
        entry::<Spin>(mix),
        entry::<Control>(mix),
    ]
}

fn pair_entry<L: Lock>(pair: impl Fn(&L) + 'static) -> Entry {
    let run = move |_: Pass, slice| {
        let lock = L::new();
        Ok(Sample::alone(&crew::alone(slice, || pair(&lock))))
    };
    Entry { name: L::NAME, kind: None, run: Box::new(run) }
}

fn mixed<L: Lock>(mix: Mix, pass: Pass, slice: Duration) -> Result<Sample, SyncError> {
    match pass {
        Pass::Check | Pass::Throughput => run::<L, _>(mix, slice, &Untimed),
        Pass::Latency { clock_cost_ns } => run::<L, _>(mix, slice, &L::Watch::on_clock(clock_cost_ns)),
    }
}

/// What one thread did and saw.
struct Part<S> {
    reads: u64,
    writes: u64,
    torn: u64,
    watch: S,
}

fn run<L: Lock, S: Stopwatch>(mix: Mix, slice: Duration, watch: &S) -> Result<Sample, SyncError> {
    let lock = L::new();
    let work = |thread, stop: &Stop| one_thread(&lock, mix.read_pct, thread, stop, watch.clone());
    let shift = crew::shift(mix.threads, slice, work)?;
    let writes = shift.parts.iter().map(|part| part.writes).sum();
    let torn = shift.parts.iter().map(|part| part.torn).sum();
    let mut figures = vec![("torn reads", torn, 0)];
    figures.extend(lock.read(&mut Untimed).map(|word| ("a word in the end", word, writes)));
    check(L::NAME, &figures)?;
    Ok(sample(shift))
}

#[inline(never)]
fn one_thread<L: Lock, S: Stopwatch>(lock: &L, read_pct: u32, thread: u32, stop: &Stop, watch: S) -> Part<S> {
    let mut dice = Rng::with_seed(u64::from(thread));
    let mut part = Part { reads: 0, writes: 0, torn: 0, watch };
    loop {
        if dice.u32(..100) < read_pct {
            let words = lock.read(&mut part.watch);
            part.torn += u64::from(are_torn(words));
            part.reads += 1;
        } else {
            lock.raise(&mut part.watch);
            part.writes += 1;
        }
        if stop.is_asked() {
            return part;
        }
    }
}

fn sample<S: Stopwatch>(shift: Shift<Part<S>>) -> Sample {
    let acquisitions: Vec<u64> = shift.parts.iter().map(|part| part.reads + part.writes).collect();
    let (fewest, most) = (acquisitions.iter().min(), acquisitions.iter().max());
    let fairness = fewest.zip(most).map(|(&fewest, &most)| fewest as f64 / most.max(1) as f64);
    let mut latency: Option<Histogram<u64>> = None;
    for times in shift.parts.into_iter().filter_map(|part| part.watch.into_histogram()) {
        match &mut latency {
            Some(all) => *all += times,
            None => latency = Some(times),
        }
    }
    let workers = acquisitions.len() as u32;
    Sample { wall_ns: shift.wall_ns, workers, operations: acquisitions.iter().sum(), fairness, latency }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Mix, mixed};
    use crate::latency::Stopwatch;
    use crate::rounds::Pass;
    use crate::sync::locks::{Latchfree, Lock, Words};
    use crate::sync::{SyncError, check};

    /// Loses every write.
    struct Forgetful(Latchfree);

    impl Lock for Forgetful {
        const NAME: &'static str = "forgetful";
        type Watch = <Latchfree as Lock>::Watch;

        fn new() -> Self {
            Self(Latchfree::new())
        }

        fn pair_read(&self) {}

        fn pair_write(&self) {}

        fn read(&self, watch: &mut impl Stopwatch) -> Words {
            self.0.read(watch)
        }

        fn raise(&self, watch: &mut impl Stopwatch) {
            watch.time(|| ());
        }
    }

    const SLICE: Duration = Duration::from_millis(2);

    #[test]
    fn every_acquisition_is_counted_and_timed() {
        for (threads, read_pct) in [(1, 100), (2, 50), (5, 0)] {
            let mix = Mix { threads, read_pct };
            let sample = mixed::<Latchfree>(mix, Pass::Latency { clock_cost_ns: 0 }, SLICE).unwrap();
            assert!(sample.wall_ns >= SLICE.as_nanos() as u64 && sample.operations >= threads.into());
            assert_eq!(sample.latency.map(|times| times.len()), Some(sample.operations));
            assert!(sample.fairness.is_some_and(|share| share > 0.0 && share <= 1.0));
        }
    }

    #[test]
    fn a_lock_that_loses_writes_is_found_out() {
        let error = mixed::<Forgetful>(Mix { threads: 1, read_pct: 0 }, Pass::Check, SLICE).unwrap_err();
        assert!(
            matches!(error, SyncError::Disagrees { name: "forgetful", found: 0, expected: 1.., .. }),
            "{error}"
        );
        assert!(error.to_string().starts_with("forgetful disagrees: a word in the end is 0, expected "));
        assert!(check("fine", &[("words", 1, 1)]).is_ok());
    }
}
