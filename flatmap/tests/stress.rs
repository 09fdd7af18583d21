//! Threads without a checker of histories, but with things that must hold at every moment. Each test runs for
//! `FLATMAP_STRESS_SECONDS` (default 1) a table, and on until it has met retries and fallbacks; `FLATMAP_SEED`
//! repeats the threads' plans.
#![cfg(not(all(loom, feature = "loom")))]

mod common;

use common::{Masked, PATIENCE, Rng, StopAll, key, validate, watched, watched_for};
use flatmap::{FlatMap, MissPolicy, PinWord, Stats};
use std::array;
use std::env;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Four words, so that torn keys have many ways to be wrong.
type Key = [u64; 4];

type Table = FlatMap<Key, Masked>;

/// A key whose words are all its number; its hash has the number's lowest bit.
fn wide(number: u32) -> Key {
    key(u64::from(number))
}

#[track_caller]
fn number(key: Key) -> u32 {
    assert_eq!(key, [key[0]; 4], "a torn key was returned");
    key[0] as u32
}

fn table(slots: u32, tries: u32, miss: MissPolicy) -> Table {
    let builder = FlatMap::builder().slots(slots).buckets(2).max_buckets(64).partitions(2).hasher(Masked(!0));
    builder.optimistic_tries(tries).miss(miss).build().expect("valid")
}

/// What a thread does over and over.
type Work<T> = fn(&T, &mut Rng);

/// Runs both kinds of threads, two of each, until `met` says that they have met; with few tries and with
/// many, with each policy for misses.
fn contend<T: Sync>(
    test: &'static str,
    build: impl Fn(u32, MissPolicy) -> T,
    stats: impl Fn(&T) -> Stats,
    work: [Work<T>; 2],
) {
    let seconds = env::var("FLATMAP_STRESS_SECONDS").map_or(1, |text| text.parse().expect("seconds"));
    let time = Duration::from_secs(seconds);
    let mut rng = Rng::for_test(test);
    let has_met = |stats: Stats, tries| match tries {
        1 => stats.fallbacks > 0 && stats.fallback_hits > 0,
        _ => stats.retried > 0,
    };
    watched_for(3 * time, test, || {
        for (tries, miss) in [(1, MissPolicy::Validated), (3, MissPolicy::Validated), (3, MissPolicy::Locked)]
        {
            let (shared, stop) = (build(tries, miss), AtomicBool::new(false));
            thread::scope(|s| {
                for work in work.into_iter().chain(work) {
                    let (mut rng, shared, stop) = (rng.split(), &shared, &stop);
                    s.spawn(move || {
                        let _stop = StopAll(stop); // also when this thread panics
                        while !stop.load(Ordering::Relaxed) {
                            work(shared, &mut rng);
                        }
                    });
                }
                let start = Instant::now();
                while !stop.load(Ordering::Relaxed)
                    && (start.elapsed() < time
                        || !has_met(stats(&shared), tries) && start.elapsed() < time + PATIENCE)
                {
                    thread::sleep(Duration::from_millis(10));
                }
                stop.store(true, Ordering::Relaxed);
            });
            eprintln!("{test}: {:?}", stats(&shared));
            assert!(has_met(stats(&shared), tries), "{test}: the threads do not meet");
        }
    });
}

/// Keys below this are mapped all the time, key k to slot k.
const STABLE: u32 = 6;
/// Further keys and slots: key k is only ever mapped to slots of k's remainder.
const CHURNED: u32 = 24;
const REMAINDERS: u32 = 6;

/// A key that comes and goes, and a slot it may have.
fn churned(rng: &mut Rng) -> (u32, u32) {
    let key = STABLE + rng.below(CHURNED);
    (key, key % REMAINDERS + STABLE + REMAINDERS * rng.below(2))
}

fn stable_and_churned(tries: u32, miss: MissPolicy) -> Table {
    let table = table(STABLE + 2 * REMAINDERS, tries, miss);
    // Stable keys at the end of the chains, in the middle and in front, where the churn passes them all.
    let mut rng = Rng::for_test("the order of the chains");
    for number in 0..STABLE {
        table.insert(wide(number), number).expect("free");
        let (key, slot) = churned(&mut rng);
        let _ = table.insert(wide(key), slot);
    }
    table
}

fn churn(table: &Table, rng: &mut Rng) {
    let (key, slot) = churned(rng);
    match rng.below(6) {
        0..=2 => _ = table.insert(wide(key), slot),
        3 => {
            let found = table.remove(&wide(key));
            assert!(found.is_none_or(|slot| slot % REMAINDERS == key % REMAINDERS), "{key} was at {found:?}");
        }
        4 => _ = table.remove_if(&wide(key), slot),
        _ => {
            let found = table.remove_slot(slot).map(number);
            assert!(found.is_none_or(|key| slot % REMAINDERS == key % REMAINDERS), "{slot} had {found:?}");
        }
    }
}

fn look(table: &Table, rng: &mut Rng) {
    let stable = rng.below(STABLE);
    assert_eq!(table.get(&wide(stable)), Some(stable), "a stable key was missed");
    assert_eq!(table.key_of(stable).map(number), Some(stable), "a stable slot was missed");
    assert!(table.holds(stable, &wide(stable)));
    let (key, slot) = churned(rng);
    let found = table.get(&wide(key));
    assert!(found.is_none_or(|slot| slot % REMAINDERS == key % REMAINDERS), "{key} was found at {found:?}");
    let found = table.key_of(slot).map(number);
    assert!(found.is_none_or(|key| slot % REMAINDERS == key % REMAINDERS), "{slot} had {found:?}");
    // A key made of the words of two, which nobody inserts.
    let (other, cut) = (churned(rng).0, 1 + rng.below(3) as usize);
    if other != key {
        let mix = array::from_fn(|word| if word < cut { u64::from(key) } else { u64::from(other) });
        assert_eq!(table.get(&mix), None, "{mix:?} was never inserted");
        assert!(!table.holds(slot, &mix));
    }
    if rng.below(16) == 0 {
        let listed: Vec<u32> = table.iter().map(|(_, key)| number(key)).filter(|key| *key < STABLE).collect();
        assert_eq!(listed, (0..STABLE).collect::<Vec<_>>(), "stable keys are yielded once each");
    }
}

