//! The multimap against a model, with one key of very many values, beside vacuums, and with PostgreSQL's figures.
#![cfg(not(any(all(loom, feature = "loom"), all(shuttle, feature = "shuttle"))))]

mod common;

use common::{CONSTANT, IDENTITY, Masked, POLICIES, Rng, beside, check_geometry, is_long, together, watched};
use lhash::{CountPolicy, LHashMultiMap, ShrinkPolicy, Stats};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

type Multi<const N: usize> = LHashMultiMap<u32, u32, Masked, N>;

/// What a multimap is, simply.
#[derive(Default)]
struct Model(BTreeMap<u32, Vec<u32>>);

impl Model {
    fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    fn values(&self, key: u32) -> Vec<u32> {
        let mut values = self.0.get(&key).cloned().unwrap_or_default();
        values.sort_unstable();
        values
    }

    /// One operation on both, and the comparison of what they say.
    fn step<const N: usize>(&mut self, map: &Multi<N>, rng: &mut Rng) {
        let (pin, key, value) = (map.pin(), rng.below(30), rng.below(8));
        match rng.below(64) {
            0 => assert_eq!(pin.remove_all(&key), self.0.remove(&key).map_or(0, |values| values.len())),
            1 => {
                let dead = |key: &u32, value: &u32| key % 7 == value % 7;
                let before = self.len();
                for (key, values) in &mut self.0 {
                    values.retain(|value| !dead(key, value));
                }
                let vacuumed = pin.vacuum(dead);
                let counts = (vacuumed.live, vacuumed.live + vacuumed.removed);
                assert_eq!(counts, (self.len() as u64, before as u64));
            }
            2 => map.pin().shrink_to_fit(),
            3 => assert_eq!(map.exact_len(), self.len()),
            4..16 => {
                let values = self.0.entry(key).or_default();
                let at = values.iter().position(|there| *there == value);
                let removed = at.map(|at| values.swap_remove(at));
                assert_eq!(pin.remove_one(&key, &value).copied(), removed);
            }
            16..24 => {
                let mut values: Vec<u32> = pin.get_all(&key).copied().collect();
                values.sort_unstable();
                assert_eq!(values, self.values(key));
                assert_eq!((pin.count(&key), pin.contains(&key)), (values.len(), !values.is_empty()));
            }
            24 => {
                pin.extend((0..20).map(|value| (key, value)));
                self.0.entry(key).or_default().extend(0..20);
            }
            _ => {
                pin.insert(key, value);
                self.0.entry(key).or_default().push(value);
            }
        }
        assert_eq!(map.len(), self.len());
    }

    fn check<const N: usize>(&self, map: &Multi<N>) {
        let mut all: Vec<(u32, u32)> = map.pin().iter().map(|(&key, &value)| (key, value)).collect();
        all.sort_unstable();
        let values = |&key: &u32| self.values(key).into_iter().map(move |value| (key, value));
        assert_eq!(all, self.0.keys().flat_map(values).collect::<Vec<_>>());
        check_geometry(&map.stats());
    }
}

fn against_the_model<const N: usize>(map: &Multi<N>, rng: &mut Rng) {
    let mut model = Model::default();
    for step in 0..4_000 {
        model.step(map, rng);
        if step % 100 == 0 {
            model.check(map);
        }
    }
    model.check(map);
    map.pin().vacuum(|_, _| true);
    map.pin().shrink_to_fit();
    let stats = map.stats();
    assert_eq!((stats.ntuples, stats.overflow_pages, stats.max_bucket), (0, 0, 3));
}

#[test]
fn a_multimap_does_what_a_map_of_vectors_does() {
    let mut rng = Rng::for_test("model");
    for (hasher, policy) in [IDENTITY, Masked(3), CONSTANT, Masked(!7)].into_iter().zip(POLICIES) {
        let builder = || LHashMultiMap::builder().count_policy(policy).hasher(hasher);
        against_the_model(&builder().build().expect("valid"), &mut rng);
        against_the_model(&builder().page_slots::<1>().build().expect("valid"), &mut rng);
        let eager = ShrinkPolicy::Below { percent: 90 };
        against_the_model(
            &builder().page_slots::<3>().fill_factor(1).shrink(eager).build().expect("valid"),
            &mut rng,
        );
    }
}

