//! References and drops. That a reference can't outlive its pin, nor a pin its map: `src/misuse.rs`.

use crate::common::{
    CONSTANT, Counted, IDENTITY, Masked, Rng, Tally, beside, together, until, validate, watched,
};
use lhash::{LHashMap, OccupiedError, Operation, ShrinkPolicy};
use std::hint;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

type Map = LHashMap<u64, Counted, Masked>;

const KEYS: u64 = 16;

/// A map of few keys that splits and merges all the time. A value's number is its key's, modulo `KEYS`.
fn map_of(tally: &'static Tally) -> Map {
    let map = LHashMap::builder().fill_factor(1).shrink(ShrinkPolicy::Below { percent: 90 });
    let map = map.hasher(IDENTITY).build().expect("valid");
    map.pin().extend((0..KEYS).map(|key| (key, Counted::new(key, tally))));
    map
}

fn replace(map: &Map, tally: &'static Tally, rng: &mut Rng) {
    let pin = map.pin();
    let key = u64::from(rng.below(KEYS as u32));
    match rng.below(6) {
        0 => _ = pin.remove(&key),
        1 => _ = pin.compute(key, |_| Operation::Remove),
        2 => _ = pin.update(key, |old| Counted::new(old.read() + KEYS, tally)),
        _ => _ = pin.insert(key, Counted::new(key, tally)),
    }
}

#[test]
fn a_value_changes_or_dies_under_a_reader() {
    let tally = Tally::new();
    let map = map_of(tally);
    let mut rng = Rng::for_test("under a reader");
    let read = AtomicU64::new(0);
    watched("under a reader", || {
        together(3, &mut rng, |thread, rng| {
            for i in 0..6_000 {
                if thread > 0 {
                    replace(&map, tally, rng);
                    continue;
                }
                let pin = map.pin();
                let key = u64::from(rng.below(KEYS as u32));
                let Some(value) = pin.get(&key) else { continue };
                let first = value.read();
                assert_eq!(first % KEYS, key);
                if i % 16 == 0 {
                    thread::yield_now()
                } else {
                    hint::spin_loop()
                }
                assert_eq!(value.read(), first);
                read.fetch_add(1, Ordering::Relaxed);
            }
        });
    });
    assert!(read.into_inner() > 1000 && map.stats().merges > 0);
    validate(&map);
    drop(map);
    tally.settle(0);
}

#[test]
fn retain_beside_inserts_and_resizes_looks_at_an_entry_that_is_gone() {
    let tally = Tally::new();
    let map = map_of(tally);
    let mut rng = Rng::for_test("retain");
    watched("retain", || {
        together(3, &mut rng, |thread, rng| {
            for _ in 0..1_000 {
                match thread {
                    0 => map.pin().retain(|&key, value| {
                        assert_eq!(value.read() % KEYS, key);
                        key % 2 == 0
                    }),
                    1 => (0..8).for_each(|_| replace(&map, tally, rng)),
                    _ => {
                        map.reserve(30);
                        map.pin().shrink_to_fit();
                    }
                }
            }
        });
    });
    assert!(map.stats().splits > 1000 && map.stats().merges > 1000);
    validate(&map);
    drop(map);
    tally.settle(0);
}

/// What one insert replaced since it was met stays.
#[test]
fn retain_removes_a_value_that_it_was_not_asked_of() {
    let map = LHashMap::<_, _>::from_iter((0..100_u64).map(|key| (key, 0)));
    let pin = map.pin();
    pin.retain(|&key, &value| {
        map.pin().insert(key, 1);
        value == 1
    });
    assert_eq!((map.len(), pin.values().sum::<u64>()), (100, 100));
}

#[test]
fn an_element_is_destroyed_while_the_reference_that_its_insert_returned_is_held() {
    let tally = Tally::new();
    let map = map_of(tally);
    let pin = map.pin();
    let held = pin.try_insert(100, Counted::new(4, tally)).expect("not there");
    let replaced = pin.insert(5, Counted::new(5, tally)).expect("it was there");
    let mut iter = pin.iter();
    let met = iter.next().expect("there are entries").1;
    watched("reference held", || {
        thread::scope(|s| {
            s.spawn(|| {
                map.pin().clear();
                for i in 0..100_000 {
                    let pin = map.pin();
                    pin.insert(i % 64, Counted::new(i, tally));
                    pin.remove(&((i + 32) % 64));
                }
                map.pin().shrink_to_fit();
            });
        });
    });
    assert_eq!((held.read(), replaced.read(), met.read() < KEYS), (4, 5, true));
    for (_, value) in iter {
        assert!(value.read() < 64 + 100_000);
    }
    drop(pin);
    drop(map);
    tally.settle(0);
}

/// The order in which things are given back: what readers go through must go last.
#[test]
fn clear_frees_what_readers_still_walk_through() {
    let tally = Tally::new();
    let map = LHashMap::with_hasher(Masked(7));
    let fill = || (0..200).for_each(|key| _ = map.pin().insert(key, Counted::new(key, tally)));
    let mut rounds = 0;
    watched("clear", || {
        let read = || {
            let pin = map.pin();
            for key in 0..200 {
                assert!(pin.get(&key).is_none_or(|value| value.read() == key));
            }
            pin.values().for_each(|value| assert!(value.read() < 200));
        };
        beside(read, || {
            while rounds < 150 {
                fill();
                map.pin().clear();
                map.pin().shrink_to_fit();
                rounds += 1;
            }
        });
    });
    assert!(map.is_empty() && map.stats().overflow_pages == 0);
    drop(map);
    tally.settle(0);
}

