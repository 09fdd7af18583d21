//! The aims that the locks and counters were built for, each with what came out.

use std::fmt;

use super::plan::READ_PCTS;
use super::{Kind, Row, What, locks};

/// The mixes of five on which the contended throughput has to be the best.
const BEST_MIXES: usize = 3;
/// What it has to reach of the better peer's on the others.
const NEARLY: f64 = 0.8;
/// The longest wait that is always short enough on two threads.
const SHORT_WAIT_NS: u64 = 10_000_000;
/// How many times as fast as a mutex a conditional lock has to count on two threads.
const COND_SPEED: f64 = 1.5;

/// Was an aim reached?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was.
    Reached,
    /// It was not.
    NotReached,
    /// Something that it speaks of was not measured.
    NotJudged,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Reached => "reached",
            Self::NotReached => "not reached",
            Self::NotJudged => "not judged",
        })
    }
}

/// An aim, and what came out.
#[derive(Debug)]
pub struct Aim {
    /// The aim.
    pub text: String,
    /// Was it reached?
    pub verdict: Verdict,
    /// The figure that the verdict rests on.
    pub figure: String,
}

impl Aim {
    pub(crate) fn new(text: impl Into<String>, found: Option<(bool, String)>) -> Self {
        let (verdict, figure) = match found {
            Some((true, figure)) => (Verdict::Reached, figure),
            Some((false, figure)) => (Verdict::NotReached, figure),
            None => (Verdict::NotJudged, "-".to_owned()),
        };
        Self { text: text.into(), verdict, figure }
    }
}

/// All aims, judged by the rows of one run.
#[must_use]
pub fn judge(rows: &[Row]) -> Vec<Aim> {
    let rows = Rows(rows);
    vec![
        rows.no_slower("free read pair no slower than parking_lot's", What::PairRead, None, "parking_lot"),
        rows.no_slower("free write pair no slower than parking_lot's", What::PairWrite, None, "parking_lot"),
        rows.throughput(2),
        rows.throughput(16),
        rows.wait_of_two(),
        rows.wait_of_sixteen(),
        rows.no_slower(
            "seqlock read in a loop no slower than seqlock's",
            What::SeqlockRead,
            Some(Kind::Loop),
            "seqlock",
        ),
        rows.no_slower(
            "seqlock read in a chain no slower than seqlock's",
            What::SeqlockRead,
            Some(Kind::Chain),
            "seqlock",
        ),
        rows.cond("latchfree-cond", "CondLock"),
        rows.cond("latchfree-cond-quiet", "CondLock::quiet"),
    ]
}

struct Rows<'a>(&'a [Row]);

impl Rows<'_> {
    fn of(&self, what: What, threads: u32, name: &str) -> impl Iterator<Item = &Row> {
        self.0.iter().filter(move |row| (row.what, row.threads, row.name) == (what, threads, name))
    }

    fn no_slower(&self, text: &str, what: What, kind: Option<Kind>, peer: &str) -> Aim {
        let find = |name| self.of(what, 1, name).find(|row| row.kind == kind);
        let speed = find("latchfree").zip(find(peer)).map(|(ours, peer)| rounded(ours.speed_to(peer)));
        Aim::new(text, speed.map(|speed| (speed >= 1.0, format!("{speed:.2} times as fast"))))
    }

    fn throughput(&self, threads: u32) -> Aim {
        let speed = |read_pct| {
            let find =
                |name| self.of(What::Contended, threads, name).find(|row| row.read_pct == Some(read_pct));
            let (ours, std, parking_lot) = (find("latchfree")?, find("std")?, find("parking_lot")?);
            Some(rounded(ours.speed_to(std).min(ours.speed_to(parking_lot))))
        };
        let speeds: Option<Vec<f64>> = READ_PCTS.into_iter().map(speed).collect();
        let found = speeds.map(|speeds| {
            let best = speeds.iter().filter(|&&speed| speed >= 1.0).count();
            let shown: Vec<String> = speeds.iter().map(|speed| format!("{speed:.2}")).collect();
            let reached = best >= BEST_MIXES && speeds.iter().all(|&speed| speed >= NEARLY);
            (reached, format!("{} times the better at 0, 50, 90, 99, 100 % reads", shown.join(", ")))
        });
        Aim::new(
            format!(
                "{threads} threads: throughput of the better of std and parking_lot on 3 of 5 mixes, 80 % of it on the \
                 others"
            ),
            found,
        )
    }

    /// The longest acquisition of all mixes.
    fn longest_ns(&self, threads: u32, name: &str) -> Option<u64> {
        let waits: Vec<u64> =
            self.of(What::Contended, threads, name).map(|row| row.max_wait_ns).collect::<Option<_>>()?;
        // The longest of a part would not be the longest.
        (waits.len() == READ_PCTS.len()).then(|| waits.into_iter().max()).flatten()
    }

    fn wait_of_two(&self) -> Aim {
        let longest = self.longest_ns(2, "latchfree").zip(self.longest_ns(2, "parking_lot"));
        let found = longest.map(|(ours, parking_lot)| {
            let limit = (parking_lot / 10).max(SHORT_WAIT_NS);
            (ours <= limit, format!("{} ms, parking_lot's {} ms", ms(ours), ms(parking_lot)))
        });
        Aim::new("2 threads: longest wait at most a tenth of parking_lot's, or 10 ms", found)
    }

    fn wait_of_sixteen(&self) -> Aim {
        let longest = |name| self.longest_ns(16, name);
        let all = longest("latchfree").zip(longest("parking_lot")).zip(longest(locks::CONTROL));
        let found = all.map(|((ours, parking_lot), gap)| {
            let figure = format!("{} ms, parking_lot's {} ms, gap {} ms", ms(ours), ms(parking_lot), ms(gap));
            (ours <= parking_lot.max(2 * gap), figure)
        });
        Aim::new("16 threads: longest wait at most parking_lot's, or twice the control's longest gap", found)
    }

    fn cond(&self, name: &str, called: &str) -> Aim {
        let find = |name| self.of(What::CounterAdd, 2, name).next();
        let rows = find(name).zip(find("mutex")).zip(find("mutex-std"));
        let found = rows.map(|((ours, mutex), std)| {
            let speeds = [mutex, std].map(|peer| rounded(ours.speed_to(peer)));
            let figure = format!("{:.2} times parking_lot's, {:.2} times std's", speeds[0], speeds[1]);
            (speeds.into_iter().all(|speed| speed >= COND_SPEED), figure)
        });
        Aim::new(
            format!("2 threads: {called} counts 1.5 times as fast as a number under a mutex, of either kind"),
            found,
        )
    }
}

