//! One private anonymous mapping: the system gives a page memory when it is first written, and takes it back when told to.
//! Read by `bucket.rs` and `entry.rs` as one slice.

use core::ops::Range;
use core::ptr::{self, NonNull};
use core::slice;
use sync::prim::atomic::AtomicU64;

// A word of the mapping must be nothing but 64 bits.
const _: () = assert!(size_of::<AtomicU64>() == 8);

/// What huge pages are aligned to.
const HUGE: usize = 2 << 20;

/// Elements of some double words each.
#[derive(Debug)]
pub(crate) struct Words {
    first: NonNull<AtomicU64>,
    len: usize,
    stride: usize,
    huge: bool,
    mapping: Mapping,
}

// SAFETY: `Words` owns its mapping, as a `Box<[AtomicU64]>` would own its memory.
unsafe impl Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}

impl Words {
    /// Room for `most` elements of `stride` double words. With `huge` the system is asked for huge pages. `None` if there
    /// are no addresses for so many.
    pub(crate) fn reserve(stride: usize, _used: u32, most: u32, huge: bool) -> Option<Self> {
        let len = (most as usize).checked_mul(stride)?;
        let bytes = len.checked_mul(size_of::<AtomicU64>())?;
        let margin = if huge { HUGE } else { 0 };
        let mapping = Mapping::new(bytes.checked_add(margin)?)?;
        let offset = mapping.base.addr().get().wrapping_neg() % if huge { HUGE } else { 1 };
        if huge {
            mapping.ask_for_huge_pages();
        }
        // SAFETY: `offset` is less than the margin.
        let first = unsafe { mapping.base.add(offset) }.cast();
        Some(Self { first, len, stride, huge, mapping })
    }

    /// The double words of an element; `None` if the reservation has no such element.
    #[inline]
    pub(crate) fn get(&self, index: u32, stride: usize) -> Option<&[AtomicU64]> {
        let at = (index as usize).checked_mul(stride)?;
        self.all().get(at..at.checked_add(stride)?)
    }

    #[inline]
    fn all(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has so many words behind `first`, readable and writable, zero at first, aligned to a page, and
        // lives as long as `self`. Nobody has another kind of reference to it.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }

    /// Sees to it that there is memory for the first `used` elements: the system gives it page by page.
    pub(crate) fn grow(&self, _used: u32) -> bool {
        true
    }

    /// Gives the memory of these elements back, so far as whole pages; they may be zero afterwards. Each must be such
    /// that the zero in its first word is what was last stored there.
    pub(crate) fn discard(&self, elements: Range<u32>) {
        let page = page_size();
        let byte = |index: u32| index as usize * self.stride * size_of::<AtomicU64>();
        let base = self.first.addr().get();
        let start = (base + byte(elements.start)).next_multiple_of(page) - base;
        let end = (base + byte(elements.end).min(self.len * size_of::<AtomicU64>())) / page * page;
        if let Some(bytes) = end.checked_sub(base + start).filter(|&bytes| bytes > 0) {
            // SAFETY: `start` lies within the mapping.
            let first = unsafe { self.first.cast::<u8>().add(start) };
            give_back(first, bytes);
        }
    }

    /// How many bytes lie on huge pages; `None` if they were not asked for, or if the system doesn't tell.
    pub(crate) fn huge_bytes(&self) -> Option<u64> {
        if self.huge { self.mapping.huge_bytes() } else { None }
    }
}

/// Returns the memory of whole pages of a mapping of ours to the system. Where that could leave anything but what was
/// there or zero, nothing is done.
fn give_back(first: NonNull<u8>, bytes: usize) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the pages are part of a private anonymous mapping of ours, which is only ever read and written by atomics,
    // for which a page that turns zero is a page that others wrote zeros to. A failure leaves it as it was.
    unsafe {
        libc::madvise(first.as_ptr().cast(), bytes, libc::MADV_DONTNEED);
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (first, bytes);
}

fn page_size() -> usize {
    // SAFETY: has no preconditions.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).ok().filter(|size| size.is_power_of_two()).unwrap_or(HUGE)
}

/// Owns the pages.
#[derive(Debug)]
struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    fn new(bytes: usize) -> Option<Self> {
        if bytes == 0 {
            return Some(Self { base: NonNull::<u64>::dangling().cast(), bytes });
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
        // SAFETY: a new mapping, at an address that the system chooses.
        let base = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        Some(Self { base: NonNull::new(base.cast())?, bytes })
    }

    fn ask_for_huge_pages(&self) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        // SAFETY: advice about a mapping of ours, which changes nothing that is in it. A system without huge pages refuses.
        unsafe {
            libc::madvise(self.base.as_ptr().cast(), self.bytes, libc::MADV_HUGEPAGE);
        }
    }

