//! Linearizability: many short rounds of a few threads on small tables, which are split and merged meanwhile, are
//! recorded and checked key by key. (A map is linearizable if each key is: keys have nothing in common.) The checker
//! is the one that flatmap's histories go through.
//!
//! `LHASH_LINEAR_ROUNDS` sets the number of rounds (default: a few thousand); they go on until they have met what
//! they are for. `LHASH_SEED` repeats their plans, though not how the threads meet.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

mod checker;
#[path = "../common/mod.rs"]
mod common;
mod multi;
mod play;
mod spec;

use common::{Rng, watched};
use lhash::Stats;
use play::{Shape, play};
use spec::{Event, Op, fault};
use std::env;

/// What the rounds met.
#[derive(Debug, Default)]
struct Met {
    rounds: usize,
    operations: usize,
    overlaps: usize,
    /// Rounds with splits, merges, overflow pages between their first call and their last return.
    with_splits: usize,
    with_merges: usize,
    with_both: usize,
    with_overflow: usize,
    /// Updates that found the bucket changed and looked again.
    retried: u64,
}

impl Met {
    /// Whether the rounds met what they are for: threads that meet, and buckets that are split and merged.
    fn enough(&self) -> bool {
        self.overlaps > 0 && self.with_both > self.rounds / 20 && self.with_overflow > 0
    }

    /// A round, by the times of its calls and returns.
    fn count(&mut self, mut times: Vec<(u64, u64)>, before: &Stats, after: &Stats) {
        self.rounds += 1;
        self.operations += times.len();
        times.sort_unstable();
        self.overlaps += times.windows(2).filter(|pair| pair[1].0 < pair[0].1).count();
        let (splits, merges) = (after.splits > before.splits, after.merges > before.merges);
        self.with_splits += usize::from(splits);
        self.with_merges += usize::from(merges);
        self.with_both += usize::from(splits && merges);
        self.with_overflow += usize::from(before.overflow_pages + after.overflow_pages > 0);
    }
}

const ROUNDS_OF_A_SHAPE: usize = 50;

/// Whether so many rounds are enough.
fn rounds() -> usize {
    match env::var("LHASH_LINEAR_ROUNDS") {
        Ok(rounds) => rounds.parse().expect("LHASH_LINEAR_ROUNDS is a number"),
        Err(_) if cfg!(debug_assertions) => 4_000,
        Err(_) => 20_000,
    }
}

#[test]
fn every_recorded_history_is_linearizable() {
    let rounds = rounds();
    let mut rng = Rng::for_test("linear");
    let mut met = Met::default();
    let enough = |met: &Met| met.enough() && met.retried > 0;
    while met.rounds < rounds || !enough(&met) && met.rounds < 50 * rounds {
        let shape = Shape::random(&mut rng);
        let played = watched("linear", || play(shape, ROUNDS_OF_A_SHAPE, &mut rng));
        met.retried += played.retried;
        for (history, (before, after)) in played.histories.iter().zip(&played.stats) {
            met.count(history.iter().map(|event| (event.call, event.end)).collect(), before, after);
            if let Some(key) = fault(history, shape.keys) {
                panic!("key {key} is not linearizable, {shape:?}:\n{}", listed(history));
            }
        }
    }
    eprintln!("maps: {met:?}");
    assert!(enough(&met), "the rounds do not meet what they are for: {met:?}");
}

#[test]
fn every_recorded_history_of_a_multimap_is_linearizable() {
    let rounds = rounds();
    let mut rng = Rng::for_test("linear multimap");
    let mut met = Met::default();
    while met.rounds < rounds || !met.enough() && met.rounds < 50 * rounds {
        let shape = Shape::random(&mut rng);
        let played = watched("linear multimap", || multi::play(shape, ROUNDS_OF_A_SHAPE, &mut rng));
        for (history, before, after) in &played {
            met.count(history.iter().map(|event| (event.call, event.end)).collect(), before, after);
            if let Some(key) = multi::fault(history, shape.keys) {
                panic!("key {key} is not linearizable, {shape:?}:\n{history:#?}");
            }
        }
    }
    eprintln!("multimaps: {met:?}");
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
    assert_eq!(fault(&history(events), 3), None);
}

