//! Deadlocks, and threads that are forgotten.

use crate::common::{Counted, IDENTITY, Masked, Rng, Tally, beside, together, until, validate, watched};
use lhash::{Iter, LHashMap, LHashMultiMap, Operation, Pinned, PinnedMulti, ShrinkPolicy};
use std::sync::mpsc::channel;
use std::thread;

type Map = LHashMap<u64, u64, Masked>;

#[test]
fn resizes_beside_eight_writers_leave_one_of_them_waiting() {
    let map = LHashMap::builder().fill_factor(1).shrink(ShrinkPolicy::Below { percent: 90 });
    let map: Map = map.hasher(IDENTITY).build().expect("valid");
    let mut rng = Rng::for_test("resizes");
    watched("resizes", || {
        until(
            || map.stats().splits > 1000,
            || {
                together(8, &mut rng, |thread, _| {
                    let pin = map.pin();
                    for key in 0..20 {
                        pin.insert(key, thread as u64);
                        pin.remove(&((key + thread as u64) % 20));
                    }
                });
            },
        );
    });
    assert!(map.stats().merges > 0);
    validate(&map);
}

#[test]
fn clear_races_with_growth() {
    let map = Map::with_hasher(IDENTITY);
    let mut rng = Rng::for_test("clear");
    let insert = || {
        let pin = map.pin();
        for key in 0..300 {
            pin.insert(key, key);
            assert!(pin.get(&(300 - key)).is_none_or(|&value| value == 300 - key));
        }
    };
    watched("clear", || {
        beside(insert, || {
            until(
                || map.stats().merges > 3_000,
                || {
                    map.pin().clear();
                    if rng.below(4) == 0 {
                        map.pin().shrink_to_fit();
                    }
                },
            );
        });
    });
    map.pin().clear();
    assert_eq!((map.len(), map.pin().iter().count()), (0, 0));
    insert();
    assert!((0..300).all(|key| map.get_cloned(&key) == Some(key)));
    validate(&map);
}

/// References, iterators and pins are no locks.
#[test]
fn a_reference_held_across_a_call_on_the_same_map_deadlocks() {
    let map = Map::with_hasher(IDENTITY);
    map.pin().extend((0..50).map(|key| (key, key)));
    watched("reference held", || {
        let pin = map.pin();
        let (held, mut iter) = (pin.get(&7).expect("it is there"), pin.iter());
        assert!(iter.next().is_some());
        let mut other = map.pin();
        assert_eq!(other.insert(7, 70), Some(&7));
        assert_eq!(other.update(7, |value| value + 1), Some(&71));
        assert_eq!(other.remove(&7), Some(&71));
        other.extend((100..200).map(|key| (key, key)));
        other.retain(|&key, _| key >= 100);
        map.reserve(1000);
        other.clear();
        other.shrink_to_fit();
        other.repin();
        assert_eq!((map.exact_len(), map.clone().len(), *held), (0, 0, 7));
        assert!(iter.count() < 50);
    });
    validate(&map);
}

#[test]
fn two_threads_that_each_hold_a_reference_wait_for_each_other() {
    let map = Map::with_hasher(IDENTITY);
    map.pin().extend((0..8).map(|key| (key, key)));
    let mut rng = Rng::for_test("two references");
    watched("two references", || {
        together(4, &mut rng, |thread, _| {
            for _ in 0..500 {
                let pin = map.pin();
                let held = pin.get(&(thread as u64)).expect("it is there");
                pin.insert(4 + (thread as u64 + 1) % 4, *held);
                map.pin().update((thread as u64 + 1) % 4, |value| *value);
                assert_eq!(held, &(thread as u64));
            }
        });
    });
    validate(&map);
}

trait AmbiguousIf<A> {
    fn holds() {}
}

struct Is;

impl<T: ?Sized> AmbiguousIf<()> for T {}
impl<T: ?Sized + Send> AmbiguousIf<Is> for T {}

/// Does not compile if one of them can go to another thread: then a pin could be held across an `await`.
#[test]
fn a_pin_is_held_over_an_await() {
    <Pinned<'_, u8, u8, u8> as AmbiguousIf<_>>::holds();
    <PinnedMulti<'_, u8, u8, u8> as AmbiguousIf<_>>::holds();
    <Iter<'_, u8, u8> as AmbiguousIf<_>>::holds();
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let map = LHashMap::from([(1, 2)]);
    let task = is_send(async { map.get_cloned(&1).map(|value| (value, map.contains_key(&1))) });
    drop(task);
}

