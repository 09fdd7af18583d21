//! Watchers: threads that wait for an exclusive hold to end, or to make progress, without wanting the lock. They
//! hold nobody back.
//!
//! The lock's word and the progress are two words, and a watcher and a publisher each write one and then read
//! the other: the fences keep them from missing each other.

use super::queue::{Signal, Waiter, Wakes};
use super::raw::RawLwLock;
use super::state::Mode;
use crate::prim::atomic::{AtomicU64, Ordering, fence};
use crate::progress::Progress;
use crate::tranche::Waited;

impl RawLwLock {
    /// Takes the lock if it is free. Otherwise waits until the present hold has ended, and returns false.
    pub(super) fn lock_or_wait(&self) -> bool {
        let op = self.tranche.begin();
        if self.try_lock(Mode::Exclusive) {
            op.end(Mode::Exclusive, Waited::No);
            return true;
        }
        let watcher = Waiter::new(Mode::Exclusive);
        let mut held = self.queue.lock();
        let queue = held.get_or_insert_default();
        let mut state = self.state();
        loop {
            let free = state.admits(Mode::Exclusive);
            let next = if free { state.taken(Mode::Exclusive) } else { state.with_watchers(true) };
            // ORD(SY-LOCK acq): the critical sections before ours, if the lock was free.
            match self.exchange(state, next, Ordering::Acquire) {
                Ok(()) if free => {
                    self.id.acquired();
                    op.end(Mode::Exclusive, Waited::No);
                    return true;
                }
                Ok(()) => break,
                Err(seen) => state = seen,
            }
        }
        queue.watch(&watcher, None);
        drop(held);
        watcher.wait();
        false
    }

    /// Waits until the exclusive holder has published another `progress` than `old`, or has released the lock.
    #[track_caller]
    pub(crate) fn wait_past(&self, progress: &AtomicU64, old: u64) -> Progress {
        if let Some(seen) = self.progress_past(progress, old) {
            return seen;
        }
        self.id.assert_not_held("wait_past");
        let watcher = Waiter::new(Mode::Exclusive);
        {
            let mut held = self.queue.lock();
            let queue = held.get_or_insert_default();
            let mut state = self.state();
            loop {
                if !state.is_write_locked() {
                    // ORD(SY-LOCK acq): the critical section whose end we have seen.
                    fence(Ordering::Acquire);
                    return Progress::Released;
                }
                // Relaxed: the fence below orders it before the look at the progress.
                match self.exchange(state, state.with_watchers(true), Ordering::Relaxed) {
                    Ok(()) => break,
                    Err(seen) => state = seen,
                }
            }
            // ORD(SY-WATCH acqrel): our flag before our look at the progress.
            fence(Ordering::SeqCst);
            if let Some(seen) = self.progress_past(progress, old) {
                return seen;
            }
            queue.watch(&watcher, Some(old));
        }
        match watcher.wait() {
            Signal::Done => Progress::Released,
            Signal::Again | Signal::Wait => Progress::Changed(watcher.news()),
        }
    }

    fn progress_past(&self, progress: &AtomicU64, old: u64) -> Option<Progress> {
        if !self.state().is_write_locked() {
            // ORD(SY-LOCK acq): the critical section whose end we have seen.
            fence(Ordering::Acquire);
            return Some(Progress::Released);
        }
        // ORD(SY-PROGRESS acq): what the holder did before it published.
        let now = progress.load(Ordering::Acquire);
        (now != old).then_some(Progress::Changed(now))
    }

    /// Wakes the watchers for whom `progress`, just stored by the exclusive holder, is news.
    pub(crate) fn tell_progress(&self, progress: u64) {
        // ORD(SY-WATCH acqrel): the progress before our look at the flag.
        fence(Ordering::SeqCst);
        if self.state().has_watchers() {
            let mut wakes = Wakes::default();
            self.queue.lock().get_or_insert_default().wake_watchers_past(progress, &mut wakes);
            wakes.send();
        }
    }
}
