//! Carrying out `bench growth`: let one map after the other grow and shrink, print.
//!
//! Next: `growth.rs`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use super::lhash::{entries, table};
use super::number;
use super::run::{self, RunError};
use crate::growth::{Plan, STEPS, report, series};

/// The most inserts and reads that may be due in a second.
const MAX_RATE: u32 = 100_000_000;

/// The arguments of `bench growth`.
#[derive(Debug, Args)]
pub struct GrowthArgs {
    /// How many entries the maps have when they are full.
    #[arg(long, default_value = "10000000", value_parser = entries, allow_negative_numbers = true)]
    pub entries: u32,
    /// How many inserts, and as many reads and then removes, are due in a second. It should be well below what the
    /// slowest map can do; a map that is late with most of them is said to be behind.
    #[arg(long, default_value = "600000", value_parser = rate, allow_negative_numbers = true)]
    pub rate: u32,
    /// Which maps take part, separated by commas [default: all].
    #[arg(long, value_delimiter = ',', value_parser = table, value_name = "A,B,C")]
    pub tables: Vec<&'static str>,
    /// Also write the latest operation and the bytes of every 50 ms to this file, as CSV.
    #[arg(long, value_name = "FILE")]
    pub series: Option<PathBuf>,
    /// Print one JSON object a line instead of tables.
    #[arg(long)]
    pub json: bool,
}

/// Carries out `bench growth`.
pub(super) fn growth(args: &GrowthArgs) -> Result<(), RunError> {
    // It is made before minutes are spent on what goes into it.
    let series = args.series.as_deref().map(|path| Ok::<_, RunError>((path, create(path)?))).transpose()?;
    let plan = Plan { entries: args.entries, rate: args.rate };
    let bar = run::progress_bar("growing", STEPS * Plan::maps(&args.tables));
    bar.tick();
    // It is drawn between the steps only: drawing would delay what is timed.
    let rows = plan.run(&args.tables, || bar.inc(1))?;
    bar.finish_and_clear();
    if let Some((path, file)) = series {
        series::write(&series::points(&rows), io::BufWriter::new(file)).map_err(in_file(path))?;
    }
    run::printed(report::print(&plan, &rows, args.json))
}

fn create(path: &Path) -> Result<File, RunError> {
    File::create(path).map_err(in_file(path))
}

fn in_file(path: &Path) -> impl FnOnce(io::Error) -> RunError {
    let path = path.to_owned();
    |error| RunError::File { path, error }
}

fn rate(text: &str) -> Result<u32, String> {
    number(text, MAX_RATE, "operations a second")
}
