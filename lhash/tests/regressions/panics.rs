//! User code that panics: at its first call, at its second, and so on. Afterwards nothing is locked, `len` is the
//! number of keys that are found, and each value is dropped once.

use crate::common::{Counted, Masked, Tally, until, validate, watched};
use lhash::{LHashMap, LHashMultiMap, Operation, ShrinkPolicy};
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts calls, and panics at one of them.
#[derive(Debug, Default)]
struct Fuse {
    calls: AtomicU64,
    at: AtomicU64,
}

impl Fuse {
    fn new() -> &'static Self {
        Box::leak(Box::default())
    }

    /// Panics at the `n`-th call from now on; 0: at none.
    fn set(&self, n: u64) {
        self.calls.store(0, Ordering::SeqCst);
        self.at.store(n, Ordering::SeqCst);
    }

    fn call(&self) {
        if self.calls.fetch_add(1, Ordering::SeqCst) + 1 == self.at.load(Ordering::SeqCst) {
            panic_any("the fuse");
        }
    }
}

/// A key or a value whose methods may panic.
#[derive(Debug)]
struct Bomb {
    number: Counted,
    hash: &'static Fuse,
    eq: &'static Fuse,
    clone: &'static Fuse,
}

impl Hash for Bomb {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.call();
        state.write_u64(self.number.read());
    }
}

impl PartialEq for Bomb {
    fn eq(&self, other: &Self) -> bool {
        self.eq.call();
        self.number == other.number
    }
}

impl Eq for Bomb {}

impl Clone for Bomb {
    fn clone(&self) -> Self {
        self.clone.call();
        Self { number: self.number.clone(), ..*self }
    }
}

type Map = LHashMap<Bomb, Counted, Masked>;

/// What a test sets: the methods of the keys, and of closures.
#[derive(Clone, Copy, Debug)]
struct Bombs {
    tally: &'static Tally,
    hash: &'static Fuse,
    eq: &'static Fuse,
    clone: &'static Fuse,
    closure: &'static Fuse,
}

impl Bombs {
    fn new() -> Self {
        let [hash, eq, clone, closure] = [(); 4].map(|()| Fuse::new());
        Self { tally: Tally::new(), hash, eq, clone, closure }
    }

    fn key(&self, number: u64) -> Bomb {
        let Self { hash, eq, clone, .. } = *self;
        Bomb { number: self.value(number), hash, eq, clone }
    }

    fn value(&self, number: u64) -> Counted {
        Counted::new(number, self.tally)
    }

    /// A value that is made in a closure.
    fn made(&self, number: u64) -> Counted {
        let value = self.value(number);
        self.closure.call();
        value
    }

    /// Eight hashes, so that there are comparisons and overflow pages; splits and merges at every turn.
    fn map(&self) -> Map {
        let map = LHashMap::builder().fill_factor(2).shrink(ShrinkPolicy::Below { percent: 90 });
        map.hasher(Masked(7)).build().expect("valid")
    }

    /// Something of everything. `map` is what a panic leaves.
    fn play(&self, map: &Map) {
        let pin = map.pin();
        pin.extend((0..12).map(|key| (self.key(key), self.made(key))));
        pin.insert(self.key(3), self.value(3));
        _ = pin.try_insert(self.key(4), self.value(4));
        pin.get_or_insert_with(self.key(20), || self.made(20));
        pin.update(self.key(5), |old| self.made(old.read()));
        pin.remove(&self.key(6));
        pin.remove_if(&self.key(7), |key, _| self.made(key.number.read()).read() == 7);
        pin.compute(self.key(8), |_| Operation::Insert(self.made(8)));
        pin.compute(
            self.key(9),
            |_| if self.made(9).read() == 9 { Operation::Remove } else { Operation::Keep },
        );
        pin.compute(self.key(21), |_| Operation::Insert(self.made(21)));
        pin.get(&self.key(1));
        drop(map.clone());
        pin.retain(|key, _| self.made(key.number.read()).read() % 2 == 0);
        map.pin().shrink_to_fit();
        pin.clear();
    }

    /// The map is whole, and takes all operations again.
    fn check(&self, map: Map) {
        validate(&map);
        let found = (0..60).filter(|&key| map.contains_key(&self.key(key))).count();
        assert_eq!(found, map.len(), "len and the keys that are found");
        self.play(&map);
        assert!(map.is_empty());
        validate(&map);
        drop(map);
        self.tally.settle(0);
    }

    /// Lets `fuse` panic at each of its calls.
    fn at_every_call(&self, fuse: &Fuse) -> u64 {
        let map = self.map();
        fuse.set(0);
        self.play(&map);
        let calls = fuse.calls.load(Ordering::SeqCst);
        drop(map);
        for n in 1..=calls {
            let map = self.map();
            fuse.set(n);
            assert!(catch_unwind(AssertUnwindSafe(|| self.play(&map))).is_err(), "call {n} of {calls}");
            fuse.set(0);
            self.check(map);
        }
        calls
    }
}

#[test]
fn a_hash_that_panics_leaves_a_lock_held_or_a_wrong_len() {
    let bombs = Bombs::new();
    assert!(watched("hash", || bombs.at_every_call(bombs.hash)) > 30);
}

#[test]
fn an_eq_that_panics_leaves_a_lock_held_or_a_wrong_len() {
    let bombs = Bombs::new();
    assert!(watched("eq", || bombs.at_every_call(bombs.eq)) > 15);
}

#[test]
fn a_closure_that_panics_leaves_a_lock_held_or_a_wrong_len() {
    let bombs = Bombs::new();
    assert!(watched("closure", || bombs.at_every_call(bombs.closure)) > 25);
}

