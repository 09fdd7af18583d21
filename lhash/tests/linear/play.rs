//! Plays short rounds on small tables with threads that start together, and records them.

use crate::common::{Masked, POLICIES, Rng, StartLine};
use crate::spec::{Event, Op, STEP};
use lhash::{Computed, CountPolicy, LHashMap, OccupiedError, Operation, ShrinkPolicy, Stats};
use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

type Map = LHashMap<u32, u32, Masked>;

/// Fillers have numbers from here on.
const FILLERS: u32 = 1 << 20;

/// How many entries a bucket of a crowded table has.
const CROWD: u32 = 150;

/// All keys of a crowd are in bucket 0, 4 or 12: that depends on how many buckets there are.
pub(crate) fn crowd_key(number: u32) -> u32 {
    12 + 16 * number
}

/// A kind of round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) threads: u32,
    pub(crate) keys: u32,
    pub(crate) hasher: Masked,
    /// All keys are in one bucket, with many others, and are on their way together when it is split or merged.
    crowded: bool,
    pub(crate) policy: CountPolicy,
    pub(crate) fill_factor: u32,
    /// Further keys, so that buckets have overflow pages and moves take longer.
    pub(crate) fillers: u32,
    /// How often a thread resizes the table instead of using it, in 16.
    pub(crate) resizes: u32,
    pub(crate) steps: u32,
}

impl Shape {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        let threads = 2 + rng.below(3);
        let pick = |rng: &mut Rng, of: &[u64]| of[rng.below(of.len() as u32) as usize];
        let crowded = rng.below(4) == 0;
        Self {
            threads,
            crowded,
            keys: 2 + rng.below(7),
            hasher: Masked(if crowded { !0 } else { pick(rng, &[!0, !0, 1, 12, 0]) }),
            policy: *POLICIES.get(rng.below(5) as usize).unwrap_or(&CountPolicy::OverflowSignal),
            fill_factor: if crowded { CROWD / 2 } else { 1 + rng.below(2) },
            fillers: if crowded { CROWD } else { 6 * rng.below(4) },
            resizes: if crowded { 4 } else { rng.below(5) },
            steps: 20 / threads,
        }
    }

    /// The key of a number.
    pub(crate) fn key(&self, number: u32) -> u32 {
        if self.crowded { crowd_key(number) } else { number }
    }

    fn map(&self) -> Map {
        let builder = LHashMap::builder().fill_factor(self.fill_factor).count_policy(self.policy);
        let map =
            builder.shrink(ShrinkPolicy::Below { percent: 90 }).hasher(self.hasher).build().expect("valid");
        map.pin().extend((0..self.fillers).map(|filler| (self.key(FILLERS + filler), 0)));
        map
    }
}

/// One call, and how long to wait before it.
#[derive(Clone, Copy, Debug)]
struct Move {
    what: u32,
    key: u32,
    value: u32,
    resize: bool,
    pause: u32,
}

impl Move {
    fn random(shape: &Shape, rng: &mut Rng) -> Self {
        Self {
            what: rng.below(16),
            key: rng.below(shape.keys),
            value: rng.below(STEP),
            resize: rng.below(16) < shape.resizes,
            pause: rng.below(64),
        }
    }

    fn pause(&self) {
        match self.pause {
            0 => thread::yield_now(),
            1..8 => (0..self.pause * 8).for_each(|_| hint::spin_loop()),
            _ => {}
        }
    }

    /// Makes the call; how often its closure was called again is added to `retried`.
    fn make(&self, shape: &Shape, map: &Map, retried: &AtomicU64) -> Op {
        let Self { what, value, .. } = *self;
        let (number, key) = (self.key, shape.key(self.key));
        let pin = map.pin();
        let calls = AtomicU64::new(0);
        let call = || _ = calls.fetch_add(1, Ordering::Relaxed);
        let op = match what {
            0..4 => Op::Insert(number, value, pin.insert(key, value).copied()),
            4 => match pin.try_insert(key, value) {
                Ok(_) => Op::TryInsert(number, value, None),
                Err(OccupiedError { current, .. }) => Op::TryInsert(number, value, Some(*current)),
            },
            5 | 6 => Op::Removed(number, pin.remove(&key).copied()),
            7 | 8 => {
                let add = |old: &u32| {
                    call();
                    old + STEP
                };
                Op::Update(number, pin.update(key, add).copied())
            }
            9 | 10 => {
                let toggle = |old: Option<&u32>| {
                    call();
                    old.map_or(Operation::Insert(value), |_| Operation::Remove)
                };
                match pin.compute(key, toggle) {
                    Computed::Inserted(new) => Op::Toggle(number, *new, None),
                    Computed::Removed(old) => Op::Toggle(number, value, Some(*old)),
                    other => panic!("{other:?}"),
                }
            }
            11 => Op::Has(number, pin.contains_key(&key)),
            _ => Op::Get(number, pin.get(&key).copied()),
        };
        retried.fetch_add(calls.into_inner().saturating_sub(1), Ordering::Relaxed);
        op
    }

    fn record(&self, shape: &Shape, map: &Map, clock: Instant, retried: &AtomicU64) -> Event {
        self.pause();
        if self.resize {
            match self.what % 2 {
                0 => map.reserve((self.value % 40 * shape.fill_factor) as usize),
                _ => map.pin().shrink_to_fit(),
            }
        }
        let call = clock.elapsed().as_nanos() as u64;
        let op = self.make(shape, map, retried);
        Event { op, call, end: clock.elapsed().as_nanos() as u64 }
    }
}

/// Histories of one shape, and the figures of the tables when the threads started and when they had ended.
pub(crate) struct Played {
    pub(crate) histories: Vec<Vec<Event>>,
    pub(crate) stats: Vec<(Stats, Stats)>,
    pub(crate) retried: u64,
}

/// Plays `rounds` rounds, each on a map of its own, which starts with some of the keys.
pub(crate) fn play(shape: Shape, rounds: usize, rng: &mut Rng) -> Played {
    let (clock, retried) = (Instant::now(), AtomicU64::new(0));
    let maps: Vec<Map> = (0..rounds).map(|_| shape.map()).collect();
    let insert = |key| Move { what: 0, key, value: key, resize: false, pause: 8 };
    let start = |map| {
        (0..shape.keys).step_by(2).map(|key| insert(key).record(&shape, map, clock, &retried)).collect()
    };
    let mut histories: Vec<Vec<Event>> = maps.iter().map(start).collect();
    let before: Vec<Stats> = maps.iter().map(Map::stats).collect();
    let line = StartLine::new(shape.threads as usize);
    thread::scope(|s| {
        let threads: Vec<_> = (0..shape.threads)
            .map(|_| {
                let (mut rng, maps, line, retried) = (rng.split(), &maps, &line, &retried);
                s.spawn(move || -> Vec<Vec<Event>> {
                    let _others = line.break_on_panic();
                    let round = |map| {
                        let moves: Vec<_> =
                            (0..shape.steps).map(|_| Move::random(&shape, &mut rng)).collect();
                        line.wait();
                        moves.iter().map(|one| one.record(&shape, map, clock, retried)).collect()
                    };
                    maps.iter().map(round).collect()
                })
            })
            .collect();
        for thread in threads {
            let recorded = thread.join().expect("no operation panics");
            histories.iter_mut().zip(recorded).for_each(|(history, events)| history.extend(events));
        }
    });
    let stats = before.into_iter().zip(maps.iter().map(Map::stats)).collect();
    Played { histories, stats, retried: retried.into_inner() }
}
