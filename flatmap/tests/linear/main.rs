//! Linearizability: many short rounds of a few threads on small tables are recorded and checked, key by key,
//! slot by slot, and as a whole. The checker is the one of `todc-utils` (Wing and Gong 1993, Lowe 2017).
//!
//! `FLATMAP_LINEAR_ROUNDS` sets the number of rounds (default: a few thousand); they go on until they have met
//! what they are for. `FLATMAP_SEED` repeats their plans, though not how the threads meet.
#![cfg(not(all(loom, feature = "loom")))]

mod checker;
#[path = "../common/mod.rs"]
mod common;
mod play;
mod spec;

use common::{Rng, watched};
use play::{Shape, play};
use spec::{Event, Op, fault};
use std::env;

/// What the rounds met.
#[derive(Debug, Default)]
struct Met {
    rounds: usize,
    operations: usize,
    overlaps: usize,
    reused_slots: usize,
    retried: u64,
    fallbacks: u64,
    fallback_hits: u64,
    splits: u64,
    merges: u64,
}

impl Met {
    /// Whether the rounds met what they are for: threads that meet, slots that are used again, torn walks, resizing.
    fn enough(&self) -> bool {
        let met = self.overlaps > 0 && self.reused_slots > 0 && self.retried > 0 && self.fallback_hits > 0;
        met && self.splits > 1000 && self.merges > 1000
    }

    fn count(&mut self, history: &[Event]) {
        self.rounds += 1;
        self.operations += history.len();
        let mut by_time: Vec<_> = history.to_vec();
        by_time.sort_by_key(|event| event.call);
        self.overlaps += by_time.windows(2).filter(|pair| pair[1].call < pair[0].end).count();
        let mut last_key = [None; 8];
        for event in by_time {
            if let Op::Inserted(key, slot) = event.op {
                let before = last_key[slot as usize].replace(key);
                self.reused_slots += usize::from(before.is_some_and(|before| before != key));
            }
        }
    }
}

#[test]
fn every_recorded_history_is_linearizable() {
    const ROUNDS_OF_A_SHAPE: usize = 50;
    let rounds = match env::var("FLATMAP_LINEAR_ROUNDS") {
        Ok(rounds) => rounds.parse().expect("FLATMAP_LINEAR_ROUNDS is a number"),
        Err(_) if cfg!(debug_assertions) => 4_000,
        Err(_) => 20_000,
    };
    let mut rng = Rng::for_test("linear");
    let mut met = Met::default();
    while met.rounds < rounds || !met.enough() && met.rounds < 50 * rounds {
        let shape = Shape::random(&mut rng);
        let played = watched("linear", || play(shape, ROUNDS_OF_A_SHAPE, &mut rng));
        for history in &played.histories {
            met.count(history);
            if let Some(fault) = fault(history, shape.keys, shape.slots) {
                panic!("{fault} is not linearizable, {shape:?}:\n{}", listed(history));
            }
        }
        for stats in &played.stats {
            met.retried += stats.retried;
            met.fallbacks += stats.fallbacks;
            met.fallback_hits += stats.fallback_hits;
            met.splits += stats.splits;
            met.merges += stats.merges;
        }
    }
    eprintln!("{met:?}");
    assert!(met.enough(), "the rounds do not meet what they are for: {met:?}");
}

fn listed(history: &[Event]) -> String {
    let mut by_time = history.to_vec();
    by_time.sort_by_key(|event| event.call);
    by_time.iter().map(|Event { op, call, end }| format!("{call:>12} {end:>12} {op:?}\n")).collect()
}

/// A history from operations with their times.
fn history(events: &[(Op, u64, u64)]) -> Vec<Event> {
    events.iter().map(|&(op, call, end)| Event { op, call, end }).collect()
}

#[track_caller]
fn is_good(events: &[(Op, u64, u64)]) {
    assert_eq!(fault(&history(events), 3, 3), None);
}

#[track_caller]
fn is_bad(what: &str, events: &[(Op, u64, u64)]) {
    assert_eq!(fault(&history(events), 3, 3).as_deref(), Some(what));
}

