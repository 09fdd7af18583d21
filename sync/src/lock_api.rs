//! The traits of the crate `lock_api`, version 0.5, for users who build their own lock types: feature `lock_api`,
//! which needs Rust 1.95.

use crate::lwlock::{Mode, RawLwLock as Raw};
use crate::prim::Deadline;
use crate::tranche::Membership;
use ::lock_api::{GuardNoSend, RawRwLock, RawRwLockDowngrade, RawRwLockTimed};
use std::time::{Duration, Instant};

/// [`LwLock`](crate::LwLock) without its data, for [`lock_api::RwLock`](::lock_api::RwLock): with the same promises and
/// panics, size and limit. `write_or_wait` and tranches are not in the traits.
///
/// ```
/// type RwLock<T> = lock_api::RwLock<sync::RawLwLock, T>;
///
/// let lock = RwLock::new(1);
/// *lock.write() += 1;
/// assert_eq!(*lock.read(), 2);
/// ```
#[derive(Debug)]
pub struct RawLwLock(Raw);

impl RawLwLock {
    fn lock(&self, mode: Mode, what: &str) -> GuardNoSend {
        self.0.id.assert_not_held(what);
        self.0.lock(mode);
        GuardNoSend::new()
    }

    fn lock_at_once(&self, mode: Mode) -> Option<GuardNoSend> {
        self.0.lock_at_once(mode).then(GuardNoSend::new)
    }

    fn lock_until(&self, mode: Mode, deadline: Deadline) -> Option<GuardNoSend> {
        self.0.lock_by(mode, deadline).then(GuardNoSend::new)
    }
}

// SAFETY: I1 of lwlock/raw.rs: an exclusive hold excludes all others, and a shared one excludes exclusive ones. A
// panic while locking leaves the caller without a hold. The guards hold nothing themselves; a lock may be moved or
// dropped while a forgotten guard's hold lasts.
unsafe impl RawRwLock for RawLwLock {
    const INIT: Self = Self(Raw::new(Membership::NONE));

    type SharedGuard = GuardNoSend;
    type ExclusiveGuard = GuardNoSend;

    #[inline]
    fn lock_shared(&self) -> GuardNoSend {
        self.lock(Mode::Shared, "read")
    }

    #[inline]
    fn try_lock_shared(&self) -> Option<GuardNoSend> {
        self.lock_at_once(Mode::Shared)
    }

    #[inline]
    unsafe fn unlock_shared(&self, _: GuardNoSend) {
        self.0.unlock_shared();
    }

    #[inline]
    fn lock_exclusive(&self) -> GuardNoSend {
        self.lock(Mode::Exclusive, "write")
    }

    #[inline]
    fn try_lock_exclusive(&self) -> Option<GuardNoSend> {
        self.lock_at_once(Mode::Exclusive)
    }

    #[inline]
    unsafe fn unlock_exclusive(&self, _: GuardNoSend) {
        self.0.unlock_exclusive();
    }

    fn is_locked(&self) -> bool {
        self.0.state().is_locked()
    }

    fn is_locked_exclusive(&self) -> bool {
        self.0.state().is_write_locked()
    }
}

// SAFETY: the word goes from exclusive to shared in one step, with release ordering (SY-LOCK).
unsafe impl RawRwLockDowngrade for RawLwLock {
    unsafe fn downgrade(&self, _: GuardNoSend) -> GuardNoSend {
        self.0.downgrade();
        GuardNoSend::new()
    }
}

// SAFETY: as for `RawRwLock`; a timed acquisition gives up only after its deadline.
unsafe impl RawRwLockTimed for RawLwLock {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_shared_for(&self, timeout: Duration) -> Option<GuardNoSend> {
        self.lock_until(Mode::Shared, Deadline::after(timeout))
    }

    fn try_lock_shared_until(&self, timeout: Instant) -> Option<GuardNoSend> {
        self.lock_until(Mode::Shared, Deadline::at(timeout))
    }

    fn try_lock_exclusive_for(&self, timeout: Duration) -> Option<GuardNoSend> {
        self.lock_until(Mode::Exclusive, Deadline::after(timeout))
    }

    fn try_lock_exclusive_until(&self, timeout: Instant) -> Option<GuardNoSend> {
        self.lock_until(Mode::Exclusive, Deadline::at(timeout))
    }
}
