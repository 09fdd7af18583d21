//! Every operation, and a panic at every call that it makes of user code: at the first, the second, and so on until
//! there is none. Afterwards all is whole, and another thread can use it.

use super::Same;
use super::bombs::{Bomb, Call, Live, arm, called, disarm};
use lhash::{CountPolicy, LHashMap, LHashMultiMap, Operation, ShrinkPolicy};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

type Map = LHashMap<Bomb, Bomb, Same, 2>;
type Multi = LHashMultiMap<Bomb, Bomb, Same, 2>;

/// Keys of one bucket, and of several.
const KEYS: [u64; 9] = [0, 64, 128, 1, 2, 3, 4, 192, 256];

/// A table, and the count of what is in it.
struct World<M> {
    table: M,
    live: Live,
}

impl<M> World<M> {
    fn bomb(&self, number: u64) -> Bomb {
        self.live.bomb(number)
    }

    /// A value that a closure makes.
    fn made(&self, number: u64) -> Bomb {
        called(Call::Closure);
        self.bomb(number)
    }
}

/// Says so of an odd one.
fn is_odd(bomb: &Bomb) -> bool {
    called(Call::Closure);
    bomb.number % 2 == 1
}

impl World<Map> {
    fn new(policy: CountPolicy) -> Self {
        let builder = LHashMap::builder().page_slots::<2>().fill_factor(1).count_policy(policy);
        let builder = builder.shrink(ShrinkPolicy::Below { percent: 90 });
        let world =
            Self { table: builder.hasher(Same::default()).build().expect("valid"), live: Live::default() };
        KEYS.iter().for_each(|&key| _ = world.table.pin().insert(world.bomb(key), world.bomb(key)));
        world
    }

    /// Whole, and usable by another thread.
    fn check(self, counts_all: bool) {
        assert_eq!(self.table.validate(), Ok(()));
        thread::scope(|s| {
            s.spawn(|| {
                let pin = self.table.pin();
                pin.insert(self.bomb(64), self.bomb(64));
                pin.insert(self.bomb(320), self.bomb(321));
                assert_eq!(pin.remove(&self.bomb(320)).map(|value| value.number), Some(321));
                assert!(pin.contains_key(&self.bomb(64)));
                drop(pin);
                self.table.pin().shrink_to_fit();
            });
        });
        assert_eq!(self.table.validate(), Ok(()));
        assert!(!counts_all || self.table.exact_len() == self.table.pin().iter().count());
        let Self { table, live } = self;
        drop(table);
        live.settle();
    }
}

type Act<M> = fn(&World<M>);

const LOOKUPS: [(&str, Act<Map>); 10] = [
    ("get", |w| _ = w.table.pin().get(&w.bomb(128))),
    ("get of none", |w| _ = w.table.pin().get(&w.bomb(512))),
    ("get_key_value", |w| _ = w.table.pin().get_key_value(&w.bomb(1))),
    ("contains_key", |w| _ = w.table.contains_key(&w.bomb(64))),
    ("get_cloned", |w| _ = w.table.get_cloned(&w.bomb(64))),
    ("iter", |w| w.table.pin().iter().for_each(|(key, _)| _ = is_odd(key))),
    ("keys and values", |w| {
        let pin = w.table.pin();
        assert_eq!(pin.keys().filter(|key| is_odd(key)).count(), pin.values().filter(|v| is_odd(v)).count());
    }),
    ("figures", |w| _ = (w.table.len(), w.table.exact_len(), w.table.stats(), format!("{:?}", w.table))),
    ("eq", |w| assert!(w.table == w.table.clone())),
    ("into_iter", |w| assert_eq!(w.table.clone().into_iter().filter(|(key, _)| is_odd(key)).count(), 2)),
];

