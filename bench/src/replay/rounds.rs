//! Taking turns: the passes of several tables, interleaved, and the medians that come out.

use hdrhistogram::Histogram;

use super::{Pass, Run};
use crate::latency::empty_histogram;

/// Every how many measured rounds the single calls are timed once.
const ROUNDS_PER_LATENCY_PASS: u32 = 3;

/// How many passes there will be.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    /// Measured rounds, at least 1.
    pub rounds: u32,
    /// How long reading the clock takes.
    pub clock_cost_ns: u64,
}

impl Schedule {
    /// All passes of one table.
    #[must_use]
    pub fn passes(&self) -> u64 {
        1 + u64::from(self.rounds) + u64::from(self.latency_passes())
    }

    /// The passes of one table that time single calls.
    #[must_use]
    pub fn latency_passes(&self) -> u32 {
        self.rounds.div_ceil(ROUNDS_PER_LATENCY_PASS)
    }
}

/// What one table's passes came to.
#[derive(Debug)]
pub struct Measured {
    /// The measured rounds, in order.
    pub rounds: Vec<Run>,
    /// The single calls of all passes that timed them.
    pub latency: Histogram<u64>,
}

impl Measured {
    /// The round whose time is the median; of an even number of rounds the faster of the middle two.
    ///
    /// # Panics
    ///
    /// If there is no round.
    #[must_use]
    pub fn median(&self) -> &Run {
        let mut by_time: Vec<&Run> = self.rounds.iter().collect();
        by_time.sort_by_key(|run| run.wall_ns);
        by_time[(by_time.len() - 1) / 2]
    }

    /// The median over the rounds of this table's time divided by the other's in the same round.
    #[must_use]
    pub fn ratio_to(&self, other: &Self) -> f64 {
        let pairs = self.rounds.iter().zip(&other.rounds);
        let mut ratios: Vec<f64> = pairs.map(|(a, b)| a.wall_ns as f64 / b.wall_ns.max(1) as f64).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[(ratios.len() - 1) / 2]
    }
}

/// Runs the passes of `tables` tables, each by its index, in turns.
///
/// # Errors
///
/// The first error of a pass ends the run.
pub fn interleave<E>(
    schedule: Schedule,
    tables: usize,
    mut pass: impl FnMut(usize, Pass) -> Result<Run, E>,
) -> Result<Vec<Measured>, E> {
    let mut all: Vec<Measured> =
        (0..tables).map(|_| Measured { rounds: Vec::new(), latency: empty_histogram() }).collect();
    let mut turn = |first: usize, kind: Pass, all: &mut Vec<Measured>| {
        for table in (0..tables).map(|i| (first + i) % tables) {
            let run = pass(table, kind)?;
            match (kind, &run.latency) {
                (Pass::Throughput, _) => all[table].rounds.push(run),
                (_, Some(times)) => all[table].latency += times,
                (_, None) => {}
            }
        }
        Ok(())
    };
    turn(0, Pass::Check, &mut all)?;
    for round in 0..schedule.rounds {
        turn(round as usize, Pass::Throughput, &mut all)?;
        if round % ROUNDS_PER_LATENCY_PASS == 0 {
            turn(round as usize, Pass::Latency { clock_cost_ns: schedule.clock_cost_ns }, &mut all)?;
        }
    }
    Ok(all)
}
