//! Waiting for the lock, and serving those who wait. Next: `queue.rs`, their order; beside it `watch.rs`, waiting
//! for a release without wanting the lock.
//!
//! A waiter looks again a few times, queues itself, and sleeps. It is woken to *try again*, so that newcomers
//! may pass: handing over each time would make every acquire a context switch. A waiter that has lost
//! `LOST_RACES` races or waited for `PATIENCE` forbids passing; then the next release hands the lock to
//! whoever is first. With n threads queued a wait therefore lasts at most about n times `PATIENCE`, plus the
//! holds of those before it.

use super::queue::{Plan, Queue, Signal, Ticket, Waiter, Wakes};
use super::raw::RawLwLock;
use super::state::{Mode, State};
use crate::inject::{self, Point};
use crate::prim::atomic::Ordering;
use crate::prim::{self, Deadline, LOST_RACES, SPIN_ROUNDS, spin_loop};
use crate::tranche::Waited;
use std::sync::Arc;
use std::time::Duration;

/// How long a queued waiter lets others pass before the lock is handed over; also the least time between
/// two hand-overs for that reason.
const PATIENCE: Duration = Duration::from_millis(1);

/// Where a hold is so long that the hand-over does not come, a waiter looks again ever less often.
const MOST_PATIENCE: Duration = Duration::from_millis(64);

/// What the thread that settles the queue gives up in the same step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Giving {
    Nothing,
    Exclusive,
    /// Exclusive, keeping shared.
    Downgrade,
    /// Its promise to try again.
    Wake,
}

impl Giving {
    fn apply(self, state: State) -> State {
        match self {
            Self::Nothing => state,
            Self::Exclusive => state.without_writer(),
            Self::Downgrade => state.without_writer().taken(Mode::Shared),
            Self::Wake => state.waking(false),
        }
    }
}

/// What came of insisting.
enum Insisted {
    Owner,
    /// The next release hands over, or somebody has asked for that not long ago.
    Asked,
    /// It was asked for already, and no release has come since.
    AskedBefore,
}

/// How a wait in the queue ended.
enum Slept {
    Owner,
    Woken,
    TimedOut,
}

impl RawLwLock {
    /// Takes the lock after a first try that failed; `None` if `deadline` came first.
    #[cold]
    pub(super) fn wait(&self, mode: Mode, deadline: Deadline) -> Option<Waited> {
        let waited = if self.spin(mode) {
            Waited::No
        } else if self.queue_up(mode, deadline) {
            Waited::Yes
        } else {
            return None;
        };
        self.id.acquired();
        Some(waited)
    }

    /// Looks again a few times; from the fifth on it lets other threads run in between, one of which may be the holder.
    fn spin(&self, mode: Mode) -> bool {
        for round in 0..SPIN_ROUNDS {
            if round < 4 {
                for _ in 0..2 << round {
                    spin_loop();
                }
            } else {
                prim::yield_now();
            }
            let state = self.state();
            if state.admits(mode) && self.take(state, mode).is_ok() {
                return true;
            }
        }
        false
    }

    fn queue_up(&self, mode: Mode, deadline: Deadline) -> bool {
        let waiter = Waiter::new(mode);
        let mut ticket = None;
        for lost in 0.. {
            let Some(place) = self.enqueue(&waiter, mode, ticket, lost) else { return true };
            match self.sleep(&waiter, mode, place, deadline) {
                Slept::Owner => return true,
                Slept::TimedOut => return false,
                Slept::Woken if self.take_as_woken(mode) => return true,
                Slept::Woken if deadline.has_passed() => return self.leave(&waiter, place),
                Slept::Woken => ticket = Some(place),
            }
        }
        unreachable!("the loop has no end")
    }

    /// A woken waiter's try: it keeps its promise in the same step.
    fn take_as_woken(&self, mode: Mode) -> bool {
        if inject::fires(Point::LostRace) {
            return false;
        }
        let mut state = self.state();
        while state.admits(mode) {
            // ORD(SY-LOCK acq): the critical sections before ours.
            match self.exchange(state, state.taken(mode).waking(false), Ordering::Acquire) {
                Ok(()) => return true,
                Err(seen) => state = seen,
            }
        }
        false
    }

    /// Queues the waiter, or takes the lock and returns `None`. One read-modify-write decides which (I2).
    fn enqueue(&self, waiter: &Arc<Waiter>, mode: Mode, ticket: Option<Ticket>, lost: u32) -> Option<Ticket> {
        let mut held = self.queue.lock();
        let queue = held.get_or_insert_default();
        let mut state = self.state();
        loop {
            let free = state.admits(mode);
            let kept = if ticket.is_some() { state.waking(false) } else { state };
            let next = if free {
                kept.taken(mode)
            } else {
                kept.with_waiters(true).barging_forbidden(state.no_barging() || lost >= LOST_RACES)
            };
            // ORD(SY-LOCK acq): the critical sections before ours, if the lock was free.
            match self.exchange(state, next, Ordering::Acquire) {
                Ok(()) if free => return None,
                Ok(()) => return Some(queue.insert(waiter, ticket)),
                Err(seen) => state = seen,
            }
        }
    }

