//! The commands that a report runs, each as a process of its own, and what they print.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::ReportError;
use super::rows::{Row, Rows};
use crate::cli::CANNOT_STATUS;

/// How long all may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Seconds, for tests: the figures say nothing.
    Tiny,
    /// Less than five minutes.
    Quick,
    /// As each command does by itself.
    Full,
}

/// A command, and what it is about.
#[derive(Debug, Clone)]
pub struct Part {
    /// The command.
    pub name: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// What its figures are.
    pub kind: &'static str,
    /// What it is told.
    pub args: Vec<&'static str>,
}

/// How many parts there are.
pub const PARTS: u64 = 7;

/// The parts: name, what it is about, what its figures are, and what it is told to take seconds or minutes.
const ALL: [(&str, &str, &str, [&str; 2]); PARTS as usize] = [
    (
        "replay",
        "A recorded PostgreSQL trace through a buffer pool",
        "ns per access: throughput (wall time x threads / accesses); percentiles of single accesses",
        ["--rounds 1 --threads 1 --tables flatmap,dynahash", "--rounds 5"],
    ),
    (
        "flatmap",
        "flatmap: one operation after the other",
        "ns per operation: throughput; hit_chain: dependent-chain latency",
        ["--slots 1024 --seconds 0.1 --rounds 1", "--slots 524288 --seconds 35 --rounds 7"],
    ),
    (
        "lhash",
        "lhash: one operation after the other",
        "ns per operation: throughput; how = chain: dependent-chain latency",
        ["--entries 1000 --seconds 0.1 --rounds 1", "--entries 200000 --seconds 35 --rounds 5"],
    ),
    (
        "growth",
        "Growing from empty and shrinking, at a fixed rate of arrivals",
        "percentiles of the time from when an operation was due to when it ended",
        ["--entries 5000 --rate 50000", "--entries 2000000"],
    ),
    (
        "sync",
        "Locks, counters and sequence locks",
        "ns per operation: throughput; how = chain: dependent-chain latency; percentiles of single acquisitions",
        ["--seconds 0.3 --rounds 1 --threads 2", "--seconds 40 --rounds 5"],
    ),
    (
        "scaling",
        "What each operation writes that other cores need too",
        "counts, on average of an operation: no times",
        ["--ops 2 --tables flatmap,dynahash", "--ops 128"],
    ),
    (
        "seeds",
        "The structure of an index, against the published figures",
        "counts: no times",
        ["--divide 1000", "--divide 10"],
    ),
];

impl Part {
    /// All of them.
    #[must_use]
    pub fn all(size: Size) -> [Self; PARTS as usize] {
        ALL.map(|(name, title, kind, [tiny, quick])| {
            let args = match size {
                Size::Tiny => tiny,
                Size::Quick => quick,
                Size::Full => "",
            };
            Self { name, title, kind, args: args.split_whitespace().collect() }
        })
    }

    fn command(&self) -> String {
        ["bench", self.name].iter().chain(&self.args).copied().collect::<Vec<_>>().join(" ")
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// If it can't be started, fails, or prints something else than rows. Where this system can't do it, there are no rows.
    pub fn run(self) -> Result<Done, ReportError> {
        let command = self.command();
        let in_start = |error| ReportError::Start { command: command.clone(), error };
        let folder = tempfile::tempdir().map_err(in_start)?;
        let series = folder.path().join("series.csv");
        let mut process = Command::new(std::env::current_exe().map_err(in_start)?);
        process.arg(self.name).args(&self.args).arg("--json");
        match self.name {
            "growth" => process.arg("--series").arg(&series),
            "scaling" | "seeds" => &mut process,
            _ => process.arg("--intervals"),
        };
        let output = process.output().map_err(in_start)?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() == Some(CANNOT_STATUS.into()) {
            return Ok(Done { part: self, command, rows: Rows::default(), series: Rows::default(), said });
        }
        if !output.status.success() {
            let said = said.lines().last().unwrap_or("it said nothing").to_owned();
            return Err(ReportError::Failed { command, said });
        }
        let no_row = |error: String| ReportError::NoRow { command: command.clone(), error };
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let rows = lines.lines().map(serde_json::from_str).collect::<Result<Vec<Row>, _>>();
        let rows = Rows::new(rows.map_err(|error| no_row(error.to_string()))?);
        let series =
            if series.exists() { read_csv(&series).map_err(|e| no_row(e.to_string()))? } else { vec![] };
        Ok(Done { part: self, command, rows, series: Rows::new(series), said })
    }
}

fn read_csv(path: &Path) -> csv::Result<Vec<Row>> {
    let mut csv = csv::Reader::from_path(path)?;
    let typed = |value: String| value.parse::<u64>().map_or(Value::String(value), Value::from);
    let records = csv.deserialize::<std::collections::BTreeMap<String, String>>();
    records
        .map(|record| Ok(record?.into_iter().map(|(name, value)| (name, typed(value))).collect()))
        .collect()
}

/// What came of a part.
#[derive(Debug)]
pub struct Done {
    /// The part.
    pub part: Part,
    /// What was run.
    pub command: String,
    /// What it printed.
    pub rows: Rows,
    /// Growth over time.
    pub series: Rows,
    /// What it said beside that: the aims, and what was reached.
    pub said: String,
}

impl Done {
    /// All tables by their names.
    #[must_use]
    pub fn tables(&self) -> Vec<(String, &Rows)> {
        let mut tables = vec![(self.part.name.to_owned(), &self.rows)];
        if !self.series.rows.is_empty() {
            tables.push((format!("{}-series", self.part.name), &self.series));
        }
        tables
    }
}