    fn huge_bytes(&self) -> Option<u64> {
        let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        Some(huge_bytes_between(&maps, self.base.addr().get()..self.base.addr().get() + self.bytes))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: it is ours, and nobody has a reference to it any more.
            unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
        }
    }
}

/// The bytes on huge pages of the mappings that begin within `range`, as Linux lists them.
fn huge_bytes_between(maps: &str, range: Range<usize>) -> u64 {
    let (mut ours, mut kibibytes) = (false, 0);
    for line in maps.lines() {
        let begin = line.split_once('-').and_then(|(begin, _)| usize::from_str_radix(begin, 16).ok());
        if let Some(begin) = begin {
            ours = range.contains(&begin);
        } else if let Some(size) = line.strip_prefix("AnonHugePages:").filter(|_| ours) {
            let size = size.trim().trim_end_matches("kB").trim_end();
            kibibytes += size.parse::<u64>().unwrap_or(0);
        }
    }
    kibibytes * 1024
}

#[cfg(test)]
mod tests {
    use super::{Words, huge_bytes_between};
    use sync::prim::atomic::Ordering;

    #[test]
    fn what_is_discarded_is_zero_and_its_neighbours_stay() {
        let words = Words::reserve(3, 1, 10_000, false).unwrap();
        for index in 0..10_000 {
            words.get(index, 3).unwrap()[0].store(u64::from(index) + 1, Ordering::Relaxed);
        }
        words.discard(5000..10_000);
        words.discard(5000..5000);
        words.discard(4999..5000);
        let first = |index| words.get(index, 3).unwrap()[0].load(Ordering::Relaxed);
        assert!((0..5000).all(|index| first(index) == u64::from(index) + 1));
        let zero = (5000..10_000).filter(|&index| first(index) == 0).count();
        assert!(!cfg!(target_os = "linux") || zero >= 4_000, "{zero}");
        assert!(words.get(10_000, 3).is_none() && words.get(u32::MAX, usize::MAX).is_none());
    }

    #[test]
    fn memory_that_is_reserved_is_not_used() {
        let words = Words::reserve(3, 1, u32::MAX, true).unwrap();
        let last = &words.get(u32::MAX - 1, 3).unwrap()[2];
        last.store(7, Ordering::Relaxed);
        assert_eq!(last.load(Ordering::Relaxed), 7);
        assert_eq!(words.first.addr().get() % super::HUGE, 0);
        assert!(Words::reserve(usize::MAX / 2, 1, u32::MAX, false).is_none());
        assert!(Words::reserve(1 << 28, 1, u32::MAX, false).is_none(), "more than any address space has");
        assert!(Words::reserve(1, 0, 0, false).unwrap().get(0, 1).is_none());
    }

    #[test]
    fn huge_pages_are_counted_for_the_mappings_in_the_range() {
        let maps = "1000-2000 rw-p 00000000 00:00 0\nSize: 4 kB\nAnonHugePages:      2048 kB\n\
                    3000-9000 rw-p 00000000 00:00 0 [anon: x]\nAnonHugePages:      4096 kB\n\
                    a000-b000 r--p 0 0:0 0 /a-file\nAnonHugePages:      8192 kB\n";
        assert_eq!(huge_bytes_between(maps, 0x1000..0xa000), 6 << 20);
        assert_eq!(huge_bytes_between(maps, 0x2000..0x3000), 0);
        assert_eq!(huge_bytes_between("", 0..usize::MAX), 0);
    }
}
