//! Protocols broken on purpose: each fault of [`FAULTS`] is put into a scratch copy, and the model that it names has to fail.
//! What `weaken` does to orderings, this does to steps: one left out, or in the wrong place.
//!
//! Next: `broken/faults.rs`, the faults.

mod faults;

use std::time::Duration;

use faults::{FAULTS, Fault};

use crate::ledger::Model;
use crate::shell::Failure;
use crate::tree::Tree;
use crate::weaken::scratch::{Scratch, Verdict};

/// How long a model may run: one that passes takes seconds.
const LIMIT: Duration = Duration::from_secs(300);

/// What `cargo xtask break` was asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Only these faults; all if empty.
    pub(crate) names: Vec<String>,
    pub(crate) list: bool,
}

pub(crate) fn run(tree: &Tree, options: &Options) -> Result<(), Failure> {
    if let Some(unknown) = options.names.iter().find(|name| FAULTS.iter().all(|fault| fault.name != **name)) {
        return Err(Failure::new(format!(
            "no fault is called {unknown}; `cargo xtask break --list` names them"
        )));
    }
    let is_meant =
        |fault: &&Fault| options.names.is_empty() || options.names.iter().any(|name| name == fault.name);
    let meant: Vec<&Fault> = FAULTS.iter().filter(is_meant).collect();
    if options.list {
        meant.iter().for_each(|fault| println!("{:<32} {}", fault.name, fault.what));
        return Ok(());
    }
    let scratch = Scratch::new(tree, 0, LIMIT)?;
    let mut missed = Vec::new();
    for fault in &meant {
        if !is_caught(tree, &scratch, fault)? {
            missed.push(fault.name);
        }
    }
    if missed.is_empty() {
        println!("break: {} faults, all caught", meant.len());
        Ok(())
    } else {
        Err(Failure::new(format!(
            "{} of {} faults were not caught: {}",
            missed.len(),
            meant.len(),
            missed.join(", ")
        )))
    }
}

/// Puts one fault in, prints its line, and says whether its model failed.
fn is_caught(tree: &Tree, scratch: &Scratch, fault: &Fault) -> Result<bool, Failure> {
    let text = tree.read(fault.path)?;
    let model = Model { krate: fault.krate().to_owned(), name: fault.model.to_owned() };
    let (_, verdict, seconds) = scratch.change(fault.path, &text, &fault.apply(&text)?, &[model])?;
    let (word, detail) = (verdict.word(), verdict.detail());
    println!("{:<32} {word:<8} {seconds:>7.1}  {}: {detail}", fault.name, fault.model);
    Ok(matches!(verdict, Verdict::Caught(_)))
}
