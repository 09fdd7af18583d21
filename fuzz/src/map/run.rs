//! Doing the operations on the table and on the model, and comparing.

use flatmap::{FlatMap, InsertError, OtherPartition, PartitionGuard, PinWord, Pinned, ResizeError};

use super::key::{FuzzKey, Hashing};
use super::model::Model;
use super::{Op, Setup};

/// The most operations that one guard sees.
const MAX_STEPS: u8 = 8;

/// Builds the table and does `ops`.
pub(super) fn run<K: FuzzKey>(setup: &Setup, ops: &[Op]) {
    let Some(table) = setup.build::<K>() else { return };
    let words: Vec<PinWord> = (0..table.max_slots()).map(|_| PinWord::new()).collect();
    let model = Model::new(setup.slots, table.max_slots(), table.partitions(), setup.hashing);
    let size = || (table.slots(), table.buckets(), table.memory_bytes());
    let before = size();
    let mut state =
        State { table: &table, words: &words, pins: Vec::new(), model, locked_miss: setup.locked_miss };
    let mut ops = ops.iter();
    while let Some(&op) = ops.next() {
        match op {
            Op::Enter { key, steps } => {
                let steps = ops.by_ref().take(usize::from(steps % MAX_STEPS));
                state.enter(K::nth(key), steps.copied());
            }
            Op::PinRefused { .. } | Op::Pin { .. } | Op::Unpin { .. } => state.pin(op),
            Op::Evict { .. } | Op::Finish { .. } => state.evict(op),
            Op::Iterate | Op::Shape => state.whole(op),
            Op::SetBuckets { .. } | Op::SetSlots { .. } | Op::Maintain { .. } => state.resize(op),
            Op::GetMany { key, count } => state.get_many(key, count),
            _ => state.one(op),
        }
    }
    state.whole(Op::Iterate);
    state.whole(Op::Shape);
    let after = size();
    assert!(
        (after.0, after.1) != (before.0, before.1) || after == before,
        "a table of the same size has the same memory"
    );
    assert_eq!(table.validate(), Ok(()));
}

/// The table with its model.
struct State<'a, K: FuzzKey> {
    table: &'a FlatMap<K, Hashing>,
    words: &'a [PinWord],
    pins: Vec<(u32, Pinned<'a>)>,
    model: Model<K>,
    locked_miss: bool,
}

/// A slot from a byte: mostly one of the table's or just beyond, seldom a huge one.
fn slot(byte: u8) -> u32 {
    if byte < 0xf0 { u32::from(byte % 18) } else { u32::MAX - u32::from(0xff - byte) }
}

