//! What is kept busy: each structure, with what must be true of it while threads use it, and at rest.

mod counters;
mod flat;
mod locks;
mod map;
mod multi;

use fastrand::Rng;
use lhash::CountPolicy;

/// Who works, and by what chance.
pub(crate) struct Work<'a> {
    pub(crate) thread: usize,
    pub(crate) rng: &'a mut Rng,
}

/// A structure under churn.
pub(crate) trait Subject: Send + Sync {
    fn name(&self) -> &str;

    /// Does a batch of operations, looks at their results, and returns how many there were.
    fn churn(&self, work: Work<'_>) -> Result<u64, String>;

    /// Looks at what must be true while others are at work.
    fn look(&self) -> Result<(), String>;

    /// Looks at everything, while nobody is at work.
    fn check(&self) -> Result<(), String>;
}

/// An error with these words unless `is_right`.
fn ensure(is_right: bool, wrong: impl FnOnce() -> String) -> Result<(), String> {
    if is_right { Ok(()) } else { Err(wrong()) }
}

/// How lhash's tables count.
const POLICIES: [(&str, CountPolicy); 5] = [
    ("exact", CountPolicy::Exact),
    ("deferred", CountPolicy::Deferred { cap: 32 }),
    ("quiet", CountPolicy::Quiet { cap: 32 }),
    ("sharded", CountPolicy::Sharded),
    ("overflow-signal", CountPolicy::OverflowSignal),
];

/// All of them, for so many threads.
pub(crate) fn all(threads: usize) -> Vec<Box<dyn Subject>> {
    let mut all: Vec<Box<dyn Subject>> = vec![
        Box::new(locks::Locks::new()),
        Box::new(counters::Counters::new()),
        Box::new(flat::Flat::new("flatmap", flatmap::MissPolicy::Validated, threads)),
        Box::new(flat::Flat::new("flatmap-locked-miss", flatmap::MissPolicy::Locked, threads)),
    ];
    for (name, policy) in POLICIES {
        all.push(Box::new(map::Map::<7>::new(format!("lhash-map-{name}"), policy, threads)));
        all.push(Box::new(multi::Multi::<2>::new(format!("lhash-multimap-{name}"), policy, threads)));
    }
    all
}
