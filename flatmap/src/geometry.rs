//! Which bucket a hash belongs to: the address arithmetic of linear hashing (W. Litwin, 1980), so that any
//! number of buckets will do, not only powers of two, and one more or less moves the entries of one bucket only.
//!
//! ```text
//!  63..32      31..0
//!  generation  buckets
//! ```

use sync::prim::atomic::{AtomicU64, Ordering};

/// A number of buckets, and how often it had changed by then. The generation wraps after 2^32 changes; a lookup would
/// have to sleep through all of them, and through no other number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry(u64);

impl Geometry {
    /// The most buckets: two for each of the most slots.
    pub(crate) const MAX_BUCKETS: u32 = 1 << 31;

    /// `buckets` is at least 1 and at most `MAX_BUCKETS`.
    const fn new(generation: u32, buckets: u32) -> Self {
        Self((generation as u64) << 32 | buckets as u64)
    }

    #[inline]
    pub(crate) const fn buckets(self) -> u32 {
        self.0 as u32
    }

    /// The next geometry, with so many buckets.
    pub(crate) const fn followed_by(self, buckets: u32) -> Self {
        Self::new(((self.0 >> 32) as u32).wrapping_add(1), buckets)
    }

    /// The bucket of `hash`. With P partitions, P a power of two and at most the number of buckets, its low
    /// bits are those of the hash: a bucket belongs to one partition.
    #[inline]
    pub(crate) const fn bucket(self, hash: u64) -> u32 {
        // With one bucket the mask is 1 instead of 0, which comes to the same.
        let high_mask = u32::MAX >> ((self.buckets() - 1) | 1).leading_zeros();
        let high = hash as u32 & high_mask;
        if high < self.buckets() { high } else { high & high_mask >> 1 }
    }

    /// The bucket that `bucket`, which is not the first, is split off from, and merged into.
    pub(crate) const fn parent_of(bucket: u32) -> u32 {
        bucket ^ 1 << bucket.ilog2()
    }
}

/// The geometry of a table: changed by who holds both the table's `Resizing` and the partition of the buckets concerned.
#[derive(Debug)]
pub(crate) struct GeometryWord(AtomicU64);

impl GeometryWord {
    pub(crate) fn new(buckets: u32) -> Self {
        Self(AtomicU64::new(Geometry::new(0, buckets).0))
    }

    #[inline]
    pub(crate) fn load(&self) -> Geometry {
        // ORD(FM-GEO acq): that there is memory for the last head.
        Geometry(self.0.load(Ordering::Acquire))
    }

    /// For a holder of a partition: it may be changing, but not for the partition's hashes.
    #[inline]
    pub(crate) fn load_locked(&self) -> Geometry {
        // Relaxed: what concerns the partition's buckets was stored under its lock.
        Geometry(self.0.load(Ordering::Relaxed))
    }

    /// After a walk and its fence.
    #[inline]
    pub(crate) fn is_still(&self, geometry: Geometry) -> bool {
        // Relaxed: ordered by the walk's load of the head, or by its fence.
        self.0.load(Ordering::Relaxed) == geometry.0
    }

    pub(crate) fn set(&self, geometry: Geometry) {
        // ORD(FM-GEO rel): that there is memory for the last head, and that the heads of the buckets concerned are marked.
        self.0.store(geometry.0, Ordering::Release);
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
            let geometry = Geometry::new(0, buckets);
            for hash in (0..2000).chain([u64::MAX, u64::MAX / 3, 1 << 63, 0xffff_ffff]) {
                assert_eq!(geometry.bucket(hash), slow(buckets, hash), "{buckets} buckets, hash {hash}");
            }
        }
    }

    #[test]
    fn a_bucket_belongs_to_one_partition() {
        for partitions in [1_u64, 2, 4, 8] {
            for buckets in partitions as u32..100 {
                let geometry = Geometry::new(0, buckets);
                for hash in 0..1000 {
                    assert_eq!(u64::from(geometry.bucket(hash)) % partitions, hash % partitions);
                }
            }
        }
    }

    #[test]
    fn the_largest_geometry_does_not_overflow() {
        let geometry = Geometry::new(u32::MAX, Geometry::MAX_BUCKETS);
        assert_eq!(geometry.bucket(u64::MAX), (1 << 31) - 1);
        assert_eq!(Geometry::new(7, Geometry::MAX_BUCKETS - 1).bucket(u64::MAX), (1 << 30) - 1);
    }

    #[test]
    fn one_bucket_more_takes_entries_of_its_parent_only() {
        for buckets in 1..200 {
            let (before, after) =
                (Geometry::new(0, buckets), Geometry::new(0, buckets).followed_by(buckets + 1));
            assert_eq!((after.buckets(), after.0 >> 32), (buckets + 1, 1));
            let mut moved = 0;
            for hash in 0..1000 {
                if before.bucket(hash) != after.bucket(hash) {
                    assert_eq!(
                        (before.bucket(hash), after.bucket(hash)),
                        (Geometry::parent_of(buckets), buckets)
                    );
                    moved += 1;
                }
            }
            assert!(moved > 0, "{buckets}");
        }
        assert_eq!(Geometry::new(u32::MAX, 3).followed_by(2), Geometry::new(0, 2));
    }
}
