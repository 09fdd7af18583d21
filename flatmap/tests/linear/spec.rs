//! What a table is when one operation runs at a time, three times: as a whole, as seen through one key, as
//! seen through one slot. Next: `play.rs`, which records what really happens.
//!
//! An insert and a remove are two steps each, of which only one shows to lookups: a slot is taken a moment
//! before its key is mapped, and free a moment after its key is unmapped.

use crate::checker::{applied, is_linearizable};
use todc_utils::specifications::Specification;

/// An operation and its result. Keys and slots go by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// `get` and `pin_with`.
    Get(u32, Option<u32>),
    Holds(u32, u32, bool),
    KeyOf(u32, Option<u32>),
    Inserted(u32, u32),
    KeyExists(u32, u32),
    SlotOccupied(u32, u32),
    /// `remove`, `remove_if` and `remove_slot` that did.
    Removed(u32, u32),
    /// `remove_if` that did not; the slot and the key.
    NotThere(u32, u32),
}

/// An operation with the time of its call and of its return.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) op: Op,
    pub(crate) call: u64,
    pub(crate) end: u64,
}

/// A step of an operation; `id` names the operation where two steps belong together.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Claim { id: usize, slot: u32 },
    Link { id: usize, key: u32, slot: u32 },
    Unlink { id: usize, key: u32, slot: u32 },
    Free { id: usize, slot: u32 },
    Occupied { key: u32, slot: u32 },
    Mapped { key: u32, to: Option<u32> },
    Has { slot: u32, key: Option<u32> },
    HasNot { slot: u32, key: u32 },
}

fn steps(id: usize, op: Op) -> Vec<Step> {
    match op {
        Op::Get(key, to) => vec![Step::Mapped { key, to }],
        Op::Holds(slot, key, true) | Op::KeyExists(key, slot) => vec![Step::Has { slot, key: Some(key) }],
        Op::Holds(slot, key, false) | Op::NotThere(slot, key) => vec![Step::HasNot { slot, key }],
        Op::KeyOf(slot, key) => vec![Step::Has { slot, key }],
        Op::Inserted(key, slot) => vec![Step::Claim { id, slot }, Step::Link { id, key, slot }],
        Op::SlotOccupied(key, slot) => vec![Step::Occupied { key, slot }],
        Op::Removed(key, slot) => vec![Step::Unlink { id, key, slot }, Step::Free { id, slot }],
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    #[default]
    Free,
    Claimed(usize),
    Mapped(u32),
    Leaving(usize),
}

/// The slot after a step that is about it; `None` if the step can't be.
fn next(slot: Slot, step: Step) -> Option<Slot> {
    match (slot, step) {
        (Slot::Free, Step::Claim { id, .. }) => Some(Slot::Claimed(id)),
        (Slot::Claimed(by), Step::Link { id, key, .. }) if by == id => Some(Slot::Mapped(key)),
        (Slot::Mapped(is), Step::Unlink { id, key, .. }) if is == key => Some(Slot::Leaving(id)),
        (Slot::Leaving(by), Step::Free { id, .. }) if by == id => Some(Slot::Free),
        (_, Step::Occupied { .. }) if slot != Slot::Free => Some(slot),
        (Slot::Mapped(is), Step::Has { key, .. }) if key == Some(is) => Some(slot),
        (Slot::Mapped(_), Step::Has { .. }) => None,
        (_, Step::Has { key: None, .. }) => Some(slot),
        (_, Step::HasNot { key, .. }) if slot != Slot::Mapped(key) => Some(slot),
        _ => None,
    }
}

fn slot_of(step: Step) -> Option<u32> {
    match step {
        Step::Claim { slot, .. }
        | Step::Link { slot, .. }
        | Step::Unlink { slot, .. }
        | Step::Free { slot, .. }
        | Step::Occupied { slot, .. }
        | Step::Has { slot, .. }
        | Step::HasNot { slot, .. } => Some(slot),
        Step::Mapped { to, .. } => to,
    }
}

const SLOTS: usize = 8;

/// The whole table.
pub(crate) struct Table;

impl Table {
    fn next(slots: [Slot; SLOTS], step: Step) -> Option<[Slot; SLOTS]> {
        let place = |key| slots.iter().position(|slot| *slot == Slot::Mapped(key)).map(|slot| slot as u32);
        match step {
            Step::Mapped { key, to } => return (place(key) == to).then_some(slots),
            Step::Link { key, .. } | Step::Occupied { key, .. } if place(key).is_some() => return None,
            _ => {}
        }
        let mut after = slots;
        let slot = &mut after[slot_of(step)? as usize];
        *slot = next(*slot, step)?;
        Some(after)
    }
}

impl Specification for Table {
    type State = [Slot; SLOTS];
    type Operation = Step;

    fn init() -> Self::State {
        Default::default()
    }

    fn apply(step: &Step, state: &Self::State) -> (bool, Self::State) {
        applied(Self::next(*state, *step), state)
    }
}

/// One slot: what is mapped to it.
pub(crate) struct OneSlot;

impl Specification for OneSlot {
    type State = Slot;
    type Operation = Step;

    fn init() -> Slot {
        Slot::Free
    }

    fn apply(step: &Step, state: &Slot) -> (bool, Slot) {
        applied(next(*state, *step), state)
    }
}

/// One key: a register that holds a slot.
pub(crate) struct OneKey;

/// What a step says about a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fact {
    Map(u32),
    Unmap(u32),
    Is(Option<u32>),
    IsNot(u32),
}

