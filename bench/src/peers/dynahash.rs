//! `dynahash`: our own model of the buffer table that PostgreSQL has today.
//!
//! A directory points to segments of 256 bucket heads; a head starts a chain of elements; unused elements
//! wait on 32 free lists, each under a spin lock. 128 partition locks guard the buckets: a bucket belongs
//! to partition `hash % 128`, and a lookup walks its chain while it holds that partition's lock shared.
//! The table has room for 128 elements more than there are slots, so that with a power of two of slots it
//! has two heads a slot: 40 + 2 x 8 = 56 bytes a slot, as the real one.
//!
//! Links are an element's index + 1, where the real table has pointers. Elements and heads are relaxed
//! atomics: the partition's lock, or the free list's, orders every access to them.
//!
//! Next: `lookup3.rs`.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crossbeam_utils::CachePadded;
use spin::relax::Yield;
use sync::LwLock;

use crate::peers::lookup3::hash_tag;

use crate::table::{BufferTag, Inserted, Lookup, Table, tag_words};

const PARTITIONS: usize = 128;
const FREE_LISTS: usize = 32;
const SEGMENT_HEADS: usize = 256;
/// The link of a last element and the head of an empty bucket.
const END: u64 = 0;

type PartitionLock = CachePadded<LwLock<()>>;
type Segment = [AtomicU64; SEGMENT_HEADS];

/// PostgreSQL's general hash table in the shape in which its buffer manager uses it.
#[derive(Debug)]
pub struct Dynahash {
    max_bucket: u32,
    high_mask: u32,
    low_mask: u32,
    directory: Box<[Box<Segment>]>,
    elements: Box<[Element]>,
    free_lists: [spin::mutex::SpinMutex<FreeList, Yield>; FREE_LISTS],
    partitions: Box<[PartitionLock]>,
}

/// A mapping, or a place for one.
#[derive(Debug, Default)]
struct Element {
    link: AtomicU64,
    hash: AtomicU32,
    key: [AtomicU32; 5],
    slot: AtomicU32,
}

/// Unused elements, and how many are in use that were taken here.
#[derive(Debug, Default)]
struct FreeList {
    first: u64,
    in_use: i64,
}

/// The end of a walk: the link that points at the element found, or at the end of the chain.
struct Place<'a> {
    link: &'a AtomicU64,
    element: Option<&'a Element>,
}

impl Element {
    fn has_key(&self, tag: &BufferTag) -> bool {
        self.key.each_ref().map(|word| word.load(Relaxed)) == tag_words(tag)
    }

    fn fill(&self, hash: u32, tag: &BufferTag, slot: u32) {
        self.link.store(END, Relaxed);
        self.hash.store(hash, Relaxed);
        self.key.iter().zip(tag_words(tag)).for_each(|(to, word)| to.store(word, Relaxed));
        self.slot.store(slot, Relaxed);
    }

    fn mapping(&self) -> (u32, BufferTag) {
        let [spc_oid, db_oid, rel_number, fork_number, block_number] =
            self.key.each_ref().map(|word| word.load(Relaxed));
        (self.slot.load(Relaxed), BufferTag { spc_oid, db_oid, rel_number, fork_number, block_number })
    }
}

impl Dynahash {
    fn partition(&self, hash: u32) -> &PartitionLock {
        &self.partitions[hash as usize % PARTITIONS]
    }

    fn element(&self, link: u64) -> Option<&Element> {
        self.elements.get(link.checked_sub(1)? as usize)
    }

    fn head(&self, hash: u32) -> &AtomicU64 {
        let mut bucket = hash & self.high_mask;
        if bucket > self.max_bucket {
            bucket &= self.low_mask;
        }
        &self.directory[bucket as usize / SEGMENT_HEADS][bucket as usize % SEGMENT_HEADS]
    }

