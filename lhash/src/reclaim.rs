//! The epochs under which memory that readers may still see is given back: crossbeam-epoch's default collector. Under
//! loom or shuttle nothing is given back before the model ends.

use core::cell::Cell;
#[cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]
use core::sync::atomic::{AtomicBool, Ordering};
#[cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]
use crossbeam_epoch as epoch;
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]
use std::sync::Arc;

/// Runs user code that nobody is here to hear a panic of: the panic hook has reported it. What it panics with is dropped; and
/// if that panics again, what that panics with is forgotten.
pub(crate) fn contain(f: impl FnOnce()) {
    let Err(payload) = catch_unwind(AssertUnwindSafe(f)) else { return };
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        core::mem::forget(again);
    }
}

thread_local! {
    /// Whether this thread is running what was deferred. Then it doesn't flush: what is due would run inside, one in
    /// another until the stack ends. (Without a destructor, so that it is there while a thread ends.)
    static RUNS_DEFERRED: Cell<bool> = const { Cell::new(false) };
}

/// Runs what was deferred, which may be a table's last end, and contains its panics.
pub(crate) fn run_deferred(f: impl FnOnce()) {
    let before = RUNS_DEFERRED.replace(true);
    contain(f);
    RUNS_DEFERRED.set(before);
}

/// Whether the crate is built for a model: everything is small then.
pub(crate) const IN_A_MODEL: bool = cfg!(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle")));

/// While it lives, nothing is given back that a reader could have found since it was made. `!Send`.
#[derive(Debug)]
pub(crate) struct Pin {
    #[cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]
    guard: epoch::Guard,
    #[cfg(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle")))]
    not_send: core::marker::PhantomData<*const ()>,
}

#[cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]
impl Pin {
    #[inline]
    pub(crate) fn new() -> Self {
        Self { guard: epoch::pin() }
    }

    /// Runs `f` once every pin of now is gone, on whichever thread comes by.
    pub(crate) fn defer(&self, f: impl FnOnce() + Send + 'static) {
        self.guard.defer(f);
    }

    /// Makes what was deferred known to other threads, and runs some of what is due.
    pub(crate) fn flush(&self) {
        if !RUNS_DEFERRED.get() {
            self.guard.flush();
        }
    }

    /// Lets the epoch advance past this pin: what was found before must not be used any more.
    pub(crate) fn repin(&mut self) {
        self.guard.repin();
    }

    /// Repins until what was deferred so far has run, unless somebody else is pinned. The collector runs it in order, a
    /// few bags at a time, so how often depends on what others have left.
    pub(crate) fn let_deferred_run(&mut self) {
        const MOST: u32 = 1 << 12;
        if RUNS_DEFERRED.get() {
            return;
        }
        let last = Arc::new(AtomicBool::new(false));
        let has_run = Arc::clone(&last);
        // Relaxed: a hint to stop.
        self.defer(move || last.store(true, Ordering::Relaxed));
        for _ in 0..MOST {
            self.flush();
            // Relaxed: as above.
            if has_run.load(Ordering::Relaxed) {
                return;
            }
            self.repin();
        }
    }
}

#[cfg(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle")))]
impl Pin {
    pub(crate) fn new() -> Self {
        Self { not_send: core::marker::PhantomData }
    }

    pub(crate) fn defer(&self, f: impl FnOnce() + Send + 'static) {
        core::mem::forget(f);
    }

    pub(crate) fn flush(&self) {}

    pub(crate) fn repin(&mut self) {}

    pub(crate) fn let_deferred_run(&mut self) {}
}
