//! `LHashMap` by threads in turns.

use std::hash::{Hash, Hasher};

use lhash::{Computed, CountPolicy, LHashMap, OccupiedError, Operation, ShrinkPolicy};
use sync::inject::{self, Point};

use super::{Script, Yielding};
use crate::lhash_spec::{Event, Op as Seen, STEP, fault};
use crate::map::Hashing;
use crate::stage;

/// How many different keys the history is about.
const KEYS: u8 = 4;

/// Further keys have numbers from here on: they fill buckets.
const FILLERS: u32 = 1 << 20;

/// A key whose comparison lets others go on.
#[derive(Debug, Clone, Copy)]
struct Key(u32);

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        stage::point();
        self.0 == other.0
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

type Map = LHashMap<Key, u32, Yielding, 2>;

/// One step of a thread. A record is `[op, key, argument, thread]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `get`.
    Get(u8),
    /// `contains_key`.
    Has(u8),
    /// `insert`.
    Insert(u8),
    /// `try_insert`.
    TryInsert(u8),
    /// `get_or_insert_with`.
    GetOrInsert(u8),
    /// `remove`.
    Remove(u8),
    /// `remove_if`, of whatever is there.
    RemoveIf(u8),
    /// `update`.
    Update(u8),
    /// `compute` that inserts where nothing is and removes what is there.
    Toggle(u8),
    /// `reserve` so many.
    Reserve(u8),
    /// `shrink_to_fit`.
    Shrink,
    /// Inserts or removes another key of the same bucket, so that buckets are split and merged.
    Filler(u8),
    /// `iter`, which must meet each key at most once.
    Iterate,
    /// From now on this thread's tries of the metapage fail, as the bits say.
    Busy(u8),
}

impl Op {
    /// How many kinds there are.
    pub(crate) const KINDS: u8 = 14;

    /// The operation that a record stands for.
    pub(crate) fn decode([kind, key, argument, _]: [u8; 4]) -> Self {
        let key = key % KEYS;
        match kind % Self::KINDS {
            0 => Self::Get(key),
            1 => Self::Has(key),
            2 => Self::Insert(key),
            3 => Self::TryInsert(key),
            4 => Self::GetOrInsert(key),
            5 => Self::Remove(key),
            6 => Self::RemoveIf(key),
            7 => Self::Update(key),
            8 => Self::Toggle(key),
            9 => Self::Reserve(argument),
            10 => Self::Shrink,
            11 => Self::Filler(argument),
            12 => Self::Iterate,
            _ => Self::Busy(argument),
        }
    }

    /// The kind that a record must have for this operation.
    #[cfg(test)]
    pub(crate) fn kind(self) -> u8 {
        match self {
            Self::Get(_) => 0,
            Self::Has(_) => 1,
            Self::Insert(_) => 2,
            Self::TryInsert(_) => 3,
            Self::GetOrInsert(_) => 4,
            Self::Remove(_) => 5,
            Self::RemoveIf(_) => 6,
            Self::Update(_) => 7,
            Self::Toggle(_) => 8,
            Self::Reserve(_) => 9,
            Self::Shrink => 10,
            Self::Filler(_) => 11,
            Self::Iterate => 12,
            Self::Busy(_) => 13,
        }
    }

    /// Makes the call; what it says of a key, if it is about one of those of the history. `value` is no other call's.
    fn make(self, map: &Map, value: u32) -> Option<Seen> {
        let pin = map.pin();
        let number = |key: u8| u32::from(key);
        Some(match self {
            Self::Get(key) => Seen::Get(number(key), pin.get(&Key(number(key))).copied()),
            Self::Has(key) => Seen::Has(number(key), pin.contains_key(&Key(number(key)))),
            Self::Insert(key) => {
                Seen::Insert(number(key), value, pin.insert(Key(number(key)), value).copied())
            }
            Self::TryInsert(key) => match pin.try_insert(Key(number(key)), value) {
                Ok(_) => Seen::TryInsert(number(key), value, None),
                Err(OccupiedError { current, .. }) => Seen::TryInsert(number(key), value, Some(*current)),
            },
            Self::GetOrInsert(key) => {
                let make = || {
                    stage::point();
                    value
                };
                let found = *pin.get_or_insert_with(Key(number(key)), make);
                Seen::TryInsert(number(key), value, (found != value).then_some(found))
            }
            Self::Remove(key) => Seen::Removed(number(key), pin.remove(&Key(number(key))).copied()),
            Self::RemoveIf(key) => {
                let dead = |_: &Key, _: &u32| {
                    stage::point();
                    true
                };
                Seen::Removed(number(key), pin.remove_if(&Key(number(key)), dead).copied())
            }
            Self::Update(key) => {
                let add = |old: &u32| {
                    stage::point();
                    old + STEP
                };
                Seen::Update(number(key), pin.update(Key(number(key)), add).copied())
            }
            Self::Toggle(key) => Self::toggle(map, number(key), value),
            _ => {
                self.disturb(map);
                return None;
            }
        })
    }

