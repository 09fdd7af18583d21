//! Maps that are wrong in one way each, and are found out.

use std::time::Duration;

use super::keys::{VERSION, value_of};
use super::life::{Entrant, entrant};
use super::tables::{Batch, ConcurrentMap, entrants};
use super::{Case, Dist, How, KeyKind, Policy, STEADY, Steady};
use crate::rounds::{Pass, Schedule};
use crate::sync::SyncError;

const SLICE: Duration = Duration::from_millis(1);

/// What a map does wrong, now and then.
trait Fault: Send + Sync + 'static {
    const NAME: &'static str;

    fn get(_key: u64, value: Option<u64>) -> Option<u64> {
        value
    }

    /// Whether it only says that it has inserted.
    fn forgets(_key: u64) -> bool {
        false
    }

    /// Whether it only says that it has updated.
    fn loses_update(_key: u64) -> bool {
        false
    }

    /// Whether it only says that it has removed.
    fn keeps(_key: u64) -> bool {
        false
    }
}

struct Wrong<F> {
    map: dashmap::DashMap<u64, u64>,
    fault: std::marker::PhantomData<F>,
}

impl<F: Fault> ConcurrentMap<u64> for Wrong<F> {
    const NAME: &'static str = F::NAME;
    type Batch<'a> = &'a Self;

    fn empty(policy: Policy) -> Self {
        Self { map: ConcurrentMap::<u64>::empty(policy), fault: std::marker::PhantomData }
    }

    fn batch(&self) -> &Self {
        self
    }

    fn count(&self) -> usize {
        self.map.len()
    }

    fn settle(&mut self) {}
}

impl<F: Fault> Batch<u64> for &Wrong<F> {
    fn get(&self, key: &u64) -> Option<u64> {
        F::get(*key, Batch::get(&&self.map, key))
    }

    fn insert(&self, key: u64, value: u64) -> bool {
        F::forgets(key) || Batch::insert(&&self.map, key, value)
    }

    fn update(&self, key: &u64) -> bool {
        F::loses_update(*key) || Batch::update(&&self.map, key)
    }

    fn remove(&self, key: &u64) -> bool {
        F::keeps(*key) || Batch::remove(&&self.map, key)
    }
}

macro_rules! fault {
    ($name:ident, $text:literal, $($method:tt)*) => {
        struct $name;

        impl Fault for $name {
            const NAME: &'static str = $text;
            $($method)*
        }
    };
}

fault!(Right, "right",);
fault!(
    Forgetful,
    "forgetful",
    fn forgets(key: u64) -> bool {
        key.is_multiple_of(16)
    }
);
fault!(
    Blind,
    "blind",
    fn get(key: u64, value: Option<u64>) -> Option<u64> {
        value.filter(|_| !key.is_multiple_of(64))
    }
);
fault!(
    Confused,
    "confused",
    fn get(key: u64, value: Option<u64>) -> Option<u64> {
        value.map(|value| if key.is_multiple_of(64) { value ^ 1 } else { value })
    }
);
fault!(
    Ghosts,
    "ghosts",
    fn get(key: u64, value: Option<u64>) -> Option<u64> {
        value.or((key.is_multiple_of(64)).then_some(0))
    }
);
fault!(
    Lazy,
    "lazy",
    fn loses_update(key: u64) -> bool {
        key.is_multiple_of(16)
    }
);
fault!(
    Clinging,
    "clinging",
    fn keeps(key: u64) -> bool {
        key.is_multiple_of(16)
    }
);

fn case(threads: u32) -> Case {
    Case { threads, ..Case::new(1000, Dist::Uniform, KeyKind::U64, Policy::Deferred) }
}

/// Where a map is found out: its field in the error.
fn found_out<F: Fault>(threads: u32, steady: Option<Steady>) -> Option<&'static str> {
    let (case, Entrant { life, stage, .. }) = (case(threads), entrant::<Wrong<F>, u64>());
    let done = match steady {
        None => life(&case, Pass::Check, SLICE).map(|_| ()),
        Some(steady) => stage(&case).and_then(|mut stage| {
            stage.run(steady, SLICE)?;
            stage.audit()
        }),
    };
    match done {
        Ok(()) => None,
        Err(SyncError::Disagrees { name, field, .. }) => {
            assert_eq!(name, F::NAME);
            Some(field)
        }
        Err(error) => panic!("{error}"),
    }
}

const LOOP: Option<Steady> = Some(Steady::Hit(How::Loop));
const CHAIN: Option<Steady> = Some(Steady::Hit(How::Chain));
const MISS: Option<Steady> = Some(Steady::Miss);
const UPDATE: Option<Steady> = Some(Steady::Update);
const MIX: Option<Steady> = Some(Steady::Mix { read_pct: 50, insert_pct: 25 });

