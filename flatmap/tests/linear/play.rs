//! Plays short rounds on small tables with threads that start together, and records them.

use crate::common::{Masked, Rng, StartLine, key};
use crate::spec::{Event, Op};
use flatmap::{FlatMap, InsertError, MissPolicy, Stats};
use std::hint;
use std::thread;
use std::time::Instant;

/// Wide, so that torn keys have many ways to be wrong.
type Key = [u64; 4];

type Table = FlatMap<Key, Masked>;

/// Key `number`: each half of each word is the number.
fn wide(number: u32) -> Key {
    key(u64::from(number) << 32 | u64::from(number))
}

/// The number of a key; panics if it is a mix of several.
fn number(key: Key) -> u32 {
    let number = key[0] as u32;
    assert_eq!(key, wide(number), "a torn key was returned");
    number
}

/// A kind of round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) threads: u32,
    pub(crate) keys: u32,
    pub(crate) slots: u32,
    buckets: u32,
    partitions: u32,
    tries: u32,
    miss: MissPolicy,
    /// Further keys that lie at the ends of the chains all the time, so that walks take longer.
    fillers: u32,
    /// Whether the threads split and merge buckets between their steps.
    resizes: bool,
    steps: u32,
}

/// The most buckets of a table that is resized.
const MAX_BUCKETS: u32 = 6;

impl Shape {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        let threads = 2 + rng.below(3);
        let partitions = 1 << rng.below(2);
        Self {
            threads,
            keys: 3 + rng.below(6),
            slots: 1 + rng.below(4),
            buckets: partitions << rng.below(2),
            partitions,
            tries: [1, 1, 2, 4][rng.below(4) as usize],
            miss: if rng.below(4) == 0 { MissPolicy::Locked } else { MissPolicy::Validated },
            fillers: 8 * rng.below(3),
            resizes: rng.below(2) == 0,
            steps: 16 / threads,
        }
    }

    fn table(&self) -> Table {
        let table = FlatMap::builder()
            .slots(self.slots + self.fillers)
            .buckets(self.buckets)
            .max_buckets(MAX_BUCKETS)
            .partitions(self.partitions)
            .optimistic_tries(self.tries)
            .miss(self.miss)
            .hasher(Masked(!0))
            .build()
            .expect("valid");
        for filler in 0..self.fillers {
            table.insert(wide(1000 + filler), self.slots + filler).expect("free");
        }
        table
    }
}

/// One call, and how long to wait before it.
#[derive(Clone, Copy, Debug)]
struct Move {
    what: u32,
    key: u32,
    slot: u32,
    pause: u32,
    /// To so many buckets before the call.
    resize: Option<u32>,
}

impl Move {
    fn random(shape: &Shape, rng: &mut Rng) -> Self {
        Self {
            what: rng.below(22),
            key: rng.below(shape.keys),
            slot: rng.below(shape.slots),
            pause: rng.below(64),
            resize: (shape.resizes && rng.below(4) == 0)
                .then(|| shape.partitions + rng.below(MAX_BUCKETS + 1 - shape.partitions)),
        }
    }

    fn pause(&self) {
        match self.pause {
            0 => thread::yield_now(),
            1..8 => (0..self.pause * 8).for_each(|_| hint::spin_loop()),
            _ => {}
        }
    }

    fn make(&self, table: &Table) -> Op {
        let Self { what, key, slot, .. } = *self;
        match what {
            0..=5 => match table.insert(wide(key), slot) {
                Ok(()) => Op::Inserted(key, slot),
                Err(InsertError::KeyExists { slot }) => Op::KeyExists(key, slot),
                Err(InsertError::SlotOccupied { slot }) => Op::SlotOccupied(key, slot),
                Err(error) => panic!("{error}"),
            },
            6 | 7 => match table.remove(&wide(key)) {
                Some(slot) => Op::Removed(key, slot),
                None => Op::Get(key, None),
            },
            8 => match table.remove_if(&wide(key), slot) {
                true => Op::Removed(key, slot),
                false => Op::NotThere(slot, key),
            },
            9 | 10 => match table.remove_slot(slot) {
                Some(key) => Op::Removed(number(key), slot),
                None => Op::KeyOf(slot, None),
            },
            11..=14 => Op::Get(key, table.get(&wide(key))),
            15 => Op::Holds(slot, key, table.holds(slot, &wide(key))),
            16 => Op::Get(key, table.pin_with(&wide(key), Some).map(|(slot, _)| slot)),
            _ => Op::KeyOf(slot, table.key_of(slot).map(number)),
        }
    }

    /// A batch of three keys: as three lookups at the same time, each linearizable by itself.
    fn make_many(&self, table: &Table, keys: u32) -> Vec<Op> {
        let asked = [0, 1, 2].map(|more| (self.key + more) % keys);
        let mut found = [None; 3];
        table.get_many(&asked.map(wide), &mut found);
        asked.into_iter().zip(found).map(|(key, slot)| Op::Get(key, slot)).collect()
    }

    fn record(&self, shape: &Shape, table: &Table, clock: Instant) -> Vec<Event> {
        self.pause();
        if let Some(buckets) = self.resize {
            table.set_buckets(buckets).expect("within bounds");
        }
        let call = clock.elapsed().as_nanos() as u64;
        let ops = match self.what {
            20.. => self.make_many(table, shape.keys),
            _ => vec![self.make(table)],
        };
        let end = clock.elapsed().as_nanos() as u64;
        ops.into_iter().map(|op| Event { op, call, end }).collect()
    }
}

/// Histories of one shape, and what the tables counted.
pub(crate) struct Played {
    pub(crate) histories: Vec<Vec<Event>>,
    pub(crate) stats: Vec<Stats>,
}

/// Plays `rounds` rounds, each on a table of its own, which starts with some of the keys.
pub(crate) fn play(shape: Shape, rounds: usize, rng: &mut Rng) -> Played {
    let clock = Instant::now();
    let tables: Vec<Table> = (0..rounds).map(|_| shape.table()).collect();
    let start_of = |table| {
        let mapped = (0..shape.slots.min(shape.keys)).step_by(2);
        let insert = |number| Move { what: 0, key: number, slot: number, pause: 8, resize: None };
        mapped.flat_map(|number| insert(number).record(&shape, table, clock)).collect()
    };
    let mut histories: Vec<Vec<Event>> = tables.iter().map(start_of).collect();
    let line = StartLine::new(shape.threads as usize);
    thread::scope(|s| {
        let threads: Vec<_> = (0..shape.threads)
            .map(|_| {
                let (mut rng, tables, line) = (rng.split(), &tables, &line);
                s.spawn(move || -> Vec<Vec<Event>> {
                    let _others = line.break_on_panic();
                    let round = |table| {
                        let moves: Vec<_> =
                            (0..shape.steps).map(|_| Move::random(&shape, &mut rng)).collect();
                        line.wait();
                        moves.iter().flat_map(|one| one.record(&shape, table, clock)).collect()
                    };
                    tables.iter().map(round).collect()
                })
            })
            .collect();
        for thread in threads {
            let recorded = thread.join().expect("no operation panics");
            histories.iter_mut().zip(recorded).for_each(|(history, events)| history.extend(events));
        }
    });
    Played { histories, stats: tables.iter().map(Table::stats).collect() }
}