#[test]
fn an_overflow_page_that_comes_and_goes_is_never_given_back() {
    let map = LHashMap::with_hasher(CONSTANT);
    for round in 0..2_000 {
        let mut pin = map.pin();
        (0..20_u64).for_each(|key| _ = pin.insert(key, round));
        assert!(map.stats().overflow_pages >= 2);
        (0..20).for_each(|key| _ = pin.remove(&key));
        assert_eq!(map.stats().overflow_pages, 0);
        pin.repin();
    }
    until(|| map.stats().memory_bytes < 60_000, || map.pin().shrink_to_fit());
}

trait AmbiguousIf<A> {
    fn holds() {}
}

struct Is;

impl<T: ?Sized> AmbiguousIf<()> for T {}
impl<T: Copy> AmbiguousIf<Is> for T {}

#[test]
fn the_head_of_a_map_is_copied_by_value() {
    <LHashMap<u8, u8, ()> as AmbiguousIf<_>>::holds();
    <lhash::Pinned<'_, u8, u8, ()> as AmbiguousIf<_>>::holds();
    let map = LHashMap::from([(1, 1)]);
    let copy = map.clone();
    copy.pin().insert(2, 2);
    map.pin().insert(1, 10);
    assert_eq!((map.len(), copy.len(), copy.get_cloned(&1)), (1, 2, Some(1)), "a copy is a map of its own");
    // Moved, and moved again.
    let mut boxes = [Box::new(map), Box::new(copy)];
    boxes.swap(0, 1);
    boxes[1].pin().extend((0..100).map(|key| (key, key)));
    boxes.iter().for_each(|map| validate(map));
}

#[test]
fn a_placeholder_is_leaked_or_removed_twice() {
    let tally = Tally::new();
    let map = map_of(tally);
    let pin = map.pin();
    let value = |number| Counted::new(number, tally);
    let panics = || pin.get_or_insert_with(50, || panic!("no value for you")).read();
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert!(!map.contains_key(&50), "never filled");
    let overwritten = pin.get_or_insert_with(50, || {
        map.pin().insert(50, value(1));
        value(2)
    });
    assert_eq!(overwritten.read(), 1, "filled meanwhile");
    let removed = pin.compute(50, |old| {
        map.pin().remove(&50);
        old.map_or(Operation::Keep, |_| Operation::Remove)
    });
    assert_eq!(removed, lhash::Computed::Unchanged(None), "removed meanwhile");
    let error = pin.try_insert(3, value(99)).expect_err("it is there");
    let OccupiedError { current, not_inserted } = error;
    assert_eq!((current.read(), not_inserted.read()), (3, 99));
    drop(not_inserted);
    validate(&map);
    drop(pin);
    drop(map);
    tally.settle(0);
}

#[test]
fn a_map_is_dropped_while_a_reader_starts() {
    let tally = Tally::new();
    let mut rng = Rng::for_test("readers start");
    watched("readers start", || {
        for _ in 0..100 {
            let map = Arc::new(map_of(tally));
            let mut owners: Vec<_> = (0..4).map(|_| Some(Arc::clone(&map))).collect();
            drop(map);
            let line = crate::common::StartLine::new(4);
            thread::scope(|s| {
                for owner in &mut owners {
                    let (map, mut rng, line) = (owner.take().expect("its own"), rng.split(), &line);
                    s.spawn(move || {
                        line.wait();
                        let pin = map.pin();
                        let key = u64::from(rng.below(KEYS as u32));
                        assert!(pin.get(&key).is_none_or(|value| value.read() % KEYS == key));
                        pin.remove(&key);
                        drop(pin);
                        drop(map);
                    });
                }
            });
            tally.settle(0);
        }
    });
}

/// One reader and one writer: with more of them it hides.
#[test]
fn a_reader_sees_an_entry_before_what_its_writer_put_into_it() {
    let map = LHashMap::with_hasher(Masked(1));
    let step = AtomicU64::new(0);
    let write = || {
        let i = step.fetch_add(1, Ordering::Relaxed);
        map.pin().insert(i % 4, Box::new([i; 32]));
    };
    watched("one reader", || {
        beside(write, || {
            until(
                || step.load(Ordering::Relaxed) > 30_000,
                || {
                    let pin = map.pin();
                    for key in 0..4 {
                        let Some(value) = pin.get(&key) else { continue };
                        assert!(value.iter().all(|i| *i == value[0] && i % 4 == key), "{value:?}");
                    }
                },
            );
        });
    });
}

#[test]
fn an_iterator_that_owns_the_entries_drops_the_rest_twice_or_never() {
    let tally = Tally::new();
    for taken in [0, 1, 50, 999, 1000] {
        let map: LHashMap<Counted, Counted> = LHashMap::new();
        for key in 0..1000 {
            map.pin().insert(Counted::new(key, tally), Counted::new(key, tally));
        }
        (0..500).for_each(|key| _ = map.pin().remove(&Counted::new(key, tally)));
        (0..500).for_each(|key| _ = map.pin().insert(Counted::new(key, tally), Counted::new(key, tally)));
        let mut iter = map.into_iter();
        let first: Vec<_> = iter.by_ref().take(taken).collect();
        assert!(first.iter().all(|(key, value)| key.read() == value.read()));
        drop(iter);
        tally.settle(2 * taken as u64);
        drop(first);
        tally.settle(0);
    }
}