#[test]
fn a_map_that_is_right_passes_every_check() {
    for threads in [1, 3] {
        assert_eq!(found_out::<Right>(threads, None), None);
        for (_, steady) in STEADY {
            assert_eq!(found_out::<Right>(threads, Some(steady)), None, "{steady:?}");
        }
    }
}

#[test]
fn a_map_that_is_wrong_is_found_out() {
    for threads in [1, 3] {
        assert_eq!(found_out::<Forgetful>(threads, None), Some("entries when full"));
        assert_eq!(found_out::<Forgetful>(threads, LOOP), Some("entries when full"));
        assert_eq!(found_out::<Blind>(threads, None), Some("keys"));
        assert_eq!(found_out::<Confused>(threads, None), Some("wrong values"));
        assert_eq!(found_out::<Clinging>(threads, None), Some("entries when empty"));
        for steady in [LOOP, CHAIN] {
            assert_eq!(found_out::<Blind>(threads, steady), Some("wrong answers"));
            assert_eq!(found_out::<Confused>(threads, steady), Some("wrong answers"));
        }
        assert_eq!(found_out::<Ghosts>(threads, MISS), Some("wrong answers"));
        assert_eq!(found_out::<Lazy>(threads, UPDATE), Some("updates"));
        assert_eq!(found_out::<Confused>(threads, MIX), Some("wrong answers"));
        assert_eq!(found_out::<Clinging>(threads, MIX), Some("keys"));
    }
}

#[test]
fn two_updates_at_once_are_both_there() {
    /// Reads, and writes later.
    struct Torn(dashmap::DashMap<u64, u64>);

    impl ConcurrentMap<u64> for Torn {
        const NAME: &'static str = "torn";
        type Batch<'a> = &'a Self;

        fn empty(policy: Policy) -> Self {
            Self(ConcurrentMap::<u64>::empty(policy))
        }

        fn batch(&self) -> &Self {
            self
        }

        fn count(&self) -> usize {
            self.0.len()
        }

        fn settle(&mut self) {}
    }

    impl Batch<u64> for &Torn {
        fn get(&self, key: &u64) -> Option<u64> {
            Batch::get(&&self.0, key)
        }

        fn insert(&self, key: u64, value: u64) -> bool {
            Batch::insert(&&self.0, key, value)
        }

        fn update(&self, key: &u64) -> bool {
            let old = Batch::get(self, key);
            std::thread::yield_now();
            old.and_then(|old| self.0.insert(*key, old + VERSION)).is_some()
        }

        fn remove(&self, key: &u64) -> bool {
            Batch::remove(&&self.0, key)
        }
    }

    let few = Case { threads: 4, ..Case::new(1, Dist::Uniform, KeyKind::U64, Policy::Deferred) };
    let mut stage = (entrant::<Torn, u64>().stage)(&few).unwrap();
    stage.run(Steady::Update, Duration::from_millis(20)).unwrap();
    let error = stage.audit().unwrap_err();
    assert!(matches!(error, SyncError::Disagrees { name: "torn", field: "updates", .. }), "{error}");
}

#[test]
fn every_map_passes_every_case() {
    let schedule = Schedule { rounds: 1, clock_cost_ns: None };
    for key in [KeyKind::U64, KeyKind::String] {
        for (dist, threads) in [(Dist::Uniform, 1), (Dist::Zipf, 3)] {
            let case = Case { threads, ..Case::new(500, dist, key, Policy::Deferred) };
            let entrants =
                case.entrants(&[]).into_iter().map(|entrant| (entrant, (entrant.memory)(&case).unwrap()));
            let rows = case.run(&entrants.collect::<Vec<_>>(), schedule, SLICE, || ()).unwrap();
            assert_eq!(rows.len(), 7 * 9);
            assert!(rows.iter().all(|row| row.ns_min > 0.0 && row.ns_min <= row.ns_median), "{rows:?}");
        }
    }
}

#[test]
fn every_way_of_counting_passes() {
    let ours = &entrants::<u64>(&["lhash"])[0];
    for policy in [Policy::Exact, Policy::Quiet, Policy::Sharded, Policy::OverflowSignal] {
        let case = Case { threads: 2, ..Case::new(1000, Dist::Uniform, KeyKind::U64, policy) };
        (ours.life)(&case, Pass::Check, SLICE).unwrap();
    }
    assert_ne!(value_of(0), 0);
}
