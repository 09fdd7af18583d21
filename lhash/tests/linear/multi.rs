//! The same for a multimap: what a key is, when one operation runs at a time, and the rounds.
//!
//! Every value of a round is another one, below 32: so a key's values are the bits of a word. `remove_all` and `vacuum` go
//! entry by entry, which is not one step; they are let loose on values that the history is not about.

use crate::checker::{applied, is_linearizable};
use crate::common::{Masked, Rng, StartLine};
use crate::play::{Shape, crowd_key};
use lhash::{LHashMultiMap, ShrinkPolicy, Stats};
use std::thread;
use std::time::Instant;
use todc_utils::specifications::Specification;

type Map = LHashMultiMap<u32, u32, Masked>;

/// Values from here on are none of the history's.
const OTHERS: u32 = 32;

/// An operation on a key, and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// `get_all`: all values, as bits.
    All(u32, u32),
    /// `count`.
    Count(u32, u32),
    /// `contains`.
    Has(u32, bool),
    /// `insert`: the value.
    Insert(u32, u32),
    /// `remove_one`: the value, and whether it was there.
    Remove(u32, u32, bool),
}

impl Op {
    fn key(self) -> u32 {
        match self {
            Self::All(key, _)
            | Self::Count(key, _)
            | Self::Has(key, _)
            | Self::Insert(key, _)
            | Self::Remove(key, ..) => key,
        }
    }

    /// The key's values after the operation; `None` if the result can't be.
    fn after(self, values: u32) -> Option<u32> {
        let (is_right, after) = match self {
            Self::All(_, all) => (all == values, values),
            Self::Count(_, count) => (count == values.count_ones(), values),
            Self::Has(_, has) => (has == (values != 0), values),
            Self::Insert(_, value) => (values & 1 << value == 0, values | 1 << value),
            Self::Remove(_, value, was) => (was == (values & 1 << value != 0), values & !(1 << value)),
        };
        is_right.then_some(after)
    }
}

/// An operation with the time of its call and of its return.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) op: Op,
    pub(crate) call: u64,
    pub(crate) end: u64,
}

struct OneKey;

impl Specification for OneKey {
    type State = u32;
    type Operation = Op;

    fn init() -> u32 {
        0
    }

    fn apply(op: &Op, state: &u32) -> (bool, u32) {
        applied(op.after(*state), state)
    }
}

/// The first key whose history is not linearizable.
pub(crate) fn fault(history: &[Event], keys: u32) -> Option<u32> {
    (0..keys).find(|&key| {
        let of_key = history.iter().filter(|event| event.op.key() == key);
        let steps: Vec<_> = of_key.map(|&Event { op, call, end }| (op, call, end)).collect();
        !is_linearizable::<OneKey>(&steps)
    })
}

fn map(shape: &Shape) -> Map {
    let builder = LHashMultiMap::builder().fill_factor(shape.fill_factor).count_policy(shape.policy);
    let builder = builder.shrink(ShrinkPolicy::Below { percent: 90 });
    let map = builder.hasher(shape.hasher).build().expect("valid");
    let filler = |filler: u32| (shape.key((1 << 20) + filler % 16), OTHERS + filler);
    map.pin().extend((0..shape.fillers).map(filler));
    map
}

/// One call; `value` is no other call's of the round.
fn make(shape: &Shape, map: &Map, value: u32, rng: &mut Rng) -> Op {
    let number = rng.below(shape.keys);
    let (pin, key) = (map.pin(), shape.key(number));
    match rng.below(8) {
        0..3 => {
            pin.insert(key, value);
            Op::Insert(number, value)
        }
        3 | 4 => {
            let value = rng.below(shape.steps * shape.threads);
            Op::Remove(number, value, pin.remove_one(&key, &value).is_some())
        }
        5 => Op::Count(number, pin.count(&key) as u32),
        6 => Op::Has(number, pin.contains(&key)),
        _ => Op::All(number, pin.get_all(&key).fold(0, |all, &value| all | 1 << value)),
    }
}

