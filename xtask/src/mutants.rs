//! Mutation of the code: a function that returns a plain value, another operator, a call left out; a test has to fail.
//!
//! All mutants of a crate are put into one scratch copy, each behind a switch, and it is built once. A variable of the
//! environment turns one on.
//!
//! - M1 A mutant is on in all processes of a test, from their first step, or in none.
//! - M2 A test that does not always pass without a mutant is left out, and named.
//! - M3 A mutant that no test reaches is not run, and is listed as such.
//!
//! - M4 With `--loom`, the mutants that no test catches are built again, and the models run.
//!
//! It needs Linux. What `weaken` and `break` do to orderings and steps of protocols, this does to everything else.
//!
//! Next: `mutants/find.rs` (what is changed), `mutants/copy.rs` (the copy), `mutants/trial.rs` (one mutant).

mod baseline;
mod conditions;
mod copy;
mod find;
mod process;
mod results;
mod rewrite;
mod switch;
#[cfg(test)]
mod tests;
mod trial;
mod values;

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use copy::{Purpose, Scratch};
use find::Change;
use results::Results;
use trial::Verdict;

use crate::features;
use crate::shell::Failure;
use crate::tree::Tree;

/// What `cargo xtask mutants` was asked for.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) krate: String,
    /// `K/N`: each Nth mutant, beginning with the Kth.
    pub(crate) shard: Option<String>,
    /// Only mutants whose name has this in it.
    pub(crate) only: Option<String>,
    /// The models for what the tests have not caught, instead of the tests.
    pub(crate) loom: bool,
    /// Those that survived too.
    pub(crate) again: bool,
    /// Only tests that take less than this without a mutant.
    pub(crate) quick_seconds: Option<u64>,
    /// Only the names, nothing is built.
    pub(crate) list: bool,
    /// How long a run may take, unless it takes more than a fifth of that without a mutant.
    pub(crate) limit_seconds: u64,
    /// How many mutants are under way at a time.
    pub(crate) jobs: usize,
}

impl Default for Options {
    fn default() -> Self {
        let jobs = thread::available_parallelism().map_or(1, usize::from);
        Self {
            krate: String::new(),
            shard: None,
            only: None,
            loom: false,
            again: false,
            quick_seconds: None,
            list: false,
            limit_seconds: 10,
            jobs,
        }
    }
}

pub(crate) fn run(tree: &Tree, options: &Options) -> Result<(), Failure> {
    let krate = options.krate.strip_prefix("latchfree-").unwrap_or(&options.krate);
    if tree.product().all(|known| known != krate) {
        return Err(Failure::new(format!("`{krate}` is no crate with mutants")));
    }
    let (shard, shards) = shard(options.shard.as_deref())?;
    let features = features::features(&tree.read(&format!("{krate}/Cargo.toml"))?);
    let purpose = if options.loom { Purpose::Models } else { Purpose::Tests };
    let mut place = if options.loom { format!("{krate}-loom") } else { krate.to_owned() };
    if shards > 1 {
        place = format!("{place}-{shard}-of-{shards}");
    }
    let mut copy = Scratch::new(tree, krate, &features, purpose, &place)?;
    let is_meant = |change: &Change| {
        change.number % shards == shard % shards
            && options.only.as_ref().is_none_or(|text| change.name.contains(text.as_str()))
    };
    let meant: Vec<Change> =
        copy.mutants().map(|(change, _)| change).filter(|change| is_meant(change)).cloned().collect();
    if options.list {
        meant.iter().for_each(|change| println!("{}", change.name));
        return Ok(());
    }
    let mut results = Results::open(&tree.target.join(format!("mutants-{krate}.txt")))?;
    let is_open = |change: &Change| match results.word(&change.name) {
        None => !options.loom,
        Some(trial::SURVIVED | trial::NOT_REACHED) => options.loom || options.again,
        Some(trial::NOT_BY_MODELS) => options.again,
        Some(_) => false,
    };
    let open: Vec<Change> = meant.iter().filter(|change| is_open(change)).cloned().collect();
    if !open.is_empty() {
        copy.keep(|change| open.contains(change));
        results = trials(&mut copy, open, results, options)?;
    }
    println!("{krate}: {}", results.totals(meant.iter().map(|change| change.name.as_str())));
    Ok(())
}

/// Builds the copy and runs its tests or models on each of these mutants.
fn trials(
    copy: &mut Scratch,
    open: Vec<Change>,
    results: Results,
    options: &Options,
) -> Result<Results, Failure> {
    let binaries = copy.build()?;
    let tests =
        baseline::tests(copy, &binaries, options.jobs, options.quick_seconds.map(Duration::from_secs))?;
    println!("{} tests, {} mutants to run", tests.len(), open.len());
    let (limit, copy) = (Duration::from_secs(options.limit_seconds), &*copy);
    let results = Mutex::new(results);
    in_parallel(options.jobs, open, |_, change| {
        let (verdict, seconds) = match copy.purpose {
            Purpose::Models => trial::by_models(copy, &tests, change.number, limit)?,
            Purpose::Tests if copy.is_refused(change.number) => (Verdict::NoBuild, 0.0),
            Purpose::Tests => trial::run(copy, &tests, change.number, limit)?,
        };
        let mut results = results.lock().map_err(|_| Failure::new("a run panicked"))?;
        results.add(&change.name, &verdict, seconds)
    })?;
    results.into_inner().map_err(|_| Failure::new("a run panicked"))
}

/// The two numbers of `K/N`.
fn shard(text: Option<&str>) -> Result<(u32, u32), Failure> {
    let Some(text) = text else { return Ok((1, 1)) };
    let numbers = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    match numbers {
        Some((k, n)) if (1..=n).contains(&k) => Ok((k, n)),
        _ => Err(Failure::new(format!("`{text}` is no shard K/N"))),
    }
}

/// Does `work` with each item, in `jobs` threads that have numbers; stops at a failure.
fn in_parallel<T: Send>(
    jobs: usize,
    items: Vec<T>,
    work: impl Fn(usize, T) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let queue = Mutex::new(items.into_iter());
    let first = Mutex::new(Ok(()));
    thread::scope(|scope| {
        for number in 0..jobs.max(1) {
            let (queue, first, work) = (&queue, &first, &work);
            scope.spawn(move || {
                let next = || queue.lock().ok()?.next();
                while let Some(item) = next() {
                    if let Err(failure) = work(number, item)
                        && let (Ok(mut first), Ok(mut queue)) = (first.lock(), queue.lock())
                    {
                        *first = Err(failure);
                        queue.by_ref().for_each(drop);
                    }
                }
            });
        }
    });
    first.into_inner().unwrap_or_else(|_| Err(Failure::new("a run panicked")))
}
