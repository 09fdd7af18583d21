//! Carrying out `bench report`: run all parts, write the page, say where it is.
//!
//! Next: `report.rs`.

use std::cell::Cell;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use indicatif::ProgressStyle;

use super::run::{self, RunError};
use crate::report;
use crate::report::parts::{PARTS, Size};

/// The arguments of `bench report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The folder that report.html and the CSV files go into; it is made if it is not there.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Takes less than five minutes, with small tables and few rounds.
    #[arg(long)]
    pub quick: bool,
    /// Takes seconds, for tests of the page: the figures say nothing.
    #[arg(long, hide = true, conflicts_with = "quick")]
    pub tiny: bool,
}

/// Carries out `bench report`.
pub(super) fn report(args: &ReportArgs) -> Result<(), RunError> {
    let size = match (args.quick, args.tiny) {
        (true, _) => Size::Quick,
        (_, true) => Size::Tiny,
        _ => Size::Full,
    };
    let bar = run::progress_bar("measuring", PARTS);
    let style = ProgressStyle::with_template("measuring {msg} {bar:40} {pos} of {len} parts, {elapsed} gone");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    // It is drawn between the parts only: drawing would disturb what is timed.
    let begun = Cell::new(0);
    let begin = |name: &str| {
        bar.set_message(name.to_owned());
        bar.set_position(begun.replace(begun.get() + 1));
        bar.tick();
    };
    let path = report::write(args.out.clone(), size, begin)?;
    bar.finish_and_clear();
    run::printed(writeln!(io::stdout(), "{}", path.display()))
}
