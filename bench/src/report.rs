//! The `report` command: runs the other commands, and writes what came out as one page and as CSV.
//!
//! Each part is a process of its own, so that one part's memory is not another's. The page holds all it needs, charts
//! and all. Files appear under their names when they are complete.
//!
//! Next: `report/parts.rs`, what is run; `report/page.rs`, what becomes of it.

pub mod charts;
pub mod files;
pub mod groups;
pub mod page;
pub mod parts;
pub mod rows;

use std::io;
use std::path::PathBuf;

use files::Folder;
use parts::{Done, Part, Size};

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A file could not be written.
    #[error("{} can't be written: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A part could not be started.
    #[error("{command} can't be started: {error}")]
    Start {
        /// The part.
        command: String,
        /// Why.
        error: io::Error,
    },
    /// A part failed.
    #[error("{command} failed: {said}")]
    Failed {
        /// The part.
        command: String,
        /// The last line that it said.
        said: String,
    },
    /// A part printed something else than rows.
    #[error("{command} printed what is no row: {error}")]
    NoRow {
        /// The part.
        command: String,
        /// What is wrong with it.
        error: String,
    },
    /// A chart could not be drawn.
    #[error("a chart can't be drawn: {0}")]
    Chart(String),
}

/// Runs all parts and writes the report into a folder, which is made if it is not there; `tick` is told of each part
/// before it begins.
///
/// # Errors
///
/// The first file that can't be written, before anything is measured if that can be known, and the first part that
/// fails.
pub fn write(out: PathBuf, size: Size, tick: impl Fn(&str)) -> Result<PathBuf, ReportError> {
    let folder = Folder::new(out)?;
    let mut done = Vec::new();
    for part in Part::all(size) {
        tick(part.name);
        let part: Done = part.run()?;
        for (name, rows) in part.tables() {
            folder.write(&format!("{name}.csv"), &rows.csv())?;
        }
        done.push(part);
    }
    let page = page::page(&done, size)?;
    folder.write("report.html", page.as_bytes())
}
