//! Doing the operations on the multimap and on the model, and comparing.

use std::collections::BTreeMap;
use std::thread;

use lhash::{LHashMultiMap, PinnedMulti};

use super::multi::Op;
use super::{Setup, busy, check_stats, key, most_after_shrinking};
use crate::map::Hashing;

/// A value in memory of its own, so that one that is read after its end is noticed.
type Value = Box<u32>;

type Map<const N: usize> = LHashMultiMap<u64, Value, Hashing, N>;
type Pin<'a, const N: usize> = PinnedMulti<'a, u64, Value, Hashing, N>;

/// The values of each key, sorted.
#[derive(Default)]
struct Model(BTreeMap<u64, Vec<u32>>);

impl Model {
    fn of(&self, key: u64) -> &[u32] {
        self.0.get(&key).map_or(&[], Vec::as_slice)
    }

    fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    fn insert(&mut self, key: u64, value: u32) {
        let values = self.0.entry(key).or_default();
        values.insert(values.partition_point(|&other| other < value), value);
    }

    fn remove_one(&mut self, key: u64, value: u32) -> Option<u32> {
        let values = self.0.get_mut(&key)?;
        Some(values.remove(values.iter().position(|&other| other == value)?))
    }

    fn entries(&self) -> Vec<(u64, u32)> {
        self.0.iter().flat_map(|(key, values)| values.iter().map(|value| (*key, *value))).collect()
    }
}

/// The most operations that one other thread does.
const MAX_STEPS: u8 = 16;

/// Few values, so that a key has some of them twice.
fn value(byte: u8) -> u32 {
    u32::from(byte % 8)
}

/// The multimap with its model.
struct State<'a, const N: usize> {
    setup: &'a Setup,
    map: Map<N>,
    model: Model,
    /// How many buckets the multimap had at first.
    start: u64,
    /// Whether no thread's counts may be lost: the prototype's hole.
    counts_all: bool,
}

/// Builds the multimap and does `ops`.
pub(super) fn run<const N: usize>(setup: &Setup, ops: &[Op]) {
    let Some(mut state) = State::<N>::new(setup) else { return };
    state.all(ops);
    iterate(&state.map, &state.model);
    state.shape();
}

impl<'a, const N: usize> State<'a, N> {
    fn new(setup: &'a Setup) -> Option<Self> {
        let map: Map<N> = setup.built(setup.builder(LHashMultiMap::builder()).build())?;
        let start = map.stats().primary_pages;
        let counts_all = map.stats().max_lag.is_some();
        Some(Self { setup, map, model: Model::default(), start, counts_all })
    }

    fn all(&mut self, mut ops: &[Op]) {
        while !ops.is_empty() {
            let done = self.under_one_pin(ops);
            let last = ops[done - 1];
            ops = &ops[done..];
            match last {
                Op::Shrink { .. } => self.shrink(),
                Op::Renew { some } => self.renew(some),
                Op::Elsewhere { steps } => {
                    let (there, here) = ops.split_at(usize::from(steps % MAX_STEPS).min(ops.len()));
                    thread::scope(|s| {
                        let thread = s.spawn(|| self.all(there));
                        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                    });
                    ops = here;
                }
                _ => {}
            }
        }
    }

    /// Runs until an operation needs the multimap without a pin; returns how many were done.
    fn under_one_pin(&mut self, ops: &[Op]) -> usize {
        let Self { setup, map, model, start, counts_all } = self;
        let pin = map.pin();
        let mut scene = Scene { pin: &pin, model, seen: Vec::new() };
        let mut forced = None;
        let mut done = ops.len();
        for (at, &op) in ops.iter().enumerate() {
            match op {
                Op::Shrink { pinned } if pinned % 2 == 1 => map.pin().shrink_to_fit(),
                Op::Repin | Op::Shrink { .. } | Op::Renew { .. } | Op::Elsewhere { .. } => {
                    done = at + 1;
                    break;
                }
                Op::Busy { point, outcomes } => {
                    drop(forced.take());
                    forced = Some(busy(point, outcomes));
                }
                Op::ExactLen if *counts_all => assert_eq!(map.exact_len(), scene.model.len()),
                Op::ExactLen => _ = map.exact_len(),
                Op::Iterate => iterate(map, scene.model),
                Op::Shape => shape(setup, map, scene.model, *start, *counts_all),
                _ => scene.act(op),
            }
            assert!(!*counts_all || map.len() == scene.model.len(), "{op:?}");
        }
        scene.look_again();
        done
    }

    fn shrink(&mut self) {
        self.map.pin().shrink_to_fit();
        let buckets = self.map.stats().primary_pages;
        let most = most_after_shrinking(self.setup, self.model.len());
        assert!(!self.counts_all || buckets <= most, "{buckets} buckets are left, {most} needed");
    }

