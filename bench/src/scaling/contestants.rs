//! The tables that take part, each as it would be set up on a machine of [`CORES`] cores.

use ::lhash::LHashMap;

use super::work::{self, FILLED, Maps, Pages};
use super::{CORES, Case, Family, Op, ScalingError};
use crate::lhash::Policy;
use crate::lhash::tables::locked::RwLockHashbrown;
use crate::lhash::tables::{ConcurrentMap, pinned};
use crate::peers::{dashmap::Dashmap, dynahash::Dynahash, flatmap, hashbrown, papaya::Papaya, scc::Scc};
use crate::table::Table;

/// `dashmap` has four shards a core.
const SHARDS: usize = 4 * CORES as usize;

/// A table.
#[derive(Debug)]
pub struct Contestant {
    /// Which others it is compared with.
    pub family: Family,
    /// Its name.
    pub name: &'static str,
    /// Does the work of a case, to be traced.
    pub work: fn(Case) -> Result<(), ScalingError>,
}

impl Contestant {
    /// What it can do.
    #[must_use]
    pub fn ops(&self) -> &'static [Op] {
        match self.family {
            Family::Flatmap => &[Op::Hit, Op::Miss, Op::Insert, Op::Remove],
            Family::Lhash => &[Op::Pin, Op::Hit, Op::Miss, Op::Update, Op::Insert, Op::Remove],
        }
    }

    const fn pages<T: Table>() -> Self {
        Self { family: Family::Flatmap, name: T::NAME, work: |case| work::serve(&pages(T::with_slots), case) }
    }

    const fn map<M: ConcurrentMap<u64>>() -> Self {
        let work = |case| work::serve(&Maps(M::empty(Policy::Deferred)), case);
        Self { family: Family::Lhash, name: M::NAME, work }
    }
}

fn pages<T: Table>(with_slots: impl Fn(u32) -> T) -> Pages<T> {
    Pages(with_slots(2 * FILLED as u32))
}

/// All of them, ours first.
pub const CONTESTANTS: &[Contestant] = &[
    Contestant::pages::<flatmap::Flatmap<flatmap::Plain>>(),
    Contestant::pages::<Dynahash>(),
    Contestant::pages::<hashbrown::RwLockHashbrown>(),
    Contestant {
        family: Family::Flatmap,
        name: Dashmap::NAME,
        work: |case| work::serve(&pages(|slots| Dashmap::with_shards(slots, SHARDS)), case),
    },
    Contestant::pages::<Papaya>(),
    Contestant::pages::<Scc>(),
    Contestant::map::<LHashMap<u64, u64>>(),
    Contestant {
        family: Family::Lhash,
        name: "lhash-sharded",
        work: |case| {
            work::serve(&Maps(<LHashMap<u64, u64> as ConcurrentMap<u64>>::empty(Policy::Sharded)), case)
        },
    },
    Contestant::map::<::papaya::HashMap<u64, u64>>(),
    Contestant::map::<::scc::HashMap<u64, u64>>(),
    Contestant::map::<pinned::Index<u64>>(),
    Contestant {
        family: Family::Lhash,
        name: <::dashmap::DashMap<u64, u64> as ConcurrentMap<u64>>::NAME,
        work: |case| work::serve(&Maps(::dashmap::DashMap::<u64, u64>::with_shard_amount(SHARDS)), case),
    },
    Contestant::map::<flurry::HashMap<u64, u64>>(),
    Contestant::map::<RwLockHashbrown<u64>>(),
];

/// The table of that family and name.
#[must_use]
pub fn find(family: Family, name: &str) -> Option<&'static Contestant> {
    CONTESTANTS.iter().find(|table| table.family == family && table.name == name)
}
