//! lhash's addresses against a slow model: masks that are stepped at each split, as PostgreSQL keeps them, and a
//! search for the places of buckets in their segments.
//!
//! An input is four bytes, the highest bucket at first, and then operations.

use lhash::internals::{address, buckets_of_family, masks, parent, partner, place};

/// One step. A record is `[op, value's three bytes]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// A bucket more.
    Split,
    /// A bucket less.
    Merge,
    /// The bucket of a hash with these low bits.
    Low(u32),
    /// The bucket of a hash with these high bits.
    High(u32),
    /// The bucket that shares a move with this one.
    Partner(u32),
    /// The buckets of a family, of a level up to the present one.
    Family(u32),
    /// Where a bucket lies.
    Place(u32),
}

impl Op {
    /// How many kinds there are.
    pub(crate) const KINDS: u8 = 7;

    /// The operation that a record stands for.
    pub(crate) fn decode([kind, a, b, c]: [u8; 4]) -> Self {
        let value = u32::from_le_bytes([a, b, c, 0]);
        match kind % Self::KINDS {
            0 => Self::Split,
            1 => Self::Merge,
            2 => Self::Low(value),
            3 => Self::High(value << 8 | value & 0xff),
            4 => Self::Partner(value),
            5 => Self::Family(value),
            _ => Self::Place(value),
        }
    }

    /// A record that stands for this operation.
    #[cfg(test)]
    pub(crate) fn encode(self) -> [u8; 4] {
        let (kind, value) = match self {
            Self::Split => (0, 0),
            Self::Merge => (1, 0),
            Self::Low(value) => (2, value),
            Self::High(value) => (3, value >> 8),
            Self::Partner(value) => (4, value),
            Self::Family(value) => (5, value),
            Self::Place(value) => (6, value),
        };
        let [a, b, c, _] = value.to_le_bytes();
        [kind, a, b, c]
    }
}

/// The masks as PostgreSQL keeps them, and how they came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slow {
    max_bucket: u32,
    high_mask: u32,
    low_mask: u32,
}

impl Slow {
    /// So many buckets, with the masks that all the splits up to there leave.
    fn new(max_bucket: u32) -> Self {
        let mut slow = Self { max_bucket: 0, high_mask: 0, low_mask: 0 };
        // A split changes the masks only where it begins a round.
        for round in 0..32 {
            if max_bucket >= 1 << round {
                slow = Self { max_bucket: (1 << round) - 1, ..slow };
                slow.split();
            }
        }
        Self { max_bucket, ..slow }
    }

    fn split(&mut self) {
        self.max_bucket += 1;
        if self.max_bucket > self.high_mask {
            self.low_mask = self.high_mask;
            self.high_mask = self.max_bucket | self.low_mask;
        }
    }

    fn merge(&mut self) {
        self.max_bucket -= 1;
        if self.max_bucket == self.low_mask || self.max_bucket == 0 {
            self.high_mask = self.low_mask;
            self.low_mask >>= 1;
        }
    }

    fn address(self, hash: u32) -> u32 {
        let bucket = hash & self.high_mask;
        if bucket > self.max_bucket { bucket & self.low_mask } else { bucket }
    }

    fn check(self, hash: u32) {
        let bucket = address(self.max_bucket, hash);
        assert_eq!(bucket, self.address(hash), "{hash:#x} {self:?}");
        if let Some(child) = self.max_bucket.checked_add(1) {
            let after = address(child, hash);
            assert!(after == bucket || (after == child && bucket == parent(child)), "{hash:#x} {self:?}");
        }
    }

    fn check_partner(self, bucket: u32) {
        let found = partner(self.max_bucket, bucket);
        let last = self.max_bucket;
        let next = last.checked_add(1);
        let shares = |other: u32| (other != 0 && other & !(1 << other.ilog2()) == bucket).then_some(other);
        let of_last = (bucket == last && last != 0).then(|| parent(last));
        assert_eq!(found, of_last.or(next.and_then(shares)).or(shares(last)), "{bucket} {self:?}");
    }

