//! What allocates: nothing but a wait, and who ends it; and all of that comes back.
#![cfg(not(all(loom, feature = "loom")))]

#[path = "common/watchdog.rs"]
mod watchdog;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use sync::{CondLock, Counted, DeferredCounter, LwLock, Progress, ProgressLock, SeqLock, ShardedCounter};
use watchdog::watch;

thread_local! {
    static ALLOCATED: Cell<Allocated> = const { Cell::new(Allocated { calls: 0, bytes: 0 }) };
}

/// What one thread, or several together, asked of the allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Allocated {
    calls: usize,
    /// Not given back by the same threads; negative if they gave back what others had taken.
    bytes: isize,
}

impl Allocated {
    fn and(self, other: Self) -> Self {
        Self { calls: self.calls + other.calls, bytes: self.bytes + other.bytes }
    }
}

/// The system's allocator, counting what the calling thread asks of it.
struct Counting;

fn count(calls: usize, bytes: isize) {
    ALLOCATED.set(ALLOCATED.get().and(Allocated { calls, bytes }));
}

// SAFETY: all calls are passed on as they come; the counters allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as isize);
        // SAFETY: the caller keeps the same promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(0, -(layout.size() as isize));
        // SAFETY: the caller keeps the same promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(1, new_size as isize - layout.size() as isize);
        // SAFETY: the caller keeps the same promises.
        unsafe { System.realloc(block, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `work` allocates on this thread.
fn allocated(work: impl FnOnce()) -> Allocated {
    let before = ALLOCATED.get();
    work();
    let after = ALLOCATED.get();
    Allocated { calls: after.calls - before.calls, bytes: after.bytes - before.bytes }
}

/// Debug builds keep a list of held locks for each thread, which grows at its first uses.
fn warm_up() {
    let locks = [const { LwLock::new(()) }; 4];
    let _guards = locks.each_ref().map(LwLock::read);
}

#[track_caller]
fn allocates_nothing(work: impl Fn()) {
    warm_up();
    assert_eq!(allocated(work), Allocated::default());
}

#[test]
fn an_acquisition_that_need_not_wait_allocates_nothing() {
    let lock = LwLock::new(0);
    allocates_nothing(|| {
        *lock.write() += 1;
        drop((lock.read(), lock.try_read()));
        drop(lock.write().downgrade());
        drop(lock.write_or_wait());
        drop((lock.try_read_for(Duration::MAX), lock.try_write_for(Duration::ZERO)));
        let guard = lock.try_write();
        assert!(lock.try_read().is_none() && lock.try_write().is_none());
        drop(guard);
    });
    let lock = ProgressLock::new(0);
    allocates_nothing(|| {
        let mut guard = lock.write();
        guard.set_progress(1);
        assert_eq!(lock.wait_past(0), Progress::Changed(1));
        guard.release_clearing();
    });
}

#[test]
fn reading_and_publishing_in_a_sequence_lock_allocate_nothing() {
    let lock = SeqLock::new([0_u64; 8]);
    // Some systems allocate a mutex at its first use.
    drop(lock.write());
    allocates_nothing(|| {
        let mut guard = lock.write();
        guard[0] += 1;
        guard.publish();
        assert!(lock.try_write().is_none());
        assert_eq!(lock.try_read(), Some(lock.read()));
    });
}

#[test]
fn counting_allocates_nothing_whether_deferred_or_not() {
    for lock in [CondLock::new(0_i64, 100), CondLock::quiet(0_i64, 100)] {
        allocates_nothing(|| {
            let guard = lock.lock();
            (0..10).for_each(|_| assert_eq!(lock.update(1, |n| *n), None));
            assert_eq!(lock.pending(), 10);
            drop(guard);
            assert!((0..200).any(|_| lock.update(1, |n| *n).is_some()));
            lock.force(1, |_| ());
        });
    }
    let (deferred, sharded) = (DeferredCounter::new(), ShardedCounter::new());
    allocates_nothing(|| {
        assert_ne!(deferred.add(1), Counted::Later);
        sharded.add(1_000);
        assert_eq!((deferred.approx(), deferred.exact()), (1, 1));
        assert_eq!((sharded.approx(), sharded.sum(), sharded.compare(1_000).is_eq()), (1_000, 1_000, true));
    });
}

const WAITERS: usize = 8;

/// Lets `wait` run on 8 threads in each round, during `hold` on this one, which lets them in at its end. Returns
/// what all of them allocated in each round.
fn rounds<const N: usize>(hold: impl Fn(&dyn Fn()), wait: impl Fn() + Sync) -> [Allocated; N] {
    let barrier = Barrier::new(WAITERS + 1);
    let running = AtomicUsize::new(0);
    thread::scope(|s| {
        let waiters = [(); WAITERS].map(|()| {
            s.spawn(|| {
                warm_up();
                barrier.wait();
                [(); N].map(|()| {
                    barrier.wait();
                    let ours = allocated(|| {
                        running.fetch_add(1, Ordering::Relaxed);
                        wait();
                    });
                    barrier.wait();
                    ours
                })
            })
        });
        warm_up();
        // Once for the barrier itself: some systems allocate a mutex at its first use.
        barrier.wait();
        let mut sums = [(); N].map(|()| {
            running.store(0, Ordering::Relaxed);
            let ours = allocated(|| {
                hold(&|| {
                    barrier.wait();
                    while running.load(Ordering::Relaxed) < WAITERS {
                        thread::yield_now();
                    }
                    // They spin for some microseconds and then sleep; on a busy machine they come to it late.
                    thread::sleep(Duration::from_millis(100));
                });
            });
            barrier.wait();
            ours
        });
        for waiter in waiters {
            let theirs = waiter.join().expect("no panic");
            sums.iter_mut().zip(theirs).for_each(|(sum, ours)| *sum = sum.and(ours));
        }
        sums
    })
}

/// What the documentation of `LwLock` says: a wait and its wake together, if it loses no race.
const CALLS_PER_WAIT: usize = 4;
/// What a lock keeps until it is dropped, after up to 8 threads have waited at one time.
const KEPT_BYTES: isize = 1024;

/// All rounds together, which keep no more than one does.
#[track_caller]
fn within_the_bound(rounds: [Allocated; 4]) -> Allocated {
    let all = rounds.into_iter().fold(Allocated::default(), Allocated::and);
    assert!(all.calls >= WAITERS, "hardly anybody waited: {rounds:?}");
    assert!(all.calls <= CALLS_PER_WAIT * WAITERS * rounds.len(), "{rounds:?}");
    assert!((0..=KEPT_BYTES).contains(&all.bytes), "{rounds:?}");
    all
}

#[test]
fn a_wait_allocates_within_a_bound_and_all_of_it_comes_back() {
    let _dog = watch("waits that allocate");
    let lock = LwLock::new(0);
    let held = |meanwhile: &dyn Fn()| {
        let guard = lock.write();
        meanwhile();
        drop(guard);
    };
    let waits: [&(dyn Fn() + Sync); 4] = [
        &|| *lock.write() += 1,
        &|| drop(lock.read()),
        &|| assert!(lock.try_read_for(Duration::from_secs(100)).is_some()),
        &|| drop(lock.write_or_wait()),
    ];
    let kept = waits.map(|wait| within_the_bound(rounds(held, wait)).bytes).iter().sum();
    assert!((0..=KEPT_BYTES).contains(&kept), "{kept}");
    assert_eq!(allocated(|| drop(lock)), Allocated { calls: 0, bytes: -kept });
}

#[test]
fn a_timed_try_that_gives_up_gives_back_what_it_allocated() {
    let _dog = watch("timed tries that allocate");
    let lock = LwLock::new(());
    let gave_up = AtomicBool::new(false);
    let hold = |meanwhile: &dyn Fn()| {
        let guard = lock.write();
        meanwhile();
        drop(guard);
    };
    let kept = within_the_bound(rounds(hold, || {
        if lock.try_write_for(Duration::from_millis(2)).is_none() {
            gave_up.store(true, Ordering::Relaxed);
        }
    }));
    assert!(gave_up.into_inner(), "the lock was held for longer than that");
    assert_eq!(allocated(|| drop(lock)), Allocated { calls: 0, bytes: -kept.bytes });
}

#[test]
fn a_wait_for_progress_allocates_within_the_same_bound() {
    let _dog = watch("waits for progress that allocate");
    let lock = ProgressLock::new(());
    let changed = AtomicBool::new(false);
    let hold = |meanwhile: &dyn Fn()| {
        let mut guard = lock.write();
        meanwhile();
        guard.set_progress(1);
        guard.release_clearing();
    };
    let kept = within_the_bound(rounds(hold, || {
        if lock.wait_past(0) == Progress::Changed(1) {
            changed.store(true, Ordering::Relaxed);
        }
    }));
    assert!(changed.into_inner(), "nobody waited for the change");
    assert_eq!(allocated(|| drop(lock)), Allocated { calls: 0, bytes: -kept.bytes });
}
