//! `FlatMap`: keys that stay, slots of each thread's own, and slots that all fight for.

use super::{Subject, Work, ensure};
use flatmap::{FlatMap, InsertError, MissPolicy, PinWord};

/// Three words, so that a torn key shows.
type Key = [u64; 3];

/// Keys 0 to `STABLE` are in the slots of their number, always.
const STABLE: u32 = 64;
/// Slots for which all fight with keys from `SHARED_KEYS` on.
const SHARED: u32 = 32;
const SHARED_KEYS: u64 = 1 << 20;
/// Slots of each thread's own.
const OWN: u32 = 16;
const BATCH: u64 = 256;

fn key(number: u64) -> Key {
    [number; 3]
}

fn number(key: Key) -> Result<u64, String> {
    ensure(key == [key[0]; 3], || format!("a torn key: {key:?}")).map(|()| key[0])
}

pub(crate) struct Flat {
    name: &'static str,
    table: FlatMap<Key>,
    pins: Vec<PinWord>,
}

impl Flat {
    pub(crate) fn new(name: &'static str, miss: MissPolicy, threads: usize) -> Self {
        let slots = STABLE + SHARED + OWN * threads as u32;
        // Few buckets, so that chains are long and change often.
        let table = FlatMap::builder().slots(slots).buckets(slots / 4).partitions(8).optimistic_tries(2);
        let table = table.max_slots(2 * slots).max_buckets(2 * slots);
        let table = table.miss(miss).build().expect("these settings are valid");
        for stable in 0..STABLE {
            table.insert(key(stable.into()), stable).expect("the table is empty");
        }
        Self { name, table, pins: (0..slots).map(|_| PinWord::new()).collect() }
    }

    fn stable(&self, stable: u32) -> Result<(), String> {
        let found = self.table.get(&key(stable.into()));
        ensure(found == Some(stable), || format!("stable key {stable} is at {found:?}"))?;
        let found = self.table.key_of(stable).map(number).transpose()?;
        ensure(found == Some(stable.into()), || format!("slot {stable} has key {found:?}"))?;
        let absent = self.table.get(&key(u64::from(stable) + (1 << 40)));
        ensure(absent.is_none(), || format!("a key that never was is at {absent:?}"))
    }

    /// A slot of the thread's own gets another key.
    fn own(&self, slot: u32, fresh: u64) -> Result<(), String> {
        let old = self.table.remove_slot(slot).map(number).transpose()?;
        ensure(old.is_none_or(|old| old % 4096 == u64::from(slot)), || {
            format!("{old:?} was in slot {slot}")
        })?;
        let new = (1 << 30) + fresh * 4096 + u64::from(slot);
        let inserted = self.table.insert(key(new), slot);
        ensure(inserted.is_ok(), || format!("slot {slot} was not free: {inserted:?}"))?;
        ensure(self.table.holds(slot, &key(new)), || format!("slot {slot} has lost {new}"))?;
        let gone = old.filter(|&old| old != new).and_then(|old| self.table.get(&key(old)));
        ensure(gone.is_none(), || format!("a removed key is at {gone:?}"))
    }

    /// More or fewer buckets, and now and then slots that nobody uses.
    fn resize(&self, buckets: u32, slots: u32) -> Result<(), String> {
        let (min, used) = (self.table.partitions(), self.pins.len() as u32);
        let resized = self.table.set_buckets(min + buckets % (self.table.max_buckets() - min));
        ensure(resized.is_ok(), || format!("buckets: {resized:?}"))?;
        let resized = self.table.set_slots(used + slots % used);
        ensure(resized.is_ok(), || format!("slots: {resized:?}"))
    }

    /// A batch of stable keys, and of one that never was.
    fn batch(&self, first: u32) -> Result<(), String> {
        let numbers = [0, 1, 2, 3].map(|more| (first + more) % STABLE);
        let mut found = [None; 5];
        let [a, b, c, d] = numbers.map(|stable| key(stable.into()));
        self.table.get_many(&[a, b, c, d, key(1 << 41)], &mut found);
        let right =
            found[4].is_none() && numbers.iter().zip(found).all(|(number, slot)| slot == Some(*number));
        ensure(right, || format!("stable keys {numbers:?} are at {found:?}"))
    }

    /// Evicts a slot, as a buffer pool does, and gives it another key; or pins it and looks at it.
    fn shared(&self, slot: u32, number: u64, evict: bool) -> Result<(), String> {
        let (table, wanted) = (&self.table, key(SHARED_KEYS + number));
        if !evict {
            let Some((slot, pin)) = table.pin_with(&wanted, |slot| self.pins[slot as usize].pin()) else {
                return Ok(());
            };
            let holds = table.holds(slot, &wanted) && table.key_of(slot) == Some(wanted);
            drop(pin);
            return ensure(holds, || format!("slot {slot} was pinned, and lost its key"));
        }
        let word = &self.pins[slot as usize];
        if !word.try_evict() {
            return Ok(());
        }
        table.remove_slot(slot);
        let inserted = table.insert(wanted, slot);
        word.finish();
        match inserted {
            Ok(()) | Err(InsertError::KeyExists { .. }) => Ok(()),
            Err(error) => Err(format!("slot {slot} was evicted: {error}")),
        }
    }
}

impl Subject for Flat {
    fn name(&self) -> &str {
        self.name
    }

    fn churn(&self, Work { thread, rng }: Work<'_>) -> Result<u64, String> {
        let first = STABLE + SHARED + OWN * thread as u32;
        for _ in 0..BATCH {
            match rng.u8(0..8) {
                0 | 1 => self.own(first + rng.u32(0..OWN), rng.u64(0..1 << 20))?,
                2 | 3 => self.shared(STABLE + rng.u32(0..SHARED), rng.u64(0..64), true)?,
                4 | 5 => self.shared(0, rng.u64(0..64), false)?,
                6 if rng.u8(..) == 0 => self.resize(rng.u32(..), rng.u32(..))?,
                6 => self.batch(rng.u32(0..STABLE))?,
                _ => self.stable(rng.u32(0..STABLE))?,
            }
        }
        Ok(BATCH)
    }

    fn look(&self) -> Result<(), String> {
        (0..STABLE).try_for_each(|stable| self.stable(stable))?;
        let mut met = 0;
        for (slot, key) in &self.table {
            let number = number(key)?;
            met += usize::from(number < STABLE.into() && u64::from(slot) == number);
        }
        ensure(met == STABLE as usize, || format!("an iteration met {met} stable keys"))
    }

    fn check(&self) -> Result<(), String> {
        self.table.validate()?;
        let pinned = self.pins.iter().position(|word| word.pins() > 0 || word.is_evicting());
        ensure(pinned.is_none(), || format!("slot {pinned:?} is pinned"))?;
        let (len, listed) = (self.table.len(), self.table.iter().count());
        ensure(len == listed, || format!("{listed} are listed, {len} counted"))?;
        self.look()
    }
}