const UPDATES: [(&str, Act<Map>); 16] = [
    ("insert", |w| _ = w.table.pin().insert(w.bomb(320), w.bomb(1))),
    ("insert in the place of another", |w| _ = w.table.pin().insert(w.bomb(128), w.bomb(1))),
    ("try_insert", |w| _ = w.table.pin().try_insert(w.bomb(320), w.bomb(1))),
    ("try_insert of one that is there", |w| _ = w.table.pin().try_insert(w.bomb(64), w.bomb(1))),
    ("get_or_insert", |w| _ = w.table.pin().get_or_insert(w.bomb(64), w.bomb(1))),
    ("get_or_insert_with", |w| _ = w.table.pin().get_or_insert_with(w.bomb(320), || w.made(1))),
    ("update", |w| _ = w.table.pin().update(w.bomb(128), |old| w.made(old.number + 1))),
    ("update of none", |w| _ = w.table.pin().update(w.bomb(320), |old| w.made(old.number + 1))),
    ("compute inserts", |w| _ = w.table.pin().compute(w.bomb(320), |_| Operation::Insert(w.made(1)))),
    ("compute replaces", |w| _ = w.table.pin().compute(w.bomb(64), |_| Operation::Insert(w.made(1)))),
    ("compute removes", |w| {
        w.table.pin().compute(w.bomb(64), |old| match old.map(is_odd) {
            Some(_) => Operation::Remove,
            None => Operation::Keep,
        });
    }),
    ("remove", |w| _ = w.table.pin().remove(&w.bomb(128))),
    ("remove of none", |w| _ = w.table.pin().remove(&w.bomb(512))),
    ("remove_if", |w| _ = w.table.pin().remove_if(&w.bomb(3), |key, _| is_odd(key))),
    ("retain", |w| w.table.pin().retain(|key, _| is_odd(key))),
    ("clear", |w| w.table.pin().clear()),
];

const WHOLE: [(&str, Act<Map>); 6] = [
    ("extend", |w| _ = w.table.pin().extend((0..9).map(|key| (w.made(key * 32), w.bomb(key))))),
    ("reserve", |w| w.table.reserve(40)),
    ("shrink_to_fit", |w| w.table.pin().shrink_to_fit()),
    ("clone", |w| drop(w.table.clone())),
    ("from_iter", |w| drop((0..9).map(|n| (w.made(n), w.bomb(n))).collect::<LHashMap<Bomb, Bomb>>())),
    ("all at once", |w| {
        w.table.pin().extend((0..70).map(|n| (w.bomb(n * 8), w.made(n))));
        w.table.pin().retain(|key, _| is_odd(key));
        (0..70).for_each(|n| _ = w.table.pin().insert(w.bomb(n), w.bomb(n)));
        w.table.pin().clear();
        w.table.pin().shrink_to_fit();
    }),
];

impl World<Multi> {
    fn new_multi(policy: CountPolicy) -> Self {
        let builder = LHashMultiMap::builder().page_slots::<2>().fill_factor(1).count_policy(policy);
        let builder = builder.shrink(ShrinkPolicy::Below { percent: 90 });
        let world =
            Self { table: builder.hasher(Same::default()).build().expect("valid"), live: Live::default() };
        for key in KEYS {
            (0..3).for_each(|value| world.table.pin().insert(world.bomb(key), world.bomb(value)));
        }
        world
    }

    fn check_multi(self, counts_all: bool) {
        assert_eq!(self.table.validate(), Ok(()));
        thread::scope(|s| {
            s.spawn(|| {
                let pin = self.table.pin();
                pin.insert(self.bomb(320), self.bomb(321));
                assert_eq!(pin.count(&self.bomb(320)), 1);
                assert_eq!(pin.remove_all(&self.bomb(320)), 1);
                drop(pin);
                self.table.pin().shrink_to_fit();
            });
        });
        assert_eq!(self.table.validate(), Ok(()));
        assert!(!counts_all || self.table.exact_len() == self.table.pin().iter().count());
        let Self { table, live } = self;
        drop(table);
        live.settle();
    }
}