    fn toggle(map: &Map, key: u32, value: u32) -> Seen {
        let pin = map.pin();
        let toggled = pin.compute(Key(key), |old| {
            stage::point();
            old.map_or(Operation::Insert(value), |_| Operation::Remove)
        });
        match toggled {
            Computed::Inserted(new) => Seen::Toggle(key, *new, None),
            Computed::Removed(old) => Seen::Toggle(key, value, Some(*old)),
            other => panic!("{other:?}"),
        }
    }

    /// Calls that say nothing of a key, and change where it is.
    fn disturb(self, map: &Map) {
        let pin = map.pin();
        match self {
            Self::Reserve(more) => map.reserve(usize::from(more % 64)),
            Self::Shrink => map.pin().shrink_to_fit(),
            Self::Filler(which) => {
                let filler = Key(FILLERS + u32::from(which % 32));
                if pin.remove(&filler).is_none() {
                    pin.insert(filler, 0);
                }
            }
            _ => {
                let mut keys: Vec<u32> = Vec::new();
                for (key, _) in pin.iter() {
                    stage::point();
                    keys.push(key.0);
                }
                let met = keys.len();
                keys.sort_unstable();
                keys.dedup();
                assert_eq!(keys.len(), met, "a key was met twice");
            }
        }
    }
}

/// The map that a header stands for: `[fill factor, policy, hashing, fillers, shrink, -, schedule, threads]`.
fn map([fill, policy, hashing, fillers, shrink, ..]: [u8; 8]) -> Map {
    let policies = [
        CountPolicy::Exact,
        CountPolicy::Deferred { cap: 2 },
        CountPolicy::Quiet { cap: 2 },
        CountPolicy::Sharded,
    ];
    let builder = LHashMap::builder().page_slots::<2>().fill_factor(u32::from(1 + fill % 3));
    let builder = builder.count_policy(policies[usize::from(policy % 4)]);
    let builder = builder.shrink(ShrinkPolicy::Below { percent: shrink % 91 });
    let map = builder.hasher(Yielding(Hashing::decode(hashing))).build().expect("valid");
    map.pin().extend((0..fillers % 32).map(|filler| (Key(FILLERS + u32::from(filler)), 0)));
    map
}

/// What an input stands for; `None` if it ends within the header.
pub(crate) fn decode(input: &[u8]) -> Option<Script<Op>> {
    Script::decode(input, Op::decode)
}

/// One thread's part.
fn act(map: &Map, thread: usize, ops: &[Op]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut script = None;
    for (at, &op) in ops.iter().enumerate() {
        stage::point();
        if let Op::Busy(outcomes) = op {
            drop(script.take());
            script = Some(inject::force(Point::CondBusy, u64::from(outcomes)));
            continue;
        }
        let value = (thread * super::MAX_OPS + at) as u32;
        let call = stage::now();
        if let Some(op) = op.make(map, value) {
            events.push(Event { op, call, end: stage::now() });
        }
    }
    events
}

/// Does what `input` says, in its order; panics where the history is not linearizable, or the map not whole.
pub fn run(input: &[u8]) {
    _ = played(input);
}

/// How often threads changed hands, splits and merges.
pub(crate) fn played(input: &[u8]) -> Option<(u64, u64, u64)> {
    let Script { header, schedule, threads } = decode(input)?;
    let map = map(header);
    let act = |thread: usize| act(&map, thread, &threads[thread]);
    let (events, switches) = stage::play(threads.len(), &schedule, act);
    let history: Vec<Event> = events.into_iter().flatten().collect();
    if let Some(key) = fault(&history, KEYS.into()) {
        panic!("key {key} is not linearizable: {history:#?}");
    }
    assert_eq!(map.validate(), Ok(()));
    assert_eq!(map.exact_len(), map.pin().iter().count());
    let stats = map.stats();
    Some((switches, stats.splits, stats.merges))
}
