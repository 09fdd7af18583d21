//! The keys of a case, each with its slot, computed so that looking at what is right costs no memory.

use crate::table::BufferTag;

/// How many relations the blocks belong to.
const RELATIONS: u64 = 101;

/// The tag with that index.
#[inline]
#[must_use]
pub fn tag(index: u64) -> BufferTag {
    BufferTag {
        spc_oid: 1663,
        db_oid: 5,
        rel_number: 16384 + (index % RELATIONS) as u32,
        fork_number: 0,
        block_number: (index / RELATIONS) as u32,
    }
}

/// Which slot the tag with an index is mapped to: the slots are shuffled.
#[derive(Debug, Clone, Copy)]
pub struct Shuffle {
    slots: u64,
    mask: u64,
    shift: u32,
}

impl Shuffle {
    /// For so many slots, at least one.
    #[must_use]
    pub fn new(slots: u32) -> Self {
        let domain = u64::from(slots).next_power_of_two();
        Self { slots: slots.into(), mask: domain - 1, shift: domain.ilog2().div_ceil(2).max(1) }
    }

    /// The slot of an index below the number of slots.
    #[inline]
    #[must_use]
    pub fn slot(self, index: u64) -> u32 {
        let mut at = index;
        loop {
            // Each step is undone by another one, so that no two indices meet; whoever leaves the slots walks on.
            at = at.wrapping_mul(0x9e37_79b9_7f4a_7c15) & self.mask;
            at ^= at >> self.shift;
            at = at.wrapping_mul(0xd6e8_feb8_6659_fd93) & self.mask;
            if at < self.slots {
                return at as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Shuffle, tag};
    use crate::table::tag_words;

    #[test]
    fn every_index_has_a_slot_of_its_own() {
        for slots in [1, 2, 3, 64, 100, 1000, 1025] {
            let shuffle = Shuffle::new(slots);
            let used: HashSet<u32> = (0..slots.into()).map(|index| shuffle.slot(index)).collect();
            assert!(used.len() == slots as usize && used.iter().all(|&slot| slot < slots), "{slots}");
        }
    }

    #[test]
    fn tags_differ() {
        let tags: HashSet<[u32; 5]> = (0..10_000).map(|index| tag_words(&tag(index))).collect();
        assert_eq!(tags.len(), 10_000);
        assert_eq!(tag_words(&tag(203)), [1663, 5, 16385, 0, 2]);
    }
}