const OF_MULTIMAPS: [(&str, Act<Multi>); 14] = [
    ("insert", |w| w.table.pin().insert(w.bomb(64), w.bomb(7))),
    ("extend", |w| w.table.pin().extend((0..9).map(|key| (w.made(key * 32), w.bomb(key))))),
    ("get_all", |w| assert_eq!(w.table.pin().get_all(&w.bomb(64)).filter(|value| is_odd(value)).count(), 1)),
    ("count", |w| _ = w.table.pin().count(&w.bomb(64))),
    ("contains", |w| _ = w.table.pin().contains(&w.bomb(64))),
    ("contains of none", |w| _ = w.table.pin().contains(&w.bomb(512))),
    ("remove_one", |w| _ = w.table.pin().remove_one(&w.bomb(64), &w.bomb(2))),
    ("remove_one of none", |w| _ = w.table.pin().remove_one(&w.bomb(64), &w.bomb(9))),
    ("remove_all", |w| _ = w.table.pin().remove_all(&w.bomb(64))),
    ("vacuum", |w| _ = w.table.pin().vacuum(|_, value| is_odd(value))),
    ("iter", |w| w.table.pin().iter().for_each(|(key, _)| _ = is_odd(key))),
    ("shrink_to_fit", |w| w.table.pin().shrink_to_fit()),
    ("from_iter", |w| {
        let map: LHashMultiMap<Bomb, Bomb> = (0..9).map(|n| (w.made(n % 4), w.bomb(n))).collect();
        assert_eq!(map.into_iter().filter(|(key, _)| is_odd(key)).count(), 4);
    }),
    ("figures", |w| _ = (w.table.len(), w.table.exact_len(), w.table.stats(), format!("{:?}", w.table))),
];

const CALLS: [Call; 5] = [Call::Hash, Call::Eq, Call::Clone, Call::Drop, Call::Closure];

/// Lets every call of an operation panic; returns how many did.
fn at_every_call<M>(
    name: &str,
    act: Act<M>,
    call: Call,
    new: impl Fn() -> World<M>,
    check: impl Fn(World<M>),
) -> u32 {
    for n in 1.. {
        let world = new();
        arm(call, n);
        let outcome = catch_unwind(AssertUnwindSafe(|| act(&world)));
        let has_panicked = disarm();
        // The panic of a drop that the collector runs goes no further.
        let goes_further = call != Call::Drop;
        assert!(outcome.is_err() == has_panicked || !goes_further, "{name}, {call:?} {n}");
        assert!(outcome.is_ok() || has_panicked, "{name} panics of itself");
        check(world);
        if !has_panicked {
            return n - 1;
        }
    }
    unreachable!("an operation ends")
}

const POLICIES: [CountPolicy; 5] = [
    CountPolicy::Exact,
    CountPolicy::Deferred { cap: 1 },
    CountPolicy::Quiet { cap: 2 },
    CountPolicy::Sharded,
    CountPolicy::OverflowSignal,
];

fn counts_all(policy: CountPolicy) -> bool {
    policy != CountPolicy::OverflowSignal
}

#[test]
fn a_panic_in_any_call_of_any_map_operation_leaves_a_lock_held_or_half_an_entry() {
    let mut panics = [0; CALLS.len()];
    for (number, (name, act)) in LOOKUPS.into_iter().chain(UPDATES).chain(WHOLE).enumerate() {
        let policy = POLICIES[number % POLICIES.len()];
        for (call, panics) in CALLS.into_iter().zip(&mut panics) {
            let check = |world: World<Map>| world.check(counts_all(policy));
            *panics += at_every_call(name, act, call, || World::new(policy), check);
        }
    }
    assert!(panics.iter().all(|&n| n > 20), "{CALLS:?}: {panics:?}");
}

#[test]
fn a_panic_in_any_call_of_any_multimap_operation_leaves_a_lock_held_or_half_an_entry() {
    let mut panics = [0; CALLS.len()];
    for (number, (name, act)) in OF_MULTIMAPS.into_iter().enumerate() {
        let policy = POLICIES[number % POLICIES.len()];
        for (call, panics) in CALLS.into_iter().zip(&mut panics) {
            let check = |world: World<Multi>| world.check_multi(counts_all(policy));
            *panics += at_every_call(name, act, call, || World::new_multi(policy), check);
        }
    }
    // A multimap clones nothing.
    assert!(
        CALLS.iter().zip(panics).all(|(&call, n)| n > 10 || call == Call::Clone),
        "{CALLS:?}: {panics:?}"
    );
}
