//! A walk over everything at rest, for tests: whether the buckets, the figures and the free numbers tell the same story.
//! Not part of the public API: it may change in any release.

use crate::addr::Geometry;
use crate::entry::{Entry, fold};
use crate::ids::Unused;
use crate::map::LHashMap;
use crate::multimap::LHashMultiMap;
use crate::page::{Page, PageId};
use crate::policy::CountPolicy;
use crate::reclaim::Pin;
use crate::table::Table;
use crate::word::{Control, SlotWord};
use core::hash::{BuildHasher, Hash};
use std::collections::HashSet;

/// The first thing that is wrong, and with what.
type Checked = Result<(), String>;

fn ensure(is_right: bool, wrong: impl FnOnce() -> String) -> Checked {
    if is_right { Ok(()) } else { Err(wrong()) }
}

/// What the walk has met.
#[derive(Default)]
struct Met {
    nodes: HashSet<u32>,
    pages: HashSet<u32>,
}

impl<T, const N: usize> Table<T, N> {
    /// Walks over everything. Nobody may change the table meanwhile. `is` looks at an entry with its word.
    pub(crate) fn validate(&self, is: impl Fn(SlotWord, &T) -> Checked) -> Checked {
        let (pin, geometry) = (Pin::new(), self.geometry());
        ensure(!self.meta.is_held(), || "the metapage is held".to_owned())?;
        let mut met = Met::default();
        for number in 0..=geometry.max_bucket() {
            let page = self.buckets.get(number, &pin);
            let page = page.ok_or_else(|| format!("bucket {number} has no segment"))?;
            self.validate_bucket(number, page, geometry, &pin, &mut met, &is)?;
        }
        for number in (u64::from(geometry.max_bucket()) + 1..).map_while(|number| u32::try_from(number).ok())
        {
            let Some(page) = self.buckets.get(number, &pin) else { break };
            let is_empty = page.slots.iter().all(|slot| slot.load().is_empty());
            ensure(is_empty && page.control().is_one_page() && !page.control().is_locked(), || {
                format!("bucket {number} is not part of the table, and not empty: {page:?}")
            })?;
        }
        self.validate_counts(&met, geometry)?;
        validate_numbers("node", &met.nodes, self.nodes.unused())?;
        validate_numbers("overflow page", &met.pages, self.overflow.unused())
    }

    fn validate_bucket(
        &self,
        number: u32,
        primary: &Page<N>,
        geometry: Geometry,
        pin: &Pin,
        met: &mut Met,
        is: &impl Fn(SlotWord, &T) -> Checked,
    ) -> Checked {
        let control = primary.control();
        let is_free = !control.is_locked() && !control.is_moving();
        ensure(is_free, || format!("bucket {number} is held: {control:?}"))?;
        // First the pages, so that a chain that leads back to itself is found.
        for (page, _) in self.pages(primary, control, pin) {
            let is_new = page.is_none_or(|page| met.pages.insert(page.number()));
            ensure(is_new, || format!("overflow page {page:?} is linked twice, at last in bucket {number}"))?;
        }
        self.validate_hint(number, primary, control, pin)?;
        for (page, at) in self.pages(primary, control, pin) {
            let mut words =
                at.slots.iter().map(|slot| slot.load()).filter(|word| !word.is_empty()).peekable();
            let is_used = page.is_none() || words.peek().is_some();
            ensure(is_used, || format!("overflow page {page:?} of bucket {number} is empty"))?;
            for word in words {
                let node = word.node().ok_or_else(|| format!("bucket {number} has {word:?}"))?;
                let is_new = met.nodes.insert(node.number());
                ensure(is_new, || format!("{word:?} is linked twice, at last in bucket {number}"))?;
                let address = geometry.address(word.hash());
                ensure(address == number, || format!("{word:?} of bucket {address} is in bucket {number}"))?;
                is(word, self.entry(node, pin))?;
            }
        }
        Ok(())
    }

    /// All pages before the one that the hint names are full.
    fn validate_hint(&self, number: u32, primary: &Page<N>, control: Control, pin: &Pin) -> Checked {
        let hint = control.overflow().and_then(|first| self.overflow.get(first, pin).link().hint());
        let Some(hint) = hint else { return Ok(()) };
        for (page, at) in self.pages(primary, control, pin) {
            if page == Some(hint) {
                return Ok(());
            }
            let is_full = at.slots.iter().all(|slot| !slot.load().is_empty());
            ensure(is_full, || format!("bucket {number} has room before page {hint:?}, on {page:?}"))?;
        }
        Err(format!("the hint of bucket {number} names {hint:?}, which is not on its chain"))
    }

