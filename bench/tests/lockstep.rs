//! Deferring, one thread alone counts as exactly as one that waits: an index under each policy goes through the same
//! operations, and after every one of them all figures are the same.

use bench::seeds::hash::BuildHashUint32;
use lhash::{Builder, CountPolicy, LHashMultiMap, MultiMap, ShrinkPolicy, Stats};

type Index<const N: usize> = LHashMultiMap<u32, u32, BuildHashUint32, N>;

/// Two indexes, and the rows that are in both.
struct Both<const N: usize> {
    indexes: [Index<N>; 2],
    rows: Vec<(u32, u32)>,
    random: fastrand::Rng,
    seed: u64,
    step: u32,
}

impl<const N: usize> Both<N> {
    fn new(builder: &Builder<u32, u32, MultiMap, BuildHashUint32, N>, seed: u64) -> Self {
        println!("seed {seed}");
        let index = |policy| builder.clone().count_policy(policy).build().unwrap();
        let indexes = [CountPolicy::Exact, CountPolicy::Deferred { cap: 32 }].map(index);
        Self { indexes, rows: Vec::new(), random: fastrand::Rng::with_seed(seed), seed, step: 0 }
    }

    fn insert(&mut self) {
        // Some keys have many rows: chains of several pages.
        let key = if self.random.u32(..4) == 0 { self.random.u32(..8) } else { self.random.u32(..5000) };
        let tuple = self.step;
        self.indexes.iter().for_each(|index| index.pin().insert(key, tuple));
        self.rows.push((key, tuple));
    }

    fn remove(&mut self) {
        if self.rows.is_empty() {
            return;
        }
        let (key, tuple) = self.rows.swap_remove(self.random.usize(..self.rows.len()));
        for index in &self.indexes {
            assert_eq!(index.pin().remove_one(&key, &tuple), Some(&tuple), "seed {}", self.seed);
        }
    }

    fn vacuum(&mut self) {
        let every = self.random.u32(2..10);
        let dead = |key: u32, tuple: u32| (key ^ tuple).is_multiple_of(every);
        let vacuumed =
            self.indexes.each_ref().map(|index| index.pin().vacuum(|&key, &tuple| dead(key, tuple)));
        assert_eq!(vacuumed[0], vacuumed[1], "seed {}", self.seed);
        self.rows.retain(|&(key, tuple)| !dead(key, tuple));
    }

    /// All figures but the lag that is promised, which is what differs, and the bytes, which depend on when the
    /// collector of the whole process comes by.
    fn compare(&self) -> Stats {
        let [exact, deferred] = self.indexes.each_ref().map(|index| {
            let mut stats = index.stats();
            (stats.max_lag, stats.memory_bytes) = (None, 0);
            stats
        });
        assert_eq!(exact, deferred, "seed {}, step {}", self.seed, self.step);
        assert_eq!(exact.ntuples, self.rows.len() as u64, "seed {}, step {}", self.seed, self.step);
        exact
    }

    /// Fills the indexes and empties them, twice, with a vacuum now and then.
    fn run(mut self, steps: u32) -> Stats {
        for step in 0..steps {
            self.step = step;
            let filling = step % (steps / 2) < steps / 4;
            match self.random.u32(..4000) {
                0 => self.vacuum(),
                1..600 if filling => self.remove(),
                1..3000 if !filling => self.remove(),
                _ => self.insert(),
            }
            self.compare();
        }
        self.compare()
    }
}

#[test]
fn deferring_alone_is_exact_at_every_step_in_postgres_geometry() {
    let builder = LHashMultiMap::builder().hasher(BuildHashUint32::default()).postgres();
    for seed in 0..2 {
        let stats = Both::new(&builder, seed).run(24_000);
        assert!(stats.splits > 0 && stats.flushed > 0, "{stats:?}");
        assert_eq!((stats.pending, stats.deferred, stats.folded, stats.waited), (0, 0, 0, 0));
    }
}

#[test]
fn deferring_alone_is_exact_at_every_step_with_small_pages() {
    let builder = LHashMultiMap::builder().hasher(BuildHashUint32::default());
    for shrink in [ShrinkPolicy::Never, ShrinkPolicy::Below { percent: 60 }] {
        let builder = builder.clone().page_slots::<3>().fill_factor(2).shrink(shrink);
        for seed in 0..2 {
            let stats = Both::new(&builder, seed).run(12_000);
            let shrinks = shrink != ShrinkPolicy::Never;
            assert!(stats.splits > 100 && stats.flushed > 100 && (stats.merges > 0) == shrinks, "{stats:?}");
        }
    }
}
