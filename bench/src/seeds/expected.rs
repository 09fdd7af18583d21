//! What is known of a load: figures that PostgreSQL came to, with the exact count and with the prototype.

use std::fmt;

use serde::Serialize;

use super::{Policy, Row, Scenario};

/// A figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Figure {
    /// The one figure.
    One(u64),
    /// Either of two: which, the keys decide.
    Either([u64; 2]),
}

impl Figure {
    /// Is it this?
    #[must_use]
    pub fn is(self, found: u64) -> bool {
        match self {
            Self::One(figure) => figure == found,
            Self::Either(figures) => figures.contains(&found),
        }
    }
}

/// Figures that a load should come to; those that aren't known are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Expected {
    /// The count of tuples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ntuples: Option<Figure>,
    /// The number of the highest bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bucket: Option<Figure>,
    /// The number of buckets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buckets: Option<Figure>,
    /// Overflow pages that are part of a chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overflow_pages: Option<Figure>,
    /// All pages of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_pages: Option<Figure>,
}

const NOTHING: Expected =
    Expected { ntuples: None, max_bucket: None, buckets: None, overflow_pages: None, file_pages: None };

const fn one(figure: u64) -> Option<Figure> {
    Some(Figure::One(figure))
}

const fn either(a: u64, b: u64) -> Option<Figure> {
    Some(Figure::Either([a, b]))
}

/// What is known of a load under a policy. Deferring, one thread alone comes to what the exact count comes to, and
/// short sessions do once their counts are folded in.
#[must_use]
pub fn expected(scenario: Scenario, policy: Policy) -> Option<Expected> {
    match policy {
        Policy::Exact | Policy::Deferred => of_exact(scenario),
        Policy::OverflowSignal => of_overflow_signal(scenario),
        Policy::Quiet | Policy::Sharded => None,
    }
}

fn of_exact(scenario: Scenario) -> Option<Expected> {
    match scenario {
        Scenario::OneKey => Some(Expected { max_bucket: one(1628), ..NOTHING }),
        Scenario::HighDuplicate => Some(Expected {
            buckets: one(6515),
            overflow_pages: one(4900),
            file_pages: one(12_070),
            ..NOTHING
        }),
        Scenario::DeleteHeavyVacuum => {
            Some(Expected { buckets: one(7167), file_pages: one(9369), ..NOTHING })
        }
        Scenario::DeleteHeavy => Some(Expected {
            ntuples: one(4_000_000),
            buckets: one(13_030),
            file_pages: one(18_692),
            ..NOTHING
        }),
        Scenario::ShortSessions => Some(Expected {
            ntuples: one(200_000),
            max_bucket: one(651),
            overflow_pages: either(77, 78),
            ..NOTHING
        }),
        Scenario::Mixed => None,
    }
}

fn of_overflow_signal(scenario: Scenario) -> Option<Expected> {
    match scenario {
        Scenario::OneKey => Some(Expected { max_bucket: one(1229), ..NOTHING }),
        Scenario::HighDuplicate => Some(Expected { buckets: one(4931), file_pages: one(10_044), ..NOTHING }),
        // 487 with the published keys, a page and so a count more with others.
        Scenario::ShortSessions => Some(Expected {
            ntuples: either(487, 488),
            max_bucket: one(7),
            overflow_pages: either(487, 488),
            ..NOTHING
        }),
        Scenario::DeleteHeavyVacuum | Scenario::DeleteHeavy | Scenario::Mixed => None,
    }
}

/// A figure's name, the figure, and where it is in a row.
type Known = (&'static str, Option<Figure>, fn(&Row) -> u64);

impl Expected {
    fn figures(&self) -> [Known; 5] {
        [
            ("tuples", self.ntuples, |row| row.ntuples),
            ("max_bucket", self.max_bucket, |row| row.max_bucket.into()),
            ("buckets", self.buckets, |row| row.buckets),
            ("overflow", self.overflow_pages, |row| row.overflow_pages),
            ("file", self.file_pages, |row| row.file_pages),
        ]
    }

    /// Is each figure that is known what the load came to?
    #[must_use]
    pub fn is_met_by(&self, row: &Row) -> bool {
        self.figures().into_iter().all(|(_, figure, of)| figure.is_none_or(|figure| figure.is(of(row))))
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.figures().into_iter().filter_map(|(name, figure, _)| Some((name, figure?)));
        for (index, (name, figure)) in known.enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            match figure {
                Figure::One(figure) => write!(f, "{comma}{name} {figure}")?,
                Figure::Either([a, b]) => write!(f, "{comma}{name} {a} or {b}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lhash::Stats;

    use super::{Figure, expected};
    use crate::seeds::{Policy, Row, Scenario};

    fn short_sessions(overflow_pages: u64, max_bucket: u32) -> Row {
        let mut stats = Stats::default();
        (stats.ntuples, stats.max_bucket, stats.overflow_pages) = (200_000, max_bucket, overflow_pages);
        Row::new(Scenario::ShortSessions, Policy::Exact, 1, &stats, 0.0)
    }

    #[test]
    fn a_row_is_exact_if_every_known_figure_is_met() {
        for (overflow_pages, max_bucket, exact) in
            [(77, 651, true), (78, 651, true), (79, 651, false), (77, 650, false)]
        {
            assert_eq!(
                short_sessions(overflow_pages, max_bucket).exact,
                Some(exact),
                "{overflow_pages} {max_bucket}"
            );
        }
    }

    #[test]
    fn only_known_figures_are_written() {
        let json = serde_json::to_value(expected(Scenario::ShortSessions, Policy::Deferred)).unwrap();
        let figures =
            serde_json::json!({ "ntuples": 200_000, "max_bucket": 651, "overflow_pages": [77, 78] });
        assert_eq!(json, figures);
        let text = expected(Scenario::DeleteHeavyVacuum, Policy::Exact).unwrap().to_string();
        assert_eq!(text, "buckets 7167, file 9369");
        assert!(Figure::Either([1, 2]).is(2) && !Figure::One(1).is(2));
    }

    #[test]
    fn nothing_is_expected_of_a_load_that_was_divided() {
        let row = Row::new(Scenario::OneKey, Policy::Exact, 10, &Stats::default(), 0.0);
        assert!(row.expected.is_none() && row.exact.is_none());
    }
}
