//! The file of a hash index in PostgreSQL: how many pages it has, by the number of buckets and of overflow pages.
//!
//! ```text
//! metapage | bucket pages of all split points so far, and between them overflow and bitmap pages as they came
//! ```
//!
//! Bucket pages are allocated a split point at a time. A page that was freed stays in the file and is used again, so
//! the file is as long as the most overflow pages there ever were at a time demand; also within a split, which fills
//! the new bucket's chain before it squeezes the old one's. Only that gives the published 9369 pages after a vacuum
//! that empties every chain: 1 + 7168 + 2199 + 1.

use lhash::Stats;

/// The split points that double the buckets in one step; those after them take four steps.
const GROUPS_OF_ONE_STEP: u32 = 10;

/// How many overflow pages a bitmap page keeps track of.
const PAGES_PER_BITMAP: u64 = 1 << 15;

/// The pages of an index by what they are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilePages {
    /// Bucket pages, allocated a split point at a time.
    pub primary: u64,
    /// Overflow pages, in use or free.
    pub overflow: u64,
    /// Bitmap pages.
    pub bitmap: u64,
}

impl FilePages {
    /// The pages of an index with so many buckets, and so many overflow pages when they were most.
    #[must_use]
    pub fn of(buckets: u32, most_overflow: u64) -> Self {
        let bitmap = most_overflow.div_ceil(PAGES_PER_BITMAP).max(1);
        Self { primary: allocated(buckets), overflow: most_overflow, bitmap }
    }

    /// The pages of an index with these figures.
    #[must_use]
    pub fn of_stats(stats: &Stats) -> Self {
        Self::of(stats.max_bucket + 1, stats.max_overflow_pages)
    }

    /// All pages, with the metapage.
    #[must_use]
    pub fn total(&self) -> u64 {
        1 + self.primary + self.overflow + self.bitmap
    }
}

/// How many bucket pages are allocated for so many buckets: up to the next split point.
fn allocated(buckets: u32) -> u64 {
    let doubled = u64::from(buckets).next_power_of_two();
    if doubled <= 1 << (GROUPS_OF_ONE_STEP - 1) {
        return doubled;
    }
    let step = doubled / 8;
    u64::from(buckets).next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use super::{FilePages, allocated};

    #[test]
    fn buckets_are_allocated_by_doubling_and_then_in_four_steps_a_doubling() {
        let doublings = [(1, 1), (2, 2), (3, 4), (8, 8), (9, 16), (257, 512), (512, 512)];
        let steps = [
            (513, 640),
            (640, 640),
            (641, 768),
            (769, 896),
            (897, 1024),
            (1024, 1024),
            (1025, 1280),
            (6515, 7168),
            (7168, 7168),
            (7169, 8192),
            (13030, 14336),
        ];
        for (buckets, pages) in doublings.into_iter().chain(steps) {
            assert_eq!(allocated(buckets), pages, "{buckets}");
        }
        assert_eq!(allocated(u32::MAX), 1 << 32);
    }

    /// PostgreSQL's own way: the number of a bucket's split point, and the buckets up to one.
    #[test]
    fn it_agrees_with_the_servers_arithmetic() {
        let group_of = |buckets: u32| buckets.next_power_of_two().ilog2();
        let spare_index = |buckets: u32| {
            let group = group_of(buckets);
            if group < 10 {
                return group;
            }
            10 + ((group - 10) << 2) + (((buckets - 1) >> (group - 3)) & 3)
        };
        let total_buckets = |point: u32| {
            if point < 10 {
                return 1_u64 << point;
            }
            let group = 10 + ((point - 10) >> 2);
            let step = (point - 10) & 3;
            (1_u64 << (group - 1)) + (1_u64 << (group - 3)) * u64::from(step + 1)
        };
        for buckets in 1..20_000 {
            assert_eq!(allocated(buckets), total_buckets(spare_index(buckets)), "{buckets}");
        }
    }

    #[test]
    fn the_published_files_are_as_long_as_they_should() {
        assert_eq!(FilePages::of(6515, 4900).total(), 12_070);
        assert_eq!(FilePages::of(7167, 2199).total(), 9369);
        assert_eq!(FilePages::of(13_030, 4354).total(), 18_692);
        assert_eq!(FilePages::of(4931, 4922).total(), 10_044);
    }

    #[test]
    fn there_is_a_bitmap_page_from_the_start_and_one_more_for_every_32768() {
        let bitmaps = [0, 1, 32_768, 32_769, 65_536].map(|overflow| FilePages::of(8, overflow).bitmap);
        assert_eq!(bitmaps, [1, 1, 1, 2, 2]);
        assert_eq!(FilePages::of(8, 0).total(), 10);
    }
}
