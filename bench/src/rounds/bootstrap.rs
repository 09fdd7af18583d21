//! How far a median of few rounds can be trusted: the percentile bootstrap (Efron 1979).
//!
//! Rounds are drawn with replacement, as many as there were, and their median is taken, many times; the middle 95 % of
//! these medians are the interval. With fewer than six rounds it is narrower than it should be, as then all rounds
//! together say less than 95 % about the median.

use std::fmt;

use fastrand::Rng;
use serde::Serialize;

use super::median;

/// How often the rounds are drawn anew.
const DRAWS: usize = 2_000;
/// What is left out at either end.
const TAIL: f64 = 0.025;
/// The same rounds have the same interval.
const SEED: u64 = 0x5eed;

/// Between these the median lies with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// That of the median of some values.
    ///
    /// # Panics
    ///
    /// If there is no value.
    #[must_use]
    pub fn of_median(values: &[f64]) -> Self {
        let mut dice = Rng::with_seed(SEED);
        let mut draw = || median((0..values.len()).map(|_| values[dice.usize(..values.len())]));
        let mut medians: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
        medians.sort_by(f64::total_cmp);
        let tail = (DRAWS as f64 * TAIL) as usize;
        Self { low: medians[tail], high: medians[DRAWS - 1 - tail] }
    }
}

/// How far the times of rounds are from each other; fields of a row, if they are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// A quarter of the rounds took at most this long.
    pub ns_q1: f64,
    /// Three quarters of them.
    pub ns_q3: f64,
    /// The median lies above this, and
    pub ns_low: f64,
    /// below this, with 95 % confidence.
    pub ns_high: f64,
}

impl Spread {
    /// Of the times of all rounds.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[must_use]
    pub fn of(rounds: &[f64]) -> Self {
        let mut sorted = rounds.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quartile = |number: usize| sorted[(sorted.len() - 1) * number / 4];
        let Interval { low, high } = Interval::of_median(rounds);
        Self { ns_q1: quartile(1), ns_q3: quartile(3), ns_low: low, ns_high: high }
    }

    /// All by so much, with two digits after the point.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let times = |ns: f64| (ns * factor * 100.0).round() / 100.0;
        let Self { ns_q1, ns_q3, ns_low, ns_high } = self;
        Self { ns_q1: times(ns_q1), ns_q3: times(ns_q3), ns_low: times(ns_low), ns_high: times(ns_high) }
    }
}

/// The median of the rounds' own ratios, and how far it can be trusted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The median.
    pub median: f64,
    /// Between these it lies.
    pub interval: Interval,
}

impl Ratio {
    /// Of the ratios of all rounds.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[must_use]
    pub fn of(rounds: &[f64]) -> Self {
        Self { median: median(rounds.iter().copied()), interval: Interval::of_median(rounds) }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Interval { low, high } = self.interval;
        write!(f, "{:.2} ({low:.2}-{high:.2})", self.median)
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::{Interval, Ratio, Spread};

    #[test]
    fn equal_rounds_leave_no_doubt() {
        assert_eq!(Interval::of_median(&[3.0; 9]), Interval { low: 3.0, high: 3.0 });
        assert_eq!(Interval::of_median(&[7.0]), Interval { low: 7.0, high: 7.0 });
        assert_eq!(Ratio::of(&[1.5; 3]).to_string(), "1.50 (1.50-1.50)");
    }

    #[test]
    fn one_wild_round_does_not_move_the_interval() {
        let tame: Vec<f64> = (0..9).map(|i| 100.0 + f64::from(i)).collect();
        let mut wild = tame.clone();
        wild[8] = 1e9;
        let (tame, wild) = (Interval::of_median(&tame), Interval::of_median(&wild));
        assert_eq!(tame.low, wild.low);
        assert!(tame.low > 100.0 && tame.low < 104.0 && tame.high > 104.0 && tame.high < 108.5, "{tame:?}");
        assert!(wild.high < 1e9, "{wild:?}");
    }

    #[test]
    fn quartiles_are_rounds() {
        let spread = Spread::of(&[5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!((spread.ns_q1, spread.ns_q3), (2.0, 4.0));
        assert_eq!(
            Spread::of(&[7.0]).times(0.5),
            Spread { ns_q1: 3.5, ns_q3: 3.5, ns_low: 3.5, ns_high: 3.5 }
        );
    }

    #[test]
    fn about_95_in_a_hundred_intervals_hold_the_median() {
        let mut dice = Rng::with_seed(11);
        let holds = (0..400).filter(|_| {
            // The median of these values is 0.5.
            let values: Vec<f64> = (0..15).map(|_| dice.f64()).collect();
            let Interval { low, high } = Interval::of_median(&values);
            low <= 0.5 && 0.5 <= high
        });
        let share = holds.count() as f64 / 400.0;
        assert!((0.9..=0.99).contains(&share), "{share}");
    }
}
