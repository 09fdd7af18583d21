//! A try that fails writes nothing, and a deferred count does not write the lock's line: shown in memory that
//! cannot be written. A write there ends the whole binary with SIGSEGV (or SIGBUS), which is how these tests
//! fail; the first of them shows that it does.
//!
//! Not covered: a timed try that has to wait, since waiting writes the lock's queue.
#![cfg(all(unix, not(miri), not(all(loom, feature = "loom"))))]

use crossbeam_utils::CachePadded;
use std::ops::Range;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;
use std::{env, mem, ptr, thread};
use sync::{CondLock, DeferredCounter, LwLock, Progress, ProgressLock, SeqLock, ShardedCounter, Tranche};

/// A value in pages of its own, a part of which can be made read-only.
struct Pages<T> {
    start: *mut libc::c_void,
    bytes: usize,
    value: *mut T,
    /// The pages that `read_only` protects, from the start.
    part: Range<usize>,
}

impl<T> Pages<T> {
    fn new(value: T) -> Self {
        Self::with_part(value, 0..size_of::<T>())
    }

    /// `read_only` protects the bytes `part` of the value, whose other end lies on other pages. With a part in the
    /// middle it protects all that follows too.
    fn with_part(value: T, part: Range<usize>) -> Self {
        // SAFETY: it only asks.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("pages have a size");
        let border = if part.start == 0 { part.end } else { part.start };
        let before = border.next_multiple_of(page);
        let bytes = before + (size_of::<T>() - border).next_multiple_of(page);
        let (rights, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
        // SAFETY: a new mapping, at no address that anything else uses.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, rights, kind, -1, 0) };
        assert!(start != libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
        let place = start.cast::<u8>().wrapping_add(before - border).cast::<T>();
        assert!(place.is_aligned(), "the part does not begin or end where the value's alignment allows");
        // SAFETY: `border` bytes before the border and the rest behind it lie in the mapping.
        unsafe { place.write(value) };
        let part = if part.start == 0 { 0..before } else { before..bytes };
        Self { start, bytes, value: place, part }
    }

    fn get(&self) -> &T {
        // SAFETY: the value was written there and lives as long as `self`.
        unsafe { &*self.value }
    }

    /// Runs `look` while nobody can write the part.
    fn read_only<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        struct Writable<'a, T>(&'a Pages<T>);
        impl<T> Drop for Writable<'_, T> {
            fn drop(&mut self) {
                self.0.protect(libc::PROT_READ | libc::PROT_WRITE);
            }
        }
        self.protect(libc::PROT_READ);
        let _after_a_panic_too = Writable(self);
        look(self.get())
    }

    fn protect(&self, rights: libc::c_int) {
        let from = self.start.wrapping_byte_add(self.part.start);
        // SAFETY: whole pages of our mapping. Whoever writes them while they are read-only ends the process.
        let failed = unsafe { libc::mprotect(from, self.part.len(), rights) };
        assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
    }
}

impl<T> Drop for Pages<T> {
    fn drop(&mut self) {
        // SAFETY: nobody borrows the value, and it is dropped once.
        unsafe { self.value.drop_in_place() };
        // SAFETY: our mapping, which nothing refers to any more.
        unsafe { libc::munmap(self.start, self.bytes) };
    }
}

const CONTROL: &str = "LATCHFREE_WRITE_TO_READ_ONLY_PAGES";

#[test]
fn a_try_that_succeeds_in_read_only_memory_ends_the_process() {
    if env::var_os(CONTROL).is_some() {
        Pages::new(LwLock::new(())).read_only(|lock| assert!(lock.try_write().is_some()));
        return;
    }
    let this_binary = env::current_exe().expect("it runs");
    let only_this = ["--exact", "a_try_that_succeeds_in_read_only_memory_ends_the_process"];
    let child = Command::new(this_binary).args(only_this).env(CONTROL, "1").output().expect("it starts");
    assert!(matches!(child.status.signal(), Some(libc::SIGSEGV | libc::SIGBUS)), "{child:?}");
}

#[test]
fn tries_of_a_lock_that_is_held_exclusively_write_nothing() {
    let pages = Pages::new(LwLock::new(7));
    let guard = pages.get().write();
    pages.read_only(|lock| {
        let tries = || {
            assert!(lock.try_read().is_none());
            assert!(lock.try_write().is_none());
            assert!(lock.try_read_for(Duration::ZERO).is_none());
            assert!(lock.try_write_for(Duration::ZERO).is_none());
            assert!(lock.is_locked() && lock.is_write_locked());
            assert_eq!(format!("{lock:?}"), "LwLock { data: <locked> }");
        };
        tries();
        thread::scope(|s| s.spawn(tries).join().expect("no panic"));
    });
    drop(guard);
    assert_eq!(*pages.get().read(), 7);
}

