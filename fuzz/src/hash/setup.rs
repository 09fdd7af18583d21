//! The header of an input: which table is built, and whether building it must fail.

use lhash::{Builder, ConfigError, CountPolicy, ShrinkPolicy};

use crate::map::Hashing;

const MAX_FILL_FACTOR: u32 = 1 << 20;
const MAX_MIN_BUCKETS: u32 = 1 << 31;
const MAX_CAP: u32 = 1 << 24;
const MAX_PERCENT: u8 = 90;

/// What the eight bytes of the header say: `[page slots, fill factor, least buckets, policy, cap, shrink, hashing,
/// capacity]`. Most values are sound; some are not, and then the builder must say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setup {
    /// How many slots a page has.
    pub(crate) page_slots: PageSlots,
    /// Entries a bucket has on average before one is split.
    pub(crate) fill_factor: u32,
    /// The least number of buckets that was asked for.
    pub(crate) min_buckets: u32,
    /// How entries are counted.
    pub(crate) policy: CountPolicy,
    /// When buckets are merged.
    pub(crate) shrink: ShrinkPolicy,
    /// How keys are hashed.
    pub(crate) hashing: Hashing,
    /// So many entries fit in at first.
    pub(crate) capacity: usize,
}

/// The sizes of pages that are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageSlots {
    /// 1: a second entry takes an overflow page.
    One,
    /// 2.
    Two,
    /// 7, the default: a page is a cache line.
    Seven,
}

impl Setup {
    /// What a header stands for.
    pub(crate) fn decode([page, fill, least, policy, cap, shrink, hashing, capacity]: [u8; 8]) -> Self {
        let cap = match cap {
            0 => 0,
            255 => MAX_CAP + 1,
            n => 1 + u32::from(n - 1) % 8,
        };
        Self {
            page_slots: [PageSlots::One, PageSlots::Two, PageSlots::Seven][usize::from(page % 3)],
            fill_factor: match fill {
                0 => 0,
                255 => MAX_FILL_FACTOR + 1,
                n => 1 + u32::from(n - 1) % 6,
            },
            min_buckets: match least {
                0 => 0,
                255 => MAX_MIN_BUCKETS + 1,
                n => 1 + u32::from(n - 1) % 12,
            },
            policy: match policy % 5 {
                0 => CountPolicy::Exact,
                1 => CountPolicy::Deferred { cap },
                2 => CountPolicy::Quiet { cap },
                3 => CountPolicy::Sharded,
                _ => CountPolicy::OverflowSignal,
            },
            shrink: if shrink == 255 { ShrinkPolicy::Never } else { ShrinkPolicy::Below { percent: shrink } },
            hashing: Hashing::decode(hashing),
            capacity: usize::from(capacity % 64),
        }
    }

    /// A builder with all this.
    pub(super) fn builder<K, V, M, const N: usize>(
        &self,
        new: Builder<K, V, M>,
    ) -> Builder<K, V, M, Hashing, N> {
        new.page_slots::<N>()
            .fill_factor(self.fill_factor)
            .min_buckets(self.min_buckets)
            .count_policy(self.policy)
            .shrink(self.shrink)
            .capacity(self.capacity)
            .hasher(self.hashing)
    }

    fn cap(&self) -> Option<u32> {
        match self.policy {
            CountPolicy::Deferred { cap } | CountPolicy::Quiet { cap } => Some(cap),
            _ => None,
        }
    }

    /// What was built, unless building had to fail.
    pub(super) fn built<T>(&self, built: Result<T, ConfigError>) -> Option<T> {
        match built {
            Ok(table) => {
                assert!((1..=MAX_FILL_FACTOR).contains(&self.fill_factor), "{self:?}");
                assert!((1..=MAX_MIN_BUCKETS).contains(&self.min_buckets), "{self:?}");
                assert!(self.cap().is_none_or(|cap| (1..=MAX_CAP).contains(&cap)), "{self:?}");
                Some(table)
            }
            Err(error) => {
                self.check_error(error);
                None
            }
        }
    }

    /// The field that an error names must be what is wrong, with its value and its bound.
    fn check_error(&self, error: ConfigError) {
        match error {
            ConfigError::FillFactor { value, max } => {
                assert_eq!((value, max), (self.fill_factor, MAX_FILL_FACTOR));
                assert!(value == 0 || value > max, "{error}");
            }
            ConfigError::MinBuckets { value, max } => {
                assert_eq!((value, max), (self.min_buckets, MAX_MIN_BUCKETS));
                assert!(value == 0 || value > max, "{error}");
            }
            ConfigError::Cap { value, max } => {
                assert_eq!((Some(value), max), (self.cap(), MAX_CAP));
                assert!(value == 0 || value > max, "{error}");
            }
            ConfigError::ShrinkPercent { value, max } => {
                assert_eq!((ShrinkPolicy::Below { percent: value }, max), (self.shrink, MAX_PERCENT));
                assert!(value > max, "{error}");
            }
            other => panic!("{other} for {self:?}"),
        }
        assert!(!error.to_string().is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lhash::LHashMap;

    #[test]
    fn most_headers_build_a_table_and_each_error_has_one() {
        let built = |header| {
            let setup = Setup::decode(header);
            setup.built(setup.builder::<u64, u32, _, 7>(LHashMap::builder()).build()).is_some()
        };
        assert!(built([0, 1, 1, 0, 1, 0, 0, 0]));
        assert!(built([2, 5, 4, 1, 8, 40, 3, 63]));
        assert!(built([2, 5, 4, 3, 0, 255, 3, 63]), "no cap is needed");
        assert!(!built([0, 0, 1, 0, 1, 0, 0, 0]));
        assert!(!built([0, 255, 1, 0, 1, 0, 0, 0]));
        assert!(!built([0, 1, 0, 0, 1, 0, 0, 0]));
        assert!(!built([0, 1, 255, 0, 1, 0, 0, 0]));
        assert!(!built([0, 1, 1, 1, 0, 0, 0, 0]));
        assert!(!built([0, 1, 1, 2, 255, 0, 0, 0]));
        assert!(!built([0, 1, 1, 0, 1, 91, 0, 0]));
    }
}
