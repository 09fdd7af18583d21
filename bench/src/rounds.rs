//! Taking turns: the passes of several contestants, interleaved, and the medians that come out.
//!
//! The contestants take turns within each round, and the order rotates from round to round, so that a change
//! in the machine's speed meets all of them.
//!
//! Next: `rounds/bootstrap.rs`, how far a median can be trusted.

pub mod bootstrap;

use hdrhistogram::Histogram;

use bootstrap::{Ratio, Spread};

use crate::latency::empty_histogram;

/// Every how many measured rounds the single calls are timed once.
const ROUNDS_PER_LATENCY_PASS: u32 = 3;

/// What a pass is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Compares answers, as closely as can be, and warms up.
    Check,
    /// Measures the time of the whole.
    Throughput,
    /// Measures the time of each call, on a clock that costs this much.
    Latency {
        /// How long reading the clock takes.
        clock_cost_ns: u64,
    },
}

/// What came out of one pass.
pub trait Outcome {
    /// The time that the pass is judged by: of the whole or of an operation, less is better.
    fn time_ns(&self) -> f64;

    /// The times of the single calls, after a [`Pass::Latency`].
    fn latency(&self) -> Option<&Histogram<u64>>;
}

/// How many passes there will be.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    /// Measured rounds, at least 1.
    pub rounds: u32,
    /// How long reading the clock takes, if single calls are to be timed.
    pub clock_cost_ns: Option<u64>,
}

impl Schedule {
    /// All passes of one contestant.
    #[must_use]
    pub fn passes(&self) -> u64 {
        1 + u64::from(self.rounds) + u64::from(self.latency_passes())
    }

    /// The passes of one contestant that time single calls.
    #[must_use]
    pub fn latency_passes(&self) -> u32 {
        self.clock_cost_ns.map_or(0, |_| self.rounds.div_ceil(ROUNDS_PER_LATENCY_PASS))
    }
}

/// What one contestant's passes came to.
#[derive(Debug)]
pub struct Measured<R> {
    /// The measured rounds, in order.
    pub rounds: Vec<R>,
    /// The single calls of all passes that timed them.
    pub latency: Histogram<u64>,
}

impl<R: Outcome> Measured<R> {
    /// The round whose time is the median; of an even number of rounds the faster of the middle two.
    ///
    /// # Panics
    ///
    /// If there is no round.
    #[must_use]
    pub fn median(&self) -> &R {
        let mut by_time: Vec<&R> = self.rounds.iter().collect();
        by_time.sort_by(|a, b| a.time_ns().total_cmp(&b.time_ns()));
        by_time[(by_time.len() - 1) / 2]
    }

    /// The median over the rounds of this contestant's time divided by the other's in the same round.
    ///
    /// # Panics
    ///
    /// If there is no round.
    #[must_use]
    pub fn ratio_to(&self, other: &Self) -> f64 {
        median(self.ratios_to(other))
    }

    /// The same with its interval.
    ///
    /// # Panics
    ///
    /// If there is no round.
    #[must_use]
    pub fn trusted_ratio_to(&self, other: &Self) -> Ratio {
        Ratio::of(&self.ratios_to(other).collect::<Vec<_>>())
    }

    fn ratios_to(&self, other: &Self) -> impl Iterator<Item = f64> {
        let pairs = self.rounds.iter().zip(&other.rounds);
        pairs.map(|(a, b)| a.time_ns() / b.time_ns().max(f64::MIN_POSITIVE))
    }

    /// How far the rounds' times are from each other.
    ///
    /// # Panics
    ///
    /// If there is no round.
    #[must_use]
    pub fn spread(&self) -> Spread {
        Spread::of(&self.rounds.iter().map(R::time_ns).collect::<Vec<_>>())
    }
}

/// The median; of an even number of values the smaller of the middle two.
///
/// # Panics
///
/// If there is no value.
#[must_use]
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

/// Runs the passes of `contestants` contestants, each by its index, in turns.
///
/// # Errors
///
/// The first error of a pass ends the run.
pub fn interleave<R: Outcome, E>(
    schedule: Schedule,
    contestants: usize,
    mut pass: impl FnMut(usize, Pass) -> Result<R, E>,
) -> Result<Vec<Measured<R>>, E> {
    let mut all: Vec<Measured<R>> =
        (0..contestants).map(|_| Measured { rounds: Vec::new(), latency: empty_histogram() }).collect();
    let mut turn = |first: usize, kind: Pass, all: &mut Vec<Measured<R>>| {
        for contestant in (0..contestants).map(|i| (first + i) % contestants) {
            let outcome = pass(contestant, kind)?;
            match (kind, outcome.latency()) {
                (Pass::Throughput, _) => all[contestant].rounds.push(outcome),
                (_, Some(times)) => all[contestant].latency += times,
                (_, None) => {}
            }
        }
        Ok(())
    };
    turn(0, Pass::Check, &mut all)?;
    for round in 0..schedule.rounds {
        turn(round as usize, Pass::Throughput, &mut all)?;
        if let Some(clock_cost_ns) = schedule.clock_cost_ns.filter(|_| round % ROUNDS_PER_LATENCY_PASS == 0) {
            turn(round as usize, Pass::Latency { clock_cost_ns }, &mut all)?;
        }
    }
    Ok(all)
}
