//! The steps of a wait, one after the other on one thread.

use std::sync::Arc;
use std::thread;

use super::Insisted;
use crate::lwlock::queue::{Signal, Ticket, Waiter};
use crate::lwlock::raw::RawLwLock;
use crate::lwlock::state::Mode::{self, Exclusive, Shared};
use crate::prim::atomic::Ordering;
use crate::prim::{Deadline, LOST_RACES};
use crate::tranche::Membership;

/// A lock that this thread holds exclusively.
fn held() -> RawLwLock {
    let lock = RawLwLock::new(Membership::NONE);
    lock.lock(Exclusive);
    lock
}

fn queued(lock: &RawLwLock, mode: Mode) -> (Arc<Waiter>, Ticket) {
    let waiter = Waiter::new(mode);
    let place = lock.enqueue(&waiter, mode, None, 0).expect("the lock is held");
    (waiter, place)
}

#[test]
fn the_eighth_lost_race_forbids_barging_and_none_before() {
    let lock = held();
    let (waiter, place) = queued(&lock, Exclusive);
    for lost in 1..=LOST_RACES {
        assert!(!lock.state().no_barging(), "before the {lost}th");
        assert_eq!(lock.enqueue(&waiter, Exclusive, Some(place), lost), Some(place));
    }
    queued(&lock, Shared);
    assert!(lock.state().no_barging(), "also when others queue");
    assert_eq!(lock.queue.lock().get_or_insert_default().len(), 2, "in its old place");
}

#[test]
fn who_insists_takes_a_free_lock_and_leaves_the_queue_to_the_others() {
    for others in 0..3 {
        let lock = held();
        let (waiter, place) = queued(&lock, Exclusive);
        (0..others).for_each(|_| drop(queued(&lock, Shared)));
        // A release that has not looked at the queue yet.
        let state = lock.state();
        assert!(lock.exchange(state, state.without_writer(), Ordering::Relaxed).is_ok());
        assert!(matches!(lock.insist(&waiter, Exclusive, place), Insisted::Owner));
        let state = lock.state();
        assert_eq!((state.is_write_locked(), state.has_waiters()), (true, others != 0));
        assert_eq!(lock.queue.lock().get_or_insert_default().len(), others);
    }
}

#[test]
fn who_insists_gets_the_lock_from_the_next_release_and_asks_only_once() {
    let lock = held();
    let (waiter, place) = queued(&lock, Exclusive);
    let insist = || lock.insist(&waiter, Exclusive, place);
    lock.queue.lock().get_or_insert_default().rest = Some(Deadline::NEVER);
    assert!(matches!(insist(), Insisted::Asked), "others have had a hand-over not long ago");
    assert!(!lock.state().no_barging());
    lock.queue.lock().get_or_insert_default().rest = None;
    assert!(matches!(insist(), Insisted::Asked));
    assert!(lock.state().no_barging());
    lock.queue.lock().get_or_insert_default().rest = None;
    assert!(matches!(insist(), Insisted::AskedBefore));

    lock.unlock_exclusive();
    assert_eq!(waiter.signal(), Signal::Done);
    let state = lock.state();
    assert_eq!((state.is_write_locked(), state.has_waiters(), state.no_barging()), (true, false, false));
    lock.queue.lock().get_or_insert_default().rest = None;
    assert!(matches!(insist(), Insisted::Asked), "it owns the lock");
    assert!(!lock.state().no_barging(), "which nobody waits for");
    assert!(lock.leave(&waiter, place), "nor does it give up any more");
}

#[test]
fn a_woken_waiter_that_gives_up_wakes_the_next() {
    let lock = held();
    let ((first, place), (second, _)) = (queued(&lock, Exclusive), queued(&lock, Exclusive));
    lock.unlock_exclusive();
    assert_eq!((first.signal(), second.signal()), (Signal::Again, Signal::Wait));
    first.sleep(Deadline::NEVER); // returns, for it was woken
    let state = lock.state();
    assert_eq!((state.is_waking(), state.has_waiters(), state.no_barging()), (true, true, false));
    assert!(!lock.leave(&first, place));
    assert_eq!(second.signal(), Signal::Again);
    second.sleep(Deadline::NEVER);
    let state = lock.state();
    assert_eq!((state.is_locked(), state.is_waking(), state.has_waiters()), (false, true, false));
}

#[cfg(debug_assertions)]
#[test]
fn a_hold_that_was_waited_for_counts_as_one_of_the_thread() {
    let lock = held();
    thread::scope(|s| {
        let waiter = s.spawn(|| {
            lock.lock(Exclusive);
            lock.id.assert_not_held("write");
        });
        while !lock.state().has_waiters() {
            thread::yield_now();
        }
        lock.unlock_exclusive();
        assert!(waiter.join().is_err(), "it does hold the lock");
    });
}
