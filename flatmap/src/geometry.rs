//! Which bucket a hash belongs to: the address arithmetic of linear hashing (W. Litwin, 1980), so that any
//! number of buckets will do, not only powers of two.

/// A number of buckets, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    buckets: u32,
    high_mask: u32,
}

impl Geometry {
    /// The most buckets: two for each of the most slots.
    pub(crate) const MAX_BUCKETS: u32 = 1 << 31;

    /// `buckets` is at least 1 and at most `MAX_BUCKETS`.
    pub(crate) fn new(buckets: u32) -> Self {
        Self { buckets, high_mask: buckets.next_power_of_two() - 1 }
    }

    pub(crate) fn buckets(self) -> u32 {
        self.buckets
    }

    /// The bucket of `hash`. With P partitions, P a power of two and at most the number of buckets, its low
    /// bits are those of the hash: a bucket belongs to one partition.
    #[inline]
    pub(crate) fn bucket(self, hash: u64) -> usize {
        let high = hash as u32 & self.high_mask;
        let bucket = if high < self.buckets { high } else { high & self.high_mask >> 1 };
        bucket as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Geometry;

    /// Linear hashing step by step: bucket i splits off its upper half when bucket i + level appears.
    fn slow(buckets: u32, hash: u64) -> u32 {
        let mut modulus = 1;
        while modulus * 2 <= buckets {
            modulus *= 2;
        }
        let split = buckets - modulus;
        let low = (hash % u64::from(modulus)) as u32;
        if low < split { (hash % (2 * u64::from(modulus))) as u32 } else { low }
    }

    #[test]
    fn every_bucket_count_addresses_as_the_slow_model_does() {
        for buckets in 1..300 {
            let geometry = Geometry::new(buckets);
            for hash in (0..2000).chain([u64::MAX, u64::MAX / 3, 1 << 63, 0xffff_ffff]) {
                assert_eq!(
                    geometry.bucket(hash),
                    slow(buckets, hash) as usize,
                    "{buckets} buckets, hash {hash}"
                );
            }
        }
    }

    #[test]
    fn a_bucket_belongs_to_one_partition() {
        for partitions in [1_u64, 2, 4, 8] {
            for buckets in partitions as u32..100 {
                let geometry = Geometry::new(buckets);
                for hash in 0..1000 {
                    assert_eq!(geometry.bucket(hash) as u64 % partitions, hash % partitions);
                }
            }
        }
    }

    #[test]
    fn the_largest_geometry_does_not_overflow() {
        let geometry = Geometry::new(Geometry::MAX_BUCKETS);
        assert_eq!(geometry.bucket(u64::MAX), (1 << 31) - 1);
        assert_eq!(Geometry::new(Geometry::MAX_BUCKETS - 1).bucket(u64::MAX), (1 << 30) - 1);
    }
}