    fn validate_counts(&self, met: &Met, geometry: Geometry) -> Checked {
        let meta = &*self.meta;
        let (entries, pages) = (met.nodes.len() as i64, met.pages.len() as i64);
        // The prototype's count is what it is.
        let counts_all = meta.settings.count_policy != CountPolicy::OverflowSignal;
        let count = meta.approx();
        ensure(!counts_all || count == entries, || format!("{entries} entries are linked, {count} counted"))?;
        let count = meta.overflow_pages.get();
        ensure(count == pages, || format!("{pages} overflow pages are linked, {count} counted"))?;
        let (pending, lag) = (meta.pending().unsigned_abs(), meta.max_lag());
        ensure(lag.is_none_or(|lag| pending <= lag), || format!("{pending} are pending, {lag:?} at most"))?;
        let (buckets, least) = (u64::from(geometry.max_bucket()) + 1, meta.settings.min_buckets);
        ensure(buckets >= u64::from(least), || format!("{buckets} buckets, not the least number {least}"))
    }
}

/// The numbers in use, those retired and those free are different ones, and were all handed out.
fn validate_numbers(what: &str, linked: &HashSet<u32>, unused: Unused) -> Checked {
    let Unused { free, retired, fresh } = unused;
    let mut apart = HashSet::new();
    for number in free.iter().chain(&retired) {
        ensure(apart.insert(*number), || format!("{what} {number} is free or retired twice"))?;
        ensure(!linked.contains(number), || format!("{what} {number} is linked, and free or retired"))?;
    }
    let unknown = linked.iter().chain(&apart).find(|&&number| number >= fresh);
    ensure(unknown.is_none(), || format!("{what} {unknown:?} was never handed out; the next is {fresh}"))
}

impl PageId {
    fn number(self) -> u32 {
        Self::to_link(Some(self)) - 1
    }
}

fn has_its_hash<K: Hash, V>(hasher: &impl BuildHasher, word: SlotWord, entry: &Entry<K, V>) -> Checked {
    let hash = fold(hasher.hash_one(&entry.key));
    ensure(word.hash() == hash, || format!("{word:?} has another hash than its key, {hash:#x}"))
}

impl<K: Hash + Eq, V, S: BuildHasher, const N: usize> LHashMap<K, V, S, N> {
    /// Walks over everything, while nobody uses the map: each entry is on the chain of its key's bucket, once, and no key
    /// twice; counts agree with what is there; no lock is held; free numbers are not in use.
    ///
    /// # Errors
    /// What is wrong, in words.
    #[doc(hidden)]
    pub fn validate(&self) -> Result<(), String> {
        let pin = Pin::new();
        self.table.validate(|word, entry| {
            has_its_hash(&self.hasher, word, entry)?;
            let found = self.table.get(word.hash(), &pin, |other| other.key == entry.key);
            let is_found = found.is_some_and(|found| core::ptr::eq(found, entry));
            ensure(is_found, || format!("a lookup finds another entry than {word:?}, or none"))
        })
    }
}

impl<K: Hash, V, S: BuildHasher, const N: usize> LHashMultiMap<K, V, S, N> {
    /// As [`LHashMap::validate`]; a key may have several entries.
    ///
    /// # Errors
    /// What is wrong, in words.
    #[doc(hidden)]
    pub fn validate(&self) -> Result<(), String> {
        self.table.validate(|word, entry| has_its_hash(&self.hasher, word, entry))
    }
}

