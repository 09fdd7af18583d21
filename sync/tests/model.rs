//! Random walks through a lock's modes on one thread, beside a model that is three lines long. Whatever was
//! done before, the lock has to be in the mode that the model says.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

#[path = "common/rng.rs"]
mod rng;
#[path = "common/watchdog.rs"]
mod watchdog;

use rng::{Rng, seed};
use std::time::Duration;
use sync::{LwLock, ReadGuard, WriteGuard};
use watchdog::watch;

/// What the lock should admit: the model is nothing but the guards that exist.
#[derive(Default)]
struct Holds<'a> {
    readers: Vec<ReadGuard<'a, u32>>,
    writer: Option<WriteGuard<'a, u32>>,
    /// What the data should be.
    value: u32,
}

impl<'a> Holds<'a> {
    fn is_free(&self) -> bool {
        self.readers.is_empty() && self.writer.is_none()
    }

    fn reads(&mut self, guard: Option<ReadGuard<'a, u32>>) {
        assert_eq!(guard.is_some(), self.writer.is_none(), "a try for a shared hold");
        self.readers.extend(guard);
    }

    fn writes(&mut self, guard: Option<WriteGuard<'a, u32>>) {
        assert_eq!(guard.is_some(), self.is_free(), "a try for an exclusive hold");
        if let Some(mut guard) = guard {
            self.value += 1;
            *guard += 1;
            self.writer = Some(guard);
        }
    }

    fn let_go(&mut self, rng: &mut Rng) {
        if self.writer.take().is_none() && !self.readers.is_empty() {
            let which = rng.below(self.readers.len() as u64);
            drop(self.readers.swap_remove(usize::try_from(which).expect("an index")));
        }
    }

    fn step(&mut self, lock: &'a LwLock<u32>, rng: &mut Rng) -> &'static str {
        // Long enough for a waiter to ask for a hand-over, so few of them.
        let long = Duration::from_micros(1200);
        let name = match rng.below(1000) {
            0..150 => (self.reads(lock.try_read()), "try_read").1,
            150..250 => (self.writes(lock.try_write()), "try_write").1,
            250..300 => (self.reads(lock.try_read_for(Duration::ZERO)), "try_read_for 0").1,
            300..350 => (self.writes(lock.try_write_for(Duration::ZERO)), "try_write_for 0").1,
            350..355 => (self.reads(lock.try_read_for(long)), "try_read_for").1,
            355..360 => (self.writes(lock.try_write_for(long)), "try_write_for").1,
            360..370 => (self.reads(lock.try_read_for(Duration::from_nanos(1))), "try_read_for 1").1,
            370..380 => (self.writes(lock.try_write_for(Duration::from_nanos(1))), "try_write_for 1").1,
            380..430 if self.is_free() => (self.reads(Some(lock.read())), "read").1,
            430..480 if self.is_free() => (self.writes(Some(lock.write())), "write").1,
            480..530 if self.is_free() => (self.writes(lock.write_or_wait()), "write_or_wait").1,
            530..650 => {
                self.readers.extend(self.writer.take().map(WriteGuard::downgrade));
                "downgrade"
            }
            _ => (self.let_go(rng), "let go").1,
        };
        assert_eq!(lock.is_write_locked(), self.writer.is_some(), "after {name}");
        assert_eq!(lock.is_locked(), !self.is_free(), "after {name}");
        assert!(self.readers.iter().all(|guard| **guard == self.value), "after {name}");
        assert!(self.writer.iter().all(|guard| **guard == self.value), "after {name}");
        name
    }
}

#[test]
fn any_sequence_of_mode_changes_leaves_the_mode_that_it_should() {
    let _dog = watch("random mode changes");
    let seed = seed();
    let mut counts = std::collections::BTreeMap::new();
    for round in 0..40 {
        let lock = LwLock::new(0);
        let mut rng = Rng::new(seed + round);
        let mut holds = Holds::default();
        for _ in 0..2000 {
            *counts.entry(holds.step(&lock, &mut rng)).or_insert(0) += 1;
        }
        let value = holds.value;
        drop(holds);
        assert!(lock.try_write().is_some(), "nobody holds it");
        assert_eq!(lock.into_inner(), value);
    }
    println!("{counts:?}");
    assert_eq!(counts.len(), 13, "some operation was never tried: {counts:?}");
}