#[test]
fn the_checker_accepts_what_happens_one_after_the_other() {
    is_good(&[]);
    is_good(&[
        (Op::Get(0, None), 0, 1),
        (Op::KeyOf(2, None), 2, 3),
        (Op::Inserted(0, 2), 4, 5),
        (Op::Get(0, Some(2)), 6, 7),
        (Op::KeyOf(2, Some(0)), 8, 9),
        (Op::Holds(2, 0, true), 10, 11),
        (Op::Holds(2, 1, false), 12, 13),
        (Op::KeyExists(0, 2), 14, 15),
        (Op::SlotOccupied(1, 2), 16, 17),
        (Op::NotThere(1, 0), 18, 19),
        (Op::Removed(0, 2), 20, 21),
        (Op::Inserted(1, 2), 22, 23),
        (Op::Get(0, None), 24, 25),
    ]);
}

#[test]
fn the_checker_accepts_either_result_during_a_change() {
    let during_insert = |op| is_good(&[(Op::Inserted(0, 1), 10, 20), (op, 12, 15)]);
    during_insert(Op::Get(0, None));
    during_insert(Op::Get(0, Some(1)));
    during_insert(Op::KeyOf(1, None));
    during_insert(Op::KeyOf(1, Some(0)));
    during_insert(Op::SlotOccupied(2, 1));
    let during_remove =
        |op| is_good(&[(Op::Inserted(0, 1), 0, 1), (Op::Removed(0, 1), 10, 20), (op, 12, 15)]);
    during_remove(Op::Get(0, None));
    during_remove(Op::Holds(1, 0, true));
    during_remove(Op::SlotOccupied(2, 1));
    during_remove(Op::Inserted(2, 1));
    // Times that are equal overlap.
    is_good(&[(Op::Inserted(0, 1), 10, 20), (Op::Get(0, None), 20, 30)]);
}

#[test]
fn the_checker_rejects_a_stale_result() {
    let mapped = (Op::Inserted(0, 1), 0, 1);
    let removed = (Op::Removed(0, 1), 2, 3);
    is_bad("key 0", &[mapped, (Op::Get(0, None), 2, 3)]);
    is_bad("key 0", &[mapped, (Op::Get(0, Some(2)), 2, 3)]);
    is_bad("key 0", &[mapped, removed, (Op::Get(0, Some(1)), 4, 5)]);
    is_bad("key 0", &[mapped, removed, (Op::Holds(1, 0, true), 4, 5)]);
    is_bad("key 0", &[mapped, removed, (Op::Removed(0, 1), 4, 5)]);
    is_bad("key 0", &[mapped, (Op::NotThere(1, 0), 4, 5)]);
    is_bad("key 0", &[mapped, (Op::KeyOf(1, None), 4, 5)]);
    is_bad("slot 1", &[mapped, removed, (Op::SlotOccupied(2, 1), 4, 5)]);
    is_bad("slot 1", &[mapped, (Op::Inserted(2, 1), 4, 5)]);
}

#[test]
fn the_checker_rejects_two_winners() {
    is_bad("key 0", &[(Op::Inserted(0, 1), 0, 9), (Op::Inserted(0, 2), 0, 9)]);
    is_bad("slot 1", &[(Op::Inserted(0, 1), 0, 9), (Op::Inserted(2, 1), 0, 9)]);
    let mapped = (Op::Inserted(0, 1), 0, 1);
    is_bad("key 0", &[mapped, (Op::Removed(0, 1), 2, 9), (Op::Removed(0, 1), 2, 9)]);
}

#[test]
fn the_checker_rejects_time_that_runs_backwards() {
    // Both lookups overlap the insert, and one ends before the other begins.
    let insert = (Op::Inserted(0, 1), 0, 100);
    is_good(&[insert, (Op::Get(0, None), 1, 2), (Op::Get(0, Some(1)), 3, 4)]);
    is_bad("key 0", &[insert, (Op::Get(0, Some(1)), 1, 2), (Op::Get(0, None), 3, 4)]);
    is_bad(
        "slot 1",
        &[insert, (Op::SlotOccupied(2, 1), 1, 2), (Op::Inserted(2, 1), 3, 4), (Op::Removed(2, 1), 5, 6)],
    );
}

#[test]
fn the_checker_rejects_facts_that_never_held_at_one_moment() {
    // The refused insert says that slot 1 was taken and key 2 not mapped. Each was so, but not together.
    let events = [
        (Op::Inserted(2, 0), 0, 1),
        (Op::Inserted(0, 1), 2, 3),
        (Op::SlotOccupied(2, 1), 4, 9),
        (Op::Removed(0, 1), 5, 6),
        (Op::Removed(2, 0), 7, 8),
    ];
    is_bad("the whole table", &events);
    let swapped = events.map(|(op, call, end)| if call == 7 { (op, 4, end) } else { (op, call, end) });
    is_good(&swapped);
}