#[cfg(feature = "redo")]
impl<K: Hash + Eq, V, M: crate::redo::Kind, S: BuildHasher> crate::redo::Logged<K, V, M, S> {
    /// As [`LHashMap::validate`]; in a multimap a key may have several entries.
    ///
    /// # Errors
    /// What is wrong, in words.
    #[doc(hidden)]
    pub fn validate(&self) -> Result<(), String> {
        let pin = Pin::new();
        self.table.validate(|word, entry| {
            has_its_hash(&self.hasher, word, entry)?;
            let found = self.table.get(word.hash(), &pin, |other| other.key == entry.key);
            let is_found = found.is_some_and(|found| !M::UNIQUE || core::ptr::eq(found, entry));
            ensure(is_found, || format!("a lookup finds another entry than {word:?}, or none"))
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::nodes::NodeId;
    use crate::page::PageId;
    use crate::reclaim::Pin;
    use crate::word::SlotWord;
    use crate::{LHashMap, LHashMultiMap};
    use std::hash::BuildHasherDefault;

    /// Hashes a `u32` to itself.
    #[derive(Default)]
    struct Same(u64);

    impl core::hash::Hasher for Same {
        fn finish(&self) -> u64 {
            self.0
        }

        fn write(&mut self, bytes: &[u8]) {
            bytes.iter().rev().for_each(|&byte| self.0 = self.0 << 8 | u64::from(byte));
        }
    }

    type Map = LHashMap<u32, u32, BuildHasherDefault<Same>>;

    /// Bucket 0 has 20 entries on three pages; the others are empty.
    fn map() -> Map {
        let map = LHashMap::builder().fill_factor(100).hasher(BuildHasherDefault::default());
        let map = map.build().expect("valid");
        map.pin().extend((0..20).map(|key| (key * 64, key)));
        assert_eq!(map.validate(), Ok(()));
        map
    }

    #[track_caller]
    fn wrong(map: &Map, why: &str) {
        let told = map.validate().expect_err("it is wrong");
        assert!(told.contains(why), "{told}");
    }

    #[test]
    fn a_held_bucket_and_a_held_metapage_are_noticed() {
        let (map, pin) = (map(), Pin::new());
        let page = map.table.buckets.get(2, &pin).expect("it is there");
        let held = page.lock(page.control()).expect("nobody has it");
        wrong(&map, "bucket 2 is held");
        page.set_control(held.untouched());
        assert_eq!(map.validate(), Ok(()));
        let _held = map.table.meta.hold();
        wrong(&map, "the metapage is held");
    }

    #[test]
    fn entries_that_are_linked_twice_or_elsewhere_are_noticed() {
        let (map, pin) = (map(), Pin::new());
        let page = |number| map.table.buckets.get(number, &pin).expect("it is there");
        let word = page(0).slots[3].load();
        page(0).slots[3].store(SlotWord::EMPTY);
        wrong(&map, "has room before page");
        page(0).slots[3].store(page(0).slots[4].load());
        wrong(&map, "is linked twice");
        page(0).slots[3].store(word);
        assert_eq!(map.validate(), Ok(()));
        page(3).slots[0].store(word);
        wrong(&map, "is linked twice, at last in bucket 3");
    }

    #[test]
    fn an_entry_of_another_bucket_or_hash_is_noticed() {
        let (map, pin) = (map(), Pin::new());
        let first = |number| &map.table.buckets.get(number, &pin).expect("it is there").slots[0];
        let word = first(0).load();
        first(0).store(SlotWord::new(word.hash() + 1, word.node().expect("an entry")));
        wrong(&map, "of bucket 1 is in bucket 0");
        first(0).store(SlotWord::new(word.hash() + 4, word.node().expect("an entry")));
        wrong(&map, "has another hash than its key");
        first(0).store(word);
        assert_eq!(map.validate(), Ok(()));
    }

    #[test]
    fn a_key_that_is_there_twice_is_noticed() {
        let map = map();
        let (table, pin) = (&*map.table, Pin::new());
        let pinned = map.pin();
        let draft = pinned.draft(64, 7);
        assert!(table.link_blindly(draft.word(64), &(), &pin).is_ok());
        draft.linked();
        table.count(1, false, 64, &(), &pin);
        wrong(&map, "a lookup finds another entry");
    }

    #[test]
    fn counts_that_are_off_are_noticed() {
        let map = map();
        map.table.count(1, false, 0, &(), &Pin::new());
        wrong(&map, "20 entries are linked, 21 counted");
        map.table.count(-1, false, 0, &(), &Pin::new());
        map.table.meta.overflow_pages.add(1);
        wrong(&map, "2 overflow pages are linked, 3 counted");
    }

    #[test]
    fn numbers_that_are_free_and_in_use_are_noticed() {
        let (map, pin) = (map(), Pin::new());
        let page = map.table.buckets.get(0, &pin).expect("it is there");
        let overflow = page.control().overflow().expect("it has overflow pages");
        let node = page.slots[0].load().node().expect("an entry");
        assert!(map.table.nodes.retire(node).is_none());
        wrong(&map, "is linked, and free or retired");
        assert_eq!(map.table.nodes.take_retired(), [node.number()]);
        assert_eq!(map.validate(), Ok(()));
        map.table.overflow.give_back(overflow);
        wrong(&map, "overflow page 0 is linked, and free or retired");
        let map = self::map();
        map.table.overflow.give_back(PageId::from_number(700));
        wrong(&map, "was never handed out");
    }

    #[test]
    fn an_empty_page_and_a_full_bucket_beyond_the_last_are_noticed() {
        let (map, pin) = (map(), Pin::new());
        let beyond = &map.table.buckets.get(9, &pin).expect("the segment is there").slots[0];
        beyond.store(SlotWord::new(0, NodeId::from_number(0)));
        wrong(&map, "bucket 9 is not part of the table");
        beyond.store(SlotWord::EMPTY);
        let page = map.table.buckets.get(0, &pin).expect("it is there");
        let overflow = map.table.overflow.get(page.control().overflow().expect("overflow"), &pin);
        let last = map.table.overflow.get(overflow.link().next().expect("two of them"), &pin);
        last.slots.iter().for_each(|slot| slot.store(SlotWord::EMPTY));
        wrong(&map, "is empty");
    }

    #[test]
    fn a_multimap_may_have_a_key_twice() {
        let map = LHashMultiMap::<u32, u32>::new();
        map.pin().extend((0..100).map(|n| (n % 3, n)));
        assert_eq!(map.validate(), Ok(()));
    }
}
