//! `LHashMap`: keys that stay, keys of each thread's own, and keys that all fight for, while the map grows and shrinks.

use super::{Subject, Work, ensure};
use lhash::{Computed, CountPolicy, DefaultHashBuilder, LHashMap, Operation, ShrinkPolicy};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

/// Keys below that stay, each with a value that names it.
const STABLE: u64 = 200;
/// Keys from here on are fought for.
const SHARED: u64 = 1 << 20;
/// A thread's own keys begin at a multiple of this.
const OWN: u64 = 1 << 32;
/// How many own keys a thread has at most.
const MOST: u64 = 2_000;
const BATCH: u64 = 256;

/// In memory of its own, so that what is read after its end shows.
type Value = Box<[u64; 2]>;

fn value(key: u64, n: u64) -> Value {
    Box::new([key, n])
}

pub(crate) struct Map<const N: usize> {
    name: String,
    map: LHashMap<u64, Value, DefaultHashBuilder, N>,
    counts_all: bool,
    /// How many own keys each thread has.
    owned: Vec<AtomicU64>,
}

impl<const N: usize> Map<N> {
    pub(crate) fn new(name: String, policy: CountPolicy, threads: usize) -> Self {
        let builder = LHashMap::builder().page_slots::<N>().fill_factor(3).count_policy(policy);
        let builder = builder.shrink(ShrinkPolicy::Below { percent: 80 });
        let map = builder.build().expect("these settings are valid");
        (0..STABLE).for_each(|key| _ = map.pin().insert(key, value(key, 0)));
        let owned = (0..threads).map(|_| AtomicU64::new(0)).collect();
        Self { name, map, counts_all: policy != CountPolicy::OverflowSignal, owned }
    }

    fn stable(&self, key: u64, rng: &mut fastrand::Rng) -> Result<(), String> {
        let pin = self.map.pin();
        let found = pin.get(&key).map(|value| value[0]);
        ensure(found == Some(key), || format!("stable key {key} has {found:?}"))?;
        if rng.u8(0..4) == 0 {
            let now = pin.update(key, |old| value(old[0], old[1] + 1)).map(|value| value[0]);
            ensure(now == Some(key), || format!("an update of stable key {key} gave {now:?}"))?;
        }
        let absent = pin.get(&(key + STABLE));
        ensure(absent.is_none(), || format!("a key that never was has {absent:?}"))
    }

    /// The thread's own keys are there up to a number, and none beyond: one more, or one less.
    fn own(&self, thread: usize, grow: bool) -> Result<(), String> {
        let (pin, owned) = (self.map.pin(), &self.owned[thread]);
        // Relaxed: the thread's own.
        let n = owned.load(Ordering::Relaxed);
        let key = |n: u64| OWN * (thread as u64 + 1) + n;
        if grow && n < MOST {
            let old = pin.insert(key(n), value(key(n), n));
            ensure(old.is_none(), || format!("own key {n} was there: {old:?}"))?;
            owned.store(n + 1, Ordering::Relaxed); // Relaxed: as above.
        } else if let Some(last) = n.checked_sub(1) {
            let old = pin.remove(&key(last)).map(|value| value[1]);
            ensure(old == Some(last), || format!("own key {last} was {old:?}"))?;
            owned.store(last, Ordering::Relaxed); // Relaxed: as above.
        }
        let gone = pin.get(&key(n + 1));
        ensure(gone.is_none(), || format!("own key {} is there: {gone:?}", n + 1))
    }

    fn shared(&self, key: u64, rng: &mut fastrand::Rng) -> Result<(), String> {
        let (pin, key) = (self.map.pin(), SHARED + key);
        let of_key = |found: Option<&Value>| found.is_none_or(|value| value[0] == key);
        let is_right = match rng.u8(0..6) {
            0 => of_key(pin.remove(&key)),
            1 => of_key(pin.remove_if(&key, |_, value| value[1] % 2 == 0)),
            2 => of_key(Some(pin.get_or_insert_with(key, || value(key, 1)))),
            3 => match pin.compute(key, |old| match old {
                Some(_) => Operation::Remove,
                None => Operation::Insert(value(key, 2)),
            }) {
                Computed::Inserted(value) | Computed::Removed(value) => value[0] == key,
                _ => false,
            },
            4 => of_key(pin.insert(key, value(key, 3))),
            _ => of_key(pin.get(&key)),
        };
        ensure(is_right, || format!("shared key {key} has another's value"))
    }

    /// Something that concerns the whole map.
    fn whole(&self, rng: &mut fastrand::Rng) -> Result<(), String> {
        match rng.u8(0..4) {
            0 => self.map.reserve(rng.usize(0..5_000)),
            1 => self.map.pin().shrink_to_fit(),
            2 => self.map.pin().retain(|key, _| *key < SHARED || *key >= OWN),
            _ => return self.iterate(),
        }
        Ok(())
    }

    fn iterate(&self) -> Result<(), String> {
        let pin = self.map.pin();
        let mut met = HashSet::new();
        for (key, value) in pin.iter() {
            ensure(value[0] == *key, || format!("key {key} has {value:?}"))?;
            ensure(*key >= STABLE || met.insert(*key), || format!("stable key {key} was met twice"))?;
        }
        ensure(met.len() as u64 == STABLE, || format!("{} of {STABLE} stable keys were met", met.len()))
    }
}

impl<const N: usize> Subject for Map<N> {
    fn name(&self) -> &str {
        &self.name
    }

    fn churn(&self, Work { thread, rng }: Work<'_>) -> Result<u64, String> {
        // Own keys come in waves, so that the map grows and shrinks.
        let grow = rng.bool();
        for _ in 0..BATCH {
            match rng.u8(0..4) {
                0 => self.stable(rng.u64(0..STABLE), rng)?,
                1 => self.shared(rng.u64(0..300), rng)?,
                _ => self.own(thread, grow)?,
            }
        }
        if rng.u8(0..64) == 0 {
            self.whole(rng)?;
        }
        Ok(BATCH)
    }

    fn look(&self) -> Result<(), String> {
        let stats = self.map.stats();
        let (pending, lag) = (stats.pending.unsigned_abs(), stats.max_lag);
        ensure(lag.is_none_or(|lag| pending <= lag), || format!("{pending} are pending, {lag:?} at most"))?;
        self.iterate()
    }

    fn check(&self) -> Result<(), String> {
        self.map.validate()?;
        let pin = self.map.pin();
        let entries = pin.iter().count();
        let exact = self.map.exact_len();
        ensure(exact == entries || !self.counts_all, || format!("{entries} are listed, {exact} counted"))?;
        for (thread, owned) in (1..).zip(&self.owned) {
            // Relaxed: the threads are at rest.
            let owned = owned.load(Ordering::Relaxed);
            let there = (0..MOST).filter(|n| pin.contains_key(&(OWN * thread + n))).count() as u64;
            ensure(there == owned, || format!("a thread has {owned} own keys, {there} are there"))?;
        }
        self.look()
    }
}
