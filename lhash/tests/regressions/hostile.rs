//! User code that lies, or uses the map it is called by. Results may be odd; nothing is read that is gone, nothing
//! is dropped twice, and all calls return.

use crate::common::{
    Counted, Hooked, IDENTITY, Masked, Rng, Tally, at_next_comparison, together, until, validate, watched,
};
use lhash::{Computed, LHashMap, LHashMultiMap, Operation, ShrinkPolicy};
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;

/// A key that is equal now and not then, and whose hash comes and goes.
#[derive(Debug)]
struct Flips {
    number: Counted,
    hash_too: bool,
}

static TURN: AtomicU64 = AtomicU64::new(0);

fn turn() -> bool {
    let turn = TURN.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    turn >> 62 != 0
}

impl PartialEq for Flips {
    fn eq(&self, other: &Self) -> bool {
        (self.number == other.number) == turn()
    }
}

impl Eq for Flips {}

impl Hash for Flips {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let by = u64::from(self.hash_too && !turn());
        state.write_u64(self.number.read() + by);
    }
}

#[test]
fn an_eq_or_a_hash_that_changes_its_answer_drops_an_entry_twice() {
    let mut rng = Rng::for_test("flips");
    for hash_too in [false, true] {
        let tally = Tally::new();
        let map = LHashMap::builder().fill_factor(2).shrink(ShrinkPolicy::Below { percent: 90 });
        let map = map.hasher(Masked(7)).build().expect("valid");
        watched("flips", || {
            together(3, &mut rng, |_, rng| {
                for _ in 0..3_000 {
                    let pin = map.pin();
                    let key = Flips { number: Counted::new(rng.below(20).into(), tally), hash_too };
                    let value = || Counted::new(1, tally);
                    match rng.below(8) {
                        0..3 => _ = pin.insert(key, value()),
                        3 => _ = pin.remove(&key),
                        4 => _ = pin.update(key, |old| Counted::new(old.read() + 1, tally)),
                        5 => _ = pin.compute(key, |old| old.map_or(Operation::Keep, |_| Operation::Remove)),
                        6 => _ = pin.get(&key).map(Counted::read),
                        _ => pin.retain(|key, _| key.number.read() % 5 != 0),
                    }
                }
            });
        });
        assert_eq!(map.pin().iter().count(), map.exact_len());
        map.pin().clear();
        map.pin().shrink_to_fit();
        assert_eq!((map.len(), map.stats().overflow_pages), (0, 0));
        drop(map);
        tally.settle(0);
    }
}

type HookedMap = LHashMap<Hooked, u64, Masked>;

/// A callback that uses the map at many comparisons, one inside the other.
#[test]
fn an_eq_that_uses_the_map_deadlocks() {
    fn again(map: Arc<HookedMap>, left: u64) {
        if left > 0 {
            at_next_comparison(move || {
                again(Arc::clone(&map), left - 1);
                map.pin().insert(Hooked(left % 40), left);
                map.pin().remove(&Hooked((left + 20) % 40));
                if left % 10 == 0 {
                    map.reserve(left as usize * 10);
                    map.pin().shrink_to_fit();
                }
            });
        }
    }
    let map = Arc::new(HookedMap::with_hasher(Masked(7)));
    map.pin().extend((0..40).map(|key| (Hooked(key), key)));
    watched("eq", || {
        for key in 0..40 {
            again(Arc::clone(&map), 60);
            map.pin().insert(Hooked(key), key);
            map.pin().get(&Hooked(key + 8));
        }
    });
    at_next_comparison(|| ());
    validate(&map);
}

