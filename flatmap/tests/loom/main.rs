//! Models of the table under loom: `cargo xtask loom -p latchfree-flatmap`.
//!
//! In every model the main thread only spawns and joins, so that loom tries every thread first; each model
//! names the outcomes that it must have reached, so that one which explores nothing fails. Which orderings a
//! model guards is written in ORDERINGS.md; `cargo xtask weaken` shows that it does.
#![cfg(all(loom, feature = "loom"))]

mod lookup;
mod pin;
mod resize;
mod reuse;
mod slots;

use bytemuck::{Pod, Zeroable};
use core::hash::{BuildHasherDefault, Hash, Hasher};
use flatmap::{Builder, FlatMap, InsertError, PinWord, ResizeError};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use sync::prim::loom;

/// A key of two words that chooses its bucket: a mix of two keys may hash to a third one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct Key {
    id: u32,
    hash: u32,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.hash);
    }
}

#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys of these models write one u32")
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = u64::from(value);
    }
}

type BuildIdentity = BuildHasherDefault<Identity>;
type Table = Arc<FlatMap<Key, BuildIdentity>>;

const fn key(id: u32, hash: u32) -> Key {
    Key { id, hash }
}

/// A table of two buckets in two partitions.
fn builder(slots: u32) -> Builder<Key, BuildIdentity> {
    FlatMap::builder().slots(slots).buckets(2).partitions(2).hasher(BuildIdentity::default())
}

/// A table with these mappings, inserted in this order: the last one leads its chain.
fn table(slots: u32, mappings: &[(Key, u32)]) -> Table {
    filled(builder(slots).build().expect("a small table"), mappings)
}

fn filled(table: FlatMap<Key, BuildIdentity>, mappings: &[(Key, u32)]) -> Table {
    for &(key, slot) in mappings {
        table.insert(key, slot).expect("the slots are free");
    }
    Arc::new(table)
}

/// Runs `body` in every execution that loom finds; it returns what came out, and `expected` must all occur.
fn model(expected: &[&str], body: impl Fn() -> String + Sync + Send + 'static) {
    model_within(3, expected, body);
}

/// As `model`, with at most so many preemptions: for models that take too long with three.
fn model_within(preemptions: usize, expected: &[&str], body: impl Fn() -> String + Sync + Send + 'static) {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    let record = Arc::clone(&seen);
    builder.check(move || {
        let outcome = body();
        record.lock().expect("no panic inside").insert(outcome);
    });
    let seen = seen.lock().expect("no panic inside");
    for &outcome in expected {
        assert!(seen.contains(outcome), "never reached {outcome:?}, only {seen:?}");
    }
}

fn spawn<T: 'static>(body: impl FnOnce() -> T + 'static) -> loom::thread::JoinHandle<T> {
    loom::thread::spawn(body)
}

/// A value whose visibility shows whether two threads have synchronised.
#[derive(Default)]
struct Sign(loom::sync::atomic::AtomicU32);

impl Sign {
    fn set(&self) {
        // Relaxed: the table must make it visible.
        self.0.store(1, std::sync::atomic::Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        // Relaxed: as above.
        self.0.load(std::sync::atomic::Ordering::Relaxed) == 1
    }
}
