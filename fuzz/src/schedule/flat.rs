//! `FlatMap` by threads in turns.

use flatmap::{FlatMap, InsertError, MissPolicy};

use super::{Script, Yielding};
use crate::flatmap_spec::{Event, Op as Seen, fault};
use crate::map::Hashing;
use crate::stage;

/// How many different keys there are.
const KEYS: u8 = 5;

/// The most slots.
const MAX_SLOTS: u8 = 4;

/// Two words, so that a key can be torn.
type Key = [u64; 2];

type Table = FlatMap<Key, Yielding>;

fn key(number: u8) -> Key {
    [u64::from(number); 2]
}

/// The number of a key; panics if it is a mix of several.
fn number(key: Key) -> u32 {
    assert_eq!(key[0], key[1], "a torn key was returned");
    u32::try_from(key[0]).expect("a key of the test")
}

/// One step of a thread. A record is `[op, key, slot, thread]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `get`.
    Get { key: u8 },
    /// `holds`.
    Holds { key: u8, slot: u8 },
    /// `key_of`.
    KeyOf { slot: u8 },
    /// `pin_with`.
    Pin { key: u8 },
    /// `insert`.
    Insert { key: u8, slot: u8 },
    /// `remove`.
    Remove { key: u8 },
    /// `remove_if`.
    RemoveIf { key: u8, slot: u8 },
    /// `remove_slot`.
    RemoveSlot { slot: u8 },
    /// `iter`, which must yield each slot at most once.
    Iterate,
}

impl Op {
    /// How many kinds there are.
    pub(crate) const KINDS: u8 = 9;

    /// The operation that a record stands for.
    pub(crate) fn decode([kind, key, slot, _]: [u8; 4]) -> Self {
        let (key, slot) = (key % KEYS, slot % MAX_SLOTS);
        match kind % Self::KINDS {
            0 => Self::Get { key },
            1 => Self::Holds { key, slot },
            2 => Self::KeyOf { slot },
            3 => Self::Pin { key },
            4 => Self::Insert { key, slot },
            5 => Self::Remove { key },
            6 => Self::RemoveIf { key, slot },
            7 => Self::RemoveSlot { slot },
            _ => Self::Iterate,
        }
    }

    /// The kind that a record must have for this operation.
    #[cfg(test)]
    pub(crate) fn kind(self) -> u8 {
        match self {
            Self::Get { .. } => 0,
            Self::Holds { .. } => 1,
            Self::KeyOf { .. } => 2,
            Self::Pin { .. } => 3,
            Self::Insert { .. } => 4,
            Self::Remove { .. } => 5,
            Self::RemoveIf { .. } => 6,
            Self::RemoveSlot { .. } => 7,
            Self::Iterate => 8,
        }
    }

    /// Makes the call; what it says of the table, if it is one that speaks of one moment.
    fn make(self, table: &Table) -> Option<Seen> {
        let wide = |n: u8| u32::from(n);
        Some(match self {
            Self::Get { key: k } => Seen::Get(wide(k), table.get(&key(k))),
            Self::Holds { key: k, slot } => {
                Seen::Holds(wide(slot), wide(k), table.holds(wide(slot), &key(k)))
            }
            Self::KeyOf { slot } => Seen::KeyOf(wide(slot), table.key_of(wide(slot)).map(number)),
            Self::Pin { key: k } => {
                // Nobody evicts, so the slot may have another key by the end; but when it was looked up, it had this.
                let mut slots = Vec::new();
                let pinned = table.pin_with(&key(k), |slot| {
                    slots.push(slot);
                    stage::point();
                    Some(())
                });
                assert_eq!(pinned.map(|(slot, ())| slot), pinned.and(slots.last().copied()));
                Seen::Get(wide(k), pinned.map(|(slot, ())| slot))
            }
            Self::Insert { key: k, slot } => match table.insert(key(k), wide(slot)) {
                Ok(()) => Seen::Inserted(wide(k), wide(slot)),
                Err(InsertError::KeyExists { slot }) => Seen::KeyExists(wide(k), slot),
                Err(InsertError::SlotOccupied { slot }) => Seen::SlotOccupied(wide(k), slot),
                Err(InsertError::SlotOutOfRange { slot, slots }) => {
                    assert!(slot >= slots);
                    return None;
                }
                Err(error) => panic!("{error}"),
            },
            Self::Remove { key: k } => match table.remove(&key(k)) {
                Some(slot) => Seen::Removed(wide(k), slot),
                None => Seen::Get(wide(k), None),
            },
            Self::RemoveIf { key: k, slot } => match table.remove_if(&key(k), wide(slot)) {
                true => Seen::Removed(wide(k), wide(slot)),
                false => Seen::NotThere(wide(slot), wide(k)),
            },
            Self::RemoveSlot { slot } => match table.remove_slot(wide(slot)) {
                Some(key) => Seen::Removed(number(key), wide(slot)),
                None => Seen::KeyOf(wide(slot), None),
            },
            Self::Iterate => {
                let listed: Vec<(u32, Key)> = table.iter().collect();
                assert!(listed.windows(2).all(|pair| pair[0].0 < pair[1].0), "{listed:?}");
                return None;
            }
        })
    }
}

/// The table that a header stands for: `[slots, buckets, partitions, tries, locked misses, hashing, schedule, threads]`.
fn table([slots, buckets, partitions, tries, locked, hashing, ..]: [u8; 8]) -> Table {
    let partitions = 1_u32 << (partitions % 2);
    FlatMap::builder()
        .slots(u32::from(1 + slots % MAX_SLOTS))
        .buckets(partitions + u32::from(buckets % 4))
        .partitions(partitions)
        .optimistic_tries(u32::from(1 + tries % 3))
        .miss(if locked & 1 == 0 { MissPolicy::Validated } else { MissPolicy::Locked })
        .hasher(Yielding(Hashing::decode(hashing)))
        .build()
        .expect("valid")
}

/// What an input stands for; `None` if it ends within the header.
pub(crate) fn decode(input: &[u8]) -> Option<Script<Op>> {
    Script::decode(input, Op::decode)
}

fn act(table: &Table, ops: &[Op]) -> Vec<Event> {
    let mut events = Vec::new();
    for op in ops {
        stage::point();
        let call = stage::now();
        if let Some(op) = op.make(table) {
            events.push(Event { op, call, end: stage::now() });
        }
    }
    events
}

/// Does what `input` says, in its order; panics where the history is not linearizable, or the table not whole.
pub fn run(input: &[u8]) {
    _ = played(input);
}

/// How often threads changed hands.
pub(crate) fn played(input: &[u8]) -> Option<u64> {
    let Script { header, schedule, threads } = decode(input)?;
    let table = table(header);
    let (events, switches) = stage::play(threads.len(), &schedule, |thread| act(&table, &threads[thread]));
    let history: Vec<Event> = events.into_iter().flatten().collect();
    if let Some(fault) = fault(&history, KEYS.into(), MAX_SLOTS.into()) {
        panic!("{fault} is not linearizable: {history:#?}");
    }
    assert_eq!(table.validate(), Ok(()));
    Some(switches)
}