impl<K: FuzzKey> State<'_, K> {
    /// An operation on one key or slot.
    fn one(&mut self, op: Op) {
        let (table, model) = (self.table, &mut self.model);
        match op {
            Op::Get { key } => assert_eq!(table.get(&K::nth(key)), model.get(&K::nth(key))),
            Op::Insert { key, slot: at } => {
                let (key, at) = (K::nth(key), slot(at));
                let inserted = table.insert(key, at);
                assert_eq!(inserted, model.insert(key, at));
                assert!(inserted.is_ok() || !inserted.unwrap_err().to_string().is_empty());
            }
            Op::Remove { key } => assert_eq!(table.remove(&K::nth(key)), model.remove(&K::nth(key))),
            Op::RemoveSlot { slot: at } => {
                assert_eq!(table.remove_slot(slot(at)), model.remove_slot(slot(at)));
            }
            Op::RemoveIf { key, slot: at } => {
                let (key, at) = (K::nth(key), slot(at));
                assert_eq!(table.remove_if(&key, at), model.remove_if(&key, at));
            }
            Op::KeyOf { slot: at } => assert_eq!(table.key_of(slot(at)), model.key_of(slot(at))),
            Op::Holds { key, slot: at } => {
                let (key, at) = (K::nth(key), slot(at));
                assert_eq!(table.holds(at, &key), model.get(&key) == Some(at));
            }
            other => unreachable!("{other:?} is not about one key"),
        }
    }

    fn pin(&mut self, op: Op) {
        match op {
            Op::PinRefused { key } => {
                let key = K::nth(key);
                let mut asked = Vec::new();
                let pinned: Option<(u32, ())> = self.table.pin_with(&key, |at| {
                    asked.push(at);
                    None
                });
                assert_eq!(pinned, None);
                assert_eq!(asked, self.model.get(&key).into_iter().collect::<Vec<_>>());
            }
            Op::Pin { key } => {
                let key = K::nth(key);
                let pinned = self.table.pin_with(&key, |at| self.words[at as usize].pin());
                let expected = self.model.get(&key).filter(|&at| !self.model.pins[at as usize].evicting);
                assert_eq!(pinned.as_ref().map(|(at, _)| *at), expected);
                if let Some((at, pin)) = pinned {
                    self.model.pins[at as usize].count += 1;
                    self.pins.push((at, pin));
                }
            }
            Op::Unpin { which } if !self.pins.is_empty() => {
                let (at, pin) = self.pins.swap_remove(usize::from(which) % self.pins.len());
                self.model.pins[at as usize].count -= 1;
                drop(pin);
            }
            _ => {}
        }
    }

    fn evict(&mut self, op: Op) {
        let (Op::Evict { slot: byte } | Op::Finish { slot: byte }) = op else { return };
        let at = usize::from(byte) % self.words.len();
        let (word, pins) = (&self.words[at], &mut self.model.pins[at]);
        match op {
            Op::Evict { .. } => {
                let free = pins.count == 0 && !pins.evicting;
                assert_eq!(word.try_evict(), free);
                pins.evicting |= free;
            }
            _ if pins.evicting => {
                word.finish();
                pins.evicting = false;
            }
            _ => {}
        }
        assert_eq!((word.pins(), word.is_evicting()), (pins.count, pins.evicting));
    }

    fn get_many(&self, first: u8, count: u8) {
        let keys: Vec<K> = (0..count).map(|more| K::nth(first.wrapping_add(more))).collect();
        let mut found = vec![Some(u32::MAX); keys.len()];
        self.table.get_many(&keys, &mut found);
        assert!(found.iter().zip(&keys).all(|(found, key)| *found == self.model.get(key)), "{found:?}");
    }

    fn resize(&mut self, op: Op) {
        let table = self.table;
        match op {
            Op::SetBuckets { buckets } => {
                let (buckets, before) = (u32::from(buckets), table.buckets());
                let (min, max) = (table.partitions(), table.max_buckets());
                let is_right = (min..=max).contains(&buckets);
                let refused = ResizeError::Buckets { value: buckets, min, max };
                assert_eq!(table.set_buckets(buckets), if is_right { Ok(()) } else { Err(refused) });
                assert_eq!(table.buckets(), if is_right { buckets } else { before });
            }
            Op::SetSlots { slots } => {
                let slots = slot(slots);
                let set = table.set_slots(slots);
                assert_eq!(set, self.model.set_slots(slots, table.max_slots()));
                assert!(set.is_ok() || !set.unwrap_err().to_string().is_empty());
            }
            Op::Maintain { budget } => {
                let before = table.maintain(0).expect("there is memory");
                let left = table.maintain(budget.into()).expect("there is memory");
                assert_eq!(left, before.saturating_sub(budget.into()));
            }
            other => unreachable!("{other:?} does not resize"),
        }
    }

    /// An operation on the whole table.
    fn whole(&self, op: Op) {
        let (table, model) = (self.table, &self.model);
        if op == Op::Iterate {
            assert_eq!(table.iter().collect::<Vec<_>>(), model.mappings());
            assert!(table.iter().size_hint().1.is_some_and(|most| most >= model.len()));
            return;
        }
        assert_eq!(table.slots(), model.slots());
        assert_eq!(table.len(), model.len());
        assert_eq!(table.is_empty(), model.len() == 0);
        assert!(format!("{table:?}").contains(&format!("len: {}", model.len())));
        let stats = table.stats();
        assert_eq!((stats.retried, stats.fallback_hits), (0, 0), "nothing is torn on one thread");
        assert!(self.locked_miss || stats.fallbacks == 0, "{stats:?}");
    }

    /// Several operations under one hold of the partition of `key`.
    fn enter(&mut self, key: K, steps: impl Iterator<Item = Op>) {
        let mut guard = self.table.partition(&key);
        let held = self.model.partition(&key);
        assert_eq!(guard.index(), held);
        for op in steps {
            self.model.step(&mut guard, held, op);
        }
    }
}

impl<K: FuzzKey> Model<K> {
    /// One operation through a guard; those that a guard doesn't have look at the guard itself.
    fn step(&mut self, guard: &mut PartitionGuard<'_, K, Hashing>, held: u32, op: Op) {
        match op {
            Op::Get { key } => {
                let key = K::nth(key);
                let found = guard.get(&key).map_err(numbers);
                assert_eq!(found, self.of_partition(&key, held).map(|()| self.get(&key)));
            }
            Op::Insert { key, slot: at } => {
                let (key, at) = (K::nth(key), slot(at));
                let inserted = match guard.insert(key, at) {
                    Err(InsertError::OtherPartition(error)) => Err(numbers(error)),
                    other => Ok(other),
                };
                assert_eq!(inserted, self.of_partition(&key, held).map(|()| self.insert(key, at)));
            }
            Op::Remove { key } => {
                let key = K::nth(key);
                let removed = guard.remove(&key).map_err(numbers);
                assert_eq!(removed, self.of_partition(&key, held).map(|()| self.remove(&key)));
            }
            _ => {
                assert_eq!(guard.len() as usize, self.len_of(held));
                assert_eq!(guard.is_empty(), self.len_of(held) == 0);
            }
        }
    }

    /// The error that a guard of the partition `held` gives for `key`.
    fn of_partition(&self, key: &K, held: u32) -> Result<(), (u32, u32)> {
        match self.partition(key) {
            of_key if of_key == held => Ok(()),
            of_key => Err((held, of_key)),
        }
    }
}

fn numbers(error: OtherPartition) -> (u32, u32) {
    assert!(!error.to_string().is_empty());
    (error.held, error.of_key)
}