#[test]
fn a_clone_that_panics_leaves_a_lock_held_or_a_wrong_len() {
    let bombs = Bombs::new();
    assert!(watched("clone", || bombs.at_every_call(bombs.clone)) > 5);
}

/// Splits and merges go by the hashes that the buckets keep.
#[test]
fn a_hash_is_asked_for_again_when_a_bucket_is_split_or_merged() {
    let bombs = Bombs::new();
    let map = bombs.map();
    (0..500).for_each(|key| _ = map.pin().insert(bombs.key(key), bombs.value(key)));
    assert_eq!(bombs.hash.calls.load(Ordering::SeqCst), 500, "one call an insert");
    bombs.hash.set(1);
    map.reserve(5000);
    map.pin().shrink_to_fit();
    map.pin().retain(|_, value| value.read() % 2 == 0);
    assert_eq!(map.pin().iter().count(), 250);
    map.pin().clear();
    assert_eq!(bombs.hash.calls.load(Ordering::SeqCst), 0);
    assert!(map.stats().splits > 500 && map.stats().merges > 500);
}

/// In a remove, in a retain, in the drop of a draft, and in the drop of the map.
#[test]
fn a_drop_that_panics_leaks_the_rest_or_drops_it_twice() {
    let bombs = Bombs::new();
    let all = || {
        let map = bombs.map();
        let caught = catch_unwind(AssertUnwindSafe(|| bombs.play(&map))).is_err();
        bombs.tally.panic_at_drop(0);
        validate(&map);
        (caught, map)
    };
    watched("drop", || {
        let mut in_the_open = 0;
        for n in 1..200 {
            bombs.tally.panic_at_drop(n);
            let (caught, map) = all();
            in_the_open += u64::from(caught);
            bombs.check(map);
        }
        // A draft that is not needed, or a key that was only looked for.
        assert!(in_the_open > 10);
    });
}

#[test]
fn a_drop_that_panics_when_the_map_is_dropped_leaks_the_rest() {
    let bombs = Bombs::new();
    for n in [1, 2, 50, 100, 199, 200] {
        let map = bombs.map();
        (0..100).for_each(|key| _ = map.pin().insert(bombs.key(key), bombs.value(key)));
        bombs.tally.panic_at_drop(n);
        assert!(catch_unwind(AssertUnwindSafe(|| drop(map))).is_err());
        bombs.tally.settle(0);
    }
}

#[test]
fn a_drop_that_panics_hits_a_stranger_or_stops_the_collector() {
    let bombs = Bombs::new();
    let map = bombs.map();
    (0..1000).for_each(|key| _ = map.pin().insert(bombs.key(key), bombs.value(key)));
    bombs.tally.panic_at_drop(100);
    map.pin().clear();
    map.pin().shrink_to_fit();
    // Nobody hears of it but the panic hook; the others are dropped all the same.
    bombs.tally.settle(0);
    bombs.check(map);
}

#[test]
fn a_panic_of_a_reader_keeps_writers_out_for_ever() {
    let bombs = Bombs::new();
    let map = bombs.map();
    (0..50).for_each(|key| _ = map.pin().insert(bombs.key(key), bombs.value(key)));
    let panics: [&dyn Fn(); 3] = [
        &|| map.pin().iter().for_each(|(key, _)| assert!(key.number.read() > 100)),
        &|| {
            bombs.eq.set(1);
            map.pin().get(&bombs.key(7));
        },
        &|| {
            let pin = map.pin();
            let _held = pin.get(&bombs.key(7));
            panic_any("with a pin");
        },
    ];
    for reader in panics {
        assert!(catch_unwind(AssertUnwindSafe(reader)).is_err());
        bombs.eq.set(0);
        assert!(map.pin().insert(bombs.key(7), bombs.value(7)).is_some());
        map.pin().shrink_to_fit();
        validate(&map);
    }
    bombs.check(map);
}

#[test]
fn an_iterator_that_panics_leaves_half_an_entry() {
    let bombs = Bombs::new();
    for n in 0..20 {
        let map = bombs.map();
        let entries = (0..20).map(|key| {
            assert!(key != n, "the iterator ends here");
            (bombs.key(key), bombs.value(key))
        });
        assert!(catch_unwind(AssertUnwindSafe(|| map.pin().extend(entries))).is_err());
        assert_eq!(map.len() as u64, n);
        bombs.check(map);
    }
}

/// A vacuum that is broken off gives back the pages that it has emptied.
#[test]
fn a_panic_in_a_vacuum_leaks_the_pages_that_it_has_emptied() {
    let tally = Tally::new();
    let map = LHashMultiMap::builder().hasher(Masked(!0)).build().expect("valid");
    for _ in 0..200 {
        (0..400_u64).for_each(|i| map.pin().insert(i % 8, Counted::new(i, tally)));
        let fuse = Fuse::new();
        fuse.set(380);
        let vacuum = || {
            map.pin().vacuum(|_, value| {
                fuse.call();
                value.read() < 400
            })
        };
        assert!(catch_unwind(AssertUnwindSafe(vacuum)).is_err());
        assert!(map.len() < 400, "some were removed");
        (0..8).for_each(|key| _ = map.pin().remove_all(&key));
        assert_eq!((map.len(), map.stats().overflow_pages), (0, 0));
    }
    // As much as one round takes, at most.
    until(|| map.stats().memory_bytes < 60_000, || map.pin().shrink_to_fit());
    drop(map);
    tally.settle(0);
}
