//! Doing the operations on the map and on the model, and comparing.

use std::collections::HashMap;
use std::thread;

use lhash::{Computed, LHashMap, OccupiedError, Operation, Pinned};

use super::map::Op;
use super::{Setup, busy, check_stats, key, most_after_shrinking};
use crate::map::Hashing;

/// A value in memory of its own, so that one that is read after its end is noticed.
type Value = Box<u32>;

type Map<const N: usize> = LHashMap<u64, Value, Hashing, N>;
type Pin<'a, const N: usize> = Pinned<'a, u64, Value, Hashing, N>;

/// The most operations that one other thread does.
const MAX_STEPS: u8 = 16;

fn value(byte: u8) -> Value {
    Box::new(u32::from(byte))
}

/// The map with its model.
struct State<'a, const N: usize> {
    setup: &'a Setup,
    map: Map<N>,
    model: HashMap<u64, u32>,
    /// How many buckets the map had at first.
    start: u64,
    /// Whether some thread's counts may be lost: the prototype's hole.
    counts_all: bool,
}

/// Builds the map and does `ops`.
pub(super) fn run<const N: usize>(setup: &Setup, ops: &[Op]) {
    let Some(mut state) = State::<N>::new(setup) else { return };
    state.all(ops);
    state.iterate();
    state.shape();
}

impl<'a, const N: usize> State<'a, N> {
    fn new(setup: &'a Setup) -> Option<Self> {
        let map: Map<N> = setup.built(setup.builder(LHashMap::builder()).build())?;
        let start = map.stats().primary_pages;
        let counts_all = map.stats().max_lag.is_some();
        Some(Self { setup, map, model: HashMap::new(), start, counts_all })
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

    /// Runs until an operation needs the map without a pin; returns how many were done.
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
                Op::Copy => copy(map, scene.model),
                Op::Shape => shape(setup, map, scene.model, *start, *counts_all),
                Op::Retain { .. } | Op::Clear | Op::Extend { .. } | Op::Reserve { .. } => scene.many(op),
                _ => scene.one(op),
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

    /// Takes some entries out of the map, the others end with it.
    fn renew(&mut self, some: u8) {
        let Some(next) = Self::new(self.setup) else { return };
        let before = std::mem::replace(self, next);
        let mut taken = 0;
        for (key, value) in before.map.into_iter().take(usize::from(some)) {
            assert_eq!(before.model.get(&key), Some(&*value));
            taken += 1;
        }
        assert_eq!(taken, before.model.len().min(usize::from(some)));
    }

    fn iterate(&self) {
        iterate(&self.map, &self.model);
    }

    fn shape(&self) {
        shape(self.setup, &self.map, &self.model, self.start, self.counts_all);
    }
}

fn iterate<const N: usize>(map: &Map<N>, model: &HashMap<u64, u32>) {
    let pin = map.pin();
    let mut entries: Vec<(u64, u32)> = pin.iter().map(|(key, value)| (*key, **value)).collect();
    entries.sort_unstable();
    let mut expected: Vec<(u64, u32)> = model.iter().map(|(key, value)| (*key, *value)).collect();
    expected.sort_unstable();
    assert_eq!(entries, expected);
    assert_eq!((pin.keys().count(), pin.values().count()), (entries.len(), entries.len()));
}

fn copy<const N: usize>(map: &Map<N>, model: &HashMap<u64, u32>) {
    let copy = map.clone();
    assert!(*map == copy || map.len() != copy.len(), "a clone has the same entries");
    assert_eq!(copy.validate(), Ok(()));
    let again: LHashMap<u64, Value> = map.clone().into_iter().collect();
    assert_eq!(again.len(), model.len());
    assert_eq!(again.validate(), Ok(()));
    assert!(format!("{map:?}").matches(": ").count() == model.len());
}

fn shape<const N: usize>(
    setup: &Setup,
    map: &Map<N>,
    model: &HashMap<u64, u32>,
    start: u64,
    counts_all: bool,
) {
    let stats = map.stats();
    check_stats(setup, &stats, model.len(), start);
    assert_eq!(stats.memory_bytes, map.memory_bytes());
    assert!(!counts_all || map.is_empty() == model.is_empty());
    assert_eq!(map.hasher(), &setup.hashing);
    assert_eq!(map.validate(), Ok(()));
}

/// What happens under one pin.
struct Scene<'p, 'a, const N: usize> {
    pin: &'p Pin<'a, N>,
    model: &'p mut HashMap<u64, u32>,
    /// References that were found, with what they led to: entries never change.
    seen: Vec<(&'p u32, u32)>,
}

impl<'p, const N: usize> Scene<'p, '_, N> {
    fn see(&mut self, found: Option<&'p Value>, expected: Option<u32>) {
        assert_eq!(found.map(|value| **value), expected);
        self.seen.extend(found.zip(expected).map(|(value, expected)| (&**value, expected)));
    }

    fn look_again(&self) {
        assert!(self.seen.iter().all(|(now, then)| **now == *then), "an entry has changed under a pin");
    }

