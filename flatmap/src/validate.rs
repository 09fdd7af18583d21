//! A walk over everything at rest, for tests: whether chains, slots and counters tell the same story. Not part of the
//! public API: it may change in any release.

use crate::key::Key;
use crate::table::FlatMap;
use core::hash::BuildHasher;

/// The first thing that is wrong, and with what.
type Checked = Result<(), String>;

fn ensure(is_right: bool, wrong: impl FnOnce() -> String) -> Checked {
    if is_right { Ok(()) } else { Err(wrong()) }
}

impl<K: Key, S: BuildHasher> FlatMap<K, S> {
    /// Walks over everything, while nobody uses the table: each mapped slot is on the chain of its key's bucket, once, and
    /// found by its key; all others are free; counts agree with what is there; no lock is held.
    ///
    /// # Errors
    /// What is wrong, in words.
    #[doc(hidden)]
    pub fn validate(&self) -> Result<(), String> {
        for (index, partition) in self.partitions.all().enumerate() {
            ensure(!partition.is_locked(), || format!("partition {index} is locked"))?;
        }
        let mut on_chain = vec![false; self.slots() as usize];
        let mut mapped = vec![0_u32; self.partitions() as usize];
        for bucket in 0..self.buckets() {
            self.validate_chain(bucket, &mut on_chain, &mut mapped)?;
        }
        let taken = self.chains.entries().taken_from(self.slots());
        ensure(taken == 0, || format!("{taken} slots beyond the last one are not free"))?;
        for (slot, on_chain) in (0..self.slots()).zip(on_chain) {
            let entry = self.chains.entries().get(slot).ok_or_else(|| format!("slot {slot} has no entry"))?;
            let is_free = entry.link().next().is_free();
            ensure(is_free != on_chain, || format!("slot {slot} is on no chain, and not free"))?;
        }
        for (index, (partition, mapped)) in self.partitions.all().zip(mapped).enumerate() {
            let counted = partition.mapped();
            ensure(counted == mapped, || format!("partition {index} has {mapped} keys, {counted} counted"))?;
        }
        Ok(())
    }

    fn validate_chain(&self, bucket: u32, on_chain: &mut [bool], mapped: &mut [u32]) -> Checked {
        let mut at = self.chains.head_locked(bucket).first();
        while let Some(slot) = at {
            let entry = self.chains.entries().get(slot).filter(|_| slot < self.slots());
            let entry = entry.ok_or_else(|| format!("bucket {bucket} leads to slot {slot}, out of range"))?;
            let is_new = !core::mem::replace(&mut on_chain[slot as usize], true);
            ensure(is_new, || format!("slot {slot} is linked twice, at last in bucket {bucket}"))?;
            let next = entry.link().next();
            ensure(next.is_linked(), || format!("slot {slot} of bucket {bucket} is not linked"))?;
            let key = entry.candidate();
            let hash = self.hash(&key);
            let of_key = self.chains.geometry().load_locked().bucket(hash);
            ensure(of_key == bucket, || {
                format!("the key of slot {slot} belongs to bucket {of_key}, not {bucket}")
            })?;
            let found = self.get(&key);
            ensure(found == Some(slot), || format!("the key of slot {slot} is found at {found:?}"))?;
            mapped[self.partitions.index(hash) as usize] += 1;
            at = next.successor();
        }
        Ok(())
    }
}

#[cfg(all(test, not(all(loom, feature = "loom"))))]
mod tests {
    use crate::FlatMap;
    use core::hash::{BuildHasherDefault, Hasher};

    /// Hashes a `u64` to itself.
    #[derive(Default)]
    struct Same(u64);

    impl Hasher for Same {
        fn finish(&self) -> u64 {
            self.0
        }

        fn write(&mut self, bytes: &[u8]) {
            bytes.iter().rev().for_each(|&byte| self.0 = self.0 << 8 | u64::from(byte));
        }
    }

    type Table = FlatMap<u64, BuildHasherDefault<Same>>;

    /// Keys 0, 1, 8 and 9 in slots 0 to 3: two chains of two.
    fn table() -> Table {
        let builder = FlatMap::builder().slots(8).max_slots(16).buckets(8).partitions(2);
        let table = builder.hasher(BuildHasherDefault::default()).build().expect("valid");
        for (key, slot) in [(0, 0), (1, 1), (8, 2), (9, 3)] {
            table.insert(key, slot).expect("free");
        }
        assert_eq!(table.validate(), Ok(()));
        table
    }

    #[track_caller]
    fn wrong(table: &Table, why: &str) {
        let told = table.validate().expect_err("it is wrong");
        assert!(told.contains(why), "{told}");
    }

    #[test]
    fn a_held_partition_is_noticed() {
        let table = table();
        core::mem::forget(table.partition(&1));
        wrong(&table, "partition 1 is locked");
    }

    #[test]
    fn counts_that_are_off_are_noticed() {
        let table = table();
        table.partitions.lock(1).count_linked();
        wrong(&table, "partition 1 has 2 keys, 3 counted");
    }

    #[test]
    fn a_claimed_slot_on_no_chain_is_noticed() {
        let table = table();
        assert!(table.chains.entries().get(7).expect("in range").claim());
        wrong(&table, "slot 7 is on no chain, and not free");
    }

    #[test]
    fn chains_that_lead_elsewhere_are_noticed() {
        let table = table();
        let entry = |slot| table.chains.entries().get(slot).expect("in range");
        let next = entry(2).link().next();
        entry(2).set_next(next.with_successor(Some(2)));
        wrong(&table, "slot 2 is linked twice");
        entry(2).set_next(next.with_successor(Some(1)));
        wrong(&table, "the key of slot 1 belongs to bucket 1, not 0");
        entry(2).set_next(next.with_successor(None));
        wrong(&table, "slot 0 is on no chain, and not free");
        entry(2).set_next(next.with_successor(Some(99)));
        wrong(&table, "leads to slot 99, out of range");
        entry(2).set_next(next.with_successor(Some(8)));
        wrong(&table, "leads to slot 8, out of range");
        entry(2).set_next(next.unlinked());
        wrong(&table, "slot 2 of bucket 0 is not linked");
        entry(2).set_next(next);
        assert_eq!(table.validate(), Ok(()));
        assert!(table.chains.link(0, &8, 5), "a second time, as with a Hash that is not deterministic");
        table.partitions.lock(8).count_linked();
        wrong(&table, "the key of slot 2 is found at Some(5)");
    }
}
