//! The header of an input: which table is built, and whether building it must fail.

use flatmap::{ConfigError, FlatMap, MissPolicy};

use super::key::{FuzzKey, Hashing};

/// The most slots that any table can have.
const MAX_SLOTS: u32 = (1 << 30) - 2;
const MAX_BUCKETS: u32 = 1 << 31;
const MAX_PARTITIONS: u32 = 1 << 16;

/// What the eight bytes of the header say: `[slots, buckets, partitions, tries, flags, max_slots, -, -]`. Most values
/// are sound; some are not, and then the builder must say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setup {
    /// How many slots.
    pub(crate) slots: u32,
    /// How many slots there may be, or the default.
    pub(crate) max_slots: Option<u32>,
    /// How many buckets, or the default.
    pub(crate) buckets: Option<u32>,
    /// How many partitions, or the default.
    pub(crate) partitions: Option<u32>,
    /// How many tries before the lock.
    pub(crate) tries: u32,
    /// Whether misses are looked up again under the lock.
    pub(crate) locked_miss: bool,
    /// Whether keys are 20-byte tags, not words.
    pub(crate) tags: bool,
    /// How keys are hashed.
    pub(crate) hashing: Hashing,
}

impl Setup {
    /// What a header stands for.
    pub(crate) fn decode([slots, buckets, partitions, tries, flags, max_slots, ..]: [u8; 8]) -> Self {
        Self {
            slots: match slots {
                0 => 0,
                255 => u32::MAX,
                n => 1 + u32::from(n - 1) % 16,
            },
            max_slots: match max_slots {
                0 => None,
                255 => Some(0),
                n => Some(16 + u32::from(n) % 16),
            },
            buckets: match buckets {
                0 => None,
                255 => Some(u32::MAX),
                n @ 200.. => Some(u32::from(n) - 200),
                n => Some(8 + u32::from(n) % 40),
            },
            partitions: match partitions {
                0 => None,
                255 => Some(MAX_PARTITIONS * 2),
                n @ 128.. => Some(u32::from(n) - 128),
                n => Some(1 << (n % 4)),
            },
            tries: if tries < 250 { 1 + u32::from(tries) % 4 } else { 0 },
            locked_miss: flags & 8 != 0,
            tags: flags & 4 != 0,
            hashing: Hashing::decode(flags),
        }
    }

    /// Builds the table; `None` if that fails, and it has to.
    pub(super) fn build<K: FuzzKey>(&self) -> Option<FlatMap<K, Hashing>> {
        let miss = if self.locked_miss { MissPolicy::Locked } else { MissPolicy::Validated };
        let mut builder = FlatMap::builder().slots(self.slots).optimistic_tries(self.tries).miss(miss);
        if let Some(max_slots) = self.max_slots {
            builder = builder.max_slots(max_slots);
        }
        if let Some(buckets) = self.buckets {
            builder = builder.buckets(buckets);
        }
        if let Some(partitions) = self.partitions {
            builder = builder.partitions(partitions);
        }
        match builder.hasher(self.hashing).build() {
            Ok(table) => {
                self.check_table(&table);
                Some(table)
            }
            Err(error) => {
                self.check_error(error);
                None
            }
        }
    }

    fn check_table<K: FuzzKey>(&self, table: &FlatMap<K, Hashing>) {
        assert_eq!(table.slots(), self.slots);
        assert!((1..=MAX_SLOTS).contains(&self.slots), "{self:?}");
        assert_eq!(table.max_slots(), self.max_slots.unwrap_or(self.slots));
        assert_eq!(self.buckets.unwrap_or(table.buckets()), table.buckets());
        assert_eq!(self.partitions.unwrap_or(table.partitions()), table.partitions());
        assert!(table.partitions().is_power_of_two(), "{self:?}");
        assert!(table.buckets() >= table.partitions(), "{self:?}");
        assert_ne!(self.tries, 0);
    }

    /// The field that an error names must be what is wrong, with its value and its bounds.
    fn check_error(&self, error: ConfigError) {
        match error {
            ConfigError::Slots { value, max } => {
                assert_eq!((value, max), (self.slots, MAX_SLOTS));
                assert!(value == 0 || value > max, "{error}");
            }
            ConfigError::Partitions { value, max } => {
                assert_eq!((Some(value), max), (self.partitions, MAX_PARTITIONS));
                assert!(!value.is_power_of_two() || value > max, "{error}");
            }
            ConfigError::Buckets { value, min, max } => {
                assert_eq!((Some(value), max), (self.buckets, MAX_BUCKETS));
                assert!(value < min || value > max, "{error}");
                assert!(self.partitions.is_none_or(|partitions| partitions == min), "{error}");
            }
            ConfigError::MaxSlots { value, min, max } => {
                assert_eq!((Some(value), min, max), (self.max_slots, self.slots, MAX_SLOTS));
                assert!(value < min || value > max, "{error}");
            }
            ConfigError::OptimisticTries => assert_eq!(self.tries, 0),
            other => panic!("{other} for {self:?}"),
        }
        assert!(!error.to_string().is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_headers_build_a_table_and_each_error_has_one() {
        let built = |header| Setup::decode(header).build::<u64>().is_some();
        assert!(built([16, 0, 0, 0, 0, 0, 0, 0]));
        assert!(built([16, 1, 1, 1, 3, 0, 0, 0]));
        assert!(!built([0, 0, 0, 0, 0, 0, 0, 0]));
        assert!(!built([255, 0, 0, 0, 0, 0, 0, 0]));
        assert!(!built([16, 255, 0, 0, 0, 0, 0, 0]));
        assert!(!built([16, 200, 0, 0, 0, 0, 0, 0]));
        assert!(!built([16, 0, 131, 0, 0, 0, 0, 0]));
        assert!(!built([16, 0, 255, 0, 0, 0, 0, 0]));
        assert!(!built([16, 0, 0, 255, 0, 0, 0, 0]));
        assert!(!built([16, 0, 0, 0, 0, 255, 0, 0]));
        assert!(built([16, 0, 0, 0, 0, 7, 0, 0]));
    }
}