/// A key whose hash asks the map for another key's value.
#[test]
fn a_hash_that_uses_the_map_deadlocks() {
    thread_local! {
        static DEPTH: Cell<u32> = const { Cell::new(0) };
    }
    #[derive(Debug)]
    struct Asks(u64, Weak<LHashMap<Asks, u64>>);
    impl Hash for Asks {
        fn hash<H: Hasher>(&self, state: &mut H) {
            let (depth, map) = (DEPTH.get(), self.1.upgrade());
            if let Some(map) = map.filter(|_| depth < 3) {
                DEPTH.set(depth + 1);
                let key = |number| Asks(number, Weak::clone(&self.1));
                map.pin().insert(key(self.0 / 2), 1);
                map.pin().remove(&key(self.0 + 1));
                map.pin().get(&key(self.0 / 2));
                DEPTH.set(depth);
            }
            state.write_u64(self.0);
        }
    }
    impl PartialEq for Asks {
        fn eq(&self, other: &Self) -> bool {
            self.0 == other.0
        }
    }
    impl Eq for Asks {}
    watched("hash", || {
        let map = Arc::new(LHashMap::<Asks, u64>::new());
        for number in 0..50 {
            map.pin().insert(Asks(number, Arc::downgrade(&map)), number);
            assert!(map.contains_key(&Asks(number, Weak::new())));
        }
        DEPTH.set(u32::MAX);
        validate(&map);
    });
}

#[test]
fn a_closure_that_changes_the_entry_it_was_given_is_overruled() {
    let map = LHashMap::with_hasher(IDENTITY);
    let pin = map.pin();
    pin.insert(1, 10);
    let once = Cell::new(true);
    let updated = pin.update(1, |value| {
        if once.replace(false) {
            map.pin().insert(1, 20);
        }
        value + 1
    });
    assert_eq!(updated, Some(&21), "of the value it was given last");
    once.set(true);
    let computed = pin.compute(1, |value| {
        if once.replace(false) {
            map.pin().remove(&1);
        }
        Operation::Insert(value.map_or(0, |value| value + 1))
    });
    assert_eq!(computed, Computed::Inserted(&0));
    once.set(true);
    let removed = pin.remove_if(&1, |_, &value| {
        if once.replace(false) {
            map.pin().insert(1, 30);
            return true;
        }
        value == 30
    });
    assert_eq!((removed, map.len()), (Some(&30), 0));
    validate(&map);
}

/// A value whose drop removes another key of its map.
struct Removes {
    key: u64,
    map: Weak<LHashMap<u64, Removes>>,
    #[expect(dead_code, reason = "counts")]
    counted: Counted,
}

const PILE: u64 = 64 * 2000;

impl Drop for Removes {
    fn drop(&mut self) {
        if let Some(map) = self.map.upgrade() {
            map.pin().remove(&(self.key + PILE));
        }
    }
}

/// Many entries wait for one pin. When it goes, each drop retires an entry, and with it asks for more drops.
#[test]
fn drops_that_remove_entries_run_inside_each_other_until_the_stack_is_full() {
    let tally = Tally::new();
    let map = Arc::new_cyclic(|weak| {
        let map = LHashMap::new();
        let value = |key| Removes { key, map: Weak::clone(weak), counted: Counted::new(key, tally) };
        map.pin().extend((0..2 * PILE).map(|key| (key, value(key))));
        map
    });
    watched("drops", || {
        let pin = map.pin();
        (0..PILE).for_each(|key| assert!(map.pin().remove(&key).is_some()));
        drop(pin);
        until(
            || map.is_empty(),
            || {
                map.pin().shrink_to_fit();
                thread::yield_now();
            },
        );
    });
    drop(map);
    tally.settle(0);
}

#[test]
fn a_multimap_whose_keys_lie_drops_a_value_twice() {
    let tally = Tally::new();
    let map = LHashMultiMap::builder().fill_factor(2).hasher(Masked(7)).build().expect("valid");
    let mut rng = Rng::for_test("multimap of liars");
    watched("multimap of liars", || {
        together(3, &mut rng, |_, rng| {
            for step in 0..1_500 {
                let pin = map.pin();
                let key = Flips { number: Counted::new(rng.below(10).into(), tally), hash_too: true };
                match rng.below(8) {
                    0..5 => pin.insert(key, Counted::new(step, tally)),
                    5 => _ = pin.remove_one(&key, &Counted::new(step / 2, tally)),
                    6 if step % 16 == 0 => _ = pin.remove_all(&key),
                    6 => _ = pin.get_all(&key).map(Counted::read).count(),
                    _ if step % 64 == 0 => _ = pin.vacuum(|_, value| value.read() % 3 == 0),
                    _ => _ = pin.count(&key),
                }
            }
        });
    });
    assert_eq!(map.pin().iter().count(), map.exact_len());
    drop(map);
    tally.settle(0);
}