/// The value as it is shown, so that the verdict agrees with what is read.
pub(crate) fn rounded(speed: f64) -> f64 {
    (speed * 100.0).round() / 100.0
}

fn ms(ns: u64) -> String {
    format!("{:.1}", ns as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::{Verdict, judge};
    use crate::latency::empty_histogram;
    use crate::rounds::Measured;
    use crate::sync::plan::READ_PCTS;
    use crate::sync::{Row, Sample, What};

    fn row(
        what: What,
        name: &'static str,
        threads: u32,
        read_pct: Option<u32>,
        ns: u64,
        wait_ns: u64,
    ) -> Row {
        let sample = || Sample { wall_ns: ns, workers: 1, operations: 1, fairness: None, latency: None };
        Row {
            cmd: "sync",
            what,
            name,
            kind: None,
            threads,
            read_pct,
            spread: None,
            ns_median: ns as f64,
            mops: 1e3 / ns as f64,
            p999_ns: None,
            max_wait_ns: Some(wait_ns),
            fairness: None,
            measured: Measured { rounds: vec![sample(), sample()], latency: empty_histogram() },
        }
    }

    /// All locks in all mixes: ours takes `ns` and waits `wait_ms`, the peers take 100 and wait 500, the
    /// control's gap is 300.
    fn contended(threads: u32, ns: [u64; 5], wait_ms: u64) -> Vec<Row> {
        let mut rows = Vec::new();
        for (pct, ns) in READ_PCTS.into_iter().zip(ns) {
            for (name, ns, wait_ms) in
                [("latchfree", ns, wait_ms), ("std", 150, 9), ("parking_lot", 100, 500), ("control", 10, 300)]
            {
                rows.push(row(What::Contended, name, threads, Some(pct), ns, wait_ms * 1_000_000));
            }
        }
        rows
    }

    fn verdict(rows: &[Row], begin: &str) -> Verdict {
        let aims = judge(rows);
        aims.iter().find(|aim| aim.text.starts_with(begin)).unwrap_or_else(|| panic!("{begin}")).verdict
    }

    #[test]
    fn nothing_is_judged_without_figures() {
        assert!(judge(&[]).iter().all(|aim| aim.verdict == Verdict::NotJudged && aim.figure == "-"));
        let mut rows = contended(2, [50; 5], 1);
        rows.retain(|row| row.read_pct != Some(99));
        assert!(judge(&rows).iter().all(|aim| aim.verdict == Verdict::NotJudged));
    }

    #[test]
    fn throughput_has_to_be_the_best_on_three_mixes_and_near_on_two() {
        for (ns, expected) in [
            ([100, 100, 100, 125, 125], Verdict::Reached),
            ([100, 100, 120, 120, 120], Verdict::NotReached),
            ([50, 50, 50, 50, 130], Verdict::NotReached),
        ] {
            assert_eq!(verdict(&contended(16, ns, 1), "16 threads: throughput"), expected, "{ns:?}");
        }
    }

    #[test]
    fn a_wait_is_compared_with_the_longer_of_its_limits() {
        let judged = |threads, wait_ms, aim: &str| verdict(&contended(threads, [100; 5], wait_ms), aim);
        assert_eq!(judged(2, 50, "2 threads: longest"), Verdict::Reached);
        assert_eq!(judged(2, 51, "2 threads: longest"), Verdict::NotReached);
        assert_eq!(judged(16, 600, "16 threads: longest"), Verdict::Reached);
        assert_eq!(judged(16, 601, "16 threads: longest"), Verdict::NotReached);
    }

    #[test]
    fn the_faster_of_two_mutexes_is_to_be_beaten() {
        for (std, expected) in [(30, Verdict::Reached), (29, Verdict::NotReached)] {
            let rows = [("latchfree-cond", 20), ("mutex", 40), ("mutex-std", std)]
                .map(|(name, ns)| row(What::CounterAdd, name, 2, None, ns, 0));
            assert_eq!(verdict(&rows, "2 threads: CondLock"), expected);
        }
    }
}