    /// Walks the chain of `hash`; the caller holds the partition's lock.
    fn find(&self, hash: u32, tag: &BufferTag) -> Place<'_> {
        let mut link = self.head(hash);
        while let Some(element) = self.element(link.load(Relaxed)) {
            if element.hash.load(Relaxed) == hash && element.has_key(tag) {
                return Place { link, element: Some(element) };
            }
            link = &element.link;
        }
        Place { link, element: None }
    }

    /// Takes an unused element, from the hash's own free list if that has one.
    fn take_element(&self, hash: u32) -> u64 {
        let own = hash as usize % FREE_LISTS;
        for step in 0..FREE_LISTS {
            let mut list = self.free_lists[(own + step) % FREE_LISTS].lock();
            let first = list.first;
            let Some(element) = self.element(first) else { continue };
            list.first = element.link.load(Relaxed);
            if step == 0 {
                list.in_use += 1;
            } else {
                drop(list);
                self.free_lists[own].lock().in_use += 1;
            }
            return first;
        }
        panic!("a table of {} elements can't map one more tag", self.elements.len())
    }

    fn give_back(&self, hash: u32, link: u64) {
        let Some(element) = self.element(link) else { return };
        let mut list = self.free_lists[hash as usize % FREE_LISTS].lock();
        list.in_use -= 1;
        element.link.store(list.first, Relaxed);
        list.first = link;
    }
}

impl Table for Dynahash {
    const NAME: &'static str = "dynahash";

    fn with_slots(slots: u32) -> Self {
        let elements = slots as usize + PARTITIONS;
        let buckets = elements.next_power_of_two();
        let table = Self {
            max_bucket: buckets as u32 - 1,
            high_mask: 2 * buckets as u32 - 1,
            low_mask: buckets as u32 - 1,
            directory: (0..buckets / SEGMENT_HEADS)
                .map(|_| Box::new([const { AtomicU64::new(END) }; SEGMENT_HEADS]))
                .collect(),
            elements: (0..elements).map(|_| Element::default()).collect(),
            free_lists: Default::default(),
            partitions: (0..PARTITIONS).map(|_| CachePadded::default()).collect(),
        };
        // Each free list starts with a run of neighbours.
        for (index, element) in table.elements.iter().enumerate().rev() {
            let mut list = table.free_lists[index * FREE_LISTS / elements].lock();
            element.link.store(list.first, Relaxed);
            list.first = index as u64 + 1;
        }
        table
    }

    fn get(&self, tag: &BufferTag) -> Option<u32> {
        let hash = hash_tag(tag);
        let _shared = self.partition(hash).read();
        self.find(hash, tag).element.map(|element| element.slot.load(Relaxed))
    }

    fn insert(&self, tag: &BufferTag, slot: u32) -> Inserted {
        let hash = hash_tag(tag);
        let _exclusive = self.partition(hash).write();
        let place = self.find(hash, tag);
        if let Some(element) = place.element {
            return Inserted::Present(element.slot.load(Relaxed));
        }
        let new = self.take_element(hash);
        place.link.store(new, Relaxed);
        self.elements[new as usize - 1].fill(hash, tag, slot);
        Inserted::New
    }

    fn remove(&self, tag: &BufferTag) -> Option<u32> {
        let hash = hash_tag(tag);
        let _exclusive = self.partition(hash).write();
        let place = self.find(hash, tag);
        let element = place.element?;
        let slot = element.slot.load(Relaxed);
        let removed = place.link.load(Relaxed);
        place.link.store(element.link.load(Relaxed), Relaxed);
        self.give_back(hash, removed);
        Some(slot)
    }

    /// Pins while the partition's lock is held shared.
    fn lookup_and_pin<P>(&self, tag: &BufferTag, mut pin: impl FnMut(u32) -> Option<P>) -> Lookup<P> {
        let hash = hash_tag(tag);
        let _shared = self.partition(hash).read();
        let Some(element) = self.find(hash, tag).element else { return Lookup::Missing };
        let slot = element.slot.load(Relaxed);
        pin(slot).map_or(Lookup::Refused, |pinned| Lookup::Pinned(slot, pinned))
    }

    fn mappings(&self) -> Vec<(u32, BufferTag)> {
        let mut mappings = Vec::new();
        for head in self.directory.iter().flat_map(|segment| segment.iter()) {
            let mut link = head;
            while let Some(element) = self.element(link.load(Relaxed)) {
                mappings.push(element.mapping());
                link = &element.link;
            }
        }
        mappings
    }

    fn memory_bytes(&self) -> Option<usize> {
        let directory_bytes = size_of_val(&*self.directory) + self.directory.len() * size_of::<Segment>();
        Some(
            size_of_val(self)
                + directory_bytes
                + size_of_val(&*self.elements)
                + size_of_val(&*self.partitions),
        )
    }
}