#[test]
fn lookups_are_right_while_their_chains_change() {
    contend("lookups", stable_and_churned, Table::stats, [churn, look]);
}

/// Changes chains, or how many there are.
fn churn_or_resize(table: &Table, rng: &mut Rng) {
    match rng.below(8) {
        0 => table.set_buckets(2 + rng.below(63)).expect("within bounds"),
        _ => churn(table, rng),
    }
}

fn look_or_look_at_many(table: &Table, rng: &mut Rng) {
    look(table, rng);
    let stable: Vec<u32> = (0..rng.below(2 * STABLE)).map(|_| rng.below(STABLE)).collect();
    let mut found = vec![None; stable.len()];
    table.get_many(&stable.iter().map(|&key| wide(key)).collect::<Vec<_>>(), &mut found);
    assert!(found.iter().zip(&stable).all(|(found, key)| *found == Some(*key)), "{stable:?}: {found:?}");
}

#[test]
fn lookups_are_right_while_buckets_are_split_and_merged() {
    let stats = |table: &Table| {
        let stats = table.stats();
        let has_met = stats.splits > 1000 && stats.merges > 1000;
        if has_met { stats } else { Stats::default() }
    };
    contend("resizing", stable_and_churned, stats, [churn_or_resize, look_or_look_at_many]);
}

#[test]
fn a_table_is_whole_after_all_threads_have_churned_it() {
    let mut rng = Rng::for_test("whole");
    let table = stable_and_churned(2, MissPolicy::Validated);
    watched("whole", || {
        for _ in 0..200 {
            thread::scope(|s| {
                for _ in 0..3 {
                    let mut rng = rng.split();
                    let table = &table;
                    s.spawn(move || (0..100).for_each(|_| churn_or_resize(table, &mut rng)));
                }
            });
            validate(&table);
        }
    });
}

const FRAMES: u32 = 4;
const PAGES: u32 = 12;
const EMPTY: u64 = u64::MAX;

/// A buffer pool: frame x holds the page that the table maps to x.
struct Pool {
    table: Table,
    frames: Vec<Frame>,
}

struct Frame {
    pins: PinWord,
    content: [AtomicU64; 4],
}

impl Frame {
    fn write(&self, content: u64) {
        self.content.iter().for_each(|word| word.store(content, Ordering::Relaxed));
    }

    #[track_caller]
    fn assert_holds(&self, content: u64) {
        for word in &self.content {
            assert_eq!(word.load(Ordering::Relaxed), content, "the frame was pinned for another page");
        }
    }
}

fn pool(tries: u32, miss: MissPolicy) -> Pool {
    let frame = || Frame { pins: PinWord::new(), content: array::from_fn(|_| AtomicU64::new(EMPTY)) };
    Pool { table: table(FRAMES, tries, miss), frames: (0..FRAMES).map(|_| frame()).collect() }
}

/// Gives a frame to another page, or leaves it empty: evict, remove, write, insert, finish.
fn replace(pool: &Pool, rng: &mut Rng) {
    if rng.below(16) == 0 {
        pool.table.set_buckets(2 + rng.below(8)).expect("within bounds");
    }
    let (slot, page) = (rng.below(FRAMES), rng.below(PAGES));
    let frame = &pool.frames[slot as usize];
    if !frame.pins.try_evict() {
        return;
    }
    let before = frame.content[0].load(Ordering::Relaxed);
    frame.assert_holds(before);
    let removed = match rng.below(3) {
        0 => pool.table.remove_slot(slot).map(number).map(u64::from),
        _ if before == EMPTY => pool.table.key_of(slot).map(|key| key[0]),
        1 => pool.table.remove(&wide(before as u32)).map(|_| before),
        _ => pool.table.remove_if(&wide(before as u32), slot).then_some(before),
    };
    assert_eq!(removed.unwrap_or(EMPTY), before, "the evictor owns the frame");
    frame.write(u64::from(page));
    // The page may have come to another frame meanwhile.
    if rng.below(4) == 0 || pool.table.insert(wide(page), slot).is_err() {
        frame.write(EMPTY);
    }
    frame.pins.finish();
}

fn read(pool: &Pool, rng: &mut Rng) {
    let page = rng.below(PAGES);
    let pinned = pool.table.pin_with(&wide(page), |slot| {
        // Time for the frame to be given to another page, between the lookup and the pin.
        if rng.below(16) == 0 {
            thread::yield_now();
        }
        pool.frames[slot as usize].pins.pin()
    });
    if let Some((slot, _pin)) = pinned {
        let frame = &pool.frames[slot as usize];
        frame.assert_holds(u64::from(page));
        if rng.below(32) == 0 {
            thread::yield_now();
        }
        assert!(pool.table.holds(slot, &wide(page)), "a pinned page stays");
        assert_eq!(pool.table.key_of(slot).map(number), Some(page));
        frame.assert_holds(u64::from(page));
    }
}

#[test]
fn a_pinned_frame_holds_the_page_that_was_asked_for() {
    contend("pins", pool, |pool| pool.table.stats(), [replace, read]);
}