    fn sleep(&self, waiter: &Arc<Waiter>, mode: Mode, place: Ticket, deadline: Deadline) -> Slept {
        let mut patience = PATIENCE;
        let mut patient_until = prim::patience(patience);
        loop {
            match waiter.signal() {
                Signal::Done => return Slept::Owner,
                Signal::Again => return Slept::Woken,
                Signal::Wait if deadline.has_passed() => {
                    return if self.leave(waiter, place) { Slept::Owner } else { Slept::TimedOut };
                }
                Signal::Wait => {}
            }
            if patient_until.has_passed() {
                match self.insist(waiter, mode, place) {
                    Insisted::Owner => return Slept::Owner,
                    Insisted::Asked => {}
                    Insisted::AskedBefore => patience = (2 * patience).min(MOST_PATIENCE),
                }
                patient_until = prim::patience(patience);
            }
            waiter.sleep(deadline.or_earlier(patient_until));
        }
    }

    /// Asks that the next release hands the lock over, to whoever is first; takes the lock if it is free.
    fn insist(&self, waiter: &Arc<Waiter>, mode: Mode, place: Ticket) -> Insisted {
        let mut held = self.queue.lock();
        let queue = held.get_or_insert_default();
        if waiter.signal() != Signal::Wait || queue.rest.is_some_and(|until| !until.has_passed()) {
            return Insisted::Asked;
        }
        let mut state = self.state();
        loop {
            let free = state.admits(mode);
            let next = if free {
                state.taken(mode).with_waiters(queue.len() > 1)
            } else if state.no_barging() {
                return Insisted::AskedBefore;
            } else {
                state.barging_forbidden(true)
            };
            // ORD(SY-LOCK acq): the critical sections before ours, if the lock was free.
            match self.exchange(state, next, Ordering::Acquire) {
                Ok(()) if free => {
                    queue.remove(waiter, place);
                    return Insisted::Owner;
                }
                Ok(()) => {
                    queue.rest = Some(prim::patience(PATIENCE));
                    return Insisted::Asked;
                }
                Err(seen) => state = seen,
            }
        }
    }

    /// Gives up, unless the lock was handed over meanwhile, which it returns. What the waiter leaves behind is
    /// settled as after a release: those behind it may be let in, and a wake meant for it goes to the next.
    fn leave(&self, waiter: &Arc<Waiter>, place: Ticket) -> bool {
        let mut held = self.queue.lock();
        let queue = held.get_or_insert_default();
        let giving = match waiter.signal() {
            Signal::Done => return true,
            Signal::Again => Giving::Wake,
            Signal::Wait => {
                queue.remove(waiter, place);
                Giving::Nothing
            }
        };
        let wakes = self.settle(queue, giving);
        drop(held);
        wakes.send();
        false
    }

    /// Gives `giving` up and serves the queue in one step of the word.
    fn settle(&self, queue: &mut Queue, giving: Giving) -> Wakes {
        let mut wakes = Wakes::default();
        let mut state = self.state();
        loop {
            let given = giving.apply(state);
            let plan = if given.is_write_locked() { Plan::Nothing } else { queue.plan(given) };
            let served = match plan {
                Plan::Nothing => given,
                Plan::Hand(Mode::Exclusive, _) => given.taken(Mode::Exclusive).barging_forbidden(false),
                Plan::Hand(Mode::Shared, count) => given.with_readers(count).barging_forbidden(false),
                Plan::WakeWriter | Plan::WakeReaders => given.waking(true),
            };
            let left = queue.len_after(plan);
            let released = matches!(giving, Giving::Exclusive | Giving::Downgrade) || !given.is_locked();
            let next = served
                .with_waiters(left != 0)
                .barging_forbidden(served.no_barging() && left != 0)
                .with_watchers(queue.has_watchers() && !released);
            // ORD(SY-LOCK rel): our critical section, if we give it up here.
            // ORD(SY-HAND acq): the critical sections of all who shared the lock, for the one we hand it to.
            match self.exchange(state, next, Ordering::AcqRel) {
                Ok(()) => {
                    queue.carry_out(plan, &mut wakes);
                    if released {
                        queue.wake_watchers(&mut wakes);
                    }
                    return wakes;
                }
                Err(seen) => state = seen,
            }
        }
    }

    #[cold]
    pub(super) fn settle_now(&self, giving: Giving) {
        let wakes = self.settle(self.queue.lock().get_or_insert_default(), giving);
        wakes.send();
    }
}

#[cfg(test)]
mod tests;