/// If an insert walked the chain, this would take hours.
#[test]
fn a_key_of_very_many_values_stays_usable() {
    let values: u64 = if is_long() || !cfg!(debug_assertions) { 500_000 } else { 100_000 };
    let map = LHashMultiMap::new();
    watched("very many values", || {
        let mut pin = map.pin();
        (0..values).for_each(|value| pin.insert(7, value));
        (0..1000).for_each(|key| pin.insert(100 + key, 0));
        assert_eq!((pin.count(&7), pin.count(&100), map.len() as u64), (values as usize, 1, values + 1000));
        assert_eq!(pin.get_all(&7).copied().collect::<BTreeSet<u64>>().len() as u64, values);
        let full = map.stats();
        assert!(full.overflow_pages <= values.div_ceil(7) + 200, "{full:?}");
        // A hole anywhere is filled again, by one insert that looks for it.
        for value in (0..20).chain([values / 2, values - 1]) {
            assert_eq!(pin.remove_one(&7, &value), Some(&value));
            pin.insert(7, value);
            assert_eq!(map.stats().overflow_pages, full.overflow_pages);
        }
        let vacuumed = pin.vacuum(|&key, value| key == 7 && value % 2 == 0);
        assert_eq!((vacuumed.removed, pin.count(&7) as u64), (values.div_ceil(2), values / 2));
        assert!(vacuumed.pages >= values / 15, "{vacuumed:?}");
        (0..values).for_each(|value| pin.insert(7, value));
        assert_eq!(pin.remove_all(&7) as u64, values + values / 2);
        assert_eq!((map.len(), map.stats().overflow_pages < 300), (1000, true));
        pin.shrink_to_fit();
    });
}

/// Drives two maps that only differ in how they count.
fn side_by_side<const N: usize>(
    build: impl Fn(CountPolicy) -> Multi<N>,
    keys: u32,
    steps: u32,
    rng: &mut Rng,
) {
    let (exact, deferred) = (build(CountPolicy::Exact), build(CountPolicy::Deferred { cap: 32 }));
    // How far the count can lag behind may differ, and what the collector has come by.
    let stats = |map: &Multi<N>| -> Stats {
        let mut stats = map.stats();
        stats.max_lag = None;
        stats.memory_bytes = 0;
        stats
    };
    for step in 0..steps {
        let (key, value, what) = (rng.below(keys), rng.below(4), rng.below(1000));
        let removes = if step < steps / 4 * 3 { 100 } else { 900 };
        for map in [&exact, &deferred] {
            let pin = map.pin();
            match what {
                0 => _ = pin.remove_all(&key),
                1 if step % 8 == 0 => _ = pin.vacuum(|key, value| key % 4 == *value),
                2.. if what < removes => _ = pin.remove_one(&key, &value),
                _ => pin.insert(key, value),
            }
        }
        assert_eq!(stats(&exact), stats(&deferred), "after {step} operations");
        assert_eq!(exact.stats().pending, 0);
    }
    let contents = |map: &Multi<N>| {
        let mut all: Vec<(u32, u32)> = map.pin().iter().map(|(&key, &value)| (key, value)).collect();
        all.sort_unstable();
        all
    };
    assert!(contents(&exact) == contents(&deferred));
    assert_eq!(exact.stats().merges > 0, keys < 1000, "PostgreSQL's never shrinks");
    assert!(exact.stats().splits > 10 && exact.stats().max_lag < deferred.stats().max_lag);
}

#[test]
fn one_thread_counts_exactly_whether_counts_may_be_deferred_or_not() {
    let mut rng = Rng::for_test("side by side");
    let postgres = |policy| {
        let builder = LHashMultiMap::builder().count_policy(policy).postgres().hasher(IDENTITY);
        let map = builder.build().expect("valid");
        let stats = map.stats();
        assert_eq!((stats.fill_factor, stats.max_bucket, stats.high_mask, stats.low_mask), (307, 7, 7, 3));
        map
    };
    side_by_side(postgres, 1 << 20, 12_000, &mut rng);
    let small = |policy| {
        let builder =
            LHashMultiMap::builder().count_policy(policy).shrink(ShrinkPolicy::Below { percent: 80 });
        builder.hasher(Masked(!3)).build().expect("valid")
    };
    side_by_side(small, 300, 8_000, &mut rng);
}