fn fact(step: Step, about: u32) -> Option<Fact> {
    match step {
        Step::Link { key, slot, .. } if key == about => Some(Fact::Map(slot)),
        Step::Unlink { key, slot, .. } if key == about => Some(Fact::Unmap(slot)),
        Step::Occupied { key, .. } if key == about => Some(Fact::Is(None)),
        Step::Mapped { key, to } if key == about => Some(Fact::Is(to)),
        Step::Has { slot, key } if key == Some(about) => Some(Fact::Is(Some(slot))),
        Step::Has { slot, .. } => Some(Fact::IsNot(slot)),
        Step::HasNot { slot, key } if key == about => Some(Fact::IsNot(slot)),
        _ => None,
    }
}

impl Specification for OneKey {
    type State = Option<u32>;
    type Operation = Fact;

    fn init() -> Option<u32> {
        None
    }

    fn apply(fact: &Fact, state: &Option<u32>) -> (bool, Option<u32>) {
        let next = match *fact {
            Fact::Map(slot) => state.is_none().then_some(Some(slot)),
            Fact::Unmap(slot) => (*state == Some(slot)).then_some(None),
            Fact::Is(expected) => (*state == expected).then_some(*state),
            Fact::IsNot(slot) => (*state != Some(slot)).then_some(*state),
        };
        applied(next, state)
    }
}

/// What a history is not, if anything.
pub(crate) fn fault(history: &[Event], keys: u32, slots: u32) -> Option<String> {
    let all: Vec<(Step, u64, u64)> = history
        .iter()
        .enumerate()
        .flat_map(|(id, event)| steps(id, event.op).into_iter().map(|step| (step, event.call, event.end)))
        .collect();
    for key in 0..keys {
        let facts: Vec<_> =
            all.iter().filter_map(|(step, call, end)| Some((fact(*step, key)?, *call, *end))).collect();
        if !is_linearizable::<OneKey>(&facts) {
            return Some(format!("key {key}"));
        }
    }
    for slot in 0..slots {
        let about = |step| slot_of(step) == Some(slot);
        let told = all.iter().filter(|(step, ..)| about(*step)).map(|&(step, call, end)| {
            // A hit says what the slot holds.
            let step =
                if let Step::Mapped { key, .. } = step { Step::Has { slot, key: Some(key) } } else { step };
            (step, call, end)
        });
        if !is_linearizable::<OneSlot>(&told.collect::<Vec<_>>()) {
            return Some(format!("slot {slot}"));
        }
    }
    (!is_linearizable::<Table>(&all)).then(|| "the whole table".to_owned())
}
