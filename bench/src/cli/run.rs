//! Carrying out `bench replay`: read, run in turns, print.
//!
//! Next: `replay.rs`.

use std::io;
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use lhash::redo::RedoError;

use super::{CANNOT_STATUS, Mode, ReplayArgs, USAGE_STATUS};
use crate::latency::clock_cost_ns;
use crate::output::{self, Row, Setting, Work};
use crate::redo::RedoBenchError;
use crate::replay::{self, CONTESTANTS, Contestant, Measured, Pass, ReplayError, Run, Schedule};
use crate::report::ReportError;
use crate::scaling::ScalingError;
use crate::seeds::SeedError;
use crate::sync::SyncError;
use crate::trace::{self, OpCounts, Trace, TraceError};

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Arguments that exclude each other.
    #[error("{0}")]
    Usage(String),
    /// The trace could not be read, or can't be replayed.
    #[error("{}: {error}", path.display())]
    Trace {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: TraceError,
    },
    /// A table failed.
    #[error(transparent)]
    Table(#[from] ReplayError),
    /// A lock, a counter or a concurrent map failed.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// Nothing could be counted.
    #[error(transparent)]
    Scaling(#[from] ScalingError),
    /// An index failed.
    #[error(transparent)]
    Seeds(#[from] SeedError),
    /// A redo log failed.
    #[error(transparent)]
    Redo(#[from] RedoBenchError),
    /// A file could not be written.
    #[error("{} can't be written: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A redo log can't be read, or is damaged.
    #[error(transparent)]
    Log(#[from] RedoError),
    /// There is no report.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The results could not be written.
    #[error("the results can't be written: {0}")]
    Output(#[from] io::Error),
}

impl RunError {
    /// The exit status that tells of this.
    #[must_use]
    pub fn status(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Trace { .. } | Self::Log(_) => USAGE_STATUS,
            Self::Scaling(ScalingError::Unsupported | ScalingError::Trace { .. }) => CANNOT_STATUS,
            Self::Table(_)
            | Self::Sync(_)
            | Self::File { .. }
            | Self::Scaling(ScalingError::Ended { .. } | ScalingError::WrongAnswer { .. })
            | Self::Seeds(_)
            | Self::Redo(_)
            | Self::Report(_)
            | Self::Output(_) => 1,
        }
    }
}

/// Carries out `bench replay`.
pub(super) fn replay(args: &ReplayArgs) -> Result<(), RunError> {
    let tables = tables(args)?;
    let threads = threads(args)?;
    let path = args.trace.clone().unwrap_or_else(trace::default_path);
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let in_trace = |error| RunError::Trace { path: path.clone(), error };
    let trace = trace::read_file(&path).map_err(in_trace)?;
    let schedule = Schedule { rounds: args.rounds, clock_cost_ns: Some(clock_cost_ns()) };
    let setting =
        Setting { mode: args.mode, trace: name, frames: args.frames, intervals: args.intervals, schedule };
    let plan = Plan { tables: &tables, threads: &threads, setting: &setting };
    let rows = match args.mode {
        Mode::Ops => plan.ops(&trace),
        Mode::Pool => plan.pool(&trace),
    };
    let rows = rows.map_err(|error| match error {
        ReplayError::Trace(error) => in_trace(error),
        error => RunError::Table(error),
    })?;
    printed(output::print(&setting, &rows, args.json))
}

/// How the command ends after printing.
pub(super) fn printed(result: io::Result<()>) -> Result<(), RunError> {
    match result {
        // Whoever read the results has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

/// A bar on standard error that counts passes, if somebody watches.
pub(super) fn progress_bar(doing: &str, passes: u64) -> ProgressBar {
    let template = format!("{doing} {{bar:40}} {{pos}} of {{len}} passes, {{eta}} left");
    let style = ProgressStyle::with_template(&template);
    ProgressBar::new(passes)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_finish(ProgressFinish::AndClear)
}

/// The tables that were asked for, each once, or all that the mode has.
fn tables(args: &ReplayArgs) -> Result<Vec<Contestant>, RunError> {
    let fits = |table: &Contestant| args.mode == Mode::Pool || table.in_ops_mode;
    if args.tables.is_empty() {
        return Ok(CONTESTANTS.into_iter().filter(fits).collect());
    }
    if let Some(table) = args.tables.iter().find(|table| !fits(table)) {
        return Err(RunError::Usage(format!("'{}' takes part in --mode pool only", table.name)));
    }
    let mut tables: Vec<Contestant> = Vec::new();
    for table in &args.tables {
        if tables.iter().all(|other| other.name != table.name) {
            tables.push(*table);
        }
    }
    Ok(tables)
}

/// How many threads each run has, one run after the other.
fn threads(args: &ReplayArgs) -> Result<Vec<u32>, RunError> {
    let cores = output::cores().min(super::MAX_THREADS);
    match (args.mode, args.threads) {
        (Mode::Ops, None | Some(1)) => Ok(vec![1]),
        (Mode::Ops, Some(threads)) => Err(RunError::Usage(format!(
            "--mode ops replays the records in their order: --threads must be 1, not {threads}"
        ))),
        (Mode::Pool, Some(threads)) => Ok(vec![threads]),
        (Mode::Pool, None) if cores == 1 => Ok(vec![1]),
        (Mode::Pool, None) => Ok(vec![1, cores]),
    }
}

/// What is to be run.
struct Plan<'a> {
    tables: &'a [Contestant],
    threads: &'a [u32],
    setting: &'a Setting,
}

impl Plan<'_> {
    fn progress_bar(&self) -> ProgressBar {
        let per_table = self.setting.schedule.passes() * self.threads.len() as u64;
        progress_bar("replaying", per_table * self.tables.len() as u64)
    }

    fn ops(&self, trace: &Trace) -> Result<Vec<Row>, ReplayError> {
        if trace.records.is_empty() {
            return Err(TraceError::NothingToReplay { what: "records" }.into());
        }
        let input = replay::reference::ops(trace)?;
        let bar = self.progress_bar();
        let measured = self.take_turns(&bar, |table, pass| (table.ops)(&input, pass))?;
        let work = Work { counts: trace.op_counts(), threads: 1, slots: trace.slots };
        let row =
            |table: &Contestant, measured: &Measured| Row::new(self.setting, table.name, measured, &work);
        Ok(self.rows(&measured, row))
    }

    fn pool(&self, trace: &Trace) -> Result<Vec<Row>, ReplayError> {
        let (lookups, frames) = (trace.lookups(), self.setting.frames);
        if lookups.is_empty() {
            return Err(TraceError::NothingToReplay { what: "lookups" }.into());
        }
        let counts = OpCounts { lookups: lookups.len() as u64, ..OpCounts::default() };
        let right_answers = replay::reference::pool(&lookups, frames);
        let bar = self.progress_bar();
        let mut rows = Vec::new();
        for &threads in self.threads {
            let input = replay::pool::Input { lookups: &lookups, frames, threads, right_answers };
            let measured = self.take_turns(&bar, |table, pass| (table.pool)(&input, pass))?;
            let work = Work { counts, threads, slots: frames };
            let row =
                |table: &Contestant, measured: &Measured| Row::new(self.setting, table.name, measured, &work);
            rows.extend(self.rows(&measured, row));
        }
        Ok(rows)
    }

    fn take_turns(
        &self,
        bar: &ProgressBar,
        pass: impl Fn(&Contestant, Pass) -> Result<Run, ReplayError>,
    ) -> Result<Vec<Measured>, ReplayError> {
        replay::interleave(self.setting.schedule, self.tables.len(), |table, kind| {
            let run = pass(&self.tables[table], kind)?;
            bar.inc(1);
            Ok(run)
        })
    }

    /// A row for each table, with its ratio to the baseline if that takes part.
    fn rows(&self, measured: &[Measured], row: impl Fn(&Contestant, &Measured) -> Row) -> Vec<Row> {
        let baseline = self.tables.iter().position(|table| table.name == replay::BASELINE);
        let with_ratio = |(table, of): (&Contestant, &Measured)| Row {
            ratio: baseline.map(|index| of.trusted_ratio_to(&measured[index])),
            ..row(table, of)
        };
        self.tables.iter().zip(measured).map(with_ratio).collect()
    }
}