#[test]
fn a_call_that_works_on_the_whole_map_deadlocks_with_itself() {
    let map = Map::with_hasher(IDENTITY);
    watched("whole map", || {
        for round in 0..4 {
            map.pin().extend((0..200).map(|key| (key, round)));
            let mut calls = 0;
            map.pin().retain(|&key, _| {
                calls += 1;
                if calls % 50 == 7 {
                    map.pin().shrink_to_fit();
                    map.reserve(500);
                    map.pin().extend((1000..1050).map(|key| (key, round)));
                    map.pin().retain(|&key, _| key < 1020);
                    assert!(map.exact_len() <= 220 && map.clone().len() <= 220);
                }
                key % 2 == 0
            });
            assert!((0..200).all(|key| map.contains_key(&key) == (key % 2 == 0)));
            map.pin().retain(|_, _| {
                map.pin().clear();
                true
            });
            assert!(map.is_empty());
            validate(&map);
        }
    });
}

#[test]
fn a_call_that_works_on_the_whole_multimap_deadlocks_with_itself() {
    let map: LHashMultiMap<u64, u64> = LHashMultiMap::new();
    map.pin().extend((0..300).map(|i| (i % 20, i)));
    watched("whole multimap", || {
        let mut calls = 0;
        let vacuumed = map.pin().vacuum(|_, &value| {
            calls += 1;
            if calls % 60 == 7 {
                map.pin().shrink_to_fit();
                map.pin().extend((0..10).map(|i| (100, 2000 + i)));
                assert!(map.exact_len() > 0);
                map.pin().remove_all(&100);
            }
            value % 2 == 0 && value < 1000
        });
        assert!(vacuumed.removed >= 150);
        assert_eq!(map.pin().iter().filter(|&(_, &value)| value < 1000).count(), 150);
    });
}

#[test]
fn a_closure_that_waits_for_a_thread_that_uses_the_map_deadlocks() {
    let map = Map::with_hasher(IDENTITY);
    map.pin().extend((0..20).map(|key| (key, key)));
    let ((go, next), (tell, told)) = (channel::<u64>(), channel());
    watched("closure waits", || {
        thread::scope(|s| {
            s.spawn(|| {
                for key in next {
                    map.pin().insert(1000 + key, key);
                    map.reserve(100 + key as usize);
                    map.pin().remove(&key);
                    tell.send(key).expect("the other side listens");
                }
            });
            let wait_for = |key| {
                go.send(key).expect("the other side listens");
                assert_eq!(told.recv(), Ok(key));
            };
            let pin = map.pin();
            pin.iter().take(5).for_each(|(&key, _)| wait_for(key));
            pin.retain(|&key, _| {
                wait_for(key);
                true
            });
            pin.update(1000, |value| {
                wait_for(500);
                value + 1
            });
            pin.compute(1, |_| {
                wait_for(501);
                Operation::Insert(1)
            });
            pin.get_or_insert_with(2, || {
                wait_for(502);
                2
            });
            drop(go);
        });
    });
    assert_eq!(map.get_cloned(&1).zip(map.get_cloned(&2)), Some((1, 2)));
    validate(&map);
}

/// What is dropped may have to wait for nobody, and wait for others itself.
#[test]
fn a_drop_that_uses_the_map_deadlocks() {
    struct Uses(std::sync::Weak<LHashMap<u64, Uses>>, u64, #[expect(dead_code, reason = "counts")] Counted);
    impl Drop for Uses {
        fn drop(&mut self) {
            if let Some(map) = self.0.upgrade() {
                map.pin().remove(&(self.1 + 1));
                assert!(map.exact_len() < 100_000);
            }
        }
    }
    let tally = Tally::new();
    watched("drop", || {
        let map = std::sync::Arc::new_cyclic(|map| {
            let table = LHashMap::new();
            let value = |key| Uses(std::sync::Weak::clone(map), key, Counted::new(key, tally));
            table.pin().extend((0..100).map(|key| (key, value(key))));
            table
        });
        map.pin().remove(&0);
        // Each drop removes the next one, which is dropped later.
        until(
            || map.is_empty(),
            || {
                map.pin().shrink_to_fit();
                thread::yield_now();
            },
        );
        drop(map);
        tally.settle(0);
    });
}