#[track_caller]
fn is_bad(key: u32, events: &[(Op, u64, u64)]) {
    assert_eq!(fault(&history(events), 3), Some(key));
}

#[test]
fn the_checker_accepts_what_happens_one_after_the_other() {
    is_good(&[]);
    is_good(&[
        (Op::Get(0, None), 0, 1),
        (Op::Update(0, None), 1, 2),
        (Op::Removed(0, None), 2, 3),
        (Op::Insert(0, 5, None), 4, 5),
        (Op::Get(0, Some(5)), 6, 7),
        (Op::Has(0, true), 8, 9),
        (Op::TryInsert(0, 6, Some(5)), 10, 11),
        (Op::Update(0, Some(1005)), 12, 13),
        (Op::Insert(0, 7, Some(1005)), 14, 15),
        (Op::Toggle(0, 9, Some(7)), 16, 17),
        (Op::Toggle(0, 9, None), 18, 19),
        (Op::Removed(0, Some(9)), 20, 21),
        (Op::TryInsert(0, 8, None), 22, 23),
        (Op::Get(0, Some(8)), 24, 25),
        (Op::Get(1, None), 24, 25),
    ]);
}

#[test]
fn the_checker_accepts_either_result_during_a_change() {
    let during = |change, op| is_good(&[(Op::Insert(0, 1, None), 0, 1), (change, 10, 20), (op, 12, 15)]);
    for seen in [Some(1), Some(2)] {
        during(Op::Insert(0, 2, Some(1)), Op::Get(0, seen));
        during(Op::Insert(0, 2, Some(1)), Op::TryInsert(0, 3, seen));
    }
    for seen in [Some(1), None] {
        during(Op::Removed(0, Some(1)), Op::Get(0, seen));
        during(Op::Toggle(0, 9, Some(1)), Op::Has(0, seen.is_some()));
    }
    during(Op::Update(0, Some(1001)), Op::Get(0, Some(1)));
}

#[test]
fn the_checker_rejects_a_stale_result() {
    let there = (Op::Insert(0, 1, None), 0, 1);
    let gone = (Op::Removed(0, Some(1)), 2, 3);
    is_bad(0, &[there, (Op::Get(0, None), 2, 3)]);
    is_bad(0, &[there, (Op::Get(0, Some(2)), 2, 3)]);
    is_bad(0, &[there, (Op::Has(0, false), 2, 3)]);
    is_bad(0, &[there, gone, (Op::Get(0, Some(1)), 4, 5)]);
    is_bad(0, &[there, gone, (Op::TryInsert(0, 2, Some(1)), 4, 5)]);
    is_bad(0, &[there, gone, (Op::Update(0, Some(1001)), 4, 5)]);
    is_bad(0, &[there, (Op::Insert(0, 2, None), 4, 5)]);
    is_bad(2, &[there, gone, (Op::Toggle(2, 9, Some(1)), 4, 5)]);
}

#[test]
fn the_checker_rejects_two_winners_and_a_lost_update() {
    let there = (Op::Insert(0, 1, None), 0, 1);
    is_bad(1, &[(Op::TryInsert(1, 1, None), 0, 9), (Op::TryInsert(1, 2, None), 0, 9)]);
    is_bad(0, &[there, (Op::Removed(0, Some(1)), 2, 9), (Op::Removed(0, Some(1)), 2, 9)]);
    is_bad(0, &[there, (Op::Update(0, Some(1001)), 2, 9), (Op::Update(0, Some(1001)), 2, 9)]);
    is_bad(0, &[there, (Op::Insert(0, 2, Some(1)), 2, 9), (Op::Insert(0, 3, Some(1)), 2, 9)]);
}

#[test]
fn the_checker_rejects_time_that_runs_backwards() {
    let insert = (Op::Insert(0, 1, None), 0, 100);
    is_good(&[insert, (Op::Get(0, None), 1, 2), (Op::Get(0, Some(1)), 3, 4)]);
    is_bad(0, &[insert, (Op::Get(0, Some(1)), 1, 2), (Op::Get(0, None), 3, 4)]);
}