    /// Each hash of a family is in one of its buckets, and each of them is a bucket that there is.
    fn check_family(self, value: u32) {
        let mask = (1_u64 << (value >> 16 & 31).min(self.low_mask.count_ones())) - 1;
        let mask = u32::try_from(mask).expect("at most 31 bits");
        let family = value & mask;
        // Families of a low level have too many buckets to list them all.
        let buckets: Vec<u32> = buckets_of_family(self.max_bucket, family, mask).take(1 << 10).collect();
        assert!(buckets.windows(2).all(|pair| pair[0] < pair[1]), "{buckets:?}");
        assert!(buckets.iter().all(|&bucket| bucket <= self.max_bucket && bucket & mask == family));
        for upper in [0_u32, 1, 2, 5, 0xffff] {
            let hash = family | upper.wrapping_mul(0x9e37_79b9) & !mask;
            let bucket = address(self.max_bucket, hash);
            let is_listed = buckets.contains(&bucket);
            assert!(
                is_listed || buckets.last().is_some_and(|&last| last < bucket && buckets.len() == 1 << 10)
            );
        }
    }

    fn check_place(self, value: u32) {
        for bucket in [value, self.max_bucket, u32::MAX - value] {
            let (first, offset, len) = place(bucket);
            assert_eq!(first + offset as u64, u64::from(bucket));
            assert!(offset < len && len.is_power_of_two());
            let last = first + len as u64 - 1;
            let same = u32::try_from(last).map(|last| place(last).0);
            assert!(same.is_err() || same == Ok(first), "a segment's last bucket is in it");
            let next = u32::try_from(last + 1).map(|next| place(next).1);
            assert!(next.is_err() || next == Ok(0), "the next segment begins where it ends");
        }
    }
}

/// The highest bucket at first, and the operations; `None` if the input ends within the header.
pub(crate) fn decode(input: &[u8]) -> Option<(u32, Vec<Op>)> {
    let (header, rest) = input.split_first_chunk()?;
    Some((u32::from_le_bytes(*header), crate::records(rest).map(Op::decode).collect()))
}

/// Does what `input` says and panics where the addresses differ from the model's.
pub fn run(input: &[u8]) {
    let Some((max_bucket, ops)) = decode(input) else { return };
    let mut slow = Slow::new(max_bucket);
    for op in ops {
        match op {
            Op::Split if slow.max_bucket < u32::MAX => slow.split(),
            Op::Merge if slow.max_bucket > 0 => slow.merge(),
            Op::Split | Op::Merge => {}
            Op::Low(hash) | Op::High(hash) => slow.check(hash),
            Op::Partner(bucket) => slow.check_partner(bucket % slow.max_bucket.max(1)),
            Op::Family(value) => slow.check_family(value),
            Op::Place(bucket) => slow.check_place(bucket),
        }
        assert_eq!(masks(slow.max_bucket), (slow.high_mask, slow.low_mask), "{slow:?}");
    }
    slow.check_partner(slow.max_bucket);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_decoded_from_what_it_is_encoded_as() {
        for kind in 0..Op::KINDS {
            let op = Op::decode([kind, 3, 5, 7]);
            assert_eq!(op.encode()[0], kind);
            assert!(matches!(op, Op::High(_)) || Op::decode(op.encode()) == op);
        }
    }

    #[test]
    #[should_panic(expected = "left == right")]
    fn an_address_that_is_wrong_is_noticed() {
        Slow { low_mask: 1, ..Slow::new(5) }.check(7);
    }

    #[test]
    fn masks_are_the_same_step_by_step_and_at_once() {
        let mut slow = Slow::new(0);
        for max_bucket in 0..1000 {
            assert_eq!(slow, Slow::new(max_bucket));
            slow.split();
        }
        for max_bucket in (0..1000).rev() {
            slow.merge();
            assert_eq!(slow, Slow::new(max_bucket));
        }
    }
}
