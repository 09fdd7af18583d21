//! What a release does for each queue, and how many it leaves.

use super::{Plan, Queue, Waiter, Wakes};
use crate::lwlock::state::{Mode, State};

/// A queue with a reader for each `r` and a writer for each `w`, in this order.
fn queue(waiters: &str) -> Queue {
    let mut queue = Queue::default();
    for letter in waiters.chars() {
        let mode = if letter == 'w' { Mode::Exclusive } else { Mode::Shared };
        queue.insert(&Waiter::new(mode), None);
    }
    queue
}

#[test]
fn where_barging_is_allowed_one_class_is_woken_and_tries_again() {
    let held = State::FREE.with_readers(1);
    for (waiters, state, plan) in [
        ("", State::FREE, Plan::Nothing),
        ("w", State::FREE, Plan::WakeWriter),
        ("wr", State::FREE, Plan::WakeWriter),
        ("r", State::FREE, Plan::WakeReaders),
        ("rw", State::FREE, Plan::WakeReaders),
        // Readers hold it: a writer would sleep again, readers come in, also from behind a writer.
        ("w", held, Plan::Nothing),
        ("wr", held, Plan::WakeReaders),
        ("rw", held, Plan::WakeReaders),
        // Somebody woken will try again: for the free lock that is enough, a held one has room for readers.
        ("w", State::FREE.waking(true), Plan::Nothing),
        ("r", State::FREE.waking(true), Plan::Nothing),
        ("r", held.waking(true), Plan::WakeReaders),
        ("w", held.waking(true), Plan::Nothing),
    ] {
        assert_eq!(queue(waiters).plan(state), plan, "{waiters:?} in {:#x}", state.bits());
    }
}

#[test]
fn where_barging_is_forbidden_the_first_writer_or_the_leading_readers_get_the_lock() {
    let free = State::FREE.barging_forbidden(true);
    let one_less_than_full = free.with_readers(State::MAX_READERS - 1);
    for (waiters, state, plan) in [
        ("", free, Plan::Nothing),
        ("w", free, Plan::Hand(Mode::Exclusive, 1)),
        ("wwr", free.waking(true), Plan::Hand(Mode::Exclusive, 1)),
        ("w", free.with_readers(1), Plan::Nothing),
        ("wr", free.with_readers(1), Plan::Nothing),
        ("r", free, Plan::Hand(Mode::Shared, 1)),
        ("rrwr", free, Plan::Hand(Mode::Shared, 2)),
        ("rrwr", free.with_readers(5), Plan::Hand(Mode::Shared, 2)),
        ("rrr", one_less_than_full, Plan::Hand(Mode::Shared, 1)),
    ] {
        assert_eq!(queue(waiters).plan(state), plan, "{waiters:?} in {:#x}", state.bits());
    }
}

#[test]
fn a_plan_leaves_as_many_waiters_as_it_says() {
    let plans = [
        Plan::Nothing,
        Plan::WakeWriter,
        Plan::WakeReaders,
        Plan::Hand(Mode::Shared, 2),
        Plan::Hand(Mode::Exclusive, 1),
    ];
    for (plan, left) in plans.into_iter().zip([5, 4, 2, 3, 4]) {
        let mut queue = queue("rrwrw");
        assert_eq!((queue.len(), queue.len_after(plan)), (5, left), "{plan:?}");
        let mut wakes = Wakes::default();
        queue.carry_out(plan, &mut wakes);
        assert_eq!((queue.len(), wakes.0.len()), (left, 5 - left), "{plan:?}");
        wakes.send();
    }
}