/// Changes where entries are, and nothing that the history is about.
fn disturb(shape: &Shape, map: &Map, rng: &mut Rng) {
    let pin = map.pin();
    match rng.below(4) {
        0 => map.pin().shrink_to_fit(),
        1 => _ = pin.vacuum(|_, &value| value >= OTHERS && value % 2 == 0),
        2 => _ = pin.remove_all(&shape.key((1 << 20) + rng.below(16))),
        _ => pin.extend((0..16).map(|n| (shape.key((1 << 20) + n), OTHERS + n))),
    }
}

/// A history, and the figures of the table before and after.
pub(crate) type Played = (Vec<Event>, Stats, Stats);

/// Plays `rounds` rounds, each on a multimap of its own.
pub(crate) fn play(shape: Shape, rounds: usize, rng: &mut Rng) -> Vec<Played> {
    let clock = Instant::now();
    let now = || clock.elapsed().as_nanos() as u64;
    let maps: Vec<Map> = (0..rounds).map(|_| map(&shape)).collect();
    let before: Vec<Stats> = maps.iter().map(Map::stats).collect();
    let line = StartLine::new(shape.threads as usize);
    let mut histories = vec![Vec::new(); rounds];
    thread::scope(|s| {
        let part = |thread: u32| {
            let (mut rng, maps, line) = (rng.split(), &maps, &line);
            s.spawn(move || -> Vec<Vec<Event>> {
                let _others = line.break_on_panic();
                let round = |map| {
                    line.wait();
                    let event = |step| {
                        if rng.below(16) < shape.resizes {
                            disturb(&shape, map, &mut rng);
                        }
                        let call = now();
                        let op = make(&shape, map, thread * shape.steps + step, &mut rng);
                        Event { op, call, end: now() }
                    };
                    (0..shape.steps).map(event).collect()
                };
                maps.iter().map(round).collect()
            })
        };
        for thread in (0..shape.threads).map(part).collect::<Vec<_>>() {
            let recorded = thread.join().expect("no operation panics");
            histories.iter_mut().zip(recorded).for_each(|(history, events)| history.extend(events));
        }
    });
    let after = maps.iter().map(Map::stats);
    let played = histories.into_iter().zip(before.into_iter().zip(after));
    played.map(|(history, (before, after))| (history, before, after)).collect()
}

#[test]
fn the_checker_knows_a_key_of_many_values() {
    use Op::{All, Count, Has, Insert, Remove};
    let history = |ops: &[(Op, u64, u64)]| -> Vec<Event> {
        ops.iter().map(|&(op, call, end)| Event { op, call, end }).collect()
    };
    let (one, two) = ((Insert(0, 1), 0, 1), (Insert(0, 2), 2, 3));
    assert_eq!(fault(&history(&[one, two, (All(0, 0b110), 4, 5), (Count(0, 2), 6, 7)]), 2), None);
    assert_eq!(fault(&history(&[one, two, (All(0, 0b010), 2, 5), (Has(1, false), 2, 5)]), 2), None);
    assert_eq!(fault(&history(&[one, (Remove(0, 1, true), 2, 3), (Has(0, false), 4, 5)]), 2), None);
    for wrong in [All(0, 0b010), Count(0, 1), Has(0, false), Insert(0, 1), Remove(0, 3, true)] {
        assert_eq!(fault(&history(&[one, two, (wrong, 4, 5)]), 2), Some(0), "{wrong:?}");
    }
    // Two lookups, one after the other, that see two inserts in different orders.
    let both = [(Insert(0, 1), 0, 9), (Insert(0, 2), 0, 9), (All(0, 0b010), 1, 2), (All(0, 0b100), 3, 4)];
    assert_eq!(fault(&history(&both), 2), Some(0));
}

#[test]
fn a_crowd_lies_in_one_bucket() {
    assert!((0..16).all(|number| crowd_key(number) % 16 == 12));
}
