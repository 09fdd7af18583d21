//! From exclusive to shared, with nobody in between.

use crate::{Seen, at_rest, behind, explore, explore_within, new_lock, read, task, together, write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use sync::prim::{Deadline, Parker, yield_now};
use sync::{LwLock, WriteGuard};

#[test]
fn no_writer_gets_in_before_a_downgraded_hold_ends() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, seen| {
                let mut guard = lock.write();
                let before = *guard;
                *guard += 1;
                let guard = guard.downgrade();
                assert_eq!(*guard, before + 1, "somebody wrote between");
                seen.note(before.to_string());
            }),
            task(&lock, seen, |lock, _| {
                write(lock);
            }),
        ]);
        at_rest(&lock);
    });
    seen.must_be(&["0", "1"]);
}

/// Downgrades, and stays until as many readers have come as there are gates.
fn let_in(guard: WriteGuard<'_, u32>, gates: &[Arc<Parker>]) {
    let guard = guard.downgrade();
    for gate in gates {
        gate.park(Deadline::NEVER);
    }
    drop(guard);
}

fn come_in(gate: &Arc<Parker>) -> impl FnOnce(&LwLock<u32>, &Seen) + use<> {
    let gate = gate.clone();
    move |lock, seen| {
        seen.note(read(lock).to_string());
        gate.unpark();
    }
}

fn new_gates<const N: usize>() -> [Arc<Parker>; N] {
    [(); N].map(|()| Arc::new(Parker::for_this_thread()))
}

#[test]
fn a_downgrade_lets_a_queued_reader_in() {
    let seen = explore(|seen| {
        let lock = new_lock();
        let gates = new_gates::<1>();
        let reader = task(&lock, seen, come_in(&gates[0]));
        let writer = task(&lock, seen, move |lock, _| {
            let mut guard = lock.write();
            *guard += 1;
            let_in(guard, &gates);
        });
        together([writer, reader]);
        at_rest(&lock);
    });
    seen.must_be(&["0", "1"]);
}

#[test]
fn a_downgrade_lets_two_queued_readers_in() {
    let seen = explore_within(2, |seen| {
        let lock = new_lock();
        let gates = new_gates::<2>();
        let readers = [0, 1].map(|i| task(&lock, seen, come_in(&gates[i])));
        let writer = move |lock: &LwLock<u32>, start: &dyn Fn()| {
            let mut guard = lock.write();
            start();
            *guard += 1;
            let_in(guard, &gates);
        };
        behind(&lock, writer, readers);
        at_rest(&lock);
    });
    seen.must_be(&["1"]);
}

#[test]
fn a_downgrade_lets_readers_in_while_another_is_on_its_way() {
    let seen = explore_within(2, |seen| {
        let lock = new_lock();
        let gates = new_gates::<2>();
        let readers = [0, 1].map(|i| task(&lock, seen, come_in(&gates[i])));
        let writer = move |lock: &LwLock<u32>, start: &dyn Fn()| {
            let mut guard = lock.write();
            start();
            *guard += 1;
            drop(guard);
            let mut guard = lock.write();
            *guard += 1;
            let_in(guard, &gates);
        };
        behind(&lock, writer, readers);
        at_rest(&lock);
    });
    seen.must_be(&["1", "2"]);
}

#[test]
fn a_downgrade_that_wakes_watchers_publishes_the_section_to_passers_by() {
    let seen = explore(|seen| {
        let lock = new_lock();
        together([
            task(&lock, seen, |lock, _| {
                let mut guard = lock.write();
                *guard += 1;
                drop(guard.downgrade());
            }),
            task(&lock, seen, |lock, seen| {
                let taken = lock.write_or_wait().is_some();
                seen.note(if taken { "took it" } else { "waited" });
            }),
            task(&lock, seen, |lock, seen| {
                if let Some(guard) = lock.try_read() {
                    seen.note(format!("read {}", *guard));
                }
            }),
        ]);
    });
    seen.must_be(&["read 0", "read 1", "took it", "waited"]);
}

#[test]
fn a_downgrade_ends_the_hold_for_those_who_wait_for_that() {
    let seen = explore(|seen| {
        let lock = new_lock();
        let stays = Arc::new(AtomicBool::new(false));
        let stayed = stays.clone();
        let writer = move |lock: &LwLock<u32>, start: &dyn Fn()| {
            let guard = lock.write();
            start();
            let guard = guard.downgrade();
            // Outside of the model: only what the executions came to is of interest.
            stays.store(true, Ordering::Relaxed);
            yield_now();
            stays.store(false, Ordering::Relaxed);
            drop(guard);
        };
        let watcher = task(&lock, seen, move |lock, seen| match lock.write_or_wait() {
            Some(_) => seen.note("took it"),
            None if stayed.load(Ordering::Relaxed) => seen.note("waited for the downgrade"),
            None => seen.note("waited"),
        });
        behind(&lock, writer, [watcher]);
    });
    seen.must_be(&["took it", "waited", "waited for the downgrade"]);
}