    /// An operation on one key.
    fn one(&mut self, op: Op) {
        let pin = self.pin;
        match op {
            Op::Get { key: k } => {
                let expected = self.model.get(&key(k)).copied();
                assert_eq!(pin.get_key_value(&key(k)).map(|(k, v)| (*k, **v)), expected.map(|v| (key(k), v)));
                assert_eq!(pin.contains_key(&key(k)), expected.is_some());
                self.see(pin.get(&key(k)), expected);
            }
            Op::Insert { key: k, value: v } => {
                let before = self.model.insert(key(k), u32::from(v));
                self.see(pin.insert(key(k), value(v)), before);
            }
            Op::TryInsert { key: k, value: v } => {
                let before = self.model.get(&key(k)).copied();
                match pin.try_insert(key(k), value(v)) {
                    Ok(now) => {
                        assert_eq!(before, None);
                        self.see(Some(now), Some(u32::from(v)));
                    }
                    Err(OccupiedError { current, not_inserted }) => {
                        assert_eq!(*not_inserted, u32::from(v));
                        self.see(Some(current), before);
                    }
                }
                self.model.entry(key(k)).or_insert(u32::from(v));
            }
            Op::GetOrInsert { key: k, value: v } => {
                let now = *self.model.entry(key(k)).or_insert(u32::from(v));
                let found = match v % 2 {
                    0 => pin.get_or_insert(key(k), value(v)),
                    _ => pin.get_or_insert_with(key(k), || value(v)),
                };
                self.see(Some(found), Some(now));
            }
            _ => self.change(op),
        }
    }

    /// An operation that changes a key that is there.
    fn change(&mut self, op: Op) {
        let pin = self.pin;
        match op {
            Op::Remove { key: k } => {
                let before = self.model.remove(&key(k));
                self.see(pin.remove(&key(k)), before);
            }
            Op::RemoveIf { key: k, odd } => {
                let removed = pin.remove_if(&key(k), |_, value| **value % 2 == u32::from(odd % 2));
                let doomed = self.model.get(&key(k)).is_some_and(|value| value % 2 == u32::from(odd % 2));
                let before = if doomed { self.model.remove(&key(k)) } else { None };
                self.see(removed, before);
            }
            Op::Update { key: k, add } => {
                let now = self.model.get_mut(&key(k)).map(|value| {
                    *value += u32::from(add);
                    *value
                });
                self.see(pin.update(key(k), |value| Box::new(**value + u32::from(add))), now);
            }
            Op::Compute { key: k, value: v, what } => self.compute(key(k), v, what),
            other => unreachable!("{other:?} is not about one key"),
        }
    }

    fn compute(&mut self, key: u64, v: u8, what: u8) {
        let before = self.model.get(&key).copied();
        let computed = self.pin.compute(key, |found| {
            assert_eq!(found.map(|value| **value), before);
            match what % 3 {
                0 => Operation::Insert(value(v)),
                1 => Operation::Remove,
                _ => Operation::Keep,
            }
        });
        match (what % 3, before) {
            (0, None) => assert_eq!(computed, Computed::Inserted(&value(v))),
            (0, Some(old)) => {
                assert_eq!(computed, Computed::Updated { old: &Box::new(old), new: &value(v) });
            }
            (1, Some(old)) => assert_eq!(computed, Computed::Removed(&Box::new(old))),
            (_, before) => assert_eq!(computed, Computed::Unchanged(before.map(Box::new).as_ref())),
        }
        match what % 3 {
            0 => _ = self.model.insert(key, u32::from(v)),
            1 => _ = self.model.remove(&key),
            _ => {}
        }
    }

    /// An operation on many keys.
    fn many(&mut self, op: Op) {
        match op {
            Op::Retain { modulus, rest } => {
                let modulus = u64::from(modulus.max(1));
                let stays = |key: &u64| key % modulus == u64::from(rest) % modulus;
                self.pin.retain(|key, _| stays(key));
                self.model.retain(|key, _| stays(key));
            }
            Op::Clear => {
                self.pin.clear();
                self.model.clear();
            }
            Op::Extend { first, count, value: v } => {
                let keys = || (0..count % 32).map(|n| key(first.wrapping_add(n)));
                let fresh = self.pin.extend(keys().map(|key| (key, value(v))));
                let before = self.model.len();
                self.model.extend(keys().map(|key| (key, u32::from(v))));
                assert_eq!(fresh, self.model.len() - before);
            }
            Op::Reserve { count } => {
                self.pin.try_reserve(usize::from(count)).expect("there is memory");
            }
            other => unreachable!("{other:?} is not about many keys"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map with one entry, and a model that `differs`.
    fn different(differs: impl FnOnce(&mut HashMap<u64, u32>)) -> Option<()> {
        let setup = Setup::decode([1, 1, 1, 1, 1, 50, 1, 0]);
        let mut state = State::<2>::new(&setup)?;
        state.all(&[Op::Insert { key: 3, value: 4 }]);
        differs(&mut state.model);
        state.all(&[Op::Get { key: 3 }, Op::Iterate]);
        Some(())
    }

    #[test]
    fn a_model_that_agrees_is_no_fault() {
        assert_eq!(different(|_| ()), Some(()));
    }

    #[test]
    #[should_panic(expected = "left == right")]
    fn a_value_that_is_wrong_is_noticed() {
        different(|model| _ = model.insert(key(3), 5));
    }

    #[test]
    #[should_panic(expected = "Get { key: 3 }")]
    fn a_count_that_is_wrong_is_noticed() {
        different(|model| _ = model.insert(key(4), 5));
    }
}
