//! What a table from page tags to slots must be able to do to take part, and how answers are compared.
//!
//! Every hash table but `dynahash` uses the same hash function, [`TagHasher`], so that the figures compare
//! tables and not hash functions; `dynahash` hashes as the table that it models does.
//!
//! Next: `peers.rs`.

pub use flatmap::BufferTag;

/// The most slots or frames that a run may ask for: 2^24, a pool of 128 GiB in pages of 8 KiB.
pub const MAX_SLOTS: u32 = 1 << 24;

/// The hash function that every table but `dynahash` uses.
pub type TagHasher = foldhash::fast::RandomState;

/// What became of an insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    /// The tag is mapped to the slot that was given.
    New,
    /// The tag was there already, with this slot, and nothing was changed.
    Present(u32),
    /// The table took the slot for one that another tag has; a fault, if it is free.
    Refused,
}

/// What became of a lookup that pins what it finds.
#[derive(Debug, PartialEq, Eq)]
pub enum Lookup<P> {
    /// The tag is mapped to this slot, and stays so at least until the pin is dropped.
    Pinned(u32, P),
    /// The tag was mapped to a slot that would not be pinned.
    Refused,
    /// The tag is not mapped.
    Missing,
}

/// How the lookups of a run were settled, for a table that tries without its locks first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookupCounts {
    /// Settled by a later unlocked try.
    pub retried: u64,
    /// Settled under the partition's lock.
    pub fallback: u64,
}

/// A table from page tags to the numbers of slots.
///
/// Used without dynamic dispatch, so that every table is compiled into the loops that measure it.
pub trait Table: Sync + Sized {
    /// The table's name on the command line and in the output.
    const NAME: &'static str;

    /// An empty table for tags of up to `slots` slots, which is between 1 and [`MAX_SLOTS`].
    fn with_slots(slots: u32) -> Self;

    /// The slot of `tag`.
    fn get(&self, tag: &BufferTag) -> Option<u32>;

    /// Maps `tag` to `slot` if it is not mapped.
    fn insert(&self, tag: &BufferTag, slot: u32) -> Inserted;

    /// Takes the mapping of `tag` away and returns its slot.
    fn remove(&self, tag: &BufferTag) -> Option<u32>;

    /// The slots of `tags`, written to `found`; one after the other, where the table has nothing better.
    fn get_many(&self, tags: &[BufferTag], found: &mut [Option<u32>]) {
        for (tag, found) in tags.iter().zip(found) {
            *found = self.get(tag);
        }
    }

    /// Changes the number of buckets while the table is used; whether the table can.
    fn set_buckets(&self, _buckets: u32) -> bool {
        false
    }

    /// Looks `tag` up and pins its slot, the way a buffer pool has to do it on this table: under the lock
    /// where a lookup takes one, otherwise by looking again after the pin.
    ///
    /// A pin must keep the mapping in place: whoever removes it first makes sure that nobody can pin.
    fn lookup_and_pin<P>(&self, tag: &BufferTag, pin: impl FnMut(u32) -> Option<P>) -> Lookup<P>;

    /// Every mapping, in any order; only for a table that nobody changes meanwhile.
    fn mappings(&self) -> Vec<(u32, BufferTag)>;

    /// How many bytes the table takes, where it can tell.
    fn memory_bytes(&self) -> Option<usize> {
        None
    }

    /// How lookups since construction were settled, for a table that tries without locks first.
    fn lookup_counts(&self) -> Option<LookupCounts> {
        None
    }
}

/// What a table maps at the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mapped {
    /// How many tags are mapped.
    pub count: usize,
    /// The CRC-32 of the mappings in the order of the slots, each as { slot, tag } in little-endian words.
    pub crc32: u32,
}

impl Mapped {
    /// Counts and digests `mappings`.
    #[must_use]
    pub fn of(mut mappings: Vec<(u32, BufferTag)>) -> Self {
        mappings.sort_unstable_by_key(|&(slot, tag)| (slot, tag_words(&tag)));
        let mut crc = crc32fast::Hasher::new();
        for (slot, tag) in &mappings {
            crc.update(&slot.to_le_bytes());
            tag_words(tag).iter().for_each(|word| crc.update(&word.to_le_bytes()));
        }
        Self { count: mappings.len(), crc32: crc.finalize() }
    }
}

/// The five words of a tag in the order of the trace.
#[must_use]
pub fn tag_words(tag: &BufferTag) -> [u32; 5] {
    [tag.spc_oid, tag.db_oid, tag.rel_number, tag.fork_number, tag.block_number]
}
