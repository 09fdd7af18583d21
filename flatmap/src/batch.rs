//! Many lookups at once: the memory that they will read is asked for before the first of them waits for it. Next: `table.rs`,
//! the lookups themselves.

use crate::bucket::Chains;
use crate::key::{self, Key};
use crate::table::FlatMap;
use core::hash::BuildHasher;

/// So many keys are looked up together: of 8, 16, 32 and 64, beyond 32 little is gained (DESIGN.md, "What was tried for the
/// layout").
const BATCH: usize = 32;

/// So many entries of each chain are asked for ahead. With two buckets a slot a chain that is not empty has 1.25 on average.
const DEPTH: usize = 2;

impl<K: Key, S: BuildHasher> FlatMap<K, S> {
    /// Looks all `keys` up, and writes what each is mapped to into `found`: as [`get`](Self::get) of each in turn, and
    /// about twice as fast if the table is larger than the caches. Each answer is linearizable by itself (FM-1); they need not
    /// be of one moment.
    ///
    /// # Panics
    /// If `keys` and `found` have different lengths, before anything is looked up; and as [`get`](Self::get).
    ///
    /// ```
    /// let table: flatmap::FlatMap<u64> = flatmap::FlatMap::with_slots(100);
    /// table.insert(7, 3)?;
    /// let mut found = [None; 3];
    /// table.get_many(&[6, 7, 8], &mut found);
    /// assert_eq!(found, [None, Some(3), None]);
    /// # Ok::<(), flatmap::InsertError>(())
    /// ```
    pub fn get_many(&self, keys: &[K], found: &mut [Option<u32>]) {
        let (asked, room) = (keys.len(), found.len());
        assert!(asked == room, "FlatMap::get_many: {asked} keys, but room for {room} answers");
        for (keys, found) in keys.chunks(BATCH).zip(found.chunks_mut(BATCH)) {
            let mut hashes = [0; BATCH];
            let hashes = &mut hashes[..keys.len()];
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = self.hash(key);
            }
            self.chains.prefetch(hashes, keys);
            for ((found, &hash), key) in found.iter_mut().zip(&*hashes).zip(keys) {
                *found = self.lookup(hash, key);
            }
        }
    }
}

impl<K: Key> Chains<K> {
    /// Asks for the heads, then for the first entries, then for their successors. What is read here decides nothing.
    fn prefetch(&self, hashes: &[u64], keys: &[K]) {
        // Not `load_locked`: there must be memory for the heads.
        let geometry = self.geometry().load();
        for &hash in hashes {
            prefetch(self.head(geometry.bucket(hash)));
        }
        let mut at = [None; BATCH];
        for (at, &hash) in at.iter_mut().zip(hashes) {
            *at = self.head_locked(geometry.bucket(hash)).first();
            self.prefetch_entry(*at);
        }
        for _ in 1..DEPTH {
            for (at, key) in at.iter_mut().zip(keys) {
                let Some(entry) = at.and_then(|slot| self.entries().get(slot)) else { continue };
                let link = entry.link();
                *at = link.next().successor().filter(|_| link.first() != key::first(key));
                self.prefetch_entry(*at);
            }
        }
    }

    /// Asks for the head, and for the entry of a free slot that will be linked: the lock that comes next would make the one
    /// wait for the other.
    #[inline]
    pub(crate) fn expect_change(&self, hash: u64, slot: Option<u32>) {
        prefetch(self.head(self.geometry().load().bucket(hash)));
        self.prefetch_entry(slot);
    }

    fn prefetch_entry(&self, slot: Option<u32>) {
        if let Some(entry) = slot.and_then(|slot| self.entries().get(slot)) {
            let (first, last) = entry.ends();
            prefetch(first);
            prefetch(last);
        }
    }
}

/// Asks for the cache line of `word`; nothing where there is no such instruction.
#[inline]
#[allow(unsafe_code, reason = "the instruction reads nothing, whatever the address")]
fn prefetch<T>(word: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of x86-64, and a prefetch has no effect that a program can see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(word).cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch has no effect that a program can see.
    unsafe {
        core::arch::asm!(
            "prfm pldl1keep, [{word}]",
            word = in(reg) core::ptr::from_ref(word),
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = word;
}