#[test]
fn tries_to_write_while_readers_hold_the_lock_write_nothing() {
    let pages = Pages::new(LwLock::new(7));
    let guards = (pages.get().read(), pages.get().try_read().expect("readers share"));
    pages.read_only(|lock| {
        assert!(lock.try_write().is_none());
        assert!(lock.try_write_for(Duration::ZERO).is_none());
        assert!(lock.is_locked() && !lock.is_write_locked());
    });
    drop(guards);
    assert!(pages.get().try_write().is_some());
}

#[test]
fn a_try_that_fails_is_not_recorded_either() {
    let tranche: &'static Pages<Tranche> = Box::leak(Box::new(Pages::new(Tranche::new("read-only"))));
    let lock = LwLock::in_tranche((), tranche.get());
    let guard = lock.write();
    tranche.read_only(|_| assert!(lock.try_read().is_none() && lock.try_write().is_none()));
    drop(guard);
    #[cfg(feature = "stats")]
    assert_eq!((tranche.get().stats().exclusive.count, tranche.get().stats().shared.count), (1, 0));
}

#[test]
fn looking_at_a_progress_lock_writes_nothing() {
    let pages = Pages::new(ProgressLock::new(()));
    assert_eq!(pages.read_only(|lock| lock.wait_past(0)), Progress::Released);
    let mut guard = pages.get().write();
    guard.set_progress(3);
    pages.read_only(|lock| {
        assert!(lock.try_read().is_none() && lock.try_write().is_none());
        assert_eq!((lock.progress(), lock.wait_past(2)), (3, Progress::Changed(3)));
    });
    drop(guard);
}

#[test]
fn reading_a_sequence_lock_writes_nothing_also_while_a_writer_edits_its_copy() {
    let pages = Pages::new(SeqLock::new([1_u64, 2]));
    pages.read_only(|lock| assert_eq!((lock.read(), lock.try_read()), ([1, 2], Some([1, 2]))));
    let mut guard = pages.get().write();
    guard[0] = 3;
    pages.read_only(|lock| {
        assert_eq!(lock.read(), [1, 2]);
        assert!(lock.try_write().is_none());
    });
    drop(guard);
    assert_eq!(pages.get().read(), [3, 2]);
}

#[test]
fn approximate_counts_and_far_comparisons_write_nothing() {
    let pages = Pages::new((DeferredCounter::new(), ShardedCounter::new()));
    let (deferred, sharded) = pages.get();
    deferred.add(3);
    sharded.add(1_000_000);
    pages.read_only(|(deferred, sharded)| {
        assert_eq!((deferred.approx(), sharded.approx()), (3, 1_000_000));
        assert!(sharded.compare(0).is_gt());
    });
}

/// Where a `CondLock<i64>` has its lock: the padded line or lines of its word, its queue and its value.
fn lines_of_the_lock() -> Range<usize> {
    let lock = CondLock::new(0_i64, 1);
    let value = ptr::from_ref(&*lock.lock()).addr() - ptr::from_ref(&lock).addr();
    let start = value - size_of::<LwLock<()>>();
    assert_eq!(start % align_of::<CachePadded<()>>(), 0, "the lock does not begin a line");
    start..start + size_of::<CachePadded<LwLock<i64>>>()
}

#[test]
fn a_count_that_is_deferred_does_not_write_the_lines_of_the_lock() {
    for quiet in [false, true] {
        let lock = if quiet { CondLock::quiet(0_i64, 100) } else { CondLock::new(0_i64, 100) };
        let pages = Pages::with_part(lock, lines_of_the_lock());
        let guard = pages.get().lock();
        pages.read_only(|lock| {
            let defer = || (0..10).for_each(|_| assert_eq!(lock.update(1, |n| *n), None));
            defer();
            thread::scope(|s| (0..4).for_each(|_| mem::drop(s.spawn(defer))));
            assert!(lock.is_locked());
            assert_eq!(lock.pending(), 50);
        });
        drop(guard);
        assert_eq!(*pages.get().lock(), 50);
    }
}
