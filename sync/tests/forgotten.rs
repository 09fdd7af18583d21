//! Guards of each kind that are forgotten: their locks stay held, and all that needs no lock goes on.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

use std::mem::forget;
use std::thread;
use std::time::Duration;
use sync::{CondLock, LwLock, Progress, ProgressLock, SeqLock};

const SHORT: Duration = Duration::from_millis(1);

/// On another thread, which ends.
fn elsewhere<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|s| s.spawn(work).join().expect("it does not panic"))
}

#[test]
fn a_forgotten_hold_of_a_cond_lock_defers_counts_up_to_the_cap_and_loses_none() {
    for mut lock in [CondLock::new(0_i64, 3), CondLock::quiet(0, 3)] {
        elsewhere(|| forget(lock.lock()));
        assert!(lock.is_locked());
        for _ in 0..3 {
            assert_eq!(elsewhere(|| lock.update(1, |n| *n)), None, "each thread has a slot of its own");
        }
        assert_eq!((0..3).map(|_| lock.update(1, |n| *n)).collect::<Vec<_>>(), [None; 3]);
        assert_eq!(lock.pending(), 6);
        assert_eq!(*lock.get_mut(), 6, "the owner needs no lock");
        assert_eq!(lock.into_inner(), 6);
    }
}

#[test]
fn a_forgotten_progress_guard_leaves_its_progress_to_be_read() {
    let mut lock = ProgressLock::new(5);
    elsewhere(|| {
        let mut guard = lock.write();
        *guard = 6;
        guard.set_progress(7);
        forget(guard);
    });
    assert!(lock.try_read().is_none() && lock.try_write().is_none());
    assert_eq!((lock.progress(), lock.wait_past(0)), (7, Progress::Changed(7)));
    assert_eq!((*lock.get_mut(), lock.into_inner()), (6, 6));
}

#[test]
fn a_forgotten_writer_of_a_seqlock_keeps_out_writers_alone() {
    let mut lock = SeqLock::new([1_u64; 4]);
    elsewhere(|| {
        let mut guard = lock.write();
        *guard = [2; 4];
        guard.publish();
        *guard = [3; 4];
        forget(guard);
    });
    assert!(lock.try_write().is_none());
    assert_eq!((lock.read(), lock.try_read()), ([2; 4], Some([2; 4])));
    assert_eq!((*lock.get_mut(), lock.into_inner()), ([2; 4], [2; 4]));
}

#[test]
fn a_forgotten_reader_lets_readers_in_and_a_forgotten_writer_nobody() {
    let mut lock = LwLock::new(1);
    elsewhere(|| forget(lock.read()));
    assert!(lock.try_write_for(SHORT).is_none());
    assert_eq!(lock.try_read_for(SHORT).as_deref(), Some(&1));
    *lock.get_mut() += 1;
    let mut lock = LwLock::new(lock.into_inner());
    elsewhere(|| forget(lock.write()));
    assert!(lock.try_read_for(SHORT).is_none() && lock.try_write_for(SHORT).is_none());
    assert_eq!((*lock.get_mut(), lock.into_inner()), (2, 2));
}
