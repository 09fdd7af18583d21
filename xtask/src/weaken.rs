//! Mutation of the memory orderings: each tagged ordering is weakened in a scratch copy, one at a time, and a
//! model that its row names has to fail. An ordering that nothing needs, or that no model watches, shows here.
//!
//! - W1 A mutant counts as caught only if it was built, exactly the named model ran, and that failed.
//! - W2 Every model passes once in the unchanged copy, or nothing it catches counts.
//! - W3 A model that runs out of time has shown nothing: that is a failure of this command.
//!
//! Next: `weaken/mutant.rs` (what is changed), `weaken/scratch.rs` (building and running it).

mod mutant;
pub(crate) mod scratch;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use mutant::{Mutant, Plan};
use scratch::{Scratch, Verdict};

use crate::ledger::{Ledger, Model};
use crate::shell::Failure;
use crate::tree::Tree;

/// What `cargo xtask weaken` was asked for.
#[derive(Debug)]
pub(crate) struct Options {
    /// Only these ids; all if empty.
    pub(crate) ids: Vec<String>,
    pub(crate) list: bool,
    /// How long one model may run.
    pub(crate) limit_seconds: u64,
    /// How many mutants are under way at a time.
    pub(crate) jobs: usize,
}

impl Default for Options {
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self { ids: Vec::new(), list: false, limit_seconds: 120, jobs: cores.min(4) }
    }
}

pub(crate) fn run(tree: &Tree, options: &Options) -> Result<(), Failure> {
    let ledger = Ledger::read(tree)?;
    let mut mutants = mutant::all(&ledger);
    if let Some(unknown) = options.ids.iter().find(|id| mutants.iter().all(|m| m.id != **id)) {
        return Err(Failure::new(format!("no ordering carries the id {unknown}")));
    }
    mutants.retain(|mutant| options.ids.is_empty() || options.ids.contains(&mutant.id));
    if options.list {
        mutants.iter().for_each(|mutant| println!("{}  {}", left(mutant), mutant.plan));
        return Ok(());
    }
    if options.jobs == 0 {
        return Err(Failure::new("--jobs 0 would do nothing"));
    }
    let limit = Duration::from_secs(options.limit_seconds);
    let workers = options.jobs.min(mutants.len().max(1));
    let mut scratches = Vec::new();
    for number in 0..workers {
        scratches.push(Scratch::new(tree, number, limit)?);
    }
    let Some(first) = scratches.first() else { return Ok(()) };
    baseline(first, &mutants)?;
    let faults = weaken_all(&scratches, &ledger, &mutants);
    let run = mutants.iter().filter(|mutant| matches!(mutant.plan, Plan::Models(_))).count();
    if faults == 0 {
        println!("weaken: {run} mutants, all caught; {} argued for", mutants.len() - run);
        Ok(())
    } else {
        Err(Failure::new(format!("{faults} of {} weakened orderings were not caught", mutants.len())))
    }
}

/// Runs every model that a mutant names in the unchanged copy.
fn baseline(scratch: &Scratch, mutants: &[Mutant]) -> Result<(), Failure> {
    let models: BTreeSet<&Model> = mutants
        .iter()
        .filter_map(|mutant| match &mutant.plan {
            Plan::Models(models) => Some(models),
            Plan::Argument(_) | Plan::Nothing => None,
        })
        .flatten()
        .collect();
    let mut binaries = BTreeMap::new();
    for model in models {
        if !binaries.contains_key(&model.krate) {
            let built = scratch.build(&model.krate).map_err(|text| {
                Failure::new(format!("the models of {} do not build unchanged:\n{text}", model.krate))
            })?;
            binaries.insert(model.krate.clone(), built);
        }
        let (verdict, seconds) = scratch.run(model, &binaries[&model.krate])?;
        println!("unchanged  {:<8} {seconds:>7.1}  {model}", verdict.word());
        if verdict != Verdict::Survived {
            return Err(Failure::new(format!("`{model}` does not pass unchanged: {}", verdict.detail())));
        }
    }
    Ok(())
}

/// Runs all mutants on all scratch copies and returns how many were not caught.
fn weaken_all(scratches: &[Scratch], ledger: &Ledger, mutants: &[Mutant]) -> usize {
    println!("{:<14} {:<34} {:<24} verdict  seconds  model", "id", "site", "mutant");
    let queue = Mutex::new(mutants.iter());
    let faults = Mutex::new(0);
    thread::scope(|scope| {
        for scratch in scratches {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().map_or(None, |mut queue| queue.next());
                    let Some(mutant) = next else { return };
                    if !one(scratch, ledger, mutant)
                        && let Ok(mut faults) = faults.lock()
                    {
                        *faults += 1;
                    }
                }
            });
        }
    });
    faults.into_inner().unwrap_or(mutants.len())
}

/// Runs one mutant, prints its line, and says whether all is well with it.
fn one(scratch: &Scratch, ledger: &Ledger, mutant: &Mutant) -> bool {
    let left = left(mutant);
    let models = match &mutant.plan {
        Plan::Models(models) => models,
        Plan::Argument(why) => {
            println!("{left} argued         -  {why}");
            return true;
        }
        Plan::Nothing => {
            println!("{left} FAILED         -  the row has no evidence for it");
            return false;
        }
    };
    let source = &ledger.sources[mutant.source];
    match scratch.change(&source.path, &source.text, &mutant.apply(&source.text), models) {
        Ok((model, verdict, seconds)) => {
            let (word, detail) = (verdict.word(), verdict.detail());
            println!("{left} {word:<8} {seconds:>7.1}  {model}: {detail}");
            matches!(verdict, Verdict::Caught(_))
        }
        Err(failure) => {
            println!("{left} FAILED         -  {failure}");
            false
        }
    }
}

fn left(mutant: &Mutant) -> String {
    format!("{:<14} {:<34} {:<24}", mutant.id, format!("{}:{}", mutant.path, mutant.line), mutant.label)
}
