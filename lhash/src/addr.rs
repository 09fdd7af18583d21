//! Addresses in linear hashing (W. Litwin, *Linear hashing: a new tool for file and table addressing*, 1980), with
//! PostgreSQL's names. Pure functions; nothing here knows of threads. Next: `page.rs`, what a bucket is made of.
//!
//! With `max_bucket` the highest bucket there is, `high_mask` the least mask that covers it and `low_mask` half of
//! that: a hash belongs to bucket `hash & high_mask` if there is one, else to `hash & low_mask`, its parent, which
//! has not been split yet in this round.

/// What fixes all addresses, in one word: a generation, which every change raises, and the highest bucket. Without
/// the generation a split and a merge in between would look like no change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry(u64);

impl Geometry {
    pub(crate) const fn new(max_bucket: u32) -> Self {
        Self(max_bucket as u64)
    }

    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    pub(crate) const fn max_bucket(self) -> u32 {
        self.0 as u32
    }

    /// The geometry that follows this one, with another highest bucket.
    #[must_use]
    pub(crate) const fn changed_to(self, max_bucket: u32) -> Self {
        let generation = (self.0 >> 32).wrapping_add(1);
        Self(generation << 32 | max_bucket as u64)
    }

    /// The least mask of low bits that covers every bucket.
    pub(crate) const fn high_mask(self) -> u32 {
        match self.max_bucket() {
            0 => 0,
            max_bucket => u32::MAX >> max_bucket.leading_zeros(),
        }
    }

    /// Half of it: covers the buckets there were when this round of splits began.
    pub(crate) const fn low_mask(self) -> u32 {
        self.high_mask() >> 1
    }

    /// The bucket that `hash` belongs to.
    #[inline]
    pub(crate) const fn address(self, hash: u32) -> u32 {
        let max_bucket = self.max_bucket();
        // One or-ed in, so that the shift is defined for a single bucket; the comparison rights it.
        let high_mask = u32::MAX >> (max_bucket | 1).leading_zeros();
        let bucket = hash & high_mask;
        if bucket > max_bucket { bucket & (high_mask >> 1) } else { bucket }
    }

    /// The bucket that shares a move with `bucket`, if the last one is just being split off or merged: its
    /// parent, or the last or next one whose parent it is.
    pub(crate) fn partner_of(self, bucket: u32) -> Option<u32> {
        let last = self.max_bucket();
        let next = last.checked_add(1);
        if bucket == last && last != 0 {
            return Some(parent(last));
        }
        next.filter(|&next| parent(next) == bucket)
            .or_else(|| (last != 0 && parent(last) == bucket).then_some(last))
    }
}

/// The bucket that `bucket`, which is not 0, is split off from.
pub(crate) const fn parent(bucket: u32) -> u32 {
    bucket & !(1 << bucket.ilog2())
}

#[cfg(test)]
mod tests {
    use super::{Geometry, parent};

    /// The masks as PostgreSQL keeps them: stepped at every split.
    struct Slow {
        max_bucket: u32,
        high_mask: u32,
        low_mask: u32,
    }

    impl Slow {
        fn split(&mut self) {
            self.max_bucket += 1;
            if self.max_bucket > self.high_mask {
                self.low_mask = self.high_mask;
                self.high_mask = self.max_bucket | self.low_mask;
            }
        }

        fn address(&self, hash: u32) -> u32 {
            let bucket = hash & self.high_mask;
            if bucket > self.max_bucket { bucket & self.low_mask } else { bucket }
        }
    }

    #[test]
    fn addresses_and_masks_agree_with_a_slow_model_at_every_level() {
        let mut slow = Slow { max_bucket: 0, high_mask: 0, low_mask: 0 };
        let mut geometry = Geometry::new(0);
        for step in 0..5000_u32 {
            assert_eq!(geometry.max_bucket(), slow.max_bucket);
            assert_eq!(
                (geometry.high_mask(), geometry.low_mask()),
                (slow.high_mask, slow.low_mask),
                "{step}"
            );
            for hash in (0..64).map(|i| (step ^ i).wrapping_mul(0x9e37_79b9)).chain(0..8).chain([u32::MAX]) {
                assert_eq!(geometry.address(hash), slow.address(hash), "{step} {hash}");
            }
            slow.split();
            geometry = geometry.changed_to(step + 1);
        }
    }

    #[test]
    fn addresses_are_right_around_every_power_of_two_and_at_the_end() {
        for level in 1..32 {
            for max_bucket in [(1_u32 << level) - 1, 1 << level, (1 << level) + 1] {
                let geometry = Geometry::new(max_bucket);
                assert_eq!(geometry.address(max_bucket), max_bucket);
                assert_eq!(geometry.address(max_bucket + 1), parent(max_bucket + 1));
                assert!(geometry.address(u32::MAX) <= max_bucket);
            }
        }
        let all = Geometry::new(u32::MAX);
        assert_eq!((all.address(u32::MAX), all.high_mask()), (u32::MAX, u32::MAX));
    }

    #[test]
    fn a_split_moves_keys_from_the_parent_to_the_child_only() {
        for max_bucket in 0..300 {
            let (before, after) = (Geometry::new(max_bucket), Geometry::new(max_bucket + 1));
            for hash in 0..4096 {
                let (from, to) = (before.address(hash), after.address(hash));
                assert!(from == to || (to == max_bucket + 1 && from == parent(max_bucket + 1)));
            }
        }
    }

    #[test]
    fn the_two_buckets_of_a_move_name_each_other_before_and_after_it_is_published() {
        for max_bucket in 3..300 {
            let (child, of_child) = (max_bucket + 1, parent(max_bucket + 1));
            assert_eq!(Geometry::new(max_bucket).partner_of(of_child), Some(child));
            assert_eq!(Geometry::new(child).partner_of(child), Some(of_child));
            let after = Geometry::new(child).partner_of(of_child);
            assert!(after == Some(child), "{after:?}");
        }
    }

    #[test]
    fn every_change_is_another_geometry() {
        let first = Geometry::new(7);
        let again = first.changed_to(8).changed_to(7);
        assert_eq!(again.max_bucket(), 7);
        assert_ne!(again, first);
        let mut wrapped = Geometry::from_bits(u64::MAX);
        wrapped = wrapped.changed_to(1);
        assert_eq!(wrapped.bits(), 1);
    }
}
