//! Carrying out `bench scaling`: count case after case, print; and, in the traced program, one case's work.
//!
//! Next: `scaling.rs`.

use clap::{Args, ValueEnum};

use super::run::{self, RunError};
use crate::scaling::contestants::{self, CONTESTANTS};
use crate::scaling::work::MAX_OPS;
use crate::scaling::{Case, Family, Op, report};

/// The arguments of `bench scaling`.
#[derive(Debug, Args)]
pub struct ScalingArgs {
    /// How often each of two threads does each operation. Counts are exact; with few operations it is by chance only
    /// how often two of them meet on a line.
    #[arg(long, default_value = "512", value_parser = ops, allow_negative_numbers = true)]
    pub ops: u32,
    /// Which tables take part, separated by commas [default: all].
    #[arg(long, value_delimiter = ',', value_parser = table, value_name = "A,B,C")]
    pub tables: Vec<&'static str>,
    /// Print one JSON object a line instead of tables.
    #[arg(long)]
    pub json: bool,
    /// In the traced program: the work of one case.
    #[arg(long, hide = true, value_parser = case, value_name = "FAMILY/TABLE/OP")]
    pub traced: Option<Case>,
}

/// Carries out `bench scaling`.
pub(super) fn scaling(args: &ScalingArgs) -> Result<(), RunError> {
    if let Some(case) = args.traced {
        return Ok((case.contestant.work)(Case { ops: args.ops, ..case })?);
    }
    let cases = Case::all(&args.tables, args.ops);
    let bar = run::progress_bar("counting", cases.len() as u64);
    let mut rows = Vec::new();
    for case in cases {
        rows.push(case.run()?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    run::printed(report::print(&rows, args.json))
}

fn ops(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(n) if (2..=MAX_OPS).contains(&n) => Ok(n),
        _ => Err(format!("the number of operations must be 2 to {MAX_OPS}")),
    }
}

fn table(name: &str) -> Result<&'static str, String> {
    let mut names: Vec<&'static str> = CONTESTANTS.iter().map(|table| table.name).collect();
    if let Some(known) = names.iter().find(|known| **known == name) {
        return Ok(known);
    }
    names.sort_unstable();
    names.dedup();
    Err(format!("unknown table; known are {}", names.join(", ")))
}

fn case(text: &str) -> Result<Case, String> {
    let mut parts = text.split('/');
    let mut part = || parts.next().unwrap_or_default();
    let family = Family::from_str(part(), false)?;
    let contestant = contestants::find(family, part()).ok_or("no table of that family")?;
    Ok(Case { contestant, op: Op::from_str(part(), false)?, ops: MAX_OPS })
}
