//! The lock without its data: taking it and letting go, when nobody has to wait. Next: `wait.rs`.
//!
//! Invariants:
//! * I1: a shared holder excludes exclusive ones and an exclusive holder excludes all: both are one word.
//! * I2: a queued waiter is never forgotten. It sets `HAS_WAITERS` with a read-modify-write that sees the lock
//!   held, so that holder's release sees the flag; and after each release either a woken waiter will try
//!   again (`WAKING`), or the queue has been looked at.
//! * I3: under `NO_BARGING` a free lock is handed over by the thread that freed it.

use super::queue::Queue;
use super::state::{Mode, State};
use super::wait::Giving;
use crate::inject::{self, Point};
use crate::prim::atomic::{AtomicU32, Ordering};
use crate::prim::held::LockId;
use crate::prim::{Deadline, Mutex, spin_loop};
use crate::tranche::{Membership, Waited};

#[derive(Debug)]
#[repr(C)] // The word first: what a lock's owner puts before the lock is next to it.
pub(crate) struct RawLwLock {
    word: AtomicU32,
    /// Made by the first who queues, so that the lock and small data share a line.
    pub(super) queue: Mutex<Option<Box<Queue>>>,
    pub(crate) id: LockId,
    pub(super) tranche: Membership,
}

impl RawLwLock {
    #[cfg(not(all(loom, feature = "loom")))]
    pub(crate) const fn new(tranche: Membership) -> Self {
        let word = AtomicU32::new(State::FREE.bits());
        Self { word, queue: Mutex::new(None), id: LockId::new(), tranche }
    }

    #[cfg(all(loom, feature = "loom"))]
    pub(crate) fn new(tranche: Membership) -> Self {
        let word = AtomicU32::new(State::FREE.bits());
        Self { word, queue: Mutex::new(None), id: LockId::new(), tranche }
    }

    /// Takes the lock, waiting if need be.
    #[inline]
    pub(crate) fn lock(&self, mode: Mode) {
        let op = self.tranche.begin();
        // A writer that will wait anyway need not look first.
        let state = if mode == Mode::Exclusive { State::FREE } else { self.state() };
        let waited = if state.admits(mode) && self.take(state, mode).is_ok() {
            self.id.acquired();
            Waited::No
        } else {
            self.lock_slowly(mode)
        };
        op.end(mode, waited);
    }

    #[cold]
    fn lock_slowly(&self, mode: Mode) -> Waited {
        if self.try_lock(mode) {
            return Waited::No;
        }
        self.wait(mode, Deadline::NEVER).expect("a deadline that never comes")
    }

    /// Takes the lock, waiting until `deadline`; whether it did.
    #[track_caller]
    pub(crate) fn lock_by(&self, mode: Mode, deadline: Deadline) -> bool {
        if deadline.is_never() {
            self.id.assert_not_held("try without a time limit");
        }
        let op = self.tranche.begin();
        let waited = if self.try_lock(mode) { Some(Waited::No) } else { self.wait(mode, deadline) };
        waited.map(|waited| op.end(mode, waited)).is_some()
    }

    /// Takes the lock if that needs no wait; whether it did.
    #[inline]
    pub(crate) fn lock_at_once(&self, mode: Mode) -> bool {
        let op = self.tranche.begin();
        let locked = !inject::fires(Point::TryLock) && self.try_lock(mode);
        if locked {
            op.end(mode, Waited::No);
        }
        locked
    }

    #[inline]
    pub(crate) fn state(&self) -> State {
        // Relaxed: a guess; every decision is confirmed by a read-modify-write of the same word.
        State::from_bits(self.word.load(Ordering::Relaxed))
    }

    #[inline]
    pub(super) fn exchange(&self, from: State, to: State, success: Ordering) -> Result<(), State> {
        // Relaxed: a failure only yields the next guess.
        match self.word.compare_exchange(from.bits(), to.bits(), success, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            Err(seen) => Err(State::from_bits(seen)),
        }
    }

    /// Goes from `state`, which must admit it, to one more holder.
    #[inline]
    pub(super) fn take(&self, state: State, mode: Mode) -> Result<(), State> {
        // ORD(SY-LOCK acq): the critical sections before ours.
        self.exchange(state, state.taken(mode), Ordering::Acquire)
    }

    /// Takes the lock if it is there to be taken; a try that fails writes nothing.
    #[inline]
    pub(super) fn try_lock(&self, mode: Mode) -> bool {
        let state = self.state();
        let locked = state.admits(mode) && (self.take(state, mode).is_ok() || self.try_again(mode));
        if locked {
            self.id.acquired();
        } else if mode == Mode::Shared {
            self.state().assert_not_full();
        }
        locked
    }

    /// Goes on trying while the lock is there to be taken but others change its word, ever more slowly: each of them
    /// gets on while this one does not ask for the line.
    #[cold]
    fn try_again(&self, mode: Mode) -> bool {
        for round in 0.. {
            for _ in 0..2 << round.min(4) {
                spin_loop();
            }
            let state = self.state();
            if !state.admits(mode) {
                return false;
            }
            if self.take(state, mode).is_ok() {
                return true;
            }
        }
        unreachable!("the loop has no end")
    }

    /// Lets go of an exclusive hold.
    #[inline]
    pub(crate) fn unlock_exclusive(&self) {
        self.id.released();
        let alone = State::FREE.taken(Mode::Exclusive);
        // ORD(SY-LOCK rel): our critical section.
        if let Err(seen) = self.exchange(alone, State::FREE, Ordering::Release) {
            self.unlock_exclusive_and_wake(seen);
        }
    }

    #[cold]
    fn unlock_exclusive_and_wake(&self, mut state: State) {
        while !state.has_watchers() && !state.no_barging() {
            // ORD(SY-LOCK rel): our critical section.
            match self.exchange(state, state.without_writer(), Ordering::Release) {
                Ok(()) if state.needs_wake() => return self.settle_now(Giving::Nothing),
                Ok(()) => return,
                Err(seen) => state = seen,
            }
        }
        // Released under the mutex, so that the watchers woken are just those who saw this hold.
        self.settle_now(Giving::Exclusive);
    }

    /// Lets go of a shared hold.
    #[inline]
    pub(crate) fn unlock_shared(&self) {
        self.id.released();
        // ORD(SY-LOCK rel): what we read must have been read before a writer overwrites it.
        let before = State::from_bits(self.word.fetch_sub(State::ONE_READER, Ordering::Release));
        if before.readers() == 1 && before.needs_wake() {
            self.settle_now(Giving::Nothing);
        }
    }

    /// Turns an exclusive hold into a shared one, with no moment in between when others could take it.
    pub(crate) fn downgrade(&self) {
        let mut state = self.state();
        while !state.has_waiters() && !state.has_watchers() {
            let shared = state.without_writer().taken(Mode::Shared);
            // ORD(SY-LOCK rel): our critical section, for the readers that now come in.
            match self.exchange(state, shared, Ordering::Release) {
                Ok(()) => return,
                Err(seen) => state = seen,
            }
        }
        self.settle_now(Giving::Downgrade);
    }
}