    /// Takes some entries out of the multimap, the others end with it.
    fn renew(&mut self, some: u8) {
        let Some(next) = Self::new(self.setup) else { return };
        let mut before = std::mem::replace(self, next);
        let all = before.model.len();
        let mut taken = 0;
        for (key, value) in before.map.into_iter().take(usize::from(some)) {
            assert_eq!(before.model.remove_one(key, *value), Some(*value));
            taken += 1;
        }
        assert_eq!(taken, all.min(usize::from(some)));
    }

    fn shape(&self) {
        shape(self.setup, &self.map, &self.model, self.start, self.counts_all);
    }
}

fn iterate<const N: usize>(map: &Map<N>, model: &Model) {
    let mut entries: Vec<(u64, u32)> = map.pin().iter().map(|(key, value)| (*key, **value)).collect();
    entries.sort_unstable();
    assert_eq!(entries, model.entries());
    assert!(format!("{map:?}").matches(": ").count() == entries.len());
}

fn shape<const N: usize>(setup: &Setup, map: &Map<N>, model: &Model, start: u64, counts_all: bool) {
    check_stats(setup, &map.stats(), model.len(), start);
    assert!(!counts_all || map.is_empty() == (model.len() == 0));
    assert_eq!(map.validate(), Ok(()));
}

/// What happens under one pin.
struct Scene<'p, 'a, const N: usize> {
    pin: &'p Pin<'a, N>,
    model: &'p mut Model,
    /// References that were found, with what they led to: entries never change.
    seen: Vec<(&'p u32, u32)>,
}

impl<'p, const N: usize> Scene<'p, '_, N> {
    fn look_again(&self) {
        assert!(self.seen.iter().all(|(now, then)| **now == *then), "an entry has changed under a pin");
    }

    fn see(&mut self, found: &'p u32) {
        self.seen.push((found, *found));
    }

    fn act(&mut self, op: Op) {
        let pin = self.pin;
        match op {
            Op::Get { key: k } => self.get(key(k)),
            Op::Insert { key: k, value: v } => {
                pin.insert(key(k), Box::new(value(v)));
                self.model.insert(key(k), value(v));
            }
            Op::RemoveOne { key: k, value: v } => {
                let removed = pin.remove_one(&key(k), &Box::new(value(v)));
                let expected = self.model.remove_one(key(k), value(v));
                assert_eq!(removed.map(|value| **value), expected);
                removed.into_iter().for_each(|value| self.see(value));
            }
            Op::RemoveAll { key: k } => {
                let expected = self.model.0.remove(&key(k)).map_or(0, |values| values.len());
                assert_eq!(pin.remove_all(&key(k)), expected);
            }
            Op::Vacuum { modulus, rest } => self.vacuum(modulus, rest),
            Op::Extend { first, count, spread } => {
                let entry =
                    |n: u8| (key(if spread % 2 == 0 { first } else { first.wrapping_add(n) }), value(n));
                pin.extend((0..count % 32).map(|n| (entry(n).0, Box::new(entry(n).1))));
                (0..count % 32).for_each(|n| self.model.insert(entry(n).0, entry(n).1));
            }
            other => unreachable!("{other:?} is not done under a pin"),
        }
    }

    fn get(&mut self, key: u64) {
        let expected = self.model.of(key);
        let mut found: Vec<u32> = self.pin.get_all(&key).map(|value| **value).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(self.pin.count(&key), expected.len());
        assert_eq!(self.pin.contains(&key), !expected.is_empty());
    }

    fn vacuum(&mut self, modulus: u8, rest: u8) {
        let modulus = u32::from(modulus.max(1));
        let is_dead = |value: u32| value % modulus == u32::from(rest) % modulus;
        let before = self.model.len();
        let vacuumed = self.pin.vacuum(|_, value| is_dead(**value));
        self.model.0.values_mut().for_each(|values| values.retain(|&value| !is_dead(value)));
        let live = self.model.len();
        assert_eq!((vacuumed.removed, vacuumed.live), ((before - live) as u64, live as u64));
        assert_eq!(self.pin.len(), live, "a vacuum puts the count right, whatever the policy");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "left == right")]
    fn a_value_that_is_there_once_too_often_is_noticed() {
        let setup = Setup::decode([1, 1, 1, 4, 1, 50, 1, 0]);
        let mut state = State::<2>::new(&setup).expect("valid");
        state.all(&[Op::Insert { key: 3, value: 4 }, Op::Get { key: 3 }]);
        state.model.insert(key(3), 4);
        state.all(&[Op::Get { key: 3 }]);
    }
}
