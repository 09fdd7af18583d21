//! The epochs under which memory that readers may still see is given back: crossbeam-epoch's default collector. Under
//! loom or shuttle nothing is given back before the model ends.

#[cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]
use crossbeam_epoch as epoch;

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
        self.guard.flush();
    }

    /// Lets the epoch advance past this pin: what was found before must not be used any more.
    pub(crate) fn repin(&mut self) {
        self.guard.repin();
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
}