#[test]
fn a_postgres_index_has_as_many_buckets_as_its_fill_factor_says() {
    let map = LHashMultiMap::builder().postgres().hasher(foldhash::fast::FixedState::with_seed(3));
    let map = map.build().expect("valid");
    for key in 0..20_000_u32 {
        map.pin().insert(key, ());
        assert_eq!(u64::from(map.stats().max_bucket) + 1, u64::from(key + 1).div_ceil(307).max(8));
    }
    map.pin().vacuum(|_, ()| true);
    assert_eq!((map.len(), map.stats().merges), (0, 0), "it does not shrink by itself");
}

/// Half of a bucket's dead entries go elsewhere between the look at them and their removal.
#[test]
fn a_vacuum_leaves_dead_entries_in_a_bucket_that_is_split_meanwhile() {
    const DEAD: u64 = 4_000;
    let splits = AtomicU64::new(0);
    watched("vacuum", || {
        for _ in 0..40 {
            let map = LHashMultiMap::builder().fill_factor(60).min_buckets(8).hasher(IDENTITY);
            let map = map.shrink(ShrinkPolicy::Never).build().expect("valid");
            map.pin().extend((0..DEAD).map(|key| (key, 0)));
            let next = AtomicU64::new(0);
            let grow = || {
                let pin = map.pin();
                for _ in 0..60 {
                    pin.insert(next.fetch_add(1, Ordering::Relaxed), 1);
                }
            };
            let before = map.stats().splits;
            let vacuumed = beside(grow, || map.pin().vacuum(|_, &kind| kind == 0));
            splits.fetch_add(map.stats().splits - before, Ordering::Relaxed);
            let left = map.pin().iter().filter(|&(_, &kind)| kind == 0).count();
            assert_eq!((vacuumed.removed, left), (DEAD, 0), "dead entries were left");
        }
    });
    assert!(splits.into_inner() > 40, "nothing was split meanwhile");
}

/// Several readers look at the values of a key that is being removed. Each sees the values of one moment; so of any
/// two sets that they see, one has all of the other.
#[test]
fn two_readers_see_values_that_were_never_there_together() {
    const VALUES: u64 = 8_000;
    let mut rng = Rng::for_test("readers");
    let halves = AtomicU64::new(0);
    watched("readers", || {
        for round in 0..40 {
            let map = LHashMultiMap::builder().hasher(CONSTANT).build().expect("valid");
            (0..VALUES).for_each(|value| map.pin().insert(1, value));
            let (seen, done) = (Mutex::new(Vec::new()), AtomicBool::new(false));
            together(4, &mut rng, |thread, rng| {
                if thread == 0 {
                    (0..rng.below(2000)).for_each(|_| std::hint::spin_loop());
                    match round % 2 {
                        0 => assert_eq!(map.pin().remove_all(&1) as u64, VALUES),
                        _ => assert_eq!(map.pin().vacuum(|_, _| true).removed, VALUES),
                    }
                    done.store(true, Ordering::Relaxed);
                }
                while thread > 0 && !done.load(Ordering::Relaxed) {
                    let values: BTreeSet<u64> = map.pin().get_all(&1).copied().collect();
                    seen.lock().unwrap().push(values);
                    thread::yield_now();
                }
            });
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable_by_key(BTreeSet::len);
            halves.fetch_add(
                seen.iter().filter(|set| set.len() as u64 != VALUES).count() as u64,
                Ordering::Relaxed,
            );
            assert!(
                seen.windows(2).all(|pair| pair[0].is_subset(&pair[1])),
                "two sets contradict each other"
            );
        }
    });
    eprintln!("{} sets without some of the values", halves.into_inner());
}
